"""The planted faults: each found by a plain audit written here, and nothing found beside them.

The audits see what the service answers, and the answer sheet only to compare. Local times come
from the phone-number package and zoneinfo, not from the generator's own tables.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections import Counter, defaultdict
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from dialframe.sandbox.seed import generate
from sandbox.test_seed_places import zones_of

AUTUMN = dt.date(2026, 11, 21)
SPRING = dt.date(2026, 5, 20)
NO_CHANGE = dt.date(2026, 10, 20)
JUST_AFTER = dt.date(2026, 11, 3)
CASES = [
    ("small", 7, AUTUMN),
    ("small", 8, SPRING),
    ("tiny", 1, AUTUMN),
    ("tiny", 2, SPRING),
    ("tiny", 3, NO_CHANGE),
    ("tiny", 4, JUST_AFTER),
    ("medium", 5, AUTUMN),
]
HOUR = 3_600_000_000
DAY = 24 * HOUR
HUMAN_LENGTH = 30_000_000

Case = tuple[str, int, dt.date]
Row = dict[str, Any]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[2]}")


@functools.cache
def tables(case: Case) -> dict[str, list[Row]]:
    """The tables of an account as dictionaries."""
    size, seed, as_of = case
    made = generate(seed=seed, size=size, as_of=as_of).tables
    return {
        name: [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        for name, table in made.items()
    }


def planted(case: Case, *faults: str, resource: str = "call", expected: str = "") -> set[str]:
    """Ids on the answer sheet."""
    return {
        row["id"]
        for row in tables(case)["ground_truth"]
        if row["fault"] in faults
        and row["resource"] == resource
        and expected in ("", row["expected"])
    }


def outbound(case: Case) -> list[Row]:
    """Outbound calls, oldest first."""
    calls = [call for call in tables(case)["calls"] if call["direction"] == "outbound"]
    return sorted(calls, key=lambda call: call["created_at"])


@functools.cache
def zones(code: str) -> tuple[ZoneInfo, ...]:
    """Every zone that any exchange of an area code may be in."""
    return tuple(ZoneInfo(zone) for zone in sorted(zones_of(code)))


def local(instant: int, zone: dt.tzinfo) -> dt.datetime:
    """What a clock shows at an instant."""
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return (epoch + dt.timedelta(microseconds=instant)).astimezone(zone)


def inside(call: Row, zone: dt.tzinfo) -> bool:
    """Whether a call began from 08:00 up to 21:00 by the clock of a zone."""
    return 8 <= local(call["created_at"], zone).hour < 21


@every_case
def test_hours(case: Case) -> None:
    """Calls outside in all zones are the planted violations, in some the planted uncertain ones."""
    outside, unclear = set(), set()
    for call in outbound(case):
        verdicts = {inside(call, zone) for zone in zones(call["to_number"][2:5])}
        if verdicts == {False}:
            outside.add(call["id"])
        elif len(verdicts) > 1:
            unclear.add(call["id"])
    hours = ("out_of_hours_dst_week", "before_hours")
    assert outside == planted(case, *hours, expected="violation")
    assert unclear == planted(case, "mixed_zone_hours", expected="uncertain")
    assert not outside & planted(case, *hours, expected="clear")


@every_case
def test_ordinary_calls_keep_a_margin(case: Case) -> None:
    """Ordinary calls lie between 08:00 and 20:58 local, never on a Sunday."""
    scripted = planted(case, "out_of_hours_dst_week", "before_hours", "mixed_zone_hours")
    for call in outbound(case):
        if call["id"] not in scripted:
            for zone in zones(call["to_number"][2:5]):
                shown = local(call["created_at"], zone)
                assert dt.time(8) <= shown.time() < dt.time(20, 58)
                assert shown.weekday() < 6


@every_case
def test_late_calls_and_decoys(case: Case) -> None:
    """The late ones are at 21:00-21:55, the decoys at 20:30-20:59, the early ones from 07:00."""
    calls = {call["id"]: call for call in outbound(case)}
    spans = [
        ("out_of_hours_dst_week", "violation", dt.time(21, 0), dt.time(21, 56)),
        ("out_of_hours_dst_week", "clear", dt.time(20, 30), dt.time(21, 0)),
        ("before_hours", "violation", dt.time(7, 0), dt.time(8, 0)),
    ]
    for fault, expected, first, last in spans:
        sheet = planted(case, fault, expected=expected)
        assert sheet
        for id_ in sheet:
            (zone,) = zones(calls[id_]["to_number"][2:5])
            assert first <= local(calls[id_]["created_at"], zone).time() < last


@pytest.mark.parametrize("case", CASES[:4], ids=lambda case: f"{case[0]}-{case[2]}")
def test_a_fixed_offset_is_wrong_about_some(case: Case) -> None:
    """In the week of a clock change, one offset for all days misses calls or accuses wrongly."""
    calls = {call["id"]: call for call in outbound(case)}
    late = planted(case, "out_of_hours_dst_week", expected="violation")
    decoys = planted(case, "out_of_hours_dst_week", expected="clear")
    missed = accused = 0
    for id_ in late | decoys:
        call = calls[id_]
        (zone,) = zones(call["to_number"][2:5])
        winter = local(int(dt.datetime(2026, 1, 15, tzinfo=dt.UTC).timestamp()) * 10**6, zone)
        summer = local(int(dt.datetime(2026, 7, 15, tzinfo=dt.UTC).timestamp()) * 10**6, zone)
        if winter.utcoffset() == summer.utcoffset():
            continue
        missed += id_ in late and inside(call, fixed(winter))
        accused += id_ in decoys and not inside(call, fixed(summer))
    assert missed
    assert accused


def fixed(moment: dt.datetime) -> dt.timezone:
    """A zone that has the offset of a moment all the year round."""
    offset = moment.utcoffset()
    assert offset is not None
    return dt.timezone(offset)


@pytest.mark.parametrize(
    ("case", "change"),
    [
        (CASES[0], dt.date(2026, 11, 1)),
        (CASES[1], dt.date(2026, 3, 8)),
        (CASES[2], dt.date(2026, 11, 1)),
    ],
)
def test_the_week_is_that_of_the_change(case: Case, change: dt.date) -> None:
    """The late calls are within three days of the last clock change, on both sides of it."""
    calls = {call["id"]: call for call in outbound(case)}
    days = set()
    for id_ in planted(case, "out_of_hours_dst_week"):
        (zone,) = zones(calls[id_]["to_number"][2:5])
        days.add((local(calls[id_]["created_at"], zone).date() - change).days)
    assert min(days) >= -3
    assert max(days) <= 3
    assert min(days) < 0 <= max(days)


@every_case
def test_too_often(case: Case) -> None:
    """A fourth call within 24 hours is made to the planted numbers alone, each call on the sheet."""
    times = defaultdict(list)
    fourth_calls = set()
    for call in outbound(case):
        before = times[call["to_number"]]
        before.append(call["created_at"])
        if len(before) > 3 and before[-1] - before[-4] <= DAY:
            fourth_calls.add(call["id"])
    assert fourth_calls == planted(case, "too_often", expected="violation")
    numbers = {call["to_number"] for call in outbound(case) if call["id"] in fourth_calls}
    assert numbers == planted(case, "too_often", resource="phone")


@every_case
def test_seven_in_seven_days(case: Case) -> None:
    """No number is dialed more than seven times in seven days."""
    times = defaultdict(list)
    for call in outbound(case):
        before = times[call["to_number"]]
        before.append(call["created_at"])
        assert len(before) < 8 or before[-1] - before[-8] > 7 * DAY


@every_case
def test_calls_after_a_request(case: Case) -> None:
    """Calls after the number's Do-Not-Call disposition are the planted ones, 16 days on or more."""
    asked: dict[str, int] = {}
    since_request = {}
    for call in outbound(case):
        if call["to_number"] in asked:
            since_request[call["id"]] = call["created_at"] - asked[call["to_number"]]
        if call["disposition"] == "DNC":
            asked[call["to_number"]] = call["ended_at"]
    assert since_request.keys() == planted(case, "call_after_dnc_disposition", expected="proven")
    assert min(since_request.values()) > 16 * DAY


