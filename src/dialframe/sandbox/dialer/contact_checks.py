"""What stands between a request and a person, and the record of what would have been sent.

Do-Not-Call, countries, hours, consent, money, caps: each check refuses or returns; the order in
which they are asked is the caller's.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal
from zoneinfo import ZoneInfo

from dialframe.contract.scopes import BY_NAME as SCOPES
from dialframe.contract.scopes import Scope
from dialframe.sandbox.world import clock
from dialframe.sandbox.world.api_objects import Json, Refusal
from dialframe.sandbox.world.clients_and_keys import Caller, CallingHours, Settings
from dialframe.sandbox.world.clock import SECOND_US
from dialframe.sandbox.world.sandbox_database import insert, records

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
    number = _number(phone)
    return phone if number is None else number.e164


@lru_cache(maxsize=1 << 16)
def zones(e164: str) -> tuple[str, ...]:
    """Every time zone that the called party may be in; none where that is not known."""
    import phonenumbers
    from phonenumbers import timezone

    try:
        names = timezone.time_zones_for_number(phonenumbers.parse(e164, None))
    except phonenumbers.NumberParseException:
        return ()
    # A number whose zone is not known is within no hours: in doubt nobody is dialed.
    return tuple(zone for zone in names if zone != _UNKNOWN_ZONE)


def within_hours(e164: str, hours: CallingHours, at_us: int) -> bool:
    """Whether an instant lies in the hours in every zone that the called party may be in.

    Hours that end before they start run over midnight. Without a known zone nothing is inside.
    """
    return _inside(zones(e164), hours.start, hours.end, at_us // _MINUTE_US)


def next_opening(e164: str, windows: Sequence[CallingHours], at_us: int) -> int | None:
    """The first instant from one on that lies in all of the hours; None where there is none.

    Looked for in steps of a quarter of an hour, eight days ahead.
    """
    edges = tuple((hours.start, hours.end) for hours in windows)
    if all(within_hours(e164, hours, at_us) for hours in windows):
        return at_us
    quarter = _opening(zones(e164), edges, at_us // _QUARTER_US + 1)
    return None if quarter is None else quarter * _QUARTER_US


@lru_cache(maxsize=1 << 16)
def _inside(zone_names: tuple[str, ...], start: str, end: str, minute: int) -> bool:
    moment = dt.datetime.fromtimestamp(minute * 60, tz=dt.UTC)
    # Every zone that the number may be in has to be inside: whoever answers may be in any of them.
    local_times = [moment.astimezone(ZoneInfo(zone)) for zone in zone_names]
    local_clocks = [f"{local.hour:02d}:{local.minute:02d}" for local in local_times]
    # Half-open: at `end` it is too late.
    if start <= end:
        return bool(local_clocks) and all(start <= local < end for local in local_clocks)
    return bool(local_clocks) and all(local >= start or local < end for local in local_clocks)


@lru_cache(maxsize=1 << 14)
def _opening(
    zone_names: tuple[str, ...], windows: tuple[tuple[str, str], ...], quarter: int
) -> int | None:
    # Eight days see every weekday and a change of the clocks.
    for candidate in range(quarter, quarter + 8 * 96):
        if all(_inside(zone_names, start, end, candidate * 15) for start, end in windows):
            return candidate
    return None


@dataclass(frozen=True, slots=True)
class Sent:
    """One thing that would have been sent.

    Attributes:
        about: Id of the call, message or callback that it belongs to; of a refused one, of the lead.
        detail: What else the console shows of it.
    """

    kind: Literal["call", "sms", "callback"]
    to: str = field(repr=False)
    at_us: int
    about: str
    detail: Json = field(default_factory=dict, repr=False)


def note_sent(db: sqlite3.Connection, client: int, sent: Sent) -> None:
    """Note it."""
    values = {
        "kind": sent.kind,
        "recipient": sent.to,
        "at": sent.at_us,
        "about": sent.about,
        "detail": json.dumps(sent.detail),
    }
    insert(db, "outbox", client, values)


def outbox(db: sqlite3.Connection, client: int, now_us: int) -> list[Json]:
    """Everything that would have been sent by now, in the order of its time."""
    rows = db.execute(
        'SELECT kind, recipient AS "to", at, about AS id, detail FROM outbox'
        " WHERE client = ? AND at <= ? ORDER BY at, number",
        (client, now_us),
    )
    entries = records(rows)
    for entry in entries:
        entry.update(at=clock.text(entry["at"]), **json.loads(entry.pop("detail")))
    return entries


def note_refused(sender: Sender, sent: Sent, refusal: Refusal) -> None:
    """Keep that something was not sent, and why."""
    values = {
        "kind": sent.kind,
        "recipient": sent.to,
        "at": sent.at_us,
        "code": refusal.code,
        "about": sent.about,
        "reason": refusal.errors[0].code if refusal.errors else None,
    }
    insert(sender.db, "refusals", sender.client, values)


def refusals(db: sqlite3.Connection, client: int) -> list[Json]:
    """Everything that was not sent because a check refused it, in the order of its time."""
    rows = db.execute(
        'SELECT kind, recipient AS "to", at, code, reason, about AS id FROM refusals'
        " WHERE client = ? ORDER BY at, number",
        (client,),
    )
    return [{**row, "at": clock.text(row["at"])} for row in records(rows)]


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


@dataclass(frozen=True, slots=True)
class Sender:
    """Who is about to reach a person, and when.

    Attributes:
        client: Number of the client whose data this is about.
        credential_id: The key that asked for it; empty for what the service does by itself.
        now_us: The sandbox's clock.
        scopes: What the client may do at this instant.
        enabled: Whether the client may call at all.
    """

    db: sqlite3.Connection
    client: int
    settings: Settings
    credential_id: str
    now_us: int
    scopes: frozenset[str]
    enabled: bool = True


def may_start_calls(caller: Caller) -> None:
    """Refuse who lacks the scope, the switch or the key that reaching a person needs."""
    # Contract, Endpoints, Leads: what a running campaign or dial_now needs besides leads:write.
    if "calls:originate" not in caller.client.scopes:
        raise Refusal("insufficient_scope", "This also needs the scope calls:originate.")
    if not (caller.settings.tier2_calls_originate_enabled and caller.credential.sending):
        raise Refusal("tier_not_enabled", "Click-to-call is not set up for this account and key.")


def listed(db: sqlite3.Connection, client: int, phones: str) -> set[str]:
    """Which numbers of a JSON list are on the client's Do-Not-Call list as they are written."""
    rows = db.execute(
        "SELECT phone FROM dnc WHERE client = ? AND phone IN (SELECT value FROM json_each(?))",
        (client, phones),
    )
    return {phone for (phone,) in rows}


