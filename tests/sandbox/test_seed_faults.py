"""The planted faults: each found by a plain audit written here, and nothing found beside them.

The audits see what the service answers, and the answer sheet only to compare. Zones come from the
phone-number package, local times from DuckDB, neither from the generator's own tables.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest

from sandbox.drawn import ask

AUTUMN = dt.date(2026, 11, 21)
SPRING = dt.date(2026, 5, 20)
CASES = [
    ("small", 7, AUTUMN),
    ("small", 8, SPRING),
    ("tiny", 1, AUTUMN),
    ("tiny", 2, SPRING),
    ("tiny", 3, dt.date(2026, 10, 20)),  # no change of the clocks in its history
    ("tiny", 4, dt.date(2026, 11, 3)),  # just after one
    ("medium", 7, AUTUMN),
]
MEDIUM = CASES[-1]
DAY = 86_400_000_000

Case = tuple[str, int, dt.date]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2]}")


def sheet(*faults: str, resource: str = "call", expected: str = "") -> str:
    """A query for what is on the answer sheet."""
    names = ", ".join(f"'{fault}'" for fault in faults)
    right = f" AND expected = '{expected}'" if expected else ""
    return f"(SELECT id FROM ground_truth WHERE fault IN ({names}) AND resource = '{resource}'{right})"


LISTED_LATER = sheet("listed_after_import", resource="phone", expected="indeterminate")
REQUESTED = sheet("dnc_request", resource="phone", expected="clear")
INDETERMINATE = sheet("call_to_number_listed_after_import", expected="indeterminate")
AFTER_DNC = sheet("call_after_dnc_disposition", expected="proven")
MISSING = sheet("missing_disposition", expected="missing")
TOTAL = f"(campaign_id IS NOT DISTINCT FROM {sheet('duration_is_total', resource='campaign')})"
HIDDEN = (
    f"(campaign_id IS NOT DISTINCT FROM {sheet('voicemail_as_completed', resource='campaign')})"
)
INSIDE = "hour(clock) BETWEEN 8 AND 20"
FOURTH = f"""(SELECT id, to_number FROM outbound QUALIFY created_at - lag(created_at, 3) OVER
    (PARTITION BY to_number ORDER BY created_at) <= {DAY})"""
#: Outbound calls with the end of the last Do-Not-Call disposition of their number before them.
ASKED = """(SELECT *, max(CASE disposition WHEN 'DNC' THEN ended_at END) OVER (PARTITION BY to_number
    ORDER BY created_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS asked_at FROM outbound)"""

#: Audit to its query and to what the sheet has; both are never empty.
FOUND = {
    "calls outside the hours in all zones": (
        f"SELECT id FROM clocks GROUP BY id HAVING bool_and(NOT {INSIDE})",
        sheet("out_of_hours_dst_week", "before_hours", expected="violation"),
    ),
    "calls outside the hours in some zones": (
        f"SELECT id FROM clocks GROUP BY id HAVING bool_or({INSIDE}) AND bool_or(NOT {INSIDE})",
        sheet("mixed_zone_hours", expected="uncertain"),
    ),
    "a fourth call within 24 hours": (
        f"SELECT id FROM {FOURTH}", sheet("too_often", expected="violation"),
    ),
    "numbers with a fourth call within 24 hours": (
        f"SELECT DISTINCT to_number FROM {FOURTH}", sheet("too_often", resource="phone"),
    ),
    "calls after the number's Do-Not-Call disposition": (
        f"SELECT id FROM {ASKED} WHERE asked_at IS NOT NULL", AFTER_DNC,
    ),
    "numbers listed at their owner's request": (
        "SELECT phone FROM dnc WHERE source = 'request'", REQUESTED,
    ),
    "leads on the list": (
        "SELECT DISTINCT phone FROM leads JOIN dnc USING (phone)",
        f"{LISTED_LATER} UNION {REQUESTED}",
    ),
    "calls to numbers that were listed after their import": (
        f"SELECT id FROM outbound WHERE to_number IN {LISTED_LATER}", INDETERMINATE,
    ),
    "answered calls without a disposition": (
        "SELECT id FROM calls WHERE answered_at IS NOT NULL AND disposition IS NULL", MISSING,
    ),
    "codes that no taxonomy knows": (
        "SELECT id FROM calls WHERE disposition = 'ZZTOP'",
        sheet("unmapped_code", expected="unmapped"),
    ),
    "numbers of several campaigns": (
        "SELECT phone FROM leads GROUP BY phone HAVING count(*) > 1",
        sheet("phone_in_three_campaigns", resource="phone"),
    ),
    "Do-Not-Call dispositions whose number is not on the list": (
        """SELECT DISTINCT lead_id FROM outbound WHERE disposition = 'DNC'
            AND to_number NOT IN (SELECT phone FROM dnc)""",
        sheet("dnc_request_not_listed", resource="lead"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("audit", FOUND)
@every_case
def test_an_audit_finds_what_is_planted(case: Case, audit: str) -> None:
    """All of it, and nothing beside it."""
    found, planted = ({row[0] for row in ask(query, *case)} for query in FOUND[audit])
    assert found == planted
    assert found


SCRIPTED = sheet("out_of_hours_dst_week", "before_hours", "mixed_zone_hours")
#: Law to a query that finds what breaks it.
LAWS = {
    "ordinary calls lie between 08:00 and 20:58, never on a Sunday": f"""
        SELECT id FROM clocks WHERE id NOT IN {SCRIPTED} AND (isodow(clock) = 7
            OR clock::TIME NOT BETWEEN TIME '08:00' AND TIME '20:57:59.999999')""",
    **{
        f"{expected} calls of {fault} lie from {first} on, and before {last}": f"""
            SELECT id FROM clocks WHERE id IN {sheet(fault, expected=expected)}
            AND (clock::TIME < TIME '{first}' OR clock::TIME >= TIME '{last}')"""
        for fault, expected, first, last in (
            ("out_of_hours_dst_week", "violation", "21:00", "21:56"),
            ("out_of_hours_dst_week", "clear", "20:30", "21:00"),
            ("before_hours", "violation", "07:00", "08:00"),
        )
    },
    "no number is dialed more than seven times in seven days": f"""
        SELECT id FROM outbound QUALIFY created_at - lag(created_at, 7) OVER
            (PARTITION BY to_number ORDER BY created_at) <= {7 * DAY}""",
    "calls after a request come 16 days later or more": f"""
        SELECT id FROM {ASKED} WHERE created_at - asked_at <= {16 * DAY}""",
    "each listed number that was called asked for it, or was listed after its import": f"""
        SELECT id FROM outbound JOIN dnc ON phone = to_number
        WHERE phone NOT IN {REQUESTED} AND phone NOT IN {LISTED_LATER}""",
    "calls after a listing are proven or indeterminate": f"""
        SELECT id FROM outbound JOIN dnc ON phone = to_number WHERE created_at > listed_at
            AND id NOT IN {AFTER_DNC} AND id NOT IN {INDETERMINATE}""",
    "proven calls come after the listing": f"""
        SELECT id FROM outbound JOIN dnc ON phone = to_number
        WHERE id IN {AFTER_DNC} AND created_at <= listed_at""",
    "what was listed after its import came from the registry": f"""
        SELECT phone FROM leads JOIN dnc USING (phone)
        WHERE phone IN {LISTED_LATER} AND (created_at >= listed_at OR source <> 'registry')""",
    "missing dispositions are of human length": f"""
        SELECT id FROM calls WHERE id IN {MISSING} AND ended_at - answered_at < 30000000""",
    "the dialer logs unanswered outbound calls, an abandoned inbound one has no code": """
        SELECT id FROM calls WHERE answered_at IS NULL
            AND (disposition IS NULL) <> (direction = 'inbound')""",
    "one campaign logs no machine, and it alone uses the unknown pick-up": f"""
        SELECT id FROM outbound WHERE disposition IN ('A', 'AA') AND {HIDDEN}
            OR disposition = 'PU' AND NOT {HIDDEN}""",
    "durations count from the answer, in one campaign from the start of the call": f"""
        SELECT id FROM (SELECT *, CASE WHEN {TOTAL} THEN created_at ELSE answered_at END AS started
            FROM calls)
        WHERE (started IS NULL) <> (duration_seconds IS NULL)
            OR abs(duration_seconds - (ended_at - started) / 1e6) > 0.5""",
    "the sheet names what exists, once per fault": """
        SELECT id FROM ground_truth WHERE CASE resource
            WHEN 'call' THEN id NOT IN (SELECT id FROM calls)
            WHEN 'lead' THEN id NOT IN (SELECT id FROM leads)
            WHEN 'campaign' THEN id NOT IN (SELECT id FROM campaigns)
            ELSE id NOT IN (SELECT phone FROM leads UNION SELECT number FROM caller_ids) END
        UNION ALL SELECT id FROM ground_truth GROUP BY fault, resource, id HAVING count(*) > 1""",
    "no whole number is in the sheet's words": """
        SELECT id FROM ground_truth WHERE regexp_matches(detail, '[+][0-9]{7}')""",
    "no call has two faults of its own, so that each verdict has one cause": f"""
        SELECT id FROM ground_truth WHERE resource = 'call' AND id NOT IN {INDETERMINATE}
        GROUP BY id HAVING count(*) > 1""",
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
@every_case
def test_no_row_breaks_a_law(case: Case, law: str) -> None:
    """Whatever the size, the seed and the day."""
    assert ask(LAWS[law], *case)[:3] == []


@every_case
def test_every_kind_of_call_is_there(case: Case) -> None:
    """Late ones, decoys and early ones; after a listing, indeterminate; both durations; both kinds of machine."""
    for expected in ("violation", "clear"):
        assert ask(sheet("out_of_hours_dst_week", expected=expected), *case)
    after = f"SELECT id FROM outbound JOIN dnc ON phone = to_number WHERE created_at > listed_at AND id IN {INDETERMINATE}"
    assert ask(after, *case)
    assert len(ask(f"SELECT DISTINCT {TOTAL} FROM calls", *case)) == 2
    hidden = ask(f"SELECT avg((disposition = 'PU')::INT) FROM outbound WHERE {HIDDEN}", *case)
    assert hidden[0][0] > 0.3
    codes = "SELECT count(*) FILTER (disposition = 'A'), count(*) FILTER (disposition = 'AA') FROM outbound"
    ((alone, with_message),) = ask(codes, *case)
    assert alone > with_message > 0


@pytest.mark.parametrize("case", CASES[:4], ids=lambda case: f"{case[0]}-{case[2]}")
def test_a_fixed_offset_is_wrong_about_some(case: Case) -> None:
    """In the week of a clock change, one offset for all days misses calls or accuses wrongly."""
    days = {
        name: int(dt.datetime(2026, month, 15, tzinfo=dt.UTC).timestamp() * 1e6)
        for name, month in (("winter", 1), ("summer", 7))
    }
    offsets = ", ".join(
        f"local({day}, zone) - make_timestamp({day}) AS {name}" for name, day in days.items()
    )
    ((missed, accused),) = ask(
        f"""SELECT count(*) FILTER (expected = 'violation' AND hour(make_timestamp(created_at)
                + winter) BETWEEN 8 AND 20),
            count(*) FILTER (expected = 'clear' AND hour(make_timestamp(created_at)
                + summer) NOT BETWEEN 8 AND 20)
        FROM (SELECT *, {offsets} FROM clocks JOIN ground_truth USING (id)
            WHERE fault = 'out_of_hours_dst_week') WHERE winter <> summer""",
        *case,
    )
    assert missed
    assert accused


@pytest.mark.parametrize(
    ("case", "change"),
    [(CASES[0], "2026-11-01"), (CASES[1], "2026-03-08"), (CASES[2], "2026-11-01")],
)
def test_the_week_is_that_of_the_change(case: Case, change: str) -> None:
    """The late calls are within three days of the last clock change, on both sides of it."""
    days = f"""SELECT date_diff('day', DATE '{change}', clock::DATE) FROM clocks
        WHERE id IN {sheet("out_of_hours_dst_week")}"""
    around = {day for (day,) in ask(days, *case)}
    assert around <= set(range(-3, 4))
    assert min(around) < 0 <= max(around)


@every_case
def test_late_dispositions(case: Case) -> None:
    """Each was changed 1 to 48 hours after its call, from another code, before the end."""
    rows = ask(
        """SELECT detail, disposition, ended_at FROM ground_truth JOIN calls USING (id)
        WHERE fault = 'late_disposition'""",
        *case,
    )
    assert rows
    for detail, disposition, ended_us in rows:
        match = re.fullmatch(r"logged as (\w+), changed to (\w+) at (\S+)", detail)
        assert match
        changed_at = dt.datetime.fromisoformat(match[3])
        hours = (changed_at.timestamp() - ended_us / 1e6) / 3600
        assert 1 <= hours <= 48
        assert changed_at < dt.datetime.combine(case[2], dt.time(), tzinfo=dt.UTC)
        assert match[1] != match[2] == disposition


@every_case
def test_phone_in_three_campaigns(case: Case) -> None:
    """The one number is a lead of three campaigns and dialed in each."""
    shared = sheet("phone_in_three_campaigns", resource="phone")
    campaigns = ask(f"SELECT campaign_id FROM leads WHERE phone = {shared}", *case)
    dialed = ask(f"SELECT campaign_id FROM outbound WHERE to_number = {shared}", *case)
    assert len(set(campaigns)) == len(campaigns) == 3
    assert set(dialed) == set(campaigns)


def flagged(case: Case) -> tuple[str, int, int]:
    """The flagged caller ID, and when it came into use and was first shown as spam (microseconds)."""
    ((number, detail),) = ask(
        "SELECT id, detail FROM ground_truth WHERE fault = 'flagged_caller_id'", *case
    )
    match = re.search(r"in use from (\S+), shown as spam from (\S+):", detail)
    assert match
    used, shown = (
        int(dt.datetime.fromisoformat(text).timestamp() * 1e6) for text in match.groups()
    )
    return number, used, shown


@every_case
def test_flagged_caller_id(case: Case) -> None:
    """One caller ID comes into use during the history and is shown as spam from its 13th day."""
    number, used, shown = flagged(case)
    assert shown - used == 13 * DAY
    ((first,),) = ask(
        f"SELECT min(created_at) FROM outbound WHERE from_number = '{number}'", *case
    )
    assert first >= used
    assert (number,) in ask("SELECT number FROM caller_ids", *case)


def test_flagged_caller_id_is_answered_half_as_often() -> None:
    """People answer it as often as other numbers before it is shown as spam, then half as often."""
    number, _, shown = flagged(MEDIUM)
    (before, people_before), (after, people_after) = ask(
        f"""SELECT count(*), avg((answered_at IS NOT NULL
            AND coalesce(disposition, '') NOT IN ('A', 'AA', 'PU'))::INT) FROM outbound
        WHERE from_number = '{number}' GROUP BY created_at >= {shown} ORDER BY created_at >= {shown}""",
        *MEDIUM,
    )
    assert (before > 1_000, after > 4_000) == (True, True)
    assert 0.09 < people_before < 0.14
    assert 0.04 < people_after < 0.075


#: About 0.3 % of the leads are listed per month that they are in the account.
PER_MONTH = f"""SELECT (SELECT count(*) FROM {LISTED_LATER}) / (sum(epoch_us(TIMESTAMP '2026-11-21')
    - created_at) / {30 * DAY}) FROM leads"""
#: Missing dispositions are 2.5 % of the answered calls of human length, machines left out.
OF_LONG = f"""SELECT (SELECT count(*) FROM {MISSING}) / count(*) FROM outbound
    WHERE answered_at IS NOT NULL AND coalesce(disposition, '') NOT IN ('A', 'AA', 'PU')
    AND ended_at - answered_at >= 30000000"""


@pytest.mark.parametrize(
    ("query", "share", "rel"), [(PER_MONTH, 0.003, 0.1), (OF_LONG, 0.025, 0.03)]
)
def test_shares(query: str, share: float, rel: float) -> None:
    """Of a medium account."""
    ((value,),) = ask(query, *MEDIUM)
    assert value == pytest.approx(share, rel=rel)


COUNTS: dict[tuple[str, str], Any] = {
    ("call_after_dnc_disposition", "call"): 5,
    ("out_of_hours_dst_week", "call"): 12,
    ("before_hours", "call"): 3,
    ("mixed_zone_hours", "call"): 4,
    ("too_often", "phone"): 9,
    ("dnc_request_not_listed", "lead"): 2,
    ("unmapped_code", "call"): 4,
    ("flagged_caller_id", "phone"): 1,
    ("voicemail_as_completed", "campaign"): 1,
    ("duration_is_total", "campaign"): 1,
    ("phone_in_three_campaigns", "phone"): 1,
}


@pytest.mark.parametrize("case", [CASES[0], MEDIUM], ids=["small", "medium"])
def test_counts(case: Case) -> None:
    """A small account has this many of each, and so has a medium one."""
    rows = ask("SELECT fault, resource, count(*) FROM ground_truth GROUP BY ALL", *case)
    counted = {(fault, resource): count for fault, resource, count in rows}
    assert {key: counted[key] for key in COUNTS} == COUNTS
