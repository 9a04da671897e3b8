"""A file of any kind becomes text cells with the right lines, and no record is lost or bent."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialframe import leads
from dialframe.errors import ConfigError, LeadFileError

TEXT = "Name,Phone,City\nAnn,212-555-0142,NY\nBob,212-555-0143,LA\n"


def test_cells_are_the_files_own(lead_file):
    """Leading zeros, blanks, NA and long numbers are text."""
    file = lead_file("id,phone,x\n007, 212-555-0142 ,NA\n1e5,2125550143.0,null\n")

    assert file.frame.to_numpy().tolist() == [
        ["007", " 212-555-0142 ", "NA"],
        ["1e5", "2125550143.0", "null"],
    ]
    assert set(map(str, file.frame.dtypes)) == {"str"}


def test_decisions_are_told(lead_file):
    """Everything that was found out is there to be read."""
    file = lead_file(
        "Liste\n\nName;Telefon\nJörg;030 23125 123\nÄnne;030 23125 124\n".encode("cp1252")
    )
    decisions = file.decisions

    assert (decisions.format, decisions.encoding, decisions.header_line) == ("csv", "cp1252", 3)
    assert decisions.preamble_lines == (1, 2)
    assert file.dialect == decisions.dialect
    assert file.dialect.delimiter == ";"
    assert file.header == ("Name", "Telefon")
    assert file.lines.tolist() == [4, 5]
    assert file.rows.tolist() == [1, 2]


def test_short_and_long_records(lead_file):
    """Short ones are filled up with a warning, long ones keep all their cells and are faulty."""
    file = lead_file(
        "Name,Phone,City\nAnn,212-555-0142\nBob,212-555-0143,LA,,\nCy,212-555-0144,SF,x,y\n"
        "Di,212-555-0145,NY\nEd,212-555-0146,NY\n"
    )

    assert file.frame["City"].tolist() == ["", "LA", "SF", "NY", "NY"]
    assert dict(file.warnings) == {0: ("short_row",)}
    assert dict(file.faults) == {2: "too_many_cells"}
    assert dict(file.raws) == {2: "Cy,212-555-0144,SF,x,y"}


def test_repaired_lines_flag_their_record(lead_file):
    """The record with the strange byte carries the warning, also inside a cell over lines."""
    data = (
        'name,phone\nZoë,2125550142\n"Renée\nO'.encode() + b'\x92Dea",2125550143\nBob,2125550144\n'
    )

    file = lead_file(data)

    assert file.frame["name"][1] == "Renée\nO’Dea"
    assert dict(file.warnings) == {1: ("encoding_repaired",)}
    assert file.decisions.repaired_lines == (4,)


def test_skipped_lines_are_kept_with_their_code(lead_file):
    """Preamble is no record; blank lines, repeated headers and totals are."""
    file = lead_file(f"Autumn\n{TEXT}Name,Phone,City\n\nCy,212-555-0144,SF\nTotal,3,\n")

    skipped = file.skipped.set_index("_code")
    assert skipped["_line"].to_dict() == {
        "preamble": 1,
        "repeated_header": 5,
        "blank": 6,
        "footer": 8,
    }
    assert skipped["_row"].dropna().to_dict() == {"repeated_header": 3, "blank": 4, "footer": 6}
    assert file.records == 6
    assert sorted([*file.rows, *skipped["_row"].dropna()]) == [1, 2, 3, 4, 5, 6]


def test_the_sep_line_is_no_record(lead_file):
    """`sep=;` is honored, dropped, and kept among the skipped lines."""
    file = lead_file("sep=;\nName;Phone\nAnn;2125550142\n")

    assert file.dialect.delimiter == ";"
    assert file.lines.tolist() == [3]
    assert file.skipped["_code"].tolist() == ["sep_line"]
    assert file.records == 1


def test_every_decision_can_be_told(lead_file):
    """Encoding, delimiter, quote and header from the caller win."""
    data = "'Jo|rg'|030 23125 123\n".encode("utf-16-le")

    file = lead_file(data, encoding="utf-16-le", delimiter="|", quote="'", header=["who", "tel"])

    assert file.frame.to_numpy().tolist() == [["Jo|rg", "030 23125 123"]]
    assert file.frame.columns.tolist() == ["who", "tel"]


def test_a_wrong_encoding_is_told_with_the_file(lead_file):
    """The path, the byte and the line."""
    with pytest.raises(LeadFileError, match=r"leads\.csv: byte 8 .* is not utf-8") as error:
        lead_file(b"name\nJos\xe9,1\n", encoding="utf-8")

    assert error.value.line == 2
    with pytest.raises(ConfigError):
        lead_file(TEXT, encoding="nonsense")


def test_gzip_is_unpacked(lead_file):
    """Any text format may be packed."""
    file = lead_file(gzip.compress(TEXT.encode()), "leads.csv.gz")

    assert len(file.frame) == 2
    assert file.decisions.gzipped


def test_binary_data_is_refused(lead_file):
    """Bytes that no encoding makes sense of are no table, whatever the file is called."""
    with pytest.raises(LeadFileError, match="binary data"):
        lead_file(bytes(range(256)) * 40)


def test_nul_and_control_characters_stay_in_the_cell(lead_file):
    """The cell is the file's; only mapped values are tidied."""
    assert lead_file("name,phone\nA\x00nn,2125550142\n").frame["name"][0] == "A\x00nn"


