"""The client: every operation of the service as a typed method."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from ssl import SSLContext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dialframe.client import rate_limiter as lanes
from dialframe.client import request_options as per_call
from dialframe.client.connection import MISSING_KEY, Credential, parse_address
from dialframe.client.journal import Journal
from dialframe.client.network import Network
from dialframe.client.open_writes import Writes
from dialframe.client.rate_limiter import SHARED, Lane, RateLimiter, Shared
from dialframe.client.request_building import PlannedRequest
from dialframe.client.request_options import SYSTEM, Clock, Options
from dialframe.client.resources import Resource, ShellT, operation
from dialframe.client.resources.call_methods import Calls
from dialframe.client.resources.contact_methods import Consents, Dnc, Sms, WhatsApp
from dialframe.client.resources.lead_methods import Campaigns, Leads, Reports
from dialframe.client.resources.scheduling_methods import Appointments, Callbacks
from dialframe.client.resources.webhook_methods import Events, Webhooks
from dialframe.client.response_reading import Answered
from dialframe.client.retry_loop import RetryLoop
from dialframe.client.send_operation import Defaults, Req, Sender
from dialframe.client.step_runners import RawSync, Steps, Sync
from dialframe.client.tolerant_json import Novelty
from dialframe.client.transport import HttpxTransport, Reply, Transport
from dialframe.config import DEFAULT_TIMEOUT_S, Settings
from dialframe.contract import operations
from dialframe.contract.models.base_models import Answer, Empty
from dialframe.contract.models.message_models import Me
from dialframe.contract.operations import Operation
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    import httpx

DEFAULT_ATTEMPTS = 4

Res = TypeVar("Res", bound=Answer)
Verify = bool | str | Path | SSLContext
Cert = str | Path | tuple[str, ...]


class Operations(Resource[ShellT]):
    """Every operation of the service, one typed method each.

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

    def __init__(self, sender: Sender, shell: ShellT) -> None:
        super().__init__(sender, shell)
        self.leads = Leads(sender, shell)
        self.campaigns = Campaigns(sender, shell)
        self.calls = Calls(sender, shell)
        self.webhooks = Webhooks(sender, shell)
        self.events = Events(sender, shell)
        self.dnc = Dnc(sender, shell)
        self.consents = Consents(sender, shell)
        self.callbacks = Callbacks(sender, shell)
        self.appointments = Appointments(sender, shell)
        self.sms = Sms(sender, shell)
        self.whatsapp = WhatsApp(sender, shell)
        self.reports = Reports(sender, shell)
        self.writes = Writes(sender, shell)

    @operation
    def me(self, *, options: Options | None = None) -> Steps[Me]:
        """Read who the key belongs to and what it may do.

        Args:
            options: Options of this call.
        """
        return self._sender.ask(operations.ME, Empty, options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a client is made of; a pickle of it holds neither the key nor the network's secrets.

    Attributes:
        limited: Whether it keeps to a rate limit.
        account: What the write journal and the rate limit are kept apart by.
        shown: The key as it is shown.
    """

    base_url: str
    timeout_s: float
    deadline_s: float | None
    max_attempts: int
    journal: Path | None
    limited: bool
    account: str = ""
    shown: str = "none"
    network: Network | None = field(default=None, repr=False)

    @property
    def defaults(self) -> Defaults:
        """What holds for calls whose options say nothing."""
        return Defaults(self.timeout_s, self.deadline_s, self.max_attempts)

    def sender(self, limiter: RateLimiter | None, clock: Clock) -> Sender:
        """What plans, journals, sends and reads for a client of these parts."""
        loop = RetryLoop(limiter, clock)
        return Sender(loop, Journal(self.journal, self.account), clock, self.defaults)

    def changed(
        self, timeout_s: float | None, deadline_s: float | None, max_attempts: int | None
    ) -> Made:
        """The same with other defaults, each within the bounds of a single call's."""
        Options(timeout_s=timeout_s, deadline_s=deadline_s, max_attempts=max_attempts)
        return replace(
            self,
            timeout_s=timeout_s or self.timeout_s,
            deadline_s=deadline_s or self.deadline_s,
            max_attempts=max_attempts or self.max_attempts,
        )


def parts_of(
    base_url: str | None,
    api_key: str | None,
    environment: Mapping[str, str] | None,
    network: Network,
    limiter: RateLimiter | Shared | None,
    **numbers: Any,
) -> tuple[Made, Credential, Any, RateLimiter | None]:
    """The parts of a client from its arguments and the environment."""
    variables = os.environ if environment is None else environment
    settings = Settings.from_environment(variables, base_url=base_url, api_key=api_key)
    address = parse_address(settings.base_url, called=settings.called("base_url"))
    if not settings.api_key:
        raise ConfigError(MISSING_KEY)
    credential = Credential(settings.api_key, address, called=settings.called("api_key"))
    # The same bounds as for a single call.
    Options(**{name: numbers[name] for name in ("timeout_s", "deadline_s", "max_attempts")})
    chosen = (
        limiter.of(credential.account, address.url) if isinstance(limiter, Shared) else limiter
    )
    made = Made(
        base_url=address.url,
        limited=chosen is not None,
        account=credential.account,
        shown=credential.shown,
        network=network,
        **numbers,
    )
    return made, credential, address, chosen


class Client(Operations[Sync]):
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
    `StoreError` when the journal cannot be written. See `dialframe.errors`. Its operations are
    listed at `Operations`.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        deadline_s: float | None = None,
        max_attempts: int = DEFAULT_ATTEMPTS,
        proxy: str | None = None,
        verify: Verify = True,
        cert: Cert | None = None,
        headers: Mapping[str, str] | None = None,
        http_client: httpx.Client | None = None,
        transport: Transport | None = None,
        limiter: RateLimiter | Shared | None = SHARED,
        journal: Path | None = None,
        clock: Clock = SYSTEM,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Make a client; nothing is sent and nothing is written yet.

        Args:
            base_url: The service's address; paths of the contract follow it. None for
                `DIALFRAME_BASE_URL`.
            api_key: The key. A live key goes over https only, this machine excepted. None for
                `DIALFRAME_API_KEY`.
            timeout_s: Seconds that connecting, sending, the head of an answer, or any further
                wait for bytes may take; an answer that drips in for longer counts as none.
            deadline_s: Seconds for a whole call with its repetitions, None for no end.
            max_attempts: How often a request may be sent, 1 for never again.
            proxy: URL of a proxy (http, https, socks5); None for the environment's.
            verify: Whether the service's certificate is checked; or a file or folder of
                authorities, or an `ssl.SSLContext`.
            cert: A client certificate: its file, or a tuple of file, key file and password.
            headers: Headers of your own for every request.
            http_client: A client of httpx to send with, as it is: its proxy, certificates, hooks. It
                stays yours to close; it is asked for no redirects and no authentication.
            transport: What carries requests instead of the network; the client closes it.
            limiter: The rate limit: by default one for all clients of this user on this machine
                with the same address and key; None for none.
            journal: Folder of the write journal, None for the platform's state folder.
            clock: The clock, in tests.
            environment: Variables instead of the process's.

        Raises:
            ConfigError: The address, the key or a number is missing or wrong.
        """
        network = Network(proxy=proxy, verify=verify, cert=cert, headers=headers or {})
        made, credential, address, chosen = parts_of(
            base_url, api_key, environment, network, limiter, timeout_s=timeout_s,
            deadline_s=deadline_s, max_attempts=max_attempts, journal=journal,
        )  # fmt: skip
        carrier = transport or HttpxTransport(
            address, credential, network=network, http_client=http_client
        )
        self._join(made, made.sender(chosen, clock), Sync(carrier, chosen, clock))

    def _join(self, made: Made, sender: Sender, shell: Sync) -> None:
        super().__init__(sender, shell)
        self._made = made
        # A list that is still walked needs the connections though its client is forgotten.
        weakref.finalize(shell, shell.transport.close)

    @property
    def base_url(self) -> str:
        """The service's address, without a slash at its end."""
        return self._made.base_url

    @property
    def with_raw_response(self) -> Operations[RawSync]:
        """The same methods, each giving its result as `.value` of the whole answer (`Answered`).

        So `client.with_raw_response.leads.get(lead_id).etag` is the ETag of a lead.
        """
        return Operations(self._sender, RawSync(self._shell))

    def with_options(
        self,
        *,
        timeout_s: float | None = None,
        deadline_s: float | None = None,
        max_attempts: int | None = None,
    ) -> Client:
        """The same client with other defaults; connections are shared, and closed together.

        Args:
            timeout_s: As for `Client`; None leaves it as it is.
            deadline_s: As for `Client`; None leaves it as it is.
            max_attempts: As for `Client`; None leaves it as it is.

        Returns:
            A client beside this one.

        Example:
            >>> client = Client("https://service.example", "svc_test_cred_secret")
            >>> patient = client.with_options(timeout_s=120, max_attempts=10)
        """
        made = self._made.changed(timeout_s, deadline_s, max_attempts)
        other = Client.__new__(Client)
        Operations.__init__(other, self._sender.with_defaults(made.defaults), self._shell)
        other._made = made  # noqa: SLF001 - its own constructor
        return other

    def send(
        self, operation: Operation[Req, Res], request: Req, options: Options | None = None
    ) -> Res:
        """Send any operation; what the methods above all go through.

        Args:
            operation: A row of `dialframe.contract.operations`.
            request: Its request.
            options: Options of this call.

        Returns:
            The answer, checked against the operation's shape.

        Raises:
            ApiError: The service refused.
            TransportError: No answer came.
            ContractError: The answer is not what the contract shows.
        """
        return self._shell.run(self._sender.ask(operation, lambda: request, options))

    def send_raw(
        self, operation: Operation[Req, Res], request: Req, options: Options | None = None
    ) -> Answered[Res]:
        """Send any operation, as `send` does, for an answer with everything that came along.

        Args:
            operation: A row of `dialframe.contract.operations`.
            request: Its request.
            options: Options of this call.

        Returns:
            The answer with status, headers, request id, ETag, attempts, and the JSON as it came.

        Raises:
            ApiError: The service refused.
            TransportError: No answer came.
            ContractError: The answer is not what the contract shows.
        """
        return self._shell.run(self._sender.ask_raw(operation, lambda: request, options))

    def correlation(self, correlation_id: str) -> AbstractContextManager[None]:
        """Send `X-Correlation-ID` with every call made inside the `with` block, in this thread.

        Args:
            correlation_id: 1-128 characters of `A-Z a-z 0-9 . _ : -`.

        Returns:
            A context manager.

        Raises:
            ConfigError: The id has other characters, or is too long.
        """
        return per_call.correlation(correlation_id)

    def lane(self, name: Lane) -> AbstractContextManager[None]:
        """Take turns under the rate limit in a lane, inside the `with` block and in this thread.

        Args:
            name: `interactive`, which never stands behind the others; `bulk`; or `spare`, which only
                gets what bulk leaves over.

        Returns:
            A context manager.
        """
        return lanes.lane(name)

    def etag_of(self, value: Answer) -> str | None:
        """The ETag that a value of this client came with.

        Args:
            value: An answer, the same object that a method returned.

        Returns:
            The ETag, or None where there was none.
        """
        return self._sender.etags.of(value)

    def novelties(self) -> list[Novelty]:
        """Values of open sets that the contract does not name.

        Returns:
            Each with how often it came.
        """
        return self._sender.novelties.seen()

    def with_key(self, api_key: str) -> Client:
        """A client of the same address and settings with another key.

        Also the way to give a key to a client that came through a pickle, which holds neither a key
        nor proxy, certificates and headers.

        Args:
            api_key: The other key.

        Returns:
            The new client; this one stays open.

        Raises:
            ConfigError: The key is malformed, or a live key would go over http.
        """
        own, network = self._made, self._made.network or Network()
        return Client(
            own.base_url,
            api_key,
            timeout_s=own.timeout_s,
            deadline_s=own.deadline_s,
            max_attempts=own.max_attempts,
            proxy=network.proxy,
            verify=network.verify,
            cert=network.cert,
            headers=network.headers,
            http_client=self._shell.transport.http_client
            if isinstance(self._shell.transport, HttpxTransport)
            else None,
            limiter=SHARED if own.limited else None,
            journal=own.journal,
        )

    def close(self) -> None:
        """Close every connection; calling afterwards is an error."""
        self._shell.transport.close()

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
        return f"<dialframe.Client base_url={self.base_url!r} key={self._made.shown}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _without_key, (replace(self._made, network=None),)


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


def _without_key(made: Made) -> Client:
    client = Client.__new__(Client)
    client._join(made, made.sender(None, SYSTEM), Sync(_Keyless(), None, SYSTEM))  # noqa: SLF001 - its own constructor
    return client
