"""The bench: every claiming analysis on worlds of three authors, without an effect and with one.

A claim is held to three things: how often it is made where nothing is there, whether the interval that it
states holds the truth and how the stated size compares with it, and how often an effect is seen that
negative answers say would have been.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final

import numpy as np

from claims import agent_worlds, other_worlds, worlds
from claims.agent_worlds import Shop
from claims.other_worlds import Dialer
from claims.worlds import Switches
from dialframe import analytics
from dialframe.analytics import Claim, Result

#: What merely looks like an effect, all at once.
CONFOUNDED: Final = Switches(
    frailty=0.8, shifts=True, ladders=True, source_spread=0.4, campaign_spread=0.4, season=0.5,
    staggered=True, late=0.2,
)  # fmt: skip
#: Campaigns pause for days, and outcomes are logged days after the call.
PAUSED: Final = Switches(
    stops=0.12, delay=2.0, until=46, frailty=0.8, shifts=True, ladders=True, source_spread=0.4,
)  # fmt: skip
#: Sixty small campaigns: strata of a lead or two.
MANY: Final = Switches(
    campaigns=60, leads=2400, frailty=0.8, shifts=True, ladders=True, source_spread=0.4, campaign_spread=0.4,
)  # fmt: skip
World = Switches | Dialer | Shop
#: Worlds without an effect, by name.
NULLS: Final[dict[str, World]] = {
    "plain": Switches(), "confounded": CONFOUNDED, "paused": PAUSED, "sixty campaigns": MANY,
    "other: plain": Dialer(),
    "other: common days, sd .15": Dialer(shared=0.15),
    "other: common days, sd .35": Dialer(shared=0.35),
    "other: common days that resemble their neighbors": Dialer(shared=0.35, shared_memory=0.8),
    "other: a campaign's days that do": Dialer(own=0.35, own_memory=0.8),
    "other: half days": Dialer(halves=0.4),
    "other: lists of unlike quality": Dialer(lists=0.4, shared=0.2),
    "other: callers bound to lists": Dialer(bound=True, lists=0.4, shared=0.35),
    "other: callers that rotate": Dialer(rotate=True, shared=0.35),
    "other: late outcomes": Dialer(late=2.0, shared=0.2),
    "other: a season": Dialer(season=0.6, own=0.2),
    "other: sparse retries": Dialer(sparse=True, shared=0.2),
    "other: best leads first": Dialer(order="sorted", shared=0.2),
    "agents: bad days": Shop(outages=4, mood=0.2, memory=0.7),
    "agents: lists uploaded together, half days": Shop(quality=0.5, lunch=0.35, own_callers=True, mood=0.15),
    "agents: small, ranked, late and silent": Shop(
        campaigns=5, people=9, ranked=True, entered=2, silent=0.04, drift=0.5, most=8,
    ),
}  # fmt: skip
CLAIMING: Final = frozenset({"difference", "best", "advice", "alarm"})
#: Trends are changes: a season is no null of `changes`; lists of unlike quality are none of sources.
_NOT_NULL: Final = {
    "changes": {"confounded", "other: a season", "agents: small, ranked, late and silent"},
    "scorecard": {"confounded", "paused", "sixty campaigns", "other: lists of unlike quality",
                  "other: callers bound to lists", "agents: lists uploaded together, half days"},
    "compare": {"confounded", "sixty campaigns"},
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One claim on the bench.

    Attributes:
        name: The analysis.
        ask: What gives a result of an account.
        about: Whether a claim is about what was planted.
        effect: A world with it.
        truth: What it really does there, a difference of rates.
        level: False claims that are promised.
    """

    name: str
    ask: Callable[[Any], Result]
    about: Callable[[Claim], bool]
    effect: World | None = None
    truth: Callable[[Any], float] | None = None
    level: float = 0.05


def account(seed: int, world: World) -> Any:
    """An account of any author."""
    if isinstance(world, Shop):
        return agent_worlds.lived(seed, world)
    return (
        worlds.made(seed, world)
        if isinstance(world, Switches)
        else other_worlds.played(seed, world)
    )


def large(world: World) -> World:
    """The same world with ten times the calls."""
    if isinstance(world, Switches):
        return replace(world, leads=10 * world.leads)
    if isinstance(world, Shop):
        return replace(world, agents=10 * world.agents, people=10 * world.people)
    return replace(world, lines=10 * world.lines, fresh=10 * world.fresh)


def nulls_of(row: Row) -> list[str]:
    """Names of the worlds in which the row's claim is false."""
    return [name for name in NULLS if name not in _NOT_NULL.get(row.name.split(":")[0], ())]


@dataclass
class Tally:
    """What came of a row: accounts asked and claims by world; and of the effect, what was stated."""

    asked: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    claims: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    effects: list[tuple[float, float, bool] | None] = field(default_factory=list)

    def null(self, row: Row, name: str, seed: int) -> None:
        """Ask of one account without the effect."""
        result = row.ask(account(seed, NULLS[name]))
        mine = [c for c in result.claims if row.about(c)]
        self.asked[name] += 1
        self.claims[name] += any(c.kind in CLAIMING for c in mine)
        for claim in mine:
            check(claim)

    def effect(self, row: Row, seed: int) -> None:
        """Ask of one account with it."""
        if row.effect is None or row.truth is None:
            return
        given = account(seed, row.effect)
        self.effects.append(stated(row, row.ask(given), row.truth(given)))

    @property
    def worst(self) -> float:
        """Part of the accounts with a false claim, in the worst world."""
        return max(self.claims[name] / n for name, n in self.asked.items())

    @property
    def false(self) -> tuple[int, int]:
        """False claims, and accounts asked."""
        return sum(self.claims.values()), sum(self.asked.values())

    @property
    def power(self) -> float:
        """Part of the accounts with the effect in which it is seen."""
        return sum(e is not None for e in self.effects) / max(len(self.effects), 1)

    @property
    def stated(self) -> float:
        """Mean effect stated over the true one; NaN without."""
        seen = [e for e in self.effects if e is not None]
        return (
            float(np.mean([abs(e[0]) for e in seen]) / np.mean([abs(e[1]) for e in seen]))
            if seen
            else np.nan
        )

    @property
    def covers(self) -> float:
        """Part of the stated intervals that hold the truth; NaN without."""
        seen = [e for e in self.effects if e is not None]
        return float(np.mean([e[2] for e in seen])) if seen else np.nan


