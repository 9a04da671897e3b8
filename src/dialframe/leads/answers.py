"""Yes, no and neither in the cells of opt-out and consent columns, in six languages; closed tables.

The same word can be opposite in the two kinds of column, so each kind has its own reading:
`不可` (not allowed) is a refusal in both, a date is the day of the opt-out in the one and no answer
in the other. Any word that no table knows is unclear, and whoever is unclear is not called.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, Literal

from dialframe.leads.headers import plain
from dialframe.leads.remark_words import OTHER_CHANNELS
from dialframe.leads.remarks import read_stance

Answer = Literal["yes", "no", "blank", "unclear"]


def _fold(text: str) -> str:
    """The text without accents and capitals, composed as every cell is before it is looked up."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text)
    return "".join(char for char in folded if not unicodedata.combining(char)).casefold()


def _listed(text: str) -> frozenset[str]:
    return frozenset(_fold(word).strip(" \ufe0f") for word in text.split(" | "))


YES: Final = _listed(
    "y | yes | true | t | 1 | x | ✓ | ✔ | ☑ | ✅ | √ | on | checked | ticked | selected | yep | yeah"
    " | affirmative | positive | ja | j | wahr | richtig | si | s | verdadero | cierto | oui | o"
    " | vrai | sim | verdadeiro | vero | はい | 有 | 有り | あり | 済 | 済み | ○ | ◯ | 〇 | ● | ◎ | レ | да | ✔️"
    " | ☒ | ■ | 🗸 | 是"
)
NO: Final = _listed(
    "n | no | false | f | 0 | off | ☐ | □ | ✗ | ✘ | ❌ | ✖ | ✕ | unchecked | unticked | nope | negative"
    " | nein | falsch | falso | non | faux | nao | いいえ | 無 | 無し | なし | 未 | 否 | × | нет | 否定"
)
#: Words that refuse calls in both kinds of column.
OPTED_OUT: Final = _listed(
    "dnc | do not call | do-not-call | opt out | opt-out | optout | opted out | opted-out | out"
    " | stop | unsubscribed | unsubscribe | blocked | refused | refuses | declined | denied | deny"
    " | rejected | withdrawn | withdrew | revoked | removed | remove | suppressed | suppress"
    " | blacklisted | not allowed | disallowed | forbidden | prohibited | never | opposed | objected"
    " | no calls | no call | do not contact | no contact | not permitted | decline | cancelled"
    " | no llamar | no contactar | baja | rechazado | rechaza | denegado | revocado | prohibido"
    " | ne pas appeler | ne pas contacter | refuse | retire | interdit | oppose | revoque"
    " | desinscrit | nicht anrufen | gesperrt | verweigert | widerrufen | abgelehnt | untersagt"
    " | widersprochen | verboten | abgemeldet | nicht erlaubt | nicht erteilt | nao ligar"
    " | recusado | recusou | negado | revogado | proibido | descadastrado | rifiutato"
    " | 電話不可 | 不可 | ng | 禁止 | 拒否 | 不同意 | 同意しない | 希望しない | お断り | 停止 | 同意なし"
)
#: Words that allow calls in both kinds of column.
OPTED_IN: Final = _listed(
    "opt in | opt-in | optin | opted in | opted-in | granted | subscribed | allowed | permitted"
    " | callable | ok to call | okay to call | can call | may call | not opted out"
    " | aceptado | acepta | accepte | erteilt | erlaubt | aceito | aceita | autorizado"
    " | accettato | 同意 | 同意する | 同意済 | 同意済み | 同意あり | 許可 | 承諾"
)
#: Words that are an answer in a consent column only.
_CONSENTS: Final = _listed(
    "ok | okay | given | accepted | accept | accepts | agreed | agree | agrees | consented | active"
    " | approved | in | call | calls | phone | telephone | by phone | phone calls | all | any | both"
    " | everything | voice | all channels | any channel | full | express | written | verbal"
    " | express written | valid | obtained | confirmed | concedido | otorgado | dado | si acepta"
    " | vigente | todos | todo | telefono | llamadas | accord | accorde | donne | autorise | tous"
    " | tout | appels | einverstanden | zugestimmt | liegt vor | vorhanden | alle | telefon | anruf"
    " | anrufe | concedida | autoriza | telefone | ligacoes | tudo | 可 | 可能 | 可能です | ok です"
    " | 電話可 | 電話 | 希望する | 許諾"
)
_REFUSES: Final = _listed(
    "none | nobody | no marketing | nothing | email | e-mail | email only | e-mail only | mail"
    " | post | post only | mail only | sms | sms only | text only | text | letter | letter only"
    " | not given | no consent | inactive | expired | lapsed | not obtained | missing | ninguno"
    " | aucun | aucune | keine | keiner | nur e-mail | nur email | nur post | nenhum | nessuno"
    " | solo email | solo correo | somente email | uniquement email | メールのみ | 郵送のみ"
)
#: Words of an opt-out column alone: what a register answers.
_LISTED: Final = _listed(
    "listed | registered | on list | on the list | match | matched | hit | found | on register"
    " | on dnc | dnc listed | flagged | deceased | excluded | dnd | inscrit | inscrito | inscrita"
    " | registrado | registrada | en lista | eingetragen | gelistet | treffer | cadastrado | na lista"
    " | all | any | both | phone | call | calls | all channels | telephone | telefono | telefon"
    " | llamadas | appels | anrufe | ligacoes | permanent | 登録 | 登録済 | 登録済み | 該当 | 対象 | 死亡"
)
_UNLISTED: Final = _listed(
    "not listed | not on dnc | unlisted | not registered | unregistered | not on list | not on the list"
    " | no match | not found | no hit | clear | cleared | clean | safe | not flagged | not matched"
    " | not blocked | allow | accept | none | no opt out | no opt-out | eligible | ok to dial"
    " | no inscrito | no inscrita | no registrado | non inscrit | nicht eingetragen"
    " | nicht gelistet | kein treffer | nao cadastrado | nao inscrito | fora da lista | 未登録"
    " | 非該当 | 該当なし | 対象外ではない"
)
_PLAIN_YES: Final = _listed(
    "yes | true | ja | si | oui | sim | はい | y | checked | opted out | dnc"
)
_BLANKS: Final = frozenset(
    {"", "-", "--", "---", "n/a", "na", "null", "none", "nan", "#n/a", "nil"}
)
_EXPLAINED: Final = re.compile(r"\s+[-–—]+\s+|\s*[,;:(]\s*")
_WHOLE: Final = (".0", ".00")
#: A day, with or without the time, as lists and databases write it.
_DATE: Final = re.compile(
    r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?(?:[t ]\d.*)?|\d{1,2}[-/. ]\d{1,2}[-/. ]\d{2,4}(?: \d.*)?"
    r"|\d{1,2}[-. ]?[^\W\d_]{3,9}\.?,?[-. ]?\d{2,4}|[^\W\d_]{3,9}\.? \d{1,2},? \d{4}|(?:19|20)\d{6}"
    r"|(?:19|20)\d{2}(?:-\d{2})?"
)


