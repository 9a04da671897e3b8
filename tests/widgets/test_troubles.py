"""What goes wrong around a workbench: wrong files, a key that expires, two tabs, a start anew; said, kept, sent once."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from cli.commands import invoke
from dialframe.config import Progress
from dialframe.sandbox.launch import Sandbox
from dialframe.widgets import LeadBench, Workbench
from dialframe.widgets.jobs import Jobs
from dialframe.widgets.lead_workbench_model import Connect
from dialframe.widgets.work_folder import load_work, work_path
from widgets.conftest import AUTUMN

RULES = 'blocked_countries = ["RU"]\n\n[policy]\nbad_email = "reject"\n'


def _bomb() -> bytes:
    """An archive whose one list would be thirty gigabytes, packed in archives within it."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("list.csv", b"Phone\n" + b"0" * (30 << 20))
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"{number}.zip", inner.getvalue())
    return outer.getvalue()


_WRONG = {
    "letter.pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n" + bytes(range(256)) * 20,
    "letter.csv": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n" + bytes(range(256)) * 20,
    "empty.csv": b"",
    "blank.csv": b"\n\n  \n",
    "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9,
    "program.csv": b"\x7fELF" + bytes(range(256)) * 99,
    "broken.xlsx": b"PK\x03\x04" + bytes(300),
    "broken.gz": b"\x1f\x8b\x08" + bytes(60),
    "bomb.zip": _bomb(),
    "words.docx": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(999),
}


def _bench(folder: Path, **more: object) -> Workbench:
    return Workbench(folder, jobs=Jobs(inline=True), keep=folder.parent / "kept", **more)


def _open(bench: Workbench, name: str) -> Workbench:
    bench.path.value = name
    bench.open.click()
    return bench


@pytest.mark.parametrize("name", _WRONG)
def test_a_wrong_file_is_said_in_words_and_what_was_open_stays(folder: Path, name: str) -> None:
    """Neither a path nor an upload of it ends in a fault, and the list before it is still open."""
    (folder / name).write_bytes(_WRONG[name])
    bench = _open(_bench(folder), AUTUMN)
    _open(bench, name)
    assert bench.status.failed, bench.status.text
    place_ = bench.upload._place_for(name)
    place_.write_bytes(_WRONG[name])
    bench.upload._on_done(place_)
    assert bench.status.failed
    assert "fault of dialframe" not in bench.status.text
    assert bench.model.path.name == AUTUMN
    assert not bench.check.disabled


@pytest.mark.parametrize("name", ["nowhere.csv", "../outside.csv", "", "inner"])
def test_a_name_of_no_file_is_said_in_words_and_what_was_open_stays(
    folder: Path, name: str
) -> None:
    """Nothing there, outside, no name, and a folder of the folder."""
    (folder / "inner").mkdir()
    bench = _open(_open(_bench(folder), AUTUMN), name)
    assert bench.status.failed
    assert "no file" in bench.status.text.lower() or "not inside" in bench.status.text
    assert bench.model.path.name == AUTUMN


def test_house_rules_make_the_same_files_as_the_command_line(folder: Path, tmp_path: Path) -> None:
    """A policy of the folder is offered, taken, undone, and gives the bytes of `--rules`."""
    (folder / "house.toml").write_text(RULES)
    bench = _open(_bench(folder), AUTUMN)
    assert "house.toml" in bench.rules.options
    bench.check.click()
    without = bench.status.text
    bench.rules.value = "house.toml"
    bench.decide.click()
    assert bench.model.recipe.rules.policy.bad_email == "reject"
    bench.check.click()
    assert bench.status.text != without
    bench.write.click()
    out = tmp_path / "cli"
    invoke("leads clean", folder / AUTUMN, "--rules", folder / "house.toml", "--out", out)
    names = {file.name for file in out.iterdir()}
    assert names == {path.name for path in bench.model.written.values()} - {
        bench.model.written["manifest"].name
    }
    for name in names:
        assert (folder / "cleaned" / name).read_bytes() == (out / name).read_bytes()
    bench.undo.click()
    assert bench.rules.value == ""
    bench.check.click()
    assert bench.status.text == without


@pytest.mark.parametrize("name", ["../house.toml", "none.toml", "wrong.toml"])
def test_house_rules_that_are_none_are_said_and_change_nothing(folder: Path, name: str) -> None:
    """Rules outside of the folder, missing or wrong leave the decisions as they were."""
    (folder.parent / "house.toml").write_text(RULES)
    (folder / "wrong.toml").write_text("[policy]\nbad_emails = 3\n")
    bench = _open(_bench(folder), AUTUMN)
    recipe = bench.model.recipe
    bench.rules.value = name
    bench.decide.click()
    assert bench.status.failed
    assert bench.model.recipe is recipe


