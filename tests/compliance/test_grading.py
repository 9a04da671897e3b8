"""Grades as bytes against the same calls put into words, row for row: the words are the measure."""

from __future__ import annotations

import copy
import pickle
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance import hand
from dialframe import compliance
from dialframe.compliance import consent, lifting, rulebook, wording
from dialframe.compliance.auditing import Whole
from dialframe.compliance.dnc import REQUEST_CODES
from dialframe.compliance.graded import Graded
from dialframe.compliance.ground import Ground, Question
from dialframe.compliance.intake import (
    moment,
    repeated,
    take_callbacks,
    take_calls,
    take_checks,
    take_leads,
)
from dialframe.compliance.practice import frozen

BOOK = rulebook.load().select(["us", "us-*", "gb", "au"])
START = hand.utc("2026-01-01T00:30")
PHONES = st.sampled_from(
    [hand.NEW_YORK, hand.FLORIDA_PANHANDLE, "+14075550142", "+13175550142", hand.LONDON,
     "+61255500123", hand.TOLL_FREE, "+14055550142", "unknown", "withheld", None]
)  # fmt: skip
MOMENTS = st.integers(0, 4000).map(lambda n: START + timedelta(minutes=37 * n))
CALLS = st.fixed_dictionaries(
    {
        "to_number": PHONES,
        "created_at": st.one_of(MOMENTS, MOMENTS, MOMENTS, st.none()),
        "campaign_id": st.sampled_from(["cmp_1", "cmp_2", None]),
        "direction": st.sampled_from(["outbound"] * 6 + ["inbound", " Outbound", None]),
        "disposition": st.sampled_from(["SALE", "NA", "DNC", "do-not call", None]),
        "hangup_cause": st.sampled_from(["16", "34", "SIP 503", None]),
    }
)
LEADS = st.tuples(PHONES, st.sampled_from(["new", "dnc", "DNC ", "completed", None]), MOMENTS)
CHECKS = st.tuples(PHONES, MOMENTS, st.sampled_from([True, False, None]))
CONSENTS = st.tuples(PHONES, st.sampled_from(["written", "express"]), MOMENTS, MOMENTS)


def _ground(
    calls: list[dict[str, Any]], leads: list[Any], checks: list[Any], **asked: Any
) -> Ground:
    """What an audit stands on, from drawn values."""
    rows = [hand.call(id=f"c{n}", **call) for n, call in enumerate(calls)]
    rows = [row | {"ended_at": row["created_at"]} for row in rows]
    people = [
        hand.lead(phone, id=f"l{n}", status=status, created_at=at, updated_at=at)
        for n, (phone, status, at) in enumerate(leads)
    ]
    ledger = [hand.check(at, phone=phone, listed=said) for phone, at, said in checks]
    due = [
        {"id": f"cb_{n}", "lead_id": row["id"], "campaign_id": "cmp_1", "status": "pending",
         "scheduled_at": rows[n % len(rows)]["created_at"]}
        for n, row in enumerate(people)
    ]  # fmt: skip
    now = hand.utc("2026-04-01")
    question = {
        "book": BOOK, "at": moment(now), "since": None, "until": None,
        "practice": frozen(None), "states": None, "lifted": lifting.take(None, BOOK),
        "codes": REQUEST_CODES, "grace": timedelta(0), "screens": True,
        "declared": compliance.Declared(), "given": consent.take(None, None),
        "outcomes": None, "events": None,
    } | asked  # fmt: skip
    return Ground(
        Question(**question),
        take_calls(hand.calls(*rows), as_of=now, since=question["since"], until=question["until"]),
        take_leads(hand.leads(*people), as_of=now),
        take_checks(hand.checks(*ledger), as_of=now),
        take_callbacks(hand.callbacks(*due) if due else None),
    )


