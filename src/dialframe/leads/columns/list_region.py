"""The country of a list's national numbers: what is given, what the list says, and what speaks against it.

A number without a country code is a number of any country whose plan it fits, and most plans fit
others' numbers too: all of a Colombian list is valid in the United States. So a country is taken
from the numbers alone only where no other plan fits them, and otherwise only where the rest of the
list speaks for it (mail domains, cities, post codes, words and language of headers) and for no other
country whose plan fits. `region_evidence.toml` has the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
import phonenumbers

from dialframe.errors import LeadFileError
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.country_names import (
    ColumnDoubt,
    country_name,
    named_regions,
    read_region,
)
from dialframe.leads.columns.header_match import header_score, is_not_phone
from dialframe.leads.columns.region_signs import (
    Weights,
    economy_of,
    grouped_share,
    is_confused,
    is_usual,
    lead,
    shares_elsewhere,
    weigh,
)
from dialframe.leads.columns.split_phones import phone_columns
from dialframe.leads.lead_file import LeadFile
from dialframe.leads.names_and_emails import is_nothing, tidy, unwrapped
from dialframe.phones import check_region
from dialframe.phones.parse_number import as_typed, has_lost_digits, phone_parts
from dialframe.phones.plan_likelihood import plan_fits
from dialframe.phones.vectorized import are_valid

#: Where a region comes from: the caller, the records themselves (`+`, or a column of countries),
#: the evidence of the list, or nowhere yet.
Source = Literal["given", "records", "inferred", "open"]

_CODES: Final = {
    region: code
    for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()
    for region in regions
    if region in phonenumbers.SUPPORTED_REGIONS
}
_SAMPLE_ROWS: Final = 2000
_SAMPLE_NUMBERS: Final = 80
_LEAST_DIGITS: Final = 6
_MOST_DIGITS: Final = 15
_PHONE_LIKE_SHARE: Final = 0.6
#: A plan fits where so many of the numbers are valid in it; a true list has a few bad ones.
_FITS: Final = 0.8
_ALONE_UNAIDED: Final = 30
_SOME_NUMBERS: Final = 8
_FEW_NUMBERS: Final = 3
_SOME_NAMED: Final = 3
_SHOWN: Final = 4
_NAMED: Final = 6
#: Share of the records of a second country from which a list is of both, and how many they are at least.
_SECOND: Final = 0.1
_SECOND_RECORDS: Final = 2
_SECOND_NUMBERS: Final = 3
#: Share of the numbers of a column that have a trunk zero, from which its writers write it.
_KEEPS_ZERO: Final = 0.1

_NUMBER: Final = re.compile(r"[\d\s().\-/'\"=\u00a0]{6,40}")
_OWN_CODE: Final = re.compile(r"[\s'\"=(]{0,4}(?:\+|00[1-9])")
#: The first number of a text: no digit of an extension behind it, nor of words around it.
_WRITTEN: Final = re.compile(r"[+(]*\d(?:[\s().\-/]{0,4}\d){5,}")
_LONGEST_CELL: Final = 120
_DIGITS: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class RegionCandidate:
    """A country that the numbers of a list may be of.

    Attributes:
        region: ISO 3166 code.
        fit: Share of the national numbers that are valid in its plan, 0 to 1.
        weight: What else of the list speaks for it; 2 is as much as one kind of evidence that
            only one country has.
        evidence: That evidence in words.
        likely: Natural logarithm of how likely the list is one of it; for comparison within a list.
    """

    region: str
    fit: float
    weight: float
    evidence: tuple[str, ...] = ()
    likely: float = 0.0

    def __str__(self) -> str:
        because = f" ({'; '.join(self.evidence)})" if self.evidence else ""
        return f"{country_name(self.region)} {self.region}, {self.fit:.0%} of the numbers{because}"


@dataclass(frozen=True, slots=True)
class RegionDecision:
    """The region of the numbers of one list that are written without a country code.

    Attributes:
        name: The file.
        region: The region to read them with; None where none is needed or none is known.
        source: `given`, `records` (every number has its own country), `inferred`, or `open`.
        numbers: How many distinct national numbers were looked at.
        candidates: Countries that they may be of, the likeliest first.
        against: Why the list plainly is of another country than the given one, or None.
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

    def in_words(self) -> str:
        """The decision in a sentence, with its share and its evidence."""
        if self.source == "records":
            return "every number says its own country"
        if self.source == "given":
            return f"{country_name(self.region or '')} ({self.region}) as given{self._proviso()}"
        if self.source == "inferred":
            code = calling_code(self.candidates[0].region)
            rivals = (each for each in self.candidates[1:] if calling_code(each.region) != code)
            rival = "no other country fits"
            if (next_best := next(rivals, None)) is not None:
                rival = f"next best {country_name(next_best.region)} with {next_best.fit:.0%}"
            return f"{self.candidates[0]}, by what the list says; {rival}"
        return self.why()

    def why(self) -> str:
        """Why nothing is cleaned yet, and what to say."""
        if self.against is not None:
            return self.against
        best = "; ".join(map(str, self.candidates[:_SHOWN]))
        named = f": it may be {best}" if best else ""
        code = self.candidates[0].region if self.candidates else "GB"
        return (
            f"{self.name} does not say of which country its numbers are{named}; say it with "
            f"--region, as in --region {code}"
        )

    def settled(self, *, force: bool = False) -> str | None:
        """The region to read national numbers with.

        Args:
            force: Take the given region although the list speaks against it.

        Returns:
            The region, or None where every number says its own country.

        Raises:
            LeadFileError: No region is known, or the list plainly speaks against the given one.
        """
        if self.is_open or (self.against is not None and not force):
            raise LeadFileError(self.why())
        return self.region

    def to_dict(self) -> dict[str, Any]:
        """The decision as plain values, for a report."""
        return {
            "region": self.region,
            "source": self.source,
            "numbers": self.numbers,
            "against": self.against,
            "candidates": [
                {
                    "region": candidate.region,
                    "fit": round(candidate.fit, 3),
                    "weight": round(candidate.weight, 1),
                    "evidence": list(candidate.evidence),
                }
                for candidate in self.candidates[:_SHOWN]
            ],
        }

    def _proviso(self) -> str:
        """What a region rests on that one or two numbers hardly prove."""
        given = next((each for each in self.candidates if each.region == self.region), None)
        others = [
            country_name(candidate.region)
            for candidate in self.candidates
            if given is not None
            and candidate.fit >= _FITS
            and candidate.region != self.region
            and given.likely - candidate.likely < lead("enough_nats")
        ]
        if self.numbers >= _FEW_NUMBERS or not others:
            return ""
        return f" and by nothing else: LOOK AT THIS, it may be of {' or '.join(others[:_SHOWN])}"


