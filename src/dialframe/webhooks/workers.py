"""A thread that does jobs one after another and never keeps a process alive; knows no events.

The pools of the standard library are waited for when the interpreter ends. A receiver must end within two
seconds although a disk hangs or nobody reads its output: what hangs is left behind here.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import Full, Queue
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


class Worker:
    """Jobs in order, in one daemon thread; a job that nobody waits for any more is left out."""

    def __init__(self, name: str, *, places: int) -> None:
        """Start the thread.

        Args:
            name: Name of the thread.
            places: Jobs that may wait.
        """
        self._jobs: Queue[tuple[Future[Any], Callable[[], Any]] | None] = Queue(places)
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], T]) -> Future[T]:
        """The job's result or error, once it was its turn.

        Raises:
            queue.Full: Too many jobs wait already.
        """
        future: Future[T] = Future()
        self._jobs.put_nowait((future, job))
        return future

    def close(self, *, within_s: float) -> None:
        """Let what waits be done, for so long at most."""
        try:
            self._jobs.put(None, timeout=within_s)
        except Full:
            return
        self._thread.join(within_s)

    def _run(self) -> None:
        while (entry := self._jobs.get()) is not None:
            future, job = entry
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(job())
            except BaseException as error:
                # Whatever it is, it is for whoever waits for the result, and the next job has its turn.
                future.set_exception(error)
