"""What single methods do beyond sending: change what was read, check any number of numbers, save a recording."""

from __future__ import annotations

import json
import pickle
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.fakes import (
    CALL,
    LEAD,
    PHONE,
    REQUEST_ID,
    START,
    FakeClock,
    Service,
    a_lead,
    a_page,
    an_id,
    answer,
    connected,
    cut_off,
    dripping,
    problem,
)
from dialframe.client import Options
from dialframe.config import Progress
from dialframe.errors import (
    ConfigError,
    ContractError,
    DialframeError,
    NotFound,
    PreconditionFailed,
    ServiceUnavailable,
    StoreError,
    TransportError,
)

APPOINTMENT = an_id("appt")
BOOKED = {
    "id": APPOINTMENT, "status": "scheduled", "scheduled_at": "2026-12-01T10:00:00Z", "timezone": None,
    "duration_minutes": 30, "service_type": None, "contact_name": None, "phone": "+12125550142",
    "email": None, "notes": None, "source": "api", "created_at": "2026-11-20T15:04:05Z",
    "updated_at": "2026-11-20T15:04:05Z",
}  # fmt: skip


def test_value_that_was_read_brings_its_etag_along(tmp_path: Path) -> None:
    """If-Match is the ETag of just that reading, and each change gives a new one."""
    service = Service(
        answer(a_lead(), ETag='"1"'), answer(a_lead(), ETag='"2"'), answer(a_lead(), ETag='"3"')
    )
    client = connected(service, tmp_path)

    lead = client.leads.get(LEAD)
    changed = client.leads.update(LEAD, full_name="A", options=Options(if_match=lead))
    client.leads.update(LEAD, full_name="B", options=Options(if_match=changed))

    assert [r.headers.get("If-Match") for r in service.requests] == [None, '"1"', '"2"']
    assert (client.etag_of(lead), client.etag_of(changed)) == ('"1"', '"2"')


def test_nothing_is_matched_unless_it_is_asked_for(tmp_path: Path) -> None:
    """Having read a lead once binds nobody."""
    service = Service(answer(a_lead(), ETag='"1"'))
    client = connected(service, tmp_path)
    client.leads.get(LEAD)

    client.leads.update(LEAD, full_name=None)

    assert "If-Match" not in service.requests[-1].headers


def test_row_of_a_list_has_no_etag(tmp_path: Path) -> None:
    """The error says to read it by its id first."""
    service = Service(a_page([a_lead()]))
    client = connected(service, tmp_path)
    (lead,) = client.leads.list()

    with pytest.raises(ConfigError, match="without an ETag"):
        client.leads.update(LEAD, full_name="A", options=Options(if_match=lead))
    assert len(service.requests) == 1


def test_changed_lead_comes_fresh_with_the_error(tmp_path: Path) -> None:
    """412: the lead is read again, and its new ETag is known."""
    service = Service(
        problem(412, "precondition_failed"),
        answer(a_lead(full_name="Changed"), ETag='"9"'),
        answer(a_lead()),
    )
    client = connected(service, tmp_path)

    with pytest.raises(PreconditionFailed) as caught:
        client.leads.update(LEAD, full_name="Mine", options=Options(if_match='"1"'))
    fresh = caught.value.fresh  # type: ignore[attr-defined]
    client.leads.update(LEAD, full_name="Mine", options=Options(if_match=fresh))

    assert fresh.full_name == "Changed"
    assert service.requests[-1].headers["If-Match"] == '"9"'
    assert pickle.loads(pickle.dumps(caught.value)).fresh == fresh  # noqa: S301 - our own bytes


def test_changed_appointment_comes_fresh_with_the_error(tmp_path: Path) -> None:
    """Cancelling matches as updating does."""
    service = Service(
        answer(BOOKED, ETag='"1"'), problem(412, "precondition_failed"), answer(BOOKED, ETag='"2"')
    )
    client = connected(service, tmp_path)
    booked = client.appointments.get(APPOINTMENT)

    with pytest.raises(PreconditionFailed) as caught:
        client.appointments.cancel(APPOINTMENT, options=Options(if_match=booked))

    assert service.requests[1].headers["If-Match"] == '"1"'
    assert client.etag_of(caught.value.fresh) == '"2"'  # type: ignore[attr-defined]


