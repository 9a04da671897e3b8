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
from dataclasses import asdict, dataclass, field, replace
from typing import Final, Literal

from dialframe.contract.limits import CALL_MAX_MINUTES
from dialframe.sandbox import call_content, clock
from dialframe.sandbox.clock import SECOND_US
from dialframe.sandbox.dialer import CallPlan, contact_checks
from dialframe.sandbox.dialer.contact_checks import Occasion
from dialframe.sandbox.world import clients_and_keys, events
from dialframe.sandbox.world.api_objects import APPOINTMENT, CALL, Json, Transaction
from dialframe.sandbox.world.clients_and_keys import DialerSettings

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
        self.until_us = until_us
        self._heap: list[Due] = []

    def add(
        self, at_us: int, step: Step, client: int, about: str, plan: Json | None = None
    ) -> None:
        """Have a step taken; without a plan, a column of the lead or the callback keeps it already."""
        if at_us <= self.until_us:
            # `Due` orders by instant, then by rank: two steps of one instant always go in the same order.
            heapq.heappush(self._heap, Due(at_us, ORDER.index(step), client, about, plan or {}))
        elif plan is not None:
            self._db.execute(
                "INSERT INTO agenda (client, at, step, about, plan) VALUES (?, ?, ?, ?, ?)",
                (client, at_us, step, about, json.dumps(plan)),
            )

    def load(self) -> None:
        """Take what is due out of the database."""
        rows = self._db.execute(
            "DELETE FROM agenda WHERE at <= ? RETURNING at, step, client, about, plan",
            (self.until_us,),
        )
        for at_us, step, client, about, plan in rows.fetchall():
            self.add(at_us, step, client, about, json.loads(plan))

    def take(self) -> Due | None:
        """The next step, or None when all are done."""
        return heapq.heappop(self._heap) if self._heap else None


@dataclass(frozen=True, slots=True)
class DialContext:
    """Where a call is placed: for whom, when, and what is counted.

    Attributes:
        seed: What the called parties' behavior is drawn from.
        played: How many of each thing happened.
    """

    tx: Transaction
    agenda: Agenda
    seed: int
    played: Counter[str] = field(default_factory=Counter)

    @property
    def dialer(self) -> DialerSettings:
        """The account's settings of the dialer."""
        return self.tx.settings.dialer

    def emit(self, kind: str, data: Json) -> None:
        """Let an event of this instant be known."""
        events.emit(self.tx, kind, data)
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


def lead_called(tx: Transaction, lead_id: str) -> CalledParty:
    """A lead as somebody to be called."""
    phone, *rest = tx.row(
        "SELECT phone, campaign_id, id, attempts, custom_fields FROM leads"
        " WHERE client = ? AND id = ?",
        lead_id,
    )
    return CalledParty(contact_checks.e164(phone), *rest)


def is_on_the_line(tx: Transaction, phone: str) -> bool:
    """Whether a call to this number is under way; none takes longer than an hour and its ringing."""
    call = tx.row(
        "SELECT 1 FROM calls WHERE client = ? AND to_number = ? AND created_at > ?"
        " AND ended_at IS NULL",
        phone,
        tx.now_us - _LONGEST_US,
    )
    return call is not None


def free_again_at(context: DialContext, phone: str) -> int:
    """When a number has had fewer calls in 24 hours than the account allows, whatever leads have it."""
    row = context.tx.row(
        "SELECT created_at FROM calls WHERE client = ? AND to_number = ?"
        " ORDER BY created_at DESC LIMIT 1 OFFSET ?",
        phone,
        context.dialer.max_attempts_per_day - 1,
    )
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
    tx = context.tx
    # One of the account's numbers: of the called area code if there is one.
    account_number = tx.row(
        "SELECT number FROM caller_ids WHERE client = ?"
        " ORDER BY substr(number, 1, 5) <> ?, number LIMIT 1",
        called.phone[:5],
    )
    from_number = caller_id or (str(account_number[0]) if account_number else NO_CALLER_ID)
    plan = _plan(context, called, occasion, from_number)
    if called.lead_id is None:
        (call_id,) = tx.new_ids("call", 1)
    else:
        # From lead and attempt: whatever else is dialed, this call has the same id.
        parts = (tx.client, called.lead_id, "call", called.attempts)
        call_id = clients_and_keys.derived_id("call", context.seed, *parts)
    named = {"campaign_id": called.campaign_id, "lead_id": called.lead_id}
    values = {
        "id": call_id,
        "direction": "outbound",
        "from_number": from_number,
        "to_number": called.phone,
        "status": "dialing",
        "created_at": tx.now_us,
        **named,
        "agent_extension": agent,
    }
    tx.insert("calls", values)
    contact_checks.spend(tx, "call")
    detail: Json = {"call_id": call_id, "caller_id": from_number, **named}
    if agent is not None:
        detail["agent_extension"] = agent
    if occasion == "dial_now":
        detail["dial_now"] = True
    kind: Literal["call", "callback"] = "callback" if occasion == "callback" else "call"
    contact_checks.note_sent(tx, kind, called.phone, about or call_id, detail)
    if called.lead_id is not None:
        tx.execute(
            "UPDATE leads SET attempts = attempts + 1, last_attempt_at = ?3, updated_at = ?3,"
            " next_attempt_at = NULL, slot_at = NULL,"
            " status = CASE WHEN status IN ('new', 'callback') THEN 'contacted' ELSE status END"
            " WHERE client = ?1 AND id = ?2",
            called.lead_id,
            tx.now_us,
        )
    # Endpoints, Calls 2: the agent is held, shown as ringing, before the customer is dialed.
    if agent is not None:
        _set_agent(tx, agent, "ringing")
    context.played["calls"] += 1
    _schedule(context, call_id, called, plan, agent)
    return call_id


