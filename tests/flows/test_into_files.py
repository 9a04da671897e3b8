"""The command's way to files: alone in the folder, and only for text."""

from __future__ import annotations

import pytest

from dialframe.errors import StoreError
from dialframe.flows.files import alone
from dialframe.flows.into_files import clean_into
from dialframe.flows.listing import Recipe


@pytest.mark.parametrize("engine", ["local", "duckdb"])
def test_text_goes_through(tmp_path, engine):
    """All outcomes, the report for programs and the page for people."""
    path = tmp_path / "list.csv"
    path.write_text("name,phone\nAnn,212-555-0142\nBob,12\n")

    done = clean_into([path], Recipe("US"), tmp_path / "out", engine=engine)

    assert done is not None
    assert (done.counts["clean"], done.counts["rejected"]) == (1, 1)
    assert {"clean", "rejected", "report", "report_page"} <= set(done.paths)
    assert all(found.exists() for found in done.paths.values())


def test_what_is_no_text_is_left_to_others(tmp_path):
    """A workbook, an archive, a folder."""
    (tmp_path / "list.xlsx").write_bytes(b"PK\x03\x04")

    assert clean_into([tmp_path / "list.xlsx"], Recipe("US"), tmp_path / "out") is None
    assert clean_into([tmp_path], Recipe("US"), tmp_path / "out") is None


def test_two_runs_on_one_folder_are_refused(tmp_path):
    """The second one says so in words."""
    path = tmp_path / "list.csv"
    path.write_text("name,phone\nAnn,212-555-0142\n")

    with alone(tmp_path / "out"), pytest.raises(StoreError, match="another run"):
        clean_into([path], Recipe("US"), tmp_path / "out")
