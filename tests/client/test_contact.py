"""Any number of numbers is checked, each answered once, in order, with its evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.fakes import PHONE, REQUEST_ID, START, FakeClock, Service, answer, connected, problem
from dialframe.config import Progress
from dialframe.errors import ContractError, ServiceUnavailable

LISTED = "+12125550199"


def numbers(count: int) -> list[str]:
    """Reserved fictional numbers of many areas."""
    return [f"+1{200 + n // 100}55501{n % 100:02d}" for n in range(count)]


def checking(request: httpx.Request) -> httpx.Response:
    """The Do-Not-Call check of a service."""
    phones = json.loads(request.content)["phones"]
    return answer({"data": [{"phone": phone, "listed": phone == LISTED} for phone in phones]})


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])])  # fmt: skip
def test_numbers_go_out_by_the_hundred(count: int, sizes: list[int], tmp_path: Path) -> None:
    """One result for each, in their order."""
    service, phones = Service(checking), numbers(count)

    results = connected(service, tmp_path).dnc.check(phones)

    assert [result.phone for result in results] == phones
    assert [len(json.loads(body)["phones"]) for body in service.bodies] == sizes


def test_result_is_the_answer_with_its_evidence(tmp_path: Path) -> None:
    """Listed or not, when it was asked, under which request id."""
    clock = FakeClock()
    clock.elapsed_s = 5.0

    (clear, listed) = connected(Service(checking), tmp_path, clock=clock).dnc.check(
        [PHONE, LISTED]
    )

    assert (clear.listed, listed.listed) == (False, True)
    assert (listed.checked_at, listed.request_id) == (clock().now(), REQUEST_ID)
    assert listed.checked_at > START


def test_time_is_that_of_the_attempt_that_was_answered(tmp_path: Path) -> None:
    """A check that had to be repeated is as fresh as its last request."""
    clock = FakeClock()
    service = Service(problem(503, "temporarily_unavailable", Retry_After="60"), checking)

    (checked,) = connected(service, tmp_path, clock=clock).dnc.check([PHONE])

    assert (checked.checked_at - START).total_seconds() == 60.0


def test_number_that_comes_twice_is_answered_twice(tmp_path: Path) -> None:
    """One result per input, whatever the input."""
    results = connected(Service(checking), tmp_path).dnc.check(iter([LISTED, PHONE, LISTED]))

    assert [result.listed for result in results] == [True, False, True]


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"phone": PHONE, "listed": False}],
        [{"phone": LISTED, "listed": True}, {"phone": PHONE, "listed": False}],
        [{"phone": PHONE, "listed": False}, {"phone": LISTED, "listed": True}, {"phone": PHONE, "listed": False}],
    ],
    ids=["none", "fewer", "other order", "more"],
)  # fmt: skip
def test_answers_that_are_not_theirs_are_no_evidence(data: list[Any], tmp_path: Path) -> None:
    """A result is never given to another number."""
    with pytest.raises(ContractError, match="not theirs in their order"):
        connected(Service(answer({"data": data})), tmp_path).dnc.check([PHONE, LISTED])


def test_progress_counts_numbers(tmp_path: Path) -> None:
    """After each request."""
    steps: list[Progress] = []
    connected(Service(checking), tmp_path).dnc.check(numbers(150), on_progress=steps.append)

    assert steps == [Progress("dnc.check", 100, 150), Progress("dnc.check", 150, 150)]


def test_answers_before_an_error_are_kept(tmp_path: Path) -> None:
    """Of 1,000 numbers the sixth hundred fails: there is no result, and 500 answers come with the error."""
    asked = numbers(1000)
    service = Service(*[checking] * 5, problem(503, "temporarily_unavailable"))

    with pytest.raises(
        ServiceUnavailable, match=r"500 of 1000 numbers .* error\.partial"
    ) as caught:
        connected(service, tmp_path, max_attempts=1).dnc.check(asked)

    assert [checked.phone for checked in caught.value.partial] == asked[:500]
    assert all(checked.request_id for checked in caught.value.partial)


def test_repr_masks_the_number(tmp_path: Path) -> None:
    """A list of results in a notebook shows no whole number."""
    (checked,) = connected(Service(checking), tmp_path).dnc.check([PHONE])

    assert PHONE not in repr(checked)
    assert "+121******42" in repr(checked)