@every_case
def test_calls_to_listed_numbers(case: Case) -> None:
    """Each listed number that was called asked for it, or came onto the list after its import."""
    dnc = {row["phone"]: row for row in tables(case)["dnc"]}
    requested = planted(case, "dnc_request", resource="phone", expected="clear")
    later = planted(case, "listed_after_import", resource="phone", expected="indeterminate")
    called = {call["to_number"] for call in outbound(case)}
    assert {phone for phone, row in dnc.items() if row["source"] == "request"} == requested
    assert called & dnc.keys() <= requested | later
    indeterminate = {call["id"] for call in outbound(case) if call["to_number"] in later}
    sheet = planted(case, "call_to_number_listed_after_import", expected="indeterminate")
    assert indeterminate == sheet
    proven = planted(case, "call_after_dnc_disposition")
    after = {
        call["id"]
        for call in outbound(case)
        if call["to_number"] in dnc and call["created_at"] > dnc[call["to_number"]]["listed_at"]
    }
    assert after <= proven | indeterminate
    assert after & indeterminate
    assert proven <= after


@every_case
def test_listed_after_import(case: Case) -> None:
    """They are leads whose number was listed between their import and the end."""
    created = {lead["phone"]: lead["created_at"] for lead in tables(case)["leads"]}
    listed = {row["phone"]: row for row in tables(case)["dnc"]}
    phones = planted(case, "listed_after_import", resource="phone")
    for phone in phones:
        assert created[phone] < listed[phone]["listed_at"]
        assert listed[phone]["source"] == "registry"
    leads_on_list = listed.keys() & created.keys()
    assert leads_on_list == phones | planted(case, "dnc_request", resource="phone")


