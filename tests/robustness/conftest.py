"""The import command at a fake service, in folders of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from client.fakes import HURRIED
from dialframe.cli.entry_point import run
from dialframe.client import Client
from robustness.import_service import CAMPAIGN, Fake


@pytest.fixture
def fake() -> Iterator[Fake]:
    """A service that is well until it is told otherwise."""
    with Fake() as service:
        yield service


@pytest.fixture
def importing(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs `leads import` of a file into a folder, `out` unless told otherwise: its exit status."""
    # Nobody waits long before a request is sent again.
    monkeypatch.setitem(Client.__init__.__kwdefaults__, "clock", HURRIED)
    monkeypatch.setenv("DIALFRAME_BASE_URL", fake.base_url)
    monkeypatch.setenv("DIALFRAME_API_KEY", "svc_test_some_secret")
    monkeypatch.setenv("DIALFRAME_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def do(file: Path, *more: str, campaign: str = CAMPAIGN, out: str = "out") -> int:
        where = ["--campaign", campaign, "--out", str(tmp_path / out)]
        return run(["leads", "import", str(file), *where, *more])

    return do
