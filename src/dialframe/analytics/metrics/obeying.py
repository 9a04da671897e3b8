"""Metrics of Do-Not-Call evidence, calling hours and frequency.

They take their limits from `Choices`. What a law says of a single call is the audit's business.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dialframe.analytics.attempt.arrays import NO_TIME, Ints, Mask, micros, numbered, require
from dialframe.analytics.attempt.local_clock import local
from dialframe.analytics.metrics.metric import Inputs, Measure, call_share, share
from dialframe.analytics.result.result_tables import median, sums, table
from dialframe.analytics.stats.intervals import clustered_mean

_DAY_US: Final = 86_400_000_000
_NEVER: Final = int(np.iinfo(np.int64).max)


def dnc_coverage(inputs: Inputs) -> Measure:
    """Callable and lately called numbers that have a check which is not too old."""
    leads, checks = inputs.leads, inputs.dnc_checks
    assert leads is not None  # noqa: S101 - `measured` has seen to it
    assert checks is not None  # noqa: S101
    require(checks, ("phone", "checked_at"), "dnc_checks")
    require(leads, ("status",), "leads")
    since = inputs.as_of_us - int(inputs.choices.dnc_check_days * _DAY_US)
    closed = np.isin(leads["status"].astype("str").fillna("").to_numpy(dtype=object),
                     ["dnc", "completed"])  # fmt: skip
    callable_ = leads["phone"][inputs.loaded & ~closed].dropna()
    called = inputs.attempts.calls["to_number"].iloc[
        inputs.attempts.rows[inputs.attempts.when > since]
    ]
    wanted = set(callable_.astype("str")) | set(called.dropna().astype("str"))
    fresh = set(checks["phone"][micros(checks["checked_at"]) > since].dropna().astype("str"))
    stale = set(checks["phone"].dropna().astype("str")) & wanted - fresh
    excluded = {"check_too_old": len(stale), "never_checked": len(wanted - fresh - stale)}
    return share(len(wanted & fresh), len(wanted), excluded, used=("dnc_check_days",))


def dnc_risk(inputs: Inputs) -> Measure:
    """Attempts after the number was known to be listed or had asked not to be called."""
    grade = dnc_grades(inputs)
    names = ("proven", "indeterminate", "clear", "unchecked")
    counts = np.array([(grade == i).sum() for i in range(len(names))])
    detail = table({"grade": list(names), "calls": counts})
    excluded = {"indeterminate": int(counts[1]), "unchecked": int(counts[3])}
    base = np.ones(len(grade), dtype=bool)
    return call_share(inputs, grade == 0, base, excluded, detail=detail, used=("dnc_grace_days",))


def dnc_grades(inputs: Inputs) -> Ints:
    """0 proven, 1 indeterminate, 2 clear, 3 unchecked, of each attempt."""
    found, checks = inputs.attempts, inputs.dnc_checks
    assert checks is not None  # noqa: S101 - `measured` has seen to it
    require(checks, ("phone", "listed", "checked_at"), "dnc_checks")
    number, names = _numbers(inputs)
    phone = checks["phone"].astype("str")
    code = np.asarray(phone.map({name: i for i, name in enumerate(names)}).fillna(-1), dtype=int)
    at, listed = micros(checks["checked_at"]), checks["listed"].to_numpy(bool, na_value=False)
    mine = (code >= 0) & (at != NO_TIME)
    positive = _first(code, at, mine & listed, len(names))
    # A check of a number that nobody called has the code -1, which takes the value at the end.
    before = mine & ~listed & (at < np.append(positive, _NEVER)[code])
    negative = np.full(len(names), NO_TIME)
    np.maximum.at(negative, code[before], at[before])
    known = np.minimum(positive, _asked(inputs, number, len(names)))
    # Calls to no number have the code -1: nothing is known of them.
    positive, negative, known = (
        np.append(part, end)
        for part, end in ((positive, _NEVER), (negative, NO_TIME), (known, _NEVER))
    )
    grade = np.where(positive[number] != _NEVER, 1, 3)
    grade = np.where(found.when <= negative[number], 2, grade)
    return np.where(found.when > known[number], 0, grade)


def dnc_honour(inputs: Inputs) -> Measure:
    """Do-Not-Call requests whose number was seen on the list in time, of those that are due."""
    found, checks = inputs.attempts, inputs.dnc_checks
    assert checks is not None  # noqa: S101 - `measured` has seen to it
    require(checks, ("phone", "listed", "checked_at"), "dnc_checks")
    number, names = _numbers(inputs)
    asked = _first(number, found.when, _requests(inputs), len(names))
    phone = checks["phone"].astype("str")
    code = np.asarray(phone.map({name: i for i, name in enumerate(names)}).fillna(-1), dtype=int)
    at, listed = micros(checks["checked_at"]), checks["listed"].to_numpy(bool, na_value=False)
    seen = _first(code, at, (code >= 0) & listed & (at != NO_TIME), len(names))
    requested = asked != _NEVER
    limit = _due(asked[requested], inputs.choices.dnc_grace_days)
    first = seen[requested]
    due = (limit <= inputs.as_of_us) | (first != _NEVER)
    kept = due & (first <= limit)
    lag_days = np.where(first != _NEVER, (first - asked[requested]) / _DAY_US, np.nan)
    detail = table({"median_lag_days": np.array([median(lag_days)])})
    excluded = {"not_due_yet": int((~due).sum())}
    used = ("dnc_grace_days",)
    return share(int(kept.sum()), int(due.sum()), excluded, detail=detail, used=used)


def calling_hours(inputs: Inputs) -> Measure:
    """Attempts outside the hours in every candidate zone, of attempts with one."""
    found, choices = inputs.attempts, inputs.choices
    clock = local(found.numbers("to_number"), found.when)
    low, high = choices.opens_h * 60, choices.closes_h * 60
    first_out = (clock.minute < low) | (clock.minute >= high)
    last_out = (clock.latest < low) | (clock.latest >= high)
    placed = clock.minute >= 0
    some = placed & (first_out != last_out)
    excluded = {"no_zone": int((~placed).sum()), "outside_in_some_zones": int(some.sum())}
    hit = placed & first_out & last_out
    return call_share(inputs, hit, placed, excluded, used=("opens_h", "closes_h"))


def frequency(inputs: Inputs) -> Measure:
    """Numbers dialed more often than allowed within the window, of numbers dialed."""
    beyond = _beyond(inputs)
    used = ("most_calls", "window_h")
    excluded = {"calls_beyond": int(beyond.sum())}
    return share(int((beyond > 0).sum()), len(beyond), excluded, used=used)


def frequency_calls(inputs: Inputs) -> Measure:
    """Attempts beyond what is allowed within the window, per number dialed."""
    beyond = _beyond(inputs)
    used, kind = ("most_calls", "window_h"), "mean over numbers"
    excluded = {"numbers_beyond": int((beyond > 0).sum())}
    found = clustered_mean(beyond.astype(float), np.arange(len(beyond)))
    if found is None:
        return Measure(None, 0, 0, interval=kind, excluded=excluded, used=used)
    mean, low, high = found
    bounded = not np.isnan(low)
    return Measure(
        mean, int(beyond.sum()), len(beyond), max(low, 0.0) if bounded else None,
        high if bounded else None, kind, excluded, used=used,
    )  # fmt: skip


def _beyond(inputs: Inputs) -> Ints:
    """Calls to each number that came when its limit was used up; calls to no number are of none."""
    number, names = _numbers(inputs)
    at, most = inputs.attempts.when, inputs.choices.most_calls
    order = np.lexsort((at, number))
    order = order[number[order] >= 0]
    code, when = number[order], at[order]
    late, early = slice(most, None), slice(0, max(len(code) - most, 0))
    hit = (code[late] == code[early]) & (
        when[late] - when[early] < inputs.choices.window_h * 3_600e6
    )
    return sums(code[late][hit], len(names))


def _numbers(inputs: Inputs) -> tuple[Ints, list[str]]:
    return numbered(inputs.attempts.calls["to_number"].iloc[inputs.attempts.rows])


def _first(code: Ints, at: Ints, mask: Mask, size: int) -> Ints:
    first = np.full(size + 1, _NEVER)
    np.minimum.at(first, code[mask], at[mask])
    return first[:-1]


def _requests(inputs: Inputs) -> Mask:
    return inputs.attempts.classes.dnc_request[inputs.attempts.rows]


def _asked(inputs: Inputs, number: Ints, size: int) -> Ints:
    """When each number's request had to be honoured; never where it asked nothing."""
    asked = _first(number, inputs.attempts.when, _requests(inputs), size)
    known = asked != _NEVER
    asked[known] = _due(asked[known], inputs.choices.dnc_grace_days)
    return asked


def _due(at: Ints, days: int) -> Ints:
    """So many business days later, at the same time of day."""
    day, rest = np.divmod(at, _DAY_US)
    later = np.busday_offset(day.astype("datetime64[D]"), days, roll="forward")
    return later.astype(np.int64) * _DAY_US + rest
