"""What is forgotten or too old is gone from every byte, and stays out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.errors import ConfigError, StoreError
from dialframe.evidence.log import KEYS
from dialframe.frames import APPOINTMENTS, CALLBACKS, CALLS, CAMPAIGNS, DNC_CHECKS, EVENTS, LEADS
from dialframe.privacy import keyed_mark
from dialframe.store import Store, bad_record
from dialframe.store.compaction import Sizes
from dialframe.store.database import Database
from dialframe.store.forgotten_numbers import REPLACED, Forgotten
from store.made import OTHER_CAMPAIGN, at, bytes_of, call, check, lead, phone, put

PERSON = "+12125550142"
OTHER = "+12125550143"
WRITINGS = (
    "+12125550142",
    "0012125550142",
    "1 (212) 555-0142",
    "+1 212 555 0142",
    "(212) 555-0142",
    "212.555.0142",
    "2125550142",
)


@pytest.fixture(params=["in the tail", "in parts"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    """A store in which a person has left traces in every table, sealed or not."""
    sealed = request.param == "in parts"
    sizes = Sizes(seal_rows=1, part_rows=4, small_parts=99, patches=99)
    with Store(Database(tmp_path / "part"), sizes if sealed else Sizes()) as opened:
        fill(opened, 1)
        yield opened


def everything(store: Store) -> bytes:
    """Every byte of every file, and every cell of every part, as parts are compressed."""
    parts = (pq.read_table(path) for path in store.folder.rglob("*.parquet"))
    return bytes_of(store.folder) + b"".join(repr(part.to_pylist()).encode() for part in parts)


def fill(store: Store, minute: int) -> None:
    """What a sync at a minute brings."""
    callback = {"scheduled_at": at(9), "status": "pending", "notes": None, "created_at": at(1)}
    page: list[tuple[Any, list[dict[str, Any]]]] = [
        (CALLS, [call(1, to_number=PERSON), call(2, from_number=PERSON, direction="inbound")]),
        (CALLS, [call(3, to_number=OTHER, noted=f"was {PERSON}")]),
        (LEADS, [lead(1, phone=PERSON), lead(2, phone=OTHER, full_name="B (212) 555-0142")]),
        (LEADS, [lead(3, phone=phone(3), custom_fields={"alt": PERSON, "n": 12125550142})]),
        (
            CALLBACKS,
            [
                callback | {"id": "cb_1", "lead_id": lead(1)["id"], "campaign_id": OTHER_CAMPAIGN},
                callback | {"id": "cb_2", "lead_id": lead(2)["id"], "campaign_id": OTHER_CAMPAIGN},
            ],
        ),
        (APPOINTMENTS, [{"id": "appt_1", "phone": PERSON, "contact_name": "Ada"}]),
        (
            DNC_CHECKS,
            [
                {"phone": one, "listed": True, "checked_at": at(minute), "request_id": "req_1"}
                for one in (PERSON, OTHER)
            ],
        ),
    ]
    for table, records in page:
        store.append(table, records, observed_at=at(minute), request_id="req_1")
    store.append(
        LEADS,
        [],
        observed_at=at(minute),
        request_id="req_1",
        quarantined=[bad_record({"id": "lead_q", "phone": PERSON}, f"phone {PERSON} is odd")],
    )


def test_a_forgotten_number_leaves_no_byte(store: Store) -> None:
    """Neither the file nor its log holds the number afterwards, in any writing."""
    assert PERSON[1:].encode() in everything(store)

    erased = store.forget(PERSON, at=at(2))

    held = everything(store)
    assert erased == 10
    assert PERSON[1:].encode() not in held
    assert b"2125550142" not in held
    assert b"555-0142" not in held


def test_rows_of_the_person_are_gone_from_every_version(store: Store) -> None:
    """Calls, leads, their callbacks, appointments and checks go; everybody else's rows stay."""
    put(store, [lead(1, phone=PERSON, attempts=2)], 2, LEADS)

    store.forget(PERSON, at=at(3))

    assert list(store.frame(CALLS, as_of=at(1))["id"]) == [call(3)["id"]]
    assert list(store.frame(LEADS)["phone"]) == [OTHER, phone(3)]
    assert list(store.frame(CALLBACKS)["id"]) == ["cb_2"]
    assert len(store.frame(APPOINTMENTS)) == 0
    assert list(store.frame(DNC_CHECKS)["phone"]) == [OTHER]
    assert store.info().table("leads").quarantined == 0


