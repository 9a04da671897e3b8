"""Runs long work of the web app in the background, one piece of each kind at a time, and says how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from dialframe.background import in_thread
from dialframe.config import OnProgress, Progress
from dialframe.errors import DialframeError
from dialframe.privacy import redact

RUNNING: Final = "running"
DONE: Final = "done"
FAILED: Final = "failed"


@dataclass(slots=True)
class Job:
    """One piece of work.

    Attributes:
        name: What it does, in words.
        state: `running`, `done` or `failed`.
        step: Its newest step.
        result: What it gave.
        error: Why it failed, in a sentence.
        began_s: When it began, by a clock that nobody sets.
        finished: Set when it ended, whatever became of it.
    """

    name: str
    state: str = RUNNING
    step: Progress | None = None
    result: Any = None
    error: str = ""
    began_s: float = field(default_factory=time.monotonic)
    finished: threading.Event = field(default_factory=threading.Event, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """What a page asks while it waits."""
        step = self.step
        return {
            "name": self.name,
            "state": self.state,
            "error": self.error,
            "step": "" if step is None else step.step,
            "done": 0 if step is None else step.done,
            "total": None if step is None else step.total,
            "seconds": round(time.monotonic() - self.began_s, 1),
        }


class Jobs:
    """The newest job of each kind."""

    def __init__(self) -> None:
        """No job was begun."""
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, kind: str, name: str, work: Callable[[OnProgress], Any]) -> Job:
        """Begin a job, or give the one of this kind that still runs."""
        with self._lock:
            running = self._jobs.get(kind)
            if running is not None and running.state == RUNNING:
                return running
            job = self._jobs[kind] = Job(name)
        in_thread(lambda: _run(job, work), f"dialframe-{kind}")
        return job

    def newest(self, kind: str) -> Job | None:
        """The newest job of a kind, whatever became of it."""
        return self._jobs.get(kind)


def _run(job: Job, work: Callable[[OnProgress], Any]) -> None:
    def listen(step: Progress) -> None:
        job.step = step

    try:
        job.result = work(listen)
        job.state = DONE
    except (DialframeError, OSError, ImportError) as error:
        job.error, job.state = redact(str(error)), FAILED
    except Exception as error:
        # This is a face: a fault is shown as one, and the app goes on.
        job.error = f"this is a fault of dialframe, please report it: {type(error).__name__}"
        job.state = FAILED
    finally:
        job.finished.set()
