"""The environments in which commands are typed: with an account, and with nothing at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dialframe import sandbox


@pytest.fixture(scope="module")
def service(unlimited: None) -> Iterator[sandbox.Sandbox]:
    """A tiny sandbox without rate limits."""
    with sandbox.start(size="tiny", seed=3) as started:
        started.console.update_account({"rate_limits": None})
        yield started


@pytest.fixture
def account(
    service: sandbox.Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> sandbox.Sandbox:
    """The environment of somebody with an account."""
    monkeypatch.setenv("DIALFRAME_BASE_URL", service.base_url)
    # A key of its own, so that no test waits for the rate limit that another has used up.
    key = service.console.create_key(service.client_id, sending=True)
    monkeypatch.setenv("DIALFRAME_API_KEY", key)
    monkeypatch.setenv("DIALFRAME_STORE", str(tmp_path / "store"))
    return service


@pytest.fixture
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The environment of somebody without an account, with a home in which nothing is."""
    for name in ("BASE_URL", "API_KEY", "STORE", "WEBHOOK_SECRET"):
        monkeypatch.delenv(f"DIALFRAME_{name}", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
