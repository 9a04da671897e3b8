"""Syncs an account: tables side by side in threads, each brought up to date by the lists that feed it.

A list is one chain of cursors, each page fetched once; calls and leads are read side by side, which with
everything else fills the limit wherever an answer takes less than half a second. A list is not split
further: a lead may change its status, and nothing says that every call has one of the two directions that
can be asked for, so that a second walk would have to prove the first ones.

Between two whole readings, calls older than the walk that may still change are read singly: those that
have not ended, those that an event kept here speaks of, and in turn those that were answered and have no
disposition yet.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from dialframe.account.dispositions_and_dnc import bring_up_reports
from dialframe.account.freshness import covered, older
from dialframe.account.list_sync import (
    STEP_BACK,
    LeftOpen,
    LeftOut,
    Part,
    Tally,
    Work,
    bring_up,
    is_due,
)
from dialframe.account.list_walk import LISTED_LATE, SOON, SOON_PAGES, Mark, Rule, State, Walk
from dialframe.account.sync_report import ListProgress, SyncReport, TableSync, day_and_time
from dialframe.background import side_by_side
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract.models.call_models import CallRef
from dialframe.contract.operations import CALLS_GET
from dialframe.errors import (
    ApiError,
    AuthenticationError,
    ConfigError,
    ContractError,
    DialframeError,
    NotFound,
    StoreError,
    TransportError,
)
from dialframe.frames.frame_schemas import (
    CALLBACKS,
    CALLS,
    CAMPAIGNS,
    EVENTS,
    LEADS,
    TABLES,
    Table,
)
from dialframe.store import Checkpoint, Store

if TYPE_CHECKING:
    from dialframe.client import Client, Listing, ListPage


def sync(
    client: Client,
    store: Store,
    tables: Iterable[str] | None,
    *,
    reconcile_after: timedelta | None,
    now: Callable[[], datetime],
    greet: Callable[[], None],
    on_progress: OnProgress = silent,
) -> SyncReport:
    """Bring tables up to date: those that others need first, the rest side by side; see `Account.sync`.

    `greet` asks whose key it is, beside the first tables.
    """
    began_at = now()
    wanted = _with_needs(tables)
    outcomes: dict[str, Outcome] = {}
    answered = Event()
    details = EVENT_DETAILS if tables is None else None

    def bring(name: str, tell: OnProgress, stopped: Event) -> None:
        def heard(progress: Progress) -> None:
            if progress.done:
                answered.set()
            tell(progress)

        work = Work(store, began_at, now, heard, stopped, details)
        outcomes[name] = bring_table_up(TABLES[name], client, work, reconcile_after)

    def greeting(_: OnProgress, __: Event) -> None:
        try:
            greet()
        except TransportError:
            if not answered.is_set():
                raise

    # Two waves: within one, nobody waits for another table.
    first = [name for name in wanted if name not in NEEDS]
    for wave in (first, [name for name in wanted if name in NEEDS]):
        jobs = [partial(bring, name) for name in wave]
        side_by_side([*jobs, greeting] if wave is first else jobs, on_progress)
        _raise_if_nothing_came([outcomes[name] for name in wave])
    entries = [outcomes[name].entry for name in wanted]
    if tables is None:
        entries = [
            replace(entry, optional=outcomes[entry.table].optional and entry.table in OPTIONAL)
            for entry in entries
        ]
    return SyncReport(began_at, tuple(entries))


def _with_needs(tables: Iterable[str] | None) -> list[str]:
    if isinstance(tables, str):
        tables = [tables]  # one name is meant, and not its letters
    wanted = set(RULES if tables is None else tables)
    if unknown := sorted(wanted - set(RULES)):
        raise ConfigError(
            f"there is no table {unknown[0]!r} to sync; choose from {', '.join(RULES)}"
        )
    needed = {other for name in wanted for other in NEEDS.get(name, ())}
    return [name for name in RULES if name in wanted | needed]


def _raise_if_nothing_came(outcomes: Sequence[Outcome]) -> None:
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    # A key that was revoked halfway is no trouble of one table.
    for error in errors:
        if isinstance(error, AuthenticationError):
            raise error
    if errors and len(errors) == len(outcomes) and not any(o.entry.requests for o in outcomes):
        raise next((error for error in errors if isinstance(error, TransportError)), errors[0])


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
    # Events do not change; only those that are listed late are looked for behind the watermark.
    "events": Rule(timedelta(days=7), overlap=LISTED_LATE),
}
#: How often each list is read whole, and up to which size each time.
RULES: Final[Mapping[str, Rule]] = {name: rule for name, rule in _EVERY.items() if name in TABLES}

#: What is brought up to date before a table: callbacks are listed campaign by campaign (contract, Endpoints:
#: Callbacks: `campaign_id` is required), and the first campaign says how far back the reports go.
NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "callbacks": ("campaigns",),
    "dispositions": ("campaigns",),
}
#: Not every account has these, and the contract shows no shape of two of them (contract, Endpoints: Operations
#: whose payload is not fully shown): where nobody asked for one by name, a service that does not offer it to
#: this key leaves nothing undone.
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
MORE_EVENTS: Final = (
    "each event costs a request, so a sync of everything asks for the newest few; sync events by name "
    "for all of them"
)
NO_CAMPAIGNS: Final = "campaigns are not up to date, so callbacks of some may be missing"
_NEVER: Final = datetime.min.replace(tzinfo=UTC)

#: Calls that are read singly in one sync, and how old they may be.
SINGLY: Final = 20
SINGLY_DAYS: Final = timedelta(days=30)
#: Of them, those that were answered and have no disposition: so many, so often.
IN_TURN: Final = 10
TURN: Final = timedelta(hours=1)
#: Events whose data is asked for in one sync of everything; each costs a request. All of them where the
#: table is asked for by name.
EVENT_DETAILS: Final = 20
#: Name of the checkpoint that says how far the reading of single calls has come.
_SINGLES: Final = "singles.calls"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a table's sync came to: its entry, the error that ended it early, or that rows were left out."""

    entry: TableSync
    error: DialframeError | None = None
    left_out: bool = False

    @property
    def optional(self) -> bool:
        """Whether nothing is wrong: the service does not offer it to this key, or rows were left out."""
        not_offered = isinstance(self.error, ApiError) and self.error.status in NOT_OFFERED
        return self.left_out or not_offered


