"""The store: versions, current and as-of tables, quarantine, fixed dtypes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from dialframe import frames
from dialframe.frames import CALLS, CAMPAIGNS, DISPOSITIONS, DNC_CHECKS, LEADS, TABLES
from dialframe.store import Bad, Checkpoint, Store, bad_record
from dialframe.store.layouts import OBSERVED
from store.made import CAMPAIGN, OTHER_CAMPAIGN, at, call, check, lead, phone, put


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store."""
    with Store.open(tmp_path / "part") as opened:
        yield opened


def own(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame without the columns that say how it was observed."""
    return frame.drop(columns=[column.name for column in OBSERVED])


def test_what_goes_in_comes_out(store: Store) -> None:
    """A stored table equals the frame made of the records themselves."""
    records = [call(1), call(2, answered_at=None, duration_seconds=None), call(3, new_field=7)]

    put(store, records, 60)

    assert_frame_equal(own(store.frame(CALLS)), frames.from_records(CALLS, records))


def test_every_row_says_when_and_by_which_request_it_was_observed(store: Store) -> None:
    """`_observed_at` and `_request_id` are those of the answer that brought the version."""
    put(store, [call(1)], 60)
    put(store, [call(1), call(2)], 90)

    frame = store.frame(CALLS)

    assert list(frame["_request_id"]) == ["req_60", "req_90"]
    assert list(frame["_observed_at"]) == [pd.Timestamp(at(60)), pd.Timestamp(at(90))]


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_dtypes_do_not_depend_on_rows(store: Store, table: frames.Table) -> None:
    """An empty table, one of nulls and a full one have the same columns and dtypes."""
    empty = store.frame(table)
    put(store, [_nulls(table)], 1, table)
    if table == CALLS:
        put(store, [call(1)], 2)

    filled = store.frame(table)

    assert len(filled) >= 1
    assert empty.dtypes.equals(filled.dtypes)
    assert empty.dtypes.equals(frames.empty(table, OBSERVED).dtypes)


def _nulls(table: frames.Table) -> dict[str, Any]:
    """A row that has its key and nothing else."""
    given = {
        "id": "x",
        "message_id": "x",
        "date": "2026-03-02",
        "phone": phone(1),
        "checked_at": at(1),
    }
    return {name: given.get(name) for name in table.key}


#: Answers about one call (minute, status), in the order of arrival; what each added; and the status as of some minutes.
HISTORIES: dict[str, tuple[list[tuple[float, str]], list[int], dict[float, str | None]]] = {
    "the same content again adds no version": ([(60, "a"), (90, "a")], [1, 0], {60: "a", 99: "a"}),
    "another content is a new version": ([(60, "a"), (90, "b")], [1, 1], {89: "a", 90: "b"}),
    "as of an instant includes the instant": ([(60, "a")], [1], {59.99: None, 60: "a"}),
    "a late answer takes its place in time": (
        [(60, "a"), (90, "c"), (75, "b")], [1, 1, 1], {70: "a", 80: "b", 95: "c"}),
    "it stays below what was seen again since": (
        [(60, "a"), (90, "a"), (75, "b")], [1, 0, 2], {70: "a", 80: "b", 95: "a"}),
}  # fmt: skip


@pytest.mark.parametrize(("answers", "added", "shown"), HISTORIES.values(), ids=HISTORIES)
def test_a_version_is_added_where_the_content_differs_and_counts_from_its_time(
    store: Store,
    answers: list[tuple[float, str]],
    added: list[int],
    shown: dict[float, str | None],
) -> None:
    """The current table is the last one; `test_model` holds every order of answers to a plain list."""
    versions = [put(store, [call(1, status=s)], minute).versions for minute, s in answers]

    assert versions == added
    for minute, status in shown.items():
        expected = [] if status is None else [status]
        assert list(store.frame(CALLS, as_of=at(minute))["status"]) == expected
    assert list(store.frame(CALLS)["status"]) == [list(shown.values())[-1]]
    facts = store.info().table("calls")
    assert (facts.rows, facts.versions) == (1, sum(added))
    assert facts.seen_at == at(max(minute for minute, _ in answers))


def test_of_two_records_with_one_id_the_later_counts(store: Store) -> None:
    """A page that repeats an id stores one version, its last."""
    assert put(store, [call(1, status="a"), call(1, status="b")], 60).versions == 1

    assert list(store.frame(CALLS)["status"]) == ["b"]


def test_filters_look_at_the_latest_version(store: Store) -> None:
    """A call that left a campaign is not found in it by a version of before."""
    put(store, [call(1), call(2)], 60)
    put(store, [call(1, campaign_id=OTHER_CAMPAIGN)], 90)

    assert list(store.frame(CALLS, campaign=CAMPAIGN)["id"]) == [call(2)["id"]]
    assert list(store.frame(CALLS, campaign=OTHER_CAMPAIGN)["id"]) == [call(1)["id"]]
    assert len(store.frame(CALLS, campaign=CAMPAIGN, as_of=at(70))) == 2


def test_since_is_included_and_until_is_not(store: Store) -> None:
    """A range of instants takes its first and leaves its last."""
    put(store, [call(n) for n in range(5)], 60)

    frame = store.frame(CALLS, since=at(1), until=at(3))

    assert list(frame["id"]) == [call(1)["id"], call(2)["id"]]


def test_days_are_filtered_whole(store: Store) -> None:
    """A day of the report that has begun before `until` is part of the table."""
    days = ["2026-03-01", "2026-03-02", "2026-03-03"]
    put(store, [{"date": day, "calls": 1} for day in days], 1, DISPOSITIONS)

    whole = store.frame(DISPOSITIONS, since=datetime.fromisoformat("2026-03-02T00:00:00Z"))
    until_midnight = store.frame(
        DISPOSITIONS, until=datetime.fromisoformat("2026-03-02T00:00:00Z")
    )
    until_noon = store.frame(DISPOSITIONS, until=datetime.fromisoformat("2026-03-02T12:00:00Z"))

    assert list(whole["date"]) == days[1:]
    assert list(until_midnight["date"]) == days[:1]
    assert list(until_noon["date"]) == days[:2]


def test_null_parts_of_a_key_are_a_key(store: Store) -> None:
    """Counts outside any campaign, or without disposition, are rows of their own."""
    rows = [
        {"date": "2026-03-02", "campaign_id": None, "disposition": None, "calls": 3},
        {"date": "2026-03-02", "campaign_id": CAMPAIGN, "disposition": None, "calls": 4},
    ]

    put(store, rows, 1, DISPOSITIONS)
    put(store, [rows[0] | {"calls": 5}], 2, DISPOSITIONS)

    assert sorted(store.frame(DISPOSITIONS)["calls"]) == [4, 5]


def test_every_check_is_kept(store: Store) -> None:
    """The Do-Not-Call ledger has no versions: the same answer twice is two rows."""
    put(store, [check(1), check(1)], 1, DNC_CHECKS)
    put(store, [check(1, 5, listed=True)], 5, DNC_CHECKS)

    assert list(store.frame(DNC_CHECKS)["listed"]) == [False, False, True]
    assert len(store.frame(DNC_CHECKS, as_of=at(4))) == 2
    latest = store.last_checks([phone(1), phone(2)])
    assert latest[phone(1)].listed is True
    assert latest[phone(1)].checked_at == at(5)
    assert phone(2) not in latest


def test_a_row_missing_from_two_full_walks_is_gone(store: Store) -> None:
    """One miss may be a page that shifted; the second hides the row, and keeps its history."""
    put(store, [call(1), call(2)], 60)
    put(store, [call(1)], 90)

    assert store.reconcile(CALLS, seen_before=at(80), at=at(91)) == 0
    assert len(store.frame(CALLS)) == 2
    put(store, [call(1)], 120)
    assert store.reconcile(CALLS, seen_before=at(110), at=at(121)) == 1

    assert list(store.frame(CALLS)["id"]) == [call(1)["id"]]
    assert len(store.frame(CALLS, as_of=at(120))) == 2
    assert len(store.frame(CALLS, as_of=at(121))) == 1
    assert store.info().table("calls").gone == 1


def test_a_row_that_is_seen_again_is_not_missing(store: Store) -> None:
    """A sighting between two misses starts the count anew, and brings a gone row back."""
    put(store, [call(1)], 10)
    store.reconcile(CALLS, seen_before=at(20), at=at(21))
    put(store, [call(1)], 30)
    assert store.reconcile(CALLS, seen_before=at(40), at=at(41)) == 0
    assert store.reconcile(CALLS, seen_before=at(50), at=at(51)) == 1
    assert store.reconcile(CALLS, seen_before=at(60), at=at(61)) == 0
    assert store.reconcile(CALLS, seen_before=at(62), at=at(63)) == 0
    assert store.info().table("calls").versions == 2

    assert put(store, [call(1)], 70).versions == 1
    assert len(store.frame(CALLS)) == 1
    assert len(store.frame(CALLS, as_of=at(65))) == 0


def test_only_what_was_walked_is_missing(store: Store) -> None:
    """A walk of one campaign, or of some days, says nothing about the others."""
    put(store, [call(1), call(2, campaign_id=OTHER_CAMPAIGN)], 10)
    rows = [{"date": f"2026-03-0{day}", "calls": 1} for day in (1, 2)]
    put(store, rows, 10, DISPOSITIONS)

    for minute in (20, 30):
        store.reconcile(CALLS, seen_before=at(minute), at=at(minute), campaign=CAMPAIGN)
    store.reconcile(
        DISPOSITIONS,
        seen_before=at(20),
        at=at(20),
        days=("2026-03-02", "2026-03-09"),
        misses=1,
    )

    assert list(store.frame(CALLS)["campaign_id"]) == [OTHER_CAMPAIGN]
    assert list(store.frame(DISPOSITIONS)["date"]) == ["2026-03-01"]


def test_a_row_that_does_not_validate_is_set_aside_once(store: Store) -> None:
    """Quarantine keeps the JSON as it came; the page's other rows are stored."""
    for minute in (1, 2):
        added = put(
            store,
            [call(1), call(2, id=None)],
            minute,
            quarantined=[bad_record({"id": "call_x", "created_at": 5}, "created_at: no instant")],
        )
        assert added.quarantined == 2

    facts = store.info().table("calls")
    assert (facts.rows, facts.quarantined) == (1, 2)


def test_a_row_in_quarantine_is_not_gone(store: Store) -> None:
    """A row whose content became unreadable is still listed, so a full walk must not hide it."""
    put(store, [call(1)], 10)
    for minute in (20, 30):
        put(store, [], minute, quarantined=[Bad("{}", "unreadable", key=call(1)["id"])])
        store.reconcile(CALLS, seen_before=at(minute), at=at(minute))

    assert len(store.frame(CALLS)) == 1


def test_what_does_not_fit_its_column_is_kept_beside_it(store: Store) -> None:
    """Of a shape that the contract does not show, a misfit is null in its column and in `_extra`."""
    put(store, [lead(1, attempts="many", full_name=17, surprise=[1])], 1, LEADS)

    row = store.frame(LEADS).iloc[0]

    assert pd.isna(row["attempts"])
    assert row["_extra"] == '{"attempts":"many","full_name":17,"surprise":[1]}'


#: Records that no file can hold, or that have no key, and why.
UNSTORABLE: dict[str, tuple[dict[str, Any], str]] = {
    "surrogate in extra": (call(1, full="\ud800"), "surrogates not allowed"),
    "surrogate in text": (call(1, status="\ud800"), "surrogates not allowed"),
    "no id": (call(1, id=None), "id is missing"),
    "id is a number": (call(1, id=3), "id: int is not text"),
    "nothing": ({}, "id is missing"),
}


@pytest.mark.parametrize(("record", "reason"), UNSTORABLE.values(), ids=UNSTORABLE)
def test_record_that_cannot_be_stored_is_set_aside(
    store: Store, record: dict[str, Any], reason: str
) -> None:
    """It goes to quarantine with the reason, never up as an error."""
    added = put(store, [record, call(2)], 1)

    assert (added.rows, added.quarantined) == (1, 1)
    with store._database.reading() as connection:
        (words,) = connection.execute("SELECT reason FROM quarantine").fetchone()
    assert reason in words


def test_rows_and_checkpoint_are_one(store: Store) -> None:
    """A checkpoint that cannot be written leaves the rows unwritten too."""
    with pytest.raises(TypeError):
        put(store, [call(1)], 1, checkpoint=Checkpoint("calls", {"cursor": object()}))

    assert len(store.frame(CALLS)) == 0
    put(store, [call(1)], 1, checkpoint=Checkpoint("calls", {"n": 1}))
    assert store.state("calls") == {"n": 1}


def test_checkpoints_of_parts_are_found_by_their_table(store: Store) -> None:
    """A table's states are its own and its parts', not those of a table with a similar name."""
    for name in ("calls", "calls/a", "callsign", "calls%"):
        store.save(Checkpoint(name, {"name": name}))
    store.save(Checkpoint("calls/a", None))
    store.save(Checkpoint("calls/b", {"name": "calls/b"}))

    assert set(store.states("calls")) == {"calls", "calls/b"}


def test_every_campaign_ever_named_is_known(store: Store) -> None:
    """Callbacks of a campaign that is archived by now are found by its id in older rows."""
    put(store, [call(1), call(2, campaign_id=None)], 1)
    put(store, [call(1, campaign_id=OTHER_CAMPAIGN)], 2)
    put(store, [{"id": "cmp_z", "name": "z"}], 2, CAMPAIGNS)

    assert store.campaign_ids(CALLS, CAMPAIGNS) == {CAMPAIGN, OTHER_CAMPAIGN, "cmp_z"}
    assert store.oldest(CALLS) == at(1)
    assert store.oldest(LEADS) is None
