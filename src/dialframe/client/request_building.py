"""A request as bytes: its bounds checked, its fields put into path, query and body, and what it does to people; pure."""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, Literal, TypeVar, get_args
from urllib.parse import quote, unquote, urlencode

from pydantic import ValidationError

from dialframe.contract import limits
from dialframe.contract.models.base_models import E164, PREFIXES, Answer, Request, pattern
from dialframe.contract.operations import BY_NAME, Operation
from dialframe.errors import ConfigError
from dialframe.privacy import mask

KEY_HEADER: Final = "Idempotency-Key"
CORRELATION_HEADER: Final = "X-Correlation-ID"
IF_MATCH_HEADER: Final = "If-Match"

#: What is known of a write; what each means is in `journal`.
State = Literal["pending", "answered", "outcome_unknown", "failed"]

#: How long a key is asked with again. The service forgets keys after 24 hours; the minute is for the way.
KEY_LIFE: Final = timedelta(hours=limits.IDEMPOTENCY_RETENTION_HOURS) - timedelta(minutes=1)
#: A write that reaches people is sent again only so long after it was meant, where it says nothing else.
WINDOW: Final = timedelta(minutes=5)

#: What an operation does to people when it happens, and the field that says to whom.
REACHES: Final[Mapping[str, tuple[str, str]]] = {
    "calls.start": ("calls", "to"),
    "leads.create": ("calls", "phone"),
    "campaigns.resume": ("starts the calls of", "campaign_id"),
    "sms.send": ("texts", "to"),
    "whatsapp.send": ("texts", "to"),
    "callbacks.create": ("has the platform call", "lead_id"),
    "callbacks.reschedule": ("has the platform call the lead of", "callback_id"),
    "appointments.create": ("may text", "phone"),
    "appointments.cancel": ("may text the customer of", "appointment_id"),
    "appointments.reschedule": ("may text the customer of", "appointment_id"),
}

Made = TypeVar("Made")

