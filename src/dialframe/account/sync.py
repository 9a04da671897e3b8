"""Syncs an account: tables side by side in threads, each brought up to date by the lists that feed it.

A list is one chain of cursors, each page fetched once; calls and leads are read side by side, which with
everything else fills the limit wherever an answer takes less than half a second. A list is not split
further: a lead may change its status, and nothing says that every call has one of the two directions that
can be asked for, so that a second walk would have to prove the first ones.

Of long lists a sync reads what is new, the last two days again, and older rows as far as the pages of the day go:
`pages_per_day`, or as many that every row is looked at once a week, and never more than a tenth of the key's rate.
Calls older than two days that may have changed are read singly: those that have not ended, and those that an event
kept here speaks of.
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

from dialframe.account.dispositions_and_dnc import sync_reports
from dialframe.account.freshness import covered, older
from dialframe.account.list_sync import (
    STEP_BACK,
    Context,
    Counts,
    LeftOpen,
    LeftOut,
    Source,
    is_due,
    sync_list,
)
from dialframe.account.list_walk import LISTED_LATE, SOON, Look, Mark, Rule, State, Walk
from dialframe.account.sync_report import ListProgress, SyncReport, TableSync, day_and_time
from dialframe.background import side_by_side
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract.limits import BUCKETS
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
    whole: bool,
    pages_per_day: int | None,
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

        context = Context(
            store, began_at, now, heard, stopped, details, _pages_of(store, pages_per_day), whole
        )
        outcomes[name] = sync_table(TABLES[name], client, context)

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
_WEEK: Final = timedelta(days=7)
#: Days in which every row is looked at, and the most pages a day: a tenth of the key's rate.
_DAYS: Final = 7
MOST_PAGES_PER_DAY: Final = int(BUCKETS[0].rate_per_s * 86_400 / 10)

#: How each list is read.
RULES: Final[Mapping[str, Rule]] = {
    "calls": Rule(_SMALL),
    "leads": Rule(_SMALL),
    "campaigns": Rule(_SMALL),
    "callbacks": Rule(100, every=_WEEK),
    "appointments": Rule(_SMALL),
    "dispositions": Rule(every=_WEEK),
    "sms_reports": Rule(_SMALL),
    "webhooks": Rule(_SMALL),
    # Events do not change; only those that are listed late are looked for behind the watermark.
    "events": Rule(overlap=LISTED_LATE, every=_WEEK),
}


def _pages_of(store: Store, pages_per_day: int | None) -> dict[str, float]:
    """Pages of sweeps a day for each table: in proportion to the lists' lengths."""
    lengths = {
        name: State.from_json(store.state(name)).mark.length
        for name, rule in RULES.items()
        if rule.every is None
    }
    total = sum(lengths.values())
    if pages_per_day is None:
        pages_per_day = min(-(-total // _DAYS), MOST_PAGES_PER_DAY)
    return {name: pages_per_day * length / max(total, 1) for name, length in lengths.items()}


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
#: Campaigns at work whose callbacks are read in a sync that comes within a minute of the last one.
IN_TURN: Final = 3
#: Events whose data is asked for in one sync of everything; each costs a request. All of them where the
#: table is asked for by name.
EVENT_DETAILS: Final = 20


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


def sync_table(table: Table, client: Client, context: Context) -> Outcome:
    """Bring one table up to date, alone among all processes."""
    rule = RULES[table.name]
    counts = Counts(TableSync(table=table.name))
    note, error, left_out = "", None, False
    with _alone(table, context) as alone:
        if not alone:
            return Outcome(_entry(table, context, counts, BUSY))
        try:
            own_ways = {
                "calls": _calls,
                "sms_reports": _messages,
                "callbacks": _callbacks,
                "dispositions": sync_reports,
                "events": _events,
            }
            own_ways.get(table.name, _list)(table, client, context, rule, counts)
        except StoreError:
            raise  # a full disk is every table's
        except LeftOpen as left:
            note, left_out = str(left), isinstance(left, LeftOut)
        except DialframeError as failure:
            note, error = str(failure), failure
        seen_at = context.store.last_seen(table)
        if not note and seen_at is not None and seen_at >= context.now() + STEP_BACK:
            note = f"rows were observed at {day_and_time(seen_at)}, {FROM_THE_FUTURE}"
    entry = _entry(table, context, counts, note)
    context.report(
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
def _alone(table: Table, context: Context) -> Iterator[bool]:
    """Hold the table's lock among all processes; False if another one has it for long."""
    for left in range(LOCK_TRIES, -1, -1):
        with context.store.lock(table.name) as held:
            if held or not left or context.stopped.is_set():
                yield held
                return
        context.stopped.wait(LOCK_PAUSE_S)


def _entry(table: Table, context: Context, counts: Counts, note: str) -> TableSync:
    cover = covered(table, context.store)
    return replace(
        counts.entry,
        complete=cover.complete and not note,
        covers_from=cover.covers_from,
        covers_to=cover.covers_to,
        last_looked_at=cover.looked_at,
        older=older(cover),
        note=note,
    )


def _list(table: Table, client: Client, context: Context, rule: Rule, counts: Counts) -> None:
    lists: dict[str, Callable[[], Listing[Any]]] = {
        "campaigns": client.campaigns.list,
        "appointments": client.appointments.list,
        "webhooks": client.webhooks.list,
        "leads": client.leads.list,
    }
    sync_list(Source(table.name, table, lists[table.name], rule), context, counts)


def _messages(table: Table, client: Client, context: Context, rule: Rule, counts: Counts) -> None:
    def named(page: ListPage[Any]) -> list[dict[str, Any]]:
        rows = [record.model_dump(warnings=False) for record in page.records]
        return [row | {"to_number": row.pop("to", None)} for row in rows]

    sync_list(
        Source(table.name, table, client.sms.delivery_reports, rule, records=named),
        context,
        counts,
    )


def _calls(table: Table, client: Client, context: Context, rule: Rule, counts: Counts) -> None:
    sync_list(Source(table.name, table, client.calls.list, rule), context, counts)
    looks = covered(table, context.store).looks
    # Where one look covers all of them, all were read just now.
    if len(looks) > 1:
        _read_single_calls(client, context, counts, looks[0])


def _read_single_calls(client: Client, context: Context, counts: Counts, head: Look) -> None:
    """Read calls older than the head that may have changed since they were read."""
    for identifier in _single_calls(context, head):
        if context.stopped.is_set():
            return
        try:
            answered = client.send_raw(CALLS_GET, CallRef(call_id=identifier))
        except (NotFound, ContractError):
            continue  # no longer listed, or unreadable: the next whole reading decides
        finally:
            counts.page(0, 0, 0)  # the request, whatever came of it
        added = context.store.append(
            CALLS,
            [answered.value.model_dump(warnings=False)],
            observed_at=max(answered.observed_at, context.after(CALLS) or answered.observed_at),
            request_id=answered.request_id,
        )
        counts.page(0, added.versions, added.quarantined, requests=0)


def _single_calls(context: Context, head: Look) -> list[str]:
    """Ids of calls to be read singly, the most telling first."""
    columns = ["id", "ended_at", "_observed_at"]
    since = context.now() - SINGLY_DAYS
    rows = context.store.arrow(
        CALLS, columns=columns, since=since, until=head.created_from
    ).to_pylist()
    spoken_of = _latest_event_by_call(context, since)
    stale = [
        row["id"]
        for row in rows
        if row["id"] in spoken_of and row["_observed_at"] < spoken_of[row["id"]]
    ]
    running = [row["id"] for row in rows if row["ended_at"] is None and _is_served(row["id"])]
    return list(dict.fromkeys([*stale, *running]))[:SINGLY]


def _latest_event_by_call(context: Context, since: datetime) -> dict[str, datetime]:
    """When an event kept here last spoke of each call."""
    latest: dict[str, datetime] = {}
    for row in context.store.arrow(
        EVENTS, columns=["data", "created_at"], since=since
    ).to_pylist():
        try:
            content = json.loads(row["data"] or "null")
        except ValueError:
            continue
        identifier = content.get("call_id") if isinstance(content, dict) else None
        if isinstance(identifier, str) and row["created_at"] is not None:
            latest[identifier] = max(row["created_at"], latest.get(identifier, _NEVER))
    return latest


def _events(table: Table, client: Client, context: Context, rule: Rule, counts: Counts) -> None:
    """Events of the last 30 days that are not stored yet, each asked for once: it never changes.

    Each costs a request. So a sync of everything asks for the newest few, and leaves the rest to a sync
    of the events by name. The service forgets events after 30 days: one that is no longer listed is not
    gone.
    """
    left = context.details

    def whole(page: ListPage[Any]) -> list[dict[str, Any]]:
        nonlocal left
        listed = [record.model_dump(warnings=False) for record in page.records]
        moments = [row["created_at"] for row in listed]
        # Only ids of that time are read: the table may hold years of events.
        known: set[str] = set()
        if moments:
            until = max(moments) + timedelta(microseconds=1)
            stored = context.store.arrow(EVENTS, columns=["id"], since=min(moments), until=until)
            known = set(stored.column("id").to_pylist())
        unknown = [row for row in listed if row["id"] not in known]
        asked = unknown if left is None else unknown[:left]
        jobs = [partial(_event, client, row) for row in asked]
        rows = side_by_side(jobs, silent, stopped=context.stopped)
        counts.page(0, 0, 0, requests=len(asked))
        if left is not None:
            left -= len(asked)
        if len(asked) < len(unknown):
            added = context.store.append(
                table, rows, observed_at=page.observed_at, request_id=page.request_id
            )
            counts.page(len(rows), added.versions, added.quarantined)
            raise LeftOut(MORE_EVENTS)
        return rows

    # The service keeps events for 30 days, the store for good (contract, Events: Delivery 7).
    sync_list(
        Source(table.name, table, client.events.list, rule, records=whole, lasting=True),
        context,
        counts,
    )


def _event(client: Client, row: dict[str, Any], _: OnProgress, __: Event) -> dict[str, Any]:
    try:
        return client.events.get(row["id"]).model_dump(mode="json", warnings=False)
    except (NotFound, ContractError):
        return row  # forgotten meanwhile, or of another shape: what the list said is kept


def _callbacks(table: Table, client: Client, context: Context, rule: Rule, counts: Counts) -> None:
    """Each campaign's list; those of campaigns that are over or archived only when due.

    A sync that comes within a minute of the last one reads three campaigns at context, those read
    longest ago; the table is then as fresh as the campaign that was read longest ago.
    """
    started_at = context.now()
    states = _states_of(table, context)
    state = states.pop(table.name, State())
    # Open until the end: whoever finds it so knows that the last reading was interrupted.
    context.store.save(Checkpoint(table.name, State(state.mark, Walk()).as_json()))
    # Resources, Campaign: archived ones are not listed, though their callbacks are.
    campaigns = context.store.arrow(CAMPAIGNS, columns=["id", "status"]).to_pylist()
    # Campaigns of another dialer's files have names of their own, and the service knows none of them.
    at_work = {
        row["id"] for row in campaigns if row["status"] != "completed" and _is_served(row["id"])
    }
    known = context.store.campaign_ids(CAMPAIGNS, LEADS, CALLS, CALLBACKS)
    every = sorted(at_work | set(filter(_is_served, known)))
    sources = {
        campaign: Source(
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
        for campaign, source in sources.items()
        if context.whole
        or is_due(source, states.get(source.name, State()), context.now())
        or (state.walk is not None and campaign in at_work)
    ]
    wanted += _in_turn(at_work.difference(wanted), sources, states, context.now())
    side_by_side(
        [partial(_sync_source, sources[campaign], context, counts) for campaign in wanted],
        context.report,
        stopped=context.stopped,
    )
    listed_at = covered(CAMPAIGNS, context.store).synced_at
    if listed_at is None or listed_at < context.began_at:
        raise LeftOpen(NO_CAMPAIGNS)
    read_at = [
        state.mark.synced_at
        for name, state in _states_of(table, context).items()
        if name.partition("/")[2] in at_work and state.mark.synced_at is not None
    ]
    # The table as a whole has been looked at, also where no campaign has a callback.
    mark = Mark(synced_at=min([started_at, *read_at]), reconciled_at=started_at)
    context.store.save(Checkpoint(table.name, State(mark).as_json()))


def _is_served(identifier: str) -> bool:
    """Whether the service made this id (contract, Conventions), and no file that was loaded."""
    return identifier.startswith(("cmp_", "call_"))


def _states_of(table: Table, context: Context) -> dict[str, State]:
    return {
        name: State.from_json(value) for name, value in context.store.states(table.name).items()
    }


def _in_turn(
    campaigns: set[str], sources: Mapping[str, Source], states: Mapping[str, State], now: datetime
) -> list[str]:
    """Campaigns to be looked at though none is due: all after a minute, else the next three."""
    ended = {
        campaign: states[sources[campaign].name].mark.finished_at or _NEVER
        for campaign in campaigns
    }
    oldest_first = sorted(campaigns, key=lambda campaign: (ended[campaign], campaign))
    rested = [campaign for campaign in oldest_first if not now - SOON < ended[campaign] <= now]
    return oldest_first[: max(IN_TURN, len(rested))]


def _sync_source(
    source: Source, context: Context, counts: Counts, report: OnProgress, stopped: Event
) -> None:
    del stopped  # it is the one that the context has
    sync_list(source, replace(context, report=report), counts)
