"""The country of a list's national numbers: what is given, what the list says, and what speaks against it.

A number without a country code is a number of any country whose plan it fits, and most plans fit
others' numbers too: all of a Colombian list is valid in the United States. So a country is taken
from the numbers alone only where no other plan fits them, and otherwise only where the rest of the
list speaks for it (mail domains, cities, post codes, words and language of headers) and for no other
country whose plan fits. `region_evidence.toml` has the names.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

import pandas as pd
import phonenumbers

from dialframe.errors import LeadFileError
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.country_names import country_name
from dialframe.leads.columns.header_match import header_score, is_not_phone
from dialframe.leads.columns.phone_parts import phone_columns
from dialframe.leads.lead_file import LeadFile
from dialframe.opt_outs import plain
from dialframe.phones import check_region

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
_ALONE_NUMBERS: Final = 10
_ALONE_UNAIDED: Final = 30
_FEW_NUMBERS: Final = 3
_SOME_NUMBERS: Final = 8
#: Weight of evidence from which a country is beyond doubt, and how far the next must stay behind.
_ENOUGH: Final = 2.0
_LEAD: Final = 1.5
_LANGUAGE_LEAD: Final = 1.0
_FOREIGN: Final = 0.6
_SURELY_FITS: Final = 0.95
_SHOWN: Final = 4
_LEAST_KNOWN_CELLS: Final = 3
_POST_SHARE: Final = 0.8
_STYLE_SHARE: Final = 0.5

_NUMBER: Final = re.compile(r"[\d\s().\-/'\"=\u00a0]{6,40}")
_OWN_CODE: Final = re.compile(r"[\s'\"=(]{0,4}(?:\+|00[1-9])")
_DIGITS: Final = re.compile(r"\d")
_MAIL: Final = re.compile(r"[^\s@]{1,64}@(?:[\w-]{1,63}\.){1,6}([a-z]{2,24})\b", re.IGNORECASE)
_PARTS: Final = re.compile(r"[,;|\n]+|\s[-–]\s")
#: Endings of countries that are sold to everybody.
_SOLD_ENDINGS: Final = frozenset(
    {"co", "io", "me", "tv", "ai", "cc", "ws", "fm", "to", "ly", "gg", "eu"}
)
_NAMED_ENDINGS: Final = {"uk": "GB"}
_POST_WORDS: Final = frozenset(
    {"zip", "zipcode", "postcode", "postal", "plz", "postleitzahl", "cp", "cep", "cap", "psc"}
    | {"postnr", "postnummer", "pincode", "eircode", "postkod", "kod", "cod", "irsz", "郵便番号"}
)
_DIVISION_WORDS: Final = frozenset(
    {"state", "st", "uf", "estado", "province", "provincia", "prov", "provincie", "territory"}
)
#: Scripts that one country alone writes its lists in, and those that a few do.
_SCRIPTS: Final = (
    (re.compile("[\u3041-\u30ff]"), ("JP",), 2.0, "Japanese letters"),
    (re.compile("[\uac00-\ud7a3]"), ("KR",), 2.0, "Korean letters"),
    (re.compile("[\u0590-\u05ff]"), ("IL",), 2.0, "Hebrew letters"),
    (re.compile("[\u0e00-\u0e7f]"), ("TH",), 2.0, "Thai letters"),
    (re.compile("[\u0370-\u03ff]"), ("GR", "CY"), 2.0, "Greek letters"),
    (re.compile("[іїєґІЇЄҐ]"), ("UA",), 1.0, "Ukrainian letters"),
    (re.compile("[ыэёъЫЭЁ]"), ("RU", "KZ", "BY"), 0.7, "Russian letters"),
)
#: Ways of writing numbers that few countries have.
_STYLES: Final = (
    (re.compile(r"\s*(?:1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d-)\d{3}-\d{4}\s*"), ("US", "CA"), 0.5),
    (re.compile(r"\s*\(\d{2}\) ?9?\d{4}-\d{4}\s*"), ("BR",), 1.5),
    (re.compile(r"\s*0\d(?:[ .]\d{2}){4}\s*"), ("FR",), 0.7),
)


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
    """
    known = check_region(given)
    frame = _sampled(file.frame)
    phones = _phones(frame, columns)
    national, abroad = _split(phones, _with_country(frame, columns))
    if not national:
        return RegionDecision(file.name, known, "given" if known else "records", 0)
    weights = _weigh(frame, phones, national, abroad)
    if known and _is_unquestioned(known, weights, national):
        return RegionDecision(file.name, known, "given", len(national))
    codes = _candidates(national, weights, known)
    if known:
        against = _against(file.name, known, codes, len(national))
        return RegionDecision(file.name, known, "given", len(national), codes, against)
    if _is_beyond_doubt(codes, len(national)):
        region = codes[0].region
        return RegionDecision(file.name, region, "inferred", len(national), codes)
    return RegionDecision(file.name, None, "open", len(national), codes)


