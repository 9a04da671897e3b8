"""What stands between a request and a person: Do-Not-Call, countries, hours, consent, money, caps.

Each function refuses or returns; the order in which they are asked is the caller's.
"""

from __future__ import annotations

import datetime as dt
import math
import sqlite3
from typing import Any, Final, Literal

from dialframe.sandbox import instants, numbers
from dialframe.sandbox.exchange import Ask
from dialframe.sandbox.instants import SECOND_US
from dialframe.sandbox.problems import FieldError, Refusal

Kind = Literal["call", "sms", "callback", "launch"]

#: Estimated spend by kind, in the account's currency; only calls and texts cost anything.
COST: Final[dict[Kind, float]] = {"call": 0.05, "sms": 0.01, "callback": 0.0, "launch": 0.0}

_MINUTE_US: Final = 60 * SECOND_US


def is_listed(db: sqlite3.Connection, client: int, phone: str) -> bool:
    """Whether a number is on the client's Do-Not-Call list."""
    row = db.execute("SELECT 1 FROM dnc WHERE client = ? AND phone = ?", (client, phone))
    return row.fetchone() is not None


def screen_can_run(ask: Ask[Any]) -> None:
    """Refuse while the Do-Not-Call screen is out of order.

    Raises:
        Refusal: `dnc_screen_unavailable`.
    """
    if not ask.caller.settings.dnc_screen_available:
        raise Refusal(
            "dnc_screen_unavailable",
            "The Do-Not-Call screen could not run; nothing was written.",
            retry_after_s=5,
        )


def not_on_dnc(ask: Ask[Any], phone: str, pointer: str) -> None:
    """Refuse a number of the Do-Not-Call list, and any while the list cannot be asked.

    Raises:
        Refusal: `on_dnc` or `dnc_screen_unavailable`.
    """
    screen_can_run(ask)
    if is_listed(ask.db, ask.client, phone):
        problem = FieldError(pointer, "on_dnc")
        raise Refusal("on_dnc", "The number is on the Do-Not-Call list.", errors=(problem,))


def country_reachable(ask: Ask[Any], phone: str, pointer: str) -> None:
    """Refuse a blocked or sanctioned country.

    Raises:
        Refusal: `blocked_country`.
    """
    number = numbers.read(phone)
    if number is not None and number.country in ask.caller.settings.unreachable:
        problem = FieldError(pointer, "blocked_country")
        raise Refusal("blocked_country", "The country is blocked.", errors=(problem,))


def contact_allowed(
    ask: Ask[Any], phone: str, code: Literal["dial_refused", "message_refused"]
) -> None:
    """Refuse outside the calling hours, and without consent where the account asks for it.

    A consent of any channel counts: what the contract's channels are called is not shown.

    Raises:
        Refusal: `code`, with the reason as the first field problem.
    """
    settings = ask.caller.settings
    moment = dt.datetime.fromtimestamp(ask.now_us / SECOND_US, tz=dt.UTC)
    hours = settings.calling_hours
    if hours is not None and not numbers.within_hours(phone, hours, moment):
        problem = FieldError("/to", "outside_calling_hours")
        raise Refusal(code, "Outside the called party's hours.", errors=(problem,))
    if settings.consent_required and not _has_consent(ask, phone):
        problem = FieldError("/to", "consent_missing")
        raise Refusal(code, "No consent is recorded for the number.", errors=(problem,))


def affordable(ask: Ask[Any], kind: Kind) -> None:
    """Refuse when the balance does not cover it.

    Raises:
        Refusal: `insufficient_balance`.
    """
    if ask.caller.settings.balance < COST[kind]:
        raise Refusal("insufficient_balance", "The account's balance is too low.")


def spend(ask: Ask[Any], kind: Kind) -> None:
    """Count one act against the account's caps, or refuse it.

    Raises:
        Refusal: `daily_cap_reached`; for calls and texts also `rate_limit_exceeded` (the cap of a
            minute) and `spend_cap_reached`.
    """
    _within_day(ask)
    if COST[kind]:
        _within_minute(ask)
        _within_spend(ask, COST[kind])
    ask.db.execute(
        "INSERT INTO spent VALUES (?, ?, ?, ?, ?)",
        (ask.client, ask.caller.credential.credential_id, kind, ask.now_us, COST[kind]),
    )


def _has_consent(ask: Ask[Any], phone: str) -> bool:
    found = ask.db.execute(
        "SELECT 1 FROM consents WHERE client = ? AND phone = ?", (ask.client, phone)
    )
    return found.fetchone() is not None


def _since(ask: Ask[Any], start_us: int) -> tuple[int, int, float, int]:
    row: tuple[int, int, float, int] = ask.db.execute(
        "SELECT count(*), coalesce(sum(cost > 0), 0), coalesce(sum(cost), 0),"
        " coalesce(min(CASE WHEN cost > 0 THEN at END), 0) FROM spent WHERE at > ?",
        (start_us,),
    ).fetchone()
    return row


def _midnight(ask: Ask[Any]) -> tuple[int, int]:
    start_us = instants.next_midnight(ask.now_us) - instants.DAY_US
    return start_us - 1, math.ceil((start_us + instants.DAY_US - ask.now_us) / SECOND_US)


def _within_day(ask: Ask[Any]) -> None:
    cap = ask.caller.settings.daily_cap
    start_us, wait_s = _midnight(ask)
    if cap is not None and _since(ask, start_us)[0] + 1 > cap:
        raise Refusal("daily_cap_reached", "The daily cap is used up.", retry_after_s=wait_s)


def _within_minute(ask: Ask[Any]) -> None:
    cap = ask.caller.settings.per_minute_cap
    _, sent, _, oldest_us = _since(ask, ask.now_us - _MINUTE_US)
    if cap is not None and sent + 1 > cap:
        left_us = (oldest_us or ask.now_us) + _MINUTE_US - ask.now_us
        wait_s = max(1, math.ceil(left_us / SECOND_US))
        raise Refusal(
            "rate_limit_exceeded", "The cap of a minute is used up.", retry_after_s=wait_s
        )


def _within_spend(ask: Ask[Any], cost: float) -> None:
    cap = ask.caller.settings.spend_cap
    start_us, wait_s = _midnight(ask)
    # Rounded, because sums of cents in binary fall a hair to either side of the cap.
    if cap is not None and round(_since(ask, start_us)[2] + cost, 6) > cap:
        raise Refusal("spend_cap_reached", "The spend cap is used up.", retry_after_s=wait_s)
