"""The whole audit: its counts add up, it passes nothing without evidence, and shows no number."""

from __future__ import annotations

import pickle
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compliance import hand
from dialframe import compliance, frames
from dialframe.compliance.result import CHECKS, FINDINGS, in_words
from dialframe.compliance.rules import rulebook
from dialframe.errors import ConfigError

DAY = timedelta(days=1)
NOW = hand.utc("2026-12-01")
NOON = hand.utc("2026-06-15T16:00")
NIGHT = hand.utc("2026-06-16T02:30")
GRADES = {"violation", "uncertain", "not evaluable"}


def _audit(
    calls: list[dict[str, Any]],
    leads: list[dict[str, Any]] | None = None,
    checks: list[dict[str, Any]] | None = None,
    callbacks: list[dict[str, Any]] | None = None,
    *,
    now: datetime = NOW,
    **further: Any,
) -> compliance.Audit:
    return hand.audit(
        hand.leads(*(leads or [])),
        hand.calls(*calls),
        hand.checks(*(checks or [])),
        hand.callbacks(*callbacks) if callbacks else None,
        now=now,
        **{"rules": ["us"], **further},
    )


def _of(audit: compliance.Audit, check: str) -> pd.DataFrame:
    return audit.findings[audit.findings["check"] == check]


def _count(audit: compliance.Audit, check: str) -> list[int]:
    names = ["checked", "pass", "violation", "uncertain", "not_evaluable"]
    return [int(n) for n in audit.checks.set_index("check").loc[check, names]]


EVERYTHING: dict[str, Any] = {
    "calls": [
        hand.call(at=NOON, id="call_day"),
        hand.call(at=NIGHT, id="call_night"),
        hand.call(hand.FLORIDA_PANHANDLE, hand.utc("2026-06-16T01:30"), id="call_mixed"),
        hand.call(hand.TOLL_FREE, NOON, id="call_free"),
        hand.call(hand.LONDON, NOON, id="call_uk"),
        hand.call(hand.CHICAGO, NOON, id="call_listed"),
        hand.call(hand.PHOENIX, NOON, id="call_between"),
        hand.call(at=NOON, id="call_in", direction="inbound"),
        hand.call(at=NOW + DAY, id="call_future"),
    ],
    "leads": [
        hand.lead(created_at=NOON - DAY),
        hand.lead(hand.CHICAGO, created_at=NOON - 90 * DAY),
        hand.lead(hand.PHOENIX, created_at=NOON - DAY),
        hand.lead(hand.HONOLULU, status="completed"),
    ],
    "checks": [
        hand.check(NOON - DAY, phone=hand.CHICAGO, listed=True),
        hand.check(NOON + DAY, phone=hand.PHOENIX, listed=True),
        hand.check(NOON - DAY, phone=hand.LONDON),
        hand.check(NOON, listed=None),
    ],
    "callbacks": [
        {
            "id": "cb_1",
            "lead_id": f"lead_{hand.NEW_YORK}",
            "campaign_id": "cmp_1",
            "scheduled_at": NIGHT,
            "status": "pending",
        }
    ],
    "states": {hand.HONOLULU: "Hawaii", hand.LONDON: "England"},
}


@cache
def _everything() -> compliance.Audit:
    """An audit with each kind of grade; nothing changes it."""
    return _audit(**EVERYTHING)


def test_every_check_counts_and_says_so() -> None:
    """Each kind of grade once, with the sentence of the report."""
    audit = _everything()
    four = audit.checks[["check", "sentence"]].to_numpy().tolist()[:4]
    assert four == [
        [
            "calling_hours",
            "7 calls checked, 1 violation, 1 uncertain, 2 not evaluable because a rule in force "
            "on the day (1) or the number's time zone (1) is missing",
        ],
        [
            "scrub_at_call",
            "7 calls checked, 0 violations, 3 uncertain, 3 not evaluable because a Do-Not-Call "
            "check at or before the call (2) or a rule on Do-Not-Call lists for the place of the "
            "number (1) is missing",
        ],
        ["scrub_coverage", "3 numbers checked, 0 violations, 3 uncertain, 0 not evaluable"],
        [
            "listed_number",
            "7 calls checked, 1 violation, 3 uncertain, 3 not evaluable because a recent "
            "Do-Not-Call check before the call, or soon after it, (2) or a rule on Do-Not-Call "
            "lists for the place of the number (1) is missing",
        ],
    ]
    assert audit.excluded == {
        "inbound call": 1,
        "call after the moment of the audit": 1,
        "second row of a call that is already counted": 0,
    }


