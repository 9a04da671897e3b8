"""The workbench's model: a person's steps without a browser."""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.errors import ConfigError, LeadFileError
from dialframe.flows.lead_cleaning import Recipe
from dialframe.suppression import SuppressionList
from dialframe.widgets.lead_workbench_model import LeadBench
from dialframe.widgets.work_folder import entry, plain_name
from widgets.conftest import AUTUMN


@pytest.fixture
def bench(folder: Path) -> LeadBench:
    """A bench with the ugliest list open."""
    made = LeadBench(folder)
    made.open(AUTUMN)
    return made


def test_a_dry_run_counts_every_record_and_writes_nothing(bench: LeadBench) -> None:
    """What is looked at leaves the folder as it was."""
    before = sorted(bench.folder.iterdir())
    said = bench.clean()
    assert "250 clean" in said
    assert "Nothing is written" in said
    assert sorted(bench.folder.iterdir()) == before


def test_the_manifest_names_size_and_hash_of_every_file(bench: LeadBench) -> None:
    """What the manifest says of a file is true of its bytes, and only its owner reads it."""
    bench.write()
    manifest = json.loads(bench.written["manifest"].read_text())
    files = {kind: path for kind, path in bench.written.items() if kind != "manifest"}
    assert manifest["files"] == [entry(kind, path) for kind, path in files.items()]
    assert bench.written["manifest"].stat().st_mode & 0o077 == 0


def test_issues_page_through_all_records_set_aside(bench: LeadBench) -> None:
    """The pages together are every record that is not clean, and each says which of how many."""
    bench.clean()
    seen = 0
    for number in range(bench.issues().pages):
        bench.page = number
        seen += len(bench.issues().rows)
    counts = bench.prepared.cleaned.counts
    assert seen == counts["records"] - counts["clean"] == 53
    assert bench.issues().words == "51 to 53 of 53 records set aside"


def test_a_filter_by_reason_shows_that_reason_and_names_the_whole(bench: LeadBench) -> None:
    """`n of N` stays true under a filter."""
    bench.clean()
    for code, number in bench.reasons().items():
        bench.reason = code
        page = bench.issues()
        assert page.total == number
        assert set(page.rows["reason"]) == {code}
        assert page.whole == 53


def test_values_are_masked_until_they_are_asked_for(bench: LeadBench) -> None:
    """Numbers are shown whole only on request."""
    bench.clean()
    hidden, bench.reveal = bench.changes().rows, True
    shown = bench.changes().rows
    assert shown["after"].iloc[0].startswith("+1")
    assert "*" in hidden["after"].iloc[0]
    assert "*" not in shown["after"].iloc[0]


def test_before_and_after_are_the_files_cell_and_the_clean_one(bench: LeadBench) -> None:
    """`before` stands in the file at the line that is named, `after` in the clean list."""
    bench.clean()
    bench.reveal = True
    lines = (bench.folder / AUTUMN).read_text(encoding="utf-8").split("\n")
    clean = bench.prepared.cleaned.clean.set_index("_line")
    page = bench.changes()
    assert len(page.rows) == 50
    for row in page.rows.itertuples():
        assert all(part in lines[row.line - 1] for part in row.before.split(" | "))
        assert clean.loc[row.line, row.field] == row.after


def test_a_decision_is_undone(bench: LeadBench) -> None:
    """Undo goes back to the recipe before, step by step."""
    first = bench.recipe
    bench.decide(replace(first, mapping={"email": None}))
    assert "email" not in bench.decisions[0].columns.fields()
    bench.decide(replace(bench.recipe, region="GB"))
    bench.undo()
    assert bench.recipe.region is None
    bench.undo()
    assert bench.recipe is first
    assert "email" in bench.decisions[0].columns.fields()
    assert bench.undo() == "There is nothing to undo."


def test_a_decision_that_fails_leaves_the_state_as_it_was(bench: LeadBench) -> None:
    """A column that is not there is refused, and the recipe stays."""
    bench.clean()
    recipe, prepared = bench.recipe, bench.prepared
    with pytest.raises(LeadFileError, match="no column 'Telefax'"):
        bench.decide(replace(recipe, mapping={"phone": "Telefax"}))
    assert bench.recipe is recipe
    assert bench.prepared is prepared
    assert not bench.can_undo