def read_answer(cell: str) -> Answer:
    """What an opt-out cell says: yes is do not call; anything unknown is unclear, never no.

    A date is the day of the opt-out. Trivial cells: those of `YES`, `NO` and blanks.
    """
    word = _word(cell)
    if word in _BLANKS:
        return "blank"
    if word in YES or word in OPTED_OUT or word in _LISTED or _DATE.fullmatch(word):
        return "yes"
    if word in NO or word in OPTED_IN or word in _UNLISTED:
        return "no"
    stance = read_stance(cell)
    if stance in ("yes", "no"):
        return "yes" if stance == "yes" else "no"
    return _first_word(cell) if stance is None else "unclear"


def read_consent(cell: str) -> Answer:
    """What a consent cell says: yes is may call. Trivial cells: those of `YES`, `NO` and blanks."""
    word = _word(cell)
    if word in _REFUSES:
        return "no"
    if word in _BLANKS:
        return "blank"
    if word in YES or word in OPTED_IN or word in _CONSENTS:
        return "yes"
    if word in NO or word in OPTED_OUT or read_stance(cell) in ("yes", "unclear"):
        return "no"
    first = _first_word(cell)
    return _of_channels(word) if first == "unclear" else first


def is_answer(cell: str) -> bool:
    """Whether the cell is a known answer of either kind."""
    word = _word(cell)
    return word in YES or word in NO or word in OPTED_OUT or word in OPTED_IN


def plain_yes(cell: str) -> bool:
    """Whether the cell is a yes that is nothing else, wherever it stands: `yes`, not `1` or `x`."""
    return _word(cell) in _PLAIN_YES


def _first_word(cell: str) -> Answer:
    """`Yes - requested in May`, `No, ok to call`: the answer before the explanation."""
    first, *rest = _EXPLAINED.split(cell.strip(), maxsplit=1)
    word = _word(first)
    # A single letter or mark before a dash may be a grade or a bullet.
    if not rest or len(word) < len("no") or OTHER_CHANNELS.intersection(plain(rest[0]).split()):
        return "unclear"
    return "yes" if word in YES else "no" if word in NO else "unclear"


def _of_channels(word: str) -> Answer:
    """`Phone; E-mail` allows calls, `SMS, E-mail` does not, anything else is unclear."""
    parts = [part.strip() for part in re.split(r"[;,/|+&]", word) if part.strip()]
    if len(parts) < 2 or any(part not in _CONSENTS | _REFUSES for part in parts):
        return "unclear"
    channels = {plain(part) for part in parts} & {"call", "calls", "phone", "telephone", "voice"}
    return "yes" if channels else "no"


def _word(cell: str) -> str:
    word = " ".join(_fold(cell).strip("'\"“”.!*[]() \t\u200b\ufeff\ufe0f").split())
    return next((word.removesuffix(end) for end in _WHOLE if word.endswith(end)), word)
