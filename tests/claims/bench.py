"""The bench: every claiming analysis on worlds without an effect and on worlds with one.

A row names an analysis, the worlds in which nothing is there to be found, a world with an effect, and
what is true of it. False claims are counted per account; the effect that is stated is held to the
truth; the power is measured at the effect that the negative answers say would have been seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from claims.worlds import AS_OF, Switches, World, made
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
    campaigns=60, leads=2400, frailty=0.8, shifts=True, ladders=True, source_spread=0.4,
    campaign_spread=0.4,
)  # fmt: skip
#: Rate of a call in a plain world: 0.14 of the leads whose number is in service.
BASE: Final = 0.14 * 0.96
CLAIMING: Final = frozenset({"difference", "best", "advice", "alarm"})


@dataclass(frozen=True)
class Row:
    """One claiming analysis on the bench.

    Attributes:
        name: The claim.
        ask: What gives a result of a world.
        nulls: Worlds without the effect.
        effect: A world with it.
        truth: What the claim should state of it, or None where only a name can be right.
        subject: Whether a claim is about the effect.
        right: Whether what is named is right, of a world with the effect.
        kind: Kind of the claim whose effect is held to the truth.
        limit: A world with an effect of so many points, where negative answers can be held to theirs.
    """

    name: str
    ask: Callable[[World], Result]
    nulls: tuple[Switches, ...]
    effect: Switches
    truth: Callable[[World], float] | None = None
    subject: Callable[[Claim], bool] = lambda claim: True
    right: Callable[[Claim, World], bool] | None = None
    kind: str = "difference"
    limit: Callable[[float], Switches] | None = None


class Tally:
    """What came of a row, account by account.

    Attributes:
        row: The row.
        counts: Accounts and claims of each kind of world, and sums of sizes; those of two tallies add up.
    """

    def __init__(self, row: Row, counts: Mapping[str, float] | None = None) -> None:
        self.row, self.counts = row, Counter[str](counts)

    def null(self, seed: int, switches: Switches) -> None:
        """Ask of one account of a world without the effect."""
        i, claims = self.row.nulls.index(switches), _claims(self.row, made(seed, switches))
        negative = [c for c in claims if c.kind == "none"]
        sizes = [c.detectable for c in negative if c.detectable is not None]
        self.counts += Counter({
            f"null {i}": 1, f"claimed {i}": any(c.kind in CLAIMING for c in claims),
            # Of sixty small campaigns it may be that nothing can be judged, which has no size.
            "without size": (switches.campaigns < MANY.campaigns) * (len(negative) - len(sizes)),
            **({"sizes": len(sizes), "size": sum(sizes)} if i == 0 else {}),
        })  # fmt: skip

    def effect(self, seed: int) -> None:
        """Ask of one account with the effect."""
        row, world = self.row, made(seed, self.row.effect)
        positive = [c for c in _claims(row, world) if c.kind in CLAIMING]
        right = row.right or (lambda claim, world: True)
        mine = [c for c in positive if c.kind == row.kind and c.effect is not None]
        self.counts += Counter({
            "effect": 1, "seen": bool(positive), "wrong": any(not right(c, world) for c in positive),
        })  # fmt: skip
        if mine and row.truth is not None:
            size, truth = abs(float(mine[0].effect or 0)), abs(row.truth(world))
            self.counts += Counter({"stated": size, "true": truth})

    def limit(self, seed: int) -> None:
        """Ask of one account with the effect that negative answers say would have been seen."""
        if self.row.limit is not None and self.counts["sizes"]:
            claims = _claims(self.row, made(seed, self.row.limit(self.detectable)))
            self.counts += Counter({
                "at limit": 1, "seen at limit": any(c.kind in CLAIMING for c in claims),
            })  # fmt: skip

    @property
    def falsely(self) -> tuple[int, int]:
        """Of all worlds without the effect together, how many were asked and in how many it was claimed."""
        return sum(asked for asked, _ in self.accounts), sum(hits for _, hits in self.accounts)

    @property
    def null_rate(self) -> float:
        """Part of the accounts without the effect in which it is claimed, the worst world."""
        return max(hits / max(asked, 1) for asked, hits in self.accounts)

    @property
    def accounts(self) -> list[tuple[int, int]]:
        """Of each world without the effect, how many were asked and in how many it was claimed."""
        counts = self.counts
        return [(counts[f"null {i}"], counts[f"claimed {i}"]) for i in range(len(self.row.nulls))]

    @property
    def power(self) -> float:
        """Part of the accounts with the effect in which it is claimed."""
        return self.counts["seen"] / max(self.counts["effect"], 1)

    @property
    def wrong(self) -> float:
        """Part of the accounts with the effect in which something false is claimed."""
        return self.counts["wrong"] / max(self.counts["effect"], 1)

    @property
    def stated(self) -> float:
        """Mean effect stated over the true one; NaN without a truth."""
        return self.counts["stated"] / self.counts["true"] if self.counts["true"] else float("nan")

    @property
    def detectable(self) -> float:
        """Mean of what would have been seen in the first world without the effect."""
        return self.counts["size"] / self.counts["sizes"] if self.counts["sizes"] else float("nan")


def ask_nulls(tallies: Sequence[Tally], seed: int) -> None:
    """Ask of one account of each world without an effect, world by world: what is counted of one is kept for all rows."""
    for switches in dict.fromkeys(world for tally in tallies for world in tally.row.nulls):
        for tally in tallies:
            if switches in tally.row.nulls:
                tally.null(seed, switches)


def _claims(row: Row, world: World) -> list[Claim]:
    return [claim for claim in row.ask(world).claims if row.subject(claim)]


def _evening(claim: Claim, world: World) -> bool:
    return claim.kind != "best" or claim.subject in {"17:00", "18:00", "19:00", "20:00"}


def _long_gap(claim: Claim, world: World) -> bool:
    """Advised is a day or more, and of shorter and longer gaps the longer ones are better."""
    if claim.kind == "difference":
        return (claim.effect or 0) < 0
    return any(name in claim.subject for name in ("24 h", "2 d", "4 d"))


ROWS: Final[tuple[Row, ...]] = (
    Row(
        "hours: the hour", lambda w: analytics.hours(w.calls, w.leads),
        (Switches(), CONFOUNDED, PAUSED, MANY), replace(CONFOUNDED, hour=1.7), lambda w: w.truth["hour"],
        lambda c: c.subject == "hour" or ":" in c.subject, _evening,
        limit=lambda points: Switches(hour=1 + points / BASE),
    ),
    Row(
        "best_time: the weekday", lambda w: analytics.best_time(w.calls, w.leads),
        (Switches(), CONFOUNDED, PAUSED, MANY), Switches(weekday=1.8), lambda w: w.truth["weekday"],
        lambda c: c.subject == "weekday" or len(c.subject) == 3,
        lambda c, w: c.kind != "best" or c.subject == "Sat",
        limit=lambda points: Switches(weekday=1 + points / BASE),
    ),
    Row(
        "recycle: the gap", lambda w: analytics.recycle(w.calls, w.leads),
        (Switches(), CONFOUNDED, PAUSED, MANY), replace(CONFOUNDED, gap=2.2, leads=3000), lambda w: w.truth["gap"],
        right=_long_gap, kind="advice",
        limit=lambda points: Switches(gap=1 + points / BASE, gap_until=48),
    ),
    Row(
        "speed_to_lead: the wait",
        lambda w: analytics.speed_to_lead(w.calls, w.leads, goal="human"),
        (Switches(), replace(CONFOUNDED, web_first=True), PAUSED, MANY), Switches(wait=0.55, leads=3200),
        lambda w: w.truth["wait"], lambda c: c.subject == "wait",
        limit=lambda points: Switches(wait=1 - points / BASE),
    ),
    Row(
        "local_presence", lambda w: analytics.local_presence(w.calls, w.leads),
        (Switches(), replace(CONFOUNDED, sick=0.1), PAUSED, MANY), replace(CONFOUNDED, local=1.4, sick=0.1),
        lambda w: w.truth["local"], limit=lambda points: Switches(local=1 + points / BASE),
    ),
    Row(
        "caller_ids", lambda w: analytics.caller_ids(w.calls, w.leads, min_calls=100),
        (Switches(), replace(CONFOUNDED, bound=True), PAUSED, MANY),
        replace(CONFOUNDED, sick=0.5, leads=3000), lambda w: w.truth["sick"],
        right=lambda c, w: c.subject in w.sick, kind="alarm",
        limit=lambda part: Switches(sick=0.1, sick_keeps=1 - part, sick_from=0),
    ),
    Row(
        "scorecard, 60 sources", lambda w: analytics.scorecard(w.calls, w.leads),
        (Switches(sources=60, leads=3000), *(
            replace(world, sources=60, leads=3000, source_spread=0)
            for world in (CONFOUNDED, PAUSED, MANY)
        )),
        Switches(sources=6, source_effect=1.7), lambda w: w.truth["source"],
        right=lambda c, w: c.subject == "source 00" or (c.effect or 0) < 0,
        limit=lambda points: Switches(sources=60, leads=3000, source_effect=1 + points / BASE),
    ),
    Row(
        "compare", lambda w: analytics.compare(w.calls, w.leads, a="cmp_0", b="cmp_1"),
        (
            Switches(), replace(CONFOUNDED, campaign_spread=0, staggered=False, hour=1.5), PAUSED,
            replace(MANY, leads=6000, campaign_spread=0),
        ),
        Switches(campaign_effect=1.5), lambda w: w.truth["campaign"],
        limit=lambda points: Switches(campaign_effect=1 + points / BASE),
    ),
    Row(
        "changes", lambda w: analytics.changes(
            w.calls, w.leads, alpha=0.05, as_of=AS_OF, recent=timedelta(days=14), min_calls=60
        ),
        (
            Switches(), Switches(shifts=True, ladders=True, frailty=0.8, hour=1.5, source_spread=0.4),
            PAUSED, replace(MANY, leads=6000),
        ),
        Switches(season=3.0), kind="alarm",
        limit=lambda points: Switches(lately=1 + points / BASE),
    ),
)  # fmt: skip
