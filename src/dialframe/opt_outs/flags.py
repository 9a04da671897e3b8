"""What a column is by its name: a flag that forbids or permits calls, or none.

A name is known whole, or by what its words say together: a refusal and a word of calls (`Refuse les appels`), a
negation before one (`Do not ring`), a register (`On TPS`), consent (`Einwilligung Telefon`), the same taken back
(`Consent withdrawn`) or turned round (`Not on DNC`). Each table of `flags.toml` counts for the words of its own
script; nothing is known by a slip of the pen, and a word that may stand for something else counts beside a word of
calls alone. A name that may be of something else (`Blocked`) is *doubtful*: its yes is put to a person.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from dialframe.opt_outs.text import plain, read_table

FlagKind = Literal[
    "forbids",
    "permits",
    "call",
    "channels",
    "screening",
    "screened",
    "deceased",
    "wrong_number",
    "right_number",
]


class Flag(NamedTuple):
    """What the cells of a column say.

    Attributes:
        kind: `forbids` where a yes is a refusal, `permits` where a no is one, `call` where the name is a question
            whose answers have to tell that it is one (`Call: Y`), `channels` for a list of refused channels,
            `screening` for a result of a comparison with registers, `screened` for whether there was one,
            `deceased`, `wrong_number` and `right_number` for what a yes says of the person or the number.
        sure: False where the name may be of something else: a yes is put to a person, nothing else counts.
        days: Whether a day is a yes in a doubtful column: that of an objection is, that of a removal is not.
        filled: Whether any text is a yes in a doubtful column, as of reasons of a refusal.
    """

    kind: FlagKind
    sure: bool = True
    days: bool = False
    filled: bool = False


#: Words by which a negation is followed before the word that it negates.
_REACH: Final = 4
#: German, Dutch and the Scandinavian languages write a prohibition as one word: `Anrufsperre`.
_GLUED_CALL: Final = re.compile(
    r"(?:anruf|kontakt|telefon|werbe|reklam|markkinoin|puhelin|suoramarkkinoin|akquise|ring|ringe|bel|samtal|call)\w{0,9}"
    r"(?:sperre|sperrt|verbot|widerspruch|stopp|sparr|forbud|forbod|verbod|kielto|kiellot|ablehnung|unerwunscht)"
)
#: Prohibitions in a name without blanks or capitals: `HASOPTEDOUTOFCALLS`.
_GLUED: Final = (
    *("optedout", "optout", "donotcall", "donotcontact", "donotphone", "donotdial", "dontcall"),
    *("nocall", "notcallable", "stopcall"),
)
_GLUED_ALLOWED: Final = re.compile(
    r"(?:anruf|kontakt|telefon|werbe|marketing|bel|ring|call|contact|phone)\w{0,5}"
    r"(?:permission|consent|erlaubnis|einwilligung|zustimmung|freigabe|toestemming|samtycke|samtykke|suostumus|lupa)"
)
_CONTRACTED: Final = re.compile(r"(?<=\w)['’`´](?=(?:t|s|re|ve|ll)\b)", re.IGNORECASE)
_CANNOT: Final = frozenset({"cannot", "cant", "unwilling"})
_PREFIXES: Final = frozenset({"is", "has", "hs", "flag", "c"})


@lru_cache(maxsize=2**12)
def flag_of(header: str) -> Flag | None:
    """What kind of flag a column is, by its name.

    Args:
        header: The name.

    Returns:
        The kind, or None where the cells are no flags.

    Example:
        >>> flag_of("Do not call").kind, flag_of("Acepta ser contactado").kind, flag_of("entry_date")
        ('forbids', 'permits', None)
    """
    # The apostrophe of `don't` parts no word, that of `d'opposition` does.
    words = plain(_CONTRACTED.sub("", header))
    if not words:
        return None
    for tail in (
        " y n",
        " yes no",
        " j n",
        " s n",
        " o n",
        " t n",
        " ja nein",
        " si no",
        " oui non",
    ):
        words = words.removesuffix(tail)
    for name in (words, " ".join(_trim_tokens(words.split()))):
        if name in _names():
            return _flag_named(_names()[name])
    if not words.replace(" ", "").isascii() and (
        unspaced := _flag_without_blanks(words.replace(" ", ""))
    ):
        return unspaced
    return _by_words(words.split())


def _trim_tokens(tokens: list[str]) -> list[str]:
    """Without what programs put around a name: `is_`, `hs_`, `__c`, `flag`."""
    while len(tokens) > 1 and tokens[0] in _PREFIXES:
        tokens = tokens[1:]
    while len(tokens) > 1 and (tokens[-1] in _PREFIXES or tokens[-1] == "status"):
        tokens = tokens[:-1]
    return tokens


def _flag_named(kind: str) -> Flag | None:
    if kind == "none":
        return None
    if kind == "doubtful":
        return Flag("forbids", sure=False, days=True)
    return Flag(kind)  # type: ignore[arg-type]


#: What the steps below answer for a name that is known and is no flag.
_NO_FLAG: Final[Literal["no flag"]] = "no flag"
_Step = Flag | Literal["no flag"] | None


def _by_words(tokens: list[str]) -> Flag | None:
    """What the words of a name say together: the first step that knows it decides."""
    has = _Words(tokens)
    for step in (_of_the_number, _of_another_thing, _of_lists_and_consent, _of_calls, _of_leaving):
        answer = step(has)
        if answer is not None:
            return None if answer == _NO_FLAG else answer
    return None


def _of_the_number(has: _Words) -> _Step:
    """The person is dead, the number wrong or right."""
    several = len(has.tokens) > 1
    if has.only("deceased"):
        return Flag("deceased")
    if has.only("wrong") and several:
        return Flag("wrong_number")
    right = several and set(has.tokens) <= _right() and has.any_of(_valid())
    return Flag("right_number") if right else None


def _of_another_thing(has: _Words) -> _Step:
    """Other channels, results of screening, details of a flag, and what else may be blocked."""
    calls = has("call")
    of_calls = any(is_word_of(each, "call") and not is_word_of(each, "ads") for each in has.tokens)
    if has("other_channels") and not of_calls and not has("registers"):
        # `Mail only: yes` leaves no call.
        return Flag("forbids") if has("only") else _NO_FLAG
    if (screening := _screening(has, has.tokens)) is not None:
        return screening
    if has("details"):
        return _NO_FLAG
    if has("channel"):
        permits = Flag("permits") if has("allow") else _NO_FLAG
        return Flag("channels") if has("refuse") else permits
    if has("things") and not calls:
        return _NO_FLAG
    if has("rights") and (has("erasure") or has("objection")):
        return Flag("forbids", sure=False, days=True)
    return None


def _of_lists_and_consent(has: _Words) -> _Step:
    """Registers, words that are a prohibition by themselves, and consent; each may be turned round."""
    if has("registers") or has("strong") or _is_glued(has.tokens):
        turned = has.negated and has.follows("not", "registers", "strong")
        return Flag("permits" if turned else "forbids")
    if has("callable"):
        return Flag("forbids" if has.negated else "permits")
    if has("consent"):
        if has.negated or has("revoke") or (has("refuse") and not has.opted):
            return Flag("forbids")
        return _NO_FLAG if has("consent_details") else Flag("permits")
    if has.opted:
        return Flag("permits" if has.negated else "forbids")
    return Flag("forbids") if has("objection") and has("list") else None


def _of_calls(has: _Words) -> _Step:
    """A refusal, a negation or a permission beside a word of calls."""
    tokens = has.tokens
    if has("refuse") and has("call"):
        # `Calls not refused`
        return Flag("permits" if has.negated and has.follows("not", "refuse") else "forbids")
    if not has("call") and not has("called"):
        return None
    if has.negated and _is_prohibition(has, tokens):
        return Flag("forbids")
    if has("allow"):
        return Flag("forbids" if has.negated else "permits")
    if has("times"):
        return Flag("forbids", sure=False)
    asks = all(is_word_of(each, "call") or is_word_of(each, "beside_call") for each in tokens)
    return (
        Flag("call") if asks and not all(is_word_of(each, "phones") for each in tokens) else None
    )


def _of_leaving(has: _Words) -> _Step:
    """A refusal that may be of something else, with light words alone."""
    objects = has("objection")
    days = frozenset(read_table("flags.toml")["words"]["leaving"]["days"].split())
    dated = has.any_of(days) or has.tokens[-1] in ("on", "am", "at")
    if has.only("leaving") and (objects or not dated):
        return Flag("forbids", sure=False, days=True, filled=has("reason"))
    return None


def _is_prohibition(has: _Words, tokens: list[str]) -> bool:
    """Whether a negation forbids a call, rather than tells of none: `not called`."""
    done = has("called") and not has("call_alone")
    if done and not has("aux"):
        return False
    # The no of `Phone No` and of `Nº Teléfono` is short for number.
    others = [word for word in tokens if word != "no"]
    if "no" in tokens and others and all(is_word_of(word, "phones") for word in others):
        return tokens[0] == "no" and set(others) <= {"phone", "contact", "contacts"}
    if tokens[-1] == "no" and tokens[0] != "no":
        return False
    return has.follows("not", "call", "called") or has.follows("call", "not")


def _screening(has: _Words, tokens: list[str]) -> Flag | None:
    """Whether a name is of a comparison with registers: its result, or that there was one."""
    table = read_table("flags.toml")["words"]["compared"]
    if " ".join(tokens) in (name.strip() for name in table["whole"].split("|")):
        return Flag("screening")
    compared = has.any_of(frozenset(table["words"].split()))
    if not compared and not has("registers"):
        return None
    was = has.any_of(frozenset(table["was"].split()))
    results = has.any_of(frozenset(table["results"].split()))
    never = has.any_of(frozenset(table["never"].split()))
    scrubbed = has("registers") or has.any_of(frozenset(table["scrubs"].split()))
    if compared and not was and scrubbed and not (never and not results):
        return Flag("screening")
    if was and has("registers") and not results:
        return Flag("screened")
    if was and set(tokens) <= frozenset(table["was"].split()) | {"wash", "scrub"}:
        return Flag("screened")
    if results and scrubbed:
        return Flag("screening")
    if has("registers") and never and not compared:
        return (
            None
            if {"count", "version", "cost", "batch", "provider", "vendor"} & set(tokens)
            else Flag("forbids")
        )
    return None


def _flag_without_blanks(bare: str) -> Flag | None:
    """What a name says whose words have no blanks between them."""
    parts = {
        name: _parts(name) for name in ("call", "forbid", "alone", "allow", "detail", "deceased")
    }

    def holds(name: str) -> bool:
        return any(part in bare for part in parts[name])

    if holds("deceased"):
        return Flag("deceased")
    if holds("alone"):
        return Flag("forbids")
    if not holds("call") and not any(part in bare for part in ("同意", "동의", "موافق", "הסכמ")):
        return None
    if holds("allow"):
        asked = "可否" in bare
        refuses = any(
            part in bare for part in parts["forbid"] if len(part) > 1 and part not in ("不要",)
        )
        return Flag("permits") if asked or not refuses else Flag("forbids")
    if holds("detail"):
        return None
    return Flag("forbids" if holds("forbid") else "call")


class _Words:
    """Questions to the words of a name."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.every = [*tokens, *(f"{first}_{second}" for first, second in pairwise(tokens))]
        self.negated = self("not") or not _CANNOT.isdisjoint(tokens)
        # `opted out`, `optout`: a way out is no way in.
        self.opted = any(
            each in ("opt_out", "opted_out", "opting_out", "opts_out", "opt_outs", "has_optedout")
            or each.startswith("optout")
            for each in self.every
        )

    def __call__(self, name: str) -> bool:
        if name == "call_alone":
            return any(token in _exact("call") - _exact("called") for token in self.tokens)
        return any(is_word_of(token, name) for token in self.every)

    def only(self, name: str) -> bool:
        """Whether it has a word of a table, and of others only light ones."""
        light = frozenset(read_table("flags.toml")["words"][name]["light"].split())
        return self(name) and all(
            is_word_of(token, name) or token in light or token.isdecimal() for token in self.tokens
        )

    def any_of(self, words: frozenset[str]) -> bool:
        return not words.isdisjoint(self.tokens)

    def before(self, word: str, name: str) -> bool:
        """Whether a word stands right before one of a table."""
        return any(
            first == word and is_word_of(second, name) for first, second in pairwise(self.tokens)
        )

    def follows(self, first: str, *names: str) -> bool:
        """Whether a word of one of the tables stands behind a word of the first, within reach."""
        return any(
            any(
                is_word_of(token, name)
                for name in names
                for token in self.tokens[at + 1 : at + 1 + _REACH]
            )
            for at, token in enumerate(self.tokens)
            if is_word_of(token, first) or (first == "not" and token in _CANNOT)
        )


