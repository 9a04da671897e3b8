"""Candidate time zones and regions of a phone number, or of a column of numbers.

An area code is evidence of a place, not the place: numbers are ported and travel with people. So
every zone that is possible is kept, and nothing here picks one. The candidates of a number of the
United States or Canada are the union of

- the zones of its whole area code (every central office code of it),
- for an overlay the zones of the code that it lies on, because the zone data is coarser for it
  (448 lies on 850, 364 on 270, 930 on 812, 458 on 541, 986 on 208; 778 on 250, 581 on 418), has
  none (729 on 423) or another one (689, of Orlando, on 407; 474, of Saskatchewan, on 306),
- what the phone number library says of the number itself,
- in the United States the zones of a state or ZIP code that the account knows, whole. A state that is the
  number's own adds none: who says what the number says does not make its place less certain. A ZIP code
  is a place of its own, which may be the corner of the state in another zone, so that it adds them all.

Elsewhere they are those of the library: of the number's prefix where it has a place, of the whole
country where it is a mobile number. Where the library is known to be wrong, both are kept.

Of a column (`place`) each prefix is looked up once: twenty million numbers have a few thousand prefixes, those of
North America its area codes. A row costs the reading of its digits and one look into a table.

Tables: `data/area_codes.csv`, made from the phone number library over all central office codes
(zones, region, and the state that its geocoder names most often) and held to it by a test;
`data/us_states.csv`, legal time by state (49 CFR part 71); `data/us_zips.csv`, the first three
digits of ZIP codes by state; `data/provinces.csv`, parts of countries by the first digits of their fixed lines.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import phonenumbers
import pyarrow as pa
from phonenumbers import NumberParseException, PhoneNumber, PhoneNumberType
from phonenumbers.timezone import time_zones_for_geographical_number, time_zones_for_number
from phonenumbers.tzdata import TIMEZONE_DATA

from dialframe.privacy import E164

#: Regions where the federal rules hold: the states with the District, and the territories.
US_REGIONS: Final = frozenset({"US", "PR", "VI", "GU", "MP", "AS"})

_ZIP: Final = re.compile(r"(\d{3})\d{2}(?:-?\d{4})?")

Confidence = Literal["high", "medium", "low", "none"]

NANP: Final = re.compile(r"\+1([2-9][0-9]{2})([0-9]{3})[0-9]{4}")

NO_NUMBER: Final = "to_number"
NO_ZONE: Final = "the number's time zone"

FIXED, MOBILE, NO_LINE = "fixed", "mobile", "unknown"

#: First digits to zones that the library leaves out there. It gives most of Queensland (07) the
#: time of Sydney, which is an hour ahead in summer.
_LEFT_OUT: Final = {"+617": ("Australia/Brisbane",)}

# The library answers with every zone of the country code when it knows nothing narrower.
_COUNTRY_WIDE: Final = 10

#: Regions that the law of another one reaches too, or whose numbers are part of its plan.
_WITHIN: Final = {
    **dict.fromkeys(("GP", "RE", "MQ", "GF", "YT", "PM", "BL", "MF"), "FR"),
    **dict.fromkeys(("GG", "JE", "IM"), "GB"),
    **dict.fromkeys(("CX", "CC"), "AU"),
    "VA": "IT",
}

_LINES: Final = {PhoneNumberType.MOBILE: MOBILE, PhoneNumberType.FIXED_LINE: FIXED}


@dataclass(frozen=True, slots=True)
class Zones:
    """Where a number may be.

    Attributes:
        names: Candidate IANA zones in alphabetical order; empty when there is none.
        source: What they rest on: `area code`, `overlay of NNN`, `number`, `state XX`,
            `country XX`, joined by ` + `, or `none`.
        confidence: `high` when area code and state share a zone, or the number has a place
            outside the North American plan; `medium` for an area code alone and for a whole
            country, `low` when they share none or only a state is known, `none` without zones.
        missing: The input that is missing when there are no zones, else empty.
        reason: Why there are no zones, or what speaks against them; may be empty.
        regions: Countries (`GB`) and US states (`US-FL`) whose rules may hold, in order.
        doubtful: Those of them that only the area code names while the account knows another state.
        line_type: `fixed`, `mobile` or `unknown`; in the North American plan the two share
            their numbers, so it is unknown there.
        parts: Parts of the country (ISO 3166-2, `ES-MD`) that its plan gives the first digits of a
            fixed line to; none where it gives them to no part, or nobody looked.
    """

    names: tuple[str, ...]
    source: str
    confidence: Confidence
    missing: str = ""
    reason: str = ""
    regions: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    line_type: str = NO_LINE
    parts: tuple[str, ...] = ()


def of_number(phone: str, state: str | Iterable[str] = ()) -> Zones:
    """Candidate zones of one number.

    Args:
        phone: E.164.
        state: State or states that the account knows of, as a code (`FL`, `US-FL`), a name or a
            ZIP code; what is none of these is ignored and said in `reason`. States are of the
            United States, so they are ignored for numbers of other numbering plans.

    Returns:
        The candidates; none for a toll-free, satellite or other number without a place, for a
        number that is not valid in its plan, and for text that is not E.164. A state gives zones
        to a number without a place, and never takes a zone away.
    """
    named = (state,) if isinstance(state, str) else tuple(state)
    match = NANP.fullmatch(phone)
    if match is not None:
        area = area_codes().get(match[1])
        if area is None or area.region in US_REGIONS:
            return _zones_in_united_states(area, match[1], match[2], named)
        return _neighbor(area, match[2])
    if E164.fullmatch(phone) and not phone.startswith("+1"):
        return _abroad(phone)
    return Zones((), "none", "none", NO_NUMBER, "to_number is not a whole E.164 number")


def states_by_number(
    states: Mapping[str, str] | pd.Series | None,
) -> dict[str, tuple[str, ...]]:
    """Everything that is said of each number's state, each once, in alphabetical order."""
    if states is None:
        return {}
    known: dict[str, set[str]] = {}
    for phone, state in states.items():
        if isinstance(phone, str) and isinstance(state, str) and state.strip():
            known.setdefault(phone, set()).add(state.strip())
    return {phone: tuple(sorted(values)) for phone, values in known.items()}


