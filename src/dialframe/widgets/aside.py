"""Work that changes nothing, in a thread of its own, so that a stop need not wait for its end; knows no widget."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Final, TypeVar

from dialframe.config import OnProgress, Progress

T = TypeVar("T")

#: How often somebody is told that the work goes on, and can stop it.
_TICK_S: Final = 0.1


def aside(work: Callable[[OnProgress], T], on_progress: OnProgress, step: str) -> T:
    """What the work returns; what it raises is raised here.

    Reading a large file is one call that knows no steps. So it is listened to from beside it: where
    `on_progress` raises, the work is left alone, and what it finds in the end is dropped. It must
    change nothing.

    Args:
        work: Is told where to report its progress.
        on_progress: Told in the caller's thread of the work's latest step, again and again.
        step: What is told until the work tells of a step.
    """
    latest = Progress(step, 0, None)

    def listen(progress: Progress) -> None:
        nonlocal latest
        latest = progress

    found: Future[T] = Future()

    def run() -> None:
        try:
            found.set_result(work(listen))
        except BaseException as error:
            found.set_exception(error)

    on_progress(latest)
    threading.Thread(target=run, name="dialframe-aside", daemon=True).start()
    while not wait([found], _TICK_S).done:
        on_progress(latest)
    return found.result()
