"""Bands of the forecast hold what they say, on offices whose future is known and was not shown."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from claims.planning_worlds import OFFICES, Office, worked
from dialframe import analytics
from dialframe.analytics import Result
from dialframe.errors import ConfigError


@cache
def asked(name: str, seed: int) -> tuple[Result, dict[str, float]]:
    """The forecast of an office, and the shares of what came that lay inside its bands."""
    calls, end, told = worked(seed, OFFICES[name])
    result = analytics.forecast(calls[calls["created_at"] < end], as_of=end, closed=told)
    return result, inside(result, calls[calls["created_at"] >= end])


def inside(result: Result, came: pd.DataFrame) -> dict[str, float]:
    """Shares of the hours, by measure, that lay inside their bands."""
    people = came[came["status"] == "completed"]
    hours = people.groupby(people["created_at"].dt.floor("h"))["duration_seconds"]
    number, talk = (
        result.table["at"].map(each).fillna(0).to_numpy(float)
        for each in (hours.size(), hours.sum())
    )
    real = {"contacts": number, "talk_s": talk, "agents": (talk + 30 * number) / (3600 * 0.85)}
    return {
        name: float(np.mean((value >= result.table[f"{name}_low"].to_numpy(float) - 0.005)
                            & (value <= result.table[f"{name}_high"].to_numpy(float) + 0.005)))
        for name, value in real.items()
    }  # fmt: skip


def test_bands_hold_what_they_say() -> None:
    """Nine tenths of the hours of some offices, and of no office far fewer or all."""
    some = ("growing", "bad days", "restless hours", "a holiday that nobody told")
    shares = pd.DataFrame({name: asked(name, 5)[1] for name in some}).T
    assert shares.mean().between(0.86, 0.95).all(), shares
    assert shares.min().min() > 0.75
    assert shares["contacts"].max() < 0.99


@pytest.mark.slow
@pytest.mark.parametrize("name", OFFICES)
def test_the_bands_of_each_office_hold_what_they_say(name: str) -> None:
    """Eight accounts: 85 to 95% of their hours."""
    shares = pd.DataFrame([asked(name, seed)[1] for seed in range(8)])
    assert shares.mean().between(0.85, 0.95).all()


def test_the_backtest_is_out_of_sample() -> None:
    """It says of earlier weeks what the forecast made then would have said."""
    calls, end, _ = worked(5, OFFICES["bad days"])
    row = asked("bad days", 5)[0].tables["backtest"].iloc[1]
    assert row["origin"] == f"{end - pd.Timedelta(days=14):%Y-%m-%d}"
    then = analytics.forecast(calls[calls["created_at"] < row["origin"]], as_of=row["origin"])
    weeks = then.table[then.table["day"] < f"{end:%Y-%m-%d}"]
    assert row["hours"] == len(weeks)
    assert row["forecast"] == pytest.approx(weeks["contacts"].sum(), rel=0.03)


def test_a_history_that_is_too_short_is_said() -> None:
    """No numbers, and the reason."""
    calls, end, _ = worked(5, Office(weeks=2))
    result = analytics.forecast(calls[calls["created_at"] < end], as_of=end)
    assert (
        "cannot be forecast, because 12 days with calls are over, and 15 are needed"
        in result.answer
    )
    assert not len(result.table)


def test_outcomes_that_nobody_entered_are_no_people() -> None:
    """Where most calls have an unknown answerer, nothing is forecast."""
    calls, end, _ = worked(5, Office(weeks=5))
    calls["disposition"] = pd.array([None] * len(calls), dtype="str")
    result = analytics.forecast(calls, as_of=end)
    assert "nothing says by whom" in result.answer
    assert not len(result.table)


def test_a_closed_day_has_no_hours_and_hours_are_of_the_zone() -> None:
    """Named days are left out; the clock is that of the agents."""
    calls, end, _ = worked(5, OFFICES["plain"])
    closed = f"{end + pd.Timedelta(days=2):%Y-%m-%d}"
    past = calls[calls["created_at"] < end]
    result = analytics.forecast(past, as_of=end, zone="America/New_York", closed=[closed])
    assert closed not in set(result.tables["days"]["day"])
    assert set(result.table["hour"]) <= set(range(4, 15))
    assert (
        result.table["at"].dt.tz_convert("America/New_York").dt.hour == result.table["hour"]
    ).all()
    for wrong in ({"zone": "Mars"}, {"closed": ["soon"]}, {"days": 0}, {"level": 1.5}):
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            analytics.forecast(past, **wrong)  # type: ignore[arg-type]