def test_mentions_in_other_peoples_rows_are_replaced(store: Store) -> None:
    """The row stays, the number in its text does not, and JSON stays JSON."""
    store.forget(PERSON, at=at(2))

    leads = store.frame(LEADS)
    assert leads["full_name"].iloc[0] == f"B ({REPLACED}"
    assert json.loads(leads["custom_fields"].iloc[1]) == {"alt": REPLACED, "n": REPLACED}
    assert json.loads(store.frame(CALLS)["_extra"].iloc[0]) == {"noted": f"was {REPLACED}"}


def test_a_later_sync_does_not_bring_it_back(store: Store) -> None:
    """The same answers again add nothing: neither the person's rows nor new versions of others."""
    store.forget(PERSON, at=at(2))
    before = [(facts.name, facts.rows, facts.versions) for facts in store.info().tables[:-1]]

    fill(store, 5)

    assert [(f.name, f.rows, f.versions) for f in store.info().tables[:-1]] == before
    assert PERSON[1:].encode() not in everything(store)
    assert list(store.frame(DNC_CHECKS)["phone"]) == [OTHER, OTHER]
    added = put(store, [call(7, to_number=PERSON)], 6)
    assert (added.rows, added.versions, added.forgotten) == (1, 0, 1)


def test_replaced_parts_with_the_number_are_deleted_too(tmp_path: Path) -> None:
    """A file that a merge has replaced, and a reader still holds, does not outlive the erasing."""
    sizes = Sizes(seal_rows=1, part_rows=9, small_parts=99, patches=99)
    with Store(Database(tmp_path / "part"), sizes) as store:
        for number in range(3):
            put(store, [call(number)], number)
        held = store.batches(CALLS, rows=1)
        next(held)
        store.compact()
        assert len(list((store.folder / "parts").iterdir())) == 4

        store.forget(call(1)["to_number"], at=at(9))

        assert len(list((store.folder / "parts").iterdir())) == 1
        assert call(1)["to_number"].encode() not in everything(store)
        held.close()
        assert list(store.frame(CALLS)["id"]) == [call(0)["id"], call(2)["id"]]


def test_what_is_left_is_found_and_named(tmp_path: Path) -> None:
    """The proof looks at every file of the folder: one that holds the number is an error with its name."""
    with Store.open(tmp_path / "part") as store:
        put(store, [call(1)], 1)
        copy = store.folder / "copy.txt"
        copy.write_text(f"x{call(1)['to_number']}1,{call(1)['to_number']}\n")

        with pytest.raises(StoreError, match=r"copy\.txt: it still holds the number"):
            store.forget(call(1)["to_number"], at=at(9))

        copy.write_text(f"x{call(1)['to_number']}1\n")
        store.forget(call(1)["to_number"], at=at(9))


def test_a_number_never_seen_can_be_forgotten_ahead(tmp_path: Path) -> None:
    """The mark alone is enough to keep a number out."""
    with Store.open(tmp_path / "part") as store:
        assert store.forget(PERSON, at=at(1)) == 0
        put(store, [call(1, to_number=PERSON)], 2)

        assert len(store.frame(CALLS)) == 0


def test_without_its_key_nothing_is_stored(tmp_path: Path) -> None:
    """Forgotten numbers would not be recognized any more, and come back."""
    with Store.open(tmp_path / "part") as store:
        store.forget(PERSON, at=at(1))
        (tmp_path / "evidence" / KEYS).unlink()

        with pytest.raises(StoreError, match="the key of forgotten numbers is missing"):
            put(store, [call(1, to_number=PERSON)], 2)

        assert len(store.frame(CALLS)) == 0


def test_a_number_abroad_with_the_same_national_digits_stays(tmp_path: Path) -> None:
    """`+212 555 0142` would be Morocco: it is not the forgotten number of Manhattan."""
    morocco = "+2125550142"
    with Store.open(tmp_path / "part") as store:
        put(store, [lead(1, phone=morocco, full_name=f"M {morocco}")], 1, LEADS)
        store.forget(PERSON, at=at(2))

        assert list(store.frame(LEADS)["full_name"]) == [f"M {morocco}"]


@pytest.mark.parametrize(
    "text", ["2125550142", "+1", "+1212555014x", "", "+0212555014", "+١٢٣٤٥٦٧"]
)
def test_only_a_number_can_be_forgotten(store: Store, text: str) -> None:
    """Anything but E.164 is refused, and erases nothing."""
    with pytest.raises(ConfigError, match=r"E\.164"):
        store.forget(text, at=at(2))

    assert len(store.frame(CALLS)) == 3


@pytest.mark.parametrize("writing", WRITINGS)
def test_every_usual_writing_is_found(writing: str) -> None:
    """The number is found in text with blanks, brackets, dots, hyphens, and without its country."""
    known = forgotten()

    replaced = known.text(f"call {writing} or {OTHER}.")

    assert "0142" not in replaced
    assert f"or {OTHER}." in replaced
    assert known.text(replaced) == replaced


