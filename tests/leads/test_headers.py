"""Headers are known in six languages, and their traps are settled."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from dialframe import opt_outs
from dialframe.leads import header_vocabulary
from dialframe.leads.columns.column_map import FIELDS
from dialframe.leads.columns.header_match import header_score, is_not_phone, phone_rank
from dialframe.leads.header_vocabulary import known
from dialframe.opt_outs import plain
from rows import every_row


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("E-Mail_Adresse", "e mail adresse"),
        ("CellPhone1", "cell phone 1"),
        ("  Téléphone (portable) ", "telephone portable"),
        ("PHONE_NUMBER", "phone number"),
        ("HasOptedOut", "has opted out"),
        ("電話番号", "電話番号"),
        ("ＴＥＬ", "tel"),
        ("***", ""),
    ],
)
def test_plain_words(header, words):
    """Accents, case, punctuation and camel case do not matter."""
    assert plain(header) == words


@pytest.mark.parametrize("field", sorted(header_vocabulary.NAMES))
def test_every_name_is_its_own_field(field):
    """Each name of the table is found as the field it stands under, and scores full marks."""
    vague = header_vocabulary.VAGUE_NUMBERS if field == "phone" else frozenset()
    for name in header_vocabulary.NAMES[field]:
        assert known(name) is not None
        assert header_score(name, field) == (0.65 if name in vague else 1.0)


SPELLINGS = {
    field: table["headers"].replace("\n", " ").strip().split(" | ")
    for field, table in tomllib.loads(
        Path(__file__).with_name("header_spellings.toml").read_text("utf-8")
    ).items()
}


def field_of(header: str) -> str:
    """The field that the header says, or `none`."""
    flag = opt_outs.flag_of(header)
    if flag is not None and flag.kind not in ("permits", "call"):
        return "opt_out"
    scores = {name: header_score(header, name) for name in FIELDS}
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] >= 0.65 else "none"


def test_there_are_many():
    """At least three hundred spellings, and a hundred of them prohibitions or permissions."""
    assert sum(map(len, SPELLINGS.values())) >= 300
    assert len(SPELLINGS["opt_out"]) + len(SPELLINGS["consent"]) >= 100


@pytest.mark.parametrize("field", sorted(SPELLINGS))
def test_each_header_is_the_field_that_a_person_would_say(field):
    """The best field of each header; the few of no field have none."""
    got = {header: field_of(header) for header in SPELLINGS[field]}

    assert {header: other for header, other in got.items() if other != field} == {}


@every_row("header", [header for header in SPELLINGS["none"] if "hone" in header])
def test_what_is_about_a_phone_is_no_phone_whatever_its_cells(header):
    """Not even a column full of valid numbers makes it one."""
    assert is_not_phone(header) or header_score(header, "phone") == 0.0


@pytest.mark.parametrize("header", ["Phone No", "Telephone No", "Contact No", "Call No"])
def test_the_no_of_a_number_forbids_nothing(header):
    """It is short for number; a second column of numbers would else hold every record."""
    assert header_score(header, "opt_out") == 0.0


def test_phones_are_preferred_mobile_first():
    """Mobile, then phone, then home, then work, then further ones."""
    names = ["Phone 2", "Work phone", "Home phone", "Phone", "Cell", "勤務先電話番号", "自宅電話"]

    assert [phone_rank(name) for name in names] == [4, 3, 2, 1, 0, 3, 2]
