"""What is kept of a frame between two questions never outlives what the frame says."""

from __future__ import annotations

import gc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from analytics.synthetic import account
from claims.worlds import Switches, made
from dialframe import analytics
from dialframe.analytics.attempt import arrays
from dialframe.analytics.stats import rate_ratios


def _asked(calls: pd.DataFrame, leads: pd.DataFrame) -> dict[str, object]:
    return {
        "funnel": analytics.funnel(calls, leads).table.to_dict(),
        "attempts": analytics.attempts(calls, leads).table.to_dict(),
        "caller_load": analytics.caller_load(calls, leads).table.to_dict(),
    }


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("to_number", "+12125550199"),
        ("campaign_id", None),
        ("disposition", None),
        ("from_number", "+13125550100"),
        ("direction", "inbound"),
        ("created_at", pd.Timestamp("2026-05-01T15:00:00Z")),
        ("answered_at", pd.NaT),
    ],
)
def test_a_frame_that_was_changed_is_read_anew(column: str, value: object) -> None:
    """Assigning into a frame changes the answers, as if it had never been asked before."""
    data = account()
    calls = data.calls.copy()
    before = _asked(calls, data.leads)
    half = np.arange(len(calls)) % 2 == 0
    calls.loc[half, column] = value
    after = _asked(calls, data.leads)
    arrays._KEPT.clear()
    assert after == _asked(calls, data.leads)
    assert after != before


def test_leads_that_were_changed_are_matched_anew() -> None:
    """The other frame counts too."""
    data = account()
    leads = data.leads.copy()
    before = analytics.funnel(data.calls, leads).table.to_dict()
    leads.loc[::2, "phone"] = "+12125550199"
    assert analytics.funnel(data.calls, leads).table.to_dict() != before


def test_another_window_or_taxonomy_is_another_count() -> None:
    """What is kept of one question does not answer another one."""
    data = account()
    whole = analytics.attempts(data.calls, data.leads).table["attempts"].sum()
    later = analytics.attempts(data.calls, data.leads, since="2026-05-15").table["attempts"].sum()
    other = analytics.attempts(
        data.calls, data.leads, taxonomy=analytics.DEFAULT.with_codes({"NA": "not_interested"})
    ).table
    assert later < whole
    assert other["people"].sum() > 0
    assert analytics.attempts(data.calls, data.leads).table["attempts"].sum() == whole


def test_nothing_is_kept_of_a_frame_that_is_gone() -> None:
    """What is kept goes with the frame's data, and there is never much of it."""
    arrays._KEPT.clear()
    values = pd.Series([f"text {i}" for i in range(50)], dtype="str")
    arrays.encoded(values)
    assert arrays._KEPT
    del values
    gc.collect()
    assert not arrays._KEPT
    many = [pd.Series([f"{i}"], dtype="str") for i in range(200)]
    for one in many:
        arrays.encoded(one)
    assert len(arrays._KEPT) <= 32


def test_only_the_counts_asked_for_last_are_kept() -> None:
    """A count holds arrays as long as the calls: many windows, one after the other, do not add up."""
    data = account()
    arrays._KEPT.clear()
    for day in range(1, 13):
        analytics.attempts(data.calls, data.leads, since=f"2026-05-{day:02d}")
        analytics.attempts(data.calls, data.leads)
    kept = [key[0] for key in arrays._KEPT if key[0][0] == "attempts"]
    assert len(kept) == 4
    # The count that is asked for again and again stays, as the windows beside it go.
    assert sum(name[4] is None for name in kept) == 1


def test_calls_without_leads_are_counted_once_too() -> None:
    """The frame of no leads that stands in their place is another one each time."""
    data = account()
    arrays._KEPT.clear()
    first = analytics.hours(data.calls)
    counts = {key for key in arrays._KEPT if key[0][0] == "attempts"}
    second = analytics.hours(data.calls)
    assert len(counts) == 1
    assert {key for key in arrays._KEPT if key[0][0] == "attempts"} == counts
    assert second.table.equals(first.table)


@pytest.mark.parametrize(
    "texts",
    [
        ["+12125550100", "+13125550199", "+12125550100", "+491512345678"],
        ["+02125550100", "+12125550100"], ["+1212555O100", "+12125550100"], ["+12125550100", None],
        ["012125550100", "+12125550100"], ["+12125550100", "+4420794600001"], [],
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_numbers_are_told_apart_as_texts_are(texts: list[str | None], kind: pa.DataType) -> None:
    """The way by whole numbers gives the same places and the same words."""
    values = pa.array(texts, kind)
    for part in (values, values.slice(1)):
        found, words = arrays._distinct(part, arrays.whole_numbers(part))
        plain = part.dictionary_encode()
        assert found.indices.equals(plain.indices)
        assert words.equals(plain.dictionary)


@pytest.mark.parametrize("letter", ["0", "9", "/", ":", " ", "-", "a", "\x00", "\x7f", "é", "٣"])
def test_a_number_with_any_other_letter_is_no_whole_number(letter: str) -> None:
    """In no place of it; digits in every place give the number."""
    for place in range(12):
        number = "+13125550142"
        odd = (number[:place] + letter + number[place + len(letter.encode()) :])[:12]
        found = arrays.whole_numbers(pa.array([number, odd]))
        plain = odd[0] == "+" and odd[1:].isascii() and odd[1:].isdigit() and odd[1] != "0"
        if plain:
            assert found.tolist() == [int(number), int(odd)]
        else:
            assert found is None


def test_what_is_shared_cannot_be_written() -> None:
    """An array that several analyses share refuses to be changed."""
    code, _ = arrays.encoded(pd.Series(["a", "b"], dtype="str"))
    with pytest.raises(ValueError, match="read-only"):
        code[0] = 1


def test_another_taxonomy_judges_every_metric_anew() -> None:
    """What was worked out under one taxonomy is not taken for the answer under another."""
    world = made(5, Switches(leads=1500, callers=4, sick=0.25, sick_keeps=0.2))
    other = analytics.DEFAULT.with_codes({"NI": "machine"})
    effect = analytics.taxonomy_effect(
        world.calls, world.leads, before=analytics.DEFAULT, after=other
    ).table.set_index("metric")
    for place, taxonomy in (("before", analytics.DEFAULT), ("after", other)):
        arrays._KEPT.clear()
        alone = analytics.metrics.compute(world.calls, world.leads, taxonomy=taxonomy).table
        alone = alone.set_index("metric")["value"]
        assert effect[place].equals(alone.reindex(effect.index).rename(place))
    assert "local_presence_lift" in effect.index


def test_a_model_is_fitted_once_to_the_same_numbers() -> None:
    """And anew to any other: the claims of hours and the table of best_time are of one model."""
    world = made(6, Switches(leads=400))
    rate_ratios._FITTED.clear()
    assert analytics.best_time(world.calls, world.leads).claims
    fitted = len(rate_ratios._FITTED)
    assert fitted
    again = world.calls.copy()
    assert analytics.hours(again, world.leads).claims
    assert len(rate_ratios._FITTED) == fitted
    again.loc[again.index[:40], "disposition"] = "NI"
    assert analytics.hours(again, world.leads).claims
    assert len(rate_ratios._FITTED) == 2 * fitted
