"""`since`, `until`, `as_of`, `by` and `period` mean the same in every analysis and metric, or are refused."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analytics.everything import Account, beside
from claims.worlds import Switches, made
from dialframe import analytics, frames
from dialframe.errors import ConfigError
from rows import every_row

#: A day whose midnight is inside the world, so that a date can name it.
DAY = date(2026, 1, 26)
AT = datetime(2026, 1, 26, tzinfo=UTC)
FIRST, LAST = date(2026, 1, 12), date(2026, 2, 5)
MOMENTS = ("since", "until", "as_of")
SPANS = ("window", "recent", "within", "early", "late")


def _world() -> Account:
    """A small account with all of its tables; each row is observed a while after its date."""
    world = made(2, Switches(leads=160, weeks=5))
    calls, leads = world.calls.reset_index(drop=True), world.leads.reset_index(drop=True)
    logged = calls[calls["disposition"].notna()].iloc[::3]
    events = [
        {"id": f"evt_{i}", "type": "disposition.logged", "created_at": at,
         "data": json.dumps({"call_id": row.id, "disposition_code": row.disposition, "logged_at": at.isoformat()})}
        for i, row in enumerate(logged.itertuples())
        for at in [row.ended_at + timedelta(hours=i % 60)]
    ]  # fmt: skip
    account = Account(
        calls, leads, events=frames.from_records(frames.EVENTS, events), **beside(calls, leads)
    )
    late = pd.to_timedelta(np.where(np.arange(len(calls)) % 9 == 0, 70, 1), unit="h")
    return replace(
        account,
        calls=calls.assign(_observed_at=calls["created_at"] + late),
        leads=leads.assign(_observed_at=leads["created_at"] + pd.Timedelta(hours=2)),
    )


WORLD = _world()


def _cut(account: Account) -> Account:
    """The tables as they could be known at the instant: rows observed or dated later are absent."""
    tables = {}
    for field in fields(account):
        frame: pd.DataFrame = getattr(account, field.name)
        for name in ("created_at", "_observed_at"):
            if name in frame.columns:
                frame = frame[~(frame[name] > AT).fillna(value=False).to_numpy(bool)]
        if field.name == "report":
            frame = frame[(frame["date"].astype("str") < DAY.isoformat()).to_numpy(bool)]
        tables[field.name] = frame.reset_index(drop=True)
    return Account(**tables)


THEN = _cut(WORLD)


@dataclass(frozen=True)
class Asked:
    """One public function with the frames and names that it cannot do without."""

    name: str
    function: Callable[..., Any]
    takes: frozenset[str]
    fixed: dict[str, Any]

    def __call__(self, account: Account, **given: Any) -> Any:
        """What it says of an account."""
        tables = {
            f.name: getattr(account, f.name) for f in fields(account) if f.name in self.takes
        }
        return self.function(**tables, **(self.fixed | given))


#: What an analysis must be told beside frames.
_FIXED: dict[str, dict[str, Any]] = {
    "compare": {"a": "cmp_0", "b": "cmp_1"},
    "caller_ids": {"min_calls": 20},
}  # fmt: skip


def _public() -> Iterator[Asked]:
    """Every function of the face that takes calls."""
    functions = {name: getattr(analytics, name) for name in analytics.__all__}
    found = {n: f for n, f in functions.items() if inspect.isfunction(f)}
    for name, function in found.items():
        takes = frozenset(inspect.signature(function).parameters)
        if "calls" in takes:
            yield Asked(name, function, takes, _FIXED.get(name, {}))


EVERY = {asked.name: asked for asked in _public()}
DATED = {name for name, asked in EVERY.items() if "as_of" in asked.takes}


def _parts(found: Any) -> dict[str, Any]:
    """All that a result says, by part."""
    if isinstance(found, pd.DataFrame):
        return {"frame": found.reset_index(drop=True)}
    aside = found.excluded[found.excluded["reason"] != "after_as_of"].reset_index(drop=True)
    return {"table": found.table, "answer": found.answer, "excluded": aside, **found.tables}


def _unlike(one: Any, other: Any) -> list[str]:
    """Parts of two results that are not the same."""
    left, right = _parts(one), _parts(other)
    assert left.keys() == right.keys()
    return [name for name in left if not _same(left[name], right[name])]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, pd.DataFrame):
        return one.equals(other)
    return bool(one == other)


def test_the_list_is_the_whole_face() -> None:
    """Nothing public escapes these tests: what takes no calls is told by name."""
    functions = {n for n in analytics.__all__ if inspect.isfunction(getattr(analytics, n))}
    assert functions <= EVERY.keys()
    assert len(DATED) >= 18


@every_row("name", sorted(DATED))
def test_a_date_an_instant_and_their_text_are_one(name: str) -> None:
    """All moments that a function takes, said in several ways."""
    asked = EVERY[name]
    days = {"since": FIRST, "until": DAY, "as_of": LAST}
    mine = {moment: day for moment, day in days.items() if moment in asked.takes}
    midnight = {m: datetime(d.year, d.month, d.day, tzinfo=UTC) for m, d in mine.items()}
    west = timezone(timedelta(hours=-5))
    first = asked(WORLD, **midnight)
    ways: list[Callable[[str], Any]] = [
        lambda m: mine[m], lambda m: mine[m].isoformat(),
        lambda m: midnight[m].astimezone(west).isoformat(),
    ]  # fmt: skip
    for turn in (0, 1):
        given = {m: ways[(place + turn) % 3](m) for place, m in enumerate(MOMENTS) if m in mine}
        assert not _unlike(first, asked(WORLD, **given)), given


@every_row("name", sorted(DATED))
def test_a_past_as_of_is_the_tables_cut_then(name: str) -> None:
    """What was dated or observed later is not there, whatever frame it is in."""
    asked = EVERY[name]
    assert not _unlike(asked(WORLD, as_of=DAY), asked(THEN, as_of=AT))


WRONG: tuple[tuple[object, str], ...] = (
    ("yesterday", "takes a day"), (5, "takes a day"), ("2026-02-30", "takes a day"), (True, "takes a day"),
    (datetime(2026, 2, 1), "no time zone"), (pd.NaT, "no time zone|takes a day"),  # noqa: DTZ001 - a wrong value
    ("2026-02-01T10:00", "no time zone"),
)  # fmt: skip


@every_row("name", sorted(EVERY))
def test_a_wrong_moment_or_span_is_refused_in_words(name: str) -> None:
    """And one that the function does not know at all: nothing is silently left out of account."""
    asked = EVERY[name]
    for moment in MOMENTS:
        if moment not in asked.takes:
            with pytest.raises((ConfigError, TypeError), match=moment):
                asked(WORLD, **{moment: DAY})
            continue
        for value, words in WRONG:
            with pytest.raises(ConfigError, match=f"{moment}.*({words})"):
                asked(WORLD, **{moment: value})
    if {"since", "until"} <= asked.takes:
        with pytest.raises(ConfigError, match=r"since=.* is after until="):
            asked(WORLD, since=LAST, until=FIRST)
    for span in asked.takes & set(SPANS):
        for value in (30, "soon", timedelta(days=-1)):
            with pytest.raises(ConfigError, match=span):
                asked(WORLD, **{span: value})
    for name_of in asked.takes & {"by", "period"}:
        for value in (7, "no_such_thing", ["no_such_thing"]):
            with pytest.raises(ConfigError, match=r"no_such_thing|7|is not text|is outcome"):
                asked(WORLD, **{name_of: value})


def test_the_same_calls_are_outside_a_window_everywhere() -> None:
    """From `since` on and before `until`, whoever asks."""
    at = WORLD.calls["created_at"]
    begin, end = pd.Timestamp(FIRST, tz="UTC"), pd.Timestamp(DAY, tz="UTC")
    wanted = int(((at < begin) | (at >= end)).sum())
    for name in sorted(n for n in DATED if {"since", "until"} <= EVERY[n].takes):
        found = EVERY[name](WORLD, since=FIRST, until=DAY)
        if isinstance(found, pd.DataFrame):
            count = found.attrs["set_aside"]["outside_window"]
        else:
            count = found.excluded.set_index("reason")["count"]["outside_window"]
        assert count == wanted, name


@pytest.mark.parametrize("period", ["day", "week", "month"])
def test_a_period_begins_on_the_same_day_everywhere(period: Any) -> None:
    """Days, weeks from Monday and months of UTC."""
    arrived = WORLD.leads["created_at"].dt.tz_localize(None)
    if period == "week":
        arrived -= pd.to_timedelta(arrived.dt.day_of_week, unit="D")
    wanted = set(arrived.dt.strftime("%Y-%m-01" if period == "month" else "%Y-%m-%d"))
    cohorts = analytics.cohorts(WORLD.calls, WORLD.leads, period=period).table["cohort"]
    assert set(cohorts) == wanted
    assert all(date.fromisoformat(start).weekday() == 0 for start in cohorts) or period != "week"
