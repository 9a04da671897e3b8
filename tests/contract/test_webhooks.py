"""Signatures of deliveries, and the envelope."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from dialframe.contract.models import webhook_models

SECRET, OLD = "whsec_new-secret", "whsec_old-secret"
BODY = b'{"id":"evt_1"}'
NOW = 1_790_000_000


def test_signature_is_what_the_contract_describes() -> None:
    """HMAC-SHA256 over timestamp, dot and raw body, keyed with the secret's whole text."""
    by_hand = hmac.new(SECRET.encode(), b"1790000000." + BODY, hashlib.sha256).hexdigest()

    assert webhook_models.sign(BODY, timestamp_s=NOW, secrets=[SECRET]) == f"sha256={by_hand}"


def test_rotation_sends_both_signatures_and_either_secret_matches() -> None:
    """During a rotation new and old signatures travel together, and a holder of either accepts."""
    signature = webhook_models.sign(BODY, timestamp_s=NOW, secrets=[SECRET, OLD])

    assert signature.count("sha256=") == 2
    for held in (SECRET, OLD):
        assert webhook_models.signature_matches(
            BODY, signature=signature, timestamp_s=NOW, now_s=NOW, secrets=[held]
        )


@pytest.mark.parametrize(
    ("drift_s", "fresh"), [(0, True), (300, True), (-300, True), (301, False), (-301, False)]
)
def test_timestamp_may_be_300_seconds_away(drift_s: int, fresh: bool) -> None:
    """A delivery is fresh up to 300 seconds from the receiver's clock, both ways."""
    signature = webhook_models.sign(BODY, timestamp_s=NOW, secrets=[SECRET])

    assert fresh == webhook_models.signature_matches(
        BODY, signature=signature, timestamp_s=NOW, now_s=NOW + drift_s, secrets=[SECRET]
    )


@pytest.mark.parametrize(
    "signature", ["", "sha256=", "sha256=00", "nonsense", "sha256=é", ",,,", "md5=abc"]
)
def test_other_signatures_do_not_match(signature: str) -> None:
    """Anything but the right digest is refused, also text that is no digest."""
    assert not webhook_models.signature_matches(
        BODY, signature=signature, timestamp_s=NOW, now_s=NOW, secrets=[SECRET]
    )


def test_changed_body_does_not_match() -> None:
    """One byte more in the body and the signature no longer holds."""
    signature = webhook_models.sign(BODY, timestamp_s=NOW, secrets=[SECRET])

    assert not webhook_models.signature_matches(
        BODY + b" ", signature=signature, timestamp_s=NOW, now_s=NOW, secrets=[SECRET]
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
