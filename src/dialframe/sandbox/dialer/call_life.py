"""The life of a call that is placed here: dialed, ringing, answered, ended, its disposition logged.

Each step leaves behind what it does in the service: a Call record, an attempt on the lead, an entry of
the outbox, events, and whatever the conversation led to (a callback, an appointment, a number on the
Do-Not-Call list).
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal

from dialframe.contract.limits import CALL_MAX_MINUTES
from dialframe.sandbox.dialer import contact_checks
from dialframe.sandbox.dialer.call_plan import CallPlan
from dialframe.sandbox.dialer.contact_checks import Occasion, Sender, Sent
from dialframe.sandbox.world import clients_and_keys, clock, events
from dialframe.sandbox.world.api_objects import APPOINTMENT, CALL, Json
from dialframe.sandbox.world.clients_and_keys import DialerSettings
from dialframe.sandbox.world.clock import SECOND_US
from dialframe.sandbox.world.sandbox_database import insert

Step = Literal["end", "log", "ring", "answer", "callback", "first", "dial", "tick"]

#: Steps of the same instant, in the order in which they are taken.
ORDER: Final[tuple[Step, ...]] = (
    "end", "log", "ring", "answer", "callback", "first", "dial", "tick",
)  # fmt: skip

#: A click-to-call while the dialer is off: answered after ten seconds, ended a minute later.
CLICK_RINGS_US: Final = 10 * SECOND_US
CLICK_TALKS_US: Final = 60 * SECOND_US
#: Contract, Limits: longer than that no click-to-call lasts.
CLICK_LASTS_US: Final = CALL_MAX_MINUTES * 60 * SECOND_US

#: Caller ID of an account that has registered none: a fictional number.
NO_CALLER_ID: Final = "+12025550180"

# A second after dialing the far end rings; the set of call statuses is not shown.
_RINGS_AFTER_US: Final = SECOND_US
_DAY_US: Final = clock.DAY_US
# An hour of talk (`call_outcomes.talk_ms`) and a minute of ringing at most, rounded up.
_LONGEST_US: Final = 62 * 60 * SECOND_US


_PLANNED: Final = tuple(item.name for item in fields(CallPlan))


@dataclass(order=True, frozen=True, slots=True)
class Due:
    """One step that lies ahead."""

    at_us: int
    rank: int
    client: int
    about: str
    plan: Json = field(default_factory=dict, compare=False, repr=False)

    @property
    def step(self) -> Step:
        """What is to be done."""
        return ORDER[self.rank]


class Agenda:
    """Steps that lie ahead: those of the time being played in memory, later ones in the database."""

    def __init__(self, db: sqlite3.Connection, until_us: int) -> None:
        self._db = db
        self._until_us = until_us
        self._heap: list[Due] = []

    def add(
        self, at_us: int, step: Step, client: int, about: str, plan: Mapping[str, Any]
    ) -> None:
        """Have a step taken at an instant."""
        if at_us <= self._until_us:
            self.push(Due(at_us, ORDER.index(step), client, about, dict(plan)))
            return
        values = {"at": at_us, "step": step, "about": about, "plan": json.dumps(plan)}
        insert(self._db, "agenda", client, values)

    def recall(self, at_us: int, step: Step, client: int, about: str) -> None:
        """The same for a step that a column of the lead or the callback keeps already."""
        if at_us <= self._until_us:
            self.push(Due(at_us, ORDER.index(step), client, about))

    def push(self, due: Due) -> None:
        """Have a step taken in the time being played."""
        # `Due` orders by instant, then by rank: two steps of one instant always go in the same order.
        heapq.heappush(self._heap, due)

    def load(self) -> None:
        """Take what is due out of the database."""
        rows = self._db.execute(
            "DELETE FROM agenda WHERE at <= ? RETURNING at, step, client, about, plan",
            (self._until_us,),
        ).fetchall()
        for at_us, step, client, about, plan in rows:
            self.push(Due(at_us, ORDER.index(step), client, about, json.loads(plan)))

    def take(self) -> Due | None:
        """The next step, or None when all are done."""
        return heapq.heappop(self._heap) if self._heap else None

    def needs(self, ended_at: int) -> bool:
        """Whether somebody may see the call while it is under way."""
        return ended_at > self._until_us


@dataclass(frozen=True, slots=True)
class DialContext:
    """Where a call is placed: for whom, when, and what is counted.

    Attributes:
        seed: What the called parties' behavior is drawn from.
        played: How many of each thing happened.
    """

    sender: Sender
    agenda: Agenda
    seed: int
    played: Counter[str] = field(default_factory=Counter)

    @property
    def dialer(self) -> DialerSettings:
        """The account's settings of the dialer."""
        return self.sender.settings.dialer

    def emit(self, kind: str, data: Json) -> None:
        """Let an event of this instant be known."""
        sender = self.sender
        events.emit(sender.db, sender.client, kind, data, sender.now_us)
        self.played["events"] += 1


