"""The shape of the synthetic account: published ranges, read from what the service would answer."""

from __future__ import annotations

import datetime as dt
import functools
import json
import statistics
from collections import Counter, defaultdict
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from dialframe.sandbox.seed import SyntheticAccount, generate
from dialframe.sandbox.seed.people_and_calendar import ONE_ZONE, SEVERAL_ZONES

MACHINE = {"A", "AA", "PU"}
RIGHT_PARTY = {"NI", "CALLBK", "NP", "NQ", "XFER", "DNC", "LB", "APPT", "SALE"}
CONVERSION = {"APPT", "SALE"}
ZONE = {place.code: ZoneInfo(place.zones[0]) for place in (*ONE_ZONE, *SEVERAL_ZONES)}

Row = dict[str, Any]


@functools.cache
def account() -> SyntheticAccount:
    """A medium account, made once."""
    return generate(seed=11, size="medium", as_of=dt.date(2026, 11, 21))


@functools.cache
def rows(table: str) -> tuple[Row, ...]:
    """A table of the account as dictionaries."""
    made = account().tables[table]
    return tuple(dict(zip(made.columns, row, strict=True)) for row in made.rows)


@functools.cache
def dials() -> tuple[Row, ...]:
    """Outbound calls, oldest first, each with its attempt number, its local time and its lead."""
    leads = {lead["id"]: lead for lead in rows("leads")}
    attempts: Counter[str] = Counter()
    calls_with_leads = []
    for call in sorted(rows("calls"), key=lambda call: call["created_at"]):
        if call["direction"] == "outbound":
            attempts[call["to_number"]] += 1
            zone = ZONE[call["to_number"][2:5]]
            local = dt.datetime.fromtimestamp(call["created_at"] / 1e6, tz=zone)
            extra = {"attempt": attempts[call["to_number"]], "local": local}
            calls_with_leads.append({**call, **extra, "lead": leads.get(call["lead_id"])})
    return tuple(calls_with_leads)


def talk_s(call: Row) -> float:
    """Seconds from answer to end."""
    return float(call["ended_at"] - call["answered_at"]) / 1e6


def human(call: Row) -> bool:
    """Whether a person answered, by what was logged."""
    return call["answered_at"] is not None and call["disposition"] not in MACHINE


def rate(calls: list[Row]) -> float:
    """Share of dials that a person answered."""
    return sum(map(human, calls)) / len(calls)


def share(*codes: str) -> float:
    """Share of dials with these dispositions."""
    return sum(call["disposition"] in codes for call in dials()) / len(dials())


@pytest.mark.parametrize(
    ("codes", "low", "high"),
    [
        (("A", "AA", "PU"), 0.40, 0.60),
        (("NA",), 0.24, 0.35),
        (("B",), 0.03, 0.06),
        (("ADC",), 0.02, 0.05),
        (("BLOCKED",), 0.01, 0.025),
        (("DNC",), 0.001, 0.01),
    ],
)
def test_outcomes_of_dials(codes: tuple[str, ...], low: float, high: float) -> None:
    """Machines, silence, busy lines, dead numbers, blocks and requests are in their ranges."""
    assert low < share(*codes) < high


def test_people_answer_about_one_dial_in_eight() -> None:
    """The human-contact rate per dial lies between the published 11 and 15 %."""
    assert 0.11 < rate(list(dials())) < 0.15


def test_right_party_and_conversion() -> None:
    """About three in four people are the right one; one in nine of those buys or books."""
    people = sum(map(human, dials()))
    right = sum(call["disposition"] in RIGHT_PARTY for call in dials())
    won = sum(call["disposition"] in CONVERSION for call in dials())
    assert 0.65 < right / people < 0.80
    assert 0.09 < won / right < 0.14


def test_contact_falls_with_the_attempt() -> None:
    """The easily reached are reached first: the rate falls to about half by the eighth attempt."""
    by_attempt = defaultdict(list)
    for call in dials():
        by_attempt[min(call["attempt"], 8)].append(call)
    rates = [rate(by_attempt[number]) for number in range(1, 9)]
    assert 0.12 < rates[0] < 0.16
    assert 0.35 < rates[7] / rates[0] < 0.75
    assert rates[0] > rates[3] > rates[6]


def test_most_conversions_come_early() -> None:
    """At least nine in ten conversions are won by the sixth attempt."""
    won = [call["attempt"] for call in dials() if call["disposition"] in CONVERSION]
    assert sum(attempt <= 6 for attempt in won) / len(won) > 0.90


def test_attempts_are_capped() -> None:
    """No lead is tried more than eight times, callbacks apart."""
    attempts = [lead["attempts"] for lead in rows("leads")]
    assert max(attempts) <= 11
    assert sum(attempt > 8 for attempt in attempts) < 0.002 * len(attempts)
    assert 2.5 < statistics.mean(attempts) < 3.6


def test_short_calls() -> None:
    """Calls of at most six seconds are 10 to 15 % of the answered ones, under carriers' limits."""
    talks = [talk_s(call) for call in dials() if call["answered_at"] is not None]
    assert 0.10 < sum(talk <= 6 for talk in talks) / len(talks) < 0.15
    assert 35 < statistics.mean(talks) < 55


