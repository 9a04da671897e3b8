"""Asks the person whether a tool may reach somebody; knows both ways of the protocol to ask, no operation.

Until its 2025 revisions the protocol lets a server ask in the middle of a call. Since 2026-07-28 the server
answers the call with a question, and the client makes the same call again with the answer. What comes back then
is the client's word: the state that travels with it is sealed by the SDK and bound to the call's arguments, and a
confirmation is taken once.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from dataclasses import dataclass, field
from typing import Any, Final

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.types.version import is_version_at_least

Context = ServerRequestContext[Any, Any]

#: The first revision in which a question is an answer to the call.
_ASKS_BY_ANSWER: Final = "2026-07-28"
_QUESTION: Final = "confirm"
_MOST_CHARS: Final = 2_000
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "confirm": {
            "type": "boolean",
            "title": "Do it",
            "description": "Yes only if you want exactly this to happen now.",
        }
    },
    "required": ["confirm"],
}

CANNOT_ASK: Final = (
    "this tool can reach a person, so the user has to confirm each call, and this client cannot ask"
    " the user (it does not offer form elicitation); nothing was sent"
)
DECLINED: Final = "the user did not confirm; nothing was sent"


@dataclass(frozen=True, slots=True)
class Word:
    """What the person said: `token` identifies a confirmation; `refusal` says why there is none."""

    token: str | None = None
    refusal: str | None = None


@dataclass(slots=True)
class Confirmations:
    """The confirmations that were used up, so that none is taken twice."""

    _used: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, token: str) -> bool:
        """Use a confirmation up; False where it was used before."""
        with self._lock:
            if token in self._used:
                return False
            self._used.add(token)
            return True


async def ask(
    context: Context,
    params: types.CallToolRequestParams,
    effect: str,
    confirmations: Confirmations,
) -> Word | types.InputRequiredResult:
    """Ask whether a call may go ahead.

    Args:
        context: The request.
        params: The call.
        effect: What the tool does to a person, as the end of a sentence.
        confirmations: Those that were used up.

    Returns:
        The person's word, or the question that the client has to be answered with.
    """
    if not _can_ask(context):
        return Word(refusal=CANNOT_ASK)
    question = _question(params, effect)
    if is_version_at_least(context.protocol_version, _ASKS_BY_ANSWER):
        return _by_answer(params, question, confirmations)
    said = await context.session.elicit_form(question, _SCHEMA, context.request_id)
    return Word(token=secrets.token_hex(16)) if _agrees(said) else Word(refusal=DECLINED)


def _by_answer(
    params: types.CallToolRequestParams, question: str, confirmations: Confirmations
) -> Word | types.InputRequiredResult:
    # Of the arguments whole: the question may show only their beginning.
    told = json.dumps([params.name, params.arguments or {}], sort_keys=True)
    digest = hashlib.sha256(told.encode()).hexdigest()
    said = (params.input_responses or {}).get(_QUESTION)
    state = _state(params.request_state)
    if said is None or state.get("call") != digest:
        token = secrets.token_hex(16)
        return types.InputRequiredResult(
            input_requests={
                _QUESTION: types.ElicitRequest(
                    params=types.ElicitRequestFormParams(
                        message=question, requested_schema=_SCHEMA
                    )
                )
            },
            request_state=json.dumps({"call": digest, "token": token}),
        )
    if not isinstance(said, types.ElicitResult) or not _agrees(said):
        return Word(refusal=DECLINED)
    token = str(state.get("token", ""))
    if not token or not confirmations.take(token):
        return Word(refusal="this confirmation was used before; nothing was sent again")
    return Word(token=token)


def _can_ask(context: Context) -> bool:
    known = context.session.client_capabilities
    form = known.elicitation if known is not None else None
    # A bare `{}` is how the capability was written before there were modes.
    return form is not None and (form.form is not None or form.url is None)


def _question(params: types.CallToolRequestParams, effect: str) -> str:
    told = json.dumps(params.arguments or {}, ensure_ascii=True, indent=1, sort_keys=True)
    if len(told) > _MOST_CHARS:
        told = f"{told[:_MOST_CHARS]}\n... ({len(told) - _MOST_CHARS} more characters)"
    return f"{params.name} {effect}. May it be done with these values?\n{told}"


def _agrees(said: types.ElicitResult) -> bool:
    return said.action == "accept" and (said.content or {}).get("confirm") is True


def _state(text: str | None) -> dict[str, Any]:
    try:
        known = json.loads(text or "{}")
    except ValueError:
        return {}
    return known if isinstance(known, dict) else {}
