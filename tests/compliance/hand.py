"""Frames made by hand for the audit: calls, leads, checks and callbacks with as few words as possible."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd
from hypothesis import strategies as st

from dialframe import compliance, frames
from dialframe.compliance.practice import Cover, Practice
from dialframe.compliance.rules import rulebook
from dialframe.compliance.rules.rule_model import FreshnessRule
from dialframe.compliance.rules.rulebook import RuleBook

NEW_YORK = "+12125550142"
CHICAGO = "+13125550142"
FLORIDA_PANHANDLE = "+18505550142"
PHOENIX = "+16025550142"
HONOLULU = "+18085550142"
TOLL_FREE = "+18005550142"
TORONTO = "+14165550142"
LONDON = "+442079460142"


def at(local: str, zone: str = "America/New_York") -> datetime:
    """A local time as an instant."""
    return datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def utc(text: str) -> datetime:
    """An instant from ISO 8601 text in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def moments(first: str, last: str) -> st.SearchStrategy[datetime]:
    """Instants to the microsecond between two days."""
    start = utc(first)
    return st.integers(0, (utc(last) - start) // timedelta(microseconds=1)).map(
        lambda shift: start + timedelta(microseconds=shift)
    )


def call(to: str | None = NEW_YORK, at: datetime | None = None, **fields: Any) -> dict[str, Any]:
    """An outbound call."""
    made = {
        "id": f"call_{to}_{at}",
        "direction": "outbound",
        "from_number": "+16465550180",
        "to_number": to,
        "created_at": at,
        "ended_at": at,
        "campaign_id": "cmp_1",
    }
    return made | fields


def lead(phone: str | None = NEW_YORK, **fields: Any) -> dict[str, Any]:
    """A lead that came long ago."""
    came = utc("2026-01-01")
    made = {
        "id": f"lead_{phone}",
        "campaign_id": "cmp_1",
        "phone": phone,
        "status": "new",
        "created_at": came,
        "updated_at": came,
    }
    return made | fields


def check(at: datetime, *, listed: bool | None = False, **fields: Any) -> dict[str, Any]:
    """An answer of the ledger."""
    made = {"phone": NEW_YORK, "listed": listed, "checked_at": at, "request_id": f"req_{at:%d%H}"}
    return made | fields


def calls(*rows: Mapping[str, Any]) -> pd.DataFrame:
    """Frame of the calls table."""
    return frames.from_records(frames.CALLS, rows)


def leads(*rows: Mapping[str, Any]) -> pd.DataFrame:
    """Frame of the leads table."""
    return frames.from_records(frames.LEADS, rows)


def checks(*rows: Mapping[str, Any]) -> pd.DataFrame:
    """Frame of the ledger."""
    return frames.from_records(frames.DNC_CHECKS, rows)


def callbacks(*rows: Mapping[str, Any]) -> pd.DataFrame:
    """Frame of the callbacks table."""
    return frames.from_records(frames.CALLBACKS, rows)


def apart(cases: Mapping[str, Sequence[Any]], tables: int = 3) -> tuple[list[dict[str, Any]], ...]:
    """Records of every case (its first tables) on a number of its own, in the place of New York's, with ids `case/id`."""
    every: tuple[list[dict[str, Any]], ...] = tuple([] for _ in range(tables))
    for n, (case, parts) in enumerate(cases.items()):
        phone = f"+1212555{100 + n:04}"
        for rows, given in zip(every, parts, strict=False):
            rows += [
                {name: phone if value == NEW_YORK else value for name, value in row.items()}
                | {"id": f"{case}/{row.get('id')}"}
                for row in given
            ]  # fmt: skip
    return every


def missing(values: Iterable[object]) -> list[object]:
    """Values with None for every null."""
    return [None if pd.isna(value) else value for value in values]


def declared(
    practice: Practice | None = None,
    book: RuleBook | None = None,
    covered_by: Sequence[str] = ("check", "screen"),
) -> Practice:
    """A firm that says that the service's check and import screen cover every list that there is."""
    rules = (book or rulebook.load()).of_kind(FreshnessRule)
    names = dict.fromkeys(rule.parameters.registry for rule in rules)
    covers = tuple(Cover(name, by) for name in names for by in covered_by)  # type: ignore[arg-type]
    return dataclasses.replace(practice or Practice(), covers=covers)


def audit(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    checks: pd.DataFrame,
    callbacks: pd.DataFrame | None = None,
    *,
    rules: Sequence[str] | None = None,
    book: RuleBook | None = None,
    practice: Practice | None = None,
    covered_by: Sequence[str] = ("check", "screen"),
    **more: Any,
) -> compliance.Audit:
    """An audit by a book of the rules that are asked alone, of a firm that declared what its checks cover."""
    whole = book or rulebook.load()
    return audited(
        leads, calls, checks, callbacks, rulebook=whole.select(rules),
        practice=declared(practice, whole, covered_by), **more,
    )  # fmt: skip


def audited(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    checks: pd.DataFrame,
    callbacks: pd.DataFrame | None = None,
    **question: Any,
) -> compliance.Audit:
    """An audit of frames."""
    tables = {"leads": leads, "calls": calls, "dnc_checks": checks}
    tables |= {} if callbacks is None else {"callbacks": callbacks}
    return compliance.audit(tables, compliance.Question(**question))


def may_call(
    numbers: Any,
    *,
    at: datetime,
    leads: pd.DataFrame | None = None,
    calls: pd.DataFrame | None = None,
    checks: pd.DataFrame | None = None,
    callbacks: pd.DataFrame | None = None,
    campaign: str | None = None,
    caller_id: str | None = None,
    suppressed: Mapping[str, str] | None = None,
    **question: Any,
) -> pd.DataFrame:
    """Verdicts by frames."""
    given = {"leads": leads, "calls": calls, "dnc_checks": checks, "callbacks": callbacks}
    tables = {name: frame for name, frame in given.items() if frame is not None}
    return compliance.may_call(
        numbers, at=at, tables=tables, question=compliance.Question(now=at, **question),
        campaign=campaign, caller_id=caller_id, suppressed=suppressed,
    )  # fmt: skip


def trusted(book: RuleBook) -> RuleBook:
    """The book without doubts about its own reading, so that each rule grades by what it asks alone."""
    sure = {"confidence": "medium", "conflicts": ()}
    return dataclasses.replace(
        book,
        rules=tuple(r.model_copy(update=sure) if r.ceiling_reason else r for r in book.rules),
    )
