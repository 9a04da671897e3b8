"""The shape of the synthetic account: published ranges, read from what the service would answer."""

from __future__ import annotations

import pytest

from sandbox.drawn import ask

ACCOUNT = ("medium", 7)
HOUR = 3_600_000_000
HUMAN = "(answered_at IS NOT NULL AND coalesce(disposition, '') NOT IN ('A', 'AA', 'PU'))"
RATE = f"avg({HUMAN}::INT)"
TALK = "(ended_at - answered_at) / 1e6"
RING = "(answered_at - created_at) / 1e6"
RIGHT = "disposition IN ('NI', 'CALLBK', 'NP', 'NQ', 'XFER', 'DNC', 'LB', 'APPT', 'SALE')"
WON = "disposition IN ('APPT', 'SALE')"
#: Outbound calls, each with its attempt number, its local time, its lead and the call before it.
DIALS = """CREATE TABLE IF NOT EXISTS dials AS SELECT outbound.*, local(outbound.created_at, zone) AS clock,
    row_number() OVER number AS attempt, leads.created_at AS came_at,
    custom_fields ->> 'lead_source' AS source, lag(disposition) OVER number AS before,
    outbound.created_at - lag(ended_at) OVER number AS gap
    FROM outbound JOIN places USING (code) LEFT JOIN leads ON leads.id = lead_id
    WINDOW number AS (PARTITION BY to_number ORDER BY outbound.created_at)"""
NOT_PLANTED = "to_number NOT IN (SELECT id FROM ground_truth WHERE fault = 'too_often')"
LOCAL = "substr(from_number, 1, 5) = substr(to_number, 1, 5)"
FORTNIGHT = f"least(12, (created_at - (SELECT min(created_at) FROM outbound)) // {14 * 24 * HOUR})"
DAYS = "count(*) FILTER (isodow(clock) = {})"


SOURCE = {
    name: f"source = '{name}'" for name in ("web_form", "partner", "purchased_a", "purchased_b")
}


def share(*codes: str) -> str:
    """The share of dials with these dispositions."""
    return f"avg((coalesce(disposition, '') IN {(*codes, '-')})::INT)"


def of(value: str, where: str) -> str:
    """A value of some of the dials."""
    return f"(SELECT {value} FROM dials WHERE {where})"


