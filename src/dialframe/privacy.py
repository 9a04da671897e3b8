"""Hides what must not be shown: numbers are masked, keys and secrets never appear, control bytes do nothing."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Any, Final, Literal

KEY: Final = re.compile(r"svc_(live|test)_[A-Za-z0-9._~+/=-]+")
SIGNING_SECRET: Final = re.compile(r"whsec_[A-Za-z0-9._~+/=-]+")
PHONE: Final = re.compile(r"(?<![\w-])\+\d{7,15}(?!\w)")

#: A number as the service takes it (contract, Conventions): ITU-T E.164, 6, at most 15 digits with the country
#: code, which never begins with 0; 7 at least are the contract's.
E164: Final = re.compile(r"\+[1-9][0-9]{6,14}")

SHOWN_HEAD: Final = 4
SHOWN_TAIL: Final = 2

#: How much of a value is a number: all of it, a cell of a lead, somewhere in prose, or fields of JSON.
Reach = Literal["number", "cell", "text", "json"]

#: Fields of event data (contract, Events: Event data) that are a person's or the account's number.
PHONE_FIELDS: Final = frozenset({"from", "to", "phone", "from_number", "to_number"})
#: JSON integers from here on may be a number with its country code.
_LEAST_NUMBER: Final = 10**9

# From the beginning of a word alone: a cell of a megabyte is looked through once.
_EMAIL: Final = re.compile(r"(?<![^\s@])[^\s@]++(@[^\s@]+)")
#: Seven digits or more as people write numbers: better a harmless figure hidden than a number shown.
_LOOSE: Final = re.compile(r"(?<!\w)\(?\+?\d(?:[\s().\-/\u2010-\u2015]{0,3}\d){6,}(?!\w)")
#: Instants, days and typed ids stay readable.
_PLAIN: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?"
    r"|(?:lead|call|cmp|cb|appt|wh|evt|whd|cli|msg|cns|req)_[0-9A-Za-z-]+",
    re.ASCII,
)

#: C0 and C1 controls but tab and line end, and the marks that turn text around (Unicode UAX #9).
_CONTROL: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def mask(value: Any, *, reach: Reach = "number") -> Any:
    """The value with the numbers in it hidden; masking twice is masking once.

    Args:
        value: Text; for `json`, any JSON value.
        reach: `number`: the whole text is a number. `cell`: a cell of a lead, so that e-mail
            addresses and names are hidden too. `text`: prose that may hold numbers, keys and secrets.
            `json`: prose in a JSON value, and whatever stands in its number fields.

    Returns:
        A value of the same shape.

    Example:
        >>> mask("+12125550142")
        '+121******42'
        >>> mask("call me on +12125550142", reach="text")
        'call me on +121******42'
        >>> mask("ann@example.com", reach="cell")
        'a***@example.com'
    """
    if reach == "number":
        return _mask_number(str(value))
    if reach == "cell":
        return _mask_cell(str(value))
    if reach == "text":
        return _mask_text(str(value))
    return _mask_json(value)


def keyed_mark(key: bytes, kind: str, text: str) -> bytes:
    """What is left of a number or id that was forgotten: a hash that nobody can undo without the key.

    Args:
        key: The key.
        kind: What the text is (`phone`, `national`, `id`), so that two kinds never meet.
        text: The number or id.

    Returns:
        16 bytes.
    """
    # Keyed, since all numbers in use can be hashed in a day; 128 bits are enough (RFC 2104, 5).
    return hmac.digest(key, f"{kind}:{text}".encode(), hashlib.sha256)[:16]


def redact(text: str) -> str:
    """The text with every key and signing secret removed and every E.164 number masked.

    Args:
        text: Words of our own, such as an error's: no digits but E.164 numbers are touched.
    """
    text = KEY.sub(r"svc_\1_[hidden]", text)
    text = SIGNING_SECRET.sub("whsec_[hidden]", text)
    return PHONE.sub(lambda match: _mask_number(match.group()), text)


def terminal_safe(text: str) -> str:
    r"""The text without bytes that a terminal obeys; each is shown as its code point.

    Args:
        text: Words of strangers: names, notes, file names, answers of a service.

    Example:
        >>> terminal_safe("a\x1b[31mb")
        'a<U+001B>[31mb'
    """
    return _CONTROL.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def page_safe(page: str) -> str:
    r"""A page of HTML in which no control byte stands, and no mark that turns text around.

    Args:
        page: The whole page, escaped.

    Example:
        >>> page_safe("<td>invoice\u202efdp.exe</td>")
        '<td>invoice&lt;U+202E&gt;fdp.exe</td>'
    """
    return _CONTROL.sub(lambda match: f"&lt;U+{ord(match[0]):04X}&gt;", page)


def _mask_number(number: str) -> str:
    """The middle replaced by stars, so that people recognize only their own; a short one whole."""
    # Of an extension or a service number six shown digits would be all of it.
    if len(number) < SHOWN_HEAD + SHOWN_TAIL + 2:
        return "*" * len(number)
    hidden = len(number) - SHOWN_HEAD - SHOWN_TAIL
    return f"{number[:SHOWN_HEAD]}{'*' * hidden}{number[-SHOWN_TAIL:]}"


def _mask_cell(cell: str) -> str:
    cell = " ".join(cell.split())
    # The domain stays: it tells people their own firm from another.
    if "@" in cell:
        return _EMAIL.sub(lambda match: f"{match[0][0]}***{match[1]}", cell)
    if any(character.isdecimal() for character in cell):
        return _mask_number(cell)
    return cell if len(cell) <= 1 else f"{cell[0]}{'*' * min(len(cell) - 1, 10)}"


def _mask_text(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    text = redact(text)
    # Looked for first: the digits of an instant are a run of fourteen.
    plain = {match.span() for match in _PLAIN.finditer(text)}

    def hidden(match: re.Match[str]) -> str:
        if any(start <= match.start() and match.end() <= end for start, end in plain):
            return match[0]
        return "*" * (len(match[0]) - SHOWN_TAIL) + match[0][-SHOWN_TAIL:]

    return _LOOSE.sub(hidden, text)


def _mask_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            _mask_json(name): _mask_number(str(inner))
            if name in PHONE_FIELDS
            and isinstance(inner, str | int)
            and not isinstance(inner, bool)
            else _mask_json(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [_mask_json(inner) for inner in value]
    if isinstance(value, str):
        return _mask_text(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _LEAST_NUMBER:
        return _mask_number(str(value))
    return value