def test_any_number_of_mentions_is_replaced() -> None:
    """A text may be nothing but the number, a thousand times."""
    assert forgotten().text(" ".join([PERSON[1:]] * 1000)) == " ".join([REPLACED] * 1000)


@given(text=st.text(alphabet="0123456789+ -().ab", max_size=40))
def test_text_without_the_number_is_left_alone(text: str) -> None:
    """Replacing touches nothing but the number, and does it once and for all."""
    known = forgotten()
    replaced = known.text(text)

    digits = "".join(filter(str.isdigit, text))
    assert known.text(replaced) == replaced
    if "2125550142" not in digits:
        assert replaced == text


def forgotten() -> Forgotten:
    """Marks of one number."""
    marks = {keyed_mark(b"k", "phone", PERSON), keyed_mark(b"k", "national", "2125550142")}
    return Forgotten(keys=(b"k",), marks=frozenset(marks), lengths=frozenset({10, 11}))


TINY = Sizes(seal_rows=6, part_rows=5, small_parts=99, patches=99)


@pytest.fixture
def aged(tmp_path: Path) -> Iterator[Store]:
    """Calls of minutes 0 to 19, the first with a history, one of them gone; leads, checks and an event."""
    with Store(Database(tmp_path / "part"), TINY) as opened:
        put(opened, [call(n) for n in range(20)], 30)
        put(opened, [call(n, disposition="sale") for n in (0, 1, 15)], 40)
        for minute in (50, 60):
            put(opened, [call(n) for n in range(20) if n != 2], minute)
            opened.reconcile(CALLS, seen_before=at(minute), at=at(minute))
        put(opened, [lead(n) for n in range(20)], 30, LEADS)
        put(opened, [check(n, n) for n in range(20)], 30, DNC_CHECKS)
        put(opened, [{"id": "evt_1", "created_at": at(1), "data": {"to": phone(1)}}], 30, EVENTS)
        yield opened


def test_old_rows_are_gone_in_all_versions(aged: Store) -> None:
    """Current table, as of any instant, history and heads: nothing created before is left."""
    deleted = aged.prune(at(10), at=at(200))

    assert deleted["calls"] >= 10 + 2 + 2
    assert aged.frame(CALLS)["created_at"].min() == at(10)
    assert len(aged.frame(CALLS, as_of=at(35))) == 10
    history = aged.history(CALLS)
    assert set(history["id"]) == {call(n)["id"] for n in range(10, 20)}
    assert len(aged.frame(LEADS)) == len(aged.frame(DNC_CHECKS)) == 10
    assert len(aged.frame(EVENTS)) == 0
    assert set(aged.last_checks([phone(9), phone(10)])) == {phone(10)}
    facts = aged.info().table("calls")
    assert (facts.rows, facts.gone, facts.versions) == (10, 0, len(history))


def test_no_byte_of_them_is_left(aged: Store) -> None:
    """Neither the file nor its log nor a part holds what was deleted."""
    assert call(3)["id"].encode() in bytes_of(aged.folder) or aged.info().table("calls").parts

    aged.prune(at(10), at=at(200))

    held = bytes_of(aged.folder)
    assert not [n for n in range(10) if call(n)["id"].encode() in held]
    assert call(15)["id"] in set(aged.frame(CALLS)["id"])


def test_a_later_sync_does_not_bring_them_back(aged: Store) -> None:
    """The same answers again add nothing that is older; what has no time is kept."""
    aged.prune(at(10), [CALLS], at=at(200))

    added = put(aged, [call(n) for n in range(20)], 70)
    assert (added.rows, added.versions, added.pruned) == (20, 0, 10)
    assert len(aged.frame(CALLS)) == 10
    assert put(aged, [call(40, created_at=None)], 71).versions == 1
    assert put(aged, [lead(1, status="dnc")], 72, LEADS).versions == 1

    aged.prune(at(5), [CALLS], at=at(200))
    assert put(aged, [call(7)], 73).pruned == 1


def test_records_set_aside_are_deleted_by_their_arrival(aged: Store) -> None:
    """What could not be read has no time of its own: that of its observation counts."""
    for minute in (5, 15):
        bad = [bad_record({"id": f"call_{minute}"}, "odd")]
        put(aged, [], minute, quarantined=bad)

    aged.prune(at(10), at=at(200))

    assert aged.info().table("calls").quarantined == 1


def test_only_tables_about_persons_are_pruned(aged: Store) -> None:
    """Campaigns are needed to read what is left; asking for them is refused before anything is deleted."""
    with pytest.raises(ConfigError, match="campaigns is not about persons; what can be pruned is"):
        aged.prune(at(10), [CALLS, CAMPAIGNS], at=at(200))

    assert len(aged.frame(CALLS)) == 19
