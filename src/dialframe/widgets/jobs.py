"""Runs long work in a thread of its own: it can be stopped, and its end is one sentence."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from typing import ParamSpec

from dialframe.config import OnProgress, Progress
from dialframe.errors import DialframeError
from dialframe.privacy import redact

#: Work that is told where to report its progress, and says in one sentence what came of it.
Work = Callable[[OnProgress], str]
#: Told how it ended: the sentence, and whether it is one about a failure.
OnEnd = Callable[[str, bool], None]

P = ParamSpec("P")


def step(method: Callable[P, str]) -> Callable[P, str]:
    """Add to the docstring of a step what every step takes and gives: its listener and its last sentence."""
    words, raises, errors = inspect.cleandoc(method.__doc__ or "").partition("\n\nRaises:\n")
    head = "" if "\n\nArgs:\n" in words else "\n\nArgs:"
    method.__doc__ = (
        f"{words}{head}\n    on_progress: Called as the work goes on.\n\n"
        f"Returns:\n    A sentence for the status line.{raises}{errors}"
    )
    return method


class Stopped(Exception):
    """Somebody asked for the work to stop; raised where the work reports its progress."""


class Jobs:
    """Runs one piece of work at a time.

    Work is stopped between two of its steps, so what a step finished stays finished.
    """

    def __init__(self, *, inline: bool = False) -> None:
        """Work in a thread of its own, or `inline`: in the caller's, for tests."""
        self._inline = inline
        self._asked = threading.Event()
        self._thread: threading.Thread | None = None
        self._running = False

    @property
    def running(self) -> bool:
        """Whether work is under way."""
        return self._running

    def start(self, work: Work, *, on_progress: OnProgress, on_end: OnEnd) -> bool:
        """Begin; False where other work is under way, which goes on."""
        if self._running:
            return False
        self._running = True
        self._asked.clear()

        def listen(progress: Progress) -> None:
            if self._asked.is_set():
                raise Stopped
            on_progress(progress)

        def run() -> None:
            sentence, failed = outcome(work, listen)
            self._running = False
            on_end(sentence, failed)

        if self._inline:
            run()
        else:
            self._thread = threading.Thread(target=run, name="dialframe-job", daemon=True)
            self._thread.start()
        return True

    def stop(self) -> None:
        """Ask the work to stop at its next step."""
        self._asked.set()

    def wait(self, timeout_s: float) -> None:
        """Wait for the end of the work."""
        if self._thread is not None:
            self._thread.join(timeout_s)


def outcome(work: Work, listen: OnProgress) -> tuple[str, bool]:
    """What came of work in one sentence, and whether it failed; a face's last resort."""
    try:
        return work(listen), False
    except Stopped:
        return "Stopped. What was finished is kept; start again to go on.", True
    except DialframeError as error:
        return as_sentence(str(error)), True
    # The file's own name is said, since a full disk and a locked file ask for different things.
    except OSError as error:
        return as_sentence(f"{error.filename or 'the disk'}: {error.strerror or error}"), True
    except MemoryError:
        return "There is not enough memory for this; try a smaller file.", True
    except Exception as error:
        return f"This is a fault of dialframe, please report it: {redact(repr(error))}", True


def as_sentence(words: str) -> str:
    """An error's words as a sentence, with numbers and keys hidden."""
    hidden = redact(words.strip())
    end = "" if hidden.endswith((".", "!", "?")) else "."
    return f"{hidden[:1].upper()}{hidden[1:]}{end}"
