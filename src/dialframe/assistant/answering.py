"""Answers of the service made small and safe for an assistant; knows JSON, neither tools nor the network."""

from __future__ import annotations

import json
from typing import Any, Final

from dialframe.privacy import redact

#: Most characters of one answer.
MOST_CHARS: Final = 24_000
#: Most characters of one text inside an answer.
TEXT_CHARS: Final = 4_000


def tidy(value: Any, *, reveal: bool) -> Any:
    """JSON with numbers masked, secrets hidden and overlong texts shortened, which says so."""
    if isinstance(value, dict):
        return {str(key): tidy(one, reveal=reveal) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(one, reveal=reveal) for one in value]
    if not isinstance(value, str):
        return value
    text = value if reveal else redact(value)
    left = len(text) - TEXT_CHARS
    return text if left <= 0 else f"{text[:TEXT_CHARS]}... ({left} more characters)"


def page(raw: dict[str, Any], *, reveal: bool) -> dict[str, Any]:
    """One page of a list, cut to what an assistant can read.

    Where rows are left out there is no cursor, since it would lead past them: `note` says how many
    to ask for instead.
    """
    rows = tidy(raw.get("data", []), reveal=reveal)
    fitting = _fitting(rows)
    found: dict[str, Any] = {"rows": rows[:fitting]}
    if fitting < len(rows):
        found["note"] = (
            f"{fitting} of {len(rows)} rows fit; ask again with limit={max(fitting, 1)}"
            " to be able to go on"
        )
        return found
    found["next_cursor"] = (raw.get("page") or {}).get("next_cursor")
    return found


def whole(raw: Any, *, reveal: bool) -> Any:
    """An answer that is no list, or only its size where it is too long."""
    made = tidy(raw, reveal=reveal)
    length = len(json.dumps(made, ensure_ascii=False))
    if length <= MOST_CHARS:
        return made
    return {
        "note": f"the answer has {length} characters; read it with the client or the command line"
    }


def _fitting(rows: list[Any]) -> int:
    used = 0
    for at, row in enumerate(rows):
        used += len(json.dumps(row, ensure_ascii=False)) + 2
        if used > MOST_CHARS:
            return at
    return len(rows)
