"""Who is let through and what is a request at all, in the order in which refusals count.

The whole order: body too large, unknown route, method (the app), then what stands here: credential
in URL, authentication, account and client access, address, rate limits, scope, service or tier
switch, sending key; then content type, JSON, credential in body, idempotency key (the pipeline),
validation, existence and state (the handlers).
"""

from __future__ import annotations

import ipaddress
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn
from urllib.parse import parse_qsl, unquote_plus

from pydantic import ValidationError

from dialframe.contract import limits
from dialframe.contract.limits import Bucket
from dialframe.contract.models.base_models import Request
from dialframe.contract.operations import Operation
from dialframe.privacy import KEY
from dialframe.sandbox import clock
from dialframe.sandbox.dialer import contact_checks
from dialframe.sandbox.handlers.requests_and_replies import Inbound
from dialframe.sandbox.world.api_objects import FieldError, Refusal, invalid
from dialframe.sandbox.world.clients_and_keys import Access, Caller
from dialframe.sandbox.world.runtime_state import Buckets

#: Names that carry a credential wherever they stand in a query or at the top of a body.
CREDENTIAL_NAMES: Final = frozenset(
    {
        "api_key", "apikey", "api-key", "x-api-key", "access_token", "token", "authorization",
        "bearer", "credential", "credentials",
    }
)  # fmt: skip

#: Names that are taken for a credential in a query beside those of a body.
QUERY_NAMES: Final = CREDENTIAL_NAMES | {"key", "auth", "secret", "password"}

_BUCKET: Final[dict[str, Bucket]] = {bucket.level: bucket for bucket in limits.BUCKETS}
_BEARER: Final = "bearer "


def admit(
    inbound: Inbound,
    operation: Operation[Any, Any],
    *,
    access: Access,
    buckets: Buckets,
    now_us: int,
) -> Caller:
    """Who calls, once nothing speaks against it."""
    # Contract, Authentication 2: a key in the URL counts as exposed.
    named = any(
        name.lower() in QUERY_NAMES and value
        for name, value in parse_qsl(inbound.query, keep_blank_values=True)
    )
    if named or KEY.search(unquote_plus(f"{inbound.path}?{inbound.query}")):
        raise Refusal("credential_in_url", "Replace it: it is exposed.")
    limited = access.settings.rate_limits is not None
    # Authentication 3 and 4: one answer to every key problem, so that a key's state stays hidden.
    given = inbound.headers.get("authorization", ())
    bearer = len(given) == 1 and given[0].lower().startswith(_BEARER)
    caller = None
    if bearer and access.settings.sandbox_enabled:
        caller = access.caller(given[0][len(_BEARER) :].strip())
    if caller is None:
        # Errors, `invalid_api_key`: refused keys use up their address's rate.
        if limited:
            buckets.drain(_BUCKET["address"], inbound.address, now_us)
        raise Refusal("invalid_api_key", headers=(("WWW-Authenticate", "Bearer"),))
    _check_access(inbound, caller)
    # Limits: a request passes the buckets of key, client, account and address.
    owners = {
        "key": caller.credential.credential_id,
        "client": caller.client.client_id,
        "account": "",
        "address": inbound.address,
    }
    wanted = [(bucket, owners[bucket.level]) for bucket in limits.BUCKETS] if limited else []
    if (wait_s := buckets.take(wanted, now_us)) is not None:
        raise Refusal("rate_limit_exceeded", retry_after_s=wait_s)
    _check_rights(operation, caller)
    return caller


def _check_access(inbound: Inbound, caller: Caller) -> None:
    # Authentication 5: access of the account and of the client, then both of their lists.
    if not (caller.settings.api_access_enabled and caller.client.enabled):
        raise Refusal("api_access_disabled")
    source = ipaddress.ip_address(inbound.address)
    # A socket for both kinds of addresses shows an IPv4 one as mapped (RFC 4291, 2.5.5.2).
    source = getattr(source, "ipv4_mapped", None) or source
    for allowed in (caller.settings.ip_allow, caller.client.ip_allow):
        networks = [ipaddress.ip_network(network, strict=False) for network in allowed]
        if networks and not any(source in network for network in networks):
            raise Refusal("ip_not_allowed")