def test_share_listed_after_import() -> None:
    """About 0.3 % of the leads are listed per month that they are in the account."""
    case = CASES[-1]
    end = int(dt.datetime(2026, 11, 21, tzinfo=dt.UTC).timestamp()) * 10**6
    months = sum(end - lead["created_at"] for lead in tables(case)["leads"]) / (30 * DAY)
    phones = planted(case, "listed_after_import", resource="phone")
    assert len(phones) / months == pytest.approx(0.003, rel=0.1)


@every_case
def test_missing_dispositions(case: Case) -> None:
    """Answered calls without a disposition are the planted ones, all of human length."""
    missing = {
        call["id"]: call["ended_at"] - call["answered_at"]
        for call in tables(case)["calls"]
        if call["answered_at"] is not None and call["disposition"] is None
    }
    assert missing.keys() == planted(case, "missing_disposition", expected="missing")
    assert min(missing.values()) >= HUMAN_LENGTH


def test_share_of_missing_dispositions() -> None:
    """They are 2.5 % of the answered calls of human length, answering machines left out."""
    case = CASES[-1]
    machines = {"A", "AA", "PU"}
    long = [
        call
        for call in outbound(case)
        if call["answered_at"] is not None
        and call["disposition"] not in machines
        and call["ended_at"] - call["answered_at"] >= HUMAN_LENGTH
    ]
    share = len(planted(case, "missing_disposition")) / len(long)
    assert share == pytest.approx(0.025, rel=0.03)


@every_case
def test_unanswered_calls_are_disposed_of(case: Case) -> None:
    """The dialer logs every unanswered outbound call; an abandoned inbound one has no code."""
    for call in tables(case)["calls"]:
        if call["answered_at"] is None:
            assert (call["disposition"] is None) == (call["direction"] == "inbound")


@every_case
def test_late_dispositions(case: Case) -> None:
    """Each was changed 1 to 48 hours after its call, from another code, before the end."""
    calls = {call["id"]: call for call in tables(case)["calls"]}
    end = dt.datetime.combine(case[2], dt.time(), tzinfo=dt.UTC)
    rows = [row for row in tables(case)["ground_truth"] if row["fault"] == "late_disposition"]
    assert rows
    for row in rows:
        match = re.fullmatch(r"logged as (\w+), changed to (\w+) at (\S+)", row["detail"])
        assert match
        changed_at = dt.datetime.fromisoformat(match[3])
        ended = local(calls[row["id"]]["ended_at"], dt.UTC)
        assert dt.timedelta(hours=1) <= changed_at - ended <= dt.timedelta(hours=48)
        assert changed_at < end
        assert match[1] != match[2] == calls[row["id"]]["disposition"]


@every_case
def test_unmapped_codes(case: Case) -> None:
    """The code that no taxonomy knows is on the planted calls alone."""
    unmapped = {call["id"] for call in tables(case)["calls"] if call["disposition"] == "ZZTOP"}
    assert unmapped == planted(case, "unmapped_code", expected="unmapped")
    assert unmapped


@every_case
def test_voicemail_as_completed(case: Case) -> None:
    """In one campaign no call is logged as a machine; there alone the unknown pick-up is used."""
    (hidden,) = planted(case, "voicemail_as_completed", resource="campaign")
    codes = defaultdict(Counter)
    for call in outbound(case):
        codes[call["campaign_id"] == hidden][call["disposition"]] += 1
    assert codes[True]["PU"] > 0.3 * codes[True].total()
    assert not codes[True].keys() & {"A", "AA"}
    assert "PU" not in codes[False]
    assert codes[False]["A"] > codes[False]["AA"] > 0


@every_case
def test_durations(case: Case) -> None:
    """Durations count from the answer, in one campaign from the start of the call."""
    (total,) = planted(case, "duration_is_total", resource="campaign")
    seen = Counter()
    for call in tables(case)["calls"]:
        whole = call["campaign_id"] == total
        start = call["created_at"] if whole else call["answered_at"]
        seen[whole] += 1
        if start is None:
            assert call["duration_seconds"] is None
        else:
            assert abs(call["duration_seconds"] - (call["ended_at"] - start) / 1e6) <= 0.5
    assert seen[True]
    assert seen[False]


