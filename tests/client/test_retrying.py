"""When a request is sent again: the rule for every code and phase, then calls over the wire."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.fakes import (
    CAMPAIGN,
    LEAD,
    REQUEST_ID,
    SENT,
    FakeClock,
    Service,
    a_lead,
    a_page,
    answer,
    connected,
    dripping,
    problem,
    send_sms,
)
from dialframe.client import Options, RateLimiter
from dialframe.contract import Empty, error_codes, operations
from dialframe.errors import (
    ApiError,
    LimitReached,
    RateLimited,
    ServiceUnavailable,
    TransportError,
)

# Written from the contract: what says "not now".
NOT_NOW = {
    "conflict", "rate_limit_exceeded", "dnc_screen_unavailable", "temporarily_unavailable",
    "upstream_unavailable", "upstream_invalid_response", "internal_error",
}  # fmt: skip
#: Codes that the contract does not name, or names with another status, and whether they are asked again.
UNNAMED = [
    (500, "", True), (502, "", True), (599, "new_outage", True), (429, "", True),
    (429, "weekly_cap_reached", False), (409, "", False), (409, "new_state", False),
    (400, "", False), (404, "", False), (418, "teapot", False),
]  # fmt: skip
NAMED = [(status, row.code, row.code in NOT_NOW) for row in error_codes.ALL for status in row.statuses]  # fmt: skip


@pytest.mark.parametrize(("status", "code", "again"), NAMED + UNNAMED)
@pytest.mark.parametrize("ask", [lambda client: client.me(), send_sms], ids=["read", "write"])
def test_answer_is_final_unless_it_says_not_now(
    ask: Any, status: int, code: str, again: bool, tmp_path: Path
) -> None:
    """Reads and writes are sent again after the same codes, as they were; a stored answer of a key stays what it is."""
    for replayed in (False, True):
        stored = {"Idempotency_Replayed": "true"} if replayed else {}
        service = Service(problem(status, code, Retry_After="0", **stored))
        with pytest.raises(ApiError):
            ask(connected(service, tmp_path / str(replayed), max_attempts=2))

        assert (len(service.requests) > 1) == (again and not replayed)
        assert len(set(service.keys)) == len(set(service.bodies)) == 1


def outage(**facts: Any) -> ApiError:
    """The service is out of order."""
    return ApiError("x", status=503, code="temporarily_unavailable", **facts)


GONE, DOUBLED = httpx.ReadError("gone"), [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]
#: What a service answers again and again, how it is asked, and the waits until the caller gives up.
WAITS: dict[str, tuple[Any, dict[str, Any], list[float]]] = {
    "an outage doubles the wait": (problem(503, "temporarily_unavailable"), {"max_attempts": 7}, DOUBLED),
    "so does no answer": (GONE, {"max_attempts": 7}, DOUBLED),
    "not yet gets more patience": (problem(409, "conflict", Retry_After="1"), {}, [1.0] * 15),
    "unless one attempt is all": (problem(409, "conflict", Retry_After="1"), {"max_attempts": 1}, []),
    "a long request is not obeyed": (problem(503, "", Retry_After="121"), {}, []),
    "nor one beyond the deadline": (problem(503, "", Retry_After="121"), {"deadline_s": 60.0}, []),
    "it is under a deadline that allows it": (problem(503, "", Retry_After="121"),
                                              {"deadline_s": 600.0}, [121.0] * 3),
}  # fmt: skip


@pytest.mark.parametrize(("says", "settings", "waits"), WAITS.values(), ids=WAITS)
def test_waits_until_a_caller_gives_up(
    says: Any, settings: dict[str, Any], waits: list[float], tmp_path: Path
) -> None:
    """Never earlier than asked, and never past the deadline."""
    clock, service = FakeClock(), Service(says)

    with pytest.raises((ApiError, TransportError)):
        connected(service, tmp_path, clock=clock, **settings).campaigns.pause(CAMPAIGN)

    assert clock.slept == waits
    assert len(service.requests) == len(waits) + 1


OUTAGE = problem(503, "temporarily_unavailable", Retry_After="3")


@pytest.mark.parametrize("asked", ["3", "Sat, 21 Nov 2026 09:00:03 GMT"], ids=["s", "date"])
def test_read_is_repeated_after_what_the_service_asked_for(asked: str, tmp_path: Path) -> None:
    """Not earlier than Retry-After, with the same request."""
    outage = problem(503, "temporarily_unavailable", Retry_After=asked)
    clock, service = FakeClock(), Service(outage, httpx.ReadError("gone"), answer({"client_id": "c"}))  # fmt: skip

    me = connected(service, tmp_path, clock=clock).me()

    assert me.client_id == "c"
    assert clock.slept == [3.0, 1.0]
    assert len({str(request.url) for request in service.requests}) == 1


@pytest.mark.parametrize(("options", "attempts"), [(None, 4), (Options(max_attempts=1), 1)])
def test_attempts_come_to_an_end(options: Options | None, attempts: int, tmp_path: Path) -> None:
    """Four by default, an option of the call wins; the error is the last answer."""
    service = Service(OUTAGE)

    with pytest.raises(ServiceUnavailable) as caught:
        connected(service, tmp_path).me(options=options)

    assert len(service.requests) == attempts
    assert caught.value.retry_after_s == 3.0


@pytest.mark.parametrize(
    "hiccup",
    [OUTAGE, httpx.ReadTimeout("late"), httpx.ConnectError("refused"), httpx.RemoteProtocolError("cut")],
    ids=["outage", "late", "refused", "cut"],
)  # fmt: skip
def test_write_is_repeated_with_one_key_and_the_same_bytes(
    hiccup: httpx.Response | Exception, tmp_path: Path
) -> None:
    """On the wire: three attempts, one key, one body."""
    service = Service(hiccup, hiccup, SENT)

    message = send_sms(connected(service, tmp_path))

    assert message.status == "queued"
    assert len(service.requests) == 3
    assert len(set(service.keys)) == 1
    assert service.keys[0]
    assert len(set(service.bodies)) == 1


def test_each_intent_has_a_key_of_its_own(tmp_path: Path) -> None:
    """Two texts are two writes, and the dnc check is none."""
    service = Service(SENT)
    client = connected(service, tmp_path)

    send_sms(client)
    send_sms(client)

    assert len(set(service.keys)) == 2


def test_deadline_holds_over_all_attempts(tmp_path: Path) -> None:
    """A wait that does not fit is not begun."""
    clock, service = FakeClock(), Service(OUTAGE)

    with pytest.raises(ServiceUnavailable):
        connected(service, tmp_path, clock=clock, deadline_s=7.0).me()

    assert clock.slept == [3.0, 3.0]


def test_attempt_gets_no_more_time_than_the_deadline_leaves(tmp_path: Path) -> None:
    """The timeout of an attempt shrinks to what is left."""
    seen: list[float] = []

    def slow(request: httpx.Request) -> httpx.Response:
        seen.append(request.extensions["timeout"]["read"])
        return httpx.Response(503, headers={"Retry-After": "3"})

    with pytest.raises(ServiceUnavailable):
        connected(slow, tmp_path).me(options=Options(timeout_s=6, deadline_s=8))

    assert seen == [6.0, 5.0, 2.0]


def test_answer_that_drips_ends_at_the_deadline(tmp_path: Path) -> None:
    """Each byte arrives in time, and the whole does not."""
    clock = FakeClock()

    with pytest.raises(TransportError, match="still coming in at the deadline"):
        connected(dripping(clock), tmp_path, clock=clock, deadline_s=5.0).me()


def test_rate_refusal_pauses_every_call_of_the_key(tmp_path: Path) -> None:
    """The wait is obeyed by the next call too."""
    clock = FakeClock()
    limiter = RateLimiter()
    rate = problem(429, "rate_limit_exceeded", Retry_After="2")
    service = Service(rate, answer({}))
    client = connected(service, tmp_path, clock=clock, limiter=limiter, max_attempts=1)

    with pytest.raises(RateLimited):
        client.me()
    client.me()

    assert clock.elapsed_s == 2.0


def test_cap_does_not_touch_the_bucket(tmp_path: Path) -> None:
    """A daily cap stops one kind of write, not every read."""
    clock = FakeClock()
    service = Service(problem(429, "daily_cap_reached", Retry_After="3600"), answer({}))
    client = connected(service, tmp_path, clock=clock, limiter=RateLimiter())

    with pytest.raises(LimitReached):
        send_sms(client)
    client.me()

    assert clock.slept == []


def test_list_walk_outlives_a_run_of_rate_refusals(tmp_path: Path) -> None:
    """Ten refusals in a row cost time and no rows."""
    rate = problem(429, "rate_limit_exceeded", Retry_After="1")
    service = Service(*[rate] * 10, a_page([a_lead()]))

    leads = list(connected(service, tmp_path, limiter=RateLimiter()).leads.list())

    assert [lead.id for lead in leads] == [LEAD]
    assert len(service.requests) == 11


def test_rate_limit_spaces_calls_out(tmp_path: Path) -> None:
    """Thirty calls take the two seconds that the bucket asks for."""
    clock = FakeClock()
    client = connected(Service(answer({})), tmp_path, clock=clock, limiter=RateLimiter())

    for _ in range(30):
        client.me()

    assert clock.elapsed_s == pytest.approx(2.0)


def test_call_that_cannot_be_sent_before_its_deadline_is_not_sent(tmp_path: Path) -> None:
    """The queue is longer than the deadline: the error says so and nothing leaves."""
    service = Service(answer({}))
    client = connected(service, tmp_path, limiter=RateLimiter(rate_per_s=0.1, burst=1))
    client.me()

    with pytest.raises(
        TransportError, match="rate limit leaves no room in the next 2 s"
    ) as caught:
        client.me(options=Options(deadline_s=2))

    assert not caught.value.sent
    assert len(service.requests) == 1


def test_long_pause_is_said_and_not_sat_out_in_silence(tmp_path: Path) -> None:
    """A service that wants an hour's quiet is not asked, and nobody hangs for an hour."""
    clock = FakeClock()
    service = Service(problem(429, "rate_limit_exceeded", Retry_After="3600"), answer({}))
    client = connected(service, tmp_path, clock=clock, limiter=RateLimiter())

    with pytest.raises(RateLimited) as caught:
        client.me()
    with pytest.raises(TransportError, match="no room in the next 120 s"):
        client.me()
    client.me(options=Options(deadline_s=4000))

    assert caught.value.retry_after_s == 3600.0
    assert clock.elapsed_s >= 3600.0
    assert len(service.requests) == 2