def bring_table_up(
    table: Table, client: Client, work: Work, reconcile_after: timedelta | None
) -> Outcome:
    """Bring one table up to date, alone among all processes."""
    rule = RULES[table.name]
    if reconcile_after is not None:
        # Asked for expressly, it holds for large lists and small ones alike.
        small = rule.small if reconcile_after <= rule.reconcile_after else 0
        rule = replace(rule, reconcile_after=reconcile_after, small=small)
    tally = Tally(TableSync(table=table.name))
    note, error, left_out = "", None, False
    with _alone(table, work) as alone:
        if not alone:
            return Outcome(_entry(table, work, tally, BUSY))
        try:
            own_ways = {
                "calls": _calls,
                "sms_reports": _messages,
                "callbacks": _callbacks,
                "dispositions": bring_up_reports,
                "events": _events,
            }
            own_ways.get(table.name, _list)(table, client, work, rule, tally)
        except StoreError:
            raise  # a full disk is every table's
        except LeftOpen as left:
            note, left_out = str(left), isinstance(left, LeftOut)
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
    return Outcome(entry, error, left_out)


@contextmanager
def _alone(table: Table, work: Work) -> Iterator[bool]:
    """Hold the table's lock among all processes; False if another one has it for long."""
    for left in range(LOCK_TRIES, -1, -1):
        with work.store.lock(table.name) as held:
            if held or not left or work.stopped.is_set():
                yield held
                return
        work.stopped.wait(LOCK_PAUSE_S)


def _entry(table: Table, work: Work, tally: Tally, note: str) -> TableSync:
    cover = covered(table, work.store)
    return replace(
        tally.entry,
        complete=cover.complete and not note,
        covers_from=cover.covers_from,
        covers_to=cover.covers_to,
        synced_from=cover.synced_from,
        reconciled_at=cover.reconciled_at,
        older=older(cover),
        note=note,
    )


def _list(table: Table, client: Client, work: Work, rule: Rule, tally: Tally) -> None:
    lists: dict[str, tuple[Callable[[], Listing[Any]], Callable[[str], Any] | None]] = {
        "campaigns": (client.campaigns.list, client.campaigns.get),
        "appointments": (client.appointments.list, client.appointments.get),
        "webhooks": (client.webhooks.list, None),
        "leads": (client.leads.list, client.leads.get),
    }
    listing, single = lists[table.name]
    bring_up(Part(table.name, table, listing, rule, single=single), work, tally)


