"""Processes forked from one that has everything loaded: a test that needs twenty of them pays for one start."""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

#: Longer than anything that a test waits for, on a machine however busy.
MOST_S = 120.0

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "store.racing", "sandbox.test_dialer", "dialframe.cli.command_tree",
        "dialframe.flows.lead_import", "dialframe.sandbox.asgi_app", "dialframe.sandbox.launch",
    ]
)  # fmt: skip


class Printed:
    """What a process prints, read line by line; a wait for it has an end."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._came = b""
        self._over = False

    def readline(self, timeout_s: float = MOST_S) -> str:
        """The next line, or nothing once it has ended.

        Raises:
            TimeoutError: It neither printed a line nor ended in time.
        """
        until_s = time.monotonic() + timeout_s
        while b"\n" not in self._came and not self._over:
            self._take(until_s)
        line, end, self._came = self._came.partition(b"\n")
        return (line + end).decode()

    def read(self, timeout_s: float = MOST_S) -> str:
        """Whatever it still prints until it ends.

        Raises:
            TimeoutError: It did not end in time.
        """
        until_s = time.monotonic() + timeout_s
        while not self._over:
            self._take(until_s)
        came, self._came = self._came, b""
        return came.decode()

    def close(self) -> None:
        """Read no more."""
        os.close(self._descriptor)

    def _take(self, until_s: float) -> None:
        left_s = max(until_s - time.monotonic(), 0.0)
        if not select.select([self._descriptor], [], [], left_s)[0]:
            raise TimeoutError("the process neither prints nor ends")
        part = os.read(self._descriptor, 1 << 16)
        self._came += part
        self._over = not part


class Forked:
    """A process that runs a function; what it prints can be read line by line.

    Attributes:
        stdout: What it printed; ends when it does.
    """

    def __init__(self, work: Callable[..., None], *values: Any) -> None:
        """Start it.

        Args:
            work: A function of a module, so that the other process can import it.
            values: Its arguments.
        """
        reader, writer = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_play, args=(writer, work, values))
        self._process.start()
        # A test that failed has not ended it, and this process would wait for its end.
        atexit.register(self.let_go)
        writer.close()
        self.stdout = Printed(os.dup(reader.fileno()))
        reader.close()

    def kill(self) -> None:
        """SIGKILL: no handler, no farewell."""
        self._process.kill()
        self._process.join(MOST_S)

    def signal(self, how: signal.Signals) -> None:
        """Send it a signal that it may answer."""
        os.kill(self._process.pid or 0, how)

    def alive(self) -> bool:
        """Whether it is at work."""
        return self._process.is_alive()

    def end(self, timeout_s: float = MOST_S) -> tuple[int, list[str]]:
        """Wait for its end; its exit status and the lines that were not read yet."""
        lines = self.stdout.read(timeout_s).splitlines()
        self.stdout.close()
        self._process.join(timeout_s)
        status = self._process.exitcode
        assert status is not None, "it does not end"
        self._process.close()
        atexit.unregister(self.let_go)
        return status, lines

    def let_go(self) -> None:
        """End it without a word, unless it has ended; nothing is read of it any more."""
        with contextlib.suppress(ValueError):  # it was waited for
            self.kill()
            self._process.close()
            self.stdout.close()
        atexit.unregister(self.let_go)


def _play(writer: Connection, work: Callable[..., None], values: tuple[Any, ...]) -> None:
    os.dup2(writer.fileno(), 1)
    writer.close()
    sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8")
    work(*values)
