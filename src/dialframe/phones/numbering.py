"""The automaton over the national numbers of all calling codes: where a number ends says what it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from phonenumbers import PhoneNumberType

from dialframe.phones.patterns import (
    MATCHED,
    MATCHED_AT_END,
    Continuation,
    chain,
    leaves,
    nodes,
)

#: The longest national number that is ever read.
LONGEST: Final = 17
#: No region is known.
NOWHERE: Final = -1

_TYPES: Final = {
    "premium_rate": PhoneNumberType.PREMIUM_RATE,
    "toll_free": PhoneNumberType.TOLL_FREE,
    "shared_cost": PhoneNumberType.SHARED_COST,
    "voip": PhoneNumberType.VOIP,
    "personal_number": PhoneNumberType.PERSONAL_NUMBER,
    "pager": PhoneNumberType.PAGER,
    "uan": PhoneNumberType.UAN,
    "voicemail": PhoneNumberType.VOICEMAIL,
}
_KINDS: Final = ("general_desc", *_TYPES, "fixed_line", "mobile")
_LEADING: Final = "leading_digits"


class Outcome(NamedTuple):
    """What a number is: place of its region, `PhoneNumberType`, bits of the regions it is like."""

    region: int = NOWHERE
    kind: int = PhoneNumberType.UNKNOWN
    general: int = 0


class _Thread(NamedTuple):
    """A pattern under way: the member of the code, what the pattern is of, what is left of it."""

    member: int
    name: str
    rest: Continuation


class Numbering:
    """The numbering automaton under construction: states that are equal are kept once."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[int, ...], Outcome], int] = {}
        self._states: list[tuple[tuple[int, ...], Outcome]] = [((0,) * 10, Outcome())]

    def add(self, metas: list[Any], places: list[int]) -> int:
        """Add a calling code; returns its first state."""
        threads = frozenset(
            _Thread(member, name, chain(nodes(pattern)))
            for member, meta in enumerate(metas)
            for name, pattern in _patterns(meta)
        )
        return self._state(0, threads, metas, places, {})

    @property
    def steps(self) -> list[tuple[int, ...]]:
        """Next states by digit, by state."""
        return [steps for steps, _ in self._states]

    @property
    def outcomes(self) -> list[Outcome]:
        """What a number is that ends here, by state."""
        return [outcome for _, outcome in self._states]

    def _state(
        self,
        depth: int,
        threads: frozenset[_Thread],
        metas: list[Any],
        places: list[int],
        seen: dict[tuple[int, frozenset[_Thread]], int],
    ) -> int:
        if (depth, threads) in seen:
            return seen[depth, threads]
        steps = [0] * 10
        for digit in range(10):
            after = frozenset(_advanced(threads, digit))
            if depth == LONGEST:
                if any(thread.name != _LEADING for thread in after):
                    raise ValueError(f"a numbering plan has numbers of over {LONGEST} digits")
            elif after:
                steps[digit] = self._state(depth + 1, after, metas, places, seen)
        row = (tuple(steps), _outcome(depth, threads, metas, places))
        if row not in self._known:
            self._known[row] = len(self._states)
            self._states.append(row)
        seen[depth, threads] = self._known[row]
        return self._known[row]


def _patterns(meta: Any) -> Iterator[tuple[str, str]]:
    for name in _KINDS:
        desc = getattr(meta, name)
        if desc is not None and desc.national_number_pattern:
            yield name, desc.national_number_pattern
    if meta.leading_digits:
        yield _LEADING, meta.leading_digits


def _matches(thread: _Thread) -> bool:
    return any(leaf.digits in (MATCHED, MATCHED_AT_END) for leaf in leaves(thread.rest))


def _advanced(threads: frozenset[_Thread], digit: int) -> Iterator[_Thread]:
    for thread in threads:
        for leaf in leaves(thread.rest):
            if leaf.digits >= 0 and leaf.digits >> digit & 1:
                # Spans do not matter to a full match, so threads that differ in them are one.
                yield thread._replace(rest=leaf.rest)
            elif leaf.digits == MATCHED and thread.name == _LEADING:
                yield thread  # a beginning stays a beginning


def _outcome(
    depth: int, threads: frozenset[_Thread], metas: list[Any], places: list[int]
) -> Outcome:
    """What a number is that ends here, as `region_code_for_number` and `number_type` would say."""
    matched = {(thread.member, thread.name) for thread in threads if _matches(thread)}
    general = sum(1 << m for m in range(len(metas)) if (m, "general_desc") in matched)
    for member, meta in enumerate(metas):
        kind = _kind(depth, {name for m, name in matched if m == member}, meta)
        if len(metas) > 1:
            if meta.leading_digits and (member, _LEADING) not in matched:
                continue
            if not meta.leading_digits and kind == PhoneNumberType.UNKNOWN:
                continue
        return Outcome(places[member], kind, general)
    return Outcome(general=general)


def _kind(depth: int, matched: set[str], meta: Any) -> int:
    def has(name: str) -> bool:
        lengths = getattr(meta, name).possible_length if name in matched else ()
        return name in matched and (not lengths or depth in lengths)

    if not has("general_desc"):
        return int(PhoneNumberType.UNKNOWN)
    for name, kind in _TYPES.items():
        if has(name):
            return int(kind)
    same = meta.same_mobile_and_fixed_line_pattern
    if has("fixed_line"):
        both = same or has("mobile")
        return int(PhoneNumberType.FIXED_LINE_OR_MOBILE if both else PhoneNumberType.FIXED_LINE)
    mobile = not same and has("mobile")
    return int(PhoneNumberType.MOBILE if mobile else PhoneNumberType.UNKNOWN)