def is_listed(db: sqlite3.Connection, client: int, phone: str) -> bool:
    """Whether a number is on the client's Do-Not-Call list, in either of the ways to write it."""
    row = db.execute(
        "SELECT 1 FROM dnc WHERE client = ? AND phone IN (?, ?)", (client, phone, e164(phone))
    )
    return row.fetchone() is not None


def screen_can_run(sender: Sender) -> None:
    """Refuse while the Do-Not-Call screen is out of order."""
    # Errors, `dnc_screen_unavailable`: the screen could not run; nothing written.
    if not sender.settings.dnc_screen_available:
        raise Refusal(
            "dnc_screen_unavailable",
            "The Do-Not-Call screen could not run; nothing was written.",
            retry_after_s=5,
        )


def not_on_dnc(sender: Sender, phone: str, pointer: str) -> None:
    """Refuse a number of the Do-Not-Call list, and any while the list cannot be asked."""
    screen_can_run(sender)
    if is_listed(sender.db, sender.client, phone):
        raise Refusal(
            "on_dnc", "The number is on the Do-Not-Call list.", field=(pointer, "on_dnc")
        )


def country_reachable(sender: Sender, phone: str, pointer: str) -> None:
    """Refuse a blocked or sanctioned country."""
    number = _number(phone)
    if number is not None and number.country in sender.settings.unreachable:
        raise Refusal(
            "blocked_country", "The country is blocked.", field=(pointer, "blocked_country")
        )


def contact_allowed(
    sender: Sender, phone: str, code: Literal["dial_refused", "message_refused"]
) -> None:
    """Refuse what is no number, outside the calling hours, and without consent where the account asks for it.

    A consent of any channel counts: what the contract's channels are called is not shown.
    """
    if _number(phone) is None:
        raise Refusal(code, "It is no number that can be reached.", field=("/to", "invalid_phone"))
    settings = sender.settings
    hours = settings.calling_hours
    # Tiers: calling hours and consent are among the compliance checks of every sending operation.
    if hours is not None and not within_hours(phone, hours, sender.now_us):
        raise Refusal(
            code, "Outside the called party's hours.", field=("/to", "outside_calling_hours")
        )
    if settings.consent_required:
        # POST /v1/consents has no shape in the contract: any channel and source counts.
        consents = sender.db.execute(
            "SELECT 1 FROM consents WHERE client = ? AND phone = ?", (sender.client, phone)
        )
        if consents.fetchone() is None:
            raise Refusal(
                code, "No consent is recorded for the number.", field=("/to", "consent_missing")
            )


