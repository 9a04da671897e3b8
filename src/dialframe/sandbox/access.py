"""Who may call: clients, their credentials and the account's settings as one value in memory.

Read from the database after every change of it, so that a request costs no look-up of its own.
"""

from __future__ import annotations

import hmac
import json
import sqlite3
from dataclasses import dataclass, field
from typing import Any

from dialframe.sandbox import identifiers
from dialframe.sandbox.settings import Settings


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

    def caller(self, key: str) -> Caller | None:
        """Whose key this is, or None for one that is malformed, unknown or revoked."""
        match = identifiers.CREDENTIAL.fullmatch(key)
        credential = self.credentials.get(match["id"]) if match else None
        if match is None or credential is None or credential.revoked:
            return None
        if not hmac.compare_digest(identifiers.hash_of(match["secret"]), credential.secret_hash):
            return None
        return Caller(self.clients[credential.client], credential, self.settings)


def load(db: sqlite3.Connection) -> Access:
    """What the database says of clients, credentials and settings."""
    clients = db.execute("SELECT number, client_id, name, scopes, ip_allow, enabled FROM clients")
    credentials = db.execute(
        "SELECT credential_id, client, secret_hash, sending, revoked FROM credentials"
    )
    (settings,) = db.execute("SELECT value FROM meta WHERE name = 'settings'").fetchone()
    return Access(
        Settings.model_validate_json(settings),
        {row[0]: _client(row) for row in clients},
        {row[0]: _credential(row) for row in credentials},
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
    client_id = identifiers.new("client")
    number = db.execute(
        "INSERT INTO clients (client_id, name, scopes, ip_allow, enabled, created_at)"
        " VALUES (?, ?, ?, ?, 1, ?)",
        (client_id, name, json.dumps(scopes), json.dumps(ip_allow), now_us),
    ).lastrowid
    if number is None:  # an INSERT that succeeded has a row number
        raise sqlite3.DatabaseError("the new client has no row number")
    return Client(number, client_id, name, frozenset(scopes), ip_allow, enabled=True)


def add_key(db: sqlite3.Connection, client: Client, *, sending: bool, now_us: int) -> str:
    """A new key of a client, in plain text for the last time."""
    key = identifiers.new_key()
    db.execute(
        "INSERT INTO credentials VALUES (?, ?, ?, ?, 0, ?)",
        (key.credential_id, client.number, key.secret_hash, int(sending), now_us),
    )
    return key.api_key


def save_settings(db: sqlite3.Connection, settings: Settings) -> None:
    """Keep the account's settings."""
    db.execute("INSERT OR REPLACE INTO meta VALUES ('settings', ?)", (settings.model_dump_json(),))


def _credential(row: tuple[Any, ...]) -> Credential:
    credential_id, client, secret_hash, sending, revoked = row
    return Credential(credential_id, client, secret_hash, bool(sending), bool(revoked))


def _client(row: tuple[Any, ...]) -> Client:
    number, client_id, name, scopes, ip_allow, enabled = row
    return Client(
        number,
        client_id,
        name,
        frozenset(json.loads(scopes)),
        tuple(json.loads(ip_allow)),
        bool(enabled),
    )
