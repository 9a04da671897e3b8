"""Lead files to a folder: alone in it, whatever the format."""

from __future__ import annotations

import pytest

from dialframe.errors import StoreError
from dialframe.files import alone
from dialframe.flows.lead_cleaning import Recipe, clean, look


def test_text_goes_through(tmp_path):
    """All outcomes, the report for programs and the page for people."""
    path = tmp_path / "list.csv"
    path.write_text("name,phone\nAnn,212-555-0142\nBob,12\n")

    done = clean([path], Recipe("US"), tmp_path / "out")

    assert (done.cleaned.counts["clean"], done.cleaned.counts["rejected"]) == (1, 1)
    assert {"clean", "set_aside", "report", "report_page"} <= set(done.paths)
    assert all(found.exists() for found in done.paths.values())


def test_a_folder_is_its_files(tmp_path):
    """Each table of it is cleaned against the others."""
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("name,phone\nAnn,212-555-0142\n")

    done = clean([tmp_path], Recipe("US"), tmp_path / "out").cleaned

    assert [file.name for file in done.files] == ["a.csv", "b.csv"]
    assert (done.counts["clean"], done.counts["duplicates"]) == (1, 1)


def test_looking_writes_nothing_and_keeps_lines(tmp_path):
    """The same numbers without a file, and the lines that were asked for."""
    path = tmp_path / "list.csv"
    path.write_text("name,phone\nAnn,212-555-0142\nBob,12\n")

    reasons = ["phone_too_short", "blocked_country"]
    seen = look([path], Recipe("US", reasons=reasons)).cleaned
    done = clean([path], Recipe("US"), tmp_path / "out").cleaned

    assert (seen.counts, seen.reasons, dict(seen.paths)) == (done.counts, done.reasons, {})
    assert [line["_line"] for line in seen.lines["phone_too_short"]] == [3]
    assert seen.lines["blocked_country"] == []
    assert not list(tmp_path.glob("*.jsonl"))


def test_two_runs_on_one_folder_are_refused(tmp_path):
    """The second one says so in words."""
    path = tmp_path / "list.csv"
    path.write_text("name,phone\nAnn,212-555-0142\n")

    with alone(tmp_path / "out"), pytest.raises(StoreError, match="another run"):
        clean([path], Recipe("US"), tmp_path / "out")
