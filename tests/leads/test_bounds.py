"""What is no list of leads is refused in a sentence, and no length of a cell costs more than its share."""

from __future__ import annotations

import contextlib
import cProfile

import pytest
from tests.growth import assert_steady

from dialframe import leads, opt_outs
from dialframe.errors import LeadFileError
from dialframe.leads import rows
from dialframe.leads.columns.country_names import read_region
from dialframe.leads.lead_file import Dialect, Shape, split_lines
from dialframe.leads.parser import parse
from dialframe.leads.phones_in_cells import read_phone
from dialframe.opt_outs import find_phrase, read_consent

CHARS = 100_000
#: Of a cell alone, which is judged without anything around it: what grows with the square costs far more than the rest.
CELL_CHARS = 12_000


@pytest.fixture(params=[CHARS // 50, rows.PIECE_BYTES], ids=["fifty pieces", "one piece"])
def in_pieces(request, monkeypatch):
    """A huge text is read in pieces, each of which could begin from the first again, and at once."""
    monkeypatch.setattr(rows, "PIECE_BYTES", request.param)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_thousands_of_columns_are_refused_in_a_sentence(lead_file, delimiter):
    """Before anything is decided about them: they cost eight times what an eighth of them does."""

    def refused(columns):
        row = delimiter.join(["x"] * columns)
        with pytest.raises(LeadFileError, match=f"{columns:,} columns"):
            lead_file(delimiter.join(f"c{at}" for at in range(columns)) + "\n" + f"{row}\n" * 5)

    assert_steady(refused, lambda columns: columns, 16_800)


@pytest.mark.parametrize(
    "unit", [" ", "\t", ",", '"', "'", "a", "1", "\\", '","', "é ", "\u202e", "(", "@"]
)
@pytest.mark.parametrize("place", ["cell", "header"])
def test_a_huge_cell_of_one_character_is_read_steadily(lead_file, unit, place):
    """Among ordinary records, wherever it stands."""

    def read(huge):
        header, cell = (huge, "hi") if place == "header" else ("Notes", huge)
        with contextlib.suppress(LeadFileError):
            lead_file(f"Name,Phone,{header}\nAnn,212-555-0142,{cell}\nBob,212-555-0143,ok\n")

    assert_steady(read, lambda chars: (unit * chars)[:chars], CHARS)


@pytest.mark.parametrize("unit", [" ", "\u3000", "a, ", "1,", "stop ", "not ", '"', "+", "("])
@pytest.mark.parametrize("end", ["", "x"])
@pytest.mark.parametrize(
    "read", [lambda cell: read_phone(cell, "US"), read_region, find_phrase, read_consent]
)
def test_a_huge_cell_is_judged_steadily(unit, read, end):
    """And its near misses."""
    assert_steady(read, lambda chars: (unit * chars)[:chars] + end, CELL_CHARS)


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_empty_lines_are_cleaned_steadily_and_each_is_accounted_for(
    tmp_path, tmp_path_factory, end
):
    """Hundreds of thousands, in a cell that never ends or behind the last record."""
    path = tmp_path / "list.csv"

    def clean(lines):
        path.write_bytes(f'Name,Phone\nAnn,212-555-0142\nBob,"{end * lines}'.encode())
        cleaned = leads.clean_files([path], tmp_path_factory.mktemp("out"), region="US")
        assert cleaned.counts["clean"] == 1
        assert cleaned.counts["skipped"] >= lines - 1

    assert_steady(clean, lambda lines: lines, CHARS)


@pytest.mark.usefixtures("in_pieces")
def test_empty_lines_of_a_list_of_numbers_alone_are_read_steadily(tmp_path):
    """Where a record of one empty cell is like a line of the header."""
    path = tmp_path / "list.csv"

    def read(lines):
        path.write_text("Phone\n212-555-0142\n" + "\n" * lines)
        assert len(leads.read(path).frame) == 1

    assert_steady(read, lambda lines: lines, CHARS)


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("above", ["", "\n" * 5, "A list\n\n\n\n"])
def test_runs_of_empty_lines_are_laid_out_as_if_each_was_looked_at(lead_file, width, above):
    """Above the header, below it, between records far down, and at the end."""
    cells = ",212-555-{:04},x" if width > 1 else "212-555-{:04}"
    record = ("Ann" + cells if width > 1 else cells) + "\n"
    lines = [record.format(number % 10_000) for number in range(4_000)]
    lines[2_500:2_500] = ["\n"] * 700
    lines[3_900:3_900] = ["\r\n"] * 3
    header = "Name,Phone,Notes\n" if width > 1 else "Phone\n"
    lead_file(above + header + "\n\n" + "".join(lines) + "\n" * 60)


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("unit", ['\n,"', '",\n', '"\n', ",'\n", " \n"])
def test_near_misses_of_quotes_are_cleaned_steadily(tmp_path, tmp_path_factory, unit):
    """Hundreds of thousands of records that a careful reader has to look ahead for."""
    path = tmp_path / "list.csv"
    head = "Name,Phone,Notes\nAnn,212-555-0142,hi\nBob,212-555-0143,ok\n"

    def clean(chars):
        path.write_text(head + (unit * chars)[:chars] + "\n", newline="")
        with contextlib.suppress(LeadFileError):
            leads.clean_files([path], tmp_path_factory.mktemp("out"), region="US")

    assert_steady(clean, lambda chars: chars, CHARS)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        pytest.param(
            lambda times: ('x,"a\n' + '","\n' * 500) * times, 40, id="closes and opens again"
        ),
        pytest.param(
            lambda lines: 'x,"a\n' + ('""' * 100 + "\n") * lines, 500, id="doubled quotes"
        ),
    ],
)
def test_an_open_cell_is_read_on_line_by_line(text, length):
    """Rather than from its begin again at every line that may close it."""

    def read(lines):
        assert parse(lines, Dialect(), Shape(3, digits=(1,))).faults[0] == "unclosed_quote"

    assert_steady(read, lambda times: split_lines(text(times)), length)


def test_broken_lines_that_are_alike_are_judged_once(tmp_path, monkeypatch):
    """A megabyte holds half a million of them; what they say of calls is looked for in each that differs."""
    asked = []
    find = opt_outs.find_phrase
    monkeypatch.setattr(opt_outs, "find_phrase", lambda cell: asked.append(cell) or find(cell))
    path = tmp_path / "leads.jsonl"
    path.write_text(
        '{"Name":"Ann","Phone":"212-555-0142"}\n' + '"\n' * 5000 + '{"Do not call\n' * 1000
    )

    counts = leads.clean_files([path], tmp_path / "out", region="US").counts

    assert (counts["records"], counts["do_not_call"], counts["rejected"]) == (6001, 0, 6000)
    assert len(asked) < 100


def test_many_lists_cost_no_more_each_than_few(lead_file):
    """Counted in calls, which no machine changes: three times the lists, about three times the calls."""
    files = [lead_file(f"Name,Phone\nKim,212-555-{at:04}\n", f"{at}.csv") for at in range(24)]
    leads.clean(files[:2], region="US", force_region=True)

    def calls(lists):
        profile = cProfile.Profile()
        profile.runcall(leads.clean, lists, region="US", force_region=True)
        return sum(one.callcount for one in profile.getstats() if not isinstance(one.code, str))

    assert calls(files) < 3.3 * calls(files[:8])
