"""A table is found in a file, a folder, a glob, an archive or an object store, or a sentence says why not."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest

from dialframe import leads
from dialframe.errors import LeadFileError
from dialframe.leads.input_files import is_table

LEEDS = b"Name,Phone\nAnn,212-555-0142\nBob,212-555-0143\n"
LYON = b"name,phone\n\nCy,212-555-0144\n"
OTHER = b"id;city\n1;Rome\n"


def sharing(times: int, data: bytes) -> bytes:
    """An archive whose members are all the same bytes of it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
        written.writestr("a.csv", data)
        written.filelist *= times
    return out.getvalue()


def archive(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as written:
        for name, data in members.items():
            written.writestr(name.replace("_csv", ".csv").replace("_md", ".md"), data)
    return out.getvalue()


@pytest.fixture
def fairs(tmp_path: Path) -> Path:
    """A folder with two lists of the same columns and other things."""
    folder = tmp_path / "fairs"
    folder.mkdir()
    (folder / "leeds.csv").write_bytes(LEEDS)
    (folder / "lyon.csv").write_bytes(LYON)
    (folder / "notes.md").write_bytes(b"no table")
    (folder / ".hidden.csv").write_bytes(OTHER)
    return folder


def test_a_folder_of_equal_tables_is_one_lead_file(fairs):
    """Records follow each other, and each knows its file and its line there."""
    file = leads.read(fairs)

    assert file.frame["Name"].tolist() == ["Ann", "Bob", "Cy"]
    assert file.lines.tolist() == [2, 3, 3]
    assert file.rows.tolist() == [1, 2, 4]
    assert [file.parts[at].name for at in file.part_of] == ["leeds.csv", "leeds.csv", "lyon.csv"]
    assert file.skipped["_row"].tolist() == [3]
    assert file.records == 4


def test_a_glob_and_an_archive_too(fairs, tmp_path):
    """The same files behind a pattern and in a zip."""
    (tmp_path / "fairs.zip").write_bytes(archive(leeds_csv=LEEDS, lyon_csv=LYON, read_md=b"x"))

    for path in (fairs / "*.csv", f"{tmp_path}/**/l*.csv", tmp_path / "fairs.zip"):
        assert leads.read(path).frame["Name"].tolist() == ["Ann", "Bob", "Cy"]


def test_an_archive_with_one_table_is_that_table(tmp_path):
    """And the table knows that it lies inside."""
    (tmp_path / "fair.zip").write_bytes(archive(leeds_csv=LEEDS, read_md=b"x"))

    file = leads.read(tmp_path / "fair.zip")

    assert file.path == tmp_path / "fair.zip" / "leeds.csv"
    assert (len(file.frame), file.parts, file.part_of) == (2, (), None)


def test_files_are_not_called_after_what_a_terminal_obeys(tmp_path):
    """An archive's members were named by a stranger."""
    with zipfile.ZipFile(tmp_path / "fair.zip", "w") as written:
        written.writestr("\x1b[31m\u202ered.csv", LEEDS)

    cleaned = leads.clean_files([tmp_path / "fair.zip"], tmp_path / "out", region="US")

    assert cleaned.paths["clean"].parent == tmp_path / "out"
    assert all(path.name.isprintable() for path in (tmp_path / "out").iterdir())


def test_different_tables_are_refused_and_can_be_chosen(tmp_path):
    """The error names them; a member is a path, and `read_all` gives each."""
    path = tmp_path / "fair.zip"
    path.write_bytes(archive(leeds_csv=LEEDS, other_csv=OTHER))

    with pytest.raises(LeadFileError, match=r"different columns: leeds\.csv, other\.csv"):
        leads.read(path)
    assert leads.read(path / "other.csv").header == ("id", "city")
    assert [file.name for file in leads.read_all(path)] == ["leeds.csv", "other.csv"]
    with pytest.raises(LeadFileError, match=r"no member no\.csv; it has: leeds\.csv, other\.csv"):
        leads.read(path / "no.csv")


def test_faults_and_warnings_follow_their_rows(tmp_path):
    """A row of the second file is found at its place among all."""
    (tmp_path / "a.csv").write_bytes(LEEDS)
    (tmp_path / "b.csv").write_bytes(b"Name,Phone\nCy,1,2,3\nDi\nEd,1\nFi,2\n")

    file = leads.read(tmp_path)

    assert dict(file.faults) == {2: "too_many_cells"}
    assert dict(file.warnings) == {3: ("short_row",)}


def test_zstandard_is_unpacked(tmp_path):
    """Also over a second packing, and a cut file is refused."""
    packed = pa.compress(LEEDS, codec="zstd", asbytes=True)
    (tmp_path / "leeds.csv.zst").write_bytes(packed)
    (tmp_path / "cut.csv.zst").write_bytes(packed[:-5])

    file = leads.read(tmp_path / "leeds.csv.zst")

    assert len(file.frame) == 2
    assert file.decisions.gzipped
    with pytest.raises(LeadFileError, match="damaged zstd"):
        leads.read(tmp_path / "cut.csv.zst")


def test_an_object_store_is_read_through_fsspec():
    """One object, a pattern, and a folder of objects."""
    store = fsspec.filesystem("memory")
    store.pipe({"/fairs/leeds.csv": LEEDS, "/fairs/lyon.csv": LYON, "/fairs/notes.md": b"x"})

    assert len(leads.read("memory://fairs/leeds.csv").frame) == 2
    assert len(leads.read("memory://fairs/*.csv").frame) == 3
    assert len(leads.read("memory://fairs").frame) == 3
    with pytest.raises(LeadFileError, match="does not exist"):
        leads.read("memory://fairs/no.csv")
    with pytest.raises(LeadFileError, match="cannot be reached"):
        leads.read("nowhere://fairs/no.csv")


def test_errors_of_a_store_become_the_packages_own():
    """A store without a key raises something that only it knows."""

    class NoKey(Exception):
        pass

    class Locked(fsspec.AbstractFileSystem):
        protocol = "locked"

        def info(self, path, **_):
            raise NoKey("unable to locate a key")

    fsspec.register_implementation("locked", Locked, clobber=True)

    with pytest.raises(
        LeadFileError, match=r"locked://a\.csv cannot be reached: unable to locate a key"
    ):
        leads.read("locked://a.csv")


#: What lies at a path, and the words that refuse it.
REFUSED = {
    "archive without tables": (
        archive(read_md=b"x", more_md=b"y"),
        "holds no table; it has: read.md, more.md",
    ),
    "archive in an archive": (
        archive(**{"in.zip": archive(a_csv=LEEDS)}),
        "archive inside an archive",
    ),
    "trap": (archive(a_csv=bytes(70_000_000)), "more than 200 times its size"),
    "many small tables": (
        archive(**{f"a{number}_csv": LEEDS for number in range(201)}),
        "holds 201 tables, more than 200; unpack it into a folder",
    ),
    "trap of shared bytes": (
        sharing(190, LEEDS + b"a" * 1_000_000),
        "more than 200 times its size",
    ),
    "cut archive": (archive(a_csv=LEEDS)[:-9], "damaged workbook or archive"),
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_archives_that_are_refused(tmp_path, case):
    """In one sentence that says why."""
    data, words = REFUSED[case]
    (tmp_path / "fair.zip").write_bytes(data)

    with pytest.raises(LeadFileError, match=words):
        leads.read(tmp_path / "fair.zip")


def test_empty_folders_patterns_and_pipes_are_refused(tmp_path):
    """A pipe would be waited for without end."""
    (tmp_path / "notes.md").write_text("x")
    os.mkfifo(tmp_path / "pipe.csv")

    with pytest.raises(LeadFileError, match="holds no table"):
        leads.read(tmp_path)
    with pytest.raises(LeadFileError, match="matches no file"):
        leads.read(tmp_path / "*.tsv")
    with pytest.raises(LeadFileError, match="is a pipe or a device"):
        leads.read(tmp_path / "pipe.csv")


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    """Half of one list and half of another is no list."""
    from dialframe.leads import input_files as file_bytes

    class Growing(file_bytes.Packed):
        def __iter__(self):
            for chunk in super().__iter__():
                (tmp_path / "a.csv").write_bytes(LEEDS + LEEDS)
                yield chunk

    (tmp_path / "a.csv").write_bytes(LEEDS)
    plain = file_bytes.Packed
    file_bytes.Packed = Growing
    try:
        with pytest.raises(LeadFileError, match="changed while it was read"):
            file_bytes.load(tmp_path / "a.csv")
    finally:
        file_bytes.Packed = plain


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("a.csv", True), ("A.CSV", True), ("a.csv.gz", True), ("a.tsv.zst", True), ("b.zip", True),
        ("a.b.xlsx", True), ("notes.md", False), ("csv", False), (".a.csv", False), ("~$a.xlsx", False),
    ],
)  # fmt: skip
def test_names_of_tables(name, table):
    """By the ending, packed or not."""
    assert is_table(name) == table
