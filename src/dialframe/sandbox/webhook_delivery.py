"""Delivers webhook events by the sandbox's clock (contract, Events: Delivery).

The only place of the sandbox that sends anything, and it sends to receivers on this machine alone:
an endpoint elsewhere gets nothing, which counts as no answer.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from dialframe.contract import limits
from dialframe.contract.models import webhook_models
from dialframe.sandbox.clock import SECOND_US
from dialframe.sandbox.dialer import automatic_dialing
from dialframe.sandbox.world import events
from dialframe.sandbox.world.api_objects import Refusal, Transaction
from dialframe.sandbox.world.runtime_state import World

LOGGER: Final = logging.getLogger("dialframe.sandbox")

MINUTE_US: Final = 60 * SECOND_US
# Deliveries under way side by side; a receiver that hangs holds one place for ten seconds.
AT_ONCE: Final = 16

#: Why an attempt was not made, as `failure_reason`.
ELSEWHERE: Final = "not_sent_off_this_machine"
NO_ANSWER: Final = "no_answer"

_IDLE_S: Final = 5.0
_OPEN: Final = ("pending", "retry_scheduled")


@dataclass(frozen=True, slots=True)
class DueDelivery:
    """A delivery whose time has come."""

    number: int
    client: int
    delivery_id: str
    webhook_id: str
    event_id: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt, ready to be sent.

    Attributes:
        url: Where to, or None where nothing is sent.
        refused: Why the delivery ends without an attempt: its final status and the reason.
    """

    due: DueDelivery
    url: str | None = None
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    refused: tuple[str, str] | None = None


