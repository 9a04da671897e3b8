"""The client for event loops: every operation of the service as a coroutine."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from dialframe.client import rate_limiter as lanes
from dialframe.client import request_options as per_call
from dialframe.client.client import DEFAULT_ATTEMPTS, Cert, Made, Operations, Verify, parts_of
from dialframe.client.network import Network
from dialframe.client.rate_limiter import SHARED, Lane, RateLimiter, Shared
from dialframe.client.request_building import PlannedRequest
from dialframe.client.request_options import SYSTEM, Clock, Options
from dialframe.client.response_reading import Answered
from dialframe.client.send_operation import Req
from dialframe.client.step_runners import Async, RawAsync
from dialframe.client.tolerant_json import Novelty
from dialframe.client.transport import AsyncHttpxTransport, AsyncReply, AsyncTransport
from dialframe.config import DEFAULT_TIMEOUT_S
from dialframe.contract.models.base_models import Answer
from dialframe.contract.operations import Operation
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    import httpx

Res = TypeVar("Res", bound=Answer)


class AsyncClient(Operations[Async]):
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
        http_client: httpx.AsyncClient | None = None,
        transport: AsyncTransport | None = None,
        limiter: RateLimiter | Shared | None = SHARED,
        journal: Path | None = None,
        clock: Clock = SYSTEM,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Make a client as `Client` is made; an `http_client` is one of httpx for event loops.

        Raises:
            ConfigError: The address, the key or a number is missing or wrong.
        """
        network = Network(proxy=proxy, verify=verify, cert=cert, headers=headers or {})
        made, credential, address, chosen = parts_of(
            base_url, api_key, environment, network, limiter, timeout_s=timeout_s,
            deadline_s=deadline_s, max_attempts=max_attempts, journal=journal,
        )  # fmt: skip
        carrier = transport or AsyncHttpxTransport(
            address, credential, network=network, http_client=http_client
        )
        super().__init__(made.sender(chosen, clock), Async(carrier, chosen, clock))
        self._made = made

    @property
    def base_url(self) -> str:
        """The service's address, without a slash at its end."""
        return self._made.base_url

    @property
    def with_raw_response(self) -> Operations[RawAsync]:
        """The same methods, each giving its result inside the whole answer."""
        return Operations(self._sender, RawAsync(self._shell))

    def with_options(
        self,
        *,
        timeout_s: float | None = None,
        deadline_s: float | None = None,
        max_attempts: int | None = None,
    ) -> AsyncClient:
        """The same client with other defaults, as `Client.with_options` gives it."""
        made = self._made.changed(timeout_s, deadline_s, max_attempts)
        other = AsyncClient.__new__(AsyncClient)
        Operations.__init__(other, self._sender.with_defaults(made.defaults), self._shell)
        other._made = made  # noqa: SLF001 - its own constructor
        return other

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

    def correlation(self, correlation_id: str) -> AbstractContextManager[None]:
        """Send `X-Correlation-ID` with every call made inside the `with` block, in this task."""
        return per_call.correlation(correlation_id)

    def lane(self, name: Lane) -> AbstractContextManager[None]:
        """Take turns under the rate limit in a lane, inside the `with` block and in this task."""
        return lanes.lane(name)

    def etag_of(self, value: Answer) -> str | None:
        """The ETag that a value of this client came with, or None where there was none."""
        return self._sender.etags.of(value)

    def novelties(self) -> list[Novelty]:
        """Values of open sets that the contract does not name, each with how often it came."""
        return self._sender.novelties.seen()

    def with_key(self, api_key: str) -> AsyncClient:
        """A client of the same address and settings with another key, as `Client.with_key` gives it."""
        own, network = self._made, self._made.network or Network()
        return AsyncClient(
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
            if isinstance(self._shell.transport, AsyncHttpxTransport)
            else None,
            limiter=SHARED if own.limited else None,
            journal=own.journal,
        )

    async def aclose(self) -> None:
        """Close every connection; calling afterwards is an error."""
        await self._shell.transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<dialframe.AsyncClient base_url={self.base_url!r} key={self._made.shown}>"

    def __reduce__(self) -> tuple[object, ...]:
        return _without_key, (replace(self._made, network=None),)


class _AsyncKeyless:
    """The transport of a client that came through a pickle: it says what is missing."""

    async def send(self, request: PlannedRequest, *, timeout_s: float) -> AsyncReply:
        del timeout_s
        raise ConfigError(
            f"{request.operation}: this client came through a pickle, which holds no key: use "
            "client.with_key(...)"
        )

    async def close(self) -> None:
        pass


def _without_key(made: Made) -> AsyncClient:
    client = AsyncClient.__new__(AsyncClient)
    Operations.__init__(client, made.sender(None, SYSTEM), Async(_AsyncKeyless(), None, SYSTEM))
    client._made = made  # noqa: SLF001 - its own constructor
    return client
