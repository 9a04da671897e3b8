"""The audit: every call, number and request held against the rules, with counts that add up.

An account of any size is audited by numbers: a check looks at the calls of one number at a time, except for shares of
abandoned calls and how far back records go, which are sums. So parts of the numbers may be audited apart, on an
executor, and their `Totals` added.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final
from weakref import finalize

import duckdb
import pandas as pd

from dialframe.compliance import dnc, findings, notes
from dialframe.compliance.checks import BY_NAME, CHECKS, GRADES, Check
from dialframe.compliance.engine import Engine
from dialframe.compliance.findings import FINDINGS, frame, shaped
from dialframe.compliance.result import CHECKS as CHECK_COLUMNS
from dialframe.compliance.result import Audit, Coverage, Parts, counted, in_words
from dialframe.compliance.rules.rule_model import citations, ids
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.compliance.tables import FRAMES, law_of, open_database, quoted
from dialframe.compliance.tables.intake import E164, moment
from dialframe.compliance.tables.query_tables import DEFAULT_AGE, Question, Tables
from dialframe.frames import Column

RULES: Final = ("pass", "violation", "uncertain", "not_evaluable")
FORCE: Final = "voluntary code"
#: Parts of an audit, and the check that each is the frame of.
PARTS: Final = {
    "attempts": "attempt_caps", "requests": "internal_dnc", "abandonment": "abandonment", "consent": "consent",
    "records": "records", "retention": "retention", "emergencies": "emergency", "sectors": "sector_ban",
    "caller_ids": "caller_id", "recordings": "recording_consent", "voices": "artificial_voice",
}  # fmt: skip
#: Checks in which a rule is counted by itself.
_BY_RULE: Final = ("calling_hours", "attempt_caps", "consent")
#: Grade, missing input and reason of calls that no rule of a check reaches, in frames that show every graded call.
_WITHOUT_RULE: Final = {
    "attempt_caps": ("pass", None, "no rule of those asked caps attempts where the number may be"),
    "records": ("not evaluable", "a rule on records for the place of the number",
                "no rule of those asked says what a record of the call has to hold"),
}  # fmt: skip
#: Checks over sums of calls, which no part can make alone.
_SUMMED: Final = ("abandonment", "retention")


@dataclass(slots=True)
class Totals:
    """What an audit of some numbers comes to: plain values that add up and travel between processes.

    Attributes:
        counts: Check, grade and missing input to how many calls, numbers or requests.
        rules: Check to the ids (of the tables) of the rules that reach anything of it.
        left_out: Checks of which a rule that was not asked would reach a call.
        by_rule: Rule id and grade to calls, where a rule is counted by itself.
        not_asked: Jurisdiction to calls and checks.
        unmapped: Disposition to calls, and whether it reads like a refusal.
        excluded: Reason to calls that are not graded.
        data: `graded` and `stored` calls, those of which an import screen is the newest record (`screened`), those
            that a callback was `due` for, and checks that count (`used`).
        days: Calls by rule, campaign and day, for shares of abandoned calls.
        oldest_at: The oldest stored call, UTC.
    """

    counts: Counter[tuple[str, str, str | None]] = field(default_factory=Counter)
    rules: dict[str, set[str]] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    by_rule: Counter[tuple[str, str]] = field(default_factory=Counter)
    not_asked: dict[str, tuple[int, frozenset[str]]] = field(default_factory=dict)
    unmapped: dict[str, tuple[int, bool]] = field(default_factory=dict)
    excluded: Counter[str] = field(default_factory=Counter)
    data: Counter[str] = field(default_factory=Counter)
    days: list[tuple[Any, ...]] = field(default_factory=list)
    oldest_at: datetime | None = None

    def add(self, other: Totals) -> None:
        """Add those of further numbers."""
        self.counts.update(other.counts)
        for check, rules in other.rules.items():
            self.rules.setdefault(check, set()).update(rules)
        self.left_out |= other.left_out
        self.by_rule.update(other.by_rule)
        for name, (calls, checks) in other.not_asked.items():
            before, named = self.not_asked.get(name, (0, frozenset()))
            self.not_asked[name] = before + calls, named | checks
        for code, (calls, like) in other.unmapped.items():
            before, was = self.unmapped.get(code, (0, False))
            self.unmapped[code] = before + calls, was or like
        self.excluded.update(other.excluded)
        self.data.update(other.data)
        self.days += other.days
        starts = [at for at in (self.oldest_at, other.oldest_at) if at is not None]
        self.oldest_at = min(starts, default=None)


def totals(engine: Engine, *, without: Sequence[str] = ()) -> Totals:
    """What an audit comes to whose checks were run."""
    result, db = Totals(), engine.db
    for check in (BY_NAME[name] for name in engine.ran if name not in without):
        table, number = (
            (f"{check.name}_grades", "sum(calls)") if check.by_call else (check.name, "count(*)")
        )
        rows = db.rows(f"""
            select grade::varchar, case when grade = 'not evaluable' then missing end, {number}::bigint from {table} group by all""")
        for grade, missing, calls in rows:
            result.counts[check.name, grade, missing] += calls
        reached = f"select distinct unnest(rules) from {table}"
        if check.by_call:
            reached = (
                f"select distinct rule from reach where check_name = '{check.name}' and not lifted"
            )
        result.rules[check.name] = {rule for (rule,) in db.rows(reached)}
    result.left_out = {name for (name,) in db.rows("select distinct check_name from not_asked")}
    for name in _BY_RULE:
        if name in engine.ran:
            rows = db.rows(f"""
                select r.rule_id, b.grade::varchar, sum(a.calls)::bigint from (
                  select question, rule_id, max(grade::grade) as grade from {name}_by_rule join rules using (rule) group by all
                ) b join {name}_asked a using (question) join rules r on r.rule = b.rule_id group by all""")
            for rule, grade, calls in rows:
                result.by_rule[rule, grade] += calls
    result.not_asked = {
        place: (calls, frozenset(checks.split(", "))) for place, calls, checks in db.rows("from not_asked_places")
    }  # fmt: skip
    result.unmapped = {code: (calls, bool(like)) for code, calls, like in db.rows("from unmapped")}
    result.excluded.update(dict(db.rows("select reason, calls from left_out order by place")))
    result.data.update(_data(engine))
    if "abandonment" in engine.ran:
        result.days = db.rows("from abandonment_days")
    ((result.oldest_at,),) = db.rows("select oldest_at from settings")
    return result


def _data(engine: Engine) -> dict[str, int]:
    due = screened = "0"
    if "scrub_at_call" in engine.ran:
        screened = """(select coalesce(sum(calls), 0)::bigint from scrub_at_call_grades
          where screen_is_newer and (answer is distinct from 'checked in time' or grade = 'uncertain'))"""
    if "calling_hours" in engine.ran and engine.db.rows("select 1 from due_callbacks limit 1"):
        due = f"""(select count(distinct c.call) from (select call, campaign_id, phone, at_utc from calls where graded) c
            asof join due_callbacks d on d.campaign_id = c.campaign_id and d.phone = c.phone and c.at_utc >= d.opens_at
            join {engine.calls_of("calling_hours")} m on m.call = c.call join calling_hours_grades g using (question)
            where c.at_utc <= d.scheduled_at + interval 60 minute and g.grade >= 'uncertain'::grade)"""
    ((graded, stored, of_screens, were_due, used),) = engine.db.rows(f"""
        select (select count(*) from calls where graded), (select count(*) from calls_in), {screened}, {due},
          (select count(*) from checks_in cross join settings s where phone is not null and listed is not null and checked_at <= s.as_of)""")
    return {
        "graded": graded,
        "stored": stored,
        "screened": of_screens,
        "due": were_due,
        "used": used,
    }


def audit(tables: Tables, question: Question) -> Audit:
    """Grade every outbound call, every callable number and every request not to be called.

    Args:
        tables: Name of a table of the account to its rows: `calls`, `leads`, `dnc_checks`, `callbacks`; what is not
            there is empty. A frame, an Arrow table, or the text of a DuckDB query. Requests not to be called, and
            attempts in a window, are looked for before the period too, so the calls should reach back as far as the
            records do.
        question: Which rules are asked, of which period, with which records of the firm.

    Returns:
        The audit.

    Raises:
        ConfigError: A table lacks a column, an instant or a moment has no time zone, a jurisdiction is not in the
            book, the period ends before it begins.

    Example:
        result = audit({"calls": calls, "leads": leads, "dnc_checks": checks}, Question(now=now, rules=["us"]))
        result.checks
    """
    engine = Engine(tables, question)
    engine.run()
    total = totals(engine)
    listed = Parts({
        "findings": partial(_findings, engine), "hours": partial(every_call, engine, "calling_hours"),
        "listed": partial(dnc.speaking, engine),
    })  # fmt: skip
    return _assemble_audit(
        question, engine, total, _advice(engine, question), frames=listed, coverage=_coverage(engine, tables),
        parts=Parts({name: partial(_part, engine, check) for name, check in PARTS.items()}),
        ledger=dnc.ledger_rows(engine),
    )  # fmt: skip


def audit_in_parts(
    tables: Tables, question: Question, *, parts: int, executor: Executor | None = None
) -> Audit:
    """The audit of tables of any size: in parts of the numbers, each with all calls of its numbers.

    Counts and findings are those of `audit`; frames of every call are not made, and no tables are kept for a pack
    that runs again.

    Args:
        tables: As `audit` takes them; large ones as the text of a query.
        question: What is asked.
        parts: How many parts.
        executor: What runs the parts; None: one after another.

    Returns:
        Counts, findings, coverage and notes of the whole.

    Raises:
        ConfigError: As `audit`.
        OSError: The disk is full.

    Example:
        from dialframe.flows.table_files import TableFiles
        leads.to_parquet("leads.parquet")
        checks.to_parquet("dnc_checks.parquet")
        tables = TableFiles(Path.cwd()).queries()
        compliance.audit_in_parts(tables, compliance.Question(now=now, rules=["us"]), parts=2)
    """
    folder = Path(tempfile.mkdtemp(prefix="dialframe-audit-"))
    try:
        question, repeated, rows = _split(tables, question, folder, parts)
        small = {name: given for name, given in tables.items() if not isinstance(given, str)}
        run = partial(_part_of, folder, small, question)
        total, ledger = Totals(), rows
        for each in (map if executor is None else executor.map)(run, range(parts)):
            total.add(each)
        total.excluded["second row of a call that is already counted"] += repeated
        _add_sums(question, total)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    read = partial(_read_rows, folder)
    nothing = {
        name: shaped(pd.DataFrame(), BY_NAME[check].columns) for name, check in PARTS.items()
    }
    numbers = Parts({
        "numbers": partial(read, "numbers", FRAMES["scrub_coverage"], "1"), "calls": shaped(pd.DataFrame(), FRAMES["scrub_at_call"]),
        "summary": shaped(pd.DataFrame(), FRAMES["coverage_summary"]),
    })  # fmt: skip
    as_of = moment(question.now).to_pydatetime()
    frames = Parts({
        "findings": partial(read, "findings", FINDINGS, _ORDER), "hours": shaped(pd.DataFrame(), FRAMES["calling_hours"]),
        "listed": shaped(pd.DataFrame(), FRAMES["listed_number"]),
    })  # fmt: skip
    coverage = Coverage(
        frames=numbers, as_of=as_of, max_age_days=federal_age(question.book, as_of.date())
    )
    result = _assemble_audit(
        question,
        None,
        total,
        None,
        frames=frames,
        coverage=coverage,
        parts=Parts(nothing),
        ledger=ledger,
    )
    # Findings are read from there for as long as the audit is held.
    finalize(frames, shutil.rmtree, folder, ignore_errors=True)
    return result


#: Findings of all parts, gravest first.
_ORDER: Final = "case grade when 'violation' then 0 when 'uncertain' then 1 else 2 end, \"check\", \"at\", call_id"


def _split(
    tables: Tables, question: Question, folder: Path, parts: int
) -> tuple[Question, int, int]:
    """Lay the rows of each part into a folder of its own; what only all calls together tell is put into the question."""
    with open_database(2) as con:
        con.execute("set preserve_insertion_order = false")
        con.execute(E164)
        for name, number in (("leads", "phone"), ("dnc_checks", "phone")):
            _lay(
                con,
                f"select *, hash({number}) % {parts} as part from ({tables[name]})",
                folder / name,
            )
        # Of several rows of a call the last counts, whichever part its number is in.
        con.execute(
            f"create view given as select *, row_number() over () as place from ({tables['calls']})"
        )
        con.execute(
            "create table later as select id, max(place) as last from given where id is not null group by id having count(*) > 1"
        )
        _lay(con, f"""
            select g.* exclude (place), hash(case when lower(trim(direction)) = 'inbound' then from_number else to_number end) % {parts} as part
            from given g left join later l on l.id = g.id where l.id is null or g.place = l.last""", folder / "calls")  # fmt: skip
        ((every, answered, kept),) = con.execute("""
            select count(*), coalesce(bool_or(answered_at is not null), false), count(*) filter (l.id is null or g.place = l.last)
            from given g left join later l on l.id = g.id""").fetchall()  # fmt: skip
        said = con.execute(
            "select distinct disposition, answered_at is not null from given where disposition is not null"
        ).fetchall()
        ((ledger,),) = con.execute(f"select count(*) from ({tables['dnc_checks']})").fetchall()
    words = question.outcomes_of or {}
    known = frozenset(
        words[code]
        for code, was_answered in said
        if code in words and (was_answered or words[code] == "dropped")
    )
    return (
        replace(question, tells_answers=answered, known_outcomes=known),
        every - kept,
        int(ledger),
    )


def _lay(con: duckdb.DuckDBPyConnection, query: str, folder: Path) -> None:
    con.execute(f"copy ({query}) to {quoted(folder)} (format parquet, partition_by (part))")


def _part_of(folder: Path, small: Tables, question: Question, part: int) -> Totals:
    """Audit one part: its totals; its findings and numbers go into files."""
    given: dict[str, Any] = dict(small)
    for name in ("calls", "leads", "dnc_checks"):
        files = sorted((folder / name / f"part={part}").glob("*.parquet"))
        if files:
            given[name] = (
                f"select * from read_parquet([{', '.join(map(quoted, files))}], hive_partitioning = false)"
            )
    engine = Engine(given, question)
    engine.run()
    findings.make(engine, without=_SUMMED)
    for name, query in (("findings", "from findings"), ("numbers", dnc.NUMBERS)):
        (folder / name).mkdir(exist_ok=True)
        engine.con.execute(
            f"copy ({query}) to {quoted(folder / name / f'{part:04}.parquet')} (format parquet)"
        )
    return totals(engine, without=_SUMMED)


def _add_sums(question: Question, total: Totals) -> None:
    """The checks over sums of all parts."""
    engine = Engine({}, question)
    engine.db.run(law_of("abandonment")[0])
    if total.days:
        marks = ", ".join("?" * len(total.days[0]))
        engine.con.executemany(f"insert into abandonment_days values ({marks})", total.days)
    engine.con.execute("update settings set oldest_at = ?", [total.oldest_at])
    asked = {
        name
        for (name,) in engine.db.rows(
            "select distinct check_name from asked_by join rules using (rule) where asked"
        )
    }
    for name in _SUMMED:
        if name in asked:
            engine.settle(name)
            engine.ran.append(name)
    sums = totals(engine)
    total.counts.update(sums.counts)
    total.rules |= {name: rules for name, rules in sums.rules.items() if name in _SUMMED}


def _read_rows(folder: Path, name: str, columns: Sequence[Column], order: str) -> pd.DataFrame:
    """Rows of all parts as a frame."""
    with open_database(1) as con:
        rows = con.execute(
            f"select * from read_parquet('{folder}/{name}/*.parquet') order by {order}"
        ).df()
    for column in columns:
        if column.kind == "instant":
            rows[column.name] = (
                rows[column.name].dt.tz_localize("UTC").astype("datetime64[us, UTC]")
            )
    return shaped(rows, tuple(columns))


def _findings(engine: Engine) -> pd.DataFrame:
    findings.make(engine)
    return frame(engine, "from findings", FINDINGS)


def every_call(engine: Engine, name: str) -> pd.DataFrame:
    """Every graded call against a check, in words."""
    check = BY_NAME[name]
    rows = findings.rows(engine, check, "true", by_rule=name == "consent")
    if name in _WITHOUT_RULE:
        rows = f"from ({rows}) union all by name {_unreached_query(engine, name)} order by call"
    elif name == "calling_hours":
        rows = f"""
            select t.*, case when t.grade <> 'not evaluable' or t.rule_id is not null then n.local_minute end as local_minute from ({rows}) t left join (
              -- In the zone whose clock is furthest from the middle of the day.
              select c.call, arg_max(minute, abs(minute - 870))::bigint as local_minute from (
                select c.call, hour(c.at_utc + o.utc_offset) * 60 + minute(c.at_utc + o.utc_offset) as minute
                from calls c join place_zones z using (place) join offsets o on o.zone = z.zone and c.at_utc >= o.since and c.at_utc < o.until
              ) c group by c.call) n using (call) order by call"""
    return frame(engine, rows, check.columns)


def _unreached_query(engine: Engine, name: str) -> str:
    """The query of graded calls that no rule of a check reaches: a table of calls drops none."""
    grade, missing, reason = _WITHOUT_RULE[name]
    graded = (
        f"select m.call from {engine.calls_of(name)} m join {name}_grades using (question)"
        if name in engine.ran
        else "select null limit 0"
    )
    # What never reached the network is no attempt.
    attempts = " and reached_network" if name == "attempt_caps" else ""
    return f"""
        select call, call_id, to_number, campaign_id, at_utc as created_at, {quoted(reason)} as reason,
          {quoted(grade)} as grade, {"null" if missing is None else quoted(missing)} as missing
        from calls where graded and call not in ({graded}){attempts}"""


def _part(engine: Engine, name: str) -> pd.DataFrame:
    """The frame of a further check."""
    check = BY_NAME[name]
    if name not in engine.ran:
        rows = f"{_unreached_query(engine, name)} order by call" if name in _WITHOUT_RULE else ""
        return (
            frame(engine, rows, check.columns) if rows else shaped(pd.DataFrame(), check.columns)
        )
    return (
        every_call(engine, name)
        if check.by_call
        else frame(engine, findings.items(engine, check), check.columns)
    )


def _coverage(engine: Engine, tables: Tables) -> Coverage:
    as_of, book = moment(engine.question.now).to_pydatetime(), engine.question.book
    frames = Parts({
        "numbers": lambda: dnc.numbers(engine), "calls": lambda: dnc.in_time(engine),
        "summary": lambda: dnc.summary(frames["numbers"], dnc.people(dnc.frame_of(tables, "leads"), as_of), dnc.dialed(engine)),
    })  # fmt: skip
    return Coverage(frames=frames, as_of=as_of, max_age_days=federal_age(book, as_of.date()))


def federal_age(book: RuleBook, day: date) -> int:
    """How old a check may be by the federal rules where they are asked, in days; the default age elsewhere."""
    # 16 CFR 310.4(b)(3)(iv), 47 CFR 64.1200(c)(2)(i)(D): 31 days.
    ages = [r.parameters.max_age_days for r in book.freshness(day) if r.jurisdiction == "US"]
    return min(ages, default=DEFAULT_AGE.days)


# Voluntary codes are evaluated like rules and kept apart from them. A code binds the firms that joined it. So it is
# evaluated for every call that it reaches, and what is found stands in tables of its own (`advisory`, `advisory_checks`)
# whose column `force` says "voluntary code". Nothing there counts among the violations of an audit. A firm that holds
# itself to a code names the rule by its id (`rules=["br-hours"]`), or adopts it in its own file (`adopt = true`).


def _advice(engine: Engine, question: Question) -> Audit | None:
    """The audit by voluntary codes of the calls that they reach; None where they reach none."""
    codes = question.book.codes()
    if not codes.rules:
        return None
    places = ", ".join(quoted(rule.jurisdiction) for rule in codes.rules)
    reached = f"""select c.phone from calls c join places p using (place)
        where c.missing_input is null and list_has_any(p.regions, [{places}])"""
    # Most codes reach no call of an account, and a second audit would find nothing.
    if not engine.db.rows(f"{reached} limit 1"):
        return None
    near = engine.frame(f"""
        select i.* exclude (call, to_phone, recorded), i.recorded as recording from calls_in i left join repeated_ids d on d.id = i.id
        where (d.id is null or i.call = d.last_call)
          and case when lower(trim(direction)) = 'inbound' then e164(from_number) else to_phone end in ({reached}) order by call""")
    rest = {
        name: engine.frame(f"select * exclude ({added}) from {made}")
        for name, made, added in (
            ("leads", "leads_in", "lead, phone_key"), ("dnc_checks", "checks_in", "check_no, phone_key"),
            ("callbacks", "callbacks_in", "callback_no"),
        )
    }  # fmt: skip
    return audit({"calls": near, **rest}, question.by_codes())


def _advice_parts(
    advice: Audit | None, codes: RuleBook
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Parts `advisory` and `advisory_checks`, and what is noted of them."""
    of_findings, of_checks = (*FRAMES["force"], *FINDINGS), (*FRAMES["force"], *CHECK_COLUMNS)
    if advice is None:
        nothing = pd.DataFrame()
        return {
            "advisory": shaped(nothing, of_findings),
            "advisory_checks": shaped(nothing, of_checks),
        }, []
    # Checks that no code asks for say nothing here.
    checks = advice.checks[advice.checks["rule_id"] != ""]
    rows = advice.findings[advice.findings["check"].isin(checks["check"])]
    note = (
        f"Voluntary codes ({', '.join(rule.id for rule in codes.rules)}) were evaluated as advice, "
        f"apart from the law: {counted(int(checks['violation'].sum()), 'departure')}. They count as "
        "violations only for a firm that names the rule by its id or adopts it in its own file."
    )
    parts = {
        "advisory": shaped(rows.assign(force=FORCE), of_findings),
        "advisory_checks": shaped(checks.assign(force=FORCE), of_checks),
    }
    return parts, [note]


