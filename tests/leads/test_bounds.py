"""What is no list of leads is refused in a sentence, and no cell takes more than its share of time."""

from __future__ import annotations

import contextlib
import time

import pandas as pd
import pytest

from dialframe import leads, opt_outs
from dialframe.errors import LeadFileError
from dialframe.leads.columns.country_names import read_region
from dialframe.leads.judging.phone_cells import read_phone
from dialframe.leads.lead_file import Dialect, Shape, split_lines
from dialframe.leads.reading import lead_file_reader
from dialframe.leads.reading.parser import parse
from dialframe.opt_outs import read_consent, read_remark

CHARS = 100_000
#: Five seconds for a megabyte, as CPU time of this process.
MOST_S = 5.0 * CHARS / 1_000_000


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_ten_thousand_columns_are_refused_in_a_sentence(lead_file, delimiter):
    """Before anything is decided about them."""
    header = delimiter.join(f"c{at}" for at in range(10_002))
    row = delimiter.join(["x"] * 10_002)
    began = time.process_time()

    with pytest.raises(LeadFileError, match="10,002 columns"):
        lead_file(f"{header}\n" + f"{row}\n" * 20)
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    "unit", [" ", "\t", ",", '"', "'", "a", "1", "\\", '","', "é ", "\u202e", "(", "@"]
)
@pytest.mark.parametrize("place", ["cell", "header"])
def test_a_huge_cell_of_one_character_is_read_in_time(lead_file, unit, place):
    """Among ordinary records, wherever it stands."""
    huge = (unit * CHARS)[:CHARS]
    header, cell = (huge, "hi") if place == "header" else ("Notes", huge)
    began = time.process_time()
    with contextlib.suppress(LeadFileError):
        lead_file(f"Name,Phone,{header}\nAnn,212-555-0142,{cell}\nBob,212-555-0143,ok\n")
    assert time.process_time() - began < 2 + MOST_S


@pytest.mark.parametrize("unit", [" ", "\u3000", "a, ", "1,", "stop ", "not ", '"', "+", "("])
@pytest.mark.parametrize(
    "read", [lambda cell: read_phone(cell, "US"), read_region, read_remark, read_consent]
)
def test_a_huge_cell_is_judged_in_time(unit, read):
    """And its near misses."""
    for cell in ((unit * CHARS)[:CHARS], (unit * CHARS)[:CHARS] + "x"):
        began = time.process_time()
        read(cell)
        assert time.process_time() - began < 0.5 + MOST_S


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_empty_lines_are_cleaned_in_time_and_each_is_accounted_for(tmp_path, end):
    """Hundreds of thousands, in a cell that never ends or behind the last record."""
    path = tmp_path / "list.csv"
    path.write_bytes(f'Name,Phone\nAnn,212-555-0142\nBob,"{end * CHARS}'.encode())
    began = time.process_time()
    cleaned = leads.clean_files([path], tmp_path / "out", region="US")
    assert time.process_time() - began < 2 + 3 * MOST_S
    assert cleaned.counts["clean"] == 1
    assert cleaned.counts["skipped"] >= CHARS // len(end) - 1


def test_empty_lines_of_a_list_of_numbers_alone_are_read_in_time(lead_file):
    """Where a record of one empty cell is like a line of the header."""
    began = time.process_time()
    file = lead_file("Phone\n212-555-0142\n" + "\n" * CHARS)
    assert time.process_time() - began < MOST_S
    assert len(file.frame) == 1


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("above", ["", "\n" * 5, "A list\n\n\n\n"])
def test_runs_of_empty_lines_are_laid_out_as_if_each_was_looked_at(
    tmp_path, monkeypatch, width, above
):
    """Above the header, below it, between records far down, and at the end."""
    cells = ",212-555-{:04},x" if width > 1 else "212-555-{:04}"
    record = ("Ann" + cells if width > 1 else cells) + "\n"
    rows = [record.format(number % 10_000) for number in range(4_000)]
    rows[2_500:2_500] = ["\n"] * 700
    rows[3_900:3_900] = ["\r\n"] * 3
    header = "Name,Phone,Notes\n" if width > 1 else "Phone\n"
    path = tmp_path / "list.csv"
    path.write_text(above + header + "\n\n" + "".join(rows) + "\n" * 60, newline="")
    file = leads.read(path)
    monkeypatch.setattr(lead_file_reader, "survey", lambda *_, **__: None)
    whole = leads.read(path)
    pd.testing.assert_frame_equal(file.frame, whole.frame)
    pd.testing.assert_frame_equal(file.skipped, whole.skipped)
    assert (file.lines.tolist(), file.rows.tolist()) == (whole.lines.tolist(), whole.rows.tolist())
    assert file.decisions == whole.decisions


@pytest.mark.parametrize("unit", ['\n,"', '",\n', '"\n', ",'\n", " \n"])
def test_near_misses_of_quotes_are_cleaned_in_time(tmp_path, unit):
    """Hundreds of thousands of records that a careful reader has to look ahead for."""
    path = tmp_path / "list.csv"
    head = "Name,Phone,Notes\nAnn,212-555-0142,hi\nBob,212-555-0143,ok\n"
    path.write_text(head + (unit * CHARS)[:CHARS] + "\n", newline="")
    began = time.process_time()
    with contextlib.suppress(LeadFileError):
        leads.clean_files([path], tmp_path / "out", region="US")
    assert time.process_time() - began < 0.5 + MOST_S


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param('x,"a\n' + '","\n' * 500, id="closes and opens again"),
        pytest.param('x,"a\n' + ('""' * 100 + "\n") * 500, id="doubled quotes"),
    ],
)
def test_an_open_cell_is_read_on_line_by_line(unit):
    """Rather than from its begin again at every line that may close it."""
    lines = split_lines((unit * (CHARS // len(unit) + 1))[:CHARS])
    began = time.process_time()
    records = parse(lines, Dialect(), Shape(3, digits=(1,)))
    assert time.process_time() - began < MOST_S
    assert records.faults[0] == "unclosed_quote"


def test_broken_lines_that_are_alike_are_judged_once(tmp_path, monkeypatch):
    """A megabyte holds half a million of them; what they say of calls is looked for in each that differs."""
    asked = []
    read_remark = opt_outs.read_remark
    monkeypatch.setattr(
        opt_outs,
        "read_remark",
        lambda cell, *a, **k: asked.append(cell) or read_remark(cell, *a, **k),
    )
    path = tmp_path / "leads.jsonl"
    path.write_text(
        '{"Name":"Ann","Phone":"212-555-0142"}\n' + '"\n' * 5000 + '{"Do not call\n' * 1000
    )

    counts = leads.clean_files([path], tmp_path / "out", region="US").counts

    assert (counts["records"], counts["do_not_call"], counts["rejected"]) == (6001, 1000, 5000)
    assert len(asked) < 100