def stated(row: Row, result: Result, truth: float) -> tuple[float, float, bool] | None:
    """The effect that a result states, the true one, and whether the interval holds it; None where it is not seen."""
    mine = [c for c in result.claims if c.kind in CLAIMING and row.about(c)]
    if not mine:
        return None
    check(mine[0])
    assert mine[0].effect is not None
    # A part less the rest, or the rest less it: either says the same.
    effect, low, high = mine[0].effect, mine[0].low or 0.0, mine[0].high or 0.0
    if effect * truth < 0:
        effect, low, high = -effect, -high, -low
    return float(effect), truth, low <= truth <= high


def check(claim: Claim) -> None:
    """What every claim keeps: bounds around its point and inside 100 points, words that agree with its p."""
    if claim.low is not None and claim.high is not None and not np.isnan(claim.low):
        assert -1 <= claim.low <= (claim.effect or 0) + 1e-9 <= claim.high + 2e-9 <= 1 + 2e-9, (
            claim
        )
    if "no difference" in claim.text or "no certain difference" in claim.text:
        assert not claim.low or not claim.high or claim.low <= 0 <= claim.high, claim


def _evening(account: Any) -> float:
    local = _local(account)
    return _planted(account, local.hour >= 17, 1.7)


def _local(account: Any) -> Any:
    behind = account.calls["to_number"].str[2:5].astype(int).map(other_worlds.ZONES).to_numpy()
    return account.calls["created_at"].dt.tz_localize(None).to_numpy() - behind.astype(
        "timedelta64[h]"
    )


def _planted(account: Any, on: Any, factor: float) -> float:
    plain = account.chance / np.where(on, factor, 1)
    return float(plain.mean() * (factor - 1))


def _hours(account: Any) -> Any:
    return _local(account).astype("datetime64[h]").astype(int) % 24


def _saturday(account: Any) -> Any:
    return (_local(account).astype("datetime64[D]").astype(int) + 3) % 7 == 5


def _source(account: Any) -> Any:
    first = dict(
        zip(account.leads["phone"], account.leads["custom_fields"].str.contains("s0"), strict=True)
    )
    return account.calls["to_number"].map(first).to_numpy(bool)


def _hours_of(account: Any) -> Result:
    return analytics.hours(account.calls, account.leads)


def _callers_of(account: Any) -> Result:
    return analytics.caller_ids(account.calls, account.leads, min_calls=100)


_DAYS: Final = {"shared": 0.2, "own": 0.15}
_WIDE: Final = Dialer(campaigns=4, lines=60, fresh=120, lists=0.2, **_DAYS)
ROWS: Final = (
    Row("hours: the hour", _hours_of, lambda c: c.subject == "hour",
        Dialer(evening=1.7, lists=0.2, **_DAYS), lambda a: _planted(a, _hours(a) >= 17, 1.7)),
    Row("hours: the weekday", _hours_of, lambda c: c.subject == "weekday",
        Dialer(saturday=1.8, lists=0.2, **_DAYS), lambda a: _planted(a, _saturday(a), 1.8)),
    Row("recycle: the gap", lambda a: analytics.recycle(a.calls, a.leads), lambda c: True,
        replace(CONFOUNDED, gap=2.2, leads=3000), lambda a: a.truth["gap"]),
    Row("speed_to_lead: the wait", lambda a: analytics.speed_to_lead(a.calls, a.leads, goal="human"),
        lambda c: c.subject == "wait", Switches(wait=0.55, leads=3200), lambda a: -a.truth["wait"]),
    Row("caller_ids: local presence", _callers_of, lambda c: c.subject == "local presence", Dialer(near=1.4, lists=0.2, **_DAYS),
        lambda a: _planted(a, (a.calls["from_number"].str[2:5] == a.calls["to_number"].str[2:5]).to_numpy(), 1.4)),
    Row("caller_ids: the alarm", _callers_of, lambda c: c.kind == "alarm", level=0.01),
    Row("scorecard", lambda a: analytics.scorecard(a.calls, a.leads), lambda c: True,
        Dialer(source=1.6, **_DAYS), lambda a: _planted(a, _source(a), 1.6)),
    Row("compare", lambda a: analytics.compare(a.calls, a.leads, **_two(a)), lambda c: True,
        replace(_WIDE, first=1.5), lambda a: _planted(a, (a.calls["campaign_id"] == "k0").to_numpy(), 1.5)),
    Row("changes", lambda a: analytics.changes(
            a.calls, a.leads, alpha=0.05, recent=timedelta(days=14), min_calls=60), lambda c: True,
        replace(_WIDE, lately=2.2, lists=0), lambda a: _planted(a, (a.calls["campaign_id"] == "k0").to_numpy(), 2.2)),
)  # fmt: skip


def _two(account: Any) -> dict[str, str]:
    first, second = sorted(account.calls["campaign_id"].dropna().unique())[:2]
    return {"a": str(first), "b": str(second)}