def test_correlation_goes_out_as_a_header(tmp_path: Path) -> None:
    """From the block, and from the option, which wins."""
    service = Service(answer({}))
    client = connected(service, tmp_path)

    with client.correlation("nb-42"):
        client.me()
        client.me(options=Options(correlation_id="own"))
    client.me()

    assert [request.headers.get("X-Correlation-ID") for request in service.requests] == [
        "nb-42",
        "own",
        None,
    ]


def test_raw_answer_says_how_it_came(tmp_path: Path) -> None:
    """Status, request id, ETag, attempts, replay and JSON stand beside the value."""
    clock = FakeClock()
    body = {"client_id": "c", "new": 1}
    service = Service(OUTAGE, answer(body, ETag='"7"', Idempotency_Replayed="true"))

    answered = connected(service, tmp_path, clock=clock).send_raw(operations.ME, Empty())

    assert (answered.status, answered.request_id, answered.etag) == (200, REQUEST_ID, '"7"')
    assert (answered.attempts, answered.replayed, answered.key) == (2, True, None)
    assert answered.raw == body
    assert answered.value.model_extra == {"new": 1}
    assert answered.observed_at == clock().now()
    assert answered.headers["content-type"] == "application/json"


def test_each_attempt_is_logged_without_url_number_or_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Operation, status, request id and milliseconds: enough for the operator, nothing personal."""
    caplog.set_level(logging.DEBUG)
    service = Service(OUTAGE, a_page([]))

    list(connected(service, tmp_path).leads.list(campaign_id=CAMPAIGN, external_id="crm-77"))

    assert caplog.messages == [
        f"leads.list: 503, request {REQUEST_ID}, 0 ms",
        "leads.list: again in 3.0 s",
        f"leads.list: 200, request {REQUEST_ID}, 0 ms",
    ]
