"""What columns of permissions and prohibitions are called, in six languages; names only, no rule.

Every name is written as `one | two | three` and compared in plain words (`headers.plain`), so
`Do-Not-Call`, `DO_NOT_CALL` and `doNotCall` are one name. Registers of numbers that do not want to
be called stand among the prohibitions: in such a column a yes is an entry.
"""

from __future__ import annotations

from typing import Final

#: Columns in which a yes forbids the call.
OPT_OUT: Final = (
    "do not call | dnc | opt out | optout | opted out | unsubscribed | do not contact"
    "| do not phone | dont call | don't call | no call | no calls | call opt out | phone opt out"
    "| dnc flag | do not call flag | has opted out | suppress | blocked | donotcall | donotphone"
    "| do not telephone | no telephone | no phone calls | not to be called | suppressed"
    "| suppression | blacklist | blacklisted | stop calls | litigator | do not ring | do not dial"
    "| never call | dnc list | on dnc | dnc status | dnc date | dnc request | dnc requested"
    "| internal dnc | company dnc | federal dnc | state dnc | national dnc | dncr | ndnc | ndncr"
    "| dnd | do not disturb | tps | ctps | tps ctps | tps registered | tps flag | on tps"
    "| registered tps | no contact | no marketing | no telemarketing | no solicitation"
    "| do not solicit | no phone | phone suppressed | call blocked | call suppression"
    "| opt out phone | opt out of calls | opt out calls | phone optout | calls opt out"
    "| telemarketing opt out | marketing opt out | unsubscribe | stop | deceased | is deceased"
    "| cannot call | can't call | may not call | don't contact | dont contact | do not call list"
    "| remove from list | removed | exclude | excluded | excluded from calls | suppression flag"
    "| cease and desist | revoked | consent revoked | consent withdrawn | withdrew consent"
    "| no consent | not callable | do not call reason | opted out at | opt out date | hard dnc"
    # Spanish
    "| no llamar | no contactar | lista robinson | baja | excluir | no desea llamadas | robinson"
    "| en lista robinson | no molestar | excluido | oposicion | repep | no quiere llamadas"
    "| no llamen | no telefonear | registro no llame | no llame | bloqueado | lista negra"
    "| rechaza llamadas | revocado | fallecido | baja comercial | no acepta llamadas | reus"
    # French
    "| ne pas appeler | ne pas contacter | bloctel | liste rouge | opposition | inscrit bloctel"
    "| oppose au demarchage | opposition au demarchage | ne plus appeler | ne plus contacter"
    "| desinscrit | desabonne | liste noire | refus d appel | refus demarchage | stop appel"
    "| opposition telephonique | pas d appel | exclu | exclusion | decede | refuse les appels"
    "| opposition appels | ne pas demarcher | pacitel"
    # German
    "| nicht anrufen | keine anrufe | werbesperre | anrufsperre | robinsonliste | gesperrt"
    "| kein anruf | sperrvermerk | telefonsperre | kontaktsperre | werbewiderspruch"
    "| widerspruch | nicht kontaktieren | keine werbung | keine werbeanrufe | anrufverbot"
    "| keine telefonwerbung | ausschluss | sperrliste | robinson liste | sperre | gesperrt am"
    "| widersprochen | widerruf | verstorben | telefonverbot | nicht anrufen kennzeichen"
    # Portuguese
    "| nao ligar | nao perturbe | nao contactar | nao chamare | nao contatar | descadastrado"
    "| nao me perturbe | nao telefonar | nao chamar | lista nao perturbe | procon | bloqueado"
    "| nao incomodar | excluido | nao deseja ligacoes | nao quer ligacoes | opositor | falecido"
    "| lista negra | cancelou inscricao | naomeperturbe"
    # Italian
    "| non chiamare | non contattare | registro delle opposizioni | rpo"
    # Japanese
    "| 電話不可 | 連絡不可 | 架電禁止 | 架電不可 | 電話ng | 架電ng | 電話お断り | 電話拒否 | 営業電話不可 | 架電停止"
    "| 電話禁止 | 連絡禁止 | 連絡拒否 | 架電拒否 | 営業拒否 | 営業ng | 連絡ng | コール禁止 | コールng | 架電ngフラグ"
    "| オプトアウト | 電話勧誘拒否 | ブラックリスト | dm電話不可 | テレアポng | テレアポ禁止 | 電話営業不可 | 死亡"
    "| 架電対象外 | 勧誘拒否 | 勧誘不可"
)

