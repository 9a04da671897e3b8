"""Do-Not-Call checks that keep their evidence: each answer is stored before the next is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from threading import Event
from typing import TYPE_CHECKING, Final

from dialframe import frames
from dialframe.background import side_by_side
from dialframe.config import OnProgress, Progress
from dialframe.contract.limits import PHONES_PER_DNC_CHECK
from dialframe.errors import ContractError
from dialframe.frames.columns import DNC_CHECKS, Column
from dialframe.store import E164, Check, Store

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.client import Client

REASON: Final = Column("reason", "text", "why there is no answer; null where there is one")
NOT_E164: Final = "not an E.164 number"

_STEP: Final = "do-not-call checks"


def check(
    phones: Iterable[str],
    *,
    client: Client,
    store: Store,
    now: datetime,
    max_age: timedelta | None,
    on_progress: OnProgress,
) -> pd.DataFrame:
    """One row per phone asked, in order; what is stored and fresh is not asked again."""
    asked = [phones] if isinstance(phones, str) else list(phones)
    wanted = list(dict.fromkeys(phone for phone in asked if _is_e164(phone)))
    answers = {} if max_age is None else _fresh(store, wanted, now, max_age)
    missing = [phone for phone in wanted if phone not in answers]
    batches = [
        missing[start : start + PHONES_PER_DNC_CHECK]
        for start in range(0, len(missing), PHONES_PER_DNC_CHECK)
    ]
    count = _Count(len(answers), len(wanted), on_progress)
    count.add(0)
    jobs = [_job(batch, client, store) for batch in batches]
    for batch_answers in side_by_side(jobs, lambda progress: count.add(progress.done)):
        answers.update(batch_answers)
    return _frame(asked, answers)


class _Count:
    def __init__(self, done: int, total: int, tell: OnProgress) -> None:
        self._done, self._total, self._tell = done, total, tell

    def add(self, more: int) -> None:
        self._done += more
        self._tell(Progress(_STEP, self._done, self._total))


def _job(
    batch: Sequence[str], client: Client, store: Store
) -> Callable[[OnProgress, Event], dict[str, Check]]:
    def ask(tell: OnProgress, stopped: Event) -> dict[str, Check]:
        if stopped.is_set():
            return {}
        checks = [
            Check(answer.phone, answer.listed, answer.checked_at, answer.request_id)
            for answer in client.dnc.check(batch)
        ]
        if [check.phone for check in checks] != list(batch):
            raise ContractError(
                "dnc.check: the answers are not those of the numbers asked, in order; nothing of this "
                "answer is kept",
                operation="dnc.check",
                where="data",
            )
        _keep(checks, store)
        tell(Progress(_STEP, len(checks)))
        return {check.phone: check for check in checks}

    return ask


def _keep(checks: Sequence[Check], store: Store) -> None:
    if not checks:
        return
    records = [
        {
            "phone": check.phone,
            "listed": check.listed,
            "checked_at": check.checked_at,
            "request_id": check.request_id,
        }
        for check in checks
    ]
    first = checks[0]
    store.append(DNC_CHECKS, records, observed_at=first.checked_at, request_id=first.request_id)


def _fresh(
    store: Store, phones: Sequence[str], now: datetime, max_age: timedelta
) -> dict[str, Check]:
    # An answer stamped in the future came from a wrong clock: its age is not known.
    last_checks = store.last_checks(phones)
    return {
        phone: answer
        for phone, answer in last_checks.items()
        if now - max_age <= answer.checked_at <= now
    }


def _is_e164(phone: object) -> bool:
    return isinstance(phone, str) and E164.fullmatch(phone) is not None


def _frame(asked: Sequence[object], answers: dict[str, Check]) -> pd.DataFrame:
    rows = [answers.get(phone) if isinstance(phone, str) else None for phone in asked]
    return frames.from_columns(
        DNC_CHECKS,
        {
            "phone": [phone if isinstance(phone, str) else None for phone in asked],
            "listed": [None if row is None else row.listed for row in rows],
            "checked_at": [None if row is None else row.checked_at for row in rows],
            "request_id": [None if row is None else row.request_id for row in rows],
            "reason": [NOT_E164 if row is None else None for row in rows],
        },
        extra=(REASON,),
    )
