"""What a cell or a line of a table may look like, by its characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_NUMBER: Final = re.compile(
    r"\s*[+\-]?(?:[€$£¥]\s?)?\(?[+\-]?(?:\d+(?:[.,'’]\d+)*\.?|\.\d+)\)?(?:[eE][+\-]?\d+)?\s?[€$£¥%]?\s*"
)
_CELL: Final = re.compile(
    r"""\s*(?:
      [+\-(]*\d[\d\s().+/\-xX]*%?                                 # phone, number, date, time
      | [+\-]?\d*[.,]?\d+(?:[eE][+\-]?\d+)
      | \d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+\-]\d\d:?\d\d)?
      | \d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?
      | [€$£¥]?\s?[+\-]?\d+(?:[.,]\d+)*\s?[€$£¥%]?
      | [^\s@,;|]+@[^\s@,;|]+\.\w+                                 # e-mail
      | (?:(?:https?|ftp)://|www\.)[^\s;|"]+
      | [@\#]\w+ | [-–—*?.…]{1,5}                                  # a handle, a mark for none
      | ~?(?:/|[A-Za-z]:\\)[\w./\\~+ \-]*                          # a path
      | [\w"'“„‘(\[¿¡*][\w ."'’´&\[\]/()+\-\#:!?*%°ªº“”„·\u00a0–—…\u3000-\u30ff]*(?:,\s[\w .'’&/()+\-!?:]+)*
    )?\s*""",
    re.VERBOSE,
)
#: Lines that are one value although they hold what could be a delimiter.
_WHOLE: Final = re.compile(
    r"""\s*(?:
      [^\s@,;|]+@[^\s@,;|]+\.\w+
      | (?:(?:https?|ftp)://|www\.)[^\s;|",]+
      | [\w.+\-]+                                                  # a word, a code, a number
      | [+\-]?[€$£¥]?\s?\d+(?:,\d{3})+(?:\.\d+)?
      | \d{4}-\d\d?-\d\d?(?:[T ]\d\d?:\d\d(?::\d\d)?(?:\.\d+)?\s?(?:Z|[+\-]\d\d:?\d\d)?)?
      | \d\d?[./\-]\d\d?[./\-]\d{2,4}(?:\s\d\d?:\d\d(?::\d\d)?(?:\s?[AaPp][Mm])?)?
      | \d\d?:\d\d(?::\d\d)?(?:\.\d+)?(?:\s?[AaPp][Mm])?
      | \d\d?\s[A-Za-z]{3,9}\.?,?\s\d{4} | [A-Z][a-z]{2,8}\s\d\d?,?\s\d{4}
      | [A-Z][a-z]{2},?\s\d\d?\s[A-Z][a-z]{2}\s\d{4}\s\d\d:\d\d:\d\d.*
      | [0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){5,7}
      | ~?(?:/|[A-Za-z]:\\)[^\s,;|\t]*
    )\s*""",
    re.VERBOSE,
)
_PHONE: Final = re.compile(r"\s*[+(]*\d[\d\s().+/\-]*(?:\s?(?:x|ext\.?)\s?\d+)?\s*")
_PHONE_DIGITS: Final = range(7, 16)
_DIGITS: Final = re.compile(r"\d+")
#: In longer records quotes are not looked for around each cell, which would take the square of it.
_LONGEST_TEXT: Final = 20_000
#: Longer cells are sentences, which no pattern tells apart from what they are cut out of.
_LONG: Final = 2_000
_REGULAR_SHARE: Final = 0.9
_SAME_GROUPS_SHARE: Final = 0.5


def is_number(text: str) -> bool:
    """Whether the text is a number as people write it."""
    return _NUMBER.fullmatch(text) is not None


def is_cell(cell: str, text: str, quote: str | None) -> bool:
    """Whether a cell looks like one: a value of some kind, or quoted in the record's text."""
    if _CELL.fullmatch(cell[:_LONG]) is not None:
        return True
    if quote is None or quote not in text or len(text) > _LONGEST_TEXT:
        return False
    return f"{quote}{cell.replace(quote, quote * 2)}{quote}" in text or (
        quote in cell and f"{quote}{cell.replace(quote, chr(92) + quote)}{quote}" in text
    )


def whole_share(lines: Sequence[str]) -> float:
    """Share of the lines that are one value each, although a delimiter may seem to stand in them."""
    texts = [line.strip('"') for line in (lines[1:] if len(lines) > 2 else lines)]
    whole = sum(len(text) < _LONG and _WHOLE.fullmatch(text) is not None for text in texts)
    phones = [text for text in texts if _is_phone(text)]
    if _is_matrix(texts):
        phones = []
    both = whole + sum(_WHOLE.fullmatch(text) is None for text in phones)
    return both / len(texts)


def _is_phone(text: str) -> bool:
    return (
        len(text) < 40
        and _PHONE.fullmatch(text) is not None
        and sum(char.isdigit() for char in text) in _PHONE_DIGITS
        and not ("." in text and re.search(r"\d\.\d+\s", text))
    )


def _is_matrix(texts: Sequence[str]) -> bool:
    """Whether the lines hold numbers with blanks between, grouped otherwise in each line."""
    rows = [text.split() for text in texts]
    widths = Counter(map(len, rows))
    width, lines = widths.most_common(1)[0]
    if width < 2 or lines < _REGULAR_SHARE * len(texts):
        return False
    if not all(is_number(cell) for row in rows if len(row) == width for cell in row):
        return False
    groups = Counter(tuple(map(len, _DIGITS.findall(text))) for text in texts)
    return groups.most_common(1)[0][1] < max(2.0, _SAME_GROUPS_SHARE * len(texts))