def test_findings_name_call_lead_rule_and_evidence() -> None:
    """One row per call and check that did not pass, numbers whole; one for each input that is missing."""
    audit = _everything()
    hours = _of(audit, "calling_hours").set_index("call_id")
    assert hours["grade"].to_dict() == {
        "call_night": "violation",
        "call_mixed": "uncertain",
        "call_free": "not evaluable",
        "call_uk": "not evaluable",
    }
    assert hours.loc["call_night", "phone"] == hand.NEW_YORK
    assert hours.loc["call_night", "at"] == NIGHT
    assert hours.loc["call_night", "lead_id"] == f"lead_{hand.NEW_YORK}"
    assert hours.loc["call_night", "local_times"] == "2026-06-15T22:30:00-04:00 America/New_York"
    assert hours.loc["call_night", "evidence"] == "area code"
    listed = _of(audit, "listed_number").set_index("call_id")
    assert listed["grade"].to_dict() == {
        "call_listed": "violation",
        "call_between": "uncertain",
        # Screened at import and never checked: evidence of its own, and no pass.
        "call_day": "uncertain",
        "call_night": "uncertain",
        "call_mixed": "not evaluable",
        "call_uk": "not evaluable",
    }
    assert listed.loc[["call_mixed", "call_uk"], "count"].tolist() == [2, 1]
    assert listed["detail"].dropna().to_dict() == {
        "call_listed": "proven",
        "call_between": "indeterminate",
        "call_day": "indeterminate",
        "call_night": "indeterminate",
    }
    assert set(listed["rule_id"].fillna("")) == {"us-dnc-listed-call", ""}
    assert listed.loc["call_listed", "evidence"].startswith("check req_1416 said listed at ")
    assert listed.loc["call_listed", "local_times"] == "2026-06-15T11:00:00-05:00 America/Chicago"


def test_numbers_that_may_be_called_are_findings_of_their_own() -> None:
    """A stale number is uncertain, one that was never checked not evaluable."""
    audit = _audit(
        [],
        [hand.lead(created_at=None), hand.lead(hand.CHICAGO, created_at=None)],
        checks=[hand.check(NOW - 40 * DAY, phone=hand.CHICAGO)],
    )
    found = _of(audit, "scrub_coverage").set_index("phone")
    assert found["grade"].tolist() == ["uncertain", "not evaluable"]
    assert found["count"].tolist() == [1, 1]
    assert found["call_id"].isna().all()
    assert found.loc[hand.CHICAGO, "lead_id"] == f"lead_{hand.CHICAGO}"
    assert found.loc[hand.CHICAGO, "reason"] == (
        "the newest check on record is more than 31 days old"
    )
    assert found.loc[hand.CHICAGO, "at"] == NOW


#: Checks of a number that was called at noon, and the grade of the call.
ANSWERS: list[tuple[list[dict[str, Any]], str]] = [
    ([], "not evaluable"),
    ([hand.check(NOON - DAY)], "pass"),
    ([hand.check(NOON - 32 * DAY)], "not evaluable"),
    # A later "not listed" clears the gap only within the rule's own limit of age.
    ([hand.check(NOON - 32 * DAY), hand.check(NOON + 31 * DAY)], "pass"),
    ([hand.check(NOON - 32 * DAY), hand.check(NOON + 90 * DAY)], "uncertain"),
    ([hand.check(NOON + 90 * DAY)], "uncertain"),
    ([hand.check(NOON - DAY), hand.check(NOON + DAY, listed=True)], "uncertain"),
    ([hand.check(NOON - DAY, listed=True)], "violation"),
    ([hand.check(NOON - DAY, listed=True), hand.check(NOON + DAY)], "violation"),
]