def _messages(table: Table, client: Client, work: Work, rule: Rule, tally: Tally) -> None:
    def named(page: ListPage[Any]) -> list[dict[str, Any]]:
        rows = [record.model_dump(warnings=False) for record in page.records]
        return [row | {"to_number": row.pop("to", None)} for row in rows]

    bring_up(
        Part(table.name, table, client.sms.delivery_reports, rule, records=named), work, tally
    )


def _calls(table: Table, client: Client, work: Work, rule: Rule, tally: Tally) -> None:
    bring_up(
        Part(table.name, table, client.calls.list, rule, single=client.calls.get), work, tally
    )
    edge = covered(table, work.store).synced_from
    if edge is None:
        # All of them were read: the turns begin when some time has passed.
        work.store.save(Checkpoint(_SINGLES, {"turned_at": work.now().isoformat()}))
    else:
        _read_single_calls(client, work, tally, edge)


def _read_single_calls(client: Client, work: Work, tally: Tally, edge: datetime) -> None:
    """Read calls created before an instant that may have changed since they were read."""
    checkpoint = work.store.state(_SINGLES) or {}
    wanted, checkpoint = _single_calls(work, edge, checkpoint)
    for identifier in wanted:
        if work.stopped.is_set():
            return
        try:
            answered = client.send_raw(CALLS_GET, CallRef(call_id=identifier))
        except (NotFound, ContractError):
            continue  # no longer listed, or unreadable: the next whole reading decides
        finally:
            tally.page(0, 0, 0)  # the request, whatever came of it
        added = work.store.append(
            CALLS,
            [answered.value.model_dump(warnings=False)],
            observed_at=max(answered.observed_at, work.after(CALLS) or answered.observed_at),
            request_id=answered.request_id,
        )
        tally.page(0, added.versions, added.quarantined, requests=0)
    work.store.save(Checkpoint(_SINGLES, checkpoint))


