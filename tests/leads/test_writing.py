"""All files or none, for the owner alone, the same bytes each time, and fit to be read again."""

from __future__ import annotations

import json
import resource
import signal

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialframe import leads
from dialframe.errors import ConfigError, LeadFileError

TEXT = (
    "Ref,Name,Phone,Notes\n"
    "1,Ann,212-555-0142,=1+1\n"
    '2,"Roe, Bob",12,"two\nlines"\n'
    "3,Cy,212-555-0142,'=x\n"
    "\n"
    '4,"Di,212-555-0144,x\n'
    "5,Ed,212-555-0145,a,b\n"
    "6,Flo,212-555-0146,\n"
)


@pytest.fixture
def cleaned(lead_file):
    return leads.clean(lead_file(TEXT), region="US")


def test_three_files_are_written_and_none_without_a_row(cleaned, lead_file, tmp_path):
    """The clean list, what was set aside, the report; a list that has no row any more is deleted."""
    out = tmp_path / "out"
    written = leads.write(cleaned, out)

    names = ["leads.clean.csv", "leads.report.json", "leads.set_aside.csv"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert set(written.paths) == {"clean", "set_aside", "report"}
    for text, left in (("Phone\n212-555-0142\n", names[:2]), ("Phone\n12\n", names[1:])):
        leads.write(leads.clean(lead_file(text), region="US"), out)
        assert sorted(path.name for path in out.iterdir()) == left


def test_files_are_for_their_owner_alone(cleaned, tmp_path):
    """Mode 0600 in a folder of mode 0700."""
    leads.write(cleaned, tmp_path / "out")

    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o600}


def aside(cleaned, folder, **more) -> pd.DataFrame:
    """What was set aside, as the file has it."""
    path = leads.write(cleaned, folder, **more).paths["set_aside"]
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_people_can_open_the_files(cleaned, tmp_path):
    """UTF-8 with a mark, CR LF, original header and cells, then what became of each record, in its order, and why."""
    raw = leads.write(cleaned, tmp_path).paths["set_aside"].read_bytes()
    frame = aside(cleaned, tmp_path)

    assert raw.startswith(
        b"\xef\xbb\xbfRef,Name,Phone,Notes,_file,_line,_row,_outcome,_reason,_remedy"
    )
    assert b"\r\n" in raw
    assert frame["Name"].tolist() == ["Roe, Bob", "Cy", "", '"Di', "Ed"]
    assert frame["Notes"].tolist()[0] == "two\nlines"
    assert frame["_outcome"].tolist() == [
        "rejected",
        "duplicate",
        "skipped",
        "rejected",
        "rejected",
    ]
    reasons = ["phone_too_short", "duplicate_in_file", "blank", "unclosed_quote", "too_many_cells"]
    assert frame["_reason"].tolist() == reasons
    assert frame["_line"].tolist() == ["3", "5", "6", "7", "8"]
    assert all(frame["_remedy"].str.len())
    assert frame["_raw"].tolist() == ["", "", "", '4,"Di,212-555-0144,x', "5,Ed,212-555-0145,a,b"]


def test_formulas_are_disarmed_and_numbers_stay(cleaned, tmp_path):
    """A cell that a spreadsheet could run begins with an apostrophe, E.164 does not."""
    frame = pd.read_csv(
        leads.write(cleaned, tmp_path).paths["clean"], dtype=str, keep_default_na=False
    )

    assert frame["phone"].tolist() == ["+12125550142", "+12125550146"]
    assert frame["Notes"].tolist() == ["'=1+1", ""]


def test_the_same_input_gives_the_same_bytes(lead_file, tmp_path):
    """No clock, no chance, no order of a hash in any file."""
    runs = []
    for folder in ("a", "b"):
        paths = leads.write(leads.clean(lead_file(TEXT), region="US"), tmp_path / folder).paths
        runs.append({name: path.read_bytes() for name, path in paths.items()})

    assert runs[0] == runs[1]