def test_fresh_copy_that_cannot_be_read_is_none(tmp_path: Path) -> None:
    """The error is still the 412."""
    service = Service(problem(412, "precondition_failed"), problem(403, "insufficient_scope"))

    with pytest.raises(PreconditionFailed) as caught:
        connected(service, tmp_path).leads.update(
            LEAD, full_name="A", options=Options(if_match='"1"')
        )

    assert caught.value.fresh is None  # type: ignore[attr-defined]


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
    """Each input once more as often as it came: listed or not, when it was asked, under which request id."""
    clock = FakeClock()
    clock.elapsed_s = 5.0

    results = connected(Service(checking), tmp_path, clock=clock).dnc.check(
        iter([LISTED, PHONE, LISTED])
    )
    listed, clear, _ = results

    assert [result.listed for result in results] == [True, False, True]
    assert (listed.checked_at, listed.request_id) == (clock().now(), REQUEST_ID)
    assert listed.checked_at > START
    # A list of results in a notebook shows no whole number.
    assert PHONE not in repr(clear)
    assert "+121******42" in repr(clear)


def test_time_is_that_of_the_attempt_that_was_answered(tmp_path: Path) -> None:
    """A check that had to be repeated is as fresh as its last request."""
    clock = FakeClock()
    service = Service(problem(503, "temporarily_unavailable", Retry_After="60"), checking)

    (checked,) = connected(service, tmp_path, clock=clock).dnc.check([PHONE])

    assert (checked.checked_at - START).total_seconds() == 60.0


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


SOUND = b"RIFF" * 1000
WHOLE = httpx.Response(200, content=SOUND)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where a recording is to be saved, in a folder of its own."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "call.wav"


def test_recording_is_saved_for_its_owner_alone(file: Path, tmp_path: Path) -> None:
    """The path comes back, the mode is 0600, nothing else is left in the folder."""
    assert connected(Service(WHOLE), tmp_path).calls.recording(CALL, file) == file
    assert file.read_bytes() == SOUND
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_recording_that_breaks_off_is_fetched_again_from_its_start(
    file: Path, tmp_path: Path
) -> None:
    """What was half there is thrown away; the path may be text."""
    service = Service(cut_off(SOUND), WHOLE)

    path = connected(service, tmp_path).calls.recording(CALL, str(file))

    assert path.read_bytes() == SOUND
    assert len(service.requests) == 2


#: What comes instead of a recording, each time; with a clock, as long as one waits for it.
NO_RECORDING: dict[str, tuple[Callable[[FakeClock], Any], type[DialframeError], str]] = {
    "it breaks off": (lambda _: cut_off(SOUND), TransportError, "broke the connection off"),
    "it drips": (dripping, TransportError, "deadline"),
    "a refusal": (lambda _: problem(404, "not_found"), NotFound, "404 not_found"),
    # The key is not carried elsewhere.
    "a redirect": (lambda _: httpx.Response(302), ContractError, "redirects"),
}


@pytest.mark.parametrize(("sent", "kind", "words"), NO_RECORDING.values(), ids=NO_RECORDING)
def test_recording_that_never_comes_whole_leaves_nothing(
    sent: Callable[[FakeClock], Any], kind: type[DialframeError], words: str,
    file: Path, tmp_path: Path,
) -> None:  # fmt: skip
    """Neither the file nor a part of it; a file that was there stays."""
    file.write_bytes(b"earlier")
    clock = FakeClock()
    client = connected(Service(sent(clock)), tmp_path, clock=clock, deadline_s=5.0)

    with pytest.raises(kind, match=rf"^calls\.recording: .*{words}"):
        client.calls.recording(CALL, file)

    assert [left.read_bytes() for left in file.parent.iterdir()] == [b"earlier"]


@pytest.mark.parametrize(("coding", "total"), [({}, len(SOUND)), ({"Content-Encoding": "identity"}, None)])  # fmt: skip
def test_progress_counts_bytes_to_the_announced_length(
    coding: dict[str, str], total: int | None, file: Path, tmp_path: Path
) -> None:
    """Content-Length is the total, but not that of packed bytes."""
    steps: list[Progress] = []
    client = connected(Service(httpx.Response(200, headers=coding, content=SOUND)), tmp_path)

    client.calls.recording(CALL, file, on_progress=steps.append)

    assert steps[-1] == Progress("calls.recording", len(SOUND), total)


def test_path_is_checked_before_anything_is_sent(tmp_path: Path) -> None:
    """A missing folder, or a folder in place of the file."""
    service = Service(WHOLE)
    client = connected(service, tmp_path)

    with pytest.raises(ConfigError, match="does not exist"):
        client.calls.recording(CALL, tmp_path / "no" / "a.wav")
    with pytest.raises(ConfigError, match="is a folder"):
        client.calls.recording(CALL, tmp_path)

    assert not service.requests


def test_disk_that_is_full_is_said(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be written is a StoreError with the file's name."""

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)

    with pytest.raises(
        StoreError, match=r"call\.wav cannot be written \(the disk is full\): make room"
    ):
        connected(Service(WHOLE), tmp_path).calls.recording(CALL, file)
    assert not list(file.parent.iterdir())
