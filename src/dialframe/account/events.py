"""Webhook events as the service lists them, each with its data; knows no receiver and no deliveries to one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import Any

from dialframe.account.lists import Part, Tally, Work, bring_up
from dialframe.account.ports import Page, Record, Source
from dialframe.account.threads import side_by_side
from dialframe.account.walk import LISTED_LATE, Rule
from dialframe.config import OnProgress, silent
from dialframe.errors import ContractError, NotFound
from dialframe.frames.columns import Table


def bring_up_events(table: Table, source: Source, work: Work, rule: Rule, tally: Tally) -> None:
    """Events of the last 30 days that are not stored yet, each asked for once: it never changes.

    The service forgets events after 30 days, so that one that is no longer listed is not gone.

    Raises:
        LeftOpen: The walk was stopped, or its cursor was refused again and again.
        DialframeError: The service or the store failed.
    """

    def whole(page: Page) -> list[dict[str, Any]]:
        listed = [record.model_dump(warnings=False) for record in page.records]
        known = _known(table, work, listed)
        unknown = [row for row in listed if row["id"] not in known]
        found = side_by_side([_job(source, row) for row in unknown], silent, stopped=work.stopped)
        tally.page(0, 0, 0, requests=len(unknown))
        return found

    bring_up(
        Part(table.name, table, source.events.list, rule, records=whole, lasting=True), work, tally
    )


def _known(table: Table, work: Work, listed: list[dict[str, Any]]) -> set[str]:
    moments = [row["created_at"] for row in listed]
    if not moments:
        return set()
    frame = work.store.frame(
        table, since=min(moments), until=max(moments) + timedelta(microseconds=1)
    )
    return set(frame["id"])


def _job(source: Source, row: dict[str, Any]) -> Callable[[OnProgress, Event], dict[str, Any]]:
    def ask(tell: OnProgress, stopped: Event) -> dict[str, Any]:
        del tell, stopped
        try:
            return _record(source.events.get(row["id"]))
        except (NotFound, ContractError):
            return row  # forgotten meanwhile, or of another shape: what the list said is kept

    return ask


def _record(event: Record) -> dict[str, Any]:
    return event.model_dump(mode="json", warnings=False)


#: Events do not change; only those that are listed late are looked for behind the watermark.
EVENTS_RULE = Rule(timedelta(days=7), overlap=LISTED_LATE)
