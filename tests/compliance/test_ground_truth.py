"""The audit against the synthetic account's answer sheet: every planted fault, and nothing else.

The account's calls are clean by construction except where the sheet says otherwise, so what the
audit flags beyond the sheet is a false alarm, and what it misses is a fault gone unseen.
"""

from __future__ import annotations

import dataclasses
import os
from datetime import UTC, date, datetime, time, timedelta

import pandas as pd
import pytest

from compliance import hand
from dialframe import compliance, frames
from dialframe.analytics import DEFAULT
from dialframe.compliance.rules import overrides, rulebook
from dialframe.sandbox.seed import generate

AFTER_DNC = "call_after_dnc_disposition"
LISTED_LATER = "call_to_number_listed_after_import"
HOURS = ["out_of_hours_dst_week", "before_hours", "mixed_zone_hours"]

#: Further seeds, ten in all, for a thorough run.
MORE = (8, 9, 10, 11) if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else ()

#: The week after the clocks went back and forward, a summer without a change, a year's end.
CASES = [
    (1, "tiny", date(2026, 11, 5)),
    (2, "tiny", date(2026, 3, 12)),
    (3, "tiny", date(2026, 9, 1)),
    (4, "tiny", date(2025, 12, 31)),
    (5, "tiny", date(2028, 2, 29)),
    (7, "small", date(2026, 11, 21)),
    *((seed, "tiny", date(2026, 3 * (seed - 7), 17)) for seed in MORE),
]

#: A house rule, since no federal one limits attempts of sales calls.
HOUSE = """
[[add]]
by = "An officer"
why = "at most three calls a day, whatever the state"
on = 2026-01-01
[add.rule]
id = "house-cap"
title = "House: at most 3 calls in 24 hours"
jurisdiction = "US"
kind = "attempt_cap"
status = "in_force"
applies_to = ["telemarketing_sales"]
applies_text = "every sales call"
line_types = ["residential", "wireless", "business"]
dialing = "any"
citation = "house rule"
source = "house rule"
confidence = "high"
exemptions = []
inputs = ["created_at", "to_number"]
[add.rule.parameters]
max_attempts = 3
window_type = "rolling"
window_hours = 24
counts = "all_attempts"
scope = ["called_number"]
"""
BOOK = overrides.apply(rulebook.load(), HOUSE)


@dataclasses.dataclass(frozen=True)
class Account:
    """The account as the toolkit would have it, its answer sheet, and its audits."""

    now: datetime
    calls: pd.DataFrame
    leads: pd.DataFrame
    callbacks: pd.DataFrame
    dnc: pd.DataFrame
    truth: pd.DataFrame
    audits: dict[tuple[timedelta, ...], compliance.Audit] = dataclasses.field(default_factory=dict)

    def checked(self, *ago: timedelta) -> compliance.Audit:
        """The audit with checks at these times before the end, or without any; each is made once."""
        if ago not in self.audits:
            self.audits[ago] = hand.audit(
                self.leads, self.calls, self.ledger(*ago), self.callbacks, now=self.now, book=BOOK,
                rules=["us"], covered_by=("check",),
                known_codes=lambda code: DEFAULT.outcome("disposition", code) is not None,
            )  # fmt: skip
        return self.audits[ago]

    def expected(self, *faults: str) -> dict[str, str]:
        """Id to what a right audit says, of every call of these faults that is one."""
        rows = self.truth[self.truth["fault"].isin(faults) & (self.truth["expected"] != "clear")]
        assert set(rows["resource"]) == {"call"}
        return dict(zip(rows["id"], rows["expected"], strict=True))

    def ledger(self, *ago: timedelta) -> pd.DataFrame:
        """Checks of every number at these times before the end, as the list stood then."""
        rows = []
        phones = self.leads["phone"].drop_duplicates()
        since = self.dnc.groupby("phone")["listed_at"].min()
        for number, age in enumerate(ago):
            listed = phones.map(since) <= self.now - age
            rows += [
                {
                    "phone": phone,
                    "listed": bool(said),
                    "checked_at": self.now - age,
                    "request_id": f"req_{number}",
                }
                for phone, said in zip(phones, listed, strict=True)
            ]
        return frames.from_records(frames.DNC_CHECKS, rows)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[1]}-{case[0]}-{case[2]}")