def unknown_states(states: Mapping[str, str] | pd.Series | None) -> list[str]:
    """Values that were given as states and are none, each once, in alphabetical order."""
    given = (
        ()
        if states is None
        else states.unique()
        if isinstance(states, pd.Series)
        else states.values()
    )
    named = {value.strip() for value in given if isinstance(value, str) and value.strip()}
    return sorted(value for value in named if state_code(value) is None)


def _zones_in_united_states(
    area: AreaCode | None, code: str, office: str, named: tuple[str, ...]
) -> Zones:
    codes = sorted({known for known in map(state_code, named) if known})
    of_area, parts, why = _of_area(area, code, office)
    reasons = [why, *(f"{odd!r} is not a US state" for odd in named if state_code(odd) is None)]
    # An overlay has the state of the code that it lies on.
    area_state = area.state if area is not None else ""
    if area is not None and area.overlay_of and not area_state:
        area_state = area_codes()[area.overlay_of].state
    zips = {state_code(each) for each in named if _ZIP.fullmatch(each.strip())}
    agrees = area_state in codes and area_state not in zips and bool(of_area)
    others = [known for known in codes if not (agrees and known == area_state)]
    of_state = {zone for known in others for zone in state_zones()[known]}
    regions = ("US", *sorted({f"US-{known}" for known in (*codes, area_state) if known}))
    # The number came along when its owner moved, or the account is wrong: both states' rules may hold.
    doubtful = (f"US-{area_state}",) if area_state and codes and area_state not in codes else ()
    if not of_area and not of_state:
        return Zones((), "none", "none", NO_ZONE, _sentence(reasons), regions)
    if of_area and of_state and not of_area & of_state and not agrees:
        reasons.append("area code and state disagree")
    parts += [f"state {known}" for known in codes]
    level: Confidence = "high" if agrees or of_area & of_state else "low" if of_state else "medium"
    names = tuple(sorted(of_area | of_state))
    return Zones(names, " + ".join(parts), level, "", _sentence(reasons), regions, doubtful)


def _of_area(area: AreaCode | None, code: str, office: str) -> tuple[set[str], list[str], str]:
    """Zones by area code, what they rest on, and why there are none."""
    if area is None:
        return set(), [], f"area code {code} is not in the table of area codes"
    if area.kind != "geographic":
        return set(), [], f"area code {code} is {area.kind} and has no place"
    names, parts = set(area.zones), ["area code"]
    if area.overlay_of:
        names |= set(area_codes()[area.overlay_of].zones)
        parts.append(f"overlay of {area.overlay_of}")
    office_zones = _of_office(code, office)
    if not office_zones <= names:
        parts.append("number")
    return names | office_zones, parts, ""


