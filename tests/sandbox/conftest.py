"""One sandbox per test module, empty, with the rate limits off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialframe.sandbox import Sandbox, start
from sandbox.calling import Api


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A running service with an account that holds nothing yet."""
    with start(size="empty") as running:
        running.console.update_account({"rate_limits": None})
        yield running


@pytest.fixture(scope="module")
def api(sandbox: Sandbox) -> Iterator[Api]:
    """The first client, which may do everything."""
    calling = Api(sandbox.base_url, sandbox.api_key)
    yield calling
    calling.close()


@pytest.fixture
def settings(sandbox: Sandbox) -> Iterator[Sandbox]:
    """The sandbox, whose settings and faults are as before after the test."""
    before = sandbox.console.account()
    yield sandbox
    sandbox.console.update_account(before)
    sandbox.console.clear_faults()


@pytest.fixture
def other(sandbox: Sandbox) -> Iterator[Api]:
    """A second client of the account with every scope and a data set of its own."""
    from dialframe.contract.scopes import SCOPES

    made = sandbox.console.create_client(
        "other", scopes=[scope.name for scope in SCOPES], sending=True
    )
    calling = Api(sandbox.base_url, made["api_key"])
    yield calling
    calling.close()