# ---- the numbers


def _sampled(frame: pd.DataFrame) -> pd.DataFrame:
    step = max(1, -(-len(frame) // _SAMPLE_ROWS))
    return frame.iloc[::step]


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
    return frame[columns.country].str.strip() != ""


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


def _fit(numbers: Sequence[str], region: str) -> float:
    """Share of the numbers that are valid in the plan of a region."""
    phonenumbers.re_util.enable_pattern_cache()
    return sum(_is_valid(number, region) for number in numbers) / len(numbers)


def _is_valid(number: str, region: str) -> bool:
    for text in (number, f"0{number}") if number.isdigit() else (number,):
        try:
            parsed = phonenumbers.parse(text, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed):
            return True
    return False


def _candidates(
    numbers: Sequence[str], weights: Mapping[str, tuple[float, tuple[str, ...]]], given: str | None
) -> tuple[RegionCandidate, ...]:
    """Countries whose plan fits, one for each calling code, those with the most evidence first."""
    step = max(1, len(numbers) // _SAMPLE_NUMBERS)
    sample = numbers[::step][:_SAMPLE_NUMBERS]
    first = sample[:: max(1, len(sample) // _FIRST_NUMBERS)][:_FIRST_NUMBERS]
    found = []
    for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items():
        members = [region for region in regions if region in phonenumbers.SUPPORTED_REGIONS]
        if not members:
            continue
        region = max(members, key=lambda one: weights.get(one, (0.0, ()))[0])
        if given and phonenumbers.country_code_for_region(given) == code:
            region = given
        weight, evidence = weights.get(region, (0.0, ()))
        if region != given and not weight and _fit(first, region) < _RIVAL - _FITS_AS_WELL:
            continue
        found.append(RegionCandidate(region, _fit(sample, region), weight, evidence))
    kept = [one for one in found if one.fit >= _RIVAL or one.region == given or one.weight >= 1]
    return tuple(sorted(kept, key=lambda one: (one.fit < _RIVAL, -one.weight, -one.fit)))


def _is_unquestioned(
    given: str, weights: Mapping[str, tuple[float, tuple[str, ...]]], national: Sequence[str]
) -> bool:
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
    return _fit(national[:_SAMPLE_NUMBERS], given) >= _FOREIGN


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
    if not others and count >= _ALONE_NUMBERS:
        return best.weight > 0 or count >= _ALONE_UNAIDED
    return (
        best.weight >= _LANGUAGE_LEAD
        and best.weight - second >= _LANGUAGE_LEAD
        and count >= _SOME_NUMBERS
    )


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
    foreign = (
        own.fit < _FOREIGN
        and best.fit >= _SURELY_FITS
        and best.weight >= own.weight
        and best.weight > 0
        and count >= _SOME_NUMBERS
    )
    if not told and not foreign:
        return None
    because = f": {'; '.join(best.evidence)}" if best.evidence else ""
    return (
        f"{name} is not a list of {country_name(given)}: {own.fit:.0%} of its numbers are numbers "
        f"of {given}, {best.fit:.0%} of {country_name(best.region)} ({best.region}){because}; say "
        f"--region {best.region}, or insist with --region {given} --force-region"
    )


# ---- the rest of the list


def _weigh(
    frame: pd.DataFrame,
    phones: Sequence[pd.Series],
    national: Sequence[str],
    abroad: Sequence[str],
) -> dict[str, tuple[float, tuple[str, ...]]]:
    """What speaks for each country besides its numbering plan, with the words for it."""
    headers = [str(name) for name in frame.columns]
    own = {str(column.name) for column in phones}
    columns = {
        name: [cell for cell in map(str, frame[name].head(_SAMPLE_ROWS)) if cell.strip()]
        for name in headers
        if name not in own
    }
    kinds = (
        _of_mails(columns),
        _of_places(columns),
        _of_post_codes(columns),
        _of_header_words(headers),
        _of_language(headers),
        _of_scripts(headers, columns),
        _of_own_codes(abroad),
        _of_styles(national),
    )
    weights: dict[str, tuple[float, tuple[str, ...]]] = {}
    for kind in kinds:
        for region, (weight, words) in kind.items():
            before, said = weights.get(region, (0.0, ()))
            weights[region] = (before + weight, (*said, words) if words else said)
    return weights


_Weights = dict[str, tuple[float, str]]


def _of_mails(columns: Mapping[str, Sequence[str]]) -> _Weights:
    """Endings of mail domains that belong to a country."""
    endings: Counter[str] = Counter()
    for cells in columns.values():
        for cell in cells:
            match = _MAIL.search(cell[:200]) if "@" in cell[:200] else None
            if match is None:
                continue
            ending = match[1].lower()
            sold = ending in _SOLD_ENDINGS and not cell.lower().rstrip().endswith(
                (f".com.{ending}", f".gov.{ending}", f".edu.{ending}", f".org.{ending}")
            )
            region = _NAMED_ENDINGS.get(ending, ending.upper())
            if not sold and region in phonenumbers.SUPPORTED_REGIONS:
                endings[region] += 1
    total = sum(endings.values())
    full = min(1.0, total / _LEAST_KNOWN_CELLS)
    return {
        region: (
            3.0 * full * count / total,
            f"{count} of {total} mail addresses of a country end in .{_ending(region)}",
        )
        for region, count in endings.items()
    }


def _ending(region: str) -> str:
    return "uk" if region == "GB" else region.lower()


def _of_places(columns: Mapping[str, Sequence[str]]) -> _Weights:
    """Cities, divisions and their codes."""
    known: Counter[str] = Counter()
    examples: dict[str, dict[str, None]] = {}
    total = 0
    names, codes = _places()
    for header, cells in columns.items():
        divisions = bool(_DIVISION_WORDS.intersection(plain(header).split()))
        for cell in cells:
            regions: frozenset[str] = frozenset()
            for part in _PARTS.split(cell[:120]):
                word = plain(part)
                regions = names.get(word, frozenset())
                if not regions and divisions:
                    regions = codes.get(word, frozenset())
                if regions:
                    for region in regions:
                        known[region] += 1
                        examples.setdefault(region, {})[part.strip()] = None
                    break
            total += bool(regions)
    if total < _LEAST_KNOWN_CELLS:
        return {}
    return {
        region: (
            3.0 * count / total,
            f"{count} of {total} known places lie there, such as {', '.join(list(examples[region])[:3])}",
        )
        for region, count in known.items()
    }


def _of_post_codes(columns: Mapping[str, Sequence[str]]) -> _Weights:
    """Post codes in the form of a country."""
    weights: _Weights = {}
    for header, cells in columns.items():
        if len(cells) < _LEAST_KNOWN_CELLS:
            continue
        named = bool(_POST_WORDS.intersection(plain(header).split()))
        for region, facts in _table().items():
            if "post" not in facts or not (named or facts.get("only")):
                continue
            form = re.compile(facts["post"])
            share = sum(form.fullmatch(cell[:12].strip()) is not None for cell in cells) / len(
                cells
            )
            if share >= _POST_SHARE:
                weight = 2.0 if facts.get("only") and named else 1.5 if facts.get("only") else 0.3
                words = f"{header} has post codes of its form" if facts.get("only") else ""
                weights[region] = max(weights.get(region, (0.0, "")), (weight, words))
    return weights


def _of_header_words(headers: Sequence[str]) -> _Weights:
    """Names of tax numbers, divisions and the like that one country alone has."""
    weights: _Weights = {}
    said = {plain(header): header for header in headers}
    for region, words in _header_words().items():
        found = [header for name, header in said.items() if name in words]
        found += [
            header
            for name, header in said.items()
            if name not in words
            and any(len(word) > 4 and f" {word} " in f" {name} " for word in words)
        ]
        if found:
            weights[region] = (2.0, f"its own words in the header: {', '.join(found[:3])}")
    return weights


def _of_language(headers: Sequence[str]) -> _Weights:
    """The language of the header; English says little, since the whole world writes it."""
    tokens = {token for header in headers for token in plain(header).split()}
    tokens |= {plain(header) for header in headers}
    counts = {language: len(tokens & words) for language, words in _languages().items()}
    most = max(counts.values(), default=0)
    if most < 2:
        return {}
    best = [language for language, count in counts.items() if count == most]
    if "en" in best:
        return {
            region: (0.3, "")
            for region, facts in _table().items()
            if "en" in facts["languages"].split()
        }
    speakers = {
        language: [
            region for region, facts in _table().items() if language in facts["languages"].split()
        ]
        for language in best
    }
    weights: _Weights = {}
    for language, regions in speakers.items():
        weight = 2.0 if len(regions) == 1 and len(best) == 1 else 1.0
        for region in regions:
            weights[region] = (weight, f"headers in the language of the country ({language})")
    if "es" in best:
        weights["US"] = (0.5, "")  # where lists are Spanish too
    return weights


def _of_scripts(headers: Sequence[str], columns: Mapping[str, Sequence[str]]) -> _Weights:
    """Letters that few countries write."""
    texts = [*headers, *(cell[:200] for cells in columns.values() for cell in cells[:200])]
    weights: _Weights = {}
    for letters, regions, weight, words in _SCRIPTS:
        if sum(letters.search(text) is not None for text in texts) >= _LEAST_KNOWN_CELLS:
            for region in regions:
                weights[region] = (weight, words)
    return weights


def _of_own_codes(abroad: Sequence[str]) -> _Weights:
    """Other numbers of the list that say their country."""
    regions: Counter[str] = Counter()
    for number in abroad[:200]:
        text = re.sub(r"^[\s'\"=(]*00", "+", number)
        try:
            parsed = phonenumbers.parse(text, None)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed):
            regions[phonenumbers.region_code_for_country_code(parsed.country_code or 0)] += 1
    total = sum(regions.values())
    if total < _LEAST_KNOWN_CELLS:
        return {}
    return {
        region: (
            2.0 * count / total,
            f"{count} of {total} numbers with a country code are of it",
        )
        for region, count in regions.items()
    }


def _of_styles(national: Sequence[str]) -> _Weights:
    """Ways of writing numbers."""
    weights: _Weights = {}
    for style, regions, weight in _STYLES:
        share = sum(style.fullmatch(number) is not None for number in national) / len(national)
        if share >= _STYLE_SHARE:
            for region in regions:
                weights[region] = (weight, "numbers written as they are there")
    return weights


# ---- the table


@cache
def _header_words() -> dict[str, frozenset[str]]:
    return {
        region: _plain_words(facts["words"])
        for region, facts in _table().items()
        if "words" in facts
    }


@cache
def _languages() -> dict[str, frozenset[str]]:
    return {
        name: _plain_words(words)
        for name, words in _file()["languages"].items()
        if name != "source"
    }


def _plain_words(words: str) -> frozenset[str]:
    return frozenset(plain(word) for word in words.split("|")) - {""}


@cache
def _file() -> dict[str, dict[str, Any]]:
    text = resources.files(__package__).joinpath("region_evidence.toml").read_text("utf-8")
    return tomllib.loads(text)


def _table() -> dict[str, dict[str, Any]]:
    return {region: facts for region, facts in _file().items() if region != "languages"}


@cache
def _places() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """Regions by names of cities and divisions, and by codes of divisions."""
    tables: list[dict[str, frozenset[str]]] = [{}, {}]
    for region, facts in _table().items():
        codes = facts.get("codes", "").replace(" ", "|")
        for table, words in zip(tables, (facts["cities"], codes), strict=True):
            for word in words.split("|"):
                if name := plain(word):
                    table[name] = table.get(name, frozenset()) | {region}
    return tables[0], tables[1]
