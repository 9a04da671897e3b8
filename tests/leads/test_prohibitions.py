"""Opt-outs reach records that could not be read whole, and every number of theirs."""

from __future__ import annotations

import pytest

from dialframe import leads
from dialframe.leads import ColumnMap
from dialframe.leads.judging.record_judgment import remark_columns, remark_scope


def reasons(cleaned: leads.Cleaned) -> dict[int, str]:
    """Row to reason of what is set aside."""
    frames = (cleaned.rejected, cleaned.do_not_call, cleaned.duplicates)
    return {
        int(row): code
        for frame in frames
        for row, code in zip(frame["_row"], frame["_reason"], strict=True)
    }


@pytest.mark.parametrize("said", ["yes", "TRUE", "oui", "DNC", "do not call"])
def test_a_shifted_opt_out_is_one(lead_file, said):
    """An unquoted comma in the name moves the flag a column to the right."""
    file = lead_file(
        f"Name,Phone,City,DNC\nLee, Ann,212-555-0142,NY,{said}\nBob,212-555-0142,LA,no\nCy,212-555-0143,SF,no\n"
        "Di,212-555-0144,SF,no\n"
    )

    assert reasons(leads.clean(file, region="US")) == {1: "opt_out", 2: "opt_out_elsewhere"}


def test_a_damaged_record_that_says_nothing_is_damaged(lead_file):
    """A one or an x somewhere to the right is no opt-out."""
    file = lead_file(
        "Name,Phone,DNC,Rank\nLee, Ann,212-555-0142,no,1\nBob,212-555-0143,no,2\nCy,212-555-0144,no,x\n"
        "Di,212-555-0145,no,3\n"
    )

    assert reasons(leads.clean(file, region="US")) == {1: "too_many_cells"}


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

    assert remark_columns(columns) == ["Notes", "Company", "Fax", "Name", "Source"]
    assert [remark_scope(columns, name) for name in remark_columns(columns)] == [
        *("notes", "calls", "any", "names", "any"),
    ]


def test_numbers_of_who_refused_are_known_from_every_column(lead_file):
    """A fax, a second column, a premium line, a third number: none is called under another name."""
    file = lead_file(
        "Name,Mobile,Home Phone,Fax,DNC\n"
        "A,900-555-0142,212-555-0143 or 212-555-0144,212-555-0145,yes\n"
        "B,212-555-0143,,,no\nC,212-555-0144,,,no\nD,212-555-0145,,,no\nE,212-555-0146,,,no\n"
    )

    assert reasons(leads.clean(file, region="US")) == {
        1: "opt_out",
        **dict.fromkeys((2, 3, 4), "opt_out_elsewhere"),
    }


def test_the_column_and_the_cell_are_named(lead_file):
    """So that a person sees why, in a column that nobody called an opt-out."""
    file = lead_file("Name,Phone,Last Call\nA,212-555-0142,asked us not to call\n")
    aside = leads.clean(file, region="US").do_not_call

    assert aside[["_reason", "_field", "_value"]].to_numpy().tolist() == [
        ["opt_out", "Last Call", "asked us not to call"]
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
