"""The country of a list's national numbers: each number's own, a column's, the one that is given, or a question.

A number without a country code is a number of any country whose plan it fits, and most plans fit others' numbers
too, so that no country is inferred. What a person gives holds where the numbers fit its plan; that they fit others
as well is said and changes nothing. It is refused on hard evidence alone: most numbers are none of its plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final, Literal

import phonenumbers

from dialframe.errors import LeadFileError, OpenQuestion
from dialframe.leads.cells import is_nothing, tidy, unwrapped
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.country_names import (
    ColumnDoubt,
    country_name,
    named_regions,
    read_region,
)
from dialframe.leads.columns.header_match import header_score, is_not_phone
from dialframe.leads.columns.split_phones import phone_columns
from dialframe.leads.lead_file import LeadFile
from dialframe.phones import check_region
from dialframe.phones.legacy_prefixes import rewritten
from dialframe.phones.parse_number import as_typed, has_lost_digits, phone_parts
from dialframe.phones.vectorized import NO_NUMBER, are_valid, line_types

#: Where a region comes from: the caller, the records themselves (`+`, or a column of countries), or nowhere yet.
Source = Literal["given", "records", "open"]

_CODES: Final = {
    region: code
    for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()
    for region in regions
    if region in phonenumbers.SUPPORTED_REGIONS
}
_SAMPLE_ROWS: Final = 2000
#: Numbers that are compared with the given plan, and with all others.
_SAMPLE_NUMBERS: Final = 400
_COMPARED_NUMBERS: Final = 60
_LEAST_DIGITS: Final = 6
_MOST_DIGITS: Final = 15
_PHONE_LIKE_SHARE: Final = 0.6
#: From this share of valid numbers on, a given region is taken without a word of doubt; below the other it is refused.
_FITS: Final = 0.9
_HARDLY_FITS: Final = 0.5
#: Fewer numbers prove nothing against a person's word.
_PROVES: Final = 8
#: Share of the numbers without a code of their own up to which nobody is asked: those few are rejected one by one.
_FEW_OPEN: Final = 0.2
_NAMED: Final = 3
#: Share of the numbers of a column that have a trunk zero, from which its writers write it.
_KEEPS_ZERO: Final = 0.1
#: Of plans that fit alike, the one of more lists comes first in a question.
_FIRST: Final = (
    *("US", "GB", "DE", "FR", "ES", "IT", "BR", "MX", "IN", "CA", "AU", "NL", "PL", "JP", "CN"),
    *("KR", "SE", "PT", "BE", "CH", "AT", "IE"),
)

_NUMBER: Final = re.compile(r"[\d\s().\-/'\"=\u00a0]{6,40}")
_OWN_CODE: Final = re.compile(r"[\s'\"=(]{0,4}(?:\+|00[1-9])")
#: The first number of a text: no digit of an extension behind it, nor of words around it.
_WRITTEN: Final = re.compile(r"[+(]*\d(?:[\s().\-/]{0,4}\d){5,}")
_LONGEST_CELL: Final = 120
_DIGITS: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class RegionCandidate:
    """A country that the numbers of a list fit.

    Attributes:
        region: ISO 3166 code.
        fit: Share of the national numbers that are valid in its plan, 0 to 1.
    """

    region: str
    fit: float

    def __str__(self) -> str:
        return f"{country_name(self.region)} {self.region} ({self.fit:.0%})"


@dataclass(frozen=True, slots=True)
class RegionDecision:
    """The region of the numbers of one list that are written without a country code.

    Attributes:
        name: The file.
        region: The region to read them with; None where none is needed or none is known.
        source: `given`, `records` (every number has its own country), or `open`.
        numbers: How many distinct national numbers were looked at.
        candidates: Countries whose plan they fit, the given one first, then the best.
        against: Why the given region is refused, or None.
    """

    name: str
    region: str | None
    source: Source
    numbers: int
    candidates: tuple[RegionCandidate, ...] = ()
    against: str | None = None

    @property
    def is_open(self) -> bool:
        """Whether somebody has to say the region before the list can be cleaned."""
        return self.source == "open"

    @property
    def fit(self) -> float:
        """Share of the national numbers that are valid in the region, 1 where there are none."""
        return next((each.fit for each in self.candidates if each.region == self.region), 1.0)

    def in_words(self) -> str:
        """The decision in a sentence, with its share and what else fits."""
        if self.source == "records":
            return "every number says its own country"
        if self.is_open:
            return self.why()
        words = f"{country_name(self.region or '')} ({self.region}) as given"
        if not self.numbers:
            return words
        words += f"; {self.fit:.0%} of them fit its plan"
        if self.fit < _FITS:
            words += " - look at this"
        others = [str(each) for each in self.candidates if each.region != self.region][:_NAMED]
        return words + (f", they fit {', '.join(others)} too" if others else "")

    def why(self) -> str:
        """Why nothing is cleaned yet, and what to say."""
        if self.against is not None:
            return self.against
        fits = ", ".join(map(str, self.candidates[: 2 * _NAMED]))
        return (
            f"{self.name} does not say of which country its numbers are; say it with --region and a "
            "code or name" + (f" (they fit {fits})" if fits else "")
        )

    def settled(self, *, force: bool = False) -> str | None:
        """The region to read national numbers with.

        Args:
            force: Take the given region although the numbers are none of its plan.

        Returns:
            The region, or None where every number says its own country.

        Raises:
            OpenQuestion: No region is known.
            LeadFileError: The given one is refused.
        """
        if self.is_open:
            raise OpenQuestion(self.why())
        if self.against is not None and not force:
            raise LeadFileError(self.why())
        return self.region

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain values, for a report."""
        return {
            "region": self.region,
            "source": self.source,
            "numbers": self.numbers,
            "fit": round(self.fit, 3),
            "against": self.against,
            "candidates": [
                {"region": candidate.region, "fit": round(candidate.fit, 3)}
                for candidate in self.candidates[: 2 * _NAMED]
            ],
        }


