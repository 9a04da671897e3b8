"""Rows that no audit likes: they are graded or counted as left out, and never dropped."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pandas as pd
import pytest

from compliance import hand
from dialframe import compliance, instants
from dialframe.compliance.rules import overrides, rulebook
from dialframe.errors import ConfigError

NOW = hand.utc("2026-12-31")
NOON = hand.utc("2026-07-06T16:00")
#: Satellite (Iridium, Inmarsat), international freephone, toll free, premium, personal numbers, +52 1.
PLACELESS = [
    "+881612345678", "+870772001234", "+80012345678", hand.TOLL_FREE, "+18885550142",
    "+19005550142", "+15005550142", "+5215555550123", "+447000123456", "+999123456789",
]  # fmt: skip
NO_NUMBERS = ["anonymous", "", "+", "12125550142", "+1", "+12125550142;ext=7", None]


def _audit(rows: list[dict[str, Any]], *checks: dict[str, Any], **more: Any) -> compliance.Audit:
    return hand.audit(
        hand.leads(), hand.calls(*rows), hand.checks(*checks), **{"now": NOW, **more}
    )


def assert_whole(audit: compliance.Audit, rows: int) -> None:
    """Rows in are rows graded and rows left out with a reason, in every table of calls."""
    graded = len(audit.hours)
    assert graded + sum(audit.excluded.values()) == rows
    assert len(audit.coverage.calls) == graded
    assert len(audit.parts["attempts"]) == graded
    assert len(audit.parts["records"]) == graded
    for table in (audit.hours, audit.coverage.calls, audit.parts["attempts"]):
        assert table["grade"].isin(["pass", "violation", "uncertain", "not evaluable"]).all()
        assert table.loc[(table["grade"] == "not evaluable").to_numpy(), "missing"].notna().all()
    counts = audit.checks[["pass", "violation", "uncertain", "not_evaluable"]].sum(axis=1)
    assert (counts == audit.checks["checked"]).all()


#: Moments by the clock of New York: the hour that is skipped, the one that comes twice, and midnight.
CLOCK = {
    "2026-03-08T06:59:59": "violation", "2026-03-08T07:00": "violation",
    "2026-03-08T12:00": "pass", "2026-03-08T11:59:59": "violation",
    "2026-11-01T05:30": "violation", "2026-11-01T06:30": "violation",
    "2026-11-01T12:59:59": "violation", "2026-11-01T13:00": "pass",
    "2026-07-07T03:59:59": "violation", "2026-07-07T04:00": "violation",
}  # fmt: skip
#: Before Canada's hours begin, on 2008-09-30.
EARLY = ["1970-01-01T00:00", "1999-12-31T23:59:59", "2003-10-17T16:00", "2008-09-29T16:00"]
BEFORE = NOON - timedelta(minutes=5)
IN_A_DAY = [NOON + timedelta(minutes=n) for n in range(4)]


def _odd_rows() -> list[dict[str, Any]]:
    rows = [hand.call(phone, NOON, id=f"placeless {phone}") for phone in PLACELESS]
    rows += [hand.call(phone, NOON, id=f"no number {n}") for n, phone in enumerate(NO_NUMBERS)]
    rows += [hand.call("+14075550142", at, id=f"day {at}", campaign_id=None) for at in IN_A_DAY]
    for code, phone in (("ca", hand.TORONTO), ("us", hand.NEW_YORK)):
        rows += [hand.call(phone, hand.utc(at), id=f"{code} {at}") for at in EARLY]
    rows += [hand.call(at=hand.utc(text), id=f"clock {text}") for text in CLOCK]
    rows += [
        hand.call(at=NOON, id="ends early", ended_at=BEFORE, disposition="DNC"),
        hand.call(at=NOON, id="answered early", answered_at=BEFORE),
        hand.call(at=NOW + timedelta(seconds=1), id="future"),
        hand.call(hand.CHICAGO, NOON + timedelta(days=9), id="after", duration_seconds=-4),
        hand.call(hand.PHOENIX, NOON, id="unchecked"),
    ]
    times = (None, datetime(1969, 7, 20, tzinfo=NOW.tzinfo), NOON, NOW + timedelta(1))
    at_once: list[dict[str, Any]] = []
    for turn, phone in enumerate([*PLACELESS, *NO_NUMBERS, hand.NEW_YORK, hand.LONDON]):
        at_once += [hand.call(phone, at, id=f"c{turn}{at}", campaign_id=None) for at in times]
    at_once += [dict(row, id=f"{row['id']}x", direction="sideways") for row in at_once]
    at_once += [dict(row, id=f"{row['id']}y", direction="inbound") for row in at_once[:5]]
    return rows + at_once + at_once[:3]


@cache
def _odd() -> compliance.Audit:
    """One audit of all of them, with a check of the day after it alone; nothing changes it."""
    return _audit(_odd_rows(), hand.check(NOW + timedelta(days=1)))


def _graded(part: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """The rows of the calls whose ids begin so."""
    return part[part["call_id"].str.startswith(prefix).to_numpy()]


def test_every_row_is_graded_or_left_out_with_a_reason() -> None:
    """All of these rows, with rows of unknown direction, inbound ones, and some twice over."""
    assert_whole(_odd(), len(_odd_rows()))


def test_a_number_without_a_place_never_passes_the_hours() -> None:
    """Satellite, freephone, toll free, premium, personal, +52 1: what is missing is said."""
    hours = _graded(_odd().hours, "placeless ")
    assert len(hours) == len(PLACELESS)
    assert not hours.index[hours["grade"] == "pass"].tolist()
    assert (hours["missing"].notna() | (hours["grade"] == "uncertain")).all()


def test_what_is_no_number_is_graded() -> None:
    """The call stays in every table, and the input that is missing is named."""
    hours = _graded(_odd().hours, "no number ")
    assert hours["grade"].tolist() == ["not evaluable"] * len(NO_NUMBERS)


def test_calls_without_campaign_are_graded_and_share_no_subject() -> None:
    """Four calls to Florida in a day, none with a campaign: over the cap in all, of which subject nobody knows."""
    attempts = _graded(_odd().parts["attempts"], "day ")
    assert attempts["grade"].tolist() == ["pass", "pass", "pass", "uncertain"]


def test_times_before_a_rule_are_graded_by_the_rules_of_their_day() -> None:
    """Before Canada's hours nothing is asked, and nothing passes."""
    assert _graded(_odd().hours, "ca ")["grade"].tolist() == ["not evaluable"] * len(EARLY)
    assert len(_graded(_odd().hours, "us ")) == len(EARLY)


