"""Words are held for one list until somebody answers; flags are obeyed; profiles know whose phone a column holds."""

from __future__ import annotations

import json

import pytest

from dialframe import leads
from dialframe.errors import ConfigError
from dialframe.leads.columns.questions import Tally, load_answers, phrase_in
from dialframe.opt_outs import Phrase
from leads.tables import reasons

NOTES = (
    "Name,Phone,Notes\nA,2127360009,do not call again!!\nB,2127360010,Please call Monday\n"
    "C,2127360011,asked us to stop calling\nD,2127360013,do not call again\nE,2127360014,she passed away\n"
)


def answer(phrase: str, what: str) -> dict[str, str | None]:
    return {"column": "Notes", "phrase": phrase, "answer": what}


def test_a_phrase_holds_its_records_and_is_asked_about_with_examples(lead_file):
    """By column and phrase, most records first, with three cells in clear."""
    cleaned = leads.clean(lead_file(NOTES), region="US")
    (file,) = cleaned.files

    assert cleaned.reasons["do_not_call"] == {"opt_out_unclear": 4}
    asked = [(each.phrase, each.says, each.records) for each in file.questions]
    assert asked[0] == ("do not call", "refusal", 2)
    assert ("passed away", "deceased", 1) in asked
    assert file.questions[0].examples == ("do not call again!!", "do not call again")
    assert file.held == {"Notes": 4}


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ([answer("do not call", "never_call")], {1: "opt_out", 3: "opt_out_unclear", 4: "opt_out", 5: "opt_out_unclear"}),
        ([answer("do not call", "nothing")], {3: "opt_out_unclear", 5: "opt_out_unclear"}),
        ([answer("*", "never_call")], {1: "opt_out", 3: "opt_out", 4: "opt_out", 5: "deceased"}),
        ([answer("do not call", "never_look")], {}),
        ([{"column": "Other", "phrase": "*", "answer": "nothing"}], {1: "opt_out_unclear", 3: "opt_out_unclear", 4: "opt_out_unclear", 5: "opt_out_unclear"}),
    ],
)  # fmt: skip
def test_an_answer_decides(lead_file, answers, outcome):
    """Never call them, it means nothing, never look in this column."""
    cleaned = leads.clean(lead_file(NOTES), region="US", answers=answers)

    assert reasons(cleaned) == outcome


def test_a_column_with_very_many_phrases_is_one_question():
    """Nobody answers two hundred questions about one column."""
    tally = Tally()
    for at in range(30):
        tally.add("Reason", Phrase("refusal", f"text {at}"), f"Text {at}", 2)

    (question,) = tally.questions()
    assert (question.phrase, question.records, len(question.examples)) == ("*", 60, 3)


def test_answers_are_read_from_what_json_prints(tmp_path):
    """The file of an earlier run, with each answer filled in; a wrong one is named."""
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"questions": [{**answer("x", "nothing"), "records": 3}]}))
    assert load_answers(path) == [answer("x", "nothing")]
    path.write_text(json.dumps([answer("x", "maybe")]))
    with pytest.raises(ConfigError, match="never_call, nothing, never_look"):
        load_answers(path)


@pytest.mark.parametrize(("header", "cell", "reason"), [
    ("拒接营销电话", "是", "opt_out"),
    ("Acepta ser contactado", "No", "no_consent"),
    ("do_contact", "no", "no_consent"),
    ("Mail only", "Yes", "opt_out"),
    ("Email only", "TRUE", "opt_out"),
    ("Best time to call", "Never", "opt_out_unclear"),
    ("CPS", "Registered", "opt_out"),
    ("Blocked", "Yes", "opt_out_unclear"),
    ("Bad number", "Y", "wrong_number"),
    ("Deceased", "Y", "deceased"),
])  # fmt: skip
def test_a_named_flag_is_obeyed(lead_file, header, cell, reason):
    """In both polarities; a name that may be of something else is asked about."""
    other = {"拒接营销电话": "否", "Acepta ser contactado": "Sí", "do_contact": "yes"}.get(
        header, ""
    )
    text = f"Name,Phone,{header}\nA,2127360009,{cell}\nB,2127360010,{other}\n"

    assert reasons(leads.clean(lead_file(text), region="US")) == {1: reason}


def phones(cleaned: leads.Cleaned) -> list[str]:
    """The numbers of the clean records."""
    return cleaned.clean["phone"].tolist()