def _is_glued(tokens: list[str]) -> bool:
    """Whether a word is one of calls and one of forbidding, or a name that lost all its blanks."""
    if any(_GLUED_CALL.fullmatch(token) for token in tokens):
        return True
    if len(tokens) > 1 or any(
        part in tokens[0] for part in ("email", "mail", "fax", "sms", "text")
    ):
        return False
    return any(part in tokens[0] for part in _GLUED)


def is_word_of(token: str, name: str) -> bool:
    """Whether a plain word is one of a table of `flags.toml`."""
    if token in _exact(name) or token.startswith(_stems(name)):
        return True
    return name == "consent" and _GLUED_ALLOWED.fullmatch(token) is not None


@cache
def _names() -> dict[str, str]:
    names: dict[str, str] = {}
    for kind, table in read_table("flags.toml")["names"].items():
        for name in table["words"].replace("\n", " ").split("|"):
            names.setdefault(plain(name), kind)
    return names


@cache
def _exact(name: str) -> frozenset[str]:
    words = read_table("flags.toml")["words"][name]["words"].split()
    return frozenset(plain(word).replace(" ", "_") for word in words if not word.endswith("*"))


@cache
def _stems(name: str) -> tuple[str, ...]:
    words = read_table("flags.toml")["words"][name]["words"].split()
    return tuple(plain(word) for word in words if word.endswith("*"))


@cache
def _parts(name: str) -> tuple[str, ...]:
    return tuple(
        plain(part).replace(" ", "") for part in read_table("flags.toml")["parts"][name].split()
    )


@cache
def _right() -> frozenset[str]:
    return frozenset(read_table("flags.toml")["words"]["right_number"]["words"].split())


@cache
def _valid() -> frozenset[str]:
    return frozenset(read_table("flags.toml")["words"]["right_number"]["valid"].split())
