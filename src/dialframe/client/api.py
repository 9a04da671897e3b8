"""The client: every operation of the service as a typed method; joins the room's parts, does none of their work."""

from __future__ import annotations

import weakref
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from dialframe.client import address, novelties
from dialframe.client import limiter as lanes
from dialframe.client import options as per_call
from dialframe.client.answers import Answered, Res
from dialframe.client.clock import SYSTEM, Clock
from dialframe.client.conversation import Conversation
from dialframe.client.credentials import MISSING, Credential
from dialframe.client.journal import Journal
from dialframe.client.limiter import SHARED, Lane, RateLimiter, Shared
from dialframe.client.options import Options
from dialframe.client.resources.appointments import Appointments
from dialframe.client.resources.callbacks import Callbacks
from dialframe.client.resources.calls import Calls
from dialframe.client.resources.campaigns import Campaigns
from dialframe.client.resources.contact import Consents, Dnc
from dialframe.client.resources.leads import Leads
from dialframe.client.resources.messages import Sms, WhatsApp
from dialframe.client.resources.reports import Reports
from dialframe.client.resources.webhooks import Events, Webhooks
from dialframe.client.sender import Defaults, Req, Sender
from dialframe.client.transport import HttpxTransport, Reply, Transport
from dialframe.client.wire import PlannedRequest
from dialframe.client.writes import Writes
from dialframe.config import DEFAULT_TIMEOUT_S
from dialframe.contract import operations
from dialframe.contract.models.account import Me
from dialframe.contract.models.shape import Answer, Empty
from dialframe.contract.row import Operation
from dialframe.errors import ConfigError

DEFAULT_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class _Settings:
    """What a client is made of, the key excepted: what a pickle of it holds."""

    base_url: str
    timeout_s: float
    deadline_s: float | None
    max_attempts: int
    journal: Path | None
    limited: bool
    account: str = ""
    shown: str = "none"


