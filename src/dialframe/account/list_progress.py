"""Progress of lists as they are read: rows, speed, share of the limit, time left; handed instants, no clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from dialframe.config import Progress
from dialframe.contract.limits import BUCKETS

#: Speeds are of the last so many seconds.
WINDOW_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class ListProgress(Progress):
    """How far the reading of a list has come; `done` is rows, `total` the rows it had when last read whole.

    Attributes:
        requests: Pages and reports that were answered.
        oldest_at: Creation of the oldest row reached, or None.
        newest_at: Creation of the newest row of this walk, or None.
        until_at: Creation at which this walk ends, where it does not go to the list's end.
        finished: Whether this table is done, whole or not.
    """

    requests: int = 0
    oldest_at: datetime | None = None
    newest_at: datetime | None = None
    until_at: datetime | None = None
    finished: bool = False

    @property
    def share(self) -> float | None:
        """Share of the walk that is done, from 0 to 1; None where that cannot be known."""
        if self.finished:
            return 1.0
        if self.until_at is not None and self.newest_at is not None and self.oldest_at is not None:
            span = (self.newest_at - self.until_at).total_seconds()
            past = (self.newest_at - self.oldest_at).total_seconds()
            return min(past / span, 1.0) if span > 0 else None
        return min(self.done / self.total, 1.0) if self.total else None


@dataclass(frozen=True, slots=True)
class Pace:
    """One table's progress in figures.

    Attributes:
        name: The table, or whatever the step is called.
        rows: Rows read.
        rows_per_s: Of the last ten seconds.
        oldest_at: Creation of the oldest row reached.
        share: Share that is done, or None.
        left_s: Seconds left at this speed, or None where that cannot be known.
        finished: Whether it is done.
    """

    name: str
    rows: int
    rows_per_s: float
    oldest_at: datetime | None
    share: float | None
    left_s: float | None
    finished: bool


class Meter:
    """What is heard of a sync, as figures; one meter for one sync."""

    def __init__(self, now_s: float) -> None:
        """Begin at an instant of a monotonic clock."""
        self._began_s = now_s
        self._heard: dict[str, deque[tuple[float, Progress]]] = {}

    def hear(self, progress: Progress, now_s: float) -> None:
        """Take in one piece of news."""
        news = self._heard.setdefault(progress.step, deque([(self._began_s, _nothing(progress))]))
        news.append((now_s, progress))
        # The news before the window is its beginning.
        while len(news) > 2 and news[1][0] <= now_s - WINDOW_S:
            news.popleft()

    def paces(self, now_s: float) -> Sequence[Pace]:
        """Figures of each table, in the order in which they were first heard of."""
        return [_pace(name, news, now_s) for name, news in self._heard.items()]

    def limit_share(self, now_s: float) -> float:
        """Share of the key's rate that was used in the window, from 0 to 1."""
        asked = sum(
            _requests(news[-1][1]) - _requests(news[0][1])
            for news in self._heard.values()
            if news[-1][0] > now_s - WINDOW_S
        )
        seconds = min(max(now_s - self._began_s, 1.0), WINDOW_S)
        return min(asked / seconds / BUCKETS[0].rate_per_s, 1.0)


def line(pace: Pace) -> str:
    """A pace as a line for people, at most 80 characters."""
    back = "" if pace.oldest_at is None else f"  back to {pace.oldest_at:%Y-%m-%d}"
    if pace.finished:
        return f"{pace.name:<12} {pace.rows:>11,} rows"
    left = "" if pace.left_s is None else f"  {_duration(pace.left_s)} left"
    return f"{pace.name:<12} {pace.rows:>11,} rows {pace.rows_per_s:>6,.0f}/s{back}{left}"


def _nothing(progress: Progress) -> Progress:
    return Progress(progress.step, 0, progress.total)


def _requests(progress: Progress) -> int:
    return progress.requests if isinstance(progress, ListProgress) else 0


def _pace(name: str, news: deque[tuple[float, Progress]], now_s: float) -> Pace:
    (from_s, first), (_, last) = news[0], news[-1]
    seconds = max(now_s - from_s, 0.1)
    listed = last if isinstance(last, ListProgress) else None
    done = listed is not None and listed.finished
    share, before = _share(last), _share(first)
    gained = 0.0 if share is None else (share - (before or 0.0)) / seconds
    return Pace(
        name=name,
        rows=last.done,
        rows_per_s=max(last.done - first.done, 0) / seconds,
        oldest_at=None if listed is None else listed.oldest_at,
        share=share,
        left_s=None if done or share is None or gained <= 0 else (1.0 - share) / gained,
        finished=done,
    )


def _share(progress: Progress) -> float | None:
    if isinstance(progress, ListProgress):
        return progress.share
    return progress.done / progress.total if progress.total else None


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
