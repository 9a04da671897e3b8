"""What the calls leave behind: what was logged of each, leads, callbacks, appointments, the list."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dialframe.sandbox.seed.call_history import PENDING, Callbacks, Traffic, World
from dialframe.sandbox.seed.call_outcomes import ABANDONED, ANSWERED, CODE, FINAL, HUMAN
from dialframe.sandbox.seed.people_and_calendar import (
    ATTEMPT_CAP,
    DAY,
    HOUR,
    MINUTE,
    ONE_ZONE,
    REGISTRY_BLOCKS,
    REGISTRY_LINES,
    SECOND,
    is_sunday,
)
from dialframe.sandbox.seed.planted_faults import DNC_NOT_LISTED, Cast
from dialframe.sandbox.seed.sizes_and_columns import (
    DURATION_IS_TOTAL,
    VOICEMAIL_AS_COMPLETED,
    FaultPlan,
    Flags,
    Ints,
    Size,
)

#: Talk from which on a call with a person must have a disposition.
HUMAN_LENGTH = 30 * SECOND
MISSING_SHARE = 0.025
LATE_SHARE = 0.015
LATEST_EDIT = 48 * HOUR
NOT_LOGGED = -1

#: A missing one of these would take a promise or a request out of the account's books.
ALWAYS_LOGGED = tuple(CODE[code] for code in ("DNC", "CALLBK", "APPT", "SALE"))
_FIRST_LOGGED = tuple(CODE[code] for code in ("NP", "GATE", "HUP", "NI"))


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """What the account's records say of each call, and where they are wrong.

    Attributes:
        logged: Disposition of each call, as an index into `outcomes.OUTCOMES`, or -1.
        duration_s: Duration of each call in whole seconds, or -1 where there is none.
        missing: Rows whose disposition was never logged.
        late: Rows whose disposition was changed later.
        late_from: What was logged first, for each row of `late`.
        late_at: When it was changed, UTC milliseconds, for each row of `late`.
        unmapped: Rows with a disposition that is in no taxonomy.
    """

    logged: Ints
    duration_s: Ints
    missing: Ints
    late: Ints
    late_from: Ints
    late_at: Ints
    unmapped: Ints


def mark(rng: np.random.Generator, world: World, traffic: Traffic, plan: FaultPlan) -> Marks:
    """Log every call, with the faults of `plan` and the shares above."""
    calls = traffic.calls
    logged = np.where(calls.outcome == ABANDONED, NOT_LOGGED, calls.outcome)
    hidden = world.campaigns.with_trait(VOICEMAIL_AS_COMPLETED)
    machine = ANSWERED[calls.outcome] & ~HUMAN[calls.outcome] & ~traffic.detached
    # One campaign notes machines as PU (pick-up), as if nobody had listened.
    logged[machine & (world.people.campaign[calls.lead] == hidden)] = CODE["PU"]
    # Faults of logging are drawn among ordinary calls with people; scripted ones keep their one fault.
    spoken = HUMAN[calls.outcome] & ~calls.inbound & (calls.script < 0) & ~traffic.detached
    long = spoken & (calls.talk >= HUMAN_LENGTH)
    free = spoken & ~np.isin(calls.outcome, ALWAYS_LOGGED)
    missing = _pick(rng, free & long, _some(MISSING_SHARE, long))
    free[missing] = False
    odd = np.isin(calls.outcome, [CODE["NP"], CODE["GATE"]])
    unmapped = _pick(rng, free & odd, plan.unmapped)
    free[unmapped] = False
    # Whatever is changed later has to have changed before the history ends.
    settled = calls.ended < world.calendar.ends - LATEST_EDIT
    late = _pick(rng, free & settled, _some(LATE_SHARE, spoken))
    logged[missing] = NOT_LOGGED
    logged[unmapped] = CODE["ZZTOP"]
    wait = rng.integers(HOUR, LATEST_EDIT, len(late))
    # Before it was changed another disposition was logged than the right one.
    codes, right = np.array(_FIRST_LOGGED), calls.outcome[late]
    turn = rng.integers(0, len(codes) - 1, len(late))
    earlier = np.where(codes[turn] == right, codes[-1 - turn], codes[turn])
    return Marks(
        logged,
        _durations(world, traffic),
        missing,
        late,
        earlier,
        calls.ended[late] + wait,
        unmapped,
    )


def _pick(rng: np.random.Generator, allowed: Flags, count: int) -> Ints:
    rows = np.flatnonzero(allowed)
    return np.sort(rng.choice(rows, min(count, len(rows)), replace=False))


def _some(share: float, of: Flags) -> int:
    return max(1, round(share * int(of.sum())))


def _durations(world: World, traffic: Traffic) -> Ints:
    """Talk where there was an answer; in one campaign the whole call, answered or not."""
    calls = traffic.calls
    whole = world.people.campaign[calls.lead] == world.campaigns.with_trait(DURATION_IS_TOTAL)
    total = whole & ~traffic.detached
    # Elsewhere the duration is the talk; here ringing counts in.
    length = np.where(total, calls.ring + calls.talk, calls.talk)
    return np.where(total | calls.answered, (length + SECOND // 2) // SECOND, -1)


LEAD_STATUSES = ("new", "contacted", "callback", "dnc", "completed")
APPOINTMENT_STATUSES = ("scheduled", "confirmed", "completed", "no-show", "cancelled")
DNC_SOURCES = ("registry", "request", "console")
REGISTRY, REQUEST, CONSOLE = range(3)

# Assumed: 0.3% of the leads in a month.
LISTED_PER_MONTH = 0.003
_MONTH = 30 * DAY
_CONSOLE_NUMBERS = 5
_FAR = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class LeadStates:
    """Where each lead stands at the end; instants are UTC milliseconds, -1 where there is none.

    Attributes:
        status: Index into `LEAD_STATUSES`.
        attempts: Outbound calls that name the lead.
        last: Row of the last of them, or -1.
        last_at: When it began.
        next_at: When the platform means to dial next.
        updated: When the last of them ended, or when the lead came.
    """

    status: Ints
    attempts: Ints
    last: Ints
    last_at: Ints
    next_at: Ints
    updated: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Appointments:
    """Booked appointments, one value each; instants are UTC milliseconds.

    Attributes:
        row: The call in which it was booked.
        status: Index into `APPOINTMENT_STATUSES`.
        due: For when.
        minutes: How long.
        created: When it was booked.
        updated: When it last changed.
    """

    row: Ints
    status: Ints
    due: Ints
    minutes: Ints
    created: Ints
    updated: Ints


@dataclass(frozen=True, slots=True, eq=False)
class DncList:
    """The Do-Not-Call list; instants are UTC milliseconds.

    Attributes:
        phones: E.164, each once.
        listed: When each was listed.
        source: Index into `DNC_SOURCES`.
        later: Leads whose number came onto the list after their import, through no call.
    """

    phones: list[str] = field(repr=False)
    listed: Ints
    source: Ints
    later: Ints


def first_calls(traffic: Traffic, leads: int) -> Ints:
    """The first call of each lead's number in any direction, UTC milliseconds, or -1."""
    first = np.full(leads, _FAR)
    np.minimum.at(first, traffic.calls.lead, traffic.calls.created)
    return np.where(first == _FAR, -1, first)