@dataclass(frozen=True, slots=True)
class CalledParty:
    """Who is called.

    Attributes:
        lead_id: The lead, where the call is an attempt on one.
        attempts: Attempts on the lead so far.
    """

    phone: str = field(repr=False)
    campaign_id: str | None = None
    lead_id: str | None = None
    attempts: int = 0
    custom_fields: str | None = field(default=None, repr=False)


def lead_called(db: sqlite3.Connection, client: int, lead_id: str) -> CalledParty:
    """A lead as somebody to be called."""
    row = db.execute(
        "SELECT phone, campaign_id, id, attempts, custom_fields FROM leads"
        " WHERE client = ? AND id = ?",
        (client, lead_id),
    ).fetchone()
    return CalledParty(contact_checks.e164(row[0]), *row[1:])


def is_on_the_line(db: sqlite3.Connection, client: int, phone: str, now_us: int) -> bool:
    """Whether a call to this number is under way; none takes longer than an hour and its ringing."""
    row = db.execute(
        "SELECT 1 FROM calls WHERE client = ? AND to_number = ? AND created_at > ?"
        " AND ended_at IS NULL",
        (client, phone, now_us - _LONGEST_US),
    )
    return row.fetchone() is not None


def rested_at(context: DialContext, phone: str) -> int:
    """When a number has had fewer calls in 24 hours than the account allows, whatever leads have it."""
    sender = context.sender
    row = sender.db.execute(
        "SELECT created_at FROM calls WHERE client = ? AND to_number = ?"
        " ORDER BY created_at DESC LIMIT 1 OFFSET ?",
        (sender.client, phone, context.dialer.max_attempts_per_day - 1),
    ).fetchone()
    return 0 if row is None else int(row[0]) + _DAY_US + SECOND_US


def place(
    context: DialContext,
    called: CalledParty,
    occasion: Occasion,
    *,
    about: str = "",
    caller_id: str | None = None,
    agent: str | None = None,
) -> str:
    """Dial a number for which every check was made: record, outbox, attempt; returns the call's id."""
    sender, now_us = context.sender, context.sender.now_us
    from_number = caller_id or _caller_id(sender, called.phone)
    plan = _plan(context, called, occasion, from_number)
    if called.lead_id is None:
        call_id = clients_and_keys.new_id(sender.db, sender.client, "call")
    else:
        # From lead and attempt: whatever else is dialed, this call has the same id.
        parts = (sender.client, called.lead_id, "call", called.attempts)
        call_id = clients_and_keys.derived_id("call", context.seed, *parts)
    values = {
        "id": call_id,
        "direction": "outbound",
        "from_number": from_number,
        "to_number": called.phone,
        "status": "dialing",
        "created_at": now_us,
        "campaign_id": called.campaign_id,
        "lead_id": called.lead_id,
        "agent_extension": agent,
    }
    insert(sender.db, "calls", sender.client, values)
    contact_checks.spend(sender, "call")
    _note(sender, called, occasion, call_id, about, agent, from_number)
    if called.lead_id is not None:
        _attempt(sender, called.lead_id)
    # Endpoints, Calls 2: the agent is held, shown as ringing, before the customer is dialed.
    if agent is not None:
        _set_agent(sender.db, sender.client, agent, "ringing")
    context.played["calls"] += 1
    _schedule(context, call_id, called, plan, agent)
    return call_id


