"""How much a header is the name of a field, and which phone it means; knows words, not cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dialframe.leads import headers
from dialframe.leads.headers import plain

_EXACT: Final = 1.0
_FRILLED: Final = 0.95
_PART: Final = 0.8
_ENDING: Final = 0.75
_WEAK: Final = 0.65
#: Words that stand before a field's name and change nothing.
_FRILLS: Final = frozenset(
    {"customer", "client", "contact", "lead", "primary", "main", "your", "person", "the", "best"}
)
_CONSENT_WORDS: Final = frozenset(
    {"consent", "permission", "optin", "einwilligung", "consentimiento", "consentement"}
    | {"consentimento", "consenso", "zustimmung"}
)
#: Words that turn a word of consent into its opposite.
_NEGATIONS: Final = frozenset(
    {"no", "not", "withdrawn", "withdrew", "revoked", "refused", "declined", "denied", "without"}
    | {"widerrufen", "verweigert", "retire", "revocado", "revogado"}
)
_CALL_WORDS: Final = frozenset(
    {"call", "calls", "calling", "phone", "phones", "telephone", "dnc", "donotcall"}
)
#: What is said about a consent, not the consent itself; of an opt-out every filled cell counts.
_DETAILS: Final = frozenset(
    {"date", "time", "at", "on", "reason", "source", "ip", "url", "datum", "fecha"}
)
_MAIL_STATUS: Final = frozenset(
    {"opt", "out", "in", "status", "type", "date", "valid", "verified", "consent", "count", "sent"}
    | {"source", "optout", "optin", "unsubscribed", "permission", "bounced", "2"}
)


def header_score(header: str, field: str) -> float:
    """How much the header is the name of the field, 0 to 1."""
    words = plain(header)
    if not words:
        return 0.0
    if words in headers.NAMES[field]:
        return _EXACT
    tokens = words.split()
    bare = " ".join(token for token in tokens if token not in _FRILLS)
    if bare and bare in headers.NAMES[field] and bare != "id":
        return _FRILLED
    return _PARTS[field](words, tokens)


def phone_rank(header: str) -> int:
    """Place of the phone column in the order of preference: mobile, phone, home, work, further."""
    words = plain(header)
    tokens = set(words.split())
    for rank, (_, names) in enumerate(headers.PHONE_KINDS):
        if tokens & names or words in names:
            return rank
    return 1


def _phone(words: str, tokens: Sequence[str]) -> float:
    if words in headers.NAMES["phone_other"] or headers.NOT_PHONE.intersection(tokens):
        return 0.0
    if any(token.startswith(headers.NOT_PHONE_PREFIXES) for token in tokens):
        return 0.0
    named = headers.PHONE_WORDS.intersection(tokens) or any(
        token.startswith(headers.PHONE_PREFIXES) for token in tokens
    )
    if named or any(part in words for part in headers.PHONE_PARTS):
        return _PART
    return _WEAK if words in headers.PHONE_PLACES else 0.0


def _fax(words: str, tokens: Sequence[str]) -> float:
    found = any(token.startswith(headers.NOT_PHONE_PREFIXES) for token in tokens)
    return _PART if found or plain("ファックス") in words else 0.0


def _email(words: str, tokens: Sequence[str]) -> float:
    if _MAIL_STATUS.intersection(tokens):
        return 0.0
    found = {"email", "mail", "emails", "correo", "courriel"}.intersection(tokens)
    return _PART if found or plain("メール") in words else 0.0


def _full_name(words: str, tokens: Sequence[str]) -> float:
    if plain("氏名") in words or "full name" in words:
        return _PART
    if headers.NOT_LEAD_NAME.intersection(tokens):
        return 0.0
    if tokens[-1] == "name" and len(tokens) > 1:
        return _ENDING
    compound = tokens[-1].endswith("name") and not tokens[-1].startswith(headers.NOT_LEAD_COMPOUND)
    known = tokens[-1] in headers.NAMES["first_name"] | headers.NAMES["last_name"]
    return _WEAK if (compound and len(tokens) == 1 and not known) or words == "名称" else 0.0


def _holding(*phrases: str) -> Callable[[str, Sequence[str]], float]:
    def score(words: str, tokens: Sequence[str]) -> float:
        del tokens
        return _PART if any(f" {phrase} " in f" {words} " for phrase in phrases) else 0.0

    return score


def _external_id(words: str, tokens: Sequence[str]) -> float:
    del words
    return _ENDING if len(tokens) > 1 and tokens[-1] == "id" else 0.0


def _opt_out(words: str, tokens: Sequence[str]) -> float:
    if _of_another_channel(tokens):
        return 0.0
    padded = f" {words} "
    withdrawn = _CONSENT_WORDS.intersection(tokens) and _NEGATIONS.intersection(tokens)
    named = any(f" {name} " in padded for name in headers.NAMES["opt_out"])
    return _PART if named or withdrawn else 0.0


def _consent(words: str, tokens: Sequence[str]) -> float:
    if _of_another_channel(tokens) or _DETAILS.intersection(tokens):
        return 0.0
    if _NEGATIONS.intersection(tokens):
        return 0.0
    return _PART if _CONSENT_WORDS.intersection(tokens) or " opt in " in f" {words} " else 0.0


def _of_another_channel(tokens: Sequence[str]) -> bool:
    """Whether a header speaks of mail or messages alone: a word for calls beside them wins."""
    if _CALL_WORDS.intersection(tokens):
        return False
    return bool((headers.OTHER_CHANNEL - _DETAILS).intersection(tokens))


_PARTS: Final[dict[str, Callable[[str, Sequence[str]], float]]] = {
    "phone": _phone,
    "fax": _fax,
    "email": _email,
    "first_name": _holding("first name", "given name", "vorname", "prenom"),
    "last_name": _holding("last name", "surname", "family name", "nachname", "apellidos"),
    "full_name": _full_name,
    "external_id": _external_id,
    "source": _holding("lead source", "list source", "data source"),
    "extension": _holding("phone ext", "phone extension", "tel ext"),
    "phone_other": _holding("phone_other"),
    "opt_out": _opt_out,
    "consent": _consent,
}
