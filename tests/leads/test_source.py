"""What is no table is refused in one sentence, and no line is read without end."""

from __future__ import annotations

import gzip
import io
import zipfile

import pytest

from dialframe.errors import LeadFileError
from dialframe.leads import input_files as file_bytes


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, "x")
    return out.getvalue()


REFUSED = {
    "empty": (b"", "empty"),
    "blank": (b" \r\n\t\n", "empty"),
    "only a mark": (b"\xef\xbb\xbf", "empty"),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(99), "PNG"),
    "program": (b"\x7fELF" + bytes(99), "program"),
    "document": (b"%PDF-1.7\n", "PDF"),
    "damaged archive": (b"PK\x03\x04" + b"x" * 50, "damaged"),
    "web page": (b"<!DOCTYPE html><table></table>", "web page"),
    "old sheet that is a page": (b"  <html><table>", "web page"),
    "cut gzip": (gzip.compress(b"phone\n2125550142\n" * 99)[:-9], "damaged gzip"),
    "gzip and junk": (gzip.compress(b"phone\n") + b"junk", "damaged gzip"),
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_what_is_no_table_is_refused_in_words(tmp_path, case):
    """The error says what the file is."""
    data, words = REFUSED[case]
    path = tmp_path / "leads.csv"
    path.write_bytes(data)

    with pytest.raises(LeadFileError, match=words):
        file_bytes.load(path)


def test_missing_files_and_folders_are_named(tmp_path):
    """The path stands in the sentence and in the error."""
    with pytest.raises(LeadFileError, match="does not exist") as missing:
        file_bytes.load(tmp_path / "no.csv")
    with pytest.raises(LeadFileError, match="is a folder"):
        file_bytes.load(tmp_path)

    assert missing.value.path == tmp_path / "no.csv"


def test_a_line_without_end_is_given_up_early(tmp_path, monkeypatch):
    """Only as much is read as shows that the line does not end."""
    path = tmp_path / "leads.csv"
    path.write_bytes(b"phone\n" + b"x" * 9_000_000)
    taken = []
    gather = file_bytes._gather
    monkeypatch.setattr(
        file_bytes,
        "_gather",
        lambda p, chunks, most: gather(p, (taken.append(1) or c for c in chunks), most),
    )

    with pytest.raises(LeadFileError, match="a line of more than 2 MiB"):
        file_bytes.load(path, max_line_bytes=2 * 2**20)

    assert len(taken) <= 4


def test_a_packed_line_without_end_is_given_up_early(tmp_path):
    """A small gzip file cannot fill the memory."""
    path = tmp_path / "leads.csv.gz"
    path.write_bytes(gzip.compress(b"0" * 20_000_000))

    with pytest.raises(LeadFileError, match="a line of more than 1 MiB"):
        file_bytes.load(path, max_line_bytes=2**20)


def test_gzip_members_follow_each_other(tmp_path):
    """Files that were joined after packing are read to the end, padding included."""
    path = tmp_path / "leads.csv.gz"
    path.write_bytes(gzip.compress(b"phone\n") + gzip.compress(b"2125550142\n") + bytes(512))

    loaded = file_bytes.load(path)

    assert loaded.data == b"phone\n2125550142\n"
    assert loaded.gzipped


def test_digest_is_that_of_the_file_on_disk(tmp_path):
    """The hash can be checked with any tool, packed or not."""
    import hashlib

    path = tmp_path / "leads.csv.gz"
    path.write_bytes(gzip.compress(b"phone\n2125550142\n" * 100_000))

    assert file_bytes.load(path).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"PAR1", "parquet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "workbook"),
        (b"phone\n", "text"),
        (zipped("xl/workbook.xml"), "workbook"),
        (zipped("a.csv"), "archive"),
    ],
)
def test_kinds_are_told_by_content(tmp_path, head, kind):
    """The name of a file says nothing, its first bytes do."""
    assert file_bytes.kind_of(tmp_path, head) == kind
