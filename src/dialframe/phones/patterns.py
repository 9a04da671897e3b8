"""Regular expressions of numbering plans as automata over digits.

A pattern is a chain of nodes, and a *continuation* is what is left of it to match. `leaves` lists
the next steps of a continuation in the order in which a backtracking engine tries them. As sets,
leaves give the automaton of a full match; as an ordered list, cut behind the first match, they
give the automaton of `re.match`, which takes the first alternative and not the longest.
"""

from __future__ import annotations

import functools
import re
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser as engine  # type: ignore[attr-defined]
from typing import Any, Final, NamedTuple, TypeAlias

Node: TypeAlias = tuple[Any, ...]
Continuation: TypeAlias = tuple[Node, Any] | None

#: What a leaf can be besides a set of digits (a bit mask): the pattern is done; done at the end only.
MATCHED: Final = -1
MATCHED_AT_END: Final = -2

_ALL_DIGITS: Final = (1 << 10) - 1
_DIGITS: Final = "0123456789"
_ZERO: Final = ord("0")


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
    return _convert(engine.parse(pattern), re.compile(pattern).groups)


def chain(items: tuple[Node, ...], rest: Continuation = None) -> Continuation:
    """The continuation that matches the nodes and then the rest."""
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
        case ("open",):
            return leaves(rest, Span(at, -1), at)
        case ("close",):
            return leaves(rest, Span(span.start, at), at)
        case ("end",):
            return (Leaf(MATCHED_AT_END, None, span),)
        case (_, least, most, body):
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
        steps, match, match_at_end = _ordered_steps(threads, at)
        following = []
        for digit in range(10):
            found = dict.fromkeys(
                (leaf.rest, leaf.span) for leaf in steps if leaf.digits >> digit & 1
            )
            if not found:
                following.append(0)
                continue
            after = (at + 1, tuple(found))
            if after not in numbers:
                numbers[after] = len(states)
                states.append(State(()))
                todo.append(after)
            following.append(numbers[after])
        states[numbers[key]] = State(tuple(following), match, match_at_end)
    return states


def _ordered_steps(threads: Threads, at: int) -> tuple[list[Leaf], Span | None, Span | None]:
    """The steps of all threads up to the first match, which what comes behind it can never beat."""
    steps: list[Leaf] = []
    at_end: Span | None = None
    for rest, span in threads:
        for leaf in leaves(rest, span, at):
            if leaf.digits == MATCHED:
                return steps, leaf.span, at_end
            if leaf.digits == MATCHED_AT_END:
                at_end = at_end or leaf.span
            else:
                steps.append(leaf)
    return steps, None, at_end


def _convert(tree: Any, last_group: int) -> tuple[Node, ...]:
    out: list[Node] = []
    for op, value in tree:
        if op is ops.LITERAL:
            out.append(("digits", _mask((op, value))))
        elif op is ops.IN:
            out.append(("digits", functools.reduce(int.__or__, map(_mask, value))))
        elif op is ops.BRANCH:
            out.append(("either", tuple(_convert(branch, last_group) for branch in value[1])))
        elif op is ops.SUBPATTERN:
            body = _convert(value[3], last_group)
            out.extend((("open",), *body, ("close",)) if value[0] == last_group else body)
        elif op is ops.MAX_REPEAT:
            out.append(("repeat", value[0], int(value[1]), _convert(value[2], last_group)))
        elif op is ops.AT and value is ops.AT_END:
            out.append(("end",))
        else:
            raise ValueError(f"a numbering plan uses {op} {value}, which no plan did before")
    return tuple(out)


def _mask(item: Any) -> int:
    op, value = item
    if op is ops.LITERAL and chr(value) in _DIGITS:
        return 1 << int(value) - _ZERO
    if op is ops.RANGE and chr(value[0]) in _DIGITS and chr(value[1]) in _DIGITS:
        return sum(1 << code - _ZERO for code in range(value[0], value[1] + 1))
    if op is ops.CATEGORY and value is ops.CATEGORY_DIGIT:
        return _ALL_DIGITS
    raise ValueError(f"a numbering plan uses {op} {value}, which no plan did before")
