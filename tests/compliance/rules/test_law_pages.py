"""What the page of a jurisdiction says of a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialframe.compliance import rulebook

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize(
    ("rule_id", "told"),
    [
        ("us-ct-hours-pre2023", "09:00-21:00 (until 2023-09-30)"),
        ("us-ct-hours", "us-ct-hours-pre2023"),
        ("us-nv-hours", "No call passes by this rule and none breaks it for certain"),
        ("nz-hours", "voluntary code: evaluated as advice"),
        ("us-tcpa-hours", "47 U.S.C. 227(c)(5)"),
        ("us-fl-consent", "lines: residential, wireless; dialing: prerecorded"),
    ],
)
def test_a_section_says_what_a_reader_could_mistake(
    rule_id: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law that ended, what it took the place of, doubt, advice, and the calls that it reaches."""
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS))
    from sitepages import law

    assert told in law._section(rulebook.load().rule(rule_id)).astext()
