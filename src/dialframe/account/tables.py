"""Brings one table up to date: which lists feed it and how often they are read whole; knows no threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from dialframe.account.callbacks import bring_up_callbacks
from dialframe.account.chains import Chains
from dialframe.account.dispositions import bring_up_reports
from dialframe.account.events import EVENTS_RULE, bring_up_events
from dialframe.account.freshness import covered
from dialframe.account.lists import STEP_BACK, LeftOpen, Part, Tally, Work, bring_up
from dialframe.account.ports import Listing, Page, Source
from dialframe.account.progress import ListProgress
from dialframe.account.report import TableSync, day_and_time
from dialframe.account.walk import Rule
from dialframe.contract.models.calls import Direction
from dialframe.contract.models.leads import LeadStatus
from dialframe.errors import ApiError, DialframeError, StoreError
from dialframe.frames.columns import TABLES, Table

#: A walk of so many rows costs no more than looking at the head of a long list.
_SMALL: Final = 300
_DAY: Final = timedelta(hours=24)

_EVERY: Final[Mapping[str, Rule]] = {
    "calls": Rule(_DAY, small=_SMALL),
    "leads": Rule(_DAY, small=_SMALL),
    "campaigns": Rule(_DAY, small=_SMALL),
    "callbacks": Rule(_DAY, small=100),
    "appointments": Rule(_DAY, small=_SMALL),
    "dispositions": Rule(timedelta(days=7)),
    "sms_reports": Rule(_DAY, small=_SMALL),
    "webhooks": Rule(_DAY, small=_SMALL),
    "events": EVENTS_RULE,
}
#: How often each list is read whole, and up to which size each time.
RULES: Final[Mapping[str, Rule]] = {name: rule for name, rule in _EVERY.items() if name in TABLES}

#: What a campaign's calls and leads can be asked for by, where there are few campaigns.
_DIRECTIONS: Final[Mapping[str, Direction]] = {"inbound": "inbound", "outbound": "outbound"}
_STATUSES: Final[Mapping[str, LeadStatus]] = {
    "new": "new",
    "contacted": "contacted",
    "callback": "callback",
    "dnc": "dnc",
    "completed": "completed",
}

#: What is brought up to date before a table: callbacks are listed campaign by campaign, and the first
#: campaign says how far back the reports go.
NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "callbacks": ("campaigns",),
    "dispositions": ("campaigns",),
}
#: Not every account has these, and the contract does not show how they are asked for: where nobody asked
#: for one by name, a service that does not offer it to this key leaves nothing undone.
OPTIONAL: Final = frozenset({"dispositions", "sms_reports", "webhooks", "events"})
#: Statuses that say so: not in this form, no permission, no such path.
NOT_OFFERED: Final = (400, 403, 404, 405, 422)

FROM_THE_FUTURE = (
    "which is still to come: this machine's clock is or was wrong, and changes found before then do not "
    "show"
)
#: Whoever finds another process at a table waits for it this often, for so long each time: a minute in all.
LOCK_TRIES: Final = 300
LOCK_PAUSE_S: Final = 0.2
BUSY = "another process is bringing it up to date"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a table's sync came to: its entry, and the error that ended it early, if one did."""

    entry: TableSync
    error: DialframeError | None = None

    @property
    def not_offered(self) -> bool:
        """Whether the service does not offer this table to this key."""
        return isinstance(self.error, ApiError) and self.error.status in NOT_OFFERED


def bring_table_up(
    table: Table, source: Source, work: Work, reconcile_after: timedelta | None
) -> Outcome:
    """Bring one table up to date, alone among all processes.

    Args:
        table: The table.
        source: The client.
        work: Store, clock and listeners.
        reconcile_after: When lists are read whole; None for the table's own rule.

    Raises:
        StoreError: The store cannot be written.
    """
    rule = RULES[table.name]
    if reconcile_after is not None:
        # Asked for expressly, it holds for large lists and small ones alike.
        small = rule.small if reconcile_after <= rule.reconcile_after else 0
        rule = replace(rule, reconcile_after=reconcile_after, small=small)
    tally = Tally(TableSync(table=table.name))
    note, error = "", None
    with _alone(table, work) as alone:
        if not alone:
            return Outcome(_entry(table, work, tally, BUSY))
        try:
            _work_of(table)(table, source, work, rule, tally)
        except StoreError:
            raise
        except LeftOpen as left:
            note = str(left)
        except DialframeError as failure:
            note, error = str(failure), failure
        seen_at = work.store.last_seen(table)
        if not note and seen_at is not None and seen_at >= work.now() + STEP_BACK:
            note = f"rows were observed at {day_and_time(seen_at)}, {FROM_THE_FUTURE}"
    entry = _entry(table, work, tally, note)
    work.tell(
        ListProgress(
            table.name,
            entry.rows,
            entry.rows if entry.complete else None,
            requests=entry.requests,
            finished=True,
        )
    )
    return Outcome(entry, error)


@contextmanager
def _alone(table: Table, work: Work) -> Iterator[bool]:
    """Hold the table's lock among all processes; False if another one has it for long."""
    for left in range(LOCK_TRIES, -1, -1):
        with work.store.lock(table.name) as held:
            if held or not left or work.stopped.is_set():
                yield held
                return
        work.stopped.wait(LOCK_PAUSE_S)


def _work_of(table: Table) -> Callable[[Table, Source, Work, Rule, Tally], None]:
    own = {
        "calls": _calls,
        "leads": _leads,
        "sms_reports": _messages,
        "callbacks": bring_up_callbacks,
        "dispositions": bring_up_reports,
        "events": bring_up_events,
    }
    return own.get(table.name, _list)


def _entry(table: Table, work: Work, tally: Tally, note: str) -> TableSync:
    cover = covered(table, work.store)
    return replace(
        tally.entry,
        complete=cover.complete and not note,
        covers_from=cover.covers_from,
        covers_to=cover.covers_to,
        note=note,
    )


def _list(table: Table, source: Source, work: Work, rule: Rule, tally: Tally) -> None:
    lists: dict[str, Callable[[], Listing]] = {
        "campaigns": source.campaigns.list,
        "appointments": source.appointments.list,
        "webhooks": source.webhooks.list,
    }
    bring_up(Part(table.name, table, lists[table.name], rule), work, tally)


def _messages(table: Table, source: Source, work: Work, rule: Rule, tally: Tally) -> None:
    def named(page: Page) -> list[dict[str, Any]]:
        rows = [record.model_dump(warnings=False) for record in page.records]
        return [row | {"to_number": row.pop("to", None)} for row in rows]

    bring_up(
        Part(table.name, table, source.sms.delivery_reports, rule, records=named), work, tally
    )


def _calls(table: Table, source: Source, work: Work, rule: Rule, tally: Tally) -> None:
    def of(part: tuple[str, str]) -> Listing:
        return source.calls.list(campaign_id=part[0], direction=_DIRECTIONS.get(part[1]))

    with Chains(table, source, of, tuple(_DIRECTIONS), work, tally) as chains:
        bring_up(
            Part(table.name, table, source.calls.list, rule, each_page=chains.look), work, tally
        )


def _leads(table: Table, source: Source, work: Work, rule: Rule, tally: Tally) -> None:
    def of(part: tuple[str, str]) -> Listing:
        return source.leads.list(campaign_id=part[0], status=_STATUSES.get(part[1]))

    with Chains(table, source, of, tuple(_STATUSES), work, tally) as chains:
        bring_up(
            Part(table.name, table, source.leads.list, rule, each_page=chains.look), work, tally
        )
