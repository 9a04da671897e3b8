"""The gate before the call: which numbers may be called at an instant, by the queries of the audit.

Each number is a call that would be made at that instant, answered at once, and is graded with what
is on record until then. Only a call that passes every check may be made: uncertain, not evaluable
and not asked all hold the number, since in doubt nobody is dialed. Checks of what a record holds
after the call, and of sums over many calls, are the audit's alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import pandas as pd

from dialframe.compliance import findings
from dialframe.compliance.checks import CHECKS, GRADES
from dialframe.compliance.engine import Engine
from dialframe.compliance.findings import shaped
from dialframe.compliance.tables import FRAMES
from dialframe.compliance.tables.intake import moment, take
from dialframe.compliance.tables.query_tables import Question, Tables
from dialframe.frames import CALLS, DNC_CHECKS, LEADS, from_records

HELD: Final = "held"
MAY_BE_CALLED: Final = "may be called"
#: The firm's own list holds a number whatever the rules say.
SUPPRESSION: Final = "suppression"
VERDICTS: Final = FRAMES["verdicts"]

#: What a record of a call holds shows only once there is one.
_BEFORE: Final = tuple(c.name for c in CHECKS if c.by_call and c.name != "records")


def may_call(
    numbers: Sequence[str | None] | pd.Series,
    *,
    at: datetime,
    tables: Tables | None = None,
    question: Question | None = None,
    campaign: str | None = None,
    caller_id: str | None = None,
    suppressed: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Which numbers may be called at an instant; in doubt a number is held.

    Without the account's records nothing is shown to be permitted, so that every number is held.
    `dialframe.may_call(account, numbers, at=...)` gathers them.

    Args:
        numbers: Numbers, E.164; what is none is held.
        at: The instant of the calls; nothing later counts.
        tables: Tables of the account, as `audit` takes them; calls as far back as the records go.
        question: Which rules are asked, with which records of the firm; its period and moment are not asked.
        campaign: Campaign that would call.
        caller_id: Number that would be shown; without it rules on the number shown hold the call.
        suppressed: Number to the reason why the firm's own list holds it.

    Returns:
        One row per number, in their order, columns `VERDICTS`. `attrs["grades"]` has every check's grade of each
        number: `number, check, grade`.

    Raises:
        ConfigError: A table lacks a column, an instant has no time zone, or a jurisdiction is not in the book.

    Example:
        verdicts = compliance.may_call(numbers, at=now, tables={"leads": leads, "calls": calls, "dnc_checks": checks})
        verdicts[verdicts["verdict"] == "may be called"]
    """
    at_utc = moment(at).to_pydatetime()
    asked = replace(question or Question(now=at_utc), now=at_utc, since=at_utc, until=None)
    # A number that is asked about twice is graded once, and answered twice.
    as_given = [None if pd.isna(number) else str(number) for number in numbers]
    distinct = list(dict.fromkeys(as_given))
    given = tables or {}
    # A would-be call stands behind all that were made: caps count them, requests bind it.
    past = _of_numbers(take(CALLS, _frame(given.get("calls"))), distinct)
    would_be = take(CALLS, from_records(CALLS, _calls(distinct, at_utc, campaign, caller_id)))
    run = Engine(
        {
            "calls": pd.concat([past, would_be], ignore_index=True),
            "leads": _of_numbers(take(LEADS, _frame(given.get("leads"))), distinct),
            "dnc_checks": _of_numbers(take(DNC_CHECKS, _frame(given.get("dnc_checks"))), distinct),
            **({"callbacks": given["callbacks"]} if "callbacks" in given else {}),
        },
        asked,
    )
    run.run(_BEFORE)
    rows, grades = _held(run, len(past))
    # 47 CFR 64.1200(d)(6), 16 CFR 310.4(b)(1)(iii)(A): who asked the firm is not called, whatever else is on record.
    own = pd.DataFrame(
        [
            {"call": len(past) + row, "grade": "violation", "reason": suppressed[str(number)], "check": SUPPRESSION}
            for row, number in enumerate(distinct) if suppressed and number in suppressed
        ],
        columns=_SHOWN, dtype="object",
    )  # fmt: skip
    held = pd.concat([own, *rows], ignore_index=True) if len(own) or rows else own
    verdicts = _verdicts(as_given, distinct, held, len(past))
    names = pd.DataFrame({"call": range(len(past), len(past) + len(distinct)), "number": distinct})
    verdicts.attrs["grades"] = grades.merge(names, on="call")[
        ["number", "check", "grade"]
    ].to_dict("records")
    return verdicts


