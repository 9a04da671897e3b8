"""Walks as values: which walk is due, when it ends, what it covers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.account.list_walk import (
    NONE,
    Mark,
    Rule,
    State,
    Walk,
    begin,
    changed,
    finish,
    learned_overlap,
    nearly_all,
    noted,
    restart,
    step,
)

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
RULE = Rule(timedelta(hours=24), small=10)
COVERED = Mark(
    watermark_at=NOW - timedelta(hours=2),
    synced_at=NOW - timedelta(hours=1),
    reconciled_at=NOW - timedelta(hours=5),
    rows=1000,
)


def hours(*ages: float) -> list[datetime]:
    """Instants so many hours ago."""
    return [NOW - timedelta(hours=age) for age in ages]


def test_a_later_walk_stops_an_overlap_behind_the_watermark() -> None:
    """What was created in the two days before the watermark is read again."""
    assert begin(COVERED, RULE, NOW).stop_at == NOW - timedelta(hours=50)


@pytest.mark.parametrize(
    "mark",
    [
        replace(COVERED, reconciled_at=NOW - timedelta(hours=24)),
        replace(COVERED, rows=10),
        replace(COVERED, descending=False),
        replace(COVERED, watermark_at=None),
        Mark(),
    ],
    ids=["old", "small", "unordered", "was empty", "never walked"],
)
def test_a_full_walk_is_due(mark: Mark) -> None:
    """After its time, for a small list, and where the order cannot be trusted, all is read."""
    assert begin(mark, RULE, NOW).stop_at is None


def test_a_walk_ends_where_there_is_no_cursor() -> None:
    """Only the missing cursor ends a list: an empty page with a cursor goes on."""
    walk = step(Walk(), [], "a", NOW)
    assert (walk.reached, walk.cursor) == ("", "a")
    assert step(walk, hours(1), None, NOW).reached == "end"


def test_a_head_walk_stops_at_the_first_older_row() -> None:
    """It goes on while rows are not older than the stop, and ends with the page that has one."""
    walk = step(Walk(stop_at=NOW - timedelta(hours=5)), hours(1, 5), "a", NOW)
    assert walk.reached == ""
    assert step(walk, hours(5, 5.1), "b", NOW).reached == "stop"


@pytest.mark.parametrize("ages", [(1, 3, 2), (9,)], ids=["within a page", "across pages"])
def test_out_of_order_rows_turn_early_stopping_off(ages: tuple[float, ...]) -> None:
    """A list that is not newest first is read to its end, and remembered as such."""
    walk = step(Walk(stop_at=NOW - timedelta(hours=5)), hours(*ages), "a", NOW)
    walk = step(walk, hours(0.5, 100), "b", NOW)

    assert walk.reached == ""
    assert finish(COVERED, step(walk, hours(101), None, NOW)).descending is False


def test_rows_without_a_creation_turn_early_stopping_off() -> None:
    """Where the shape is assumed `created_at` may be anything; then nothing is skipped."""
    walk = step(Walk(stop_at=NOW), [None, *hours(100)], "a", NOW)

    assert (walk.descending, walk.reached) == (False, "")


#: A walk of one page that ends, what was covered before, and what is covered then.
ENDED: dict[str, tuple[Walk, list[datetime], str | None, Mark, dict[str, object]]] = {
    # Rows created after the walk began are not claimed to be covered.
    "the watermark is the head of the walk": (
        Walk(stop_at=NOW - timedelta(hours=5)), hours(1, 6), "a", COVERED,
        {"watermark_at": NOW - timedelta(hours=1), "synced_at": NOW,
         "reconciled_at": COVERED.reconciled_at}),
    "a service clock ahead does not move it ahead": (
        Walk(), hours(-3), None, Mark(), {"watermark_at": NOW}),
    # Whoever read everything has reconciled, whatever was planned.
    "a head walk that came to the end was a full one": (
        Walk(stop_at=NOW - timedelta(hours=500)), hours(1, 2), None, COVERED,
        {"reconciled_at": NOW, "rows": 2}),
}  # fmt: skip


@pytest.mark.parametrize(
    ("walk", "page", "cursor", "before", "covered"), ENDED.values(), ids=ENDED
)
def test_a_walk_that_ended_covers_what_it_read(
    walk: Walk, page: list[datetime], cursor: str | None, before: Mark, covered: dict[str, object]
) -> None:
    """Watermark, when it was synced, when it was read whole."""
    mark = finish(before, step(walk, page, cursor, NOW))

    assert {name: getattr(mark, name) for name in covered} == covered


def test_a_restart_keeps_the_start_and_the_older_head() -> None:
    """Rows seen before a refused cursor count as seen, and the watermark does not pass a gap."""
    walk = step(Walk(), hours(2, 3), "a", NOW)
    again = step(restart(walk), hours(1, 2, 3), None, NOW + timedelta(minutes=9))

    assert again.started_at == NOW
    assert again.head_at == NOW - timedelta(hours=2)
    assert (again.rows, again.reached) == (3, "end")


instants = st.datetimes(timezones=st.just(UTC))
walks = st.builds(
    Walk,
    stop_at=st.none() | instants,
    cursor=st.none() | st.text(max_size=5),
    started_at=st.none() | instants,
    observed_at=st.none() | instants,
    head_at=st.none() | instants,
    oldest_at=st.none() | instants,
    rows=st.integers(0, 9),
    descending=st.booleans(),
    reached=st.sampled_from(["", "stop", "end"]),
)
marks = st.builds(
    Mark,
    watermark_at=st.none() | instants,
    synced_at=st.none() | instants,
    reconciled_at=st.none() | instants,
    rows=st.integers(0, 9),
    descending=st.booleans(),
)


@given(state=st.builds(State, mark=marks, walk=st.none() | walks))
def test_a_saved_state_is_the_state(state: State) -> None:
    """Writing down and reading again are inverses."""
    assert State.from_json(state.as_json()) == state


@given(
    ages=st.lists(st.floats(0, 200), min_size=1, max_size=30).map(sorted),
    size=st.integers(1, 7),
    stop=st.floats(0, 200),
)
def test_a_head_walk_misses_no_row_above_its_stop(
    ages: list[float], size: int, stop: float
) -> None:
    """Whatever the page size, every row not older than the stop is on a page that was read."""
    walk, read = Walk(stop_at=NOW - timedelta(hours=stop)), 0
    rows = hours(*ages)
    while not walk.reached:
        page = rows[read : read + size]
        read += len(page)
        walk = step(walk, page, "more" if read < len(rows) else None, NOW)

    assert read >= sum(row >= NOW - timedelta(hours=stop) for row in rows)


@pytest.mark.parametrize(
    ("lag_h", "rows", "expected_h"),
    [(None, 1000, 48), (10, 1000, 48), (80, 1000, 128), (800, 120_000, 500), (800, 10**8, 48)],
    ids=["unknown", "short", "long", "too many rows", "far too many rows"],
)
def test_the_overlap_is_learned(lag_h: float | None, rows: int, expected_h: float) -> None:
    """As long as nearly every change took, at least two days, at most 60,000 rows."""
    mark = replace(COVERED, rows=rows, oldest_at=NOW - timedelta(hours=1002))
    if lag_h is not None:
        mark = replace(mark, lags=noted(mark.lags, timedelta(hours=lag_h), 1000))

    assert learned_overlap(mark) == timedelta(hours=expected_h)


def test_one_change_in_a_thousand_may_come_later() -> None:
    """A single straggler does not make the overlap longer; two in a thousand do."""
    lags = noted(noted(NONE, timedelta(hours=60), 2000), timedelta(hours=3000), 1)

    assert nearly_all(lags) == timedelta(hours=64)
    assert nearly_all(noted(lags, timedelta(hours=3000), 3)) == timedelta(hours=4096)
    assert nearly_all(NONE) is None
    assert nearly_all(noted(NONE, timedelta(days=9999), 1)) == timedelta(hours=2**15)


def test_changes_are_learned_from_what_is_read_again() -> None:
    """New rows teach nothing; a change of an old page counts with its age, and is half forgotten later."""
    rule = replace(RULE, overlap=timedelta(hours=48))
    new = changed(step(Walk(), hours(1, 3), "a", NOW), COVERED, rule, hours(1, 3), 2)
    old = changed(step(new, hours(20, 30), "b", NOW), COVERED, rule, hours(20, 30), 5)
    deep = changed(step(old, hours(90, 100), None, NOW), COVERED, rule, hours(90, 100), 1)
    mark = finish(COVERED, deep)

    assert new.lags == NONE
    assert (old.lags[5], old.restless) == (5, False)
    assert (deep.lags[7], deep.restless) == (1, True)
    assert mark.lags == deep.lags
    assert finish(mark, step(Walk(), hours(1), None, NOW)).lags[5] == 2


def test_a_restless_list_is_read_whole_when_it_can_be_afforded() -> None:
    """A short one at once; a long one may take a tenth of the rate limit."""
    restless = replace(COVERED, restless=True, finished_at=NOW - timedelta(hours=1))

    assert begin(restless, RULE, NOW).stop_at is None
    assert begin(replace(restless, rows=300_000), RULE, NOW).stop_at is None
    assert begin(replace(restless, rows=400_000), RULE, NOW).stop_at is not None


def test_a_state_of_an_older_or_newer_version_is_read() -> None:
    """What is missing has its default, what is unknown is left out."""
    state = State(COVERED, Walk(rows=3)).as_json()
    del state["mark"]["restless"]
    state["walk"]["later"] = 1

    assert State.from_json(state) == State(COVERED, Walk(rows=3))
