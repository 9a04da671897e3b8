"""What the words beside a number in its own cell say of the number and of the person; reads no number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from dialframe.leads import headers
from dialframe.opt_outs import phrase_set, plain, read_remark, text_parts, word_set

#: Beginnings of the words for a fax in compounds.
_FAX_STEMS: Final = ("telefax", "faxn", "telecop", "facsim")
_TYPE_WORDS: Final = frozenset(["type", "typ", "tipo", "art", "kind", "label"])
_PHONE_HEADS: Final = headers.PHONE_WORDS | {"1", "primary", "main", "contact", "line", "de", "du"}
_LONGEST_NAME: Final = 12


def about_person(text: str) -> str | None:
    """What a phone cell says about calling the person: `opt_out`, `opt_out_unclear`, `deceased`.

    Args:
        text: The cell; one without letters says nothing.
    """
    said = read_remark(text)
    if said in ("opt_out", "opt_out_unclear", "deceased"):
        return said
    alone = _words(text)
    if alone and (
        " ".join(alone) in phrase_set("whole")
        or (len(alone) == 1 and alone[0] in word_set("short_beside_numbers"))
    ):
        return "opt_out"
    if phrase_set("deceased").intersection(alone):
        return "deceased"
    return None


def about_number(part: str) -> str | None:
    """Why the number in this part of a phone cell is not the person's phone, as a reason code."""
    alone = _words(part)
    if any(word in word_set("fax") or word.startswith(_FAX_STEMS) for word in alone):
        return "fax_only"
    if word_set("another").intersection(alone):
        return "phone_of_another"
    if read_remark(part) == "wrong_number" or " ".join(alone) in phrase_set("wrong"):
        return "wrong_number"
    if word_set("wrong_beside").intersection(alone) and len(alone) <= _LONGEST_NAME:
        return "wrong_number"
    bare = "".join(alone)
    return "wrong_number" if any(said in bare for said in _wrong_in_japanese()) else None


def is_fax(kind: str) -> bool:
    """Whether the cell of a column such as `Phone Type` says that the number is a fax."""
    alone = _words(kind)
    return (
        bool(alone)
        and all(
            word in word_set("fax") or word.startswith(_FAX_STEMS) or word in headers.PHONE_PLACES
            for word in alone
        )
        and any(word in word_set("fax") or word.startswith(_FAX_STEMS) for word in alone)
    )


def type_column(phone: str, phones: Sequence[str], columns: Sequence[str]) -> str | None:
    """The column that tells what kind of number a phone column holds: `Phone 1 Type`, or None.

    Args:
        phone: The phone column.
        phones: All phone columns.
        columns: Columns that may tell.
    """
    for column in columns:
        tokens = set(plain(column).split())
        rest = tokens - _TYPE_WORDS
        if rest == tokens or not rest:
            continue
        if rest == set(plain(phone).split()) or (len(phones) == 1 and rest <= _PHONE_HEADS):
            return column
    return None


def _words(text: str) -> list[str]:
    return [token for token in plain(text).split() if not token.isdecimal()]


@cache
def _wrong_in_japanese() -> tuple[str, ...]:
    return tuple(part for part, says in text_parts().items() if says == "wrong_number")