@lru_cache(maxsize=100_000)
def _of_office(code: str, office: str) -> frozenset[str]:
    national = int(f"{code}{office}0100")
    names = time_zones_for_geographical_number(
        PhoneNumber(country_code=1, national_number=national)
    )
    # All zones of a country are no evidence of a place in it.
    known = len(names) < _COUNTRY_WIDE
    # `Etc/Unknown` is what the library says of no place.
    return frozenset(zone for zone in names if known and zone != "Etc/Unknown")


def _neighbor(area: AreaCode, office: str) -> Zones:
    """A number of the North American plan outside the United States."""
    names, parts, why = _of_area(area, area.code, office)
    if not names:
        return Zones((), "none", "none", NO_ZONE, why, (area.region,))
    return Zones(
        tuple(sorted(names)), " + ".join(parts), "medium", "", why, regions=(area.region,)
    )


@lru_cache(maxsize=200_000)
def _abroad_case(region: str, kind: int, names: tuple[str, ...], parts: tuple[str, ...]) -> Zones:
    regions = tuple(dict.fromkeys((_WITHIN.get(region, region), region))) if region else ()
    line = _LINES.get(kind, NO_LINE)
    if not names:
        where = f" of {region}" if region else ""
        why = f"the number{where} has no place, or is not a number of its plan"
        return Zones((), "none", "none", NO_ZONE, why, regions, line_type=line)
    # Mobile numbers have no place but their country.
    placed = kind not in (PhoneNumberType.MOBILE, PhoneNumberType.UNKNOWN)
    level: Confidence = "high" if placed and len(names) == 1 else "medium"
    if kind == PhoneNumberType.UNKNOWN:
        level = "low"
    source = "number" if placed else f"country {region}"
    return Zones(names, source, level, "", "", regions, line_type=line, parts=parts)


def _abroad(phone: str) -> Zones:
    try:
        number = phonenumbers.parse(phone)
    except NumberParseException:
        why = "the number begins with no country code that is in use"
        return Zones((), "none", "none", NO_ZONE, why)
    kind = phonenumbers.number_type(number)
    region = phonenumbers.region_code_for_number(number)
    # `001` is a number of no country.
    if region is None or not region.isalpha():
        region = phonenumbers.region_code_for_country_code(number.country_code or 0)
    zones = time_zones_for_number(number)
    if kind == PhoneNumberType.UNKNOWN and phonenumbers.is_possible_number(number):
        # Of the right length and in no block that is assigned: it may be anywhere in its country.
        zones = TIMEZONE_DATA.get(str(number.country_code), ())
    fixed = kind == PhoneNumberType.FIXED_LINE
    more = _LEFT_OUT.get(phone[:4], ()) if fixed else ()
    names = tuple(sorted({*zones, *more} - {"Etc/Unknown"}))
    parts = _parts(phone) if fixed else ()
    return _abroad_case(region if region.isalpha() else "", kind, names, parts)


def _parts(phone: str) -> tuple[str, ...]:
    """Parts of its country that a fixed line's first digits are given to."""
    heads = (phone[1:6], phone[1:5])
    return next((parts for head in heads if (parts := _provinces().get(head))), ())


def _sentence(parts: Iterable[str]) -> str:
    return "; ".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class AreaCode:
    """One area code: what it is for, its region, its US state, its zones without its parent's."""

    code: str
    kind: str
    region: str
    state: str
    zones: tuple[str, ...]
    overlay_of: str


@cache
def area_codes() -> Mapping[str, AreaCode]:
    """Area codes of the North American plan, as packaged, zones without those of overlays."""
    rows = (
        AreaCode(row.pop("area_code"), zones=_split(row.pop("zones")), **row)
        for row in _rows("area_codes.csv")
    )
    return MappingProxyType({row.code: row for row in rows})


@cache
def state_zones() -> Mapping[str, tuple[str, ...]]:
    """Zones of each US state and territory by postal code."""
    return MappingProxyType({row["code"]: _split(row["zones"]) for row in _rows("us_states.csv")})


def state_code(text: str) -> str | None:
    """The postal code of a US state or territory, given as code, ISO 3166-2 code, name or ZIP code.

    A ZIP code is five digits, or nine with or without the dash; its first three name the state.
    """
    zip_code = _ZIP.fullmatch(text.strip())
    # ZIP codes: five digits, or nine (USPS, ZIP+4).
    if zip_code is not None:
        return _zips().get(zip_code[1])
    plain = re.sub(r"[^A-Z]+", " ", text.upper().removeprefix("US-")).strip()
    return _state_names().get(plain)


