"""The store against a plain list: whatever is done in whatever order, every question has the list's answer."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from dialframe.frames import CALLS
from dialframe.store import Store
from dialframe.store.compaction import Sizes
from dialframe.store.database import Database
from store.made import at, bytes_of, call, phone, put

#: So small that every few rows are sealed, merged and written anew.
TINY = Sizes(seal_rows=6, part_rows=6, small_parts=2, patches=2)
NUMBERS = range(6)
MINUTES = (-1, 8, 15, 22, 30)

Content = tuple[str, str | None]


@dataclass
class Model:
    """What was observed, as lists: per call its versions in time, and when it was last seen."""

    versions: dict[int, list[tuple[int, Content | None]]] = field(default_factory=dict)
    seen: dict[int, int] = field(default_factory=dict)
    misses: dict[int, int] = field(default_factory=dict)
    forgotten: set[int] = field(default_factory=set)
    keep_from: int = -1

    def append(self, number: int, minute: int, content: Content) -> None:
        """An observation: on top when it is the newest, else where it belongs."""
        if number in self.forgotten or number < self.keep_from:
            return
        known = self.versions.setdefault(number, [])
        if known and minute < self.seen[number]:
            self._late(known, number, minute, content)
            return
        if not known or known[-1][1] != content:
            known.append((minute, content))
        self.seen[number], self.misses[number] = minute, 0

    def _late(
        self, known: list[tuple[int, Content | None]], number: int, minute: int, content: Content
    ) -> None:
        earlier = [version for version in known if version[0] <= minute]
        if earlier and earlier[-1][1] == content:
            return
        later = known[len(earlier) :] or [(self.seen[number], known[-1][1])]
        known[:] = [*earlier, (minute, content), *later]

    def reconcile(self, minute: int) -> None:
        """A walk that returned nothing since a minute; the second one without a row ends it."""
        for number, known in self.versions.items():
            if self.seen[number] < minute and known[-1][1] is not None:
                self.misses[number] += 1
                if self.misses[number] >= 2:
                    known.append((minute, None))
                    self.seen[number], self.misses[number] = minute, 0

    def remove(self, number: int) -> None:
        """A call that leaves no trace."""
        self.versions.pop(number, None)

    def as_of(self, minute: int) -> dict[str, Content]:
        """Each call's last content observed by a minute."""
        shown = {
            number: [content for observed, content in known if observed <= minute][-1:]
            for number, known in self.versions.items()
        }
        return {call(number)["id"]: last[0] for number, last in shown.items() if last and last[0]}

    def history(self) -> list[tuple[str, int, Content | None]]:
        """Every version of every call."""
        return [
            (call(number)["id"], minute, content)
            for number, known in sorted(self.versions.items())
            for minute, content in known
        ]


class StoreMachine(RuleBasedStateMachine):
    """Appends, late answers, walks, sealing, reopening, forgetting and pruning in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = self.opened()
        self.model = Model()

    def opened(self) -> Store:
        """The store, as a new process would open it."""
        return Store(Database(Path(self.folder.name) / "part"), TINY)

    @rule(
        minute=st.integers(0, 30),
        page=st.dictionaries(
            st.sampled_from(NUMBERS),
            st.tuples(st.sampled_from(["ringing", "completed"]), st.sampled_from([None, "sale"])),
            max_size=5,
        ),
    )
    def append(self, minute: int, page: dict[int, Content]) -> None:
        """An answer of the service, possibly one that arrives late."""
        records = [
            call(number, status=status, disposition=disposition)
            for number, (status, disposition) in page.items()
        ]
        put(self.store, records, minute)
        for number, content in page.items():
            self.model.append(number, minute, content)

    @rule(minute=st.integers(0, 30))
    def reconcile(self, minute: int) -> None:
        """A full walk in which nothing older was returned."""
        self.store.reconcile(CALLS, seen_before=at(minute), at=at(minute))
        self.model.reconcile(minute)

    @rule()
    def compact(self) -> None:
        """Everything into parts, as full as they can be."""
        self.store.compact()

    @rule()
    def reopen(self) -> None:
        """Another process."""
        self.store.close()
        self.store = self.opened()

    @precondition(lambda self: len(self.model.forgotten) < 2)
    @rule(number=st.sampled_from(NUMBERS))
    def forget(self, number: int) -> None:
        """A person asks to be forgotten."""
        self.store.forget(phone(number), at=at(40))
        self.model.forgotten.add(number)
        self.model.remove(number)

    @precondition(lambda self: self.model.keep_from < 2)
    @rule(number=st.integers(1, 2))
    def prune(self, number: int) -> None:
        """Nothing created before a minute is kept; a call's number is the minute of its creation."""
        self.store.prune(at(number), at=at(number))
        self.model.keep_from = max(number, self.model.keep_from)
        for old in range(number):
            self.model.remove(old)

    @invariant()
    def current_is_the_lists(self) -> None:
        """The current table, filtered or not."""
        assert content_of(self.store.frame(CALLS)) == self.model.as_of(99)
        since = content_of(self.store.frame(CALLS, since=at(3)))
        late = {call(number)["id"] for number in NUMBERS if number >= 3}
        assert since == {k: v for k, v in self.model.as_of(99).items() if k in late}

    @invariant()
    def as_of_is_the_lists(self) -> None:
        """The table as of any minute, in order of creation."""
        for minute in MINUTES:
            frame = self.store.frame(CALLS, as_of=at(minute))
            assert content_of(frame) == self.model.as_of(minute)
            assert frame["created_at"].is_monotonic_increasing

    @invariant()
    def history_is_the_lists(self) -> None:
        """Every version there ever was, and nothing of who was forgotten."""
        shown = histories(self.store.history(CALLS))
        assert shown == self.model.history()
        assert self.store.info().table("calls").versions == len(shown)

    def teardown(self) -> None:
        """Nobody who was forgotten is in any byte."""
        self.store.close()
        held = bytes_of(Path(self.folder.name))
        self.folder.cleanup()
        assert not [n for n in self.model.forgotten if phone(n).encode() in held]


def content_of(frame: pd.DataFrame) -> dict[str, Content]:
    """Status and disposition by id."""
    assert frame["id"].is_unique
    columns = zip(frame["id"], frame["status"], frame["disposition"], strict=True)
    return {key: (status, text(disposition)) for key, status, disposition in columns}


def histories(frame: pd.DataFrame) -> list[tuple[str, int, Content | None]]:
    """Id, minute and content of every version."""
    minutes = (frame["_observed_at"] - pd.Timestamp(at(0))) // pd.Timedelta(minutes=1)
    columns = ("id", "status", "disposition", "_gone")
    return [
        (key, minute, None if gone else (status, text(disposition)))
        for minute, key, status, disposition, gone in zip(
            minutes, *(frame[name] for name in columns), strict=True
        )
    ]


def text(value: Any) -> str | None:
    """A cell's text, None where it is null."""
    return value if isinstance(value, str) else None


StoreMachine.TestCase.settings = settings(
    max_examples=int(os.environ.get("STORE_EXAMPLES", "3")),
    stateful_step_count=15,
    deadline=None,
)


class TestStore(StoreMachine.TestCase):  # type: ignore[name-defined,misc] # made by Hypothesis
    """Whatever is done in whatever order, the store answers as a list would."""
