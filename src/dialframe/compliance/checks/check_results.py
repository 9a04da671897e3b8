"""Reads what a query of a check found: counts, rows in frames, and what every row is shown with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from dialframe.compliance.checks.check_reasons import Values, reasons, texts
from dialframe.compliance.rules.rule_model import citations, ids
from dialframe.compliance.tables import FRAMES, Database, query
from dialframe.frames import Column
from dialframe.frames.frame_schemas import DTYPES

if TYPE_CHECKING:
    import duckdb

    from dialframe.compliance.tables.law import Law

# A grade speaks of one check on one row, in the light of the data that was given. There is no grade
# that says more than `pass`.

#: The data shows that the condition of the check was met.
PASSED: Final = "pass"
#: The data shows that it was not met, wherever the number may be.
VIOLATION: Final = "violation"
#: Met in one reading of the data and not in another.
UNCERTAIN: Final = "uncertain"
#: A rule that would reach it was left out of the audit.
NOT_ASKED: Final = "not asked"
#: An input is missing; the reason names it.
NOT_EVALUABLE: Final = "not evaluable"

#: A call to a number that was known to be listed, or after a request not to be called.
PROVEN: Final = "proven"
#: A call in the time in which the number became listed; when in it, nobody knows.
INDETERMINATE: Final = "indeterminate"
#: A call that nothing in the data speaks against.
CLEAR: Final = "clear"

#: Grades in order of severity: what a query says as a number.
GRADES: Final = (PASSED, NOT_ASKED, NOT_EVALUABLE, UNCERTAIN, VIOLATION)
#: Severity of an uncertain row.
UNCERTAIN_AT: Final = GRADES.index(UNCERTAIN)
_OPEN: Final = GRADES.index(NOT_EVALUABLE)
#: Inputs without which a call cannot be placed at all, in words.
BASIC: Final[Mapping[str, str]] = {
    "to_number": "to_number is missing or no number",
    "created_at": "created_at is missing, so the start of the call is unknown",
    "direction": "direction is neither inbound nor outbound",
}
#: What is missing where the firm has to say which lists the service's answers cover.
UNDECLARED: Final = "a practice file that says which lists the service covers"
#: Calls and leads, from the first that is stored, that are shown by themselves where nothing was declared.
EXAMPLES: Final = 20_000


#: Start of a call in each zone where the number may be, with offset and zone; seconds are cut.
_LOCAL_TIMES: Final = """
  select r.call, string_agg(
    strftime(r.at_utc + to_microseconds(o.offset_us), '%Y-%m-%dT%H:%M:%S')
      || case when o.offset_us < 0 then '-' else '+' end
      || lpad((abs(o.offset_us) // 3600000000)::varchar, 2, '0') || ':'
      || lpad((abs(o.offset_us) // 60000000 % 60)::varchar, 2, '0') || ' ' || z.zone, '; ' order by z.ord) as local_times
  from shown r join place_zones z using (place)
  join offsets o on o.zone = z.zone and r.at_utc >= o.since and r.at_utc < o.until group by r.call"""


@dataclass(frozen=True, slots=True)
class View:
    """The tables of an audit, and the rules behind their numbers."""

    db: Database
    law: Law

    @property
    def con(self) -> duckdb.DuckDBPyConnection:
        """The connection to the tables."""
        return self.db.con

    def frame(self, query: str) -> pd.DataFrame:
        """Rows of a query; instants are UTC, and a list is a tuple, empty where there is none."""
        result = self.con.execute(query)
        lists = [name for name, kind, *_ in result.description if str(kind).endswith("[]")]
        frame = result.df()
        for name in lists:
            frame[name] = [tuple(v) if hasattr(v, "__len__") else () for v in frame[name]]
        for name in frame.columns:
            if pd.api.types.is_datetime64_dtype(frame[name]):
                frame[name] = frame[name].dt.tz_localize("UTC").astype("datetime64[us, UTC]")
        return frame

    def run(self, name: str) -> None:
        """Run the query of a check."""
        self.db.run(query(name, "checks"))

    def left_out(self) -> dict[str, int]:
        """Reason to number of calls that are not graded, in the order of a report."""
        # Left out is no grade: who called in was not called, and a call of later is none yet.
        rows = self.con.execute("select reason, calls from left_out order by place").fetchall()
        return {reason: int(calls) for reason, calls in rows}

    def named(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The same rows with `rule_id` and `citation` from their rule numbers."""
        # Thousands of rows rest on the same few rules.
        laws = {numbers: self.law.named(numbers) for numbers in set(rows["rules"])}
        for name, words_of in (("rule_id", ids), ("citation", citations)):
            words = {numbers: words_of(rules) or None for numbers, rules in laws.items()}
            values = [words[numbers] for numbers in rows["rules"]]
            rows = rows.assign(**{name: pd.Series(values, index=rows.index, dtype="str")})
        return rows


@dataclass(frozen=True, slots=True)
class Check:
    """One check: its query, what it counts, and its words; what it asks stands in `words.toml`.

    Attributes:
        name: Name of the query's file, of its table, and of its columns in `FRAMES`.
        unit: What it counts, in the singular.
        words: Adds `reason`, `evidence` and `detail` to rows; None: the reasons of `words.toml`.
        values: What these reasons name beside columns and parameters.
        by_call: Whether its rows are calls.
        attempts_only: Whether calls that never reached the network are left out.
        grouped: Whether its query grades *situations*, each for all calls of a case of which every
            rule says the same: `_situations` with their first call, number of calls and all of them
            (`members`), `_verdicts` with their grade, and `_members`, which call is in which.
        answers: Whether its query gives one answer by each rule (`_by_rule`): verdicts follow from these.
    """

    name: str
    unit: str = "call"
    words: Callable[[pd.DataFrame, View], pd.DataFrame] | None = None
    values: Values = lambda row, laws: {}  # noqa: ARG005 - most name nothing else
    by_call: bool = True
    attempts_only: bool = False
    grouped: bool = False
    answers: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of its frame."""
        return FRAMES.get(self.name, FRAMES["of_call"])

    @property
    def whole(self) -> Sequence[str]:
        """Missing inputs that the whole audit lacks: such calls are counted, not listed."""
        return texts()[self.name].lacking

    def worded(self, rows: pd.DataFrame, view: View) -> pd.DataFrame:
        """Rows with their grade, rules and words."""
        return graded(rows, view, self.words or self._reasons)

    def _reasons(self, rows: pd.DataFrame, view: View) -> pd.DataFrame:
        worded = rows.assign(reason=reasons(self.name, rows, view.law, values=self.values))
        return basic_words(worded) if "missing_input" in rows else worded

    @property
    def title(self) -> str:
        """What it asks."""
        return texts()[self.name].title

    def _answering(self) -> str:
        """The query that joins the answers of rules: the gravest grade counts, and the answer of its first rule."""
        return f"""
            create or replace view {self.name}_members as
            -- Empty without {self.name}_situations.
            select unnest(members) as call, situation from {self.name}_situations;
            create or replace table {self.name}_verdicts as
            -- Empty without {self.name}_by_rule.
            with worst as (select situation, max(severity) as severity from {self.name}_by_rule group by situation)
            select w.situation, w.severity, list(r.rule order by r.rule) as rules, arg_min(r.missing, r.rule) as missing,
              arg_min(r.answer, r.rule) as answer, arg_min(r.evidence, r.rule) as evidence
            from worst w join {self.name}_by_rule r on r.situation = w.situation and r.severity = w.severity
            group by w.situation, w.severity;
            create or replace view {self.name} as
            -- Empty without {self.name}_members, {self.name}_verdicts.
            select m.call, v.* exclude (situation) from {self.name}_members m join {self.name}_verdicts v using (situation);
            -- No case alone decides: where no rule reaches a call nothing is said of it.
            create or replace table {self.name}_default as
            select null::bigint as case_id, 0 as severity, []::integer[] as rules, null::varchar as missing where false;"""

    def settle(self, view: View) -> None:
        """Run the query, and settle what passes nothing for certain."""
        view.run(self.name)
        view.db.run(self.settling())

    def settling(self) -> str:
        """The query that takes a grade back: `uncertain` by a rule without a source, `not asked` where a rule was left out."""
        if not self.by_call:
            every = "(select coalesce(list(rule), []) from rules where weak)"
            weak = f"(severity = 0 and list_has_any(rules, {every})) or (severity = 4 and list_has_all({every}, rules))"
            return f"""
            create or replace table {self.name} as
            -- Empty without {self.name}.
            select * replace (case when {weak} then 3 else severity end as severity), severity as by_query from {self.name};"""
        # Neither an unread source nor a rule that was left out of the audit lets a call pass.
        taken = """t.missing, t.severity as by_query, t.rules as query_rules,
              case when t.severity = 0 and k.case_id is not null then k.rules else t.rules end as rules,
              case when t.severity = 0 and k.case_id is not null then 3
                when t.severity = 4 and t.rules <> [] and list_has_all(k.rules, t.rules) then 3
                when n.case_id is not null and (t.severity = 0 or (t.severity = 2 and t.rules = []))
                then 1 else t.severity end as severity"""
        beside = f"""left join not_asked n on n.case_id = c.case_id and n.check_name = '{self.name}'
            left join weak_cases k on k.case_id = c.case_id and k.check_name = '{self.name}';"""
        if self.grouped:
            return f"""{self._answering() if self.answers else ""}
            create or replace table {self.name}_grades as
            -- Empty without {self.name}_situations.
            select c.* exclude (members), {taken}
            from {self.name}_situations c join {self.name}_verdicts t using (situation) {beside}
            create or replace view {self.name}_graded as
            select m.call, g.case_id, g.missing, g.by_query, g.query_rules, g.rules, g.severity
            from {self.name}_members m join {self.name}_grades g using (situation);"""
        return f"""
            insert into {self.name} by name
            -- Empty without calls, weak_cases, {self.name}_default.
            select c.call, 0 as severity, d.rules, null as missing
            from calls c join weak_cases k on k.case_id = c.case_id and k.check_name = '{self.name}'
            join {self.name}_default d on d.case_id = c.case_id and d.severity = 0
            where c.graded {"and attempt" if self.attempts_only else ""} and c.call not in (select call from {self.name});
            create or replace table {self.name}_graded as
            -- Empty without {self.name}.
            select t.call, c.case_id, {taken}
            from {self.name} t join calls c using (call) {beside}"""

    def lists(self, severity: int, missing: str | None) -> bool:
        """Whether rows of a grade are findings, each for itself."""
        return severity > 1 and (missing or "") not in ("-", *self.whole)

    def listed(self, view: View, missing: str, position: str) -> str:
        """The condition on the missing input of rows that are findings, each for itself.

        Where the firm declared no list at all, that is what is missing nearly everywhere: the rows
        of the first calls or leads say so, and all are counted. Whatever the parts of an audit,
        these are the same rows.
        """
        names = ", ".join(f"'{name}'" for name in ("-", *self.whole))
        condition = f"coalesce({missing}, '') not in ({names})"
        if view.law.practice.covers:
            return condition
        return f"{condition} and (coalesce({missing}, '') <> '{UNDECLARED}' or {position} < {EXAMPLES})"

    def sums(self) -> str:
        """The query of what was looked at, by `case_id, severity, missing, rules`, with `calls` and `first`."""
        if self.grouped:
            return f"""
            select '{self.name}' as name, case_id, severity, missing, query_rules as rules, calls, first from {self.name}_grades"""
        if self.by_call:
            return f"""
            select '{self.name}' as name, case_id, severity, missing, query_rules as rules, count(*) as calls, min(call) as first
            from {self.name}_graded group by all"""
        return f"""
            select '{self.name}' as name, null::bigint as case_id, severity, missing, rules, count(*) as calls, 0 as first
            from {self.name} group by all"""

    @property
    def kept(self) -> str:
        """The table that has a row if anything was looked at."""
        if self.by_call:
            return f"{self.name}_{'grades' if self.grouped else 'graded'}"
        return self.name

    def rows(self, view: View, where: str = "severity > 1") -> pd.DataFrame:
        """Rows of calls in words: those of a severity, or all where every call was looked at.

        Returns:
            The query's own columns beside `call_id, lead_id, to_number, campaign_id, created_at,
            local_times, zones, grade, rule_id, citation, reason, evidence, detail`.
        """
        view.con.execute(f"""
            create or replace table shown as
            select g.call, c.place, c.at_utc from {self.name}_graded g join calls c using (call) where {where}""")
        rows = view.frame(f"""
            with times as ({_LOCAL_TIMES})
            select t.* exclude (severity, call), g.call, g.severity, g.by_query, g.rules as weak_rules, c.call_id, c.to_number, c.campaign_id, c.at_utc as created_at, c.missing_input,
              c.reached_network, c.phone as phone_key, p.zones, p.source as zone_source, p.confidence as zone_confidence, p.reason as place_reason,
              p.regions, w.local_times, l.lead_id, u.lifted
            from shown k join {self.name} t using (call) join {self.name}_graded g using (call) join calls c using (call)
            left join places p on p.place = c.place left join times w using (call) left join call_leads l using (call)
            left join situations u on u.situation = c.situation
            order by g.call""")
        return self.worded(rows, view)

    def table(self, view: View) -> pd.DataFrame:
        """Everything that was looked at in words, columns `columns`."""
        if self.by_call:
            return shaped(self.rows(view, "true"), self.columns)
        rows = view.frame(f"select * from {self.name} order by place")
        return shaped(self.worded(rows, view), self.columns)


@dataclass(slots=True)
class Tally:
    """What a check counts.

    Attributes:
        counts: Severity and missing input to how many calls, numbers or whatever, and the first of them.
        rules: Numbers of the rules that reach anything that was checked.
        listed: Whether anything did not pass that is shown by itself.
        left_out: Whether a rule that was not asked would reach any call.
    """

    counts: dict[tuple[int, str | None], tuple[int, int]]
    rules: tuple[int, ...]
    listed: bool
    left_out: bool


def tallied(checks: Sequence[Check], view: View) -> dict[str, Tally]:
    """Counts of checks that were run, by their names: what was looked at, and what a case decides for the rest."""
    rows = view.db.rows
    held = [c for c in checks if rows[c.kept]]
    defaults = [c.name for c in checks if c.by_call and rows[f"{c.name}_default"]]
    looked = _rows_of(view, [c.sums() for c in held])
    decided = _rows_of(
        view,
        [f"select '{n}' as name, case_id, severity, missing, rules from {n}_default" for n in defaults],
    )  # fmt: skip
    # Calls that no query looked at are graded by their case: one row for thousands of them.
    cases = {
        case_id: ((calls, first), (attempts, first_attempt))
        for case_id, calls, first, attempts, first_attempt in view.con.execute("""
            select case_id, count(*), min(call), count(*) filter (attempt), min(call) filter (attempt) from calls
            where graded and missing_input is null group by case_id""").fetchall()
    }
    not_asked = (
        set(view.con.execute("select check_name, case_id from not_asked").fetchall())
        if rows["not_asked"]
        else set()
    )
    # One pass over the rows of all checks: a statement of its own for each costs more than its rows.
    by_check = {check.name: _Sums(check) for check in checks}
    for name, case_id, severity, missing, rules, calls, first in looked:
        by_check[name].add(severity, missing, rules, calls, first)
        by_check[name].is_listed |= by_check[name].check.lists(severity, missing)
        if case_id is not None:
            by_check[name].looked_at[case_id] += calls
    for name, case_id, severity, missing, rules in decided:
        if case_id in cases:
            by_check[name].decided.setdefault(case_id, []).append((severity, missing, rules))
    for sums in by_check.values():
        if sums.check.by_call:
            sums.close(cases, not_asked)
    return {name: sums.tally() for name, sums in by_check.items()}


def _rows_of(view: View, queries: Sequence[str]) -> list[tuple[Any, ...]]:
    return view.con.execute(" union all ".join(queries)).fetchall() if queries else []


class _Sums:
    """The sums of a check while they are taken."""

    def __init__(self, check: Check) -> None:
        self.check = check
        self.counts: dict[tuple[int, str | None], tuple[int, int]] = {}
        self.rules: set[int] = set()
        self.looked_at: Counter[int] = Counter()
        self.decided: dict[int, list[tuple[int, str | None, Sequence[int] | None]]] = {}
        self.is_listed = self.left_out = False

    def add(
        self,
        severity: int,
        missing: str | None,
        rules: Sequence[int] | None,
        calls: int,
        first: int,
    ) -> None:
        """Count calls of a grade."""
        key = (severity, missing if severity == _OPEN else None)
        before, earliest = self.counts.get(key, (0, first))
        self.counts[key] = (before + calls, min(earliest, first))
        self.rules.update(rules or ())

    def close(
        self,
        cases: Mapping[int, tuple[tuple[int, int], tuple[int, int]]],
        not_asked: Collection[tuple[str, int]],
    ) -> None:
        """Count the calls that were not looked at, as their cases decide."""
        self.left_out = any(name == self.check.name for name, _ in not_asked)
        for case_id, both in cases.items():
            calls, first = both[1 if self.check.attempts_only else 0]
            rest = calls - self.looked_at[case_id]
            is_left_out = (self.check.name, case_id) in not_asked
            decided = self.decided.get(case_id, [(0, None, [])] if is_left_out else [])
            # A rule that reaches a case is named, though every call of it was looked at.
            for severity, missing, rules in decided:
                self.rules.update(rules or ())
                if rest > 0:
                    key = 1 if not severity and is_left_out else severity
                    self.add(key, missing, (), rest, first)

    def tally(self) -> Tally:
        """The whole."""
        return Tally(self.counts, tuple(sorted(self.rules)), self.is_listed, self.left_out)


def graded(
    rows: pd.DataFrame, view: View, words: Callable[[pd.DataFrame, View], pd.DataFrame]
) -> pd.DataFrame:
    """Rows with their grade, rules and words."""
    weak = _weak(rows)
    if weak.any():
        rows = rows.assign(severity=rows["severity"].mask(weak, rows["by_query"]))
    rows = rows.assign(grade=[GRADES[int(n)] for n in rows["severity"]])
    # A missing input says something where it left the grade open, and nowhere else.
    rows["missing"] = rows["missing"].where(rows["severity"] == 2).astype("str")
    named = view.named(rows)
    for name in ("evidence", "detail", "reason"):
        if name not in named.columns:
            named[name] = pd.Series(None, index=named.index, dtype="str")
    named = words(named, view) if len(named) else named
    return _taken_back(named, weak, view) if weak.any() else named


def _weak(rows: pd.DataFrame) -> pd.Series:
    """Rows that pass or break a rule by their query and are uncertain because nobody read its source."""
    if "by_query" in rows:
        decided = rows["by_query"].isin([GRADES.index(PASSED), GRADES.index(VIOLATION)])
        return (rows["severity"] == UNCERTAIN_AT) & decided
    return pd.Series(data=False, index=rows.index)


def _taken_back(rows: pd.DataFrame, weak: pd.Series, view: View) -> pd.DataFrame:
    """The words of the query's own grade, and why it is uncertain nevertheless."""
    numbers = rows["weak_rules" if "weak_rules" in rows else "rules"]
    words: dict[tuple[int, ...], tuple[str, str, str]] = {}
    reasons = [name for name in ("reason", "plain_reason") if name in rows]
    columns: dict[str, list[object]] = {
        name: rows[name].tolist() for name in (*reasons, "rule_id", "citation")
    }
    for row in weak.to_numpy().nonzero()[0]:
        key = tuple(numbers.iloc[row])
        if key not in words:
            rules = [r for r in view.law.named(key) if r.confidence == "low"]
            doubts = "; ".join(f"{rule.id}: {rule.ceiling_reason}" for rule in rules)
            words[key] = doubts, ids(rules), citations(rules)
        doubts, columns["rule_id"][row], columns["citation"][row] = words[key]
        for name in reasons:
            columns[name][row] = f"{columns[name][row]}; {doubts}"
    for name, values in columns.items():
        rows[name] = pd.Series(values, index=rows.index, dtype=rows[name].dtype)
    rows.loc[weak, "grade"], rows.loc[weak, "severity"] = UNCERTAIN, UNCERTAIN_AT
    return rows


def shaped(values: pd.DataFrame, columns: tuple[Column, ...]) -> pd.DataFrame:
    """A frame of exactly these columns, in this order, with the dtypes of their kinds."""
    # Frames without rows are asked for often, and are always the same.
    if values.empty:
        return _no_rows(columns).copy()
    return pd.DataFrame({column.name: _column(values, column) for column in columns})


@cache
def _no_rows(columns: tuple[Column, ...]) -> pd.DataFrame:
    return pd.DataFrame({c.name: pd.Series([], dtype=DTYPES[c.kind]) for c in columns})


def _column(values: pd.DataFrame, column: Column) -> Any:
    dtype = pd.api.types.pandas_dtype(DTYPES[column.kind])
    if column.name not in values.columns:
        return pd.Series(None, index=range(len(values)), dtype=dtype).array
    series = values[column.name]
    if series.dtype == dtype:
        return series.array
    if column.kind in ("integer", "number"):
        series = pd.to_numeric(series, errors="coerce")
    # Nulls of several kinds meet in one column: None stands for all of them.
    if column.kind in ("boolean", "text"):
        series = series.astype("object").where(series.notna(), None)
    return series.astype(dtype).array


def stamps(at: pd.Series) -> pd.Series:
    """Instants in words, UTC, seconds cut."""
    return at.dt.strftime("%Y-%m-%dT%H:%M:%SZ").astype("object")


def basic_words(rows: pd.DataFrame) -> pd.DataFrame:
    """Name the input without which a call cannot be placed."""
    lacking = rows["missing_input"].notna()
    if lacking.any():
        rows.loc[lacking, "reason"] = rows.loc[lacking, "missing_input"].map(BASIC)
    return rows
