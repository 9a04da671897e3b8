"""Columns are found by header and content, preferred as stated, and can be told."""

from __future__ import annotations

import pytest

from dialframe import leads
from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads import ColumnMap, map_columns
from leads import tables
from rows import every_row

COLUMNS = tables.table("columns")
PHONES = ("212-555-0142", "(312) 555-0111", "+1 206 555 0177", "404.555.0101")
FAXES = ("212-555-0190", "312-555-0191", "206-555-0192", "404-555-0193")


def table(*columns: tuple[str, ...]) -> str:
    return "\n".join(",".join(row) for row in zip(*columns, strict=True)) + "\n"


def test_a_fax_is_never_a_phone(lead_file):
    """Also where it stands first and is fuller."""
    columns = map_columns(lead_file(table(("Fax", *FAXES), ("Phone", *PHONES[:1], "", "", ""))))

    assert columns.phone == ("Phone",)
    assert columns.fax == ("Fax",)


def test_phones_are_tried_mobile_first(lead_file):
    """Mobile, phone, home, work, whatever their order in the file."""
    file = lead_file(
        table(("Work Phone", *PHONES), ("Home", *PHONES), ("Phone", *PHONES), ("Cell", *PHONES))
    )

    assert map_columns(file).phone == ("Cell", "Phone", "Home", "Work Phone")
    assert map_columns(file, mapping={"phone": ["Home", "Cell"]}).phone == ("Home", "Cell")


def test_a_phone_column_of_bad_numbers_is_still_the_phone_column(lead_file):
    """Its records are rejected one by one, the file is not."""
    assert map_columns(lead_file("name,phone\nAnn,12\nBob,xx\n")).phone == ("phone",)


def test_an_unnamed_column_full_of_numbers_is_the_phone(lead_file):
    """Without a telling header the cells decide, with less confidence."""
    columns = map_columns(
        lead_file(table(("who", "Ann", "Bob", "Cy", "Di"), ("kontakt1", *PHONES))), region="US"
    )

    assert columns.phone == ("kontakt1",)
    assert columns.confidence["phone"] < 0.8


@every_row("column", COLUMNS["no_phones"])
def test_other_numbers_are_no_phones(lead_file, column):
    """Ids, post codes, dates, accounts, social security numbers, coordinates."""
    with pytest.raises(LeadFileError, match="no column that is known as a phone"):
        map_columns(lead_file(table(column, ("name", "Ann", "Bob", "Cy", "Di"))))


@every_row("names, values, expected", COLUMNS["names"])
def test_names_mean_what_they_mean_in_their_language(lead_file, names, values, expected):
    """What a word means depends on the columns beside it."""
    columns = [(name, *[value] * 4) for name, value in zip(names, values, strict=True)]
    fields = map_columns(lead_file(table(*columns, ("tel", *PHONES)))).fields()

    assert {name: fields[name][0] for name in fields if name.endswith("_name")} == expected


def test_leftovers_are_everything_else_in_order(lead_file):
    """Every column is a field or a leftover."""
    file = lead_file(
        table(("City", *"abcd"), ("phone", *PHONES), ("Notes", *"efgh"), ("DNC", *"nnnn"))
    )
    columns = map_columns(file)

    used = {name for names in columns.fields().values() for name in names}
    assert columns.leftovers == ("City", "Notes")
    assert used | set(columns.leftovers) == set(file.frame.columns)


def test_an_opt_out_column_counts_whatever_stands_in_it(lead_file):
    """Its header decides, because an unknown word must forbid the call."""
    columns = map_columns(
        lead_file(table(("phone", *PHONES), ("Do Not Call", "q", "r", "s", "t")))
    )

    assert columns.opt_out == ("Do Not Call",)


def test_a_weak_id_must_be_unique(lead_file):
    """`group id` is no id of the lead where it repeats."""
    repeated = lead_file(table(("phone", *PHONES), ("group id", "1", "1", "2", "3")))
    unique = lead_file(table(("phone", *PHONES), ("group id", "1", "4", "2", "3")))

    assert map_columns(repeated).external_id is None
    assert map_columns(unique).external_id == "group id"


def test_columns_can_be_told(lead_file):
    """By their header in any spelling; None leaves a field out; the rest is found."""
    file = lead_file(table(("Tel", *PHONES), ("Other Tel", *PHONES), ("Name", "A", "B", "C", "D")))
    columns = map_columns(file, mapping={"phone": "other tel", "full_name": None})

    assert columns.phone == ("Other Tel",)
    assert columns.full_name is None
    assert columns.confidence["phone"] == 1.0
    assert "Tel" in columns.leftovers


def test_a_saved_map_is_taken_whole(lead_file):
    """Nothing is found beside what was saved."""
    file = lead_file(table(("Tel", *PHONES), ("Name", "A", "B", "C", "D")))

    assert map_columns(file, mapping=ColumnMap(phone=("Tel",))).fields() == {"phone": ("Tel",)}


def test_text_is_not_taken_for_a_table(lead_file):
    """A script or a README has no columns to choose from."""
    with pytest.raises(LeadFileError, match="looks like text, not a table"):
        map_columns(lead_file("#!/bin/sh\nset -e\nmake all\nmake install\n"))


def test_mistakes_in_a_mapping_are_told(lead_file):
    """Unknown columns and fields are named with what there is."""
    file = lead_file(table(("Tel", *PHONES), ("Name", "A", "B", "C", "D")))

    with pytest.raises(LeadFileError, match="no column 'Mobile'; it has: Tel, Name"):
        map_columns(file, mapping={"phone": "Mobile"})
    with pytest.raises(ConfigError, match="no field 'tel'"):
        map_columns(file, mapping={"tel": "Tel"})
    with pytest.raises(LeadFileError, match="no column that is known as a phone"):
        map_columns(file, mapping={"phone": None})


def test_the_error_about_a_missing_phone_is_short(lead_file):
    """A file with a thousand columns does not fill the screen."""
    wide = ",".join(
        f"column with a rather long name indeed, number {n}".replace(",", "") for n in range(300)
    )

    with pytest.raises(LeadFileError) as error:
        map_columns(lead_file(f"{wide}\n{','.join(['x'] * 999)}\n"))

    assert len(str(error.value)) < 2500


@every_row("header, cell", COLUMNS["prohibitions"])
def test_who_does_not_want_to_be_called_is_never_clean(lead_file, header, cell):
    """A prohibition counts however its column is called, whichever way round it is asked."""
    file = lead_file(f"Name,Phone,{header}\nAda,(212) 555-0142,{cell}\n")
    cleaned = leads.clean(file, region="US", force_region=True)

    assert (len(cleaned.do_not_call), len(cleaned.clean)) == (1, 0)


def test_a_column_is_no_rival_of_itself(lead_file):
    """Its header says the country, and so do its cells."""
    rows = "".join(f"Ann,1,212,55501{at:02}\n" for at in range(10))
    columns = map_columns(lead_file(f"Name,Country Code,Area,Number\n{rows}"), region="US")

    assert columns.country == "Country Code"
    assert "country" not in columns.uncertain


def test_a_phone_column_that_is_left_over_prohibits_nothing(lead_file):
    """`Phone No` reads like a refusal; it holds numbers."""
    rows = "".join(f"(212) 555-01{at:02},(917) 555-01{at:02}\n" for at in range(9))
    columns = map_columns(
        lead_file(f"phone,Phone No\n{rows}"), region="US", mapping={"phone": "phone"}
    )

    assert columns.opt_out == ()
