"""Who is let through, in the order in which refusals count.

The whole order: body too large, unknown route, method (the app), then what stands here: credential
in URL, authentication, account and client access, address, rate limits, scope, service or tier
switch, sending key; then content type, JSON, credential in body, idempotency key (the pipeline),
validation, existence and state (the handlers).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus

from dialframe.contract import limits
from dialframe.contract.limits import Bucket
from dialframe.contract.row import Operation
from dialframe.privacy import KEY
from dialframe.sandbox.dialer import sending
from dialframe.sandbox.handlers.exchange import Inbound
from dialframe.sandbox.http.validation import CREDENTIAL_NAMES
from dialframe.sandbox.world.access import Access, Caller
from dialframe.sandbox.world.refusals import Refusal
from dialframe.sandbox.world.state import Buckets

#: Names that are taken for a credential in a query beside those of a body.
QUERY_NAMES: Final = CREDENTIAL_NAMES | {"key", "auth", "secret", "password"}

_BUCKET: Final[dict[str, Bucket]] = {bucket.level: bucket for bucket in limits.BUCKETS}
_BEARER: Final = "bearer "


@dataclass(frozen=True, slots=True)
class KnownRequest:
    """A request whose caller is known and which may still be refused."""

    inbound: Inbound
    operation: Operation[Any, Any]
    caller: Caller
    buckets: Buckets
    now_us: int


def admit(
    inbound: Inbound,
    operation: Operation[Any, Any],
    *,
    access: Access,
    buckets: Buckets,
    now_us: int,
) -> Caller:
    """Who calls, once nothing speaks against it.

    Raises:
        Refusal: The first of the reasons in `CHECKS` that applies.
    """
    _credential_in_url(inbound)
    caller = _authenticate(inbound, access)
    if caller is None:
        if access.settings.rate_limits is not None:
            buckets.drain(_BUCKET["address"], inbound.address, now_us)
        raise Refusal(
            "invalid_api_key",
            "The API key is missing or not accepted.",
            headers=(("WWW-Authenticate", "Bearer"),),
        )
    request = KnownRequest(inbound, operation, caller, buckets, now_us)
    for check in CHECKS:
        check(request)
    return caller


def _credential_in_url(inbound: Inbound) -> None:
    named = any(
        name.lower() in QUERY_NAMES and value
        for name, value in parse_qsl(inbound.query, keep_blank_values=True)
    )
    if named or KEY.search(unquote_plus(f"{inbound.path}?{inbound.query}")):
        raise Refusal(
            "credential_in_url",
            "The URL carries a credential: treat it as exposed and replace it.",
        )


def _authenticate(inbound: Inbound, access: Access) -> Caller | None:
    value = inbound.headers.get("authorization", ())
    if len(value) != 1 or not value[0].lower().startswith(_BEARER):
        return None
    if not access.settings.sandbox_enabled:
        return None
    return access.caller(value[0][len(_BEARER) :].strip())


def _access_enabled(request: KnownRequest) -> None:
    if not (request.caller.settings.api_access_enabled and request.caller.client.enabled):
        raise Refusal("api_access_disabled", "API access is switched off.")


def _address_allowed(request: KnownRequest) -> None:
    lists = (request.caller.settings.ip_allow, request.caller.client.ip_allow)
    if not all(_within(request.inbound.address, allowed) for allowed in lists if allowed):
        raise Refusal("ip_not_allowed", "The request comes from an address that is not allowed.")


def _within(address: str, allowed: tuple[str, ...]) -> bool:
    source = ipaddress.ip_address(address)
    source = getattr(source, "ipv4_mapped", None) or source
    return any(source in ipaddress.ip_network(network, strict=False) for network in allowed)


def _within_rates(request: KnownRequest) -> None:
    if request.caller.settings.rate_limits is None:
        return
    owners = {
        "key": request.caller.credential.credential_id,
        "client": request.caller.client.client_id,
        "account": "",
        "address": request.inbound.address,
    }
    wanted = [(bucket, owners[bucket.level]) for bucket in limits.BUCKETS]
    wait_s = request.buckets.take(wanted, request.now_us)
    if wait_s is not None:
        raise Refusal("rate_limit_exceeded", "Too many requests.", retry_after_s=wait_s)


def _scope_held(request: KnownRequest) -> None:
    scope = request.operation.scope
    if scope is not None and scope not in request.caller.client.scopes:
        raise Refusal("insufficient_scope", f"This needs the scope {scope}.")


def _service_on(request: KnownRequest) -> None:
    operation, settings = request.operation, request.caller.settings
    if (operation.scope or "").startswith("webhooks:") and not settings.webhooks_enabled:
        raise Refusal("webhooks_disabled", "Webhooks are not enabled for the account.")
    if operation.name == "whatsapp.send":
        raise Refusal("tier_not_enabled", "WhatsApp sending is not available yet.")
    if operation.switch is not None and not getattr(settings, operation.switch):
        raise Refusal("tier_not_enabled", f"The account switch {operation.switch} is off.")


def _may_send(request: KnownRequest) -> None:
    if not request.operation.sending_key:
        return
    if not request.caller.credential.sending:
        raise Refusal("tier_not_enabled", "This needs a key of the guided sending setup.")
    sending.sending_allowed(request.caller.settings)


#: Checks of a request whose caller is known, in order.
CHECKS: Final[tuple[Callable[[KnownRequest], None], ...]] = (
    _access_enabled,
    _address_allowed,
    _within_rates,
    _scope_held,
    _service_on,
    _may_send,
)
