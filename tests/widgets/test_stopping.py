"""Work beside its listener: stopped at any time, and told of as it is."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from dialframe.background import alongside
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import LeadFileError
from dialframe.widgets import LeadBench
from dialframe.widgets.jobs import Jobs, Stopped


def test_a_stop_does_not_wait_for_work_that_knows_no_steps() -> None:
    """Work that is in one long call is left alone at once, and the next piece of work can begin."""
    begun, goes_on, ended = threading.Event(), threading.Event(), threading.Event()
    said: list[tuple[str, bool]] = []

    def long(_: OnProgress) -> str:
        begun.set()
        goes_on.wait(60)
        return "read"

    def end(words: str, failed: bool) -> None:
        said.append((words, failed))
        ended.set()

    jobs = Jobs()
    jobs.start(lambda told: alongside(long, told, "reading"), on_progress=silent, on_end=end)
    assert begun.wait(20)
    jobs.stop()
    assert ended.wait(20)
    assert not goes_on.is_set()
    assert said == [("Stopped. What was finished is kept; start again to go on.", True)]
    assert not jobs.running
    goes_on.set()


def test_its_steps_are_told_in_the_callers_thread() -> None:
    """Whoever listens hears the latest step, and is never called from two threads at once."""
    heard: list[tuple[str, int]] = []
    told = threading.Event()

    def work(tell: OnProgress) -> int:
        tell(Progress("second", 2, 3))
        return 7 if told.wait(60) else 0

    def listen(progress: Progress) -> None:
        heard.append((progress.step, threading.get_ident()))
        if progress.step == "second":
            told.set()

    assert alongside(work, listen, "first") == 7
    assert {step for step, _ in heard} == {"first", "second"}
    assert {thread for _, thread in heard} == {threading.get_ident()}


def test_what_it_raises_is_raised() -> None:
    """An error of the work is the caller's, of its own class."""

    def work(_: OnProgress) -> str:
        raise LeadFileError("this is no list", path=Path("a.csv"))

    with pytest.raises(LeadFileError, match="this is no list"):
        alongside(work, silent, "reading")


def test_a_reading_that_is_stopped_changes_nothing(folder: Path) -> None:
    """What was open stays open, with what was found out about it."""
    bench = LeadBench(folder)
    bench.open("de_haendler_semikolon.csv")
    bench.clean()
    prepared = bench.prepared

    def stop(progress: Progress) -> None:
        raise Stopped

    for step in (lambda: bench.open("us_autumn_campaign.csv", stop), lambda: bench.clean(stop)):
        with pytest.raises(Stopped):
            step()
    assert bench.path is not None
    assert bench.path.name == "de_haendler_semikolon.csv"
    assert bench.prepared is prepared
