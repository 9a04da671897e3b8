"""A cleaning's outcome to files, all of them or none; knows the disk, not how records are judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import pandas as pd

from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads import staging
from dialframe.leads.cleaned import Cleaned
from dialframe.leads.forms import Form, sink, to_csv
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.leads.report import report

__all__ = ["Form", "Written", "stem", "to_csv", "write"]

_KEYS: Final = tuple(COUNT_KEYS.values())
_STEP: Final = "cleaned files written"

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
    on_progress: OnProgress = silent,
) -> Written:
    """Write the five outcomes and a report, always all files, even without rows.

    `<stem>.clean.csv`, `<stem>.rejected.csv`, `<stem>.duplicates.csv`, `<stem>.do_not_call.csv`,
    `<stem>.skipped.csv` (or `.xlsx`, `.parquet`, `.jsonl`) and, last, `<stem>.report.html` where
    there is a `page`, and `<stem>.report.json`. Readable by the owner alone (mode 0600). CSV is UTF-8
    with a byte order mark and CR LF, and cells that a spreadsheet could run as formulas carry an
    apostrophe; the other forms hold text cells. `read` takes all of that off again, as it drops the
    columns that were added; so a corrected reject file can be cleaned as it is. The same input gives
    the same bytes. Files get their names only when all of them are whole on the disk.

    Args:
        cleaned: The outcome.
        out_dir: Folder; made with mode 0700 if it is missing.
        stem: Beginning of the names; without it the first file's name without endings.
        form: Format of the five outcomes.
        page: Makes a page of the report for people; None for no page.
        on_progress: Told about each file.

    Returns:
        The paths.

    Raises:
        LeadFileError: The folder cannot be written, a file would replace one that was read, or a
            sheet cannot hold the rows.
    """
    folder = Path(out_dir)
    begin = stem or _stem(cleaned)
    targets = {key: folder / f"{begin}.{key}.{form}" for key in _KEYS}
    if page is not None:
        targets["report_page"] = folder / f"{begin}.report.html"
    targets["report"] = folder / f"{begin}.report.json"
    _refuse_bad_targets(cleaned, begin, targets)
    staged: dict[Path, Path] = {}
    try:
        staging.folder(folder)
        outputs: list[dict[str, Any]] = []
        for done, key in enumerate(_KEYS):
            on_progress(Progress(_STEP, done, len(targets)))
            frame = _for_people(cleaned, key)
            path = staging.stage(targets[key], partial(_fill, frame, form))
            staged[targets[key]] = path
            outputs.append(_output(targets[key].name, len(frame), path))
        _stage_report(cleaned, outputs, targets, page, staged)
        staging.publish(staged)
    except OSError as problem:
        why = (problem.strerror or "output error").lower()
        raise LeadFileError(
            f"{folder} cannot be written: {why}; make room or choose another folder", path=folder
        ) from problem
    finally:
        for path in staged.values():
            path.unlink(missing_ok=True)
    on_progress(Progress(_STEP, len(targets), len(targets)))
    return Written(MappingProxyType(targets))


def stem(cleaned: Cleaned) -> str:
    """Beginning of the names of a cleaning's files: the first file's name without endings."""
    first, others = cleaned.files[0].stem, len(cleaned.files) - 1
    return f"{first}_and_{others}_more" if others else first


#: Where an argument has its name.
_stem: Final = stem


def _stage_report(
    cleaned: Cleaned,
    outputs: list[dict[str, Any]],
    targets: Mapping[str, Path],
    page: Render | None,
    staged: dict[Path, Path],
) -> None:
    told = report(cleaned, outputs)
    texts = {"report": json.dumps(told, ensure_ascii=False, indent=2) + "\n"}
    if page is not None:
        texts = {"report_page": page(told), **texts}
    for key, text in texts.items():
        staged[targets[key]] = staging.stage(targets[key], partial(_put, text.encode()))


def _fill(frame: pd.DataFrame, form: Form, file: BinaryIO) -> None:
    with sink(form, file, [str(name) for name in frame.columns]) as add:
        add(frame)


def _put(data: bytes, file: BinaryIO) -> None:
    file.write(data)


def _output(name: str, rows: int, path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": name, "rows": rows, "sha256": digest}


def _for_people(cleaned: Cleaned, key: str) -> pd.DataFrame:
    """The outcome's frame with the header as it stood in the file, where that is no trap."""
    frame: pd.DataFrame = getattr(cleaned, key)
    if len(cleaned.files) != 1 or key == "clean" or cleaned.files[0].header is None:
        return frame
    file = cleaned.files[0]
    # A repeated or empty header keeps the name that it got: two equal ones cannot be told apart.
    raw = {
        name: text
        for name, text in zip(file.names, file.header or (), strict=False)
        if " ".join(text.split()) == name
    }
    return frame.rename(columns=raw)


def _refuse_bad_targets(cleaned: Cleaned, stem: str, targets: Mapping[str, Path]) -> None:
    if not stem or Path(stem).name != stem:
        raise ConfigError(f"stem {stem!r} is no beginning of a file name; leave out the folder")
    inputs = {file.path.resolve() for file in cleaned.files}
    for path in targets.values():
        if path.resolve() in inputs:
            raise LeadFileError(
                f"{path} was read and would be replaced; choose another folder or stem", path=path
            )
        if path.is_dir():
            raise LeadFileError(f"{path} is a folder; move it away first", path=path)