def test_a_file_of_a_header_only_has_no_records(lead_file):
    """An empty list is a list."""
    file = lead_file("name,phone\n")

    assert (len(file.frame), file.records) == (0, 0)
    assert set(map(str, file.frame.dtypes)) == {"str"}


def test_progress_of_a_bad_record_does_not_hide_the_next(lead_file):
    """One open quote costs one record, however long the file is."""
    rows = "".join(f"P{n},212-555-{n:04d},NY\n" for n in range(100, 200))

    file = lead_file(f'Name,Phone,City\nX,"212-555-0099,NY\n{rows}')

    assert dict(file.faults) == {0: "unclosed_quote"}
    assert len(file.frame) == 101


def test_only_columns_of_this_package_are_dropped(lead_file):
    """A foreign file may have a column `_line` of its own."""
    file = lead_file("name,phone,_line\nAnn,2125550142,7\n")

    assert file.frame.columns.tolist() == ["name", "phone", "_line (2)"]
    assert file.decisions.dropped_columns == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.binary(min_size=1, max_size=400), st.booleans())
def test_any_bytes_are_a_table_or_a_clear_error(lead_file, data, begins_well):
    """No file breaks the reader in any other way, and lines only grow."""
    file = None
    with contextlib.suppress(LeadFileError):
        file = lead_file(b"name,phone\nAnn,2125550142\n" * begins_well + data)

    if file is not None:
        assert (file.lines[1:] >= file.lines[:-1]).all()
        assert len(file.lines) == len(file.rows) == len(file.frame)
        assert file.records >= len(file.frame)


CELL = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\x85"), max_size=10
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=8))
def test_rows_in_are_rows_out(lead_file, rows):
    """Every row that was written is a row that is read, or a skipped one, cell by cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["Name", "Phone", "City"])
    for at, (name, city) in enumerate(rows):
        writer.writerow([name, f"212-555-01{at:02d}", city])

    file = lead_file("\ufeff" + text.getvalue(), delimiter=",", quote='"')

    assert file.records == len(rows)
    assert file.frame["Phone"].tolist() == [f"212-555-01{at:02d}" for at in range(len(rows))]
    assert list(zip(file.frame["Name"], file.frame["City"], strict=True)) == rows


def test_paths_may_be_text(tmp_path):
    """A string is a path as well."""
    (tmp_path / "a.csv").write_text(TEXT)

    assert leads.read(str(tmp_path / "a.csv")).name == "a.csv"
