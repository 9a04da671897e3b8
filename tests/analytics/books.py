"""An account under one look: which calls count, by lead, by number, by the clock; counts no metric."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from analytics.truth import Call, World, local


class Counted(NamedTuple):
    """What a metric must be."""

    numerator: float | None
    denominator: float | None
    value: float | None
    excluded: dict[str, int]


@dataclass(frozen=True, slots=True)
class Ask:
    """How an account is looked at.

    Attributes:
        campaign: Place of the only campaign looked at, or None.
        since: First instant, milliseconds UTC.
        until: First instant after.
        no_campaign: Calls outside campaigns count.
        as_of: When the data was read, or None: the latest instant in it.
        drops: The platform logs a dropped call as an early hang-up.
        choices: Thresholds that differ from the usual ones.
    """

    campaign: int | None = None
    since: int | None = None
    until: int | None = None
    no_campaign: bool = False
    as_of: int | None = None
    drops: bool = False
    choices: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Books:
    """An account under one look, with what our own ledgers and the service's report say."""

    world: World
    ask: Ask
    imports: list[dict[str, Any]]
    report: list[dict[str, Any]]

    @property
    def campaign(self) -> str | None:
        """Id of the only campaign looked at."""
        place = self.ask.campaign
        return None if place is None else str(self.world.tables["campaigns"][place]["id"])

    @cached_property
    def sorted_out(self) -> tuple[list[Call], Counter[str]]:
        """The counted calls in the order of time, and how many were set aside and why."""
        counted, aside = [], Counter[str]()
        for call in self.world.calls:
            why = self._why_not(call)
            if why:
                aside[why] += 1
            else:
                counted.append(call)
        return sorted(counted, key=lambda c: c.created or 0), aside

    @property
    def calls(self) -> list[Call]:
        """The counted calls in the order of time."""
        return self.sorted_out[0]

    def _why_not(self, call: Call) -> str:
        ask = self.ask
        bounded = ask.since is not None or ask.until is not None
        early = call.created is not None and ask.since is not None and call.created < ask.since
        late = call.created is not None and ask.until is not None and call.created >= ask.until
        if early or late or (bounded and call.created is None):
            return "outside_window"
        if call.inbound:
            return "inbound"
        if call.aside in ("direction_unknown", "dnc_screened", "in_progress", "system_noise"):
            return call.aside
        if call.campaign is None and not ask.no_campaign:
            return "no_campaign"
        if call.aside in ("no_time", "duplicate"):
            return call.aside
        return "" if ask.campaign is None or call.campaign == self.campaign else "other_campaign"

    @cached_property
    def leads(self) -> list[int]:
        """Places of the leads looked at."""
        return [i for i, row in enumerate(self.world.leads)
                if self.campaign is None or row["campaign_id"] == self.campaign]  # fmt: skip

    @cached_property
    def by_lead(self) -> dict[int, list[Call]]:
        """Counted calls of each lead, oldest first."""
        found = defaultdict(list)
        for call in self.calls:
            if not call.orphan:
                found[call.lead].append(call)
        return found

    @cached_property
    def tries(self) -> list[list[Call]]:
        """Counted calls by lead, or by number where no lead is known."""
        found = defaultdict(list)
        for call in self.calls:
            found[call.theirs if call.orphan else call.lead].append(call)
        return list(found.values())

    @cached_property
    def by_number(self) -> dict[str, list[Call]]:
        """Counted calls to each number, oldest first."""
        found = defaultdict(list)
        for call in self.calls:
            found[call.theirs].append(call)
        return found

    @cached_property
    def as_of(self) -> int:
        """When the data was read."""
        if self.ask.as_of is not None:
            return self.ask.as_of
        found = [t for c in self.world.calls for t in (c.created, c.ended) if t is not None]
        names = ("created_at", "updated_at", "last_attempt_at")
        found += [row[n] // 1_000 for row in self.world.leads for n in names if row[n] is not None]
        return max(found)

    def choice(self, name: str, usual: Any) -> Any:
        """A threshold."""
        return self.ask.choices.get(name, usual)

    def excluded(self, **more: int) -> dict[str, int]:
        """Reasons that every metric names, with those of its own."""
        names = ["outside_window", "inbound", "direction_unknown", "dnc_screened", "in_progress",
                 "system_noise", "no_campaign", "no_time"]  # fmt: skip
        if any(c.aside == "duplicate" for c in self.world.calls):
            names.append("duplicate")
        if self.ask.as_of is not None:
            names.append("after_as_of")
        if self.campaign is not None:
            names.append("other_campaign")
        aside = self.sorted_out[1]
        odd = sum(c.logged == "ZZTOP" for c in self.calls)
        return {name: aside[name] for name in names} | {"unmapped": odd} | more

    def share(self, k: float, n: float, **more: int) -> Counted:
        """A quotient; null where there is nothing to divide by."""
        return Counted(k, n, k / n if n else None, self.excluded(**more))

    def unmatched(self) -> dict[str, int]:
        """Counted calls that no lead can be given."""
        return {
            kind: sum(c.orphan == kind for c in self.calls) for kind in ("ambiguous", "no_lead")
        }


def stratum(b: Books, call: Call, attempt: int) -> tuple[str, int, int]:
    """Source, attempt and local hour of a call."""
    return source(b, call), min(attempt, 8), clock(b, call)[0]


def zones(b: Books, call: Call) -> tuple[str, ...]:
    """Candidate zones of a call's number."""
    if call.lead >= 0:
        return b.world.zones[call.lead]
    for i, row in enumerate(b.world.leads):
        if row["phone"] == call.theirs:
            return b.world.zones[i]
    return ("America/New_York",)  # the stranger's number is of Washington


def clock(b: Books, call: Call) -> tuple[int, int]:
    """Local hour and weekday; 24 and 7 where the zones of the number do not agree."""
    shown = {(t.hour, t.weekday()) for t in (local(call.created or 0, z) for z in zones(b, call))}
    return shown.pop() if len(shown) == 1 else (24, 7)


def source(b: Books, call: Call) -> str:
    """Where the call's lead came from."""
    return "(none)" if call.orphan else lead_source(b, call.lead)


def lead_source(b: Books, lead: int) -> str:
    """Where a lead came from."""
    fields = json.loads(b.world.leads[lead]["custom_fields"] or "{}")
    return str(fields.get("lead_source", "(none)"))