class DeliveryLoop:
    """Looks for what is due whenever somebody stirs, and at the latest when the next thing is."""

    def __init__(self, world: World, pool: ThreadPoolExecutor) -> None:
        self._world = world
        self._pool = pool
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Deliver while inside."""
        stirred = asyncio.Event()
        loop = asyncio.get_running_loop()

        # Called from the threads of the pool: an asyncio event is set from its own loop alone.
        def stir() -> None:
            loop.call_soon_threadsafe(stirred.set)

        self._world.on_stir(stir)
        round_task = asyncio.create_task(self._rounds(stirred))
        try:
            yield
        finally:
            self._world.on_stir(None)
            tasks = [round_task, *self._under_way.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _rounds(self, stirred: asyncio.Event) -> None:
        while True:
            stirred.clear()
            try:
                due_now, wait_s = await asyncio.get_running_loop().run_in_executor(
                    self._pool, lambda: take_due(self._world)
                )
            except sqlite3.Error:
                LOGGER.exception("looking for webhook deliveries failed; trying again")
                # A full disk passes; the loop that delivers must not end with it.
                due_now, wait_s = [], _IDLE_S
            for due in due_now:
                # A slow receiver keeps its delivery due; it must not be sent twice.
                if due.number not in self._under_way:
                    self._under_way[due.number] = asyncio.create_task(self._deliver(due, stirred))
            try:
                async with asyncio.timeout(wait_s):
                    await stirred.wait()
            except TimeoutError:
                pass

    async def _deliver(self, due: DueDelivery, stirred: asyncio.Event) -> None:
        world = self._world
        try:
            async with self._places:
                attempt = await asyncio.get_running_loop().run_in_executor(
                    self._pool, lambda: next_attempt(world, due)
                )
                if attempt is None:
                    return
                status = await _post(attempt)
                await asyncio.get_running_loop().run_in_executor(
                    self._pool, lambda: note_attempt(world, attempt, status)
                )
        except sqlite3.Error:
            LOGGER.exception("delivery %s could not be kept; trying again", due.delivery_id)
        finally:
            del self._under_way[due.number]
            stirred.set()


def take_due(world: World) -> tuple[list[DueDelivery], float]:
    """Deliveries that are due, and how many seconds nothing else will be; plays the clock on the way."""
    played_next_us = automatic_dialing.catch_up(world)
    now_us = world.clock.now_us()
    with world.database.read() as db:
        rows = db.execute(
            "SELECT number, client, id, webhook_id, event_id, attempts FROM deliveries"
            " WHERE next_attempt_at <= ? ORDER BY next_attempt_at LIMIT 100",
            (now_us,),
        )
        due = [DueDelivery(*row) for row in rows]
        (delivery_us,) = db.execute(
            "SELECT min(next_attempt_at) FROM deliveries WHERE next_attempt_at > ?", (now_us,)
        ).fetchone()
    ahead = [at for at in (delivery_us, played_next_us) if at is not None]
    return due, min([_IDLE_S, *(max(0.0, (at - now_us) / SECOND_US) for at in ahead)])


def next_attempt(world: World, due: DueDelivery) -> Attempt | None:
    """The next attempt of a delivery: its endpoint looked at afresh, its body signed now.

    None when it was attempted or cancelled since it was found to be due.
    """
    settings = world.access.settings
    with world.database.read() as db:
        if not _still_due(db, due):
            return None
        tx = Transaction(db, world.clock.now_us(), world.access.service(due.client))
        row = tx.row(
            "SELECT url, enabled, secret, previous_secret, previous_until FROM webhooks"
            " WHERE client = ? AND id = ?",
            due.webhook_id,
        )
        (kind,) = tx.row("SELECT type FROM events WHERE client = ? AND id = ?", due.event_id)
        body = events.envelope(tx, due.event_id)
    # The condition for `cancelled` is not shown (States, Webhook delivery): nobody is there to take it.
    if not settings.webhooks_enabled:
        return Attempt(due, refused=("cancelled", "webhooks_disabled"))
    if row is None or not (row[1] or kind == "webhook.test"):
        return Attempt(due, refused=("cancelled", "endpoint_disabled"))
    url, _, *secrets = row
    try:
        # Endpoints, Webhooks: the URL is checked again before every delivery.
        reach = events.url_reach(url, allow_loopback=settings.allow_loopback_webhooks)
    except Refusal as refusal:
        return Attempt(due, refused=("failed", refusal.code))
    if reach != "loopback":
        return Attempt(due)
    return Attempt(due, url, _headers(world, due, kind, body, secrets), body)


def _headers(
    world: World, due: DueDelivery, kind: str, body: bytes, kept: list[Any]
) -> dict[str, str]:
    current, previous, previous_until = kept
    # Events, Delivery: during a rotation both secrets sign.
    still_valid = previous is not None and world.clock.now_us() < previous_until
    secrets = [current, previous] if still_valid else [current]
    # Signed with real time: a receiver compares it with its own clock, not with the sandbox's.
    signed_s = world.clock.real_s()
    # Events, Delivery: the five headers of each delivery.
    return {
        "Content-Type": "application/json",
        webhook_models.SIGNATURE_HEADER: webhook_models.sign(
            body, timestamp_s=signed_s, secrets=secrets
        ),
        webhook_models.TIMESTAMP_HEADER: str(signed_s),
        webhook_models.EVENT_ID_HEADER: due.event_id,
        webhook_models.EVENT_HEADER: kind,
        webhook_models.DELIVERY_ID_HEADER: due.delivery_id,
    }


def note_attempt(world: World, attempt: Attempt, status: int | None) -> None:
    """Keep what became of an attempt, unless the delivery was cancelled meanwhile."""
    due, attempts = attempt.due, attempt.due.attempts + 1
    with world.database.write() as db:
        if not _still_due(db, due):
            return
        now_us = world.clock.now_us()
        made = {"attempts": attempts, "last_status_code": status, "last_attempt_at": now_us}
        values: dict[str, Any] = {"next_attempt_at": None, **({} if attempt.refused else made)}
        # Contract, Events, Delivery 5: any 2xx within 10 s, else again after 1, 5, 15, 60 and 240
        # minutes. The first attempt is none of the retries: six in all.
        if attempt.refused is not None:
            values["status"], values["failure_reason"] = attempt.refused
        elif status is not None and 200 <= status < 300:
            values |= {"status": "delivered", "delivered_at": now_us}
        elif attempts <= len(limits.WEBHOOK_RETRY_MINUTES):
            wait_us = limits.WEBHOOK_RETRY_MINUTES[attempts - 1] * MINUTE_US
            values |= {"status": "retry_scheduled", "next_attempt_at": now_us + wait_us}
        else:
            reason = NO_ANSWER if status is None else f"answered_{status}"
            reason = ELSEWHERE if attempt.url is None else reason
            values |= {"status": "failed", "failure_reason": reason}
        tx = Transaction(db, now_us, world.access.service(due.client))
        tx.update("deliveries", due.delivery_id, **values)


def _still_due(db: sqlite3.Connection, due: DueDelivery) -> bool:
    state, attempts = db.execute(
        "SELECT status, attempts FROM deliveries WHERE number = ?", (due.number,)
    ).fetchone()
    return state in _OPEN and attempts == due.attempts


async def _post(attempt: Attempt) -> int | None:
    """The status that the receiver answered with within ten seconds, or None."""
    if attempt.url is None:
        return None
    import httpx

    # Nothing leaves the machine, and no authority signs certificates of a loopback address.
    verify = False
    try:
        async with (
            asyncio.timeout(limits.WEBHOOK_ANSWER_S),
            httpx.AsyncClient(verify=verify, trust_env=False, timeout=None) as client,  # noqa: S113 - one deadline for all of it
            client.stream(
                "POST", attempt.url, content=attempt.body, headers=attempt.headers
            ) as response,
        ):
            return response.status_code
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError):
        return None
