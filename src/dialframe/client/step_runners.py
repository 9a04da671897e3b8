"""What a call does to the world, as values, and the two runners that do it: in a thread, in an event loop.

A call is a generator. It yields a step (send this, give me the next bytes, wait so long, touch the
disk), is handed what came of it or has the error thrown into it, and returns its result. So planning,
repeating, journalling and reading are written once, and only the last line differs between
`Client` and `AsyncClient`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from dialframe.client.client_settings import Clock
from dialframe.client.rate_limiter import Lane, RateLimiter, Turn
from dialframe.client.request_building import PlannedRequest
from dialframe.client.transport import AsyncTransport, Transport

if TYPE_CHECKING:
    from dialframe.client.response_reading import Answered

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request once; gives the reply, whose body is not read yet."""

    request: PlannedRequest
    timeout_s: float


@dataclass(frozen=True, slots=True)
class NextBytes:
    """Wait for more of a body (`reply.chunks()`); gives bytes, or None at its end."""

    chunks: Any


@dataclass(frozen=True, slots=True)
class Close:
    """Close a reply's connection."""

    reply: Any


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class TakeTurn:
    """Wait for a turn under the rate limit; gives it, or None if there is none until `latest_s`."""

    lane: Lane
    latest_s: float


@dataclass(frozen=True, slots=True)
class OnDisk:
    """Do what may block on a disk; gives its result. An event loop does it in a thread."""

    work: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Note:
    """An answer with everything that came along, for `with_raw_response`."""

    answered: Answered[Any]


Step: TypeAlias = Send | NextBytes | Close | Sleep | TakeTurn | OnDisk | Note
#: A call in steps, with its result at the end.
Steps: TypeAlias = Generator[Step, Any, T]


class Sync:
    """Runs calls in the caller's thread; any number of threads may share it."""

    def __init__(self, transport: Transport, limiter: RateLimiter | None, clock: Clock) -> None:
        """Join a transport, a rate limit and a clock.

        Args:
            transport: What carries requests.
            limiter: The rate limit; None for none.
            clock: The time, and how to wait.
        """
        self.transport = transport
        self.limiter = limiter
        self._clock = clock

    def run(self, steps: Steps[T]) -> T:
        """Run a call to its end.

        Args:
            steps: The call.

        Returns:
            Its result.
        """
        return self.run_noting(steps)[0]

    def run_noting(self, steps: Steps[T]) -> tuple[T, Answered[Any] | None]:
        """Run a call to its end, for its result and what came along.

        Args:
            steps: The call.

        Returns:
            Its result, and its last answer with everything that came along, or None where none
            came.
        """
        noted: Answered[Any] | None = None
        try:
            step = next(steps)
            while True:
                if type(step) is Note:
                    noted = step.answered
                    step = steps.send(None)
                    continue
                try:
                    result = self._perform(step)
                except BaseException as error:
                    # Whatever it is, Ctrl-C too: the steps have connections to close.
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration as end:
            return end.value, noted

    def _perform(self, step: Step) -> Any:
        match step:
            case NextBytes(chunks):
                return next(chunks, None)
            case Send(request, timeout_s):
                return self.transport.send(request, timeout_s=timeout_s)
            case Close(reply):
                return reply.close()
            case TakeTurn(lane, latest_s):
                return self._take_turn(lane, latest_s)
            case OnDisk(work):
                return work()
            case Sleep(seconds):
                return self._clock.sleep(seconds)
        raise TypeError(step)

    def _take_turn(self, lane: Lane, latest_s: float) -> Turn | None:
        if self.limiter is None:
            return Turn(self._clock.monotonic(), 0)
        # One thread of a lane asks at a time; the others would all be told the same instant.
        with self.limiter.line(lane, latest_s - self._clock.monotonic()) as moved_up:
            while moved_up:
                now_s = self._clock.monotonic()
                turn = self.limiter.reserve(now_s, latest_s=latest_s, lane=lane)
                if turn is None:
                    return None
                if turn.at_s <= now_s:
                    return turn
                self._clock.sleep(turn.at_s - now_s)
                if self.limiter.stands(turn):
                    return turn
        return None


class Async:
    """Runs calls as coroutines; what is cancelled is cancelled at its step, with its connection closed."""

    def __init__(
        self, transport: AsyncTransport, limiter: RateLimiter | None, clock: Clock
    ) -> None:
        """Join a transport, a rate limit (None for none) and a clock."""
        self.transport = transport
        self.limiter = limiter
        self._clock = clock

    async def run(self, steps: Steps[T]) -> T:
        """The result of a call."""
        return (await self.run_noting(steps))[0]

    async def run_noting(self, steps: Steps[T]) -> tuple[T, Answered[Any] | None]:
        """The result of a call, and its last answer with everything that came along."""
        noted: Answered[Any] | None = None
        try:
            step = next(steps)
            while True:
                if type(step) is Note:
                    noted = step.answered
                    step = steps.send(None)
                    continue
                try:
                    result = await self._perform(step)
                except BaseException as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(result)
        except StopIteration as end:
            return end.value, noted

    async def _perform(self, step: Step) -> Any:
        match step:
            case NextBytes(chunks):
                return await anext(chunks, None)
            case Send(request, timeout_s):
                return await self.transport.send(request, timeout_s=timeout_s)
            case Close(reply):
                return await reply.close()
            case TakeTurn(lane, latest_s):
                return await self._take_turn(lane, latest_s)
            case OnDisk(work):
                # A commit that waits for the disk would hold up every other call of the loop.
                return await asyncio.to_thread(work)
            case Sleep(seconds):
                return await self._clock.sleep_async(seconds)
        raise TypeError(step)

    async def _take_turn(self, lane: Lane, latest_s: float) -> Turn | None:
        # The bucket's file is locked for microseconds: less than handing it to a thread would cost.
        while self.limiter is not None:
            now_s = self._clock.monotonic()
            turn = self.limiter.reserve(now_s, latest_s=latest_s, lane=lane)
            if turn is None:
                return None
            if turn.at_s <= now_s:
                return turn
            await self._clock.sleep_async(turn.at_s - now_s)
            if self.limiter.stands(turn):
                return turn
        return Turn(self._clock.monotonic(), 0)


class RawSync:
    """Runs calls like `Sync` and gives each result inside its last answer."""

    def __init__(self, runner: Sync) -> None:
        """Wrap a runner."""
        self.runner = runner

    def run(self, steps: Steps[T]) -> Answered[T]:
        """The last answer of a call, its result as `.value`."""
        return _wrapped(*self.runner.run_noting(steps))


class RawAsync:
    """Runs calls like `Async` and gives each result inside its last answer."""

    def __init__(self, runner: Async) -> None:
        """Wrap a runner."""
        self.runner = runner

    async def run(self, steps: Steps[T]) -> Answered[T]:
        """The last answer of a call, its result as `.value`."""
        return _wrapped(*await self.runner.run_noting(steps))


def _wrapped(result: T, answered: Answered[Any] | None) -> Answered[T]:
    if answered is None:
        # A list of results, or one that was read from the journal.
        raise TypeError("this call has no single answer: use it without with_raw_response")
    # What the method makes of the answer: of a Do-Not-Call check one result for each number.
    return replace(answered, value=result)
