"""Headers as people write them in six languages, each with the one field that a person would say."""

from __future__ import annotations

import pytest

from dialframe.leads import header_vocabulary
from dialframe.leads.columns.header_match import header_score, is_not_phone

#: Field to headers of lists; `-` are headers of no field.
SPELLINGS: dict[str, str] = {
    "phone": """Phone|PHONE|phone_number|Phone Number:|PhoneNumber|phone-no|Phone #|Phone No.|Ph.|Telephone|TELEPHONE NO
        |Tel|Tel.|Tel No.|Tel Number|Mobile|Mobile Phone|MobilePhone|mobile_number|Mob.|Mob No|Cell|Cell Phone|CellPhone
        |Cell #|Cellular|Home Phone|HomePhone|Work Phone|Business Phone|Office Phone|Daytime Phone|Evening Phone
        |Primary Phone|Primary Phone Number|Main Phone|Contact Number|Contact Phone|Best Phone|Landline|MSISDN
        |Phone 1|Phone1|Phone 2|phone_2|Alt Phone|Alternate Phone|Other Phone|Secondary Phone|Customer Phone
        |Client Phone Number|Lead Phone|Number to call|Callback Number|Direct Dial|E164|phone_e164|Phone (Mobile)
        |Telefono|Teléfono|TELÉFONO|Teléfono móvil|Móvil|Celular|Nº Teléfono|Número de teléfono|Tfno.|Tlf|Teléfono 1
        |Teléfono fijo|Teléfono de contacto|Tel. contacto|Teléfono casa|Teléfono trabajo|Número de celular
        |Téléphone|Téléphone portable|Portable|Tél.|Tél. mobile|Tel fixe|Téléphone fixe|N° de téléphone|Numéro de téléphone
        |GSM|Téléphone domicile|Téléphone bureau|Téléphone professionnel|Num. tél|Numéro portable
        |Telefon|Telefonnummer|Telefon-Nr.|Tel.-Nr.|Rufnummer|Handy|Handynummer|Handy-Nr.|Mobil|Mobilnummer|Mobiltelefon
        |Festnetz|Festnetznummer|Telefon privat|Telefon geschäftlich|Telefon (mobil)|Mobilfunknummer|Telefon dienstlich
        |Telefone|Telemóvel|Celular (WhatsApp)|Fone|Telefone fixo|Telefone celular|Número de telefone|Telefone residencial
        |Telefone comercial|Telefone de contato|Contato telefônico
        |電話番号|電話|TEL|ＴＥＬ|携帯電話|携帯番号|携帯電話番号|自宅電話番号|自宅電話|連絡先電話番号|お電話番号|勤務先電話番号|固定電話
        |代表電話番号|電話番号1|電話番号２""",
    "fax": """Fax|FAX|Fax Number|Fax No.|Fax-Nr.|Telefax|Faxnummer|Company Fax|Work Fax|Fax (office)|Facsimile|Télécopie
        |N° fax|Número de fax|Fax Telefon|ファックス|FAX番号|ファクス|Home Fax|Businessfax""",
    "first_name": """First Name|FirstName|first_name|FNAME|Given Name|Forename|Christian Name|Nombre de pila|Primer nombre
        |Nombres|Prénom|Prénom(s)|PRENOM|Vorname|Vornamen|Primeiro nome|Nome próprio|名|Contact First Name|Customer First Name""",
    "last_name": """Last Name|LastName|last_name|LNAME|Surname|Family Name|Apellido|Apellidos|Primer apellido|Nom|Nom de famille
        |NOM|Nachname|Familienname|Zuname|Sobrenome|Apelido|姓|苗字|Contact Last Name""",
    "full_name": """Name|NAME|Full Name|FullName|full_name|Contact Name|Customer Name|Client Name|Contact|Lead Name|Nombre
        |Nombre completo|Nombre y apellidos|Nom complet|Nom et prénom|Vollständiger Name|Ansprechpartner|Kontakt|Kundenname
        |Vor- und Nachname|Nome|Nome completo|Nome do cliente|氏名|お名前|名前|顧客名|お客様名|担当者名|Contact Person""",
    "email": """Email|E-mail|E-Mail|EMAIL ADDRESS|email_address|EmailAddress|Mail|Contact Email|Primary Email|Correo
        |Correo electrónico|Courriel|Adresse e-mail|Adresse mail|E-Mail-Adresse|Mailadresse|E-Mail (privat)|Endereço de e-mail
        |メール|メールアドレス|Eメール|Email 1|Work Email""",
    "external_id": """ID|Id|Customer ID|CustomerID|customer_id|Lead ID|Record ID|External ID|external_id|Contact ID|CRM ID
        |Reference|Ref|Código|Código cliente|Referencia|Identifiant|N° client|Kundennummer|Kunden-Nr.|Kd.-Nr.|Código do cliente
        |顧客番号|会員番号|お客様番号|顧客ID|Customer Number|Account Number|Account No.|Client No|Numéro client""",
    "country": """Country|COUNTRY|Country Code|country_code|Country Name|ISO Country|Phone Country Code|Dial Code|Dialling Code
        |ISD Code|País|Pais|Código de país|Prefijo internacional|Pays|Code pays|Indicatif pays|Land|Ländercode|Landesvorwahl
        |DDI|Código do país|国|国名|国番号|国コード|Mailing Country""",
    "extension": """Ext|Ext.|Extension|Phone Ext|phone_extension|Tel ext|Work Ext|Poste|Durchwahl|Nebenstelle|Ramal|Anexo|内線
        |内線番号|Office Extension""",
    "source": """Source|Lead Source|lead_source|LeadSource|List Source|Origen|Fuente|Provenance|Quelle|Herkunft|Origem|Fonte
        |情報源|UTM Source""",
    "opt_out": """DNC Scrubbed|TPS Checked|Do Not Call|DO NOT CALL|do_not_call|DoNotCall|Do-Not-Call|DONOTCALL|DNC|DNC?|DNC Flag|On DNC|DNC Status|DNC Date
        |Internal DNC|Federal DNC|National DNC Registry|Opt Out|Opt-Out|OptOut|HasOptedOut|Opted Out|Opted Out At|Opt-out Date
        |Phone Opt Out|HasOptedOutOfCalls|Unsubscribed|Do Not Contact|DoNotContact|Do not phone|Don't Call|No Calls|No Call
        |Suppress|Suppressed|Suppression|Suppression Flag|Blacklist|Blacklisted|Blocked|Litigator|Stop Calls|TPS|CTPS|TPS/CTPS
        |TPS Registered|On TPS|Cannot Call|May not call|Not to be called|Consent Withdrawn|Consent Revoked|No Consent
        |Consent refused|Deceased|DND|Do not disturb|Never call|Telemarketing opt-out|Call Opt Out|SMS/Call Opt Out
        |Do Not Call or Text|No Contact|No marketing calls|Customer asked not to be called|Remove from list|Bad Number (DNC)
        |No llamar|NO LLAMAR|No contactar|Lista Robinson|En Lista Robinson|Robinson|REPEP|Baja|No desea llamadas|No molestar
        |Excluir de llamadas: no llamar|No acepta llamadas|Oposición|Fallecido|Bloqueado
        |Ne pas appeler|Ne Pas Contacter|Ne plus appeler|Bloctel|Inscrit Bloctel|Liste rouge|Opposition|Opposé au démarchage
        |Refus démarchage|Désinscrit|Pas d'appel|Stop appel|Décédé
        |Nicht anrufen|Nicht anrufen?|Bitte nicht anrufen|Keine Anrufe|Kein Anruf|Werbesperre|Anrufsperre|Telefonsperre
        |Kontaktsperre|Robinsonliste|Gesperrt|Sperrvermerk|Sperrkennzeichen|Werbewiderspruch|Widerspruch|Keine Werbung
        |Einwilligung widerrufen|Keine Einwilligung|Darf nicht angerufen werden|Anrufverbot|Verstorben
        |Não ligar|DNCL|LNNTE|Fecha de baja|Date de désinscription|Abmeldedatum|Nao perturbe|Não Perturbe|Não me perturbe|Não contatar|Não deseja ligações|Descadastrado|Não chamar|Bloqueado
        |Non chiamare|Registro delle opposizioni
        |電話不可|連絡不可|架電禁止|架電不可|架電NG|電話NG|電話拒否|電話お断り|営業電話不可|架電停止フラグ|連絡禁止|架電対象外|オプトアウト""",
    "consent": """Consent|CONSENT|Opt In|Opt-In|OptIn|Opted In|HasOptedIn|Consent to call|Call Consent|Phone Consent|TCPA Consent
        |TCPA|GDPR|GDPR Consent|GDPR consent given|Permission|Permission to call|Permission to contact|OK to call|Ok To Call?|OK to phone
        |Okay to contact|Can call|Can we call?|May we contact you?|May we call you|Can we contact|Callable|Contactable
        |Call Allowed|Allow calls|Allow phone calls|Accepts calls|Marketing Consent|Marketing prefs|Marketing Preferences
        |Marketing opt in|Marketing permission|Communication preferences|Phone opt-in|Wants calls|Happy to be contacted
        |Agreed to be called|Consent Status|Prior express written consent|Not opted out
        |Consentimiento|Ok llamar|OK para llamar|Se puede llamar|¿Podemos llamar?|Acepta llamadas|Autoriza llamadas|Permite llamadas
        |Autorización|Consentimiento RGPD|Desea ser contactado: acepta contacto
        |Consentement|Accord|Accepte les appels|Accepte d'être appelé|Peut-on appeler?|OK appel|Consentement RGPD
        |Autorise les appels|Appel autorisé
        |Einwilligung|Einwilligung (Telefon)|Werbeeinwilligung|Zustimmung|Anruf erlaubt|Darf angerufen werden|DSGVO-Einwilligung
        |Telefonwerbung erlaubt|Einverständnis|Kontakt erlaubt|Dürfen wir anrufen?|Werbeerlaubnis
        |Consentimento|Pode ligar|Aceita ligações|Autoriza contato|Consentimento LGPD|LGPD|Aceita ser contatado|Podemos ligar?
        |Consenso|同意|同意有無|電話可否|架電可否|連絡可否|電話連絡可否|架電許可|連絡可|個人情報同意""",
    "-": """Phone Type|PhoneType|Phone Carrier|Phone Status|Last Call Date|Call Count|Zip|ZIP Code|City|State|Email Opt Out
        |Opted out of SMS|Email Status|Consent Date|Consent IP|Order Number|Order No|Invoice Number
        |Policy Number|Wrong Phone|Bad Phone|Old Phone|Previous Phone|Emergency Contact Phone|Emergency Phone|Spouse Phone
        |Agent Phone|Employer Phone|Attorney Phone|Invalid Phone|Phone Notes|Phone Area Code|Teléfono anterior
        |Teléfono de emergencia|Ancien téléphone|Téléphone d'urgence|Alte Telefonnummer|Notfallkontakt Telefon|Notfalltelefon
        |Telefone antigo|Telefone de emergência|緊急連絡先|緊急連絡先電話番号|旧電話番号|電話番号種別|最終架電日時|電話結果|Username
        |Campaign Name|County Name|Emergency Contact Name|Spouse Name|SMS Opt In|Newsletter|Newsletter Opt In
        |Best time to call|Preferred contact method|Country of Birth|Birth Country|Tax Number|VAT Number
        |Card Number|House Number|Serial Number|Tracking Number|Amount|Balance|Created At|Bundesland|Strasse|Rue|Calle|備考
        |Do Not Mail|Do not email|Text Opt Out|Fax opt out|Wants callback|Call back|Phone verified|Phone valid""",
}

