"""Every form gives back every text, the same bytes each time, and nothing that a spreadsheet runs."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe import leads
from dialframe.errors import LeadFileError
from dialframe.leads import formats

FORMS = ("csv", "xlsx", "parquet", "jsonl")
NASTY = (
    "=cmd|' /C calc'!A0", "+1-212", "-5", "@x", "\ttab", "\rx", "＝1", "＋1", " =x", "\u00a0@y",
    "'=a", "''=b", "two\r\nlines", "_x0041_", "_x005F_x0041_", "bell\x07", "00123", "1e5", "TRUE",
    "null", "naïve ünï 漢", "#N/A", "a,b;c\"d", "x" * 5000,
)  # fmt: skip
CELLS = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\t\n=+-@'＝_x0"), max_size=12
)


def _frame(cells: list[str]) -> pd.DataFrame:
    rows = len(cells)
    return pd.DataFrame(
        {
            "Phone": pd.array(["12"] * rows, dtype="str"),
            "Note": pd.array(cells, dtype="str"),
            "_file": pd.array(["a.csv"] * rows, dtype="str"),
            "_line": pd.array(range(2, rows + 2), dtype="Int64"),
            "_row": pd.array(range(1, rows + 1), dtype="Int64"),
        }
    )


def _table(frame: pd.DataFrame) -> pa.Table:
    return pa.table(
        {
            name: pa.array(cells, pa.int64() if cells.dtype == "Int64" else pa.large_string())
            for name, cells in frame.items()
        }
    )


def _written(frame: pd.DataFrame, form: formats.Form) -> bytes:
    file = io.BytesIO()
    with formats.sink(form, file, list(frame.columns)) as add:
        add(_table(frame))
    return file.getvalue()


@pytest.mark.parametrize("form", FORMS)
def test_every_text_comes_back(tmp_path: Path, form: formats.Form) -> None:
    """What was written is read again cell by cell, without the columns that were added."""
    path = tmp_path / f"list.{form}"
    path.write_bytes(_written(_frame(list(NASTY)), form))
    found = leads.read(path).frame

    assert list(found.columns) == ["Phone", "Note"]
    assert found["Note"].tolist() == list(NASTY)


@pytest.mark.parametrize("form", ["xlsx", "parquet", "jsonl"])
@given(cells=st.lists(CELLS.filter(lambda cell: bool(cell.strip())), min_size=1, max_size=5))
def test_any_text_comes_back(
    tmp_path_factory: pytest.TempPathFactory, form: formats.Form, cells: list[str]
) -> None:
    """Escape and unescape are inverses in every form."""
    path = tmp_path_factory.mktemp("forms") / f"list.{form}"
    path.write_bytes(_written(_frame(cells), form))

    assert leads.read(path).frame["Note"].tolist() == cells


@pytest.mark.parametrize("form", FORMS)
def test_same_rows_give_the_same_bytes(form: formats.Form) -> None:
    """Nothing in a file depends on when it was written."""
    assert _written(_frame(list(NASTY)), form) == _written(_frame(list(NASTY)), form)


def test_parts_are_one_list() -> None:
    """Rows may come part by part."""
    frame = _frame(list(NASTY))
    for form in ("csv", "xlsx", "jsonl"):
        file = io.BytesIO()
        with formats.sink(form, file, list(frame.columns)) as add:
            add(_table(frame.iloc[:5]))
            add(_table(frame.iloc[5:]))
        assert file.getvalue() == _written(frame, form)


def test_workbook_holds_texts_alone() -> None:
    """Another reader finds each cell as a text in text format, formulas among them."""
    sheet = openpyxl.load_workbook(io.BytesIO(_written(_frame(list(NASTY[:4])), "xlsx"))).active
    assert sheet is not None
    cells = [cell for row in sheet.iter_rows(min_row=2, max_col=2) for cell in row]

    assert {(cell.data_type, cell.number_format) for cell in cells} == {("s", "@")}
    assert [cell.value for cell in cells[1::2]] == list(NASTY[:4])


def test_workbook_of_a_spreadsheet_that_saved_our_csv(tmp_path: Path) -> None:
    """There the apostrophes of the CSV are in the cells, and are taken off."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "list.rejected"
    for row in (["Phone", "Note", "_file", "_line", "_row"], ["12", "'=1", "a.csv", "2", "1"]):
        sheet.append(row)
    book.save(tmp_path / "list.xlsx")

    assert leads.read(tmp_path / "list.xlsx").frame["Note"].tolist() == ["=1"]


def test_csv_opens_without_running_anything() -> None:
    """No cell and no column name of the CSV begins like a formula."""
    frame = _frame(list(NASTY)).rename(columns={"Phone": "=Phone"})
    text = _written(frame, "csv").decode("utf-8-sig")
    found = pd.read_csv(io.StringIO(text, newline=""), dtype=str, keep_default_na=False)

    assert not any(str(name).startswith("=") for name in found.columns)
    numbers = found["Note"].str.fullmatch(r"[+-]\d+([.,]\d+)*%?")
    assert not found["Note"][~numbers].str.match(r"[ \u00a0]*[=+\-@\t\r＝＋－＠]").any()


def test_json_lines_are_typed() -> None:
    """Line numbers are numbers, cells are texts."""
    (line,) = _written(_frame(["00123"]), "jsonl").splitlines()

    assert json.loads(line)["Note"] == "00123"
    assert json.loads(line)["_line"] == 2


@pytest.mark.parametrize(
    ("rows", "cell"),
    [(3, "x"), (1, "x" * (formats.MAX_CELL_CHARS + 1))],
    ids=["rows", "cell"],
)
def test_what_a_sheet_cannot_hold_is_refused(
    monkeypatch: pytest.MonkeyPatch, rows: int, cell: str
) -> None:
    """More rows or a longer cell than a sheet holds is an error that names other forms."""
    monkeypatch.setattr(formats, "MAX_ROWS", 3)

    with pytest.raises(LeadFileError, match="parquet"):
        _written(_frame([cell] * rows), "xlsx")


def test_workbook_names_no_machine_and_no_day() -> None:
    """Parts carry the format's first instant, and no user's rights."""
    with zipfile.ZipFile(io.BytesIO(_written(_frame(["x"]), "xlsx"))) as book:
        assert {part.date_time[0] for part in book.infolist()} == {1980}
        assert {part.external_attr for part in book.infolist()} <= {0, 0o600 << 16}