#: Patterns in words that a person can act on.
PATTERNS: Final[dict[str, str]] = {
    get_args(E164)[1].pattern: "an E.164 number: +, country code, number, 7 to 15 digits in all",
    **{
        pattern(kind): f"a {kind.replace('_', ' ')} id: {prefix} and a lower-case UUID"
        for kind, prefix in PREFIXES.items()
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRequest:
    """A request, ready to be sent as often as need be, each time with the same bytes.

    Attributes:
        operation: Name of the row.
        method: HTTP method.
        path: Below the base URL, ids filled in.
        query: Encoded query, without `?`.
        headers: All but `Authorization`, which the transport adds last.
        body: The body, or None.
    """

    operation: str
    method: str
    path: str
    query: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = field(default=None, repr=False)

    @property
    def key(self) -> str | None:
        """The idempotency key, or None."""
        return self.headers.get(KEY_HEADER)

    @property
    def digest(self) -> str:
        """SHA-256 of what makes two requests the same: method, path, query and body."""
        # Headers are left out: the key and the correlation id do not make it another request.
        head = f"{self.method} {self.path}?{self.query}\n".encode()
        return hashlib.sha256(head + (self.body or b"")).hexdigest()


def plan(
    operation: Operation[Any, Any],
    request: Request,
    *,
    key: str | None = None,
    correlation_id: str | None = None,
    if_match: str | None = None,
) -> PlannedRequest:
    """The bytes of a request."""
    # Idempotency 1 and 8: writes need a key, PATCH may have one, reads do not use it.
    if key is not None and operation.key == "none":
        raise ConfigError(f"{operation.name}: it changes nothing and takes no idempotency_key")
    if key is None and operation.key == "required":
        raise ConfigError(f"{operation.name}: it changes data and needs an idempotency_key")
    # Endpoints, Common request parts: `If-Match` is for two operations alone.
    if if_match is not None and not operation.if_match:
        raise ConfigError(f"{operation.name}: it does not understand if_match")
    # Endpoints, Leads: null clears a field, and what is not sent stays.
    if operation.method == "PATCH":
        values = request.model_dump(exclude_unset=True)
    else:
        values = request.model_dump(exclude_none=True)
    # An id is text of the caller's: a slash or a `?` in it would be another path.
    path = operation.path.format_map(
        {name: quote(str(values.get(name, "")), safe="") for name in operation.path_names}
    )
    query = urlencode([(name, _text(values[name])) for name in operation.query_names
                       if values.get(name) is not None])  # fmt: skip
    body = None
    if operation.method in ("POST", "PATCH"):
        named = {name: values[name] for name in operation.body_names if name in values}
        body = encoded(operation.name, named, _jsonable)
    headers = {
        "Accept": "*/*" if operation.streamed else "application/json",
        "Content-Type": None if body is None else "application/json",
        KEY_HEADER: key,
        CORRELATION_HEADER: correlation_id,
        IF_MATCH_HEADER: if_match,
    }
    return PlannedRequest(
        operation=operation.name,
        method=operation.method,
        path=path,
        query=query,
        headers={name: value for name, value in headers.items() if value is not None},
        body=body,
    )


class Etags:
    """ETags by the identity of the value that came with them.

    Models compare by content, and two reads of one lead may be equal with different ETags, so
    the value itself is the key and not what it says.
    """

    def __init__(self) -> None:
        """Start with none."""
        # By `id()`: weak keys would compare by content, as models do.
        self._known: dict[int, tuple[weakref.ref[Answer], str]] = {}

    def remember(self, value: Answer, etag: str) -> None:
        """Keep the ETag for as long as the value lives."""
        identity = id(value)

        def forget(_: object) -> None:
            self._known.pop(identity, None)

        self._known[identity] = (weakref.ref(value, forget), etag)

    def of(self, value: Answer) -> str | None:
        """The ETag that the value came with, or None."""
        reference, etag = self._known.get(id(value), (None, None))
        # An id may be another object's by now: the reference says whose it was.
        return etag if reference is not None and reference() is value else None


def checked(operation: str, make: Callable[[], Made], *, root: str = "") -> Made:
    """What `make` builds: a request, or a part of one."""
    try:
        return make()
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
    first = problems[0]
    field = root + where(first["loc"])
    if first["type"] == "string_pattern_mismatch":
        expected = str(first.get("ctx", {}).get("pattern"))
        sentence = f"{field} should be {PATTERNS.get(expected, f'text like {expected}')}"
    else:
        says = first["msg"].removeprefix("Value error, ")
        says = says[:1].lower() + says[1:]
        sentence = f"{field}: {says}" if field else says
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    raise ConfigError(f"{operation}: {sentence}{more}; nothing was sent")


def encoded(operation: str, body: Mapping[str, Any], default: Callable[[Any], Any]) -> bytes:
    """The body as JSON in UTF-8."""
    try:
        text = json.dumps(
            body, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=default
        )
        data = text.encode()
    except (TypeError, ValueError, RecursionError):
        raise ConfigError(
            f"{operation}: a value is not JSON: use text, finite numbers, booleans, lists, "
            "objects; nothing was sent"
        ) from None
    # Contract, Limits: request body, JSON depth.
    if len(data) > limits.BODY_BYTES:
        raise ConfigError(
            f"{operation}: the request is {len(data):,} bytes and {limits.BODY_BYTES:,} are "
            "allowed: send less at once; nothing was sent"
        )
    if _depth(body) > limits.JSON_DEPTH:
        raise ConfigError(
            f"{operation}: the request is nested deeper than {limits.JSON_DEPTH} levels: "
            "flatten it; nothing was sent"
        )
    return data


def where(location: tuple[int | str, ...]) -> str:
    """A path into a value as Python writes it: `leads[3].phone`."""
    path = ""
    for step in location:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
    return path


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=_jsonable).strip('"')


def _jsonable(value: Any) -> str:
    # Contract, Conventions: timestamps are ISO 8601 in UTC.
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _depth(value: Any) -> int:
    if isinstance(value, Mapping):
        return 1 + max((_depth(item) for item in value.values()), default=0)
    if isinstance(value, list | tuple):
        return 1 + max((_depth(item) for item in value), default=0)
    return 0


@dataclass(frozen=True, slots=True)
class Reach:
    """What a request does to people.

    Attributes:
        what: In words, numbers masked.
        to: Whom, masked, or the id of what leads to them.
        late_at: When doing it begins to be late; None for what reaches nobody by itself.
    """

    what: str
    to: str | None
    late_at: datetime | None


def reach_of(request: PlannedRequest | None, meant_at: datetime) -> Reach | None:
    """What a request does to people, meant at an instant; None without its bytes.

    A lead that is dialed first has a window of its own (`dial_within_seconds`), a callback is due
    at its `scheduled_at`; everything else that calls or texts has five minutes.
    """
    if request is None:
        return None
    fields = fields_of(request)
    # Endpoints, Leads: without `dial_now` a new lead is called when its campaign comes to it.
    # What is not in the table calls nobody by itself, whenever it is sent.
    verb, name = REACHES.get(request.operation, ("", ""))
    if not verb or (request.operation == "leads.create" and not fields.get("dial_now")):
        to = fields.get("phone") or fields.get("to")
        whom = mask(to) if isinstance(to, str) else _id_in(request.path)
        return Reach(f"{request.operation} {whom or ''}".strip(), whom, None)
    # What names nobody in its body names in its path whose calls it starts or moves.
    value = str(fields.get(name) or _id_in(request.path) or "somebody")
    whom = mask(value) if value.startswith("+") else value
    # The contract gives no window for these: five minutes are ours.
    window = WINDOW
    if request.operation == "leads.create":
        window = timedelta(
            seconds=fields.get("dial_within_seconds") or limits.DIAL_WITHIN_DEFAULT_S
        )
    late_at, due = meant_at + window, ""
    # States, Callback: "when due the platform calls the lead", however early it was asked for.
    if "scheduled_at" in fields and request.operation.startswith("callbacks."):
        scheduled_at = datetime.fromisoformat(fields["scheduled_at"])
        late_at, due = max(late_at, scheduled_at), f" at {scheduled_at:%Y-%m-%d %H:%M} UTC"
    return Reach(f"{verb} {whom}{due}", whom, late_at)


def fields_of(request: PlannedRequest) -> dict[str, Any]:
    """What a request says in its body; nothing where that is no object."""
    try:
        body = json.loads(request.body or b"{}")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _id_in(path: str) -> str | None:
    """The id in a path such as `/v1/campaigns/cmp_.../resume`, or None."""
    return next((unquote(part) for part in path.split("/") if "_" in part and "-" in part), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One write as the journal has it.

    Attributes:
        key: Its idempotency key.
        operation: Name of the operation.
        created_at: When it was first about to be sent, UTC.
        state: What is known of it.
        status: HTTP status of the last answer, or None.
        code: Code of the last refusal, or None.
        request_id: `X-Request-ID` of the last answer, or None.
        what: What it does, in words, numbers masked; the operation's name once its bytes are gone.
        to: Whom it reaches, masked, or the id of what it changes; None where it names nobody.
        tier: 1 for what is safe or reduces contact, 2 for what can reach people (contract, Tiers).
        late_at: When sending it again begins to be late; None for what reaches nobody by itself.
        digest: SHA-256 of method, path, query and body.
        request: The request with its bytes; None once it is settled, or older than 24 hours.
    """

    key: str
    operation: str
    created_at: datetime
    state: State
    status: int | None
    code: str | None
    request_id: str | None
    what: str
    to: str | None
    tier: int
    late_at: datetime | None
    digest: str = field(repr=False)
    request: PlannedRequest | None = field(repr=False)

    def expired(self, now: datetime) -> bool:
        """Whether the service may have forgotten the key.

        Args:
            now: An instant with a zone.

        Returns:
            True from 24 hours after it was first about to be sent.
        """
        return now - self.created_at >= KEY_LIFE

    def late(self, now: datetime) -> bool:
        """Whether sending it again would reach people later than it was meant.

        Args:
            now: An instant with a zone.

        Returns:
            True after `late_at`; false for a write that reaches nobody, and for one whose outcome the
            service itself does not know.
        """
        # The service itself keeps a key whose outcome it does not know, and never acts on it again.
        return self.late_at is not None and now > self.late_at and self.state != "outcome_unknown"

    def __str__(self) -> str:
        return (
            f"{self.operation} of {self.created_at:%Y-%m-%d %H:%M} UTC ({self.state}): {self.what}"
        )


def write_of(row: Mapping[str, Any]) -> Write:
    """A row of the journal as a value."""
    request = None
    if row["query"] is not None:
        request = PlannedRequest(
            operation=row["operation"],
            method=row["method"],
            path=row["path"],
            query=row["query"],
            headers=json.loads(row["headers"]),
            body=row["body"],
        )
    operation, created_at = row["operation"], datetime.fromisoformat(row["created_at"])
    reach = reach_of(request, created_at)
    operation_row = BY_NAME.get(operation)
    return Write(
        key=row["key"],
        operation=operation,
        created_at=created_at,
        what=operation if reach is None else reach.what,
        to=None if reach is None else reach.to,
        tier=1 if operation_row is None else operation_row.tier,
        late_at=None if reach is None else reach.late_at,
        state=row["state"],
        status=row["status"],
        code=row["code"],
        request_id=row["request_id"],
        # The digest stays when the bytes go, so that a key is never taken for another request's.
        digest=row["digest"],
        request=request,
    )


def refuse_reuse(earlier: Write, request: PlannedRequest, now: datetime, *, late: bool) -> None:
    """Refuse to send a key again that stands for something else, is too old, or would reach people late."""
    # Idempotency 5: the same key with a different request answers `idempotency_conflict`.
    if earlier.digest != request.digest:
        raise ConfigError(
            f"{request.operation}: the idempotency key {earlier.key!r} belongs to another request "
            f"({earlier.operation}): use a new key for a new request"
        )
    # Idempotency 2: the service keeps a key for 24 hours.
    # What failed did not happen, so its key may begin anew.
    if earlier.expired(now) and earlier.state != "failed":
        raise too_old(earlier)
    if earlier.state == "pending" and earlier.late(now) and not late:
        raise too_late(earlier, "options=Options(late=True)")


def too_late(write: Write, unless: str) -> ConfigError:
    """The refusal to reach people later than it was meant."""
    return ConfigError(
        f"{write.operation}: the write {write.key!r} was meant at {write.created_at:%Y-%m-%d %H:%M} UTC "
        f"and has no answer; sent again, it {write.what} now if the service never had it, which is "
        f"late: look at the resource first, then client.writes.dismiss({write.key!r}), which sends "
        f"nothing, or give {unless}"
    )


def too_old(write: Write) -> ConfigError:
    """The refusal to ask with a key that the service may have forgotten."""
    return ConfigError(
        f"{write.operation}: the idempotency key {write.key!r} is from "
        f"{write.created_at.isoformat()} and the service keeps keys "
        f"{limits.IDEMPOTENCY_RETENTION_HOURS} hours, so sending it again may do it twice: look at "
        "the resource first, then either make the write anew with a new key, or take this one off "
        f"the list with client.writes.dismiss({write.key!r})"
    )
