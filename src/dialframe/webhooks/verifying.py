"""Checks that a delivery is the service's own and fresh (contract, Events: Delivery).

The signature covers the timestamp and the body, and nothing else. What the other headers say is therefore
held against the body: nobody who overheard a delivery can send it again under another event's id.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

from pydantic import ValidationError

from dialframe.contract import limits
from dialframe.contract.models import webhook_models
from dialframe.contract.models.webhook_models import Envelope
from dialframe.errors import ConfigError, WebhookError
from dialframe.privacy import PHONE_FIELDS, mask


@dataclass(frozen=True, slots=True, repr=False)
class Delivery:
    """One genuine delivery of one event; the repr has its numbers masked.

    Attributes:
        event_id: The event's id; deliveries of the same event have the same one.
        delivery_id: This delivery's id, as its header says it: no signature covers it.
        type: The event's type.
        envelope: What was delivered.
        received_at: The receiver's clock when it was checked.
        raw: The body's bytes, exactly as they came.
    """

    event_id: str
    delivery_id: str
    type: str
    envelope: Envelope
    received_at: datetime
    raw: bytes

    def __repr__(self) -> str:
        return (
            f"Delivery(type={self.type!r}, event_id={self.event_id!r}, "
            f"delivery_id={self.delivery_id!r}, created_at={self.envelope.created_at.isoformat()}, "
            f"received_at={self.received_at.isoformat()}, data={mask(self.envelope.data, reach='json')!r})"
        )


def record(delivery: Delivery) -> dict[str, Any]:
    """A delivery as a row of the events table: every field of the body as it came, and when it came."""
    body: dict[str, Any] = json.loads(delivery.raw)
    return body | {
        "created_at": delivery.envelope.created_at,
        "received_at": delivery.received_at,
        "delivery_id": delivery.delivery_id,
    }


def as_json(delivery: Delivery, *, show_numbers: bool = False) -> str:
    """A delivery as one line of JSON in ASCII, its numbers masked unless they are asked for."""
    row = record(delivery)
    for name in ("created_at", "received_at"):
        row[name] = row[name].isoformat()
    return json.dumps(row if show_numbers else mask(row, reach="json"))


def as_line(delivery: Delivery, *, show_numbers: bool = False) -> str:
    """A delivery as one line for people: when, type, event id, and the numbers that it is about."""
    row = record(delivery) if show_numbers else mask(record(delivery), reach="json")
    parts = [
        f"{delivery.received_at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z",
        f"{delivery.type:<21}",
        delivery.event_id,
        *_numbers(row.get("data")),
    ]
    # What came over the wire must not steer the terminal.
    return "".join(letter if letter.isprintable() else "?" for letter in "  ".join(parts))


def _numbers(value: Any) -> Iterator[str]:
    """What stands in the fields that are numbers, in order, wherever they are in the value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if (
                name in PHONE_FIELDS
                and isinstance(inner, str | int)
                and inner not in (True, False)
            ):
                yield str(inner)
            else:
                yield from _numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner)


#: Headers of every delivery, in the contract's order.
HEADERS: Final = (
    webhook_models.SIGNATURE_HEADER,
    webhook_models.TIMESTAMP_HEADER,
    webhook_models.EVENT_ID_HEADER,
    webhook_models.EVENT_HEADER,
    webhook_models.DELIVERY_ID_HEADER,
)
HEADER_CHARS: Final = 255

# Plain digits, as the service writes them; `int` would take `+5`, `1_0` and Arabic digits.
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
        >>> signature = webhook_models.sign(body, timestamp_s=timestamp_s, secrets=[secret])
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
    named_headers = _headers(headers)
    # Contract, Events, Delivery 1 and 3: over the raw bytes, in constant time.
    signed_s = _timestamp(named_headers[webhook_models.TIMESTAMP_HEADER], now)
    signature = named_headers[webhook_models.SIGNATURE_HEADER]
    if not signature.isascii() or not _matches(raw_body, signature, signed_s, keys):
        raise WebhookError(
            "the delivery's signature was made with none of the secrets given, or its body was changed "
            "on the way; check the endpoint's secret, and that nothing rewrites the body",
            why="bad_signature",
        )
    envelope = _envelope(raw_body, named_headers)
    return Delivery(
        event_id=envelope.id,
        delivery_id=_identifier(named_headers, webhook_models.DELIVERY_ID_HEADER),
        type=envelope.type,
        envelope=envelope,
        received_at=now,
        raw=raw_body,
    )


