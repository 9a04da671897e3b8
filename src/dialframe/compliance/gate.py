"""The gate before the call: which numbers may be called at an instant, by the queries of the audit.

Each number is a call that would be made at that instant, answered at once, and is graded with what
is on record until then. Only a call that passes every check may be made: uncertain, not evaluable
and not asked all hold the number, since in doubt nobody is dialed. Checks of what a record holds
after the call, and of sums over many calls, are the audit's alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

import pandas as pd

from dialframe.compliance.check_runner import CHECKS, Engine
from dialframe.compliance.checks.check_results import GRADES, Check, shaped
from dialframe.compliance.practice import Practice
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.compliance.tables import FRAMES
from dialframe.compliance.tables.intake import moment, take
from dialframe.compliance.tables.query_tables import NOTHING_DECLARED, REQUEST_CODES, Question
from dialframe.frames import CALLS, DNC_CHECKS, LEADS, from_records

HELD: Final = "held"
MAY_BE_CALLED: Final = "may be called"
#: The firm's own list holds a number whatever the rules say.
SUPPRESSION: Final = "suppression"
VERDICTS: Final = FRAMES["verdicts"]

#: What a record of a call holds shows only once there is one.
_BEFORE: Final = tuple(c for c in CHECKS if c.by_call and c.name != "records")


def may_call(
    numbers: Sequence[str | None] | pd.Series,
    *,
    at: datetime,
    leads: pd.DataFrame | None = None,
    calls: pd.DataFrame | None = None,
    checks: pd.DataFrame | None = None,
    callbacks: pd.DataFrame | None = None,
    campaign: str | None = None,
    caller_id: str | None = None,
    rulebook: RuleBook | None = None,
    rules: Sequence[str] | None = None,
    states: Mapping[str, str] | pd.Series | None = None,
    dnc_codes: Sequence[str] = REQUEST_CODES,
    known_codes: Callable[[str], bool] | None = None,
    practice: Practice | None = None,
    exemptions: pd.DataFrame | None = None,
    declared: Declared = NOTHING_DECLARED,
    consents: pd.DataFrame | None = None,
    recorded_consents: pd.DataFrame | None = None,
    look_ups: pd.DataFrame | None = None,
    outcomes: Mapping[str, str] | pd.Series | None = None,
    events: pd.DataFrame | None = None,
    suppressed: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Which numbers may be called at an instant; in doubt a number is held.

    Without the account's records nothing is shown to be permitted, so that every number is held.
    `dialframe.may_call(account, numbers, at=...)` gathers them.

    Args:
        numbers: Numbers, E.164; what is none is held.
        at: The instant of the calls; nothing later counts.
        leads: Frame of the leads table.
        calls: Frame of the calls table, as far back as the records go.
        checks: Ledger of Do-Not-Call checks.
        callbacks: Frame of the callbacks table.
        campaign: Campaign that would call.
        caller_id: Number that would be shown; without it rules on the number shown hold the call.
        rulebook: The rules; by default those of the package.
        rules: Jurisdictions or ids of rules to ask; None: all.
        states: Number to US state or ZIP code.
        dnc_codes: Dispositions that mean "do not call me again".
        known_codes: Whether somebody said what a disposition means.
        practice: What the firm says of its calling.
        exemptions: Records that lift a rule, columns `tables.intake.EXEMPTIONS`.
        declared: Declared emergencies and holidays.
        consents: Records of consent, columns `tables.intake.CONSENTS`.
        recorded_consents: Consents that went to the service, of the same columns.
        look_ups: Look-ups of reassigned numbers, columns `tables.intake.LOOK_UPS`.
        outcomes: Call id to `dropped`, `live` or `machine`.
        events: Requests not to be called beside those of calls, as an audit takes them.
        suppressed: Number to the reason why the firm's own list holds it.

    Returns:
        One row per number, in their order, columns `VERDICTS`.

    Raises:
        ConfigError: A frame lacks a column, an instant has no time zone, or a jurisdiction is not
            in the book.

    Example:
        verdicts = compliance.may_call(numbers, at=now, leads=leads, calls=calls, checks=checks)
        verdicts[verdicts["verdict"] == "may be called"]
    """
    at_utc = moment(at).to_pydatetime()
    question = Question(
        now=at_utc, since=at_utc, rulebook=rulebook, rules=rules, states=states, dnc_codes=dnc_codes,
        known_codes=known_codes, practice=practice, exemptions=exemptions, declared=declared,
        consents=consents, recorded_consents=recorded_consents, look_ups=look_ups,
        outcomes=outcomes, events=events, every_row=True,
    )  # fmt: skip
    # A number that is asked about twice is graded once, and answered twice.
    as_given = [None if pd.isna(number) else str(number) for number in numbers]
    distinct = list(dict.fromkeys(as_given))
    # A would-be call stands behind all that were made: caps count them, requests bind it.
    past = _of_numbers(take(CALLS, calls), distinct)
    would_be = take(CALLS, from_records(CALLS, _calls(distinct, at_utc, campaign, caller_id)))
    run = Engine(
        _of_numbers(take(LEADS, leads), distinct), pd.concat([past, would_be], ignore_index=True),
        _of_numbers(take(DNC_CHECKS, checks), distinct), callbacks, question,
    )  # fmt: skip
    run.run([check.name for check in _BEFORE])
    # 47 CFR 64.1200(d)(6), 16 CFR 310.4(b)(1)(iii)(A): who asked the firm is not called, whatever else is on record.
    holding = [_suppressed(distinct, suppressed or {}, len(past))]
    holding += [_holding(check, run, len(past)) for check in _BEFORE]
    return _verdicts(as_given, distinct, holding, len(past))


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