def take_step(context: DialContext, due: Due) -> None:
    """Take one step of a call's life."""
    if due.step == "ring":
        context.tx.update("calls", due.about, status="ringing")
    elif due.step == "answer":
        answered_at = due.plan["answered_at"]
        context.tx.update("calls", due.about, status="in_progress", answered_at=answered_at)
    elif due.step == "end":
        _end(context, due)
    elif due.step == "log":
        _log(context, due)


def _plan(
    context: DialContext, called: CalledParty, occasion: Occasion, from_number: str
) -> CallPlan:
    now_us = context.tx.now_us
    if occasion == "click" and not context.dialer.enabled:
        answered_at = now_us + CLICK_RINGS_US
        return CallPlan(
            None, "completed", "NORMAL_CLEARING", human=True, answered_at=answered_at,
            ended_at=answered_at + CLICK_TALKS_US, gap_us=_DAY_US,
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
        gain=context.dialer.arms.get(str(fields.get("arm")), 1.0),
    )
    plan = called_party.plan_call(context.seed, dial)
    # Contract, Endpoints, Calls 5: the service ends a click-to-call after 30 minutes.
    talk_us = 0 if plan.answered_at is None else plan.ended_at - plan.answered_at
    over_us = talk_us - CLICK_LASTS_US
    if occasion != "click" or over_us <= 0:
        return plan
    logged_at = None if plan.logged_at is None else plan.logged_at - over_us
    return replace(plan, ended_at=plan.ended_at - over_us, logged_at=logged_at)


