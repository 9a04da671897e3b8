"""What a person reads before a tool may reach somebody; decides nothing and asks nobody.

Numbers stand whole here, unlike everywhere else: only who sees the number can say yes to it. A value stands on one
line, quoted, with hidden characters shown, so that no text in it can pass for a part of the question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from dialframe.assistant.texts import shown

#: A question up to this long shows every value whole.
MOST_CHARS: Final = 6_000
#: Most characters of a value of a longer one; numbers are shorter.
_VALUE_CHARS: Final = 300
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
    told = "\n".join([*head, *lines])
    if len(told) <= MOST_CHARS:
        return told
    return "\n".join(
        [*head, *(_short(name, value, known.get(name)) for name, value in arguments.items())]
    )


def quoted(value: object) -> str:
    """A value as JSON on one line, nothing in it hidden."""
    return shown(json.dumps(value, ensure_ascii=False))


def _line(name: str, value: object, known: str | None) -> str:
    return f"{name}: {quoted(value)}" + (f" = {known}" if known else "")


def _short(name: str, value: object, known: str | None) -> str:
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
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
