"""How much a header is the name of a field, a permission or a prohibition, and which phone it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from dialframe import opt_outs
from dialframe.leads import header_vocabulary
from dialframe.leads.header_vocabulary import NAMES, PARTS
from dialframe.leads.header_vocabulary import word_set as words_of
from dialframe.opt_outs import classes_of, plain, prohibits, read_remark, text_parts, word_set

#: Prohibitions in headers that lost the blanks or capitals between their words.
_GLUED: Final = (
    *("optedout", "optout", "donotcall", "donotcontact", "donotphone", "donotring", "donotdial"),
    *("dontcall", "nocall", "nophone", "notcallable", "stopcall"),
)
_ASKED_BY: Final = frozenset(
    {"contact", "marketing", "kontakt", "werbung", "publicite", "publicidad"}
)
#: Classes of words that forbid calls where nothing in the header says of what else.
_FORBIDDING: Final = frozenset({"refuse", "alarming", "regulator", "flag", "state"})
_NO_CALLS: Final = frozenset({"caller", "callers", "callback", "callbacks", "contactless"})
_PLAIN_NOT: Final = frozenset({"not", "never", "dont", "don"})
_BY: Final = frozenset({"by", "via", "per", "par", "por"})
_GLUED_MAIL: Final = ("email", "mail", "fax", "sms", "text")


def opt_out_score(words: str, tokens: Sequence[str]) -> float:
    """How much the plain words are the name of a column in which a yes forbids the call."""
    if _of_another_channel(tokens):
        return 0.0
    if is_screening(words):
        return _PART
    if was_screened(words):
        # `TPS screened` says yes, or what came out of it.
        alone = words_of("washed").issuperset(tokens)
        return _PART if alone or words_of("registers").intersection(tokens) else 0.0
    if is_bare_prohibition(tokens):
        return _PART
    if _compared(tokens) and words_of("screening_details").intersection(tokens):
        return 0.0
    refuses = read_remark(words) not in (None, "wrong_number")
    return _PART if refuses or _prohibits(words, tokens) else 0.0


def _prohibits(words: str, tokens: Sequence[str]) -> bool:
    if prohibits(tokens) in ("yes", "unclear") or words_of("registers").intersection(tokens):
        return not _takes_back(tokens)
    if any(
        _begins(tokens, "excluding_stems", table) for table in ("reason_words", "channel_stems")
    ) or (
        any(map(_consents, tokens))
        and (
            _begins(tokens, "ending_stems")
            or any("revoke" in classes_of(token) for token in tokens)
        )
    ):
        return True
    stems, ends = tuple(words_of("prohibition_stems")), tuple(words_of("prohibition_ends"))
    unlike = words_of("no_prohibitions")
    if any(
        (token.startswith(stems) or token.endswith(ends)) and token not in unlike
        for token in tokens
    ):
        return True
    if _negates(tokens) and (
        words_of("consent_words").union(words_of("callable")).intersection(tokens)
        or _may_call(tokens)
        # The no of `Phone No` is short for number.
        or (
            len(tokens) > 1
            and tokens[-1] != "no"
            and words_of("negations").union(words_of("calling")) >= set(tokens)
        )
    ):
        return True
    bare = words.replace(" ", "")
    if (
        len(tokens) == 1
        and any(part in bare for part in _GLUED)
        and not any(part in bare for part in _GLUED_MAIL)
    ):
        return True
    if bare.isascii():
        return False
    if any(part in bare for part, says in text_parts().items() if says == "refusal"):
        return True
    called = any(part in bare for part in words_of("asian_calls"))
    return called and any(part in bare for part in words_of("asian_forbidden"))


def is_bare_prohibition(tokens: Sequence[str]) -> bool:
    """Whether a word of prohibition stands alone, or beside words that say of nothing else."""
    bare, beside = words_of("bare_prohibitions"), words_of("beside_prohibitions")
    text, tokens = " ".join(tokens), [token for token in tokens if not token.isdecimal()]
    if text in bare or _begins(tokens, "refusing_stems", "calling_stems"):
        return True
    if _PLAIN_NOT.intersection(tokens) and words_of("not_calling").intersection(tokens):
        return True
    calls = tuple(words_of("calling_stems"))
    others = [
        token
        for token in tokens
        if token not in beside
        and (token in _NO_CALLS or not token.startswith(calls))
        and not _consents(token)
    ]
    return bool(others) and all(token in bare or _forbids(token) for token in others)


def _forbids(token: str) -> bool:
    """Whether a word begins as one of refusing, withdrawing, deleting, complaining or the law does."""
    return token not in words_of("no_prohibitions") and bool(_FORBIDDING & classes_of(token))


def _consents(token: str) -> bool:
    return token in words_of("consent_words") or _is_glued(token)


def _is_glued(token: str) -> bool:
    """`Kontakterlaubnis`, `belfreigabe`: a word of calls and one of allowing, written as one."""
    return _has_part(token, "calling_stems") and _has_part(token, "allowing_parts")


def _has_part(token: str, table: str) -> bool:
    return any(part in token for part in words_of(table))


def _begins(tokens: Sequence[str], *tables: str) -> bool:
    """Whether a word of each table of beginnings is there."""
    return all(any(token.startswith(tuple(words_of(name))) for token in tokens) for name in tables)


def consent_score(words: str, tokens: Sequence[str]) -> float:
    """How much the plain words are the name of a column in which only a yes allows the call."""
    # `Channel permitted` holds those by which somebody may be reached.
    by_channel = _begins(tokens, "allowing_stems", "channel_stems")
    details = words_of("consent_details").intersection(_unless_by(tokens))
    if _of_another_channel(tokens) or details - ({"channel"} if by_channel else set()):
        return 0.0
    if words_of("callable").intersection(tokens):
        return 0.0 if _negates(tokens) else _PART
    if words_of("other_permits").intersection(tokens) and not _is_about_calls(tokens):
        return 0.0
    if _takes_back(tokens):
        return _PART
    if _negates(tokens):
        return 0.0
    if any(map(_consents, tokens)) or _opts_in(words) or _may_call(tokens):
        return _PART
    if by_channel or _begins(tokens, "allowing_stems", "calling_stems"):
        return _PART
    asked = set(_unless_by(tokens))
    if len(asked) < len(tokens) and asked & _ASKED_BY:
        return _PART
    if is_wish(words) and words_of("wished").union(words_of("call_words")).intersection(tokens):
        return _PART
    bare = words.replace(" ", "")
    # `飲食可否` asks whether one may eat: only beside a word of calls is it a permission to call.
    called = any(part in bare for part in words_of("asian_calls"))
    return _PART if called and any(part in bare for part in words_of("asian_allowed")) else 0.0


def is_screening(header: str) -> bool:
    """Whether a column holds what came out of a comparison with registers: `DNC Scrub Result`."""
    words = plain(header)
    tokens = words.split()
    if words_of("screening_details").intersection(tokens):
        return False
    compared = _compared(tokens)
    registers = words_of("registers").intersection(tokens)
    results = words_of("screening_results").intersection(tokens)
    asked = len(compared - words_of("was_screened")) > 1
    alone = words in ("result code", "contactability", "scrub")
    return bool(results and (compared or registers)) or asked or alone


def was_screened(header: str) -> bool:
    """Whether a column tells that numbers were compared with registers: `TPS screened`."""
    return bool(words_of("was_screened").intersection(plain(header).split()))


def answer_reader(header: str) -> Callable[[str], opt_outs.Answer]:
    """How the cells of an opt-out column are read: those of `DNC Scrub Result` as codes."""
    if is_screening(header):
        return opt_outs.read_screening
    if is_right_number_flag(header):
        return opt_outs.read_right_number
    if {"channel", "channels"}.intersection(plain(header).split()):
        return opt_outs.read_channels
    return opt_outs.read_screened if was_screened(header) else opt_outs.read_answer


def is_wish(header: str) -> bool:
    """Whether the header asks for preferences."""
    return bool(words_of("wish_words").intersection(plain(header).split()))


def _compared(tokens: Sequence[str]) -> frozenset[str]:
    return words_of("screened").intersection(tokens) - {"suppression"}


def _unless_by(tokens: Sequence[str]) -> list[str]:
    """The words of a header without `by phone`, which is the way and not a detail."""
    calls = words_of("call_words")
    by = {at for at, pair in enumerate(pairwise(tokens)) if pair[0] in _BY and pair[1] in calls}
    return [token for at, token in enumerate(tokens) if at not in by and at - 1 not in by]


def needs_answers(header: str, field: str) -> bool:
    """Whether the header is an opt-out or a consent only where its cells are answers."""
    words = plain(header)
    if field == "opt_out":
        if words in NAMES["phone"]:
            return True  # `Phone No` is a number's column, and beside another it may still hold answers
        if words in words_of("ambiguous_prohibitions") or words in NAMES["opt_out"]:
            return words in words_of("ambiguous_prohibitions")
        tokens = words.split()
        results = words_of("screening_results").intersection(tokens)
        screens = was_screened(words) or (is_screening(words) and results)
        return not (screens or _prohibits(words, tokens))
    return words in words_of("ambiguous_permissions") or words not in NAMES["consent"]


def _opts_in(words: str) -> bool:
    return any(f" {phrase} " in f" {words} " for phrase in ("opt in", "opted in", "opts in"))


def _is_about_calls(tokens: Sequence[str]) -> bool:
    return bool(words_of("call_words").intersection(tokens))


def _of_another_channel(tokens: Sequence[str]) -> bool:
    """Whether a header speaks of mail or messages alone: a word for calls beside them wins."""
    if _is_about_calls(tokens):
        return False
    return bool(word_set("other_channels").intersection(tokens))


def _negates(tokens: Sequence[str]) -> bool:
    return bool(words_of("negations").intersection(tokens))


def _may_call(tokens: Sequence[str]) -> bool:
    return bool(
        words_of("allowing").intersection(tokens) and words_of("calling").intersection(tokens)
    )


def _takes_back(tokens: Sequence[str]) -> bool:
    """`Not on DNC`, `has not opted out`: a yes there means that the person may be called."""
    return prohibits(tokens) == "no" and bool(
        {"not", "never", "nicht", "niet"}.intersection(tokens)
    )


_EXACT: Final = 1.0
_PART: Final = 0.8
_ENDING: Final = 0.75
_PLACE: Final = 0.7
_WEAK: Final = 0.65
#: Names that another meaning has as soon as a word is taken away: `customer number`.
_NOT_BARE: Final = frozenset({"id", "country", "land"}) | header_vocabulary.VAGUE_NUMBERS


def header_score(header: str, field: str) -> float:
    """How much the header is the name of the field, 0 to 1."""
    words = plain(header)
    if not words:
        return 0.0
    if words in NAMES[field]:
        return _WEAK if field == "phone" and words in header_vocabulary.VAGUE_NUMBERS else _EXACT
    # `Consent Y/N` names its answers; a lone `n` is a negation elsewhere.
    answers = (f" {answer}" for answer in words_of("answers_behind"))
    # Asked once more without them: what is left may be a whole name.
    named = next((words.removesuffix(end) for end in answers if words.endswith(end)), words)
    if named != words:
        return header_score(named, field)
    tokens = words.split()
    bare = " ".join(token for token in tokens if token not in words_of("frills"))
    if bare and bare in NAMES[field] and bare not in _NOT_BARE:
        return _EXACT
    # Permissions and phones have words that turn their meaning; other fields are a table.
    score = _SCORES.get(field)
    return score(words, tokens) if score else _part_score(words, tokens, field)


def phone_rank(header: str) -> int:
    """Place of the phone column in the order of preference: mobile, phone, home, work, further."""
    words = plain(header)
    # A word for the kind stands beside any word for a phone: `Mobile`, `Mobile phone`, `Tel. mobile`.
    tokens = set(words.split())
    for rank, (names, _) in enumerate(header_vocabulary.PHONE_KINDS):
        if tokens & names or words in names:
            return rank
    ranks = enumerate(header_vocabulary.PHONE_KINDS)
    return next((rank for rank, (_, parts) in ranks if any(part in words for part in parts)), 1)


def is_not_phone(header: str) -> bool:
    """Whether the header names something about a phone, or another number, or another's phone."""
    words = plain(header)
    tokens = words.split()
    return bool(
        words_of("not_phone").intersection(tokens)
        or _begins(tokens, "not_phone_prefixes")
        or any(token.endswith(tuple(words_of("not_phone_endings"))) for token in tokens)
        or _has_any(words.replace(" ", ""), "not_phone_parts")
    )


