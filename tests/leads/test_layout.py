"""Header, leads and furniture are told apart, and no lead is taken for anything else."""

from __future__ import annotations

import pytest

from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads.layout import Layout, is_blank, lay_out
from dialframe.leads.lead_file import Records
from leads.tables import table
from rows import every_row


def laid_out(*rows: str, **told: object) -> Layout:
    cells = [row.split("|") for row in rows]
    places = list(range(len(cells)))
    return lay_out(Records(cells, places, [place + 1 for place in places]), **told)


LAYOUTS = table("layouts")
LEADS = ("Ann|212-555-0142|NY|a@example.com", "Bob|212-555-0143|LA|b@example.com")


@every_row("file", LAYOUTS["files"])
def test_the_header_is_found_where_it_is(file):
    """Neither a title nor the first lead is taken for the header."""
    rows, header = file["records"], file.get("header")
    layout = laid_out(*rows)

    assert layout.header_record == header
    assert not layout.furniture


@every_row("file", LAYOUTS["parts"])
def test_each_record_is_a_lead_or_what_the_table_says(file):
    """Comments, rules, totals, blank lines and repeated headers are no leads."""
    layout = laid_out(*file["records"], own=file.get("own", False))

    assert layout.header_record == file.get("header")
    neither = {layout.header_record, *dict(layout.preface), *dict(layout.furniture)}
    assert [at for at in range(len(file["records"])) if at not in neither] == file["leads"]
    for part in ("preface", "furniture"):
        assert {str(at): code for at, code in getattr(layout, part)} == file.get(part, {})
    assert [layout.width, layout.usual] == file.get("widths", [layout.width, layout.usual])


@every_row("row", LAYOUTS["remarks"])
def test_totals_and_remarks_at_the_end_are_footers(row):
    """What stands below the last lead and holds no number is a remark."""
    layout = laid_out("Name|Phone|City|E-mail", *LEADS, "|||", row)

    assert dict(layout.furniture) == {3: "blank", 4: "footer"}


@every_row("row", LAYOUTS["names"])
def test_leads_that_look_like_remarks_stay_leads(row):
    """A row with a number or an address, and a lone name, are never footers."""
    layout = laid_out("Name|Phone|City|E-mail", *LEADS, row)

    assert layout.header_record == 0
    assert not layout.furniture


def test_more_columns_than_any_table_has_are_refused():
    """The delimiter is wrong, or it is no list."""
    with pytest.raises(LeadFileError, match="40,000 columns, and a list of leads has 2,000"):
        laid_out("|".join(["a"] * 40_000))


def test_the_header_can_be_told():
    """A line, no header, or the names themselves."""
    assert laid_out("x|y", "Name|Phone", "Ann|1", choice=2).header == ("Name", "Phone")
    bare = laid_out("Name|Phone", "Ann|1", choice="none")
    assert (bare.header, bare.preface, bare.furniture) == (None, (), ())
    assert laid_out("Ann|1", choice=["who", "number"]).header == ("who", "number")
    with pytest.raises(ConfigError, match="line 9"):
        laid_out("Name|Phone", choice=9)


def test_blank():
    """White space and the end-of-file mark of old systems are nothing."""
    assert is_blank(["", " ", "\u3000", "\x1a"])
    assert not is_blank(["", "0"])


def test_a_header_of_two_rows_is_joined(lead_file):
    """The group over the field, where the field alone would stand there twice."""
    file = lead_file("Home,,Work,\nPhone,City,Phone,City\n212-555-0142,NY,646-555-0143,LA\n")

    assert file.header == ("Home Phone", "Home City", "Work Phone", "Work City")
    assert file.frame["Work Phone"].tolist() == ["646-555-0143"]


def test_a_title_above_the_header_is_no_part_of_it(lead_file):
    """It names one thing, and the fields have names of their own."""
    file = lead_file("Our leads,,\nName,Phone,City\nAnn,212-555-0142,NY\nBob,212-555-0143,LA\n")

    assert file.header == ("Name", "Phone", "City")


def test_footnotes_below_a_list_are_no_leads(lead_file):
    """With a star, or with the source of the numbers."""
    file = lead_file(
        "Name,Phone\nAnn,212-555-0142\nBob,212-555-0143\n\nSource: our CRM\n* numbers not verified\n"
    )

    assert file.frame["Name"].tolist() == ["Ann", "Bob"]


PEOPLE = "".join(f"Ann {at},212-555-{1000 + at},a{at}@example.com\n" for at in range(6))
TABLES = (
    "Region,Calls\nEast,12\nWest,7\n",
    "Agent,Team,Calls,Hours,Pay\nJoe,Red,12,3,2\nSue,Blue,15,4,9\n",
    "Summary,,\nRegion,Calls,\nEast,12,\nWest,7,\n",
    "Team,Share,Calls\nRed,12.5 %,3\n\nDay,Calls\nMonday,4\n",
)


@pytest.mark.parametrize("table", TABLES)
def test_a_second_table_below_a_list_is_no_lead(lead_file, table):
    """Of another width, or names over figures; each of its lines is counted."""
    file = lead_file(f"Name,Phone,Email\n{PEOPLE}\n{table}")

    assert len(file.frame) == 6
    footer = file.skipped[file.skipped["_code"] == "footer"]
    assert len(footer) == sum(bool(line) for line in table.splitlines())


@pytest.mark.parametrize(
    "below",
    ["Bob Lee,,\n", "Bob,ext 12,\nSue,,sue at example\n", "Bob,555,\nSue,777,\n",
     "Region,Calls\nEast,646-555-0143\n", "Team,Calls,\nRed,12,\nBob,646-555-0143,\n"],
)  # fmt: skip
def test_a_record_behind_a_blank_line_that_may_be_a_lead_is_kept(lead_file, below):
    """It is for a person to mend, and rejected where it has no number."""
    file = lead_file(f"Name,Phone,Email\n{PEOPLE}\n{below}")

    assert len(file.frame) == 6 + below.count("\n")


def test_a_second_table_below_a_long_list_is_no_lead(lead_file):
    """Where the list is read in blocks too."""
    leads = "".join(f"Ann {at},212-555-{at:04},a{at}@example.com\n" for at in range(3000))
    file = lead_file(f"Name,Phone,Email\n{leads}\nSummary,,\nRegion,Calls,\nEast,12,\n")

    assert len(file.frame) == 3000