@every_case
def test_phone_in_three_campaigns(case: Case) -> None:
    """One number is a lead of three campaigns and dialed in each; every other number of one."""
    campaigns = defaultdict(list)
    for lead in tables(case)["leads"]:
        campaigns[lead["phone"]].append(lead["campaign_id"])
    shared = {phone for phone, found in campaigns.items() if len(found) > 1}
    assert shared == planted(case, "phone_in_three_campaigns", resource="phone")
    (phone,) = shared
    assert len(set(campaigns[phone])) == len(campaigns[phone]) == 3
    dialed = {call["campaign_id"] for call in outbound(case) if call["to_number"] == phone}
    assert dialed == set(campaigns[phone])


@every_case
def test_requests_that_were_not_listed(case: Case) -> None:
    """Do-Not-Call dispositions whose number is not on the list are the planted ones."""
    listed = {row["phone"] for row in tables(case)["dnc"]}
    unlisted = {
        call["lead_id"]
        for call in outbound(case)
        if call["disposition"] == "DNC" and call["to_number"] not in listed
    }
    assert unlisted == planted(case, "dnc_request_not_listed", resource="lead")
    assert unlisted


@every_case
def test_flagged_caller_id(case: Case) -> None:
    """One caller ID comes into use during the history and is shown as spam from its 13th day."""
    (row,) = [row for row in tables(case)["ground_truth"] if row["fault"] == "flagged_caller_id"]
    match = re.search(r"in use from (\S+), shown as spam from (\S+):", row["detail"])
    assert match
    used, flagged = (dt.datetime.fromisoformat(text) for text in match.groups())
    assert flagged - used == dt.timedelta(days=13)
    times = [call["created_at"] for call in outbound(case) if call["from_number"] == row["id"]]
    assert local(min(times), dt.UTC) >= used
    assert row["id"] in {caller["number"] for caller in tables(case)["caller_ids"]}


def test_flagged_caller_id_is_answered_half_as_often() -> None:
    """People answer it as often as other numbers before it is shown as spam, then half as often."""
    case = CASES[-1]
    (row,) = [row for row in tables(case)["ground_truth"] if row["fault"] == "flagged_caller_id"]
    match = re.search(r"spam from (\S+):", row["detail"])
    assert match
    flagged = dt.datetime.fromisoformat(match[1]).timestamp() * 1e6
    flagged_calls = [call for call in outbound(case) if call["from_number"] == row["id"]]
    before = [call for call in flagged_calls if call["created_at"] < flagged]
    after = [call for call in flagged_calls if call["created_at"] >= flagged]
    assert len(before) > 1_000
    assert len(after) > 4_000
    assert 0.09 < people(before) < 0.14
    assert 0.04 < people(after) < 0.075


def people(calls: list[Row]) -> float:
    """Share of calls with a person, by the code that was logged."""
    machine = {"A", "AA", "PU"}
    spoken = [c for c in calls if c["answered_at"] is not None and c["disposition"] not in machine]
    return len(spoken) / len(calls)


@pytest.mark.parametrize(
    ("fault", "resource", "count"),
    [
        ("call_after_dnc_disposition", "call", 5),
        ("out_of_hours_dst_week", "call", 12),
        ("before_hours", "call", 3),
        ("mixed_zone_hours", "call", 4),
        ("too_often", "phone", 9),
        ("dnc_request_not_listed", "lead", 2),
        ("unmapped_code", "call", 4),
        ("flagged_caller_id", "phone", 1),
        ("voicemail_as_completed", "campaign", 1),
        ("duration_is_total", "campaign", 1),
        ("phone_in_three_campaigns", "phone", 1),
    ],
)
def test_counts(fault: str, resource: str, count: int) -> None:
    """A small account has this many of each, and so has a medium one."""
    assert len(planted(CASES[0], fault, resource=resource)) == count
    assert len(planted(CASES[-1], fault, resource=resource)) == count


@every_case
def test_the_sheet_is_sound(case: Case) -> None:
    """Each row names something that exists, once per fault, with no whole number in its words."""
    made = tables(case)
    known = {
        "call": {row["id"] for row in made["calls"]},
        "lead": {row["id"] for row in made["leads"]},
        "campaign": {row["id"] for row in made["campaigns"]},
        "phone": {row["phone"] for row in made["leads"]}
        | {row["number"] for row in made["caller_ids"]},
    }
    keys = Counter((row["fault"], row["resource"], row["id"]) for row in made["ground_truth"])
    assert max(keys.values()) == 1
    for row in made["ground_truth"]:
        assert row["id"] in known[row["resource"]]
        assert not re.search(r"\+\d{7}", row["detail"])


@every_case
def test_faults_do_not_meet(case: Case) -> None:
    """No call has two faults of its own, so that each verdict has one cause."""
    faults = Counter(
        row["id"] for row in tables(case)["ground_truth"] if row["resource"] == "call"
    )
    several = {id_ for id_, count in faults.items() if count > 1}
    crossing = planted(case, "call_to_number_listed_after_import")
    assert several <= crossing
