"""What people write into lead lists when somebody must not be called, as tables; phrases only, no rule.

A phrase is written in plain words (`headers.plain`: no accents, no capitals, no punctuation), so
`Ne pas appeler!` and `don't-call` stand here as `ne pas appeler` and `don t call`. Six languages
and Italian. Japanese is written without blanks, so its phrases are parts of a text.
"""

from __future__ import annotations

from typing import Final


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in text.split("|"))


def listed_words(text: str) -> frozenset[str]:
    """The words of a table written as one text."""
    return frozenset(text.split())


#: Prohibitions of a call, wherever they stand in a text.
CALLS: Final = (
    _phrases(
        "not receive calls | not receive any calls | not receive any more calls | no longer wants calls"
        "| no longer wants to be called | no longer wish to be called | no longer wishes to be called"
        "| t want any calls | t want any more calls | not wish to receive calls | not want to receive calls"
        "| no recibir mas llamadas | no recibir llamadas | no quiere mas llamadas"
        "| ne plus recevoir d appel | ne plus recevoir d appels | ne pas recevoir d appels"
        "| ne veut plus recevoir d appels | keine weiteren anrufe | keine anrufe erhalten"
        "| nao receber ligacoes | nao receber mais ligacoes | nao quer mais ligacoes"
        "| no further calls | no further phone calls | no more phone calls | do not call | don t call | dont call | do no call | donotcall | do not phone | don t phone"
        "| dont phone | donotphone | do not ring | don t ring | do not dial | don t dial"
        "| do not telephone | never call | never phone | no more calls "
        " | no marketing calls | no sales calls | no cold calls"
        "| no unsolicited calls | no telemarketing | no telemarketers | stop calling | stop calls"
        "| stop phoning | stop ringing | quit calling | cease calling | cease calls | not to be called"
        "| not be called | not to be phoned | not be phoned | not to call | not call again"
        "| not want calls | not want any calls | not want to be called | not wish to be called"
        "| not like to be called | t want calls | t want to be called | not be called again"
        "| off the calling list | off calling list | from calling list | from call list"
        "| from the call list | from the calling list | from our call list | from your call list"
        "| from all call lists | off the call list | off call list | no longer call | not phone again"
        "| cannot be called | can not be called | can t be called | must not be called"
        "| may not be called | should not be called | refuses calls | refused calls | calls refused"
        "| calls blocked | no calls please | no calls ever | no calls at all | please no calls"
        "| not callable | uncallable"
        "| no llamar | no llame | no llamen | no llames | no llamarle | no volver a llamar"
        "| no quiere llamadas | no desea llamadas | no acepta llamadas | no mas llamadas"
        "| no quiere que le llamen | no quiere que la llamen | no quiere que lo llamen"
        "| no desea ser llamado | no desea ser llamada | no quiere ser llamado | no telefonear"
        "| dejar de llamar | dejen de llamar | no quiere recibir llamadas | rechaza llamadas"
        "| no desea recibir llamadas | no quiere que llamemos"
        "| ne pas appeler | ne plus appeler | ne pas rappeler | ne plus rappeler"
        "| ne pas telephoner | ne plus telephoner | ne jamais appeler  "
        "| plus d appel | plus d appels | refuse les appels | arreter d appeler | stop appel"
        "| stop appels | ne veut pas etre appele | ne veut plus etre appele | n appelez plus"
        "| ne souhaite pas etre appele | ne souhaite plus etre appele | ne m appelez plus"
        "| ne souhaite pas etre appelee | ne souhaite plus etre appelee | ne pas demarcher"
        "| pas de demarchage | refus d appel | refus demarchage | oppose au demarchage"
        "| opposee au demarchage | opposition au demarchage | opposition demarchage"
        "| bitte keine anrufe | wunscht keine anrufe | mochte keine anrufe | will keine anrufe"
        "| no phone calls please | please no phone calls | wants no phone calls | wants no calls"
        "| nicht anrufen | nicht mehr anrufen | nie anrufen | nie mehr anrufen "
        " | keine anrufe mehr | keine werbeanrufe | keine telefonanrufe"
        "| keine telefonwerbung | nicht angerufen werden | nicht mehr angerufen werden"
        "| nicht telefonieren | nicht anzurufen | niemals anrufen | anrufsperre | telefonsperre"
        "| anrufverbot | telefonverbot | nicht telefonisch kontaktieren | wunscht keine anrufe"
        "| nicht zuruckrufen | keine telefonate | darf nicht angerufen werden"
        "| nao ligar | nao ligue | nao liguem | nao ligar mais | nao telefonar | nao chamar"
        "| nao chamare | nunca ligar | nao quer ligacoes | nao deseja ligacoes "
        "| nao quer receber ligacoes | nao deseja receber ligacoes | parar de ligar | parem de ligar"
        "| nao aceita ligacoes | nao quer chamadas | nao deseja chamadas | nao me ligue"
        "| non chiamare | non telefonare | non richiamare | no llamarla | no llamarlo | no la llames"
        "| n appelez pas | ne l appelez pas | ne m appelez pas | ne l appelez plus | ne pas l appeler"
        "| ne plus l appeler | ne pas me rappeler | ne pas m appeler | ne plus m appeler"
        "| ne veut pas d appels | ne veut plus d appels | ne veut pas qu on l appelle"
        "| rufen sie nicht mehr an | rufen sie nicht an | ruft nicht mehr an | nicht mehr ruckrufen"
        "| que nao ligue | que nao liguem | nao quer que ligue | nao quer que liguem"
        "| que nao telefonem | nao liguem mais | nao ligue mais"
    )
    + tuple(
        f"no {pronoun} {verb}"
        for pronoun in (
            "le",
            "la",
            "lo",
            "me",
            "les",
            "los",
            "las",
            "nos",
            "se le",
            "se la",
            "se lo",
        )
        for verb in ("llame", "llamen", "llamar", "llamemos", "llames", "vuelvan a llamar")
    )
    + tuple(
        f"no {wish} que {pronoun}llame{ending}"
        for wish in ("quiere", "desea")
        for pronoun in ("", "le ", "la ", "lo ", "les ")
        for ending in ("", "n", "mos")
    )
)
#: Prohibitions of contact: a call unless another channel is named beside them.
CONTACT: Final = _phrases(
    "do not contact | don t contact | dont contact | do not disturb | do not solicit"
    "| never contact | stop contacting | cease contact | cease and desist | cease all contact"
    "| not to be contacted | not be contacted | not to contact | not contact again"
    "| not want to be contacted | not wish to be contacted | t want to be contacted"
    "| no further contact | no more contact | no solicitation | no soliciting | no solicitors"
    " | no marketing contact | remove from list | remove from our list"
    "| remove from the list | remove from your list | remove from all lists | remove from lists"
    "| removed from list | remove me | take me off | take off list | take off the list"
    "| take off our list | off your list | wants to be removed | asked to be removed"
    "| wants removed | requested removal | removal request | removal requested | leave me alone"
    "| no contactar | no contacte | no contacten | no molestar | no moleste | no desea contacto"
    "| no desea ser contactado | no desea ser contactada | no quiere ser contactado"
    "| no quiere contacto | no quiere publicidad | borrar de la lista | quitar de la lista"
    "| ne pas contacter | ne plus contacter | ne pas deranger | ne veut plus etre contacte"
    "| ne souhaite pas etre contacte | ne souhaite plus etre contacte | ne pas solliciter"
    "| retirer de la liste | supprimer de la liste"
    "| nicht kontaktieren | nicht mehr kontaktieren | keine kontaktaufnahme | kein kontakt mehr"
    "| nicht kontaktiert werden | keine werbung | werbesperre | kontaktsperre | kontaktverbot"
    "| werbewiderspruch | widerspricht werbung | werbung widersprochen | von der liste streichen"
    "| nao contatar | nao contactar | nao contate | nao perturbe | nao perturbar | nao incomodar"
    "| nao deseja contato | nao deseja ser contatado | nao quer ser contatado | nao quer contato"
    "| remover da lista | retirar da lista | tirar da lista | nao deseja contacto"
    "| non contattare | non disturbare"
)
#: States of a person who has refused; `not` before them takes them back.
STATES: Final = _phrases(
    "dnc | d n c | dncr | dncl | lnnte | ndnc | opt out | opts out | opted out | opting out | optout | optedout"
    "| unsubscribe | unsubscribed | unsubscribes | blacklist | blacklisted | black listed"
    "| black list | blocklisted | suppression list | tps registered | on tps"
    "| ctps registered | on ctps | tps ctps | tps listed | do not call list | do not call registry"
    "| do not call register | consent withdrawn | consent revoked | withdrew consent"
    "| withdrawn consent | revoked consent | no consent | consent denied | consent refused"
    "| without consent | serial litigator | tcpa litigator | known litigator"
    "| lista robinson | en robinson | bloctel | lista negra | sin consentimiento"
    "| revoco consentimiento | consentimiento revocado | desinscrit | desabonne | liste noire"
    "| sans consentement | consentement retire | consentement refuse | robinsonliste"
    "| robinson liste | sperrliste | sperrvermerk | keine einwilligung | ohne einwilligung"
    "| einwilligung widerrufen | einwilligung zuruckgezogen | descadastrado | descadastrada"
    "| sem consentimento | consentimento revogado | nao me perturbe | registro delle opposizioni"
)
#: The same where nothing else stands in the cell, or between its separators.
WHOLE: Final = _phrases(
    "stop | no calls | no call | stopp | suppress | tps | ctps | tps yes | litigator | robinson"
    "| widerspruch | widersprochen | gesperrt | sperre | liste rouge | opposition | oposicion"
    "| sin llamadas | sem ligacoes | pas d appel | pas d appels | kein anruf | keine anrufe"
    "| no marketing | suppressed | no phone calls | no telephone calls "
    "| opted-out | do not | dnd | repep | opt-out | cease | hard dnc | soft dnc | oppose"
)
#: The same in columns of wishes (`Contact Preference`), and the words of their headers.
UNWISHED: Final = _phrases(
    "no contact | never | do not | no communication | no communications | no marketing"
    "| sin contacto | ningun contacto | aucun contact | kein kontakt | sem contato | nao contatar"
)
WISHES: Final = listed_words(
    "preference preferences preferred prefers prefs preferencia preference"
)
#: Words that may be a refusal and may be something else: decided by policy.
DOUBTFUL: Final = _phrases(
    "remove | removed | blocked | block | baja | dado de baja | dada de baja | abgemeldet"
    "| bloqueado | bloqueada | excluded | excluido | ausgeschlossen | bloque | bloquee"
)
#: A person who cannot be called any more.
DECEASED: Final = _phrases(
    "deceased | passed away | fallecido | fallecida | decede | decedee | verstorben | falecido"
    "| falecida | deceduto | is deceased | has passed away | customer deceased | lead deceased"
    "| contact deceased | person deceased | client deceased | obito | ha fallecido | est decede"
    "| est decedee | ist verstorben | kunde verstorben | cliente fallecido | cliente falecido"
)
#: A number that is nobody's, or not this person's, where nothing else stands in the cell.
WRONG: Final = _phrases(
    "wrong number | wrong no | wrong phone | wrong num | wrong person | bad number | bad phone"
    "| invalid number | incorrect number | disconnected | disconnected number"
    "| number disconnected | phone disconnected | disconnected phone | not in service"
    "| number not in service | no longer in service | out of service | number changed"
    "| wrong tel | wrong telephone number | numero equivocado | numero erroneo"
    "| numero incorrecto | telefono equivocado | telefono erroneo | fuera de servicio"
    "| mauvais numero | faux numero | numero errone | numero incorrect | numero invalide"
    "| non attribue | numero non attribue | hors service | falsche nummer | falsche rufnummer"
    "| falsche telefonnummer | kein anschluss | kein anschluss unter dieser nummer"
    "| nummer falsch | nummer ungultig | numero errado | numero incorreto | telefone errado"
    "| numero inexistente | fora de servico | numero sbagliato"
)
#: Words beside a number in its own cell that say the same of it.
WRONG_BESIDE: Final = listed_words(
    "wrong bad invalid incorrect disconnected disc dead old previous former ex obsolete outdated"
    " nis oos equivocado erroneo incorrecto antiguo anterior viejo faux mauvais ancien ancienne"
    " errone invalide falsch falsche alte fruher ehemals ungultig errado antigo velho"
    " inexistente sbagliato vecchio"
)
#: Words beside a number that make it a fax.
FAX: Final = listed_words(
    "fax faxes fx telefax facsimile faxnummer faxnr telecopie telecopieur faxno f ファックス ファクス"
    " fax番号"
)
#: Words beside a number that make it somebody else's.
ANOTHER: Final = listed_words(
    "emergency spouse wife husband mother father mom mum dad parent parents son daughter brother"
    " sister neighbor neighbour attorney lawyer guardian relative kin caregiver friend girlfriend"
    " boyfriend partner agent secretary receptionist assistant emergencia esposa esposo marido"
    " mujer madre padre hijo hija hermano hermana vecino vecina abogado abogada urgence epouse"
    " epoux mari femme mere pere fils fille frere soeur voisin voisine avocat avocate notfall"
    " ehefrau ehemann mann frau mutter vater sohn tochter bruder schwester nachbar nachbarin"
    " anwalt anwaltin emergencia conjuge mae pai filho filha irmao irma vizinho vizinha advogado"
    " advogada"
)
#: Parts of Japanese texts, with what they say.
JAPANESE: Final[dict[str, str]] = {
    **dict.fromkeys(
        (
            *(
                "電話不可",
                "架電不可",
                "連絡不可",
                "電話禁止",
                "架電禁止",
                "連絡禁止",
                "電話ng",
                "架電ng",
            ),
            *(
                "電話拒否",
                "架電拒否",
                "連絡拒否",
                "勧誘拒否",
                "営業拒否",
                "電話お断り",
                "連絡お断り",
            ),
            *(
                "営業お断り",
                "勧誘お断り",
                "営業電話お断り",
                "電話しない",
                "連絡しない",
                "かけない",
                "掛けない",
            ),
            *(
                "オプトアウト",
                "ブラックリスト",
                "架電停止",
                "電話ng",
                "コール禁止",
                "tel不可",
                "telng",
                "tel禁止",
            ),
            *("電話はng", "電話をしない", "電話は不可", "架電対象外", "連絡ng"),
        ),
        "opt_out",
    ),
    **dict.fromkeys(("死亡", "故人", "逝去", "他界"), "deceased"),
    **dict.fromkeys(
        (
            "番号違い",
            "番号間違い",
            "間違い電話",
            "現在使われておりません",
            "使われていない",
            "欠番",
        ),
        "wrong_number",
    ),
}

