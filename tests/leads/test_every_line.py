"""Whatever the bytes are: a lead file in which each line has one place, or a clear error."""

from __future__ import annotations

import contextlib
import gzip
import io
import itertools
import zipfile

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dialframe.errors import LeadFileError
from dialframe.leads import LeadFile

QUICK = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

#: Pieces of which files are made that are nearly tables.
PIECE = st.sampled_from(
    [
        "Name", "Phone", "name,phone", "Ann", "212-555-0142", "+1 212 555 0143", "a@example.com",
        ",", ",", ",", ";", "\t", "|", " ", "  ", ", ", "||", "~", "^", ":", "#", "# note", "'",
        '"', '"', '""', '","', '\\"', "\\", "\n", "\n", "\n", "\r\n", "\r", "\n\n", "sep=;\n",
        "Total", "Total,2\n", "1.5", "10", "2024-01-05", "\x00", "\ufeff", "\u200b", "é", "日本",
        "{", "}", '{"a":1}', "[", "]", "[1,2]", '[{"a":1},', "=1+1", "-", "NA", "x" * 50,
    ]
)  # fmt: skip
TEXT = st.lists(PIECE, min_size=1, max_size=60).map("".join)
ENCODING = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "shift_jis"])


def read(lead_file, data: bytes, name: str = "leads.csv") -> LeadFile | None:
    with contextlib.suppress(LeadFileError):
        return lead_file(data, name)
    return None


def check(file: LeadFile) -> None:
    """Rows, lines and skipped lines agree with each other."""
    assert len(file.lines) == len(file.rows) == len(file.frame)
    assert file.records >= len(file.frame)
    ordinals = sorted([*file.rows.tolist(), *file.skipped["_row"].dropna().tolist()])
    assert ordinals == list(range(1, len(ordinals) + 1))
    assert all(at < len(file.frame) for at in (*file.faults, *file.warnings, *file.raws))
    if file.decisions.format not in ("csv", "tsv"):
        return
    starts = [*file.lines.tolist(), *file.skipped["_line"].tolist()]
    if file.decisions.header_line is not None:
        starts.append(file.decisions.header_line)
    assert len(starts) == len(set(starts)), "a line has two places"
    assert min(starts) == 1, "the first line has no place"
    _check_spans(file, sorted(starts))


def _check_spans(file: LeadFile, starts: list[int]) -> None:
    """A record covers the lines up to the next one only if a cell of it does, or it is faulty."""
    following = dict(itertools.pairwise(starts))
    for at, line in enumerate(file.lines.tolist()):
        if line in following and at not in file.faults:
            inside = "\n".join(file.frame.iloc[at].tolist()).replace("\r\n", "\n")
            ends = inside.replace("\r", "\n").count("\n") - (file.frame.shape[1] - 1)
            assert following[line] - line <= ends + 1, "a line was swallowed"


@QUICK
@given(TEXT, ENCODING)
@example("name||phone\n\nAnn||2125550142\n", "utf-8")  # an empty line, and a long sign
def test_every_line_has_one_place(lead_file, text, encoding):
    """Header, preamble, skipped or record: each line is one of them, and none is two."""
    file = read(lead_file, text.encode(encoding, errors="replace"))

    if file is not None:
        check(file)


@QUICK
@given(st.binary(min_size=1, max_size=300), st.sampled_from([b"", b"name,phone\n", b"{", b"PAR1"]))
def test_any_bytes(lead_file, data, begin):
    """No file breaks the reader in any other way."""
    file = read(lead_file, begin + data)

    if file is not None:
        check(file)


@QUICK
@given(TEXT, st.integers(0, 200), st.binary(max_size=4), st.sampled_from(["gz", "zip", "xlsx"]))
@example(",", 145, b"\x00\x00", "xlsx")  # a member without a name
def test_damaged_containers(lead_file, text, at, damage, kind):
    """A packed file with a few bytes changed is read or refused, never a crash."""
    data = gzip.compress(text.encode()) if kind == "gz" else _zipped(text, kind)
    at %= len(data)

    file = read(lead_file, data[:at] + damage + data[at + len(damage) :], f"leads.{kind}")

    if file is not None:
        check(file)


def _zipped(text: str, kind: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        if kind == "xlsx":
            archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("leads.csv", text)
    return out.getvalue()


@QUICK
@given(
    st.lists(st.tuples(st.text(max_size=6), st.text(max_size=6)), min_size=1, max_size=6),
    st.sampled_from(",;\t|"),
)
def test_a_single_open_quote_spoils_one_record(lead_file, noise, delimiter):
    """Records behind the open quote are read as if it were not there."""
    noise = [(_plain(first, delimiter), _plain(second, delimiter)) for first, second in noise]
    rows = [
        f"{first}{delimiter}212-555-01{at:02d}{delimiter}{second}"
        for at, (first, second) in enumerate(noise)
    ]
    broken = f'Zed{delimiter}"212-555-0199{delimiter}x'
    lines = [delimiter.join(("Name", "Phone", "City")), *rows, broken, *rows, *rows]

    file = lead_file("\n".join(lines) + "\n", delimiter=delimiter)

    assert list(file.faults) == [len(rows)]
    assert file.lines.tolist() == list(range(2, len(lines) + 1))


def _plain(text: str, delimiter: str) -> str:
    return "n" + "".join(char for char in text if char.isalnum() and char != delimiter)
