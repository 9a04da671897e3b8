"""Who may call: clients, their keys and the account's settings as one value in memory.

Read from the database after every change of it, so that a request costs no look-up of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import re
import secrets
import sqlite3
import time
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    StringConstraints,
)

from dialframe.contract.models.base_models import PREFIXES
from dialframe.contract.models.webhook_models import SECRET_PREFIX
from dialframe.contract.scopes import KEY_PREFIXES
from dialframe.sandbox.world import sandbox_database

# Contract, Authentication 1.
CREDENTIAL: Final = re.compile(
    rf"{KEY_PREFIXES['test']}(?P<id>[0-9a-z]+)_(?P<secret>[0-9a-z]+)", re.ASCII
)

_CROCKFORD: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_CHARS: Final = 26
_ULID_RANDOM_BITS: Final = 80


def derived_id(kind: str, *parts: object) -> str:
    """A typed id that is the same for the same parts."""
    # RFC 9562, 5.4: version and variant bits of a random UUID over the first half of a digest.
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).digest()
    return PREFIXES[kind] + str(uuid.UUID(bytes=digest[:16], version=4))


# Conventions: `req_<ULID>`, or `edge_<32 hex>` when the edge answered.
def new_request_id() -> str:
    """`req_` plus a ULID: 48 bits of real time in milliseconds, then 80 random bits."""
    # ULID: 48 bits of milliseconds, 80 random ones, in Crockford's base 32 (no I, L, O, U).
    number = time.time_ns() // 1_000_000 << _ULID_RANDOM_BITS | secrets.randbits(_ULID_RANDOM_BITS)
    digits = [_CROCKFORD[number >> 5 * position & 31] for position in range(_ULID_CHARS)]
    return "req_" + "".join(reversed(digits))


def new_edge_id() -> str:
    """`edge_` plus 32 hex digits, for what never reached the API."""
    return "edge_" + secrets.token_hex(16)


def new_signing_secret() -> str:
    """A webhook signing secret; its whole text is the HMAC key."""
    # Resources, Webhook endpoint: `whsec_...`; what follows is ours.
    return SECRET_PREFIX + secrets.token_hex(24)


def hash_of(secret: str) -> str:
    """What is kept of a secret of 192 random bits: no salt or stretching is needed for those."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _network(text: str) -> str:
    ipaddress.ip_network(text, strict=False)
    return text


Country = Annotated[str, StringConstraints(pattern=r"^[A-Z]{2}$")]
TimeOfDay = Annotated[str, StringConstraints(pattern=r"^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$")]
#: A finite number of JSON; whole ones stay whole: `8` is not answered as `8.0`.
Number = int | FiniteFloat
Cap = Annotated[Number, Field(ge=0)] | None
#: An address or a network such as `127.0.0.1` or `10.0.0.0/8`.
Address = Annotated[str, AfterValidator(_network)]


class CallingHours(BaseModel):
    """Called party's local time, half-open: a call at `end` is outside."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: TimeOfDay
    end: TimeOfDay


class DialerSettings(BaseModel):
    """What the service dials by itself, and how.

    Attributes:
        enabled: Whether running campaigns are dialed, and callbacks of a synthetic history.
        calls_per_minute: Calls of one client in a minute; a progressive campaign takes up to 60% of
            them, a preview campaign 20%.
        answer_rate: Share of calls that a person answers, and no machine; null for what the account's
            own parameters give.
        arms: How many times as often people answer whose custom field `arm` has this value, for experiments.
        ai_share: Share of the answered calls that an AI agent handles; click-to-call never.
        max_attempts: Attempts on a lead of a campaign that does not say otherwise.
        max_attempts_per_day: Calls to a number within 24 hours after which no campaign dials it, whatever
            leads have it.
        retry_gap_minutes: Shortest time between two attempts on a lead; null for a gap that depends
            on what became of the last one.
        hours: The called party's hours that campaigns keep to, besides the account's calling hours.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    # Histories stand still unless asked.
    enabled: bool = False
    calls_per_minute: Annotated[Number, Field(gt=0, le=1_000_000)] = 60
    answer_rate: Annotated[Number, Field(ge=0, le=1)] | None = None
    arms: dict[str, Annotated[Number, Field(ge=0, le=10)]] = Field(default_factory=dict)
    ai_share: Annotated[Number, Field(ge=0, le=1)] = 0.1
    max_attempts: Annotated[int, Field(ge=1, le=100)] = 8
    max_attempts_per_day: Annotated[int, Field(ge=1, le=100)] = 3
    retry_gap_minutes: Annotated[Number, Field(ge=0, le=525_600)] | None = None
    hours: CallingHours | None = CallingHours(start="08:00", end="21:00")


