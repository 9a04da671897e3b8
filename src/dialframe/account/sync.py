"""One sync: tables side by side in threads, progress told by one; knows neither pages nor walks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from queue import SimpleQueue
from threading import Event
from typing import Final, TypeVar

from dialframe.account.lists import Work
from dialframe.account.ports import Source
from dialframe.account.report import SyncReport
from dialframe.account.tables import NEEDS, RULES, Outcome, bring_table_up
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import AuthenticationError, ConfigError
from dialframe.frames.columns import TABLES
from dialframe.store import Store

T = TypeVar("T")

#: Requests under way at once: at 10 a second and 0.3 s for an answer, four fill the limit.
THREADS: Final = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """What all tables of one sync share.

    Attributes:
        store: Where rows go.
        began_at: When the sync began.
        now: The clock.
        reconcile_after: When lists are read whole; None for each table's own rule.
    """

    store: Store
    began_at: datetime
    now: Callable[[], datetime]
    reconcile_after: timedelta | None


def sync(
    source: Source, plan: Plan, tables: Iterable[str] | None, on_progress: OnProgress | None
) -> SyncReport:
    """Bring tables up to date: those that others need first, the rest side by side.

    Raises:
        ConfigError: There is no such table.
        AuthenticationError: The key is not accepted.
        StoreError: The store cannot be written.
        DialframeError: Nothing could be read at all; the error is the first table's.
    """
    wanted = _with_needs(tables)
    outcomes: dict[str, Outcome] = {}
    first = [name for name in wanted if name not in NEEDS]
    for wave in (first, [name for name in wanted if name in NEEDS]):
        jobs = [_job(name, source, plan) for name in wave]
        done = side_by_side(jobs, on_progress or silent)
        outcomes.update(zip(wave, done, strict=True))
    _raise_if_nothing_came([outcomes[name] for name in wanted])
    return SyncReport(plan.began_at, tuple(outcomes[name].entry for name in wanted))


def side_by_side(
    jobs: Sequence[Callable[[OnProgress, Event], T]], on_progress: OnProgress
) -> list[T]:
    """Results of jobs run in threads, in their order; progress is told from the caller's thread.

    Each job is given a listener and an event that is set when the others are given up. The first
    job's error is raised when all have come to a stop.
    """
    told: SimpleQueue[Progress | Future[T]] = SimpleQueue()
    stopped = Event()
    with ThreadPoolExecutor(max_workers=THREADS) as pool:
        futures = [pool.submit(job, told.put, stopped) for job in jobs]
        for future in futures:
            future.add_done_callback(told.put)
        try:
            _listen(told, len(futures), on_progress)
        except BaseException:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def _listen(
    told: SimpleQueue[Progress | Future[T]], running: int, on_progress: OnProgress
) -> None:
    """Pass on what is told until every job has said that it ended, or one of them failed."""
    while running:
        heard = told.get()
        if isinstance(heard, Progress):
            on_progress(heard)
        else:
            heard.result()
            running -= 1


def _job(name: str, source: Source, plan: Plan) -> Callable[[OnProgress, Event], Outcome]:
    def bring(tell: OnProgress, stopped: Event) -> Outcome:
        work = Work(plan.store, plan.began_at, plan.now, tell, stopped)
        return bring_table_up(TABLES[name], source, work, plan.reconcile_after)

    return bring


def _with_needs(tables: Iterable[str] | None) -> list[str]:
    if isinstance(tables, str):
        tables = [tables]
    wanted = set(RULES if tables is None else tables)
    if unknown := sorted(wanted - set(RULES)):
        raise ConfigError(
            f"there is no table {unknown[0]!r} to sync; choose from {', '.join(RULES)}"
        )
    needed = {other for name in wanted for other in NEEDS.get(name, ())}
    return [name for name in RULES if name in wanted | needed]


def _raise_if_nothing_came(outcomes: Sequence[Outcome]) -> None:
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    for error in errors:
        if isinstance(error, AuthenticationError):
            raise error
    if errors and not any(outcome.entry.requests for outcome in outcomes):
        raise errors[0]
