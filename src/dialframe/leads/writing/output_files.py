"""A cleaning's outcome to files, all of them or none."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final, TypeVar

import pandas as pd
import pyarrow as pa

from dialframe import files as staging
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads.clean_list_sidecar import Origin, Source, path_of, read_origin
from dialframe.leads.cleaned import Cleaned, CleanedFile
from dialframe.leads.lead_file import LEAD_COLUMNS
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.leads.writing import outcome_rows
from dialframe.leads.writing.clean_list_columns import CleanColumns, CleanLayout
from dialframe.leads.writing.output_formats import Add, Form, sink
from dialframe.leads.writing.report import Outcome, report

__all__ = ["Form", "Written", "stem", "to_csv", "write"]

_KEYS: Final = tuple(COUNT_KEYS.values())
_STEP: Final = "cleaned files written"

Told = TypeVar("Told", bound=Outcome)
#: A report, as `report` makes it, to a page.
Render = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Written:
    """The files of one cleaning.

    Attributes:
        paths: Path by what it holds: the outcomes of `Cleaned.counts`, and `report`.
    """

    paths: Mapping[str, Path]


def write(
    cleaned: Cleaned,
    out_dir: str | Path,
    *,
    stem: str | None = None,
    form: Form = "csv",
    page: Render | None = None,
    layout: CleanLayout | None = None,
    on_progress: OnProgress = silent,
) -> Written:
    """Write the five outcomes and a report, always all files, even without rows.

    `<stem>.clean.csv`, `<stem>.rejected.csv`, `<stem>.duplicates.csv`, `<stem>.do_not_call.csv`,
    `<stem>.skipped.csv` (or `.xlsx`, `.parquet`, `.jsonl`) and, last, `<stem>.report.html` where
    there is a `page`, and `<stem>.report.json`. Readable by the owner alone (mode 0600). CSV is UTF-8
    with a byte order mark and CR LF, and cells that a spreadsheet could run as formulas carry an
    apostrophe; the other forms hold text cells. Cleaning takes all of that off again, as it drops the
    columns that were added; so a corrected reject file can be cleaned as it is. The same input gives
    the same bytes. Files get their names only when all of them are whole on the disk.

    The clean list holds the lead's fields in the order of the mapping, then the file's own columns;
    `<stem>.clean.csv.origin` beside it says which column is E.164 and where the list comes from.

    Args:
        cleaned: The outcome.
        out_dir: Folder; made with mode 0700 if it is missing.
        stem: Beginning of the names; without it the first file's name without endings.
        form: Format of the five outcomes.
        page: Makes a page of the report for people; None for no page.
        layout: What the clean list looks like.
        on_progress: Told about each file.

    Returns:
        The paths.

    Raises:
        LeadFileError: The folder cannot be written, a file would replace one that was read, or a
            sheet cannot hold the rows.

    Example:
        written = dialframe.leads.write(cleaned, "out")
    """
    target = Target(Path(out_dir), stem, form, page, layout or CleanLayout())
    paths = targets_of(target, cleaned.files)
    frames = {key: getattr(cleaned, key) for key in _KEYS}
    orders = {key: [str(name) for name in frame.columns] for key, frame in frames.items()}
    columns = [file.columns for file in cleaned.files]
    clean = CleanColumns.of(orders["clean"], columns, cleaned.filled, target.layout)

    def fill(out: Outputs) -> Cleaned:
        for done, key in enumerate(_KEYS):
            on_progress(Progress(_STEP, done, len(paths)))
            out.add(key, outcome_rows.of_frame(frames[key]))
        return cleaned

    outputs(target, paths, cleaned.files, orders, clean, cleaned.region, fill)
    on_progress(Progress(_STEP, len(paths), len(paths)))
    return Written(MappingProxyType(paths))


def to_csv(frame: pd.DataFrame) -> bytes:
    """The frame as CSV for people: UTF-8 with a mark, CR LF, formulas disarmed.

    Args:
        frame: Rows of one outcome.

    Returns:
        The bytes of the file.

    Example:
        content = dialframe.leads.to_csv(cleaned.clean)
    """
    file = io.BytesIO()
    with sink("csv", file, [str(name) for name in frame.columns]) as add:
        add(outcome_rows.of_frame(frame))
    return file.getvalue()


@dataclass(frozen=True, slots=True)
class Target:
    """Where outcomes go, and how.

    Attributes:
        folder: The folder; made with mode 0700 if it is missing.
        stem: Beginning of the names, or None for the first file's name without endings.
        form: Format of the five outcomes.
        page: Makes a page of the report for people; None for no page.
        layout: What the clean list looks like.
    """

    folder: Path
    stem: str | None = None
    form: Form = "csv"
    page: Render | None = None
    layout: CleanLayout = field(default_factory=CleanLayout)


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """Files of outcomes that are being written.

    Attributes:
        sinks: What takes the rows of each outcome.
        orders: Columns of the records of each outcome.
        clean: Columns of the clean list.
        rows: Rows written so far.
    """

    sinks: Mapping[str, Add]
    orders: Mapping[str, Sequence[str]]
    clean: CleanColumns
    rows: Counter[str] = field(default_factory=Counter)

    def add(self, key: str, table: pa.Table) -> None:
        """Rows of one outcome; columns that they do not have are empty."""
        self.rows[key] += len(table)
        if not len(table):
            return
        aligned = outcome_rows.aligned(table, self.orders[key])
        rows = self.clean.table(aligned) if key == "clean" else aligned
        self.sinks[key](rows)


def targets_of(target: Target, files: Sequence[CleanedFile]) -> dict[str, Path]:
    """Path of each file that will be written, by what it holds.

    Raises:
        ConfigError: The stem is none.
        LeadFileError: A file would replace one that was read, or a folder.
    """
    begin = target.stem or stem_in(target.folder, files, target.form)
    paths = {key: target.folder / f"{begin}.{key}.{target.form}" for key in _KEYS}
    paths["origin"] = path_of(paths["clean"])
    if target.page is not None:
        paths["report_page"] = target.folder / f"{begin}.report.html"
    paths["report"] = target.folder / f"{begin}.report.json"
    if not begin or Path(begin).name != begin:
        raise ConfigError(f"stem {begin!r} is no beginning of a file name; leave out the folder")
    inputs = {file.path.resolve() for file in files}
    for path in paths.values():
        if path.resolve() in inputs:
            raise LeadFileError(
                f"{path} was read and would be replaced; choose another folder or stem", path=path
            )
        if path.is_dir():
            raise LeadFileError(f"{path} is a folder; move it away first", path=path)
    return paths


def outputs(
    target: Target,
    paths: Mapping[str, Path],
    files: Sequence[CleanedFile],
    orders: Mapping[str, Sequence[str]],
    clean: CleanColumns,
    region: str | None,
    fill: Callable[[Outputs], Told],
) -> Told:
    """Let `fill` write all outcomes, and the report of what it returns; all files or none.

    Args:
        target: Where they go, and how.
        paths: Path of each file, by what it holds.
        files: The files that were read.
        orders: Columns of the records of each outcome.
        clean: Columns of the clean list.
        region: Region by which national numbers were read.
        fill: Writes the records.

    Raises:
        LeadFileError: The folder cannot be written.
    """
    staged: dict[Path, Path] = {}
    filled: list[Told] = []
    rows: Counter[str] = Counter()

    def each(left: Sequence[str], opened: dict[str, BinaryIO]) -> None:
        """Stage one file inside the other, so that all of them are open at once."""
        if left:
            key = left[0]
            staged[paths[key]] = staging.stage(
                paths[key], lambda file: each(left[1:], {**opened, key: file})
            )
            return
        with ExitStack() as stack:
            writing = clean.layout.writing
            sinks = {
                key: stack.enter_context(
                    sink(target.form, file, clean.names, mark=writing.mark, guard=writing.guard)
                    if key == "clean"
                    else sink(target.form, file, _header(files, orders[key]))
                )
                for key, file in opened.items()
            }
            filled.append(fill(Outputs(sinks, orders, clean, rows)))

    try:
        staging.folder(target.folder)
        each(_KEYS, {})
        facts = [
            {
                "name": paths[key].name,
                "rows": rows[key],
                "sha256": staging.digest(staged[paths[key]]),
            }
            for key in _KEYS
        ]
        origin = _origin(target.form, files, clean, region, facts[_KEYS.index("clean")])
        staged[paths["origin"]] = staging.stage(
            paths["origin"], partial(_put, origin.to_json().encode())
        )
        _stage_report(filled[0], facts, paths, target.page, staged)
        staging.publish({path: staged[path] for path in paths.values()})
    except OSError as problem:
        why = (problem.strerror or "output error").lower()
        raise LeadFileError(
            f"{target.folder} cannot be written: {why}; make room or choose another folder",
            path=target.folder,
        ) from problem
    finally:
        for path in staged.values():
            path.unlink(missing_ok=True)
    return filled[0]


def stem(cleaned: Cleaned) -> str:
    """Beginning of the names of a cleaning's files: the first file's name without endings.

    Args:
        cleaned: A cleaning.

    Returns:
        For instance `autumn` of `autumn.csv`.

    Example:
        dialframe.leads.stem(cleaned)
    """
    return stem_of(cleaned.files)


def stem_of(files: Sequence[CleanedFile]) -> str:
    """The same from what is known of the files.

    Args:
        files: The files that were cleaned.

    Returns:
        The first file's name without endings.

    Example:
        dialframe.leads.stem_of(cleaned.files)
    """
    first, others = files[0].stem, len(files) - 1
    return f"{first}_and_{others}_more" if others else first


def stem_in(folder: Path, files: Sequence[CleanedFile], form: Form = "csv") -> str:
    """The beginning of the names in a folder, where no list of other files has it already.

    `autumn.csv` and `autumn.xlsx` in one folder are `autumn` and `autumn_xlsx`; the same file again
    has the name that it had, also where an upload brought the same bytes to another place.

    Args:
        folder: Where the lists go.
        files: The files that were cleaned.
        form: Form of the lists.

    Returns:
        The first free name: `autumn`, else `autumn_csv`, `autumn_csv_2` and so on.

    Example:
        dialframe.leads.stem_in(Path("out"), cleaned.files)
    """
    paths = [str(file.path.absolute()) for file in files]
    content = [(file.path.name, file.sha256) for file in files]
    begin, copy = stem_of(files), 1
    ending = files[0].path.suffix.removeprefix(".") or "list"
    name = begin
    while True:
        origin = read_origin(folder / f"{name}.clean.{form}")
        if origin is None or [each.path for each in origin.sources] in ([], paths):
            return name
        if [(each.name, each.sha256) for each in origin.sources] == content:
            return name
        name = f"{begin}_{ending}" if copy == 1 else f"{begin}_{ending}_{copy}"
        copy += 1


def _origin(
    form: Form,
    files: Sequence[CleanedFile],
    clean: CleanColumns,
    region: str | None,
    written: Mapping[str, Any],
) -> Origin:
    sources = [
        Source(file.path.name, str(file.path.absolute()), file.sha256, file.records)
        for file in files
    ]
    guarded = form == "csv" and clean.layout.writing.guard
    return Origin(
        {name: column for name, column in clean.fields.items() if name in LEAD_COLUMNS},
        region, sources, guarded, written["rows"], written["sha256"],
        "record" if all(file.extra_leads is None for file in files) else "number",
    )  # fmt: skip


def _stage_report(
    cleaned: Outcome,
    outputs: list[dict[str, Any]],
    targets: Mapping[str, Path],
    page: Render | None,
    staged: dict[Path, Path],
) -> None:
    facts = report(cleaned, outputs)
    texts = {"report": json.dumps(facts, ensure_ascii=False, indent=2) + "\n"}
    if page is not None:
        texts = {"report_page": page(facts), **texts}
    for key, text in texts.items():
        staged[targets[key]] = staging.stage(targets[key], partial(_put, text.encode()))


def _put(data: bytes, file: BinaryIO) -> None:
    file.write(data)


def _header(files: Sequence[CleanedFile], names: Sequence[str]) -> list[str]:
    """Names of columns as they stood in the file's header, where that is no trap."""
    if len(files) != 1 or files[0].header is None:
        return list(names)
    # A repeated or empty header keeps the name that it got: two equal ones cannot be told apart.
    raw = {
        name: text
        for name, text in zip(files[0].names, files[0].header, strict=False)
        if " ".join(text.split()) == name
    }
    return [raw.get(name, name) for name in names]
