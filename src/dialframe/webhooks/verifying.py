"""Checks that a delivery is the service's own and fresh (contract, Events: Delivery).

The signature covers the timestamp and the body, and nothing else. What the other headers say is therefore
held against the body: nobody who overheard a delivery can send it again under another event's id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NoReturn

from pydantic import ValidationError

from dialframe.contract import limits, webhook_envelope
from dialframe.contract.webhook_envelope import Envelope
from dialframe.errors import ConfigError, WebhookError
from dialframe.webhooks.received_delivery import Delivery

#: Headers of every delivery, in the contract's order.
HEADERS: Final = (
    webhook_envelope.SIGNATURE_HEADER,
    webhook_envelope.TIMESTAMP_HEADER,
    webhook_envelope.EVENT_ID_HEADER,
    webhook_envelope.EVENT_HEADER,
    webhook_envelope.DELIVERY_ID_HEADER,
)
HEADER_CHARS: Final = 255

_UNIX_SECONDS: Final = re.compile(r"0|[1-9][0-9]{0,11}", re.ASCII)


def verify(
    raw_body: bytes, headers: Mapping[str, str], secrets: Sequence[str] | str, now: datetime
) -> Delivery:
    """Read a delivery, and check that it is the service's own, fresh, and an event.

    Args:
        raw_body: The body's bytes exactly as they came, before anything parsed them.
        headers: The request's headers; upper and lower case are the same.
        secrets: The endpoint's signing secret, or during a rotation the new and the previous one.
        now: The receiver's clock, with a zone.

    Returns:
        The delivery.

    Raises:
        WebhookError: `why` is `missing_header`; `bad_timestamp`, no Unix seconds; `stale`, more than 300
            seconds from `now` either way; `bad_signature`, made with none of the secrets or over other
            bytes; or `bad_body`, signed by the service but not the event that the headers name.
        ConfigError: There is no secret, the body is not bytes, or `now` has no zone.

    Example:
        >>> from datetime import UTC
        >>> body = (
        ...     b'{"id": "evt_1", "type": "webhook.test", "created_at": "2026-10-01T09:00:00Z", '
        ...     b'"api_version": "v1", "schema_version": 1, "data": {}}'
        ... )
        >>> now, secret = datetime(2026, 10, 1, 9, 0, 5, tzinfo=UTC), "whsec_example"
        >>> timestamp_s = int(now.timestamp())
        >>> signature = webhook_envelope.sign(body, timestamp_s=timestamp_s, secrets=[secret])
        >>> values = (signature, str(timestamp_s), "evt_1", "webhook.test", "dlv_1")
        >>> verify(body, dict(zip(HEADERS, values, strict=True)), secret, now).type
        'webhook.test'
    """
    keys = usable(secrets)
    if not isinstance(raw_body, bytes):
        raise ConfigError(
            "the raw body must be the bytes as they came, before anything parsed them"
        )
    if now.tzinfo is None:
        raise ConfigError("now has no time zone; pass datetime.now(UTC)")
    given = _headers(headers)
    signed_s = _timestamp(given[webhook_envelope.TIMESTAMP_HEADER], now)
    signature = given[webhook_envelope.SIGNATURE_HEADER]
    if not signature.isascii() or not webhook_envelope.signature_matches(
        raw_body, signature=signature, timestamp_s=signed_s, now_s=now.timestamp(), secrets=keys
    ):
        raise WebhookError(
            "the delivery's signature was made with none of the secrets given, or its body was changed "
            "on the way; check the endpoint's secret, and that nothing rewrites the body",
            why="bad_signature",
        )
    envelope = _envelope(raw_body, given)
    return Delivery(
        event_id=envelope.id,
        delivery_id=_identifier(given, webhook_envelope.DELIVERY_ID_HEADER),
        type=envelope.type,
        envelope=envelope,
        received_at=now,
        raw=raw_body,
    )


def usable(secrets: Sequence[str] | str) -> tuple[str, ...]:
    """The secrets without blanks around them: with an empty one, anybody could sign."""
    given = (secrets,) if isinstance(secrets, str) else secrets
    keys = tuple(key.strip() for key in given)
    if not keys or not all(key and key.isascii() for key in keys):
        raise ConfigError(
            "the webhook endpoint's signing secret is missing or not one; it was shown once when the "
            "endpoint was made, and rotating it gives a new one"
        )
    return keys


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    pairs: Mapping[Any, Any] = headers
    lower = {name.lower(): value for name, value in pairs.items() if isinstance(name, str)}
    values = {name: lower.get(name.lower()) for name in HEADERS}
    given = {name: value.strip() for name, value in values.items() if isinstance(value, str)}
    for name in HEADERS:
        if not given.get(name):
            raise _refused("missing_header", f"the delivery has no {name} header")
    return given


def _identifier(given: Mapping[str, str], name: str) -> str:
    value = given[name]
    if not (value.isascii() and value.isprintable() and len(value) <= HEADER_CHARS):
        raise _refused("missing_header", f"the delivery has no usable {name} header")
    return value


def _timestamp(text: str, now: datetime) -> int:
    if not _UNIX_SECONDS.fullmatch(text):
        raise _refused("bad_timestamp", "the delivery's timestamp is no number of Unix seconds")
    away_s = abs(now.timestamp() - int(text))
    if away_s > limits.SIGNATURE_TOLERANCE_S:
        raise WebhookError(
            f"the delivery was signed {away_s:,.0f} seconds from this machine's clock, and "
            f"{limits.SIGNATURE_TOLERANCE_S} are allowed; check the clock",
            why="stale",
        )
    return int(text)


def _envelope(raw_body: bytes, given: Mapping[str, str]) -> Envelope:
    try:
        body = json.loads(raw_body.decode("utf-8"), parse_constant=_no_constant)
        envelope = Envelope.model_validate(body)
    except ValidationError as error:
        where = ".".join(str(step) for step in error.errors(include_input=False)[0]["loc"])
        raise _refused(
            "bad_body", f"the signed body is no event: {where or 'its top'} is wrong"
        ) from None
    except (ValueError, RecursionError):
        raise _refused("bad_body", "the signed body is not JSON in UTF-8") from None
    named = (
        _identifier(given, webhook_envelope.EVENT_ID_HEADER),
        given[webhook_envelope.EVENT_HEADER],
    )
    if named != (envelope.id, envelope.type):
        raise _refused("bad_body", "the headers name another event than the signed body")
    return envelope


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refused(why: str, what: str) -> WebhookError:
    return WebhookError(f"{what}; it is not one of the service's deliveries", why=why)
