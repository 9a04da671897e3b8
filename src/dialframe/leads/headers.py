"""What columns of lead lists are called, in six languages, as tables; knows names, not cells.

Names are compared in plain words (`plain`): no accents, no capitals, no punctuation, camel case
taken apart. Traps that the tables settle: Spanish `nombre` alone is the whole name, with
`apellido` beside it the first name; French `nom` is the surname; German `Name` is the surname
where a `Vorname` stands beside it; Portuguese `apelido` is the surname; a fax is never a phone,
and neither is the number of an account or of somebody else. Names of permissions and prohibitions
stand in `permission_names`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from dialframe.leads import permission_names

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


def listed(text: str) -> frozenset[str]:
    """The names of a table written as `one | two | three`, in plain words."""
    return frozenset(plain(name) for name in text.split("|"))


#: Exact names of each field.
NAMES: Final[dict[str, frozenset[str]]] = {
    "phone": listed(
        "phone | phone number | phone no | phone nr | phone num | telephone | ph | tel | tel no"
        "| telephone number | telephone no | tel nr | tel number | msisdn | mobile | mobile phone"
        "| mobile number | mobile no | cell | cell phone | cellphone | cell number | cellular"
        "| number | numero | contact number | contact no | contact nr | contact num | contact phone | dial | phone e164 | e164"
        "| home phone | work phone | business phone | landline | phone 1 | phones | ph no | mob"
        "| mob no | telephone 1 | primary phone | main phone | daytime phone | evening phone"
        "| day phone | best phone | best number | number to call | phone to call | number to dial"
        "| dial number | callback number | direct line | direct dial | mobile telephone"
        "| home telephone | work telephone | home number | work number | phone mobile | phone home"
        "| phone work | tel 1 | telephone mobile | mobile phone number | cell phone number"
        "| contact tel | contact telephone | contact telephone number | contact mobile"
        "| phone number 1 | phone formatted | lead phone | customer phone | client phone"
        "| telefono | numero de telefono | telefono movil | movil | celular | tfno | tlf | telf"
        "| telefono 1 | telefono fijo | telefono celular | numero de celular | num telefono"
        "| n telefono | no telefono | numero movil | telefono de contacto | tel contacto"
        "| telefono particular | telefono casa | telefono trabajo | tlfn | tfno movil | tel movil"
        "| telefono principal | fijo | numero de contacto | whatsapp o telefono"
        "| telephone portable | portable | tel mobile | tel portable | gsm | numero de tel"
        "| numero de telephone | tel fixe | telephone fixe | fixe | num tel | no tel | n tel"
        "| num telephone | numero portable | numero mobile | telephone domicile | tel domicile"
        "| telephone bureau | telephone professionnel | tel pro | tel perso | ligne fixe"
        "| telephone principal | coordonnees telephoniques | telephone 2 | n de telephone"
        "| telefon | telefonnummer | rufnummer | handy | handynummer | mobil | mobilnummer"
        "| mobiltelefon | festnetz | tel nummer | telefon privat | telefon mobil | telefonnr"
        "| telefon nr | tel privat | tel mobil | tel geschaftlich | telefon geschaftlich"
        "| festnetznummer | mobilfunk | mobilfunknummer | mobilrufnummer | telefon 1 | handy nr"
        "| telefon dienstlich | ruf nr | telefonische erreichbarkeit | telefonnummer privat"
        "| mobilfunkrufnummer | tel handy | privatnummer"
        "| telefone | numero de telefone | telemovel | fone | celular 1 | telefone fixo"
        "| telefone celular | telefone 1 | numero de celular | n de telefone | tel celular"
        "| fone residencial | fone comercial | telefone residencial | telefone comercial"
        "| telefone de contato | contato telefonico | numero do telefone | numero de telemovel"
        "| telefone de contacto | telefone movel | fixo | celular com ddd | telefone com ddd"
        "| numero telefonico | cellulare | numero di telefono | recapito telefonico"
        "| numero di cellulare | telefono cellulare"
        "| 電話番号 | 電話 | TEL | 携帯電話 | 携帯番号 | 携帯 | 携帯電話番号 | 連絡先電話番号 | 連絡先 | 自宅電話"
        "| 自宅電話番号 | 勤務先電話番号 | お電話番号 | 電話番号1 | 固定電話 | 固定電話番号 | 代表電話 | 代表電話番号"
        "| 会社電話 | 会社電話番号 | ご連絡先 | 連絡先番号 | 電話番号(携帯) | 電話番号(自宅) | TEL番号 | 直通電話"
        "| 携帯TEL | 自宅TEL | 電話1 | 日中連絡先 | 受電番号"
    ),
    "first_name": listed(
        "first name | firstname | first | fname | given name | given names | forename | forenames"
        "| christian name | contact first name | first names | name first | f name | givenname"
        "| nombre de pila | primer nombre | nombres | nombre s | prenom | prenoms | prenom s"
        "| prenom du contact | vorname | vornamen | rufname | vorname n | primeiro nome"
        "| nome proprio | prenome | nomes | 名 | 名前(名) | 下の名前 | first name (kanji)"
    ),
    "last_name": listed(
        "last name | lastname | last | lname | surname | surnames | family name | second name"
        "| contact last name | name last | l name | familyname | apellido | apellidos"
        "| primer apellido | apellido paterno | apellido s | apellido 1 | nom | nom de famille"
        "| nom d usage | nom du contact | nom patronymique | nachname | familienname | zuname"
        "| nach name | sobrenome | sobrenomes | apelido | apelidos | ultimo nome | nome de familia"
        "| cognome | 姓 | 苗字 | 名字 | 名前(姓) | 氏"
    ),
    "full_name": listed(
        "full name | fullname | name | contact name | contact | customer name | client name"
        "| lead name | person name | customer | contact full name | contact person | names"
        "| prospect | prospect name | display name | name full | person | lead | nombre"
        "| nombre completo | nombre y apellidos | nombre y apellido | apellidos y nombre"
        "| nombre del cliente | nombre cliente | persona de contacto | razon social o nombre"
        "| nombre del contacto | nom complet | nom et prenom | nom prenom | prenom nom"
        "| prenom et nom | nom du client | interlocuteur | nom et prenoms | vollständiger name"
        "| ansprechpartner | ansprechpartnerin | kontakt | vor und nachname | name vorname"
        "| vorname nachname | vorname und nachname | vorname name | kunde | kundenname"
        "| kontaktperson | nachname vorname | nome | nome completo | nome do cliente"
        "| nome e sobrenome | nome do contato | nome e apelido | nome do contacto | nome cliente"
        "| nominativo | nome e cognome | cliente | 氏名 | 名前 | お名前 | お客様名 | 顧客名 | 担当者名 | ご氏名"
        "| お客様氏名 | ご担当者名 | 担当者 | 名前(漢字) | 氏名(漢字) | 会員名 | 契約者名"
    ),
    "email": listed(
        "email | e mail | mail | email address | e mail address | mail address | emails"
        "| contact email | email 1 | primary email | emailaddress | e mail 1 | email addr"
        "| work email | personal email | mail id | email id | correo | correo electronico"
        "| direccion de correo | correo e | direccion de correo electronico | mail de contacto"
        "| courriel | adresse mail | adresse email | adresse e mail | mel | adresse electronique"
        "| adresse courriel | adresse de messagerie | emailadresse | e mail adresse | mailadresse"
        "| mail adresse | e mail kontakt | endereco de email | e mail de contato | correio"
        "| correio eletronico | endereco de e mail | email de contato | posta elettronica"
        "| indirizzo email | メール | メールアドレス | Eメール | Eメールアドレス | 電子メール | Mail アドレス | 電子メールアドレス"
    ),
    "external_id": listed(
        "external id | externalid | id | customer id | lead id | record id | contact id"
        "| client id | account id | crm id | person id | member id | user id | reference | ref"
        "| reference number | uuid | guid | unique id | customer number | customer no | client no"
        "| client number | member number | account number | account no | ref no | our ref"
        "| customer ref | external reference | lead number | record number | crm number | urn"
        "| codigo | codigo cliente | id cliente | referencia | identificador | numero de cliente"
        "| n cliente | codigo de cliente | id externo | num cliente | expediente | identifiant"
        "| numero client | ref client | reference client | n client | code client | id client"
        "| num client | matricule | kundennummer | kunden nr | kundennr | kunden id | kdnr | kd nr"
        "| mitgliedsnummer | referenz | aktenzeichen | datensatz id | externe id | personennummer"
        "| id do cliente | codigo do cliente | numero do cliente | matricula | codice cliente"
        "| 顧客番号 | 会員番号 | お客様番号 | 顧客ID | 顧客コード | 会員ID | 管理番号 | 契約番号 | 識別番号"
    ),
    "source": listed(
        "source | lead source | lead_source | origin | list source | list name | data source"
        "| vendor | provider | source of lead | lead origin | origen | fuente | procedencia"
        "| origen del lead | origine | provenance | source du lead | origine du contact | quelle"
        "| herkunft | leadquelle | datenquelle | origem | fonte | origem do lead | utm source | 情報源"
        "| 流入元 | 流入経路 | リスト元 | 獲得経路"
    ),
    "extension": listed(
        "ext | extension | phone ext | phone extension | tel ext | ext no | extn | ext number"
        "| extension number | work ext | office ext | phone x | extension telefonica | ext tel"
        "| poste | numero de poste | durchwahl | nebenstelle | ramal | anexo | interno | 内線 | 内線番号"
    ),
    "country": listed(
        "country | country code | country name | iso country | country iso | iso country code"
        "| country iso code | iso 2 | iso code | country region | nation | phone country"
        "| phone country code | country calling code | calling code | dial code | dialing code"
        "| dialling code | country dialing code | country dial code | international code"
        "| international dialling code | isd | isd code | mailing country | billing country"
        "| country prefix | phone country prefix | country of residence | pais | codigo pais"
        "| codigo de pais | codigo del pais | prefijo pais | prefijo internacional"
        "| pais de residencia | pays | code pays | indicatif pays | indicatif international"
        "| pays de residence | land | landescode | ländercode | länderkennzeichen | länderkürzel"
        "| landeskennung | landeskennzahl | landesvorwahl | ländervorwahl | auslandsvorwahl"
        "| ddi | codigo do pais | codigo internacional | paese | 国 | 国名 | 国コード | 国番号 | 居住国"
    ),
    "phone_other": listed("phone_other"),
    "opt_out": listed(permission_names.OPT_OUT),
    "consent": listed(permission_names.CONSENT),
    "fax": listed(
        "fax | fax number | fax no | fax nr | telefax | faxnummer | facsimile | telecopie"
        "| numero de fax | télécopieur | fax phone | fax tel | telefaxnummer | fax numero"
        "| ファックス | FAX番号 | ファクス | ファックス番号 | ファクシミリ"
    ),
}

#: Words that make a header a phone column unless a word of `NOT_PHONE` stands beside them.
PHONE_WORDS: Final = listed(
    "phone | phones | telephone | tel | mobile | cell | cellphone | msisdn | telefono | movil"
    "| celular | portable | telefon | telefonnummer | rufnummer | handy | mobil | telefone"
    "| telemovel | fone | landline | festnetz | cellulare | number | numero | nummer | dial | mob"
    "| tlf | tfno | gsm | ph"
)
#: Words of `PHONE_WORDS` that mean any number until the cells are phones.
VAGUE_NUMBERS: Final = listed("number | numero | nummer")
#: Words that are a phone column where the cells agree.
PHONE_PLACES: Final = listed(
    "home | work | office | business | evening | day | daytime | main | direct | casa | trabajo"
    "| oficina | privat | domicile | bureau | 自宅 | 勤務先"
)
#: Beginnings of compound words, as German makes them.
PHONE_PREFIXES: Final = ("telefon", "telephon", "handy", "mobiltel", "mobilnum", "rufnum")
#: Parts of Japanese headers, which have no blanks between words.
PHONE_PARTS: Final = tuple(plain(part) for part in ("電話", "携帯", "連絡先"))
#: Words that say that a column is about a phone and holds none of the lead's.
NOT_PHONE: Final = listed(
    # What is said about a number.
    "type | typ | tipo | ext | extension | country | code | date | time | count | status"
    "| carrier | consent | not | opt | out | area | prefix | id | notes | note | comment | dnc"
    "| source | permission | allow | vorwahl | indicatif | sent | verified | valid | validated"
    "| score | provider | operator | model | make | os | plan | preference"
    "| attempts | calls | duration | minutes | hours | timezone | optin | optout | label"
    "| description | created | updated | modified | timestamp | hash | masked"
    "| prefijo | lada | ddd | npa | prefisso | flag | ok | okay | may | can | allowed"
    # Numbers of other things.
    "| account | acct | order | invoice | policy | card | tax | vat | house | hausnummer | zip"
    "| postal | postcode | plz | iban | ssn | sin | nino | isbn | ean | imei | vin | serial | ip"
    "| case | ticket | claim | contract | passport | license | licence | lot"
    "| room | unit | apartment | box | tracking | bank | routing | bill | member"
    "| cuenta | pedido | factura | poliza | compte | commande | facture | konto | kontonummer"
    "| auftrag | rechnung | vertrag | kunden | conta | fatura | cpf | cnpj | nif | dni | siret"
    "| badge | employees | seats | quantity | qty | amount | price | salary | balance | revenue"
    # Numbers that are wrong or were once.
    "| wrong | bad | invalid | old | previous | prev | former | past | disconnected | dead | stale"
    "| expired | retired | inactive | original | incorrect | unreachable | anterior | antiguo"
    "| antigua | viejo | erroneo | equivocado | incorrecto | ancien | ancienne | precedent | faux"
    "| errone | invalide | alte | fruher | fruhere | ehemalige | falsch | falsche | ungultig"
    "| antigo | antiga | errado | errada | invalido | vecchio | precedente | blocked | suppressed"
    # Numbers of somebody else.
    "| emergency | ice | spouse | wife | husband | partner | parent | mother | father | mom | dad"
    "| guardian | relative | kin | neighbor | neighbour | friend | sibling | son | daughter"
    "| agent | rep | salesperson | attorney | lawyer | doctor | physician | gp | reference"
    "| referrer | referral | employer | supervisor | landlord | broker | dealer | store | branch"
    "| support | helpline | hotline | our | caller | callerid | cli | from | emergencia | urgencia"
    "| conyuge | esposa | esposo | madre | padre | agente | asesor | urgence | conjoint | conjointe"
    "| epoux | epouse | mere | pere | conseiller | notfall | notfallkontakt | ehepartner | ehefrau"
    "| ehemann | mutter | vater | eltern | berater | vermittler | anwalt | arzt"
    "| conjuge | mae | pai | corretor | assigned"
)
#: The same in headers without blanks between words.
NOT_PHONE_PARTS: Final = tuple(
    plain(part)
    for part in (
        *(
            "緊急",
            "旧電話",
            "以前の",
            "前の電話",
            "保証人",
            "配偶者",
            "家族",
            "代理店",
            "営業担当",
            "電話不可",
        ),
        *(
            "電話可",
            "架電",
            "可否",
            "種別",
            "種類",
            "日時",
            "回数",
            "メモ",
            "備考",
            "拒否",
            "禁止",
            "結果",
            "顧客番号",
        ),
    )
)
NOT_PHONE_PREFIXES: Final = ("fax", "telefax", "facsim", "telecop", "notfall", "kundennum")
NOT_PHONE_ENDINGS: Final = ("fax", "faxnummer")

#: Names of the first part of a number that is split over columns.
AREA_NAMES: Final = listed(
    "area code | area | areacode | npa | phone area | phone area code | std | std code | prefix"
    "| phone prefix | dialling prefix | dialing prefix | city code | tel area | area cd | ac"
    "| phone ac | tel prefix | vorwahl | ortsvorwahl | vorwahlnummer | tel vorwahl | telefonvorwahl"
    "| ortskennzahl | onkz | indicatif | indicatif regional | prefijo | codigo de area"
    "| codigo area | lada | clave lada | caracteristica | ddd | codigo ddd | prefisso | 市外局番 | 局番"
)
#: Words that say the same in a longer header.
AREA_WORDS: Final = listed("vorwahl | ortsvorwahl | ddd | lada | npa | prefijo | areacode | std")
#: Names of the middle and the last part, beside those that are phones by themselves.
LOCAL_NAMES: Final = listed(
    "exchange | nxx | phone exchange | central office | central office code | office code"
    "| local number | local phone | phone local | local | subscriber number | subscriber"
    "| line number | line | phone line | suffix | phone suffix | last four | last 4 | last 4 digits"
    "| phone last 4 | xxxx | station | prefix | phone prefix | anschluss | anschlussnummer"
    "| numero local | numero abonado | numero d abonne | nummer | durchwahlnummer | numero"
    "| 市内局番 | 加入者番号 | 番号 | 加入者"
)
#: Ends of headers that are the country of the lead, and words that make it another one.
COUNTRY_WORDS: Final = listed("country | pais | pays | land | paese | nation | 国名 | isd | ddi")
NOT_COUNTRY: Final = listed(
    "birth | origin | citizenship | nationality | nacimiento | origen | naissance | origine"
    "| geburt | geburtsland | herkunft | nascimento | origem | music | club | interest | ship"
    "| bundes | area | phone land"
)

#: Words of columns about another channel: an opt-out from those does not concern calls.
OTHER_CHANNEL: Final = listed(
    "email | mail | e mail | sms | text | texts | texting | fax | newsletter | mailing | post"
    "| whatsapp | letter | letters | correo | courriel | brief | carta | date | time | at | on"
    "| reason | source | ip | url | datum | fecha | mms | push | emails | mails | postal | boletin"
)
#: Words before `name` that make it the name of something that is not the lead.
NOT_LEAD_NAME: Final = listed(
    "county | parent | city | state | country | street | file | user | product | campaign | domain"
    "| host | list | agent | rep | event | middle | nick | maiden | login | plan | sales | owner"
    "| manager | district | region | town | road | bank | account | screen | emergency | spouse"
    "| wife | husband | mother | father | guardian | kin | partner | referrer | assigned | pet"
    "| brand | model | plan | package | branch | dealer | source | vendor | segment | group | team"
    "| attorney | lawyer | doctor | employer | beneficiary | child | previous | old | former"
)
#: Beginnings of `...name` in compound words that are not the lead's.
NOT_LEAD_COMPOUND: Final = (
    *("user", "datei", "strassen", "orts", "file", "benutzer", "produkt", "geburts"),
    *("firmen", "kampagnen", "spitz", "zwischen"),
)

#: Words that tell which phone it is; the order of the kinds is the order of preference.
PHONE_KINDS: Final[tuple[tuple[str, frozenset[str]], ...]] = (
    (
        "mobile",
        listed(
            "mobile | cell | cellular | cellphone | movil | celular | portable | gsm | handy"
            "| mobil | handynummer | mobilnummer | mobiltelefon | telemovel | msisdn | cellulare"
            "| mob | mobilfunk | mobilfunknummer | mobilrufnummer | 携帯電話 | 携帯番号 | 携帯"
            "| 携帯電話番号"
        ),
    ),
    ("phone", frozenset()),
    (
        "home",
        listed(
            "home | casa | domicile | privat | private | festnetz | landline | fixe | fijo | fixo"
            "| residencial | residence | evening | personal | particular | perso | domicilio"
            "| festnetznummer | 自宅電話 | 自宅電話番号 | 固定電話 | 固定電話番号"
        ),
    ),
    (
        "work",
        listed(
            "work | business | office | daytime | trabajo | oficina | bureau | travail"
            "| geschäftlich | dienstlich | arbeit | büro | trabalho | comercial | company | pro"
            "| professionnel | ufficio | switchboard | 勤務先電話番号 | 会社電話番号 | 会社電話"
            "| 代表電話 | 代表電話番号"
        ),
    ),
    (
        "further",
        listed(
            "alternate | alternative | alt | other | secondary | second | 2 | 3 | 4 | additional"
        ),
    ),
)

#: Field by exact plain name; a name of two fields belongs to the one listed first.
_FIELD_OF: Final[dict[str, str]] = {
    name: field for field, names in reversed(NAMES.items()) for name in names
}
