"""One synthetic account from seed, size and day: its parts in order, then its tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import numpy as np

from dialframe.errors import ConfigError
from dialframe.sandbox.seed import (
    after_the_calls,
    answer_sheet,
    call_history,
    people_and_calendar,
    planted_faults,
    sizes_and_columns,
)
from dialframe.sandbox.seed.after_the_calls import (
    APPOINTMENT_STATUSES,
    DNC_SOURCES,
    LEAD_STATUSES,
    Appointments,
    LeadStates,
)
from dialframe.sandbox.seed.answer_sheet import History
from dialframe.sandbox.seed.call_history import Callbacks
from dialframe.sandbox.seed.call_outcomes import CAUSES, HUMAN, OUTCOMES, STATUS, STATUSES
from dialframe.sandbox.seed.people_and_calendar import (
    DAY,
    PLACES,
    SOURCES,
    WEB_FORM,
    ZONES,
    Place,
    iso,
)
from dialframe.sandbox.seed.sizes_and_columns import (
    EMPTY,
    SIZES,
    Column,
    Ints,
    Size,
    SyntheticAccount,
    Table,
    Value,
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _words(
    "Ada Alan Amira Ana Ben Carla Chen Dana David Elena Emma Farid Grace Hana Hugo Ines Ivan "
    "Jack Jana Joan Karim Kate Leo Lena Liam Luisa Maya Mark Mina Nora Omar Otto Paula Peter "
    "Rosa Sam Sara Tariq Tom Vera"
)
LAST_NAMES = _words(
    "Adams Baker Bell Brown Carter Clark Cole Cooper Cruz Diaz Evans Fisher Ford Garcia Gray "
    "Green Hall Harris Hill Howard Hughes Jones Khan King Lee Lopez Mason Moore Nolan Novak "
    "Owens Park Perez Reed Ross Shaw Silva Stone Walsh Young"
)
#: States of agents that take no call.
_AT_WORK = ("on_call", "wrap_up", "break", "offline")
_FIRST_EXTENSION = 1001


def emails(rng: np.random.Generator, names: Sequence[str]) -> list[Value]:
    """An address under example.com or example.org for seven leads in ten."""
    # RFC 2606: names that nobody can own.
    domain = rng.integers(0, 2, len(names)).tolist()
    made: list[Value] = [
        f"{name.lower().replace(' ', '.')}.{number}@example.{('com', 'org')[kind]}"
        for number, (name, kind) in enumerate(zip(names, domain, strict=True), start=1)
    ]
    return some(rng, made, 0.7)


def custom_fields(
    rng: np.random.Generator, source: Ints, places: Sequence[Place], created: Ints
) -> list[Value]:
    """JSON with lead source, state, day of import (not of web forms) and a score; 1 % null."""
    # Written by hand and not by `json`: there are 300,000 of them in a large account.
    score = rng.integers(1, 101, len(source)).tolist()
    # There are few days, so each is written once.
    days, position = np.unique(created // DAY, return_inverse=True)
    words = [iso(day * DAY)[:10] for day in days.tolist()]
    imported_on = [words[number] for number in position.tolist()]
    rows = zip(source.tolist(), places, imported_on, score, strict=True)
    made: list[Value] = [
        f'{{"lead_source":"{SOURCES[kind].code}","state":"{place_code.state}"'
        + (f',"batch":"{day}"' if kind != WEB_FORM else "")
        + f',"score":{points}}}'
        for kind, place_code, day, points in rows
    ]
    return some(rng, made, 0.99)


def some(rng: np.random.Generator, values: Sequence[Value], share: float) -> list[Value]:
    """The values, each kept with a chance of `share` and null otherwise."""
    # Real exports have gaps: what reads them has to live with null.
    kept = (rng.random(len(values)) < share).tolist()
    return [value if keep else None for value, keep in zip(values, kept, strict=True)]


def extensions(count: int) -> list[str]:
    """Agent extensions, counting up from 1001."""
    return [str(_FIRST_EXTENSION + number) for number in range(count)]


_MICROSECONDS = 1_000

_NOTES = ("asked for a call back", "driving, call later", "wants to ask a partner first")
_WISHES = ("ring the bell twice", "prefers e-mail reminders", "bring the offer")
_SERVICES = ("consultation", "home visit", "phone review")


def write(
    rng: np.random.Generator,
    history: History,
    states: LeadStates,
    callbacks: Callbacks,
    booked: Appointments,
    size: Size,
) -> dict[str, Table]:
    """Every table of the account."""
    # First and last names put together by chance.
    parts = [
        rng.integers(0, len(known), len(history.lead_ids)).tolist()
        for known in (FIRST_NAMES, LAST_NAMES)
    ]
    names = [f"{FIRST_NAMES[a]} {LAST_NAMES[b]}" for a, b in zip(*parts, strict=True)]
    agents, planted = size.agents, answer_sheet.truths(history)
    booked_ids = sizes_and_columns.draw(rng, "appt_", len(booked.row))
    tables = {
        "campaigns": _campaigns(history),
        "leads": _leads(rng, history, states, names),
        "calls": _calls(rng, history, agents),
        "callbacks": _callbacks(rng, history, callbacks),
        "appointments": _appointments(rng, history, booked, booked_ids, names),
    }
    return {
        **tables,
        "dnc": Table.of(
            {
                "phone": Column(history.dnc.phones),
                "listed_at": _instants(history.dnc.listed),
                "source": Column(history.dnc.source, DNC_SOURCES),
            }
        ),
        "agents": _agents(agents),
        "caller_ids": Table.of({"number": Column(history.world.callers.numbers)}),
        "lead_sources": Table.of({"code": Column([source.code for source in SOURCES])}),
        "events": answer_sheet.table(
            rng, history, booked, tables["calls"], tables["appointments"], size.events
        ),
        "ground_truth": Table.of(
            {
                name: Column([getattr(truth, name) for truth in planted])
                for name in answer_sheet.Truth._fields
            }
        ),
    }


def _instants(utc: Ints) -> Column:
    """Microseconds of UTC milliseconds; null where they are negative."""
    # Inside the generator -1 stands for "never".
    return Column(utc * _MICROSECONDS)


def _codes(outcomes: Ints) -> Column:
    return Column(outcomes, [outcome.code for outcome in OUTCOMES])


def _campaigns(history: History) -> Table:
    campaigns = history.world.campaigns
    status = [plan.status for plan in campaigns.plans]
    over = np.array([state in ("paused", "completed") for state in status])
    done = np.array([state == "completed" for state in status])
    # A campaign changes when it begins, and when it is paused or completed.
    changed = np.where(over, campaigns.closes, campaigns.opens)
    return Table.of(
        {
            "id": Column(history.campaign_ids),
            "name": Column([plan.name for plan in campaigns.plans]),
            "status": Column(status),
            "dialer_mode": Column([plan.dialer_mode for plan in campaigns.plans]),
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
    count, dialed = len(last), last >= 0
    places = [PLACES[place] for place in people.place.tolist()]
    fields = custom_fields(rng, people.source, places, history.created)
    # Ids of a customer system, which nine leads in ten came with.
    external_ids = some(rng, [f"crm-{number:07d}" for number in range(1, count + 1)], 0.9)
    return Table.of(
        {
            "id": Column(history.lead_ids),
            "campaign_id": Column(people.campaign, history.campaign_ids),
            "external_id": Column(external_ids),
            "phone": Column(people.phone),
            "full_name": Column(some(rng, names, 0.97)),
            "email": Column(emails(rng, names)),
            "status": Column(states.status, LEAD_STATUSES),
            "attempts": Column(states.attempts),
            "custom_fields": Column(fields),
            "last_attempt_at": _instants(states.last_at),
            "next_attempt_at": _instants(states.next_at),
            "disposition_code": _codes(np.where(dialed, history.marks.logged[last], -1)),
            "hangup_cause": Column(np.where(dialed, history.traffic.cause[last], -1), CAUSES),
            "created_at": _instants(history.created),
            "updated_at": _instants(states.updated),
        }
    )


def _calls(rng: np.random.Generator, history: History, agents: int) -> Table:
    traffic, world = history.traffic, history.world
    calls = traffic.calls
    # Drawn for every call, so that who is shown does not move the draws behind it.
    agent = rng.integers(0, agents, len(calls))
    # Machines and silence are the dialer's own; a person, or a call placed by hand, is an agent's.
    # Agents wrap up calls with people; the dialer itself notes machines and silence.
    by_agent = HUMAN[calls.outcome] | traffic.clicked
    # One vocabulary for both sides of a call: the leads' numbers, then the account's own.
    caller_phone = len(world.people.phone) + calls.caller
    numbers = [*world.people.phone, *world.callers.numbers]
    named = np.where(traffic.detached, -1, calls.lead)
    answered = calls.created + calls.ring
    campaign = np.where(traffic.detached, -1, world.people.campaign[calls.lead])
    return Table.of(
        {
            "id": Column(history.call_ids),
            "direction": Column(calls.inbound.astype(np.int64), ("outbound", "inbound")),
            "from_number": Column(np.where(calls.inbound, calls.lead, caller_phone), numbers),
            "to_number": Column(np.where(calls.inbound, caller_phone, calls.lead), numbers),
            "status": Column(STATUS[calls.outcome], STATUSES),
            "created_at": _instants(calls.created),
            "answered_at": _instants(np.where(calls.answered, answered, -1)),
            "ended_at": _instants(calls.ended),
            "duration_seconds": Column(history.marks.duration_s),
            "campaign_id": Column(campaign, history.campaign_ids),
            "disposition": _codes(history.marks.logged),
            "hangup_cause": Column(traffic.cause, CAUSES),
            "lead_id": Column(named, history.lead_ids),
            "agent_extension": Column(np.where(by_agent, agent, -1), extensions(agents)),
        }
    )


def _callbacks(rng: np.random.Generator, history: History, callbacks: Callbacks) -> Table:
    count = len(callbacks.lead)
    # -1 is null.
    note = rng.integers(-1, len(_NOTES), count)
    return Table.of(
        {
            "id": Column(sizes_and_columns.draw(rng, "cb_", count)),
            "lead_id": Column(callbacks.lead, history.lead_ids),
            "campaign_id": Column(
                history.world.people.campaign[callbacks.lead], history.campaign_ids
            ),
            "scheduled_at": _instants(callbacks.due),
            "status": Column(callbacks.state, ("pending", "completed", "cancelled")),
            "notes": Column(note, _NOTES),
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
    people, lead = history.world.people, history.traffic.calls.lead[booked.row]
    count = len(lead)
    return Table.of(
        {
            "id": Column(appointment_ids),
            "status": Column(booked.status, APPOINTMENT_STATUSES),
            "scheduled_at": _instants(booked.due),
            "timezone": Column(people.zone[lead], ZONES),
            "duration_minutes": Column(booked.minutes),
            "service_type": Column(rng.integers(-1, len(_SERVICES), count), _SERVICES),
            "contact_name": Column(lead, names),
            "phone": Column(lead, people.phone),
            "email": Column(np.full(count, -1), ()),
            "notes": Column(rng.integers(-2, len(_WISHES), count), _WISHES),
            "source": Column(np.zeros(count, dtype=np.int64), ("call",)),
            "created_at": _instants(booked.created),
            "updated_at": _instants(booked.updated),
            "lead_id": Column(lead, history.lead_ids),
        }
    )


def _agents(count: int) -> Table:
    names, ready = extensions(count), -(-count // 2)
    # The first half is ready, so that a click-to-call finds somebody; the rest is of every kind.
    rest = [_AT_WORK[number % len(_AT_WORK)] for number in range(count - ready)]
    return Table.of(
        {
            "extension": Column(names),
            "email": Column([f"agent{name}@example.com" for name in names]),
            "state": Column(["ready"] * ready + rest),
        }
    )


_FIRST_YEAR = 2000


def generate(*, seed: int, size: str, as_of: dt.date) -> SyntheticAccount:
    """A made-up account of an outbound dialing service, the same for the same arguments.

    The history ends as `as_of` begins (UTC): nothing has happened at or after that instant, only
    promises (callbacks, appointments, next attempts) lie beyond it. The bytes are the same on
    every machine with the same releases of numpy and of the time-zone data.
    """
    if size != EMPTY and size not in SIZES:
        sizes = ", ".join([EMPTY, *SIZES])
        raise ConfigError(f"unknown size {size!r} of the synthetic account: choose one of {sizes}")
    if seed < 0:
        raise ConfigError(f"the seed of the synthetic account is {seed}: give 0 or more")
    if as_of.year < _FIRST_YEAR:
        raise ConfigError(f"the synthetic account cannot end on {as_of}: give a day from 2000 on")
    tables = _tables(seed, SIZES["tiny" if size == EMPTY else size], as_of)
    if size == EMPTY:
        # The same tables and columns without a row: the smallest account says which.
        tables = {
            name: Table.of({column: Column([]) for column in table.columns})
            for name, table in tables.items()
        }
    return SyntheticAccount(seed, size, as_of, tables)


def _tables(seed: int, size: Size, as_of: dt.date) -> dict[str, Table]:
    # One generator in one order: another order of the parts below is another account for every seed.
    rng = np.random.Generator(np.random.PCG64(seed))
    calendar = people_and_calendar.calendar(as_of, size.history_days)
    campaigns = people_and_calendar.campaigns(calendar, size)
    everyone = people_and_calendar.people(rng, calendar, size, campaigns)
    # Parts are given out before any call is drawn: those leads are left out of the drawing.
    cast = planted_faults.cast(rng, calendar, size, everyone)
    callers = people_and_calendar.callers(calendar, size)
    world = call_history.World(calendar, campaigns, callers, cast.people)
    dialed = call_history.dial(rng, world)
    flow = call_history.flow(rng, world, dialed.calls, cast.scripts, size.calls)
    logged = after_the_calls.mark(rng, world, flow, size.faults)
    first = after_the_calls.first_calls(flow, size.leads)
    created = people_and_calendar.created_at(rng, cast.people, campaigns, first, calendar.ends)
    states = after_the_calls.lead_states(
        world, flow, logged, dialed.callbacks, dialed.planned, created, cast
    )
    booked = after_the_calls.appointments(rng, world, flow, logged)
    dnc = after_the_calls.dnc_list(rng, world, flow, logged, created, cast, size)
    history = History(
        world=world,
        cast=cast,
        traffic=flow,
        marks=logged,
        dnc=dnc,
        created=created,
        call_ids=sizes_and_columns.draw(rng, "call_", size.calls),
        lead_ids=sizes_and_columns.draw(rng, "lead_", size.leads),
        campaign_ids=sizes_and_columns.draw(rng, "cmp_", len(size.campaigns)),
    )
    return write(rng, history, states, dialed.callbacks, booked, size)
