"""Yes, no and neither in the cells of columns of prohibitions, permissions and screening results.

The same word can be opposite in the kinds of column, so each kind has its own reading: `不可` (not
allowed) is a refusal in both, a date is the day of the opt-out in the one and no answer in the
other. Words of one meaning are put together, and a negation turns them round: `non presente`,
`keine Erlaubnis`. Any word that no table knows is unclear, and whoever is unclear is not called.
"""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from dialframe.opt_outs.flags import Flag, is_word_of
from dialframe.opt_outs.phrases import LONGEST_CHARS, find_phrase
from dialframe.opt_outs.text import fold, plain, read_table

#: What a code of a scrubbing service or dialer says of the number.
CodeMeaning = Literal["clear", "do_not_call", "unclear"]

Answer = Literal["yes", "no", "blank", "unclear"]

_EXPLAINED: Final = re.compile(r"\s[-–—]+\s|[,;:(]")
_CHANNELS: Final = re.compile(r"[;,/|+&]")
#: What a spreadsheet's column of numbers puts behind a whole one.
_WHOLE: Final = (".0", ".00")
#: Quotes, marks and blanks around an answer, among them the zero-width space and the byte order mark.
_AROUND: Final = "'\"“”.!*[]() \t\u200b\ufeff\ufe0f"
#: What parts an answer from its reason: `N - on register`.
_BEHIND: Final = re.compile(r"\s[-–—]\s|[:,;(]")


class ResultCode(NamedTuple):
    """What one code of a scrubbing service or dialer means.

    Attributes:
        system: The service or dialer.
        code: Its code, as it writes it.
        says: `do_not_call`, `clear` or `unclear`.
        meaning: In words.
        source: Where the service says so.
    """

    system: str
    code: str
    says: CodeMeaning
    meaning: str
    source: str


def read_answer(cell: str) -> Answer:
    """What an opt-out cell says: yes is do not call; anything unknown is unclear, never no.

    Args:
        cell: A cell of a column such as `Do Not Call`. A date is the day of the opt-out.

    Returns:
        `yes`, `no`, `blank` or `unclear`.

    Example:
        >>> read_answer("Ja"), read_answer("not listed"), read_answer("2024-05-01")
        ('yes', 'no', 'yes')
    """
    word = _word(cell)
    if not word or _is_of(word, "blank"):
        return "blank"
    if _is_of(word, "yes", "opted_out", "listed") or _is_day(word):
        return "yes"
    if _is_of(word, "no", "opted_in", "unlisted"):
        return "no"
    composed = None if _EXPLAINED.search(cell) else composed_answer(word)
    if composed in _MEANT:
        return _MEANT[composed]
    if (said := _phrase_says(cell)) is not None:
        return said
    return _first_word(cell)


def _phrase_says(cell: str) -> Answer | None:
    """What a phrase of a refusal or the name of a register says in a cell: yes is a refusal."""
    tokens = plain(cell).split()
    if any(is_word_of(token, "registers") for token in tokens):
        return "no" if any(is_word_of(token, "not") for token in tokens) else "yes"
    phrase = find_phrase(cell)
    if phrase is None:
        return None
    # `Not before nine`, and `email only` among refused channels, are for a person to read.
    of_mail = not _other_channels().isdisjoint(phrase.text.split())
    return "unclear" if phrase.limited or of_mail else "yes"


def read_consent(cell: str) -> Answer:
    """What a consent cell says: yes is may call.

    Args:
        cell: A cell of a column such as `Consent to call`.

    Returns:
        `yes`, `no`, `blank` or `unclear`.

    Example:
        >>> read_consent("Phone; E-mail"), read_consent("email only"), read_consent("withdrawn")
        ('yes', 'no', 'no')
    """
    word = _word(cell)
    if _is_of(word, "refuses"):
        return "no"
    if not word or _is_of(word, "blank"):
        return "blank"
    if _is_of(word, "yes", "opted_in", "consents"):
        return "yes"
    if _is_of(word, "no", "opted_out"):
        return "no"
    of_list = any(is_word_of(token, "registers") for token in plain(cell).split())
    composed = None if of_list or _EXPLAINED.search(cell) else composed_answer(word)
    if composed in ("allows", "given", "refuses"):
        return "no" if composed == "refuses" else "yes"
    if find_phrase(cell) is not None or _phrase_says(cell) == "yes":
        return "no"
    if _phrase_says(cell) is not None:
        return "unclear"
    first = _first_word(cell)
    if first != "unclear":
        return first
    # `Phone; E-mail` allows calls, `SMS, E-mail` does not, anything else is unclear.
    channels = [part.strip() for part in _CHANNELS.split(word) if part.strip()]
    known = answer_set("consents") | answer_set("refuses")
    if len(channels) < 2 or not known.issuperset(channels):
        return "unclear"
    return "no" if _CALL_CHANNELS.isdisjoint(map(plain, channels)) else "yes"


