"""Who is dialed, where they live, and when: leads and caller IDs, area codes with their zones, local hours.

Local times are "naive" milliseconds: what the called party's clock shows, counted as if it were
UTC. All times inside the generator are whole milliseconds.

**Volume time.** Dialing is not spread evenly: `HOURLY` and `WEEKDAILY` say how much happens in
each local hour and on each weekday. `volume` maps a local time to the amount of dialing that has
passed by then, and `moment` maps it back. One ordinary weekday is 1. Attempts that are spaced
evenly in volume time therefore fall into the hours and weekdays in the wanted proportions, never
at night and never on a Sunday, without a draw being thrown away.
"""

from __future__ import annotations

import csv
import datetime as dt
from dataclasses import dataclass, field
from importlib import resources
from typing import Final
from zoneinfo import ZoneInfo

import numpy as np

from dialframe.sandbox.seed.sizes_and_columns import CampaignPlan, Flags, Floats, Ints, Size


@dataclass(frozen=True, slots=True)
class Place:
    """One area code: three digits, two-letter state, IANA zones in alphabetical order."""

    code: str
    state: str
    zones: tuple[str, ...]


def _places() -> tuple[Place, ...]:
    """The table of area codes, by code.

    Left out of it: the overlays that the `phonenumbers` package knows less well than the code they
    overlie (364, 448, 458, 689, 729, 930, 983), because a careful reader would doubt their zone.
    """
    table = resources.files(__package__) / "data" / "us_area_codes.csv"
    rows = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    return tuple(Place(row["code"], row["state"], tuple(row["zones"].split())) for row in rows)


_PLACES: Final = _places()

#: Area codes whose every exchange has one and the same zone: an hour there is not open to argument.
ONE_ZONE: Final = tuple(place for place in _PLACES if len(place.zones) == 1)

#: Area codes with more than one zone.
SEVERAL_ZONES: Final = tuple(place for place in _PLACES if len(place.zones) > 1)

#: Area codes of `SEVERAL_ZONES` whose outermost zones are an hour apart all the year round.
STRADDLING: tuple[str, ...] = ("850", "605", "208", "270")

#: Area codes of `ONE_ZONE` in which the account owns a caller ID, most used first.
LOCAL_CODES: tuple[str, ...] = (
    "212", "312", "713", "206", "404", "305", "602", "617", "214", "818", "215", "303", "313", "503",
    "612", "702", "704", "801", "808", "916",
)  # fmt: skip

#: A hundred numbers that are on every generated Do-Not-Call list and belong to no lead.
#:
#: `+1 <area> 555 0190` to `0199` of ten area codes, so that an import can be made to meet a listed
#: number on purpose.
REGISTRY_BLOCKS: tuple[str, ...] = tuple(
    f"+1{code}55501{line}"
    for code in ["212", "312", "713", "206", "617", "404", "305", "602", "503", "303"]
    for line in range(90, 100)
)


MS = 1
SECOND = 1_000 * MS
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

FIRST_HOUR = 8
LAST_HOUR = 20
#: Relative volume of the local hours 8 to 20.
HOURLY = np.array([0.5, 1.2, 1.4, 1.3, 0.9, 1.1, 1.3, 1.3, 1.2, 1.1, 0.8, 0.5, 0.2])
#: Relative volume of the weekdays, Monday first.
WEEKDAILY = np.array([1.0, 1.0, 1.0, 1.0, 0.95, 0.35, 0.0])

# The last hour ends early, so that a call placed in it is also answered in it.
_EDGES = np.array([*range(FIRST_HOUR, LAST_HOUR + 1), LAST_HOUR + 0.95]) * HOUR
_PASSED = np.concatenate([[0.0], np.cumsum(HOURLY) / HOURLY.sum()])

ZONES: tuple[str, ...] = tuple(
    sorted({zone for place in (*ONE_ZONE, *SEVERAL_ZONES) for zone in place.zones})
)

#: Days kept before and after the history, for imports before it and promises after it.
_MARGIN_DAYS = 45