def take_step(context: DialContext, due: Due) -> None:
    """Take one step of a call's life."""
    db, client = context.sender.db, context.sender.client
    if due.step == "ring":
        CALL.change(db, client, due.about, {"status": "ringing"})
    elif due.step == "answer":
        answered = {"status": "in_progress", "answered_at": due.plan["answered_at"]}
        CALL.change(db, client, due.about, answered)
    elif due.step == "end":
        _end(context, due)
    elif due.step == "log":
        _log(context, due)


def _plan(
    context: DialContext, called: CalledParty, occasion: Occasion, from_number: str
) -> CallPlan:
    now_us = context.sender.now_us
    if occasion == "click" and not context.dialer.enabled:
        answered_at = now_us + CLICK_RINGS_US
        ended_at = answered_at + CLICK_TALKS_US
        return CallPlan(
            None, "completed", "NORMAL_CLEARING", human=True, answered_at=answered_at,
            ended_at=ended_at, gap_us=_DAY_US,
        )  # fmt: skip
    # numpy and the history's parameters are only loaded where somebody's behavior is drawn.
    from dialframe.sandbox.dialer import called_party

    zones = contact_checks.zones(called.phone)
    fields = json.loads(called.custom_fields) if called.custom_fields else {}
    source = fields.get("lead_source")
    dial = called_party.Dial(
        key=called.lead_id or f"{called.phone}/{now_us}",
        source=source if isinstance(source, str) else None,
        attempt=called.attempts + 1,
        at_us=now_us,
        zone=zones[0] if zones else "Etc/UTC",
        awaited=occasion == "callback",
        # Area codes of the North American plan: `+1` and three digits.
        local=from_number[:5] == called.phone[:5],
        answer_rate=context.dialer.answer_rate,
    )
    plan = called_party.plan_call(context.seed, dial)
    return _cut_off(plan) if occasion == "click" else plan


def _cut_off(plan: CallPlan) -> CallPlan:
    """The service ends a click-to-call after 30 minutes (contract, Endpoints: Calls)."""
    over_us = 0 if plan.answered_at is None else plan.ended_at - plan.answered_at - CLICK_LASTS_US
    if over_us <= 0:
        return plan
    logged_at = None if plan.logged_at is None else plan.logged_at - over_us
    return replace(plan, ended_at=plan.ended_at - over_us, logged_at=logged_at)


def _caller_id(sender: Sender, phone: str) -> str:
    """One of the account's numbers: of the called area code if there is one."""
    row = sender.db.execute(
        "SELECT number FROM caller_ids WHERE client = ?"
        " ORDER BY substr(number, 1, 5) <> ?, number LIMIT 1",
        (sender.client, phone[:5]),
    ).fetchone()
    return NO_CALLER_ID if row is None else str(row[0])


def _note(
    sender: Sender,
    called: CalledParty,
    occasion: Occasion,
    call_id: str,
    about: str,
    agent: str | None,
    from_number: str,
) -> None:
    detail: Json = {
        "call_id": call_id,
        "caller_id": from_number,
        "campaign_id": called.campaign_id,
        "lead_id": called.lead_id,
    }
    if agent is not None:
        detail["agent_extension"] = agent
    if occasion == "dial_now":
        detail["dial_now"] = True
    kind: Literal["call", "callback"] = "callback" if occasion == "callback" else "call"
    sent = Sent(kind, called.phone, sender.now_us, about or call_id, detail)
    contact_checks.note_sent(sender.db, sender.client, sent)


def _attempt(sender: Sender, lead_id: str) -> None:
    sender.db.execute(
        "UPDATE leads SET attempts = attempts + 1, last_attempt_at = ?, next_attempt_at = NULL,"
        " slot_at = NULL, updated_at = ?,"
        " status = CASE WHEN status IN ('new', 'callback') THEN 'contacted' ELSE status END"
        " WHERE client = ? AND id = ?",
        (sender.now_us, sender.now_us, sender.client, lead_id),
    )


