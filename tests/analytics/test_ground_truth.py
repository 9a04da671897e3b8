"""Each metric against what the generator knows: recounted in plain loops, for several accounts and looks."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analytics.books import Ask, Books, Counted
from analytics.reckoning import RECKONINGS
from analytics.synthetic import framed
from analytics.truth import DAY, NOW, Call, World, world
from dialframe.analytics import DEFAULT, metrics
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
    "other thresholds": (8, "tiny", Ask(as_of=NOW, drops=True, choices={
        "attempt_cap": 5, "recycle_contacted": True, "conversions": ("conversion", "appointment"),
        "pass_number": 2, "short_call_s": 15.0, "human_length_s": 60.0, "disposition_due_h": 0.25,
        "recent_days": 45.0, "min_calls": 50, "abandon_days": 45.0,
        "callback_early_min": 2.0, "callback_late_min": 180.0, "quick_min": 45.0,
    })),
    "dropped calls": (9, "tiny", Ask(drops=True, as_of=NOW)),
    "ten thousand calls": (7, "small", Ask(as_of=NOW)),
}  # fmt: skip


@cache
def books(look: str) -> Books:
    """What really happened in an account, with ledgers that follow from it."""
    seed, size, ask = LOOKS[look]
    made, rng = world(seed, size), np.random.Generator(np.random.PCG64(seed))
    return Books(made, ask, _imports(made, rng), _report(made, rng))


@cache
def computed(look: str) -> metrics.Metrics:
    """All metrics of the account's frames."""
    b = books(look)
    taxonomy = DEFAULT.with_codes({"HUP": "dropped_by_us"}) if b.ask.drops else DEFAULT
    return metrics.compute(
        _calls(b.world), framed("leads", pd.DataFrame(list(b.world.leads))),
        imports=pd.DataFrame(b.imports),
        report=pd.DataFrame(b.report).astype({"calls": "Int64"}),
        **{n: framed(n, pd.DataFrame(b.world.tables[n])) for n in ("appointments", "callbacks")},
        taxonomy=taxonomy, as_of=_instant(b.ask.as_of), since=_instant(b.ask.since),
        until=_instant(b.ask.until), campaign=b.campaign,
        include_no_campaign=b.ask.no_campaign, choices=metrics.Choices(**b.ask.choices),
    )  # fmt: skip


@cache
def meant(name: str, look: str) -> Counted:
    """A metric counted anew."""
    return RECKONINGS[name](books(look))


#: Metrics that count calls; those of the law read an audit, which tests/compliance holds to the truth.
COUNTED = [row.name for row in metrics.METRICS if "audit" not in row.needs]
#: Effects of a model, which no plain loop can recount.
MODELED = {"local_presence_lift"}
#: What depends on the number of an attempt, which the recount takes from the window alone.
NUMBERED = {"pass_contact_rate", "pass_hazard", "attempts_to_contact", "caller_id_answer_drop"}


@every_row("look", LOOKS)
@every_row("name", COUNTED)
def test_a_metric_is_what_really_happened(name: str, look: str) -> None:
    """Numerator, denominator, value and every excluded count are those of a recount of the truth."""
    # Attempts are numbered over the whole history; a model's worlds have a known truth: tests/claims has both.
    if name in MODELED or (look == "a window of time" and name in NUMBERED):
        return
    truth, found = meant(name, look), computed(look)[name]

    # The model behind the expected people is fitted twice, with references of its own each time.
    near = 2e-2 if name == "caller_id_answer_drop" else 1e-9
    for part in ("numerator", "denominator", "value"):
        assert getattr(found, part) == _near(getattr(truth, part), near), part
    assert dict(found.excluded) == truth.excluded


def test_every_metric_has_a_recount() -> None:
    """A metric without a truth of its own cannot be added."""
    assert set(RECKONINGS) == set(COUNTED)


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


def _imports(made: World, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Every lead was accepted once; some records were not, or nobody knows."""
    campaigns = [row["id"] for row in made.tables["campaigns"]]
    words = ["duplicate", "invalid", "on_dnc", "blocked_country", "unknown"]
    refused = rng.integers(0, len(words), 60)
    days = [row["created_at"] for row in made.leads]
    rows = [("accepted", row["campaign_id"]) for row in made.leads]
    rows += [(words[n], campaigns[i % len(campaigns)]) for i, n in enumerate(refused)]
    return [
        {"status": status, "campaign_id": campaign,
         "created_at": pd.Timestamp(days[i % len(days)], unit="us", tz="UTC")}
        for i, (status, campaign) in enumerate(rows)
    ]  # fmt: skip


def _report(made: World, rng: np.random.Generator) -> list[dict[str, Any]]:
    """The service's counts of its own calls: a few were edited since, some are missing, some new."""
    counts = Counter[tuple[str, str | None, str | None]]()
    for c in made.calls:
        if not c.inbound and c.created is not None and c.aside != "duplicate" and (
            c.aside != "direction_unknown"
        ):  # fmt: skip
            day = str(np.datetime64(c.created, "ms").astype("datetime64[D]"))
            counts[day, c.campaign, c.logged] += 1
    keys = sorted(counts, key=str)
    for n in rng.integers(0, len(keys), 8).tolist():
        counts[keys[n]] += 1
    for n in rng.integers(0, len(keys), 5).tolist():
        counts[keys[n]] -= counts[keys[n]] > 1
    day, campaign, code = keys[len(keys) // 2]
    counts[day, campaign, "EDIT" if code is None else f"{code}2"] += 2
    return [{"date": d, "campaign_id": c, "disposition": k, "calls": n}
            for (d, c, k), n in counts.items()]  # fmt: skip
