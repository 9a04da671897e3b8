"""The sandbox holds to every sentence of the conformance suite, and the suite notices what does not."""

from __future__ import annotations

from dialframe import sandbox
from dialframe.sandbox.conformance import checks, conform


def test_the_sandbox_conforms_and_nothing_changes() -> None:
    """Every sentence holds, and not one request is a write that is carried out."""
    with sandbox.start(size="empty") as service:
        findings = list(conform(service.base_url, service.api_key))
        wrong = list(conform(service.base_url, "nonsense"))

    assert {finding.check.sentence: finding.wrong for finding in findings if finding.wrong} == {}
    assert len(findings) == len(checks()) >= 20
    assert any("200 was expected, and 401 came" in finding.wrong for finding in wrong)