def _assemble_audit(
    question: Question, engine: Engine | None, total: Totals, advice: Audit | None, *, frames: Parts, coverage: Coverage, parts: Parts, ledger: int,
) -> Audit:  # fmt: skip
    """An audit from its totals."""
    book, at = question.book, moment(question.now)
    reported = [check for check in CHECKS if _is_reported(check, total)]
    advised, advice_notes = _advice_parts(advice, book.codes())
    not_asked = shaped(pd.DataFrame(
        [(place, calls, ", ".join(sorted(checks))) for place, (calls, checks) in sorted(total.not_asked.items(), key=lambda each: (-each[1][0], each[0]))],
        columns=["jurisdiction", "calls", "checks"]), FRAMES["not_asked"])  # fmt: skip
    # What may be a refusal first.
    codes = sorted(total.unmapped.items(), key=lambda each: (not each[1][1], -each[1][0], each[0]))
    unmapped = shaped(
        pd.DataFrame(
            [(code, *values) for code, values in codes],
            columns=["disposition", "calls", "like_refusal"],
        ),
        FRAMES["unmapped"],
    )
    more = {
        "not_asked": not_asked, "unmapped": unmapped, "unanswered": _count_missing_inputs(total, reported),
        "rules": lambda: _rules(book, total, advice),
    }  # fmt: skip
    return Audit(
        frames=frames,
        checks=shaped(pd.DataFrame([_row(check, total, question) for check in reported]), CHECK_COLUMNS),
        coverage=coverage,
        excluded=dict(total.excluded),
        rulebook_version=book.version,
        rulebook_sha256=book.sha256,
        as_of=at.to_pydatetime(),
        notes=(
            *notes.LIMITS,
            *notes.about_book(book, at),
            *notes.about_not_asked(not_asked),
            *notes.about_declared(book, question.declared),
            *advice_notes,
            *notes.about_data(total.data, ledger),
            *notes.about_unmapped(unmapped),
            *notes.about_requests(question.events),
            *notes.about_states(question.states),
            *notes.about_consents(question.consents, question.recorded_consents),
        ),
        parts=parts.joined(advised).joined(more),
        since=question.since,
        until=question.until,
        taxonomy=question.taxonomy,
        data_version=question.data_version,
        gaps=_gaps(total.data),
        engine=engine,
    )  # fmt: skip