def account(request: pytest.FixtureRequest) -> Account:
    """One synthetic account, as frames."""
    seed, size, day = request.param
    made = generate(seed=seed, size=size, as_of=day)

    def values(name: str) -> dict[str, list[object]]:
        table = made.tables[name]
        columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
        return {c: list(column) for c, column in zip(table.columns, columns, strict=True)}

    def frame(table: frames.Table) -> pd.DataFrame:
        given = values(table.name)
        for column in table.columns:
            if column.kind == "instant":
                given[column.name] = list(_instants(given[column.name]))
        return frames.from_columns(table, {n: v for n, v in given.items() if n in table.names})

    now, dnc = datetime.combine(day, time(), UTC), pd.DataFrame(values("dnc"))
    calls, leads, callbacks = (
        frame(table) for table in (frames.CALLS, frames.LEADS, frames.CALLBACKS)
    )
    return Account(
        now,
        calls,
        leads,
        callbacks,
        dnc.assign(listed_at=_instants(dnc["listed_at"])),
        pd.DataFrame(values("ground_truth")),
    )


def _instants(microseconds: object) -> pd.Series:
    return pd.to_datetime(pd.Series(microseconds, dtype="Int64"), unit="us", utc=True)


def _told(audit: compliance.Audit, check: str) -> dict[str, str]:
    rows = audit.findings[audit.findings["check"] == check]
    rows = rows[rows["grade"] != "not evaluable"]
    # A check long after a call says little of it: uncertain by the age of the check, not by a fault.
    rows = rows[~rows["reason"].str.contains("later than the rule's limit of age")]
    return dict(zip(rows["call_id"], rows["detail"].fillna(rows["grade"]), strict=True))


def test_calls_outside_the_hours_are_found_and_no_others(account: Account) -> None:
    """Late and early calls, calls in two zones, and none of the calls that only look late."""
    audit = account.checked()
    wanted = account.expected(*HOURS)
    assert {"violation", "uncertain"} == set(wanted.values())
    assert _told(audit, "calling_hours") == wanted


def test_calls_after_a_request_are_proven_and_no_others(account: Account) -> None:
    """Without a single check on record, the requests alone speak."""
    audit = account.checked()
    wanted = account.expected(AFTER_DNC)
    assert set(wanted.values()) == {"proven"}
    assert _told(audit, "listed_number") == wanted


def test_one_check_today_leaves_the_listed_calls_indeterminate(account: Account) -> None:
    """Numbers listed since their import: when, a check at the end cannot tell."""
    audit = account.checked(timedelta(0))
    wanted = account.expected(AFTER_DNC, LISTED_LATER)
    assert _told(audit, "listed_number") == wanted


def test_checks_on_the_way_prove_or_clear_what_they_can(account: Account) -> None:
    """With a check every fortnight a call is never graded against the truth that only the list knows."""
    turns = (timedelta(days=14 * turn) for turn in range(14))
    told = _told(account.checked(*turns), "listed_number")
    asked = account.expected(AFTER_DNC)
    later = account.expected(LISTED_LATER)
    assert set(told) <= set(asked) | set(later)
    assert asked.items() <= told.items()
    since = account.dnc.groupby("phone")["listed_at"].min()
    calls = account.calls.set_index("id").loc[list(later)]
    after = calls["created_at"] >= calls["to_number"].map(since)
    for call, late in after.items():
        # Proven only if it was true; clear only if it was not.
        assert told.get(str(call)) in (
            ("proven", "indeterminate") if late else (None, "indeterminate")
        )


def test_every_outbound_call_is_in_every_check(account: Account) -> None:
    """Nothing falls out between the account and the counts."""
    audit = account.checked()
    outbound = int((account.calls["direction"] == "outbound").sum())
    checked = audit.checks.set_index("check")["checked"]
    for check in ("calling_hours", "scrub_at_call", "listed_number"):
        assert checked[check] == outbound
    assert audit.excluded["inbound call"] == len(account.calls) - outbound


def test_numbers_dialed_too_often_are_found_and_no_others(account: Account) -> None:
    """The fourth and the fifth call within 24 hours, midnight or not."""
    wanted = {
        row.id: row.expected
        for row in account.truth[account.truth["fault"] == "too_often"].itertuples()
        if row.resource == "call"
    }
    assert wanted
    assert _told(account.checked(), "attempt_caps") == wanted


def test_requests_that_never_reached_the_list_are_found_and_no_others(account: Account) -> None:
    """A check at the end says not listed, long after the ten business days."""
    audit = account.checked(timedelta(0))
    requests = audit.parts["requests"]
    planted = account.truth[account.truth["fault"] == "dnc_request_not_listed"]
    phones = account.leads.set_index("id").loc[list(planted["id"]), "phone"]
    bad = requests[requests["grade"] == "violation"]
    assert set(bad["phone"]) == set(phones)
    assert "not evaluable" not in set(requests["grade"]) or not len(
        requests[(requests["grade"] == "not evaluable") & requests["missing"].isna()]
    )