def decide_region(
    file: LeadFile, given: str | None = None, columns: ColumnMap | None = None
) -> RegionDecision:
    """Find out of which country the numbers of a list are that do not say it themselves.

    Args:
        file: The file, or a sample of its rows.
        given: The region that the caller gives, or None.
        columns: Its columns by field; None to find the columns of phones by their headers.

    Returns:
        The decision; `settled` gives the region or says what is missing.

    Raises:
        ConfigError: The given region is unknown.

    Example:
        decision = dialframe.leads.decide_region(dialframe.leads.read("autumn.csv"), "US")
    """
    # A region that does not exist is a mistake of the caller, and said before anything is read.
    known = check_region(given)
    frame = _sampled(file.frame)
    phones = _phones(frame, columns)
    if known:  # what stands under the name of another country is not read with the region given
        phones = [each for each in phones if named_regions(str(each.name)) <= {known}]
    countries = (
        [] if columns is None or columns.country is None else frame[columns.country].tolist()
    )
    # Rows whose country a column says need none.
    silent = (
        np.array([is_nothing(tidy(str(cell))) for cell in countries], np.bool_)
        if countries
        else np.ones(len(frame), np.bool_)
    )
    national, abroad = _split([column[silent] for column in phones])
    # Every number has its own code: nothing is left to be decided.
    if not national:
        return RegionDecision(file.name, known, "given" if known else "records", 0)
    weights = weigh(frame, phones, national, abroad)
    named = [read for cell in map(str, countries) if (read := read_region(cell))]
    if known and (share := named.count(known) / max(_SOME_NAMED, len(named))):
        weight, words = weights.get(known, (0.0, ()))
        weights[known] = (
            weight + lead("enough") * share,
            (*words, f"{share:.0%} of the records name it"),
        )
    # One candidate for each calling code: the plan of a code is one, whichever of its countries is meant.
    codes = _candidates(national, weights, known)
    if known:
        against = _against(file.name, known, codes, national)
        return RegionDecision(file.name, known, "given", len(national), codes, against)
    # The likeliest is not enough: a list of two countries would be read with the plan of one.
    others = {region for column in phones for region in named_regions(str(column.name))}
    says_another = any(
        calling_code(region) != calling_code(codes[0].region) for region in others.union(named)
    )
    if (
        _is_beyond_doubt(codes, len(national))
        and not says_another
        and not _is_mixed(frame, phones, national, codes)
    ):
        region = codes[0].region
        return RegionDecision(file.name, region, "inferred", len(national), codes)
    return RegionDecision(file.name, None, "open", len(national), codes)