#: What is shown of a check that holds a number.
_SHOWN: Final = ["call", "grade", "check", "rule_id", "citation", "missing", "reason"]


def _frame(rows: object) -> pd.DataFrame | None:
    return rows.to_pandas() if hasattr(rows, "to_pandas") else rows


def _held(run: Engine, first: int) -> tuple[list[pd.DataFrame], pd.DataFrame]:
    """The rows of checks that do not pass a call, and every check's grade of each."""
    parts, grades = [], []
    for check in (each for each in CHECKS if each.name in run.ran):
        of = f"{run.calls_of(check.name)} m join {check.name}_grades g using (question)"
        graded = run.frame(
            f"select m.call, '{check.name}' as \"check\", g.grade::varchar as grade from {of} where m.call >= {first}"
        )
        grades.append(graded)
        if (graded["grade"] != "pass").any():
            held = run.frame(
                findings.rows(run, check, f"g.grade > 'not asked'::grade and m.call >= {first}")
            )
            parts.append(held.assign(check=check.name).reindex(columns=_SHOWN).astype("object"))
        if (graded["grade"] == "not asked").any():
            places = run.frame(f"""
                select m.call, 'not asked' as grade, '{check.name}' as "check",
                  'rules of ' || array_to_string(n.jurisdictions, ', ') || ' were not asked' as reason
                from {of} join not_asked n on n.case_id = g.case_id and n.check_name = '{check.name}' where m.call >= {first} and g.grade = 'not asked'""")
            parts.append(places.reindex(columns=_SHOWN).astype("object"))
    every = (
        pd.concat(grades, ignore_index=True)
        if grades
        else pd.DataFrame(columns=["call", "check", "grade"])
    )
    return [part for part in parts if len(part)], every


def _calls(
    numbers: Sequence[str | None], at: datetime, campaign: str | None, caller_id: str | None
) -> list[dict[str, object]]:
    """A call to each number that somebody answers: rules on what is said to a person have to be kept."""
    return [
        {
            "id": f"call_that_would_be_made_{row}", "direction": "outbound", "to_number": number,
            "from_number": caller_id, "campaign_id": campaign, "created_at": at, "answered_at": at,
        }
        for row, number in enumerate(numbers)
    ]  # fmt: skip


def _of_numbers(frame: pd.DataFrame, numbers: Sequence[str | None]) -> pd.DataFrame:
    """Rows that belong to some numbers: every query goes by number, so that the rest changes no grade."""
    columns = [name for name in ("to_number", "from_number", "phone") if name in frame.columns]
    wanted = pd.Series(data=False, index=frame.index)
    for name in columns:
        wanted |= frame[name].isin([number for number in numbers if number is not None])
    return frame[wanted.to_numpy(dtype=bool)].reset_index(drop=True)


def _verdicts(
    given: Sequence[str | None],
    numbers: Sequence[str | None],
    rows: pd.DataFrame,
    first: int,
) -> pd.DataFrame:
    """One row per number as it was given, the gravest check first."""
    # The gravest check is named first; of equal ones the first in the order of a report.
    rows = rows.assign(order=rows["grade"].map(GRADES.index)).sort_values(
        "order", ascending=False, kind="stable"
    )
    gravest = rows.drop_duplicates("call").drop(columns="order").set_index("call").to_dict("index")
    held_by = rows.groupby("call")["check"].agg(lambda names: ", ".join(dict.fromkeys(names)))
    verdicts: dict[str | None, dict[str, object]] = {}
    for call, number in enumerate(numbers, start=first):
        row = gravest.get(call)
        # In doubt nobody is dialed: whatever is no pass holds the number.
        verdicts[number] = (
            {"verdict": MAY_BE_CALLED}
            if row is None
            else {**row, "verdict": HELD, "held_by": held_by[call]}
        )
    return shaped(pd.DataFrame([{"number": n, **verdicts[n]} for n in given]), VERDICTS)
