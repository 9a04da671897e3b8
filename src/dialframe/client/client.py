"""The clients, in a thread and in an event loop: every operation of the service as a typed method."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from ssl import SSLContext
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from dialframe.client import client_settings
from dialframe.client.client_settings import (
    MISSING_KEY,
    SYSTEM,
    Clock,
    Credential,
    Options,
    parse_address,
)
from dialframe.client.open_writes import Writes
from dialframe.client.rate_limiter import SHARED, RateLimiter, Shared
from dialframe.client.refusals import Policy
from dialframe.client.resources import Resource, ShellT, sent
from dialframe.client.resources.call_and_campaign_methods import Calls, Campaigns, Reports
from dialframe.client.resources.dnc_and_message_methods import (
    Appointments,
    Callbacks,
    Consents,
    Dnc,
    Sms,
    WhatsApp,
)
from dialframe.client.resources.lead_methods import Leads
from dialframe.client.resources.webhook_methods import Events, Webhooks
from dialframe.client.response_reading import Answered
from dialframe.client.send_operation import Async, Req, Sender, Sync
from dialframe.client.transport import (
    AsyncHttpxTransport,
    AsyncTransport,
    HttpxTransport,
    Network,
    Transport,
)
from dialframe.client.write_journal import Journal
from dialframe.config import DEFAULT_TIMEOUT_S, Settings
from dialframe.contract import operations
from dialframe.contract.models.base_models import Answer
from dialframe.contract.models.dnc_and_message_models import Me
from dialframe.contract.operations import Operation
from dialframe.errors import ConfigError
from dialframe.evidence import Record

if TYPE_CHECKING:
    import httpx  # noqa: F401 - in the bases of the clients, as text

# With the waits between them, an outage of some three seconds is outlived without a word.
DEFAULT_ATTEMPTS = 4

Res = TypeVar("Res", bound=Answer)
TransportT = TypeVar("TransportT")
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
        # Not of the contract: what this machine has noted of its own writes.
        self.writes = Writes(sender, shell)

    # Authentication 6: all that a key without scopes may call.
    @sent(operations.ME)
    def me(self, *, options: Options | None = None) -> Me:
        """Read who the key belongs to and what it may do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What a client is made of, but for the key.

    Attributes:
        policy: How long and how often, for calls whose options say nothing.
        limited: Whether it keeps to a rate limit.
        account: What the write journal and the rate limit are kept apart by.
        shown: The key as it is shown.
    """

    base_url: str
    policy: Policy
    journal: Path | None
    limited: bool
    account: str
    shown: str
    network: Network = field(repr=False)


class _Service(Operations[ShellT], Generic[ShellT, TransportT]):
    """What both clients have in common: all but waiting for an answer."""

    #: Who runs a call, and what carries its requests.
    _kind: ClassVar[Callable[..., Any]]
    _carrier: ClassVar[Callable[..., Any]]

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
        transport: TransportT | None = None,
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
            transport: What carries requests instead of the network; the client closes it.
            limiter: The rate limit: by default one for all clients of this user on this machine
                with the same address and key; None for none.
            journal: Folder of the write journal, which is an evidence log; None for one in the platform's state folder.
            clock: The clock, in tests.
            environment: Variables instead of the process's.

        Raises:
            ConfigError: The address, the key or a number is missing or wrong.
        """
        # Contract, Authentication: the key goes out in one header, which no header of the caller's may replace.
        network = Network(proxy=proxy, verify=verify, cert=cert, headers=headers or {})
        variables = os.environ if environment is None else environment
        settings = Settings.from_environment(variables, base_url=base_url, api_key=api_key)
        # Errors name the variable that a wrong value came from: what was typed nowhere is hard to find.
        address = parse_address(settings.base_url, called=settings.called("base_url"))
        if not settings.api_key:
            raise ConfigError(MISSING_KEY)
        # Contract, Authentication 1: one key for every request, so it is looked at once, here.
        credential = Credential(settings.api_key, address, called=settings.called("api_key"))
        # The same bounds as for a single call.
        Options(timeout_s=timeout_s, deadline_s=deadline_s, max_attempts=max_attempts)
        # Contract, Limits: the bucket is the key's, whoever holds a client of it.
        if isinstance(limiter, Shared):
            limiter = limiter.of(credential.account)
        made = Made(
            base_url=address.url,
            policy=Policy(timeout_s, deadline_s, max_attempts),
            journal=journal,
            limited=limiter is not None,
            account=credential.account,
            shown=credential.shown,
            network=network,
        )
        # Nothing is connected yet: the first request opens the pool, also in a fork.
        carrier = transport or self._carrier(address, credential, network=network)
        self._join(made, self._kind(carrier, limiter, clock))

    def _join(self, made: Made, shell: ShellT) -> None:
        runner: Any = shell
        journal = Journal(made.journal, made.account)
        super().__init__(Sender(runner, journal, made.policy), shell)
        self._made = made

    @property
    def base_url(self) -> str:
        """The service's address, without a slash at its end."""
        return self._made.base_url

    def with_options(
        self,
        *,
        timeout_s: float | None = None,
        deadline_s: float | None = None,
        max_attempts: int | None = None,
    ) -> Self:
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
        # The bounds of a single call's options are those of a client's settings.
        options = Options(timeout_s=timeout_s, deadline_s=deadline_s, max_attempts=max_attempts)
        policy = self._made.policy.of_call(options)
        # Not through `__init__`: it would ask for the key, which nobody but the transport holds.
        other = type(self).__new__(type(self))
        other._made = replace(self._made, policy=policy)  # noqa: SLF001 - its own kind
        Operations.__init__(other, self._sender.with_policy(policy), self._shell)
        return other

    def keep_evidence(self, learn: Callable[[list[Record]], object]) -> None:
        """Give every answer of a Do-Not-Call check to whoever keeps it; an account does so with its client.

        Args:
            learn: Takes records of evidence; it returns when they are on the disk.
        """
        self._sender.learn = learn

    def correlation(self, correlation_id: str) -> AbstractContextManager[None]:
        """Send `X-Correlation-ID` with every call made inside the `with` block, in this thread or task.

        Args:
            correlation_id: 1-128 characters of `A-Z a-z 0-9 . _ : -`.

        Returns:
            A context manager.

        Raises:
            ConfigError: The id has other characters, or is too long.
        """
        return client_settings.correlation(correlation_id)

    def etag_of(self, value: Answer) -> str | None:
        """The ETag that a value of this client came with.

        Args:
            value: An answer, the same object that a method returned.

        Returns:
            The ETag, or None where there was none.
        """
        return self._sender.etags.of(value)

    def with_key(self, api_key: str) -> Self:
        """A client of the same address and settings with another key.

        Args:
            api_key: The other key.

        Returns:
            The new client; this one stays open.

        Raises:
            ConfigError: The key is malformed, or a live key would go over http.
        """
        made, network = self._made, self._made.network
        return type(self)(
            made.base_url,
            api_key,
            timeout_s=made.policy.timeout_s,
            deadline_s=made.policy.deadline_s,
            max_attempts=made.policy.max_attempts,
            proxy=network.proxy,
            verify=network.verify,
            cert=network.cert,
            headers=network.headers,
            # A limiter of one's own counted for the other key.
            limiter=SHARED if made.limited else None,
            journal=made.journal,
        )

    def __repr__(self) -> str:
        return (
            f"<dialframe.{type(self).__name__} base_url={self.base_url!r} key={self._made.shown}>"
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Contract, Authentication 2: a key that stands somewhere else counts as exposed.
        raise ConfigError("a client holds a key and is not pickled: make one in the other process")


class Client(_Service[Sync, Transport]):
    """The service, with one method for each of its operations.

        with dialframe.Client(base_url="https://...", api_key="svc_test_...") as client:
            client.me()
            client.calls.list(direction="outbound").to_frame()

    Threads may share a client, and it works inside a running event loop, which it does not use.
    Reads are repeated after a broken connection, an outage or a rate refusal; writes too, with
    the same idempotency key and the same bytes, after they were put down in the write journal.
    A client of its own keeps no evidence: what it checks or asks not to be called is not known to screenings,
    audits and the gate. That of an account (`dialframe.connect(...).client`) keeps it.

    Every method raises `ConfigError` for an argument out of the contract's bounds, before
    anything is sent; `TransportError` when no answer comes; a family of `ApiError` when the
    service refuses; `ContractError` when an answer is not what the contract says; and a write
    `StoreError` when the journal cannot be written. See `dialframe.errors`. Its operations are
    listed at `Operations`.
    """

    _kind, _carrier = Sync, HttpxTransport

    def _join(self, made: Made, shell: Sync) -> None:
        super()._join(made, shell)
        # A list that is still walked needs the connections though its client is forgotten.
        weakref.finalize(shell, shell.transport.close)

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

    def close(self) -> None:
        """Close every connection; calling afterwards is an error."""
        # What `with_options` made shares these connections.
        self._shell.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()


class AsyncClient(_Service[Async, AsyncTransport]):
    """The service in an event loop (asyncio): the methods of `Client` as coroutines.

        import asyncio

        async def count() -> int:
            async with dialframe.AsyncClient() as client:
                return len([call async for call in client.calls.list(direction="outbound")])

        asyncio.run(count())

    Arguments, results, errors, repetition, the rate limit and the write journal are those of
    `Client`. A call that is cancelled lets its connection go; a write among them stays pending in
    the journal (`await client.writes.pending()`), because it may have happened. A client may be used
    in one loop after another, which then has connections of its own.
    """

    # No finalizer as in `Client`: connections of a loop that is over cannot be closed any more.
    _kind, _carrier = Async, AsyncHttpxTransport

    async def send(
        self, operation: Operation[Req, Res], request: Req, options: Options | None = None
    ) -> Res:
        """Send any operation, as `Client.send` does."""
        return await self._shell.run(self._sender.ask(operation, lambda: request, options))

    async def send_raw(
        self, operation: Operation[Req, Res], request: Req, options: Options | None = None
    ) -> Answered[Res]:
        """Send any operation, for an answer with everything that came along: `Client.send_raw`."""
        return await self._shell.run(self._sender.ask_raw(operation, lambda: request, options))

    async def aclose(self) -> None:
        """Close every connection; calling afterwards is an error."""
        await self._shell.transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *ended: object) -> None:
        await self.aclose()
