"""How much a header is the name of a field, which flag it is, and which phone it means.

A header is asked in plain words (`opt_outs.plain`): has it a word of a table, a word that begins as one
of a table does, or a part of one anywhere? The tables are in `header_vocabulary.toml`; flags are known by
`opt_outs.flag_of`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, NamedTuple

from dialframe.leads.header_vocabulary import (
    NAMES,
    PARTS,
    PHONE_KINDS,
    PHONE_PLACES,
    PHONE_WORDS,
    VAGUE_NUMBERS,
)
from dialframe.leads.header_vocabulary import word_set as words_of
from dialframe.opt_outs import flag_of, plain

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


# Each is asked about once for each field, and headers repeat in a folder.
@lru_cache(maxsize=2**12)
def _read(header: str) -> _Header:
    words = plain(header)
    return _Header(words, tuple(words.split()), words.replace(" ", ""))


#: Field by the kind of a flag.
_FLAG_FIELDS: Final = {"permits": "consent", "call": "consent"}


def flag_field(header: str) -> str | None:
    """`opt_out` or `consent` where the header is plainly a flag, else None."""
    flag = flag_of(header)
    return None if flag is None or not flag.sure else _FLAG_FIELDS.get(flag.kind, "opt_out")


# ---- fields


@lru_cache(maxsize=2**12)
def _singular(header: str) -> _Header:
    """A header whose words for phones are read as one: `Phone numbers` is a column of phones as `Phone number` is."""
    heads = PHONE_WORDS | VAGUE_NUMBERS | PHONE_PLACES
    tokens = [
        token[:-1] if token.endswith("s") and token[:-1] in heads and token not in heads else token
        for token in _read(header).tokens
    ]
    return _read(" ".join(tokens))


# Both are asked about once for each field, too.
@lru_cache(maxsize=2**12)
def _without_answers(words: str) -> str:
    for answer in words_of("answers_behind"):
        if words.endswith(f" {answer}"):
            return words.removesuffix(f" {answer}")
    return words


@lru_cache(maxsize=2**12)
def _without_frills(tokens: tuple[str, ...]) -> str:
    return " ".join(token for token in tokens if token not in words_of("frills"))


def header_score(header: str, field: str) -> float:
    """How much the header is the name of the field, 0 to 1."""
    asked = _singular(header) if field == "phone" else _read(header)
    if not asked.words:
        return 0.0
    if field in ("opt_out", "consent"):
        return _PART if flag_field(header) == field else 0.0
    if asked.words in NAMES[field]:
        return _WEAK if field == "phone" and asked.words in VAGUE_NUMBERS else _EXACT
    # `Consent Y/N` names its answers; a lone `n` is a negation elsewhere.
    bare = _without_answers(asked.words)
    if bare != asked.words:
        # Asked once more without them: what is left may be a whole name.
        return header_score(bare, field)
    core = _without_frills(asked.tokens)
    if core in NAMES[field] and core not in _NOT_BARE:
        return _EXACT
    # Permissions and phones have words that turn their meaning; other fields are a table.
    score = _SCORES.get(field)
    return score(asked) if score else _part_score(asked, field)


def phone_rank(header: str) -> int:
    """Place of the phone column in the order of preference: mobile, phone, home, work, further, unknown.

    Whose phone it is that has a word before it which no table knows (`Broker desk phone`), nobody can say: it
    comes last.
    """
    words, tokens, _ = _singular(header)
    if _is_qualified(tokens):
        return len(PHONE_KINDS)
    # A word for the kind stands beside any word for a phone: `Mobile`, `Mobile phone`, `Tel. mobile`.
    for rank, (names, _) in enumerate(PHONE_KINDS):
        if words in names or not names.isdisjoint(tokens):
            return rank
    ranks = enumerate(PHONE_KINDS)
    return next((rank for rank, (_, parts) in ranks if any(part in words for part in parts)), 1)


def _is_qualified(tokens: tuple[str, ...]) -> bool:
    """Whether a word stands beside the phone that says of whom or of what, and is no known one."""
    if len(tokens) < 2 or PHONE_WORDS.isdisjoint(tokens):
        return False
    known = PHONE_WORDS | PHONE_PLACES | words_of("frills") | words_of("beside_phones")
    kinds = frozenset[str]().union(*(names for names, _ in PHONE_KINDS))
    return any(
        token not in known
        and token not in kinds
        and not token.isdecimal()
        and token.isascii()
        and len(token) > 2
        for token in tokens
    )


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
}
