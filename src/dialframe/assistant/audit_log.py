"""What is written down of tool calls: one record of kind `assistant` for each step, in the evidence log.

A record holds who called what, what was answered, and the ids under which the service knows it. Numbers in it are
masked, free text stands as its length, keys never; addresses that data is sent to stand whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from dialframe.assistant.tool_answers import masked, shown
from dialframe.evidence import EvidenceLog, Record
from dialframe.privacy import redact

#: Arguments are not longer than this.
_ARGUMENTS_BYTES: Final = 1 << 15
#: Characters of an answer, of a name, and entries of a list that are kept.
_WORDS: Final = 300
_NAME: Final = 64
_LIST: Final = 10

#: What of a schema makes a text a code rather than somebody's words.
_CODED: Final = ("enum", "pattern", "format")
#: Arguments that are telephone numbers in the contract's requests.
_NUMBERS: Final = frozenset({"phone", "to", "phones", "caller_id"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One step of a call.

    Attributes:
        at: When it was written, UTC.
        call: The call's own id, which the service has as `X-Correlation-ID`.
        tool: Name of the tool, as it was called.
        client: Name and version of the program that called, as it says.
        arguments: The arguments, see `brief`.
        outcome: `asked` (the user was asked), `sending` (a write is about to be sent), `done`,
            `refused` (why is in `words`) or `left` (the client let go before there was an answer).
        words: What was answered where it was not done.
        request_id: The service's id of the answer.
        key: Idempotency key of a write that a person confirmed.
    """

    at: datetime
    call: str
    tool: str
    client: str
    arguments: Mapping[str, Any]
    outcome: str
    words: str = ""
    request_id: str | None = None
    key: str | None = None


def write(log: EvidenceLog, account: str, entry: Entry) -> None:
    """Put an entry down.

    Args:
        log: The evidence log.
        account: Name of the account whose tools were called.
        entry: What happened.

    Raises:
        StoreError: The log cannot be written.
    """
    arguments = entry.arguments
    if len(json.dumps(arguments)) > _ARGUMENTS_BYTES:
        arguments = {"...": f"({len(arguments)} arguments, too long to keep)"}
    detail = {
        "client": shown(masked(entry.client))[:_NAME],
        "arguments": arguments,
        "outcome": entry.outcome,
        "words": shown(masked(entry.words))[:_WORDS],
        "key": entry.key,
    }
    source = shown(masked(entry.tool))[:_NAME]
    log.append([
        Record("assistant", entry.at, source=source, list=account, who="assistant", request_id=entry.request_id,
               run=entry.call, detail={name: value for name, value in detail.items() if value})
    ])  # fmt: skip


def brief(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for a log: ids, codes and days as they are, numbers masked, words as their length."""
    fields = schema.get("properties", {})
    return {
        shown(masked(str(name)))[:_NAME]: _brief(name, value, fields.get(name, {}))
        for name, value in arguments.items()
    }


def _brief(name: str, value: object, field: Mapping[str, Any]) -> object:
    if isinstance(value, str):
        if name == "url":
            return shown(redact(value))
        if name in _NUMBERS:
            return shown(masked(value))[:_NAME]
        coded = any(word in field for word in _CODED) and len(value) <= _NAME
        return shown(masked(value)) if coded else f"({len(value)} characters)"
    if isinstance(value, list):
        several = [_brief(name, item, field.get("items", {})) for item in value[:_LIST]]
        return several if len(value) <= _LIST else [*several, f"({len(value) - _LIST} more)"]
    if isinstance(value, dict):
        return f"({len(value)} fields)"
    return value
