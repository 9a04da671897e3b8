"""A correction of a cell is judged at once, by its record and by the numbers of the others, and keeps its history."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dialframe.errors import ConfigError
from dialframe.flows.lead_cleaning import Recipe
from dialframe.flows.list_fixing import Fixing
from dialframe.suppression import Barred

AT = datetime(2026, 11, 22, tzinfo=UTC)
LIST = (
    "Name,Phone,Do Not Call\nAda,(212) 736-5000,\nBen,12,\nCy,(212) 736-5001,yes\nDi,,\nEve,99,\n"
)


@pytest.fixture
def work(tmp_path: Path) -> Fixing:
    """Three rejected records, one number that is taken and one that must not be called."""
    path = tmp_path / "list.csv"
    path.write_text(LIST)
    return Fixing.of([path], Recipe("US", lists={"ours": Barred.of(["+12127365009"])}))


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("(917) 736-5002", None),
        ("13", "digits are missing"),
        ("212-736-5000", "an earlier record has the same number"),
        ("212-736-5001", "another record of the same number or person says not to call"),
        ("212-736-5009", "the number is on your suppression list"),
    ],
)
def test_a_correction_is_judged_as_the_whole_list_judges_it(
    work: Fixing, value: str, why: str | None
) -> None:
    """At once, and the same when the list is cleaned anew."""
    said = work.set(3, "Phone", value, at=AT)
    assert (said is None) == (why is None)
    counts = work.cleaned.counts
    assert counts["clean"] == (2 if why is None else 1)
    if why is not None:
        assert said is not None
        rows = [
            frame[frame["_line"] == 3]
            for frame in (work.cleaned.rejected, work.cleaned.do_not_call, work.cleaned.duplicates)
        ]
        (row,) = [frame.iloc[0] for frame in rows if len(frame)]
        assert row["_reason"] == work.edits[-1].reason
    assert [each.line for each in work.rejects()] == [
        *([3] if why == "digits are missing" else []), 5, 6,
    ]  # fmt: skip


def test_two_corrections_to_one_number_are_duplicates(work: Fixing) -> None:
    """And a number that was taken back is free again."""
    assert work.set(3, "Phone", "917-736-5002", at=AT) is None
    assert work.set(5, "Phone", "917-736-5002", at=AT) is not None
    assert work.set(3, "Phone", "917-736-5003", at=AT) is None
    assert work.set(5, "Phone", "917-736-5002", at=AT) is None
    assert work.cleaned.counts["clean"] == 3


def test_the_report_of_a_corrected_list_says_what_each_list_met(
    work: Fixing, tmp_path: Path
) -> None:
    """As the report of a list that nobody corrected does."""
    work.set(3, "Phone", "212-736-5009", at=AT)
    report = json.loads(work.write(tmp_path / "out")["report"].read_text())
    assert report["suppression"] == {"ours": {"entries": 1, "met": 1}}


def test_the_history_is_written_and_resumed(work: Fixing, tmp_path: Path) -> None:
    """With what stood there before; a cell that says something else by now is left alone."""
    work.set(3, "Phone", "917-736-5002", at=AT)
    work.set(6, "Phone", "917-736-5003", at=AT)
    files = work.write(tmp_path / "out")
    rows = list(csv.DictReader(files["history"].read_text().splitlines()))
    assert [(row["line"], row["before"], row["after"]) for row in rows] == [
        ("3", "12", "917-736-5002"), ("6", "99", "917-736-5003"),
    ]  # fmt: skip
    path = tmp_path / "list.csv"
    path.write_text(LIST.replace("Eve,99", "Eve,98"))
    again = Fixing.of([path], Recipe("US"))
    assert again.resume(files["history"]) == 1
    assert again.cleaned.counts["clean"] == 2


def test_a_cell_that_is_not_there_is_said(work: Fixing) -> None:
    """Line and column are checked."""
    for line, column in ((99, "Phone"), (3, "Fax")):
        with pytest.raises(ConfigError, match="check both"):
            work.set(line, column, "1", at=AT)