def _check_rights(operation: Operation[Any, Any], caller: Caller) -> None:
    settings, scope, switch = caller.settings, operation.scope, operation.switch
    # Authentication 6: a client without scopes can call only GET /v1/me.
    if scope is not None and scope not in caller.client.scopes:
        raise Refusal("insufficient_scope", f"This needs the scope {scope}.")
    # Events: webhooks are enabled per account; Tiers: each operation of tier 2 has its switch.
    if scope is not None and scope.startswith("webhooks:") and not settings.webhooks_enabled:
        raise Refusal("webhooks_disabled")
    if operation.name == "whatsapp.send":
        raise Refusal("tier_not_enabled", "WhatsApp sending is not available yet.")
    if switch is not None and not getattr(settings, switch):
        raise Refusal("tier_not_enabled", f"The account switch {switch} is off.")
    # Tiers: click-to-call and SMS need a key of the guided sending setup.
    if operation.sending_key:
        if not caller.credential.sending:
            raise Refusal("tier_not_enabled", "This needs a key of the guided sending setup.")
        contact_checks.sending_allowed(settings)


#: What no text may hold: NUL, and halves of a surrogate pair, which are not characters.
UNFIT: Final = re.compile("[\x00\ud800-\udfff]")

_JSON_TYPE: Final = re.compile(
    r"application/json\s*(;\s*charset\s*=\s*\"?utf-?8\"?\s*)?;?", re.ASCII | re.IGNORECASE
)


# Conventions: bodies are JSON in UTF-8; Errors: 415 `unsupported_media_type`.
def check_media_type(content_type: str | None) -> None:
    """Refuse anything but `application/json` in UTF-8."""
    if content_type is None or not _JSON_TYPE.fullmatch(content_type.strip()):
        raise Refusal("unsupported_media_type", "It has to be application/json.")


def parse(raw: bytes) -> Any:
    """The value of a JSON text: UTF-8, no name twice in an object, finite numbers, fit text."""
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_number
        )
    except RecursionError:
        raise invalid("", "too_deep", "The body is nested too deeply.") from None
    except UnicodeDecodeError:
        raise invalid("", "invalid_encoding", "The body is not UTF-8.") from None
    except ValueError:
        # Also a number with more digits than Python turns into an integer.
        raise invalid("", "invalid_json", "The body is not JSON.") from None
    for pointer, text in _texts(value):
        if UNFIT.search(text):
            raise invalid(pointer, "invalid_text")
    return value


