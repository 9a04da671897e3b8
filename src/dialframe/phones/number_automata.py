"""Regular expressions of numbering plans as automata over digits: where a number ends says what it is.

A pattern is a chain of nodes, and a *continuation* is what is left of it to match. `leaves` lists
the next steps of a continuation in the order in which a backtracking engine tries them. As sets,
leaves give the automaton of a full match; as an ordered list, cut behind the first match, they
give the automaton of `re.match`, which takes the first alternative and not the longest.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from phonenumbers import PhoneNumberType

from dialframe.phones.number_outcomes import NOWHERE

Node: TypeAlias = tuple[Any, ...]
Continuation: TypeAlias = tuple[Node, Any] | None

#: What a leaf can be besides a set of digits (a bit mask): the pattern is done; done at the end only.
MATCHED: Final = -1
MATCHED_AT_END: Final = -2

_ALL_DIGITS: Final = (1 << 10) - 1
_DIGITS: Final = "0123456789"


class Span(NamedTuple):
    """Where the last group of a pattern begins and ends; -1 where it took no part."""

    start: int = -1
    stop: int = -1


#: The last group took no part.
NO_SPAN: Final = Span()


class Leaf(NamedTuple):
    """A step that a continuation can take: a set of digits, or `MATCHED`, or `MATCHED_AT_END`."""

    digits: int
    rest: Continuation
    span: Span


Threads: TypeAlias = tuple[tuple[Continuation, Span], ...]


class State(NamedTuple):
    """A state of a prefix automaton: next states by digit (0 is dead), and what matched here."""

    steps: tuple[int, ...]
    match: Span | None = None
    match_at_end: Span | None = None


@functools.cache
def nodes(pattern: str) -> tuple[Node, ...]:
    """The nodes of a pattern over ASCII digits.

    Raises:
        ValueError: The pattern uses a construct that no numbering plan used so far.
    """
    return _Pattern(pattern).read()


def chain(items: tuple[Node, ...], rest: Continuation = None) -> Continuation:
    """The continuation that matches the nodes and then the rest."""
    # From the end, so that what is left is one value that can be looked up.
    for node in reversed(items):
        rest = (node, rest)
    return rest


@functools.cache
def leaves(continuation: Continuation, span: Span = NO_SPAN, at: int = 0) -> tuple[Leaf, ...]:
    """The next steps of a continuation in order of preference, `at` digits from the start."""
    if continuation is None:
        return (Leaf(MATCHED, None, span),)
    node, rest = continuation
    match node:
        case ("digits", mask):
            return (Leaf(mask, rest, span),)
        case ("either", branches):
            return tuple(
                leaf for branch in branches for leaf in leaves(chain(branch, rest), span, at)
            )
        # Only the last group of a pattern is kept by the rules of national prefixes.
        case ("open",):
            return leaves(rest, Span(at, -1), at)
        case ("close",):
            return leaves(rest, Span(span.start, at), at)
        case ("end",):
            return (Leaf(MATCHED_AT_END, None, span),)
        case (_, least, most, body):
            # Greedy: once more is tried before what stands behind, as `re` does.
            again = ("repeat", max(least - 1, 0), most - 1, body)
            more = leaves(chain(body, (again, rest)), span, at) if most else ()
            return more + (() if least else leaves(rest, span, at))
    raise ValueError(f"no node of a pattern: {node}")


def prefix_automaton(pattern: str) -> list[State]:
    """The automaton of `re.match(pattern, digits)`; state 0 is dead and state 1 the start."""
    start: tuple[int, Threads] = (0, ((chain(nodes(pattern)), NO_SPAN),))
    numbers = {start: 1}
    states = [State((0,) * 10), State(())]
    todo = [start]
    while todo:
        key = todo.pop()
        at, threads = key
        steps, match, match_at_end = _order_steps(threads, at)
        following = []
        for digit in range(10):
            # In their order and once each: of two equal threads the first one wins.
            threads_after = dict.fromkeys(
                (leaf.rest, leaf.span) for leaf in steps if leaf.digits >> digit & 1
            )
            if not threads_after:
                following.append(0)
                continue
            after = (at + 1, tuple(threads_after))
            if after not in numbers:
                numbers[after] = len(states)
                states.append(State(()))
                todo.append(after)
            following.append(numbers[after])
        states[numbers[key]] = State(tuple(following), match, match_at_end)
    return states


def _order_steps(threads: Threads, at: int) -> tuple[list[Leaf], Span | None, Span | None]:
    """The steps of all threads up to the first match, which what comes behind it can never beat."""
    steps: list[Leaf] = []
    at_end: Span | None = None
    for rest, span in threads:
        for leaf in leaves(rest, span, at):
            # Threads behind a match are less preferred, and never get to speak.
            if leaf.digits == MATCHED:
                return steps, leaf.span, at_end
            if leaf.digits == MATCHED_AT_END:
                at_end = at_end or leaf.span
            else:
                steps.append(leaf)
    return steps, None, at_end


#: How often `*` and `+` may repeat: more often than any number has digits.
_ENDLESS: Final = 1 << 16
_TIMES: Final = re.compile(r"\{(\d+)(,?)(\d*)\}")
_QUANTIFIERS: Final = {"?": (0, 1), "*": (0, _ENDLESS), "+": (1, _ENDLESS)}


class _Pattern:
    """Reads the part of regular expressions that numbering plans use: digits, sets, groups, alternatives, repeats, `$`."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._at = pattern, 0
        self._last_group = re.compile(pattern).groups
        self._groups = 0

    def read(self) -> tuple[Node, ...]:
        """The nodes of the whole pattern."""
        nodes_read = self._alternatives()
        if self._at != len(self._pattern):
            raise self._unknown()
        return nodes_read

    def _alternatives(self) -> tuple[Node, ...]:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else (("either", tuple(branches)),)

    def _sequence(self) -> tuple[Node, ...]:
        items: list[Node] = []
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            atom = self._atom()
            least, most = self._quantifier()
            items.extend(atom if (least, most) == (1, 1) else (("repeat", least, most, atom),))
        return tuple(items)

    def _atom(self) -> tuple[Node, ...]:
        if self._take("(?:"):
            return self._closed()
        if self._take("("):
            self._groups += 1
            # Other groups part alternatives only: a national prefix keeps the last one.
            is_last = self._groups == self._last_group
            body = self._closed()
            return (("open",), *body, ("close",)) if is_last else body
        if self._take("["):
            mask = 0
            while not self._take("]"):
                mask |= self._digits()
            return (("digits", mask),)
        if self._take("$"):
            return (("end",),)
        return (("digits", self._digits()),)

    def _closed(self) -> tuple[Node, ...]:
        body = self._alternatives()
        if not self._take(")"):
            raise self._unknown()
        return body

    def _digits(self) -> int:
        """One digit, a range of digits, or the class of all, as a bit mask."""
        if self._take("\\d"):
            return _ALL_DIGITS
        low = self._digit()
        if not self._take("-"):
            return 1 << low
        return sum(1 << digit for digit in range(low, self._digit() + 1))

    def _digit(self) -> int:
        char = self._pattern[self._at : self._at + 1]
        if not char or char not in _DIGITS:
            raise self._unknown()
        self._at += 1
        return int(char)

    def _quantifier(self) -> tuple[int, int]:
        char = self._pattern[self._at : self._at + 1]
        if char in _QUANTIFIERS:
            self._at += 1
            times = _QUANTIFIERS[char]
        elif match := _TIMES.match(self._pattern, self._at):
            self._at = match.end()
            least = int(match[1])
            times = (least, int(match[3] or _ENDLESS) if match[2] else least)
        else:
            return 1, 1
        # A lazy or possessive repeat prefers otherwise than a greedy one.
        if self._pattern[self._at : self._at + 1] in ("?", "+"):
            raise self._unknown()
        return times

    def _take(self, text: str) -> bool:
        if not self._pattern.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _unknown(self) -> ValueError:
        return ValueError(
            f"a numbering plan uses {self._pattern[self._at :][:8]!r}, which no plan did before"
        )


