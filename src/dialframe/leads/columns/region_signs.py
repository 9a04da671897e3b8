"""What a list of contacts says of its country: mails, places, post codes, words, letters, and its numbers' likelihood.

`region_evidence.toml` has the names and their sources; each kind of evidence has its own function, and
its weight is 2 where only one country can be meant.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
import phonenumbers
from phonenumbers import PhoneNumberFormat, re_util

from dialframe.leads.columns.country_names import read_region
from dialframe.leads.names_and_emails import is_nothing, tidy
from dialframe.opt_outs import plain, plain_parts
from dialframe.phones.vectorized import line_types

#: What speaks for each country: how much, and in which words.
Weights = dict[str, tuple[float, tuple[str, ...]]]

_SAMPLE_ROWS: Final = 2000
_LEAST_KNOWN_CELLS: Final = 3
_LONGEST_NAME: Final = 60
_ENOUGH_NAMES: Final = 6
#: What a header in English says for a country that speaks it.
_ENGLISH: Final = 0.1
_ENOUGH_LETTERS: Final = 3
#: What all letters together say for a country.
_LETTERS_AT_MOST: Final = 2.0
#: Letters of the ending of a family name, and of what is left before it.
_LEAST_ENDING: Final = 2
_LONGEST_ENDING: Final = 6
_LEAST_STEM: Final = 2
_POST_SHARE: Final = 0.8
#: So many cells show the form of a column.
_POST_CODES: Final = 500
#: Addresses of mail and identifiers, which name no place; a code of a division has two digits at the most.
_NO_PLACE: Final = re.compile(r"@|\d\d\d")
_STYLE_SHARE: Final = 0.5
_MAIL: Final = re.compile(r"[^\s@]{1,64}@(?:[\w-]{1,63}\.){1,6}([a-z]{2,24})\b", re.IGNORECASE)
#: `jean.bernard53@...`; without a separator nobody knows where a name begins.
_MAIL_OF_PERSON: Final = re.compile(r"([^\W\d_]{2,30})[._-]([^\W\d_]{2,30})\d{0,6}@")
_PARTS: Final = re.compile(r"[,;|\n]+|\s[-–]\s")
#: Tables of the file that are not of one country.
_SHARED_TABLES: Final = frozenset(
    {"languages", "confused", "lead", "headers", "mails", "names", "letters", "styles"}
)


#: Digits by which numbers are of one area.
_AREA_DIGITS: Final = 3
#: Numbers of which the groups are looked at, and how many of them show a habit.
_GROUPED_NUMBERS: Final = 12
_ENOUGH_GROUPED: Final = 6
_DIGITS: Final = re.compile(r"\d")
_MAY_FIT: Final = 0.5
_FITS: Final = 0.8
_FITS_ALL: Final = 0.95
#: How seldom the numbers of one country would all fit another plan.
_BY_CHANCE: Final = 0.00001
_SELDOM: Final = 0.2
#: Which share of numbers without a country says that more of them are of another.
_ENOUGH_STRANGE: Final = 0.05
_LEAST_NAMED: Final = 2
_LEAST_DIGITS: Final = 6
_LONGEST_NUMBER: Final = 40


class _Facts(NamedTuple):
    """`region_evidence.toml` as it is looked up: all words plain.

    Attributes:
        tables: All tables as they stand in the file.
        sets: Words of those tables by name: `division` and `post` of headers, `sold` of mails, `usual`.
        regions: The table of each country.
        own_words: Words that one country alone writes in headers, by country.
        cities: Countries by cities and divisions.
        codes: Countries by codes of divisions.
        people: Countries by names of people that are frequent there.
        endings: Countries by endings of family names.
        languages: Words of headers by language.
    """

    tables: dict[str, Any]
    sets: dict[str, frozenset[str]]
    regions: dict[str, dict[str, Any]]
    own_words: dict[str, frozenset[str]]
    cities: dict[str, frozenset[str]]
    codes: dict[str, frozenset[str]]
    people: dict[str, frozenset[str]]
    endings: dict[str, frozenset[str]]
    languages: dict[str, frozenset[str]]


@cache
def _facts() -> _Facts:
    text = resources.files(__package__).joinpath("region_evidence.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    regions = {name: table for name, table in tables.items() if name not in _SHARED_TABLES}
    named = (
        ("headers", "division"),
        ("headers", "post"),
        ("mails", "sold"),
        ("confused", "usual"),
    )
    people = [(group, group["regions"].split()) for group in tables["names"]["groups"]]

    def by_word(words: Iterable[tuple[Iterable[str], Iterable[str]]]) -> dict[str, frozenset[str]]:
        known: dict[str, set[str]] = defaultdict(set)
        for texts, where in words:
            for word in filter(None, texts):
                known[word].update(where)
        return {word: frozenset(where) for word, where in known.items()}

    return _Facts(
        tables,
        {name: frozenset(tables[table][name].split()) for table, name in named},
        regions,
        {
            region: frozenset(plain_parts(facts.get("words", ""))) - {""}
            for region, facts in regions.items()
        },
        by_word((plain_parts(facts["cities"]), [region]) for region, facts in regions.items()),
        by_word(
            (plain_parts(facts.get("codes", "").replace(" ", "|")), [region])
            for region, facts in regions.items()
        ),
        by_word((plain_parts(group.get("words", "")), where) for group, where in people),
        by_word((group.get("endings", "").split(), where) for group, where in people),
        {
            language: frozenset(plain_parts(words)) - {""}
            for language, words in tables["languages"].items()
            if language != "source"
        },
    )


def weigh(
    frame: pd.DataFrame,
    phones: Sequence[pd.Series],
    national: Sequence[str],
    abroad: Sequence[str],
) -> Weights:
    """What speaks for each country besides its numbering plan, with the words for it.

    Args:
        frame: The list, or a sample of its rows.
        phones: Its columns of phones.
        national: Its numbers without a country code.
        abroad: Its numbers with one.
    """
    headers = [str(name) for name in frame.columns]
    columns = _cells(frame, phones)
    kinds = (
        _of_mails(columns),
        _of_places(columns),
        _of_post_codes(columns),
        _of_names(columns),
        _of_header_words(headers),
        _of_language(headers, {str(column.name) for column in phones}),
        _of_letters(headers, columns),
        _of_own_codes(abroad),
        _of_styles(national),
    )
    weights: Weights = {}
    for kind in kinds:
        for region, (weight, words) in kind.items():
            before, signs = weights.get(region, (0.0, ()))
            weights[region] = (before + weight, (*signs, words) if words else signs)
    return weights


def _cells(frame: pd.DataFrame, phones: Sequence[pd.Series]) -> dict[str, list[str]]:
    """The filled cells of each column but the phones."""
    phone_names = {str(column.name) for column in phones}
    return {
        name: [cell for cell in map(str, frame[name].head(_SAMPLE_ROWS).tolist()) if cell.strip()]
        for name in map(str, frame.columns)
        if name not in phone_names
    }


def is_of_divisions(header: str) -> bool:
    """Whether a header speaks of states, provinces and the like."""
    return not _facts().sets["division"].isdisjoint(plain(header).split())


def is_division(cell: str) -> bool:
    """Whether a cell is the code of a state or province, `CA` or `NSW`."""
    return plain(cell) in _facts().codes


def is_place(cell: str) -> bool:
    """Whether a cell is the name of a known city or division, `Hessen`, or the code of one."""
    return plain(cell) in _facts().cities or is_division(cell)


def shares_elsewhere(
    frame: pd.DataFrame, phones: Sequence[pd.Series], region: str
) -> dict[str, float]:
    """Share of the mails and of the places of a list that are of other countries than the likeliest, 0 to 2.

    Args:
        frame: The list, or a sample of its rows.
        phones: Its columns of phones.
        region: The likeliest country; a place that it has too is its own.
    """
    columns = _cells(frame, phones)
    shares: dict[str, float] = {}
    for kind in (_of_mails(columns), _of_places(columns, region)):
        for other, (weight, _) in kind.items():
            # 3 is what each weighs where it is all of them.
            shares[other] = shares.get(other, 0.0) + weight / 3.0
    return shares


def lead(name: str) -> float:
    """One figure of the table of how much a list has to speak for a country."""
    return float(_facts().tables["lead"][name])


def economy_of(region: str) -> float:
    """The economy of a region in billions of dollars a year; of one that the table has not, a small one."""
    return float(_facts().regions.get(region, {}).get("economy", 3))


def is_confused(given: str, other: str) -> bool:
    """Whether people give the one region for lists of the other: neighbors, or of one language."""
    return any(
        {given, other} <= set(group.split()) for group in _facts().tables["confused"]["groups"]
    )


def is_usual(region: str) -> bool:
    """Whether a region is given for lists of any country."""
    return region in _facts().sets["usual"]


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
            # `.co` and `.io` are bought anywhere; `.com.co` only in Colombia.
            sold = ending in _facts().sets["sold"] and not cell.lower().rstrip().endswith(
                (f".com.{ending}", f".gov.{ending}", f".edu.{ending}", f".org.{ending}")
            )
            region = "GB" if ending == "uk" else ending.upper()
            if not sold and region in phonenumbers.SUPPORTED_REGIONS:
                endings[region] += 1
    return _by_share(
        endings,
        sum(endings.values()),
        3.0,
        lambda region: (
            f"mail addresses of a country end in .{'uk' if region == 'GB' else region.lower()}"
        ),
    )


def _by_share(
    counts: Counter[str], total: int, most: float, words: Callable[[str], str]
) -> _Weights:
    """A weight for each region by its share of so many cells; of few cells all weigh less."""
    full = min(1.0, total / _LEAST_KNOWN_CELLS)
    return {
        region: (most * full * count / total, f"{count} of {total} {words(region)}")
        for region, count in counts.items()
    }


def _of_places(columns: Mapping[str, Sequence[str]], region_given: str | None = None) -> _Weights:
    """Cities, divisions and their codes; those that a country of one's own has too are its alone."""
    known: Counter[str] = Counter()
    examples: dict[str, dict[str, None]] = {}
    total = 0
    names, codes = _facts().cities, _facts().codes
    for header, cells in columns.items():
        divisions = is_of_divisions(header)
        counts = Counter(cells)
        if not divisions:  # Colombo and Paris are names of people, too
            most = counts.most_common(_POST_CODES)
            people = sum(count * (bool(_names_in(cell)) - is_place(cell)) for cell, count in most)
            if people > 0:
                continue
        for cell, count in counts.items():
            regions: frozenset[str] = frozenset()
            # `Bogotá, Colombia` or a whole address: the first part that is a place counts.
            for part in _PARTS.split(cell[:120]):
                if _NO_PLACE.search(part):
                    continue
                word = plain(part)
                regions = names.get(word, frozenset())
                if not regions and divisions:
                    regions = codes.get(word, frozenset())
                if regions:
                    for region in {region_given} if region_given in regions else regions:
                        known[region] += count
                        examples.setdefault(region, {})[part.strip()] = None
                    break
            total += count * bool(regions)
    return _by_share(
        known,
        total,
        3.0,
        lambda region: f"known places lie there, such as {', '.join(list(examples[region])[:3])}",
    )


