"""How likely the national numbers of a list are under each of the world's numbering plans.

A plan is a model of the numbers that people of a country write down: how they write them (with the
trunk prefix, without it, with the calling code), of which types they are, in which areas, and then
any number of that area. Each choice of a list is drawn from a Dirichlet distribution around what is
usual (Minka 2000, Estimating a Dirichlet distribution), so that a list which is of one city, or of
one way of writing, pays for that once; mobile numbers are spread over all prefixes of a country in
most lists, landlines are often of one area. What a plan cannot have written is a slip of the pen,
which is rare.

Sums of logarithms over all numbers of a list make two plans comparable: a list of which all numbers
are numbers of both is likelier one of the plan that has fewer others.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from math import lgamma, log
from typing import Final, NamedTuple

import numpy as np
import phonenumbers
from numpy.typing import NDArray
from phonenumbers import PhoneNumberType

from dialframe.phones.number_automata import LONGEST
from dialframe.phones.parse_number import read_number
from dialframe.phones.vectorized import plan as shared_plan

#: How often a number of a list of contacts is of a type, where the plan has that type.
_TYPE_SHARES: Final = {
    PhoneNumberType.MOBILE: 0.5,
    PhoneNumberType.FIXED_LINE: 0.4,
    PhoneNumberType.FIXED_LINE_OR_MOBILE: 0.9,
}
#: The same of landlines where there are few.
_FEW_LANDLINES: Final = 0.05
#: All other types together: a number in a hundred, and no list is one of them alone.
_OTHER: Final = 11
_OTHER_SHARE: Final = 0.01
_TYPES: Final = (*_TYPE_SHARES, _OTHER)
#: How often numbers are written as at home, without what is dialed before them there, and in full
#: without a plus.
_WAYS: Final = {"home": 0.6, "bare": 0.3, "full": 0.1}
#: Share of the numbers of a list that are none.
_SLIPS: Final = 0.01
#: Weights of the Dirichlet distributions: of ways and types; and of a digit behind others, where a list
#: is spread over its country and where it is gathered in a few places, with how often that is so.
_CHOICES: Final = 2.0
_SPREAD, _GATHERED = 25.0, 0.7
_GATHERED_AREAS: Final = 0.5
_GATHERED_MOBILE: Final = 0.1
_GATHERED_BEHIND: Final = 0.3
_LONGEST_TRUNK: Final = 3
#: `011 15 2345-6789` is a mobile number of Buenos Aires, dialed +54 9 11 2345 6789 from abroad.
_REWRITTEN: Final = re.compile(r"0?(?:11|[2-9]\d{2,3})15\d{6,8}")
_REWRITING: Final = 54
_LEAST_LENGTH: Final = 4
_AREA_DIGITS: Final = 2
_WIDTH: Final = LONGEST + 5
_POSSIBLE: Final = 0
_UNKNOWN: Final = 99
_BLANK: Final = 15
_KINDS: Final = np.full(256, _OTHER, np.uint8)
_KINDS[[*_TYPE_SHARES, _UNKNOWN]] = [*_TYPE_SHARES, _UNKNOWN]
#: A plan of which fewer numbers are valid than this share is none of the list.
_RIVAL: Final = 0.5


class PlanFit(NamedTuple):
    """How numbers fit the plan behind a calling code.

    Attributes:
        fit: Share of the numbers that are valid in it, 0 to 1.
        log_likelihood: Natural logarithm of the likelihood of all of them together.
    """

    fit: float
    log_likelihood: float


def plan_fits(numbers: Sequence[str], asked: Sequence[int] = ()) -> dict[int, PlanFit]:
    """How the numbers fit each plan of which at least half of them are.

    Args:
        numbers: Distinct numbers as they are written, without a plus.
        asked: Calling codes whose plans are wanted in any case.

    Returns:
        The fit by calling code.

    Example:
        >>> fits = plan_fits(["07400 123456", "07900 123456"])
        >>> 44 in fits, 1 in fits
        (True, False)
    """
    written = ["".join(re.findall(r"[0-9]", number))[:_WIDTH] for number in numbers]
    readings = _readings(written, _codes(), asked)
    if any(map(_REWRITTEN.fullmatch, written)):
        national = [_as_dialed(text) for text in written]
        readings.pop(_REWRITING, None)
        readings |= _readings(national, [_REWRITING], asked)
    fits: dict[int, PlanFit] = {}
    for code in filter(readings.__contains__, _codes()):
        drawn = readings[code]
        slips = [len(text) for row, text in enumerate(written) if row not in drawn]
        unlikely = sum(log(_SLIPS) - size * log(10) for size in slips)
        fit = len(drawn) / len(written) if written else 0.0
        fits[code] = PlanFit(fit, unlikely + _likelihood(code, list(drawn.values())))
    return fits


class _Drawn(NamedTuple):
    """A number as one of a plan: how it is written, its length, type, digits, and the states between them."""

    way: str
    length: int
    kind: int
    digits: str
    states: tuple[int, ...]


def _readings(
    written: Sequence[str], codes: Sequence[int], asked: Sequence[int]
) -> dict[int, dict[int, _Drawn]]:
    """By calling code and place in the list, each number that is valid there, as it is usually written.

    The codes are those that are asked for, and those in whose plans at least half of the numbers are.
    """
    plan = shared_plan()
    ways = [(code, *way) for code in codes for way in _ways(code)]
    size_of = np.array([len(text) for text in written], np.intp)
    digits = np.full((len(written), _WIDTH + 1), _BLANK, np.uint8)
    for row, text in enumerate(written):
        digits[row, : len(text)] = np.frombuffer(text.encode(), np.uint8) - ord("0")
    # Each number in each way of which it has the prefix.
    rows_with: dict[str, list[int]] = {prefix: [] for _, _, prefix, _ in ways}
    for size in sorted(set(map(len, rows_with))):
        for row, text in enumerate(written):
            if len(text) >= size and text[:size] in rows_with:
                rows_with[text[:size]].append(row)
    rows = np.array([row for _, _, prefix, _ in ways for row in rows_with[prefix]], np.intp)
    way = np.repeat(np.arange(len(ways)), [len(rows_with[prefix]) for _, _, prefix, _ in ways])
    root = np.array([plan.root[code] for code, _, _, _ in ways], np.intp)
    is_lost = np.array([bool(lost) for _, _, _, lost in ways])
    first = np.where(is_lost, plan.step[root, 0], root)
    begin = np.array([len(prefix) for _, _, prefix, _ in ways], np.intp)[way]
    length = size_of[rows] - begin + is_lost[way]
    main = plan.main[np.array([code for code, _, _, _ in ways], np.intp)][way]
    possible = plan.length[main, np.clip(length, 0, LONGEST)] == _POSSIBLE
    pairs = np.flatnonzero(possible & (length <= LONGEST))
    passed = [state := first[way[pairs]].astype(np.intp)]
    for at in range(LONGEST):
        column = begin[pairs] + at
        following = plan.step[state, digits[rows[pairs], np.minimum(column, _WIDTH)]]
        state = np.where(column < size_of[rows[pairs]], following, state)
        passed.append(state)
    kinds = plan.kind[state]
    valid = np.flatnonzero((state != 0) & (kinds != _UNKNOWN))
    row_of, way_of, length_of = (each[pairs[valid]].tolist() for each in (rows, way, length))
    states = np.stack(passed, axis=1)[valid]
    drawn: dict[int, dict[int, int]] = {code: {} for code in codes}
    for place, row in enumerate(row_of):
        drawn[ways[way_of[place]][0]].setdefault(row, place)
    readings: dict[int, dict[int, _Drawn]] = {}
    for code, place_of in drawn.items():
        if code not in asked and len(place_of) < max(_RIVAL * len(written), 1):
            continue
        readings[code] = {}
        for row, place in place_of.items():
            _, name, prefix, lost = ways[way_of[place]]
            kind = int(kinds[valid[place]])
            readings[code][row] = _Drawn(
                name,
                length_of[place],
                kind if kind in _TYPE_SHARES else _OTHER,
                lost + written[row][len(prefix) :],
                (*([int(root[way_of[place]])] if lost else []), *states[place].tolist()),
            )
    return readings


def _as_dialed(digits: str) -> str:
    """A number of Argentina as its plan has it, where it is written with the `15` of mobile numbers."""
    reading = read_number(digits, "AR") if _REWRITTEN.fullmatch(digits) else None
    return f"0{reading.e164[3:]}" if reading is not None and reading.e164 else digits


def _likelihood(code: int, drawn: Sequence[_Drawn]) -> float:
    """The logarithm of the likelihood of numbers of the plan."""
    # Each number of the plan is no slip; the slips are counted by `plan_fits`.
    total = len(drawn) * log(1 - _SLIPS)
    chosen: dict[tuple[str, int, int], list[_Drawn]] = {}
    for number in drawn:
        chosen.setdefault(number[:3], []).append(number)
    shares, ends = _shares(code), _ends(code)
    total += _dirichlet(
        _CHOICES, [(len(chosen[key]), shares[key]) for key in chosen if key in shares]
    )
    for (way, length, kind), numbers in chosen.items():
        if (way, length, kind) not in shares:
            total += len(numbers) * log(_OTHER_SHARE)
        by_area = kind != PhoneNumberType.MOBILE or code in _codes_with("mobile_by_area")
        first = _GATHERED_AREAS if by_area else _GATHERED_MOBILE
        branches = [(0, numbers)]
        while branches:
            at, alike = branches.pop()
            if len(alike) == 1 or at == length:  # any number of what is left
                total -= log(ends.behind(length - at, alike[0].states[at], kind))
                continue
            twigs: dict[str, list[_Drawn]] = {}
            for number in alike:
                twigs.setdefault(number.digits[at], []).append(number)
            parent = ends.behind(length - at, alike[0].states[at], kind)
            level = [
                (len(twig), ends.behind(length - at - 1, twig[0].states[at + 1], kind) / parent)
                for twig in twigs.values()
            ]
            gathered = _GATHERED_BEHIND if at >= _AREA_DIGITS else first
            total += float(
                np.logaddexp(
                    log(1 - gathered) + _dirichlet(_SPREAD, level),
                    log(gathered) + _dirichlet(_GATHERED, level),
                )
            )
            branches += [(at + 1, twig) for twig in twigs.values()]
    return total


def _dirichlet(weight: float, drawn: Sequence[tuple[int, float]]) -> float:
    """The logarithm of the likelihood of draws, each with how often it was drawn and its usual share."""
    count = sum(number for number, _ in drawn)
    return (
        lgamma(weight)
        - lgamma(weight + count)
        + sum(lgamma(number + weight * share) - lgamma(weight * share) for number, share in drawn)
    )


@cache
def _codes_with(habit: str) -> frozenset[int]:
    """Calling codes of the plans with a habit of `plan_habits.toml`."""
    text = resources.files("dialframe.phones").joinpath("data/plan_habits.toml").read_text("utf-8")
    return frozenset(tomllib.loads(text)[habit]["calling_codes"])


@cache
def _codes() -> tuple[int, ...]:
    root = shared_plan().root
    return tuple(
        code
        for code, regions in phonenumbers.COUNTRY_CODE_TO_REGION_CODE.items()
        if regions[0] in phonenumbers.SUPPORTED_REGIONS and root[code]
    )


@cache
def _ways(code: int) -> tuple[tuple[str, str, str], ...]:
    """The ways of writing a number of the plan, the usual first, what stands before it and what lacks."""
    plan = shared_plan()
    trunks, begun = [], [("", int(plan.national[plan.main[code]]))]
    for prefix, state in begun:  # which grows as long as no prefix is whole
        for digit in range(10 if state else 0):
            following = int(plan.prefix_step[state, digit])
            if following and plan.prefix_match[following] == 0:
                trunks.append(f"{prefix}{digit}")
            elif following and len(prefix) < _LONGEST_TRUNK - 1:
                begun.append((f"{prefix}{digit}", following))
    homes = [("home", trunk, "") for trunk in trunks if trunk != str(code)]
    # A spreadsheet takes the zero of `06` alone, and that of numbers in Italy.
    rests = {trunk.removeprefix("0") for trunk in trunks if trunk[0] == "0" < trunk[1:]}
    bare = [("bare" if homes else "home", rest, "") for rest in (*sorted(rests, reverse=True), "")]
    zeros = [("bare", "", "0")] if plan.step[plan.root[code], 0] else []
    return (*homes, *bare, *zeros, ("full", str(code), ""))


@cache
def _shares(code: int) -> dict[tuple[str, int, int], float]:
    """How usual each way, length and type is in lists of the country."""
    root, ends = int(shared_plan().root[code]), _ends(code)
    usual = dict(_TYPE_SHARES)
    if code in _codes_with("few_landlines"):
        usual[PhoneNumberType.FIXED_LINE] = _FEW_LANDLINES
    lengths = {
        kind: [
            length
            for length in range(_LEAST_LENGTH, LONGEST + 1)
            if ends.behind(length, root, kind) > 0
        ]
        for kind in _TYPES
    }
    ways = dict.fromkeys(way for way, _, _ in _ways(code))
    scale = sum(_WAYS[way] for way in ways) * sum(
        share for kind, share in usual.items() if lengths[kind]
    )
    return {
        (way, length, kind): _WAYS[way] * share / len(lengths[kind]) / scale
        for way in ways
        for kind, share in usual.items()
        for length in lengths[kind]
    }


class _Ends(NamedTuple):
    """How many numbers of a plan end behind each of its states.

    Attributes:
        places: Place of each state of the plan in `counts`.
        counts: Numbers by digits that are left, place of the state, and type.
    """

    places: dict[int, int]
    counts: NDArray[np.float64]

    def behind(self, left: int, state: int, kind: int) -> float:
        """How many numbers of a type have so many digits left behind a state."""
        return float(self.counts[left, self.places[state], _TYPES.index(kind)])


@cache
def _ends(code: int) -> _Ends:
    plan = shared_plan()
    seen = np.zeros(len(plan.step), np.bool_)
    frontier = np.array([0, plan.root[code]], np.intp)
    while len(frontier):
        seen[frontier] = True
        following = np.zeros_like(seen)
        following[plan.step[frontier, :10].ravel()] = True
        frontier = np.flatnonzero(following & ~seen)
    states = np.flatnonzero(seen)
    kinds = _KINDS[plan.kind[states]]
    counts = np.zeros((LONGEST + 1, len(states), len(_TYPES)))
    counts[0] = kinds[:, None] == np.array(_TYPES)
    counts[0, 0] = 0.0  # the dead state
    places = np.searchsorted(states, plan.step[states, :10])
    for left in range(1, LONGEST + 1):
        counts[left] = counts[left - 1][places].sum(axis=1)
    return _Ends({state: place for place, state in enumerate(states.tolist())}, counts)
