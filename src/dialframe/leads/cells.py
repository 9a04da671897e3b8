"""Single cells of a lead to the values that the service takes: names, addresses, ids."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple

from dialframe.contract.limits import EMAIL_CHARS
from dialframe.leads import header_vocabulary

#: What people write where they have nothing to write.
NOTHING: Final = frozenset(
    ("", *map(str.strip, header_vocabulary.TABLES["cells"]["nothing"]["words"].split("|")))
)

_REMOVED: Final = re.compile(
    "[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
_FORMULA: Final = re.compile(r"=\s*\"(.*)\"")
#: A link of a web page, the name of a chat, and a link that opens one.
_TEL_LINK: Final = re.compile(
    r"<a\b[^<>]*\bhref\s*=\s*[\"']?\s*tel:([^\"'<>]+?)[\"']?(?:\s[^<>]*)?>", re.IGNORECASE
)
_CHAT: Final = re.compile(r"\+?(\d{7,15})@(?:c\.us|s\.whatsapp\.net)", re.IGNORECASE)
_CHAT_LINK: Final = re.compile(
    r"(?:https?://)?(?:api|web)\.whatsapp\.com/send/?\?(?:[^#\s]*&)?phone=(?:%2B|\+)?(\d{7,15})\b",
    re.IGNORECASE,
)
_WIDE: Final = str.maketrans("（）［］；／，", "()[];/,")
_SIMPLE_EMAIL: Final = re.compile(
    r"[A-Za-z0-9_%+'-]+(?:\.[A-Za-z0-9_%+'-]+)*@"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}"
)
_LOCAL_CHARS: Final = 64
_ANGLE: Final = re.compile(r".*<([^<>]+@[^<>]+)>.*")
_EMAIL_SEPARATOR: Final = re.compile(r"[;,|\s]+(?:or\s+|oder\s+)?")
_AROUND_AT: Final = re.compile(r"\s*@\s*")
_LAST_FIRST: Final = re.compile(r"([^\W\d_][^,\d]*),\s*([^\W\d_][^,\d]*)")
_LAST_FIRST_SHARE: Final = 0.8


class EmailReading(NamedTuple):
    """An e-mail cell: the address, or the reason code why there is none, and warnings."""

    email: str = ""
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def tidy(cell: str) -> str:
    """The text without control and zero-width characters and without superfluous blanks."""
    return " ".join(_REMOVED.sub("", cell).split())


def unwrapped(cell: str) -> str:
    """The text of a phone cell without what spreadsheets and exports put around it."""
    # A line end separates two numbers; tidying would join them.
    text = tidy(cell.strip().replace("\r\n", "\n").replace("\n", " ; ").translate(_WIDE))
    if "@" in text or "whatsapp" in text or "<" in text:
        text = _number_of_link(text)
    formula = _FORMULA.fullmatch(text)
    return (formula[1] if formula else text).strip("'\"` ")


def _number_of_link(text: str) -> str:
    """The number that a link dials, or that a chat is called by; any other text as it is."""
    if (tel := _TEL_LINK.search(text)) is not None:
        return tel[1]
    # What a chat is called by has its calling code and no sign.
    chat = _CHAT.fullmatch(text) or _CHAT_LINK.match(text)
    return f"+{chat[1]}" if chat else text


def is_nothing(text: str) -> bool:
    """Whether the tidied text only says that there is nothing."""
    return text.casefold() in NOTHING


def read_name(cell: str) -> str:
    """A name, id or source as the service takes it: tidied, composed, empty for nothing."""
    text = tidy(cell)
    # Composed, as the web writes it: two forms of `é` would be two names (Unicode Standard Annex 15).
    return "" if is_nothing(text) else unicodedata.normalize("NFC", text)


def turns_names(names: Iterable[str]) -> bool:
    """Whether a column of whole names is written `Last, First` throughout."""
    filled = [name for name in names if name]
    turned = sum(_LAST_FIRST.fullmatch(name) is not None for name in filled)
    return bool(filled) and turned >= _LAST_FIRST_SHARE * len(filled)


def turn_name(name: str) -> str:
    """`Smith, Bob` to `Bob Smith`; any other text unchanged."""
    match = _LAST_FIRST.fullmatch(name)
    return f"{match[2].strip()} {match[1].strip()}" if match else name


def read_email(cell: str) -> EmailReading:
    """An e-mail address by its syntax only; nothing is looked up.

    A `mailto:`, a display name, blanks around the `@` and punctuation around the address are taken
    off, and of several addresses the first is used; both with a warning.
    """
    text = tidy(cell)
    if is_nothing(text):
        return EmailReading()
    if _is_email(text):
        return EmailReading(text)
    warnings: tuple[str, ...] = ("email_repaired",)
    angle = _ANGLE.fullmatch(text)
    # `Ann Lee <ann@example.com>` is the form of a mail program (RFC 5322, 3.4).
    bare = _AROUND_AT.sub("@", angle[1] if angle else text)
    parts = [part.strip(" .,;:<>()[]\"'") for part in _EMAIL_SEPARATOR.split(bare)]
    parts = [part.removeprefix("mailto:").removeprefix("MAILTO:") for part in parts]
    addresses = [part for part in parts if _is_email(part)]
    if len(addresses) > 1:
        warnings = ("email_split",)
    # Words beside an address may say that it is not the lead's.
    if addresses and len([part for part in parts if part]) == len(addresses):
        return EmailReading(addresses[0], None, warnings)
    too_long = len(text) > EMAIL_CHARS and "@" in text
    return EmailReading(reason="email_length" if too_long else "email_invalid")


def _is_email(text: str) -> bool:
    if len(text) > EMAIL_CHARS or text.rfind("@") > _LOCAL_CHARS:
        return False
    if _SIMPLE_EMAIL.fullmatch(text):
        return True
    if "." not in text.rpartition("@")[2] or "@" not in text:
        return False  # asked first: loading the reader of all other addresses takes 50 ms
    from email_validator import EmailNotValidError, validate_email

    try:
        validate_email(text, check_deliverability=False, globally_deliverable=False)
    except (EmailNotValidError, ValueError):
        return False
    return True
