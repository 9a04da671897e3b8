"""What stands between a request and a person, and the record of what would have been sent.

Do-Not-Call, countries, hours, consent, money, caps: each check refuses or returns; the order in
which they are asked is the caller's.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal
from zoneinfo import ZoneInfo

from dialframe.contract.scopes import BY_NAME as SCOPES
from dialframe.contract.scopes import Scope
from dialframe.sandbox import clock
from dialframe.sandbox.clock import SECOND_US
from dialframe.sandbox.world.api_objects import Json, Refusal, Transaction
from dialframe.sandbox.world.clients_and_keys import CallingHours, Settings

_UNKNOWN_ZONE: Final = "Etc/Unknown"
_MINUTE_US: Final = 60 * SECOND_US
_QUARTER_US: Final = 15 * _MINUTE_US


@dataclass(frozen=True, slots=True)
class Number:
    """A number that could be read.

    Attributes:
        e164: Its E.164 form.
        country: ISO code, also of a number that is not valid where its calling code has one
            country alone; else None.
    """

    e164: str
    valid: bool
    country: str | None


# phonenumbers is loaded late: it takes long, and whoever only reads never needs it.
@lru_cache(maxsize=1 << 16)
def read(text: str) -> Number | None:
    """A number in international form, however it is punctuated, or None for anything else."""
    import phonenumbers

    try:
        number = phonenumbers.parse(text, None)
    except phonenumbers.NumberParseException:
        return None
    country = phonenumbers.region_code_for_number(number)
    # Sanctions go by calling code where one country alone has it, valid number or not.
    countries = phonenumbers.region_codes_for_country_code(number.country_code or 0)
    if country is None and len(countries) == 1:
        country = countries[0]
    return Number(
        phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164),
        phonenumbers.is_valid_number(number),
        country,
    )


def e164(phone: str) -> str:
    """The E.164 form of a lead's number, by which lists, consents and calls know it; else the text."""
    number = read(phone)
    return phone if number is None else number.e164


@lru_cache(maxsize=1 << 16)
def zones(phone: str) -> tuple[str, ...]:
    """Every time zone that the called party may be in; none where that is not known."""
    import phonenumbers
    from phonenumbers import timezone

    # Apart from `read`: an import asks nobody's zone, and looking it up takes as long as the rest.
    number = None if read(phone) is None else phonenumbers.parse(phone, None)
    names = () if number is None else timezone.time_zones_for_number(number)
    # A number whose zone is not known is within no hours: in doubt nobody is dialed.
    return tuple(zone for zone in names if zone != _UNKNOWN_ZONE)


