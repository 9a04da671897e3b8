"""Abandoned calls by campaign and period, against the limits of the rules; knows outcomes, not who ended a call.

Asked only where an outcome says that a call was dropped: without one nobody can tell a dropped
call from one that the called person ended. The rates are known by name:

- *FTC and FCC* (16 CFR 310.4(b)(4), 47 CFR 64.1200(a)(7)): dropped / answered by a person, machines
  on neither side, per campaign and 30 days, or the campaign's own days where they are fewer;
- *Ofcom* (persistent misuse, 2006 to 2017, an indicator since): dropped calls, less the share that
  machines took of the answers that agents heard, over those and the live calls, per 24 hours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numba
import numpy as np
import pandas as pd

from dialframe.compliance.cases import Cases
from dialframe.compliance.clock import Ints
from dialframe.compliance.facts import AbandonmentRule
from dialframe.compliance.grades import NOT_EVALUABLE, PASSED, UNCERTAIN, VIOLATION
from dialframe.compliance.intake import UNKNOWN, distinct, instants, shaped
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.spans import Days, conditions, reach
from dialframe.frames import Column

#: What a call's outcome can be to this check; any other word is none of these.
DROPPED, LIVE, MACHINE = "dropped", "live", "machine"

COLUMNS: Final = (
    Column("rule_id", "text", "the rule"),
    Column("citation", "text", "its citation"),
    Column("measure", "text", "FTC and FCC, Ofcom, or CRTC"),
    Column("campaign_id", "text", "campaign; null: all calls, or those outside any"),
    Column("from_at", "instant", "the period begins, UTC"),
    Column("until_at", "instant", "the period ends, UTC, not included"),
    Column("dropped", "integer", "dropped calls"),
    Column("live", "integer", "calls that a person answered and was spoken to"),
    Column("machines", "integer", "calls that a machine answered: on neither side"),
    Column("rate", "number", "the measure's rate, null without an answered call"),
    Column("limit", "number", "the greatest rate allowed"),
    Column("grade", "text", "pass, violation, uncertain or not evaluable"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

NO_OUTCOME: Final = "an outcome that says that a call was dropped"
NO_ANSWERS: Final = "a call that a person answered"
#: With fewer answered calls one dropped call more or less decides.
SMALL: Final = 100

_KINDS: Final = ("", DROPPED, LIVE, MACHINE)
_DAY_US: Final = 86_400_000_000


def grade(
    calls: pd.DataFrame,
    cases: Cases,
    days: Days,
    book: RuleBook,
    outcomes: Mapping[str, str] | pd.Series | None,
) -> pd.DataFrame:
    """Every rule, campaign and period.

    Args:
        calls: Outbound calls as they came through the door.
        cases: Their cases.
        days: Their local days.
        book: The rule book.
        outcomes: Call id to `dropped`, `live` or `machine`; other calls count for nothing. None,
            or no `dropped` among them: not evaluable.

    Returns:
        One row per rule, campaign and period that has a call, columns `COLUMNS`.
    """
    said = pd.Series(dtype="str") if outcomes is None else pd.Series(outcomes)
    at_us = instants(calls["created_at"])
    usable = (at_us != UNKNOWN) & calls["direction_known"].to_numpy(dtype=bool)
    mapped = bool((said == DROPPED).any())
    kinds = _kinds(calls["id"], said) if len(said) else np.zeros(len(calls), dtype=np.int64)
    codes, names = distinct(calls["campaign_id"])
    order = np.argsort(np.argsort(names, kind="stable"), kind="stable")
    ranks = np.append(order, len(names))[codes]  # calls outside any campaign come last
    campaigns = [*sorted(names), None]
    rows: list[dict[str, object]] = []
    rules = [r for r in book.of_kind(AbandonmentRule) if r.status != "voluntary_code"]
    for rule, mine, hits in reach(rules, cases, days, usable):
        lacking = any(hit is not None and hit.missing for hit in hits)
        unknown = lacking and bool(conditions(hits, cases.codes[mine])[0].any())
        missing = next((hit.missing for hit in hits if hit and hit.missing), "") if unknown else ""
        for campaign, period, counts in _periods(rule, campaigns, mine, ranks, at_us, kinds):
            rows.append(
                {
                    "rule_id": rule.id,
                    "citation": rule.citation,
                    "campaign_id": campaign,
                    "from_at": period[0],
                    "until_at": period[1],
                    "limit": rule.parameters.max_rate,
                    **_graded(rule, counts, missing, mapped=mapped),
                }
            )
    return shaped({c.name: [row.get(c.name) for row in rows] for c in COLUMNS}, COLUMNS)


def ofcom(dropped: int, live: int, machines: int) -> float | None:
    """Ofcom's abandoned call rate: drops less those that machines would have taken, over those and the live calls."""
    heard = live + machines
    adjusted = dropped * (1 - machines / heard) if heard else float(dropped)
    return adjusted / (adjusted + live) if adjusted + live else None