@cache
def _state_names() -> Mapping[str, str]:
    names = {row["code"]: row["code"] for row in _rows("us_states.csv")}
    for row in _rows("us_states.csv"):
        names[re.sub(r"[^A-Z]+", " ", row["name"].upper())] = row["code"]
    # Spellings that people use, beside the table's.
    names |= {"WASHINGTON DC": "DC", "WASHINGTON D C": "DC", "VIRGIN ISLANDS": "VI"}
    return MappingProxyType(names)


@cache
def _zips() -> Mapping[str, str]:
    states: dict[str, str] = {}
    for row in _rows("us_zips.csv"):
        for number in range(int(row["first"]), int(row["last"]) + 1):
            states[f"{number:03d}"] = row["state"]
    return MappingProxyType(states)


@cache
def _provinces() -> Mapping[str, tuple[str, ...]]:
    return MappingProxyType(
        {
            f"{row['code']}{head}": _split(row["parts"])
            for row in _rows("provinces.csv")
            for head in row["heads"].split()
        }
    )


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split("|")) if text else ()


def _rows(name: str) -> list[dict[str, str]]:
    data = resources.files("dialframe.phones") / "data" / name
    return list(csv.DictReader(data.read_text(encoding="utf-8").splitlines()))


Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

#: Stands for text that is no E.164 number, and for null.
NOT_E164: Final = -1

_NANP_FIRST: Final = 12_000_000_000
_NANP_LAST: Final = 19_999_999_999
_AREAS: Final = 800
#: The table of area codes holds the zones of every office, so that the area code alone decides.
_OF_AREA: Final = 10_000_000
_LONGEST: Final = 15
_SHORTEST: Final = 7
#: Leading digits from which the library reads a place and a kind.
_HEAD: Final = 9
_POWERS: Final = 10 ** np.arange(_LONGEST + 1, dtype=np.int64)
_PLUS: Final = ord("+")
_ZERO: Final = ord("0")
_NINE: Final = 9
#: The digits of a number (`phone`, an integer) that decide where it may be, for DuckDB: as `_group_by_prefix` takes them.
KEY_SQL: Final = f"""
    case when phone between {_NANP_FIRST} and {_NANP_LAST} then phone // {_OF_AREA}
      else phone // (10 ** greatest(length(phone::varchar) - {_HEAD}, 0))::bigint * 16 + length(phone::varchar) end"""
#: Rows at a time, so that what belongs to them stays in the processor's cache.
_BLOCK: Final = 1 << 15


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Placed:
    """Where each of many numbers may be.

    Attributes:
        codes: For each number a position in `kinds`, int32.
        kinds: The distinct places, in order of first use; at least one where there is a number.
    """

    codes: Codes
    kinds: tuple[Zones, ...]


def as_integers(phones: pd.Series) -> Ints:
    """E.164 text as integers without the plus, -1 for null and for anything else."""
    text = pa.array(phones, type=pa.large_string(), from_pandas=True)
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks()
    _, ends, body = text.buffers()
    count = len(text)
    bounds = np.frombuffer(ends, dtype=np.int64)[text.offset : text.offset + count + 1]
    data = np.frombuffer(body, dtype=np.uint8) if body is not None else np.zeros(0, np.uint8)
    numbers = np.asarray(_digits(bounds, data), dtype=np.int64)
    if text.null_count:
        numbers[np.asarray(text.is_null())] = NOT_E164
    return numbers


def as_text(number: int) -> str | None:
    """E.164 text of an integer that `as_integers` gave, None for -1."""
    return None if number == NOT_E164 else f"+{number}"


def place(phones: pd.Series | Ints, states: Mapping[str, str] | pd.Series | None = None) -> Placed:
    """Candidate zones and regions of many numbers.

    Args:
        phones: E.164 text, or integers as `as_integers` gives them.
        states: Number (E.164 text) to US state or ZIP code, where the account knows it. A series
            may name a number several times: every state counts.

    Returns:
        For each number, in the order given, what `zones.of_number` says of it. Text that is no
        E.164 number, and null, have a place of their own without zones.
    """
    numbers = as_integers(phones) if isinstance(phones, pd.Series) else phones
    # Twenty million numbers have a few thousand prefixes.
    heads, group = _group_by_prefix(numbers)
    known = states_by_number(states)
    if known:
        return _with_states(numbers, heads, group, known)
    kinds: dict[Zones, int] = {}
    table = np.array(
        [kinds.setdefault(_of(number), len(kinds)) for number in heads], dtype=np.int32
    )
    return Placed(table[group] if len(heads) else np.zeros(0, np.int32), tuple(kinds))