def lead_states(
    world: World,
    traffic: Traffic,
    marks: Marks,
    callbacks: Callbacks,
    planned: Ints,
    created: Ints,
    cast: Cast,
) -> LeadStates:
    """Where the calls leave each lead: what the last one says, a Do-Not-Call request for good."""
    calls, count = traffic.calls, len(created)
    rows = np.flatnonzero(~calls.inbound & ~traffic.detached)
    lead = calls.lead[rows]
    # Only calls that name the lead are attempts on it: no inbound call, no click outside a campaign.
    attempts = np.bincount(lead, minlength=count)
    last = np.full(count, -1)
    # Unbuffered: of several calls to one lead the last row stays.
    np.maximum.at(last, lead, rows)
    dialed = last >= 0
    last_code = np.where(dialed, marks.logged[last], -1)
    refused = np.zeros(count, dtype=np.bool_)
    # For good: whatever the last call says, a request stands (47 CFR 64.1200(d)).
    refused[calls.lead[marks.logged == CODE["DNC"]]] = True
    # Planted: the request was logged and then forgotten, in the lead as well as in the list.
    refused[list(cast.parts[DNC_NOT_LISTED])] = False
    waiting = np.full(count, -1)
    open_ = callbacks.state == PENDING
    # Of several promises to one lead, the last one stands.
    waiting[callbacks.lead[open_]] = callbacks.due[open_]
    done = dialed & ((last_code >= 0) & FINAL[last_code] | (attempts >= ATTEMPT_CAP))
    done[list(cast.parts[DNC_NOT_LISTED])] = False
    choices = [~dialed, refused, done, waiting >= 0]
    status = np.select(
        choices,
        [_lead("new"), _lead("dnc"), _lead("completed"), _lead("callback")],
        default=_lead("contacted"),
    )
    return LeadStates(
        status,
        attempts,
        last,
        np.where(dialed, calls.created[last], -1),
        _next(world, status, planned, waiting),
        np.where(dialed, calls.ended[last], created),
    )