def test_the_report_names_its_files(cleaned, tmp_path):
    """Rows and hash of each, so that a copy can be checked."""
    import hashlib

    paths = leads.write(cleaned, tmp_path).paths
    report = json.loads(paths["report"].read_text())

    assert report["counts"]["records"] == 7
    for output in report["outputs"]:
        data = (tmp_path / output["name"]).read_bytes()
        assert output["sha256"] == hashlib.sha256(data).hexdigest()


def test_a_mended_file_of_what_was_set_aside_can_be_cleaned_again(cleaned, tmp_path):
    """Its added columns are dropped, its apostrophes taken off, its records judged anew."""
    path = leads.write(cleaned, tmp_path).paths["set_aside"]
    path.write_bytes(path.read_bytes().replace(b",12,", b",212-555-0143,", 1))

    again = leads.read(path)
    second = leads.clean(again, region="US")

    assert again.header == ("Ref", "Name", "Phone", "Notes")
    assert again.decisions.dropped_columns[:3] == ("_file", "_line", "_row")
    assert second.clean["phone"].tolist() == ["+12125550143"]
    assert second.rejected["_reason"].tolist() == ["unclosed_quote", "too_many_cells"]
    assert second.rejected["_raw"].tolist() == cleaned.rejected["_raw"].tolist()[1:]


def test_what_only_others_forbid_stays_aside_without_them(lead_file, tmp_path):
    """A duplicate, and a number of a list or of another record, until its number is another one."""
    text = "Ref,Phone,DNC\n1,212-555-0142,\n2,212-555-0142,\n3,212-555-0143,\n4,212-555-0144,yes\n5,212-555-0144,\n"
    first = leads.clean(lead_file(text), region="US", do_not_call=["212-555-0143"])
    path = leads.write(first, tmp_path).paths["set_aside"]

    again = leads.clean(path, region="US")
    assert again.counts["clean"] == 0
    assert again.reasons["duplicates"] == first.reasons["duplicates"] == {"duplicate_in_file": 1}
    assert again.reasons["do_not_call"] == first.reasons["do_not_call"]

    path.write_bytes(path.read_bytes().replace(b"2,212-555-0142", b"2,212-555-0147"))
    assert leads.clean(path, region="US").clean["phone"].tolist() == ["+12125550147"]


@pytest.mark.parametrize("form", ["csv", "xlsx", "jsonl", "parquet"])
def test_damage_that_nobody_mended_stays_damage(cleaned, tmp_path, form):
    """In every form, and again in the file that is written of the file."""
    path = leads.write(cleaned, tmp_path / "a", form=form).paths["set_aside"]
    for folder in ("b", "c"):
        again = leads.clean(leads.read(path), region="US")

        assert len(again.clean) == 0
        assert again.reasons == cleaned.reasons
        path = leads.write(again, tmp_path / folder, form=form).paths["set_aside"]


@pytest.mark.parametrize(
    ("column", "value"), [("Notes", "a,b"), ("Phone", "212-555-0146"), ("_reason", "")]
)
def test_damage_that_somebody_mended_is_gone(cleaned, tmp_path, column, value):
    """One cell that was put right is enough, and so is a reason that was taken away."""
    frame = aside(cleaned, tmp_path)
    frame.loc[frame["_reason"] == "too_many_cells", column] = value
    frame.to_csv(tmp_path / "mended.csv", index=False)

    again = leads.clean(leads.read(tmp_path / "mended.csv"), region="US")

    assert again.clean["full_name"].tolist() == ["Ed"]
    assert again.reasons["rejected"] == {"phone_too_short": 1, "unclosed_quote": 1}


