"""How much a header is the name of a field, a permission or a prohibition, and which phone it means.

A header is asked in plain words (`opt_outs.plain`): has it a word of a table, a word that begins as one
of a table does, or a part of one anywhere? The tables are in `header_vocabulary.toml`, in some thirty
languages; a question here is which of them have to come together. A doubtful name is the more cautious
of its meanings: a column that may hold opt-outs is read as one where its cells are answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from dialframe import opt_outs
from dialframe.leads.header_vocabulary import (
    NAMES,
    PARTS,
    PHONE_KINDS,
    PHONE_PLACES,
    PHONE_WORDS,
    VAGUE_NUMBERS,
)
from dialframe.leads.header_vocabulary import word_set as words_of
from dialframe.opt_outs import classes_of, plain, prohibits, read_remark, text_parts, word_set

#: Prohibitions in headers that lost the blanks or capitals between their words.
_GLUED: Final = (
    *("optedout", "optout", "donotcall", "donotcontact", "donotphone", "donotring", "donotdial"),
    *("dontcall", "nocall", "nophone", "notcallable", "stopcall"),
)
_GLUED_MAIL: Final = ("email", "mail", "fax", "sms", "text")
_ASKED_BY: Final = frozenset(
    {"contact", "marketing", "kontakt", "werbung", "publicite", "publicidad"}
)
#: Classes of words that forbid calls where nothing in the header says of what else.
_FORBIDDING: Final = frozenset({"refuse", "alarming", "regulator", "flag", "state"})
_NO_CALLS: Final = frozenset({"caller", "callers", "callback", "callbacks", "contactless"})
_PLAIN_NOT: Final = frozenset({"not", "never", "dont", "don"})
_BY: Final = frozenset({"by", "via", "per", "par", "por"})
_VALID: Final = frozenset(
    {"valid", "valido", "valide", "gultig", "geldig", "poprawny", "giltigt", "working"}
)

_EXACT: Final = 1.0
_PART: Final = 0.8
_ENDING: Final = 0.75
_PLACE: Final = 0.7
_WEAK: Final = 0.65
#: Names that another meaning has as soon as a word is taken away: `customer number`.
_NOT_BARE: Final = frozenset({"id", "country", "land"}) | VAGUE_NUMBERS


class _Header(NamedTuple):
    """A header in plain words: whole, one by one, and without the blanks between them."""

    words: str
    tokens: tuple[str, ...]
    bare: str

    def has(self, *tables: str) -> bool:
        """Whether it has a word of one of the tables."""
        return any(not words_of(table).isdisjoint(self.tokens) for table in tables)

    def begins(self, *tables: str) -> bool:
        """Whether it has, of each table of beginnings, a word that begins so."""
        return all(
            any(token.startswith(tuple(words_of(table))) for token in self.tokens)
            for table in tables
        )

    def holds(self, *tables: str) -> bool:
        """Whether it has, of each table, a part anywhere, also across blanks."""
        return all(any(part in self.bare for part in words_of(table)) for table in tables)

    @property
    def may_call(self) -> bool:
        """Whether it speaks of allowing and of calls."""
        return self.has("allowing") and self.has("calling")

    @property
    def takes_back(self) -> bool:
        """`Not on DNC`, `has not opted out`: a yes there means that the person may be called."""
        negates = not {"not", "never", "nicht", "niet"}.isdisjoint(self.tokens)
        return negates and prohibits(self.tokens) == "no"

    @property
    def compared(self) -> frozenset[str]:
        """Its words for comparing numbers with registers."""
        return words_of("screened").intersection(self.tokens) - {"suppression"}

    @property
    def is_of_another_channel(self) -> bool:
        """Whether it speaks of mail or messages alone: a word for calls beside them wins."""
        others = word_set("other_channels")
        return not self.has("call_words") and not others.isdisjoint(self.tokens)

    @property
    def is_screening(self) -> bool:
        """Whether it names what came out of a comparison with registers."""
        if self.has("screening_details"):
            return False
        return (
            (self.has("screening_results") and (bool(self.compared) or self.has("registers")))
            or len(self.compared - words_of("was_screened")) > 1
            or self.words in ("result code", "contactability", "scrub")
        )

    @property
    def is_bare_prohibition(self) -> bool:
        """Whether a word of prohibition stands alone, or beside words that say of nothing else."""
        bare, beside = words_of("bare_prohibitions"), words_of("beside_prohibitions")
        if self.words in bare or self.begins("refusing_stems", "calling_stems"):
            return True
        if self.has("not_calling") and not _PLAIN_NOT.isdisjoint(self.tokens):
            return True
        calls = tuple(words_of("calling_stems"))
        others = [
            token
            for token in self.tokens
            if not token.isdecimal()
            and token not in beside
            and (token in _NO_CALLS or not token.startswith(calls))
            and not _consents(token)
        ]
        # A word that begins as one of refusing, withdrawing, deleting, complaining or the law does.
        unlike = words_of("no_prohibitions")
        return bool(others) and all(
            token in bare or (token not in unlike and _FORBIDDING & classes_of(token))
            for token in others
        )

    @property
    def prohibits(self) -> bool:
        """Whether it forbids calls in so many words."""
        if prohibits(self.tokens) in ("yes", "unclear") or self.has("registers"):
            return not self.takes_back
        if self.begins("excluding_stems") and (
            self.begins("reason_words") or self.begins("channel_stems")
        ):
            return True
        if any(map(_consents, self.tokens)) and (
            self.begins("ending_stems")
            or any("revoke" in classes_of(token) for token in self.tokens)
        ):
            return True
        stems, ends = tuple(words_of("prohibition_stems")), tuple(words_of("prohibition_ends"))
        tokens = set(self.tokens) - words_of("no_prohibitions")
        if any(token.startswith(stems) or token.endswith(ends) for token in tokens):
            return True
        if self.has("negations") and (
            self.has("consent_words", "callable")
            or self.may_call
            # The no of `Phone No` is short for number.
            or (
                len(self.tokens) > 1
                and self.tokens[-1] != "no"
                and words_of("negations").union(words_of("calling")).issuperset(self.tokens)
            )
        ):
            return True
        if (
            len(self.tokens) == 1
            and any(part in self.bare for part in _GLUED)
            and not any(part in self.bare for part in _GLUED_MAIL)
        ):
            return True
        refusals = (part for part, says in text_parts().items() if says == "refusal")
        return not self.bare.isascii() and (
            any(part in self.bare for part in refusals)
            or self.holds("asian_calls", "asian_forbidden")
        )


# Each is asked about once for each field, and headers repeat in a folder.
@lru_cache(maxsize=2**12)
def _read(header: str) -> _Header:
    words = plain(header)
    return _Header(words, tuple(words.split()), words.replace(" ", ""))


def _consents(token: str) -> bool:
    """A word of consent, or `Kontakterlaubnis`: one of calls and one of allowing, written as one."""
    return token in words_of("consent_words") or all(
        any(part in token for part in words_of(table))
        for table in ("calling_stems", "allowing_parts")
    )


# ---- permissions and prohibitions


def _opt_out(header: _Header) -> float:
    """How much it is the name of a column in which a yes forbids the call."""
    if header.is_of_another_channel:
        return 0.0
    if header.is_screening:
        return _PART
    if header.has("was_screened"):
        # `TPS screened` says yes, or what came out of it.
        alone = words_of("washed").issuperset(header.tokens)
        return _PART if alone or header.has("registers") else 0.0
    if header.is_bare_prohibition:
        return _PART
    if header.compared and header.has("screening_details"):
        return 0.0
    refuses = read_remark(header.words) not in (None, "wrong_number")
    return _PART if refuses or header.prohibits else 0.0


def _consent(header: _Header) -> float:
    """How much it is the name of a column in which only a yes allows the call."""
    tokens = header.tokens
    # `By phone` is the way and not a detail.
    calls = words_of("call_words")
    by = {at for at, pair in enumerate(pairwise(tokens)) if pair[0] in _BY and pair[1] in calls}
    asked = {token for at, token in enumerate(tokens) if at not in by and at - 1 not in by}
    # `Channel permitted` holds those by which somebody may be reached.
    by_channel = header.begins("allowing_stems", "channel_stems")
    details = words_of("consent_details").intersection(asked)
    if header.is_of_another_channel or details - ({"channel"} if by_channel else set()):
        return 0.0
    if header.has("callable"):
        return 0.0 if header.has("negations") else _PART
    if header.has("other_permits") and not header.has("call_words"):
        return 0.0
    if header.takes_back:
        return _PART
    if header.has("negations"):
        return 0.0
    allows = (
        any(map(_consents, tokens))
        or any(f" {way} in " in f" {header.words} " for way in ("opt", "opted", "opts"))
        or header.may_call
        or by_channel
        or header.begins("allowing_stems", "calling_stems")
        or (len(asked) < len(tokens) and not asked.isdisjoint(_ASKED_BY))
        or (header.has("wish_words") and header.has("wished", "call_words"))
        # `飲食可否` asks whether one may eat: only beside a word of calls is it a permission to call.
        or header.holds("asian_calls", "asian_allowed")
    )
    return _PART if allows else 0.0


def answer_reader(header: str) -> Callable[[str], opt_outs.Answer]:
    """How the cells of an opt-out column are read: those of `DNC Scrub Result` as codes."""
    asked = _read(header)
    if asked.is_screening:
        return opt_outs.read_screening
    if is_right_number_flag(header):
        return opt_outs.read_right_number
    if not {"channel", "channels"}.isdisjoint(asked.tokens):
        return opt_outs.read_channels
    return opt_outs.read_screened if asked.has("was_screened") else opt_outs.read_answer


def is_wish(header: str) -> bool:
    """Whether the header asks for preferences."""
    return _read(header).has("wish_words")


def needs_answers(header: str, field: str) -> bool:
    """Whether the header is an opt-out or a consent only where its cells are answers."""
    asked = _read(header)
    if field == "consent":
        return asked.words in words_of("ambiguous_permissions") or (
            asked.words not in NAMES["consent"]
        )
    # `Phone No` is a number's column, and beside another it may still hold answers.
    if asked.words in NAMES["phone"] or asked.words in words_of("ambiguous_prohibitions"):
        return True
    if asked.words in NAMES["opt_out"] or asked.has("was_screened"):
        return False
    return not ((asked.is_screening and asked.has("screening_results")) or asked.prohibits)


def is_wrong_number_flag(header: str) -> bool:
    """Whether the header is what a flag is called that says that the number is wrong."""
    return plain(header) in words_of("wrong_flags") or read_remark(header) == "wrong_number"


def is_right_number_flag(header: str) -> bool:
    """Whether the header is what a flag is called that says that the number is right: `Number valid`."""
    tokens = set(_read(header).tokens)
    return len(tokens) > 1 and bool(_VALID & tokens) and words_of("valid_numbers") >= tokens


def is_call_flag(header: str) -> bool:
    """Whether the header asks for a call where the cells are yes and no: `Call?`, `Anrufen`."""
    asked = _read(header)
    if asked.words in words_of("call_flags"):
        return True
    asks = words_of("calling") | words_of("selling")
    if asked.words not in NAMES["phone"] and set(asked.tokens) < asks:
        return True
    return (
        not asked.bare.isascii()
        and asked.holds("asian_calls")
        and not asked.holds("asian_others")
        and not asked.prohibits
        and not _consent(asked)
    )


# ---- fields


def header_score(header: str, field: str) -> float:
    """How much the header is the name of the field, 0 to 1."""
    asked = _read(header)
    if not asked.words:
        return 0.0
    if asked.words in NAMES[field]:
        return _WEAK if field == "phone" and asked.words in VAGUE_NUMBERS else _EXACT
    # `Consent Y/N` names its answers; a lone `n` is a negation elsewhere.
    for answer in words_of("answers_behind"):
        if asked.words.endswith(f" {answer}"):
            # Asked once more without them: what is left may be a whole name.
            return header_score(asked.words.removesuffix(f" {answer}"), field)
    frills = words_of("frills")
    core = " ".join(token for token in asked.tokens if token not in frills)
    if core in NAMES[field] and core not in _NOT_BARE:
        return _EXACT
    # Permissions and phones have words that turn their meaning; other fields are a table.
    score = _SCORES.get(field)
    return score(asked) if score else _part_score(asked, field)


def phone_rank(header: str) -> int:
    """Place of the phone column in the order of preference: mobile, phone, home, work, further."""
    words, tokens, _ = _read(header)
    # A word for the kind stands beside any word for a phone: `Mobile`, `Mobile phone`, `Tel. mobile`.
    for rank, (names, _) in enumerate(PHONE_KINDS):
        if words in names or not names.isdisjoint(tokens):
            return rank
    ranks = enumerate(PHONE_KINDS)
    return next((rank for rank, (_, parts) in ranks if any(part in words for part in parts)), 1)


def is_not_phone(header: str) -> bool:
    """Whether the header names something about a phone, or another number, or another's phone."""
    asked = _read(header)
    endings = tuple(words_of("not_phone_endings"))
    return (
        asked.has("not_phone")
        or asked.begins("not_phone_prefixes")
        or any(token.endswith(endings) for token in asked.tokens)
        or asked.holds("not_phone_parts")
    )


