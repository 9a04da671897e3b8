"""Columns are taken as told, as remembered, as answered or as found, in this order."""

from __future__ import annotations

import pytest

from dialframe import leads
from dialframe.errors import LeadFileError
from dialframe.flows.column_choices import Chooser, remembered
from dialframe.flows.lead_cleaning import Recipe, look

TEXT = "a,b,c\n(212) 555-0142,(212) 555-0152,x\n(212) 555-0143,(212) 555-0153,y\n"


@pytest.fixture
def file(tmp_path):
    """A list with two phone columns that nothing tells apart."""
    path = tmp_path / "list.csv"
    path.write_text(TEXT)
    return leads.read(path)


def test_a_file_is_asked_about_once(file, tmp_path):
    """However often its columns are wanted; and never again once the answer is kept."""
    asked = []

    def ask(decision):
        asked.append(decision.name)
        return {"phone": "b"}

    chooser = Chooser("US", None, remembered(tmp_path / "kept"), ask)
    assert chooser(file).phone == chooser(file).phone == ("b",)
    assert asked == ["list.csv"]

    again = Chooser("US", None, remembered(tmp_path / "kept"), ask)
    assert again(file).phone == ("b",)
    assert Chooser("US", {"phone": "a"}, remembered(tmp_path / "kept"))(file).phone == ("a",)
    assert asked == ["list.csv"]


def test_nobody_to_ask_is_a_refusal(file):
    """Nothing is guessed."""
    with pytest.raises(LeadFileError, match="a and b"):
        Chooser("US")(file)


def test_a_damaged_memory_is_forgotten(file, tmp_path):
    """A file that is no map neither stops a list nor is used."""
    (tmp_path / f"{leads.fingerprint(file.header)}.toml").write_text("{")

    assert remembered(tmp_path).of(file) is None


def test_another_process_writes_nothing(file, tmp_path):
    """What is sent to a worker knows what is remembered, and keeps nothing."""
    silent = Chooser("US", {"phone": "b"}, remembered(tmp_path / "kept")).silent()

    assert silent(file).phone == ("b",)
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(("given", "answer", "asks"), [
    ("CO", "US", 0),  # all of its numbers fit: a person's word holds, whatever else they fit
    ("US", "CO", 0),
    ("GB", "CO", 1),  # none of them does
    ("GB", "GB", 1),  # whoever insists has seen it
    (None, "CO", 1),
])  # fmt: skip
def test_a_region_is_asked_for_where_it_is_missing_or_refused(tmp_path, given, answer, asks):
    """The menu has the given one first, and the answer stands."""
    rows = "".join(f"Ana,Medellín,310 55501{at:02}\n" for at in range(20))
    path = tmp_path / "leads.csv"
    path.write_text(f"Nombre,Ciudad,Celular\n{rows}", encoding="utf-8")
    file = leads.read(path)
    asked = []
    chooser = Chooser(given, ask_region=lambda decision: asked.append(decision) or answer)

    decision = chooser.region_of(file, chooser(file))

    assert len(asked) == asks
    assert all(each.candidates[0].region == given for each in asked if given)
    assert (decision.region, decision.against) == (answer if asks else given, None)


def test_a_region_that_was_answered_says_how_sure_the_columns_are(tmp_path):
    """The phone column of a list is as sure as if the region had been given from the start."""
    path = tmp_path / "leads.csv"
    path.write_text("Name,Cell\nAda Lee,3125550142\nBob Ray,2125550143\n")

    def confidence(region, ask_region=None):
        recipe = Recipe(region, ask_region=ask_region)
        return look([path], recipe).cleaned.files[0].columns.confidence

    assert confidence(None, lambda _: "US") == confidence("US")