@dataclass(frozen=True, slots=True, eq=False)
class Calendar:
    """The days of one history.

    Attributes:
        starts: First instant of the history, UTC.
        ends: First instant after the history, UTC.
        first_day: Days since 1970-01-01 of the calendar's first day.
        offsets: Local minus UTC at noon, one row per zone of `ZONES`, one column per day.
        weights: Volume of each day.
        passed: Volume before each day.
    """

    starts: int
    ends: int
    first_day: int
    offsets: Ints
    weights: Floats
    passed: Floats

    def to_utc(self, zone: Ints, local: Ints) -> Ints:
        """UTC of local times between 02:00 and midnight, where a day has one offset."""
        return local - self.offsets[zone, local // DAY - self.first_day]

    def to_local(self, zone: Ints, utc: Ints) -> Ints:
        """Local time of instants; an hour off in the night of a clock change."""
        day = utc // DAY - self.first_day
        # The local day has the offset, and an evening here may be the next day in UTC.
        offset = np.minimum(self.offsets[zone, day], self.offsets[zone, np.maximum(day - 1, 0)])
        local: Ints = utc + self.offsets[zone, (utc + offset) // DAY - self.first_day]
        return local

    def volume(self, local: Ints) -> Floats:
        """Dialing done by a local time, in ordinary weekdays."""
        day = local // DAY - self.first_day
        share: Floats = np.interp(local % DAY, _EDGES, _PASSED)
        return self.passed[day] + self.weights[day] * share

    def moment(self, volume: Floats) -> Ints:
        """The local time by which so much dialing is done."""
        day = np.searchsorted(self.passed, volume, side="right") - 1
        day = np.minimum(day, len(self.weights) - 2)
        share = (volume - self.passed[day]) / np.maximum(self.weights[day], 0.01)
        within = np.interp(share, _PASSED, _EDGES).astype(np.int64)
        moment: Ints = (day + self.first_day) * DAY + within
        return moment

    def day_after(self, local: Ints) -> Floats:
        """Volume at the start of the day after a local time."""
        return self.passed[local // DAY - self.first_day + 1]


def calendar(as_of: dt.date, history_days: int) -> Calendar:
    """The calendar of a history that ends as `as_of` begins (UTC)."""
    last = (as_of - dt.date(1970, 1, 1)).days
    first_day = last - history_days - _MARGIN_DAYS
    days = np.arange(first_day, last + _MARGIN_DAYS + 1)
    weights = WEEKDAILY[weekday(days * DAY)]
    passed = np.concatenate([[0.0], np.cumsum(weights)[:-1]])
    offsets = np.array([_offsets(zone, days) for zone in ZONES], dtype=np.int64)
    return Calendar((last - history_days) * DAY, last * DAY, first_day, offsets, weights, passed)


def weekday(local: Ints) -> Ints:
    """Day of the week of a local time, Monday 0."""
    # 1970-01-01 was a Thursday.
    return (local // DAY + 3) % 7


def hour(local: Ints) -> Ints:
    """Hour of the day of a local time."""
    return local % DAY // HOUR


def is_sunday(local: Ints) -> Flags:
    """Whether the local day is a Sunday."""
    sunday: Flags = weekday(local) == 6
    return sunday


def iso(utc: int) -> str:
    """An instant as the contract writes it, such as `2026-05-04T13:30:00.250Z`."""
    instant = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=utc)
    return f"{instant:%Y-%m-%dT%H:%M:%S}.{utc % SECOND:03d}Z"


def _offsets(zone: str, days: Ints) -> list[int]:
    time_zone = ZoneInfo(zone)
    epoch = dt.datetime(1970, 1, 1, 12, tzinfo=time_zone)
    offsets = ((epoch + dt.timedelta(days=day)).utcoffset() for day in days.tolist())
    return [0 if offset is None else int(offset.total_seconds()) * SECOND for offset in offsets]


@dataclass(frozen=True, slots=True)
class Source:
    """Where leads come from: share, quality, and the mean chance to reach one."""

    code: str
    share: float
    bad: float
    wrong: float
    reach: float
    factor: float


SOURCES: tuple[Source, ...] = (
    Source("web_form", 0.30, 0.04, 0.03, 0.20, 1.8),
    Source("partner", 0.25, 0.07, 0.05, 0.15, 1.0),
    Source("purchased_a", 0.25, 0.11, 0.08, 0.12, 0.7),
    Source("purchased_b", 0.12, 0.19, 0.12, 0.09, 0.5),
    Source("reactivation", 0.08, 0.12, 0.09, 0.14, 1.1),
)
WEB_FORM = 0

PLACES = (*ONE_ZONE, *SEVERAL_ZONES)
PLACE: dict[str, int] = {place.code: number for number, place in enumerate(PLACES)}
PLACE_ZONE = np.array([ZONES.index(place.zones[0]) for place in PLACES])

ATTEMPT_CAP = 8
#: Sum of the two parameters of the Beta law of reach: small means leads differ much.
_SPREAD = 5.0
# Leads in area codes where the account owns a caller ID.
_LOCAL_SHARE = 0.44
# Bought lists come by the fortnight.
_BATCH_EVERY = 14 * DAY
_OPENING = 11 * HOUR + 30 * MINUTE
_CLOSING = 23 * HOUR + 30 * MINUTE

# Lines 0100-0179 go to leads, 0180-0189 to caller IDs, 0190-0199 to `places.REGISTRY_BLOCKS`.
NARROW_LINES = np.arange(100, 180)
# The 555 exchange reaches nobody's home: 0100-0199 are reserved for fiction, the rest were given
# to information services and are out of use but for these two.
WIDE_LINES = np.concatenate([NARROW_LINES, np.setdiff1d(np.arange(200, 9_000), [1212, 4334])])
REGISTRY_LINES = np.arange(9_000, 10_000)


@dataclass(frozen=True, slots=True, eq=False)
class Campaigns:
    """The campaigns; instants are UTC milliseconds, -1 where there is none.

    Attributes:
        plans: What each was made from.
        created: When each was created.
        opens: When dialing began.
        closes: When dialing ended, or the history's end.
    """

    plans: tuple[CampaignPlan, ...]
    created: Ints
    opens: Ints
    closes: Ints

    def with_trait(self, trait: str) -> int:
        """The campaign that has a fault as a whole."""
        return next(campaign for campaign, plan in enumerate(self.plans) if plan.trait == trait)


@dataclass(frozen=True, slots=True, eq=False)
class Callers:
    """The account's own numbers.

    Attributes:
        numbers: E.164.
        places: Area code of each, as an index into `PLACES`.
        local: Caller ID of each place, or -1.
        mains: Caller IDs used where no local one is.
        new: The caller ID that is taken into use during the history and then shown as spam.
        new_from: First instant of its use.
        new_flagged: First instant at which it is shown as spam.
        new_until: First instant after its use.
    """

    numbers: tuple[str, ...]
    places: Ints
    local: Ints
    mains: Ints
    new: int
    new_from: int
    new_flagged: int
    new_until: int


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """The leads, one value each.

    Attributes:
        campaign: Index into the campaigns.
        source: Index into `SOURCES`.
        place: Index into `PLACES`.
        zone: Index into `hours.ZONES`.
        phone: E.164.
        bad: The number is out of service.
        reach: Chance that its owner answers, on average.
        voicemail: Chance that a machine answers when no person does.
        target: Attempts after which the platform gives up.
        first: Naive local time of the first attempt, or -1 when the lead is never dialed.
        scripted: The lead's calls are written by `faults`, not drawn.
    """

    campaign: Ints
    source: Ints
    place: Ints
    zone: Ints
    phone: list[str] = field(repr=False)
    bad: Flags
    reach: Floats
    voicemail: Floats
    target: Ints
    first: Ints
    scripted: Flags


def campaigns(calendar: Calendar, size: Size) -> Campaigns:
    """The campaigns of a size, placed on the calendar."""
    days = size.history_days
    created, opens, closes = [], [], []
    for number, plan in enumerate(size.campaigns):
        opening = plan.opens if plan.opens is not None else 0.85 + 0.01 * number
        day = calendar.starts + int(days * opening) * DAY
        created.append(day - 5 * DAY + (13 + number) * HOUR)
        opens.append(day + _OPENING if plan.opens is not None else -1)
        last = calendar.starts + int(days * plan.closes) * DAY + _CLOSING
        closes.append(calendar.ends if plan.closes >= 1 else last)
    return Campaigns(size.campaigns, np.array(created), np.array(opens), np.array(closes))


def callers(calendar: Calendar, size: Size) -> Callers:
    """The account's caller IDs: a local one in each of its area codes, and five for the rest."""
    codes = (*LOCAL_CODES[: size.local_codes], "202", "646", "213", "773", "470")
    numbers = tuple(f"+1{code}5550180" for code in codes)
    places = np.array([PLACE[code] for code in codes])
    local = np.full(len(PLACES), -1)
    local[places[: size.local_codes]] = np.arange(size.local_codes)
    mains = np.arange(size.local_codes, len(codes))
    new_from = calendar.starts + int(size.history_days * 0.4) * DAY + _OPENING
    return Callers(
        numbers,
        places,
        local,
        mains[:-1],
        int(mains[-1]),
        new_from,
        new_from + 13 * DAY,
        new_from + 60 * DAY,
    )


def people(
    rng: np.random.Generator, calendar: Calendar, size: Size, campaigns: Campaigns
) -> People:
    """The leads of a size, with what chance has given them."""
    count = size.leads
    campaign = rng.permutation(_portions([plan.share for plan in size.campaigns], count))
    source = rng.permutation(_portions([source.share for source in SOURCES], count))
    mean = np.array([source.reach for source in SOURCES])[source]
    place, phone = _numbers(rng, size)
    return People(
        campaign=campaign,
        source=source,
        place=place,
        zone=PLACE_ZONE[place],
        phone=phone,
        bad=rng.random(count) < np.array([source.bad for source in SOURCES])[source],
        reach=rng.beta(_SPREAD * mean, _SPREAD * (1 - mean)),
        voicemail=rng.beta(6.0, 2.6, count),
        target=np.minimum(
            1 + rng.exponential(size.further_attempts, count).astype(np.int64), ATTEMPT_CAP
        ),
        first=_first_attempts(rng, calendar, campaigns, campaign),
        scripted=np.zeros(count, dtype=np.bool_),
    )


def created_at(
    rng: np.random.Generator, people: People, campaigns: Campaigns, first_call: Ints, ends: int
) -> Ints:
    """When each lead came into the account, UTC milliseconds; always before its first call.

    Web forms come minutes before they are dialed, bought lists in fortnightly batches.
    """
    count = len(first_call)
    opened = np.maximum(campaigns.opens, campaigns.created + DAY)[people.campaign]
    closed = np.minimum(campaigns.closes, ends - HOUR)[people.campaign]
    known = np.where(first_call >= 0, first_call, closed - rng.integers(0, 10 * DAY, count))
    # Half of the web forms are dialed within 40 minutes; a long tail waits for days.
    wait = np.exp(np.log(40 * MINUTE) + 1.5 * rng.standard_normal(count))
    wait = np.clip(wait, MINUTE, 20 * DAY).astype(np.int64)
    first_batch = opened - 2 * DAY
    batches = np.maximum(known - 2 * HOUR - first_batch, 0) // _BATCH_EVERY
    batch = first_batch + batches * _BATCH_EVERY + rng.integers(0, 10 * MINUTE, count)
    came = np.where(people.source == WEB_FORM, known - wait, batch)
    earliest = campaigns.created[people.campaign] + rng.integers(HOUR, 2 * HOUR, count)
    created: Ints = np.minimum(np.maximum(came, earliest), known - MINUTE)
    return created


def _portions(shares: list[float], count: int) -> Ints:
    """Each index as often as its share says, so that the counts add up to `count`."""
    edges = np.rint(np.cumsum(shares) / sum(shares) * count).astype(np.int64)
    return np.repeat(np.arange(len(shares)), np.diff(edges, prepend=0))


def _first_attempts(
    rng: np.random.Generator, calendar: Calendar, campaigns: Campaigns, campaign: Ints
) -> Ints:
    """Even in volume time over the campaign; a few fall behind its end and are never dialed."""
    dialed = campaigns.opens >= 0
    opens = calendar.volume(np.maximum(campaigns.opens, calendar.starts) // DAY * DAY)
    closes = calendar.volume(campaigns.closes)
    # Even in volume time: the wanted hours and weekdays come out without a draw thrown away.
    length = (closes - opens)[campaign]
    first = calendar.moment(opens[campaign] + rng.uniform(0.0, 1.03, len(campaign)) * length)
    return np.where(dialed[campaign], first, -1)


def _numbers(rng: np.random.Generator, size: Size) -> tuple[Ints, list[str]]:
    """A number for each lead, all different, spread evenly over the area codes."""
    local = np.array([PLACE[code] for code in LOCAL_CODES[: size.local_codes]])
    others = np.setdiff1d(np.arange(len(ONE_ZONE)), local)
    at_home = int(size.leads * _LOCAL_SHARE)
    place = np.concatenate([np.resize(local, at_home), np.resize(others, size.leads - at_home)])
    lines = WIDE_LINES if size.wide_lines else NARROW_LINES
    slots = rng.permuted(np.tile(lines, (len(ONE_ZONE), 1)), axis=1)
    rank = np.concatenate(
        [np.arange(at_home) // len(local), np.arange(size.leads - at_home) // len(others)]
    )
    order = rng.permutation(size.leads)
    place, line = place[order], slots[place, rank][order]
    codes = [PLACES[number].code for number in place.tolist()]
    return place, [f"+1{c}555{n:04d}" for c, n in zip(codes, line.tolist(), strict=True)]
