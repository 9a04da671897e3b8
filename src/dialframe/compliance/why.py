"""Why a call got its grades: the rows of each step of each law, in the order of the law's sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dialframe.compliance import findings
from dialframe.compliance.checks import BY_NAME
from dialframe.compliance.engine import Engine
from dialframe.compliance.tables import quoted
from dialframe.errors import ConfigError

__all__ = ["Step", "why"]

#: Columns that only join the steps; the number of the call is in its own step.
_INNER: Final = frozenset(
    {"question", "call", "case_id", "circumstance", "place", "consent", "look_up", "phone"}
)
_WEAK: Final = "A rule of low confidence alone proves neither a pass nor a violation; the grade is then uncertain."


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a story.

    Attributes:
        name: What a program calls it, such as `calling_hours.clocks`.
        title: What it shows.
        text: What there is to say beside its rows; may be empty.
        columns: Names of the columns.
        rows: Its rows.
    """

    name: str
    title: str
    text: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @property
    def facts(self) -> dict[str, Any]:
        """The step as plain values: `name, title, text, rows`, each row a mapping."""
        return {
            "name": self.name, "title": self.title, "text": self.text,
            "rows": [{c: _plain(v) for c, v in zip(self.columns, row, strict=True)} for row in self.rows],
        }  # fmt: skip


def why(engine: Engine, call_id: str) -> tuple[Step, ...]:
    """The story of a call: its grades, its places and clocks, the rules that reach it, the records, and each law's steps.

    Args:
        engine: The audit, with its checks run.
        call_id: The call.

    Raises:
        ConfigError: The audit graded no call of that id.
    """
    rows = engine.db.rows(f"select call from calls where call_id = {quoted(call_id)} and graded")
    if not rows:
        raise ConfigError(
            f"no call {call_id!r} was graded; it is inbound, later than the audit, outside the period, or not stored: "
            "`dialframe export calls` shows what is stored"
        )
    ((call,),) = rows
    story = [
        _step(engine, "call", "The call", f"""
            select call_id, from_number, to_number, at_utc as created_at_utc, answered_at, ended_at, campaign_id, disposition,
              attempt as reached_the_network, missing_input as input_missing from calls where call = {call}"""),
        _grades(engine, call),
        _step(engine, "places", "Where the number may be", f"""
            select p.regions, p.zones, p.source as taken_from, p.confidence, p.reason from calls c join places p using (place) where c.call = {call}"""),
        _step(engine, "clocks", "What the clocks there said", f"""
            select z.zone, c.at_utc + o.utc_offset as local_time, dayname(c.at_utc + o.utc_offset) as weekday, o.utc_offset
            from calls c join place_zones z using (place) join offsets o on o.zone = z.zone and c.at_utc >= o.since and c.at_utc < o.until
            where c.call = {call} order by z.ord"""),
        _step(engine, "rules", "The rules that reach the call", f"""
            select k.check_name as "check", k.rule_id, r.citation, r.quotation as "words of the law", r.effective_from, r.effective_to,
              k.missing as "reach depends on", k.doubtful or not k.everywhere as "reach is doubtful", k.lifted as "lifted by a record", r.doubt
            from calls c join reach k using (case_id) join rules r using (rule) where c.call = {call} order by k.check_name, k.book_order"""),
        _step(engine, "records", "Do-Not-Call records around the call", f"""
            select 'newest check at or before it' as record, r.check_at as at_utc, case when r.listed then 'listed' else 'not listed' end as answer, k.ref as ref
            from records_around r join check_refs k on k.phone = r.phone and k.at_utc = r.check_at where r.call = {call}
            union all select 'oldest check after it', r.next_at, case when r.next_listed then 'listed' else 'not listed' end, k.ref
            from records_around r join check_refs k on k.phone = r.phone and k.at_utc = r.next_at where r.call = {call}
            union all select 'newest import of a lead', r.screen_at, 'taken in', s.ref from records_around r join screens s on s.phone = r.phone and s.at_utc = r.screen_at where r.call = {call}
            union all select 'request not to be called (' || q.source || ')', q.at_utc, q.code, q.ref from calls c join requests q on q.phone = c.phone where c.call = {call}
            union all select 'consent', n.granted_at, case when n.revoked_at is not null then 'revoked at ' || n.revoked_at else 'granted' end, n.record
            from calls c join consents n on n.phone = c.phone where c.call = {call} order by 2"""),
    ]  # fmt: skip
    grades = {row[0]: row[1] for row in story[1].rows}
    for name in engine.ran:
        if BY_NAME[name].by_call and engine.db.rows(
            f"select 1 from {name}_alike where call = {call}"
        ):
            story += _law(engine, name, call)
            # A check whose rules do not reach the call gives it no grade.
            if name in grades:
                story.append(_check_grade(engine, name, call, grades[name]))
    return tuple(story)


