"""A cleaning's outcome to files, all of them or none; knows the disk, not how records are judged."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads.cleaned import Cleaned
from dialframe.leads.escaping import escape_frame
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.leads.report import report

_CSV_KEYS: Final = tuple(COUNT_KEYS.values())
_STEP: Final = "cleaned files written"
_BOM: Final = "\ufeff".encode()


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
    on_progress: OnProgress = silent,
) -> Written:
    """Write the five outcomes as CSV and a report as JSON, always all six files, even without rows.

    `<stem>.clean.csv`, `<stem>.rejected.csv`, `<stem>.duplicates.csv`, `<stem>.do_not_call.csv`,
    `<stem>.skipped.csv` and, last, `<stem>.report.json`. UTF-8 with a byte order mark, CR LF,
    readable by the owner alone (mode 0600). Cells that a spreadsheet could run as formulas carry
    an apostrophe, which `read` takes off again, as it drops the columns that were added; so a
    corrected reject file can be cleaned as it is. The same input gives the same bytes. Files get
    their names only when all of them are whole on the disk.

    Args:
        cleaned: The outcome.
        out_dir: Folder; made with mode 0700 if it is missing.
        stem: Beginning of the names; without it the first file's name without endings.
        on_progress: Told about each file.

    Returns:
        The paths.

    Raises:
        LeadFileError: The folder cannot be written, or a file would replace one that was read.
    """
    folder = Path(out_dir)
    begin = stem or _stem(cleaned)
    targets = {key: folder / f"{begin}.{key}.csv" for key in _CSV_KEYS}
    targets["report"] = folder / f"{begin}.report.json"
    _refuse_bad_targets(cleaned, begin, targets)
    staged: dict[str, Path] = {}
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        outputs: list[dict[str, Any]] = []
        for done, key in enumerate(_CSV_KEYS):
            on_progress(Progress(_STEP, done, len(targets)))
            data = to_csv(_for_people(cleaned, key))
            staged[key] = _stage(targets[key], data)
            outputs.append(_output(targets[key].name, len(getattr(cleaned, key)), data))
        text = json.dumps(report(cleaned, outputs), ensure_ascii=False, indent=2)
        staged["report"] = _stage(targets["report"], f"{text}\n".encode())
        for key, path in targets.items():
            staged[key].replace(path)
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


def _output(name: str, rows: int, data: bytes) -> dict[str, Any]:
    return {"name": name, "rows": rows, "sha256": hashlib.sha256(data).hexdigest()}


def to_csv(frame: pd.DataFrame) -> bytes:
    """The frame as CSV for people: UTF-8 with a mark, CR LF, formulas disarmed."""
    safe = escape_frame(frame)
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(safe.columns)
    columns = [_texts(safe[name]) for name in safe.columns]
    writer.writerows(zip(*columns, strict=True))
    return _BOM + text.getvalue().encode()


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


def _texts(column: pd.Series) -> list[str]:
    return ["" if value is pd.NA else str(value) for value in column.tolist()]


def _stem(cleaned: Cleaned) -> str:
    first, others = cleaned.files[0].stem, len(cleaned.files) - 1
    return f"{first}_and_{others}_more" if others else first


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


def _stage(target: Path, data: bytes) -> Path:
    """The data whole on the disk under a name of its own beside the target, mode 0600."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path
