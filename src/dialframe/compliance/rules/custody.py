"""Says how far the reading of a rule can be trusted: who printed what was read, and whether it carries the values.

A quotation carries a value if its number stands in it, as a figure or as a word. What a quotation does not carry
was taken from somewhere else, so that the rule is of medium confidence at most. An address that is neither
official nor a publisher of statutes counts for nothing above low until a second one says the same.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import time
from functools import cache
from importlib import resources
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from dialframe.compliance.rules.rule_model import (
    AbandonmentRule,
    CallerIdRule,
    CapRule,
    ConsentRule,
    FreshnessRule,
    HonorRule,
    HoursRule,
    RetentionRule,
    Rule,
)
from dialframe.compliance.rules.rule_parameters import (
    AbandonmentParameters,
    CallerIdParameters,
    CapParameters,
    ConsentParameters,
    FreshnessParameters,
    HonorParameters,
    HoursParameters,
    RetentionParameters,
)

__all__ = ["Confidence", "most_confidence", "printed_by", "unquoted"]

Confidence = Literal["high", "medium", "low"]

_ADDRESS: Final = re.compile(r"https?://[^\s)>,;\"]+")
#: Independent addresses of the ordinary kind that carry a rule to medium.
_TWO_SOURCES: Final = 2
_ONES: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS: Final = [
    "-",
    "-",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
]
_QUARTER_DAYS: Final = 92
_CODE: Final = ("github.com", "raw.githubusercontent.com")


def unquoted(rule: Rule) -> tuple[str, ...]:
    """Values of a rule that its quotation does not carry, in words; all of them where there is no quotation.

    Example:
        >>> from dialframe.compliance import rulebook
        >>> unquoted(rulebook.load().rule("us-fl-hours"))
        ()
    """
    text = _plain(rule.quotation)
    return tuple(
        words
        for words, forms in _values(rule)
        if not any(_stands_in(form, text) for form in forms)
    )


def printed_by(text: str) -> Literal["official", "publisher", "other", "nobody"]:
    """Who printed what stands at the addresses of a text: a state, a publisher of statutes, somebody else, nobody."""
    kinds = {_kind(host) for host in _hosts([text])}
    return next((kind for kind in ("official", "publisher", "other") if kind in kinds), "nobody")


def most_confidence(rule: Rule) -> tuple[Confidence, str]:
    """The highest confidence that a rule may have, and why not more."""
    if not rule.quotation:
        return "low", "no sentence was read"
    reader = printed_by(rule.text_from)
    if reader in ("official", "publisher"):
        lacking = unquoted(rule)
        if lacking:
            return "medium", f"the quotation does not carry {', '.join(lacking)}"
        return "high", ""
    # The same words in two places are two witnesses; one is a rumor, and somebody's code is none.
    witnesses = {host for host in _hosts((rule.text_from, *rule.also)) if host not in _CODE}
    known = any(printed_by(each) in ("official", "publisher") for each in rule.also)
    if len(witnesses) < _TWO_SOURCES and not known:
        return "low", "it rests on one source that is not official"
    return "medium", "no official text and no publisher of statutes was read"


def _values(rule: Rule) -> Iterator[tuple[str, frozenset[str]]]:
    """Each value that the parameters name, in words, with the forms in which a sentence may write it."""
    for kind, values in _OF_KIND.items():
        if isinstance(rule, kind):
            yield from values(rule.parameters)


def _of_hours(hours: HoursParameters) -> Iterator[tuple[str, frozenset[str]]]:
    for clock in sorted({each for window in hours.windows for each in (window.start, window.end)}):
        yield f"{clock:%H:%M}", _clock_forms(clock)


def _of_cap(cap: CapParameters) -> Iterator[tuple[str, frozenset[str]]]:
    yield f"{cap.max_attempts} attempts", _number(cap.max_attempts)
    hours = cap.window_hours if cap.window_hours is not None else 24 * (cap.window_days or 1)
    days = hours // 24 if hours % 24 == 0 else None
    forms = _number(hours) | (_number(days) if days else frozenset())
    yield (
        f"{hours} hours",
        forms | {1: {"a day", "per day", "daily"}, 7: {"week"}}.get(days or 0, set()),
    )


def _of_check(check: FreshnessParameters) -> Iterator[tuple[str, frozenset[str]]]:
    if check.check == "age":
        quarter = {"quarter"} if check.max_age_days >= _QUARTER_DAYS else set()
        yield f"{check.max_age_days} days", _days(check.max_age_days) | quarter


def _of_honor(honor: HonorParameters) -> Iterator[tuple[str, frozenset[str]]]:
    if honor.max_days:
        yield f"{honor.max_days} days", _days(honor.max_days)


def _of_abandonment(share: AbandonmentParameters) -> Iterator[tuple[str, frozenset[str]]]:
    percent = f"{share.max_rate * 100:g}"
    yield f"{percent}%", _number(int(float(percent))) | {percent}


def _of_consent(consent: ConsentParameters) -> Iterator[tuple[str, frozenset[str]]]:
    if consent.required == "prior_express_written":
        yield "written consent", frozenset({"written", "in writing", "signature"})
    for days in (consent.max_days, consent.grace_days):
        if days:
            yield f"{days} days", _days(days)


def _of_retention(kept: RetentionParameters) -> Iterator[tuple[str, frozenset[str]]]:
    yield f"{kept.years} years", _number(kept.years)


def _of_shown(number: CallerIdParameters) -> Iterator[tuple[str, frozenset[str]]]:
    # A sentence writes 33162 as 0162, 34400 as 400.
    for prefix in number.prefixes:
        written = {f"{zero}{prefix[code:]}" for code in (1, 2, 3) for zero in ("", "0")}
        yield f"numbers that begin with {prefix}", frozenset(written | {prefix})


_OF_KIND: Final[Mapping[type, Callable[[Any], Iterator[tuple[str, frozenset[str]]]]]] = {
    HoursRule: _of_hours, CapRule: _of_cap, FreshnessRule: _of_check, HonorRule: _of_honor,
    AbandonmentRule: _of_abandonment, ConsentRule: _of_consent, RetentionRule: _of_retention,
    CallerIdRule: _of_shown,
}  # fmt: skip


def _clock_forms(clock: time) -> frozenset[str]:
    """How a sentence writes an hour: 9, 09:00, 9:00, nine, 21, noon."""
    if clock == time(0):
        return frozenset({"midnight", "24", "12"})
    hours = {clock.hour, clock.hour % 12 or 12}
    forms = {"noon", "midday"} if clock == time(12) else set()
    for hour in hours:
        # 10:30 is written whole; a full hour needs no minutes.
        if clock.minute:
            forms |= {f"{hour}{mark}{clock.minute:02d}" for mark in ":.h"} | {
                f"{hour} h {clock.minute}"
            }
        else:
            forms |= _number(hour) | {f"{hour:02d}"}
    return frozenset(forms)


def _days(days: int) -> frozenset[str]:
    # A month is 30 or 31 days, a week seven.
    months = {"month", "mois", "monat", "mes"} if days in (30, 31) else set()
    return _number(days) | frozenset(months)


def _number(number: int) -> frozenset[str]:
    """A number as a figure and as English words."""
    words = (
        _ONES[number]
        if number < len(_ONES)
        else f"{_TENS[number // 10]} {_ONES[number % 10] if number % 10 else ''}".strip()
        if number < 100
        else str(number)
    )
    return frozenset({str(number), words})


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("-", " ").split())


def _stands_in(form: str, text: str) -> bool:
    """Whether a form stands in a text as a word of its own: 8 in `8 p.m.`, `8:00`, `8h`, and not in 18 or 80."""
    return re.search(rf"(?<![\w.]){re.escape(form)}(?![0-9]|[a-z]{{3}})", text) is not None or (
        form.isalpha() and re.search(rf"\b{form}", text) is not None
    )


def _hosts(texts: Iterable[str]) -> list[str]:
    return [urlsplit(each).hostname or "" for text in texts for each in _ADDRESS.findall(text)]


def _kind(host: str) -> str:
    names = _read_hosts()
    for kind in ("official", "publisher"):
        if any(host == name or host.endswith(f".{name}") for name in names[kind]):
            return kind
    return "other"


@cache
def _read_hosts() -> dict[str, tuple[str, ...]]:
    text = (resources.files("dialframe.compliance.rules") / "hosts.toml").read_text("utf-8")
    return {kind: tuple(names) for kind, names in tomllib.loads(text).items()}