def test_a_file_saved_by_a_german_spreadsheet_is_known_too(cleaned, tmp_path):
    """Semicolons and quotes around everything do not hide the added columns."""
    frame = aside(cleaned, tmp_path)
    frame.to_csv(tmp_path / "saved.csv", sep=";", index=False, quoting=1, encoding="utf-8-sig")

    again = leads.read(tmp_path / "saved.csv")

    assert again.frame.to_numpy().tolist()[1] == ["3", "Cy", "212-555-0142", "'=x"]


def test_clean_leads_can_be_read_again(cleaned, tmp_path):
    """As the same leads, fields and all."""
    path = leads.write(cleaned, tmp_path).paths["clean"]
    again = leads.clean(leads.read(path), region="US")

    own = ["phone", "full_name", "external_id", "Notes"]
    assert again.clean[own].to_numpy().tolist() == cleaned.clean[own].to_numpy().tolist()
    assert again.leftovers == cleaned.leftovers


def test_nothing_half_written_is_left_on_a_full_disk(cleaned, tmp_path):
    """Old files stay whole, new ones do not appear, and the error says why."""
    out = tmp_path / "out"
    leads.write(cleaned, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
        with pytest.raises(LeadFileError, match="cannot be written: file too large"):
            leads.write(cleaned, out)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, ignored)

    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_folder_that_cannot_be_made_is_named(cleaned, tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "out").write_text("")

    with pytest.raises(LeadFileError, match="cannot be written"):
        leads.write(cleaned, tmp_path / "out")


def test_an_input_is_never_replaced(tmp_path):
    """A list that bears the name of an output is not written over."""
    (tmp_path / "x.clean.csv").write_text("phone\n212-555-0142\n")
    cleaned = leads.clean(leads.read(tmp_path / "x.clean.csv"), region="US")

    with pytest.raises(LeadFileError, match="would be replaced"):
        leads.write(cleaned, tmp_path, stem="x")
    with pytest.raises(ConfigError, match="leave out the folder"):
        leads.write(cleaned, tmp_path, stem="../x")


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("a.csv", "a"),
        ("a.b.csv.gz", "a.b"),
        ("a.xlsx", "a"),
        ("list", "list"),
        ("a.rejected.csv", "a.rejected"),
    ],
)
def test_stems(lead_file, tmp_path, name, stem):
    """Endings of formats are taken off, other dots stay."""
    import gzip

    data = b"phone\n212-555-0142\n"
    file = lead_file(gzip.compress(data) if name.endswith("gz") else data, name)

    paths = leads.write(leads.clean(file, region="US"), tmp_path / "out").paths
    assert paths["clean"].name == f"{stem}.clean.csv"


def test_several_files_get_one_set(tmp_path):
    """Named after the first, with how many more there were."""
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("phone\n212-555-0142\n")
    cleaned = leads.clean(
        [leads.read(tmp_path / "a.csv"), leads.read(tmp_path / "b.csv")], region="US"
    )

    assert leads.write(cleaned, tmp_path / "out").paths["clean"].name == "a_and_1_more.clean.csv"


CELL = st.text(
    st.one_of(st.characters(exclude_categories=["Cs", "Cc"]), st.sampled_from("\r\n\t'=+-@\"")),
    max_size=8,
)


@settings(
    max_examples=12,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5))
def test_any_cell_survives_the_way_out_and_in(lead_file, tmp_path, rows):
    """What stood in a record that is not clean stands there when its file is read again."""
    frame = pd.DataFrame(rows, columns=["=a", "b"]).assign(phone="12")
    path = tmp_path / "in.csv"
    frame.to_csv(path, index=False, encoding="utf-8")
    file = leads.read(path, delimiter=",", quote='"', header=1)
    cleaned = leads.clean(file, region="US", mapping={"phone": "phone"})

    paths = leads.write(cleaned, tmp_path).paths
    again = leads.read(paths["set_aside"])

    assert len(cleaned.clean) == 0
    filled = [row for row in again.frame.to_numpy().tolist() if any(map(str.strip, row))]
    assert filled == file.frame.to_numpy().tolist()
    assert again.header == file.header
