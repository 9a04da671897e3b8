"""A clean list is its own proof: its `phone` is taken as it stands, checked, and never read from another column."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dialframe import leads

#: A mobile number of Colombia without its country code, which the United States would read as +1 31x.
ROWS = [f"31{random.Random(at).randint(10000000, 99999999)}" for at in range(100)]


@pytest.fixture
def cleaned(tmp_path: Path) -> Path:
    """The clean list of a Colombian one with two raw phone columns."""
    path = tmp_path / "co.csv"
    lines = [f"Ana {at},{number},60{at % 8 + 1}55{at:05d}" for at, number in enumerate(ROWS)]
    path.write_text("\n".join(["Nombre,Celular,Teléfono casa", *lines]) + "\n")
    done = leads.clean_files([path], tmp_path / "out", region="CO")
    assert done.counts["clean"] > 80
    return done.paths["clean"]


def again(path: Path, region: str | None) -> leads.Cleaned:
    """The list, cleaned once more in memory."""
    return leads.clean(leads.read(path), region=region)


@pytest.mark.parametrize("region", ["CO", "US", None])
def test_a_clean_list_gives_the_same_numbers_in_any_region(
    cleaned: Path, tmp_path: Path, region: str | None
) -> None:
    """Neither the raw columns nor the region of the second run can change them."""
    first = list(leads.read(cleaned).frame["phone"])
    assert all(phone.startswith("+57") for phone in first)
    assert list(again(cleaned, region).clean["phone"]) == first
    done = leads.clean_files([cleaned], tmp_path / "again", region=region)
    assert list(leads.read(done.paths["clean"]).frame["phone"]) == first


def test_it_says_which_column_is_e164_and_where_it_comes_from(cleaned: Path) -> None:
    facts = json.loads(cleaned.with_name("co.report.json").read_text())
    assert facts["clean_list"]["columns"]["phone"] == "phone"
    assert facts["region"] == "CO"
    (source,) = facts["files"]
    assert (source["name"], source["records"], len(source["sha256"])) == ("co.csv", 100, 64)


def test_an_edited_number_wins(cleaned: Path) -> None:
    text = cleaned.read_text(encoding="utf-8-sig")
    before = list(leads.read(cleaned).frame["phone"])
    cleaned.write_text(text.replace(before[0], "+442079460018", 1))
    after = list(again(cleaned, "CO").clean["phone"])
    assert after == ["+442079460018", *before[1:]]


@pytest.mark.parametrize("harm", ["edit", "no report", "header"])
def test_a_list_that_is_not_as_it_was_written_says_so(cleaned: Path, harm: str) -> None:
    """A flipped digit is another person's number."""
    report = cleaned.with_name("co.report.json")
    text = cleaned.read_text(encoding="utf-8-sig")
    assert not leads.clean_files([cleaned], None, region="CO").files[0].decisions.doubt
    cleaned.write_text({"edit": text.replace("7", "8", 1), "header": text[1:]}.get(harm, text))
    if harm == "no report":
        report.unlink()

    doubt = leads.clean_files([cleaned], None, region="CO").files[0].decisions.doubt

    assert ("not the list that was written" if harm == "edit" else "report beside it") in doubt


def test_an_edited_number_that_is_none_is_rejected(cleaned: Path) -> None:
    """It is not read from the raw column instead."""
    text = cleaned.read_text(encoding="utf-8-sig")
    before = list(leads.read(cleaned).frame["phone"])
    cleaned.write_text(text.replace(before[0], "+57310", 1))
    done = again(cleaned, "CO")
    assert done.counts["rejected"] == 1
    assert list(done.clean["phone"]) == before[1:]


def test_the_sign_that_a_spreadsheet_took_away_is_put_back(cleaned: Path) -> None:
    before = list(leads.read(cleaned).frame["phone"])
    text = cleaned.read_text(encoding="utf-8-sig")
    for phone in before:
        text = text.replace(phone, phone[1:], 1)
    cleaned.write_text(text)
    assert list(again(cleaned, "US").clean["phone"]) == before


def test_a_number_that_could_be_two_is_rejected(tmp_path: Path) -> None:
    """65 8234 5678 may be Singapore's without its sign, or one of the United States."""
    path = tmp_path / "us.csv"
    path.write_text("Phone,Name\n(212) 555-0142,Ada\n(212) 555-0143,Bob\n")
    clean = leads.clean_files([path], tmp_path / "out", region="US").paths["clean"]
    text = clean.read_text(encoding="utf-8-sig")
    clean.write_text(text.replace("+12125550142", "6582345678"))
    done = again(clean, "US")
    assert list(done.clean["phone"]) == ["+12125550143"]
    assert done.counts["rejected"] == 1


def test_without_its_report_a_clean_list_is_known_by_its_name_and_numbers(cleaned: Path) -> None:
    before = list(leads.read(cleaned).frame["phone"])
    cleaned.with_name("co.report.json").unlink()
    assert list(again(cleaned, "US").clean["phone"]) == before


def test_an_opt_out_that_was_added_later_is_heard(tmp_path: Path) -> None:
    path = tmp_path / "us.csv"
    path.write_text("Phone,Name\n(212) 555-0142,Ada\n(212) 555-0143,Bob\n")
    clean = leads.clean_files([path], tmp_path / "out", region="US").paths["clean"]
    header, first, second = clean.read_text(encoding="utf-8-sig").splitlines()
    clean.write_text(f"{header},Do not call\n{first},yes\n{second},\n")
    assert again(clean, "US").counts["do_not_call"] == 1


def test_cells_come_back_as_they_were(tmp_path: Path) -> None:
    """What a spreadsheet would run carried an apostrophe; a negative number carried none."""
    path = tmp_path / "us.csv"
    path.write_text("Phone,Balance,Note\n(212) 555-0142,-12.50,=1+1\n(212) 555-0143,+3%,'-x\n")
    clean = leads.clean_files([path], tmp_path / "out", region="US").paths["clean"]
    text = clean.read_text(encoding="utf-8-sig")
    assert "-12.50" in text
    assert "'-12.50" not in text
    assert "'=1+1" in text
    frame = again(clean, "US").clean
    assert list(frame["Balance"]) == ["-12.50", "+3%"]
    assert list(frame["Note"]) == ["=1+1", "'-x"]