def _schedule(
    context: DialContext, call_id: str, called: CalledParty, plan: CallPlan, agent: str | None
) -> None:
    client, agenda = context.tx.client, context.agenda
    facts = {
        **asdict(plan),
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
    if plan.ended_at <= agenda.until_us:
        return
    ringing_at = context.tx.now_us + _RINGS_AFTER_US
    if agent is None and ringing_at < (plan.answered_at or plan.ended_at):
        agenda.add(ringing_at, "ring", client, call_id, {})
    if plan.answered_at is not None:
        agenda.add(plan.answered_at, "answer", client, call_id, {"answered_at": plan.answered_at})


def _end(context: DialContext, due: Due) -> None:
    tx, plan = context.tx, due.plan
    answered_at, ended_at = plan["answered_at"], plan["ended_at"]
    agent = plan["agent"]
    if agent is None and plan["human"] and not plan["ai"]:
        # Somebody was joined to the call that a person answered.
        agents = tx.rows("SELECT extension FROM agents WHERE client = ? ORDER BY extension")
        agent = str(agents[int(due.about[-8:], 16) % len(agents)][0]) if agents else None
    talk_us = None if answered_at is None else ended_at - answered_at
    # What a machine or silence came to, the dialer itself notes at once.
    disposition = None if plan["human"] else plan["code"]
    call = tx.change(
        CALL,
        due.about,
        status=plan["status"],
        answered_at=answered_at,
        ended_at=ended_at,
        duration_seconds=None if talk_us is None else round(talk_us / SECOND_US),
        hangup_cause=plan["cause"],
        agent_extension=agent,
        disposition=disposition,
    )
    if plan["agent"] is not None:
        _set_agent(tx, plan["agent"], "ready", before="ringing")
    # Events, Event types: a call ended; by an AI agent, also `ai_call.completed`.
    context.emit("call.completed", call_content.call_completed(call))
    if plan["ai"]:
        context.emit("ai_call.completed", call_content.ai_call_completed(call, plan["code"]))
    if plan["lead_id"] is not None:
        _settle_lead(context, due.about, plan)
    if plan["human"] and plan["logged_at"] is not None:
        context.agenda.add(plan["logged_at"], "log", tx.client, due.about, plan)
    if plan["code"] == "DNC":
        contact_checks.list_number(tx, plan["phone"], "request")
        context.played["dnc_requests"] += 1


def _settle_lead(context: DialContext, call_id: str, plan: Json) -> None:
    """Where the call leaves its lead, and what it was promised."""
    tx, ended_at = context.tx, plan["ended_at"]
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
            rested_us = free_again_at(context, plan["phone"])
            next_at = contact_checks.next_opening(
                plan["phone"], permitted_hours(tx), max(ended_at + int(gap_us), rested_us)
            )
    if plan["code"] == "APPT":
        _book(context, call_id, plan)
    tx.execute(
        "UPDATE leads SET status = CASE WHEN status = 'dnc' THEN 'dnc' ELSE ?3 END,"
        " next_attempt_at = ?4, slot_at = NULL, hangup_cause = ?5, disposition_code = ?6,"
        " updated_at = ?7 WHERE client = ?1 AND id = ?2",
        plan["lead_id"],
        status,
        next_at,
        plan["cause"],
        None if plan["human"] else plan["code"],
        ended_at,
    )


def _campaign_limits(context: DialContext, campaign_id: str | None) -> tuple[int, float | None]:
    """Attempts on a lead and the shortest gap in minutes: the campaign's, or the account's."""
    row = context.tx.row(
        "SELECT max_attempts, retry_gap_minutes FROM campaigns WHERE client = ? AND id = ?",
        campaign_id,
    )
    most, gap_minutes = row or (None, None)
    return (
        context.dialer.max_attempts if most is None else most,
        context.dialer.retry_gap_minutes if gap_minutes is None else gap_minutes,
    )


def permitted_hours(tx: Transaction) -> list[clients_and_keys.CallingHours]:
    """The hours that campaigns keep to: the dialer's own and the account's."""
    both = (tx.settings.dialer.hours, tx.settings.calling_hours)
    return [hours for hours in both if hours is not None]


def _promise_callback(context: DialContext, call_id: str, plan: Json) -> None:
    tx = context.tx
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
    tx.insert("callbacks", values)
    context.played["callbacks"] += 1
    context.agenda.add(plan["promised_at"], "callback", tx.client, values["id"])


def _book(context: DialContext, call_id: str, plan: Json) -> None:
    tx = context.tx
    (name,) = tx.row("SELECT full_name FROM leads WHERE client = ? AND id = ?", plan["lead_id"])
    # Of several zones the first: the promise was drawn in it.
    zones = contact_checks.zones(plan["phone"])
    values = {
        "id": clients_and_keys.derived_id("appointment", call_id),
        # States, Appointment: a new one is `scheduled`.
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
    tx.insert("appointments", values)
    # Event types: appointment.booked, whoever booked it.
    booked = tx.find(APPOINTMENT, values["id"])
    context.emit("appointment.booked", call_content.appointment(booked))
    context.played["appointments"] += 1


def _log(context: DialContext, due: Due) -> None:
    """The agent logs the disposition; the lead shows it while this was the last attempt on it."""
    tx, plan = context.tx, due.plan
    tx.update("calls", due.about, disposition=plan["code"])
    tx.execute(
        "UPDATE leads SET disposition_code = ?4, updated_at = ?5"
        " WHERE client = ?1 AND id = ?2 AND attempts = ?3",
        plan["lead_id"],
        plan["attempt"],
        plan["code"],
        tx.now_us,
    )
    call = {
        "id": due.about,
        "campaign_id": plan["campaign_id"],
        "lead_id": plan["lead_id"],
        "disposition": plan["code"],
    }
    logged_at = clock.text(tx.now_us)
    data = call_content.disposition_logged(call, plan["phone"], logged_at)
    context.emit("disposition.logged", data)
    context.played["dispositions"] += 1


def _set_agent(tx: Transaction, extension: str, state: str, *, before: str | None = None) -> None:
    """Set an agent's state, if it was `before`; whatever it was without that."""
    tx.execute(
        "UPDATE agents SET state = ?3 WHERE client = ?1 AND extension = ?2"
        # An agent whom the console put elsewhere meanwhile stays there.
        " AND state = coalesce(?4, state)",
        extension,
        state,
        before,
    )
