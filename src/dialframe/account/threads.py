"""Jobs side by side in threads, heard by one listener; knows neither tables nor the service."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event
from typing import Final, Generic, TypeVar

from dialframe.config import OnProgress, Progress

T = TypeVar("T")

#: Jobs under way at once: with 10 requests a second and 1 s for an answer, so many fill the limit.
THREADS: Final = 12
#: How long the jobs may take to put down what they have in hand, once they are given up.
GRACE_S: Final = 2.0

Job = Callable[[OnProgress, Event], T]


@dataclass(frozen=True, slots=True)
class _Done(Generic[T]):
    """A job's result, and its place among the jobs."""

    place: int
    result: T


_Told = Progress | _Done[T] | BaseException


def side_by_side(
    jobs: Sequence[Job[T]], on_progress: OnProgress, *, stopped: Event | None = None
) -> list[T]:
    """Results of jobs run in threads, in their order; progress is told from the caller's thread.

    Each job is given a listener and an event that is set when the others are given up: by the first
    job's error, which is raised, or by the listener's own, as on Ctrl-C. The jobs then have two
    seconds to end; one that hangs longer does not keep the process alive.

    Args:
        jobs: What to do.
        on_progress: Told what the jobs tell.
        stopped: The event to be used, where the jobs are part of something larger.
    """
    told: SimpleQueue[_Told[T]] = SimpleQueue()
    ending = stopped or Event()
    waiting: SimpleQueue[tuple[int, Job[T]]] = SimpleQueue()
    for numbered in enumerate(jobs):
        waiting.put(numbered)
    threads = [
        # Each thread has the caller's context: its lane of the rate limit, its correlation id.
        threading.Thread(
            target=copy_context().run, args=(_work, waiting, told, ending), daemon=True
        )
        for _ in range(min(THREADS, len(jobs)))
    ]
    for thread in threads:
        thread.start()
    try:
        return _results(told, len(jobs), on_progress)
    except BaseException:
        ending.set()
        rest(threads)
        raise


def rest(threads: Sequence[threading.Thread]) -> None:
    """Give threads that were told to end two seconds for it."""
    until_s = time.monotonic() + GRACE_S
    for thread in threads:
        thread.join(max(0.0, until_s - time.monotonic()))


def _work(
    waiting: SimpleQueue[tuple[int, Job[T]]], told: SimpleQueue[_Told[T]], ending: Event
) -> None:
    while True:
        try:
            place, job = waiting.get_nowait()
        except Empty:
            return
        try:
            told.put(_Done(place, job(told.put, ending)))
        except BaseException as error:
            told.put(error)
            return


def _results(told: SimpleQueue[_Told[T]], running: int, on_progress: OnProgress) -> list[T]:
    """Pass on what is told until every job has said that it ended, or one of them failed."""
    results: dict[int, T] = {}
    while len(results) < running:
        heard = told.get()
        if isinstance(heard, _Done):
            results[heard.place] = heard.result
        elif isinstance(heard, Progress):
            on_progress(heard)
        else:
            raise heard
    return [results[place] for place in sorted(results)]
