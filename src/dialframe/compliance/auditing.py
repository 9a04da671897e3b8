"""The whole audit: every check over the same tables, counted, and put into frames when they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import Final

import pandas as pd

from dialframe.compliance import check_runner, hours, notes, sums_of_parts, voluntary_codes
from dialframe.compliance.check_runner import CHECKS as ALL_CHECKS
from dialframe.compliance.check_runner import Engine
from dialframe.compliance.checks import consent, scrub_coverage
from dialframe.compliance.checks.check_results import GRADES, Check, Tally, shaped
from dialframe.compliance.dnc import dialed, in_time, people, speaking, summary
from dialframe.compliance.practice import Practice
from dialframe.compliance.result import CHECKS, Audit, Coverage, Parts, in_words
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rule_model import citations, ids
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.compliance.sums_of_parts import RULES, Piece, piece_of
from dialframe.compliance.tables import FRAMES
from dialframe.compliance.tables.intake import moment
from dialframe.compliance.tables.law import Law
from dialframe.compliance.tables.query_tables import (
    DEFAULT_AGE,
    NOTHING_DECLARED,
    REQUEST_CODES,
    Question,
)

UNANSWERED: Final = FRAMES["unanswered"]


def audit(
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    checks: pd.DataFrame,
    callbacks: pd.DataFrame | None = None,
    *,
    now: datetime,
    since: datetime | None = None,
    until: datetime | None = None,
    rulebook: RuleBook | None = None,
    rules: Sequence[str] | None = None,
    states: Mapping[str, str] | pd.Series | None = None,
    dnc_codes: Sequence[str] = REQUEST_CODES,
    known_codes: Callable[[str], bool] | None = None,
    grace: timedelta = timedelta(0),
    practice: Practice | None = None,
    exemptions: pd.DataFrame | None = None,
    declared: Declared = NOTHING_DECLARED,
    consents: pd.DataFrame | None = None,
    recorded_consents: pd.DataFrame | None = None,
    look_ups: pd.DataFrame | None = None,
    outcomes: Mapping[str, str] | pd.Series | None = None,
    events: pd.DataFrame | None = None,
    began_at: datetime | None = None,
    taxonomy: str = "",
    data_version: str = "",
) -> Audit:
    """Calls and numbers held against every rule that reaches them; the strictest answer counts.

    Voluntary codes are evaluated apart (`voluntary_codes`): what is found there is no violation.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table. Requests not to be called, and attempts in a window, are
            looked for before the period too, so it should reach back as far as the records do.
        checks: Ledger of Do-Not-Call checks, frame of the dnc_checks table.
        callbacks: Frame of the callbacks table; a call near a due callback is named as a
            candidate for an exemption, its grade stays.
        now: The moment of the audit; later calls, leads and checks are left out.
        since: First instant of the period; None: from the first call.
        until: First instant after the period; None: `now`.
        rulebook: The rules; by default those of the package.
        rules: Jurisdictions or ids of rules to ask (`us`, `us-fl`, `us-*`, `gb`); None: all. A
            call that a rule of the book would reach and that passes those that were asked is
            `not asked`.
        states: Number to US state or ZIP code, where the account knows it; adds zones and the
            rules of the state, never takes one away.
        dnc_codes: Dispositions that mean "do not call me again".
        known_codes: Whether somebody said what a disposition means. One that reads like a refusal
            and is not known makes later calls of its number uncertain.
        grace: Where no rule of the place speaks of requests, calls this long after one are
            uncertain in words of their own; elsewhere the rules say how long.
        practice: What the firm says of its calling: purpose, dialing, line types, and the lists
            that the service's check and import screen cover. What it does not say proves nothing.
        exemptions: Records that lift a rule, columns `tables.intake.EXEMPTIONS`.
        declared: Days that were declared: emergencies, a governor's holidays.
        consents: Records of consent, columns `tables.intake.CONSENTS`.
        recorded_consents: Consents that went to the service, of the same columns. They show that
            there is consent; that there is none only a whole table (`consents`) can show.
        look_ups: Look-ups of reassigned numbers, columns `tables.intake.LOOK_UPS`.
        outcomes: Call id to `dropped`, `live` or `machine`, for the share of abandoned calls.
        events: Requests not to be called beside those of calls, columns `tables.intake.EVENTS`.
        began_at: When the account began, as far as it is known.
        taxonomy: Version of the taxonomy behind `dnc_codes` and `outcomes`.
        data_version: What the frames were read from, in words.

    Returns:
        The audit.

    Raises:
        ConfigError: A frame lacks a column, an instant or a moment has no time zone, a
            jurisdiction is not in the book, the period ends before it begins.

    Example:
        found = audit(account.leads(), account.calls(), account.dnc_checks(), now=now, rules=["us"])
        found.checks
    """
    question = Question(
        now=now, since=since, until=until, rulebook=rulebook, rules=rules, states=states,
        dnc_codes=dnc_codes, known_codes=known_codes, grace=grace, practice=practice,
        exemptions=exemptions, declared=declared, consents=consents,
        recorded_consents=recorded_consents, look_ups=look_ups, outcomes=outcomes, events=events,
        began_at=began_at, taxonomy=taxonomy, data_version=data_version,
    )  # fmt: skip
    return _answer(question, leads, calls, checks, callbacks)


def _answer(
    question: Question,
    leads: pd.DataFrame,
    calls: pd.DataFrame,
    checks: pd.DataFrame,
    callbacks: pd.DataFrame | None,
) -> Audit:
    run = Engine(leads, calls, checks, callbacks, question)
    run.run()
    # A code binds no firm that did not join it: it is asked apart, of the calls that it reaches.
    near = voluntary_codes.reached(question.book.codes(), calls, run.view)
    advice = None if near is None else _answer(question.by_codes(), leads, near, checks, callbacks)
    piece = piece_of(run)
    listed = [check for check in ALL_CHECKS if check.name in listed_in(piece)]
    return assembled(
        question, piece, advice, len(checks),
        frames=Parts({
            "findings": lambda: sums_of_parts.findings(listed, run.view),
            "hours": lambda: hours.every_call(run.view), "listed": lambda: speaking(run.view),
        }),
        coverage=_coverage(run, question.book, leads, question.now), parts=_parts(run),
        law=run.question.law, engine=run,
    )  # fmt: skip


def listed_in(piece: Piece) -> list[str]:
    """Checks of which anything is a finding by itself."""
    return [
        name for name, tally in piece.tallies.items() if tally.listed and _is_reported(name, tally)
    ]


def assembled(
    question: Question,
    piece: Piece,
    advice: Audit | None,
    checks: int,
    *,
    frames: Parts,
    coverage: Coverage,
    parts: Parts,
    law: Law,
    engine: object,
) -> Audit:
    """An audit from its sums.

    Args:
        question: What was asked.
        piece: The sums of all calls.
        advice: The audit by voluntary codes; None where they reach no call.
        checks: Rows of the ledger of checks.
        frames: Findings, every call against the hours, and every call to a number that anything speaks against.
        coverage: How far checks reach.
        parts: Frames of the further checks.
        law: The rules behind their numbers.
        engine: The tables behind it.
    """
    book, at = question.book, moment(question.now)
    # A check that no rule asks for is left out: a count of nothing would read like a pass.
    reported = [
        c
        for c in ALL_CHECKS
        if c.name in piece.tallies and _is_reported(c.name, piece.tallies[c.name])
    ]
    counted = pd.DataFrame([_row(check, piece.tallies[check.name], law) for check in reported])
    advised, of_codes, advice_notes = voluntary_codes.reported(advice, book.codes())
    by_rule = [piece.by_rule, of_codes]
    more = {
        "not_asked": piece.not_asked, "unmapped": piece.unmapped, "unanswered": _unanswered(piece, reported),
        "rules": lambda: _rules(book, by_rule),
    }  # fmt: skip
    return Audit(
        frames=frames,
        checks=shaped(counted, CHECKS),
        coverage=coverage,
        excluded=piece.excluded,
        rulebook_version=book.version,
        rulebook_sha256=book.sha256,
        as_of=at.to_pydatetime(),
        notes=(
            *notes.LIMITS,
            *notes.about_book(book, at),
            *notes.about_not_asked(piece.not_asked),
            *notes.about_declared(book, question.declared),
            *advice_notes,
            *notes.about_data(piece.counts, checks),
            *notes.about_unmapped(piece.unmapped),
            *notes.about_requests(question.events),
            *notes.about_states(question.states),
            *notes.about_consents(question.consents, question.recorded_consents),
        ),
        parts=parts.joined(advised).joined(more),
        since=question.since,
        until=question.until,
        taxonomy=question.taxonomy,
        data_version=question.data_version,
        gaps=_gaps(piece.counts),
        engine=engine,
    )


def _unanswered(piece: Piece, reported: Sequence[Check]) -> pd.DataFrame:
    """How many of each check are not evaluable, by the missing input."""
    # What is missing most is what is worth bringing first.
    rows = [
        {"check": check.name, "missing": missing, "number": number}
        for check in reported
        for (severity, missing), (number, _) in sorted(
            piece.tallies[check.name].counts.items(),
            key=lambda each: (-each[1][0], each[1][1], str(each[0][1])),
        )
        if GRADES[severity] == "not evaluable"
    ]
    return shaped(pd.DataFrame(rows), UNANSWERED)


def _gaps(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Why an audit says less than it seems to, where it has no calls."""
    if counts["graded"]:
        return ()
    return (
        "there is no outbound call in the period"
        if counts["stored"]
        else "there is no call in the store",
    )


