"""Puts the grades of an audit into rows with sentences, by queries: one row for each call, number or request that is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from string import Formatter
from typing import Final

import pandas as pd

from dialframe.compliance.checks import BY_NAME, Check, texts
from dialframe.compliance.engine import Engine
from dialframe.compliance.tables import FRAMES, quoted
from dialframe.frames import Column
from dialframe.frames.frame_schemas import DTYPES

FINDINGS: Final = FRAMES["findings"]
#: Checks whose sentences name more than the answer of a rule, each by a query of its own.
_OWN_WORDS: Final = ("calling_hours", "listed_number", "scrub_at_call")
#: Inputs without which a call cannot be placed at all, in words.
_BASIC: Final = """case t.missing_input when 'to_number' then 'to_number is missing or no number'
      when 'created_at' then 'created_at is missing, so the start of the call is unknown'
      when 'direction' then 'direction is neither inbound nor outbound' end"""
#: A part of a reason that stands in brackets, with a bar between its alternatives.
_PART: Final = re.compile(r"\[([^\]]*)\]")

#: Codes of the records of a call as the firm wrote them: the window of a rule (`requested@14`) is none of theirs.
_RECORDS: Final = """coalesce(array_to_string(list_sort(list_distinct(
      list_transform(string_split(u.records, ', '), lambda code: split_part(code, '@', 1)))), ', '), '')"""

#: Rules of each set that is shown, in words.
_RULES: Final = """
create or replace temp table shown_rules as
with sets as (
  select distinct rules from shown_rows union select distinct query_rules from shown_rows
), members as (
  select s.rules, r.rule_id, min(r.place) as place, any_value(r.citation) as citation, any_value(r.doubt) as doubt,
    any_value(r.weak) as weak, any_value(r.parameters->>'subject') as subject
  from (select rules, unnest(rules) as rule from sets) s join rules r using (rule) group by s.rules, r.rule_id
), citations as (
  select rules, string_agg(citation, '; ' order by place) as citation from (select rules, citation, min(place) as place from members group by all) group by rules
), doubts as (
  select rules, string_agg(doubt, '; ' order by place) as doubts
  from (select rules, doubt, min(place) as place from members where doubt is not null group by all) group by rules
)
select m.rules, string_agg(m.rule_id, '; ' order by m.place) as rule_id, any_value(c.citation) as citation, any_value(d.doubts) as doubts,
  string_agg(m.rule_id || ': ' || m.doubt, '; ' order by m.place) filter (m.weak) as weak_doubts, string_agg(m.subject, ' and ' order by m.place) as subjects