CASES = [
    (header.strip(), field)
    for field, listed in SPELLINGS.items()
    for header in listed.split("|")
    if header.strip()
]


def field_of(header: str) -> str:
    """The field that the header says, or `-` for none."""
    scores = {name: header_score(header, name) for name in header_vocabulary.NAMES}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] >= 0.65 else "-"


def test_there_are_many():
    """At least three hundred spellings, and a hundred of them prohibitions or permissions."""
    permissions = [header for header, field in CASES if field in ("opt_out", "consent")]

    assert len(CASES) >= 300
    assert len(permissions) >= 100


@pytest.mark.parametrize("field", sorted(SPELLINGS))
def test_each_header_is_the_field_that_a_person_would_say(field):
    """The best field of each header; the few of no field have none."""
    found = {header: field_of(header) for header, wanted in CASES if wanted == field}

    assert {header: got for header, got in found.items() if got != field} == {}


@pytest.mark.parametrize(
    "header", [header for header, field in CASES if field == "-" and "hone" in header]
)
def test_what_is_about_a_phone_is_no_phone_whatever_its_cells(header):
    """Not even a column full of valid numbers makes it one."""
    assert is_not_phone(header) or header_score(header, "phone") == 0.0


@pytest.mark.parametrize("header", ["Phone No", "Telephone No", "Contact No", "Call No"])
def test_the_no_of_a_number_forbids_nothing(header):
    """It is short for number; a second column of numbers would else hold every record."""
    assert header_score(header, "opt_out") == 0.0
