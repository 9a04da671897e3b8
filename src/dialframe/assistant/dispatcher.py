"""Answers tool calls: checks arguments, asks before anybody is reached, writes down each call."""

from __future__ import annotations

import json
import logging
import secrets
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio.from_thread
import anyio.to_process
import anyio.to_thread
from mcp import types
from mcp.server.context import ServerRequestContext
from pydantic import ValidationError

from dialframe.assistant import analysis_tools, audit_log, confirmations, tool_answers
from dialframe.assistant.confirmations import Confirmations, question
from dialframe.assistant.offered_operations import (
    CONFIRMED,
    PAGE_ROWS,
    READING,
    Exposure,
    definition,
    kind_of,
    offered,
)
from dialframe.assistant.tool_answers import shown
from dialframe.client import Options
from dialframe.config import Progress
from dialframe.contract.limits import JSON_DEPTH
from dialframe.contract.models.base_models import Nothing
from dialframe.contract.operations import Operation
from dialframe.errors import DialframeError, StoreError
from dialframe.privacy import KEY

if TYPE_CHECKING:
    from dialframe.account import Account


LOGGER: Final = logging.getLogger("dialframe.assistant")

#: Seconds after which an analysis is stopped.
ANALYSIS_S: Final = 120.0

#: As the service says of a key in an address (contract, Authentication 2).
_EXPOSED: Final = (
    "a key of the service stands in the arguments; nothing was sent: have the key replaced, since it is"
    " exposed"
)

#: Look-alike letters and user names hide where a URL leads (UTS 39; RFC 3986, 7.6).
_UNREADABLE: Final = (
    "nobody could see from this url to which host it leads, so nobody was asked and nothing was sent: write"
    " scheme, host (xn--... where it is not ASCII), port and path, without user name or backslash"
)

Context = ServerRequestContext[Any, Any]
Result = types.CallToolResult | types.InputRequiredResult


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        account: The account of the process, or that of the key that came with the request.
        scopes: What that key may do; None where its owner started this process.
        name: Tells one key from another without being it.
    """

    account: Account
    scopes: frozenset[str] | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool.

    Attributes:
        context: The request.
        params: What the client sent.
        caller: Who calls.
        id: Its own id, which the service gets as `X-Correlation-ID`.
        entry: What is known of it, for the diary.
    """

    context: Context
    params: types.CallToolRequestParams
    caller: Caller
    id: str
    entry: audit_log.Entry

    @property
    def arguments(self) -> dict[str, Any]:
        """The tool's arguments."""
        return dict(self.params.arguments or {})


def _now() -> datetime:
    return datetime.now(UTC)