def _schedule(
    context: DialContext, call_id: str, called: CalledParty, plan: CallPlan, agent: str | None
) -> None:
    client, agenda = context.sender.client, context.agenda
    facts = {
        **{name: getattr(plan, name) for name in _PLANNED},
        "lead_id": called.lead_id,
        "campaign_id": called.campaign_id,
        "phone": called.phone,
        "attempt": called.attempts + 1,
        "agent": agent,
        # Whether an AI agent takes the call instead of a person is drawn from its id.
        "ai": agent is None
        and plan.answered_at is not None
        and int(call_id[-4:], 16) < (1 << 16) * context.dialer.ai_share,
    }
    agenda.add(plan.ended_at, "end", client, call_id, facts)
    # Nobody can look at a call that begins and ends within one advance: its steps between are left out.
    if not agenda.needs(plan.ended_at):
        return
    ringing_at = context.sender.now_us + _RINGS_AFTER_US
    if agent is None and ringing_at < (plan.answered_at or plan.ended_at):
        agenda.add(ringing_at, "ring", client, call_id, {})
    if plan.answered_at is not None:
        agenda.add(plan.answered_at, "answer", client, call_id, {"answered_at": plan.answered_at})


def _end(context: DialContext, due: Due) -> None:
    sender, plan = context.sender, due.plan
    db, client = sender.db, sender.client
    answered_at, ended_at = plan["answered_at"], plan["ended_at"]
    joined = plan["human"] and not plan["ai"]
    agent = plan["agent"] or (_agent(sender, due.about) if joined else None)
    changes = {
        "status": plan["status"],
        "answered_at": answered_at,
        "ended_at": ended_at,
        "duration_seconds": None
        if answered_at is None
        else round((ended_at - answered_at) / SECOND_US),
        "hangup_cause": plan["cause"],
        "agent_extension": agent,
        # What a machine or silence came to, the dialer itself notes at once.
        "disposition": None if plan["human"] else plan["code"],
    }
    call = CALL.change(db, client, due.about, changes)
    if plan["agent"] is not None:
        _set_agent(db, client, plan["agent"], "ready", before="ringing")
    # Events, Event types: a call ended; by an AI agent, also `ai_call.completed`.
    context.emit("call.completed", events.call_completed(call))
    if plan["ai"]:
        context.emit("ai_call.completed", events.ai_call_completed(call, plan["code"]))
    if plan["lead_id"] is not None:
        _settle_lead(context, due.about, plan)
    if plan["human"] and plan["logged_at"] is not None:
        context.agenda.add(plan["logged_at"], "log", client, due.about, plan)
    if plan["code"] == "DNC":
        db.execute(
            "INSERT OR IGNORE INTO dnc VALUES (?, ?, ?, 'request', NULL)",
            (client, plan["phone"], sender.now_us),
        )
        context.played["dnc_requests"] += 1


def _settle_lead(context: DialContext, call_id: str, plan: Json) -> None:
    """Where the call leaves its lead, and what it was promised."""
    sender, ended_at = context.sender, plan["ended_at"]
    # Other statuses: transitions of a lead are not shown; these are the sandbox's.
    status, next_at = "contacted", None
    if plan["code"] == "DNC":
        status = "dnc"
    elif plan["code"] == "CALLBK" and plan["campaign_id"] is not None:
        status, next_at = "callback", plan["promised_at"]
        _promise_callback(context, call_id, plan)
    elif plan["final"]:
        status = "completed"
    else:
        most, gap_minutes = _campaign_limits(context, plan["campaign_id"])
        if plan["attempt"] >= most:
            status = "completed"
        else:
            gap_us = plan["gap_us"] if gap_minutes is None else gap_minutes * 60 * SECOND_US
            rested_us = rested_at(context, plan["phone"])
            next_at = contact_checks.next_opening(
                plan["phone"], permitted_hours(sender), max(ended_at + int(gap_us), rested_us)
            )
    if plan["code"] == "APPT":
        _book(context, call_id, plan)
    sender.db.execute(
        "UPDATE leads SET status = CASE WHEN status = 'dnc' THEN 'dnc' ELSE ? END,"
        " next_attempt_at = ?, slot_at = NULL, hangup_cause = ?, disposition_code = ?,"
        " updated_at = ? WHERE client = ? AND id = ?",
        (
            status,
            next_at,
            plan["cause"],
            None if plan["human"] else plan["code"],
            ended_at,
            sender.client,
            plan["lead_id"],
        ),
    )


