"""The table of area codes, held to the phone-number package that it was computed from."""

from __future__ import annotations

import functools
from collections import defaultdict
from zoneinfo import ZoneInfo

import phonenumbers
import pytest
from phonenumbers import PhoneNumber, PhoneNumberType
from phonenumbers.timezone import time_zones_for_number
from phonenumbers.tzdata import TIMEZONE_DATA

from dialframe.sandbox.seed.people_and_calendar import (
    LOCAL_CODES,
    ONE_ZONE,
    REGISTRY_BLOCKS,
    SEVERAL_ZONES,
    STRADDLING,
    ZONES,
    Place,
)
from rows import every_row

CODES = {place.code: place for place in ONE_ZONE}
SAMPLE = [*ONE_ZONE[::12], *(CODES[code] for code in LOCAL_CODES)]
# Codes with one zone and a larger neighbor in the same state that has another.
TRICKY = [CODES[code] for code in ("915", "865", "502", "231", "503", "702", "317", "904")]


@functools.cache
def exchanges_apart() -> dict[str, set[str]]:
    """By area code, the beginnings of exchanges that the package tells apart."""
    apart: dict[str, set[str]] = defaultdict(set)
    for prefix in map(str, TIMEZONE_DATA):
        if prefix.startswith("1") and len(prefix) > 4:
            apart[prefix[1:4]].add(prefix[4:7])
    return apart


def exchanges_of(code: str) -> list[str]:
    """Exchanges of an area code that the package tells apart, and one that stands for all others."""
    named = exchanges_apart().get(code, set())
    exchanges = [str(number) for number in range(200, 1_000)]
    apart = [each for each in exchanges if {each, each[:2], each[:1]} & named]
    return apart + [each for each in exchanges if each not in apart][:1]


def zones_of(code: str) -> set[str]:
    """Every zone that the package gives for any exchange of an area code."""
    found: set[str] = set()
    for exchange in exchanges_of(code):
        number = PhoneNumber(country_code=1, national_number=int(f"{code}{exchange}0142"))
        found.update(time_zones_for_number(number))
    return found


@every_row("place", [*SAMPLE, *TRICKY])
def test_one_zone_codes_have_one_zone(place: Place) -> None:
    """Every exchange of an ordinary area code is in the one zone of the table."""
    assert zones_of(place.code) == set(place.zones)
    assert len(place.zones) == 1


@pytest.mark.parametrize("place", SEVERAL_ZONES, ids=lambda place: place.code)
def test_several_zone_codes_have_those_zones(place: Place) -> None:
    """The zones of a straddling area code are all that the package knows, and more than one."""
    assert zones_of(place.code) == set(place.zones)
    assert len(place.zones) > 1


@every_row("place", [*ONE_ZONE, *SEVERAL_ZONES])
def test_fictional_lines_are_valid_us_numbers(place: Place) -> None:
    """The 555 lines of every code are valid geographic numbers of the United States."""
    number = phonenumbers.parse(f"+1{place.code}5550142")
    assert phonenumbers.is_valid_number(number)
    assert phonenumbers.region_code_for_number(number) == "US"
    assert phonenumbers.number_type(number) == PhoneNumberType.FIXED_LINE_OR_MOBILE


@pytest.mark.parametrize(
    ("code", "state"),
    [
        ("212", "NY"),
        ("312", "IL"),
        ("808", "HI"),
        ("202", "DC"),
        ("206", "WA"),
        ("915", "TX"),
        ("480", "AZ"),
        ("801", "UT"),
        ("504", "LA"),
        ("401", "RI"),
    ],
)
def test_states(code: str, state: str) -> None:
    """Well-known area codes are in their states."""
    assert CODES[code].state == state


def test_codes_are_distinct_and_many() -> None:
    """There are more than 300 ordinary codes, none twice and none among the straddling ones."""
    codes = [place.code for place in (*ONE_ZONE, *SEVERAL_ZONES)]
    assert len(codes) == len(set(codes))
    assert len(ONE_ZONE) > 300
    assert set(LOCAL_CODES) <= CODES.keys()
    assert set(STRADDLING) <= {place.code for place in SEVERAL_ZONES}


def test_zones_exist() -> None:
    """Every zone of the table is known to the time-zone data."""
    assert [ZoneInfo(zone).key for zone in ZONES] == list(ZONES)


def test_registry_blocks_are_fictional() -> None:
    """The documented listed numbers are a hundred reserved fictional lines, 0190 to 0199."""
    assert len(set(REGISTRY_BLOCKS)) == 100
    assert all(phone[5:10] == "55501" and phone[10] == "9" for phone in REGISTRY_BLOCKS)
