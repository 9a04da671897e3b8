"""Webhook deliveries into the store: the receiver joined to an account; prints nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial

from dialframe.account import Account
from dialframe.frames import EVENTS
from dialframe.webhooks import Delivery, receiver
from dialframe.webhooks.receiver import OnEvent, OnTrouble
from dialframe.webhooks.verifying import record


def keep(account: Account, delivery: Delivery) -> bool:
    """Write a delivery down durably, in one transaction.

    Returns:
        Whether its event is new here: neither stored already nor about a forgotten number.

    Raises:
        StoreError: The disk refuses; nothing was written, and the service has to deliver it again.
    """
    added = account.store.append(
        EVENTS, [record(delivery)], observed_at=delivery.received_at, request_id=None
    )
    return bool(added.versions or added.quarantined)


def listen(
    account: Account,
    *,
    secrets: Sequence[str] | str,
    now: Callable[[], datetime],
    on_event: OnEvent,
    on_trouble: OnTrouble,
    host: str = receiver.HOST,
    port: int = receiver.PORT,
    path: str = receiver.PATH,
) -> receiver.Receiver:
    """Receive an account's deliveries until the receiver is closed; `account.events()` has them then.

    Args:
        account: Whose store keeps the events.
        secrets: The endpoint's signing secret; during a rotation both.
        now: The clock, with a zone.
        on_event: Told each new event once, after it was stored.
        on_trouble: Told of deliveries that were not accepted.
        host: Address to listen at.
        port: Port to listen at; 0 takes a free one.
        path: Path of deliveries.

    Raises:
        ConfigError: There is no secret, or the path or the port cannot be used.
    """
    return receiver.start(
        partial(keep, account),
        secrets=secrets,
        now=now,
        on_event=on_event,
        on_trouble=on_trouble,
        host=host,
        port=port,
        path=path,
    )