#: Claim to a value of all dials, and the range that it lies in.
RANGES = {
    "machines answer about half": (share("A", "AA", "PU"), 0.40, 0.60),
    "silence": (share("NA"), 0.24, 0.35),
    "busy lines": (share("B"), 0.03, 0.06),
    "dead numbers": (share("ADC"), 0.02, 0.05),
    "blocks": (share("BLOCKED"), 0.01, 0.025),
    "requests": (share("DNC"), 0.001, 0.01),
    "people answer about one dial in eight, as published": (RATE, 0.11, 0.15),
    "about three in four people are the right one": (
        f"count(*) FILTER ({RIGHT}) / count(*) FILTER {HUMAN}", 0.65, 0.80),
    "one in nine of those buys or books": (
        f"count(*) FILTER ({WON}) / count(*) FILTER ({RIGHT})", 0.09, 0.14),
    "the easily reached are reached first": (of(RATE, "attempt = 1"), 0.12, 0.16),
    "by the eighth attempt the rate falls to about half": (
        f"{of(RATE, 'attempt >= 8')} / {of(RATE, 'attempt = 1')}", 0.35, 0.75),
    "the rate falls to the fourth attempt": (
        f"{of(RATE, 'attempt = 1')} - {of(RATE, 'attempt = 4')}", 1e-9, 1),
    "and on to the seventh": (
        f"{of(RATE, 'attempt = 4')} - {of(RATE, 'attempt = 7')}", 1e-9, 1),
    "nine in ten conversions are won by the sixth attempt": (
        of("avg((attempt <= 6)::INT)", WON), 0.90, 1),
    "no lead is tried more than eight times, callbacks apart": (
        "(SELECT max(attempts) FROM leads)", 8, 11),
    "hardly any more than eight": ("(SELECT avg((attempts > 8)::INT) FROM leads)", 0, 0.002),
    "attempts on a lead": ("(SELECT avg(attempts) FROM leads)", 2.5, 3.6),
    "calls of at most six seconds stay under carriers' limits": (
        of(f"avg(({TALK} <= 6)::INT)", "answered_at IS NOT NULL"), 0.10, 0.15),
    "talk": (of(f"avg({TALK})", "answered_at IS NOT NULL"), 35, 55),
    "a sale is a long talk": (of(f"median({TALK})", WON), 350, 520),
    "a refusal is a short one": (of(f"median({TALK})", "disposition = 'NI'"), 100, 130),
    "a request is the shortest": (of(f"median({TALK})", "disposition = 'DNC'"), 0, 35),
    "people answer after about ten seconds": (of(f"median({RING})", HUMAN), 8, 13),
    "machines after about twenty": (
        of(f"median({RING})", f"answered_at IS NOT NULL AND NOT {HUMAN}"), 18, 22),
    "or at once": (
        of(f"avg(({RING} < 3)::INT)", f"answered_at IS NOT NULL AND NOT {HUMAN}"), 0.15, 0.25),
    "a phone rings for 26 seconds": (
        of("median((ended_at - created_at) / 1e6)", "disposition = 'NA'"), 25, 27),
    "little is dialed at eight in the evening": ("avg((hour(clock) = 20)::INT)", 0, 0.03),
    "most is dialed in the morning": (
        "count(*) FILTER (hour(clock) = 10) / count(*) FILTER (hour(clock) = 8)",
        2.8 * 0.85, 2.8 * 1.15),
    "the busiest hour": ("(mode(hour(clock)) IN (10, 11, 14, 15))::INT", 1, 1),
    "hardly any on a Sunday": (DAYS.format(7), 0, 9),
    "Saturdays are short": (f"{DAYS.format(6)} / {DAYS.format(2)}", 0.35 * 0.85, 0.35 * 1.15),
    "Fridays a little": (f"{DAYS.format(5)} / {DAYS.format(2)}", 0.95 * 0.9, 0.95 * 1.1),
    "at ten and eleven people answer more often than early or late": (
        f"{of(RATE, 'hour(clock) IN (10, 11)')} / {of(RATE, 'hour(clock) IN (8, 19, 20)')}",
        1.05, 2),
    "every third caller ID has the called number's area code": (f"avg(({LOCAL})::INT)", 0.25, 0.45),
    "it lifts the rate by about a third": (
        f"{of(RATE, LOCAL)} / {of(RATE, f'NOT {LOCAL}')}", 1.2, 1.6),
    **{
        f"{better} are answered more than {worse}": (
            f"{of(RATE, SOURCE[better])} - {of(RATE, SOURCE[worse])}", 1e-9, 1)
        for better, worse in (("web_form", "partner"), ("partner", "purchased_a"),
                              ("purchased_a", "purchased_b"))
    },
    "the poorer bought list has twice the dead numbers of web forms": (
        f"{of(share('ADC'), SOURCE['purchased_b'])} / {of(share('ADC'), SOURCE['web_form'])}",
        2, 20),
    "half of the web forms are dialed within the hour": (
        of(f"median((created_at - came_at) / {HOUR})", "attempt = 1 AND source = 'web_form'"),
        0.4, 1.1),
    "bought lists are dialed days later": (
        of(f"median((created_at - came_at) / {HOUR})", "attempt = 1 AND source = 'purchased_a'"),
        48, 10_000),
    **{
        f"after {code} a number is tried again in so many hours": (
            of(f"median(gap) / {HOUR}", f"before = '{code}' AND {NOT_PLANTED}"), low, high)
        for code, low, high in (("B", 0.4, 0.75), ("NA", 10, 30), ("A", 15, 60))
    },
    "and never sooner than four after silence": (
        of(f"min(gap) / {HOUR}", f"before = 'NA' AND {NOT_PLANTED}"), 4, 1_000),
    "four calls in a hundred come in": (
        "(SELECT avg((direction = 'inbound')::INT) FROM calls)", 0.03, 0.05),
    "they call back the number that called them": (
        """(SELECT count(*) FROM (SELECT from_number, to_number FROM calls WHERE direction = 'inbound'
            EXCEPT SELECT to_number, from_number FROM outbound))""", 0, 0),
    "no fortnight of the six months is without calls": (
        f"(SELECT min(calls) FROM (SELECT count(*) AS calls FROM outbound GROUP BY {FORTNIGHT}))"
        " / count(*)", 0.02, 1),
    "there are thirteen of them": (f"(SELECT count(DISTINCT {FORTNIGHT}) FROM outbound)", 13, 13),
}  # fmt: skip


@pytest.mark.parametrize("claim", RANGES)
def test_published_shape(claim: str) -> None:
    """Outcomes, contact, talk, ringing, hours, sources and gaps of a medium account are in their ranges."""
    value, low, high = RANGES[claim]
    ask(DIALS, *ACCOUNT)
    ((seen,),) = ask(f"SELECT {value} FROM dials LIMIT 1", *ACCOUNT)
    assert low <= seen <= high
