"""Whether a file was read exactly right, and what was wrong; it makes no file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.leads.corpus.case import SPOILT, Case
from tests.leads.corpus.suites import SUITES, draw

from dialframe import leads
from dialframe.errors import LeadFileError
from dialframe.leads import LeadFile


def cases(every: int = 1) -> Iterator[Case]:
    """The whole corpus, or every so-manieth file of it."""
    for suite in SUITES:
        yield from draw(suite, every)


def fault(case: Case, folder: Path) -> str | None:
    """What is wrong with how the file is read, or None."""
    path = folder / case.file
    path.write_bytes(case.data)
    try:
        file = leads.read(path)
    except LeadFileError as problem:
        return f"not read: {problem}"
    return _difference(case, file)


def shares(found: Iterable[tuple[Case, str | None]]) -> dict[str, float]:
    """Share of files read exactly right, by suite."""
    total: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for case, problem in found:
        total[case.suite] += 1
        right[case.suite] += problem is None
    return {suite: right[suite] / total[suite] for suite in total}


def _difference(case: Case, file: LeadFile) -> str | None:
    if _bare(file.header) != _bare(case.header):
        return f"header {file.header} is not {case.header}"
    if len(file.frame) != len(case.records):
        return f"{len(file.frame)} records are not {len(case.records)}"
    for at, (row, true) in enumerate(
        zip(file.frame.itertuples(index=False), case.records, strict=True)
    ):
        if true == SPOILT:
            if at not in file.faults:
                return f"record {at} has no fault: {tuple(row)}"
        elif _bare(tuple(row)) != _bare(true):
            return f"record {at} {tuple(row)} is not {true}"
    if tuple(file.lines) != case.lines:
        return f"lines {file.lines[:5]} are not {case.lines[:5]}"
    return None


def _bare(cells: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Cells without the empty ones at the end, which a short row may leave out."""
    if cells is None:
        return None
    end = len(cells)
    while end and not cells[end - 1]:
        end -= 1
    return cells[:end]
