"""Reads of one head share one timeout; reads of a body have one each."""

from __future__ import annotations

import time
from typing import Any

import httpcore
import pytest

from dialframe.client import network
from dialframe.client.network import head_awaited


class Dripping(httpcore.NetworkStream):
    """A line that gives a byte after a while, and keeps the timeouts that it was asked with."""

    def __init__(self) -> None:
        self.timeouts: list[float | None] = []

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.timeouts.append(timeout)
        time.sleep(0.02)
        return b"x"

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        pass

    def start_tls(self, *args: Any, **named: Any) -> httpcore.NetworkStream:
        return self


class Backend(httpcore.NetworkBackend):
    """Opens the same line for everybody."""

    def __init__(self, line: Dripping) -> None:
        self.line = line

    def connect_tcp(self, *args: Any, **named: Any) -> httpcore.NetworkStream:
        return self.line


@pytest.fixture
def line() -> Dripping:
    """A line that drips."""
    return Dripping()


@pytest.fixture
def stream(line: Dripping) -> httpcore.NetworkStream:
    """The same line, as a transport opens it."""
    return network.BoundedBackend(Backend(line)).connect_tcp("x", 1)


@pytest.mark.parametrize("tls", [False, True])
def test_head_that_drips_is_given_up(
    stream: httpcore.NetworkStream, line: Dripping, tls: bool
) -> None:
    """Each read gets what the ones before it left, through TLS too; then it is over."""
    stream = stream.start_tls(None) if tls else stream  # type: ignore[arg-type]
    endless = (stream.read(1, timeout=0.1) for _ in range(1_000))
    with head_awaited(), pytest.raises(httpcore.ReadTimeout):
        b"".join(endless)

    timeouts = [timeout for timeout in line.timeouts if timeout is not None]
    assert timeouts == sorted(timeouts, reverse=True)
    assert 2 <= len(timeouts) <= 5


def test_next_request_starts_afresh(stream: httpcore.NetworkStream) -> None:
    """What one head took is not taken off the next one's time on a kept connection."""
    with head_awaited():
        for _ in range(6):
            stream.write(b"GET", timeout=0.1)
            assert stream.read(1, timeout=0.1) == b"x"


def test_body_has_each_of_its_waits(stream: httpcore.NetworkStream, line: Dripping) -> None:
    """Outside of a head every read is asked with the whole timeout."""
    for _ in range(8):
        stream.read(1, timeout=0.1)

    assert line.timeouts == [0.1] * 8