class Dispatcher:
    """What answers tool calls, and writes down each.

    Attributes:
        caller: Who calls, by request.
        exposure: What is offered.
        tools: Every tool that is offered, by name.
    """

    def __init__(
        self,
        caller: Callable[[Context], Caller],
        exposure: Exposure = READING,
        *,
        confirmations: Confirmations | None = None,
        now: Callable[[], datetime] = _now,
    ) -> None:
        self.caller = caller
        self.exposure = exposure
        self._rows = offered(exposure)
        hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
        analyses = [
            types.Tool(
                name=row.name, description=row.description, input_schema=row.schema,
                output_schema=row.answer, annotations=hints,
            )
            for row in analysis_tools.ALL
        ]  # fmt: skip
        tools = [*map(definition, self._rows.values()), *analyses]
        self.tools: Final = {tool.name: tool for tool in tools}
        self._confirmations = confirmations or Confirmations()
        self._now = now

    async def call(self, context: Context, params: types.CallToolRequestParams) -> Result:
        """Call a tool; what goes wrong is an answer that says what and what next."""
        call = self._begin_call(context, params)
        result: Result | None = None
        try:
            result = await self._answer(call)
        except DialframeError as error:
            row = self._rows.get(params.name)
            writes = row is not None and kind_of(row) != "read"
            result = tool_answers.refused(error, writes=writes)
        except OSError as error:
            LOGGER.exception("the tool %s failed", shown(params.name))
            result = tool_answers.failed(
                f"a file cannot be written or read: {error.strerror or error}"
            )
        except Exception:  # a face shows no traceback
            LOGGER.exception("the tool %s failed", shown(params.name))
            result = tool_answers.failed(
                f"{params.name} failed by a fault of dialframe; please report it"
            )
        finally:
            self._end(call, result)
        return result

    def _begin_call(self, context: Context, params: types.CallToolRequestParams) -> Call:
        tool = self.tools.get(params.name)
        client_params = context.session.client_params
        client = (
            f"{client_params.client_info.name} {client_params.client_info.version}"
            if client_params
            else ""
        )
        # Sent as `X-Correlation-ID`, so that the service's log leads to this call (contract, Correlation).
        call_id = f"assistant-{secrets.token_hex(8)}"
        entry = audit_log.Entry(
            at=self._now(),
            call=call_id,
            tool=params.name,
            client=client,
            arguments=audit_log.brief(params.arguments or {}, tool.input_schema if tool else {}),
            outcome="asked",
        )
        return Call(context, params, self.caller(context), call_id, entry)

    async def _answer(self, call: Call) -> Result:
        name = call.params.name
        if name not in self.tools:
            return tool_answers.failed(
                f"there is no tool {name!r} here; list the tools for what there is"
            )
        if _deep(call.arguments):
            return tool_answers.failed(
                f"{name}: the arguments are nested deeper than {JSON_DEPTH}"
            )
        # A model may repeat a key that it saw in a file; it must not go on to the service or into the log.
        if KEY.search(json.dumps(call.arguments, ensure_ascii=False)):
            return tool_answers.failed(f"{name}: {_EXPOSED}")
        wrong = _wrong_arguments(self.tools[name], call.arguments)
        if wrong is not None:
            return tool_answers.failed(f"{name}: {wrong}")
        if not confirmations.readable(str(call.arguments.get("url", "https://host"))):
            return tool_answers.failed(f"{name}: {_UNREADABLE}")
        if name in analysis_tools.BY_NAME:
            return await self._analyze(call, analysis_tools.BY_NAME[name])
        return await self._operate(call, self._rows[name])

    async def _analyze(self, call: Call, row: analysis_tools.Analysis) -> Result:
        scopes = call.caller.scopes
        # The store answers without the service, which would have asked for the scope.
        missing = sorted(row.scopes - scopes) if scopes is not None else []
        if missing:
            return tool_answers.failed(
                f"{row.name} reads what only a key with {', '.join(missing)} may read"
            )
        asked = analysis_tools.Asked(
            call.caller.account,
            call.arguments,
            self._now(),
            partial(_tell, call.context),
            self.exposure.people,
        )
        answer: dict[str, Any] = {}
        with anyio.move_on_after(ANALYSIS_S) as deadline:
            if row.apart is None:
                answer = await anyio.to_thread.run_sync(row.run, asked, abandon_on_cancel=True)
            else:
                # What reads text of strangers can be stopped only in a process of its own.
                answer = await anyio.to_process.run_sync(
                    row.apart, dict(asked.arguments), asked.stores, cancellable=True
                )
        if deadline.cancelled_caught:
            return tool_answers.failed(
                f"{row.name} took longer than {ANALYSIS_S:.0f} s and was stopped"
            )
        return tool_answers.answered(tool_answers.whole(answer, exposure=self.exposure))

    async def _operate(self, call: Call, row: Operation[Any, Any]) -> Result:
        arguments = call.arguments
        if row.paged:
            # A whole page would fill a conversation.
            arguments.setdefault("limit", PAGE_ROWS)
        try:
            request = row.request.model_validate(arguments)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            return tool_answers.failed(
                f"{call.params.name}: {_path(first['loc'])}: {first['msg']}"
            )
        options = Options(correlation_id=call.id)
        if row.name in CONFIRMED:
            word = await confirmations.ask(
                call.context,
                call.params,
                partial(self._question, call, row),
                self._confirmations,
                call.caller.name or "",
            )
            if isinstance(word, types.InputRequiredResult):
                return word
            if word.token is None:
                return tool_answers.failed(word.refusal or confirmations.DECLINED)
            # The confirmation is the key: what was confirmed once is done at most once.
            options = replace(options, idempotency_key=f"assistant-{word.token}")
        return await anyio.to_thread.run_sync(self._send, call, row, request, options)

    async def _question(self, call: Call, row: Operation[Any, Any]) -> str:
        def known() -> tuple[Mapping[str, str], int]:
            account, options = call.caller.account, Options(correlation_id=call.id)
            pending = account.client.writes.pending()
            return (
                confirmations.known(account, call.arguments, options),
                sum(write.operation == row.name for write in pending),
            )

        facts, pending = await anyio.to_thread.run_sync(known)
        effect = CONFIRMED[row.name][1]
        return question(call.params.name, effect, call.arguments, facts, open_writes=pending)

    def _send(
        self, call: Call, row: Operation[Any, Any], request: Any, options: Options
    ) -> types.CallToolResult:
        if kind_of(row) != "read":
            # What cannot be written down is not done.
            entry = replace(call.entry, outcome="sending", key=options.idempotency_key)
            _write_down(call, entry)
        client, exposure = call.caller.account.client, self.exposure
        if row.streamed and "recording" not in exposure.people:
            return tool_answers.failed(
                "recordings are given only where the operator's policy names them (--people)"
            )
        if row.streamed:
            # A recording is of people: the file goes with the answer.
            with client.correlation(call.id), tempfile.TemporaryDirectory() as folder:
                path = client.calls.recording(request.call_id, Path(folder) / "recording")
                return tool_answers.recording(path.read_bytes())
        answer = client.send_raw(row, request, options)
        facts: dict[str, Any] = {"request_id": answer.request_id}
        if row.paged:
            return tool_answers.answered(
                {**facts, **tool_answers.page(answer.raw, exposure=exposure)}
            )
        if row.response is Nothing:
            return tool_answers.answered({**facts, "done": True})
        return tool_answers.answered(
            {**facts, "result": tool_answers.whole(answer.raw, exposure=exposure)}
        )

    def _end(self, call: Call, result: Result | None) -> None:
        entry = replace(call.entry, at=self._now())
        if result is None:
            entry = replace(entry, outcome="left")
        elif isinstance(result, types.CallToolResult):
            content = result.structured_content or {}
            words = tool_answers.words_of(result) if result.is_error else ""
            outcome = "done" if not result.is_error else "refused"
            entry = replace(
                entry, outcome=outcome, words=words, request_id=content.get("request_id")
            )
        try:
            _write_down(call, entry)
        except StoreError:
            # The answer is given all the same: of a write there is a line already.
            LOGGER.exception("the call of %s could not be written down", shown(entry.tool))