def _campaign_limits(context: DialContext, campaign_id: str | None) -> tuple[int, float | None]:
    """Attempts on a lead and the shortest gap in minutes: the campaign's, or the account's."""
    row = context.sender.db.execute(
        "SELECT max_attempts, retry_gap_minutes FROM campaigns WHERE client = ? AND id = ?",
        (context.sender.client, campaign_id),
    ).fetchone()
    most, gap_minutes = row or (None, None)
    return (
        context.dialer.max_attempts if most is None else most,
        context.dialer.retry_gap_minutes if gap_minutes is None else gap_minutes,
    )


def permitted_hours(sender: Sender) -> list[clients_and_keys.CallingHours]:
    """The hours that campaigns keep to: the dialer's own and the account's."""
    both = (sender.settings.dialer.hours, sender.settings.calling_hours)
    return [hours for hours in both if hours is not None]


def _promise_callback(context: DialContext, call_id: str, plan: Json) -> None:
    sender = context.sender
    # States, Callback: new ones are pending; when due the platform calls the lead.
    values = {
        "id": clients_and_keys.derived_id("callback", call_id),
        "lead_id": plan["lead_id"],
        "campaign_id": plan["campaign_id"],
        "scheduled_at": plan["promised_at"],
        "status": "pending",
        "notes": "asked for a call back",
        "created_at": plan["ended_at"],
        "call_at": plan["promised_at"],
        "asked_by": "call",
    }
    insert(sender.db, "callbacks", sender.client, values)
    context.played["callbacks"] += 1
    context.agenda.recall(plan["promised_at"], "callback", sender.client, values["id"])


def _book(context: DialContext, call_id: str, plan: Json) -> None:
    sender = context.sender
    (name,) = sender.db.execute(
        "SELECT full_name FROM leads WHERE client = ? AND id = ?",
        (sender.client, plan["lead_id"]),
    ).fetchone()
    zones = contact_checks.zones(plan["phone"])
    values = {
        "id": clients_and_keys.derived_id("appointment", call_id),
        "status": "scheduled",
        "scheduled_at": plan["promised_at"],
        "timezone": zones[0] if zones else None,
        "duration_minutes": plan["minutes"],
        "contact_name": name,
        "phone": plan["phone"],
        "source": "call",
        "created_at": plan["ended_at"],
        "updated_at": plan["ended_at"],
        "lead_id": plan["lead_id"],
    }
    insert(sender.db, "appointments", sender.client, values)
    # Event types: appointment.booked, whoever booked it.
    booked = APPOINTMENT.find(sender.db, sender.client, values["id"])
    context.emit("appointment.booked", events.appointment(booked))
    context.played["appointments"] += 1


def _log(context: DialContext, due: Due) -> None:
    """The agent logs the disposition; the lead shows it while this was the last attempt on it."""
    sender, plan = context.sender, due.plan
    CALL.change(sender.db, sender.client, due.about, {"disposition": plan["code"]})
    sender.db.execute(
        "UPDATE leads SET disposition_code = ?, updated_at = ?"
        " WHERE client = ? AND id = ? AND attempts = ?",
        (plan["code"], sender.now_us, sender.client, plan["lead_id"], plan["attempt"]),
    )
    context.emit(
        "disposition.logged",
        {
            "call_id": due.about,
            "campaign_id": plan["campaign_id"],
            "lead_id": plan["lead_id"],
            "disposition_code": plan["code"],
            "notes": None,
            "phone": plan["phone"],
            "logged_at": clock.text(sender.now_us),
        },
    )
    context.played["dispositions"] += 1


def _agent(sender: Sender, call_id: str) -> str | None:
    """The agent who was joined to a call that a person answered."""
    rows = sender.db.execute(
        "SELECT extension FROM agents WHERE client = ? ORDER BY extension", (sender.client,)
    ).fetchall()
    return str(rows[int(call_id[-8:], 16) % len(rows)][0]) if rows else None


def _set_agent(
    db: sqlite3.Connection, client: int, extension: str, state: str, *, before: str | None = None
) -> None:
    """Set an agent's state, if it was `before`; whatever it was without that."""
    db.execute(
        "UPDATE agents SET state = ?1 WHERE client = ?2 AND extension = ?3"
        # An agent whom the console put elsewhere meanwhile stays there.
        " AND state = coalesce(?4, state)",
        (state, client, extension, before),
    )