def test_a_call_to_an_unlisted_number_passes_only_on_a_record() -> None:
    """A recent "not listed" before the call or a next one after it; else nothing is known."""
    phones = [f"{hand.NEW_YORK[:-1]}{n}" for n in range(len(ANSWERS))]
    checks = [
        told | {"phone": phone}
        for phone, (answers, _) in zip(phones, ANSWERS, strict=True)
        for told in answers
    ]
    audit = _audit([hand.call(phone, NOON) for phone in phones], checks=checks)
    found = _of(audit, "listed_number").set_index("phone")["grade"].to_dict()
    grades = [grade for _, grade in ANSWERS]
    # What lacks a record is counted by what it lacks, and the first of those calls named.
    named = {"violation", "uncertain"}
    assert [found.get(phone) for phone in phones if found.get(phone) in named] == [
        grade for grade in grades if grade in named
    ]
    names = ("pass", "violation", "uncertain", "not evaluable")
    assert _count(audit, "listed_number") == [len(ANSWERS), *map(grades.count, names)]


def test_a_record_helps_no_call_that_lacks_an_input() -> None:
    """Neither check passes a call without direction, start or number."""
    lacking = ["direction", "created_at", "to_number"]
    rows = [hand.call(at=NOON, id=f"no {name}") | {name: None} for name in lacking]
    audit = _audit(rows, checks=[hand.check(NOON - DAY)])
    for check in ("calling_hours", "scrub_at_call", "listed_number"):
        assert _count(audit, check) == [3, 0, 0, 0, 3]
        missing = _of(audit, check).set_index("call_id")["missing"]
        assert missing.to_dict() == {f"no {name}": name for name in lacking}


def test_the_call_of_the_request_itself_passes_only_on_a_record() -> None:
    """Clear of the request does not mean clear of the registry."""
    rows = [hand.call(phone, NOON, disposition="DNC") for phone in (hand.NEW_YORK, hand.CHICAGO)]
    audit = _audit(rows, checks=[hand.check(NOON, phone=hand.CHICAGO)])
    assert _count(audit, "listed_number") == [2, 1, 0, 0, 1]
    finding = _of(audit, "listed_number").set_index("phone").loc[hand.NEW_YORK]
    assert finding["grade"] == "not evaluable"
    assert finding["missing"] == "a recent Do-Not-Call check before the call, or soon after it,"


def test_a_request_is_judged_by_the_rules_of_its_day() -> None:
    """Even when an older check is a ground as well."""
    asked = {
        hand.NEW_YORK: ("2025-04-10T16:00", "us-tcpa-internal-dnc-pre2025"),
        "+12125550143": ("2025-04-11T16:00", "us-tcpa-internal-dnc"),
    }
    rows = [hand.call(phone, hand.utc(at), disposition="DNC") for phone, (at, _) in asked.items()]
    rows += [hand.call(phone, NOON, id=phone) for phone in asked]
    before = [hand.check(hand.utc("2025-01-01"), phone=phone, listed=True) for phone in asked]
    alone = _of(_audit(rows), "listed_number").set_index("call_id")
    both = _of(_audit(rows, checks=before), "listed_number").set_index("call_id")
    for phone, (_, rule) in asked.items():
        assert tuple(alone.loc[phone, ["grade", "detail"]]) == ("violation", "proven")
        assert alone.loc[phone, "rule_id"] == rule
        assert both.loc[phone, "rule_id"] == f"us-dnc-listed-call; {rule}"


#: Leads of a number as id and campaign, and the lead of a call to it from `cmp_1`.
LEADS = [
    ([("lead_1", "cmp_1")], "lead_1"),
    ([("lead_1", "cmp_1"), ("lead_2", "cmp_2")], "lead_1"),
    ([("lead_2", "cmp_2")], "lead_2"),
    ([("lead_1", "cmp_1"), ("lead_2", "cmp_1")], None),
    ([("lead_2", "cmp_2"), ("lead_3", "cmp_3")], None),
    ([("lead_1", "cmp_1"), ("lead_1", "cmp_1")], "lead_1"),
    ([], None),
]