#: The longest national number that is ever read.
LONGEST: Final = 17

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
    """What a number is: place of its region, `PhoneNumberType`."""

    region: int = NOWHERE
    kind: int = PhoneNumberType.UNKNOWN


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
        return _Code(metas, places, self._known, self._states).first()

    @property
    def steps(self) -> list[tuple[int, ...]]:
        """Next states by digit, by state."""
        return [steps for steps, _ in self._states]

    @property
    def outcomes(self) -> list[Outcome]:
        """What a number is that ends here, by state."""
        return [outcome for _, outcome in self._states]


class _Code:
    """The states of one calling code.

    Threads have numbers, since a nested continuation is hashed anew each time that it is looked up, and digits
    that lead on alike are gone through together.
    """

    def __init__(
        self,
        metas: list[Any],
        places: list[int],
        known: dict[tuple[tuple[int, ...], Outcome], int],
        states: list[tuple[tuple[int, ...], Outcome]],
    ) -> None:
        self._metas, self._places = metas, places
        self._known, self._states = known, states
        self._numbers: dict[_Thread, int] = {}
        self._threads: list[_Thread] = []
        self._steps: dict[int, list[tuple[int, int]]] = {}
        self._done: set[int] = set()
        self._seen: dict[tuple[int, frozenset[int]], int] = {}
        self._outcomes: dict[tuple[int, frozenset[tuple[int, str]]], Outcome] = {}

    def first(self) -> int:
        """The state before the first digit."""
        return self._state(
            0,
            frozenset(
                self._number(_Thread(member, name, chain(nodes(pattern))))
                for member, meta in enumerate(self._metas)
                for name, pattern in _patterns(meta)
            ),
        )

    def _state(self, depth: int, threads: frozenset[int]) -> int:
        known = self._seen.get((depth, threads))
        if known is not None:
            return known
        leading = [step for thread in threads for step in self._following(thread)]
        steps = [0] * 10
        for alike in _split_sets({digits for digits, _ in leading}):
            after = frozenset(thread for digits, thread in leading if digits & alike)
            if depth == LONGEST:
                # Patterns of leading digits go on without end, and say nothing of a length.
                if any(self._threads[thread].name != _LEADING for thread in after):
                    raise ValueError(f"a numbering plan has numbers of over {LONGEST} digits")
            else:
                state = self._state(depth + 1, after)
                for digit in range(10):
                    if alike >> digit & 1:
                        steps[digit] = state
        # States that lead on and end alike are one state.
        row = (tuple(steps), self._outcome(depth, threads & self._done))
        if row not in self._known:
            self._known[row] = len(self._states)
            self._states.append(row)
        self._seen[depth, threads] = self._known[row]
        return self._known[row]

    def _outcome(self, depth: int, done: frozenset[int]) -> Outcome:
        # What is matched, and of which member, not by which thread.
        matched = frozenset(self._threads[thread][:2] for thread in done)
        if (depth, matched) not in self._outcomes:
            self._outcomes[depth, matched] = _outcome(depth, matched, self._metas, self._places)
        return self._outcomes[depth, matched]

    def _number(self, thread: _Thread) -> int:
        number = self._numbers.setdefault(thread, len(self._numbers))
        if number == len(self._threads):
            self._threads.append(thread)
        return number

    def _following(self, number: int) -> list[tuple[int, int]]:
        """Sets of digits (bit masks) and the threads that they lead to."""
        if number not in self._steps:
            thread = self._threads[number]
            steps = self._steps[number] = []
            for leaf in leaves(thread.rest):
                if leaf.digits >= 0:
                    # Spans do not matter to a full match, so threads that differ in them are one.
                    after = _Thread(thread.member, thread.name, leaf.rest)
                    steps.append((leaf.digits, self._number(after)))
                    continue
                self._done.add(number)
                if leaf.digits == MATCHED and thread.name == _LEADING:
                    steps.append((_ALL_DIGITS, number))  # a beginning stays a beginning
        return self._steps[number]


