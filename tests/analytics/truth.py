"""A generated account as what really happened: plain records, with what an account's tables hide.

It repeats the steps of the generator to keep what the tables leave out (who really answered, whose
number it was, how likely a person was), and knows nothing of the analyses. A few hand-written
calls are added for what the generator does not make: rows to set aside, numbers without a lead,
impossible times.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from analytics.synthetic import AS_OF
from dialframe.sandbox.seed import (
    after_the_calls,
    call_history,
    call_outcomes,
    generate,
    people_and_calendar,
    planted_faults,
    sizes_and_columns,
)
from dialframe.sandbox.seed.answer_sheet import History
from dialframe.sandbox.seed.sizes_and_columns import SIZES, VOICEMAIL_AS_COMPLETED

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
NOW = int(dt.datetime(AS_OF.year, AS_OF.month, AS_OF.day, tzinfo=dt.UTC).timestamp()) * 1_000
# So small that no chance is cut off at the generator's highest.
_SLIGHT = 0.01

#: What the generator's codes mean: who answered, and what came of it.
WANTED = frozenset(["NP", "NI", "CALLBK", "NQ", "XFER", "APPT", "SALE", "DNC", "LB", "INFO"])
PERSON = WANTED | {"HUP", "WN", "GATE", "ZZTOP", "DROP"}
MACHINE = frozenset(("A", "AA"))


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it was; instants are UTC milliseconds.

    Attributes:
        id: Its id.
        lead: Place of the lead whose number it is, or -1.
        campaign: Campaign id, or None.
        inbound: The lead called.
        ours: Our number in it.
        theirs: The other number.
        created: When it began, or None.
        answered: When it was answered, or None.
        ended: When it ended, or None.
        code: What really happened.
        logged: What was logged.
        duration: `duration_seconds`.
        aside: Why no rate counts it, of the hand-written ones; empty for all others.
        readable: What happened can be read from what was logged.
        row: Its place in the generator's history, or -1.
        orphan: No lead can be told: `no_lead` or `ambiguous`.
    """

    id: str
    lead: int
    campaign: str | None
    inbound: bool
    ours: str
    theirs: str
    created: int | None
    answered: int | None
    ended: int | None
    code: str
    logged: str | None
    cause: str | None
    status: str
    duration: int | None
    aside: str = ""
    readable: bool = True
    row: int = -1
    orphan: str = ""

    @property
    def person(self) -> bool:
        """A person answered and the account can know."""
        return self.readable and self.code in PERSON

    @property
    def wanted(self) -> bool:
        """The person wanted answered and the account can know."""
        return self.readable and self.code in WANTED

    @property
    def machine(self) -> bool:
        """A machine answered and the account can know."""
        return self.readable and self.code in MACHINE

    @property
    def unknown(self) -> bool:
        """Answered, and the account cannot know by whom."""
        return self.answered is not None and not self.readable

    @property
    def talk(self) -> int | None:
        """Milliseconds from answer to end; None where not known or impossible."""
        if self.answered is None or self.ended is None or self.ended < self.answered:
            return None
        return self.ended - self.answered

    @property
    def ring(self) -> int | None:
        """Milliseconds to the answer, or to the end without one."""
        until = self.answered if self.answered is not None else self.ended
        return None if until is None or self.created is None else until - self.created


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """One account: what happened, and the tables that it is read from.

    Attributes:
        calls: Every call.
        leads: Rows of the leads table.
        tables: Rows of every table of the generator, as dictionaries.
        zones: Candidate zones of each lead's number.
        chance: Of each call of the history, how likely a person was with a local caller ID, and
            with another, neither shown as spam; to be multiplied by the reach of the lead.
        reach: Of each lead's source, the mean chance to reach its leads.
        listed: When each number came onto the Do-Not-Call list.
        flagged: The caller ID shown as spam, from when, and until when it was used.
        planted: Ids on the answer sheet, by fault.
    """

    calls: tuple[Call, ...]
    leads: tuple[dict[str, Any], ...]
    tables: dict[str, list[dict[str, Any]]] = field(repr=False)
    zones: tuple[tuple[str, ...], ...] = field(repr=False)
    chance: tuple[tuple[float, float], ...] = field(repr=False)
    reach: tuple[float, ...] = field(repr=False)
    listed: dict[str, int] = field(repr=False)
    flagged: tuple[str, int, int] = ("", 0, 0)
    planted: dict[str, set[str]] = field(default_factory=dict, repr=False)