def test_the_lead_of_a_call_is_named_where_only_one_is_possible() -> None:
    """By campaign and number, else by number, else not at all."""
    phones = [f"{hand.NEW_YORK[:-1]}{n}" for n in range(len(LEADS))]
    leads = [
        hand.lead(phone, id=f"{phone}-{lead}", campaign_id=campaign)
        for phone, (of_number, _) in zip(phones, LEADS, strict=True)
        for lead, campaign in of_number
    ]
    audit = _audit([hand.call(phone, NIGHT) for phone in phones], leads)
    named = [lead and f"{phone}-{lead}" for phone, (_, lead) in zip(phones, LEADS, strict=True)]
    assert hand.missing(_of(audit, "calling_hours")["lead_id"]) == named


def test_an_audit_never_calls_anything_compliant() -> None:
    """With findings, without any, and with nothing to check."""
    asked = ["us-tsr-hours", "us-tcpa-hours", "us-tsr-dnc-31", "us-dnc-listed-call"]
    lead = hand.lead(status="completed", created_at=NOON - DAY)
    clean = _audit([hand.call(at=NOON)], [lead], [hand.check(NOON - DAY)], rules=asked)
    assert len(clean.findings) == 0
    assert clean.verdict == (
        "No violation found by 4 checks. 0 checks left something uncertain, 0 lack an input. "
        "No finding does not mean a call was lawful."
    )
    dirty, nothing = _everything(), _audit([], rules=asked)
    assert dirty.verdict.startswith("Violations found by 2 of ")
    for name, count in (("calling hours", 1), ("listed number", 1)):
        assert f"{name} {count} of " in dirty.verdict
    assert "2 violations" not in str(dirty) + dirty._repr_html_()
    assert nothing.verdict.startswith("Nothing was checked")
    for audit in (clean, dirty, nothing):
        assert "complian" not in (str(audit) + audit._repr_html_()).lower()


def test_an_audit_shows_no_whole_number() -> None:
    """Masked as text and as HTML, whole in the findings, whatever an evidence says."""
    leaky = hand.call(at=NOON, id="call_1", disposition=f"DNC {hand.NEW_YORK}")
    audit = _audit(
        [leaky, hand.call(at=NIGHT, id="call_2")],
        dnc_codes=[f"DNC {hand.NEW_YORK}"],
        states={hand.NEW_YORK: hand.CHICAGO},
    )
    assert audit.findings["evidence"].dropna().str.contains(hand.NEW_YORK, regex=False).any()
    assert set(audit.findings["phone"].dropna()) == {hand.NEW_YORK}
    for shown in (str(audit), repr(audit), audit._repr_html_()):
        assert hand.NEW_YORK not in shown
        assert hand.CHICAGO not in shown
    assert "+121******42" in audit._repr_html_()
    masked = audit.masked()
    assert set(masked["phone"].dropna()) == {"+121******42"}
    assert not masked["evidence"].dropna().str.contains(hand.NEW_YORK, regex=False).any()
    assert masked["grade"].tolist() == audit.findings["grade"].tolist()


def test_the_gravest_findings_are_shown_first() -> None:
    """A notebook shows ten, and violations before what cannot be told."""
    rows = [hand.call(hand.TOLL_FREE, NOON, id=f"call_{n}") for n in range(12)]
    asked = ["us-tsr-hours", "us-tsr-dnc-31", "us-dnc-listed-call"]
    audit = _audit([*rows, hand.call(at=NIGHT, id="call_bad")], rules=asked)
    _, page = audit._repr_html_().split("findings", 1)
    assert page.index("violation</td>") < page.index("not evaluable</td>")