def _phone(header: _Header) -> float:
    # Before the words for phones: `Emergency Contact Phone` has one of them.
    if header.words in NAMES["phone_other"] or is_not_phone(header.words):
        return 0.0
    known = PHONE_WORDS.intersection(header.tokens)
    is_named = known or header.begins("phone_prefixes")
    # `Customer Number` may be an id: the cells have to say that it is a phone.
    if is_named and known <= VAGUE_NUMBERS and not VAGUE_NUMBERS.isdisjoint(header.tokens):
        return _WEAK
    if is_named or any(part in header.words for part in words_of("phone_parts")):
        return _PART
    return _PLACE if header.words in PHONE_PLACES else 0.0


def _full_name(header: _Header) -> float:
    part = _part_score(header, "full_name")
    # `Campaign Name`, `County Name`.
    if part or header.has("not_lead_name"):
        return part
    last = header.tokens[-1]
    # `Kundenname` is one; `Vorname` is another field, and `Firmenname` no person's.
    is_compound = (
        len(header.tokens) == 1
        and last.endswith("name")
        and not last.startswith(tuple(words_of("not_lead_compound")))
        and last not in NAMES["first_name"] | NAMES["last_name"]
    )
    return _WEAK if is_compound or header.words == "名称" else 0.0


def _extension(header: _Header) -> float:
    row, phones = PARTS["extension"], PHONE_WORDS | PHONE_PLACES
    is_of_phone = not phones.isdisjoint(header.tokens) and not set(row.words).isdisjoint(
        header.tokens
    )
    return _PART if is_of_phone or any(part in header.words for part in row.parts) else 0.0


def _part_score(header: _Header, field: str) -> float:
    """How much a header holds of the field's name, by its row of the table of parts."""
    words, tokens, _ = header
    row = PARTS.get(field)
    if row is None or not row.never.isdisjoint(tokens):
        return 0.0
    if (
        any(f" {phrase} " in f" {words} " for phrase in row.phrases)
        or any(part in words for part in row.parts)
        or any(token.startswith(row.beginnings) or token.endswith(row.endings) for token in tokens)
    ):
        return _PART
    # `Provider ID` is an id of something; whether of the lead, the cells have to say.
    is_last = len(tokens) > 1 and tokens[-1] in row.last
    return _ENDING if is_last or not set(row.words).isdisjoint(tokens) else 0.0


_SCORES: Final[dict[str, Callable[[_Header], float]]] = {
    "phone": _phone,
    "full_name": _full_name,
    "extension": _extension,
    "opt_out": _opt_out,
    "consent": _consent,
}
