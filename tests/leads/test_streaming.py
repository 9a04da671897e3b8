"""Files that are cleaned in blocks are, byte for byte, what cleaning them whole gives, and each record is where it belongs."""

from __future__ import annotations

import csv
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dialframe import leads
from dialframe.errors import LeadFileError
from dialframe.leads import FieldRule, Policy, ReadOptions
from dialframe.leads import rows as reading_rows
from dialframe.leads.lead_file import LEAD_COLUMNS

NUMBERS = ["212-555-0142", "2125550143", "(212) 555-0144", "+1 212 555 0145", "2125550146.0", "212 555 0147 x12"]  # fmt: skip
PHONES = [
    *NUMBERS, "+44 20 7946 0123", "020 7946 0124", "", "n/a", "12", "0000000000", "2.12555E+9", "1-900-555-0142",
    "DNC 212-555-0148", "212-555-0149 (fax)", "212-555-0150 / 212-555-0151", "(wrong number) 212-555-0152",
    "+1 900 555 0142", "call me", "2125550142", "3023125123", "+49 30 23125 123", '="2125550153"', " 212-555-0142 ",
]  # fmt: skip
OUTCOMES = ("clean", "rejected", "duplicates", "do_not_call", "skipped")
CELLS = {
    "Ref": ["1", "2", "3", "A-7", "", "n/a", "7.0", "x" * 130],
    "First": ["Ann", "Bob", " Cy ", "José", "", "DNC", "do not call", "x" * 101, "Zoë"],
    "Last": ["Lee", "Roe", "O'Neil", "", "Núñez", "-"],
    "Name": ["Lee, Ann", "Roe, Bob", "Cy", "Lee,  Ann", "Lee, Zoë"],
    "Mobile": PHONES,
    "Home": PHONES,
    "Fax": ["", "212-555-0190", "n/a", "2125550142"],
    "E-mail": ["a@example.com", "A@Example.com", "b@example.com", "", "no", "Bob <b@example.com>", "é@example.com", "x@"],
    "DNC": ["", "no", "yes", "perhaps", "n", "X"],
    "Consent": ["yes", "no", "", "maybe"],
    "Country": ["US", "", "Germany", "Narnia", "UK"],
    "Notes": ["", "", "web", "do not call", "=1+1", 'said "later", maybe', "wrong number", "two\nlines", "deceased", "removed"],
    "Source": ["fair", "", "web"],
    "Zip": ["02134", "10001", ""],
}  # fmt: skip
SETS = [
    ["Ref", "First", "Last", "Mobile", "E-mail", "Notes"],
    ["Name", "Mobile", "Home", "Fax", "DNC", "Country"],
    ["Ref", "Name", "Mobile", "Consent", "E-mail", "Source", "Zip"],
    ["Mobile", "Notes"],
    ["First", "Last", "E-mail", "Home", "DNC", "Notes", "Ref"],
]


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(char in cell for char in ',"\n') else cell


def made(seed: int, rows: int, delimiter: str = ",") -> str:
    """A list with every kind of cell, and lines that are no leads."""
    rng = random.Random(seed)
    names = SETS[seed % len(SETS)]
    lines = [] if seed % 3 else ["Autumn list", ""]
    lines.append(delimiter.join(names))
    for _ in range(rows):
        draw = rng.random()
        cells = [quoted(rng.choice(CELLS[name])) for name in names]
        if draw < 0.02:
            lines.append("")
        elif draw < 0.04:
            cells = cells[:-1]
        elif draw < 0.05:
            cells.append("more")
        elif draw < 0.06:
            cells[0] = '"open'
        elif draw < 0.07:
            cells = list(names)
        if draw >= 0.02:
            lines.append(delimiter.join(cells))
    lines += ["", f"Total: {rows} records"] if seed % 2 else []
    return "\r\n".join(lines) + "\r\n"


POLICIES: dict[str, Any] = {
    "region": "US",
    "policy": Policy(
        bad_email="reject", blank_consent="clean", repeated_external_id="keep", reserved_number="warn"
    ),
    "blocked_countries": ["GB"],
    "field_rules": [
        FieldRule("email", required=True, severity="warn"),
        FieldRule("custom_fields.Zip", pattern=r"\d{5}"),
    ],
    "do_not_call": ["212-555-0143", "(212) 555-0151", "junk"],
}  # fmt: skip
#: Seeds, rows and delimiters of the lists of each case of `made_lists.csv`, and how they are cleaned.
CASES: dict[str, tuple[list[tuple[int, int, str]], dict[str, Any]]] = {
    **{f"list {seed}": ([(seed, 120, ",")], {"region": "US"}) for seed in range(10)},
    "several lists with policies": ([(seed, 80, ",;"[seed % 2]) for seed in range(5)], POLICIES),
    "reserved numbers refused": (
        [(1, 120, ",")],
        {"region": "US", "policy": Policy(reserved_number="reject")},
    ),
}