def appointments(
    rng: np.random.Generator, world: World, traffic: Traffic, marks: Marks
) -> Appointments:
    """An appointment from every call that booked one: 70% kept, 18% not, 15% moved once."""
    calendar, calls = world.calendar, traffic.calls
    row = np.flatnonzero((marks.logged == CODE["APPT"]) & ~calls.inbound)
    count, zone = len(row), world.people.zone[calls.lead[row]]
    booked = calls.ended[row]
    # Assumed inside published ranges for booked visits, as are the shares below.
    moved = rng.random(count) < 0.15
    day = calendar.to_local(zone, booked) // DAY + rng.integers(1, 15, count)
    # A moved appointment is a week later at most.
    day += np.where(moved, rng.integers(1, 8, count), 0)
    day += is_sunday(day * DAY)
    due = calendar.to_utc(zone, day * DAY + 9 * HOUR + rng.integers(0, 17, count) * 30 * MINUTE)
    minutes = rng.choice(np.array([30, 45, 60]), count)
    over = due + minutes * MINUTE < calendar.ends
    # 70% kept, 18% no-shows, the rest cancelled.
    fate = np.searchsorted([0.70, 0.88], rng.random(count), side="right")
    cancelled = (fate == 2) & (over | (rng.random(count) < 0.5))
    confirmed = ~over & (rng.random(count) < 0.3)
    status = np.select(
        [cancelled, over & (fate == 0), over, confirmed],
        [_appointment(name) for name in ("cancelled", "completed", "no-show", "confirmed")],
        default=_appointment("scheduled"),
    )
    latest = np.minimum(due - HOUR, calendar.ends - MINUTE)
    between = booked + (rng.random(count) * np.maximum(latest - booked, 0)).astype(np.int64)
    updated = np.where(cancelled | moved | confirmed, between, booked)
    updated = np.where(over & ~cancelled, due + minutes * MINUTE, updated)
    return Appointments(row, status, due, minutes, booked, updated)


