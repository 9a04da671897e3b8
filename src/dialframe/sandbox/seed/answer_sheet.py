"""The finished history: its answer sheet, and the webhook events of its last days."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dialframe.privacy import mask
from dialframe.sandbox import call_content
from dialframe.sandbox.seed import sizes_and_columns
from dialframe.sandbox.seed.after_the_calls import (
    APPOINTMENT_STATUSES,
    REQUEST,
    Appointments,
    DncList,
    Marks,
)
from dialframe.sandbox.seed.call_history import Traffic, World
from dialframe.sandbox.seed.call_outcomes import CODE, HUMAN, OUTCOMES
from dialframe.sandbox.seed.people_and_calendar import DAY, SECOND, iso
from dialframe.sandbox.seed.planted_faults import DNC_NOT_LISTED, THREE_CAMPAIGNS, TOO_OFTEN, Cast
from dialframe.sandbox.seed.sizes_and_columns import (
    DURATION_IS_TOTAL,
    VOICEMAIL_AS_COMPLETED,
    Column,
    Ints,
    Table,
)

DNC_REQUEST = "dnc_request"
LISTED_LATER = "listed_after_import"
CALL_TO_LISTED_LATER = "call_to_number_listed_after_import"
MISSING = "missing_disposition"
LATE = "late_disposition"
UNMAPPED = "unmapped_code"
FLAGGED = "flagged_caller_id"


class Truth(NamedTuple):
    """One planted thing, as a row of `ground_truth`."""

    fault: str
    resource: str
    id: str
    expected: str
    detail: str


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """The finished history, and the ids that its resources have got."""

    world: World
    cast: Cast
    traffic: Traffic
    marks: Marks
    dnc: DncList
    created: Ints
    call_ids: list[str]
    lead_ids: list[str]
    campaign_ids: list[str]


def truths(history: History) -> list[Truth]:
    """Every planted fault, and every Do-Not-Call request that explains a listed number."""
    return [
        *_scripted_truths(history),
        *_numbers(history),
        *_requests(history),
        *_later_listings(history),
        *_logging_truths(history),
        *_campaigns(history),
        *_caller_id(history),
    ]


def _scripted_truths(history: History) -> Iterator[Truth]:
    calls = history.traffic.calls
    for row in np.flatnonzero(calls.script >= 0).tolist():
        script = history.cast.scripts[int(calls.script[row])]
        # Scripts without a fault only lead up to one: an audit says nothing of them.
        if script.fault:
            call = history.call_ids[row]
            yield Truth(script.fault, "call", call, script.expected, script.detail)


def _numbers(history: History) -> Iterator[Truth]:
    people, parts = history.world.people, history.cast.parts
    for lead in parts[TOO_OFTEN]:
        phone = people.phone[lead]
        detail = f"{mask(phone)} dialed more than three times within 24 hours"
        yield Truth(TOO_OFTEN, "phone", phone, "violation", detail)
    for lead in parts[DNC_NOT_LISTED]:
        detail = "Do-Not-Call disposition, but the number never came onto the list"
        yield Truth(DNC_NOT_LISTED, "lead", history.lead_ids[lead], "violation", detail)
    # All three leads have one number: it stands on the sheet once.
    shared = people.phone[parts[THREE_CAMPAIGNS][0]]
    detail = f"{mask(shared)} is a lead of three campaigns"
    yield Truth(THREE_CAMPAIGNS, "phone", shared, "duplicate", detail)


def _requests(history: History) -> Iterator[Truth]:
    dnc = history.dnc
    for row in np.flatnonzero(dnc.source == REQUEST).tolist():
        detail = f"listed at its owner's request at {iso(int(dnc.listed[row]))}"
        # A request holds from its call on, and the list names no call.
        detail += "; calls up to the one with the request are no fault"
        yield Truth(DNC_REQUEST, "phone", dnc.phones[row], "clear", detail)


def _later_listings(history: History) -> Iterator[Truth]:
    dnc, calls = history.dnc, history.traffic.calls
    listed = np.full(len(history.created), -1)
    # `dnc_list` puts those that were listed later last.
    listed[dnc.later] = dnc.listed[len(dnc.listed) - len(dnc.later) :]
    for lead in dnc.later.tolist():
        phone = history.world.people.phone[lead]
        detail = f"imported {iso(int(history.created[lead]))}, listed {iso(int(listed[lead]))}"
        yield Truth(LISTED_LATER, "phone", phone, "indeterminate", detail)
    for row in np.flatnonzero((listed[calls.lead] >= 0) & ~calls.inbound).tolist():
        after = calls.created[row] >= listed[calls.lead[row]]
        detail = f"in truth {'after' if after else 'before'} the listing, whose time is not shown"
        yield Truth(CALL_TO_LISTED_LATER, "call", history.call_ids[row], "indeterminate", detail)


def _logging_truths(history: History) -> Iterator[Truth]:
    marks, calls, ids = history.marks, history.traffic.calls, history.call_ids
    # The rates are those of `after_the_calls`: 2.5% missing, 1.5 % late.
    for row in marks.missing.tolist():
        detail = f"{calls.talk[row] // SECOND} s of talk, nothing logged"
        yield Truth(MISSING, "call", ids[row], "missing", detail)
    changes = zip(
        marks.late.tolist(), marks.late_from.tolist(), marks.late_at.tolist(), strict=True
    )
    for row, first, changed_at in changes:
        now = OUTCOMES[int(marks.logged[row])].code
        detail = f"logged as {OUTCOMES[first].code}, changed to {now} at {iso(changed_at)}"
        yield Truth(LATE, "call", ids[row], "late", detail)
    for row in marks.unmapped.tolist():
        detail = f"logged as {OUTCOMES[CODE['ZZTOP']].code}, which no taxonomy knows"
        yield Truth(UNMAPPED, "call", ids[row], "unmapped", detail)


def _campaigns(history: History) -> Iterator[Truth]:
    # A whole campaign is a row of its own: its single calls are all alike.
    hidden = history.campaign_ids[history.world.campaigns.with_trait(VOICEMAIL_AS_COMPLETED)]
    detail = "answering machines are logged as PU, as if nobody knew who answered"
    yield Truth(VOICEMAIL_AS_COMPLETED, "campaign", hidden, "machine", detail)
    total = history.campaign_ids[history.world.campaigns.with_trait(DURATION_IS_TOTAL)]
    detail = "duration_seconds counts from the start of the call, elsewhere from its answer"
    yield Truth(DURATION_IS_TOTAL, "campaign", total, "total", detail)


def _caller_id(history: History) -> Iterator[Truth]:
    callers = history.world.callers
    # Spam labels halve the answers from that instant on (`call_outcomes`).
    number = callers.numbers[callers.new]
    detail = f"{mask(number)} in use from {iso(callers.new_from)}, shown as spam from "
    detail += f"{iso(callers.new_flagged)}: people answer half as often"
    yield Truth(FLAGGED, "phone", number, "flagged", detail)


# Events, Event types: of the six, those that a history of calls leads to.
KINDS = ("call.completed", "disposition.logged", "appointment.booked")
# Contract, Events, Delivery 7: history of events is kept 30 days.
_KEPT_DAYS = 30


def table(
    rng: np.random.Generator,
    history: History,
    booked: Appointments,
    calls: Table,
    appointments: Table,
    most: int,
) -> Table:
    """At most `most` events, oldest first, with the fields that the contract shows."""
    traffic, since = history.traffic.calls, history.world.calendar.ends - _KEPT_DAYS * DAY
    # Instant, place of the type in `KINDS`, data.
    events: list[tuple[int, int, dict[str, Any]]] = []
    for row in np.flatnonzero(traffic.ended >= since)[-(most // 2) :].tolist():
        call, ended = _record(calls, row), int(traffic.ended[row])
        events.append((ended, 0, call_content.call_completed(call)))
        if HUMAN[traffic.outcome[row]] and call["disposition"] is not None:
            phone = history.world.people.phone[int(traffic.lead[row])]
            logged = call_content.disposition_logged(call, phone, call["ended_at"])
            events.append((ended, 1, logged))
    for booking in np.flatnonzero(booked.created >= since)[-(most // 6) :].tolist():
        # As it was booked, whatever became of it.
        new = {"status": APPOINTMENT_STATUSES[0], "service_type": None}
        data = call_content.appointment({**_record(appointments, booking), **new})
        events.append((int(booked.created[booking]), 2, data))
    events.sort(key=lambda event: event[:2])
    return Table.of(
        {
            "id": Column(sizes_and_columns.draw(rng, "evt_", len(events))),
            "type": Column(np.array([kind for _, kind, _ in events], dtype=np.int64), KINDS),
            "created_at": Column(np.array([at for at, _, _ in events], dtype=np.int64) * 1_000),
            "data": Column([json.dumps(data, separators=(",", ":")) for _, _, data in events]),
        }
    )


def _record(table: Table, row: int) -> dict[str, Any]:
    """One row as the service answers it: instants as text."""
    return {
        name: iso(value // 1_000) if name.endswith("_at") and isinstance(value, int) else value
        for name, value in table.record(row).items()
    }
