"""The whole audit: every check over the same tables, counted, and put into frames when they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final

import pandas as pd

from dialframe import opt_outs
from dialframe.compliance import advisory, engine, hours, notes
from dialframe.compliance.checks import (
    abandonment,
    artificial_voice,
    attempt_caps,
    caller_id,
    consent,
    emergency,
    internal_dnc,
    recording_consent,
    records,
    retention,
    sector_ban,
)
from dialframe.compliance.checks.reading import GRADES, Check, Tally, View, shaped, tallied
from dialframe.compliance.dnc.coverage import Coverage, dialed, in_time, people, speaking, summary
from dialframe.compliance.engine import CHECKS as ALL_CHECKS
from dialframe.compliance.engine import Engine
from dialframe.compliance.late import Parts, Pending
from dialframe.compliance.practice import Practice, frozen
from dialframe.compliance.result import CHECKS, FINDINGS, Audit, in_words
from dialframe.compliance.rules import rulebook as books
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rule_model import HolidayRule
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.compliance.tables.intake import (
    moment,
    take_consents,
    take_exemptions,
    take_look_ups,
)
from dialframe.compliance.tables.law import Law, citations, ids
from dialframe.compliance.tables.prepare import REQUEST_CODES, Asked
from dialframe.errors import ConfigError
from dialframe.frames import Column

_NOTHING: Final = Declared()
_DAY: Final = timedelta(days=1)

NOT_ASKED: Final = (
    Column("jurisdiction", "text", "country or state whose rules were not asked"),
    Column("calls", "integer", "calls that a rule of it would reach"),
    Column("checks", "text", "the checks that its rules are of"),
)
UNMAPPED: Final = (
    Column("disposition", "text", "the agent's outcome, as it is stored"),
    Column("calls", "integer", "calls that ended with it"),
    Column("like_refusal", "boolean", "whether it reads like a request not to be called"),
)
RULES: Final = ("pass", "violation", "uncertain", "not_evaluable")


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
    declared: Declared = _NOTHING,
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

    Voluntary codes are evaluated apart (`advisory`): what is found there is no violation.

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
        events: Requests not to be called beside those of calls: `phone`, `at`, `ref`, `code`, and
            `source` (`event`, `dnc.add`, `suppression`).
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
    _require_order(since, until)
    every = books.load() if rulebook is None else rulebook
    _require_known(declared, every)
    book = every.select(rules)
    at = moment(now)
    asked = Asked(
        Law(every, book, frozen(practice), declared), at.to_pydatetime(), since, until, states,
        take_exemptions(exemptions, book), take_consents(consents), take_look_ups(look_ups), outcomes,
        events, dnc_codes, known_codes or (lambda _: False), opt_outs.is_refusal, grace, None,
        began_at, recorded_consents=take_consents(recorded_consents),
    )  # fmt: skip
    run = Engine(leads, calls, checks, callbacks, asked)
    run.run()

    def by_codes(codes: RuleBook, some: pd.DataFrame) -> Audit:
        return audit(
            leads, some, checks, callbacks, now=now, since=since, until=until, rulebook=codes,
            states=states, dnc_codes=dnc_codes, known_codes=known_codes, grace=grace,
            practice=practice, exemptions=exemptions, declared=declared, consents=consents,
            recorded_consents=recorded_consents, look_ups=look_ups, outcomes=outcomes, events=events, began_at=began_at,
        )  # fmt: skip

    advice, of_codes, advised = advisory.evaluate(book, calls, run.view, by_codes)
    tallies = tallied([check for check in ALL_CHECKS if check.name in run.ran], run.view)
    told = [c for c in ALL_CHECKS if c.name in tallies and _is_told(c, tallies[c.name])]
    counted = pd.DataFrame([_row(check, tallies[check.name]) for check in told])
    listed = [check for check in told if tallies[check.name].listed]
    parts = _parts(run).joined(advice)
    by_rule = [*_by_rule(run), of_codes]
    parts = parts.joined({"rules": Pending(lambda: _rules(book, by_rule))})
    return Audit(
        findings=Pending(lambda: findings(listed, run.view)),
        checks=shaped(counted, CHECKS),
        coverage=_coverage(run, book, leads, now),
        hours=Pending(lambda: _whole(run, "calling_hours", hours.every_call)),
        listed=Pending(lambda: _whole(run, "listed_number", speaking)),
        excluded=hours.left_out(run.view),
        rulebook_version=book.version,
        rulebook_sha256=book.sha256,
        as_of=at.to_pydatetime(),
        notes=(
            *notes.LIMITS,
            *notes.about_book(book, at),
            *notes.about_not_asked(parts["not_asked"]),
            *notes.about_declared(book, declared),
            *advised,
            *notes.about_data(run.view, len(checks)),
            *notes.about_unmapped(parts["unmapped"]),
            *notes.about_states(states),
            *notes.about_consents(consents, recorded_consents),
        ),
        parts=parts,
        since=since,
        until=until,
        taxonomy=taxonomy,
        data_version=data_version,
        gaps=_gaps(run.view),
    ).held_by(run)


def findings(checks: Sequence[Check], view: View) -> pd.DataFrame:
    """One row per call, number or whatever else did not pass, columns `FINDINGS`."""
    parts = [_findings(check, view) for check in checks]
    return pd.concat(parts, ignore_index=True) if parts else shaped(pd.DataFrame(), FINDINGS)


def _findings(check: Check, view: View) -> pd.DataFrame:
    if check.by_call:
        names = ", ".join(f"'{name}'" for name in ("-", *check.whole))
        rows = check.rows(view, f"g.severity > 1 and coalesce(g.missing, '') not in ({names})")
        rows = rows.assign(phone=rows["to_number"], at=rows["created_at"])
    else:
        rows = _other_rows(check, view)
    return shaped(rows.assign(check=check.name), FINDINGS)


def _other_rows(check: Check, view: View) -> pd.DataFrame:
    """Findings of the checks that count no calls."""
    if check.name == "scrub_coverage":
        found = view.frame("select * from scrub_coverage where severity > 1 order by lead_place")
        found = engine_graded(found, view, check)
        as_of = view.frame("select as_of from settings")["as_of"].iloc[0]
        return found.assign(phone=found.get("number"), at=as_of)
    if check.name == "internal_dnc":
        found = view.frame("select * from internal_dnc where severity > 1 order by request")
        found = engine_graded(found, view, check)
        return found.assign(phone="+" + found["phone"].astype("str"), at=found["at_utc"])
    order = "rule, campaign_id nulls last, from_day" if check.name == "abandonment" else "rule"
    found = view.frame(f"select * from {check.name} where severity > 1 order by {order}")
    found = engine_graded(found, view, check)
    return found.assign(at=found["from_at"] if "from_at" in found else found.get("oldest_at"))


def engine_graded(found: pd.DataFrame, view: View, check: Check) -> pd.DataFrame:
    """Rows of a check that counts no calls, in words."""
    from dialframe.compliance.checks.reading import graded

    return graded(found, view, check.words)


def _is_told(check: Check, tally: Tally) -> bool:
    """Whether a check is in the report: always the first four, others where a rule asks for them."""
    return check.name in engine.ALWAYS or bool(tally.rules) or tally.left_out


def _row(check: Check, tally: Tally) -> dict[str, object]:
    """The counts of a check, by the columns of `result.CHECKS`."""
    told = dict.fromkeys(GRADES, 0)
    for (severity, _), (calls, _) in tally.counts.items():
        told[GRADES[severity]] += calls
    missing = sorted(
        (-calls, first, str(missing))
        for (severity, missing), (calls, first) in tally.counts.items()
        if GRADES[severity] == "not evaluable"
    )
    inputs = pd.Series(
        [-calls for calls, *_ in missing], index=pd.Index([name for *_, name in missing], dtype="str"), dtype="int64"
    )  # fmt: skip
    counts = {
        "checked": sum(told.values()), "pass": told["pass"], "violation": told["violation"],
        "uncertain": told["uncertain"], "not_evaluable": told["not evaluable"],
        "not_asked": told["not asked"],
    }  # fmt: skip
    return {
        "check": check.name, "title": check.title, "unit": f"{check.unit}s", **counts,
        "rule_id": ids(tally.rules), "citation": citations(tally.rules),
        "sentence": in_words(check.unit, counts, inputs),
    }  # fmt: skip


def _whole(run: Engine, name: str, frame: Callable[[View], pd.DataFrame]) -> pd.DataFrame:
    """A frame of every call, each looked at closely; the grades are those that were counted."""
    run.whole(name, *(("scrub_at_call",) if name == "listed_number" else ()))
    return frame(run.view)


def _federal_age(book: RuleBook, day: date) -> int:
    """How old a check may be by the federal rules where they are asked, in days; 31 elsewhere."""
    ages = [r.parameters.max_age_days for r in book.freshness(day) if r.jurisdiction == "US"]
    return min(ages, default=31)


def _coverage(run: Engine, book: RuleBook, leads: pd.DataFrame, now: datetime) -> Coverage:
    def numbers() -> pd.DataFrame:
        from dialframe.compliance.checks import scrub_coverage

        return scrub_coverage.numbers(run.view)

    covered = Coverage(
        numbers=Pending(numbers),
        calls=Pending(lambda: _whole(run, "scrub_at_call", in_time)),
        summary=Pending(lambda: summary(covered.numbers, people(leads, now), dialed(run.view))),
        as_of=moment(now).to_pydatetime(),
        max_age_days=_federal_age(book, moment(now).date()),
    )
    return covered


def _parts(run: Engine) -> Parts:
    """Frames of every further check, those of calls made when they are asked for."""
    view = run.view

    def of(
        check: str, make: Callable[[View], pd.DataFrame], columns: tuple[Column, ...]
    ) -> Pending[pd.DataFrame]:
        return Pending(lambda: make(view) if check in run.ran else shaped(pd.DataFrame(), columns))

    return Parts(
        {
            "attempts": Pending(
                lambda: (
                    _whole(run, "attempt_caps", _attempts)
                    if "attempt_caps" in run.ran
                    else _attempts_of_none(view)
                )
            ),
            "requests": of("internal_dnc", internal_dnc.requests, internal_dnc.COLUMNS),
            "abandonment": of("abandonment", abandonment.table, abandonment.COLUMNS),
            "consent": of("consent", consent.table, consent.COLUMNS),
            "records": Pending(lambda: _records(view, ran="records" in run.ran)),
            "retention": of("retention", retention.table, retention.COLUMNS),
            "emergencies": of("emergency", _emergencies, emergency.COLUMNS),
            "sectors": of("sector_ban", sector_ban.table, sector_ban.COLUMNS),
            "caller_ids": of("caller_id", caller_id.table, caller_id.COLUMNS),
            "recordings": of(
                "recording_consent", recording_consent.table, recording_consent.COLUMNS
            ),
            "voices": of("artificial_voice", artificial_voice.table, artificial_voice.COLUMNS),
            "not_asked": _not_asked(view),
            "unmapped": _unmapped(view),
        }
    )


def _attempts_of_none(view: View) -> pd.DataFrame:
    """Every graded call, where no rule of the book caps attempts."""
    rows = view.frame("""
        select call_id, to_number, campaign_id, at_utc as created_at, missing_input as missing,
          case when missing_input is null then 'pass' else 'not evaluable' end as grade,
          case when missing_input is null then 'no rule of those asked caps attempts where the number may be'
            else missing_input || ' is missing' end as reason
        from calls where graded order by call""")
    return shaped(rows, attempt_caps.COLUMNS)


def _attempts(view: View) -> pd.DataFrame:
    """Every graded call against the caps on attempts; one that no cap reaches passes and has no count."""
    rows = attempt_caps.CHECK.rows(view, "true")
    rest = view.frame("""
        select call, call_id, to_number, campaign_id, at_utc as created_at,
          case when n.case_id is null then 'pass' else 'not asked' end as grade,
          case when reached_network then 'no rule of those asked caps attempts where the number may be'
            else 'left out: the call never reached the network' end as reason
        from calls c left join not_asked n on n.case_id = c.case_id and n.check_name = 'attempt_caps'
        where graded and missing_input is null and call not in (select call from attempt_caps)""")
    both = pd.concat([rows, rest]) if len(rest) else rows
    return shaped(both.sort_values("call", kind="stable"), attempt_caps.COLUMNS)


def _records(view: View, *, ran: bool) -> pd.DataFrame:
    if not ran:
        view.con.execute(
            "create table records as select call, 3 as severity, []::integer[] as rules, null::varchar as missing, []::varchar[] as absent from calls where false"
        )
        view.con.execute(
            "create table records_graded as select call, null::bigint as case_id, rules, missing, severity as by_query, severity from records"
        )
        view.con.execute(
            "create table records_default as select null::bigint as case_id, 0 as severity, []::integer[] as rules, null::varchar as missing where false"
        )
    rows = records.CHECK.rows(view, "true")
    rest = view.frame("""
        select call, call_id, to_number, campaign_id, at_utc as created_at, d.rules,
          case when d.case_id is null then 2 else 0 end as severity,
          case when d.case_id is null then 'no rule of those asked says what a record of the call has to hold'
            else 'the stored record has every field' end as reason
        from calls c left join records_default d on d.case_id = c.case_id
        where graded and call not in (select call from records)""")
    if len(rest):
        rest["grade"] = [GRADES[int(n)] for n in rest["severity"]]
        rest["missing"] = (
            rest["grade"].eq("not evaluable").map({True: records.NO_RULE, False: None})
        )
        rows = pd.concat([rows, view.named(rest)])
    return shaped(rows.sort_values("call", kind="stable"), records.COLUMNS)


def _emergencies(view: View) -> pd.DataFrame:
    rows = emergency.CHECK.rows(view, "true")
    rest = view.frame("""
        select c.call, c.call_id, d.rules, d.severity, d.missing
        from calls c join emergency_default d using (case_id)
        where graded and call not in (select call from emergency)""")
    if len(rest):
        from dialframe.compliance.checks.reading import graded

        rows = pd.concat([rows, graded(rest, view, emergency.words)])
    return shaped(rows.sort_values("call", kind="stable"), emergency.COLUMNS)


def _not_asked(view: View) -> pd.DataFrame:
    """Jurisdictions that were left out of the audit, with the calls that their rules would reach."""
    if not view.db.rows["not_asked"]:
        return shaped(pd.DataFrame(), NOT_ASKED)
    found = view.frame("""
        with each as (
          select c.call, n.check_name, unnest(n.jurisdictions) as jurisdiction
          from calls c join not_asked n using (case_id) where c.graded
        )
        select jurisdiction, count(distinct call) as calls, string_agg(distinct check_name, ', ' order by check_name) as checks
        from each group by jurisdiction order by calls desc, jurisdiction""")
    return shaped(found, NOT_ASKED)


def _unmapped(view: View) -> pd.DataFrame:
    """Dispositions of which nobody said what they mean, those that read like a refusal first."""
    if not view.db.rows["words"]:
        return shaped(pd.DataFrame(), UNMAPPED)
    found = view.frame("""
        select c.disposition, count(*) as calls, any_value(w.like_refusal) as like_refusal
        from every_call c join words w on w.field = 'disposition' and w.word = c.disposition
        where c.seen and not w.is_mapped group by c.disposition order by like_refusal desc, calls desc, disposition""")
    return shaped(found, UNMAPPED)


def _gaps(view: View) -> tuple[str, ...]:
    """Why an audit says less than it seems to, where it has no calls."""
    row = view.con.execute(
        "select (select count(*) from calls where graded), (select count(*) from every_call where seen)"
    ).fetchone()
    graded_calls, stored = row if row is not None else (0, 0)
    if graded_calls:
        return ()
    if stored:
        return ("there is no outbound call in the period",)
    return ("there is no call in the store",)


def _by_rule(run: Engine) -> list[pd.DataFrame]:
    """Calls of each rule by grade, where a rule is counted by itself."""
    view = run.view
    queries = {
        "calling_hours": """
            select r.rule_id, m.severity, count(*) as calls from (
              select h.call, r.rule_id, max(h.severity) as severity from hours_by_rule h join rules r using (rule) group by all
            ) m join (select distinct rule_id from rules) r using (rule_id) group by all
            union all
            select r.rule_id, 0, count(*) from calls c join (select distinct case_id, rule_id from hours_rules join rules using (rule)) r using (case_id)
            where c.graded and c.missing_input is null and c.call not in (select call from hours_doubtful) group by all""",
        "attempt_caps": """
            select r.rule_id, b.severity, count(*) as calls from attempt_caps_by_rule b join rules r using (rule)
            where b.graded group by all""",
        "consent": """
            select r.rule_id, b.severity, count(*) as calls from consent_by_rule b join rules r using (rule) group by all
            union all
            select r.rule_id, 2, count(*) from calls c join case_rules k using (case_id) join consent_given g using (rule) join rules r using (rule)
            where c.graded and not k.lifted and g.missing is not null and c.missing_input is null
              and c.call not in (select call from consent_asked) group by all""",
    }  # fmt: skip
    found = []
    held = {
        "calling_hours": "hours_rules", "attempt_caps": "attempt_caps_by_rule", "consent": "consent_given",
    }  # fmt: skip
    for query in (q for name, q in queries.items() if name in run.ran and run.db.rows[held[name]]):
        rows = view.frame(f"""
            select rule_id, sum(calls) filter (severity <= 1) as pass, sum(calls) filter (severity = 4) as violation,
              sum(calls) filter (severity = 3) as uncertain, sum(calls) filter (severity = 2) as not_evaluable
            from ({query}) group by rule_id order by rule_id""")
        found.append(rows.fillna(0).astype(dict.fromkeys(RULES, "int64") | {"rule_id": "str"}))
    return found


def _rules(book: RuleBook, counts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Every rule that was asked, with the calls of each grade where it is counted by itself."""
    told = pd.concat([part for part in counts if len(part)] or list(counts), ignore_index=True)
    names = ("id", "title", "jurisdiction", "kind", "status", "force", "confidence", "citation")
    table = pd.DataFrame({name: [getattr(r, name) for r in book.rules] for name in names}).astype(
        "str"
    )
    merged = table.rename(columns={"id": "rule_id"}).merge(told, on="rule_id", how="left")
    for name in RULES:
        merged[name] = merged[name].astype("Int64")
    # What rests on no source that was read passes nothing for certain.
    weak = (merged["confidence"] == "low") & merged["pass"].notna()
    merged.loc[weak, "uncertain"] += merged.loc[weak, "pass"] + merged.loc[weak, "violation"]
    merged.loc[weak, ["pass", "violation"]] = 0
    return merged


def _require_known(declared: Declared, book: RuleBook) -> None:
    """A misspelled rule in a file of declared days would let calls on these days pass.

    Raises:
        ConfigError: A rule of the file is no rule on holidays of the book.
    """
    known = {rule.id for rule in books.load().of_kind(HolidayRule)}
    known |= {rule.id for rule in book.of_kind(HolidayRule)}
    odd = sorted(set(declared.days) - known)
    if odd:
        raise ConfigError(
            f"declared days: {odd[0]!r} is no rule on holidays; `dialframe rules list --kind "
            "holiday` shows them"
        )


def _require_order(since: datetime | None, until: datetime | None) -> None:
    """An empty period is a slip of the pen: no finding in it would be no result.

    Raises:
        ConfigError: The period ends before it begins.
    """
    if since is not None and until is not None and moment(until) <= moment(since):
        raise ConfigError(
            f"the period ends at {until:%Y-%m-%d %H:%M}, not after its begin at "
            f"{since:%Y-%m-%d %H:%M}; exchange the two"
        )


def first_day(view: View) -> date | None:
    """Day of the first call that was graded."""
    row = view.con.execute("select min(at_utc)::date from calls where graded").fetchone()
    return None if row is None else row[0]
