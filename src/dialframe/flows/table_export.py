"""A stored table as a file that other programs read; the file is whole or not there."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pandas as pd

from dialframe.account import Account
from dialframe.errors import ConfigError
from dialframe.files import write_bytes
from dialframe.frames import TABLES
from dialframe.frames.csv_safety import csv_bytes


def _parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False, compression="zstd")
    return buffer.getvalue()


def _jsonl(frame: pd.DataFrame) -> bytes:
    text = frame.to_json(orient="records", lines=True, date_format="iso", date_unit="us")
    return str(text).encode()


FORMATS: Final[dict[str, Callable[[pd.DataFrame], bytes]]] = {
    ".parquet": _parquet,
    ".csv": csv_bytes,
    ".jsonl": _jsonl,
}


def check(table: str, path: Path) -> None:
    """Refuse a table or a kind of file that there is not, before anything is read.

    Raises:
        ConfigError: It names what can be had.
    """
    if table not in TABLES:
        raise ConfigError(f"there is no table {table!r}; the tables are {', '.join(TABLES)}")
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"{path}: the file's name has to end in {', '.join(FORMATS)}")


def current(account: Account, table: str) -> pd.DataFrame:
    """The current rows of a stored table, oldest first.

    Raises:
        ConfigError: There is no such table.
    """
    readers = {
        "calls": account.calls,
        "leads": account.leads,
        "campaigns": account.campaigns,
        "callbacks": account.callbacks,
        "appointments": account.appointments,
        "dispositions": account.dispositions,
        "dnc_checks": account.dnc_checks,
        "events": account.events,
        "sms_reports": account.sms_reports,
        "webhooks": account.webhooks,
    }
    if table not in readers:
        raise ConfigError(f"there is no table {table!r}; the tables are {', '.join(readers)}")
    return readers[table]()


def write(frame: pd.DataFrame, path: Path) -> Path:
    """Write the frame in the format that the file's name asks for, readable by its owner alone.

    Raises:
        OSError: The disk is full or the folder cannot be written.
    """
    plain = frame.copy()
    plain.attrs = {}
    return write_bytes(FORMATS[path.suffix.lower()](plain), path)
