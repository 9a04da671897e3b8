"""A line to a service that takes its time: a proxy on this machine that delays bytes and counts answers."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import re
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")


@dataclass
class SlowLine:
    """Where the service seems to be, and what went through so far.

    Attributes:
        url: The service's address at this end of the line.
        accepted: Answers with status 200.
        refused: Answers with status 429.
    """

    url: str
    counts: Any

    @property
    def accepted(self) -> int:
        return int(self.counts[0])

    @property
    def refused(self) -> int:
        return int(self.counts[1])


@contextlib.contextmanager
def slow_line(base_url: str, round_trip_s: float) -> Any:
    """A proxy process in front of a service; half of the round trip goes to each direction."""
    counts = multiprocessing.Array("d", 3)
    mine, its = multiprocessing.Pipe()
    process = multiprocessing.Process(
        target=_serve, args=(base_url, round_trip_s / 2, counts, its), daemon=True
    )
    process.start()
    try:
        yield SlowLine(f"http://127.0.0.1:{mine.recv()}", counts)
    finally:
        process.terminate()
        process.join()


def _serve(base_url: str, delay_s: float, counts: Any, told: Connection) -> None:
    target = urlsplit(base_url)

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(target.hostname, target.port)
        with contextlib.suppress(ConnectionError):
            await asyncio.gather(
                _carry(reader, far_writer, delay_s, None),
                _carry(far_reader, writer, delay_s, counts),
            )

    async def main() -> None:
        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


async def _carry(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay_s: float, counts: Any
) -> None:
    """Bytes from one end to the other, each as late as it should be; answers are counted."""
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
    sending = asyncio.create_task(_send(waiting, writer))
    data = b" "
    while data:
        data = await reader.read(1 << 16)
        if counts is not None:
            found = _STATUS.findall(data)
            counts[0] += found.count(b"200")
            counts[1] += found.count(b"429")
        waiting.put_nowait((time.monotonic() + delay_s, data))
    await sending


async def _send(waiting: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter) -> None:
    data = b" "
    while data:
        due_s, data = await waiting.get()
        await asyncio.sleep(max(0.0, due_s - time.monotonic()))
        writer.write(data)
        await writer.drain()
    writer.close()
