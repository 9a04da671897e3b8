"""Signatures of deliveries, and the envelope."""

from __future__ import annotations

import hashlib
import hmac

from dialframe.contract.models import webhook_models

SECRET, OLD = "whsec_new-secret", "whsec_old-secret"
BODY = b'{"id":"evt_1"}'
NOW = 1_790_000_000


def test_signature_is_what_the_contract_describes() -> None:
    """HMAC-SHA256 over timestamp, dot and raw body, keyed with the secret's whole text."""
    by_hand = hmac.new(SECRET.encode(), b"1790000000." + BODY, hashlib.sha256).hexdigest()

    assert webhook_models.sign(BODY, timestamp_s=NOW, secrets=[SECRET]) == f"sha256={by_hand}"


def test_rotation_sends_both_signatures() -> None:
    """During a rotation new and old signatures travel together."""
    signatures = [
        webhook_models.sign(BODY, timestamp_s=NOW, secrets=[one]) for one in (SECRET, OLD)
    ]

    assert webhook_models.sign(BODY, timestamp_s=NOW, secrets=[SECRET, OLD]) == ",".join(
        signatures
    )


def test_envelope_reads_what_is_delivered() -> None:
    """The envelope's fields are read, and data stays as it was delivered."""
    envelope = webhook_models.Envelope.model_validate(
        {
            "id": "evt_00000000-0000-4000-8000-000000000007",
            "type": "disposition.logged",
            "created_at": "2026-09-14T15:06:35Z",
            "api_version": "v1",
            "schema_version": 1,
            "data": {"disposition_code": "NI"},
            "call_details": {
                "schema_version": 1,
                "summary": {"status": "ready", "text": "declined", "truncated": False},
                "disposition": {"status": "ready", "code": "NI", "follow_up_at": None},
            },
        }
    )

    assert envelope.data == {"disposition_code": "NI"}
    assert envelope.call_details is not None
    assert envelope.call_details.disposition is not None
    assert envelope.call_details.disposition.code == "NI"
