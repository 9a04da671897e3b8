"""A hand-written service for tests of the account: mutable lists, newest first, with a clock of its own.

Lists page by key, as the contract's order says; cursors can be refused; any page can fail. What the
account does to the store can be cut off before or after any transaction.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from dialframe.client import DncChecked as Check
from dialframe.client import Options
from dialframe.client.rate_limiter import is_bulk
from dialframe.contract import (
    Answer,
    Appointment,
    Call,
    Callback,
    Campaign,
    DispositionReport,
    Lead,
    Me,
    SmsDeliveryReport,
    WebhookEndpoint,
    WebhookEvent,
    WebhookEventSummary,
)
from dialframe.contract.operations import Operation
from dialframe.errors import DialframeError, InvalidRequest, NotFound
from dialframe.evidence import Record
from dialframe.store import Store
from samples import a_row
from store.made import phone

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CAMPAIGN = f"cmp_{uuid.UUID(int=1)}"
SECOND = timedelta(seconds=1)


class Killed(BaseException):
    """The process is gone: nothing may catch this."""


@dataclass
class FakePage:
    """One page, as the client gives it."""

    records: Sequence[Answer]
    quarantined: Sequence[Any]
    next_cursor: str | None
    request_id: str
    observed_at: datetime


@dataclass
class FakeAside:
    """One row that did not validate."""

    raw: Any
    where: str
    reason: str


@dataclass
class FakeReportAnswer:
    """A report with what came along."""

    value: Any
    request_id: str
    observed_at: datetime


@dataclass
class FakeService:
    """An account on the service's side, and a client of it."""

    now: datetime = START
    page_size: int = 5
    requests: list[str] = field(default_factory=list)
    rows: dict[str, dict[str, dict[str, Any]]] = field(
        default_factory=lambda: {name: {} for name in LISTS}
    )
    counts: list[dict[str, Any]] = field(default_factory=list)
    listed: set[str] = field(default_factory=set)
    asked: list[list[str]] = field(default_factory=list)
    broken: dict[str, dict[str, Any]] = field(default_factory=dict)
    client_id: str | None = "cli_1"
    refused: set[str] = field(default_factory=set)
    fails: Callable[[str], DialframeError | BaseException | None] = lambda request: None
    report: Any = None
    closed: bool = False
    bulk: set[bool] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.calls = FakeList(self, "calls", Call)
        self.leads = FakeList(self, "leads", Lead)
        self.campaigns = FakeList(self, "campaigns", Campaign)
        self.appointments = FakeList(self, "appointments", Appointment)
        self.webhooks = FakeList(self, "webhooks", WebhookEndpoint)
        self.events = FakeEvents(self, "events", WebhookEventSummary)
        self.sms = FakeMessages(self)
        self.callbacks = FakeList(self, "callbacks", Callback)
        self.dnc = FakeDnc(self)
        self.learn: Callable[[list[Record]], object] = list
        self.writes = SimpleNamespace(problems=list)

    def keep_evidence(self, learn: Callable[[list[Record]], object]) -> None:
        self.learn = learn

    def clock(self) -> datetime:
        """The present, which moves on by itself."""
        self.now += SECOND / 1000
        return self.now

    def ask(self, request: str) -> tuple[datetime, str]:
        """One request: when it was sent, and the id of its answer."""
        sent_at = self.clock()
        self.bulk.add(is_bulk.get())
        failure = self.fails(request)
        if failure is not None:
            raise failure
        self.requests.append(request)
        self.now += SECOND / 200
        return sent_at, f"req_{len(self.requests)}"

    def count(self, prefix: str) -> int:
        """How many requests of that kind were answered."""
        return sum(request.startswith(prefix) for request in self.requests)

    def put(self, table: str, number: int, created_at: datetime, **changes: Any) -> str:
        """Make a row, or change it; gives its id."""
        row = made(table, number, created_at)
        key = str(row.get("id") or row["message_id"])
        self.rows[table].setdefault(key, row).update(changes)
        return key

    def me(self, *, options: Options | None = None) -> Me:
        """Who the key belongs to."""
        self.ask("me")
        return Me(client_id=self.client_id)

    def send_raw(self, operation: Operation[Any, Any], request: Any) -> FakeReportAnswer:
        """The disposition report of a range, or one call."""
        if operation.name == "calls.get":
            sent_at, request_id = self.ask(f"calls.get {request.call_id}")
            return FakeReportAnswer(self._one(request.call_id), request_id, sent_at)
        first, last = request.start_date.isoformat(), request.end_date.isoformat()
        sent_at, request_id = self.ask(f"{operation.name} {first} {last}")
        data = [row for row in self.counts if first <= row["date"] <= last]
        value = self.report or DispositionReport.model_validate({"data": data})
        return FakeReportAnswer(value, request_id, sent_at)

    def _one(self, call_id: str) -> Any:
        if call_id not in self.rows["calls"]:
            raise NotFound("calls.get: 404", status=404, code="not_found")
        return Call.model_validate(self.rows["calls"][call_id])

    def close(self) -> None:
        """Let connections go."""
        self.closed = True


