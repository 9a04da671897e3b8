"""Error codes (contract, Errors): status, condition, and what a client may do; raises nothing itself.

`family` names the class of `dialframe.errors`. `remedy` is what may be done about it:

- `retry`: the same request again, a write with the same key, after `Retry-After` where it is sent;
- `wait`: a cap is used up; sending again at once is refused again, so the caller decides when;
- `settle`: ask again with the same key only, never with a new one;
- `reread`: read the resource afresh, then decide;
- `restart`: start the list anew at its head;
- `fix`: the request is wrong; change it;
- `grant`: an administrator or the operator has to allow it;
- `stop`: the answer is final for this request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Remedy = Literal["retry", "wait", "settle", "reread", "restart", "fix", "grant", "stop"]


@dataclass(frozen=True, slots=True)
class Code:
    """One error code.

    Attributes:
        code: The problem's `code`.
        statuses: HTTP statuses that it comes with.
        family: Class of `dialframe.errors`.
        condition: When the service answers with it.
        remedy: What a client may do, see the module.
        advice: The same in words, as the end of an error message.
    """

    code: str
    statuses: tuple[int, ...]
    family: str
    condition: str
    remedy: Remedy
    advice: str


ALL: Final[tuple[Code, ...]] = (
    Code("invalid_api_key", (401,), "AuthenticationError", "any key problem", "grant",
         "check the key, or ask the account's administrator for a new one"),
    Code("api_access_disabled", (403,), "PermissionDenied", "API access disabled", "grant",
         "the account's administrator can switch API access on"),
    Code("ip_not_allowed", (403,), "PermissionDenied", "address outside the allow-lists", "grant",
         "call from an allowed address, or have this one added"),
    Code("insufficient_scope", (403,), "PermissionDenied", "client lacks the scope", "grant",
         "the account's administrator can grant the scope"),
    Code("credential_in_url", (400,), "InvalidRequest", "key in URL", "fix",
         "send the key in the Authorization header and treat this one as exposed: replace it"),
    Code("credential_in_body", (400,), "InvalidRequest", "credential in body", "fix",
         "send the key in the Authorization header only"),
    Code("validation_failed", (400, 422), "InvalidRequest",
         "invalid request, unknown field or parameter", "fix", "correct the fields that are named"),
    Code("batch_too_large", (400,), "InvalidRequest", "too many items", "fix",
         "send fewer items at once"),
    Code("invalid_cursor", (400,), "InvalidRequest", "cursor invalid for this request", "restart",
         "read the list again from its head"),
    Code("payload_too_large", (413,), "InvalidRequest", "body over 1 MiB", "fix",
         "send less at once"),
    Code("unsupported_media_type", (415,), "InvalidRequest", "wrong content type", "fix",
         "send application/json"),
    Code("idempotency_key_required", (400,), "InvalidRequest", "key missing on a write", "fix",
         "send an Idempotency-Key"),
    Code("tier_not_enabled", (403,), "PermissionDenied",
         "tier 2 switch off, or WhatsApp sending", "grant",
         "the operator switches this on for the account on request"),
    Code("not_found", (404,), "NotFound", "unknown id (or not of the account)", "stop",
         "check the id"),
    Code("route_not_available", (404,), "NotFound", "unknown path", "fix", "check the base URL"),
    Code("method_not_allowed", (405,), "NotFound", "wrong method; Allow header sent", "fix",
         "use a method that Allow names"),
    # Idempotency 6.
    Code("conflict", (409,), "Conflict", "same key still running; Retry-After", "retry",
         "ask again with the same key"),
    Code("idempotency_conflict", (409,), "Conflict", "key reused with a different request", "fix",
         "use a new key for a new request"),
    # Idempotency 7.
    Code("outcome_unknown", (409,), "OutcomeUnknown", "write not confirmed", "settle",
         "never send it under a new key; ask again later with the same one"),
    Code("agent_unavailable", (409,), "Conflict",
         "agent not signed in, on a call, in wrap-up, on a break, or held", "wait",
         "try again when the agent is ready"),
    Code("dial_refused", (422,), "Refused", "compliance refusal of a call", "stop",
         "nothing was dialed"),
    Code("on_dnc", (422,), "Refused", "number on the Do-Not-Call list", "stop",
         "do not contact this number"),
    Code("blocked_country", (422,), "Refused", "destination country blocked", "stop",
         "the account does not reach this country"),
    Code("message_refused", (422,), "Refused", "calling hours or consent refusal of an SMS", "stop",
         "nothing was sent; the first field problem says why"),
    Code("insufficient_balance", (402,), "Refused", "balance too low", "grant",
         "top the account up"),
    Code("sending_suspended", (403,), "PermissionDenied",
         "administrator stopped all sending", "grant", "an administrator has to lift the stop"),
    Code("outbound_not_approved", (403,), "PermissionDenied",
         "new self-service account not yet approved", "grant", "wait for the account's approval"),
    Code("duplicate_client_reference", (409,), "Conflict", "repeated SMS reference", "stop",
         "the first message with this reference was accepted"),
    # Limits: the token bucket is empty; it gives a token in a tenth of a second.
    Code("rate_limit_exceeded", (429,), "RateLimited", "too many requests", "retry",
         "slow down"),
    Code("daily_cap_reached", (429,), "LimitReached", "daily limit reached", "wait",
         "go on tomorrow, or have the cap raised"),
    Code("spend_cap_reached", (429,), "LimitReached",
         "daily estimated-spend limit reached", "wait", "go on tomorrow, or have the cap raised"),
    Code("webhooks_disabled", (403,), "PermissionDenied",
         "webhooks not enabled for the account", "grant",
         "the operator switches webhooks on for the account"),
    Code("webhook_url_refused", (422,), "InvalidRequest",
         "URL not https, not public, or private address", "fix",
         "give an https URL of a public address"),
    Code("webhook_limit_reached", (409,), "Conflict", "10 endpoints already", "stop",
         "delete an endpoint first"),
    Code("replay_unavailable", (409,), "Conflict", "replay temporarily unavailable", "wait",
         "try again later"),
    Code("replay_limit_reached", (429,), "LimitReached", "5 replays per event per UTC day", "wait",
         "go on tomorrow"),
    Code("campaign_not_importable", (409,), "Conflict",
         "campaign not paused, draft or ready", "stop", "pause the campaign, then import"),
    # Endpoints, Leads: "nothing is written and a retry with the same key is safe".
    Code("dnc_screen_unavailable", (503,), "ServiceUnavailable",
         "screen could not run; nothing written", "retry", "a retry with the same key is safe"),
    Code("campaign_not_paused", (409,), "Conflict",
         "resume of a non-paused, non-running campaign", "stop", "read the campaign's status"),
    Code("campaign_not_running", (409,), "Conflict",
         "pause of a campaign neither running nor paused", "stop", "read the campaign's status"),
    Code("registry_stale_blocked", (409,), "Conflict",
         "launch blocked by stale national do-not-call list", "grant",
         "have the national list brought up to date"),
    Code("callback_not_pending", (409,), "Conflict", "callback not pending", "stop",
         "read the callback's status"),
    Code("appointment_not_modifiable", (409,), "Conflict",
         "appointment cancelled, completed or no-show", "stop", "read the appointment's status"),
    Code("precondition_failed", (412,), "PreconditionFailed", "If-Match mismatch", "reread",
         "read it again and decide on what it says now"),
    Code("temporarily_unavailable", (503,), "ServiceUnavailable", "temporary outage", "retry",
         "try again in a while"),
    Code("upstream_unavailable", (503,), "ServiceUnavailable", "upstream outage", "retry",
         "try again in a while"),
    Code("upstream_invalid_response", (502,), "ServiceUnavailable", "upstream error", "retry",
         "try again in a while"),
    Code("internal_error", (500,), "ServiceUnavailable", "internal error", "retry",
         "try again in a while; quote the request id if it stays"),
)  # fmt: skip

BY_CODE: Final[dict[str, Code]] = {row.code: row for row in ALL}

#: Answers to these are never kept under an idempotency key: the same key may be sent again.
NOT_STORED_STATUSES: Final = (429, 503)

#: Family of a code that the contract does not name yet, by status.
FAMILY_BY_STATUS: Final[dict[int, str]] = {
    # RFC 9110, 15: of a status that a client does not know it understands the class.
    400: "InvalidRequest",
    401: "AuthenticationError",
    402: "Refused",
    403: "PermissionDenied",
    404: "NotFound",
    405: "NotFound",
    409: "Conflict",
    412: "PreconditionFailed",
    413: "InvalidRequest",
    415: "InvalidRequest",
    422: "InvalidRequest",
    429: "RateLimited",
}


def family_of(code: str, status: int) -> str:
    """Class name of `dialframe.errors` for a code, falling back to its status, then to `ApiError`.

    A code with a status that it does not belong to is not believed: what is 500 is an outage.
    """
    if code in BY_CODE and status in BY_CODE[code].statuses:
        return BY_CODE[code].family
    if status in FAMILY_BY_STATUS:
        return FAMILY_BY_STATUS[status]
    return "ServiceUnavailable" if status >= 500 else "ApiError"
