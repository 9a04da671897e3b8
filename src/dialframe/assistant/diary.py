"""The log of tool calls: one line of JSON each in a file of the account, for its owner alone; reads none back.

A line holds who called what, what was answered, and the ids under which the service knows it. Numbers in it are
masked, free text stands as its length, keys never.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from dialframe.assistant.texts import masked, shown

FILE: Final = "assistant.jsonl"
_FILE_MODE: Final = 0o600
_WORDS: Final = 300
_NAME: Final = 64
_LIST: Final = 10

#: What of a schema makes a text a code rather than somebody's words.
_CODED: Final = ("enum", "pattern", "format")
_NUMBERS: Final = frozenset({"phone", "to", "phones", "caller_id"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line.

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


def write(folder: Path, entry: Entry) -> None:
    """Put an entry down.

    Raises:
        OSError: The file cannot be written.
    """
    facts = {
        **asdict(entry),
        "at": entry.at.isoformat(timespec="milliseconds"),
        "tool": shown(masked(entry.tool))[:_NAME],
        "client": shown(masked(entry.client))[:_NAME],
        "words": shown(masked(entry.words))[:_WORDS],
    }
    line = json.dumps(facts, ensure_ascii=False) + "\n"
    file = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _FILE_MODE)
    try:
        os.write(file, line.encode("utf-8", "backslashreplace"))
    finally:
        os.close(file)


def brief(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments for a log: ids, codes and days as they are, numbers masked, words as their length."""
    fields = schema.get("properties", {})
    return {
        shown(masked(str(name)))[:_NAME]: _brief(name, value, fields.get(name, {}))
        for name, value in arguments.items()
    }


def _brief(name: str, value: object, field: Mapping[str, Any]) -> object:
    if isinstance(value, str):
        if name in _NUMBERS:
            return shown(masked(value))[:_NAME]
        coded = any(word in field for word in _CODED) and len(value) <= _NAME
        return shown(masked(value)) if coded else f"({len(value)} characters)"
    if isinstance(value, list):
        several = [_brief(name, one, field.get("items", {})) for one in value[:_LIST]]
        return several if len(value) <= _LIST else [*several, f"({len(value) - _LIST} more)"]
    if isinstance(value, dict):
        return f"({len(value)} fields)"
    return value