def dnc_list(
    rng: np.random.Generator,
    world: World,
    traffic: Traffic,
    marks: Marks,
    created: Ints,
    cast: Cast,
    size: Size,
) -> DncList:
    """The registry, numbers that asked, numbers listed since their import, and a few by hand."""
    calls, ends = traffic.calls, world.calendar.ends
    asked = np.flatnonzero((marks.logged == CODE["DNC"]) & ~calls.inbound)
    asked = asked[~np.isin(calls.lead[asked], list(cast.parts[DNC_NOT_LISTED]))]
    later, later_at = _list_later(rng, world, traffic, created, asked)
    phone = world.people.phone
    # The last five of them stand for numbers that an administrator listed by hand.
    registry = _registry(rng, size.registry + _CONSOLE_NUMBERS)
    old = world.calendar.starts - rng.integers(10 * DAY, 3_000 * DAY, len(registry))
    old[-_CONSOLE_NUMBERS:] = ends - rng.integers(DAY, 60 * DAY, _CONSOLE_NUMBERS)
    blocks = len(registry) - _CONSOLE_NUMBERS
    # Somebody lists the number within five minutes of the call.
    request_at = calls.ended[asked] + rng.integers(SECOND, 5 * MINUTE, len(asked))
    return DncList(
        [
            *registry,
            *(phone[lead] for lead in calls.lead[asked].tolist()),
            *(phone[lead] for lead in later.tolist()),
        ],
        np.concatenate([old, np.minimum(request_at, ends - SECOND), later_at]),
        np.repeat(
            [REGISTRY, CONSOLE, REQUEST, REGISTRY],
            [blocks, _CONSOLE_NUMBERS, len(asked), len(later)],
        ),
        later,
    )


def _next(world: World, status: Ints, planned: Ints, waiting: Ints) -> Ints:
    """Callbacks for when they were promised; else what the interrupted rounds had planned."""
    plans = np.array([plan.status in ("running", "paused") for plan in world.campaigns.plans])
    goes_on = plans[world.people.campaign] & (status == _lead("contacted"))
    running = np.array([plan.status == "running" for plan in world.campaigns.plans])
    soonest = np.where(running[world.people.campaign], world.calendar.ends + MINUTE, 0)
    following = np.where(goes_on & (planned >= 0), np.maximum(planned, soonest), -1)
    return np.where(status == _lead("callback"), waiting, following)


def _list_later(
    rng: np.random.Generator, world: World, traffic: Traffic, created: Ints, asked: Ints
) -> tuple[Ints, Ints]:
    """Leads whose number came onto the registry while they were in the account, and when.

    Every fourth of them was dialed on both sides of that instant.
    """
    calls, ends = traffic.calls, world.calendar.ends
    free = ~world.people.scripted
    free[calls.lead[asked]] = False
    months = np.maximum(ends - created - 2 * DAY, 0) / _MONTH * free
    wanted = max(2, round(LISTED_PER_MONTH * float(months.sum())))
    outbound = ~calls.inbound
    # First and last outbound call of each lead; without one the last is before the first.
    first, last = np.full(len(created), _FAR), np.full(len(created), -1)
    np.minimum.at(first, calls.lead[outbound], calls.created[outbound])
    np.maximum.at(last, calls.lead[outbound], calls.created[outbound])
    often = np.flatnonzero(free & (last - first > DAY))
    # Their calls lie on both sides of the listing: no audit can tell which from what is shown.
    across = rng.choice(often, -(-wanted // 4), replace=False)
    # Drawn already: not a second time below.
    months[across] = 0.0
    rest = rng.choice(len(created), wanted - len(across), replace=False, p=months / months.sum())
    listed_at = created[rest] + DAY
    listed_at = listed_at + (rng.random(len(rest)) * (ends - HOUR - listed_at)).astype(np.int64)
    middle = (first[across] + last[across]) // 2
    return np.concatenate([across, rest]), np.concatenate([middle, listed_at])


def _registry(rng: np.random.Generator, count: int) -> list[str]:
    """The fixed blocks and `count` numbers on lines that no lead has."""
    slots = rng.choice(len(ONE_ZONE) * len(REGISTRY_LINES), count, replace=False)
    place, line = np.divmod(slots, len(REGISTRY_LINES))
    lines = REGISTRY_LINES[line].tolist()
    codes = [ONE_ZONE[number].code for number in place.tolist()]
    return [*REGISTRY_BLOCKS, *(f"+1{c}555{n:04d}" for c, n in zip(codes, lines, strict=True))]


def _lead(status: str) -> int:
    return LEAD_STATUSES.index(status)


def _appointment(status: str) -> int:
    return APPOINTMENT_STATUSES.index(status)
