"""What columns of lead lists are called, in six languages, as tables; knows names, not cells.

Names are compared in plain words (`plain`): no accents, no capitals, no punctuation, camel case
taken apart. Traps that the tables settle: Spanish `nombre` alone is the whole name, with
`apellido` beside it the first name; French `nom` is the surname; German `Name` is the surname
where a `Vorname` stands beside it; Portuguese `apelido` is the surname; a fax is never a phone.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)")
_LONGEST_HEADER: Final = 60
_WORDS: Final = re.compile(r"[^\W_]+")


def plain(header: str) -> str:
    """The header in plain words: `E-Mail_Adresse` is `e mail adresse`, `CellPhone1` `cell phone 1`."""
    folded = unicodedata.normalize("NFKD", header)
    letters = "".join(char for char in folded if not unicodedata.combining(char))
    return " ".join(_WORDS.findall(_CAMEL.sub(" ", letters).casefold()))


def known(header: str) -> str | None:
    """The field that bears exactly this name, or None."""
    return _FIELD_OF.get(plain(header)) if len(header) <= _LONGEST_HEADER else None


def _plain_set(*names: str) -> frozenset[str]:
    return frozenset(plain(name) for name in names)


#: Exact names of each field.
NAMES: Final[dict[str, frozenset[str]]] = {
    "phone": _plain_set(
        *("phone", "phone number", "phone no", "phone nr", "phone num", "telephone", "ph"),
        *("telephone number", "telephone no", "tel", "tel no", "tel nr", "tel number", "msisdn"),
        *(
            "mobile",
            "mobile phone",
            "mobile number",
            "mobile no",
            "cell",
            "cell phone",
            "cellphone",
        ),
        *(
            "cell number",
            "cellular",
            "number",
            "numero",
            "contact number",
            "contact phone",
            "dial",
        ),
        *("phone e164", "e164", "home phone", "work phone", "business phone", "landline"),
        *("telefono", "numero de telefono", "telefono movil", "movil", "celular", "tfno", "tlf"),
        *("telephone portable", "portable", "tel mobile", "tel portable", "gsm", "numero de tel"),
        *("numero de telephone", "tel fixe", "telephone fixe", "fixe"),
        *("telefon", "telefonnummer", "rufnummer", "handy", "handynummer", "mobil", "mobilnummer"),
        *("mobiltelefon", "festnetz", "tel nummer", "telefon privat", "telefon mobil"),
        *("telefone", "numero de telefone", "telemovel", "telemóvel", "fone", "celular 1"),
        *("numero telefonico", "cellulare", "numero di telefono", "recapito telefonico"),
        *(
            "電話番号",
            "電話",
            "TEL",
            "携帯電話",
            "携帯番号",
            "携帯",
            "携帯電話番号",
            "連絡先電話番号",
        ),
        *("連絡先", "自宅電話", "自宅電話番号", "勤務先電話番号", "お電話番号"),
    ),
    "first_name": _plain_set(
        *("first name", "firstname", "first", "fname", "given name", "given names", "forename"),
        *("christian name", "contact first name", "nombre de pila", "primer nombre", "prenom"),
        *("vorname", "vornamen", "rufname", "primeiro nome", "名"),
    ),
    "last_name": _plain_set(
        *("last name", "lastname", "last", "lname", "surname", "family name", "second name"),
        *(
            "contact last name",
            "apellido",
            "apellidos",
            "primer apellido",
            "nom",
            "nom de famille",
        ),
        *("nachname", "familienname", "zuname", "sobrenome", "apelido", "ultimo nome", "cognome"),
        *("姓", "苗字", "名字"),
    ),
    "full_name": _plain_set(
        *(
            "full name",
            "fullname",
            "name",
            "contact name",
            "contact",
            "customer name",
            "client name",
        ),
        *(
            "lead name",
            "person name",
            "customer",
            "nombre",
            "nombre completo",
            "nombre y apellidos",
        ),
        *("nom complet", "nom et prenom", "nom prenom", "prenom nom", "vollständiger name"),
        *("ansprechpartner", "kontakt", "vor und nachname", "name vorname", "kunde", "kundenname"),
        *("nome", "nome completo", "nome do cliente", "nominativo", "nome e cognome"),
        *("氏名", "名前", "お名前", "お客様名", "顧客名", "担当者名"),
    ),
    "email": _plain_set(
        *("email", "e mail", "mail", "email address", "e mail address", "mail address", "emails"),
        *("contact email", "correo", "correo electronico", "email 1", "direccion de correo"),
        *("courriel", "adresse mail", "adresse email", "adresse e mail", "mel", "emailadresse"),
        *(
            "e mail adresse",
            "mailadresse",
            "endereco de email",
            "e mail de contato",
            "posta elettronica",
        ),
        *("メール", "メールアドレス", "Eメール", "Eメールアドレス", "電子メール"),
    ),
    "external_id": _plain_set(
        *("external id", "externalid", "id", "customer id", "lead id", "record id", "contact id"),
        *("client id", "account id", "crm id", "person id", "member id", "user id", "reference"),
        *("ref", "reference number", "codigo", "codigo cliente", "id cliente", "referencia"),
        *("identificador", "identifiant", "numero client", "ref client", "reference client"),
        *("kundennummer", "kunden nr", "kundennr", "kunden id", "id do cliente", "codice cliente"),
        *("顧客番号", "会員番号", "お客様番号", "顧客ID", "顧客コード"),
    ),
    "source": _plain_set(
        *(
            "source",
            "lead source",
            "lead_source",
            "origin",
            "list source",
            "list name",
            "data source",
        ),
        *("vendor", "provider", "origen", "fuente", "origine", "provenance", "quelle", "herkunft"),
        *("origem", "fonte", "utm source", "情報源"),
    ),
    "extension": _plain_set(
        *("ext", "extension", "phone ext", "phone extension", "tel ext", "extension telefonica"),
        *("poste", "durchwahl", "nebenstelle", "ramal", "anexo", "interno", "内線", "内線番号"),
    ),
    "phone_other": _plain_set("phone_other"),
    "opt_out": _plain_set(
        *(
            "do not call",
            "dnc",
            "opt out",
            "optout",
            "opted out",
            "unsubscribed",
            "do not contact",
        ),
        *("do not phone", "dont call", "don't call", "no call", "no calls", "call opt out"),
        *("phone opt out", "dnc flag", "do not call flag", "has opted out", "suppress", "blocked"),
        *("no llamar", "no contactar", "lista robinson", "baja", "excluir"),
        *("ne pas appeler", "ne pas contacter", "bloctel", "liste rouge", "opposition"),
        *(
            "nicht anrufen",
            "keine anrufe",
            "werbesperre",
            "anrufsperre",
            "robinsonliste",
            "gesperrt",
        ),
        *("nao ligar", "nao perturbe", "nao contactar", "nao chamare", "non chiamare"),
        *(
            "電話不可",
            "連絡不可",
            "架電禁止",
            "架電不可",
            "電話ng",
            "架電ng",
            "電話お断り",
            "電話拒否",
        ),
        *("donotcall", "do not telephone", "no telephone", "no phone calls", "not to be called"),
        *("suppressed", "suppression", "blacklist", "tps", "ctps", "litigator", "stop calls"),
        *("no desea llamadas", "oppose au demarchage", "kein anruf", "sperrvermerk"),
        *("nao contatar", "descadastrado", "営業電話不可"),
    ),
    "consent": _plain_set(
        *("consent", "opt in", "optin", "opted in", "permission", "allow calls", "call consent"),
        *(
            "phone consent",
            "ok to call",
            "can call",
            "okay to call",
            "ok to phone",
            "ok to contact",
            "can we call",
            "may we call",
            "callable",
            "contactable",
            "call allowed",
            "allow phone calls",
            "accepts calls",
            "contact by phone",
            "phone allowed",
            "wants calls",
            "se puede llamar",
            "permite llamadas",
            "darf angerufen werden",
            "telefonwerbung erlaubt",
            "aceita contato",
            "電話可否",
            "架電可否",
            "may call",
            "call permission",
            "marketing consent",
        ),
        *("tcpa consent", "phone opt in", "consent to call", "has consent"),
        *("consentimiento", "acepta llamadas", "autoriza llamadas", "autorizacion"),
        *("consentement", "accord", "accepte les appels"),
        *("einwilligung", "werbeeinwilligung", "zustimmung", "anruf erlaubt"),
        *("consentimento", "aceita ligacoes", "autoriza contato", "consenso", "同意", "電話可"),
    ),
    "fax": _plain_set(
        *(
            "fax",
            "fax number",
            "fax no",
            "fax nr",
            "telefax",
            "faxnummer",
            "facsimile",
            "telecopie",
        ),
        *("numero de fax", "télécopieur", "ファックス", "FAX番号", "ファクス", "ファックス番号"),
    ),
}

#: Words that make a header a phone column unless a word of `NOT_PHONE` stands beside them.
PHONE_WORDS: Final = _plain_set(
    *("phone", "phones", "telephone", "tel", "mobile", "cell", "cellphone", "msisdn", "telefono"),
    *("movil", "celular", "portable", "telefon", "telefonnummer", "rufnummer", "handy", "mobil"),
    *("telefone", "telemovel", "fone", "landline", "festnetz", "cellulare", "number", "numero"),
    *("nummer", "dial"),
)
#: Words that are a phone column where the cells agree.
PHONE_PLACES: Final = _plain_set(
    *("home", "work", "office", "business", "evening", "day", "daytime", "main", "direct"),
    *("casa", "trabajo", "oficina", "privat", "domicile", "bureau", "自宅", "勤務先"),
)
#: Beginnings of compound words, as German makes them.
PHONE_PREFIXES: Final = ("telefon", "telephon", "handy", "mobiltel", "mobilnum", "rufnum")
#: Parts of Japanese headers, which have no blanks between words.
PHONE_PARTS: Final = tuple(plain(part) for part in ("電話", "携帯", "連絡先"))
#: Words that say that a column is about a phone and holds none of the lead's.
NOT_PHONE: Final = _plain_set(
    *(
        "type",
        "typ",
        "tipo",
        "ext",
        "extension",
        "country",
        "code",
        "date",
        "time",
        "fax",
        "count",
    ),
    *(
        "status",
        "carrier",
        "consent",
        "not",
        "opt",
        "out",
        "area",
        "prefix",
        "id",
        "notes",
        "note",
    ),
    *("comment", "dnc", "source", "permission", "allow", "bill", "vorwahl", "indicatif", "sent"),
    *(
        "account",
        "order",
        "invoice",
        "policy",
        "card",
        "tax",
        "vat",
        "house",
        "hausnummer",
        "agent",
    ),
)
NOT_PHONE_PREFIXES: Final = ("fax", "telefax", "facsim", "telecop")

#: Words of columns about another channel: an opt-out from those does not concern calls.
OTHER_CHANNEL: Final = _plain_set(
    *(
        "email",
        "mail",
        "e mail",
        "sms",
        "text",
        "fax",
        "newsletter",
        "mailing",
        "post",
        "whatsapp",
    ),
    *("date", "time", "at", "on", "reason", "source", "ip", "url", "datum", "fecha"),
)
#: Words before `name` that make it the name of something that is not the lead.
NOT_LEAD_NAME: Final = _plain_set(
    *(
        "county",
        "parent",
        "city",
        "state",
        "country",
        "street",
        "file",
        "user",
        "product",
        "campaign",
    ),
    *(
        "domain",
        "host",
        "list",
        "agent",
        "rep",
        "event",
        "middle",
        "nick",
        "maiden",
        "login",
        "plan",
    ),
    *(
        "sales",
        "owner",
        "manager",
        "district",
        "region",
        "town",
        "road",
        "bank",
        "account",
        "screen",
    ),
)
#: Beginnings of `...name` in compound words that are not the lead's.
NOT_LEAD_COMPOUND: Final = (
    "user",
    "datei",
    "strassen",
    "orts",
    "file",
    "benutzer",
    "produkt",
    "geburts",
)

#: Words that tell which phone it is; the order of the kinds is the order of preference.
PHONE_KINDS: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    (
        "mobile",
        _plain_set(
            *("mobile", "cell", "cellular", "cellphone", "movil", "celular", "portable", "gsm"),
            *(
                "handy",
                "mobil",
                "handynummer",
                "mobilnummer",
                "mobiltelefon",
                "telemovel",
                "msisdn",
            ),
            *("cellulare", "携帯電話", "携帯番号", "携帯", "携帯電話番号"),
        ),
    ),
    ("phone", frozenset()),
    (
        "home",
        _plain_set(
            *("home", "casa", "domicile", "privat", "private", "festnetz", "landline", "fixe"),
            *("fijo", "fixo", "residencial", "residence", "evening", "personal", "自宅電話"),
            *("自宅電話番号",),
        ),
    ),
    (
        "work",
        _plain_set(
            *("work", "business", "office", "daytime", "trabajo", "oficina", "bureau", "travail"),
            *("geschäftlich", "dienstlich", "arbeit", "büro", "trabalho", "comercial", "company"),
            *("ufficio", "switchboard", "勤務先電話番号"),
        ),
    ),
    ("further", _plain_set("alternate", "alternative", "other", "secondary", "2", "3", "4")),
)

#: Field by exact plain name; a name of two fields belongs to the one listed first.
_FIELD_OF: Final[dict[str, str]] = {
    name: field for field, names in reversed(NAMES.items()) for name in names
}
