"""Answers tool calls: checks arguments, asks before anybody is reached, writes down each call; opens no socket."""

from __future__ import annotations

import json
import logging
import secrets
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio.from_thread
import anyio.to_thread
from mcp import types
from mcp.server.context import ServerRequestContext
from pydantic import ValidationError

from dialframe.assistant import analyses, answering, confirming, diary, lookups, results, tools
from dialframe.assistant.confirming import Confirmations
from dialframe.assistant.exposure import REACHES, READING, Exposure, kind_of
from dialframe.assistant.questions import question
from dialframe.assistant.texts import shown
from dialframe.client import Options
from dialframe.config import Progress
from dialframe.contract.limits import JSON_DEPTH
from dialframe.contract.models.shape import Nothing
from dialframe.contract.row import Operation
from dialframe.errors import DialframeError
from dialframe.privacy import KEY

if TYPE_CHECKING:
    from dialframe.account import Account

LOGGER: Final = logging.getLogger("dialframe.assistant")

_EXPOSED: Final = (
    "a key of the service stands in the arguments; nothing was sent: have the key replaced, since it is"
    " exposed"
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
    entry: diary.Entry

    @property
    def arguments(self) -> dict[str, Any]:
        """The tool's arguments."""
        return dict(self.params.arguments or {})


def _now() -> datetime:
    return datetime.now(UTC)


class Desk:
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
        self._rows = tools.offered(exposure)
        own = [_analysis_tool(row) for row in analyses.ALL]
        offered = [*map(tools.definition, self._rows.values()), *own]
        self.tools: Final = {tool.name: tool for tool in offered}
        self._confirmations = confirmations or Confirmations()
        self._now = now

    async def call(self, context: Context, params: types.CallToolRequestParams) -> Result:
        """Call a tool; what goes wrong is an answer that says what and what next."""
        call = self._begun(context, params)
        result: Result | None = None
        try:
            result = await self._answer(call)
        except DialframeError as error:
            result = results.refused(error, writes=self._writes(params.name))
        except OSError as error:
            LOGGER.exception("the tool %s failed", shown(params.name))
            result = results.failed(f"a file cannot be written or read: {error.strerror or error}")
        except Exception:  # a face shows no traceback
            LOGGER.exception("the tool %s failed", shown(params.name))
            result = results.failed(
                f"{params.name} failed by a fault of dialframe; please report it"
            )
        finally:
            self._end(call, result)
        return result

    def _begun(self, context: Context, params: types.CallToolRequestParams) -> Call:
        tool = self.tools.get(params.name)
        told = context.session.client_params
        client = f"{told.client_info.name} {told.client_info.version}" if told else ""
        call_id = f"assistant-{secrets.token_hex(8)}"
        entry = diary.Entry(
            at=self._now(),
            call=call_id,
            tool=params.name,
            client=client,
            arguments=diary.brief(params.arguments or {}, tool.input_schema if tool else {}),
            outcome="asked",
        )
        return Call(context, params, self.caller(context), call_id, entry)

    async def _answer(self, call: Call) -> Result:
        name = call.params.name
        if name not in self.tools:
            return results.failed(
                f"there is no tool {name!r} here; list the tools for what there is"
            )
        if _deep(call.arguments):
            return results.failed(f"{name}: the arguments are nested deeper than {JSON_DEPTH}")
        if KEY.search(json.dumps(call.arguments, ensure_ascii=False)):
            return results.failed(f"{name}: {_EXPOSED}")
        wrong = _wrong_arguments(self.tools[name], call.arguments)
        if wrong is not None:
            return results.failed(f"{name}: {wrong}")
        if name in analyses.BY_NAME:
            return await self._analyse(call, analyses.BY_NAME[name])
        return await self._operate(call, self._rows[name])

    async def _analyse(self, call: Call, row: analyses.Analysis) -> Result:
        scopes = call.caller.scopes
        missing = sorted(row.scopes - scopes) if scopes is not None else []
        if missing:
            return results.failed(
                f"{row.name} reads what only a key with {', '.join(missing)} may read"
            )
        asked = analyses.Asked(
            call.caller.account, call.arguments, self._now(), partial(_tell, call.context)
        )
        made = await anyio.to_thread.run_sync(row.run, asked)
        return results.answered(answering.whole(made, reveal=self.exposure.reveal))

    async def _operate(self, call: Call, row: Operation[Any, Any]) -> Result:
        arguments = call.arguments
        if row.paged:
            arguments.setdefault("limit", tools.PAGE_ROWS)
        try:
            request = row.request.model_validate(arguments)
        except ValidationError as error:
            return results.failed(f"{call.params.name}: {_invalid(error)}")
        options = Options(correlation_id=call.id)
        if row.name in REACHES:
            word = await confirming.ask(
                call.context, call.params, partial(self._question, call, row), self._confirmations
            )
            if isinstance(word, types.InputRequiredResult):
                return word
            if word.token is None:
                return results.failed(word.refusal or confirming.DECLINED)
            # The confirmation is the key: what was confirmed once is done at most once.
            options = replace(options, idempotency_key=f"assistant-{word.token}")
        return await anyio.to_thread.run_sync(self._send, call, row, request, options)

    async def _question(self, call: Call, row: Operation[Any, Any]) -> str:
        def known() -> tuple[Mapping[str, str], int]:
            account, options = call.caller.account, Options(correlation_id=call.id)
            pending = account.client.writes.pending()
            return (
                lookups.known(account, call.arguments, options),
                sum(write.operation == row.name for write in pending),
            )

        facts, pending = await anyio.to_thread.run_sync(known)
        effect = REACHES[row.name]
        return question(call.params.name, effect, call.arguments, facts, open_writes=pending)

    def _send(
        self, call: Call, row: Operation[Any, Any], request: Any, options: Options
    ) -> types.CallToolResult:
        if kind_of(row) != "read":
            # What cannot be written down is not done.
            entry = replace(call.entry, outcome="sending", key=options.idempotency_key)
            diary.write(call.caller.account.store.folder, entry)
        client = call.caller.account.client
        if row.streamed:
            with client.correlation(call.id), tempfile.TemporaryDirectory() as folder:
                path = client.calls.recording(request.call_id, Path(folder) / "recording")
                return results.recording(path.read_bytes())
        answer = client.send_raw(row, request, options)
        reveal = self.exposure.reveal
        facts: dict[str, Any] = {"request_id": answer.request_id}
        if row.paged:
            return results.answered({**facts, **answering.page(answer.raw, reveal=reveal)})
        if row.response is Nothing:
            return results.answered({**facts, "done": True})
        return results.answered({**facts, "result": answering.whole(answer.raw, reveal=reveal)})

    def _writes(self, name: str) -> bool:
        return name in self._rows and kind_of(self._rows[name]) != "read"

    def _end(self, call: Call, result: Result | None) -> None:
        entry = replace(call.entry, at=self._now())
        if result is None:
            entry = replace(entry, outcome="left")
        elif isinstance(result, types.CallToolResult):
            said = result.structured_content or {}
            words = results.words_of(result) if result.is_error else ""
            outcome = "done" if not result.is_error else "refused"
            entry = replace(entry, outcome=outcome, words=words, request_id=said.get("request_id"))
        try:
            diary.write(call.caller.account.store.folder, entry)
        except OSError:
            # The answer is given all the same: of a write there is a line already.
            LOGGER.exception("the call of %s could not be written down", shown(entry.tool))


def _tell(context: Context, step: Progress) -> None:
    """From the thread that works: stop it where the client has gone, else say how far it is."""
    anyio.from_thread.check_cancelled()
    anyio.from_thread.run(context.session.report_progress, step.done, step.total, step.step)


def _analysis_tool(row: analyses.Analysis) -> types.Tool:
    return types.Tool(
        name=row.name,
        description=row.description,
        input_schema=row.schema,
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _deep(arguments: dict[str, Any]) -> bool:
    """Whether they are nested deeper than the contract allows; level by level, so that nothing overflows."""
    level: list[Any] = [arguments]
    for _ in range(JSON_DEPTH + 1):
        inner = [one.values() if isinstance(one, dict) else one for one in level]
        level = [one for each in inner for one in each if isinstance(one, dict | list)]
    return bool(level)


def _wrong_arguments(tool: types.Tool, arguments: dict[str, Any]) -> str | None:
    # Loaded here: what it brings along takes longer than all else at the start.
    import jsonschema

    checker = jsonschema.Draft202012Validator(tool.input_schema)
    error = jsonschema.exceptions.best_match(checker.iter_errors(arguments))
    if error is None:
        return None
    place = "/".join(map(str, error.absolute_path)) or "the arguments"
    return f"{place}: {error.message}"


def _invalid(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = "/".join(map(str, first["loc"])) or "the arguments"
    return f"{place}: {first['msg']}"