class Client:
    """The service, with one method for each of its operations.

        with dialframe.Client(base_url="https://...", api_key="svc_test_...") as client:
            client.me()
            client.calls.list(direction="outbound").to_frame()

    Threads may share a client, and it works inside a running event loop, which it does not use.
    Reads are repeated after a broken connection, an outage or a rate refusal; writes too, with
    the same idempotency key and the same bytes, after they were put down in the write journal.

    Every method raises `ConfigError` for an argument out of the contract's bounds, before
    anything is sent; `TransportError` when no answer comes; a family of `ApiError` when the
    service refuses; `ContractError` when an answer is not what the contract says; and a write
    `StoreError` when the journal cannot be written. See `dialframe.errors`.

    Attributes:
        leads: Contacts.
        campaigns: Campaigns.
        calls: Call records and click-to-call.
        webhooks: Webhook endpoints.
        events: Webhook events.
        dnc: Do-Not-Call.
        consents: Evidence of consent.
        callbacks: Callbacks.
        appointments: Appointments.
        sms: Text messages.
        whatsapp: WhatsApp messages.
        reports: Reports.
        writes: Writes whose outcome is open.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        deadline_s: float | None = None,
        max_attempts: int = DEFAULT_ATTEMPTS,
        transport: Transport | None = None,
        limiter: RateLimiter | Shared | None = SHARED,
        journal: Path | None = None,
        clock: Clock = SYSTEM,
    ) -> None:
        """Make a client; nothing is sent and nothing is written yet.

        Args:
            base_url: The service's address; paths of the contract follow it.
            api_key: The key. A live key goes over https only, this machine excepted.
            timeout_s: Seconds that connecting, sending, the head of an answer, or any further
                wait for bytes may take; an answer that drips in for longer counts as none.
            deadline_s: Seconds for a whole call with its repetitions, None for no end.
            max_attempts: How often a request may be sent, 1 for never again.
            transport: What carries requests instead of the network; the client closes it.
            limiter: The rate limit: by default one for all clients of this user on this machine
                with the same address and key; None for none.
            journal: Folder of the write journal, None for the platform's state folder.
            clock: The clock, in tests.

        Raises:
            ConfigError: The address, the key or a number is missing or wrong.
        """
        where = address.parse(base_url)
        if not api_key or not api_key.strip():
            raise ConfigError(MISSING)
        credential = Credential(api_key.strip(), where)
        # The same bounds as for a single call.
        Options(timeout_s=timeout_s, deadline_s=deadline_s, max_attempts=max_attempts)
        carrier = HttpxTransport(where, credential) if transport is None else transport
        chosen = (
            limiter.of(credential.account, where.url) if isinstance(limiter, Shared) else limiter
        )
        settings = _Settings(
            where.url, timeout_s, deadline_s, max_attempts, journal, chosen is not None,
            credential.account, credential.shown,
        )  # fmt: skip
        self._join(settings, carrier, chosen, clock)

    def _join(
        self,
        settings: _Settings,
        transport: Transport,
        limiter: RateLimiter | None,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._transport = transport
        records = Journal(settings.journal, settings.account)
        sender = self._sender = Sender(
            Conversation(transport, limiter, clock),
            records,
            clock,
            Defaults(settings.timeout_s, settings.deadline_s, settings.max_attempts),
        )
        # A list that is still walked needs the connections though its client is forgotten.
        weakref.finalize(sender, transport.close)
        self.leads = Leads(sender)
        self.campaigns = Campaigns(sender)
        self.calls = Calls(sender)
        self.webhooks = Webhooks(sender)
        self.events = Events(sender)
        self.dnc = Dnc(sender)
        self.consents = Consents(sender)
        self.callbacks = Callbacks(sender)
        self.appointments = Appointments(sender)
        self.sms = Sms(sender)
        self.whatsapp = WhatsApp(sender)
        self.reports = Reports(sender)
        self.writes = Writes(records, clock, sender.resend)

    @property
    def base_url(self) -> str:
        """The service's address, without a slash at its end."""
        return self._settings.base_url

    def me(self, *, options: Options | None = None) -> Me:
        """Read who the key belongs to and what it may do.

        Args:
            options: Options of this call.
        """
        return self._sender.ask(operations.ME, Empty, options)

    def send(
        self, operation: Operation[Req, Res], request: Req, options: Options | None = None
    ) -> Res:
        """The answer of any operation to a request; what the methods above all go through.

        Args:
            operation: A row of `dialframe.contract.operations`.
            request: Its request.
            options: Options of this call.
        """
        return self._sender.ask(operation, lambda: request, options)

    def send_raw(
        self, operation: Operation[Req, Res], request: Req, options: Options | None = None
    ) -> Answered[Res]:
        """The same with status, headers, request id, ETag, attempts, and the JSON as it came.

        Args:
            operation: A row of `dialframe.contract.operations`.
            request: Its request.
            options: Options of this call.
        """
        return self._sender.ask_raw(operation, lambda: request, options)

    def correlation(self, correlation_id: str) -> AbstractContextManager[None]:
        """Send `X-Correlation-ID` with every call made inside the `with` block, in this thread.

        Args:
            correlation_id: 1-128 characters of `A-Z a-z 0-9 . _ : -`.
        """
        return per_call.correlation(correlation_id)

    def lane(self, name: Lane) -> AbstractContextManager[None]:
        """Take turns under the rate limit in a lane, inside the `with` block and in this thread.

        Args:
            name: `interactive`, which never stands behind the others; `bulk`; or `spare`, which only
                gets what bulk leaves over.
        """
        return lanes.lane(name)

    def etag_of(self, value: Answer) -> str | None:
        """The ETag that a value of this client came with, or None."""
        return self._sender.etags.of(value)

    def novelties(self) -> list[novelties.Novelty]:
        """Values of open sets that the contract does not name, with how often each came."""
        return self._sender.novelties.seen()

    def with_key(self, api_key: str) -> Client:
        """A client of the same address and settings with another key.

        Also the way to give a key to a client that came through a pickle, which holds none.
        """
        own = self._settings
        return Client(
            own.base_url,
            api_key,
            timeout_s=own.timeout_s,
            deadline_s=own.deadline_s,
            max_attempts=own.max_attempts,
            limiter=SHARED if own.limited else None,
            journal=own.journal,
        )

    def close(self) -> None:
        """Let go of every connection; calling afterwards is an error."""
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<dialframe.Client base_url={self.base_url!r} key={self._settings.shown}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _without_key, (self._settings,)


class _Keyless:
    """The transport of a client that came through a pickle: it says what is missing."""

    def send(self, request: PlannedRequest, *, timeout_s: float) -> Reply:
        del timeout_s
        raise ConfigError(
            f"{request.operation}: this client came through a pickle, which holds no key: use "
            "client.with_key(...)"
        )

    def close(self) -> None:
        pass


def _without_key(settings: _Settings) -> Client:
    client = Client.__new__(Client)
    client._join(settings, _Keyless(), None, SYSTEM)  # noqa: SLF001 - its own constructor
    return client