def test_a_fax_beside_a_label_and_the_phone_of_an_assistant_are_not_dialed(lead_file):
    """Pairs of label and value, several values in a cell, and whose phone it is."""
    google = (
        "Name,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value\n"
        "Ann,Work Fax,2127360009,Mobile,2127360019\n"
        "Bob,Mobile,2127360010 ::: 2127360020,Home Fax,2127360021\n"
    )
    assistant = "First Name,Assistant's Phone,Home Phone\nAnn,2127360009,2127360019\n"
    unknown = "Name,Broker Desk Phone,Phone\nAnn,2127360009,2127360019\n"

    assert phones(leads.clean(lead_file(google), region="US")) == ["+12127360019", "+12127360010"]
    assert phones(leads.clean(lead_file(assistant), region="US")) == ["+12127360019"]
    assert phones(leads.clean(lead_file(unknown), region="US")) == ["+12127360019"]


def test_a_dialers_list_without_a_header_has_its_calling_codes(lead_file):
    """The column before the number is the code of its country, as with a header."""
    rows = "".join(
        f"{at}\t2026-11-02 09:14:00\t\tNEW\t\tA{at}\tweb\t101\t-5.00\tN\t{code}\t{number}\t\tAnn\t\tLee\n"
        for at, (code, number) in enumerate(
            [("1", "2127360009"), ("44", "2083661177"), ("44", "2083661178"), ("1", "2127360010")]
        )
    )
    cleaned = leads.clean(lead_file(rows))

    assert phones(cleaned) == ["+12127360009", "+442083661177", "+442083661178", "+12127360010"]


def test_prefixes_that_a_plan_gave_up_are_rewritten(lead_file):
    """Mexico's 044, 045, 01 and 1, with and without the code of the country."""
    forms = ["044 ", "045 ", "01 ", "1 ", "+52 1 ", "+521", ""]
    rows = "".join(f"A,{form}55 5200 12{at:02}\n" for at, form in enumerate(forms))
    cleaned = leads.clean(lead_file(f"Nombre,Teléfono\n{rows}"), region="Mexico")

    assert phones(cleaned) == [f"+5255520012{at:02}" for at in range(len(forms))]


def test_the_code_of_a_known_status_is_obeyed_and_is_no_question(lead_file):
    """VICIdial's DNC, DNCL and DC."""
    text = (
        "lead_id,entry_date,status,phone_code,phone_number\n1,2026-11-02,DNC,1,2127360009\n"
        "2,2026-11-02,dncl,1,2127360010\n3,2026-11-02,DC,1,2127360011\n4,2026-11-02,SALE,1,2127360012\n"
    )
    cleaned = leads.clean(lead_file(text))

    assert reasons(cleaned) == {1: "opt_out", 2: "opt_out", 3: "wrong_number"}
    assert cleaned.files[0].questions == ()
    assert cleaned.files[0].columns.profile == "VICIdial lead list"


def test_codes_before_the_numbers_of_any_list_without_a_header_are_their_countries(lead_file):
    """Not of a known program: the column right before the number decides."""
    rows = "".join(f"Ann {at},{code},{number}\n" for at, (code, number) in enumerate(
        [("1", "2127360009"), ("44", "2083661177"), ("44", "2083661178"), ("1", "2127360010")] * 2
    ))  # fmt: skip
    cleaned = leads.clean(lead_file(rows), mapping={"phone": "column_3"})

    assert phones(cleaned) == [*("+12127360009", "+442083661177", "+442083661178", "+12127360010")]


def test_a_region_is_refused_where_most_numbers_are_none_of_it(lead_file):
    """And below that it is said; no message names another region as right."""
    text = "id,phone\n" + "".join(f"{at},0302345{at:04}\n" for at in range(30))
    file = lead_file(text)

    assert leads.decide_region(file, "DE").against is None
    against = leads.decide_region(file, "MX").against
    assert against is not None
    assert "DE" not in against


def test_an_old_prefix_abroad_is_rewritten(lead_file):
    """Dialed with 00."""
    cleaned = leads.clean(lead_file("Name,Phone\nA,0052 1 55 5200 1234\n"), region="MX")

    assert phones(cleaned) == ["+525552001234"]


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("Phone Status", "Disconnected", "wrong_number"),
        ("Line state", "out of service", "wrong_number"),
        ("Phone Status", "ported", None),
        ("electricity_status", "disconnected", None),
        ("Lead Status", "Dead", None),
        ("Notes", "dead", "refusal"),
        ("Segment", "Dott. Rossi", None),
        ("Nota", "توفيق", None),
        ("備考", "アルコール禁止", None),
        ("メモ", "電話しないで", "refusal"),
        ("备注", "防盗报警", None),
        ("메모", "차단기 제조", None),
        ("टिप्पणी", "फोन नंबर", None),
        ("Poznámka", "jen e-shop", None),
    ],
)
def test_a_word_is_a_question_in_its_own_kind_of_column_alone(column, cell, says):
    phrase = phrase_in(column, cell)
    assert (phrase and phrase.says) == says
