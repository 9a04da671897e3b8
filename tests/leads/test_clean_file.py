"""The clean list holds fields, not bookkeeping: what is uploaded elsewhere as it is."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dialframe import leads
from dialframe.errors import ConfigError
from dialframe.leads.outputs import destinations

LIST = (
    "Balance,Last name,Phone,First name,City\n"
    "-12.5,LEE,(212) 555-0142,ANN,Boston\n"
    "=1+1,O'NEILL-SMITH,020 7946 0018,Zoë,Denver\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A list of two leads."""
    file = tmp_path / "autumn.csv"
    file.write_text(LIST)
    return file


def rows(path: Path, **layout: object) -> list[list[str]]:
    """The clean list, cell by cell as it stands in the file."""
    done = leads.clean_files(
        [path],
        path.parent / "out",
        region="US",
        layout=leads.CleanLayout(**layout),  # type: ignore[arg-type]
    )
    with done.paths["clean"].open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_fields_come_first_then_the_files_own(path: Path) -> None:
    """No column of this program is among them, and a negative number stays a number."""
    header, first = rows(path)[:2]
    assert header == ["phone", "first_name", "last_name", "Balance", "City"]
    assert first == ["+12125550142", "ANN", "LEE", "-12.5", "Boston"]


def test_only_what_a_spreadsheet_would_run_is_escaped(path: Path) -> None:
    path.write_text("Phone,Note\n(212) 555-0142,=1+1\n(212) 555-0143,-5%\n(212) 555-0144,-2+3\n")
    assert [row[1] for row in rows(path)[1:]] == ["'=1+1", "-5%", "'-2+3"]


def test_a_list_cleaned_again_and_again_keeps_its_header_and_cells(path: Path) -> None:
    """One apostrophe before what would be run, however often."""
    path.write_text("Phone,=Lot,Note\n(212) 555-0142,A,=1+1\n")
    first = rows(path)
    for _ in range(2):
        path = path.parent / "out" / f"{path.name.removesuffix('.csv')}.clean.csv"
        assert rows(path) == first
    assert first[0][1] == "'=Lot"


def test_names_in_capitals_are_written_as_names_where_that_is_asked(path: Path) -> None:
    path.write_text(LIST.replace("020 7946 0018", "(212) 555-0143"))
    assert [row[1:3] for row in rows(path, title_names=True)[1:]] == [
        ["Ann", "Lee"],
        ["Zoë", "O'Neill-Smith"],
    ]


def test_what_a_number_says_of_itself_is_added_where_that_is_asked(path: Path) -> None:
    add = ("line_type", "country", "state", "time_zone")
    header, first = rows(path, add=add)[:2]
    found = dict(zip(header, first, strict=True))
    assert (found["country"], found["state"], found["time_zone"]) == (
        "US",
        "NY",
        "America/New_York",
    )
    assert found["line_type"] == "fixed_line_or_mobile"
    with pytest.raises(ConfigError, match="shoe_size"):
        leads.CleanLayout(add=("shoe_size",))


@pytest.mark.parametrize("name", destinations())
def test_every_destination_names_the_phone_and_cites_its_source(path: Path, name: str) -> None:
    """The list can be cleaned again, whatever its columns are called."""
    header = rows(path, destination=name)[0]
    writing = destinations()[name]
    assert header[0] == writing.names.get("phone", "phone")
    assert writing.source.startswith("https://") or name == "raw"
    clean = path.parent / "out" / "autumn.clean.csv"
    assert list(leads.clean(leads.read(clean), region="GB").clean["phone"]) == ["+12125550142"]


def test_raw_escapes_nothing_and_keeps_file_and_line(path: Path) -> None:
    path.write_text("Phone,Note\n(212) 555-0142,=1+1\n(212) 555-0143,x\n")
    header, first = rows(path, destination="raw")[:2]
    assert header == ["phone", "Note", "_file", "_line", "_row", "_warnings"]
    assert first[1:5] == ["=1+1", "autumn.csv", "2", "1"]
    assert not (path.parent / "out" / "autumn.clean.csv").read_bytes().startswith(b"\xef\xbb\xbf")


def test_two_files_of_one_stem_never_replace_each_other(tmp_path: Path) -> None:
    """The same file again has the names that it had."""
    text, tabs = tmp_path / "in.csv", tmp_path / "in.tsv"
    text.write_text("Phone\n(212) 555-0142\n")
    tabs.write_text("Phone\tName\n(212) 555-0143\tBob\n")
    names = [
        leads.clean_files([path], tmp_path / "out", region="US").paths["clean"].name
        for path in (text, tabs, text, tabs)
    ]
    assert names == ["in.clean.csv", "in_tsv.clean.csv", "in.clean.csv", "in_tsv.clean.csv"]
    assert "0142" in (tmp_path / "out" / "in.clean.csv").read_text()
