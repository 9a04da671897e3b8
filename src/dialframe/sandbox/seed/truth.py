"""The answer sheet: what was planted, where, and what a right audit must say of it.

It reads the finished history and is no part of what the service answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dialframe.privacy import mask_phone
from dialframe.sandbox.seed.aftermath import REQUEST, DncList
from dialframe.sandbox.seed.dialling import World
from dialframe.sandbox.seed.faults import DNC_NOT_LISTED, THREE_CAMPAIGNS, TOO_OFTEN, Cast
from dialframe.sandbox.seed.hours import SECOND, iso
from dialframe.sandbox.seed.marks import Marks
from dialframe.sandbox.seed.outcomes import CODE, OUTCOMES
from dialframe.sandbox.seed.sizes import DURATION_IS_TOTAL, VOICEMAIL_AS_COMPLETED
from dialframe.sandbox.seed.tables import Ints
from dialframe.sandbox.seed.traffic import Traffic

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
        *_scripted(history),
        *_numbers(history),
        *_requests(history),
        *_listed_later(history),
        *_logging(history),
        *_campaigns(history),
        *_caller_id(history),
    ]


def _scripted(history: History) -> Iterator[Truth]:
    calls = history.traffic.calls
    for row in np.flatnonzero(calls.script >= 0).tolist():
        script = history.cast.scripts[int(calls.script[row])]
        if script.fault:
            call = history.call_ids[row]
            yield Truth(script.fault, "call", call, script.expected, script.detail)


def _numbers(history: History) -> Iterator[Truth]:
    people, parts = history.world.people, history.cast.parts
    for lead in parts[TOO_OFTEN]:
        phone = people.phone[lead]
        detail = f"{mask_phone(phone)} dialled more than three times within 24 hours"
        yield Truth(TOO_OFTEN, "phone", phone, "violation", detail)
    for lead in parts[DNC_NOT_LISTED]:
        detail = "Do-Not-Call disposition, but the number never came onto the list"
        yield Truth(DNC_NOT_LISTED, "lead", history.lead_ids[lead], "violation", detail)
    shared = people.phone[parts[THREE_CAMPAIGNS][0]]
    detail = f"{mask_phone(shared)} is a lead of three campaigns"
    yield Truth(THREE_CAMPAIGNS, "phone", shared, "duplicate", detail)


def _requests(history: History) -> Iterator[Truth]:
    dnc = history.dnc
    for row in np.flatnonzero(dnc.source == REQUEST).tolist():
        detail = f"listed at its owner's request at {iso(int(dnc.listed[row]))}"
        detail += "; calls up to the one with the request are no fault"
        yield Truth(DNC_REQUEST, "phone", dnc.phones[row], "clear", detail)


def _listed_later(history: History) -> Iterator[Truth]:
    dnc, calls = history.dnc, history.traffic.calls
    listed = np.full(len(history.created), -1)
    listed[dnc.later] = dnc.listed[len(dnc.listed) - len(dnc.later) :]
    for lead in dnc.later.tolist():
        phone = history.world.people.phone[lead]
        detail = f"imported {iso(int(history.created[lead]))}, listed {iso(int(listed[lead]))}"
        yield Truth(LISTED_LATER, "phone", phone, "indeterminate", detail)
    for row in np.flatnonzero((listed[calls.who] >= 0) & ~calls.inbound).tolist():
        after = calls.created[row] >= listed[calls.who[row]]
        detail = f"in truth {'after' if after else 'before'} the listing, whose time is not shown"
        yield Truth(CALL_TO_LISTED_LATER, "call", history.call_ids[row], "indeterminate", detail)


def _logging(history: History) -> Iterator[Truth]:
    marks, calls, ids = history.marks, history.traffic.calls, history.call_ids
    for row in marks.missing.tolist():
        detail = f"{calls.talk[row] // SECOND} s of talk, nothing logged"
        yield Truth(MISSING, "call", ids[row], "missing", detail)
    changes = zip(
        marks.late.tolist(), marks.late_from.tolist(), marks.late_at.tolist(), strict=True
    )
    for row, first, at in changes:
        now = OUTCOMES[int(marks.logged[row])].code
        detail = f"logged as {OUTCOMES[first].code}, changed to {now} at {iso(at)}"
        yield Truth(LATE, "call", ids[row], "late", detail)
    for row in marks.unmapped.tolist():
        detail = f"logged as {OUTCOMES[CODE['ZZTOP']].code}, which no taxonomy knows"
        yield Truth(UNMAPPED, "call", ids[row], "unmapped", detail)


def _campaigns(history: History) -> Iterator[Truth]:
    hidden = history.campaign_ids[history.world.campaigns.with_trait(VOICEMAIL_AS_COMPLETED)]
    detail = "answering machines are logged as PU, as if nobody knew who answered"
    yield Truth(VOICEMAIL_AS_COMPLETED, "campaign", hidden, "machine", detail)
    total = history.campaign_ids[history.world.campaigns.with_trait(DURATION_IS_TOTAL)]
    detail = "duration_seconds counts from the start of the call, elsewhere from its answer"
    yield Truth(DURATION_IS_TOTAL, "campaign", total, "total", detail)


def _caller_id(history: History) -> Iterator[Truth]:
    callers = history.world.callers
    number = callers.numbers[callers.new]
    detail = f"{mask_phone(number)} in use from {iso(callers.new_from)}, shown as spam from "
    detail += f"{iso(callers.new_flagged)}: people answer half as often"
    yield Truth(FLAGGED, "phone", number, "flagged", detail)