def within_hours(e164: str, hours: CallingHours, at_us: int) -> bool:
    """Whether an instant lies in the hours in every zone that the called party may be in.

    Hours that end before they start run over midnight. Without a known zone nothing is inside.
    """
    return _inside(zones(e164), hours, at_us // _MINUTE_US)


def next_opening(e164: str, windows: Sequence[CallingHours], at_us: int) -> int | None:
    """The first instant from one on that lies in all of the hours; None where there is none.

    Looked for in steps of a quarter of an hour, eight days ahead.
    """
    if all(within_hours(e164, hours, at_us) for hours in windows):
        return at_us
    quarter = _opening(zones(e164), tuple(windows), at_us // _QUARTER_US + 1)
    return None if quarter is None else quarter * _QUARTER_US


@lru_cache(maxsize=1 << 16)
def _inside(zone_names: tuple[str, ...], hours: CallingHours, minute: int) -> bool:
    moment = dt.datetime.fromtimestamp(minute * 60, tz=dt.UTC)
    # Every zone that the number may be in has to be inside: whoever answers may be in any of them.
    local_times = [moment.astimezone(ZoneInfo(zone)) for zone in zone_names]
    local_clocks = [f"{local.hour:02d}:{local.minute:02d}" for local in local_times]
    start, end = hours.start, hours.end
    # Half-open: at `end` it is too late.
    if start <= end:
        return bool(local_clocks) and all(start <= local < end for local in local_clocks)
    return bool(local_clocks) and all(local >= start or local < end for local in local_clocks)


@lru_cache(maxsize=1 << 14)
def _opening(
    zone_names: tuple[str, ...], windows: tuple[CallingHours, ...], quarter: int
) -> int | None:
    # Eight days see every weekday and a change of the clocks.
    for candidate in range(quarter, quarter + 8 * 96):
        if all(_inside(zone_names, hours, candidate * 15) for hours in windows):
            return candidate
    return None


def note_sent(
    tx: Transaction, kind: Literal["call", "sms", "callback"], to: str, about: str, detail: Json
) -> None:
    """Keep what would have been sent now, and what it is about: a call, a message, a callback."""
    values = {"kind": kind, "recipient": to, "at": tx.now_us, "about": about}
    tx.insert("outbox", {**values, "detail": json.dumps(detail)})


Kind = Literal["call", "sms", "callback", "launch"]

#: Estimated spend by kind, in the account's currency; only calls and texts cost anything.
# Contract, Tiers: the estimated-spend limit; the amounts are ours.
COST: Final[dict[Kind, float]] = {"call": 0.05, "sms": 0.01, "callback": 0.0, "launch": 0.0}

#: Why somebody is called: for a campaign, as a lead to be dialed at once, as promised, by an agent.
Occasion = Literal["campaign", "dial_now", "callback", "click"]

#: The scope that each kind of call needs, whose account switch has to be on.
SCOPE: Final[dict[Occasion, Scope]] = {
    "campaign": SCOPES["campaigns:resume"],
    "dial_now": SCOPES["calls:originate"],
    "callback": SCOPES["callbacks:write"],
    "click": SCOPES["calls:originate"],
}


def may_start_calls(tx: Transaction) -> None:
    """Refuse who lacks the scope, the switch or the key that reaching a person needs."""
    # Contract, Endpoints, Leads: what a running campaign or dial_now needs besides leads:write.
    caller = tx.caller
    if "calls:originate" not in caller.client.scopes:
        raise Refusal("insufficient_scope", "This also needs the scope calls:originate.")
    if not (caller.settings.tier2_calls_originate_enabled and caller.credential.sending):
        raise Refusal("tier_not_enabled", "Click-to-call is not set up for this account and key.")


def listed(tx: Transaction, phones: Sequence[str]) -> set[str]:
    """Which numbers are on the client's Do-Not-Call list as they are written."""
    rows = tx.rows(
        "SELECT phone FROM dnc WHERE client = ? AND phone IN (SELECT value FROM json_each(?))",
        json.dumps(phones),
    )
    return {phone for (phone,) in rows}


def list_number(tx: Transaction, phone: str, source: str, reason: str | None = None) -> None:
    """Put a number on the client's Do-Not-Call list; one that is on it keeps its first listing."""
    tx.execute(
        "INSERT OR IGNORE INTO dnc (client, phone, listed_at, source, reason) VALUES (?, ?, ?, ?, ?)",
        phone, tx.now_us, source, reason,
    )  # fmt: skip


def screen_can_run(tx: Transaction) -> None:
    """Refuse while the Do-Not-Call screen is out of order."""
    # Errors, `dnc_screen_unavailable`: the screen could not run; nothing written.
    if not tx.settings.dnc_screen_available:
        raise Refusal("dnc_screen_unavailable", retry_after_s=5)


def not_on_dnc(tx: Transaction, phone: str, pointer: str) -> None:
    """Refuse a number of the Do-Not-Call list, and any while the list cannot be asked."""
    screen_can_run(tx)
    # Listed in either of the ways to write it.
    if listed(tx, (phone, e164(phone))):
        raise Refusal("on_dnc", field=(pointer, "on_dnc"))


def country_reachable(tx: Transaction, phone: str, pointer: str) -> None:
    """Refuse a blocked or sanctioned country."""
    number = read(phone)
    if number is not None and number.country in tx.settings.unreachable:
        raise Refusal("blocked_country", field=(pointer, "blocked_country"))


def contact_allowed(
    tx: Transaction, phone: str, code: Literal["dial_refused", "message_refused"]
) -> None:
    """Refuse what is no number, outside the calling hours, and without consent where the account asks for it.

    A consent of any channel counts: what the contract's channels are called is not shown.
    """
    if read(phone) is None:
        raise Refusal(code, field=("/to", "invalid_phone"))
    settings = tx.settings
    hours = settings.calling_hours
    # Tiers: calling hours and consent are among the compliance checks of every sending operation.
    if hours is not None and not within_hours(phone, hours, tx.now_us):
        raise Refusal(code, field=("/to", "outside_calling_hours"))
    if settings.consent_required:
        # POST /v1/consents has no shape in the contract: any channel and source counts.
        consent = tx.row("SELECT 1 FROM consents WHERE client = ? AND phone = ?", phone)
        if consent is None:
            raise Refusal(code, field=("/to", "consent_missing"))


def account_may_dial(tx: Transaction, occasion: Occasion) -> None:
    """Refuse what no call of the account is made for, whoever it is to."""
    settings = tx.settings
    # Authentication 5 to 7: what was switched off since holds for what is dialed now.
    if not (settings.api_access_enabled and tx.caller.client.enabled):
        raise Refusal("api_access_disabled")
    # Scopes: taken away after the request, it holds for what is dialed now.
    scope = SCOPE[occasion]
    if scope.name not in tx.caller.client.scopes:
        raise Refusal("insufficient_scope", f"The client no longer holds {scope.name}.")
    if scope.switch is not None and not getattr(settings, scope.switch):
        raise Refusal("tier_not_enabled", f"The account switch {scope.switch} is off.")
    sending_allowed(settings)
    # States, Campaign: the registry blocks launches; an agent's own call is none.
    if occasion != "click":
        registry_fresh(settings)
    screen_can_run(tx)
    affordable(tx, "call")
    _within_caps(tx, "call")


def may_dial(tx: Transaction, phone: str, occasion: Occasion) -> None:
    """Every check before a number is dialed, made at that instant."""
    account_may_dial(tx, occasion)
    country_reachable(tx, phone, "/to")
    not_on_dnc(tx, phone, "/to")
    contact_allowed(tx, phone, "dial_refused")


def sending_allowed(settings: Settings) -> None:
    """Refuse while sending is stopped or not approved."""
    # Tiers: the account's stop-all-sending switch.
    if settings.sending_suspended:
        raise Refusal("sending_suspended")
    if not settings.outbound_approved:
        raise Refusal("outbound_not_approved")


def registry_fresh(settings: Settings) -> None:
    """Refuse while a national list is out of date, where the account chose that."""
    # States, Campaign: the account chose to block launches while a national list is outdated.
    if settings.registry_stale and settings.block_stale_registry:
        raise Refusal("registry_stale_blocked")


def affordable(tx: Transaction, kind: Kind) -> None:
    """Refuse when the balance does not cover it."""
    # Tiers: the minimum balance; Errors: 402 `insufficient_balance`.
    if tx.settings.balance < COST[kind]:
        raise Refusal("insufficient_balance")


def spend(tx: Transaction, kind: Kind) -> None:
    """Count one act against the account's caps, or refuse it."""
    _within_caps(tx, kind)
    spent = {"kind": kind, "at": tx.now_us, "cost": COST[kind]}
    tx.insert("spent", {"credential_id": tx.caller.credential.credential_id, **spent})


def _since(tx: Transaction, start_us: int) -> tuple[int, int, float, int]:
    row: tuple[int, int, float, int] = tx.db.execute(
        "SELECT count(*), coalesce(sum(cost > 0), 0), coalesce(sum(cost), 0),"
        " coalesce(min(CASE WHEN cost > 0 THEN at END), 0) FROM spent WHERE at > ?",
        (start_us,),
    ).fetchone()
    return row


# Tiers: daily and per-minute caps and the estimated-spend limit of the account.
def _within_caps(tx: Transaction, kind: Kind) -> None:
    settings, now_us, cost = tx.settings, tx.now_us, COST[kind]
    midnight_us = clock.next_midnight(now_us)
    # `_since` is exclusive: one microsecond earlier takes midnight itself in.
    before_today_us = midnight_us - clock.DAY_US - 1
    # Errors, `daily_cap_reached` and `spend_cap_reached`: Retry-After reaches to the next UTC day.
    wait_s = math.ceil((midnight_us - now_us) / SECOND_US)
    cap = settings.daily_cap
    if cap is not None and _since(tx, before_today_us)[0] + 1 > cap:
        raise Refusal("daily_cap_reached", retry_after_s=wait_s)
    if not cost:
        return
    if settings.per_minute_cap is not None:
        _, sent, _, oldest_us = _since(tx, now_us - _MINUTE_US)
        if sent + 1 > settings.per_minute_cap:
            left_us = (oldest_us or now_us) + _MINUTE_US - now_us
            raise Refusal(
                "rate_limit_exceeded", retry_after_s=max(1, math.ceil(left_us / SECOND_US))
            )
    cap = settings.spend_cap
    # Rounded, because sums of cents in binary fall a hair to either side of the cap.
    if cap is not None and round(_since(tx, before_today_us)[2] + cost, 6) > cap:
        raise Refusal("spend_cap_reached", retry_after_s=wait_s)
