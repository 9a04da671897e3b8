"""Made deliveries: an event's body with its five headers, signed by hand; reserved numbers only."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

NOW = datetime(2026, 9, 14, 15, 6, 35, tzinfo=UTC)
SECRET, OLD = "whsec_new-secret", "whsec_old-secret"
PERSON, CALLER = "+12125550142", "+12125550199"


@dataclass(frozen=True)
class Made:
    """One request as the service sends it."""

    body: bytes
    headers: dict[str, str]

    def without(self, name: str) -> Made:
        """The same without a header."""
        return replace(self, headers={k: v for k, v in self.headers.items() if k != name})

    def having(self, name: str, value: str) -> Made:
        """The same with another value of a header."""
        return replace(self, headers={**self.headers, name: value})


def event(number: int = 1, **changes: Any) -> dict[str, Any]:
    """An envelope."""
    return {
        "id": f"evt_{uuid.UUID(int=number)}",
        "type": "call.completed",
        "created_at": "2026-09-14T15:06:30Z",
        "api_version": "v1",
        "schema_version": 1,
        "data": {
            "call_id": f"call_{uuid.UUID(int=number)}",
            "direction": "outbound",
            "status": "completed",
            "from": CALLER,
            "to": PERSON,
            "duration_seconds": 61,
        },
        "call_details": {
            "schema_version": 1,
            "summary": {
                "status": "ready",
                "text": "ring me at (212) 555-0142",
                "truncated": False,
            },
            "disposition": {"status": "ready", "code": "NI", "logged_at": "2026-09-14T15:06:29Z"},
        },
    } | changes


def delivery(
    envelope: dict[str, Any] | bytes | None = None,
    *,
    secrets: tuple[str, ...] = (SECRET,),
    at: datetime = NOW,
    number: int = 1,
) -> Made:
    """A delivery of an envelope (or of any bytes), signed at an instant with the secrets."""
    given = event(number) if envelope is None else envelope
    body = given if isinstance(given, bytes) else json.dumps(given).encode()
    facts = event(number) if isinstance(given, bytes) else given
    stamp = str(int(at.timestamp()))
    digests = [
        hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
        for secret in secrets
    ]
    headers = {
        "Service-Signature": ",".join(f"sha256={digest}" for digest in digests),
        "Service-Timestamp": stamp,
        "Service-Event-Id": str(facts["id"]),
        "Service-Event": str(facts["type"]),
        "Service-Delivery-Id": f"whd_{uuid.uuid4()}",
    }
    return Made(body, headers)


def until(holds: Callable[[], bool], within_s: float = 5.0) -> None:
    """Wait until something holds."""
    import time

    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)
