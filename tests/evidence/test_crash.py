"""A kill, or a full disk, at any write of the log leaves what was promised before, or what was asked for, and nothing else.

Every call that writes, syncs, makes or renames a file is a point, and each half of a write one of its own.
`DIALFRAME_LOG_POINTS=0` tries every point, over 200 of each; the suite tries some.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dialframe.errors import StoreError
from dialframe.evidence import EvidenceLog, Record
from dialframe.suppression import Entry, SuppressionList

NOW = datetime(2026, 10, 3, 12, tzinfo=UTC)
PERSON = "+12025550142"
OTHERS = [f"+1202555{number:04}" for number in range(150, 170)]
ELSEWHERE = "+442079460123"
#: Points tried of each kind; 0: all.
POINTS = int(os.environ.get("DIALFRAME_LOG_POINTS", "14"))


def entry(phone: str) -> Entry:
    """Somebody who asked not to be called."""
    return Entry(phone, reason="opt_out", source="a call", on=NOW.date())


def put(*phones: str) -> Callable[[SuppressionList], object]:
    return lambda listed: listed.add([entry(phone) for phone in phones], NOW)


def take_in(listed: SuppressionList) -> None:
    """A backup in which the person still stands."""
    listed.log.take_in(EvidenceLog.open(listed.log.folder.with_name("backup")))


#: What is done, in this order; done twice, each is as done once.
STEPS: tuple[Callable[[SuppressionList], object], ...] = (
    put(PERSON),
    *(put(phone) for phone in OTHERS[:8]),
    lambda listed: listed.log.append([Record("check", NOW, OTHERS[0], detail={"listed": False})]),
    lambda listed: listed.remove(OTHERS[:1], reason="wrong", source="x", now=NOW + timedelta(1)),
    lambda listed: listed.log.forget([PERSON], NOW),
    *(put(phone) for phone in OTHERS[8:16]),
    take_in,
    lambda listed: listed.log.forget(OTHERS[1:2], NOW),
    put(PERSON, *OTHERS[16:]),
)


def state(listed: SuppressionList) -> tuple[object, ...]:
    """Who is held, what was checked, and whose number can still be read."""
    facts = listed.log.latest([PERSON, ELSEWHERE, *OTHERS])
    held = tuple(phone for phone, fact in facts.items() if fact.prohibition)
    bytes_there = b"".join(
        path.read_bytes() for path in listed.log.folder.rglob("*") if path.is_file()
    )
    readable = tuple(phone for phone in (PERSON, OTHERS[1]) if phone.encode() in bytes_there)
    return held, facts[OTHERS[0]].check is not None, readable


class Disk:
    """Counts what is written in this process, and ends the process or the disk's space at one point.

    Args:
        at: The point, from 1; 0: none.
        kill: Whether the process ends there; else the disk is full from there on.
    """

    def __init__(self, at: int, *, kill: bool) -> None:
        self.at, self.kill, self.points = at, kill, 0

    def point(self) -> None:
        self.points += 1
        if self.at and self.points == self.at and self.kill:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.at and self.points >= self.at and not self.kill:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Put itself before the calls that need space; renaming and deleting need none, and can be killed."""
        for name in ("fsync", "pwrite", "mkdir"):
            patch.setattr(os, name, self._before(getattr(os, name)))
        for name in ("replace", "unlink", "ftruncate", "truncate"):
            patch.setattr(os, name, self._before(getattr(os, name), kill_alone=True))
        opened, wrapped = os.open, os.fdopen

        def open_(path: Any, flags: int, *more: Any, **named: Any) -> int:
            if flags & os.O_CREAT and not Path(path).exists():
                self.point()
            return opened(path, flags, *more, **named)

        patch.setattr(os, "open", open_)
        patch.setattr(
            os, "fdopen", lambda *given, **named: Watched(wrapped(*given, **named), self)
        )

    def _before(self, call: Callable[..., Any], *, kill_alone: bool = False) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            if self.kill or not kill_alone:
                self.point()
            return call(*given, **named)

        return counted


class Watched:
    """A file whose writes come in two halves."""

    def __init__(self, file: Any, disk: Disk) -> None:
        self.file, self.disk = file, disk

    def write(self, data: Any) -> int:
        half = len(data) // 2
        self.disk.point()
        done = int(self.file.write(data[:half]))
        self.file.flush()
        self.disk.point()
        return done + int(self.file.write(data[half:]))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> Watched:
        self.file.__enter__()
        return self

    def __exit__(self, *error: object) -> object:
        return self.file.__exit__(*error)


@cache
def expected() -> tuple[tuple[tuple[object, ...], ...], int]:
    """The state before each step and at the end, and how many points there are."""
    import tempfile

    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        listed = begun(Path(name))
        disk = Disk(0, kill=True)
        disk.watch(patch)
        states = [state(listed)]
        for step in STEPS:
            step(listed)
            states.append(state(listed))
    return tuple(states), disk.points


def begun(folder: Path) -> SuppressionList:
    """An empty list, beside a backup of an earlier one."""
    backup = SuppressionList(EvidenceLog.open(folder / "backup"))
    backup.add([entry(PERSON), entry(ELSEWHERE)], NOW - timedelta(1))
    return SuppressionList(EvidenceLog.open(folder / "evidence"))


def chosen() -> list[int]:
    """The points that are tried."""
    _, points = expected()
    assert points > 200
    every = max(points // POINTS, 1) if POINTS else 1
    return list(range(1, points + 1, every))


def finish(listed: SuppressionList, done: int) -> None:
    """What was asked for and broke off is asked for again, and everything is as if nothing had happened."""
    for step in STEPS[done:]:
        step(listed)
    assert state(listed) == expected()[0][-1]
    assert listed.log.verify() == []
    assert not list(listed.log.folder.glob(".*.tmp"))


def test_a_kill_at_any_write(tmp_path: Path) -> None:
    states = expected()[0]
    for at in chosen():
        folder = tmp_path / str(at)
        listed = begun(folder)
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            try:
                patch = pytest.MonkeyPatch()
                Disk(at, kill=True).watch(patch)
                for number, step in enumerate(STEPS, 1):
                    step(listed)
                    os.write(writing, bytes([number]))
            finally:
                os._exit(0)
        os.close(writing)
        with open(reading, "rb") as file:  # noqa: PTH123 - a descriptor
            done = (file.read() or b"\0")[-1]
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"point {at} was not reached"

        left = SuppressionList(EvidenceLog.open(folder / "evidence"))
        assert left.log.verify() == [], f"point {at}"
        # What broke off may still be read until the next writer cuts it off, and is believed by nobody.
        known = [each[:2] for each in states[done : done + 2]]
        assert state(left)[:2] in known, f"point {at}, step {done}"
        finish(left, done)
        shutil.rmtree(folder)


def test_a_full_disk_at_any_write(tmp_path: Path) -> None:
    """Nothing is changed, and the next try does what was asked for."""
    states = expected()[0]
    for at in chosen():
        folder = tmp_path / str(at)
        listed = begun(folder)
        disk, done = Disk(at, kill=False), 0
        with pytest.MonkeyPatch.context() as patch:
            disk.watch(patch)
            with suppress(StoreError):
                for step in STEPS:
                    step(listed)
                    done += 1
        left = SuppressionList(EvidenceLog.open(folder / "evidence"))
        assert left.log.verify() == [], f"point {at}"
        assert state(left) == states[done], f"point {at}, step {done}"
        finish(left, done)
        shutil.rmtree(folder)
