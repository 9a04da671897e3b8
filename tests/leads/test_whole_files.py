"""Whole messy files as people send them: who must not be called is not clean, who can be called is."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path

import pytest

from dialframe import leads
from dialframe.errors import LeadFileError

FILES = tomllib.loads(Path(__file__).with_name("whole_files.toml").read_text("utf-8"))["files"]


def outcomes(cleaned: leads.Cleaned) -> list[str]:
    """What became of each record, in order: the number of clean ones, the outcome of others."""
    clean = cleaned.clean
    rows = dict(zip(clean["_row"], clean["phone"], strict=True))
    for frame in (cleaned.rejected, cleaned.duplicates, cleaned.do_not_call, cleaned.skipped):
        rows |= dict(zip(frame["_row"], frame["_outcome"], strict=True))
    return [str(rows[row]) for row in sorted(rows)]


@pytest.mark.parametrize("whole", FILES, ids=[whole["about"] for whole in FILES])
def test_every_record_is_where_a_person_would_put_it(lead_file, whole):
    """The file as it is, without being told anything but the region."""
    cleaned = leads.clean(lead_file(whole["text"]), region=whole["region"])

    assert outcomes(cleaned) == whole["outcomes"]


def test_an_archive_with_one_odd_table_is_refused_by_its_name(tmp_path):
    """Nothing of it is written as clean, and the sentence names the table and what to do."""
    path, out = tmp_path / "lists.zip", tmp_path / "out"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("list.csv", "Name,Phone\nAnn,(212) 555-0142\n")
        archive.writestr("meta.csv", "key;value\nversion;1\n")
    with pytest.raises(LeadFileError, match=r"meta\.csv has no column that is known as a phone"):
        leads.clean_files([path], out, region="US")
    assert not list(out.glob("*.clean.csv"))