def _write_down(call: Call, entry: audit_log.Entry) -> None:
    account = call.caller.account
    audit_log.write(account.evidence, account.store.folder.name, entry)


def _tell(context: Context, step: Progress) -> None:
    """From the thread that works: stop it where the client has gone, else say how far it is."""
    anyio.from_thread.check_cancelled()
    anyio.from_thread.run(context.session.report_progress, step.done, step.total, step.step)


def _deep(arguments: dict[str, Any]) -> bool:
    """Whether they are nested deeper than the contract allows; level by level, so that nothing overflows."""
    level: list[Any] = [arguments]
    for _ in range(JSON_DEPTH + 1):
        inner = [item.values() if isinstance(item, dict) else item for item in level]
        level = [item for each in inner for item in each if isinstance(item, dict | list)]
    return bool(level)


def _wrong_arguments(tool: types.Tool, arguments: dict[str, Any]) -> str | None:
    # Loaded here: what it brings along takes longer than all else at the start.
    import jsonschema

    checker = jsonschema.Draft202012Validator(tool.input_schema)
    error = jsonschema.exceptions.best_match(checker.iter_errors(arguments))
    if error is None:
        return None
    return f"{_path(error.absolute_path)}: {error.message}"


def _path(parts: Iterable[int | str]) -> str:
    return "/".join(map(str, parts)) or "the arguments"
