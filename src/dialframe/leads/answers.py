"""Yes, no and neither in the cells of opt-out and consent columns, in six languages; a closed table."""

from __future__ import annotations

import unicodedata
from typing import Final, Literal

Answer = Literal["yes", "no", "blank", "unclear"]

YES: Final = frozenset(
    {
        *(
            "y",
            "yes",
            "true",
            "t",
            "1",
            "x",
            "✓",
            "✔",
            "☑",
            "✅",
            "on",
            "ok",
            "checked",
            "ja",
            "j",
            "wahr",
        ),
        *("si", "s", "verdadero", "oui", "o", "vrai", "sim", "verdadeiro", "vero"),
        *("はい", "有", "済", "可", "○", "◯", "〇", "да"),
    }
)
NO: Final = frozenset(
    {
        *("n", "no", "false", "f", "0", "off", "☐", "✗", "✘", "❌", "unchecked", "nein", "falsch"),
        *("falso", "non", "faux", "nao", "いいえ", "無", "未", "否", "不可", "×", "нет"),
    }
)
#: Words of opt-out columns that say it with the column's own name.
OPTED_OUT: Final = frozenset(
    {
        *(
            "dnc",
            "do not call",
            "do-not-call",
            "opt out",
            "opt-out",
            "optout",
            "opted out",
            "stop",
        ),
        *("unsubscribed", "unsubscribe", "blocked", "refused", "no llamar", "ne pas appeler"),
        *("nicht anrufen", "gesperrt", "nao ligar", "baja", "電話不可"),
    }
)
#: Words of consent columns that say it with the column's own name, and of opt-out columns that deny it.
OPTED_IN: Final = frozenset(
    {
        *("opt in", "opt-in", "optin", "opted in", "granted", "given", "subscribed", "allowed"),
        *("accepted", "callable", "aceptado", "accepte", "erteilt", "erlaubt", "aceito"),
    }
)
_BLANKS: Final = frozenset({"", "-", "--", "n/a", "na", "null", "none", "nan"})
_WHOLE: Final = (".0", ".00")


def read_answer(cell: str) -> Answer:
    """What an opt-out cell says: yes is do not call; anything unknown is unclear, never no."""
    word = _word(cell)
    if word in _BLANKS:
        return "blank"
    if word in YES or word in OPTED_OUT:
        return "yes"
    return "no" if word in NO or word in OPTED_IN else "unclear"


def read_consent(cell: str) -> Answer:
    """What a consent cell says: yes is may call."""
    word = _word(cell)
    if word in _BLANKS:
        return "blank"
    if word in YES or word in OPTED_IN:
        return "yes"
    return "no" if word in NO or word in OPTED_OUT else "unclear"


def is_answer(cell: str) -> bool:
    """Whether the cell is a known answer of either kind."""
    return read_answer(cell) in ("yes", "no")


def _word(cell: str) -> str:
    folded = unicodedata.normalize("NFKD", cell)
    letters = "".join(char for char in folded if not unicodedata.combining(char))
    word = " ".join(letters.casefold().strip("'\"“”.! \t\u200b\ufeff").split())
    return next((word.removesuffix(end) for end in _WHOLE if word.endswith(end)), word)
