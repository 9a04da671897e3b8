"""What only a latent parameter tells: how often an interval covers the effect that was planted.

The calls of one generated account keep their times, leads and numbers; how easily each lead is
reached, and who answers, are drawn again by the generator's own laws, with the effect and without. With DIALFRAME_EVERY_ACCOUNT set,
each draw is of another seed's account.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from functools import cache

import numpy as np
import pandas as pd
import pytest

from analytics.books import Ask, Books, stratum
from analytics.synthetic import account
from analytics.truth import DAY, World, world
from dialframe import analytics
from dialframe.analytics import metrics

EVERY = "DIALFRAME_EVERY_ACCOUNT" in os.environ
TIMES = 40 if EVERY else 8
#: People answer a number that is shown as spam half as often, and 5 % more calls are blocked.
PLANTED_DROP = 0.5 * (1 - 0.062) / (1 - 0.012)


def least(times: int, share: float) -> int:
    """The fewest hits that a right interval has, but for one case in a thousand."""
    from scipy.stats import binom

    return int(binom.ppf(0.001, times, share))


@cache
def _laws(made: World) -> tuple[np.ndarray, ...]:
    """Of each call its lead, its two parts of the chance, local, from the flagged number since."""
    number, since, _ = made.flagged
    parts = np.array([made.chance[call.row] for call in made.calls], dtype=float)
    near = np.array([call.ours[:5] == call.theirs[:5] for call in made.calls])
    shown = np.array([c.ours == number and (c.created or 0) >= since for c in made.calls])
    return np.array([call.lead for call in made.calls]), parts, near, shown


def redrawn(
    made: World, frame: pd.DataFrame, seed: int, *, near: bool, spam: bool
) -> pd.DataFrame:
    """The calls with other answers: `near` helps local caller IDs, `spam` hurts the flagged one."""
    rng = np.random.Generator(np.random.PCG64(seed))
    lead, parts, local, shown = _laws(made)
    mean = np.asarray(made.reach, dtype=float)
    reach = rng.beta(5 * mean, 5 * (1 - mean))
    chance = np.where(local & near, parts[:, 0], parts[:, 1]) * reach[lead]
    chance = np.minimum(chance, 0.9) * np.where(shown & spam, PLANTED_DROP, 1.0)
    person = rng.random(len(chance)) < chance
    out = (frame["direction"] == "outbound").to_numpy(bool)
    rang = frame["created_at"] + pd.Timedelta(seconds=9)
    return frame.assign(
        disposition=pd.array(np.where(person, "NI", "NA"), dtype="str"),
        status=pd.array(np.where(person, "completed", "no_answer"), dtype="str"),
        hangup_cause=pd.array(np.where(person, "NORMAL_CLEARING", "NO_ANSWER"), dtype="str"),
        answered_at=rang.where(pd.Series(person & out, index=frame.index)),
        ended_at=frame["created_at"] + pd.Timedelta(seconds=60),
    )  # fmt: skip


def accounts() -> Iterator[tuple[int, World, pd.DataFrame, pd.DataFrame]]:
    """Number, truth, calls and leads of each draw."""
    for n in range(TIMES):
        seed = 101 + n if EVERY else 7
        frames = account("small", seed)
        yield n, world(seed, "small", odd=False), frames.calls, frames.leads


@cache
def true_lift(made: World) -> float:
    """What a local caller ID changes in the strata that have both, weighed as they are."""
    cells: dict[object, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    books = Books(made, Ask(), [], [])
    for calls in books.tries:
        for n, call in enumerate(calls, 1):
            local, other = (part * made.reach[call.lead] for part in made.chance[call.row])
            near = call.ours[:5] == call.theirs[:5]
            cells[stratum(books, call, n)][near].append(local - other)
    both = [(len(a) * len(b) / (len(a) + len(b)), a + b) for a, b in cells.values() if a and b]
    return sum(w * float(np.mean(gains)) for w, gains in both) / sum(w for w, _ in both)


@pytest.mark.slow
def test_the_lift_of_a_local_number_is_covered() -> None:
    """The interval has the planted lift as often as it says; without a lift it has 0 as often."""
    planted = none = certain = 0
    for n, made, calls, leads in accounts():
        found = metrics.local_presence_lift(redrawn(made, calls, n, near=True, spam=False), leads)
        planted += found.low <= true_lift(made) <= found.high
        certain += found.low > 0
        found = metrics.local_presence_lift(redrawn(made, calls, n, near=False, spam=False), leads)
        none += found.low <= 0 <= found.high
    assert planted >= least(TIMES, 0.95)
    assert none >= least(TIMES, 0.95)
    assert certain >= least(TIMES, 0.95)


@pytest.mark.slow
def test_the_drop_of_a_caller_id_is_covered() -> None:
    """A month after it was flagged: its interval has the planted drop; without one the worst has 1."""
    choices = metrics.Choices(recent_days=30, min_calls=150)
    planted = worst = none = 0
    for n, made, calls, leads in accounts():
        number, since, _ = made.flagged
        read = _at(since + 30 * DAY)
        before = (calls["created_at"] < read).to_numpy(bool)
        asked = {"leads": leads, "as_of": read, "choices": choices}
        mine = redrawn(made, calls, n, near=True, spam=True)[before]
        found = metrics.caller_id_answer_drop(mine, **asked)
        row = found.detail.set_index("from_number").loc[number]
        planted += bool(row["low"] <= PLANTED_DROP <= row["high"])
        worst += bool(row["judged"] and row["ratio"] == found.value)
        mine = redrawn(made, calls, n, near=True, spam=False)[before]
        found = metrics.caller_id_answer_drop(mine, **asked)
        none += found.high >= 1
    assert planted >= least(TIMES, 0.95)
    assert none >= least(TIMES, 0.95)
    assert worst >= least(TIMES, 0.95)


@pytest.mark.slow
def test_the_flagged_caller_id_is_alerted_and_no_other() -> None:
    """With the plant its number and no other; without it none, but for the chance that was allowed."""
    found = wrong = quiet = 0
    for n, made, calls, leads in accounts():
        for spam in (True, False):
            mine = redrawn(made, calls, n, near=True, spam=spam)
            table = analytics.caller_ids(mine, leads).table
            alerted = set(table["from_number"][table["alert"].to_numpy(bool)])
            found += made.flagged[0] in alerted and spam
            wrong += bool(alerted - {made.flagged[0]})
            quiet += not alerted and not spam
    assert found >= least(TIMES, 0.95)
    assert wrong <= 2 * TIMES - least(2 * TIMES, 0.99)
    assert quiet >= least(TIMES, 0.99)


def _at(instant: int) -> datetime:
    return pd.Timestamp(instant, unit="ms", tz="UTC").to_pydatetime()
