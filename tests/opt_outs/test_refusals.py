"""Dispositions, notes and codes by which somebody is not called again, and those by which one is."""

from __future__ import annotations

import pytest

from dialframe.opt_outs import (
    is_refusal,
    is_suspect,
    read_remark,
    read_screening,
    result_codes,
    scope_of,
)
from rows import every_row, labeled

#: Notes and dispositions, each line of one language.
REFUSALS = """
en: Threatened legal action | will sue if we call again | Threatened to sue | said he would contact his lawyer
en: reported us to the ICO | lose my number | Wants off the list | asked us to stop | sick of these calls
en: Take me off your list! | do not ever call | DNC - Internal | DNCL | TCPA litigator | Remove number from the list
en: Please stop all calls | No cold calling | objects to telemarketing | requested deletion of data, GDPR request
en: cease & desist received - cease and desist | DO_NOT_CALL | doNotCall | Hard DNC
es: no volver a llamar | pide que no le vuelvan a llamar | amenaza con denunciar | dejen de molestar | Baja solicitada
es: no quiere recibir más llamadas | darle de baja de la lista
fr: ne plus rappeler | menace de porter plainte | ne souhaite plus être contactée | arrêtez de m'appeler, stop appels
fr: demande de suppression de vos fichiers | droit d'opposition | Désinscription
de: bitte nicht mehr anrufen | droht mit Anwalt | Beschwerde bei der Bundesnetzagentur | wünscht keine Anrufe
de: aus der Liste streichen | Widerspruch Werbung | Austragen | Rufen Sie mich nie wieder an
pt: não ligar mais | ameaçou processar | vai ao Procon | parem de ligar | Bloqueio de contato | pediu remoção da lista
pt: não quer ser contatado
it: non chiamare più | minaccia azioni legali | non vuole essere chiamato | iscritto al Registro delle Opposizioni
it: cancellare dalla lista | basta telefonate
nl: niet bellen | niet meer bellen a.u.b. | Bel-me-niet | wil niet meer gebeld worden | dreigt met advocaat
nl: stop met bellen
pl: nie dzwonić | proszę więcej nie dzwonić | grozi sądem | nie życzy sobie telefonów | prosi o usunięcie danych
pl: brak zgody na kontakt
sv: ring ej | ring inte mer | vill inte bli uppringd | undanber sig samtal | hotar med polisanmälan | NIX
ja: 二度と電話しないでほしいとのこと | 架電NG | 再勧誘禁止 | 訴えると言われた | 消費者センターに通報すると言われた | 営業電話お断り
"""
#: Notes and dispositions that forbid nothing.
ORDINARY = """
en: No answer | Left voicemail | didn't call back | Callback requested | Not interested | Email only bounced once
en: spoke to Sue for ten minutes | call again in May | could not be reached by phone | will go away next week
en: Legal Action Centre | last contact: never | no phone on file | wants to call us | Sold | complaint about billing
en: no calls yet
es: no contesta | llamar mañana | no estaba en casa | planta baja
fr: à rappeler lundi | pas de réponse | n'a pas rappelé | absent
de: nicht erreicht | konnte nicht telefonieren | ruft zurück | bisher keine Anrufe
pt: não atende | ligar amanhã | não estava | caixa postal
it: non risponde | richiamare domani | segreteria telefonica | occupato
nl: nog niet gebeld | geen gehoor | niet bereikt | belt zelf terug | nog geen contact
pl: nie odbiera | zadzwonić jutro | poczta głosowa | zajęte
sv: inget svar | ring på måndag | telefonsvarare | blev inte uppringd
ja: 不在 | 留守電 | 再架電希望 | 折り返し希望
"""