def _is_reported(name: str, tally: Tally) -> bool:
    """Whether a check is in the report: always the first four, others where a rule asks for them."""
    return name in check_runner.ALWAYS or bool(tally.rules) or tally.left_out


def _row(check: Check, tally: Tally, law: Law) -> dict[str, object]:
    """The counts of a check, by the columns of `result.CHECKS`."""
    rules = law.named(tally.rules)
    calls_by_grade = dict.fromkeys(GRADES, 0)
    for (severity, _), (calls, _) in tally.counts.items():
        calls_by_grade[GRADES[severity]] += calls
    # The most frequent input first; of equal ones the one that is missed first.
    missing = sorted(
        (-calls, first, str(missing))
        for (severity, missing), (calls, first) in tally.counts.items()
        if GRADES[severity] == "not evaluable"
    )
    inputs = pd.Series(
        [-calls for calls, *_ in missing], index=pd.Index([name for *_, name in missing], dtype="str"), dtype="int64"
    )  # fmt: skip
    counts = {
        "checked": sum(calls_by_grade.values()), "pass": calls_by_grade["pass"], "violation": calls_by_grade["violation"],
        "uncertain": calls_by_grade["uncertain"], "not_evaluable": calls_by_grade["not evaluable"],
        "not_asked": calls_by_grade["not asked"],
    }  # fmt: skip
    return {
        "check": check.name, "title": check.title, "unit": f"{check.unit}s", **counts,
        "rule_id": ids(rules), "citation": citations(rules),
        "sentence": in_words(check.unit, counts, inputs),
    }  # fmt: skip


