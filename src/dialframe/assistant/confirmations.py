"""Asks a person before a tool reaches somebody, changes for good or sends data out."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.types.version import is_version_at_least
from pydantic import ValidationError

from dialframe.account import Account
from dialframe.assistant.tool_answers import shown
from dialframe.client import Options
from dialframe.contract import operations
from dialframe.errors import DialframeError, NotFound

#: A question up to this long shows every value whole.
MOST_CHARS: Final = 6_000
#: Most characters of a value of a longer one; numbers are shorter.
_VALUE_CHARS: Final = 300
#: Scheme, host in ASCII, port, path: no user name, no backslash, nothing hidden.
_ADDRESS: Final = re.compile(
    r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?([/?#][!-\[\]-~]*)?"
)
#: By which a person knows a lead among two hundred.
_NAMES: Final = ("full_name", "first_name", "last_name", "external_id")


def question(
    tool: str,
    effect: str,
    arguments: Mapping[str, Any],
    known: Mapping[str, str],
    *,
    open_writes: int,
) -> str:
    """The question before one call.

    Args:
        tool: The tool's name.
        effect: What it does to a person, as the end of a sentence.
        arguments: All that is sent.
        known: Argument to what the service says of the thing it names.
        open_writes: Earlier calls of the same tool of which nobody knows what became.
    """
    head = [f"{tool} {effect}. May exactly this be done now?"]
    if open_writes:
        head.append(
            f"Note: of {open_writes} earlier such calls it is not known whether they were done;"
            " this one may repeat one of them."
        )
    lines = [_line(name, value, known.get(name)) for name, value in arguments.items()]
    text = "\n".join([*head, *lines])
    if len(text) <= MOST_CHARS:
        return text
    return "\n".join(
        [*head, *(_short(name, value, known.get(name)) for name, value in arguments.items())]
    )


def readable(address: str) -> bool:
    """Whether a person who reads an address sees to which host it leads: nothing before it, no letters that look alike."""
    return _ADDRESS.fullmatch(address) is not None


def quoted(value: object) -> str:
    """A value as JSON on one line, nothing in it hidden."""
    return shown(json.dumps(value, ensure_ascii=False))


def _line(name: str, value: object, known: str | None) -> str:
    return f"{name}: {quoted(value)}" + (f" = {known}" if known else "")


def _short(name: str, value: object, known: str | None) -> str:
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return "\n".join([f"{name}: {len(value)}", *map(_lead, value)])
    line = _line(name, value, known)
    left = len(line) - _VALUE_CHARS
    return line if left <= 0 else f"{line[:_VALUE_CHARS]}... ({left} more characters)"


def _lead(lead: Mapping[str, Any]) -> str:
    """One lead of many: its number whole, who it is, and how much else there is."""
    who = " ".join(str(lead[name]) for name in _NAMES if lead.get(name))[:_VALUE_CHARS]
    further = len(lead.keys() - {"phone", *_NAMES})
    more = f" and {further} more fields" if further else ""
    return f"- {quoted(lead.get('phone'))} {quoted(who)}{more}"


#: Argument to the operation that reads what it names, and the fields by which a person knows it.
_READ_BY: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "lead_id": ("leads.get", ("full_name", "phone")),
    "campaign_id": ("campaigns.get", ("name", "status")),
    "webhook_id": ("webhooks.get", ("url",)),
    "appointment_id": ("appointments.get", ("contact_name", "phone", "scheduled_at", "status")),
}
#: Most characters of a name.
_NAME: Final = 200


def known(account: Account, arguments: Mapping[str, Any], options: Options) -> dict[str, str]:
    """Argument to what it stands for, in words: who would be reached, at which number.

    Raises:
        NotFound: The service knows no such thing, so that there is nothing to ask.
    """
    names = {
        name: _read(account, name, str(arguments[name]), options)
        for name in _READ_BY
        if name in arguments
    }
    if "callback_id" in arguments:
        # The service reads no callback by its id, so the store has to know whose it is.
        callbacks = account.callbacks()
        lead = callbacks.loc[callbacks["id"] == str(arguments["callback_id"]), "lead_id"].dropna()
        names["callback_id"] = (
            "(not in the local store: store_sync would show whose it is)"
            if lead.empty
            else f"{lead.iloc[0]}, {_read(account, 'lead_id', lead.iloc[0], options)}"
        )
    return names


def _read(account: Account, name: str, identity: str, options: Options) -> str:
    operation, fields = _READ_BY[name]
    row = operations.BY_NAME[operation]
    try:
        raw = account.client.send_raw(
            row, row.request.model_validate({name: identity}), options
        ).raw
    except NotFound:
        raise
    except DialframeError as error:
        return f"(could not be read: {error})"
    quoted_fields = [
        quoted(str(raw[field])[:_NAME]) for field in fields if raw.get(field) is not None
    ]
    return ", ".join(quoted_fields)


Context = ServerRequestContext[Any, Any]

#: Seconds for which a question stands; an answer that comes later is a no.
ANSWER_S: Final = 600.0

#: The first revision in which a question is an answer to the call.
_ASKS_BY_ANSWER: Final = "2026-07-28"
#: Names the one question of a call (MCP, Elicitation).
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

# What became of a question, in words that tell the assistant not to go on.
CANNOT_ASK: Final = (
    "this tool cannot be undone or sends data out, so the user has to confirm each call, and this client cannot ask"
    " the user (it does not offer form elicitation); nothing was sent"
)
DECLINED: Final = "the user did not confirm; nothing was sent"
NO_ANSWER: Final = "the user did not answer in time; nothing was sent"
LOST: Final = "the user could not be asked; nothing was sent"
USED: Final = "this confirmation was used before, came too late, or was never asked for; nothing was sent for it"


@dataclass(frozen=True, slots=True)
class Word:
    """What the person said: `token` identifies a confirmation; `refusal` says why there is none."""

    token: str | None = None
    refusal: str | None = None


@dataclass(slots=True)
class Confirmations:
    """The questions that were asked and wait for their answer: each is answered once, in time, by whom it was asked.

    Attributes:
        answer_s: Seconds for which a question stands.
    """

    answer_s: float = ANSWER_S
    _open: dict[str, tuple[str, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self, call: str) -> str:
        """The token of a new question about a call, given by its digest."""
        token, now = secrets.token_hex(16), time.monotonic()
        with self._lock:
            late = [asked for asked, (_, until_s) in self._open.items() if until_s < now]
            for asked in late:
                del self._open[asked]
            self._open[token] = call, now + self.answer_s
        return token

    def take(self, token: str, call: str) -> bool:
        """Use a confirmation up; False where nothing was asked, of another call, too long ago, or it was used before."""
        with self._lock:
            asked, until_s = self._open.pop(token, ("", 0.0))
        return asked == call and time.monotonic() <= until_s


async def ask(
    context: Context,
    params: types.CallToolRequestParams,
    question: Callable[[], Awaitable[str]],
    confirmations: Confirmations,
    who: str = "",
) -> Word | types.InputRequiredResult:
    """Ask whether a call may go ahead.

    Args:
        context: The request.
        params: The call.
        question: Makes the question, where it has to be put.
        confirmations: The questions that wait for their answer.
        who: Tells one caller from another; nobody answers for another.

    Returns:
        The person's word, or the question that the client has to be answered with.
    """
    capabilities = context.session.client_capabilities
    form = capabilities.elicitation if capabilities is not None else None
    # A bare `{}` is how the capability was written before there were modes.
    if form is None or (form.form is None and form.url is not None):
        return Word(refusal=CANNOT_ASK)
    if is_version_at_least(context.protocol_version, _ASKS_BY_ANSWER):
        return await _by_answer(params, question, confirmations, who)
    # Before that revision a question is a request of the server's, while the call waits.
    words = await question()
    try:
        with anyio.fail_after(confirmations.answer_s):
            reply = await context.session.elicit_form(words, _SCHEMA, context.request_id)
    except TimeoutError:
        return Word(refusal=NO_ANSWER)
    except (MCPError, ValidationError):
        # The client refuses the question, has no way to be asked, or answers with anything but an answer.
        return Word(refusal=LOST)
    return Word(token=secrets.token_hex(16)) if _agrees(reply) else Word(refusal=DECLINED)


async def _by_answer(
    params: types.CallToolRequestParams,
    question: Callable[[], Awaitable[str]],
    confirmations: Confirmations,
    who: str,
) -> Word | types.InputRequiredResult:
    # Of the arguments whole: a long question shows only the beginning of some.
    call_text = json.dumps([who, params.name, params.arguments or {}], sort_keys=True)
    digest = hashlib.sha256(call_text.encode()).hexdigest()
    reply = (params.input_responses or {}).get(_QUESTION)
    state = _state(params.request_state)
    if reply is None or state.get("call") != digest:
        form = types.ElicitRequestFormParams(message=await question(), requested_schema=_SCHEMA)
        asked = {"call": digest, "token": confirmations.open(digest)}
        return types.InputRequiredResult(
            input_requests={_QUESTION: types.ElicitRequest(params=form)},
            request_state=json.dumps(asked),
        )
    if not isinstance(reply, types.ElicitResult) or not _agrees(reply):
        return Word(refusal=DECLINED)
    token = str(state.get("token", ""))
    return Word(token=token) if confirmations.take(token, digest) else Word(refusal=USED)


def _agrees(reply: types.ElicitResult) -> bool:
    return reply.action == "accept" and (reply.content or {}).get("confirm") is True


def _state(text: str | None) -> dict[str, Any]:
    try:
        state = json.loads(text or "{}")
    except ValueError:
        return {}
    return state if isinstance(state, dict) else {}
