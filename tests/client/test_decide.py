"""When a request is sent again: every code, in every phase, for reads and writes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.client.retry_loop import (
    FIRST_WAIT_S,
    LONGEST_ASKED_S,
    LONGEST_BACKOFF_S,
    GiveUp,
    Retry,
    Seen,
    decide,
)
from dialframe.contract import error_codes
from rows import every_row

READ = Seen(phase="answered", writes=False, has_key=False, attempt=1, max_attempts=4, elapsed_s=0)
KEYED = replace(READ, writes=True, has_key=True)
UNKEYED = replace(READ, writes=True)

# Written from the contract: what says "not now", and what came before anything was done.
NOT_NOW = {
    "conflict", "rate_limit_exceeded", "dnc_screen_unavailable", "temporarily_unavailable",
    "upstream_unavailable", "upstream_invalid_response", "internal_error",
}  # fmt: skip
NOTHING_WRITTEN = {"rate_limit_exceeded", "dnc_screen_unavailable"}

every_code = every_row("row", error_codes.ALL)


@every_code
def test_answer_is_final_unless_it_says_not_now(row: error_codes.Code) -> None:
    """Reads and keyed writes are sent again after the same codes; of the 409s only after `conflict`."""
    for status in row.statuses:
        for seen in (READ, KEYED):
            verdict = decide(replace(seen, status=status, code=row.code), 0.0)

            assert isinstance(verdict, Retry) == (row.code in NOT_NOW)


@every_code
def test_write_without_key_goes_out_again_only_if_nothing_was_done(row: error_codes.Code) -> None:
    """Without a key a second request could be a second write."""
    for status in row.statuses:
        verdict = decide(replace(UNKEYED, status=status, code=row.code), 0.0)

        assert isinstance(verdict, Retry) == (row.code in NOTHING_WRITTEN)


@every_code
def test_stored_answer_of_a_key_stays_what_it_is(row: error_codes.Code) -> None:
    """An answer that was replayed is never asked for again."""
    seen = replace(KEYED, status=row.statuses[0], code=row.code, replayed=True)

    assert isinstance(decide(seen, 0.0), GiveUp)


@pytest.mark.parametrize(
    ("seen", "phase", "again"),
    [
        (READ, "not_sent", True), (READ, "maybe_sent", True),
        (KEYED, "not_sent", True), (KEYED, "maybe_sent", True),
        (UNKEYED, "not_sent", True), (UNKEYED, "maybe_sent", False),
    ],
)  # fmt: skip
def test_no_answer_is_asked_for_again_where_that_is_harmless(
    seen: Seen, phase: str, again: bool
) -> None:
    """Only a write without key that may have arrived is left alone."""
    verdict = decide(replace(seen, phase=phase), 0.0)  # type: ignore[arg-type]

    assert verdict == (Retry(FIRST_WAIT_S) if again else GiveUp("may_have_happened"))


@pytest.mark.parametrize(
    ("status", "code", "again"),
    [(500, "", True), (502, "", True), (599, "new_outage", True), (429, "", True),
     (429, "weekly_cap_reached", False), (409, "", False), (409, "new_state", False),
     (400, "", False), (404, "", False), (418, "teapot", False)],
)  # fmt: skip
def test_code_that_the_contract_does_not_name_goes_by_its_status(
    status: int, code: str, again: bool
) -> None:
    """Outages are temporary; a new cap or state is an answer."""
    assert isinstance(decide(replace(READ, status=status, code=code), 0.0), Retry) == again


@pytest.mark.parametrize("code", ["temporarily_unavailable", "internal_error"])
def test_failures_use_the_attempts_up(code: str) -> None:
    """The fourth of four attempts is the last."""
    seen = replace(READ, status=503, code=code)

    assert isinstance(decide(replace(seen, attempt=3), 0.0), Retry)
    assert decide(replace(seen, attempt=4), 0.0) == GiveUp("attempts")


@pytest.mark.parametrize(("status", "code"), [(429, "rate_limit_exceeded"), (409, "conflict")])
def test_not_yet_gets_more_patience_than_a_failure(status: int, code: str) -> None:
    """A long walk does not die of a rate refusal, unless a person allowed one attempt only."""
    seen = replace(KEYED, status=status, code=code, retry_after_s=1.0)

    assert isinstance(decide(replace(seen, attempt=15), 0.0), Retry)
    assert decide(replace(seen, attempt=16), 0.0) == GiveUp("attempts")
    assert decide(replace(seen, max_attempts=1), 0.0) == GiveUp("attempts")


def test_wait_doubles_up_to_a_limit() -> None:
    """Half a second, one, two, four, eight, eight."""
    waits = [
        decide(replace(READ, status=503, attempt=n, max_attempts=9), 0.0) for n in range(1, 7)
    ]

    assert waits == [Retry(s) for s in (0.5, 1.0, 2.0, 4.0, LONGEST_BACKOFF_S, LONGEST_BACKOFF_S)]


def test_long_request_to_wait_is_obeyed_only_under_a_deadline() -> None:
    """Without one the error is raised at once, with the time in it; never is it asked earlier."""
    asked = replace(
        READ, status=503, code="temporarily_unavailable", retry_after_s=LONGEST_ASKED_S + 1
    )

    assert decide(asked, 0.0) == GiveUp("asked_too_long")
    assert decide(replace(asked, deadline_s=60.0), 0.0) == GiveUp("deadline")
    assert decide(replace(asked, deadline_s=600.0), 0.0) == Retry(LONGEST_ASKED_S + 1)


@given(
    asked=st.none() | st.floats(0, 500),
    attempt=st.integers(1, 30),
    elapsed_s=st.floats(0, 300),
    deadline_s=st.none() | st.floats(0.01, 400),
    jitter=st.floats(0, 1, exclude_max=True),
)
def test_never_earlier_than_asked_and_never_past_the_deadline(
    asked: float | None, attempt: int, elapsed_s: float, deadline_s: float | None, jitter: float
) -> None:
    """Jitter only adds; a wait that does not fit is not begun."""
    verdict = decide(
        Seen(phase="answered", writes=False, has_key=False, attempt=attempt, max_attempts=50,
             elapsed_s=elapsed_s, deadline_s=deadline_s, status=503,
             code="temporarily_unavailable", retry_after_s=asked),
        jitter,
    )  # fmt: skip

    if isinstance(verdict, Retry):
        assert verdict.after_s >= (asked or 0.0)
        assert deadline_s is None or elapsed_s + verdict.after_s < deadline_s