def test_what_cannot_be_known_is_said_with_every_audit() -> None:
    """Limits of the data, the book and its age, the import screen, callbacks, odd inputs."""
    notes = "\n".join(_everything().notes)
    for words in (
        "not legal advice",
        "line type, consent, business relationship or the purpose",
        "An area code is evidence of a place",
        "names no list",
        f"Rule book {rulebook.load().version}, facts of {rulebook.load().generated_on}",
        "For 3 calls the newest record is the service's screen at import",
        "1 call outside the hours in some zone may have been asked for",
        "1 row of the ledger",
        "1 value given as a US state are none and were ignored: 'England'",
    ):
        assert words in notes
    assert "more than 180" not in notes
    old = _audit([], now=hand.utc("2027-12-01"))
    book = rulebook.load()
    days = book.age_days(hand.utc("2027-12-01").date())
    said = f"The rule book {book.version} is {days} days old, more than 180"
    assert said in "\n".join(old.notes)


def test_an_audit_names_its_book_and_its_moment() -> None:
    """Version, hash and instant, so that it can be done again."""
    audit, book = _audit([]), rulebook.load()
    assert (audit.rulebook_version, audit.rulebook_sha256) == (book.version, book.sha256)
    assert audit.as_of == NOW
    assert audit.as_of.tzinfo is not None


def test_the_book_that_is_given_is_the_book_that_is_used() -> None:
    """The strictest age of its rules, and its hours."""
    text = rulebook.packaged_text()
    book = rulebook.parse(
        text.replace("max_age_days = 31", "max_age_days = 15", 1).replace(
            "start = 08:00:00", "start = 14:00:00", 1
        )
    )
    audit = _audit([hand.call(at=NOON)], checks=[hand.check(NOON - 16 * DAY)], book=book)
    assert _count(audit, "scrub_at_call") == [1, 0, 0, 1, 0]
    assert _count(audit, "calling_hours") == [1, 0, 1, 0, 0]
    assert audit.coverage.max_age_days == 15


def test_empty_frames_give_an_audit_with_the_same_columns() -> None:
    """Schema and dtypes do not depend on the data."""
    empty = hand.audit(
        frames.empty(frames.LEADS),
        frames.empty(frames.CALLS),
        frames.empty(frames.DNC_CHECKS),
        frames.empty(frames.CALLBACKS),
        now=NOW,
    )
    full = _everything()
    assert list(empty.findings.columns) == [column.name for column in FINDINGS]
    assert list(empty.checks.columns) == [column.name for column in CHECKS]
    assert empty.findings.dtypes.equals(full.findings.dtypes)
    assert empty.checks.dtypes.equals(full.checks.dtypes)
    assert set(empty.findings["check"]) <= {"retention"}


def test_an_audit_survives_pickling_and_leaves_its_inputs_alone() -> None:
    """It crosses process borders whole, though nobody read it: its frames are made first."""
    calls, leads = hand.calls(*EVERYTHING["calls"]), hand.leads(*EVERYTHING["leads"])
    checks = hand.checks(*EVERYTHING["checks"])
    before = [frame.copy() for frame in (calls, leads, checks)]
    audit = hand.audit(leads, calls, checks, now=NOW)
    for frame, copy in zip((calls, leads, checks), before, strict=True):
        pd.testing.assert_frame_equal(frame, copy)
    again = pickle.loads(pickle.dumps(audit))  # noqa: S301 - it is our own
    assert str(again) == str(audit)
    assert (list(again.parts), again.calls) == (list(audit.parts), audit.calls)
    pd.testing.assert_frame_equal(again.findings, audit.findings)
    pd.testing.assert_frame_equal(again.hours, audit.hours)


def test_a_later_change_of_the_frames_changes_no_answer() -> None:
    """Frames are made when they are read, from the rows as they were audited."""
    calls = hand.calls(hand.call(at=NIGHT, id="c1"), hand.call(at=NIGHT, id="c2"))
    audit = hand.audit(hand.leads(), calls, hand.checks(), now=NOW, rules=["us"])
    calls.loc[0, "to_number"] = hand.PHOENIX
    calls["id"] = "changed"
    assert audit.hours["to_number"].tolist() == [hand.NEW_YORK] * 2
    assert audit.findings["call_id"].dropna().isin(["c1", "c2"]).all()