def usable(secrets: Sequence[str] | str) -> tuple[str, ...]:
    """The secrets without blanks around them: with an empty one, anybody could sign."""
    all_secrets = (secrets,) if isinstance(secrets, str) else secrets
    # A secret out of a file ends with a line end.
    keys = tuple(key.strip() for key in all_secrets)
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
    texts = {name: value.strip() for name, value in values.items() if isinstance(value, str)}
    for name in HEADERS:
        if not texts.get(name):
            raise _refusal("missing_header", f"the delivery has no {name} header")
    return texts


def _identifier(given: Mapping[str, str], name: str) -> str:
    value = given[name]
    if not (value.isascii() and value.isprintable() and len(value) <= HEADER_CHARS):
        raise _refusal("missing_header", f"the delivery has no usable {name} header")
    return value


def _timestamp(text: str, now: datetime) -> int:
    if not _UNIX_SECONDS.fullmatch(text):
        raise _refusal("bad_timestamp", "the delivery's timestamp is not a number of Unix seconds")
    # Contract, Events, Delivery 2.
    # Either way: a clock that is ahead is as wrong as one that is behind.
    late_s = now.timestamp() - int(text)
    if abs(late_s) > limits.SIGNATURE_TOLERANCE_S:
        side, advice = (
            "behind",
            "it is an old delivery sent again, or this machine's clock is ahead",
        )
        if late_s < 0:
            side, advice = "ahead of", "this machine's clock is behind, or the sender's ahead"
        raise WebhookError(
            f"the delivery was signed {abs(late_s):,.0f} seconds {side} this machine's clock, and "
            f"{limits.SIGNATURE_TOLERANCE_S} are allowed: {advice}",
            why="stale",
        )
    return int(text)


def _matches(body: bytes, signature: str, timestamp_s: int, secrets: Sequence[str]) -> bool:
    """Whether any of the signatures was made with any of the secrets; all are compared, each in constant time."""
    # Contract, Events, Delivery 4: during a rotation `sha256=<new>,sha256=<old>`.
    digests = [part.strip().removeprefix(webhook_models.SCHEME) for part in signature.split(",")]
    expected = [webhook_models.digest(body, timestamp_s, secret) for secret in secrets]
    matches = [hmac.compare_digest(sent, made) for sent in digests for made in expected]
    return any(matches)


def _envelope(raw_body: bytes, given: Mapping[str, str]) -> Envelope:
    try:
        # RFC 8259 knows neither NaN nor Infinity, which Python's reader takes.
        body = json.loads(raw_body.decode("utf-8"), parse_constant=_no_constant)
        envelope = Envelope.model_validate(body)
    except ValidationError as error:
        # The place alone: values of a signed body may be numbers of people.
        where = ".".join(str(step) for step in error.errors(include_input=False)[0]["loc"])
        raise _refusal(
            "bad_body", f"the signed body is not an event: {where or 'its top'} is wrong"
        ) from None
    except (ValueError, RecursionError):
        raise _refusal("bad_body", "the signed body is not JSON in UTF-8") from None
    named = (
        _identifier(given, webhook_models.EVENT_ID_HEADER),
        given[webhook_models.EVENT_HEADER],
    )
    # Neither header is signed: an old delivery under a new id would pass for a new event.
    if named != (envelope.id, envelope.type):
        raise _refusal("bad_body", "the headers name another event than the signed body")
    return envelope


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refusal(why: str, what: str) -> WebhookError:
    return WebhookError(f"{what}; it is not one of the service's deliveries", why=why)
