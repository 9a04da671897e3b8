"""Fixtures of the widgets: a folder with ugly samples, and a synthetic account that was read."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dialframe import sandbox
from dialframe.account import Account, connect
from dialframe.sandbox.launch import Sandbox
from dialframe.widgets.lead_workbench_model import Connect

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


@pytest.fixture(scope="package")
def box() -> Iterator[Sandbox]:
    """A tiny synthetic service."""
    with sandbox.start(size="tiny", as_of=dt.date(2026, 10, 30)) as started:
        yield started


@pytest.fixture(scope="package")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where its account is stored."""
    return tmp_path_factory.mktemp("account") / "store"


@pytest.fixture(scope="package")
def opened(store: Path, box: Sandbox) -> Connect:
    """What opens its account, synced once."""

    def open_account() -> Account:
        return connect(base_url=box.base_url, api_key=box.api_key, store=store)

    with open_account() as account:
        account.sync()
    return open_account


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a workbench keeps is kept for the test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