@dataclass
class FakeList:
    """One list: newest first, by key."""

    service: FakeService
    name: str
    model: type[Answer]
    campaign: str | None = None
    key: str = "id"

    def list(self, *, campaign_id: str | None = None) -> FakeList:
        """The list, or a campaign's share of it; nothing is asked for yet."""
        # A copy would not have what a test put in the place of a method.
        return self if campaign_id is None else replace(self, campaign=campaign_id)

    def get(self, identifier: str) -> Answer:
        """One row by its id."""
        self.service.ask(f"{self.name}.get {identifier}")
        if identifier not in self.service.rows[self.name]:
            raise NotFound(f"{self.name}.get: 404", status=404, code="not_found")
        return self.model.model_validate(self.service.rows[self.name][identifier])

    def __iter__(self) -> Iterator[Answer]:
        """Every row, newest first."""
        for page in self.pages():
            yield from page.records

    def pages(self, *, cursor: str | None = None) -> Iterator[FakePage]:
        """Pages from a cursor or the head."""
        while True:
            page = self._page(cursor)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return

    def _page(self, cursor: str | None) -> FakePage:
        service = self.service
        of = "" if self.campaign is None else f" {self.campaign}"
        sent_at, request_id = service.ask(f"{self.name}.list{of} {cursor or ''}".rstrip())
        if cursor is not None and cursor in service.refused:
            raise InvalidRequest("the cursor is invalid", status=400, code="invalid_cursor")
        keys = sorted(
            (
                (row["created_at"].isoformat(), row[self.key])
                for row in service.rows[self.name].values()
                if self.campaign in (None, row.get("campaign_id"))
            ),
            reverse=True,
        )
        if cursor is not None:
            after = tuple(cursor.split("|"))
            keys = [key for key in keys if key < after]
        taken, left = keys[: service.page_size], keys[service.page_size :]
        rows = [service.rows[self.name][key[1]] for key in taken]
        good = [row for row in rows if row[self.key] not in service.broken]
        bad = [service.broken[row[self.key]] for row in rows if row[self.key] in service.broken]
        return FakePage(
            records=[self.model.model_validate(row) for row in good],
            quarantined=[FakeAside(raw, "status", "text was expected") for raw in bad],
            next_cursor="|".join(taken[-1]) if left else None,
            request_id=request_id,
            observed_at=sent_at,
        )


@dataclass
class FakeEvents(FakeList):
    """Events: the list says that they are there, the data is asked for one by one."""

    def get(self, event_id: str) -> WebhookEvent:
        """One event with its data."""
        self.service.ask(f"events.get {event_id}")
        row = self.service.rows["events"][event_id]
        return WebhookEvent.model_validate(row | {"deliveries": [], "data": {"call_id": "call_1"}})


@dataclass
class FakeMessages:
    """What became of text messages."""

    service: FakeService

    def delivery_reports(self) -> FakeList:
        """The list of them."""
        return FakeList(self.service, "sms_reports", SmsDeliveryReport, key="message_id")


@dataclass
class FakeDnc:
    """The Do-Not-Call check."""

    service: FakeService

    def check(self, phones: Sequence[str]) -> list[Check]:
        """Answers in order."""
        sent_at, request_id = self.service.ask("dnc.check")
        self.service.asked.append(list(phones))
        self.service.learn([
            Record("check", sent_at, phone, request_id=request_id, detail={"listed": phone in self.service.listed})
            for phone in phones
        ])  # fmt: skip
        return [
            Check(phone, phone in self.service.listed, sent_at, request_id) for phone in phones
        ]


class FragileStore(Store):
    """A store that can fail, or whose owner can be killed, before or after any write."""

    fate: Callable[[], BaseException | None] = staticmethod(lambda: None)

    def append(self, *arguments: Any, **keywords: Any) -> Any:
        """Append, unless killed before; or be killed after."""
        with self._dying():
            return super().append(*arguments, **keywords)

    def reconcile(self, *arguments: Any, **keywords: Any) -> int:
        """Reconcile, unless killed before; or be killed after."""
        with self._dying():
            return super().reconcile(*arguments, **keywords)

    def save(self, *arguments: Any) -> None:
        """Save, unless killed before; or be killed after."""
        with self._dying():
            super().save(*arguments)

    @contextmanager
    def _dying(self) -> Iterator[None]:
        self._die()
        yield
        self._die()

    def _die(self) -> None:
        failure = self.fate()
        if failure is not None:
            raise failure


#: The operation that lists each table, and what its rows say beside the sample of it.
LISTS: dict[str, tuple[str, dict[str, Any]]] = {
    "calls": ("calls.list", {"answered_at": None, "duration_seconds": 30.0, "disposition": None}),
    "leads": ("leads.list", {"status": "new", "attempts": 0, "last_attempt_at": None}),
    "campaigns": ("campaigns.list", {}),
    "callbacks": ("callbacks.list", {"lead_id": None}),
    "appointments": ("appointments.list", {}),
    "events": ("events.list", {}),
    "webhooks": ("webhooks.list", {"events": ["call.completed"]}),
    "sms_reports": ("sms.delivery_reports", {}),
}


def made(table: str, number: int, created_at: datetime) -> dict[str, Any]:
    """A row of a table."""
    operation, own = LISTS[table]
    row = a_row(operation, **own)
    key = next(iter(row))
    facts = {
        key: f"{row[key].partition('_')[0]}_{uuid.UUID(int=number)}",
        "created_at": created_at,
        "updated_at": created_at,
        "scheduled_at": created_at + 3600 * SECOND,
        "ended_at": created_at + 30 * SECOND,
        "campaign_id": CAMPAIGN,
        "from_number": phone(9999),
        **dict.fromkeys(("phone", "to_number", "to"), phone(number)),
    }
    return row | {name: value for name, value in facts.items() if name in row}