# Authentication 2: a credential in the body answers 400 `credential_in_body`.
def refuse_credential(value: Any) -> None:
    """Refuse a body that carries a key."""
    named = isinstance(value, dict) and any(
        name.lower() in CREDENTIAL_NAMES and isinstance(held, str) and held
        for name, held in value.items()
    )
    if named or any(KEY.search(text) for _, text in _texts(value)):
        raise Refusal("credential_in_body", "Send it in the Authorization header only.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise invalid("", "duplicate_name", "An object of the body has the same name twice.")
    return value


def _no_number(word: str) -> NoReturn:
    raise invalid("", "invalid_json", f"{word} is not a JSON number.")


def _texts(value: Any, pointer: str = "", level: int = 1) -> Iterator[tuple[str, str]]:
    """Every text of a JSON value and every name, with its pointer; no value is infinite or too deep."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, float) and math.isinf(value):
        raise invalid(pointer, "out_of_range")
    elif isinstance(value, dict | list):
        # Limits: JSON depth.
        if level > limits.JSON_DEPTH:
            raise invalid("", "too_deep", f"More than {limits.JSON_DEPTH} levels of nesting.")
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(name, str):
                yield pointer, name
            yield from _texts(item, f"{pointer}/{escape(str(name))}", level + 1)


def escape(name: str) -> str:
    """A name as one token of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


#: Field code by the start of pydantic's error type, first match first.
CODES: Final[tuple[tuple[str, str], ...]] = (
    ("missing", "missing"),
    ("extra_forbidden", "unknown_field"),
    ("too_long", "too_long"),
    ("string_too_long", "too_long"),
    ("too_short", "too_short"),
    ("string_too_short", "too_short"),
    ("greater_than", "out_of_range"),
    ("less_than", "out_of_range"),
    ("literal_error", "not_allowed"),
    ("string_pattern_mismatch", "invalid_format"),
    ("timezone_aware", "invalid_format"),
    ("datetime", "invalid_format"),
    ("date", "invalid_format"),
    ("int_parsing", "invalid_format"),
)

# Limits: leads per import, numbers per DNC check.
#: Lists that answer `batch_too_large` beyond their limit, by operation.
BATCHES: Final[dict[str, tuple[str, int]]] = {
    "leads.import": ("leads", limits.LEADS_PER_IMPORT),
    "dnc.check": ("phones", limits.PHONES_PER_DNC_CHECK),
}

#: Forms of text that a shape alone would take too generously, by field.
FORMS: Final[dict[str, re.Pattern[str]]] = {
    "limit": re.compile(r"[0-9]{1,9}"),
    "scheduled_at": clock.TEXT,
    "obtained_at": clock.TEXT,
    "start_date": clock.DAY_TEXT,
    "end_date": clock.DAY_TEXT,
}


def query_pairs(query: str) -> list[tuple[str, str]]:
    """Names and values of a query string."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
    except ValueError:
        raise invalid("", "invalid_encoding", "The query is not UTF-8.") from None
    for name, value in pairs:
        if UNFIT.search(name + value):
            raise invalid("/" + escape(name), "invalid_text")
    return pairs


def validate(
    operation: Operation[Any, Any],
    shape: type[Request],
    *,
    path: Mapping[str, str],
    query: str,
    body: Any,
) -> Request:
    """The checked request."""
    if not isinstance(body, dict):
        raise invalid("", "wrong_type", "The body has to be a JSON object.")
    # Errors: 400 `batch_too_large`, whatever else is wrong with the items.
    list_name, most = BATCHES.get(operation.name, ("", 0))
    items = body.get(list_name)
    if isinstance(items, list) and len(items) > most:
        raise Refusal("batch_too_large", f"At most {most} items at once; {len(items)} were sent.")
    pairs = query_pairs(query)
    names, values = [name for name, _ in pairs], {**dict(pairs), **body}
    # Conventions: unknown query parameters and unknown fields of the body are refused.
    faulty_names = (
        ("unknown_field", [name for name in names if name not in operation.query_names]),
        ("duplicate_name", sorted({name for name in names if names.count(name) > 1})),
        ("unknown_field", [name for name in body if name not in operation.body_names]),
        ("invalid_format", [name for name in FORMS if _has_no_form(name, values.get(name))]),
    )
    problems = [
        FieldError("/" + escape(name), code) for code, faulty in faulty_names for name in faulty
    ]
    known_fields = {
        **{name: body[name] for name in operation.body_names if name in body},
        **{name: value for name, value in pairs if name in operation.query_names},
        **path,
    }
    # Errors: validation errors add `errors`, each a JSON pointer and a code.
    try:
        request = shape.model_validate(known_fields)
    except ValidationError as error:
        already = {problem.pointer for problem in problems}
        translated = [
            FieldError(
                "".join(f"/{escape(str(part))}" for part in problem["loc"]), _code(problem["type"])
            )
            for problem in error.errors(
                include_url=False, include_context=False, include_input=False
            )
            if not problem["loc"] or problem["loc"][0] not in operation.path_names
        ]
        problems += [problem for problem in translated if problem.pointer not in already]
        raise _refusal(problems) from None
    if problems:
        raise _refusal(problems)
    return request


def _has_no_form(name: str, value: Any) -> bool:
    return isinstance(value, str) and FORMS[name].fullmatch(value) is None


def _code(kind: str) -> str:
    for start, code in CODES:
        if kind.startswith(start):
            return code
    return "wrong_type" if kind.endswith("_type") else "invalid"


def _refusal(problems: list[FieldError]) -> Refusal:
    if not problems:
        # Nothing is wrong but the form of an id in the path: it names nothing.
        return Refusal("not_found")
    named = ", ".join(problem.pointer or "the request" for problem in problems[:3])
    return Refusal(
        "validation_failed", f"The request is not valid: {named}.", errors=tuple(problems)
    )