def column_doubts(frame: pd.DataFrame, columns: ColumnMap) -> dict[str, ColumnDoubt]:
    """What speaks against reading numbers of the phone columns in the region of their record.

    Args:
        frame: The list, or a sample of its rows.
        columns: Its columns by field.
    """
    # A second number is noted, and dialed by whoever reads the note.
    phones = phone_columns(_sampled(frame), columns.phone, columns.joined)
    if columns.phone_other is not None:
        phones[columns.phone_other] = _sampled(frame)[columns.phone_other]
    doubts = {}
    for name, cells in phones.items():
        national = [
            digits
            for cell in map(str, cells)
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


# ---- the numbers


def _sampled(frame: pd.DataFrame) -> pd.DataFrame:
    # An odd step: a list that goes to and fro between two kinds of rows shows both.
    return frame.iloc[:: max(1, -(-len(frame) // _SAMPLE_ROWS)) | 1]


def _phones(frame: pd.DataFrame, columns: ColumnMap | None) -> list[pd.Series]:
    """The columns of phones, by the map, or by their headers and the form of their cells."""
    if columns is not None:
        return list(phone_columns(frame, columns.phone, columns.joined).values())
    named, alike = [], []
    for name in map(str, frame.columns):
        # Faxes and account numbers follow plans of their own.
        if is_not_phone(name):
            continue
        cells = [str(cell) for cell in frame[name] if str(cell).strip()]
        like = [
            cell
            for cell in cells
            if _NUMBER.fullmatch(cell) and 7 <= len(_DIGITS.findall(cell)) <= _MOST_DIGITS
        ]
        if header_score(name, "phone") > 0:
            named.append(frame[name])
        elif len(like) >= _PHONE_LIKE_SHARE * max(1, len(cells)) and (
            len(set(cells)) > len(cells) / 2
        ):
            alike.append(frame[name])
    # Where a header names phones, other columns of digits are ids.
    return named or alike


def calling_code(region: str) -> int:
    """The calling code of a region, 0 of what is none; without loading what is known of its numbers."""
    return _CODES.get(region, 0)


def _split(phones: Iterable[pd.Series]) -> tuple[list[str], list[str]]:
    """Distinct numbers without and with a country code of their own."""
    national: dict[str, None] = {}
    abroad: dict[str, None] = {}
    for column in phones:
        for cell in column:
            for text in _written_numbers(str(cell)):
                (abroad if _OWN_CODE.match(text) else national)[text] = None
    return list(national), list(abroad)


def _written_numbers(cell: str) -> Iterator[str]:
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


def _shares(numbers: Sequence[str], regions: Sequence[str]) -> list[float]:
    """By region, the share of the numbers that are valid in its plan, with the trunk 0 or without."""
    valid, count = _validity(numbers, regions), len(numbers)
    return [sum(valid[at : at + count]) / count for at in range(0, len(valid), count)]


def _validity(numbers: Sequence[str], regions: Sequence[str]) -> list[bool]:
    """Whether each number is valid in the plan of the first region, then in that of the next."""
    pairs = [(number, region) for region in regions for number in numbers]
    valid = are_valid([number for number, _ in pairs], [region for _, region in pairs])
    again = [
        at
        for at, (number, _) in enumerate(pairs)
        if not valid[at] and number.isdigit() and number[0] != "0"
    ]
    texts = [f"0{pairs[at][0]}" for at in again]
    for at, is_valid in zip(again, are_valid(texts, [pairs[at][1] for at in again]), strict=True):
        valid[at] = is_valid
    return list(valid)


def _candidates(
    numbers: Sequence[str], weights: Weights, given: str | None
) -> tuple[RegionCandidate, ...]:
    """Countries whose plan fits, one for each calling code, the likeliest first."""
    # Likelihoods of eighty numbers part any two plans; of eighty thousand they take minutes.
    sample = numbers[:: max(1, -(-len(numbers) // _SAMPLE_NUMBERS))]
    nothing: tuple[float, tuple[str, ...]] = (0.0, ())
    regions: dict[int, str] = {}
    # The strongest evidence comes last and stays; of two alike the larger economy.
    for region in sorted(
        weights, key=lambda candidate: (weights[candidate][0], economy_of(candidate))
    ):
        regions[calling_code(region)] = region
    if given:
        regions[calling_code(given)] = given
    codes_named = [
        code for code, region in regions.items() if weights.get(region, nothing)[0] >= 1
    ]
    fits = plan_fits(sample, [*codes_named, *([calling_code(given)] if given else [])])
    candidates = []
    for code, (fit, likelihood) in fits.items():
        region = regions.get(code, phonenumbers.region_code_for_country_code(code))
        weight, evidence = weights.get(region, nothing)
        likely = likelihood + lead("nats") * weight + log(economy_of(region))
        candidates.append(RegionCandidate(region, fit, weight, evidence, likely))
    candidates.sort(key=lambda candidate: -candidate.likely)
    # Groups are looked up number by number, which is slow: only for those that could win by them.
    near = candidates[0].likely - lead("grouped")
    grouped = [
        replace(
            candidate,
            likely=candidate.likely + lead("grouped") * grouped_share(sample, candidate.region),
        )
        if candidate.likely >= near or candidate.region == given
        else candidate
        for candidate in candidates
    ]
    return tuple(sorted(grouped, key=lambda candidate: -candidate.likely))


def _is_beyond_doubt(candidates: Sequence[RegionCandidate], count: int) -> bool:
    best, *others = candidates
    if best.fit < _FITS:
        return False
    # A ratio of likelihoods, as its logarithm: 7 is about 1,000 to 1.
    margin = best.likely - max((other.likely for other in others), default=float("-inf"))
    if any(other.weight >= max(lead("enough"), best.weight) for other in others):
        return (
            False  # the rest of the list speaks for another country, whether or not its plan fits
        )
    # How numbers are spread is no evidence of a country where another plan fits them, too.
    rivals = any(other.fit >= _FITS for other in others)
    if best.weight >= (lead("enough") if rivals else 0) and best.weight > 0:
        return margin >= lead("enough_nats")
    return margin >= lead("enough_nats") and count >= _ALONE_UNAIDED and len(others) == 0


def _is_mixed(
    frame: pd.DataFrame,
    phones: Sequence[pd.Series],
    national: Sequence[str],
    candidates: Sequence[RegionCandidate],
) -> bool:
    """Whether some records are of a second country: a list from both sides of a border.

    Its places or mails are in the list and some of the numbers fit it, or numbers that do not fit the
    likeliest country fit the other.
    """
    best = candidates[0]
    code = calling_code(best.region)

    def others(regions: Iterable[str]) -> list[str]:
        return [region for region in regions if calling_code(region) != code]

    sample = national[:: max(1, len(national) // _SAMPLE_NUMBERS)][:_SAMPLE_NUMBERS]
    shares = shares_elsewhere(frame, phones, best.region)
    beside = others(
        region
        for region, share in shares.items()
        if share >= _SECOND and share * len(frame) >= _SECOND_RECORDS
    )
    if beside and max(_shares(sample, beside)) >= _SECOND:
        return True
    is_of_best = _validity(sample, [best.region])
    # Bad numbers are in every list; those of a second country fit its plan.
    strange = [number for number, is_own in zip(sample, is_of_best, strict=True) if not is_own]
    if len(strange) < max(_SECOND_NUMBERS, _SECOND * len(sample)):
        return False
    rivals = others(candidate.region for candidate in candidates if candidate.weight > 0)
    fitting = max(_shares(strange, rivals), default=0.0) * len(strange)
    return fitting >= max(_SECOND_NUMBERS, _SECOND * len(sample))


def _against(
    name: str, given: str, candidates: Sequence[RegionCandidate], numbers: Sequence[str]
) -> str | None:
    """Why the list plainly is of another country, or may be as well, or None."""
    # `plan_fits` was asked for it, so that it is among them however badly it fits.
    expected = next(other for other in candidates if other.region == given)
    if (
        expected.fit == 0.0
        and len(numbers) < _SOME_NUMBERS
        and not any(_validity(numbers, [given]))
    ):
        return None  # none of the few is a number there, nor dialed abroad from there
    others = [other for other in candidates if other is not expected]
    rivals = [
        other
        for other in others
        if other.weight >= expected.weight + lead("far_more")
        or (
            other.fit >= _FITS
            and expected.likely - other.likely < _lead_needed(expected, other, len(numbers))
        )
    ]
    if not rivals:
        return None
    # Who gives a wrong region gives that of a neighbor, more often than not.
    neighbors = [
        other
        for other in others
        if other.fit >= _FITS
        and is_confused(given, other.region)
        and other.likely >= expected.likely - lead("enough_nats")
    ]
    shown = dict.fromkeys((rivals[0], *neighbors, *rivals))
    named = "; or ".join(map(str, list(shown)[:_NAMED]))
    insist = (
        f"say the right --region, as in --region {rivals[0].region}, "
        f"or insist with --region {given} --force-region"
    )
    if expected.fit >= _FITS and all(
        other.weight < expected.weight + lead("some_more") for other in rivals
    ):
        return (
            f"{name} may be a list of {country_name(given)}, but nothing in it says so, and its "
            f"numbers may as well be of {named}; {insist}"
        )
    return (
        f"{name} is hardly a list of {country_name(given)}: {expected.fit:.0%} of its numbers are numbers "
        f"of {given}, but it is rather one of {named}; {insist}"
    )


def _lead_needed(given: RegionCandidate, other: RegionCandidate, numbers: int) -> float:
    """By how much a given region has to be likelier than another, so that its word is taken.

    People who give a wrong region give one of the neighborhood, or the usual one of their tool. The
    more the rest of the list speaks for what they give, the fewer others are left; where it speaks for
    the other, their word is no evidence. Where both say one thing, numbers that fit it say no other;
    a few numbers that fit it, and a list that says nothing else, say none plainly.
    """
    if (
        numbers < _SOME_NUMBERS
        and given.fit == 1.0
        and other.weight < min(1.0, given.weight + lead("some_more"))
        and (is_confused(given.region, other.region) or is_usual(given.region))
    ):
        return -lead("word")
    if is_confused(given.region, other.region):
        return lead("confused") - lead("spoken") * min(1.0, given.weight)
    if is_usual(given.region):
        return lead("usual")
    if given.fit >= _FITS and given.weight >= other.weight + 1:
        return -inf
    if other.weight >= given.weight + 1:
        return lead("word")
    if other.weight >= given.weight + lead("some_more"):
        return 0.0
    return -lead("word") if numbers >= _FEW_NUMBERS else -lead("few_word")
