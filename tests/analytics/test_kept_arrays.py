"""What is kept of a frame between two questions never outlives what the frame says."""

from __future__ import annotations

import gc

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from analytics.synthetic import account
from dialframe import analytics
from dialframe.analytics.attempt import frames_to_arrays
from dialframe.analytics.attempt.frames_to_arrays import NO_TIME
from dialframe.analytics.attempt.local_clock import local
from dialframe.analytics.claims_and_tables import rated_calls
from dialframe.analytics.inference import wilson


def _asked(calls: pd.DataFrame, leads: pd.DataFrame) -> dict[str, object]:
    return {
        "funnel": analytics.funnel(calls, leads).table.to_dict(),
        "attempts": analytics.attempts(calls, leads).table.to_dict(),
        "caller_ids": analytics.caller_ids(calls, leads).tables["load"].to_dict(),
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
    frames_to_arrays._KEPT.clear()
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
    frames_to_arrays._KEPT.clear()
    values = pd.Series([f"text {i}" for i in range(50)], dtype="str")
    frames_to_arrays.encoded(values)
    assert frames_to_arrays._KEPT
    del values
    gc.collect()
    assert not frames_to_arrays._KEPT
    many = [pd.Series([f"{i}"], dtype="str") for i in range(200)]
    for one in many:
        frames_to_arrays.encoded(one)
    assert len(frames_to_arrays._KEPT) <= 32


def test_only_the_counts_asked_for_last_are_kept() -> None:
    """A count holds arrays as long as the calls: many windows, one after the other, do not add up."""
    data = account()
    frames_to_arrays._KEPT.clear()
    for day in range(1, 13):
        analytics.attempts(data.calls, data.leads, since=f"2026-05-{day:02d}")
        analytics.attempts(data.calls, data.leads)
    kept = [key[0] for key in frames_to_arrays._KEPT if key[0][0] == "attempts"]
    assert len(kept) == 4
    # The count that is asked for again and again stays, as the windows beside it go.
    assert sum(name[4] is None for name in kept) == 1


def test_calls_without_leads_are_counted_once_too() -> None:
    """The frame of no leads that stands in their place is another one each time."""
    data = account()
    frames_to_arrays._KEPT.clear()
    first = analytics.hours(data.calls)
    counts = {key for key in frames_to_arrays._KEPT if key[0][0] == "attempts"}
    second = analytics.hours(data.calls)
    assert len(counts) == 1
    assert {key for key in frames_to_arrays._KEPT if key[0][0] == "attempts"} == counts
    assert second.table.equals(first.table)


@pytest.mark.parametrize(
    "texts",
    [
        ["+12125550100", "+13125550199", "+12125550100", "+491512345678"],
        ["+02125550100", "+12125550100"], ["+1212555O100", "+12125550100"], ["+12125550100", None],
        ["012125550100", "+12125550100"], ["+12125550100", "+4420794600001"], [],
    ],
)  # fmt: skip
def test_numbers_are_told_apart_as_texts_are(texts: list[str | None]) -> None:
    """The way by whole numbers gives the same places and the same words."""
    for part in (pd.Series(texts, dtype="str"), pd.Series(texts[1:], dtype="str")):
        places, words = frames_to_arrays.placed(part)
        plain = frames_to_arrays.arrow(part).dictionary_encode()
        assert places.tolist() == plain.indices.fill_null(len(words)).to_pylist()
        assert words.equals(plain.dictionary)


@pytest.mark.parametrize("distinct", [1, 30, 5_000, 60_000])
def test_places_do_not_depend_on_the_parts_that_they_are_worked_out_in(distinct: int) -> None:
    """More rows than a part has, nulls among them, few words and many, late ones too."""
    rng = np.random.default_rng(distinct)
    code = rng.integers(-1, distinct, 150_000)
    code[:70_000] %= 40  # few at first, however many follow
    code[-1] = distinct
    values = pd.Series([None if i < 0 else f"word {i}" for i in code], dtype="str")
    places, words = frames_to_arrays.placed(values)
    found = pd.Series([*words.to_pylist(), None], dtype="str").take(places)
    assert found.reset_index(drop=True).equals(values)
    assert words.to_pylist() == list(dict.fromkeys(values.dropna()))


def test_a_fingerprint_knows_every_number_and_its_place() -> None:
    """Two arrays have the same one only if they are the same, bytes that fill no word included."""
    values = np.arange(200_003, dtype=np.int64) % 97
    seen = {frames_to_arrays.digest(values)}
    for change in (lambda v: v[:-1], lambda v: v[::-1], lambda v: v + (np.arange(len(v)) == 150_000),
                   lambda v: v.astype(np.int8), lambda v: v.astype(np.int8)[:-1],
                   lambda v: np.append(v, 0), lambda v: np.roll(v, 97 * 1_000)):  # fmt: skip
        seen.add(frames_to_arrays.digest(change(values)))
    assert len(seen) == 8
    assert frames_to_arrays.digest(values.copy()) in seen


@pytest.mark.parametrize("people", [3, 4_000, 400_000])
def test_calls_of_one_person_widen_an_interval_however_many_share_a_cell(people: int) -> None:
    """Hashing who is alone in a cell gives the numbers of the plain sums over every pair."""
    rng = np.random.default_rng(people)
    cell, person = rng.integers(-1, 5, 80_000), rng.integers(0, people, 80_000)
    hit = rng.random(80_000) < 0.2 + 0.3 * (person % 3 == 0)
    columns = rated_calls(cell, hit, person, 6)
    for i in range(5):
        mine = cell == i
        size, hits = np.bincount(person[mine]), np.bincount(person[mine], hit[mine])
        hits, size, n = hits[size > 0], size[size > 0], mine.sum()
        p, clusters = hits.sum() / n, len(size)
        # Rao and Scott (Biometrics 48 (1992) 577-585): as many trials as the clusters are worth.
        variance = clusters / (clusters - 1) * ((hits - p * size) ** 2).sum() / n**2
        worth = n / max(1.0, variance / (p * (1 - p) / n))
        bounds = wilson(p * worth, worth)
        assert columns["numerator"][i] == hit[mine].sum()
        assert columns["denominator"][i] == mine.sum()
        assert (columns["low"][i], columns["high"][i]) == pytest.approx(bounds, rel=1e-9)
    assert columns["denominator"][5] == 0
    assert np.isnan(columns["rate"][5])


def test_a_call_of_another_century_has_its_hour_and_costs_no_table_of_all_days_between() -> None:
    """The year 3 beside 2026, as a wrong unit of time gives it."""
    day = pd.Timestamp("2026-03-02T15:30", tz="UTC").value // 1_000
    at = np.array([day, day - 2_023 * 365 * 86_400_000_000, NO_TIME, day + 3_600_000_000])
    clock = local(np.zeros(4, dtype=np.int16), [("America/New_York",)], at)
    assert clock.cells.shape[1] <= 3 * 96
    assert clock.known.tolist() == [True, True, False, True]
    assert clock.hour[[0, 3]].tolist() == [10, 11]
    assert clock.minute[[0, 2, 3]].tolist() == [630, -1, 690]


@pytest.mark.parametrize("letter", ["0", "9", "/", ":", " ", "-", "a", "\x00", "\x7f", "é", "٣"])
def test_a_number_with_any_other_letter_is_no_whole_number(letter: str) -> None:
    """In no place of it; digits in every place give the number."""
    for place in range(12):
        number = "+13125550142"
        odd = (number[:place] + letter + number[place + len(letter.encode()) :])[:12]
        found = frames_to_arrays.whole_numbers(pa.array([number, odd]))
        plain = odd[0] == "+" and odd[1:].isascii() and odd[1:].isdigit() and odd[1] != "0"
        if plain:
            assert found.tolist() == [int(number), int(odd)]
        else:
            assert found is None


def test_what_is_shared_cannot_be_written() -> None:
    """An array that several analyses share refuses to be changed."""
    code, _ = frames_to_arrays.encoded(pd.Series(["a", "b"], dtype="str"))
    with pytest.raises(ValueError, match="read-only"):
        code[0] = 1
