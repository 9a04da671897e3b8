"""Webhook events of the last days of the history, as they were delivered; delivers nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from dialframe.sandbox.seed import ids
from dialframe.sandbox.seed.aftermath import APPOINTMENT_STATUSES, Appointments
from dialframe.sandbox.seed.hours import DAY, ZONES, iso
from dialframe.sandbox.seed.outcomes import CAUSES, HUMAN, OUTCOMES, STATUS, STATUSES
from dialframe.sandbox.seed.tables import Coded, Integers, Table, Texts
from dialframe.sandbox.seed.truth import History

KINDS = ("call.completed", "disposition.logged", "appointment.booked")
_KEPT_DAYS = 30


@dataclass(frozen=True, slots=True)
class _Event:
    at: int
    kind: int
    data: dict[str, Any]


def table(
    rng: np.random.Generator,
    history: History,
    booked: Appointments,
    booked_ids: list[str],
    names: list[str],
    most: int,
) -> Table:
    """At most `most` events, oldest first, with the fields that the contract shows."""
    calls, since = history.traffic.calls, history.world.calendar.ends - _KEPT_DAYS * DAY
    half, sixth = most // 2, most // 6
    rows = np.flatnonzero(calls.ended >= since)[-half:].tolist()
    spoken = [row for row in rows if HUMAN[calls.outcome[row]] and history.marks.logged[row] >= 0]
    places = np.flatnonzero(booked.created >= since)[-sixth:].tolist()
    events = [
        *(_Event(int(calls.ended[row]), 0, _call(history, row)) for row in rows),
        *(_Event(int(calls.ended[row]), 1, _disposition(history, row)) for row in spoken),
        *(
            _Event(
                int(booked.created[place]),
                2,
                _appointment(history, booked, place, booked_ids[place], names),
            )
            for place in places
        ),
    ]
    events.sort(key=lambda event: (event.at, event.kind))
    return Table.of(
        {
            "id": Texts(ids.draw(rng, "evt_", len(events))),
            "type": Coded(np.array([event.kind for event in events], dtype=np.int64), KINDS),
            "created_at": Integers(
                np.array([event.at for event in events], dtype=np.int64) * 1_000
            ),
            "data": Texts([json.dumps(event.data, separators=(",", ":")) for event in events]),
        }
    )


def _call(history: History, row: int) -> dict[str, Any]:
    calls, marks, world = history.traffic.calls, history.marks, history.world
    lead = world.people.phone[int(calls.who[row])]
    own = world.callers.numbers[int(calls.caller[row])]
    inbound, created = bool(calls.inbound[row]), int(calls.created[row])
    answered = iso(created + int(calls.ring[row])) if calls.answered[row] else None
    duration = int(marks.duration_s[row])
    return {
        "call_id": history.call_ids[row],
        "direction": "inbound" if inbound else "outbound",
        "status": STATUSES[int(STATUS[calls.outcome[row]])],
        "from": lead if inbound else own,
        "to": own if inbound else lead,
        "campaign_id": _campaign(history, row),
        "started_at": iso(created),
        "answered_at": answered,
        "ended_at": iso(int(calls.ended[row])),
        "duration_seconds": duration if duration >= 0 else None,
        "hangup_cause": CAUSES[int(history.traffic.cause[row])],
    }


def _disposition(history: History, row: int) -> dict[str, Any]:
    lead = int(history.traffic.calls.who[row])
    return {
        "call_id": history.call_ids[row],
        "campaign_id": _campaign(history, row),
        "lead_id": None if history.traffic.detached[row] else history.lead_ids[lead],
        "disposition_code": OUTCOMES[int(history.marks.logged[row])].code,
        "notes": None,
        "phone": history.world.people.phone[lead],
        "logged_at": iso(int(history.traffic.calls.ended[row])),
    }


def _appointment(
    history: History, booked: Appointments, place: int, id_: str, names: list[str]
) -> dict[str, Any]:
    people = history.world.people
    lead = int(history.traffic.calls.who[booked.row[place]])
    return {
        "appointment_id": id_,
        "status": APPOINTMENT_STATUSES[0],
        "service": None,
        "starts_at": iso(int(booked.due[place])),
        "timezone": ZONES[int(people.zone[lead])],
        "duration_minutes": int(booked.minutes[place]),
        "customer": {"name": names[lead], "phone": people.phone[lead]},
        "source": "call",
    }


def _campaign(history: History, row: int) -> str | None:
    if history.traffic.detached[row]:
        return None
    lead = int(history.traffic.calls.who[row])
    return history.campaign_ids[int(history.world.people.campaign[lead])]