# Contract, Tiers and Scopes: the switches of an account; the sandbox has them on, so that all can be tried.
class Settings(BaseModel):
    """Everything that an administrator or the operator can set; the sandbox starts wide open.

    Attributes:
        balance: Money left, in the account's currency; the sandbox never takes any off.
        daily_cap: Calls, texts, callbacks and launches of one UTC day, or no cap.
        spend_cap: Estimated spend of one UTC day, or no cap.
        per_minute_cap: Calls and texts of 60 seconds, or no cap.
        blocked_countries: Countries that are neither called nor texted nor booked.
        sanctioned_countries: The same, and their numbers are not even imported.
        registry_stale: A national do-not-call list is out of date or missing.
        block_stale_registry: The account refuses launches while that is so.
        dnc_screen_available: Whether the Do-Not-Call screen can run.
        dialer: What the service dials by itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    # Authentication, Scopes: the six switches of tier 2; with the contract they are off until enabled.
    tier2_campaign_resume_enabled: bool = True
    tier2_callback_write_enabled: bool = True
    tier2_appointment_write_enabled: bool = True
    tier2_consent_write_enabled: bool = True
    tier2_sms_send_enabled: bool = True
    tier2_calls_originate_enabled: bool = True
    # Events: webhooks are enabled per account; Authentication 3 and 5: the sandbox and API access too.
    webhooks_enabled: bool = True
    api_access_enabled: bool = True
    sandbox_enabled: bool = True
    # Tiers: the stop-all-sending switch, approval, minimum balance, caps and estimated-spend limit.
    sending_suspended: bool = False
    outbound_approved: bool = True
    balance: Number = 100
    daily_cap: Cap = None
    spend_cap: Cap = None
    per_minute_cap: Cap = None
    # Tiers: compliance checks; Endpoints, Leads: sanctioned destinations are refused at the import.
    blocked_countries: tuple[Country, ...] = ()
    sanctioned_countries: tuple[Country, ...] = ("CU", "IR", "KP", "SY")
    # Tiers: calling hours and consent are compliance checks; States, Campaign: the stale registry.
    calling_hours: CallingHours | None = None
    consent_required: bool = False
    registry_stale: bool = False
    block_stale_registry: bool = False
    dnc_screen_available: bool = True
    # Limits: the token buckets of the contract, or none.
    rate_limits: Literal["contract"] | None = "contract"
    allow_loopback_webhooks: bool = True
    ip_allow: tuple[Address, ...] = ()
    # The contract shows no dialing settings: these are the sandbox's own.
    dialer: DialerSettings = DialerSettings()

    @property
    def unreachable(self) -> frozenset[str]:
        """Countries that are neither called nor texted nor booked."""
        return frozenset((*self.blocked_countries, *self.sanctioned_countries))


@dataclass(frozen=True, slots=True)
class Client:
    """One API client; `number` is its place in every table of the database."""

    number: int
    client_id: str
    name: str
    scopes: frozenset[str]
    ip_allow: tuple[str, ...]
    enabled: bool


@dataclass(frozen=True, slots=True)
class Credential:
    """One key of a client, of which only the hash is known."""

    credential_id: str
    client: int
    secret_hash: str = field(repr=False)
    sending: bool
    revoked: bool


#: Stands for a key where the service does something by itself.
NO_KEY: Final = Credential("", 0, "", sending=False, revoked=False)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request, and what holds for the account at that moment."""

    client: Client
    credential: Credential
    settings: Settings


@dataclass(frozen=True, slots=True)
class Access:
    """Every client and credential with the account's settings."""

    settings: Settings
    clients: dict[int, Client]
    credentials: dict[str, Credential]

    def service(self, client: int) -> Caller:
        """The service itself, doing something for a client that no key asked for."""
        return Caller(self.clients[client], NO_KEY, self.settings)

    def caller(self, key: str) -> Caller | None:
        """Whose key this is, or None for one that is malformed, unknown or revoked."""
        # Live keys do not match at all: the sandbox answers test keys alone.
        match = CREDENTIAL.fullmatch(key)
        credential = self.credentials.get(match["id"]) if match else None
        if match is None or credential is None or credential.revoked:
            return None
        # Contract, Authentication 4: whatever is wrong with a key, the answer is one.
        if not hmac.compare_digest(hash_of(match["secret"]), credential.secret_hash):
            return None
        return Caller(self.clients[credential.client], credential, self.settings)


def load(db: sqlite3.Connection) -> Access:
    """What the database says of clients, credentials and settings."""
    clients = [
        Client(
            number,
            client_id,
            name,
            frozenset(json.loads(scopes)),
            tuple(json.loads(nets)),
            on == 1,
        )
        for number, client_id, name, scopes, nets, on in db.execute(
            "SELECT number, client_id, name, scopes, ip_allow, enabled FROM clients"
        )
    ]
    credentials = [
        Credential(credential_id, client, secret_hash, sending == 1, revoked == 1)
        for credential_id, client, secret_hash, sending, revoked in db.execute(
            "SELECT credential_id, client, secret_hash, sending, revoked FROM credentials"
        )
    ]
    return Access(
        Settings.model_validate_json(sandbox_database.read_meta(db, "settings")),
        {client.number: client for client in clients},
        {credential.credential_id: credential for credential in credentials},
    )


def add_client(
    db: sqlite3.Connection,
    *,
    name: str,
    scopes: tuple[str, ...],
    ip_allow: tuple[str, ...],
    now_us: int,
) -> Client:
    """A new client without a key."""
    # Conventions: a typed id is a prefix plus a lower-case UUID.
    client_id = PREFIXES["client"] + str(uuid.uuid4())
    number = db.execute(
        "INSERT INTO clients (client_id, name, scopes, ip_allow, enabled, created_at)"
        " VALUES (?, ?, ?, ?, 1, ?)",
        (client_id, name, json.dumps(scopes), json.dumps(ip_allow), now_us),
    ).lastrowid
    if number is None:  # an INSERT that succeeded has a row number
        raise sqlite3.DatabaseError("the new client has no row number")
    return Client(number, client_id, name, frozenset(scopes), ip_allow, enabled=True)


def add_key(db: sqlite3.Connection, client: int, *, sending: bool, now_us: int) -> str:
    """A new key of a client, in plain text for the last time."""
    # Neither part holds an underscore, so that the key can be taken apart.
    credential_id, secret = secrets.token_hex(8), secrets.token_hex(24)
    db.execute(
        "INSERT INTO credentials VALUES (?, ?, ?, ?, 0, ?)",
        (credential_id, client, hash_of(secret), int(sending), now_us),
    )
    return f"{KEY_PREFIXES['test']}{credential_id}_{secret}"
