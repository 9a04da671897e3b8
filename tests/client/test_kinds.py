"""What only one kind of client has to show: cancellation, loops, the same face."""

from __future__ import annotations

import asyncio
import gc
import inspect
from pathlib import Path
from typing import Any

import httpx
import pytest

import dialframe
from client import fakes
from client.conftest import BOTH
from client.fakes import (
    BASE_URL,
    KEY,
    SENT,
    Service,
    a_call,
    a_lead,
    a_page,
    an_id,
    answer,
    in_a_loop,
    send_sms,
)
from dialframe.client import AsyncClient, Client
from dialframe.contract import operations


@pytest.mark.usefixtures("client_kind")
@pytest.mark.parametrize("client_kind", ["threads", "event loop"], indirect=True)
def test_suite_has_both_kinds_at_hand(tmp_path: Path, client_kind: str) -> None:
    """What `connected` gives is what a test is named after."""
    client = fakes.connected(Service(answer({})), tmp_path)

    assert type(client).__name__ == {"threads": "Client", "event loop": "Blocking"}[client_kind]
    assert len(BOTH) == 12


def test_both_kinds_have_the_same_operations(tmp_path: Path) -> None:
    """45 methods with the same arguments, defaults and documentation."""
    one = Client(BASE_URL, KEY, journal=tmp_path)
    other = AsyncClient(BASE_URL, KEY, journal=tmp_path)
    assert dialframe.AsyncClient is AsyncClient
    for row in operations.ALL:
        methods = []
        for client in (one, other):
            method: Any = client
            for name in dialframe.client.method_path(row).split("."):
                method = getattr(method, name)
            methods.append(method)
        assert inspect.signature(methods[0]) == inspect.signature(methods[1])
        assert inspect.getdoc(methods[0]) == inspect.getdoc(methods[1])
    assert {name for name in vars(Client) if not name.startswith("_")} - {"close"} == {
        name for name in vars(AsyncClient) if not name.startswith("_")
    } - {"aclose"}


def test_records_come_by_async_for(tmp_path: Path) -> None:
    """Pages, records, the first one, a frame."""
    service = Service(a_page([a_call(1), a_call(2)], "c"), a_page([a_call(3)]))

    async def walk() -> tuple[Any, ...]:
        async with in_a_loop(service, journal=tmp_path) as client:
            ids = [call.id async for call in client.calls.list()]
            service.script[:] = [a_page([a_call(1)], "c")]
            first = await client.calls.list().first()
            asked = len(service.requests)
            service.script[:] = [a_page([a_call(1)])]
            frame = await client.calls.list().to_frame()
            pages = [len(page) async for page in client.calls.list().pages()]
            return ids, first, asked, frame, pages

    ids, first, asked, frame, pages = asyncio.run(walk())

    assert ids == [an_id("call", n) for n in (1, 2, 3)]
    assert first.id == an_id("call", 1)
    assert asked == 3
    assert (len(frame), pages) == (1, [1])


def test_cancelled_write_stays_pending_and_its_connection_is_let_go(tmp_path: Path) -> None:
    """It may have happened: the journal has its key and bytes."""
    arrived = asyncio.Event()
    closed = []

    class Slow(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            arrived.set()
            try:
                await asyncio.sleep(60)
            finally:
                closed.append(request)
            raise AssertionError

    async def cancelled() -> list[Any]:
        async with in_a_loop(Slow(), journal=tmp_path) as client:
            sending = asyncio.create_task(send_sms(client))
            await arrived.wait()
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            return await client.writes.pending()

    (write,) = asyncio.run(cancelled())

    assert (write.operation, write.state) == ("sms.send", "pending")
    assert len(closed) == 1
    settled = fakes.connected(Service(SENT), tmp_path, clock=None)
    assert [pending.key for pending in settled.writes.pending()] == [write.key]


def test_many_calls_at_once_share_a_client(tmp_path: Path) -> None:
    """Each gets the answer to its own question."""

    def service(request: httpx.Request) -> httpx.Response:
        return answer({**a_call(), "id": request.url.path.rsplit("/", 1)[1]})

    async def ask() -> list[str]:
        async with in_a_loop(service, journal=tmp_path) as client:
            calls = await asyncio.gather(
                *(client.calls.get(an_id("call", number)) for number in range(50))
            )
            return [call.id for call in calls]

    assert asyncio.run(ask()) == [an_id("call", number) for number in range(50)]


def test_client_outlives_a_loop(tmp_path: Path) -> None:
    """Connections belong to a loop; in the next one there are new ones."""
    client = in_a_loop(Service(answer({"client_id": "c"})), journal=tmp_path)

    for _ in range(2):
        assert asyncio.run(client.me()).client_id == "c"
    gc.collect()


def test_raw_response_has_everything_that_came_along(tmp_path: Path) -> None:
    """The value of the method, and its answer around it, of both kinds."""
    service = Service(answer(a_lead(), ETag='"1"'))
    client = fakes.connected(service, tmp_path)

    async def ask() -> Any:
        return await in_a_loop(service, journal=tmp_path).with_raw_response.leads.get(fakes.LEAD)

    for answered in (client.with_raw_response.leads.get(fakes.LEAD), asyncio.run(ask())):
        assert answered.value.id == fakes.LEAD
        assert (answered.status, answered.etag, answered.attempts) == (200, '"1"', 1)
        assert answered.headers["x-request-id"] == answered.request_id == fakes.REQUEST_ID


def test_other_defaults_share_connections(tmp_path: Path) -> None:
    """`with_options` changes how long and how often, and nothing else."""
    service = Service(fakes.problem(503, "temporarily_unavailable"))
    client = fakes.connected(service, tmp_path)
    hasty = client.with_options(max_attempts=1, timeout_s=5)

    with pytest.raises(dialframe.errors.ServiceUnavailable):
        hasty.me()
    assert len(service.requests) == 1
    with pytest.raises(dialframe.errors.ServiceUnavailable):
        client.me()
    assert len(service.requests) == 5
    with pytest.raises(dialframe.errors.ConfigError, match="max_attempts"):
        client.with_options(max_attempts=0)
    client.close()
    with pytest.raises(dialframe.errors.ConfigError, match="closed"):
        hasty.me()


def test_recording_goes_into_a_buffer_or_comes_in_chunks(tmp_path: Path) -> None:
    """A buffer is set back when the connection broke; chunks come as they arrive."""
    import io

    class Broken(httpx.SyncByteStream, httpx.AsyncByteStream):
        def __iter__(self) -> Any:
            yield b"RI"
            raise httpx.ReadError("cut")

        async def __aiter__(self) -> Any:
            yield b"RI"
            raise httpx.ReadError("cut")

    whole = httpx.Response(200, content=b"RIFF....")
    service = Service(lambda _: httpx.Response(200, stream=Broken()), whole)
    client = fakes.connected(service, tmp_path)
    buffer = io.BytesIO(b"head")
    buffer.seek(4)

    assert client.calls.recording_into(fakes.CALL, buffer) == 8
    assert buffer.getvalue() == b"headRIFF...."
    assert b"".join(client.calls.recording_chunks(fakes.CALL)) == b"RIFF...."