def _is_reported(check: Check, total: Totals) -> bool:
    """Whether a check is in the report: always the first four, others where a rule asks for them; a count of nothing would read like a pass."""
    return check.always or bool(total.rules.get(check.name)) or check.name in total.left_out


def _count_missing_inputs(total: Totals, reported: Sequence[Check]) -> pd.DataFrame:
    """How many of each check are not evaluable, by the missing input."""
    rows = [
        {"check": check.name, "missing": missing, "number": number}
        for check in reported
        for missing, number in _missing(check, total)
    ]
    return shaped(pd.DataFrame(rows), FRAMES["unanswered"])


def _missing(check: Check, total: Totals) -> list[tuple[str, int]]:
    """Missing inputs of a check with how many wait for each, the most first."""
    missing = [
        (str(name), number)
        for (which, grade, name), number in total.counts.items()
        if which == check.name and grade == "not evaluable"
    ]
    return sorted(missing, key=lambda each: (-each[1], each[0]))


def _gaps(data: Mapping[str, int]) -> tuple[str, ...]:
    """Why an audit says less than it seems to, where it has no calls."""
    if data["graded"]:
        return ()
    return ("there is no outbound call in the period" if data["stored"] else "there is no call in the store",)  # fmt: skip


def _row(check: Check, total: Totals, question: Question) -> dict[str, object]:
    """The counts of a check, by the columns of `result.CHECKS`."""
    law = question.law
    places = {each.rule: place for place, each in enumerate(law.rules)}
    rules = {
        law.by_rule[r].id: law.by_rule[r]
        for r in sorted(total.rules.get(check.name, ()), key=places.__getitem__)
    }
    by_grade = dict.fromkeys(GRADES, 0)
    for (name, grade, _), number in total.counts.items():
        by_grade[grade] += number if name == check.name else 0
    missing = _missing(check, total)
    inputs = pd.Series(
        [n for _, n in missing],
        index=pd.Index([name for name, _ in missing], dtype="str"),
        dtype="int64",
    )
    counts = {
        "checked": sum(by_grade.values()), "pass": by_grade["pass"], "violation": by_grade["violation"],
        "uncertain": by_grade["uncertain"], "not_evaluable": by_grade["not evaluable"], "not_asked": by_grade["not asked"],
    }  # fmt: skip
    return {
        "check": check.name, "title": check.title, "unit": f"{check.unit}s", **counts,
        "rule_id": ids(list(rules.values())), "citation": citations(list(rules.values())),
        "sentence": in_words(check.unit, counts, inputs),
    }  # fmt: skip


