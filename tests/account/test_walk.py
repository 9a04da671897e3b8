"""Walks as values: which walk is due, when it ends, what it covers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.account.list_walk import (
    Look,
    Mark,
    Rule,
    State,
    Walk,
    begin,
    finish,
    looked_at,
    restart,
    save_pages,
    step,
    swept,
)

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
RULE = Rule(10)
COVERED = Mark(
    watermark_at=NOW - timedelta(hours=2),
    synced_at=NOW - timedelta(hours=1),
    reconciled_at=NOW - timedelta(hours=5),
    rows=1000,
    pages=10,
    looks=(Look(None, NOW - timedelta(hours=5)),),
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
        replace(COVERED, rows=10),
        replace(COVERED, descending=False),
        replace(COVERED, watermark_at=None),
        Mark(),
    ],
    ids=["small", "unordered", "was empty", "never walked"],
)
def test_a_whole_walk_is_due(mark: Mark) -> None:
    """For a small list, and where the order cannot be trusted, all is read."""
    assert begin(mark, RULE, NOW).stop_at is None


def test_a_list_without_sweeps_is_read_whole_in_time() -> None:
    """However long it is; and whenever somebody wants it."""
    weekly = replace(RULE, every=timedelta(days=7))

    assert begin(COVERED, weekly, NOW).stop_at is not None
    assert begin(COVERED, weekly, NOW + timedelta(days=7)).stop_at is None
    assert (
        begin(COVERED, weekly, NOW - timedelta(days=1)).stop_at is None
    )  # a clock that was ahead
    assert begin(COVERED, RULE, NOW + timedelta(days=700)).stop_at is not None
    assert begin(COVERED, RULE, NOW, whole=True).stop_at is None


def test_what_was_read_a_moment_ago_is_not_read_again() -> None:
    """A later walk then stops where nothing new can follow."""
    just_now = replace(COVERED, looks=(Look(None, NOW - timedelta(seconds=59)),))

    assert begin(just_now, RULE, NOW).stop_at == NOW - timedelta(hours=2, minutes=15)


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


def test_a_state_of_an_older_or_newer_version_is_read() -> None:
    """What is missing has its default, what is unknown is left out."""
    state = State(COVERED, Walk(rows=3)).as_json()
    del state["mark"]["in_one_go"], state["sweep"]
    state["walk"]["later"] = state["mark"]["lags"] = [1]

    assert State.from_json(state) == State(COVERED, Walk(rows=3))


def test_pages_are_saved_up_for_one_whole_list_at_most() -> None:
    """By the day, and none for a clock that was set back."""
    mark = replace(COVERED, saved_at=NOW)

    assert save_pages(mark, 2.0, NOW + timedelta(days=1.5)).saved_pages == 3.0
    assert save_pages(mark, 2.0, NOW + timedelta(days=99)).saved_pages == 10.0
    assert save_pages(mark, 2.0, NOW - timedelta(days=9)).saved_pages == 0.0
    assert save_pages(replace(mark, saved_at=None), 2.0, NOW).saved_pages == 0.0


#: Rows created so many hours ago, newest first; and readings: from which row, over how many, to the end or not.
READINGS = st.lists(
    st.tuples(st.integers(0, 39), st.integers(1, 40), st.booleans()), min_size=1, max_size=12
)


@given(
    ages=st.lists(st.integers(0, 60), min_size=40, max_size=40).map(sorted),
    readings=READINGS,
)
def test_no_row_is_said_to_be_read_later_than_it_was(
    ages: list[int], readings: list[tuple[int, int, bool]]
) -> None:
    """Whatever was read when, a row's look is never later than its last reading, nor older than the whole one."""
    rows = hours(*ages)
    read_at = dict.fromkeys(range(40), NOW)
    state = State(finish(Mark(), step(Walk(), rows, None, NOW)))
    for number, (anywhere, count, from_head) in enumerate(readings, 1):
        at = NOW + timedelta(days=number)
        first = 0 if from_head else anywhere
        last = min(first + count, 40)
        cursor = "more" if last < 40 else None
        before = Walk(cursor="c", started_at=NOW, oldest_at=rows[first - 1] if first else None)
        if from_head:
            walk = step(Walk(stop_at=rows[last - 1]), rows[:last], cursor, at)
            state = State(finish(state.mark, replace(walk, reached=walk.reached or "stop")))
        else:
            state = swept(state, before, step(before, rows[first:last], cursor, at), at)
        for row in range(first, last):
            read_at[row] = at

    for created_at in rows:
        look = looked_at(state.mark.looks, created_at)
        assert look is not None
        # Rows of one instant cannot be told apart.
        same = [read_at[other] for other in range(40) if rows[other] == created_at]
        assert NOW <= look <= min(same)