@settings(max_examples=8)
@given(
    calls=st.lists(CALLS, min_size=1, max_size=50),
    leads=st.lists(LEADS, max_size=6),
    checks=st.lists(CHECKS, max_size=25),
    consents=st.one_of(st.none(), st.lists(CONSENTS, min_size=1, max_size=6)),
    lifted=st.one_of(st.none(), st.sampled_from(["ebr", "written_consent", "b2b"])),
    since=st.one_of(st.none(), MOMENTS),
    screens=st.booleans(),
)
def test_bytes_and_words_say_the_same(
    calls: list[dict[str, Any]],
    leads: list[Any],
    checks: list[Any],
    consents: list[Any] | None,
    lifted: str | None,
    since: datetime | None,
    screens: bool,
) -> None:
    """Counts, sentences, rules and findings of every check of drawn accounts."""
    names = ["phone", "kind", "granted_at", "revoked_at"]
    told = None if consents is None else pd.DataFrame(consents, columns=names).assign(record="r")
    exempt = None
    if lifted is not None:
        exempt = pd.DataFrame({"code": [lifted], "campaign_id": ["cmp_1"], "record": ["ebr.csv"]})
    ground = _ground(
        calls, leads, checks, since=since, screens=screens, lifted=lifting.take(exempt, BOOK),
        given=consent.take(told, None),
    )  # fmt: skip
    whole = Whole.of(ground, oldest=None, began_at=None)
    words = wording.tell(ground, ground.part())
    for check in whole.checks:
        if check.name in words.checks:
            assert check.row() == words.checks[check.name].row()
    assert set(whole.grades.checks) == set(words.checks)
    for name, graded in whole.grades.checks.items():
        assert bool(graded.rules) == bool(words.checks[name].rules) or name == "calling_hours"
    parts = [
        words.checks[check.name].findings for check in whole.checks if check.name in words.checks
    ]
    found = whole.findings()
    mine = found[found["check"].isin(list(words.checks))].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, pd.concat(parts, ignore_index=True))


def test_numbers_are_counted_as_their_table_says() -> None:
    """Callable numbers by the age of their newest record, counted and told."""
    day = timedelta(days=1)
    leads = [(hand.NEW_YORK, "new", START), (hand.PHOENIX, "new", START + 80 * day),
             (hand.CHICAGO, "dnc", START)]  # fmt: skip
    call = {"to_number": hand.NEW_YORK, "created_at": START}
    ground = _ground([call], leads, [(hand.PHOENIX, START + 85 * day, False)])
    check = next(
        c for c in Whole.of(ground, oldest=None, began_at=None).checks
        if c.name == "scrub_coverage"
    )  # fmt: skip
    assert isinstance(check, Graded)
    assert check.row()["sentence"] == (
        "2 numbers checked, 0 violations, 1 uncertain, 0 not evaluable"
    )


def test_a_later_change_of_the_frames_changes_no_answer() -> None:
    """Frames are made when they are read, from the rows as they were audited."""
    calls = hand.calls(hand.call(at=START, id="c1"), hand.call(at=START, id="c2"))
    before = copy.deepcopy(calls)
    audit = compliance.audit(hand.leads(), calls, hand.checks(), now=START + timedelta(days=1))
    calls.loc[0, "to_number"] = hand.PHOENIX
    calls["id"] = "changed"
    assert audit.hours["to_number"].tolist() == before["to_number"].tolist()
    assert audit.findings["call_id"].dropna().isin(["c1", "c2"]).all()


def test_an_audit_that_nobody_read_is_pickled_whole() -> None:
    """Frames are made first, since what they are made from does not travel."""
    audit = compliance.audit(
        hand.leads(), hand.calls(hand.call(at=START)), hand.checks(), now=START + timedelta(1)
    )
    again = pickle.loads(pickle.dumps(audit))  # noqa: S301 - it is our own
    pd.testing.assert_frame_equal(again.hours, audit.hours)
    assert list(again.parts) == list(audit.parts)
    assert again.calls == 1


def test_further_parts_leave_the_rest_as_it_is() -> None:
    """A part more, and nothing else changed."""
    audit = compliance.audit(
        hand.leads(), hand.calls(hand.call(at=START)), hand.checks(), now=START + timedelta(1)
    )
    more = audit.joined({"extra": pd.DataFrame({"a": [1]})})
    assert set(more.parts) == {*audit.parts, "extra"}
    assert len(more.parts["extra"]) == 1
    assert str(more) == str(audit)
    pd.testing.assert_frame_equal(more.findings, audit.findings)


@pytest.mark.parametrize(
    ("ids", "again"),
    [
        (["a", "b", "a"], [True, False, False]),
        (["a", "b", "c"], [False, False, False]),
        ([None, "a", None], [False, False, False]),
        ([], []),
    ],
)
def test_the_last_row_of_an_id_counts(ids: list[str | None], again: list[bool]) -> None:
    """Earlier rows of it are repeated; a row without id never is."""
    assert np.array_equal(repeated(pd.Series(ids, dtype="str")), np.array(again, dtype=bool))