def test_calls_across_midnight_and_the_change_of_clocks() -> None:
    """Each instant by its own offset."""
    assert _graded(_odd().hours, "clock ")["grade"].tolist() == list(CLOCK.values())


def test_29_february_is_a_day_like_others_in_hours_ages_and_years() -> None:
    """Two years after 29 February are over on 28 February; 31 days count it; records reach back over it."""
    leap = hand.call(at=hand.utc("2028-02-29T16:00"), id="leap")
    told = hand.check(hand.utc("2028-01-29T16:00"))
    phone = "+34915550123"
    consents = pd.DataFrame(
        {"phone": [phone], "kind": ["any"], "granted_at": [hand.utc("2028-02-29T12:00")]}
    )
    late = [hand.call(phone, hand.utc(f"2030-02-28T{hour}:00"), id=hour) for hour in ("12", "13")]
    now = hand.utc("2030-03-01")
    audit = _audit([leap, *late], told, consents=consents, now=now, rules=["us", "es"])
    assert_whole(audit, 3)
    assert _graded(audit.hours, "leap")["grade"].tolist() == ["pass"]
    assert _graded(audit.coverage.calls, "leap")["grade"].tolist() == ["pass"]
    consent = audit.parts["consent"].set_index("call_id")["grade"]
    assert [consent["12"], consent["13"]] == ["pass", "violation"]
    for at, grade in (("2033-02-28T17:00", "not evaluable"), ("2033-03-01T00:00", "pass")):
        kept = _audit([leap], now=hand.utc(at), rules=["us-tsr-retention"])
        assert kept.parts["retention"]["grade"].tolist() == [grade]


#: A time as text, and the instant that it is, if it is one.
TEXTS = {
    "2016-12-31T23:59:60Z": "2016-12-31T23:59:59.999999",
    "2016-12-31T18:59:60.5-05:00": "2016-12-31T23:59:59.999999",
    "2026-07-06T24:00:00Z": "2026-07-07T00:00",
    "2026-07-06T16:00:00Z": "2026-07-06T16:00",
    "2026-07-06T12:00:00-04:00": "2026-07-06T16:00",
    "2026-02-30T12:00:00Z": None, "2026-07-06T16:00:00": None, "yesterday": None,
    "": None, None: None, "2026-07-06T25:00:00Z": None, "9999-99-99T99:99:99Z": None,
}  # fmt: skip


def test_a_time_in_text_is_an_instant_or_is_missing() -> None:
    """A leap second stays on its day; what names no instant is null, and its call is graded."""
    for text, instant in TEXTS.items():
        assert instants.parse(text or "") == (hand.utc(instant) if instant else None)
    frame = hand.calls(*(hand.call(at=NOON, id=f"c{n}") for n in range(len(TEXTS))))
    frame = frame.assign(created_at=pd.Series(list(TEXTS), dtype="str"))
    audit = hand.audit(hand.leads(), frame, hand.checks(), now=NOW, rules=["us"])
    assert_whole(audit, len(TEXTS))
    lacking = (audit.hours["missing"] == "created_at").tolist()
    assert lacking == [instant is None for instant in TEXTS.values()]


