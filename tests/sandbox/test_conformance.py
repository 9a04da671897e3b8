"""The sandbox holds to every sentence of the conformance suite, in both profiles, and the suite notices what does not."""

from __future__ import annotations

from typing import Literal

import pytest

from cli.commands import invoke
from dialframe import sandbox


@pytest.mark.parametrize("profile", ["friendly", "contract"])
def test_the_sandbox_conforms(
    profile: Literal["friendly", "contract"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every sentence holds with its key; with a wrong one the command says what does not."""
    with sandbox.start(size="empty", profile=profile) as service:
        monkeypatch.setenv("DIALFRAME_API_KEY", service.api_key)
        held = invoke("sandbox conform", service.base_url, "--json").facts
        monkeypatch.setenv("DIALFRAME_API_KEY", "nonsense")
        wrong = invoke("sandbox conform", service.base_url, "--json", ends=3).facts

    assert held["broken"] == []
    assert held["checks"] >= 20
    assert any("200 was expected, and 401 came" in each["wrong"] for each in wrong["broken"])
