"""Work beside the page: progress, stop, and every ending in words."""

from __future__ import annotations

import threading

import pytest

from dialframe.config import OnProgress, Progress
from dialframe.errors import ConfigError
from dialframe.widgets.jobs import Jobs, outcome


def test_work_is_stopped_at_its_next_step() -> None:
    """A stop arrives while the work runs, and the steps before it stay done."""
    jobs, first, ended = Jobs(), threading.Event(), []
    asked = threading.Event()
    done: list[int] = []

    def work(listen: OnProgress) -> str:
        for step in range(100):
            listen(Progress("steps", step, 100))
            done.append(step)
            first.set()
            asked.wait(5)
        return "all done"

    assert jobs.start(work, on_progress=lambda _: None, on_end=lambda *said: ended.append(said))
    first.wait(5)
    jobs.stop()
    asked.set()
    jobs.wait(5)
    assert done == [0]
    assert ended == [("Stopped. What was finished is kept; start again to go on.", True)]
    assert not jobs.running


def test_only_one_piece_of_work_at_a_time() -> None:
    """A second start is refused, and the first goes on."""
    jobs, go = Jobs(), threading.Event()
    ended: list[str] = []

    def work(_: OnProgress) -> str:
        go.wait(5)
        return "first"

    def end(said: str, failed: bool) -> None:
        ended.append(said)

    assert jobs.start(work, on_progress=lambda _: None, on_end=end)
    assert not jobs.start(lambda _: "second", on_progress=lambda _: None, on_end=end)
    go.set()
    jobs.wait(5)
    assert ended == ["first"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConfigError("no file is open; upload one"), "No file is open; upload one."),
        (OSError(28, "No space left on device", "out"), "Out: No space left on device."),
        (MemoryError(), "There is not enough memory for this; try a smaller file."),
        (KeyError("+12125550100"), "fault of dialframe"),
    ],
)
def test_every_error_ends_in_a_sentence(error: BaseException, said: str) -> None:
    """What went wrong is said, and a number in it is hidden."""

    def work(_: OnProgress) -> str:
        raise error

    words, failed = outcome(work, lambda _: None)
    assert failed
    assert said in words
    assert "2125550100" not in words