def is_wrong_number_flag(header: str) -> bool:
    """Whether the header is what a flag is called that says that the number is wrong."""
    return plain(header) in words_of("wrong_flags") or read_remark(header) == "wrong_number"


def is_right_number_flag(header: str) -> bool:
    """Whether the header is what a flag is called that says that the number is right: `Number valid`."""
    tokens = set(plain(header).split())
    kinds = {"valid", "valido", "valide", "gultig", "geldig", "poprawny", "giltigt", "working"}
    return len(tokens) > 1 and bool(kinds & tokens) and words_of("valid_numbers") >= tokens


def is_call_flag(header: str) -> bool:
    """Whether the header asks for a call where the cells are yes and no: `Call?`, `Anrufen`."""
    words = plain(header)
    if words in words_of("call_flags"):
        return True
    if words not in NAMES["phone"] and set(words.split()) < words_of("calling") | words_of(
        "selling"
    ):
        return True
    bare = words.replace(" ", "")
    if _prohibits(words, words.split()) or consent_score(words, words.split()):
        return False
    if bare.isascii() or not any(part in bare for part in words_of("asian_calls")):
        return False
    return not any(part in bare for part in words_of("asian_others"))


def _has_any(text: str, table: str) -> bool:
    return any(part in text for part in words_of(table))


