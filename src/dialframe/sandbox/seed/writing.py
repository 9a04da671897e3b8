"""The finished history as tables in the contract's words; makes up names, decides nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialframe.sandbox.seed import events, ids, naming
from dialframe.sandbox.seed.aftermath import (
    APPOINTMENT_STATUSES,
    DNC_SOURCES,
    LEAD_STATUSES,
    Appointments,
    LeadStates,
)
from dialframe.sandbox.seed.dialling import Callbacks
from dialframe.sandbox.seed.hours import ZONES
from dialframe.sandbox.seed.outcomes import CAUSES, HUMAN, OUTCOMES, STATUS, STATUSES
from dialframe.sandbox.seed.population import PLACES, SOURCES
from dialframe.sandbox.seed.sizes import Size
from dialframe.sandbox.seed.tables import Coded, Integers, Ints, Table, Texts
from dialframe.sandbox.seed.truth import History, truths

_MICROSECONDS = 1_000

_NOTES = ("asked for a call back", "driving, call later", "wants to ask a partner first")
_WISHES = ("ring the bell twice", "prefers e-mail reminders", "bring the offer")
_SERVICES = ("consultation", "home visit", "phone review")


@dataclass(frozen=True, slots=True, eq=False)
class Leavings:
    """What the calls left behind, beside the Do-Not-Call list."""

    states: LeadStates
    callbacks: Callbacks
    appointments: Appointments


def write(
    rng: np.random.Generator, history: History, left: Leavings, size: Size
) -> dict[str, Table]:
    """Every table of the account."""
    names = naming.full_names(rng, len(history.lead_ids))
    booked, agents = left.appointments, size.agents
    booked_ids = ids.draw(rng, "appt_", len(booked.row))
    return {
        "campaigns": _campaigns(history),
        "leads": _leads(rng, history, left.states, names),
        "calls": _calls(rng, history, agents),
        "callbacks": _callbacks(rng, history, left.callbacks),
        "appointments": _appointments(rng, history, booked, booked_ids, names),
        "dnc": _dnc(history),
        "agents": _agents(agents),
        "caller_ids": Table.of({"number": Texts(history.world.callers.numbers)}),
        "lead_sources": Table.of({"code": Texts([source.code for source in SOURCES])}),
        "events": events.table(rng, history, booked, booked_ids, names, size.events),
        "ground_truth": _ground_truth(history),
    }


def nothing() -> dict[str, Table]:
    """The same tables without a row."""
    return {
        name: Table.of({column: Texts([]) for column in columns.split()})
        for name, columns in _COLUMNS.items()
    }


_COLUMNS = {
    "campaigns": "id name status dialer_mode created_at updated_at started_at completed_at",
    "leads": "id campaign_id external_id phone full_name email status attempts custom_fields "
    "last_attempt_at next_attempt_at disposition_code hangup_cause created_at updated_at",
    "calls": "id direction from_number to_number status created_at answered_at ended_at "
    "duration_seconds campaign_id disposition hangup_cause lead_id agent_extension",
    "callbacks": "id lead_id campaign_id scheduled_at status notes created_at",
    "appointments": "id status scheduled_at timezone duration_minutes service_type contact_name "
    "phone email notes source created_at updated_at lead_id",
    "dnc": "phone listed_at source",
    "agents": "extension email state",
    "caller_ids": "number",
    "lead_sources": "code",
    "events": "id type created_at data",
    "ground_truth": "fault resource id expected detail",
}


def _instants(utc: Ints) -> Integers:
    """Microseconds of UTC milliseconds; null where they are negative."""
    missing = utc < 0
    return Integers(utc * _MICROSECONDS, missing if missing.any() else None)


def _codes(outcomes: Ints) -> Coded:
    return Coded(outcomes, [outcome.code for outcome in OUTCOMES])


def _campaigns(history: History) -> Table:
    campaigns = history.world.campaigns
    status = [plan.status for plan in campaigns.plans]
    over = np.array([state in ("paused", "completed") for state in status])
    done = np.array([state == "completed" for state in status])
    changed = np.where(over, campaigns.closes, campaigns.opens)
    return Table.of(
        {
            "id": Texts(history.campaign_ids),
            "name": Texts([plan.name for plan in campaigns.plans]),
            "status": Texts(status),
            "dialer_mode": Texts([plan.dialer_mode for plan in campaigns.plans]),
            "created_at": _instants(campaigns.created),
            "updated_at": _instants(changed),
            "started_at": _instants(campaigns.opens),
            "completed_at": _instants(np.where(done, campaigns.closes, -1)),
        }
    )


def _leads(
    rng: np.random.Generator, history: History, states: LeadStates, names: list[str]
) -> Table:
    people, last = history.world.people, states.last
    count, dialled = len(last), last >= 0
    places = [PLACES[place] for place in people.place.tolist()]
    fields = naming.custom_fields(rng, people.source, places, history.created)
    return Table.of(
        {
            "id": Texts(history.lead_ids),
            "campaign_id": Coded(people.campaign, history.campaign_ids),
            "external_id": Texts(naming.external_ids(rng, count)),
            "phone": Texts(people.phone),
            "full_name": Texts(naming.some(rng, names, 0.97)),
            "email": Texts(naming.emails(rng, names)),
            "status": Coded(states.status, LEAD_STATUSES),
            "attempts": Integers(states.attempts),
            "custom_fields": Texts(fields),
            "last_attempt_at": _instants(states.last_at),
            "next_attempt_at": _instants(states.next_at),
            "disposition_code": _codes(np.where(dialled, history.marks.logged[last], -1)),
            "hangup_cause": Coded(np.where(dialled, history.traffic.cause[last], -1), CAUSES),
            "created_at": _instants(history.created),
            "updated_at": _instants(states.updated),
        }
    )


def _calls(rng: np.random.Generator, history: History, agents: int) -> Table:
    traffic, world = history.traffic, history.world
    calls = traffic.calls
    agent = rng.integers(0, agents, len(calls))
    # Machines and silence are the dialler's own; a person, or a call placed by hand, is an agent's.
    by_agent = HUMAN[calls.outcome] | traffic.clicked
    own = len(world.people.phone) + calls.caller
    numbers = [*world.people.phone, *world.callers.numbers]
    named = np.where(traffic.detached, -1, calls.who)
    answered = calls.created + calls.ring
    campaign = np.where(traffic.detached, -1, world.people.campaign[calls.who])
    return Table.of(
        {
            "id": Texts(history.call_ids),
            "direction": Coded(calls.inbound.astype(np.int64), ("outbound", "inbound")),
            "from_number": Coded(np.where(calls.inbound, calls.who, own), numbers),
            "to_number": Coded(np.where(calls.inbound, own, calls.who), numbers),
            "status": Coded(STATUS[calls.outcome], STATUSES),
            "created_at": _instants(calls.created),
            "answered_at": _instants(np.where(calls.answered, answered, -1)),
            "ended_at": _instants(calls.ended),
            "duration_seconds": Integers(history.marks.duration_s, history.marks.duration_s < 0),
            "campaign_id": Coded(campaign, history.campaign_ids),
            "disposition": _codes(history.marks.logged),
            "hangup_cause": Coded(traffic.cause, CAUSES),
            "lead_id": Coded(named, history.lead_ids),
            "agent_extension": Coded(np.where(by_agent, agent, -1), naming.extensions(agents)),
        }
    )


def _callbacks(rng: np.random.Generator, history: History, callbacks: Callbacks) -> Table:
    count = len(callbacks.who)
    note = rng.integers(-1, len(_NOTES), count)
    return Table.of(
        {
            "id": Texts(ids.draw(rng, "cb_", count)),
            "lead_id": Coded(callbacks.who, history.lead_ids),
            "campaign_id": Coded(
                history.world.people.campaign[callbacks.who], history.campaign_ids
            ),
            "scheduled_at": _instants(callbacks.due),
            "status": Coded(callbacks.state, ("pending", "completed", "cancelled")),
            "notes": Coded(note, _NOTES),
            "created_at": _instants(callbacks.made),
        }
    )


def _appointments(
    rng: np.random.Generator,
    history: History,
    booked: Appointments,
    appointment_ids: list[str],
    names: list[str],
) -> Table:
    people, who = history.world.people, history.traffic.calls.who[booked.row]
    count = len(who)
    return Table.of(
        {
            "id": Texts(appointment_ids),
            "status": Coded(booked.status, APPOINTMENT_STATUSES),
            "scheduled_at": _instants(booked.due),
            "timezone": Coded(people.zone[who], ZONES),
            "duration_minutes": Integers(booked.minutes),
            "service_type": Coded(rng.integers(-1, len(_SERVICES), count), _SERVICES),
            "contact_name": Coded(who, names),
            "phone": Coded(who, people.phone),
            "email": Coded(np.full(count, -1), ()),
            "notes": Coded(rng.integers(-2, len(_WISHES), count), _WISHES),
            "source": Coded(np.zeros(count, dtype=np.int64), ("call",)),
            "created_at": _instants(booked.created),
            "updated_at": _instants(booked.updated),
            "lead_id": Coded(who, history.lead_ids),
        }
    )


def _dnc(history: History) -> Table:
    return Table.of(
        {
            "phone": Texts(history.dnc.phones),
            "listed_at": _instants(history.dnc.listed),
            "source": Coded(history.dnc.source, DNC_SOURCES),
        }
    )


def _agents(count: int) -> Table:
    extensions = naming.extensions(count)
    return Table.of(
        {
            "extension": Texts(extensions),
            "email": Texts([f"agent{extension}@example.com" for extension in extensions]),
            "state": Texts(naming.agent_states(count)),
        }
    )


def _ground_truth(history: History) -> Table:
    rows = truths(history)
    columns = zip(*rows, strict=True)
    return Table.of(dict(zip(_COLUMNS["ground_truth"].split(), map(Texts, columns), strict=True)))