def _single_calls(
    work: Work, edge: datetime, checkpoint: Mapping[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """Ids of calls to be read singly, the most telling first, and how far the turns have come."""
    columns = ["id", "answered_at", "ended_at", "disposition", "_observed_at"]
    since = work.now() - SINGLY_DAYS
    rows = work.store.arrow(CALLS, columns=columns, since=since, until=edge).to_pylist()
    spoken_of = _spoken_of(work, since)
    stale = [
        row["id"]
        for row in rows
        if row["id"] in spoken_of and row["_observed_at"] < spoken_of[row["id"]]
    ]
    running = [row["id"] for row in rows if row["ended_at"] is None]
    open_ids = sorted(
        row["id"]
        for row in rows
        if row["ended_at"] is not None
        and row["answered_at"] is not None
        and row["disposition"] is None
    )
    after = checkpoint.get("after", "")  # in the order of ids, which stays while calls come and go
    in_turn = [call_id for call_id in open_ids if call_id > after] + [
        call_id for call_id in open_ids if call_id <= after
    ]
    now = work.now()
    turned_at = datetime.fromisoformat(checkpoint.get("turned_at") or _NEVER.isoformat())
    if timedelta(0) <= now - turned_at < TURN:
        in_turn = []
    wanted = list(dict.fromkeys([*stale, *running, *in_turn[:IN_TURN]]))[:SINGLY]
    if not in_turn:
        return wanted, dict(checkpoint)
    return wanted, {"after": in_turn[:IN_TURN][-1], "turned_at": now.isoformat()}


def _spoken_of(work: Work, since: datetime) -> dict[str, datetime]:
    """When an event kept here last spoke of each call."""
    latest: dict[str, datetime] = {}
    for row in work.store.arrow(EVENTS, columns=["data", "created_at"], since=since).to_pylist():
        try:
            content = json.loads(row["data"] or "null")
        except ValueError:
            continue
        identifier = content.get("call_id") if isinstance(content, dict) else None
        if isinstance(identifier, str) and row["created_at"] is not None:
            latest[identifier] = max(row["created_at"], latest.get(identifier, _NEVER))
    return latest


def _events(table: Table, client: Client, work: Work, rule: Rule, tally: Tally) -> None:
    """Events of the last 30 days that are not stored yet, each asked for once: it never changes.

    Each costs a request. So a sync of everything asks for the newest few, and leaves the rest to a sync
    of the events by name. The service forgets events after 30 days: one that is no longer listed is not
    gone.
    """
    left = work.details

    def whole(page: ListPage[Any]) -> list[dict[str, Any]]:
        nonlocal left
        listed = [record.model_dump(warnings=False) for record in page.records]
        moments = [row["created_at"] for row in listed]
        # Only ids of that time are read: the table may hold years of events.
        known: set[str] = set()
        if moments:
            until = max(moments) + timedelta(microseconds=1)
            stored = work.store.arrow(EVENTS, columns=["id"], since=min(moments), until=until)
            known = set(stored.column("id").to_pylist())
        unknown = [row for row in listed if row["id"] not in known]
        asked = unknown if left is None else unknown[:left]
        jobs = [partial(_event, client, row) for row in asked]
        rows = side_by_side(jobs, silent, stopped=work.stopped)
        tally.page(0, 0, 0, requests=len(asked))
        if left is not None:
            left -= len(asked)
        if len(asked) < len(unknown):
            added = work.store.append(
                table, rows, observed_at=page.observed_at, request_id=page.request_id
            )
            tally.page(len(rows), added.versions, added.quarantined)
            raise LeftOut(MORE_EVENTS)
        return rows

    # The service keeps events for 30 days, the store for good (contract, Events: Delivery 7).
    bring_up(
        Part(table.name, table, client.events.list, rule, records=whole, lasting=True), work, tally
    )


def _event(client: Client, row: dict[str, Any], _: OnProgress, __: Event) -> dict[str, Any]:
    try:
        return client.events.get(row["id"]).model_dump(mode="json", warnings=False)
    except (NotFound, ContractError):
        return row  # forgotten meanwhile, or of another shape: what the list said is kept


def _callbacks(table: Table, client: Client, work: Work, rule: Rule, tally: Tally) -> None:
    """Each campaign's list; those of campaigns that are over or archived only when due.

    A sync that comes within a minute of the last one reads three campaigns at work, those read
    longest ago; the table is then as fresh as the campaign that was read longest ago.
    """
    started_at = work.now()
    states = _states_of(table, work)
    state = states.pop(table.name, State())
    # Open until the end: whoever finds it so knows that the last reading was interrupted.
    work.store.save(Checkpoint(table.name, State(state.mark, Walk()).as_json()))
    # Resources, Campaign: archived ones are not listed, though their callbacks are.
    campaigns = work.store.frame(CAMPAIGNS)
    at_work = set(campaigns.loc[campaigns["status"] != "completed", "id"])
    every = sorted(at_work | work.store.campaign_ids(CAMPAIGNS, LEADS, CALLS, CALLBACKS))
    parts = {
        campaign: Part(
            f"{table.name}/{campaign}",
            table,
            partial(client.callbacks.list, campaign_id=campaign),
            rule,
            campaign,
        )
        for campaign in every
    }
    wanted = [
        campaign
        for campaign, part in parts.items()
        if is_due(part, states.get(part.name, State()), work.now())
        or (state.walk is not None and campaign in at_work)
    ]
    wanted += _in_turn(at_work.difference(wanted), parts, states, work.now())
    side_by_side(
        [partial(_bring_up_part, parts[campaign], work, tally) for campaign in wanted],
        work.tell,
        stopped=work.stopped,
    )
    listed_at = covered(CAMPAIGNS, work.store).synced_at
    if listed_at is None or listed_at < work.began_at:
        raise LeftOpen(NO_CAMPAIGNS)
    read_at = [
        state.mark.synced_at
        for name, state in _states_of(table, work).items()
        if name.partition("/")[2] in at_work and state.mark.synced_at is not None
    ]
    # The table as a whole has been looked at, also where no campaign has a callback.
    mark = Mark(synced_at=min([started_at, *read_at]), reconciled_at=started_at)
    work.store.save(Checkpoint(table.name, State(mark).as_json()))


def _states_of(table: Table, work: Work) -> dict[str, State]:
    return {name: State.from_json(value) for name, value in work.store.states(table.name).items()}


def _in_turn(
    campaigns: set[str], parts: Mapping[str, Part], states: Mapping[str, State], now: datetime
) -> list[str]:
    """Campaigns to be looked at though none is due: all after a minute, else the next three."""
    ended = {
        campaign: states[parts[campaign].name].mark.finished_at or _NEVER for campaign in campaigns
    }
    oldest_first = sorted(campaigns, key=lambda campaign: (ended[campaign], campaign))
    rested = [campaign for campaign in oldest_first if not now - SOON < ended[campaign] <= now]
    return oldest_first[: max(SOON_PAGES, len(rested))]


def _bring_up_part(part: Part, work: Work, tally: Tally, tell: OnProgress, stopped: Event) -> None:
    del stopped  # it is the one that the work has
    bring_up(part, work.telling(tell), tally)