#: What is no file of the folder, and what is said of it.
OUTSIDE = {
    **dict.fromkeys(
        ("../outside.csv", "/etc/passwd", "lists/../../outside.csv", "\0", "x\0y", "link.csv", ".."),
        "not inside the folder",
    ),
    **dict.fromkeys(("*.csv", "http://127.0.0.1:9/x.csv", "."), "there is no file"),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_only_a_file_of_the_folder_is_read(folder: Path, name: str) -> None:
    """No path or link leads out, no address is fetched, no pattern or folder read."""
    (folder / "link.csv").symlink_to(folder.parent / "outside.csv")
    with pytest.raises((ConfigError, LeadFileError), match=OUTSIDE[name]):
        LeadBench(folder).open(name)


def test_nothing_is_written_outside_the_folder(bench: LeadBench) -> None:
    """The folder of the output is held inside as well."""
    bench.clean()
    bench.out = "../elsewhere"
    with pytest.raises(ConfigError, match="not inside the folder"):
        bench.write()


@given(st.text(max_size=300))
def test_an_uploads_name_names_no_other_place(name: str) -> None:
    """Whatever a browser calls a file, it stays a plain name."""
    plain = plain_name(name)
    assert plain
    assert "/" not in plain
    assert "\\" not in plain
    assert not plain.startswith(".")
    assert Path(plain).name == plain


def test_an_upload_keeps_its_name_and_is_gone_with_the_bench(folder: Path) -> None:
    """An uploaded list is read under its own name from a private place."""
    bench = LeadBench(folder)
    place = bench.place_for("../../" + AUTUMN)
    place.write_bytes((folder / AUTUMN).read_bytes())
    assert place.parent.stat().st_mode & 0o077 == 0
    assert bench.open_upload(place) == f"{AUTUMN}: 303 records read."
    with pytest.raises(LeadFileError, match="not uploaded here"):
        bench.open_upload(folder.parent / "outside.csv")
    second = bench.place_for(AUTUMN)
    second.write_bytes(place.read_bytes())
    bench.open_upload(second)
    assert not place.exists()
    del bench
    gc.collect()
    assert not second.parent.parent.exists()


def test_a_file_changed_meanwhile_is_found_out(bench: LeadBench) -> None:
    """Before and after are not put together from two different files."""
    path = bench.folder / AUTUMN
    path.write_bytes(path.read_bytes() + b"\r\n")
    bench.clean()
    with pytest.raises(LeadFileError, match="changed since it was opened"):
        bench.changes()


def test_what_the_service_is_needed_for_says_what_is_missing(bench: LeadBench) -> None:
    """Without an account what to set; a campaign's name in place of its id is found at once."""
    with pytest.raises(ConfigError, match="DIALFRAME_API_KEY"):
        bench.screen()
    with pytest.raises(ConfigError, match="cmp_"):
        bench.bring_in("autumn")


def test_what_one_list_forbids_the_next_one_honors(tmp_path: Path) -> None:
    """The opt-outs of a list that was written are on the firm's own list from then on."""
    (tmp_path / "october.csv").write_text(
        "Phone,Do not call\n(212) 555-0142,yes\n(212) 555-0143,\n"
    )
    (tmp_path / "november.csv").write_text("Phone,Name\n(212) 555-0142,Ada\n(212) 555-0143,Bob\n")
    bench = LeadBench(
        folder=tmp_path,
        now=lambda: datetime(2026, 10, 3, tzinfo=UTC),
        recipe=Recipe("US"),
        suppression=SuppressionList.beside(tmp_path / "store"),
    )
    bench.open("october.csv")
    bench.clean()
    assert bench.suppression is not None
    assert len(bench.suppression) == 0
    bench.write()
    assert len(bench.suppression) == 1
    bench.open("november.csv")
    bench.clean()
    assert bench.reasons() == {"suppressed": 1}
