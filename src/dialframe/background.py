"""Runs work in threads that always end: none of them keeps a process alive.

The pools of the standard library are waited for when the interpreter ends. What hangs here (a disk, a
name server, a listener that is not read) is left behind instead.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from queue import Empty, Full, Queue, SimpleQueue
from threading import Event, Thread
from typing import Any, Final, Generic, TypeVar

from dialframe.config import OnProgress, Progress

T = TypeVar("T")
Item = TypeVar("Item")

#: Jobs under way at once: with 10 requests a second and 1 s for an answer, so many fill the limit.
THREADS: Final = 12
#: How long jobs may take to put down what they have in hand, once they are given up.
GRACE_S: Final = 2.0
#: How often somebody is told that work goes on, and can stop it.
_TICK_S: Final = 0.1
#: How often a server looks whether its parent is there.
_PARENT_S: Final = 0.5

#: Work that reports its progress, and ends early where the event is set.
Job = Callable[[OnProgress, Event], T]


def in_thread(work: Callable[[], object], name: str) -> Thread:
    """Run work, which should raise nothing, in a daemon thread with the caller's context variables."""
    thread = Thread(target=copy_context().run, args=(work,), name=name, daemon=True)
    thread.start()
    return thread


def end_with_parent(parent: int) -> None:
    """Ask this process to end (SIGTERM) once the process that started it is gone, however that was.

    A server with a key in its environment must not outlive who could end it. One that was started by the
    system itself (process 1), or by a service manager that runs as that, stays. The parent is asked of the
    system as early as can be: one that is gone already counts.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_S)
        os.kill(os.getpid(), signal.SIGTERM)

    if parent > 1:
        in_thread(watch, "dialframe-parent")


def join(threads: Sequence[Thread], *, within_s: float = GRACE_S) -> None:
    """Wait for threads that were asked to end, for so long at most in all."""
    until_s = time.monotonic() + within_s
    for thread in threads:
        thread.join(max(0.0, until_s - time.monotonic()))


def alongside(work: Callable[[OnProgress], T], on_progress: OnProgress, step: str) -> T:
    """The result of work that may be left alone before its end, so it must change nothing.

    Reading a large file is one call without steps. It is watched from beside: where `on_progress`
    raises, the work is left alone, and its result is dropped. It is called ten times a second, in the caller's
    thread, with the latest step; `step` is that until the work reports one.
    """
    latest = Progress(step, 0, None)

    def listen(progress: Progress) -> None:
        nonlocal latest
        latest = progress

    result: Future[T] = Future()
    on_progress(latest)
    in_thread(lambda: _run_for(result, lambda: work(listen)), "dialframe-alongside")
    while not wait([result], _TICK_S).done:
        on_progress(latest)
    return result.result()


def ahead(work: Callable[[Item], T], items: Iterable[Item], *, threads: int = 1) -> Iterator[T]:
    """The results of work on items, in order, each begun before it is asked for.

    The items are drawn in the caller's thread, one more than there are threads; of a single item the
    work is done there too. It gains where the work lets go of the interpreter (arrays, hashes, files). With one
    thread it is done in the items' order.
    """
    left = iter(items)
    drawn = list(islice(left, 2))
    if len(drawn) < 2:
        yield from map(work, drawn)
        return
    jobs: SimpleQueue[tuple[Future[T], Item] | None] = SimpleQueue()

    def work_off() -> None:
        while (job := jobs.get()) is not None:
            future, item = job
            _run_for(future, partial(work, item))

    for _ in range(threads):
        in_thread(work_off, "dialframe-ahead")
    waiting: deque[Future[T]] = deque()
    try:
        for item in chain(drawn, left):
            waiting.append(Future())
            jobs.put((waiting[-1], item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # Who stops listening early wants no more of it; what is under way ends by itself.
        for future in waiting:
            future.cancel()
        for _ in range(threads):
            jobs.put(None)


def _run_for(result: Future[T], work: Callable[[], T]) -> None:
    """Do what somebody may wait for; nothing where nobody does any more."""
    if not result.set_running_or_notify_cancel():
        return
    try:
        result.set_result(work())
    except BaseException as error:
        # Whatever it is, it is for whoever waits for the result.
        result.set_exception(error)


@dataclass(frozen=True, slots=True)
class _Finished(Generic[T]):
    """A job's result, and its index among the jobs."""

    index: int
    result: T


_Report = Progress | _Finished[T] | BaseException


def side_by_side(
    jobs: Sequence[Job[T]], on_progress: OnProgress, *, stopped: Event | None = None
) -> list[T]:
    """Results of jobs run in threads, in the jobs' order.

    Each job is given a listener and an event. The event is set when the others are given up: by the
    first job's error, which is raised, or by the listener's own, as on Ctrl-C. The jobs then have two
    seconds to end; one that hangs longer does not keep the process alive.

    Args:
        jobs: What to do.
        on_progress: Told what the jobs report, in the caller's thread.
        stopped: The event to use, where the jobs are part of something larger.
    """
    reports: SimpleQueue[_Report[T]] = SimpleQueue()
    ending = stopped or Event()  # of the whole work, where the jobs are part of it
    waiting: SimpleQueue[tuple[int, Job[T]]] = SimpleQueue()
    for numbered in enumerate(jobs):
        waiting.put(numbered)
    threads = [
        in_thread(lambda: _run_jobs(waiting, reports, ending), "dialframe-job")
        for _ in range(min(THREADS, len(jobs)))
    ]
    try:
        return _collect_results(reports, len(jobs), on_progress)
    except BaseException:
        ending.set()
        join(threads)
        raise


def _run_jobs(
    waiting: SimpleQueue[tuple[int, Job[T]]], reports: SimpleQueue[_Report[T]], ending: Event
) -> None:
    while True:
        try:
            index, job = waiting.get_nowait()
        except Empty:
            return
        try:
            reports.put(_Finished(index, job(reports.put, ending)))
        except BaseException as error:
            reports.put(error)
            return  # the others are given up with it


def _collect_results(
    reports: SimpleQueue[_Report[T]], jobs: int, on_progress: OnProgress
) -> list[T]:
    """Pass progress on until every job has finished, or one of them failed."""
    results: dict[int, T] = {}
    while len(results) < jobs:
        # The caller's thread waits here, so that its listener may draw.
        report = reports.get()
        if isinstance(report, _Finished):
            results[report.index] = report.result
        elif isinstance(report, Progress):
            on_progress(report)
        else:
            raise report
    return [results[index] for index in sorted(results)]


class Worker:
    """Does jobs one after another in one daemon thread; a job that nobody waits for any more is skipped."""

    def __init__(self, name: str, *, places: int) -> None:
        """Start the thread.

        Args:
            name: Name of the thread.
            places: Jobs that may wait.
        """
        self._jobs: Queue[tuple[Future[Any], Callable[[], Any]] | None] = Queue(places)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
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
            # Behind what waits: a full queue that does not move is left alone.
            self._jobs.put(None, timeout=within_s)
        except Full:
            return
        self._thread.join(within_s)

    def _run(self) -> None:
        while (entry := self._jobs.get()) is not None:
            _run_for(*entry)