from members m left join citations c using (rules) left join doubts d using (rules) group by m.rules"""

#: Start of a call in each zone where the number may be, with offset and zone; seconds are cut.
_LOCAL_TIMES: Final = """
  select c.call, string_agg(
    strftime(c.at_utc + o.utc_offset, '%Y-%m-%dT%H:%M:%S') || case when o.utc_offset < interval 0 hour then '-' else '+' end
      || lpad((abs(epoch_us(timestamp '2000-01-01' + o.utc_offset) - epoch_us(timestamp '2000-01-01')) // 3600000000)::varchar, 2, '0') || ':'
      || lpad((abs(epoch_us(timestamp '2000-01-01' + o.utc_offset) - epoch_us(timestamp '2000-01-01')) // 60000000 % 60)::varchar, 2, '0')
      || ' ' || z.zone, '; ' order by z.ord) as local_times
  from calls c join place_zones z using (place) join offsets o on o.zone = z.zone and c.at_utc >= o.since and c.at_utc < o.until
  where c.call in (select call from shown_rows) group by c.call"""

#: The answers of each rule of a check, by themselves; who rests on no source that was read is uncertain.
_ANSWERS: Final = """
  select b.question, b.answer, [b.rule] as query_rules, [b.rule] as rules, b.missing, b as said, b.grade::grade as by_query,
    case when r.weak and b.grade in ('pass', 'violation') then 'uncertain' else b.grade end::grade as grade
  from {0}_by_rule b join rules r using (rule)
  union all by name
  select question, answer, query_rules, rules, missing, said, by_query, grade from {0}_grades where said is null"""


@cache
def _words_of(name: str) -> str:
    return (
        (resources.files("dialframe.compliance") / "words" / f"{name}.sql")
        .read_text("utf-8")
        .rstrip()
    )


def rows(
    engine: Engine,
    check: Check,
    where: str = "g.grade >= 'not evaluable'::grade",
    *,
    by_rule: bool = False,
) -> str:
    """The query of calls of a check in words.

    Args:
        engine: The audit, with the check run.
        check: A check of calls.
        where: Which of its calls, by their grade (`g`) and the call (`c`).
        by_rule: One row for each rule that reaches a call, with its own answer, instead of the gravest of them.

    Returns:
        A query with `call, call_id, lead_id, to_number, campaign_id, created_at, local_times, zones, zone_source,
        zone_confidence, grade, rule_id, citation, missing, reason, evidence, detail` and what the check adds.
    """
    of, grades = engine.calls_of(check.name), f"{check.name}_grades"
    if check.own_facts:
        # The law is asked of each call that is shown, so that its sentence names its own facts.
        chosen = f"select m.call from {of} m join {grades} g using (question) join calls c on c.call = m.call where {where}"
        engine.ask(check, chosen, "shown")
        of, grades, where = "(select call, question from shown_grades)", "shown_grades", "true"
    elif by_rule:
        grades = f"({_ANSWERS.format(check.name)})"
    engine.con.execute(f"""
        create or replace temp table shown_rows as
        select row_number() over (order by c.call) as shown, c.call, m.question, c.call_id, l.lead_id, c.to_number, c.campaign_id, c.at_utc as created_at, c.missing_input, c.reached_network,
          g.grade, g.by_query, g.query_rules, g.rules, g.missing, g.said, g.answer, {_RECORDS} as records,
          p.zones, p.source as zone_source, p.confidence as zone_confidence, p.reason as place_reason, p.regions
        from {of} m join {grades} g using (question) join calls c on c.call = m.call left join places p on p.place = c.place
        left join circumstances u on u.circumstance = c.circumstance left join call_leads l on l.call = c.call
        where {where}""")
    engine.con.execute(_RULES)
    if check.name in _OWN_WORDS:
        words, key = _words_of(check.name), "call"
    else:
        said = [
            c[0]
            for c in engine.con.execute(f"select unnest(said) from {grades} limit 0").description
        ]
        extra = [
            f"t.said.{name} as {name}"
            for name in ("attempts", "allowed", "absent")
            if name in said
        ]
        fields = {name: f"t.said.{name}" for name in said if name not in ("missing", "grade")}
        fields |= {"missing": "t.missing", "records": "t.records"}
        evidence = "t.said.evidence" if "evidence" in said else "null"
        if check.name == "attempt_caps":
            evidence = "t.said.attempts || ' attempts'"
        words = f"""
            select t.shown, {evidence} as evidence, null as detail, {"".join(each + ", " for each in extra)}{sentence(check.name, fields, "t.by_query")} as reason
            from shown_rows t left join rules law on law.rule = t.query_rules[1] left join shown_rules s on s.rules = t.query_rules"""
        key = "shown"
    # Why nobody can trust the rule is added where that took the grade back.
    return f"""
        select t.* exclude (shown, question, said, answer, query_rules, rules, by_query, missing, records, grade), t.grade::varchar as grade, r.rule_id, r.citation,
          case when t.grade = 'not evaluable' then t.missing end as missing, n.local_times, w.* exclude ({key}, reason),
          coalesce({_BASIC}, w.reason) || case when t.grade = 'uncertain' and t.by_query in ('pass', 'violation') then '; ' || coalesce(v.weak_doubts, '') else '' end as reason
        from shown_rows t left join ({words}) w on w.{key} = t.{key} left join shown_rules r on r.rules = t.rules
        left join shown_rules v on v.rules = t.rules left join ({_LOCAL_TIMES}) n on n.call = t.call order by t.shown"""


def items(engine: Engine, check: Check, where: str = "true") -> str:
    """The query of the rows of a check that counts no calls, in words."""
    name = check.name
    columns = [row[0] for row in engine.db.rows(f"describe {name}")]
    engine.con.execute(
        f"create or replace temp table shown_rows as select *, rules as query_rules from {name} t where {where}"
    )
    engine.con.execute(_RULES)
    fields = {column: f"t.{column}" for column in columns}
    joins, more, law = "", "", "t.rules[1]"
    if name == "scrub_coverage":
        joins = """left join check_refs k on k.phone = t.phone and k.at_utc = t.check_at
          left join screens i on i.phone = t.phone and i.at_utc = t.screen_at"""
        more = """, case when t.newest = 'scrub' then 'scrub of ' || stamp(t.scrub_at) || case when t.scrub_listed then ' said listed' else ' said not listed' end
          when t.newest = 'import screen' then 'import screen ' || coalesce(i.ref, '(no id)') || ' said not listed at ' || stamp(t.screen_at)
          when t.check_at is not null then 'check ' || coalesce(k.ref, '(no id)') || case when t.listed then ' said listed at ' else ' said not listed at ' end || stamp(t.check_at) end as evidence"""
        # A screen of which nobody said which lists it covers is no evidence of any.
        fields |= {
            "limit": "date_diff('day', timestamp '2000-01-01', timestamp '2000-01-01' + t.max_age)"
        }
        fields |= {
            "answer": "case when t.state = 'screened at import' and t.grade = 'not evaluable' then 'screened at import, list not declared' else t.state end"
        }
    elif name == "internal_dnc":
        law = "coalesce(t.first_rule, t.rules[1])"
    return f"""
        select t.* exclude (grade, by_query, missing, rules, query_rules), t.grade::varchar as grade, s.rule_id, s.citation,
          case when t.grade = 'not evaluable' then t.missing end as missing{more},
          {sentence(name, fields, "t.by_query")} || case when t.grade = 'uncertain' and t.by_query in ('pass', 'violation') then '; ' || coalesce(s.weak_doubts, '') else '' end as reason
        from shown_rows t left join shown_rules s on s.rules = t.rules left join rules law on law.rule = {law} {joins} order by t.place"""


def sentence(name: str, fields: Mapping[str, str], grade: str) -> str:
    """The reason of a row as SQL: the sentence that `words.toml` has for its answer, or for its grade.

    Args:
        name: The check.
        fields: SQL of the values that a sentence may name; others are parameters of the rule `law`.
        grade: SQL of the grade.
    """
    reasons = texts()[name].reasons
    answer = fields.get("answer", "null")
    doubts = f"case when {grade} = 'uncertain' then s.doubts end"
    known = {**fields, "doubts": doubts, "subjects": "s.subjects"}
    if "kind_asked" in fields:
        known["presumed"] = f"({fields['kind_asked']} = 'presumed')"

    def sql(template: str) -> str:
        # Why a rule cannot be trusted belongs to whatever is uncertain by it.
        more = "" if "{doubts}" in template or name in ("scrub_coverage",) else "[; {doubts}]"
        return _concatenation(template + more, known, reasons)

    cases = "".join(
        f" when {quoted(key)} then {sql(text)}" for key, text in reasons.items() if key != "else"
    )
    other = sql(reasons.get("else", ""))
    if not cases:
        return other
    return f"(case coalesce(({answer})::varchar, ({grade})::varchar){cases} else {other} end)"


def _concatenation(template: str, known: Mapping[str, str], reasons: Mapping[str, str]) -> str:
    """A template as SQL. Of a part in brackets the first alternative of which every value is there."""
    parts, end = [], 0
    for part in _PART.finditer(template):
        parts.append(_plain(template[end : part.start()], known, reasons))
        alternatives = [_alternative(each, known, reasons) for each in part[1].split("|")]
        parts.append(f"coalesce({', '.join(alternatives)}, '')")
        end = part.end()
    parts.append(_plain(template[end:], known, reasons))
    return "concat(" + ", ".join(parts) + ")"


def _plain(text: str, known: Mapping[str, str], reasons: Mapping[str, str]) -> str:
    pieces = []
    for literal, name, spec, _ in Formatter().parse(text):
        if literal:
            pieces.append(quoted(literal))
        if name and not name.endswith("?"):
            pieces.append(_value(name, spec or "", known, reasons))
    return f"concat({', '.join(pieces)})" if pieces else "''"


def _alternative(text: str, known: Mapping[str, str], reasons: Mapping[str, str]) -> str:
    conditions = ["true"]
    for _, name, spec, _ in Formatter().parse(text):
        if name:
            plain = name.removesuffix("?")
            value = f"nullif({_value(plain, spec or '', known, reasons)}, '')"
            conditions.append(
                f"coalesce({value} not in ('false', '0', 'False'), false)"
                if name.endswith("?")
                else f"{value} is not null"
            )
    return f"case when {' and '.join(conditions)} then {_plain(text, known, reasons)} end"


def _value(name: str, spec: str, known: Mapping[str, str], reasons: Mapping[str, str]) -> str:
    """A value of a sentence as text in SQL, by the format that Python would give it."""
    if name in reasons and name not in known:
        return _concatenation(reasons[name], known, reasons)
    is_parameter = name not in known
    value = f"(law.parameters->>'{name}')" if is_parameter else known[name]
    if spec.endswith("%") and not spec.startswith("%"):
        return f"format('{{:{spec[:-1]}f}}%', 100 * ({value})::double)"
    if spec.startswith("%"):
        return f"strftime({value}, {quoted(spec)})"
    if spec.endswith("f") or spec == ",":
        kind = "bigint" if spec == "," else "double"
        return (
            f"format('{{:{spec}}}', ({value})::{kind})"
            if spec != ",.0f"
            else f"format('{{:,}}', ({value})::bigint)"
        )
    if spec or (is_parameter and name in _LISTS):
        listed = f"from_json(law.parameters->'{name}', '[\"VARCHAR\"]')" if is_parameter else value
        return f"replace(array_to_string({listed}, {quoted(spec)}), '_', ' ')"
    return f"({value})::varchar"


#: Parameters of rules that are lists.
_LISTS: Final = frozenset({"scope", "query_fields"})


def _finding_rows(engine: Engine, check: Check) -> str:
    """The query of a check's findings, columns `FINDINGS`; empty where there are none."""
    open_ = "g.grade >= 'uncertain'::grade" if check.by_call else "t.grade >= 'uncertain'::grade"
    table = f"{check.name}_grades" if check.by_call else check.name
    if not engine.db.rows(f"select 1 from {table} where grade >= 'uncertain'::grade limit 1"):
        return ""
    text = rows(engine, check, open_) if check.by_call else items(engine, check, open_)
    # Made once: reading its columns would cost as much again.
    engine.con.execute(f"create or replace temp table shown_words as {text}")
    given = {row[0] for row in engine.db.rows("describe shown_words")}
    sources = {
        "phone": "to_number" if check.by_call else "phone",
        "at": "created_at" if check.by_call else "finding_at",
    }
    if check.name == "scrub_coverage":
        sources["phone"] = "number"
    values = {"check": quoted(check.name), "count": "1"}
    columns = []
    for column in FINDINGS:
        source = sources.get(column.name, column.name)
        value = values.get(column.name, source if source in given else "null")
        columns.append(f'({value})::{_SQL_KINDS[column.kind]} as "{column.name}"')
    place, order = list(BY_NAME).index(check.name), "call" if check.by_call else "place"
    return f"select {place} as check_order, {order}::bigint as row_order, {', '.join(columns)} from shown_words"


_SQL_KINDS: Final = {
    "text": "varchar",
    "integer": "bigint",
    "number": "double",
    "boolean": "boolean",
    "instant": "timestamp",
}


def make(engine: Engine, *, without: Sequence[str] = ()) -> None:
    """The table `findings` of an audit whose checks were run, gravest first."""
    columns = ", ".join(f'"{c.name}" {_SQL_KINDS[c.kind]}' for c in FINDINGS)
    engine.con.execute(f"""
        create or replace table all_findings (check_order integer, row_order bigint, {columns})""")
    for check in (BY_NAME[name] for name in engine.ran if name not in without):
        text = _finding_rows(engine, check)
        if text:
            engine.con.execute(f"insert into all_findings {text}")
        engine.con.execute(_not_evaluable(check))
    engine.con.execute("""
        create or replace table findings as select * exclude (check_order, row_order) from all_findings
        order by case grade when 'violation' then 0 when 'uncertain' then 1 else 2 end, check_order, row_order;
        drop table all_findings""")


def _not_evaluable(check: Check) -> str:
    """One row for each input that is missing, with how many wait for it and the first of them."""
    place = list(BY_NAME).index(check.name)
    if check.by_call:
        source = f"(select missing, sum(calls)::bigint as number, min(call) as first_call, any_value(rules) as rules from {check.name}_grades where grade = 'not evaluable' group by missing)"
        first = "c.call_id, c.to_number, c.campaign_id, c.at_utc"
        join = "left join calls c on c.call = g.first_call"
    else:
        source = f"(select missing, count(*) as number, null as first_call from {check.name} where grade = 'not evaluable' group by missing)"
        first, join = "null, null, null, null", ""
    title = {"call_id": 0, "phone": 1, "campaign_id": 2, "at": 3}
    firsts = first.split(", ")
    columns = []
    for column in FINDINGS:
        kind = _SQL_KINDS[column.kind]
        value = {
            "check": quoted(check.name), "grade": "'not evaluable'", "missing": "g.missing", "count": "g.number",
            "reason": f"g.number || ' {check.unit}' || case when g.number = 1 then '' else 's' end || ': ' || g.missing || ' is missing' || {quoted('; the first is named' if check.by_call else '')}",
        }.get(column.name, firsts[title[column.name]] if column.name in title else "null")  # fmt: skip
        columns.append(f"({value})::{kind}")
    return f"insert into all_findings select {place}, 1000000000000 + row_number() over (order by g.number desc), {', '.join(columns)} from {source} g {join}"


def shaped(values: pd.DataFrame, columns: tuple[Column, ...]) -> pd.DataFrame:
    """A frame of exactly these columns, in this order, with the dtypes of their kinds."""
    if values.empty:
        return pd.DataFrame({c.name: pd.Series([], dtype=DTYPES[c.kind]) for c in columns})
    return pd.DataFrame({column.name: _column(values, column) for column in columns})


def _column(values: pd.DataFrame, column: Column) -> object:
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


def frame(
    engine: Engine, query: Callable[[], str] | str, columns: tuple[Column, ...]
) -> pd.DataFrame:
    """Rows of a query as a frame of these columns."""
    return shaped(engine.frame(query if isinstance(query, str) else query()), columns)
