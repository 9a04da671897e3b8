"""Fixtures of the widgets: a folder with ugly samples, and a synthetic account that was read."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialframe import sandbox
from dialframe.account import connect
from dialframe.widgets.bench import Connect

AUTUMN = "us_autumn_campaign.csv"


@pytest.fixture
def folder(tmp_path: Path, samples: Path) -> Path:
    """A folder with two ugly lists in it, and one beside it."""
    inner = tmp_path / "lists"
    inner.mkdir()
    for name in (AUTUMN, "de_haendler_semikolon.csv"):
        shutil.copy(samples / "leads" / name, inner)
    shutil.copy(samples / "leads" / AUTUMN, tmp_path / "outside.csv")
    return inner


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connect]:
    """What opens a tiny synthetic account, synced once."""
    store = tmp_path_factory.mktemp("account") / "store"
    with sandbox.start(size="tiny", as_of=dt.date(2026, 10, 30)) as box:

        def open_account() -> object:
            return connect(base_url=box.base_url, api_key=box.api_key, store=store)

        with open_account() as account:
            account.sync()
        yield open_account