def test_what_was_decided_comes_back_in_a_new_kernel(folder: Path) -> None:
    """File, columns, way of reading and rules are taken up; nothing of a record was kept."""
    (folder / "house.toml").write_text(RULES)
    first = _open(_bench(folder), AUTUMN)
    assert first.go_on.disabled
    first.fields["phone"].value, first.rules.value = "column:Mobile", "house.toml"
    first.decide.click()
    kept = work_path(folder.parent / "kept", folder)
    assert "@" not in kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    again = _bench(folder)
    assert f"Go on takes up {AUTUMN} as it was decided." in again.status.text
    again.go_on.click()
    assert again.model.decisions[0].columns.fields()["phone"] == ("Mobile",)
    assert again.rules.value == "house.toml"
    assert again.model.recipe.rules.policy.bad_email == "reject"
    again.undo.click()
    assert again.model.decisions[0].columns.fields()["phone"] == ("Mobile", "Home Phone")


def test_an_upload_that_was_decided_about_goes_on_when_it_is_there_again(folder: Path) -> None:
    """No upload is kept: its decisions wait for the same bytes."""
    data = (folder / AUTUMN).read_bytes()

    def upload(bench: Workbench, name: str) -> None:
        there = bench.upload._place_for(name)
        there.write_bytes(data)
        bench.upload._on_done(there)

    first = _bench(folder)
    upload(first, AUTUMN)
    first.fields["phone"].value = "column:Mobile"
    first.decide.click()
    again = _bench(folder)
    again.go_on.click()
    assert "no upload is kept; upload it again" in again.status.text
    upload(again, "renamed.csv")
    again.go_on.click()
    assert again.model.decisions[0].columns.fields()["phone"] == ("Mobile",)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "dialframe.workbench/1"}', "\x00"])
def test_what_is_damaged_counts_as_never_kept(folder: Path, text: str) -> None:
    """A start over what cannot be read is a start like the first."""
    kept = work_path(folder.parent / "kept", folder)
    kept.parent.mkdir()
    kept.write_text(text)
    assert load_work(kept) is None
    assert _bench(folder).status.text.endswith("name one of the folder.")


def test_two_tabs_write_one_after_the_other_and_neither_loses_a_file(folder: Path) -> None:
    """Two benches on one folder give the same bytes; what one wrote the other may offer."""
    one, two = _open(_bench(folder), AUTUMN), _open(_bench(folder), AUTUMN)
    for bench in (one, two, one):
        bench.write.click()
        assert not bench.status.failed, bench.status.text
    assert one.downloads.files == two.downloads.files


@pytest.fixture
def draft(opened: Connect) -> str:
    """A campaign that takes leads."""
    with opened() as account:
        campaigns = account.campaigns()
    return str(campaigns.loc[campaigns["status"].isin(["draft", "ready", "paused"]), "id"].iloc[0])


def _few(folder: Path) -> str:
    rows = "".join(f"+1 212 555 01{number:02d}\n" for number in range(70, 90))
    (folder / "few.csv").write_text(f"Phone\n{rows}")
    return "few.csv"


def test_a_key_that_expires_in_the_middle_is_said_and_nothing_is_sent_twice(
    folder: Path, box: Sandbox, opened: Connect, draft: str
) -> None:
    """What was found stays, and the next import sends what is missing alone."""
    bench = _open(_bench(folder, connect=opened), _few(folder))
    bench.screen.click()
    found = bench.model.prepared
    bench.campaign.value = draft
    box.console.arm_fault("leads.import", status=401, code="invalid_api_key")
    bench.bring_in.click()
    assert bench.status.failed
    assert "key" in bench.status.text
    assert "fault of dialframe" not in bench.status.text
    assert bench.model.prepared is found
    bench.bring_in.click()
    counts = bench.model.ledger.counts
    assert not bench.status.failed
    assert counts["sent"] == counts["accepted"] + counts["refused"] == 20
    bench.bring_in.click()
    assert bench.model.ledger.requests == 0


def test_two_tabs_import_the_same_list_once(folder: Path, opened: Connect, draft: str) -> None:
    """While one imports the other is told; afterwards it finds everything sent."""
    one, two = (_open(_bench(folder, connect=opened), _few(folder)) for _ in range(2))
    one.campaign.value = two.campaign.value = draft
    told: list[str] = []

    def meanwhile(progress: Progress) -> None:
        if progress.step == "leads imported" and not told:
            two.bring_in.click()
            told.append(two.status.text)

    said = one.model.bring_in(draft, meanwhile)
    assert said.startswith("Imported: 20 sent")
    assert "another run" in told[0].lower(), told
    two.bring_in.click()
    assert two.status.text == said
    assert two.model.ledger.requests == 0


def test_a_bench_of_the_library_keeps_nothing(folder: Path) -> None:
    """Without a place to keep it in, nothing is written beside the lists."""
    bench = LeadBench(folder)
    bench.open(AUTUMN)
    bench.decide(bench.recipe)
    assert bench.left is None
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [AUTUMN, "de_haendler_semikolon.csv"]
    )