def _split_sets(masks: set[int]) -> list[int]:
    """The digits of some sets as sets of which each lies in or outside of each, by their first digit."""
    union = functools.reduce(int.__or__, masks, 0)
    parts = [union] if union else []
    # Digits that no pattern tells apart lead to one state, which is found once.
    for mask in masks:
        parts = [piece for part in parts for piece in (part & mask, part & ~mask) if piece]
    return sorted(parts, key=lambda part: part & -part)


def _patterns(meta: Any) -> Iterator[tuple[str, str]]:
    for name in _KINDS:
        desc = getattr(meta, name)
        if desc is not None and desc.national_number_pattern:
            yield name, desc.national_number_pattern
    if meta.leading_digits:
        yield _LEADING, meta.leading_digits


def _outcome(
    depth: int, matched: frozenset[tuple[int, str]], metas: list[Any], places: list[int]
) -> Outcome:
    """What a number is that ends here, as `region_code_for_number` and `number_type` would say."""
    for member, meta in enumerate(metas):
        kind = _kind(depth, {name for m, name in matched if m == member}, meta)
        if len(metas) > 1:
            # `region_code_for_number` asks leading digits where a region has them, and its patterns else.
            if meta.leading_digits and (member, _LEADING) not in matched:
                continue
            if not meta.leading_digits and kind == PhoneNumberType.UNKNOWN:
                continue
        return Outcome(places[member], kind)
    return Outcome()


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
