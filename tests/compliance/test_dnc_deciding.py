"""The grade of one call, row by row of the tables in the module."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from compliance import hand
from dialframe.compliance.dnc.deciding import Around, Record, Request, decide, weekdays

AT = hand.utc("2026-06-15T15:00")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def _check(shift: timedelta, *, listed: bool) -> Record:
    return Record(AT + shift, "check", "req_1", listed)


def _screen(shift: timedelta) -> Record:
    return Record(AT + shift, "import screen", "lead_1", listed=False)


def _flag(shift: timedelta) -> Record:
    return Record(AT + shift, "lead status", "lead_1", listed=True)


def _request(shift: timedelta, length: timedelta = HOUR) -> Request:
    return Request(AT + shift, AT + shift + length, "call_1", "DNC")


LISTED_BEFORE, CLEAN_BEFORE = _check(-DAY, listed=True), _check(-DAY, listed=False)
LISTED_AFTER, CLEAN_AFTER = _check(DAY, listed=True), _check(DAY, listed=False)


@pytest.mark.parametrize(
    ("check", "following", "grade", "basis"),
    [
        (LISTED_BEFORE, None, "proven", "check"),
        (LISTED_BEFORE, LISTED_AFTER, "proven", "check"),
        (LISTED_BEFORE, CLEAN_AFTER, "proven", "check"),
        (LISTED_BEFORE, _screen(DAY), "proven", "check"),
        (CLEAN_BEFORE, LISTED_AFTER, "indeterminate", "check"),
        (None, LISTED_AFTER, "indeterminate", "check"),
        (CLEAN_BEFORE, _flag(DAY), "indeterminate", "lead status"),
        (None, _flag(timedelta(0)), "indeterminate", "lead status"),
        (None, _check(timedelta(0), listed=True), "indeterminate", "check"),
        (CLEAN_BEFORE, CLEAN_AFTER, "clear", "check"),
        (None, CLEAN_AFTER, "clear", "check"),
        (None, _screen(DAY), "clear", "check"),
        (CLEAN_BEFORE, None, "clear", "check"),
        (None, None, "clear", "nothing"),
    ],
)
def test_a_call_is_graded_by_the_records_around_it(
    check: Record | None, following: Record | None, grade: str, basis: str
) -> None:
    """The newest check before, the oldest record at or after, and nothing else."""
    found = decide(Around(AT, check, following), grace=timedelta(0))
    assert (found.grade, found.basis) == (grade, basis)


@pytest.mark.parametrize(
    ("request_at", "grace", "grade", "basis"),
    [
        (_request(-2 * HOUR), timedelta(0), "proven", "request"),
        (_request(-HOUR - timedelta(microseconds=1)), timedelta(0), "proven", "request"),
        (_request(-HOUR), timedelta(0), "indeterminate", "request"),
        (_request(-HOUR / 2), timedelta(0), "indeterminate", "request"),
        (_request(timedelta(0)), timedelta(0), "clear", "request"),
        (_request(DAY), timedelta(0), "clear", "request"),
        (_request(-2 * HOUR), HOUR, "indeterminate", "request"),
        (_request(-2 * HOUR), HOUR - timedelta(microseconds=1), "proven", "request"),
        (_request(timedelta(0)), 30 * DAY, "clear", "request"),
    ],
)
def test_a_request_counts_once_its_call_and_the_grace_are_over(
    request_at: Request, grace: timedelta, grade: str, basis: str
) -> None:
    """Strictly later than the requesting call; that call itself is no fault."""
    found = decide(Around(AT, request=request_at), grace=grace)
    assert (found.grade, found.basis) == (grade, basis)


def test_a_request_stands_whatever_a_check_says() -> None:
    """The company's own list is not the registry: not listed there does not lift it."""
    around = Around(AT, CLEAN_BEFORE, CLEAN_AFTER, _request(-3 * DAY))
    assert decide(around, grace=timedelta(0)).grade == "proven"


@pytest.mark.parametrize(
    ("following", "grade"),
    [
        # The request's call lies an hour after the call and takes an hour.
        (_check(3 * HOUR, listed=True), "clear"),
        (_check(2 * HOUR, listed=True), "indeterminate"),
        (_check(HOUR / 2, listed=True), "indeterminate"),
        (_check(HOUR / 2, listed=False), "clear"),
        (None, "clear"),
    ],
)
def test_a_later_request_explains_only_records_after_it(
    following: Record | None, grade: str
) -> None:
    """Listed before anybody asked is another reason, and stays indeterminate."""
    around = Around(AT, None, following, _request(HOUR))
    assert decide(around, grace=timedelta(0)).grade == grade


@pytest.mark.parametrize(
    ("shift", "grade"), [(-HOUR, "proven"), (timedelta(0), "clear"), (HOUR, "clear")]
)
def test_a_flag_proves_only_calls_after_its_last_change(shift: timedelta, grade: str) -> None:
    """Before it the flag is a record like others; here no such record follows the call."""
    assert decide(Around(AT, flag=_flag(shift)), grace=timedelta(0)).grade == grade


def test_several_grounds_are_all_named() -> None:
    """The earliest of them is when the number was listed by."""
    around = Around(
        AT, LISTED_BEFORE, None, _request(-3 * DAY), _flag(-2 * DAY), _screen(-9 * DAY)
    )
    found = decide(around, grace=timedelta(0))
    assert found.basis == "check + request + lead status"
    assert (found.listed_after, found.listed_by) == (AT - 9 * DAY, AT - 3 * DAY + HOUR)
    assert found.evidence == (
        "check req_1 said listed at 2026-06-14T15:00:00Z",
        "disposition DNC on call call_1 that ended at 2026-06-12T16:00:00Z",
        "lead lead_1 has status dnc and was last changed at 2026-06-13T15:00:00Z",
        "import screen lead_1 said not listed at 2026-06-06T15:00:00Z",
    )


def test_an_interval_is_told_with_both_ends() -> None:
    """After the last record that said not listed, by the first that said listed."""
    found = decide(Around(AT, None, LISTED_AFTER, clean=_screen(-DAY)), grace=timedelta(0))
    assert (found.listed_after, found.listed_by) == (AT - DAY, AT + DAY)
    assert found.reason == (
        "the number became listed after 2026-06-14T15:00:00Z and by 2026-06-16T15:00:00Z; "
        "the call is between"
    )


def test_a_call_without_a_time_is_not_evaluable() -> None:
    """Nothing can be said of it, whatever is on record."""
    found = decide(Around(None, LISTED_BEFORE), grace=timedelta(0))
    assert (found.grade, found.missing) == ("not evaluable", "created_at")


@pytest.mark.parametrize(
    ("start", "end", "days"),
    [
        ("2026-06-15T10:00", "2026-06-15T23:00", 0),
        ("2026-06-15T10:00", "2026-06-16T01:00", 1),
        ("2026-06-19T10:00", "2026-06-22T10:00", 1),
        ("2026-06-20T10:00", "2026-06-21T10:00", 0),
        ("2026-06-15T10:00", "2026-06-29T10:00", 10),
    ],
)
def test_weekdays_are_counted_from_the_day_after(start: str, end: str, days: int) -> None:
    """The day of the request is day zero, the day of the call counts."""
    assert weekdays(hand.utc(start), hand.utc(end)) == days


def test_a_datetime_is_what_comes_in_and_goes_out() -> None:
    """Instants stay aware."""
    found = decide(Around(AT, LISTED_BEFORE), grace=timedelta(0))
    assert isinstance(found.listed_by, datetime)
    assert found.listed_by.tzinfo is not None