def account_may_dial(sender: Sender, occasion: Occasion) -> None:
    """Refuse what no call of the account is made for, whoever it is to."""
    settings = sender.settings
    # Authentication 5 to 7: what was switched off since holds for what is dialed now.
    if not (settings.api_access_enabled and sender.enabled):
        raise Refusal("api_access_disabled", "API access is switched off.")
    # Scopes: taken away after the request, it holds for what is dialed now.
    scope = SCOPE[occasion]
    if scope.name not in sender.scopes:
        raise Refusal("insufficient_scope", f"The client no longer holds {scope.name}.")
    if scope.switch is not None and not getattr(settings, scope.switch):
        raise Refusal("tier_not_enabled", f"The account switch {scope.switch} is off.")
    sending_allowed(settings)
    # States, Campaign: the registry blocks launches; an agent's own call is none.
    if occasion != "click":
        registry_fresh(settings)
    screen_can_run(sender)
    affordable(sender, "call")
    _within_caps(sender, "call")


def may_dial(sender: Sender, phone: str, occasion: Occasion) -> None:
    """Every check before a number is dialed, made at that instant."""
    account_may_dial(sender, occasion)
    country_reachable(sender, phone, "/to")
    not_on_dnc(sender, phone, "/to")
    contact_allowed(sender, phone, "dial_refused")


def sending_allowed(settings: Settings) -> None:
    """Refuse while sending is stopped or not approved."""
    # Tiers: the account's stop-all-sending switch.
    if settings.sending_suspended:
        raise Refusal("sending_suspended", "An administrator stopped all sending.")
    if not settings.outbound_approved:
        raise Refusal("outbound_not_approved", "The account is not approved for sending yet.")


def registry_fresh(settings: Settings) -> None:
    """Refuse while a national list is out of date, where the account chose that."""
    # States, Campaign: the account chose to block launches while a national list is outdated.
    if settings.registry_stale and settings.block_stale_registry:
        raise Refusal("registry_stale_blocked", "A national do-not-call list is out of date.")


def affordable(sender: Sender, kind: Kind) -> None:
    """Refuse when the balance does not cover it."""
    # Tiers: the minimum balance; Errors: 402 `insufficient_balance`.
    if sender.settings.balance < COST[kind]:
        raise Refusal("insufficient_balance", "The account's balance is too low.")


def spend(sender: Sender, kind: Kind) -> None:
    """Count one act against the account's caps, or refuse it."""
    _within_caps(sender, kind)
    sender.db.execute(
        "INSERT INTO spent VALUES (?, ?, ?, ?, ?)",
        (sender.client, sender.credential_id, kind, sender.now_us, COST[kind]),
    )


def _since(sender: Sender, start_us: int) -> tuple[int, int, float, int]:
    row: tuple[int, int, float, int] = sender.db.execute(
        "SELECT count(*), coalesce(sum(cost > 0), 0), coalesce(sum(cost), 0),"
        " coalesce(min(CASE WHEN cost > 0 THEN at END), 0) FROM spent WHERE at > ?",
        (start_us,),
    ).fetchone()
    return row


# Tiers: daily and per-minute caps and the estimated-spend limit of the account.
def _within_caps(sender: Sender, kind: Kind) -> None:
    settings, now_us, cost = sender.settings, sender.now_us, COST[kind]
    midnight_us = clock.next_midnight(now_us)
    # `_since` is exclusive: one microsecond earlier takes midnight itself in.
    before_today_us = midnight_us - clock.DAY_US - 1
    # Errors, `daily_cap_reached` and `spend_cap_reached`: Retry-After reaches to the next UTC day.
    wait_s = math.ceil((midnight_us - now_us) / SECOND_US)
    cap = settings.daily_cap
    if cap is not None and _since(sender, before_today_us)[0] + 1 > cap:
        raise Refusal("daily_cap_reached", "The daily cap is used up.", retry_after_s=wait_s)
    if not cost:
        return
    if settings.per_minute_cap is not None:
        _, sent, _, oldest_us = _since(sender, now_us - _MINUTE_US)
        if sent + 1 > settings.per_minute_cap:
            left_us = (oldest_us or now_us) + _MINUTE_US - now_us
            raise Refusal(
                "rate_limit_exceeded",
                "The cap of a minute is used up.",
                retry_after_s=max(1, math.ceil(left_us / SECOND_US)),
            )
    cap = settings.spend_cap
    # Rounded, because sums of cents in binary fall a hair to either side of the cap.
    if cap is not None and round(_since(sender, before_today_us)[2] + cost, 6) > cap:
        raise Refusal("spend_cap_reached", "The spend cap is used up.", retry_after_s=wait_s)


_number = lru_cache(maxsize=1 << 16)(read)
