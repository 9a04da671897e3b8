"""Text that strangers wrote, made so that nothing in it hides and no number stands whole; knows no tool."""

from __future__ import annotations

import re
from typing import Final

from dialframe.privacy import redact

# Characters that a person does not see: controls but tab and line end, marks of direction, joiners, fillers,
# variation selectors, surrogates, private use and tags.
_HIDDEN: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\uf8ff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
_RUN: Final = re.compile(f"[{_HIDDEN}]+")
#: What stands alone between letters of Persian or Hindi, or within an emoji.
_AT_HOME: Final = frozenset({"\u200c", "\u200d", "\ufe0e", "\ufe0f", "\ufe0f\u200d"})
#: A longer run is a message of its own: only its length is told.
_RUN_SHOWN: Final = 3

#: Digits as people write numbers: at least nine, days of ISO 8601 not counted.
_LOOSE: Final = re.compile(r"(?<![\w.+-])\(?\+?\d(?:[\d\s().\-\u2010-\u2015/]{6,24})\d(?![\w:])")
_LOOSE_DIGITS: Final = 9
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_LOOSE_TAIL: Final = 2
_WITHIN_NUMBER: Final = re.compile(rf"(?<=[\d+().\- ])[{_HIDDEN}]+(?=[\d().\- ])")


def shown(text: str) -> str:
    """The text with hidden characters made visible, such as `<U+202E>`, and a long run of them counted."""
    return _RUN.sub(_seen, text.replace("\r\n", "\n"))


def masked(text: str) -> str:
    """The text without keys and secrets, numbers masked however they are written."""
    return _LOOSE.sub(_covered, redact(_WITHIN_NUMBER.sub("", text)))


def _seen(run: re.Match[str]) -> str:
    if run[0] in _AT_HOME:
        return run[0]
    if len(run[0]) > _RUN_SHOWN:
        return f"<{len(run[0]):,} hidden characters>"
    return "".join(f"<U+{ord(character):04X}>" for character in run[0])


def _covered(found: re.Match[str]) -> str:
    text = found[0]
    if sum(character.isdigit() for character in _DAY.sub("", text)) < _LOOSE_DIGITS:
        return text
    return "*" * (len(text) - _LOOSE_TAIL) + text[-_LOOSE_TAIL:]
