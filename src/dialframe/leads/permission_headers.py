"""How much a header is a prohibition or a permission to call, and which way round; knows words, not cells.

The exact names stand in `permission_names`. Beyond them a header is read by its words: a
prohibition of the tables of `remark_words`, a word of consent with or without a negation, or a
verb of allowing beside a word of calling (`Ok para llamar`, `Darf man anrufen?`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dialframe.leads.headers import plain
from dialframe.leads.remark_words import JAPANESE, OTHER_CHANNELS, listed_words
from dialframe.leads.remarks import prohibits

_PART: Final = 0.8

_CONSENT_WORDS: Final = listed_words(
    "consent consents consented permission optin einwilligung einwilligungen werbeeinwilligung"
    " zustimmung einverstandnis einverstanden consentimiento consentement consentimento consenso"
    " pewc gdpr dsgvo rgpd lgpd"
)
#: Words that turn a word of consent into its opposite.
_NEGATIONS: Final = listed_words(
    "no not withdrawn withdrew withdraw withdrawal revoked revoke revocation refused declined"
    " denied without never cannot cant dont t isn non nicht kein keine widerrufen widerruf"
    " verweigert ohne zuruckgezogen retire retrait refuse sans pas ne revocado revocada revocacion"
    " sin rechazado nao sem revogado revogada recusado missing"
)
_ALLOWING: Final = listed_words(
    "ok okay can may allow allows allowed allowing permit permits permitted accept accepts"
    " accepted agree agrees agreed authorise authorised authorize authorized approve approved"
    " happy willing wish wishes want wants welcome puede pueden podemos permite permitido acepta"
    " autoriza autorizado desea quiere peut pouvons accepte autorise souhaite veut darf durfen"
    " erlaubt erlaubnis gestattet zulassig wunscht mochte pode podemos aceita permitida deseja"
    " quer yes"
)
_CALLING: Final = listed_words(
    "call calls called calling phone phoned telephone ring contact contacted marketing"
    " telemarketing llamar llamada llamadas llamado contactar contacto telefono anruf anrufe"
    " anrufen angerufen kontakt kontaktieren kontaktiert telefon telefonisch telefonwerbung"
    " werbung appel appels appeler appele contacter contacte demarchage demarcher ligar ligacao"
    " ligacoes chamada chamadas contato contatar contatado telefone publicidad publicidade"
)
_WISHES: Final = listed_words(
    "prefs pref preference preferences permissions permission choices choice settings"
)
_WISHED: Final = listed_words("marketing communication communications comms privacy")
#: Registers of people who do not want to be called, beside words that say nothing.
_REGISTERS: Final = listed_words(
    "dnc dncr dncl lnnte ndnc ndncr dnd tps ctps bloctel pacitel robinson robinsonliste repep reus"
    " naomeperturbe baja"
)
#: Words of columns that tell that numbers were compared with a register, not what came out.
_SCREENED: Final = listed_words(
    "checked scrubbed screened washed cleaned scrub verified screening"
)
#: Words of prohibitions that German and others glue to something.
_STEMS: Final = (
    *("sperr", "blacklist", "suppress", "widerspr", "widerruf", "anrufverbot", "abmeld"),
    *("desinscri", "desabonn", "descadast", "unsubscri", "optout"),
)
_STEM_ENDS: Final = ("sperre", "verbot", "widerspruch", "sperrliste")
#: What is said about a consent, not the consent itself; of an opt-out every filled cell counts.
_DETAILS: Final = listed_words(
    "date time times at on reason source ip url datum fecha hours timestamp method channel text"
    " version data heure horario uhrzeit number name email by quelle fuente fonte type id"
    " back callback count attempts last first language wording statement disclosure clause form"
    " page message certificate token proof document"
)
_CALL_WORDS: Final = listed_words(
    "call calls calling phone phones telephone dnc donotcall llamar llamadas telefono anruf anrufe"
    " anrufen telefon telefonisch appel appels appeler ligar ligacao ligacoes telefone"
)
_ALLOWED_PARTS: Final = tuple(
    plain(part) for part in ("可否", "同意", "許諾", "承諾", "許可", "連絡可", "電話可")
)
_CALLS_IN_JAPANESE: Final = tuple(
    plain(part) for part in ("電話", "架電", "連絡", "コール", "勧誘", "テレ")
)
_FORBIDDEN_PARTS: Final = tuple(
    plain(part) for part in ("不可", "禁止", "拒否", "お断り", "ng", "停止", "対象外")
)


def opt_out_score(words: str, tokens: Sequence[str]) -> float:
    """How much the plain words are the name of a column in which a yes forbids the call."""
    if _of_another_channel(tokens) or _SCREENED.intersection(tokens):
        return 0.0
    if prohibits(tokens) in ("yes", "unclear") or _REGISTERS.intersection(tokens):
        return 0.0 if _takes_back(tokens) else _PART
    if any(token.startswith(_STEMS) or token.endswith(_STEM_ENDS) for token in tokens):
        return _PART
    if _negates(tokens) and (_CONSENT_WORDS.intersection(tokens) or _may_call(tokens)):
        return _PART
    bare = words.replace(" ", "")
    if any(plain(part).replace(" ", "") in bare for part in JAPANESE if part != "欠番"):
        return _PART
    called = any(part in bare for part in _CALLS_IN_JAPANESE)
    return _PART if called and any(part in bare for part in _FORBIDDEN_PARTS) else 0.0


def consent_score(words: str, tokens: Sequence[str]) -> float:
    """How much the plain words are the name of a column in which only a yes allows the call."""
    if _of_another_channel(tokens) or _DETAILS.intersection(tokens):
        return 0.0
    if _takes_back(tokens):
        return _PART
    if _negates(tokens):
        return 0.0
    if _CONSENT_WORDS.intersection(tokens) or _opts_in(words) or _may_call(tokens):
        return _PART
    if _WISHES.intersection(tokens) and _WISHED.intersection(tokens):
        return _PART
    return _PART if any(part in words.replace(" ", "") for part in _ALLOWED_PARTS) else 0.0


def _opts_in(words: str) -> bool:
    return any(f" {said} " in f" {words} " for said in ("opt in", "opted in", "opts in"))


def _of_another_channel(tokens: Sequence[str]) -> bool:
    """Whether a header speaks of mail or messages alone: a word for calls beside them wins."""
    if _CALL_WORDS.intersection(tokens):
        return False
    return bool(OTHER_CHANNELS.intersection(tokens))


def _negates(tokens: Sequence[str]) -> bool:
    return bool(_NEGATIONS.intersection(tokens))


def _may_call(tokens: Sequence[str]) -> bool:
    return bool(_ALLOWING.intersection(tokens) and _CALLING.intersection(tokens))


def _takes_back(tokens: Sequence[str]) -> bool:
    """`Not on DNC`, `has not opted out`: a yes there means that the person may be called."""
    return prohibits(tokens) == "no" and bool({"not", "never", "nicht"}.intersection(tokens))
