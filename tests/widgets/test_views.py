"""The widgets without a browser: every control is an attribute, and what is clicked arrives in the model."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from dialframe.config import OnProgress, Progress
from dialframe.files import Outputs
from dialframe.privacy import PHONE
from dialframe.widgets import (
    CoverageDashboard,
    FunnelExplorer,
    FunnelModel,
    FunnelState,
    Workbench,
)
from dialframe.widgets.jobs import Jobs, Stopped
from dialframe.widgets.lead_workbench_model import Connect
from widgets.conftest import AUTUMN


@pytest.fixture
def workbench(folder: Path) -> Workbench:
    """A workbench with the ugliest list open, whose work is done at once."""
    made = Workbench(folder, jobs=Jobs(inline=True))
    made.path.value = AUTUMN
    made.open.click()
    return made


@pytest.fixture(scope="module")
def explored(opened: Connect) -> FunnelModel:
    """The model of the tiny account."""
    with opened() as account:
        return FunnelModel.of(account)


def test_a_file_is_opened_looked_at_and_written(workbench: Workbench) -> None:
    """The way of a person through the workbench, told by its status line."""
    assert workbench.status.text == f"{AUTUMN}: 303 records read."
    workbench.check.click()
    assert "250 clean" in workbench.status.text
    assert workbench.downloads.files == []
    workbench.write.click()
    assert workbench.status.text.startswith("Written: 9 files")
    kinds = [file["kind"] for file in workbench.downloads.files]
    assert kinds == [
        "clean", "rejected", "duplicates", "do not call", "skipped",
        "origin", "report page", "report", "manifest",
    ]  # fmt: skip
    # Whoever is forgotten later is looked for in them, though no account was ever opened here.
    assert set(workbench.model.written.values()) <= set(Outputs.of_this_user().paths())


def test_the_columns_show_what_was_found_and_how_sure_that_is(workbench: Workbench) -> None:
    """Each field offers what was found first, with its confidence."""
    first, value = workbench.fields["email"].options[0]
    assert first == "found: E-mail (1.00)"
    assert value == workbench.fields["email"].value == "found"


def test_a_mapping_is_mended_and_undone(workbench: Workbench) -> None:
    """A column chosen by hand is taken, and undo takes it back."""
    workbench.check.click()
    workbench.fields["phone"].value = "column:E-mail"
    workbench.decide.click()
    workbench.check.click()
    assert " 0 clean" in workbench.status.text
    workbench.undo.click()
    workbench.check.click()
    assert "250 clean" in workbench.status.text
    assert workbench.undo.disabled


def test_the_way_of_reading_is_told_otherwise(folder: Path) -> None:
    """A delimiter and a header line that were told are taken, and shown again."""
    bench = Workbench(folder, jobs=Jobs(inline=True))
    bench.path.value = "de_haendler_semikolon.csv"
    bench.open.click()
    bench.region.value, bench.delimiter.value, bench.header.value = "de", "semicolon", "4"
    bench.decide.click()
    assert not bench.status.failed, bench.status.text
    assert bench.model.recipe.delimiter == "semicolon"
    assert (bench.region.value, bench.header.value) == ("DE", "4")
    bench.header.value = "first"
    bench.decide.click()
    assert bench.status.failed
    assert "not 'first'" in bench.status.text
    assert bench.model.recipe.header == 4


def test_issues_are_filtered_and_turned(workbench: Workbench) -> None:
    """The label between the buttons always says which of how many."""
    workbench.check.click()
    earlier, label, later = workbench.issue_turns
    assert label.value == "1 to 50 of 53 records set aside"
    later.click()
    assert label.value == "51 to 53 of 53 records set aside"
    assert later.disabled
    assert not earlier.disabled
    code, number = next(iter(workbench.model.reasons().items()))
    workbench.reason.value = code
    assert label.value == f"1 to {number} of {number} records set aside, filtered from 53"


def test_an_upload_while_something_is_under_way_waits(workbench: Workbench) -> None:
    """The file that is being cleaned is not taken away; the person is told to upload again."""
    place = workbench.upload._place_for(AUTUMN)
    place.write_bytes(b"Phone\n+1 212 555 0100\n")
    said: list[str] = []

    def work(_: OnProgress) -> str:
        workbench.upload._on_done(place)
        said.append(workbench.status.text)
        return "done"

    workbench.run(work)
    assert said == ["Something is under way; upload the file again when it is done."]
    workbench.upload._on_done(place)
    assert workbench.status.text == f"{AUTUMN}: 1 record read."


def test_the_snapshot_shows_counts_and_no_number(workbench: Workbench) -> None:
    """A viewer without JavaScript sees the outcome; values stay masked."""
    workbench.check.click()
    bundle = workbench._repr_mimebundle_()
    assert bundle["text/plain"] == "Workbench()"
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "303 records, 250 clean" in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert not PHONE.search(html.unescape(bundle["text/html"]))


def test_a_cell_cannot_become_markup(folder: Path) -> None:
    """What stands in a file is shown as it stands there."""
    rows = "Phone,Name\nnone<script>alert(1)</script>,x\n+1 212 555 0100,y\n"
    (folder / "x.csv").write_text(rows)
    bench = Workbench(folder, jobs=Jobs(inline=True))
    bench.path.value = "x.csv"
    bench.open.click()
    bench.check.click()
    bench.reveal.value = True
    assert "&lt;script&gt;" in bench.issues.value
    assert "<script" not in bench.issues.value


def test_a_list_is_screened_imported_and_sent_once(folder: Path, opened: Connect) -> None:
    """Screen and import end with a ledger; started again, nothing is sent twice."""
    bench = Workbench(folder, connect=opened, jobs=Jobs(inline=True))
    bench.path.value = AUTUMN
    bench.open.click()
    bench.screen.click()
    assert bench.status.text.startswith("Screened: 252 numbers")
    with opened() as account:
        campaigns = account.campaigns()
    ready = campaigns["status"].isin(["draft", "ready", "paused"])
    bench.campaign.value = campaigns.loc[ready, "id"].iloc[0]
    bench.bring_in.click()
    first = bench.status.text
    assert first.startswith("Imported: ")
    assert bench.model.ledger.requests > 0
    bench.bring_in.click()
    assert bench.status.text == first
    assert bench.model.ledger.requests == 0


def test_an_import_stopped_in_the_middle_goes_on_and_sends_nothing_twice(
    folder: Path, opened: Connect
) -> None:
    """A stop behind the first batch keeps its answers; the next start sends the rest alone."""
    bench = Workbench(folder, connect=opened, jobs=Jobs(inline=True))
    bench.model.open(AUTUMN)
    with opened() as account:
        campaigns = account.campaigns()
    campaign = campaigns.loc[campaigns["status"].isin(["draft", "ready", "paused"]), "id"].iloc[-1]
    bench.model.out = "stopped"

    def stop(progress: Progress) -> None:
        if progress.step == "leads imported":
            raise Stopped

    with pytest.raises(Stopped):
        bench.model.bring_in(campaign, stop)
    bench.campaign.value = campaign
    bench.draw()
    bench.bring_in.click()
    counts = bench.model.ledger.counts
    assert bench.model.ledger.requests == 1
    assert counts["sent"] == counts["accepted"] + counts["refused"] == 246


def test_a_funnel_is_drawn_with_the_same_numbers_as_a_table(explored: FunnelModel) -> None:
    """Picture, its words and the table say the same."""
    shown = FunnelExplorer(explored, jobs=Jobs(inline=True))
    counts = explored.table().set_index("stage")["count"]
    assert f"{counts['loaded']:,} leads loaded" in shown.status.text
    for number in counts:
        assert f"{number:,}" in explored.picture().alt
        assert f">{number:,}</td>" in shown.numbers.value
    assert "Lead funnel" in shown.picture.value
    assert "Lead funnel" in shown.snapshot()


def test_a_funnel_is_asked_otherwise_and_started_over(explored: FunnelModel) -> None:
    """Campaigns, days, breakdown, order and window arrive in the state, and go again."""
    shown = FunnelExplorer(explored, jobs=Jobs(inline=True))
    shown.campaigns.value = tuple(explored.campaigns)[:2]
    shown.by.value, shown.order.value, shown.window.value = "campaign_id", "any", "30"
    shown.show.click()
    assert not shown.status.failed, shown.status.text
    assert explored.state == FunnelState(
        tuple(explored.campaigns)[:2], by="campaign_id", order="any", window_days=30
    )
    assert set(explored.table()["campaign_id"]) <= set(explored.campaigns.values())
    assert "cmp_" not in explored.picture().alt
    saved = shown.saved.value
    shown.reset.click()
    assert explored.state == FunnelState()
    shown.saved.value = saved
    shown.load.click()
    assert explored.state == FunnelState.from_json(saved)
    shown.reset.click()


def test_two_campaigns_add_up_to_the_sum_of_each(explored: FunnelModel) -> None:
    """A funnel of two campaigns loads what the two load."""
    one, two = tuple(explored.campaigns)[:2]
    loaded = []
    for campaigns in ((one,), (two,), (one, two)):
        explored.choose(FunnelState(campaigns))
        loaded.append(int(explored.table()["count"].iloc[0]))
    assert loaded[0] + loaded[1] == loaded[2]
    explored.choose(FunnelState())


def test_a_wrong_window_is_said_in_words(explored: FunnelModel) -> None:
    """The state stays as it was."""
    shown = FunnelExplorer(explored, jobs=Jobs(inline=True))
    shown.window.value = "a month"
    shown.show.click()
    assert shown.status.failed
    assert explored.state == FunnelState()


def test_a_dark_page_gets_a_dark_picture(explored: FunnelModel) -> None:
    """The browser tells the look, and the picture follows."""
    shown = FunnelExplorer(explored, jobs=Jobs(inline=True))
    light = shown.picture.value
    shown.status.look = "dark"
    assert explored.picture().look == "dark"
    assert shown.picture.value != light
    shown.status.look = "light"


@pytest.fixture(scope="module")
def board(opened: Connect, tmp_path_factory: pytest.TempPathFactory) -> CoverageDashboard:
    """A dashboard with an audit by the federal rules."""
    made = CoverageDashboard(opened, folder=tmp_path_factory.mktemp("b"), jobs=Jobs(inline=True))
    assert made.check.disabled
    made.rules.value = "us"
    made.audit.click()
    assert "the verdict is below" in made.status.text
    return made


def test_the_evidence_is_written_inside_the_folder_alone(board: CoverageDashboard) -> None:
    """A pack can be downloaded; a name that leads out is refused."""
    board.export.click()
    names = [file["name"] for file in board.downloads.files]
    assert names == ["evidence.zip", "evidence.manifest.json"]
    board.name.value = "../evidence.zip"
    board.export.click()
    assert board.status.failed
    assert not (board.model.folder.parent / "evidence.zip").exists()


def test_findings_are_filtered_by_grade(board: CoverageDashboard) -> None:
    """Each grade shows its own, with its proof, and how many there are in all."""
    whole = board.model.findings().whole
    seen = 0
    for grade in ("violation", "uncertain", "not evaluable"):
        board.grade.value = grade
        page = board.model.findings()
        assert set(page.rows["grade"]) <= {grade}
        assert page.whole == whole
        seen += page.total
    assert seen == whole


def test_findings_are_shown_whole_and_campaigns_by_name(board: CoverageDashboard) -> None:
    """Every reason, proof and citation of the page stands there uncut; no id where there is a name."""
    board.grade.value = ""
    rows = board.model.findings().rows
    shown = html.unescape(board.findings.value)
    for told in [*rows["reason"], *rows["evidence"].dropna(), *rows["citation"].dropna()]:
        assert told in shown
    assert "cmp_" not in shown
    named = {board.model.campaigns[each] for each in rows["campaign_id"].dropna()}
    assert named
    assert all(f">{name}</td>" in shown for name in named)
    assert ">yes</td>" in board.stale.value
    assert " %</td>" in board.coverage.value


def test_a_coverage_gap_is_shown_and_closed(board: CoverageDashboard) -> None:
    """Verdict first, then coverage, proof and what to check; checking it closes the gap."""
    assert html.escape(board.model.audit.verdict) in board.verdict.value
    total = len(board.model.dashboard.next)
    assert total > 0
    assert board.stale_turns[1].value.endswith(f"of {total:,} numbers stale or never checked")
    assert not PHONE.search(html.unescape(board.stale.value + board.findings.value))
    for view in ("state", "campaign"):
        board.view.value = view
        assert f"Coverage by {view}" in board.coverage.value
    board.check.click()
    assert board.status.text.startswith(f"{total:,} numbers checked.")
    assert board.model.groups()["fresh"].sum() == board.model.groups()["numbers"].sum()
