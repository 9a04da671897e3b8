"""What an account needs of a client, as protocols: lists in pages, checks, one report; knows no HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

from dialframe.contract.models.account import DispositionQuery, DispositionReport
from dialframe.contract.models.calls import Direction
from dialframe.contract.models.leads import LeadStatus
from dialframe.contract.row import Operation

if TYPE_CHECKING:
    from dialframe.client.limiter import Lane
    from dialframe.client.options import Options


class Record(Protocol):
    """One row, validated."""

    def model_dump(self, *, mode: str = "python", warnings: bool = True) -> dict[str, Any]:
        """Its fields as Python values, unknown ones included; as JSON values with `mode="json"`."""


class SetAside(Protocol):
    """One row that did not validate."""

    @property
    def raw(self) -> Any:
        """The row as it came."""

    @property
    def where(self) -> str:
        """What is wrong in it."""

    @property
    def reason(self) -> str:
        """What was expected there."""


class Page(Protocol):
    """One page of a list."""

    @property
    def records(self) -> Sequence[Record]:
        """Rows that are what the contract says, in order."""

    @property
    def quarantined(self) -> Sequence[SetAside]:
        """Rows that are not."""

    @property
    def next_cursor(self) -> str | None:
        """Where the list goes on, None at its end."""

    @property
    def request_id(self) -> str | None:
        """The service's id of the answer."""

    @property
    def observed_at(self) -> datetime:
        """When the page was asked for, UTC."""


class Listing(Protocol):
    """A list that can be walked from any of its cursors."""

    def pages(self, *, cursor: str | None = None) -> Iterator[Page]:
        """Pages from a cursor, or from the head."""


class Lists(Protocol):
    """A resource with a list over the whole account."""

    def list(self) -> Listing:
        """Everything."""


class CallLists(Protocol):
    """Calls: all of the account, or those of a campaign and direction."""

    def list(
        self, *, campaign_id: str | None = None, direction: Direction | None = None
    ) -> Listing:
        """Everything that is so."""


class LeadLists(Protocol):
    """Leads: all of the account, or those of a campaign in a state."""

    def list(self, *, campaign_id: str | None = None, status: LeadStatus | None = None) -> Listing:
        """Everything that is so."""


class CampaignLists(Protocol):
    """A resource whose list is of one campaign."""

    def list(self, *, campaign_id: str) -> Listing:
        """Everything of one campaign."""


class Messages(Protocol):
    """Text messages."""

    def delivery_reports(self) -> Listing:
        """What became of every message."""


class EventLists(Protocol):
    """Webhook events."""

    def list(self) -> Listing:
        """Every event that the service still has, without its data."""

    def get(self, event_id: str) -> Record:
        """One event with its data."""


class Checked(Protocol):
    """One number's answer from the Do-Not-Call check."""

    @property
    def phone(self) -> str:
        """The number as it was asked."""

    @property
    def listed(self) -> bool:
        """On a Do-Not-Call list or not."""

    @property
    def checked_at(self) -> datetime:
        """When the question was sent, UTC."""

    @property
    def request_id(self) -> str | None:
        """The service's id of the answer."""


class Dnc(Protocol):
    """The Do-Not-Call check."""

    def check(self, phones: Sequence[str]) -> Sequence[Checked]:
        """One answer per number, in order."""


class ReportAnswer(Protocol):
    """A disposition report with what came along with it."""

    @property
    def value(self) -> DispositionReport:
        """The report."""

    @property
    def request_id(self) -> str | None:
        """The service's id of the answer."""

    @property
    def observed_at(self) -> datetime:
        """When it was asked for, UTC."""


class Me(Protocol):
    """Who the key belongs to."""

    @property
    def client_id(self) -> str | None:
        """The API client, where the service says it."""


class Source(Protocol):
    """A client, as far as an account is concerned."""

    @property
    def calls(self) -> CallLists:
        """Calls."""

    @property
    def leads(self) -> LeadLists:
        """Leads."""

    @property
    def campaigns(self) -> Lists:
        """Campaigns."""

    @property
    def appointments(self) -> Lists:
        """Appointments."""

    @property
    def callbacks(self) -> CampaignLists:
        """Callbacks."""

    @property
    def sms(self) -> Messages:
        """Text messages."""

    @property
    def webhooks(self) -> Lists:
        """Webhook endpoints."""

    @property
    def events(self) -> EventLists:
        """Webhook events."""

    @property
    def dnc(self) -> Dnc:
        """Do-Not-Call."""

    def send_raw(
        self,
        operation: Operation[DispositionQuery, DispositionReport],
        request: DispositionQuery,
    ) -> ReportAnswer:
        """The service's answer to a report's request."""

    def me(self, *, options: Options | None = None) -> Me:
        """Who the key belongs to."""

    def lane(self, name: Lane) -> AbstractContextManager[None]:
        """Let what is asked inside the block take its turns in a lane of the rate limit."""

    def close(self) -> None:
        """Let its connections go."""