def _grades(engine: Engine, call: int) -> Step:
    """The grade of each check with its reason."""
    rows = []
    for name in engine.ran:
        check = BY_NAME[name]
        if check.by_call:
            text = findings.rows(engine, check, f"c.call = {call}")
            rows += engine.db.rows(
                f"select {quoted(name)}, grade, rule_id, citation, missing, reason from ({text})"
            )
    order = {"violation": 0, "uncertain": 1, "not evaluable": 2, "not asked": 3, "pass": 4}
    rows.sort(key=lambda row: order[row[1]])
    columns = ("check", "grade", "rule_id", "citation", "missing", "reason")
    worst = rows[0] if rows else None
    text = (
        ""
        if worst is None
        else f"The gravest: {BY_NAME[worst[0]].title}: {worst[1]}, since {worst[5]}."
    )
    return Step("grades", "The grade by each check", text, columns, tuple(rows))


def _law(engine: Engine, name: str, call: int) -> list[Step]:
    """The steps of a law, each with what it adds to the ones before."""
    title, seen, story = BY_NAME[name].title, set[str](), []
    for step, columns, rows in engine.steps(name, call):
        if rows:
            kept = [n for n, column in enumerate(columns) if column in _KEYS or column not in seen]
            shown = _readable_step(
                f"{name}.{step}", f"{title}: {step.replace('_', ' ')}",
                [columns[n] for n in kept], [tuple(row[n] for n in kept) for row in rows],
            )  # fmt: skip
            seen |= set(columns)
            story.append(shown)
    return story


def _check_grade(engine: Engine, name: str, call: int, grade: str) -> Step:
    """The one grade of a check, with the rules that reach the call and decide nothing by themselves."""
    weak = engine.db.rows(f"""
        select r.rule_id from calls c join reach k using (case_id) join rules r using (rule)
        where c.call = {call} and k.check_name = {quoted(name)} and k.weak and not k.lifted order by k.book_order""")
    ids = ", ".join(rule_id for (rule_id,) in weak)
    return Step(
        f"{name}.grade",
        f"{BY_NAME[name].title}: the grade of the check",
        _WEAK if weak else "",
        ("grade", "rules of low confidence") if weak else ("grade",),
        ((grade, ids) if weak else (grade,),),
    )


#: Columns that say what a row of a step is about.
_KEYS: Final = frozenset({"rule", "rules", "zone", "grade"})


def _step(engine: Engine, name: str, title: str, query: str) -> Step:
    result = engine.con.execute(query)
    return _readable_step(name, title, [c[0] for c in result.description], result.fetchall())


def _readable_step(name: str, title: str, columns: list[str], rows: list[tuple[Any, ...]]) -> Step:
    """A step without the columns that only join steps, and those that are empty in every row."""
    kept = [
        n for n, column in enumerate(columns)
        if column not in _INNER and any(row[n] is not None for row in rows)
    ]  # fmt: skip
    text = "" if rows else "There is none."
    return Step(
        name,
        title,
        text,
        tuple(columns[n] for n in kept),
        tuple(tuple(row[n] for n in kept) for row in rows),
    )


def _plain(value: object) -> object:
    """A value that JSON can hold."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
