"""The gate holds every number that an audit would find a fault with, and lets others pass on evidence alone."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from time import process_time

import pandas as pd
import pytest

from compliance import hand
from dialframe import compliance, frames
from dialframe.compliance import hours
from dialframe.compliance.rules import rulebook
from dialframe.sandbox.seed import generate

NOON = hand.utc("2026-10-06 16:00")
RULES = [
    "us-tcpa-hours", "us-tsr-hours", "us-tcpa-dnc-31", "us-dnc-listed-call", "us-tcpa-internal-dnc",
]  # fmt: skip
ASKED = rulebook.load().select(RULES)


def gate(numbers: list[str | None], **more: object) -> pd.DataFrame:
    """Verdicts by a few rules, of a firm that declared what its checks cover."""
    given = {"at": NOON, "rulebook": ASKED, "practice": hand.declared(), **more}
    return hand.may_call(numbers, **given)  # type: ignore[arg-type]


def fresh(phone: str = hand.NEW_YORK, *, listed: bool = False) -> dict[str, object]:
    """A check of the day before."""
    return hand.check(NOON - timedelta(days=1), phone=phone, listed=listed)


def test_the_rules_of_this_file_are_in_the_book() -> None:
    """A rule that was renamed would leave the file without a question."""
    assert {rule.id for rule in ASKED.rules} == set(RULES)


def test_without_any_record_every_number_is_held() -> None:
    """No evidence, no call; what is no number is held too, each row in its order."""
    told = gate([hand.NEW_YORK, None, "212", hand.NEW_YORK, hand.LONDON])
    assert list(told["verdict"]) == ["held"] * 5
    assert list(told["number"].isna()) == [False, True, False, False, False]
    assert told["reason"].notna().all()
    assert told.iloc[0].equals(told.iloc[3])
    assert "no number" in told["reason"][2]
    assert gate([]).empty


LATER = NOON + timedelta(days=1)
#: What is on record of a number, and the check and grade that hold it; None: it may be called.
ON_RECORD: dict[str, tuple[str | None, str | None, dict[str, object]]] = {
    "a fresh check": (None, None, {}),
    "a check that said listed": ("listed_number", "violation", {"checks": fresh(listed=True)}),
    "a check of last year": (
        "scrub_at_call", "uncertain", {"checks": hand.check(NOON - timedelta(days=300))},
    ),
    "a request that is weeks old": (
        "listed_number", "violation",
        {"calls": hand.call(at=NOON - timedelta(days=40), disposition="DNC")},
    ),
    "a request of this morning, in the time allowed": (
        "listed_number", "uncertain",
        {"calls": hand.call(at=NOON - timedelta(hours=1), disposition="DNC")},
    ),
    "a lead that is dnc": ("listed_number", "violation", {"leads": hand.lead(status="dnc")}),
    "the firm's own list": ("suppression", "violation", {"suppressed": "complaint"}),
    "a check of tomorrow, which clears nobody": (
        "scrub_at_call", "not evaluable", {"checks": hand.check(LATER)},
    ),
    "a request of tomorrow, which holds nobody": (
        None, None, {"calls": hand.call(at=LATER, disposition="DNC")},
    ),
}  # fmt: skip


@cache
def of_records() -> pd.DataFrame:
    """The verdict on a number with each of these records, by what is on record."""
    phones = {case: f"+1212555{n:04}" for n, case in enumerate(ON_RECORD)}
    rows: dict[str, list[dict[str, object]]] = {"calls": [], "leads": [], "checks": []}
    for case, (_, _, given) in ON_RECORD.items():
        for table, made in rows.items():
            record = given.get(table, fresh() if table == "checks" else None)
            if isinstance(record, dict):
                ours = {
                    name: phones[case] if value == hand.NEW_YORK else value
                    for name, value in record.items()
                }
                made.append(ours | ({"id": case} if "id" in record else {}))
    told = gate(
        list(phones.values()), calls=hand.calls(*rows["calls"]), leads=hand.leads(*rows["leads"]),
        checks=hand.checks(*rows["checks"]),
        suppressed={phones[c]: why for c, (*_, g) in ON_RECORD.items() if (why := g.get("suppressed"))},
    )  # fmt: skip
    return told.assign(case=list(phones)).set_index("case")


#: What is asked otherwise of a number with a fresh check, and the check and grade that hold it.
ASKED_OTHERWISE = {
    "an hour that is not permitted": ("calling_hours", "violation", {"at": NOON - timedelta(hours=6)}),
    "no practice file": ("scrub_at_call", "not evaluable", {"practice": None}),
    "a state that was not asked": (
        "calling_hours", "not asked", {"rulebook": rulebook.load(), "rules": RULES},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", [*ON_RECORD, *ASKED_OTHERWISE], ids=str)
def test_a_number_is_held_with_the_gravest_reason(case: str) -> None:
    """Each record that speaks against a call, and each that is missing, holds it and is named."""
    check, grade, given = {**ON_RECORD, **ASKED_OTHERWISE}[case]
    if case in ON_RECORD:
        told = of_records().loc[case]
    else:
        told = gate([hand.NEW_YORK], checks=hand.checks(fresh()), **given).iloc[0]
    if check is None:
        assert told["verdict"] == "may be called"
        assert told[["check", "reason", "held_by"]].isna().all()
        return
    assert (told["verdict"], told["check"], told["grade"]) == ("held", check, grade)
    assert told["reason"]
    assert check in told["held_by"].split(", ")
    assert grade == "not asked" or check == "suppression" or told["rule_id"]


def test_attempts_so_far_count() -> None:
    """The call that would break a cap is held; the one before it was not."""
    book = hand.trusted(rulebook.load()).select(["us-fl-cap", *RULES])
    attempts = {hand.FLORIDA_PANHANDLE: 2, f"{hand.FLORIDA_PANHANDLE[:-1]}3": 3}
    made = [
        hand.call(phone, NOON - timedelta(hours=n), id=f"{phone}/{n}")
        for phone, count in attempts.items()
        for n in range(1, count + 1)
    ]
    told = gate(
        list(attempts), rulebook=book, calls=hand.calls(*made), at=NOON + timedelta(hours=1),
        checks=hand.checks(*map(fresh, attempts)),
    )  # fmt: skip
    held_by = [str(names).split(", ") for names in told["held_by"]]
    assert ["attempt_caps" in names for names in held_by] == [False, True]


def test_no_number_passes_that_an_audit_finds_a_violation_for() -> None:
    """On a world whose faults are planted: at the instants of faults, gate and audit are asked about every number."""
    day = date(2026, 11, 5)
    calls, leads, callbacks = _world(7, day)
    now = datetime.combine(day, time(), UTC)
    phones = list(leads["phone"].dropna().unique()[:80])
    checks = hand.checks(
        *(hand.check(now - timedelta(days=d), phone=p) for p in phones for d in (20, 50))
    )
    book = hand.trusted(rulebook.load()).select(RULES)
    shared = {"rulebook": book, "practice": hand.declared(), "checks": checks, "leads": leads}
    audit = hand.audited(calls=calls, callbacks=callbacks, now=now, **shared)  # type: ignore[arg-type]
    bad = audit.findings[
        (audit.findings["grade"] == "violation") & audit.findings["call_id"].notna()
    ]
    planted = bad.drop_duplicates("check")
    assert set(planted["check"]) == {"calling_hours", "listed_number"}
    passed = 0
    for fault in planted.itertuples():
        before = calls[calls["created_at"] < fault.at]
        asked = [fault.phone, *(phone for phone in phones if phone != fault.phone)]
        told = hand.may_call(asked, at=fault.at, calls=before, **shared).set_index("number")  # type: ignore[arg-type]
        assert told.loc[fault.phone, "verdict"] == "held"
        made = hand.calls(*(hand.call(phone, fault.at, id=phone) for phone in asked))
        after = hand.audited(
            calls=pd.concat([before, made]), now=fault.at, since=fault.at, **shared,  # type: ignore[arg-type]
        ).findings  # fmt: skip
        faulty = set(after.loc[after["grade"] == "violation", "phone"])
        assert fault.phone in faulty
        assert set(told.index[told["verdict"] == "may be called"]).isdisjoint(faulty)
        passed += int((told["verdict"] == "may be called").sum())
    assert passed


def _world(seed: int, day: date) -> tuple[pd.DataFrame, ...]:
    """Calls, leads and callbacks of a synthetic account."""
    made = generate(seed=seed, size="tiny", as_of=day)

    def frame(table: frames.Table) -> pd.DataFrame:
        rows = made.tables[table.name]
        columns = dict(zip(rows.columns, zip(*rows.rows, strict=True), strict=True))
        kinds = {column.name: column.kind for column in table.columns}
        values = {
            name: pd.to_datetime(pd.Series(cells, dtype="Int64"), unit="us", utc=True).tolist()
            if kinds[name] == "instant"
            else list(cells)
            for name, cells in columns.items()
            if name in kinds
        }
        return frames.from_columns(table, values)

    return frame(frames.CALLS), frame(frames.LEADS), frame(frames.CALLBACKS)


#: Number, its zone, instant asked (local), rules, and the first instant (local) that they permit from then on.
NEXT: dict[str, tuple[str, str, str, list[str], str | None]] = {
    "at noon at once": (hand.NEW_YORK, "America/New_York", "2026-07-06 12:00:01", ["us"], "2026-07-06 12:00:01"),
    "after nine in the evening the next morning": (hand.NEW_YORK, "America/New_York", "2026-07-06 21:00", ["us"], "2026-07-07 08:00"),
    "a second before eight": (hand.NEW_YORK, "America/New_York", "2026-07-06 07:59:59", ["us"], "2026-07-06 08:00"),
    "over the night in which clocks go forward": (hand.CHICAGO, "America/Chicago", "2026-03-07 22:00", ["us"], "2026-03-08 08:00"),
    "over the night in which clocks go back": (hand.CHICAGO, "America/Chicago", "2026-10-31 22:00", ["us"], "2026-11-01 08:00"),
    "in the latest of two zones": (hand.FLORIDA_PANHANDLE, "America/Chicago", "2026-07-06 06:30", ["us"], "2026-07-06 08:00"),
    "over Sunday and Easter Monday in France": ("+33199001234", "Europe/Paris", "2026-04-03 20:00", ["fr"], "2026-04-07 10:00"),
    "after the pause at noon in France": ("+33199001234", "Europe/Paris", "2026-04-07 13:00", ["fr"], "2026-04-07 14:00"),
    "no rule on hours": (hand.LONDON, "Europe/London", "2026-04-07 13:00", ["gb"], None),
}  # fmt: skip


@pytest.mark.parametrize("case", NEXT)
def test_the_gate_says_when_a_call_is_permitted_next(case: str) -> None:
    """To the second, on days on which clocks change and over closed days."""
    phone, zone, local, rules, wanted = NEXT[case]
    book = hand.trusted(rulebook.load()).select(rules)
    told = gate([phone], at=hand.at(local, zone), rulebook=book)["next_allowed_at"].item()
    assert pd.isna(told) if wanted is None else told == hand.at(wanted, zone)


def test_the_hours_pass_at_that_instant_and_not_a_second_before() -> None:
    """By the audit, of which the gate is one question; what was permitted when it was asked was so before."""
    rows = []
    for case, (phone, zone, _, _, wanted) in NEXT.items():
        for shift_s in (0, 1) if wanted else ():
            at = hand.at(wanted, zone) - timedelta(seconds=shift_s)
            rows.append(hand.call(phone, at, id=f"{case}/{shift_s}"))
    book = hand.trusted(rulebook.load()).select(["us", "fr"])
    found = hours.audit(hand.calls(*rows), rules=book).set_index("call_id")["grade"]
    assert {
        case: (found[f"{case}/0"] == "pass", found[f"{case}/1"] == "pass")
        for case, (*_, wanted) in NEXT.items()
        if wanted
    } == {
        case: (True, local == wanted) for case, (_, _, local, _, wanted) in NEXT.items() if wanted
    }


def test_the_gate_says_how_many_attempts_are_left_how_old_the_check_is_and_when_consent_ends() -> (
    None
):
    """Three in 24 hours in Florida; without a cap, a check or a consent with an end there is nothing to say."""
    phones = [f"{hand.FLORIDA_PANHANDLE[:-1]}{made}" for made in range(5)]
    calls = [
        hand.call(phone, NOON - timedelta(hours=hour), id=f"{phone}/{hour}")
        for made, phone in enumerate(phones)
        for hour in range(1, made + 1)
    ]
    consents = pd.DataFrame([
        {"phone": phones[0], "kind": "written", "granted_at": NOON - timedelta(days=9), "expires_at": LATER, "record": "r"},
        {"phone": phones[1], "kind": "written", "granted_at": NOON - timedelta(days=9), "expires_at": None, "record": "r"},
    ])  # fmt: skip
    consents["expires_at"] = pd.to_datetime(consents["expires_at"], utc=True)
    told = gate(
        [*phones, hand.NEW_YORK], rulebook=hand.trusted(rulebook.load()).select(["us-fl-cap", *RULES]),
        calls=hand.calls(*calls), checks=hand.checks(fresh(phones[0])), consents=consents,
    )  # fmt: skip
    assert told["attempts_left"].tolist()[:5] == [3, 2, 1, 0, 0]
    assert pd.isna(told["attempts_left"][5])
    assert told["check_age_days"][0] == 1.0
    assert told["check_age_days"][1:].isna().all()
    assert told["consent_until"][0] == LATER
    assert told["consent_until"][1:].isna().all()


def test_an_open_gate_remembers_until_something_changes() -> None:
    """A check of 31 days less a second ends in the quarter of an hour that was asked about; the number beside it is remembered."""
    old, young = hand.NEW_YORK, hand.CHICAGO
    checks = hand.checks(
        hand.check(NOON - timedelta(days=31) + timedelta(seconds=1), phone=old), fresh(young)
    )
    opened = compliance.Gate(
        {"dnc_checks": checks},
        compliance.Question(now=NOON, rulebook=ASKED, practice=hand.declared()),
    )
    verdicts = {
        shift: [
            each["grades"]["scrub_at_call"]
            for each in opened.ask([old, young], at=NOON + timedelta(seconds=shift))
        ]
        for shift in (0, 1, 2, 60)
    }
    assert verdicts == {
        0: ["pass", "pass"],
        1: ["pass", "pass"],
        2: ["uncertain", "pass"],
        60: ["uncertain", "pass"],
    }
    began = process_time()
    for _ in range(5):
        opened.ask([young], at=NOON + timedelta(seconds=5))
    remembered, began = process_time() - began, process_time()
    opened.ask([young], at=NOON + timedelta(days=1))
    # Five that are remembered cost less together than one that is graded.
    assert remembered < process_time() - began


def test_an_open_gate_knows_scrubs_of_numbers_that_stand_nowhere_else() -> None:
    """A number that a scrub says is listed is not taken for its neighbor; one too old by then holds again."""
    clean, listed = hand.NEW_YORK, f"{hand.NEW_YORK[:-1]}{(int(hand.NEW_YORK[-1]) + 1) % 10}"
    at = NOON - timedelta(days=31) + timedelta(seconds=1)
    scrubs = pd.DataFrame({
        "phone": [clean, listed], "list": "US National DNC Registry", "checked_at": [pd.Timestamp(at), pd.Timestamp(NOON - timedelta(days=1))],
        "listed": [False, True], "listed_on": [pd.NaT, pd.Timestamp(NOON - timedelta(days=90))],
    })  # fmt: skip
    opened = compliance.Gate({}, compliance.Question(now=NOON, rulebook=ASKED, scrubs=scrubs))
    verdicts = {
        shift: [each["verdict"] for each in opened.ask([clean, listed], at=NOON + timedelta(seconds=shift))]
        for shift in (0, 2)
    }  # fmt: skip
    assert verdicts == {0: ["may be called", "held"], 2: ["held", "held"]}
    # Asked one by one, too: what was remembered of the first does not answer for the second.
    alone = compliance.Gate({}, compliance.Question(now=NOON, rulebook=ASKED, scrubs=scrubs))
    assert [alone.ask([number], at=NOON)[0]["verdict"] for number in (clean, listed)] == [
        "may be called",
        "held",
    ]