def _of_names(columns: Mapping[str, Sequence[str]]) -> _Weights:
    """Names of people that are frequent in some countries; where people of all live, they say less."""
    facts = _facts().tables["names"]
    groups: Counter[frozenset[str]] = Counter()
    different: set[str] = set()
    for cells in columns.values():
        for cell, count in Counter(cells).items():
            if hits := _names_in(cell):
                different.update(hits)
                # A given name of ten countries with a family name of one says that one.
                common = frozenset.intersection(*hits.values())
                groups[common or frozenset.union(*hits.values())] += count
    total = sum(groups.values())
    if not total:
        return {}
    shares: dict[str, float] = defaultdict(float)
    for regions, count in groups.items():
        for region in regions:
            shares[region] += count / total
    # Where people of all countries live, a name says little against the country.
    for region in facts["everywhere"].split():
        shares[region] = max(shares[region], facts["least"])
    weight = facts["weight"] * min(1.0, len(different) / _ENOUGH_NAMES)
    words = f"{total} cells with names of people that are frequent there"
    return {
        region: (weight * share, words if share > facts["least"] else "")
        for region, share in shares.items()
    }


@lru_cache(maxsize=2**13)  # the most frequent cells of a column are asked about twice
def _names_in(cell: str) -> dict[str, frozenset[str]]:
    """Names of people in a cell or before the `@` of a mail address, with where they are frequent."""
    mail = _MAIL_OF_PERSON.match(cell[:_LONGEST_NAME])
    if mail is None and _NO_PLACE.search(cell):
        return {}
    words = plain(" ".join(mail.groups()) if mail else cell[:_LONGEST_NAME]).split()
    known = _facts().people
    pairs = [" ".join(pair) for pair in pairwise(words)]
    hits = {word: known[word] for word in (*words, *pairs) if word in known}
    if is_place(cell):
        return hits
    # A family name that ends as names of some of them do: `Karjalainen`, `Petrovic`.
    endings = _facts().endings
    for word in set(words).difference(hits):
        for length in range(min(_LONGEST_ENDING, len(word) - _LEAST_STEM), _LEAST_ENDING - 1, -1):
            if (regions := endings.get(word[-length:])) is not None:
                hits[word] = regions
                break
    return hits


