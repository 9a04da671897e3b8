"""How much a header is a prohibition or a permission to call, and which way round.

The exact names stand in `headers.toml`. Beyond them a header is read by its words: a prohibition of
`opt_outs`, a word of consent with or without a negation, or a verb of allowing beside a word of
calling (`Ok para llamar`, `Darf man anrufen?`). Names that mean something else as often (`Block`,
`Permission`) are one only where the cells are answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dialframe.leads.headers import NAMES
from dialframe.leads.headers import word_set as words_of
from dialframe.opt_outs import plain, prohibits, text_parts, word_set

_PART: Final = 0.8
#: Prohibitions in headers that lost the blanks or capitals between their words.
_GLUED: Final = ("optedout", "donotcall", "donotcontact", "donotphone")
_GLUED_MAIL: Final = ("email", "mail", "fax", "sms", "text")


def opt_out_score(words: str, tokens: Sequence[str]) -> float:
    """How much the plain words are the name of a column in which a yes forbids the call."""
    if _of_another_channel(tokens):
        return 0.0
    if is_screening(words):
        return _PART
    if words_of("was_screened").intersection(tokens):
        return 0.0
    if prohibits(tokens) in ("yes", "unclear") or words_of("registers").intersection(tokens):
        return 0.0 if _takes_back(tokens) else _PART
    stems, ends = tuple(words_of("prohibition_stems")), tuple(words_of("prohibition_ends"))
    if any(token.startswith(stems) or token.endswith(ends) for token in tokens):
        return _PART
    if _negates(tokens) and (words_of("consent_words").intersection(tokens) or _may_call(tokens)):
        return _PART
    bare = words.replace(" ", "")
    if (
        len(tokens) == 1
        and any(part in bare for part in _GLUED)
        and not any(part in bare for part in _GLUED_MAIL)
    ):
        return _PART
    if any(part in bare for part, says in text_parts().items() if says == "opt_out"):
        return _PART
    called = any(part in bare for part in words_of("asian_calls"))
    return _PART if called and any(part in bare for part in words_of("asian_forbidden")) else 0.0


def consent_score(words: str, tokens: Sequence[str]) -> float:
    """How much the plain words are the name of a column in which only a yes allows the call."""
    if _of_another_channel(tokens) or words_of("consent_details").intersection(tokens):
        return 0.0
    if words_of("other_permits").intersection(tokens) and not _is_about_calls(tokens):
        return 0.0
    if _takes_back(tokens):
        return _PART
    if _negates(tokens):
        return 0.0
    if words_of("consent_words").intersection(tokens) or _opts_in(words) or _may_call(tokens):
        return _PART
    if words_of("wish_words").intersection(tokens) and words_of("wished").intersection(tokens):
        return _PART
    bare = words.replace(" ", "")
    # `飲食可否` asks whether one may eat: only beside a word of calls is it a permission to call.
    called = any(part in bare for part in words_of("asian_calls"))
    return _PART if called and any(part in bare for part in words_of("asian_allowed")) else 0.0


def is_screening(header: str) -> bool:
    """Whether a column holds what came out of a comparison with registers: `DNC Scrub Result`."""
    tokens = plain(header).split()
    if words_of("screening_details").intersection(tokens):
        return False
    compared = words_of("screened").intersection(tokens)
    registers = words_of("registers").intersection(tokens)
    results = words_of("screening_results").intersection(tokens)
    return bool(results and (compared or registers))


def needs_answers(header: str, field: str) -> bool:
    """Whether the header is an opt-out or a consent only where its cells are answers."""
    words = plain(header)
    if field == "opt_out":
        return words in words_of("ambiguous_prohibitions")
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