def _rules(book: RuleBook, total: Totals, advice: Audit | None) -> pd.DataFrame:
    """Every rule that was asked, with the calls of each grade where it is counted by itself."""
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
    counted_rules = {rule for rule, _ in total.by_rule}
    rows = {
        rule: {grade.replace(" ", "_"): total.by_rule[rule, grade] for grade in GRADES}
        for rule in counted_rules
    }
    if advice is not None:
        of_codes = advice.parts["rules"].set_index("rule_id")
        rows |= {
            rule: dict(of_codes.loc[rule, list(RULES)])
            for rule in of_codes.index
            if pd.notna(of_codes.loc[rule, "pass"])
        }
    # A rule that is not counted by itself keeps empty counts: zeros would say that no call broke it.
    for name in RULES:
        table[name] = pd.array(
            [rows[rule].get(name) if rule in rows else None for rule in table["id"]], dtype="Int64"
        )
    # What rests on no source that was read passes nothing for certain.
    weak = ((table["confidence"] == "low") & table["pass"].notna()).to_numpy(dtype=bool)
    table.loc[weak, "uncertain"] += table.loc[weak, "pass"] + table.loc[weak, "violation"]
    table.loc[weak, ["pass", "violation"]] = 0
    return table.rename(columns={"id": "rule_id"})
