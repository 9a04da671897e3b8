"""Candidate time zones of a US number; knows area codes and states, not where a person is today.

An area code is evidence of a place, not the place: numbers are ported and travel with people. So
every zone that is possible is kept, and nothing here picks one. The candidates of a number are the
union of

- the zones of its whole area code (every central office code of it),
- for an overlay the zones of the code that it lies on, because the zone data is coarser for it
  (448 lies on 850, 364 on 270, 930 on 812, 458 on 541, 986 on 208), has none (729 on 423) or
  another one (689, of Orlando, on 407),
- what the phone number library says of the number itself,
- the zones of a state that the account knows, whole.

Tables: `data/area_codes.csv`, made from the phone number library over all central office codes
and held to it by a test; `data/us_states.csv`, legal time by state (49 CFR part 71).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final, Literal

import pandas as pd
from phonenumbers import PhoneNumber
from phonenumbers.timezone import time_zones_for_geographical_number

from dialframe.frames import custom_field

Confidence = Literal["high", "medium", "low", "none"]

#: Regions where the federal rules hold: the states with the District, and the territories.
US_REGIONS: Final = frozenset({"US", "PR", "VI", "GU", "MP", "AS"})

NANP: Final = re.compile(r"\+1([2-9][0-9]{2})([0-9]{3})[0-9]{4}")
E164: Final = re.compile(r"\+[1-9][0-9]{6,14}")

NO_NUMBER: Final = "to_number"
NO_ZONE: Final = "the number's time zone"
NO_RULES: Final = "the rules of the number's country"

# The library answers with every zone of the country code when it knows nothing narrower.
_COUNTRY_WIDE: Final = 10


@dataclass(frozen=True, slots=True)
class Zones:
    """Where a number may be.

    Attributes:
        names: Candidate IANA zones in alphabetical order; empty when there is none.
        source: What they rest on: `area code`, `overlay of NNN`, `number`, `state XX`, joined by
            ` + `, or `none`.
        confidence: `high` when area code and state share a zone, `medium` for an area code
            alone, `low` when they share none or only a state is known, `none` without zones.
        missing: The input that is missing when there are no zones, else empty.
        reason: Why there are no zones, or what speaks against them; may be empty.
    """

    names: tuple[str, ...]
    source: str
    confidence: Confidence
    missing: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AreaCode:
    """One area code of the North American plan: what it is for, its region, its zones."""

    code: str
    kind: str
    region: str
    zones: tuple[str, ...]
    overlay_of: str


def of_number(phone: str, state: str | Iterable[str] = ()) -> Zones:
    """Candidate zones of one number.

    Args:
        phone: E.164.
        state: State or states that the account knows of, as a code (`FL`, `US-FL`) or a name;
            what is not a US state is ignored and said in `reason`.

    Returns:
        The candidates; none for a number outside the United States, a toll-free or other number
        without a place, and for text that is not E.164. A state gives zones to a number without
        a place, and never takes a zone away.
    """
    named = (state,) if isinstance(state, str) else tuple(state)
    match = NANP.fullmatch(phone)
    if match is None:
        return _outside(phone)
    area = area_codes().get(match[1])
    if area is not None and area.region not in US_REGIONS:
        reason = f"area code {area.code} belongs to {area.region}, not to the United States"
        return Zones((), "none", "none", NO_RULES, reason)
    return _united_states(area, match[1], match[2], named)


def of_numbers(
    phones: Iterable[str], states: Mapping[str, str] | pd.Series | None = None
) -> dict[str, Zones]:
    """Candidate zones of many numbers; equal cases are looked up once.

    Args:
        phones: E.164, each once or more often.
        states: Number to state. A series may name a number several times: every state counts.

    Returns:
        One entry per distinct number.
    """
    known = _states_by_number(states)
    cases: dict[tuple[str, tuple[str, ...]], Zones] = {}
    found: dict[str, Zones] = {}
    for phone in phones:
        if phone in found:
            continue
        named = known.get(phone, ())
        case = (phone[:8] if NANP.fullmatch(phone) else phone, named)
        zones = cases.get(case)
        if zones is None:
            zones = cases[case] = of_number(phone, named)
        found[phone] = zones
    return found


def states_from(leads: pd.DataFrame, field: str) -> pd.Series:
    """What a custom field of the leads says about the state of each number.

    Args:
        leads: Frame of the leads table.
        field: Key inside `custom_fields`, `state` for instance.

    Returns:
        `str` series of the field, indexed by number, only where lead and number have one.
    """
    named = custom_field(leads, field)
    named.index = pd.Index(leads["phone"])
    return named[named.notna().to_numpy() & named.index.notna()]


def unknown_states(states: Mapping[str, str] | pd.Series | None) -> list[str]:
    """Values that were given as states and are none, each once, in alphabetical order."""
    named = {value for values in _states_by_number(states).values() for value in values}
    return sorted(value for value in named if state_code(value) is None)


def state_code(text: str) -> str | None:
    """The postal code of a US state or territory, given as code, ISO 3166-2 code or name."""
    plain = re.sub(r"[^A-Z]+", " ", text.upper().removeprefix("US-")).strip()
    return _state_names().get(plain)


@cache
def area_codes() -> Mapping[str, AreaCode]:
    """Area codes of the North American plan, as packaged, zones without those of overlays."""
    return MappingProxyType(
        {
            row["area_code"]: AreaCode(
                row["area_code"],
                row["kind"],
                row["region"],
                _split(row["zones"]),
                row["overlay_of"],
            )
            for row in _rows("area_codes.csv")
        }
    )


@cache
def state_zones() -> Mapping[str, tuple[str, ...]]:
    """Zones of each US state and territory by postal code."""
    return MappingProxyType({row["code"]: _split(row["zones"]) for row in _rows("us_states.csv")})


@cache
def _state_names() -> Mapping[str, str]:
    names = {row["code"]: row["code"] for row in _rows("us_states.csv")}
    for row in _rows("us_states.csv"):
        names[re.sub(r"[^A-Z]+", " ", row["name"].upper())] = row["code"]
    # Spellings that people use, beside the table's.
    names |= {"WASHINGTON DC": "DC", "WASHINGTON D C": "DC", "VIRGIN ISLANDS": "VI"}
    return MappingProxyType(names)


def _united_states(area: AreaCode | None, code: str, office: str, named: tuple[str, ...]) -> Zones:
    codes = sorted({known for known in map(state_code, named) if known})
    of_state = {zone for known in codes for zone in state_zones()[known]}
    of_area, parts, why = _of_area(area, code, office)
    said = [why, *(f"{odd!r} is not a US state" for odd in named if state_code(odd) is None)]
    if not of_area and not of_state:
        return Zones((), "none", "none", NO_ZONE, _sentence(said))
    if of_area and of_state and not of_area & of_state:
        said.append("area code and state disagree")
    parts += [f"state {known}" for known in codes]
    level: Confidence = "medium" if not of_state else "high" if of_area & of_state else "low"
    return Zones(tuple(sorted(of_area | of_state)), " + ".join(parts), level, "", _sentence(said))


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
    own = _of_office(code, office)
    if not own <= names:
        parts.append("number")
    return names | own, parts, ""


def _of_office(code: str, office: str) -> set[str]:
    national = int(f"{code}{office}0100")
    found = time_zones_for_geographical_number(
        PhoneNumber(country_code=1, national_number=national)
    )
    known = len(found) < _COUNTRY_WIDE
    return {zone for zone in found if known and zone != "Etc/Unknown"}


def _outside(phone: str) -> Zones:
    if E164.fullmatch(phone) and not phone.startswith("+1"):
        reason = "the number is not of the United States"
        return Zones((), "none", "none", NO_RULES, reason)
    return Zones((), "none", "none", NO_NUMBER, "to_number is not a whole E.164 number")


def _states_by_number(states: Mapping[str, str] | pd.Series | None) -> dict[str, tuple[str, ...]]:
    if states is None:
        return {}
    known: dict[str, set[str]] = {}
    for phone, state in states.items():
        if isinstance(phone, str) and isinstance(state, str) and state.strip():
            known.setdefault(phone, set()).add(state.strip())
    return {phone: tuple(sorted(values)) for phone, values in known.items()}


def _sentence(parts: Iterable[str]) -> str:
    return "; ".join(part for part in parts if part)


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split("|")) if text else ()


def _rows(name: str) -> list[dict[str, str]]:
    data = resources.files("dialframe.compliance") / "data" / name
    return list(csv.DictReader(data.read_text(encoding="utf-8").splitlines()))