def _phone(words: str, tokens: Sequence[str]) -> float:
    # Before the words for phones: `Emergency Contact Phone` has one of them.
    if words in NAMES["phone_other"] or is_not_phone(words):
        return 0.0
    known = header_vocabulary.PHONE_WORDS.intersection(tokens)
    is_named = known or _begins(tokens, "phone_prefixes")
    # `Customer Number` may be an id: the cells have to say that it is a phone.
    if is_named and known <= header_vocabulary.VAGUE_NUMBERS:
        return _WEAK if header_vocabulary.VAGUE_NUMBERS.intersection(tokens) else _PART
    if is_named or _has_any(words, "phone_parts"):
        return _PART
    return _PLACE if words in header_vocabulary.PHONE_PLACES else 0.0


def _full_name(words: str, tokens: Sequence[str]) -> float:
    part = _part_score(words, tokens, "full_name")
    # `Campaign Name`, `County Name`.
    if part or words_of("not_lead_name").intersection(tokens):
        return part
    last = tokens[-1]
    # `Kundenname` is one; `Vorname` is another field, and `Firmenname` no person's.
    is_compound = last.endswith("name") and not last.startswith(
        tuple(words_of("not_lead_compound"))
    )
    is_other = last in NAMES["first_name"] | NAMES["last_name"]
    return _WEAK if (is_compound and len(tokens) == 1 and not is_other) or words == "名称" else 0.0


