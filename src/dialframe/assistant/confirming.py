"""Asks the person whether a tool may reach somebody; knows both ways of the protocol to ask, no operation.

Until its 2025 revisions the protocol lets a server ask in the middle of a call. Since 2026-07-28 the server
answers the call with a question, and the client makes the same call again with the answer. What comes back then
is the client's word: the state that travels with it is sealed by the SDK and bound to the call's arguments and to
the key that it came with, and a confirmation is taken once.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types.version import is_version_at_least
from pydantic import ValidationError

Context = ServerRequestContext[Any, Any]

#: Seconds for which a question stands; an answer that comes later is a no.
ANSWER_S: Final = 600.0

#: The first revision in which a question is an answer to the call.
_ASKS_BY_ANSWER: Final = "2026-07-28"
_QUESTION: Final = "confirm"
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
NO_ANSWER: Final = "the user did not answer in time; nothing was sent"
LOST: Final = "the user could not be asked; nothing was sent"
USED: Final = "this confirmation was used before; nothing was sent again"


@dataclass(frozen=True, slots=True)
class Word:
    """What the person said: `token` identifies a confirmation; `refusal` says why there is none."""

    token: str | None = None
    refusal: str | None = None


@dataclass(slots=True)
class Confirmations:
    """The confirmations that were used up, so that none is taken twice.

    Attributes:
        answer_s: Seconds for which a question stands.
    """

    answer_s: float = ANSWER_S
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
    question: Callable[[], Awaitable[str]],
    confirmations: Confirmations,
) -> Word | types.InputRequiredResult:
    """Ask whether a call may go ahead.

    Args:
        context: The request.
        params: The call.
        question: Makes the question, where it has to be put.
        confirmations: Those that were used up.

    Returns:
        The person's word, or the question that the client has to be answered with.
    """
    if not _can_ask(context):
        return Word(refusal=CANNOT_ASK)
    if is_version_at_least(context.protocol_version, _ASKS_BY_ANSWER):
        return await _by_answer(params, question, confirmations)
    return await _in_the_midst(context, await question(), confirmations)


async def _in_the_midst(context: Context, question: str, confirmations: Confirmations) -> Word:
    try:
        with anyio.fail_after(confirmations.answer_s):
            said = await context.session.elicit_form(question, _SCHEMA, context.request_id)
    except TimeoutError:
        return Word(refusal=NO_ANSWER)
    except (MCPError, ValidationError):
        # The client refuses the question, has no way to be asked, or answers with anything but an answer.
        return Word(refusal=LOST)
    return Word(token=secrets.token_hex(16)) if _agrees(said) else Word(refusal=DECLINED)


async def _by_answer(
    params: types.CallToolRequestParams,
    question: Callable[[], Awaitable[str]],
    confirmations: Confirmations,
) -> Word | types.InputRequiredResult:
    digest = _digest(params)
    said = (params.input_responses or {}).get(_QUESTION)
    state = _state(params.request_state)
    if said is None or state.get("call") != digest:
        return _input_required(await question(), digest)
    if not isinstance(said, types.ElicitResult) or not _agrees(said):
        return Word(refusal=DECLINED)
    token = str(state.get("token", ""))
    return Word(token=token) if token and confirmations.take(token) else Word(refusal=USED)


def _input_required(question: str, digest: str) -> types.InputRequiredResult:
    form = types.ElicitRequestFormParams(message=question, requested_schema=_SCHEMA)
    state = {"call": digest, "token": secrets.token_hex(16)}
    return types.InputRequiredResult(
        input_requests={_QUESTION: types.ElicitRequest(params=form)},
        request_state=json.dumps(state),
    )


def _digest(params: types.CallToolRequestParams) -> str:
    # Of the arguments whole: a long question shows only the beginning of some.
    told = json.dumps([params.name, params.arguments or {}], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def _can_ask(context: Context) -> bool:
    known = context.session.client_capabilities
    form = known.elicitation if known is not None else None
    # A bare `{}` is how the capability was written before there were modes.
    return form is not None and (form.form is not None or form.url is None)


def _agrees(said: types.ElicitResult) -> bool:
    return said.action == "accept" and (said.content or {}).get("confirm") is True


def _state(text: str | None) -> dict[str, Any]:
    try:
        known = json.loads(text or "{}")
    except ValueError:
        return {}
    return known if isinstance(known, dict) else {}
