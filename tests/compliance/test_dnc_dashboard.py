"""Coverage by group: every number once, and the list of what to check next with its cost."""

from __future__ import annotations

from datetime import timedelta

from compliance import hand
from dialframe import compliance
from dialframe.compliance.dnc import dashboard

NOW = hand.utc("2026-07-01")
DAY = timedelta(days=1)
LEADS = hand.leads(
    hand.lead(custom_fields={"lead_source": "web"}, created_at=None),
    hand.lead(id="lead_2", campaign_id="cmp_2", created_at=None),
    hand.lead(hand.CHICAGO, created_at=None, custom_fields={"lead_source": "bought"}),
    hand.lead(hand.PHOENIX, created_at=None, campaign_id="cmp_2"),
)
CALLS = hand.calls(
    hand.call(hand.CHICAGO, hand.utc("2026-06-17T16:00")),
    hand.call(hand.LONDON, hand.utc("2026-06-22T16:00")),
)
CHECKS = hand.checks(
    hand.check(NOW - DAY, phone=hand.NEW_YORK), hand.check(NOW - 40 * DAY, phone=hand.CHICAGO)
)


def test_every_number_counts_once_in_each_view() -> None:
    """A number of two campaigns is in neither, so that the groups add up to all numbers."""
    covered = compliance.dnc.coverage(LEADS, CALLS, CHECKS, now=NOW)
    found = dashboard(covered, LEADS, CALLS, campaigns={"cmp_1": "First"})
    totals = found.by.groupby("view")["numbers"].sum()
    assert set(totals) == {len(covered.numbers)} == {4}
    of = {(row.view, row.group): row for row in found.by.itertuples()}
    assert of["campaign", "several"].fresh == 1
    assert of["campaign", "First"].stale == 1
    assert of["campaign", "cmp_2"].never == 1
    assert of["source", "web"].numbers == 1
    assert of["state", "US-IL"].stale == 1
    assert of["state", "GB"].numbers == 1
    assert of["week", "2026-06-15"].numbers == 1
    assert of["week", "none"].numbers == 2


def test_what_to_check_next_begins_with_what_may_be_called() -> None:
    """Open leads without any record first; the cost is in requests and minutes."""
    covered = compliance.dnc.coverage(LEADS, CALLS, CHECKS, now=NOW)
    found = dashboard(covered, LEADS, CALLS)
    assert found.next["phone"].tolist() == [hand.PHOENIX, hand.CHICAGO, hand.LONDON]
    assert found.requests == 1
    assert found.minutes == 1 / 600


def test_a_dashboard_of_nothing_is_empty() -> None:
    """No numbers, no requests."""
    covered = compliance.dnc.coverage(hand.leads(), hand.calls(), hand.checks(), now=NOW)
    found = dashboard(covered, hand.leads(), hand.calls())
    assert (len(found.by), len(found.next), found.requests) == (0, 0, 0)