#: Words that take a state back when they stand before it, and those that may stand between.
NEGATORS: Final = listed_words(
    "not no never isn isnt hasn hasnt wasn non nicht nie kein keine keinen pas jamais nao nunca"
    " sin without ohne sans sem neither none"
)
BETWEEN: Final = listed_words(
    "t on in the a an any our your their national federal state internal company been yet is has"
    " have as currently at to list registered registry listed marked flagged set est au aux dans"
    " la le l sur auf der dem den in im en el esta na no nas de do da se ist"
)
#: Answers behind a state that take it back: `DNC: no`, `DNC scrubbed`.
DENIALS: Final = listed_words(
    "no n false f 0 clear cleared clean cleaned none ok okay safe free checked scrubbed screened"
    " passed pass negative nein non nao falso faux falsch removed scrub check washed ng0"
)
#: Words before `not be called` that make it a report: `could not be contacted`.
HAPPENED: Final = listed_words("could did was were had have has would konnte konnten wurde wurden")
#: Words before a state that make it an offer: `you may opt out at any time`, `how to opt out`.
OFFERS: Final = listed_words(
    "may can could might option right how able link free wish reply click press stop here puede peut kann pode"
)
#: `Remove him from the list`: the verb, what stands between, the list, and how far it may stand.
REMOVE: Final = listed_words(
    "remove removed removal removing delete deleted deletion borrar quitar eliminar"
    " eliminacion borrado retirer retrait suppression supprimer streichen loschen loschung"
    " austragen remover remocao exclusao retirar tirar"
)
#: The same with `off` alone: what was taken from a list is a lead.
TAKE: Final = listed_words("take taken")
FROM: Final = listed_words("from off de du des aus von da das do dos")
LISTS: Final = listed_words(
    "list lists database databases db lista listas liste listes datenbank base bases"
)
REMOVAL_WORDS: Final = 9
#: Words of other channels, and of calls.
OTHER_CHANNELS: Final = listed_words(
    "email emails mail mails e sms text texts texting mms newsletter newsletters mailing mailings"
    " post postal fax faxes whatsapp letter letters correo correos courriel courriels boletin"
    " brief briefe post carta cartas push"
)
CALL_WORDS: Final = listed_words(
    "call calls calling called phone phones phoned telephone tel dial ring dnc llamar llamadas"
    " telefono appeler appel appels anrufen anruf anrufe telefon telefonisch ligar ligacoes"
    " ligacao telefone all any everything todo todos tout alles alle tudo"
)
#: Words behind a prohibition that make it one for some hours or one number only.
CONDITIONS: Final = listed_words(
    "before after until till during between unless if while today tomorrow am pm work mornings"
    " morning evening evenings afternoon afternoons weekends weekend weekdays monday tuesday"
    " wednesday thursday friday saturday saturdays sunday sundays on at in early late antes"
    " despues hasta entre avant apres jusqu entre vor nach bis zwischen am ab um antes depois ate"
    " prima dopo"
)
#: Words without meaning in a cell that otherwise says one thing.
FILLERS: Final = listed_words(
    "please pls plz bitte favor por svp lead customer client contact status flag the is was list"
    " listed request requested per yes y true"
)
#: Pieces of text of which every refusing cell holds one, without accents.
ANCHORS: Final = _phrases(
    "call|never|lnnte|communic|rufen|ruft|phon|ring|dial|contact|dnc|d.n.c|d n c|ndnc|opt|subscribe|stop|cease|black|suppress"
    "|tps|telemarket|solicit|sollicit|marketing|remov|take|disturb|alone|consent|litigat|blocklist|list"
    "|llam|llem|telef|molest|robinson|baja|publicidad|appel|deranger|demarch|liste|desinscr"
    "|desabon|opposi|oppose|anruf|anzuruf|angeruf|ruckruf|kontakt|werb|sperr|widers|einwillig|verstorb"
    "|lig|cham|contat|perturb|incomod|descadas|chiama|disturb|deceas|passed|fallec|deced|falec"
    "|obito|wrong|bad|invalid|incorrect|disconn|service|chang|equivoc|errone|servic|numer|attrib"
    "|falsch|anschluss|ungult|errad|inexist|sbagl|bloq|block|exclu|ausgesch|abgemeld|oposic"
    "|repep|rouge|dnd|do not|fax|off|delet|borrar|quitar|elimin|retir|supprim|streich|losch|remov|tirar|電話|架電|連絡|営業|勧誘|コール|テレアポ|かけない|掛けない|tel|オプト|オフト"
    "|死亡|故人|逝去|他界|番号|間違|使われ|欠番|フラック|ブラック|consens|consenti|widerruf"
)
