"""The log of tool calls: one line of JSON each in a file of the account, for its owner alone.

A line holds who called what, what was answered, and the ids under which the service knows it. Numbers in it are
masked, free text stands as its length, keys never; addresses that data is sent to stand whole. Each line carries
a hash over itself and the line before, so that none can be changed or left out unnoticed; a file beside the log
(`.head`) and one beside its folder have the last one, so that none can be cut off.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from dialframe import files
from dialframe.assistant.tool_answers import masked, shown
from dialframe.chained_log import ORIGIN, Witness
from dialframe.privacy import redact

FILE: Final = "assistant.jsonl"
#: For its owner alone: addresses and words of people may be in it.
_FILE_MODE: Final = 0o600
#: A line: its hash, then the JSON that it was made of.
_HASHED: Final = re.compile(rb'\{"hash": "([0-9a-f]{64})", (.*\})')
#: No line is longer than this.
_LINE_BYTES: Final = 1 << 16
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
        OSError: The file cannot be written; it is as it was.
    """
    facts = {
        **asdict(entry),
        "at": entry.at.isoformat(timespec="milliseconds"),
        "tool": shown(masked(entry.tool))[:_NAME],
        "client": shown(masked(entry.client))[:_NAME],
        "words": shown(masked(entry.words))[:_WORDS],
    }
    path = folder / FILE
    with files.exclusive(folder / f"{FILE}.lock", wait=True):
        size = _cut_torn_end(path)
        # What is lost is said until somebody takes the notes away; a line more does not settle it.
        lost = _end_problems(path)
        before = _last_hash(path)
        data = _encoded({**facts, "before": before})
        if len(data) > _LINE_BYTES - len(before) * 2:
            count = {"...": f"({len(entry.arguments)} arguments, too long to keep)"}
            data = _encoded({**facts, "arguments": count, "before": before})
        digest = hashlib.sha256(data).hexdigest()
        line = json.dumps({"hash": digest})
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _FILE_MODE)
        try:
            with os.fdopen(file, "ab") as log:
                # The hash stands first, so that the rest of the line is what it was made of.
                log.write(line[:-1].encode() + b", " + data[1:] + b"\n")
                log.flush()
                _note(path, log.tell(), digest, follows=not lost)
        except OSError:
            os.truncate(path, size)
            raise


def _encoded(facts: Mapping[str, Any]) -> bytes:
    return json.dumps(facts, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _cut_torn_end(path: Path) -> int:
    """Take back the beginning of a line whose writer was killed; gives the size of the rest in bytes."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            tail_at = file.seek(max(0, size - _LINE_BYTES))
            whole = tail_at + file.read().rfind(b"\n") + 1
    except FileNotFoundError:
        return 0
    with suppress(ValueError):
        # What was noted was whole: harm that came later is not taken back.
        if whole < size and whole >= _noted(path)[0]:
            os.truncate(path, whole)
            return whole
    return size


def problems(folder: Path) -> list[str]:
    """What is not as it was written in a folder's log, in words."""
    path = folder / FILE
    sentences = [f"line {number} is not what was written, or does not follow the one before"
            for number in broken_lines(folder)]  # fmt: skip
    notes = " and ".join(str(witness.path) for witness in _witnesses(path))
    return sentences + [
        f"{problem} (by {notes}; remove both to begin anew)" for problem in _end_problems(path)
    ]


def _witnesses(path: Path) -> tuple[Witness, Witness]:
    # The second one stays where the log and all beside it are deleted, or an old copy brought back.
    folder = path.parent.absolute()
    return Witness(path), Witness(folder.with_name(f"{folder.name}.{path.name}"))


def _noted(path: Path) -> tuple[int, str]:
    """Size and last hash of the log as they were noted last.

    Raises:
        ValueError: A note is not what was written.
    """
    return max(witness.last() or (0, ORIGIN) for witness in _witnesses(path))


def _note(path: Path, size: int, digest: str, *, follows: bool) -> None:
    """Note how far the log has come, unless it does not follow what was noted."""
    beside, outside = _witnesses(path)
    if follows:
        beside.note(size, digest)
        # Where the folder's own place is closed to us, the note beside the log is all there is.
        with suppress(OSError):
            outside.note(size, digest)


def _end_problems(path: Path) -> list[str]:
    """What is wrong with the log's end by the notes of it, in words."""
    try:
        size, digest = _noted(path)
    except ValueError as error:
        return [str(error)]
    if size > (path.stat().st_size if path.exists() else 0):
        return ["lines that were written are missing at its end"]
    if not size:
        return []
    with path.open("rb") as log:
        log.seek(max(0, size - _LINE_BYTES))
        last = log.read(min(size, _LINE_BYTES)).splitlines()[-1]
    if f'{{"hash": "{digest}", '.encode() != last[: len(digest) + 13]:
        return ["its last line is not the one that was written last"]
    return []


def broken_lines(folder: Path) -> list[int]:
    """Numbers, from 1, of lines that are not what was written, or do not follow the line before them."""
    path = folder / FILE
    broken: list[int] = []
    before = ""
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else [], 1):
        match = _HASHED.fullmatch(line)
        if match is None and not before and not broken:
            continue  # from before lines had hashes
        text = b"{" + match[2] if match else b""
        whole = match is not None and hashlib.sha256(text).hexdigest() == match[1].decode()
        if not whole or f'"before": "{before}"'.encode() not in text[-90:]:
            broken.append(number)
        before = match[1].decode() if match else ""
    return broken


def _last_hash(path: Path) -> str:
    """The hash of the last line; empty where there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _LINE_BYTES))
            lines = file.read().splitlines()
    except FileNotFoundError:
        return ""
    match = _HASHED.fullmatch(lines[-1]) if lines else None
    return match[1].decode() if match else ""


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
