"""An order of leads is only advised where it reaches more people of weeks that it has not seen."""

from __future__ import annotations

import sys
from dataclasses import replace

import pandas as pd
import pytest

from claims.bench import account
from claims.other_worlds import Account, Dialer, played
from claims.worlds import Switches
from dialframe import analytics

#: Leads that are alike, on days that are not: no order can help.
ALIKE = {
    "common days": Dialer(frailty=0, shared=0.35),
    "days that resemble their neighbors": Dialer(frailty=0, own=0.35, own_memory=0.8),
    "half days": Dialer(frailty=0, halves=0.4),
    "evenings": Dialer(frailty=0, evening=1.7, shared=0.2),
    "late outcomes": Dialer(frailty=0, late=2.0, shared=0.2),
    "shifts, a season": Switches(dead=0, shifts=True, hour=1.5, ladders=True, season=0.5, late=0.2),
    "paused": Switches(dead=0, stops=0.12, delay=2.0, until=46, shifts=True, ladders=True),
}  # fmt: skip
#: Leads of one source are reached three times as often, and the list does not know it.
UNLIKE = Dialer(source=3.0, order="mixed", frailty=0)


def _gain(made: Account) -> analytics.Claim:
    return analytics.rank(made.calls, made.leads).claims[0]


def test_no_gain_is_said_where_leads_are_alike() -> None:
    """The interval holds nothing, and the words say no gain."""
    claim = _gain(played(7, ALIKE["common days"]))
    assert claim.kind == "none"
    assert claim.text.startswith("No gain")
    assert claim.low is not None
    assert claim.low <= 0


def test_a_gain_is_found_stated_and_no_greater_than_can_be() -> None:
    """Leads of the better source come first; the gain is at most what knowing every chance would give."""
    made = played(7, UNLIKE)
    gate = pd.DataFrame({"number": made.leads["phone"], "verdict": "may be called"})
    result = analytics.rank(made.calls, made.leads, gate=gate)
    claim = result.claims[0]
    assert claim.kind == "advice"
    assert claim.effect is not None
    assert 0 < claim.effect < made.chance.std()
    fields = made.leads.set_index("id")["custom_fields"]
    first = result.table["lead_id"].head(100).map(fields)
    assert first.str.contains("s0").mean() > 0.9
    assert result.table["chance"].is_monotonic_decreasing
    hours = result.tables["hours"]
    assert set(hours["lead_id"]) == set(result.table["lead_id"].head(100))
    assert hours["chance"].between(0, 1).all()


def test_a_fit_that_does_not_converge_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says that nothing can be said, and lists nobody."""
    monkeypatch.setattr(sys.modules["dialframe.analytics.analyses.rank"], "_STEPS", 1)
    made = played(7, UNLIKE)
    gate = pd.DataFrame({"number": made.leads["phone"], "verdict": "may be called"})
    result = analytics.rank(made.calls, made.leads, gate=gate)
    assert "did not converge" in result.claims[0].text
    assert result.claims[0].effect is None
    assert result.table["chance"].isna().all()
    assert result.tables["weeks"].empty


def test_the_gate_decides_who_is_listed() -> None:
    """Held numbers, and those that it was not asked about, stand apart with the reason."""
    made = played(7, replace(UNLIKE, days=42))
    numbers = made.leads["phone"]
    verdicts = pd.DataFrame({
        "number": numbers[:200], "verdict": ["may be called", "held"] * 100, "check": [None, "calling_hours"] * 100,
    })  # fmt: skip
    result = analytics.rank(made.calls, made.leads, gate=verdicts)
    assert set(result.table["phone"]) <= set(numbers[:200:2])
    held = result.tables["held"].set_index("phone")["held_by"]
    assert set(held) == {"calling_hours", "the gate was not asked about it"}
    assert set(held[held == "calling_hours"].index) <= set(numbers[1:200:2])
    nobody = analytics.rank(made.calls, made.leads)
    assert not len(nobody.table)
    assert "pass gate=" in " ".join(nobody.warnings)
    over = result.excluded.set_index("reason").loc["over", "count"]
    assert over + len(held) + len(result.table) == len(made.leads)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALIKE)
def test_no_order_is_advised_where_leads_are_alike(name: str) -> None:
    """Of ten accounts at most two: at a level of 2.5% more than that comes once in five hundred."""
    gains = [_gain(account(seed, ALIKE[name])).kind == "advice" for seed in range(40, 50)]
    assert sum(gains) <= 2
