"""What is no list of leads is refused in a sentence, and no cell takes more than its share of time."""

from __future__ import annotations

import contextlib
import time

import pytest

from dialframe.errors import LeadFileError
from dialframe.leads.columns.country_names import read_region
from dialframe.leads.judging.phone_cells import read_phone
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


@pytest.mark.parametrize("unit", [" ", "\t", ",", '"', "'", "a", "1", "\\", '","', "é ", "(", "@"])
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
