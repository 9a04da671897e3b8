"""What is not sure is asked, with candidates and how sure each is; a program refuses it."""

from __future__ import annotations

import pytest

from dialframe.errors import LeadFileError
from dialframe.leads import decide, map_columns

NUMBERS = ("212-555-0142", "312-555-0111", "206-555-0177", "404-555-0101")
OTHERS = ("212-555-0190", "312-555-0191", "206-555-0192", "404-555-0193")


def rows(*columns: tuple[str, ...]) -> str:
    return "\n".join(",".join(row) for row in zip(*columns, strict=True)) + "\n"


def test_nothing_is_asked_where_everything_is_sure(lead_file):
    """A usual list needs no person."""
    decision = decide(lead_file(rows(("Name", *"abcd"), ("Phone", *NUMBERS))))

    assert decision.questions == ()
    assert decision.settled().phone == ("Phone",)


def test_two_columns_of_numbers_are_asked_about(lead_file):
    """Both are named with how sure each is; the answer is a mapping for deciding again."""
    file = lead_file(rows(("eins", *NUMBERS), ("zwei", *OTHERS)))
    decision = decide(file, region="US")

    assert decision.columns is None
    (question,) = decision.questions
    assert (question.field, question.required) == ("phone", True)
    assert [one.column for one in question.candidates] == ["eins", "zwei"]
    assert all(0.6 <= one.confidence < 1 for one in question.candidates)
    with pytest.raises(LeadFileError, match="eins and zwei both look like phone columns"):
        decision.settled()
    with pytest.raises(LeadFileError, match="'drei' was not offered for phone"):
        decision.answer({"phone": "drei"})
    again = decide(file, mapping=decision.answer({"phone": "zwei"}))
    assert again.settled().phone == ("zwei",)


def test_a_refusal_names_the_likeliest_column(lead_file):
    """Half of it are numbers: too few to be sure, enough to be asked about."""
    file = lead_file(rows(("who", *"abcd"), ("blob", *NUMBERS[:3], "see file")))
    decision = decide(file)

    assert decision.columns is None
    assert [one.column for one in decision.questions[0].candidates] == ["blob"]
    with pytest.raises(
        LeadFileError, match=r"the likeliest: blob \(0\.\d\d\); its columns are: who"
    ):
        map_columns(file)


def test_without_any_candidate_every_column_is_offered(lead_file):
    """A person may know what the file does not say."""
    decision = decide(lead_file("a,b\nx,y\n"))

    assert [one.column for one in decision.questions[0].candidates] == ["a", "b"]
    assert {one.confidence for one in decision.questions[0].candidates} == {0.0}


def test_a_close_second_is_a_question_that_may_wait(lead_file):
    """The first is taken, and the second is named."""
    mails = [f"{name}@example.com" for name in "abcd"]
    decision = decide(lead_file(rows(("Phone", *NUMBERS), ("email", *mails), ("mail", *mails))))

    assert decision.settled().email == "email"
    assert decision.settled().uncertain == {"email": "mail"}
    (question,) = decision.questions
    assert (question.field, question.required) == ("email", False)
    assert [one.column for one in question.candidates] == ["email", "mail"]


def test_a_split_number_can_be_told(lead_file):
    """As its name in the map, in the order of its parts."""
    file = lead_file("a,b,c\n212,5550142,x\n")
    columns = map_columns(file, mapping={"phone": "a + b"})

    assert columns.phone == ("a + b",)
    assert columns.phone_parts == ("a", "b")
    assert columns.joined == {"a + b": ("a", "b")}
    assert columns.leftovers == ("c",)
    with pytest.raises(LeadFileError, match="no column 'z'"):
        map_columns(file, mapping={"phone": "a + z"})


def test_a_country_column_is_read_and_stays(lead_file):
    """It is the lead's own too; of which country `Rural` is, nobody knows."""
    file = lead_file("Phone,Country\n212-555-0142,USA\n020 7946 0123,UK\n")
    rural = lead_file("Phone,Country\n212-555-0142,Rural\n212-555-0143,Urban\n", name="rural.csv")

    assert map_columns(file).country == "Country"
    assert map_columns(file).leftovers == ("Country",)
    assert map_columns(rural).country == "Country"


def test_a_permission_that_nobody_understands_is_asked_about(lead_file):
    """Its records are not called until somebody says what the column is."""
    file = lead_file(
        "Phone,Permission\n212-555-0142,Admin\n212-555-0143,Owner\n212-555-0144,yes\n"
    )
    plain = lead_file("Phone,Permission\n212-555-0142,yes\n212-555-0143,\n", name="plain.csv")
    (question,) = decide(file).questions

    assert (question.field, question.required) == ("consent", False)
    assert "Permission was taken for consent" in question.why
    assert decide(plain).questions == ()
    assert decide(file, mapping={"consent": None}).settled().leftovers == ("Permission",)
