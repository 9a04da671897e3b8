"""Who is let through, in the order in which refusals count; knows requests, not what they ask for.

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
from dialframe.sandbox.access import Access, Caller
from dialframe.sandbox.body import CREDENTIAL_NAMES
from dialframe.sandbox.buckets import Buckets
from dialframe.sandbox.exchange import Inbound
from dialframe.sandbox.problems import Refusal

#: Names that are taken for a credential in a query beside those of a body.
QUERY_NAMES: Final = CREDENTIAL_NAMES | {"key", "auth", "secret", "password"}

_BUCKET: Final[dict[str, Bucket]] = {bucket.level: bucket for bucket in limits.BUCKETS}
_BEARER: Final = "bearer "


@dataclass(frozen=True, slots=True)
class Knock:
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
    knock = Knock(inbound, operation, caller, buckets, now_us)
    for check in CHECKS:
        check(knock)
    return caller


def may_start_calls(caller: Caller) -> None:
    """Refuse who lacks the scope, the switch or the key that reaching a person needs.

    Raises:
        Refusal: `insufficient_scope` or `tier_not_enabled`.
    """
    if "calls:originate" not in caller.client.scopes:
        raise Refusal("insufficient_scope", "This also needs the scope calls:originate.")
    if not (caller.settings.tier2_calls_originate_enabled and caller.credential.sending):
        raise Refusal("tier_not_enabled", "Click-to-call is not set up for this account and key.")


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


def _access_enabled(knock: Knock) -> None:
    if not (knock.caller.settings.api_access_enabled and knock.caller.client.enabled):
        raise Refusal("api_access_disabled", "API access is switched off.")


def _address_allowed(knock: Knock) -> None:
    lists = (knock.caller.settings.ip_allow, knock.caller.client.ip_allow)
    if not all(_within(knock.inbound.address, allowed) for allowed in lists if allowed):
        raise Refusal("ip_not_allowed", "The request comes from an address that is not allowed.")


def _within(address: str, allowed: tuple[str, ...]) -> bool:
    source = ipaddress.ip_address(address)
    source = getattr(source, "ipv4_mapped", None) or source
    return any(source in ipaddress.ip_network(network, strict=False) for network in allowed)


def _within_rates(knock: Knock) -> None:
    if knock.caller.settings.rate_limits is None:
        return
    owners = {
        "key": knock.caller.credential.credential_id,
        "client": knock.caller.client.client_id,
        "account": "",
        "address": knock.inbound.address,
    }
    wanted = [(bucket, owners[bucket.level]) for bucket in limits.BUCKETS]
    wait_s = knock.buckets.take(wanted, knock.now_us)
    if wait_s is not None:
        raise Refusal("rate_limit_exceeded", "Too many requests.", retry_after_s=wait_s)


def _scope_held(knock: Knock) -> None:
    scope = knock.operation.scope
    if scope is not None and scope not in knock.caller.client.scopes:
        raise Refusal("insufficient_scope", f"This needs the scope {scope}.")


def _service_on(knock: Knock) -> None:
    operation, settings = knock.operation, knock.caller.settings
    if (operation.scope or "").startswith("webhooks:") and not settings.webhooks_enabled:
        raise Refusal("webhooks_disabled", "Webhooks are not enabled for the account.")
    if operation.name == "whatsapp.send":
        raise Refusal("tier_not_enabled", "WhatsApp sending is not available yet.")
    if operation.switch is not None and not getattr(settings, operation.switch):
        raise Refusal("tier_not_enabled", f"The account switch {operation.switch} is off.")


def _may_send(knock: Knock) -> None:
    if not knock.operation.sending_key:
        return
    if not knock.caller.credential.sending:
        raise Refusal("tier_not_enabled", "This needs a key of the guided sending setup.")
    if knock.caller.settings.sending_suspended:
        raise Refusal("sending_suspended", "An administrator stopped all sending.")
    if not knock.caller.settings.outbound_approved:
        raise Refusal("outbound_not_approved", "The account is not approved for sending yet.")


#: Checks of a request whose caller is known, in order.
CHECKS: Final[tuple[Callable[[Knock], None], ...]] = (
    _access_enabled,
    _address_allowed,
    _within_rates,
    _scope_held,
    _service_on,
    _may_send,
)