def test_further_parts_leave_the_rest_as_it_is() -> None:
    """A part more, and nothing else changed."""
    audit = _everything()
    more = audit.joined({"extra": pd.DataFrame({"a": [1]})})
    assert set(more.parts) == {*audit.parts, "extra"}
    assert len(more.parts["extra"]) == 1
    assert str(more) == str(audit)
    pd.testing.assert_frame_equal(more.findings, audit.findings)


def test_a_naive_moment_is_refused_in_words() -> None:
    """Which instant it means nobody knows."""
    with pytest.raises(ConfigError, match="the moment of the audit has no time zone"):
        _audit([], now=NOW.replace(tzinfo=None))


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ([], "2 calls checked, 1 violation, 0 uncertain, 0 not evaluable"),
        (["x"], "2 calls checked, 1 violation, 0 uncertain, 1 not evaluable because x is missing"),
        (
            ["x", "y", "y"],
            "2 calls checked, 1 violation, 0 uncertain, 3 not evaluable because y (2) or x (1) "
            "is missing",
        ),
    ],
)
def test_counts_become_the_sentence_of_a_report(missing: list[str], words: str) -> None:
    """The missing inputs are named, the most frequent first."""
    counts = {"checked": 2, "violation": 1, "uncertain": 0, "not_evaluable": len(missing)}
    assert in_words("call", counts, pd.Series(missing, dtype="str").value_counts()) == words


PHONES = st.sampled_from(
    [hand.NEW_YORK, hand.FLORIDA_PANHANDLE, hand.TOLL_FREE, hand.LONDON, hand.PHOENIX, None]
)
AGES = st.integers(0, 120).map(lambda hours: timedelta(hours=hours * 17))
ROWS = st.tuples(
    PHONES,
    AGES | st.none(),
    st.sampled_from(["outbound", "outbound", "inbound", None]),
    st.sampled_from(["NA", "DNC", None]),
)


@settings(max_examples=5)
@given(
    st.lists(ROWS, max_size=24),
    st.lists(st.tuples(PHONES, AGES, st.sampled_from(["new", "dnc", "completed"])), max_size=6),
    st.lists(st.tuples(PHONES, AGES, st.booleans()), max_size=6),
)
def test_counts_balance(calls: list[Any], leads: list[Any], checks: list[Any]) -> None:
    """In = out + set aside: every call is in every check, and every finding is counted once."""
    audit = _audit(
        [
            hand.call(
                phone,
                None if age is None else NOW - age,
                id=f"call_{n}",
                direction=direction,
                disposition=code,
            )
            for n, (phone, age, direction, code) in enumerate(calls)
        ],
        [
            hand.lead(phone, id=f"lead_{n}", created_at=NOW - age, updated_at=NOW, status=status)
            for n, (phone, age, status) in enumerate(leads)
        ],
        [hand.check(NOW - age, phone=phone, listed=listed) for phone, age, listed in checks],
    )
    kept = len(calls) - audit.excluded["inbound call"]
    for row in audit.checks.to_dict("records"):
        found = _of(audit, row["check"])
        parts = [row["pass"], row["violation"], row["uncertain"], row["not_evaluable"]]
        assert sum(parts) == row["checked"]
        every = ("calling_hours", "scrub_at_call", "listed_number")
        assert row["check"] not in every or row["checked"] == kept
        told = found["grade"].value_counts()
        assert [told.get(g, 0) for g in ("violation", "uncertain")] == parts[1:3]
        # What lacks an input is counted by the input, and not listed one by one.
        assert found.loc[found["grade"] == "not evaluable", "count"].sum() == parts[3]
        assert (found["missing"].notna() == (found["grade"] == "not evaluable")).all()
    assert set(audit.findings["grade"]) <= GRADES
    assert audit.findings["reason"].notna().all()
