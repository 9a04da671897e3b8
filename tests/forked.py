"""Processes forked from one that has everything loaded: a test that needs twenty of them pays for one start."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "store.racing", "sandbox.test_dialer", "dialframe.cli.command_tree",
        "dialframe.flows.lead_import", "dialframe.sandbox.asgi_app", "dialframe.sandbox.launch",
    ]
)  # fmt: skip


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
        writer.close()
        self.stdout = os.fdopen(os.dup(reader.fileno()), encoding="utf-8")
        reader.close()

    def kill(self) -> None:
        """SIGKILL: no handler, no farewell."""
        self._process.kill()
        self._process.join()

    def signal(self, how: signal.Signals) -> None:
        """Send it a signal that it may answer."""
        os.kill(self._process.pid or 0, how)

    def alive(self) -> bool:
        """Whether it is at work."""
        return self._process.is_alive()

    def end(self, timeout_s: float = 120) -> tuple[int, list[str]]:
        """Wait for its end; its exit status and the lines that were not read yet."""
        lines = self.stdout.read().splitlines()
        self.stdout.close()
        self._process.join(timeout_s)
        status = self._process.exitcode
        assert status is not None, "it does not end"
        self._process.close()
        return status, lines


def _play(writer: Connection, work: Callable[..., None], values: tuple[Any, ...]) -> None:
    os.dup2(writer.fileno(), 1)
    writer.close()
    sys.stdout = os.fdopen(1, "w", buffering=1, encoding="utf-8")
    work(*values)
