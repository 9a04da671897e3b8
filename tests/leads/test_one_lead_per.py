"""Records with several numbers as several leads: each judged by itself, none lost, none called twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from dialframe import leads, suppression
from leads.tables import inputs

EACH = leads.Policy(one_lead_per="number")
LIST = (
    "Id,Name,Mobile,Home phone\n"
    "A1,Ann Lee,(212) 555-0142,(212) 555-0143\n"
    "A2,Bo Ray,(212) 555-0144 / (212) 555-0145,\n"
    "A3,Cy Fox,(212) 555-0146 x5,212-555-0147\n"
)
IDS = {"external_id": "Id"}
SIX = [f"+1212555014{at}" for at in range(2, 8)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three records of two numbers each."""
    file = tmp_path / "autumn.csv"
    file.write_text(LIST)
    return file


def cleaned(path: Path, policy: leads.Policy = EACH, **more: object) -> leads.Cleaned:
    """The list, cleaned in memory."""
    return leads.clean(leads.read(path), region="US", mapping=IDS, policy=policy, **more)  # type: ignore[arg-type]


def test_each_number_is_a_lead_with_the_fields_of_its_record(path: Path) -> None:
    """Three records become six leads, and the counts say so."""
    found = cleaned(path)
    assert found.clean["phone"].tolist() == SIX
    assert found.clean["full_name"].tolist() == [
        name for name in ("Ann Lee", "Bo Ray", "Cy Fox") for _ in range(2)
    ]
    assert found.clean["_line"].tolist() == [2, 2, 3, 3, 4, 4]
    assert found.clean["phone_extension"].tolist() == ["", "", "", "", "5", ""]
    assert set(found.clean["phone_other"]) == {""}
    assert found.counts == {
        "records": 3, "extra_leads": 3, "clean": 6, "rejected": 0, "duplicates": 0,
        "do_not_call": 0, "skipped": 0,
    }  # fmt: skip
    assert leads.report(found)["counts"]["extra_leads"] == 3


def test_a_record_is_one_lead_by_default(path: Path) -> None:
    found = cleaned(path, leads.Policy())
    assert found.clean["phone"].tolist() == SIX[::2]
    assert "extra_leads" not in found.counts


def test_a_suppressed_number_is_held_alone(path: Path) -> None:
    """The other number of its record stays."""
    found = cleaned(path, suppressed=suppression.Barred((12125550142,)))
    assert found.clean["phone"].tolist() == SIX[1:]
    assert found.do_not_call["_reason"].tolist() == ["suppressed"]
    assert found.do_not_call["Home phone"].tolist() == ["(212) 555-0143"]


def test_an_external_id_is_sent_with_the_first_lead_of_its_record(path: Path) -> None:
    """The service keeps ids unique, so that the second would be refused as a duplicate."""
    bodies = [one.body for one in inputs(path, mapping=IDS, policy=EACH)]
    assert [body.get("external_id") for body in bodies] == ["A1", None, "A2", None, "A3", None]
    barred = suppression.Barred((12125550142,))
    bodies = [one.body for one in inputs(path, mapping=IDS, policy=EACH, suppressed=barred)]
    assert [body.get("external_id") for body in bodies] == ["A1", "A2", None, "A3", None]


def written(path: Path, out: Path, **more: object) -> leads.CleanedFiles:
    """The list, cleaned into a folder."""
    return leads.clean_files([path], out, region="US", mapping=IDS, policy=EACH, **more)  # type: ignore[arg-type]


def test_a_clean_lead_carries_no_other_number_of_its_record(path: Path) -> None:
    """One that is held would stand in the list beside it, for whoever uploads that elsewhere."""
    barred = suppression.Barred((12125550142,))
    text = written(path, path.parent / "out", suppressed=barred).paths["clean"].read_text()
    assert "555-014" not in text
    assert "+12125550142" not in text
    assert text.count("+1212") == 5


@pytest.mark.parametrize("policy", [EACH, leads.Policy()], ids=["number", "record"])
def test_the_clean_list_gives_the_same_leads_again(path: Path, policy: leads.Policy) -> None:
    """Its leads stay what they are, ids and all, whether the option is given again or not."""
    done = written(path, path.parent / "out")
    assert done.counts["extra_leads"] == 3
    again = leads.clean(leads.read(done.paths["clean"]), region=None, policy=policy)
    assert again.clean["phone"].tolist() == SIX
    assert again.clean["external_id"].tolist() == ["A1", "A1", "A2", "A2", "A3", "A3"]
    assert again.counts["extra_leads"] == 0
    sent = [
        one.body.get("external_id")
        for one in inputs(done.paths["clean"], region=None, policy=policy)
    ]
    assert sent == ["A1", None, "A2", None, "A3", None]


@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize("memory_bytes", [0, 2**20], ids=["disk", "memory"])
def test_any_memory_gives_the_same(path: Path, memory_bytes: int) -> None:
    """Blocks that wait on the disk hold the same leads as those in memory."""
    text = "Id,Mobile,Home phone\n" + "".join(
        f"B{at % 7},212-555-01{at:02d},212-555-01{(at * 3) % 50:02d}\n" for at in range(40)
    )
    path.write_text(text)
    whole = cleaned(path)
    done = written(path, path.parent / "out", memory_bytes=memory_bytes)
    assert done.counts == whole.counts
    assert done.reasons == whole.reasons
    kept = pd.read_csv(done.paths["clean"], dtype=str)
    assert kept["phone"].tolist() == whole.clean["phone"].tolist()


@pytest.mark.usefixtures("in_blocks")
def test_files_that_are_judged_elsewhere_give_the_same(path: Path) -> None:
    """What a worker tells says which leads are of one record."""
    other = path.with_name("winter.csv")
    other.write_text(LIST.replace("A1", "B1").replace("A3", "A1").replace("014", "015"))
    policy = {"region": "US", "mapping": {"external_id": "Id"}, "policy": EACH}
    here = leads.clean_files([other, path], None, **policy)  # type: ignore[arg-type]
    with ThreadPoolExecutor(2) as executor:
        there = leads.clean_files([other, path], None, executor=executor, **policy)  # type: ignore[arg-type]
    assert there.counts == here.counts
    assert here.counts["duplicates"] == 4
    assert there.reasons == here.reasons


def test_a_record_may_stand_in_two_blocks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The leads of a clean list stay together wherever a block ends."""
    done = written(path, path.parent / "out")
    monkeypatch.setattr("dialframe.leads.rows.SAMPLE_ROWS", 1)
    again = leads.clean(leads.read(done.paths["clean"]), region=None)
    assert again.clean["phone"].tolist() == SIX
    with leads.Pipeline(leads.Choices(None)) as pipeline:
        pipeline.judge_read([leads.read(done.paths["clean"])], [None])
        sent = [one.body.get("external_id") for one in pipeline.inputs()]
    assert sent == ["A1", None, "A2", None, "A3", None]
