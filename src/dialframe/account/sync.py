"""Syncs an account: tables side by side in threads, progress reported by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING

from dialframe.account.list_walk import Work
from dialframe.account.sync_report import SyncReport
from dialframe.account.table_sync import (
    EVENT_DETAILS,
    NEEDS,
    OPTIONAL,
    RULES,
    Outcome,
    bring_table_up,
)
from dialframe.background import side_by_side
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import AuthenticationError, ConfigError, TransportError
from dialframe.frames.columns import TABLES
from dialframe.store import Store

if TYPE_CHECKING:
    from dialframe.client import Client


@dataclass(frozen=True, slots=True)
class Plan:
    """What all tables of one sync share.

    Attributes:
        store: Where rows go.
        began_at: When the sync began.
        now: The clock.
        reconcile_after: When lists are read whole; None for each table's own rule.
        everything: Whether no table was asked for by name.
    """

    store: Store
    began_at: datetime
    now: Callable[[], datetime]
    reconcile_after: timedelta | None
    everything: bool = True


def sync(
    client: Client,
    plan: Plan,
    tables: Iterable[str] | None,
    on_progress: OnProgress | None,
    greet: Callable[[], None],
) -> SyncReport:
    """Bring tables up to date: those that others need first, the rest side by side.

    Args:
        client: The service.
        plan: What all tables share.
        tables: Names of tables; None for every one.
        on_progress: Called as each table goes on.
        greet: A first question, asked beside the first tables; where it fails before one of them had an
            answer, it ends them all.

    Raises:
        ConfigError: There is no such table.
        AuthenticationError: The key is not accepted.
        StoreError: The store cannot be written.
        DialframeError: Nothing could be read at all; the error is the first table's.
    """
    wanted = _with_needs(tables)
    outcomes: dict[str, Outcome] = {}
    answered = Event()
    first = [name for name in wanted if name not in NEEDS]
    for wave in (first, [name for name in wanted if name in NEEDS]):
        jobs = [_job(name, client, plan, outcomes, answered) for name in wave]
        if wave is first:
            jobs.append(_greeting(greet, answered))
        side_by_side(jobs, on_progress or silent)
        _raise_if_nothing_came([outcomes[name] for name in wave])
    entries = [outcomes[name].entry for name in wanted]
    if tables is None:
        entries = [
            replace(entry, optional=outcomes[entry.table].optional and entry.table in OPTIONAL)
            for entry in entries
        ]
    return SyncReport(plan.began_at, tuple(entries))


def _greeting(greet: Callable[[], None], answered: Event) -> Callable[[OnProgress, Event], None]:
    def ask(tell: OnProgress, stopped: Event) -> None:
        del tell, stopped
        try:
            greet()
        except TransportError:
            if not answered.is_set():
                raise

    return ask


def _job(
    name: str, client: Client, plan: Plan, outcomes: dict[str, Outcome], answered: Event
) -> Callable[[OnProgress, Event], None]:
    def bring(tell: OnProgress, stopped: Event) -> None:
        def heard(progress: Progress) -> None:
            if progress.done:
                answered.set()
            tell(progress)

        details = EVENT_DETAILS if plan.everything else None
        work = Work(plan.store, plan.began_at, plan.now, heard, stopped, details)
        outcomes[name] = bring_table_up(TABLES[name], client, work, plan.reconcile_after)

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
    if errors and len(errors) == len(outcomes) and not any(o.entry.requests for o in outcomes):
        raise next((error for error in errors if isinstance(error, TransportError)), errors[0])