#: Notes of agents in a hurry: shortened words, missing vowels, no accents, any order.
HURRIED = """
dont call agn | rmv frm list asap | wrng nbr | deceasd per wife | DO NOT CALLL!!! | do nt contact | cust said STOP
no llamr mas | k no lo llamen | quitar d la lista | no marcar este tel | nro. errado | pide q no le contacten | numero de otro
ne + appeler | faux num | dcd | supprimer de la base svp | ce n'est pas son numéro | stopper les appels | ne veut rien savoir
nicht mehr anruf. | bitte löschn | will nix mehr hören | nr gehört jmd anderem | droht m. anwalt | sperren lt kd | ist tot
nn chiamare | non chiamre piu | num sbagliato | basta chiamate | togliere | stop tel | non desidera essere disturbato
n ligar mais | pediu p tirar da lista | nº errado | bloq. a pedido | exc. dados lgpd | telefone de outra pessoa | ñ autorizou
niet mr bellen | wil v lijst af | verk nr | stop met bellen | nr is v iemand anders | laat met rust | uitschr. aub
nie dzw. | usunac z bazy | zly numer | zmarl | nie chce telefonow | zgoda cofnieta | numer nalezy do innej osoby
ring ej | ta bort ur reg | fel nr | inga samtal tack | vill slippa samtal | ej ringa igen | numret tillhör någon annan
電話はもう結構 | 名簿から消して | 別人の番号 | 今後の連絡お断り | 昨年亡くなった | 同意取り消し | 不要再联系 | 전화 원치 않음
"""
#: The same of notes that refuse nothing, among them some without a comma where one belongs.
HURRIED_ORDINARY = """
na lvm | not home call later | no contact made | they never call back | gatekeeper wouldnt put me thru | did not call yet
not the decision maker ask for Jane | wrong time, rebooked | a wrong number of seats | other number is better
no esta llamar mas tarde | no contesta llamar mañana | otro numero en ficha | pas dispo rappeler demain | son numéro de bureau
nicht da später anrufen | kein Rückruf nötig | andere Nummer steht im Vertrag | non c'è richiamare | altro numero in anagrafica
não está ligar depois | outro número no cadastro | niet thuis later bellen | ander nummer staat in crm | nie ma go zadzwonić później
inte hemma ring senare | annat nummer finns i kortet | 不在のため再架電 | 番号変更済み | removed the old router, wants a new one
"""


def _parted(notes: str) -> list[str]:
    return [note.strip() for line in notes.strip().splitlines() for note in line.split(" | ")]


@every_row("text", _parted(HURRIED))
def test_a_hurried_note_of_a_refusal_holds_its_record(text):
    """As a refusal, a doubt, a death or another's number: nobody is dialed."""
    assert read_remark(text) is not None
    assert is_suspect(text)


@every_row("text", _parted(HURRIED_ORDINARY))
def test_a_hurried_note_of_a_call_holds_nobody(text):
    """Words of not and of calls that only stand near each other."""
    assert read_remark(text) is None


@every_row(("language", "text"), labeled(REFUSALS))
def test_a_refusal_is_known_in_ten_languages(language, text):
    """In prose, in dispositions, and as a threat with the law."""
    assert is_refusal(text), language


@every_row(("language", "text"), labeled(ORDINARY))
def test_an_ordinary_outcome_is_no_refusal(language, text):
    """Calls that reached nobody, and words that only look like a refusal."""
    assert not is_refusal(text), language


@pytest.mark.parametrize("row", result_codes(), ids=lambda row: f"{row.system} {row.code}")
def test_a_code_of_a_screening_service_is_read_as_the_service_says(row):
    """In a column of results; the worst where two services mean different things."""
    answer = read_screening(row.code)

    assert row.source
    assert answer == {"do_not_call": "yes", "clear": "no", "unclear": "unclear"}[row.says]


def test_a_code_that_no_table_knows_is_unclear():
    """So that nobody is called for whom it may mean no."""
    assert read_screening("Q7") == "unclear"


@pytest.mark.parametrize(
    ("header", "cell"),
    [
        ("Preferred contact method", "Email only"),
        ("Contact method", "only by e-mail"),
        ("Bevorzugter Kontaktweg", "nur per E-Mail"),
        ("Canal preferido", "solo correo electrónico"),
        ("Mode de contact", "uniquement par courriel"),
        ("Voorkeur", "alleen per e-mail"),
        ("Forma de contato", "somente por email"),
        ("Preferowany kontakt", "tylko mail"),
        ("Canale preferito", "solo via email"),
        ("Contact by", "no phone"),
    ],
)
def test_a_wish_for_another_channel_alone_forbids_calls(header, cell):
    """In the column that asks for it."""
    assert read_remark(cell, scope_of(header)) == "opt_out"


#: Dispositions of dialers that once said nothing.
DISPOSITIONS = """
C&D received | Baja RGPD | Baja definitiva | Cancelar suscripción | Retrait liste | Radiation demandée | Von Liste streichen
Abmeldung | Anwalt eingeschaltet | Beschwerde BNetzA | Disiscrizione | Esclusione campagna | Rimozione richiesta
"""


@every_row("text", _parted(DISPOSITIONS))
def test_a_disposition_of_a_refusal_is_one(text):
    """Short, without a verb, in five languages."""
    assert is_refusal(text)


def test_the_ground_floor_is_no_refusal():
    """`Baja` with a number of a house is an address, with a day perhaps an opt-out."""
    assert read_remark("BAJA, 1") is None
    assert read_remark("Baja") == "opt_out_unclear"
    assert read_remark("baja 01/02/2024") == "opt_out_unclear"
