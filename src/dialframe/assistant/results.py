"""What a tool gives, in the protocol's shape: answers, refusals, recordings; knows no tool and asks nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any, Final

from mcp import types

from dialframe.assistant.answering import NOTICE
from dialframe.assistant.texts import masked, shown
from dialframe.errors import DialframeError, OutcomeUnknown, TransportError

#: A recording up to this long comes along; of a longer one only what it is.
AUDIO_BYTES: Final = 512 * 1024
#: Most characters of a refusal.
WORDS: Final = 1_000

_PERHAPS_DONE: Final = (
    "; it may have been done all the same: look before you do it again, and tell the user"
)


def answered(value: dict[str, Any]) -> types.CallToolResult:
    """Tidy JSON as text and as structure, marked as data."""
    whole = {"notice": NOTICE, **value}
    text = json.dumps(whole, ensure_ascii=False, allow_nan=False)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=whole
    )


def failed(words: str) -> types.CallToolResult:
    """A sentence of bounded length, without numbers and keys."""
    told = shown(masked(words))[:WORDS]
    return types.CallToolResult(content=[types.TextContent(type="text", text=told)], is_error=True)


def refused(error: DialframeError, *, writes: bool) -> types.CallToolResult:
    """An error in its own words; of a write whose outcome is open, that it is."""
    silent = isinstance(error, TransportError) and error.sent
    unsure = writes and (silent or isinstance(error, OutcomeUnknown))
    return failed(f"{error}{_PERHAPS_DONE}" if unsure else str(error))


def recording(data: bytes) -> types.CallToolResult:
    """What a recording is, and the recording where it is short."""
    kind = "audio/wav" if data.startswith(b"RIFF") else "audio/mpeg"
    facts = {
        "content_type": kind,
        "size_bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    result = answered(facts)
    if len(data) <= AUDIO_BYTES:
        audio = types.AudioContent(
            type="audio", data=base64.b64encode(data).decode(), mime_type=kind
        )
        return result.model_copy(update={"content": [*result.content, audio]})
    return result


def words_of(result: types.CallToolResult) -> str:
    """The text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))
