"""Faults: the named failure for the next matching requests, and for no others."""

from __future__ import annotations

import time

import httpx
import pytest

from sandbox.contract.service_bench import Console, Party, answered, paged, problem

CODES = [
    (500, "internal_error"),
    (502, "upstream_invalid_response"),
    (503, "temporarily_unavailable"),
    (503, "upstream_unavailable"),
    (429, "rate_limit_exceeded"),
    (409, "conflict"),
    (409, "outcome_unknown"),
    (409, "replay_unavailable"),
    (401, "invalid_api_key"),
    (403, "sending_suspended"),
]


@pytest.mark.parametrize(("status", "code"), CODES)
def test_error_of_the_contract(console: Console, party: Party, status: int, code: str) -> None:
    """The next matching request gets the error, the one after it does not."""
    with console.fault("calls.list", status=status, code=code):
        answered(party.get("/v1/leads"), 200)
        problem(party.get("/v1/calls"), status, code)
        paged(party.get("/v1/calls"))


def test_fault_strikes_as_often_as_it_says(console: Console, party: Party) -> None:
    """`times` failures, after `after` requests that pass."""
    with console.fault("calls.list", status=500, code="internal_error", times=2, after=3):
        seen = [party.get("/v1/calls").status_code for _ in range(7)]

    assert seen == [200, 200, 200, 500, 500, 200, 200]


def test_star_matches_every_operation(console: Console, party: Party) -> None:
    """`*` is any operation."""
    with console.fault("*", status=503, code="temporarily_unavailable", times=3):
        for path in ("/v1/me", "/v1/leads", "/v1/campaigns"):
            problem(party.get(path), 503, "temporarily_unavailable")
        answered(party.get("/v1/me"), 200)


def test_faults_can_be_taken_back(console: Console, party: Party) -> None:
    """DELETE removes what has not struck yet."""
    console.do(
        "POST",
        "/faults",
        {"operation": "*", "status": 500, "code": "internal_error", "times": 99},
        status=201,
    )
    problem(party.get("/v1/me"), 500, "internal_error")
    console.do("DELETE", "/faults", status=204)
    answered(party.get("/v1/me"), 200)


def test_faults_wait_in_line(console: Console, party: Party) -> None:
    """Two faults of one operation strike one after the other, each its own number of times."""
    with (
        console.fault("calls.list", status=500, code="internal_error"),
        console.fault("calls.list", status=503, code="upstream_unavailable"),
    ):
        seen = [party.get("/v1/calls").status_code for _ in range(3)]

    assert sorted(seen[:2]) == [500, 503]
    assert seen[2] == 200


def test_slow_answer(console: Console, party: Party) -> None:
    """The answer comes late, and is the right one."""
    with console.fault("calls.list", delay_seconds=0.3):
        began = time.monotonic()
        paged(party.get("/v1/calls"))
        assert time.monotonic() - began >= 0.3
        began = time.monotonic()
        paged(party.get("/v1/calls"))
        assert time.monotonic() - began < 0.3


def test_body_that_is_not_json(console: Console, party: Party) -> None:
    """The answer has the body that was ordered."""
    with console.fault("calls.list", body="<html>gateway</html>"):
        url = party.service.base_url + "/v1/calls"
        auth = {"Authorization": f"Bearer {party.key}"}
        assert party.http.get(url, headers=auth).text == "<html>gateway</html>"
        paged(party.get("/v1/calls"))


@pytest.mark.parametrize("drop", ["before", "during", "after-commit"])
def test_connection_is_cut(console: Console, party: Party, drop: str) -> None:
    """The caller sees no whole answer; the next request is served."""
    with (
        console.fault("calls.list", drop=drop),
        pytest.raises(httpx.TransportError),
    ):
        party.get("/v1/calls")
    paged(party.get("/v1/calls"))
