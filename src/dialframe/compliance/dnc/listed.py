"""Calls to numbers that are, or came to be, on a Do-Not-Call list; knows the list by our records alone.

What is on record around each call is gathered here, for all calls at once; `deciding` grades them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final

import pandas as pd

from dialframe.compliance.cases import Case, Codes, reached
from dialframe.compliance.clock import Flags
from dialframe.compliance.dnc.deciding import (
    BY_STATUS,
    Around,
    Decision,
    Record,
    Request,
    decide,
    weekdays,
)
from dialframe.compliance.dnc.evidence import (
    CHECK,
    REQUEST_CODES,
    closed,
    flags,
    nearest,
    records,
    requests,
)
from dialframe.compliance.dnc.honouring import Span, spans
from dialframe.compliance.facts import FreshnessRule, HonourRule
from dialframe.compliance.intake import (
    moment,
    shaped,
    take_calls,
    take_checks,
    take_leads,
)
from dialframe.frames import Column

COLUMNS: Final = (
    Column("call_id", "text", "call id"),
    Column("to_number", "text", "called number, E.164"),
    Column("campaign_id", "text", "campaign of the call"),
    Column("created_at", "instant", "the call was started, UTC"),
    Column("grade", "text", "proven, indeterminate, clear or not evaluable"),
    Column("basis", "text", "what decides: check, request, lead status (or several), nothing"),
    Column("evidence", "text", "the records that decide, with their ids and times"),
    Column("listed_after", "instant", "last record that said not listed, UTC; null: none"),
    Column("listed_by", "instant", "record by which it was listed or asked for, UTC"),
    Column("requested_at", "instant", "first request of the number not to be called, UTC"),
    Column("days_after_request", "number", "from the request to the call, days of 24 hours"),
    Column("weekdays_after_request", "integer", "Mondays to Fridays between, holidays included"),
    Column("missing", "text", "the input that is missing when not evaluable"),
    Column("reason", "text", "why this grade"),
)

_RECORD: Final = ["phone", "at", "source", "ref", "listed"]


def listed_calls(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    checks: pd.DataFrame,
    *,
    now: datetime,
    dnc_codes: Sequence[str] = REQUEST_CODES,
    grace: timedelta = timedelta(0),
    import_screen_counts: bool = True,
) -> pd.DataFrame:
    """Outbound calls to numbers that anything on record speaks against, graded.

    A number is looked at if a check said that it is listed, if a lead of it has status `dnc`, or
    if a call with it ended with a disposition that means "do not call me again".

    Args:
        calls: Frame of the calls table; a request on an inbound call counts for its caller.
        leads: Frame of the leads table.
        checks: Ledger of checks, frame of the dnc_checks table.
        now: The moment of the audit; later calls, leads and checks are left out.
        dnc_codes: Dispositions that are requests; case, blanks, dashes and underscores do not
            matter. The account's own codes belong here.
        grace: Calls this long after a request are indeterminate instead of proven. 47 CFR
            64.1200(d)(3) allows a reasonable time of at most 10 business days, 16 CFR
            310.4(b)(1)(iii)(A) names none; hence 0.
        import_screen_counts: Whether a lead's creation counts as a record that said "not listed".

    Returns:
        One row per outbound call to such a number, in the order given, columns `COLUMNS`. The
        service does not say which list a number is on, nor of which day its copy of it is.

    Raises:
        ConfigError: A frame lacks a column, an instant or `now` has no time zone.
    """
    people = take_leads(leads, as_of=now)
    taken = take_calls(calls, as_of=now)
    table = records(
        people, take_checks(checks, as_of=now), import_screen_counts=import_screen_counts
    )
    asked = requests(taken.every, dnc_codes)
    flagged = flags(people, asked, now=moment(now))
    calls = taken.outbound[spoken_of(taken.outbound, people, table, asked)]
    return grade(calls, table, asked, flagged, grace=grace).reset_index(drop=True)


def spoken_of(
    outbound: pd.DataFrame, people: pd.DataFrame, table: pd.DataFrame, asked: pd.DataFrame
) -> Flags:
    """Whether anything on record speaks against the number of a call."""
    spoken = [table.loc[table["listed"], "phone"], asked["phone"]]
    spoken.append(people.loc[closed(people), "phone"])
    known = outbound["to_number"].isin(pd.concat(spoken).unique())
    found: Flags = (outbound["direction_known"] & known).to_numpy(dtype=bool)
    return found


def grade(
    calls: pd.DataFrame,
    table: pd.DataFrame,
    asked: pd.DataFrame,
    flagged: pd.DataFrame,
    *,
    grace: timedelta,
    law: Law | None = None,
) -> pd.DataFrame:
    """Calls to numbers that something speaks against, on their index.

    With `law` the rules of each call's place say how soon a request is to be honoured; without it,
    and where no rule speaks of requests, `grace` does. The index is that of `law.codes`.
    """
    requested = _of_number(calls, asked)
    around = _around(calls, table, requested, flagged, law)
    free = [timedelta(0)] * len(calls) if law is None else law.free(calls.index)
    decided = [
        decide(each, grace=grace, listed_grace=days)
        for each, days in zip(around, free, strict=True)
    ]
    return _frame(calls, requested["at"], decided)


def _around(
    calls: pd.DataFrame,
    table: pd.DataFrame,
    requested: pd.DataFrame,
    flagged: pd.DataFrame,
    law: Law | None,
) -> Iterator[Around]:
    """What is on record around each call."""
    marks = flagged.rename(columns={"lead_id": "ref"}).assign(source=BY_STATUS, listed=True)
    both = pd.concat([table[_RECORD], marks[_RECORD]], ignore_index=True)
    both = both.sort_values(["at", "listed"], kind="stable", ignore_index=True)
    checks = nearest(calls, table[table["source"] == CHECK], "backward", exact=False)
    after = nearest(calls, both, "forward", exact=True)
    marked = _of_number(calls, marks)
    # The interval ends with the record that decides: the check before the call if it said listed,
    # else the flag if it lies before the call, else the record after the call.
    ends = checks["at"].where(checks["listed"].eq(other=True))
    ends = ends.fillna(marked["at"].where(marked["at"] < calls["created_at"]))
    ends = ends.fillna(after["at"])
    unlisted = both[~both["listed"].astype(bool)]
    before = nearest(calls.assign(created_at=ends), unlisted, "backward", exact=False)
    parts = (_records(part) for part in (checks, after, marked, before))
    made = _requests(requested) if law is None else law.bind(_requests(requested), calls.index)
    since = _listed_since(calls, table, checks)
    for at, check, following, flag, clean, request, first in zip(
        calls["created_at"], *parts, made, since, strict=True
    ):
        known = None if pd.isna(first) else first
        yield Around(None if pd.isna(at) else at, check, following, request, flag, clean, known)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Law:
    """What the rules of each call's place say of requests and of numbers newly listed.

    Attributes:
        codes: Case of each call, by position.
        kinds: The cases.
        honour: Rules on requests.
        listed: Rules on lists by the day of a call.
        days: Day of each call, by position.
    """

    codes: Codes
    kinds: Sequence[Case]
    honour: Sequence[HonourRule]
    listed: Callable[[date], Sequence[FreshnessRule]]
    days: Sequence[date]

    def bind(self, made: Iterator[Request | None], rows: pd.Index) -> Iterator[Request | None]:
        """Requests with the spans in which calls break a rule."""
        known: dict[tuple[int, datetime], tuple[Span, ...]] = {}
        for request, row in zip(made, rows, strict=True):
            if request is None:
                yield None
                continue
            key = (int(self.codes[row]), request.at)
            if key not in known:
                known[key] = spans(self.kinds[key[0]], self.honour, request.at)
            yield replace(request, spans=known[key])

    def free(self, rows: pd.Index) -> list[timedelta]:
        """For how long after its listing a number may still be called, the least of all rules."""
        memory: dict[tuple[int, date], int] = {}
        found = []
        for row in rows:
            code, day = int(self.codes[row]), self.days[row]
            if (code, day) not in memory:
                memory[code, day] = free_days([self.kinds[code]], self.listed(day))[0]
            found.append(timedelta(days=memory[code, day]))
        return found


def free_days(kinds: Sequence[Case], rules: Sequence[FreshnessRule]) -> list[int]:
    """Days for which a number of each case may still be called once it is listed; the least counts."""
    return [
        min((each.rule.parameters.listed_grace_days for each in reached(case, rules)
             if isinstance(each.rule, FreshnessRule)), default=0)
        for case in kinds
    ]  # fmt: skip


def _listed_since(calls: pd.DataFrame, table: pd.DataFrame, checks: pd.DataFrame) -> pd.Series:
    """Oldest check that said listed since the last that did not, where the newest said listed."""
    asked = table[table["source"] == CHECK].copy()
    said = asked["listed"].astype(bool)
    run = asked.assign(turn=(~said).groupby(asked["phone"]).cumsum())[said]
    first = run.groupby(["phone", "turn"], as_index=False)["at"].min()
    first = first.sort_values("at", kind="stable", ignore_index=True)
    found = nearest(calls.assign(created_at=checks["at"]), first, "backward", exact=True)
    since: pd.Series = found["at"].where(checks["listed"].eq(other=True))
    return since


def _records(table: pd.DataFrame) -> Iterator[Record | None]:
    for row in table[["at", "source", "ref", "listed"]].itertuples(index=False):
        if pd.isna(row.at):
            yield None
        else:
            yield Record(row.at, row.source, _text(row.ref), bool(row.listed))


def _requests(table: pd.DataFrame) -> Iterator[Request | None]:
    for row in table[["began_at", "at", "call_id", "code"]].itertuples(index=False):
        if pd.isna(row.began_at):
            yield None
        else:
            yield Request(row.began_at, row.at, _text(row.call_id), row.code)


def _text(ref: Any) -> str:
    return ref if isinstance(ref, str) else "(no id)"


def _of_number(calls: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """The one record of each call's number, on the index of the calls."""
    return table.set_index("phone").reindex(calls["to_number"]).set_index(calls.index)


def _frame(
    calls: pd.DataFrame, requested_at: pd.Series, decisions: Sequence[Decision]
) -> pd.DataFrame:
    later = requested_at.where(requested_at < calls["created_at"])
    values: dict[str, Sequence[object]] = {
        "grade": [each.grade for each in decisions],
        "basis": [each.basis for each in decisions],
        "evidence": ["; ".join(each.evidence) or None for each in decisions],
        "listed_after": [each.listed_after for each in decisions],
        "listed_by": [each.listed_by for each in decisions],
        "weekdays_after_request": [
            None if pd.isna(asked) else weekdays(asked, at)
            for asked, at in zip(later, calls["created_at"], strict=True)
        ],
        "missing": [each.missing for each in decisions],
        "reason": [each.reason for each in decisions],
    }
    columns = {name: pd.Series(column, index=calls.index) for name, column in values.items()}
    own = {name: calls[name] for name in ("to_number", "campaign_id", "created_at")}
    waited = (calls["created_at"] - later) / pd.Timedelta(days=1)
    asked = {"requested_at": requested_at, "days_after_request": waited}
    return shaped({"call_id": calls["id"], **own, **asked, **columns}, COLUMNS)