def given_region(text: str | None) -> str | None:
    """The ISO code of a region as a person writes it: a code, a name, `USA`, `+44`.

    Raises:
        ConfigError: No such region is known.

    Example:
        >>> given_region("USA"), given_region("Deutschland"), given_region("gb")
        ('US', 'DE', 'GB')
    """
    if text is None or text in phonenumbers.SUPPORTED_REGIONS:
        return text
    return read_region(text) or check_region(text)


def decide_region(
    file: LeadFile, given: str | None = None, columns: ColumnMap | None = None
) -> RegionDecision:
    """Of which country the numbers of a list are that do not say it themselves.

    Args:
        file: The file, or a sample of its rows.
        given: The region that the caller gives (code or name), or None.
        columns: Its columns by field; None to find the columns of phones by their headers.

    Returns:
        The decision; `settled` gives the region or says what is missing.

    Raises:
        ConfigError: The given region is unknown.

    Example:
        decision = dialframe.leads.decide_region(dialframe.leads.read("autumn.csv"), "US")
    """
    # A region that does not exist is a mistake of the caller, and said before anything is read.
    known = given_region(given)
    sample = file.sample(_SAMPLE_ROWS)
    phones = _phones(sample, columns)
    if known:  # what stands under the name of another country is not read with the region given
        phones = {name: cells for name, cells in phones.items() if named_regions(name) <= {known}}
    country = None if columns is None else columns.country
    if country is not None:
        # Rows whose country a column says need none.
        silent = [is_nothing(tidy(cell)) for cell in sample.cells(country)]
        phones = {name: list(compress(cells, silent)) for name, cells in phones.items()}
    national, abroad = _split(phones.values())
    if not national:
        return RegionDecision(file.name, known, "given" if known else "records", 0)
    numbers = national[:: max(1, -(-len(national) // _SAMPLE_NUMBERS))]
    others = _fitting(numbers[:: max(1, -(-len(numbers) // _COMPARED_NUMBERS))])
    if known is None:
        few = len(national) <= _FEW_OPEN * (len(national) + len(abroad))
        source: Source = "records" if few else "open"
        return RegionDecision(file.name, None, source, len(national), others)
    fit = _fit(numbers, [known], [known])[known]
    same = calling_code(known)
    candidates = (
        RegionCandidate(known, fit),
        *(each for each in others if calling_code(each.region) != same),
    )
    against = _against(file.name, known, fit, len(national), abroad)
    return RegionDecision(file.name, known, "given", len(national), candidates, against)


def _against(name: str, given: str, fit: float, numbers: int, abroad: Sequence[str]) -> str | None:
    """Why a given region is refused: most numbers are none of it, or have the code of another country."""
    code = f"{calling_code(given)}"
    foreign = sum(not re.sub(r"\D", "", text).lstrip("0").startswith(code) for text in abroad)
    insist = f"check --region, or insist with --region {given} --force-region"
    if numbers >= _PROVES and fit < _HARDLY_FITS:
        return f"{name}: {fit:.0%} of its numbers fit the plan of {country_name(given)} ({given}); {insist}"
    if fit < _FITS and foreign >= max(_PROVES, numbers):
        return (
            f"{name}: {foreign:,} of its numbers have the code of another country than "
            f"{country_name(given)} ({given}), and {fit:.0%} of the others fit its plan; {insist}"
        )
    return None


def column_doubts(file: LeadFile, columns: ColumnMap) -> dict[str, ColumnDoubt]:
    """What speaks against reading numbers of the phone columns in the region of their record.

    Args:
        file: The list, or a sample of its rows.
        columns: Its columns by field.
    """
    sample = file.sample(_SAMPLE_ROWS)
    # A second number is noted, and dialed by whoever reads the note.
    phones = phone_columns(sample, columns.phone, columns.joined)
    if columns.phone_other is not None:
        phones[columns.phone_other] = sample.cells(columns.phone_other)
    doubts = {}
    for name, cells in phones.items():
        national = [
            digits
            for cell in cells
            if not _OWN_CODE.match(cell)
            and len(digits := "".join(_DIGITS.findall(cell[:60]))) >= _LEAST_DIGITS
        ]
        # `00` dials abroad; a trunk prefix is one digit in nearly all plans.
        zeros = sum(digits[0] == "0" != digits[1] for digits in national)
        keeps_zero = zeros >= max(1.0, _KEEPS_ZERO * len(national))
        # A joined number has its area from a column of its own.
        doubt = ColumnDoubt(named_regions(name), keeps_zero and name not in columns.joined)
        if any(doubt):
            doubts[name] = doubt
    return doubts


def calling_code(region: str) -> int:
    """The calling code of a region, 0 of what is none; without loading what is known of its numbers."""
    return _CODES.get(region, 0)


# ---- the numbers


def _phones(file: LeadFile, columns: ColumnMap | None) -> dict[str, list[str]]:
    """The columns of phones, by the map, or by their headers and the form of their cells."""
    if columns is not None:
        return phone_columns(file, columns.phone, columns.joined)
    named: dict[str, list[str]] = {}
    alike: dict[str, list[str]] = {}
    for name in file.names:
        # Faxes and account numbers follow plans of their own.
        if is_not_phone(name):
            continue
        every = file.cells(name)
        cells = [cell for cell in every if cell.strip()]
        like = [
            cell
            for cell in cells
            if _NUMBER.fullmatch(cell) and 7 <= len(_DIGITS.findall(cell)) <= _MOST_DIGITS
        ]
        if header_score(name, "phone") > 0:
            named[name] = every
        elif len(like) >= _PHONE_LIKE_SHARE * max(1, len(cells)) and (
            len(set(cells)) > len(cells) / 2
        ):
            alike[name] = every
    # Where a header names phones, other columns of digits are ids.
    return named or alike


def _split(phones: Iterable[Sequence[str]]) -> tuple[list[str], list[str]]:
    """Distinct numbers without and with a country code of their own."""
    national: dict[str, None] = {}
    abroad: dict[str, None] = {}
    for column in phones:
        for cell in column:
            for text in _numbers_in_cell(cell):
                (abroad if _OWN_CODE.match(text) else national)[text] = None
    return list(national), list(abroad)


def _numbers_in_cell(cell: str) -> Iterator[str]:
    """The numbers of a cell as they are typed, in it alone or beside words and other numbers."""
    text = as_typed(unwrapped(cell[:_LONGEST_CELL]))
    # What a spreadsheet rounded is a number of no plan, and speaks for none.
    if has_lost_digits(text):
        return
    # Fifteen digits are the most of one number (ITU-T E.164, 6.1), so more of them are several.
    is_one = len(_DIGITS.findall(text)) <= _MOST_DIGITS
    for part in [text] if is_one else phone_parts(text):
        match = _WRITTEN.search(part)
        if match and _LEAST_DIGITS <= len(_DIGITS.findall(match[0])) <= _MOST_DIGITS:
            yield match[0].strip()


def _fit(
    numbers: Sequence[str],
    regions: Sequence[str],
    again: Collection[str] = (),
    ask: Callable[[Sequence[str], Sequence[str]], list[bool]] = are_valid,
) -> dict[str, float]:
    """Share of the numbers that each plan has.

    Args:
        numbers: Numbers without a country code.
        regions: The plans.
        again: Those of which numbers with a lost trunk zero or a prefix of old count, too.
        ask: Says of each text whether the plan beside it has it.
    """
    plans = [region for region in regions for _ in numbers]
    texts = list(numbers) * len(regions)
    valid = ask(texts, plans)
    others = {
        at: other
        for at, is_valid in enumerate(valid)
        if not is_valid and plans[at] in again and (other := _other_form(texts[at], plans[at]))
    }
    new = ask(list(others.values()), [plans[at] for at in others])
    for at, is_valid in zip(others, new, strict=True):
        valid[at] = is_valid
    count = len(numbers)
    return {
        region: sum(valid[at * count : (at + 1) * count]) / count
        for at, region in enumerate(regions)
    }


def _may_be_valid(texts: Sequence[str], regions: Sequence[str]) -> list[bool]:
    """Whether the tables leave it open, or know, that each text is a valid number."""
    may_be: list[bool] = (line_types(texts, regions) != NO_NUMBER).tolist()
    return may_be


def _other_form(number: str, region: str) -> str | None:
    if new := rewritten(number, region):
        return new
    return f"0{number}" if number.isdigit() and number[0] != "0" else None


def _fitting(sample: Sequence[str]) -> tuple[RegionCandidate, ...]:
    """Countries whose plan most of the numbers fit, one for each calling code, the best first."""
    mains = [regions[0] for regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.values()]
    plans = list(dict.fromkeys([*filter(_CODES.__contains__, mains), *_FIRST]))
    # Tables rule out nearly all; what they leave open is asked of the plan itself, which takes long to load.
    possible = _fit(sample, plans, _FIRST, _may_be_valid)
    fit = _fit(sample, [region for region in plans if possible[region] >= _FITS], _FIRST)
    places = {region: at for at, region in enumerate((*_FIRST, *sorted(_CODES)))}
    ordered = sorted(fit, key=lambda region: (-fit[region], places[region]))
    return tuple(
        RegionCandidate(region, fit[region]) for region in ordered if fit[region] >= _FITS
    )