def federal_age(book: RuleBook, day: date) -> int:
    """How old a check may be by the federal rules where they are asked, in days; the default age elsewhere."""
    # 16 CFR 310.4(b)(3)(iv), 47 CFR 64.1200(c)(2)(i)(D): 31 days.
    ages = [r.parameters.max_age_days for r in book.freshness(day) if r.jurisdiction == "US"]
    return min(ages, default=DEFAULT_AGE.days)


def _coverage(run: Engine, book: RuleBook, leads: pd.DataFrame, now: datetime) -> Coverage:
    # What costs much is put into words when somebody reads it.
    frames = Parts({
        "numbers": lambda: scrub_coverage.numbers(run.view), "calls": lambda: in_time(run.view),
        "summary": lambda: summary(frames["numbers"], people(leads, now), dialed(run.view)),
    })  # fmt: skip
    as_of = moment(now).to_pydatetime()
    return Coverage(frames=frames, as_of=as_of, max_age_days=federal_age(book, as_of.date()))


#: Parts of an audit, and the check that each is the frame of.
PARTS: Final = {
    "attempts": "attempt_caps", "requests": "internal_dnc", "abandonment": "abandonment", "consent": "consent",
    "records": "records", "retention": "retention", "emergencies": "emergency", "sectors": "sector_ban",
    "caller_ids": "caller_id", "recordings": "recording_consent", "voices": "artificial_voice",
}  # fmt: skip


