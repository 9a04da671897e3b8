"""The country of a list's national numbers: what is given, what the list says, and what speaks against it.

A number without a country code is a number of any country whose plan it fits, and most plans fit
others' numbers too: all of a Colombian list is valid in the United States. So a country is taken
from the numbers alone only where no other plan fits them, and otherwise only where the rest of the
list speaks for it (mail domains, cities, post codes, words and language of headers) and for no other
country whose plan fits. `region_evidence.toml` has the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

import pandas as pd
import phonenumbers
from phonenumbers import PhoneNumberType

from dialframe.errors import LeadFileError
from dialframe.leads.cells import is_nothing, tidy
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.country_names import (
    ColumnDoubt,
    country_name,
    named_regions,
    read_region,
)
from dialframe.leads.columns.header_match import header_score, is_not_phone
from dialframe.leads.columns.region_signs import (
    GROUPED_NUMBERS,
    TYPE_SHARES,
    Weights,
    fitting_regions,
    grouped_share,
    is_weighed,
    likelihoods,
    line_types_in,
    shares_elsewhere,
    weigh,
)
from dialframe.leads.columns.split_phones import phone_columns
from dialframe.leads.lead_file import LeadFile
from dialframe.phones import check_region
from dialframe.phones.vectorized import are_valid

#: Where a region comes from: the caller, the records themselves (`+`, or a column of countries),
#: the evidence of the list, or nowhere yet.
Source = Literal["given", "records", "inferred", "open"]

_SAMPLE_ROWS: Final = 2000
_SAMPLE_NUMBERS: Final = 120
_FIRST_NUMBERS: Final = 16
_LEAST_DIGITS: Final = 6
_MOST_DIGITS: Final = 15
_PHONE_LIKE_SHARE: Final = 0.6
#: A plan fits where so many of the numbers are valid in it; a true list has a few bad ones.
_FITS: Final = 0.8
_FITS_AS_WELL: Final = 0.1
#: A plan in which fewer are valid is no rival.
_RIVAL: Final = 0.6
_MAY_FIT: Final = 0.5
_ALONE_NUMBERS: Final = 10
_ALONE_UNAIDED: Final = 30
_SOME_NUMBERS: Final = 8
#: Weight of evidence from which a country is beyond doubt, and how far the next must stay behind.
_ENOUGH: Final = 2.0
_LEAD: Final = 1.5
_LANGUAGE_LEAD: Final = 1.0
#: What headers in English weigh at most: the whole world writes them.
_ENGLISH: Final = 0.4
#: How much more of a list fits another plan where that speaks against the given one.
_FAR_MORE: Final = 0.3
_SURELY_FITS: Final = 0.95
_SHOWN: Final = 4
#: Evidence of the numbers alone in natural logarithms: enough, enough where they are grouped as in the
#: given plan, and where that has hardly a mobile number or landline among them; share of numbers from
#: which a grouping or a type is the list's.
_ENOUGH_NUMBERS: Final = 16.0
_ENOUGH_UNGROUPED: Final = 40.0
_ENOUGH_ODD: Final = 2.0
_GROUPED: Final = 0.8
_SAMPLE_LIKELY: Final = 48
#: Share of the records of a second country from which a list is of both, and how many they are at least.
_SECOND: Final = 0.1
_SECOND_RECORDS: Final = 2
_SECOND_NUMBERS: Final = 3
#: Share of the numbers of a column that have a trunk zero, from which its writers write it.
_KEEPS_ZERO: Final = 0.1

_NUMBER: Final = re.compile(r"[\d\s().\-/'\"=\u00a0]{6,40}")
_OWN_CODE: Final = re.compile(r"[\s'\"=(]{0,4}(?:\+|00[1-9])")
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
    """

    region: str
    fit: float
    weight: float
    evidence: tuple[str, ...] = ()

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
            return f"{country_name(self.region or '')} ({self.region}) as given"
        if self.source == "inferred":
            return f"{self.candidates[0]}, by what the list says; {self._rival()}"
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
                    "region": one.region,
                    "fit": round(one.fit, 3),
                    "weight": round(one.weight, 1),
                    "evidence": list(one.evidence),
                }
                for one in self.candidates[:_SHOWN]
            ],
        }

    def _rival(self) -> str:
        code = phonenumbers.country_code_for_region(self.candidates[0].region)
        for rival in self.candidates[1:]:
            if phonenumbers.country_code_for_region(rival.region) != code:
                return f"next best {country_name(rival.region)} with {rival.fit:.0%}"
        return "no other country fits"


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
    known = check_region(given)
    frame = _sampled(file.frame)
    phones = _phones(frame, columns)
    national, abroad = _split(phones, _with_country(frame, columns))
    if not national:
        return RegionDecision(file.name, known, "given" if known else "records", 0)
    weights = weigh(frame, phones, national, abroad)
    if known and _is_unquestioned(known, weights, national):
        candidates = _better_plan(national, weights, known)
        against = _hardly(file.name, known, *candidates) if candidates else None
        return RegionDecision(file.name, known, "given", len(national), candidates, against)
    codes = _candidates(national, weights, known)
    if known:
        against = _against(file.name, known, codes, len(national))
        return RegionDecision(file.name, known, "given", len(national), codes, against)
    if _is_beyond_doubt(codes, len(national)) and not (
        _says_another(frame, columns, phones, codes[0].region)
        or _is_mixed(frame, phones, national, weights, codes[0])
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
    phones = phone_columns(_sampled(frame), columns.phone, columns.joined)
    if columns.phone_other is not None:
        phones[columns.phone_other] = _sampled(frame)[columns.phone_other]
    doubts = {
        # A joined number has its area from a column of its own.
        name: ColumnDoubt(named_regions(name), name not in columns.joined and _keeps_zero(cells))
        for name, cells in phones.items()
    }
    return {name: doubt for name, doubt in doubts.items() if any(doubt)}


def _keeps_zero(cells: pd.Series) -> bool:
    national = [
        digits
        for cell in map(str, cells)
        if not _OWN_CODE.match(cell)
        and len(digits := "".join(_DIGITS.findall(cell[:60]))) >= _LEAST_DIGITS
    ]
    zeros = sum(digits[0] == "0" != digits[1] for digits in national)
    return zeros >= max(1.0, _KEEPS_ZERO * len(national))


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
        if is_not_phone(name):
            continue
        cells = [str(cell) for cell in frame[name] if str(cell).strip()]
        share = sum(_is_phone_like(cell) for cell in cells) / max(1, len(cells))
        if header_score(name, "phone") > 0:
            named.append(frame[name])
        elif share >= _PHONE_LIKE_SHARE and _is_varied(cells):
            alike.append(frame[name])
    return named or alike


def _is_phone_like(cell: str) -> bool:
    digits = len(_DIGITS.findall(cell))
    return bool(_NUMBER.fullmatch(cell)) and 7 <= digits <= _MOST_DIGITS


def _is_varied(cells: Sequence[str]) -> bool:
    return len(set(cells)) > len(cells) / 2


def _with_country(frame: pd.DataFrame, columns: ColumnMap | None) -> pd.Series:
    """Rows whose country a column says."""
    if columns is None or columns.country is None:
        return pd.Series(data=False, index=frame.index)
    return ~frame[columns.country].map(lambda cell: is_nothing(tidy(str(cell)))).astype(bool)


def _split(phones: Iterable[pd.Series], with_country: pd.Series) -> tuple[list[str], list[str]]:
    """Distinct numbers without and with a country code of their own."""
    national: dict[str, None] = {}
    abroad: dict[str, None] = {}
    for column in phones:
        for cell in column[~with_country.reindex(column.index, fill_value=False)]:
            text = str(cell)[:60]
            if not _LEAST_DIGITS <= len(_DIGITS.findall(text)) <= _MOST_DIGITS + 10:
                continue
            if _OWN_CODE.match(text):
                abroad[text] = None
            elif _NUMBER.fullmatch(text.removesuffix(".0")):
                national[text.strip("'\"= ").removesuffix(".0")] = None
    return list(national), list(abroad)


def _shares(numbers: Sequence[str], regions: Sequence[str]) -> list[float]:
    """By region, the share of the numbers that are valid in its plan, with the trunk 0 or without."""
    valid, count = _validity(numbers, regions), len(numbers)
    return [sum(valid[at : at + count]) / count for at in range(0, len(valid), count)]


def _validity(numbers: Sequence[str], regions: Sequence[str]) -> list[bool]:
    """Whether each number is valid in the plan of the first region, then in that of the next."""
    pairs = [(number, region) for region in regions for number in numbers]
    valid = are_valid([number for number, _ in pairs], [region for _, region in pairs])
    again = [at for at, (number, _) in enumerate(pairs) if not valid[at] and number.isdigit()]
    texts = [f"0{pairs[at][0]}" for at in again]
    for at, is_valid in zip(again, are_valid(texts, [pairs[at][1] for at in again]), strict=True):
        valid[at] = is_valid
    return list(valid)


def _may_fit(digits: Sequence[str], region: str) -> bool:
    """Whether a plan may be a rival, by the lengths and first digits that it allows; quick to tell."""
    form = _outline(region)
    if form is None:
        return True
    alike = sum(any(map(form.fullmatch, (each, f"0{each}"))) for each in digits)
    return alike >= _MAY_FIT * len(digits)


@cache
def _outline(region: str) -> re.Pattern[str] | None:
    """What every number of a plan looks like; None where the plan rewrites what is dialed."""
    metadata = phonenumbers.PhoneMetadata.metadata_for_region(region, None)
    if (
        metadata is None
        or metadata.general_desc is None
        or metadata.national_prefix_transform_rule
    ):
        return None
    code, trunk = metadata.country_code, metadata.national_prefix_for_parsing or ""
    return re.compile(
        f"(?:(?:00)?{code})?(?:{trunk})?(?:{metadata.general_desc.national_number_pattern})"
    )


def _candidates(
    numbers: Sequence[str], weights: Weights, given: str | None
) -> tuple[RegionCandidate, ...]:
    """Countries whose plan fits, one for each calling code, those with the most evidence first."""
    step = max(1, len(numbers) // _SAMPLE_NUMBERS)
    sample = numbers[::step][:_SAMPLE_NUMBERS]
    first = sample[:: max(1, len(sample) // _FIRST_NUMBERS)][:_FIRST_NUMBERS]
    digits = ["".join(_DIGITS.findall(number)) for number in first]
    plans, unnamed = [], []
    for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items():
        members = [region for region in regions if region in phonenumbers.SUPPORTED_REGIONS]
        if not members:
            continue
        region = max(members, key=lambda one: weights.get(one, (0.0, ()))[0])
        if given and phonenumbers.country_code_for_region(given) == code:
            region = given
        plans.append(region)
        if region != given and not weights.get(region, (0.0, ()))[0]:
            unnamed.append(region)
    rivals = [region for region in unnamed if _may_fit(digits, region)]
    fits = dict(zip(rivals, _shares(first, rivals), strict=True))
    asked = [
        region for region in plans if region not in unnamed or fits.get(region, 0.0) >= _MAY_FIT
    ]
    found = [
        RegionCandidate(region, fit, *weights.get(region, (0.0, ())))
        for region, fit in zip(asked, _shares(sample, asked), strict=True)
    ]
    kept = [one for one in found if one.fit >= _RIVAL or one.region == given or one.weight >= 1]
    return tuple(sorted(kept, key=lambda one: (one.fit < _RIVAL, -one.weight, -one.fit)))


def _is_unquestioned(given: str, weights: Weights, national: Sequence[str]) -> bool:
    """Whether the numbers fit the given region and nothing speaks for another; quick to tell."""
    code = phonenumbers.country_code_for_region(given)
    own = max(
        (
            weight
            for region, (weight, _) in weights.items()
            if phonenumbers.country_code_for_region(region) == code
        ),
        default=0.0,
    )
    most = max((weight for weight, _ in weights.values()), default=0.0)
    if most >= _ENOUGH and most - own >= _LEAD:
        return False
    return _shares(national[:_SAMPLE_NUMBERS], [given])[0] >= _FITS


def _better_plan(
    national: Sequence[str], weights: Weights, given: str
) -> tuple[RegionCandidate, ...]:
    """The given region and the one of which the numbers are far likelier, none where there is none.

    All of a list of Dutch mobile numbers are mobile numbers of France as well. But numbers drawn from all
    of those would not all be Dutch ones, of which there are fewer: by area, the logarithms of how much
    likelier each number is under one plan than under the other are added up. Landlines are not drawn
    so: where all of them fit, they may be of one city, and their groups alone are looked at.
    """
    own_weight = weights.get(given, (0.0, ()))[0]
    if own_weight >= _ENOUGH or len(national) < GROUPED_NUMBERS:
        return ()
    sample = national[:: max(1, len(national) // _SAMPLE_LIKELY)][:_SAMPLE_LIKELY]
    types = {given: line_types_in(sample, given)}
    fits = {given: sum(kind >= 0 for kind in types[given]) / len(sample)}
    for region in fitting_regions(sample[:: max(1, len(sample) // _FIRST_NUMBERS)], given):
        if weights.get(region, (0.0, ()))[0] < own_weight - _ENGLISH:
            continue
        kinds = line_types_in(sample, region)
        fit = sum(kind >= 0 for kind in kinds) / len(sample)
        if fit >= max(_SURELY_FITS, fits[given]):
            types[region], fits[region] = kinds, fit
    if len(fits) == 1:
        return ()
    likely = likelihoods(sample, types, given)
    best = max((region for region in types if region != given), key=lambda one: likely[one])
    lead = likely[best] - likely[given]
    if lead < 0:
        return ()
    own, other = (grouped_share(sample, region) for region in (given, best))
    if own >= _GROUPED and lead < _ENOUGH_UNGROUPED:
        return ()
    odd = sum(kind in TYPE_SHARES for kind in types[given]) < _MAY_FIT * len(sample)
    mobile = types[given].count(PhoneNumberType.MOBILE) >= _GROUPED * len(sample)
    if not (
        (lead >= _ENOUGH_NUMBERS and (mobile or fits[given] < _SURELY_FITS))
        or (own <= 1 - _GROUPED and other >= _GROUPED)
        or (odd and lead >= _ENOUGH_ODD)
    ):
        return ()
    because = ("leading digits, lengths and types of its numbers",)
    return (
        RegionCandidate(best, fits[best], weights.get(best, (0.0, ()))[0], because),
        RegionCandidate(given, fits[given], own_weight),
    )


def _hardly(name: str, given: str, best: RegionCandidate, own: RegionCandidate) -> str:
    return (
        f"{name} is hardly a list of {country_name(given)}: {own.fit:.0%} of its numbers are numbers "
        f"of {given}, but by {best.evidence[0]} they are rather of {country_name(best.region)} "
        f"({best.region}, {best.fit:.0%}); say the right --region, or insist with --region {given} "
        f"--force-region"
    )


def _is_beyond_doubt(candidates: Sequence[RegionCandidate], count: int) -> bool:
    fitting = [one for one in candidates if one.fit >= _RIVAL]
    if not fitting or fitting[0].fit < max(_FITS, max(one.fit for one in fitting) - _FITS_AS_WELL):
        return False
    best, *others = fitting
    second = max((one.weight for one in others), default=0.0)
    elsewhere = max((one.weight for one in candidates if one.fit < _RIVAL), default=0.0)
    if elsewhere >= _ENOUGH and elsewhere > best.weight:
        return False  # the rest of the list speaks for a country whose plan does not fit
    if best.weight >= _ENOUGH and best.weight - second >= _LEAD:
        return count >= 1
    if any(not is_weighed(one.region) and one.fit >= best.fit for one in others):
        return False  # a country of which nothing but its plan is known fits as well
    if not others and count >= _ALONE_NUMBERS:
        return best.weight > 0 or count >= _ALONE_UNAIDED
    return (
        best.weight >= _LANGUAGE_LEAD
        and best.weight - second >= _LANGUAGE_LEAD
        and count >= _SOME_NUMBERS
    )


def _says_another(
    frame: pd.DataFrame, columns: ColumnMap | None, phones: Sequence[pd.Series], best: str
) -> bool:
    """Whether a header of phones or a column of countries names another country than the likeliest."""
    named = {region for column in phones for region in named_regions(str(column.name))}
    if columns is not None and columns.country is not None:
        named |= {read_region(cell) or "" for cell in set(frame[columns.country])} - {""}
    code = phonenumbers.country_code_for_region(best)
    return any(phonenumbers.country_code_for_region(region) != code for region in named)


def _is_mixed(
    frame: pd.DataFrame,
    phones: Sequence[pd.Series],
    national: Sequence[str],
    weights: Weights,
    best: RegionCandidate,
) -> bool:
    """Whether some records are of a second country: a list from both sides of a border.

    Its places or mails are in the list and some of the numbers fit it, or numbers that do not fit the
    likeliest country fit the other.
    """
    code = phonenumbers.country_code_for_region(best.region)

    def others(regions: Iterable[str]) -> list[str]:
        return [
            region for region in regions if phonenumbers.country_code_for_region(region) != code
        ]

    sample = national[:: max(1, len(national) // _SAMPLE_NUMBERS)][:_SAMPLE_NUMBERS]
    shares = shares_elsewhere(frame, phones, best.region)
    beside = others(
        region
        for region, share in shares.items()
        if share >= _SECOND and share * len(frame) >= _SECOND_RECORDS
    )
    if beside and max(_shares(sample, beside)) >= _SECOND:
        return True
    own = _validity(sample, [best.region])
    strange = [number for number, is_own in zip(sample, own, strict=True) if not is_own]
    if len(strange) < max(_SECOND_NUMBERS, _SECOND * len(sample)):
        return False
    rivals = others(region for region, (weight, _) in weights.items() if weight > 0)
    fitting = max(_shares(strange, rivals), default=0.0) * len(strange)
    return fitting >= max(_SECOND_NUMBERS, _SECOND * len(sample))


def _against(
    name: str, given: str, candidates: Sequence[RegionCandidate], count: int
) -> str | None:
    """Why the list plainly is of another country, or None."""
    own = next(one for one in candidates if one.region == given)
    others = [one for one in candidates if one.region != given and one.fit >= _FITS]
    if not others:
        return None
    best = max(others, key=lambda one: (one.weight, one.fit))
    told = best.weight >= _ENOUGH and best.weight - own.weight >= _LEAD
    # A bare list of numbers speaks by its plan alone: what is hardly valid here, and all of it there.
    far_more = best.fit >= _SURELY_FITS and best.fit - own.fit >= _FAR_MORE
    foreign = far_more and best.weight >= own.weight - _ENGLISH and count >= _SOME_NUMBERS
    if not told and not foreign:
        return None
    fits = f"{own.fit:.0%} of its numbers are numbers of {given}"
    insist = f"insist with --region {given} --force-region"
    if best.weight < _LANGUAGE_LEAD:
        return (
            f"{name} is hardly a list of {country_name(given)}: {fits}, and it may be "
            f"{'; '.join(map(str, others[:_SHOWN]))}; say the right --region, or {insist}"
        )
    because = f": {'; '.join(best.evidence)}" if best.evidence else ""
    return (
        f"{name} is not a list of {country_name(given)}: {fits}, {best.fit:.0%} of "
        f"{country_name(best.region)} ({best.region}){because}; say --region {best.region}, or {insist}"
    )