def share(dropped: int, live: int) -> float | None:
    """Dropped calls over all that a person answered, as FTC and FCC count them."""
    return dropped / (dropped + live) if dropped + live else None


def _kinds(ids: pd.Series, said: pd.Series) -> Ints:
    """Outcome of each call as a position in `_KINDS`, 0 for any other."""
    places = {name: place for place, name in enumerate(_KINDS) if place}
    told = said.map(places).fillna(0).astype(np.int64)
    told = told[~told.index.duplicated(keep="last")]
    found: Ints = told.reindex(ids, fill_value=0).to_numpy(dtype=np.int64)
    return found


def _periods(
    rule: AbandonmentRule,
    campaigns: Sequence[str | None],
    rows: Ints,
    ranks: Ints,
    at_us: Ints,
    kinds: Ints,
) -> Iterator[tuple[str | None, tuple[pd.Timestamp, pd.Timestamp], Mapping[str, int]]]:
    """Campaigns and periods that have a call, with the calls of each outcome."""
    if not len(rows):
        return
    if rule.parameters.scope == "caller":
        campaigns, ranks = [None], np.zeros_like(ranks)
    earliest, latest = _ends(rows, ranks, at_us, len(campaigns))
    if rule.parameters.period_type == "calendar_month":
        yield from _by_month(campaigns, rows, ranks, at_us, kinds, earliest)
        return
    length = _DAY_US * (rule.parameters.period_days or 1)
    first = earliest // _DAY_US * _DAY_US
    widths = (latest - first) // length + 1
    places = np.cumsum([0, *widths])
    counts = np.zeros((int(places[-1]), len(_KINDS)), dtype=np.int64)
    _count(rows, ranks, at_us, kinds, first, length, places, counts)
    short = rule.parameters.period_type == "successive_30_day_or_campaign"
    for rank, campaign in enumerate(campaigns):
        for turn in np.flatnonzero(counts[places[rank] : places[rank + 1]].sum(axis=1)).tolist():
            start = int(first[rank]) + turn * length
            until = start + length
            if short and widths[rank] == 1:
                until = min(until, (int(latest[rank]) // _DAY_US + 1) * _DAY_US)
            told = dict(zip(_KINDS, counts[places[rank] + turn].tolist(), strict=True))
            yield campaign, (_stamp(start), _stamp(until)), told


def _by_month(
    campaigns: Sequence[str | None],
    rows: Ints,
    ranks: Ints,
    at_us: Ints,
    kinds: Ints,
    earliest: Ints,
) -> Iterator[tuple[str | None, tuple[pd.Timestamp, pd.Timestamp], Mapping[str, int]]]:
    """The same by calendar months, UTC."""
    months = _months(at_us[rows])
    base = int(_months(earliest).min())
    wide = max(int(months.max()) - base + 1, 1)
    keys = (ranks[rows] * wide + months - base) * len(_KINDS) + kinds[rows]
    counts = np.bincount(keys, minlength=len(campaigns) * wide * len(_KINDS))
    table = counts.reshape(len(campaigns), wide, len(_KINDS))
    for rank, shift in np.argwhere(table.sum(axis=2)).tolist():
        year, month = divmod(base + shift, 12)
        start = pd.Timestamp(year=year, month=month + 1, day=1, tz="UTC").as_unit("us")
        told = dict(zip(_KINDS, table[rank, shift].tolist(), strict=True))
        yield campaigns[rank], (start, start + pd.offsets.MonthBegin(1)), told


@numba.njit(cache=True, nogil=True)
def _ends(rows, groups, at, count):  # type: ignore[no-untyped-def]
    """First and last instant of each group; of one without any the first of all."""
    first = np.full(count, at[rows[0]], dtype=np.int64)
    last = first.copy()
    seen = np.zeros(count, dtype=np.bool_)
    for row in rows:
        group, moment = groups[row], at[row]
        if not seen[group]:
            seen[group], first[group], last[group] = True, moment, moment
        first[group], last[group] = min(first[group], moment), max(last[group], moment)
    return first, last


@numba.njit(cache=True, nogil=True)
def _count(rows, groups, at, kinds, first, length, places, counts):  # type: ignore[no-untyped-def]
    """Count calls by group, turn and kind."""
    for row in rows:
        group = groups[row]
        turn = (at[row] - first[group]) // length
        counts[places[group] + turn, kinds[row]] += 1


def _months(at_us: Ints) -> Ints:
    """Months since year 0, UTC."""
    months: Ints = at_us.view("datetime64[us]").astype("datetime64[M]").astype(np.int64)
    return months + 1970 * 12


def _stamp(at_us: int) -> pd.Timestamp:
    return pd.Timestamp(at_us, unit="us", tz="UTC")


def _conditions(rule: AbandonmentRule) -> str:
    """What the rule asks for beside the rate, of which the data says nothing."""
    p = rule.parameters
    start = p.clock_starts.replace("_", " ")
    said = [f"the {p.seconds_to_answer} seconds" + (f" from {start}" if start else "")]
    ringing = []
    if p.min_ring_seconds is not None:
        ringing.append(f"{p.min_ring_seconds} seconds")
    if p.min_rings is not None:
        ringing.append(f"{p.min_rings} rings")
    if ringing:
        said.append(f"the ringing of {' or '.join(ringing)}")
    if p.recorded_message_required:
        said.append("the recorded message")
    whether = "were" if len(said) > 1 or p.seconds_to_answer > 1 else "was"
    return f"whether {' and '.join(said)} {whether} kept is not in the data"


def _graded(
    rule: AbandonmentRule, counts: Mapping[str, int], missing: str, *, mapped: bool
) -> dict[str, object]:
    dropped, live, machines = (int(counts.get(name, 0)) for name in (DROPPED, LIVE, MACHINE))
    place = rule.jurisdiction
    measure = {"US": "FTC and FCC", "GB": "Ofcom", "CA": "CRTC"}.get(place, "plain share")
    by_live_calls = rule.parameters.denominator == "live_calls"
    rate = ofcom(dropped, live, machines) if by_live_calls else share(dropped, live)
    told: dict[str, object] = {
        "measure": measure, "dropped": dropped, "live": live, "machines": machines, "rate": rate,
    }  # fmt: skip
    if not mapped:
        return told | {
            "rate": None, "grade": NOT_EVALUABLE, "missing": NO_OUTCOME,
            "reason": "no outcome of the taxonomy says that a call was dropped",
        }  # fmt: skip
    if rate is None:
        return told | {
            "grade": NOT_EVALUABLE, "missing": NO_ANSWERS, "reason": "no call was answered by a person",
        }  # fmt: skip
    limit = rule.parameters.max_rate
    kept = rate <= limit if rule.parameters.comparison == "<=" else rate < limit
    words = f"{dropped:,} dropped, {live:,} answered and spoken to: {rate:.2%} against {limit:.0%}"
    if dropped + live < SMALL:
        words += f"; only {dropped + live:,} answered calls, so one more or less decides"
    if kept:
        words += f"; {_conditions(rule)}"
        return told | {"grade": PASSED, "reason": words}
    if missing:
        return told | {"grade": NOT_EVALUABLE, "missing": missing, "reason": words}
    if not rule.parameters.safe_harbour:
        what = f"a {rule.parameters.severity}" if rule.parameters.severity else "an indicator"
        return told | {"grade": UNCERTAIN, "reason": f"{words}; {what}, no limit in law"}
    return told | {"grade": VIOLATION, "reason": words}
