"""Opt-outs reach records that could not be read whole, and every number of theirs."""

from __future__ import annotations

import pytest

from dialframe import leads
from dialframe.leads import ColumnMap
from dialframe.leads.judging.record_judgment import remark_scopes
from leads.tables import reasons


@pytest.mark.parametrize("said", ["yes", "TRUE", "oui", "DNC", "do not call"])
def test_a_shifted_opt_out_is_one(lead_file, said):
    """An unquoted comma in the name moves the flag a column to the right."""
    file = lead_file(
        f"Name,Phone,City,DNC\nLee, Ann,212-555-0142,NY,{said}\nBob,212-555-0142,LA,no\nCy,212-555-0143,SF,no\n"
        "Di,212-555-0144,SF,no\n"
    )

    assert reasons(leads.clean(file, region="US")) == {1: "opt_out", 2: "opt_out_elsewhere"}


def test_remarks_are_looked_for_in_all_columns_but_those_that_are_read_by_themselves():
    """Names with more care than notes; firms with more care still."""
    columns = ColumnMap(
        phone=("Phone",),
        full_name="Name",
        email="Mail",
        source="Source",
        country="Country",
        opt_out=("DNC",),
        fax=("Fax",),
        leftovers=("Notes", "Company", "Country"),
    )

    assert list(remark_scopes(columns).items()) == [
        *[("Notes", "notes"), ("Company", "calls"), ("Fax", "any"), ("Name", "names")],
        ("Source", "any"),
    ]


@pytest.mark.parametrize(("header", "values"), [
    ("Notes", ["remove number please", "DNCC"]),
    ("Opmerking", ["uit bestand verwijderen"]),
    ("備考", ["電話不要"]),
    ("수신동의", ["거부", "아니오"]),
    ("Примечание", ["отказ от звонков", "удалить из базы"]),
    ("Согласие на звонки", ["Нет", "отозвано"]),
    ("İletişim izni", ["Hayır", "reddedildi"]),
    ("Huomautus", ["suoramarkkinointikielto"]),
    ("ملاحظات", ["لا تتصل", "عدم الاتصال"]),
])  # fmt: skip
def test_prohibitions_of_other_languages_hold(lead_file, header, values):
    """Headers and notes that a stranger wrote down without having seen the tables."""
    rows = [f"{value},Ann,(212) 555-{1000 + at}" for at, value in enumerate(values)]
    text = "\n".join([f"{header},Name,Phone", *rows, ",Bob,(212) 555-2000"])

    assert set(leads.clean(lead_file(text), region="US").clean["_line"]) <= {len(values) + 2}