def _of_post_codes(columns: Mapping[str, Sequence[str]]) -> _Weights:
    """Post codes in the form of a country."""
    weights: _Weights = {}
    for header, cells in columns.items():
        full = min(1.0, len(cells) / _LEAST_KNOWN_CELLS)
        # Five digits are the post code of fifty countries, and the number of anything.
        named = not _facts().sets["post"].isdisjoint(plain(header).split())
        counts = Counter(cell[:12].strip() for cell in cells[:_POST_CODES])
        for region, facts in _facts().regions.items():
            if "post" not in facts or not (named or facts.get("only")):
                continue
            if _is_mostly(counts, re.compile(facts["post"])):
                weight = 2.0 if facts.get("only") and named else 1.5 if facts.get("only") else 0.3
                words = f"{header} has post codes of its form" if facts.get("only") else ""
                weights[region] = max(weights.get(region, (0.0, "")), (full * weight, words))
    return weights


def _is_mostly(counts: Mapping[str, int], form: re.Pattern[str]) -> bool:
    """Whether nearly all cells have a form; most columns are known not to after a few of them."""
    total = sum(counts.values())
    others_left = total - total * _POST_SHARE
    for cell, count in counts.items():
        if form.fullmatch(cell) is None:
            others_left -= count
            if others_left < -1e-9:
                return False
    return True