def _of(number: int, named: tuple[str, ...] = ()) -> Zones:
    return of_number(as_text(number) or "", named)


def _with_states(
    numbers: Ints, heads: list[int], group: Codes, known: Mapping[str, tuple[str, ...]]
) -> Placed:
    names = dict.fromkeys(known.values())
    order = {named: position + 1 for position, named in enumerate(names)}
    states_of = pd.Series({int(p[1:]): order[n] for p, n in known.items() if p[1:].isdigit()})
    places = (
        pd.Index(states_of.index).get_indexer(numbers)
        if len(states_of)
        else np.full(len(numbers), -1)
    )
    which = np.where(places >= 0, states_of.to_numpy()[places] if len(states_of) else 0, 0)
    pairs = group.astype(np.int64) * (len(names) + 1) + which
    codes, distinct = pd.factorize(pairs)
    states = [(), *names]
    kinds: dict[Zones, int] = {}
    table = np.array(
        [
            kinds.setdefault(
                _of(heads[pair // len(states)], states[pair % len(states)]), len(kinds)
            )
            for pair in distinct.tolist()
        ],
        dtype=np.int32,
    )
    return Placed(table[codes] if len(distinct) else np.zeros(0, np.int32), tuple(kinds))


def _group_by_prefix(numbers: Ints) -> tuple[list[int], Codes]:
    """One number of each prefix, in order of first use, and the prefix of each number."""
    group, first, others = _areas(numbers)
    heads = [int(numbers[row]) for row in first]
    if len(others):
        codes, distinct = pd.factorize(_keys(numbers[others]))
        group[others] = codes + len(heads)
        rows = np.full(len(distinct), len(numbers), dtype=np.int64)
        np.minimum.at(rows, codes, others)
        heads += [int(numbers[row]) for row in rows]
    return heads, group


def _digits(bounds: Ints, data: npt.NDArray[np.uint8]) -> Ints:
    """Integers of E.164 texts, one digit of all of them at a time."""
    starts, lengths = bounds[:-1], np.diff(bounds) - 1
    numbers = np.full(len(starts), NOT_E164, dtype=np.int64)
    rows = np.flatnonzero((lengths >= _SHORTEST) & (lengths <= _LONGEST))
    # E.164 has a plus in writing, and no calling code begins with 0 (ITU-T E.164 and E.123).
    rows = rows[(data[starts[rows]] == _PLUS) & (data[starts[rows] + 1] != _ZERO)]
    for first in range(0, len(rows), _BLOCK):
        block = rows[first : first + _BLOCK]
        at, left = starts[block] + 1, lengths[block]
        number, valid = np.zeros(len(block), np.int64), np.ones(len(block), np.bool_)
        for position in range(int(left.max(initial=0))):
            inside = position < left
            # Beyond its end a text is read at its first digit, and the digit is not used.
            digit = data[np.where(inside, at + position, at)] - np.uint8(_ZERO)
            valid &= digit <= _NINE
            number = np.where(inside, number * 10 + digit, number)
        numbers[block[valid]] = number[valid]
    return numbers


def _areas(numbers: Ints) -> tuple[Codes, Ints, Ints]:
    """Group numbers of the North American plan by area code; rows of others are given back."""
    american = (numbers >= _NANP_FIRST) & (numbers <= _NANP_LAST)
    rows = np.flatnonzero(american)
    # The three digits behind the 1.
    areas = (numbers[rows] - _NANP_FIRST) // _OF_AREA
    first = np.full(_AREAS, len(numbers), dtype=np.int64)
    np.minimum.at(first, areas, rows)
    by_first_use = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(numbers))]
    codes = np.zeros(_AREAS, dtype=np.int32)
    codes[by_first_use] = np.arange(len(by_first_use))
    group = np.zeros(len(numbers), dtype=np.int32)
    group[rows] = codes[areas]
    return group, first[by_first_use], np.flatnonzero(~american)


def _keys(numbers: Ints) -> Ints:
    """First digits and length of numbers as one integer, -1 for no number."""
    lengths = np.searchsorted(_POWERS, numbers, side="right")
    # With the length, since a shorter number of the same digits may be of another kind.
    heads = numbers // _POWERS[np.maximum(lengths - _HEAD, 0)]
    return np.where(numbers < 0, NOT_E164, heads * 16 + lengths)