def _holding(check: Check, run: Engine, first: int) -> pd.DataFrame:
    """Calls that a check does not pass: `call, severity`, and what is shown of them."""
    not_asked = run.view.frame(f"""
        select c.call, 1 as severity, array_to_string(n.jurisdictions, ', ') as places
        from calls c join not_asked n on n.case_id = c.case_id and n.check_name = '{check.name}'
        where c.call >= {first}""")
    not_asked["reason"] = "rules of " + not_asked["places"].astype("object") + " were not asked"
    # A check that no rule asks for holds nobody, but for places that were not asked about.
    if check.name not in run.ran:
        return not_asked.assign(check=check.name)
    rows = check.rows(run.view, f"g.severity > 1 and g.call >= {first}")
    others = run.view.frame(f"""
        select c.call, d.severity, d.rules, d.missing, d.missing || ' is missing' as reason
        from calls c join {check.name}_default d using (case_id)
        where c.call >= {first} and d.severity > 1 and c.call not in (select call from {check.name}_graded)""")
    others = run.view.named(others) if len(others) else others
    parts = [part for part in (rows, others, not_asked) if len(part)]
    held = pd.concat([part.astype("object") for part in parts]) if parts else not_asked
    return held.assign(check=check.name)


def _suppressed(
    numbers: Sequence[str | None], reasons: Mapping[str, str], first: int
) -> pd.DataFrame:
    """Numbers of the firm's own list, as rows of a check (47 CFR 64.1200(d)(6), 16 CFR 310.4(b)(1)(iii)(A))."""
    rows = [
        (first + row, len(GRADES) - 1, reasons[number], SUPPRESSION)
        for row, number in enumerate(numbers)
        if number is not None and number in reasons
    ]
    return pd.DataFrame(rows, columns=["call", "severity", "reason", "check"], dtype="object")


def _verdicts(
    given: Sequence[str | None],
    numbers: Sequence[str | None],
    holding: Sequence[pd.DataFrame],
    first: int,
) -> pd.DataFrame:
    """One row per number as it was given, the gravest check first."""
    # One row for each check that holds: the first is shown, all are named.
    names = ["call", "severity", "check", "rule_id", "citation", "missing", "reason"]
    parts = [part.reindex(columns=names).astype("object") for part in holding if len(part)]
    rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=names)
    # The gravest check is named first; of equal ones the first in the order of a report.
    rows = rows.sort_values("severity", ascending=False, kind="stable")
    gravest = rows.drop_duplicates("call").set_index("call").to_dict("index")
    held_by = rows.groupby("call")["check"].agg(lambda names: ", ".join(dict.fromkeys(names)))
    verdicts: dict[str | None, dict[str, object]] = {}
    for call, number in enumerate(numbers, start=first):
        row = gravest.get(call)
        verdicts[number] = {"verdict": MAY_BE_CALLED}
        # In doubt nobody is dialed: whatever is no pass holds the number.
        if row is not None:
            grade = GRADES[int(row["severity"])]
            verdicts[number] = {**row, "verdict": HELD, "grade": grade, "held_by": held_by[call]}
    return shaped(pd.DataFrame([{"number": n, **verdicts[n]} for n in given]), VERDICTS)