def _of_header_words(headers: Sequence[str]) -> _Weights:
    """Names of tax numbers, divisions and the like that one country alone has."""
    weights: _Weights = {}
    headers_by_name = {plain(header): header for header in headers}
    for region, words in _facts().own_words.items():
        whole = [name for name in headers_by_name if name in words]
        # Short ones are parts of other words by chance.
        parts = [
            name
            for name in headers_by_name
            if name not in words
            and any(len(word) > 4 and f" {word} " in f" {name} " for word in words)
        ]
        matches = [headers_by_name[name] for name in (*whole, *parts)]
        if matches:
            weights[region] = (2.0, f"its own words in the header: {', '.join(matches[:3])}")
    return weights


def _of_language(headers: Sequence[str], phones: Collection[str]) -> _Weights:
    """The language of the header; English says little, since the whole world writes it."""
    counts = _words_of_languages(headers)
    most = max(counts.values(), default=0)
    if most < 2:  # one word alone may be of any, but `Telefoon` is no English
        counts = _words_of_languages(phones)
        most = min(1, max(counts.values(), default=0))
        counts = {language: min(1, count) for language, count in counts.items()}
    if not most:
        return {}
    best = [language for language, count in counts.items() if count == most]
    speakers = {
        language: [
            region
            for region, facts in _facts().regions.items()
            if language in facts["languages"].split()
        ]
        for language in best
    }
    if "en" in best:
        return dict.fromkeys(speakers["en"], (_ENGLISH, ""))
    weights: _Weights = {}
    for language, regions in speakers.items():
        is_alone = len(regions) == 1 and len(best) == 1
        weight = min(2.0, most if is_alone else most / 2)
        words = f"headers in the language of the country ({language})"
        weights |= dict.fromkeys(regions, (weight, words))
    if "es" in best:
        weights["US"] = (0.5, "")  # where lists are Spanish too
    return weights


def _words_of_languages(headers: Iterable[str]) -> dict[str, int]:
    """How many words of each language headers have."""
    names = [plain(header) for header in headers]
    tokens = {token for name in names for token in (name, *name.split())}
    return {language: len(tokens & words) for language, words in _facts().languages.items()}


def _of_letters(headers: Sequence[str], columns: Mapping[str, Sequence[str]]) -> _Weights:
    """Letters that few countries write, by the share of the words that have them."""
    # Letters are in every name: two hundred cells of a column show its language.
    names = [cell[:200] for cells in columns.values() for cell in cells[:200]]
    texts = [text for text in (*headers, *names) if any(map(str.isalpha, text))]
    whole = "\n".join(texts)
    weights: _Weights = {}
    for script in _facts().tables["letters"]:
        letters = re.compile(script["form"])
        if letters.search(whole) is None:
            continue
        count = sum(letters.search(text) is not None for text in texts)
        usual = script["share"] * len(texts)
        weight = script["weight"] * min(1.0, count / usual, count / _ENOUGH_LETTERS)
        for region in script["regions"].split():
            before, words = weights.get(region, (0.0, ""))
            words = words or script["words"]
            weights[region] = (min(_LETTERS_AT_MOST, before + weight), words)
    return weights


def _of_own_codes(abroad: Sequence[str]) -> _Weights:
    """Other numbers of the list that say their country."""
    regions: Counter[str] = Counter()
    for number in abroad[:200]:
        # `00` is the prefix that ITU-T E.164 recommends for calls abroad.
        text = re.sub(r"^[\s'\"=(]*00", "+", number)
        try:
            parsed = phonenumbers.parse(text, None)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed):
            regions[phonenumbers.region_code_for_country_code(parsed.country_code or 0)] += 1
    return _by_share(
        regions, sum(regions.values()), 2.0, lambda _: "numbers with a country code are of it"
    )


