"""Each metric against what the generator knows: recounted in plain loops, for several accounts and looks."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd
import pytest

from analytics.books import Ask, Books, Counted
from analytics.reckoning import RECKONINGS
from analytics.synthetic import framed
from analytics.truth import DAY, NOW, Call, World, world
from dialframe import analytics
from dialframe.analytics import DEFAULT, METRICS
from rows import every_row

SINCE = NOW - 60 * DAY

#: Seed and size of an account, and how it is looked at.
LOOKS: dict[str, tuple[int, str, Ask]] = {
    "whole account": (3, "tiny", Ask()),
    "whole account, read at its end": (4, "tiny", Ask(as_of=NOW)),
    "one campaign": (5, "tiny", Ask(campaign=0, as_of=NOW)),
    "the campaign that hides its machines": (5, "tiny", Ask(campaign=1)),
    "a campaign that never dialed": (3, "tiny", Ask(campaign=4, as_of=NOW)),
    "a window of time": (6, "tiny", Ask(since=SINCE, until=NOW - 20 * DAY)),
    "with click-to-call": (6, "tiny", Ask(no_campaign=True, as_of=NOW)),
    "dropped calls": (9, "tiny", Ask(drops=True, as_of=NOW)),
    "ten thousand calls": (7, "small", Ask(as_of=NOW)),
}  # fmt: skip


@cache
def books(look: str) -> Books:
    """What really happened in an account, with ledgers that follow from it."""
    seed, size, ask = LOOKS[look]
    return Books(world(seed, size), ask, [], [])


@cache
def computed(look: str) -> pd.DataFrame:
    """All metrics of the account's frames."""
    b = books(look)
    taxonomy = DEFAULT.with_codes({"HUP": "dropped_by_us"}) if b.ask.drops else DEFAULT
    return analytics.metrics(
        _calls(b.world), framed("leads", pd.DataFrame(list(b.world.leads))),
        taxonomy=taxonomy, as_of=_instant(b.ask.as_of), since=_instant(b.ask.since),
        until=_instant(b.ask.until), campaign=b.campaign, include_no_campaign=b.ask.no_campaign,
    ).table.set_index("metric")  # fmt: skip


@cache
def meant(name: str, look: str) -> Counted:
    """A metric counted anew."""
    return RECKONINGS[name](books(look))


#: What depends on the number of an attempt, which the recount takes from the window alone.
NUMBERED = {"attempts_to_contact"}


@every_row("look", LOOKS)
@every_row("name", RECKONINGS)
def test_a_metric_is_what_really_happened(name: str, look: str) -> None:
    """Numerator, denominator and value are those of a recount of the truth."""
    if look == "a window of time" and name in NUMBERED:
        return
    truth, row = meant(name, look), computed(look).loc[name]
    if name not in ("talk_time", "attempts_to_contact", "speed_to_lead", "ring_time"):
        assert row["numerator"] == truth.numerator
    assert row["denominator"] == truth.denominator
    if pd.notna(row["value"]):
        assert row["value"] == _near(truth.value, 1e-9)
    elif truth.denominator:
        # Too much is unknown for a number: the truth lies between the bounds.
        assert row["unknown"] > 0.05 * row["denominator"]
        assert row["low"] <= truth.value <= row["high"]


def test_every_metric_has_a_recount() -> None:
    """A metric without a truth of its own cannot be added."""
    assert set(METRICS) - set(RECKONINGS) == {"positive_per_human"}


def test_the_looks_show_what_they_should() -> None:
    """Numerators that are 0 in every look would prove little."""
    for name in RECKONINGS:
        assert any(meant(name, look).value not in (None, 0) for look in LOOKS), name


def _near(number: float | None, rel: float) -> Any:
    return None if number is None else pytest.approx(number, rel=rel)


def _instant(at: int | None) -> Any:
    return None if at is None else pd.Timestamp(at, unit="ms", tz="UTC").to_pydatetime()


def _calls(made: World) -> pd.DataFrame:
    return framed("calls", pd.DataFrame([_row(call) for call in made.calls]))


def _row(c: Call) -> dict[str, Any]:
    """A call as the service tells of it."""
    times = {"created_at": c.created, "answered_at": c.answered, "ended_at": c.ended}
    ours, theirs = ("to_number", "from_number") if c.inbound else ("from_number", "to_number")
    direction = None if c.aside == "direction_unknown" else "inbound" if c.inbound else "outbound"
    return {
        "id": c.id, "direction": direction, ours: c.ours, theirs: c.theirs, "status": c.status,
        **{name: None if at is None else at * 1_000 for name, at in times.items()},
        "duration_seconds": c.duration, "campaign_id": c.campaign, "disposition": c.logged,
        "hangup_cause": c.cause,
    }  # fmt: skip
