"""Area codes of the North American plan and states of the United States, as packaged tables.

Tables: `data/area_codes.csv`, made from the phone number library over all central office codes
(zones, region, and the state that its geocoder names most often) and held to it by a test;
`data/us_states.csv`, legal time by state (49 CFR part 71); `data/us_zips.csv`, the first three
digits of ZIP codes by state.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final

#: Regions where the federal rules hold: the states with the District, and the territories.
US_REGIONS: Final = frozenset({"US", "PR", "VI", "GU", "MP", "AS"})

_ZIP: Final = re.compile(r"(\d{3})\d{2}(?:-?\d{4})?")


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
    rows = {
        row["area_code"]: AreaCode(
            row["area_code"],
            row["kind"],
            row["region"],
            row["state"],
            _split(row["zones"]),
            row["overlay_of"],
        )
        for row in _rows("area_codes.csv")
    }
    return MappingProxyType(rows)


@cache
def state_zones() -> Mapping[str, tuple[str, ...]]:
    """Zones of each US state and territory by postal code."""
    return MappingProxyType({row["code"]: _split(row["zones"]) for row in _rows("us_states.csv")})


def state_code(text: str) -> str | None:
    """The postal code of a US state or territory, given as code, ISO 3166-2 code, name or ZIP code.

    A ZIP code is five digits, or nine with or without the dash; its first three name the state.
    """
    zip_code = _ZIP.fullmatch(text.strip())
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


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split("|")) if text else ()


def _rows(name: str) -> list[dict[str, str]]:
    data = resources.files("dialframe.phones") / "data" / name
    return list(csv.DictReader(data.read_text(encoding="utf-8").splitlines()))