#: Columns in which only a yes allows the call.
CONSENT: Final = (
    "consent | opt in | optin | opted in | permission | allow calls | call consent | phone consent"
    "| ok to call | can call | okay to call | ok to phone | ok to contact | can we call"
    "| may we call | callable | contactable | call allowed | allow phone calls | accepts calls"
    "| opt | contact by phone | phone allowed | wants calls | may call | call permission"
    "| marketing consent | tcpa consent | phone opt in | consent to call | has consent | tcpa"
    "| may we contact you | can we contact you | ok to ring | calls allowed | calling allowed"
    "| gdpr | gdpr consent | gdpr ok | gdpr status | marketing prefs | marketing preferences"
    "| marketing preference | marketing permission | marketing opt in | marketing ok"
    "| marketing allowed | communication consent | communication preferences"
    "| contact permission | contact consent | permission to call | permission to contact"
    "| phone permission | call ok | phone ok | contact ok | agreed to calls | agrees to calls"
    "| accepts marketing | telemarketing consent | express consent | written consent"
    "| prior express consent | pewc | consent given | consented | consent status | consent flag"
    "| phone marketing | call me | happy to be called | happy to be contacted | opt in phone"
    "| opt in calls | subscribed to calls | call opt in | allow phone | allow contact"
    "| allows calls | please call | wants phone calls | willing to be called | legal basis ok"
    # Spanish
    "| se puede llamar | permite llamadas | consentimiento | acepta llamadas | autoriza llamadas"
    "| autorizacion | ok llamar | ok para llamar | puede llamar | podemos llamar"
    "| acepta contacto | acepta ser llamado | acepta comunicaciones | acepta publicidad"
    "| permiso | permiso llamadas | consentimiento rgpd | rgpd | autoriza contacto"
    "| consentimiento llamadas | consentimiento comercial | llamar ok | desea llamadas"
    # French
    "| consentement | accord | accepte les appels | accepte d etre appele | accepte appels"
    "| autorise les appels | autorisation | peut on appeler | peut etre appele | ok appel"
    "| ok pour appel | consentement rgpd | consentement appel | appel autorise | optin tel"
    "| optin telephone | accepte d etre contacte | accord telephone | demarchage accepte"
    # German
    "| einwilligung | werbeeinwilligung | zustimmung | anruf erlaubt | darf angerufen werden"
    "| telefonwerbung erlaubt | anrufe erlaubt | telefonisch erlaubt | werbung erlaubt"
    "| einverstanden | einverständnis | darf kontaktiert werden | kontakt erlaubt | dsgvo"
    "| dsgvo einwilligung | einwilligung telefon | telefoneinwilligung | anrufen ok | anruf ok"
    "| werbeerlaubnis | kontakterlaubnis | anruferlaubnis | einwilligung erteilt"
    "| zustimmung telefon | darf anrufen | dürfen wir anrufen | telefon erlaubt"
    # Portuguese
    "| aceita contato | consentimento | aceita ligacoes | autoriza contato | pode ligar | lgpd"
    "| podemos ligar | aceita ser contatado | autoriza ligacoes | autorizacao | ok ligar"
    "| consentimento lgpd | aceita contacto | aceita marketing | autoriza ligacao | permissao"
    "| aceita chamadas | ligar ok"
    # Italian
    "| consenso | consenso marketing | consenso telefonico"
    # Japanese
    "| 同意 | 電話可 | 電話可否 | 架電可否 | 連絡可否 | 連絡可 | 架電可 | 電話連絡可否 | 同意有無 | 電話同意 | 架電許可"
    "| 連絡許可 | 電話許可 | 電話連絡可 | 営業電話可否 | 架電承諾 | 電話承諾 | 個人情報同意 | オプトイン | 勧誘可否"
)
