"""Lists of contacts of forty countries as firms there write them, with the E.164 of every record."""

from __future__ import annotations

import csv
import random
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import phonenumbers
from phonenumbers import PhoneNumberFormat, PhoneNumberType


class Country(NamedTuple):
    """How lists of a country look.

    Attributes:
        headers: Reference, first name, last name, street, post code, city, mobile, landline, mail; `-` where
            lists there have none.
        streets: Streets with numbers.
        post_codes: Post codes.
        cities: Cities.
        domain: Ending of mail domains.
        form: How numbers are written: `n` national, `d` digits alone, `z` without the trunk zero as a
            spreadsheet leaves them.
    """

    headers: tuple[str, ...]
    streets: tuple[str, ...]
    post_codes: tuple[str, ...]
    cities: tuple[str, ...]
    domain: str
    form: str


def _countries() -> dict[str, Country]:
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        return {
            row["region"]: Country(
                tuple(row["headers"].split(";")),
                *(tuple(row[name].split("/")) for name in ("streets", "post_codes", "cities")),
                row["domain"],
                row["form"],
            )
            for row in csv.DictReader(file, delimiter="|")
        }


COUNTRIES: Final = _countries()
_FIRST: Final = ("Kim", "Alex", "Robin", "Sam", "Noa")
_LAST: Final = ("Lee", "Marin", "Novak", "Costa", "Stein", "Park")


class MadeList(NamedTuple):
    """A list as text, and which numbers each of its records has.

    Attributes:
        text: The list as CSV, parted by semicolons.
        numbers: E.164 of each record, in order.
    """

    text: str
    numbers: tuple[frozenset[str], ...]

    @property
    def every(self) -> frozenset[str]:
        """Every number of the list."""
        return frozenset[str]().union(*self.numbers)


@cache
def numbers(region: str, count: int, kind: int) -> tuple[phonenumbers.PhoneNumber, ...]:
    """Numbers that differ from the example of the plan in their last digits."""
    rng = random.Random(f"{region}{kind}")
    example = phonenumbers.example_number_for_type(region, kind)
    assert example is not None
    base = str(example.national_number)
    found: list[phonenumbers.PhoneNumber] = []
    while len(found) < count:
        number = phonenumbers.PhoneNumber(
            country_code=example.country_code,
            national_number=int(base[:-4] + f"{rng.randrange(10_000):04}"),
            italian_leading_zero=example.italian_leading_zero,
        )
        if phonenumbers.is_valid_number(number):
            found.append(number)
    return tuple(found)


def _written(number: phonenumbers.PhoneNumber, form: str) -> str:
    """The number as lists of the country write it."""
    national = phonenumbers.format_number(number, PhoneNumberFormat.NATIONAL)
    if form == "n":
        return national
    digits = "".join(char for char in national if char.isdigit())
    return digits.removeprefix("0") if form == "z" else digits


def _e164(number: phonenumbers.PhoneNumber) -> str:
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


@cache
def made_list(region: str, rows: int = 40) -> MadeList:
    """A list of the country: names, address, both kinds of numbers, mails."""
    rng = random.Random(region)
    country = COUNTRIES[region]
    shown = [at for at, header in enumerate(country.headers) if header != "-"]
    mobiles = numbers(region, rows, PhoneNumberType.MOBILE)
    fixed = numbers(region, rows, PhoneNumberType.FIXED_LINE)
    lines = [";".join(country.headers[at] for at in shown)]
    for at in range(rows):
        first, last = _FIRST[at % len(_FIRST)], _LAST[at % len(_LAST)]
        cells = (
            f"{region}-{1000 + 7 * at}",
            first,
            last,
            rng.choice(country.streets),
            rng.choice(country.post_codes),
            rng.choice(country.cities),
            _written(mobiles[at], country.form),
            _written(fixed[at], country.form),
            f"{first.lower()}.{last.lower()}{at}@{rng.choice(('firma', 'shop', 'mail'))}{at}."
            + country.domain,
        )
        lines.append(";".join(cells[each] for each in shown))
    every = tuple(
        frozenset({_e164(mobile), _e164(line)})
        for mobile, line in zip(mobiles, fixed, strict=True)
    )
    return MadeList("\n".join(lines) + "\n", every)


@cache
def made_bare(region: str, rows: int = 40, form: str = "n", names: bool = True) -> MadeList:
    """English headers and nothing but mobile numbers, with names or without."""
    mobiles = numbers(region, rows, PhoneNumberType.MOBILE)
    cells = [_written(mobile, form) for mobile in mobiles]
    lines = [
        f"Kim Lee {chr(65 + at % 26)};{cell}" if names else cell for at, cell in enumerate(cells)
    ]
    header = "Name;Phone" if names else "Phone"
    return MadeList(
        "\n".join([header, *lines]) + "\n", tuple(frozenset({_e164(each)}) for each in mobiles)
    )


def national_list(region: str, rows: int = 40) -> str:
    """A list of the country as text."""
    return made_list(region, rows).text


def bare_list(region: str, rows: int = 40) -> str:
    """A list of names and numbers alone as text."""
    return made_bare(region, rows).text
