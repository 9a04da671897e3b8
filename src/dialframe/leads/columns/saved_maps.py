"""Column maps that somebody has confirmed, one file for each header.

A list that comes every month has the same header every month. Its map is kept under the header's
fingerprint, in a folder that the caller names, readable by its owner alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dialframe.errors import ConfigError
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.lead_file import LeadFile

_FOLDER_MODE: Final = 0o700
_FILE_MODE: Final = 0o600


def fingerprint(header: Sequence[str]) -> str:
    """What tells one header from another: SHA-256 of its names in order, blanks around them aside.

    The same for every file with the header, whatever its name, format, encoding or records.
    """
    names = [" ".join(name.replace("\ufeff", "").split()) for name in header]
    return hashlib.sha256(json.dumps(names, ensure_ascii=False).encode()).hexdigest()


def saved_mapping(file: LeadFile, folder: str | Path) -> ColumnMap | None:
    """The map that was saved for the file's header, or None; a file without a header has none.

    Raises:
        ConfigError: What is saved there is no map.
    """
    path = _path(file, folder)
    return ColumnMap.load(path) if path is not None and path.is_file() else None


def save_mapping(file: LeadFile, columns: ColumnMap, folder: str | Path) -> Path:
    """Keep the map for all files with this header; an earlier one is replaced whole.

    Returns:
        The file, mode 0600 in a folder of mode 0700.

    Raises:
        ConfigError: The file has no header, or the folder cannot be written.
    """
    path = _path(file, folder)
    if path is None:
        raise ConfigError(
            f"{file.name} has no header, so its columns cannot be told again; name them with "
            "header=[...] when it is read"
        )
    text = json.dumps(columns.to_dict(), ensure_ascii=False, indent=2) + "\n"
    try:
        path.parent.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        _replace(path, text)
    except OSError as problem:
        raise ConfigError(
            f"the mapping cannot be saved in {path.parent}: {problem.strerror}"
        ) from None
    return path


def forget_mapping(file: LeadFile, folder: str | Path) -> bool:
    """Forget the map of the file's header; whether there was one."""
    path = _path(file, folder)
    if path is None or not path.is_file():
        return False
    path.unlink()
    return True


def _path(file: LeadFile, folder: str | Path) -> Path | None:
    if file.header is None:
        return None
    return Path(folder) / f"{fingerprint(file.header)}.json"


def _replace(path: Path, text: str) -> None:
    """Write beside the place and rename, so that no reader ever sees half a map."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(_FILE_MODE)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