def _parts(run: Engine) -> Parts:
    """Frames of every further check, made when they are asked for."""

    def frame(name: str) -> pd.DataFrame:
        check = check_runner.BY_NAME[name]
        if name in _REST:
            return _of_every_call(run, check, _REST[name])
        if name not in run.ran:
            return shaped(pd.DataFrame(), check.columns)
        return consent.table(run.view) if name == "consent" else check.table(run.view)

    return Parts({part: partial(frame, name) for part, name in PARTS.items()})


#: What is said of calls that no rule of a check was held against.
_REST: Final = {
    "attempt_caps": """
        select c.call, [] as rules, case when n.case_id is null then 0 else 1 end as severity, null as missing,
          case when reached_network or not {ran} then 'no rule of those asked caps attempts where the number may be'
            else 'left out: the call never reached the network' end as reason
        from calls c left join not_asked n on n.case_id = c.case_id and n.check_name = 'attempt_caps' and {ran}""",
    "records": """
        select c.call, d.rules, case when d.case_id is null then 2 else 0 end as severity,
          case when d.case_id is null then 'no rule of those asked says what a record of the call has to hold'
            else 'the stored record has every field' end as reason,
          case when d.case_id is null then 'a rule on records for the place of the number' end as missing, null as absent
        from calls c left join records_default d on d.case_id = c.case_id""",
    "emergency": """
        select c.call, d.rules, d.severity, null as reason, d.missing from calls c join emergency_default d using (case_id)""",
}


def _of_every_call(run: Engine, check: Check, rest: str) -> pd.DataFrame:
    """Every graded call against a check: those that were looked at, and what is said of the others."""
    view, ran = run.view, check.name in run.ran
    if check.name == "emergency" and not ran:
        return shaped(pd.DataFrame(), check.columns)
    # A frame of every call counts the attempts of numbers too that were dialed seldom.
    if check.name == "attempt_caps":
        run.count_every_attempt()
    elif not ran:
        # No rule speaks of it: its tables are there, and empty.
        check.settle(view)
    rows = check.rows(view, "true")
    others = view.frame(f"""
        select c.call_id, c.to_number, c.campaign_id, c.at_utc as created_at, o.* from ({rest.format(ran=ran)}) o
        join calls c using (call) where c.graded and call not in (select call from {check.name})""")
    if len(others):
        worded = check.worded(others, view)
        named = worded["reason"].where(others["reason"].isna(), others["reason"])
        rows = pd.concat([rows, worded.assign(reason=named)])
    return shaped(rows.sort_values("call", kind="stable"), check.columns)


def _rules(book: RuleBook, counts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Every rule that was asked, with the calls of each grade where it is counted by itself."""
    counted = pd.concat([part for part in counts if len(part)] or list(counts), ignore_index=True)
    names = (
        "id",
        "title",
        "jurisdiction",
        "kind",
        "status",
        "force",
        "confidence",
        "citation",
        "exposure",
    )
    table = pd.DataFrame({name: [getattr(r, name) for r in book.rules] for name in names}).astype(
        "str"
    )
    # A rule that is not counted by itself keeps empty counts: zeros would say that no call broke it.
    merged = table.rename(columns={"id": "rule_id"}).merge(counted, on="rule_id", how="left")
    for name in RULES:
        merged[name] = merged[name].astype("Int64")
    # What rests on no source that was read passes nothing for certain.
    weak = (merged["confidence"] == "low") & merged["pass"].notna()
    merged.loc[weak, "uncertain"] += merged.loc[weak, "pass"] + merged.loc[weak, "violation"]
    merged.loc[weak, ["pass", "violation"]] = 0
    return merged