def _extension(words: str, tokens: Sequence[str]) -> float:
    row, phones = (
        PARTS["extension"],
        header_vocabulary.PHONE_WORDS | header_vocabulary.PHONE_PLACES,
    )
    is_of_phone = phones.intersection(tokens) and set(row.words).intersection(tokens)
    return _PART if is_of_phone or any(part in words for part in row.parts) else 0.0


def _part_score(words: str, tokens: Sequence[str], field: str) -> float:
    """How much a header holds of the field's name, by its row of the table of parts."""
    row = PARTS.get(field)
    if row is None or row.never.intersection(tokens):
        return 0.0
    if (
        any(f" {phrase} " in f" {words} " for phrase in row.phrases)
        or any(part in words for part in row.parts)
        or any(token.startswith(row.beginnings) or token.endswith(row.endings) for token in tokens)
    ):
        return _PART
    # `Provider ID` is an id of something; whether of the lead, the cells have to say.
    is_last = len(tokens) > 1 and tokens[-1] in row.last
    return _ENDING if is_last or set(row.words).intersection(tokens) else 0.0


_SCORES: Final[dict[str, Callable[[str, Sequence[str]], float]]] = {
    "phone": _phone,
    "full_name": _full_name,
    "extension": _extension,
    "opt_out": opt_out_score,
    "consent": consent_score,
}