def read_screening(cell: str) -> Answer:
    """What a result of a screening service says: yes is on a list.

    Args:
        cell: A cell of a column such as `DNC Scrub Result`: a code of `result_codes`, or words.

    Returns:
        `yes`, `no`, `blank` or `unclear`, the last for every code that no table knows.

    Example:
        >>> read_screening("D"), read_screening("C"), read_screening("W")
        ('yes', 'no', 'unclear')
    """
    word = _word(cell)
    if _is_of(word, "passed"):
        return "no"
    if _is_of(word, "failed"):
        return "yes"
    meaning = codes_by_text().get(word)
    if meaning is not None:
        return {"do_not_call": "yes", "clear": "no", "unclear": "unclear"}[meaning]  # type: ignore[return-value]
    return read_answer(cell)


def read_screened(cell: str) -> Answer:
    """What a cell says of a column that tells whether numbers were compared: `TPS screened`.

    Args:
        cell: A result counts as one (`TPS`, `Listed`); a plain yes, a day or any other word is none.

    Returns:
        `yes` for a number on a list, else `no`.

    Example:
        >>> read_screened("Registered"), read_screened("Yes"), read_screened("N - on register")
        ('yes', 'no', 'yes')
    """
    word = _word(cell)
    if _is_of(word, "yes") or _is_day(word):
        return "no"
    # Behind the answer, the result may stand.
    results = map(read_screening, (cell, *_BEHIND.split(cell)[1:]))
    return "yes" if "yes" in results else "no"


def read_right_number(cell: str) -> Answer:
    """What a cell says of a column that tells whether the number is right: a no there is a yes to an opt-out.

    Args:
        cell: A cell of a column such as `Number valid for contact`.

    Example:
        >>> read_right_number("No"), read_right_number("Y"), read_right_number("")
        ('yes', 'no', 'blank')
    """
    answer = read_answer(cell)
    return {"yes": "no", "no": "yes"}.get(answer, answer)  # type: ignore[return-value]


def read_channels(cell: str) -> Answer:
    """What a list of refused channels says of calls: `Phone` is a yes, `SMS` a no.

    Args:
        cell: A cell of a column such as `Opt Out Channels`.

    Example:
        >>> read_channels("SMS, email"), read_channels("all")
        ('no', 'yes')
    """
    words = plain(cell).split()
    return "no" if words and _other_channels().issuperset(words) else read_answer(cell)


@cache
def result_codes() -> tuple[ResultCode, ...]:
    """What scrubbing services and dialers answer, as a table with sources.

    Returns:
        One row per system and code.

    Example:
        >>> next(code.says for code in result_codes() if code.code == "D")
        'do_not_call'
    """
    with resources.files(__package__).joinpath("result_codes.csv").open(encoding="utf-8") as file:
        return tuple(ResultCode(**row) for row in csv.DictReader(file))  # type: ignore[arg-type]


@cache
def codes_by_text() -> dict[str, CodeMeaning]:
    """What each code says, without capitals; the worst of what several systems mean by it."""
    worst: dict[str, CodeMeaning] = {}
    order = ("clear", "unclear", "do_not_call")
    for row in result_codes():
        known = worst.get(row.code.lower(), "clear")
        worst[row.code.lower()] = max(row.says, known, key=order.index)
    return worst


def is_answer(cell: str) -> bool:
    """Whether the cell is a known answer of either kind, in so many words."""
    return _is_of(_word(cell), "yes", "no", "opted_out", "opted_in")


def plain_yes(cell: str) -> bool:
    """Whether the cell is a yes that is nothing else, wherever it stands: `yes`, not `1` or `x`."""
    return _word(cell) in answer_set("plain_yes")


def read_flag(flag: Flag, cell: str) -> Answer:
    """What a cell of a flag column says: yes is *must not be called*, or of a `permits` column *may be*.

    Args:
        flag: What the column is (`flag_of`).
        cell: Its text.

    Returns:
        `yes`, `no`, `blank` or `unclear`; of a doubtful flag, `unclear` where it may be a refusal.

    Example:
        >>> from dialframe.opt_outs import flag_of
        >>> read_flag(flag_of("Do not call"), "Ja"), read_flag(flag_of("Blocked"), "Yes")
        ('yes', 'unclear')
    """
    if not flag.sure:
        word = _word(cell)
        if not word or _is_of(word, "blank", "no", "unlisted", "opted_in"):
            return "no" if word else "blank"
        telling = (
            flag.filled
            or _is_of(word, "yes", "opted_out", "listed")
            or find_phrase(cell) is not None
        )
        return "unclear" if telling or (flag.days and _is_day(word)) else "no"
    read = {
        "permits": read_consent,
        "call": read_consent,
        "channels": read_channels,
        "screening": read_screening,
        "screened": read_screened,
        "right_number": read_right_number,
    }
    return read.get(flag.kind, read_answer)(cell)


def _is_of(word: str, *answers: str) -> bool:
    """Whether a word is an answer of one of some tables of `answers.toml`."""
    return any(word in answer_set(name) for name in answers)


