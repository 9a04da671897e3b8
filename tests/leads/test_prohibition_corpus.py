"""Nobody who refused is called: headers by values in ten languages; and few others are held back."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from dialframe import leads, opt_outs
from leads.national_lists import COUNTRIES, national_list

#: Headers of prohibitions, each with values that forbid the call.
PROHIBITIONS = {
    "DNC": "Y yes 1 x TRUE DNC listed 2024-05-01",
    "Do Not Call": "Yes true checked Opted-out",
    "DoNotCall": "TRUE 1",
    "DO_NOT_CALL": "Y",
    "HasOptedOutOfCalls": "true",
    "Opt Out": "1 opted-out 03/02/2024",
    "DNC Scrub Result": "D P B L F V W Blocked DNC",
    "Scrub Result Code": "D P",
    "TPS Status": "Listed Registered TPS",
    "TPS Result": "tps-listed ctps-listed match Y",
    "CTPS": "Y Match",
    "Litigator Flag": "Y Match Hit",
    "TCPA Risk": "High Severe Elevated Medium",
    "Litigation Risk": "High Yes",
    "Kill list": "Y",
    "Block": "Y Yes 1",
    "Blocked": "Y true",
    "Suppress": "1 Y",
    "Suppressed": "Yes",
    "Stop": "Y yes",
    "Internal DNC": "Y",
    "Federal DNC": "1",
    "National DNC Match": "Match yes",
    "Call Restriction": "Y",
    "No Calls": "x",
    "Phone Opt Out": "true",
    "Removed": "Yes",
    "Exclude": "Y",
    "Blacklisted": "true",
    "Unsubscribed": "Y",
    "Cease and Desist": "Y",
    "No Contact": "yes",
    "Consent Withdrawn": "Y",
    "Privacy flag": "Y 1 X",
    "Do Not Sell": "Yes TRUE",
    "TPS screened": "TPS Registered Fail",
    "Gryphon Result": "Blocked Denied Restricted",
    "Date of Death": "2020-02-02",
    "C&D": "Y",
    "Restrict processing": "Yes TRUE",
    "Telefonanrufe nicht zulassen": "Ja 1",
    "Löschantrag": "Ja 01.02.2023",
    "Data sprzeciwu": "2023-02-01",
    "Refuse les appels": "Oui",
    "Art. 21 objection": "Yes 2022-02-02",
    "No llamar": "Sí si 1 x",
    "Lista Robinson": "Sí S inscrito",
    "Baja": "Sí 01/02/2024",
    "No contactar": "Sí",
    "Excluido": "Sí",
    "Bloqueado": "Sí",
    "REPEP": "Sí",
    "Rechaza llamadas": "Sí",
    "Ne pas appeler": "Oui O 1",
    "Bloctel": "Oui inscrit",
    "Liste rouge": "Oui",
    "Opposition": "Oui",
    "Refus démarchage": "Oui",
    "Désinscrit": "Oui",
    "Nicht anrufen": "Ja J x",
    "Robinsonliste": "Ja eingetragen",
    "Werbesperre": "Ja",
    "Gesperrt": "Ja",
    "Sperrvermerk": "Ja",
    "Werbewiderspruch": "Ja 01.02.2024",
    "Anrufsperre": "ja",
    "Não ligar": "Sim S 1",
    "Não Perturbe": "Sim",
    "Descadastrado": "Sim",
    "Lista negra": "Sim",
    "Procon": "Sim",
    "Non chiamare": "Sì si X",
    "Registro delle opposizioni": "Sì iscritto",
    "RPO": "Sì",
    "Non contattare": "Sì",
    "Bel-me-niet": "Ja J 1",
    "BMNR": "Ja 1",
    "Niet bellen": "Ja waar",
    "Niet benaderen": "Ja",
    "Geblokkeerd": "Ja",
    "Nie dzwonić": "Tak T 1",
    "Zakaz kontaktu": "Tak",
    "Czarna lista": "Tak",
    "Sprzeciw": "Tak",
    "Ring ej": "Ja",
    "NIX": "Ja",
    "Spärrad": "Ja",
    "Kontakta ej": "Ja",
    "電話不可": "はい ○ 1",
    "架電NG": "○ はい",
    "連絡拒否": "有",
    "ブラックリスト": "該当",
    "勧誘お断り": "○",
}
#: Headers of permissions, each with values that do not give one.
REFUSED_PERMISSIONS = {
    "Consent": "No N 0 withdrawn revoked",
    "Consent Y/N": "No N 0",
    "Number valid for contact": "No N 0",
    "Consent to be contacted by phone": "No declined",
    "Opt In": "No false",
    "Marketing consent": "No declined email",
    "OK to call": "No",
    "Marketing by phone": "No N",
    "Llamable": "No N",
    "Llamadas permitidas": "No N",
    "Anrufbar": "Nein",
    "電話連絡": "不可 拒否 ×",
    "May we call": "No never",
    "TCPA Consent": "No expired",
    "GDPR": "No refused",
    "Contact permission": "No",
    "Consentimiento": "No denegado",
    "Acepta llamadas": "No",
    "Consentement": "Non refusé",
    "Accepte les appels": "Non",
    "Einwilligung": "Nein widerrufen",
    "Werbeeinwilligung": "Nein",
    "Consentimento": "Não revogado",
    "Pode ligar": "Não",
    "Consenso": "No revocato",
    "Toestemming": "Nee ingetrokken",
    "Zgoda na kontakt": "Nie brak",
    "Samtycke": "Nej återkallat",
    "電話可否": "不可 否 ×",
    "同意": "いいえ なし",
}
#: Notes, statuses and wishes that forbid the call, in columns that are not for them.
NOTES = {
    "Disposition": (
        "Threatened legal action",
        "DNC",
        "Do Not Call",
        "Litigator",
        "DNCL",
        "Hard DNC",
    ),
    "Notes": (
        *(
            "will sue if we call again",
            "niet bellen",
            "lose my number",
            "asked us to stop calling",
        ),
        *("take me off your list", "bitte nicht mehr anrufen", "ne plus appeler svp"),
        *(
            "no volver a llamar",
            "não ligar mais",
            "non chiamare più",
            "nie dzwonić",
            "ring inte mer",
        ),
        *("二度と電話しないでほしい", "reported us to the ICO", "wants no more calls"),
    ),
    "Preferred contact method": ("Email only", "SMS only", "no phone", "post only"),
    "Bevorzugter Kontaktweg": ("nur E-Mail", "nur schriftlich"),
    "Canal preferido": ("solo correo", "solo whatsapp"),
    "Status": ("opted out", "blacklisted", "unsubscribed", "Do not contact"),
    "Tags": ("vip;dnc;2024", "lead, do not call"),
    "Comentarios": ("dejen de molestar", "amenaza con denunciar"),
    "Remarques": ("droit d'opposition exercé", "menace de porter plainte"),
    "Bemerkung": ("droht mit Anwalt", "Beschwerde bei der Bundesnetzagentur"),
    "Opmerking": ("wil niet meer gebeld worden", "dreigt met advocaat"),
    "Uwagi": ("proszę więcej nie dzwonić", "grozi sądem"),
    "Anteckningar": ("vill inte bli uppringd", "NIX"),
    "備考": ("架電NG", "営業お断り"),
}


def _read_notes(name: str) -> dict[str, dict[str, list[str]]]:
    """Notes, and headers with a value, by language."""
    tables = tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))
    return {
        language: {kind: text.strip().splitlines() for kind, text in table.items()}
        for language, table in tables.items()
    }


def _header_and_value(line: str) -> tuple[str, str]:
    header, _, value = line.partition(" =>")
    return header, value.strip()


REFUSALS, ORDINARY = _read_notes("refusals.toml"), _read_notes("ordinary_notes.toml")
#: Notes of agents and dispositions of dialers, by language.
REMARKS = {language: tuple(table["notes"]) for language, table in REFUSALS.items()}
#: Headers and values of each that forbid nothing.
ALLOWING = [
    _header_and_value(line) for table in ORDINARY.values() for line in table.get("headers", ())
]
#: Headers and one value of each that forbids the call.
FORBIDDING = [
    _header_and_value(line) for table in REFUSALS.values() for line in table.get("headers", ())
]
#: A header of remarks and an innocent one, by language.
REMARK_HEADERS = {
    "en": ("Notes", "interested"),
    "es": ("Observaciones", "interesado"),
    "fr": ("Remarques", "rappeler lundi"),
    "de": ("Bemerkung", "am Montag anrufen"),
    "pt": ("Observações", "ligar segunda"),
    "it": ("Note", "richiamare lunedì"),
    "nl": ("Opmerking", "maandag bellen"),
    "pl": ("Uwagi", "zadzwonić w poniedziałek"),
    "sv": ("Anteckningar", "ring på måndag"),
    "ja": ("備考", "月曜に電話"),
    "da": ("Noter", "ring mandag"),
    "no": ("Notater", "ring mandag"),
    "fi": ("Huomautukset", "soita maanantaina"),
    "cs": ("Poznámky", "zavolat v pondělí"),
    "tr": ("Notlar", "pazartesi ara"),
    "ru": ("Примечания", "перезвонить в понедельник"),
    "zh": ("备注", "周一再打"),
    "ko": ("비고", "월요일에 전화"),
    "ar": ("ملاحظات", "اتصل يوم الاثنين"),
    "hi": ("Remarks", "kal phone karo"),
}
#: Headers, each with its refusing values and what the others of the list have in that column.
CASES = [
    *((header, values.split(), ("", "")) for header, values in PROHIBITIONS.items()),
    *((header, values.split(), ("yes", "yes")) for header, values in REFUSED_PERMISSIONS.items()),
    *((header, values, ("", "interested")) for header, values in NOTES.items()),
    *(
        (header, REMARKS[language], ("", innocent))
        for language, (header, innocent) in REMARK_HEADERS.items()
    ),
]


Case = tuple[str, Sequence[str], tuple[str, str]]


def leaks(lead_file, cases: Sequence[Case]) -> dict[str, list[str]]:
    """By header, values by which somebody may still be called; each header in a list of its own.

    In each list are others who may be called. All lists are cleaned at once, no number is in two.
    """
    files = []
    for code, (header, values, (first, second)) in enumerate(cases, 200):
        cells = [cell for value in values for cell in (value, first, second, second)]
        rows = "".join(f'Kim,212-{code}-{at:04},"{cell}"\n' for at, cell in enumerate(cells))
        files.append(lead_file(f'Name,Phone,"{header}"\n{rows}', f"{code}.csv"))
    clean = set(leads.clean(files, region="US").clean["phone"])
    found = {}
    for code, (header, values, _) in enumerate(cases, 200):
        kept = [value for at, value in enumerate(values) if f"+1212{code}{4 * at:04}" in clean]
        if kept:
            found[header] = kept
    return found


def test_the_corpus_is_large_enough():
    """A hundred headers, five hundred values, twenty languages."""
    assert len({header for header, _, _ in CASES}) >= 100
    assert len({value for _, values, _ in CASES for value in values}) >= 500
    assert len(REMARKS) == len(REMARK_HEADERS) == 20


def test_no_refusal_leaks(lead_file):
    """Whatever the header and the value."""
    assert leaks(lead_file, CASES) == {}


def test_no_header_with_a_refusing_value_leaks(lead_file):
    """Each in a list whose other cells have a value that forbids nothing."""
    others = {header: value for header, value in ALLOWING if value}
    cases = [
        (header, (value,), (others.get(header, ""), ""))
        for header, value in dict(FORBIDDING).items()
    ]
    assert leaks(lead_file, cases) == {}


def test_ordinary_notes_are_hardly_held():
    """Fewer than one in a hundred, though many use the words of refusals."""
    notes = [note for table in ORDINARY.values() for note in table["notes"]]
    held = [note for note in notes if opt_outs.read_remark(note, "notes")]

    assert len(held) < len(notes) / 100, held


def test_no_header_leaks_in_another_spelling(lead_file):
    """By the first of its values: in capitals, and with underscores, where that is another spelling."""
    spelled = [
        (spelling, values[:1], others)
        for header, values, others in CASES
        for spelling in {header.upper(), header.replace(" ", "_")} - {header}
    ]
    assert leaks(lead_file, spelled) == {}


#: Columns of public lists whose words are no refusals.
INNOCENT = {
    "飲食可否": ("可", "不可"),
    "Address": ("BAJA, 1", "12 Stop Street"),
    "Domicilio": ("Calle Mayor 3, BAJA, 1", "PLANTA BAJA"),
    "Stop": ("Main St", "5th Ave"),
    "Block": ("12", "B7"),
    "Department": ("Legal", "Collections"),
    "Planning permission": ("Granted", "Refused"),
    "Photo consent": ("No", "Yes"),
    "Opposition": ("Labour", "Conservative"),
    "Robinson": ("Crusoe", "Family"),
    "Screening result": ("Negative", "Inconclusive"),
    "Company": ("DNC Plumbing", "Stop Termites Ltd"),
    "Emergency Services": ("Yes", "No"),
    "Accepts Medicaid": ("No", "Yes"),
    "Last result": ("No answer", "Left message"),
    "Contact preference": ("Phone", "Email"),
    "Open to public": ("No", "Yes"),
    "Wheelchair access": ("No", "Yes"),
    "Email opt out": ("Yes", "No"),
    "Fax": ("", ""),
    "Rating": ("Below", "Not Available"),
    "車椅子使用可否": ("不可", "可"),
    "Prioridad": ("Baja", "Alta"),
    "DNC Scrubbed": ("Yes", "2024-05-01"),
    "TCPA Risk": ("Low", ""),
    "Flood risk": ("High", "Low"),
    "Surname": ("Block", "Stopp"),
    "Job title": ("Legal Secretary", "Head of Opposition Research"),
    "Notes": ("complaint about billing", "wants to be called on Monday"),
    "Permission number": ("A-123", "B-456"),
    "Business permit": ("Revoked", "Granted"),
    "Bus stop": ("Yes", "No"),
    "TPS screened": ("Yes", "01/05/2024"),
    "Opt Out Channels": ("SMS", "Email"),
    "Caller ID": ("Blocked", "Shown"),
    "Attorney Phone": ("", ""),
    "Remove graffiti": ("Yes", "No"),
    "Sperrmüll": ("Ja", "Nein"),
    "Patient status": ("Deceased-donor program", "Active"),
    "Scrub Provider": ("DNC.com", "Gryphon"),
}


@pytest.mark.parametrize("header", INNOCENT)
def test_public_lists_are_hardly_held_back(lead_file, header):
    """Words that look like refusals and are none."""
    first, second = INNOCENT[header]
    rows = "".join(f'Kim {at},212-555-01{at:02},"{(first, second)[at % 2]}"\n' for at in range(20))
    cleaned = leads.clean(lead_file(f'Name,Phone,"{header}"\n{rows}'), region="US")

    assert len(cleaned.clean) == 20


@pytest.mark.parametrize("region", list(COUNTRIES)[::4])
def test_national_lists_are_clean(lead_file, region):
    """With their cities, names and mails."""
    cleaned = leads.clean(lead_file(national_list(region, 20)), region=region)

    assert len(cleaned.do_not_call) == 0