def written(folder: Path, lists: list[tuple[int, int, str]]) -> list[Path]:
    """Made lists as files."""
    paths = [folder / f"list{at if len(lists) > 1 else ''}.csv" for at in range(len(lists))]
    for path, one in zip(paths, lists, strict=True):
        path.write_text(made(*one), newline="")
    return paths


@pytest.mark.parametrize("case", CASES)
def test_each_record_ends_where_it_was_found_to_belong(tmp_path, case):
    """Outcome, reasons, warnings, and fields of the lead, of each record as cleaning record by record judged it.

    `made_lists.csv` was written by an implementation that asked each record one question after the other.
    """
    lists, how = CASES[case]
    with Path(__file__).with_name("made_lists.csv").open(encoding="utf-8", newline="") as file:
        expected = [row for row in csv.DictReader(file) if row.pop("case") == case]

    files = [leads.read(path) for path in written(tmp_path, lists)]
    cleaned = leads.clean(files, **how)

    frames = [getattr(cleaned, name).reindex(columns=list(expected[0])) for name in OUTCOMES]
    texts = [frame.astype("str").where(frame.notna(), "") for frame in frames]
    assert pd.concat(texts).to_dict("records") == expected
    for frame in (cleaned.clean, cleaned.rejected, cleaned.duplicates, cleaned.do_not_call):
        for own, of_file in frame.groupby("_file"):
            (file,) = (each for each in files if each.name == own)
            names = [name for name in file.frame if name in frame and name not in LEAD_COLUMNS]
            cells = file.frame.loc[np.isin(file.rows, of_file["_row"]), names]
            assert of_file[names].to_numpy().tolist() == cells.to_numpy().tolist()


def both(tmp_path: Path, paths: list[Path], how: dict | None = None, **told) -> None:
    """Clean the files in memory and in blocks, and compare every byte of what is written."""
    cleaned = leads.clean([leads.read(path) for path in paths], **told)
    expected = leads.write(cleaned, tmp_path / "whole").paths

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading_rows, "PIECE_BYTES", 512)
        done = leads.clean_files(paths, tmp_path / "blocks", **told, **(how or {}))

    assert done.counts == cleaned.counts
    assert done.reasons == cleaned.reasons
    assert done.warnings == cleaned.warnings
    assert done.paths.keys() == expected.keys()
    for key, path in expected.items():
        assert done.paths[key].read_bytes() == path.read_bytes(), key


@pytest.mark.parametrize("case", CASES)
def test_files_are_cleaned_in_blocks_as_they_are_in_memory(tmp_path, case):
    """Every outcome, reason, warning, line and cell, and the report, with policies and without."""
    lists, how = CASES[case]

    both(
        tmp_path, written(tmp_path, [(seed, rows * 2, sign) for seed, rows, sign in lists]), **how
    )


def test_on_the_disk(tmp_path):
    """What waits on the disk and is compared there comes back the same."""
    paths = written(tmp_path, [(3, 150, ","), (4, 150, ",")])

    both(tmp_path, paths, {"memory_bytes": 0}, region="US")


@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "xlsx"])
def test_forms(tmp_path, form):
    """The other formats too."""
    path = tmp_path / "list.csv"
    path.write_text(made(0, 60), newline="")
    whole = leads.clean(leads.read(path), region="US")
    expected = leads.write(whole, tmp_path / "whole", form=form).paths

    done = leads.clean_files([path], tmp_path / "blocks", region="US", form=form)

    for key in ("clean", "set_aside"):
        assert leads.read(done.paths[key]).frame.equals(leads.read(expected[key]).frame)


def test_a_file_of_another_encoding_is_read_whole(tmp_path):
    """cp1252, and a workbook, beside UTF-8."""
    (tmp_path / "old.csv").write_bytes("Name;Phone\nJosé;212-555-0142\nZoë;12\n".encode("cp1252"))
    (tmp_path / "new.csv").write_text("Name;Phone\nAnn;212-555-0142\n", encoding="utf-8-sig")

    both(tmp_path, [tmp_path / "old.csv", tmp_path / "new.csv"], region="US")


@pytest.mark.usefixtures("in_blocks")
def test_what_is_told_is_believed(tmp_path):
    """Delimiter, header and quote."""
    path = tmp_path / "list.txt"
    path.write_text("Ann|212-555-0142\nBob|212-555-0143\n")

    done = leads.clean_files(
        [path],
        tmp_path / "out",
        region="US",
        options=ReadOptions(delimiter="|", header=("name", "phone")),
    )

    assert done.counts["clean"] == 2


def test_nothing_is_written_where_nothing_can_be(tmp_path):
    """A file without a phone column leaves no file and no folder with data behind."""
    path = tmp_path / "list.csv"
    path.write_text("town,size\nNY,1\n")

    with pytest.raises(LeadFileError, match="phone"):
        leads.clean_files([path], tmp_path / "out", region="US", scratch=tmp_path)

    assert sorted(one.name for one in tmp_path.iterdir()) == ["list.csv"]
