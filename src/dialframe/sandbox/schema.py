"""The sandbox's tables; knows columns and indexes, nothing of who reads them.

Rule 1: everything that a client owns carries its number in `client`, first in every index: what one
client creates is never found by another.
Rule 2: instants are whole microseconds of UTC, documents JSON text, flags 0 or 1.
Rule 3: a list's index is (client, filter..., created_at, id), in the order that its pages are read.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 1

#: Table to its columns as SQLite takes them.
TABLES: Final[dict[str, str]] = {
    "meta": "name TEXT PRIMARY KEY, value TEXT NOT NULL",
    "clients": """number INTEGER PRIMARY KEY, client_id TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
        scopes TEXT NOT NULL, ip_allow TEXT NOT NULL, enabled INTEGER NOT NULL,
        created_at INTEGER NOT NULL""",
    "credentials": """credential_id TEXT PRIMARY KEY, client INTEGER NOT NULL,
        secret_hash TEXT NOT NULL, sending INTEGER NOT NULL, revoked INTEGER NOT NULL,
        created_at INTEGER NOT NULL""",
    "idempotency": """client INTEGER NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL,
        status INTEGER NOT NULL, headers TEXT NOT NULL, body BLOB NOT NULL,
        created_at INTEGER NOT NULL, PRIMARY KEY (client, key)""",
    "faults": "number INTEGER PRIMARY KEY, rule TEXT NOT NULL, after INTEGER, times INTEGER",
    "campaigns": """client INTEGER NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL,
        status TEXT NOT NULL, dialer_mode TEXT NOT NULL, created_at INTEGER NOT NULL,
        updated_at INTEGER, started_at INTEGER, completed_at INTEGER""",
    "leads": """client INTEGER NOT NULL, id TEXT NOT NULL, campaign_id TEXT, external_id TEXT,
        phone TEXT NOT NULL, full_name TEXT, email TEXT, status TEXT NOT NULL,
        attempts INTEGER NOT NULL, custom_fields TEXT, last_attempt_at INTEGER,
        next_attempt_at INTEGER, disposition_code TEXT, hangup_cause TEXT,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, dial_first_until INTEGER""",
    "calls": """client INTEGER NOT NULL, id TEXT NOT NULL, direction TEXT NOT NULL,
        from_number TEXT NOT NULL, to_number TEXT NOT NULL, status TEXT NOT NULL,
        created_at INTEGER NOT NULL, answered_at INTEGER, ended_at INTEGER, duration_seconds,
        campaign_id TEXT, disposition TEXT, hangup_cause TEXT, lead_id TEXT, agent_extension TEXT""",
    "live_calls": """client INTEGER NOT NULL, call_id TEXT NOT NULL, extension TEXT NOT NULL,
        answered_at INTEGER NOT NULL, ends_at INTEGER NOT NULL, PRIMARY KEY (client, call_id)""",
    "callbacks": """client INTEGER NOT NULL, id TEXT NOT NULL, lead_id TEXT,
        campaign_id TEXT NOT NULL, scheduled_at INTEGER NOT NULL, status TEXT NOT NULL, notes TEXT,
        created_at INTEGER NOT NULL""",
    "appointments": """client INTEGER NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL,
        scheduled_at INTEGER NOT NULL, timezone TEXT, duration_minutes INTEGER NOT NULL,
        service_type TEXT, contact_name TEXT, phone TEXT NOT NULL, email TEXT, notes TEXT,
        source TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
        lead_id TEXT""",
    "dnc": """client INTEGER NOT NULL, phone TEXT NOT NULL, listed_at INTEGER NOT NULL,
        source TEXT NOT NULL, reason TEXT, PRIMARY KEY (client, phone)""",
    "consents": """client INTEGER NOT NULL, id TEXT NOT NULL, phone TEXT NOT NULL,
        channel TEXT NOT NULL, source TEXT NOT NULL, obtained_at INTEGER NOT NULL, evidence TEXT,
        created_at INTEGER NOT NULL""",
    "agents": """client INTEGER NOT NULL, extension TEXT NOT NULL, email TEXT NOT NULL,
        state TEXT NOT NULL, PRIMARY KEY (client, extension)""",
    "caller_ids": "client INTEGER NOT NULL, number TEXT NOT NULL, PRIMARY KEY (client, number)",
    "lead_sources": "client INTEGER NOT NULL, code TEXT NOT NULL, PRIMARY KEY (client, code)",
    "field_rules": """number INTEGER PRIMARY KEY, client INTEGER NOT NULL, field TEXT NOT NULL,
        required INTEGER NOT NULL, pattern TEXT""",
    "messages": """client INTEGER NOT NULL, id TEXT NOT NULL, recipient TEXT NOT NULL,
        body TEXT NOT NULL, status TEXT NOT NULL, client_reference TEXT NOT NULL,
        created_at INTEGER NOT NULL""",
    "outbox": """number INTEGER PRIMARY KEY, client INTEGER NOT NULL, kind TEXT NOT NULL,
        recipient TEXT NOT NULL, at INTEGER NOT NULL, about TEXT NOT NULL, detail TEXT NOT NULL""",
    "spent": """client INTEGER NOT NULL, credential_id TEXT NOT NULL, kind TEXT NOT NULL,
        at INTEGER NOT NULL, cost REAL NOT NULL""",
    "webhooks": """client INTEGER NOT NULL, id TEXT NOT NULL, url TEXT NOT NULL,
        description TEXT NOT NULL, events TEXT NOT NULL, enabled INTEGER NOT NULL,
        secret TEXT NOT NULL, previous_secret TEXT, previous_until INTEGER,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL""",
    "events": """client INTEGER NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL,
        created_at INTEGER NOT NULL, data TEXT NOT NULL""",
    "deliveries": """number INTEGER PRIMARY KEY, client INTEGER NOT NULL, id TEXT NOT NULL,
        webhook_id TEXT NOT NULL, event_id TEXT NOT NULL, status TEXT NOT NULL,
        attempts INTEGER NOT NULL, replay_of TEXT, last_status_code INTEGER,
        last_attempt_at INTEGER, next_attempt_at INTEGER, delivered_at INTEGER,
        failure_reason TEXT, created_at INTEGER NOT NULL""",
    "replays": "client INTEGER NOT NULL, event_id TEXT NOT NULL, at INTEGER NOT NULL",
    "ground_truth": """client INTEGER NOT NULL, fault TEXT NOT NULL, resource TEXT NOT NULL,
        id TEXT NOT NULL, expected TEXT, detail TEXT""",
}

#: Indexes, made after the first account is loaded: building them over finished tables is faster.
INDEXES: Final[tuple[str, ...]] = (
    "idempotency_age ON idempotency (created_at)",
    "campaigns_page ON campaigns (client, created_at, id)",
    "leads_page ON leads (client, created_at, id)",
    "leads_campaign ON leads (client, campaign_id, created_at, id)",
    "leads_status ON leads (client, status, created_at, id)",
    "leads_external ON leads (client, external_id)",
    "leads_phone ON leads (client, phone)",
    "calls_page ON calls (client, created_at, id)",
    "calls_campaign ON calls (client, campaign_id, created_at, id)",
    "calls_lead ON calls (client, lead_id, created_at, id)",
    "live_calls_due ON live_calls (ends_at)",
    "callbacks_campaign ON callbacks (client, campaign_id, created_at, id)",
    "appointments_page ON appointments (client, created_at, id)",
    "consents_phone ON consents (client, phone)",
    "messages_page ON messages (client, created_at, id)",
    "messages_reference ON messages (client, client_reference)",
    "outbox_about ON outbox (client, about)",
    "spent_at ON spent (at)",
    "webhooks_page ON webhooks (client, created_at, id)",
    "events_page ON events (client, created_at, id)",
    "deliveries_event ON deliveries (client, event_id)",
    "deliveries_webhook ON deliveries (client, webhook_id)",
    "deliveries_due ON deliveries (next_attempt_at) WHERE next_attempt_at IS NOT NULL",
    "replays_event ON replays (client, event_id, at)",
)

#: Tables whose rows are found by (client, id).
IDENTIFIED: Final[tuple[str, ...]] = (
    "campaigns", "leads", "calls", "callbacks", "appointments", "consents", "messages",
    "webhooks", "events", "deliveries",
)  # fmt: skip


def table_statements() -> tuple[str, ...]:
    """SQL that makes the tables."""
    return tuple(f"CREATE TABLE {name} ({columns})" for name, columns in TABLES.items())


def index_statements() -> tuple[str, ...]:
    """SQL that makes the indexes."""
    unique = (f"CREATE UNIQUE INDEX {name}_id ON {name} (client, id)" for name in IDENTIFIED)
    return (*unique, *(f"CREATE INDEX {index}" for index in INDEXES))