def test_talk_times() -> None:
    """A sale is a long talk, a refusal a short one; medians are those of the fitted laws."""
    talks = defaultdict(list)
    for call in dials():
        if call["disposition"]:
            talks[call["disposition"]].append(talk_s(call) if call["answered_at"] else 0.0)
    assert 350 < statistics.median(talks["APPT"] + talks["SALE"]) < 520
    assert 100 < statistics.median(talks["NI"]) < 130
    assert statistics.median(talks["DNC"]) < 35


def test_ring_times() -> None:
    """People answer after about ten seconds, machines after about twenty or at once."""
    rings = defaultdict(list)
    for call in dials():
        if call["answered_at"] is not None:
            rings[human(call)].append((call["answered_at"] - call["created_at"]) / 1e6)
    assert 8 < statistics.median(rings[True]) < 13
    assert 18 < statistics.median(rings[False]) < 22
    assert 0.15 < sum(ring < 3 for ring in rings[False]) / len(rings[False]) < 0.25
    silent = [c for c in dials() if c["disposition"] == "NA"]
    waits = [(call["ended_at"] - call["created_at"]) / 1e6 for call in silent]
    assert 25 < statistics.median(waits) < 27


def test_volume_by_hour_and_weekday() -> None:
    """Dialing follows the called party's day: most at ten, little at eight in the evening."""
    hours = Counter(call["local"].hour for call in dials())
    days = Counter(call["local"].weekday() for call in dials())
    assert hours.most_common(1)[0][0] in (10, 11, 14, 15)
    assert hours[20] < 0.03 * len(dials())
    assert hours[10] / hours[8] == pytest.approx(1.4 / 0.5, rel=0.15)
    assert days[6] < 10
    assert days[5] / days[1] == pytest.approx(0.35, rel=0.15)
    assert days[4] / days[1] == pytest.approx(0.95, rel=0.1)


def test_people_answer_more_in_the_morning() -> None:
    """At ten and eleven people answer more often than at eight in the morning or evening."""
    by_hour = defaultdict(list)
    for call in dials():
        by_hour[call["local"].hour].append(call)
    assert rate(by_hour[10] + by_hour[11]) > rate(by_hour[8] + by_hour[19] + by_hour[20]) * 1.05


def test_local_caller_ids_are_answered_more() -> None:
    """A caller ID of the called number's area code lifts the rate by about a third."""
    sides = defaultdict(list)
    for call in dials():
        sides[call["from_number"][:5] == call["to_number"][:5]].append(call)
    assert 0.25 < len(sides[True]) / len(dials()) < 0.45
    assert 1.2 < rate(sides[True]) / rate(sides[False]) < 1.6


def test_sources_differ() -> None:
    """Web forms are answered most, the poorer bought list least, as their quality says."""
    sources = defaultdict(list)
    for call in dials():
        if call["lead"] and call["lead"]["custom_fields"]:
            sources[json.loads(call["lead"]["custom_fields"])["lead_source"]].append(call)
    rates = {source: rate(calls) for source, calls in sources.items()}
    assert rates["web_form"] > rates["partner"] > rates["purchased_a"] > rates["purchased_b"]
    bad = {
        source: sum(call["disposition"] == "ADC" for call in calls) / len(calls)
        for source, calls in sources.items()
    }
    assert bad["purchased_b"] > 2 * bad["web_form"]


def test_web_forms_are_dialed_soon() -> None:
    """Half of the web forms are dialed within the hour, bought lists days later."""
    waits = defaultdict(list)
    for call in dials():
        lead = call["lead"]
        if lead and call["attempt"] == 1 and lead["custom_fields"]:
            source = json.loads(lead["custom_fields"])["lead_source"]
            waits[source].append((call["created_at"] - lead["created_at"]) / 3_600e6)
    assert 0.4 < statistics.median(waits["web_form"]) < 1.1
    assert statistics.median(waits["purchased_a"]) > 48


def test_gaps_between_attempts() -> None:
    """Busy lines are tried again after half an hour, others after hours, mostly within two days."""
    planted = {row["id"] for row in rows("ground_truth") if row["fault"] == "too_often"}
    last: dict[str, Row] = {}
    gaps = defaultdict(list)
    for call in dials():
        before = last.get(call["to_number"])
        if before is not None and call["to_number"] not in planted:
            gaps[before["disposition"]].append((call["created_at"] - before["ended_at"]) / 3_600e6)
        last[call["to_number"]] = call
    assert 0.4 < statistics.median(gaps["B"]) < 0.75
    assert 10 < statistics.median(gaps["NA"]) < 30
    assert 15 < statistics.median(gaps["A"]) < 60
    assert min(gaps["NA"]) > 4


def test_inbound_share() -> None:
    """Four calls in a hundred are people calling back the number that called them."""
    inbound = [call for call in rows("calls") if call["direction"] == "inbound"]
    assert len(inbound) / len(rows("calls")) == pytest.approx(0.04, abs=0.01)
    seen = {(call["from_number"], call["to_number"]) for call in dials()}
    assert all((call["to_number"], call["from_number"]) in seen for call in inbound)


def test_volume_lasts_the_whole_history() -> None:
    """No fortnight of the six months is without calls, the last one included."""
    first = min(call["created_at"] for call in dials())
    weeks = Counter((call["created_at"] - first) // (14 * 86_400_000_000) for call in dials())
    assert min(weeks[number] for number in range(13)) > 0.02 * len(dials())
