"""The compiled numbering plans of the installed phonenumbers, kept on disk."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Final

import numpy as np
import phonenumbers
import platformdirs

from dialframe.phones.metadata import Plan, compile_plan

#: Counts up when the meaning of a table changes, so that tables of an older dialframe are not read.
LAYOUT: Final = 1

_PROBLEMS: Final = (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError)


def load_plan(folder: Path | None = None) -> Plan:
    """The plan of the installed metadata, compiled once and then read from disk.

    Where the disk does not take or give it, it is compiled in memory each time.

    Args:
        folder: Where to keep it; `cache_folder()` if not given.
    """
    path = (folder or cache_folder()) / f"numbering-{phonenumbers.__version__}-{LAYOUT}.npz"
    try:
        return _read(path)
    except _PROBLEMS:
        plan = compile_plan()
    with contextlib.suppress(OSError):  # a full or read-only disk costs a second, not the answer
        _write(path, plan)
    return plan


def cache_folder() -> Path:
    """Where compiled plans are kept: the user's own cache, readable by nobody else."""
    return platformdirs.user_cache_path("dialframe") / "phones"


def fingerprint(plan: Plan, *modules: ModuleType) -> int:
    """A number that differs between plans (and sources), for code compiled with one of them."""
    digest = hashlib.blake2b(digest_size=7)
    for table in plan:
        digest.update(np.ascontiguousarray(table).tobytes())
    for module in modules:
        digest.update(inspect.getsource(module).encode())
    return int.from_bytes(digest.digest())


def _read(path: Path) -> Plan:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as tables:
        plan = Plan(**{name: tables[name] for name in Plan._fields})
        if int(tables["fingerprint"]) != fingerprint(plan):
            raise ValueError(f"{path} is damaged")
    return plan


def _write(path: Path, plan: Plan) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            np.savez(file, fingerprint=np.int64(fingerprint(plan)), **plan._asdict())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