@cache
def world(seed: int, size: str = "tiny", *, odd: bool = True, ends_on: dt.date = AS_OF) -> World:
    """The account of a seed; `odd` adds the hand-written calls."""
    history = drawn_history(seed, size, ends_on)
    made = generate(seed=seed, size=size, as_of=ends_on).tables
    tables = {
        name: [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        for name, table in made.items()
    }
    assert [row["id"] for row in tables["calls"]] == history.call_ids, "not the generator's steps"
    people, callers = history.world.people, history.world.callers
    zones = tuple(tuple(people_and_calendar.PLACES[p].zones) for p in people.place.tolist())
    calls = tuple(_call(history, row, i) for i, row in enumerate(tables["calls"]))
    planted: dict[str, set[str]] = {}
    for row in tables["ground_truth"]:
        planted.setdefault(row["fault"], set()).add(row["id"])
    leads = tuple(tables["leads"])
    return World(
        calls=(*calls, *(_odd(leads, calls, history.campaign_ids) if odd else ())),
        leads=leads,
        tables=tables,
        zones=zones,
        chance=_chances(history),
        reach=tuple(people_and_calendar.SOURCES[n].reach for n in people.source.tolist()),
        listed={row["phone"]: row["listed_at"] // 1_000 for row in tables["dnc"]},
        flagged=(callers.numbers[callers.new], callers.new_flagged, callers.new_until),
        planted=planted,
    )


def local(instant: int, zone: str) -> dt.datetime:
    """What the clock of a zone shows."""
    return dt.datetime.fromtimestamp(instant / 1_000, ZoneInfo(zone))


def drawn_history(seed: int, name: str, ends_on: dt.date) -> History:
    """The generator's own steps, in its order, up to what its tables are written from."""
    size, rng = SIZES[name], np.random.Generator(np.random.PCG64(seed))
    calendar = people_and_calendar.calendar(ends_on, size.history_days)
    campaigns = people_and_calendar.campaigns(calendar, size)
    everyone = people_and_calendar.people(rng, calendar, size, campaigns)
    cast = planted_faults.cast(rng, calendar, size, everyone)
    callers = people_and_calendar.callers(calendar, size)
    made = call_history.World(calendar, campaigns, callers, cast.people)
    dialed = call_history.dial(rng, made)
    flow = call_history.flow(rng, made, dialed.calls, cast.scripts, size.calls)
    logged = after_the_calls.mark(rng, made, flow, size.faults)
    first = after_the_calls.first_calls(flow, size.leads)
    created = people_and_calendar.created_at(rng, cast.people, campaigns, first, calendar.ends)
    after_the_calls.appointments(rng, made, flow, logged)
    dnc = after_the_calls.dnc_list(rng, made, flow, logged, created, cast, size)
    return History(
        world=made, cast=cast, traffic=flow, marks=logged, dnc=dnc, created=created,
        call_ids=sizes_and_columns.draw(rng, "call_", size.calls), lead_ids=sizes_and_columns.draw(rng, "lead_", size.leads),
        campaign_ids=sizes_and_columns.draw(rng, "cmp_", len(size.campaigns)),
    )  # fmt: skip


def _call(history: History, row: dict[str, Any], i: int) -> Call:
    calls, flow = history.traffic.calls, history.traffic
    lead, code = int(calls.lead[i]), call_outcomes.OUTCOMES[int(calls.outcome[i])].code
    created, ring, talk = (int(part[i]) for part in (calls.created, calls.ring, calls.talk))
    answered = created + ring if bool(calls.answered[i]) else None
    hidden = history.world.campaigns.with_trait(VOICEMAIL_AS_COMPLETED)
    voiceless = (
        code in MACHINE
        and not flow.detached[i]
        and int(history.world.people.campaign[lead]) == hidden
    )
    unread = i in set(history.marks.missing.tolist()) | set(history.marks.unmapped.tolist())
    inbound = bool(calls.inbound[i])
    return Call(
        id=history.call_ids[i], lead=lead, inbound=inbound,
        campaign=None if flow.detached[i]
        else history.campaign_ids[int(history.world.people.campaign[lead])],
        ours=history.world.callers.numbers[int(calls.caller[i])],
        theirs=history.world.people.phone[lead],
        created=created, answered=answered, ended=created + ring + talk, code=code,
        logged=row["disposition"], cause=row["hangup_cause"], status=row["status"],
        duration=row["duration_seconds"], readable=not (voiceless or unread), row=i,
    )  # fmt: skip


def _chances(history: History) -> tuple[tuple[float, float], ...]:
    """How likely each call was to reach a person, for a lead that answers every call it can."""
    calls, people = history.traffic.calls, history.world.people
    leads, size = calls.lead, len(calls.lead)
    zones = [people_and_calendar.ZONES[zone] for zone in people.zone[leads].tolist()]
    clocks = [local(at, zone) for at, zone in zip(calls.created.tolist(), zones, strict=True)]
    never = np.zeros(size, dtype=bool)
    through = np.where(people.bad[leads], 0.07, 1.0) * 0.98 * (1 - 0.012)
    found = []
    for near in (True, False):
        dials = call_outcomes.Dials(
            bad=people.bad[leads], reach=np.full(size, _SLIGHT), voicemail=people.voicemail[leads],
            wrong=np.zeros(size), factor=np.ones(size),
            hour=np.clip([clock.hour - people_and_calendar.FIRST_HOUR for clock in clocks], 0, 12),
            weekday=np.array([clock.weekday() for clock in clocks]),
            attempt=np.maximum(calls.attempt, 1), flagged=never, local=np.full(size, near),
            awaited=calls.awaited,
        )  # fmt: skip
        found.append((call_outcomes._human_chance(dials) / _SLIGHT * through).tolist())
    return tuple(zip(*found, strict=True))


def _odd(
    leads: tuple[dict[str, Any], ...], calls: tuple[Call, ...], campaigns: list[str]
) -> tuple[Call, ...]:
    """Calls that the generator does not make, with what is to become of each."""
    noon = (NOW // DAY - 3) * DAY + 16 * HOUR
    mine = [i for i, row in enumerate(leads) if row["campaign_id"] == campaigns[0]]
    three = {row["phone"] for row in leads}
    shared = next(p for p in sorted(three) if sum(row["phone"] == p for row in leads) == 3)
    sharer = next(i for i in mine if leads[i]["phone"] == shared)

    def made(n: int, code: str, **fields: Any) -> Call:
        lead = mine[n]
        answered = code in PERSON | MACHINE
        at = noon + n * HOUR // 4
        given: dict[str, Any] = {
            "id": f"call_odd_{n}", "lead": lead, "campaign": campaigns[0], "inbound": False,
            "ours": calls[0].ours, "theirs": leads[lead]["phone"], "created": at,
            "answered": at + 8 * SECOND if answered else None, "ended": at + 50 * SECOND,
            "code": code, "logged": code, "status": "completed",
            "cause": "NORMAL_CLEARING" if answered else "NO_ANSWER",
            "duration": 42 if answered else None,
        }  # fmt: skip
        return Call(**given | fields)

    again = [c for c in calls if not c.inbound and c.campaign and c.person][:3]
    stranger = {"lead": -1, "theirs": "+12025550177", "orphan": "no_lead"}
    return (
        *(replace(c, aside="duplicate", row=-1) for c in again),
        made(0, "DNCL", lead=sharer, theirs=shared, aside="dnc_screened", cause=None, ended=None),
        made(1, "NA", aside="in_progress", logged=None, cause=None, status="ringing", ended=None),
        made(2, "NA", aside="system_noise", logged="QUEUE", cause=None),
        made(3, "NA", aside="direction_unknown"),
        made(4, "NA", aside="no_time", created=None),
        # Counted: a lead that nobody knows, a number of three leads, a call to no number.
        made(5, "SALE", **stranger),
        made(6, "SALE", **stranger),
        made(7, "NA", lead=-1, theirs=shared, campaign=campaigns[1], orphan="ambiguous"),
        # Counted: impossible and missing times.
        made(8, "NI", answered=noon + 2 * HOUR - 5 * SECOND, duration=55),
        made(9, "NA", ended=noon + 9 * HOUR // 4 + 200 * SECOND),
        made(10, "NA", ended=None),
        made(11, "A", ended=None, duration=None),
        # A conversation that ended half an hour ago and is not logged yet.
        made(12, "NI", logged=None, created=NOW - 40 * MINUTE, answered=NOW - 39 * MINUTE,
             ended=NOW - 30 * MINUTE, readable=False),
        # The same lead sold twice.
        made(13, "SALE"),
        made(14, "SALE", lead=mine[13], theirs=leads[mine[13]]["phone"]),
    )  # fmt: skip