def test_an_empty_ledger_passes_nothing() -> None:
    """No check at all: not evaluable, with what is missing; no call at all: an audit of nothing."""
    calls = _odd().coverage.calls
    assert _graded(calls, "unchecked")["grade"].tolist() == ["not evaluable"]
    assert_whole(_audit([]), 0)


def test_contradicting_checks_never_make_a_pass() -> None:
    """Of two answers at one instant the one that says listed counts; a later one changes the later calls alone."""
    at, later = NOON - timedelta(days=1), NOON + timedelta(hours=2)
    orders = {
        hand.NEW_YORK: (True, False),
        hand.CHICAGO: (False, True),
        hand.PHOENIX: (False, True),
    }
    told = [
        hand.check(at, phone=phone, listed=said, request_id=f"req_{n}")
        for phone, order in orders.items()
        for n, said in enumerate(order)
    ]
    told.append(hand.check(NOON + timedelta(hours=1), phone=hand.PHOENIX, listed=False))
    rows = [hand.call(phone, NOON, id=phone) for phone in orders]
    rows.append(hand.call(hand.PHOENIX, later, id="later"))
    audit = _audit(rows, *told, rules=["us"])
    assert_whole(audit, len(rows))
    assert audit.checks.set_index("check").loc["listed_number", "pass"] == 1
    assert audit.listed["grade"].tolist() == ["proven", "proven", "proven", "clear"]


def test_clocks_that_disagree_are_graded() -> None:
    """An end before the start, an answer before the call, a call after the audit, a check of tomorrow."""
    audit = _odd()
    graded = set(audit.hours["call_id"])
    assert {"ends early", "answered early", "after"} <= graded
    assert "future" not in graded
    after = [row for row in _odd_rows() if row["created_at"] and row["created_at"] > NOW]
    assert audit.excluded["call after the moment of the audit"] == len(after) > 0
    assert any("count for nothing" in note for note in audit.notes)


DECLARED = """
[[declared]]
rule = "us-la-emergency"
first = 2026-08-30
last = 2026-09-04
what = "storm"
"""


DAYS = "first = 2026-08-30\nlast = 2026-09-04\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("what =", "wat =", r"line 6: .*wat"),
        ("last = 2026-09-04", "last = 2026-08-04", r"line 2: .*ends on or after"),
        ("first = 2026-08-30", 'first = "tomorrow"', r"line 4: .*first"),
        ("[[declared]]", "[[declared]", "not valid TOML"),
        # Who wrote until when nothing was declared would be taken to say that nothing ever was.
        (DAYS, "none_until = 2026-01-01\n", "none_until: is no field of it"),
        # A day that was forgotten says nothing; that nothing was declared is said in so many words.
        (DAYS, "", "never = true"),
        (DAYS, "never = true\nfirst = 2026-01-01\n", "never = true"),
    ],
)
def test_a_wrong_file_of_declared_days_is_named_by_line(old: str, new: str, said: str) -> None:
    """A typo never becomes a day on which calls were fine."""
    with pytest.raises(ConfigError, match=said):
        overrides.read_declared(DECLARED.replace(old, new))
    never = overrides.read_declared(DECLARED.replace(DAYS, "never = true\n"))
    assert never.has("us-la-emergency")
    assert not never.of("us-la-emergency")


def test_declared_days_of_an_unknown_rule_are_refused() -> None:
    """A misspelled rule would let calls on these days pass."""
    days = overrides.read_declared(DECLARED.replace("us-la-emergency", "us-la-emergancy"))
    with pytest.raises(ConfigError, match="'us-la-emergancy' is no rule on holidays"):
        _audit([hand.call(at=NOON)], declared=days)


def test_a_firm_adopts_a_code_and_nothing_else() -> None:
    """`adopt = true` makes a voluntary code count; for a law there is nothing to adopt."""
    text = (
        '[[change]]\nid = "br-hours"\nby = "A"\nwhy = "we signed"\non = 2026-01-01\nadopt = true\n'
    )
    book = overrides.apply(rulebook.load(), text)
    night = [hand.call("+551155550123", hand.utc("2026-07-07T03:00"), id="c")]
    assert _audit(night, book=book, rules=["br"]).violations == 1
    apart = _audit(night, rules=["br"])
    assert apart.violations == 0
    assert apart.findings[apart.findings["grade"] == "violation"].empty
    # That a second call a day is one too many nobody read, so that the first one passes nothing either.
    advised = apart.parts["advisory"]
    assert advised[["force", "grade", "rule_id"]].to_numpy().tolist() == [
        ["voluntary code", "violation", "br-hours"],
        ["voluntary code", "uncertain", "br-cap"],
    ]
    assert _audit(night, rules=["br-hours"]).violations == 1
    with pytest.raises(ConfigError, match="line 2: us-fl-cap is no voluntary code"):
        overrides.apply(rulebook.load(), text.replace("br-hours", "us-fl-cap"))