def _of_styles(national: Sequence[str]) -> _Weights:
    """Ways of writing numbers."""
    weights: _Weights = {}
    for style in _facts().tables["styles"]:
        form = re.compile(style["form"])
        share = sum(form.fullmatch(number) is not None for number in national) / len(national)
        if share >= _STYLE_SHARE:
            for region in style["regions"].split():
                weights[region] = (style["weight"], "numbers written as they are there")
    return weights


def _digits(number: str) -> str:
    return "".join(_DIGITS.findall(number))


def grouped_share(numbers: Sequence[str], region: str) -> float:
    """Share of the numbers that are written in groups as the country writes them; of few, they say less."""
    groups = [_groups(number) for number in numbers]
    shown = [at for at, each in enumerate(groups) if len(each) > 1][:_GROUPED_NUMBERS]
    alike = sum(_groups_at_home(numbers[at], region) == groups[at] for at in shown)
    return alike / max(len(shown), _ENOUGH_GROUPED)


@lru_cache(maxsize=2**12)  # a list is asked about for its columns, for its region, and once more
def _groups_at_home(number: str, region: str) -> list[str] | None:
    """The groups in which a country writes a number; None of what is no number there."""
    re_util.enable_pattern_cache()  # a quarter of the time is compiling patterns else
    try:
        parsed = phonenumbers.parse(number, region)
    except phonenumbers.NumberParseException:
        return None
    return _groups(phonenumbers.format_number(parsed, PhoneNumberFormat.NATIONAL))


def _groups(number: str) -> list[str]:
    """The groups of digits of a number without its trunk 0."""
    groups = re.findall(r"\d+", number)
    return [group for group in (groups[0].lstrip("0"), *groups[1:]) if group]


def unnamed_countries(
    countries: pd.Series, phones: Sequence[pd.Series], region: str
) -> frozenset[str]:
    """Countries of which records may be that name none, in a list that names the given one of others.

    Args:
        countries: The column of countries.
        phones: The columns of phones.
        region: The region given.

    Returns:
        The others that the column names, if most of their numbers fit the given plan too or some
        numbers without a country fit theirs alone; and those whose plan all numbers without a
        country fit and few of those of the given country. Nothing where the given one is not named:
        then an empty cell is at home.
    """
    code = phonenumbers.country_code_for_region
    rows = slice(None, None, max(1, -(-len(countries) // _SAMPLE_ROWS)) | 1)
    countries, phones = countries.iloc[rows], [column.iloc[rows] for column in phones]
    read = ["" if is_nothing(tidy(cell)) else read_region(cell) for cell in map(str, countries)]
    counts = Counter(read)
    # Who leaves the country blank is at home where most of the others say so.
    if not counts[""] or counts[region] < _LEAST_NAMED:
        return frozenset()
    numbers: dict[str | None, list[str]] = defaultdict(list)
    for column in phones:
        for cell, named in zip(map(str, column), read, strict=True):
            if len(_digits(cell)) > _LEAST_DIGITS and "+" not in cell:
                numbers[named].append(cell[:_LONGEST_NUMBER])
    without, of_given = numbers[""][:_POST_CODES], numbers[region][:_POST_CODES]
    if not without or not of_given:
        return frozenset()
    strange, beside = ~_fit(without, region), set[str]()
    # Numbers of one area fit another plan together, or not at all.
    areas = len({_digits(number).lstrip("0")[:_AREA_DIGITS] for number in without})
    for other in (candidate for candidate in _facts().regions if code(candidate) != code(region)):
        theirs = _fit(without, other)
        alike = max(1, _MAY_FIT * len(numbers[other]))
        is_named = counts[other] >= _LEAST_NAMED and (
            (theirs & strange).mean() >= _ENOUGH_STRANGE
            or _fit(numbers[other], region).sum() >= alike
        )
        if is_named:
            beside.add(other)
        elif theirs.mean() >= _FITS_ALL:
            # Numbers that all fit the other plan are hardly of the country whose own hardly do.
            share = (_fit(of_given, other).sum() + 1) / (len(of_given) + 2)
            if share <= _SELDOM and share**areas <= _BY_CHANCE:
                beside.add(other)
    return frozenset(beside)


def _fit(numbers: list[str], plan: str) -> np.ndarray:
    return np.array(line_types(numbers, [plan] * len(numbers)) >= 0, np.bool_)