def _first_word(cell: str) -> Answer:
    """`Yes - requested in May`, `No, ok to call`: the answer before the explanation."""
    first, *rest = _EXPLAINED.split(cell[:LONGEST_CHARS].strip(), maxsplit=1)
    word = _word(first)
    # A single letter or mark before a dash may be a grade or a bullet.
    others = _other_channels()
    if not rest or len(word) < len("no") or others.intersection(plain(rest[0]).split()):
        return "unclear"
    return "yes" if _is_of(word, "yes") else "no" if _is_of(word, "no") else "unclear"


#: What an answer that is made of several words says in a column of opt-outs.
_MEANT: Final[dict[str | None, Answer]] = {
    "allows": "no",
    "unlisted": "no",
    "refuses": "yes",
    "listed": "yes",
}
_CALL_CHANNELS: Final = frozenset(
    {"call", "calls", "phone", "telephone", "voice", "telefon", "telefono", "telefone", "telefoon"}
    | {"anruf", "llamadas", "appels", "ligacoes", "telefonate", "bellen", "telefonicznie"}
)


def _word(cell: str) -> str:
    text = cell[:LONGEST_CHARS].strip(_AROUND)
    if not text and cell.strip() in ("*", "**"):
        return "x"  # the mark of directories for who wants no advertising
    word = " ".join(fold(text).replace("_", " ").strip(_AROUND).split())
    return next((word.removesuffix(end) for end in _WHOLE if word.endswith(end)), word)


# ---- words put together

_LONGEST_ANSWER: Final = 5
_TURNED: Final = {
    "allows": "refuses",
    "given": "refuses",
    "refuses": "allows",
    "listed": "unlisted",
    "unlisted": "listed",
}
#: Meanings by the tables of answers and by the words of names of flags; the first that fits counts.
_BY_TABLE: Final = (
    ("allows", ("opted_in",)),
    ("given", ("consents",)),
    ("refuses", ("opted_out", "failed")),
    ("unlisted", ("unlisted", "passed")),
    ("listed", ("listed",)),
)
_BY_WORD: Final = (("refuses", ("refuse", "revoke")), ("allows", ("allow",)))


@cache
def answer_set(name: str) -> frozenset[str]:
    """The answers of one table of `answers.toml`, without accents."""
    words = str(read_table("answers.toml")[name]["words"]).split("|")
    return frozenset(fold(word).strip(" \n\ufe0f") for word in words)


def _is_day(word: str) -> bool:
    """Whether a cell is a day, with or without the time, as lists and databases write it."""
    return _days().fullmatch(word) is not None


@cache
def _days() -> re.Pattern[str]:
    month = f"(?:{'|'.join(sorted(answer_set('months')))})[^\\W\\d_]{{0,7}}"
    return re.compile(
        r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?(?:[t ]\d.*)?|\d{1,2}[-/. ]\d{1,2}[-/. ]\d{2,4}(?: \d.*)?"
        rf"|\d{{1,2}}[-. ]{{0,2}}{month}\.?,?[-. ]?\d{{2,4}}|{month}\.? \d{{1,2}},? \d{{4}}|(?:19|20)\d{{6}}"
        r"|(?:19|20)\d{2}(?:-\d{2})?|\d{1,2}[-/.](?:19|20)\d{2}"
    )


@cache
def _other_channels() -> frozenset[str]:
    return frozenset(read_table("flags.toml")["words"]["other_channels"]["words"].split())


@cache
def _beside() -> frozenset[str]:
    return frozenset(read_table("answers.toml")["beside"]["words"].split()) - answer_set("listed")


def composed_answer(word: str) -> str | None:
    """What words of one meaning say together, turned round by each negation.

    Args:
        word: An answer without capitals.

    Returns:
        `allows`, `given` (an allowance in columns of consents alone), `refuses`, `listed`,
        `unlisted`, or None where a word is of another meaning.
    """
    tokens = plain(word.replace("'", "").replace("’", "")).split()
    if not tokens or len(tokens) > _LONGEST_ANSWER:
        return None
    denied = [is_word_of(token, "not") for token in tokens]
    meanings = {
        _meaning(token)
        for token, negates in zip(tokens, denied, strict=True)
        # `On the register`, `calls allowed`.
        if not negates and token not in _beside() and not is_word_of(token, "call")
    }
    if len(meanings) != 1 or None in meanings:
        return None
    meaning = str(*meanings)
    # `Don't` is two words and one negation.
    turned = sum(here and not before for before, here in pairwise((False, *denied))) % 2
    return _TURNED[meaning] if turned else meaning


def _meaning(token: str) -> str | None:
    # `Phone` and `email` are answers of a list of channels, and nothing beside another word.
    if token not in _other_channels():
        for meaning, tables in _BY_TABLE:
            if any(token in answer_set(name) for name in tables):
                return meaning
    return next(
        (meaning for meaning, names in _BY_WORD if any(is_word_of(token, n) for n in names)), None
    )
