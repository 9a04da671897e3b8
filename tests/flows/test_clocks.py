"""Two clocks compared by one exchange."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.flows.machine_checks import Exchange, clock

NOON = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
#: The specification's own example of a ULID, and the instant in it.
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
IN_ULID = datetime(2016, 7, 30, 23, 54, 10, 259000, tzinfo=UTC)


def exchange(ahead_s: float, headers: dict[str, str], took_s: float = 0.2) -> Exchange:
    """An exchange by a clock that is so far ahead of noon."""
    sent_at = NOON + timedelta(seconds=ahead_s)
    return Exchange(sent_at, sent_at + timedelta(seconds=took_s), headers)


def dated(moment: datetime) -> dict[str, str]:
    """Headers that show an instant as HTTP does, without its fraction."""
    return {"date": format_datetime(moment.replace(microsecond=0), usegmt=True)}


@pytest.mark.parametrize(
    ("ahead_s", "state", "words"),
    [
        (0, "ok", "agrees"),
        (5.9, "ok", "agrees"),
        (60, "warning", "59 s ahead of"),
        (-60, "warning", "60 s behind"),
        (290, "warning", "ahead of"),
        (310, "failed", "refused as stale"),
        (-310, "failed", "310 s behind"),
    ],
)
def test_difference_is_judged_by_what_it_breaks(ahead_s: float, state: str, words: str) -> None:
    """Seconds are fine, a minute is said, beyond 300 s signatures fail."""
    found = clock(exchange(ahead_s, dated(NOON)))

    assert (found.check, found.state) == ("clock", state)
    assert words in found.detail
    assert bool(found.what_next) is (state != "ok")


@given(st.floats(0, 1e9), st.floats(0, 600), st.floats(0, 1))
def test_clocks_that_agree_are_never_blamed(since_s: float, took_s: float, share: float) -> None:
    """However long an answer takes, and whenever the service looked at its clock, equal clocks agree."""
    shown = NOON + timedelta(seconds=since_s)
    sent_at = shown - timedelta(seconds=took_s * share)
    heard = Exchange(sent_at, sent_at + timedelta(seconds=took_s), dated(shown))

    assert clock(heard).detail == "agrees with the service's, by Date"


def test_request_id_tells_the_time_without_a_date() -> None:
    """The ULID of a request id is read where there is no date, or one that is none."""
    for headers in ({}, {"date": "yesterday"}):
        known = Exchange(IN_ULID, IN_ULID, {"x-request-id": f"req_{ULID}", **headers})
        found = clock(known)
        assert (found.state, found.detail) == ("ok", "agrees with the service's, by X-Request-ID")
    late = IN_ULID + timedelta(seconds=100)
    assert "100 s ahead" in clock(Exchange(late, late, {"x-request-id": f"req_{ULID}"})).detail


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-request-id": "edge_0123456789abcdef0123456789abcdef"},
        {"x-request-id": "req_short"},
        {"date": "Fri, 31 Dec 9999 23:59:59 GMT"},
        {"x-request-id": "req_" + "Z" * 26},
    ],
)
def test_no_time_is_not_known(headers: dict[str, str]) -> None:
    """An answer without a time in it leaves the difference unknown."""
    found = clock(exchange(0, headers))

    assert (found.state, found.detail) == ("not tried", "not known: the answer has no time in it")
    assert clock(None).state == "not tried"
