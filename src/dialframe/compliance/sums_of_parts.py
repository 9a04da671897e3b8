"""What the audit of some numbers comes to, as sums that add up with those of other numbers.

A check looks at the calls of one number at a time, except for two: shares of abandoned calls
(`abandonment`) and how far back the records go (`retention`). So an audit can be made in parts, each
with all calls of its numbers. What each part comes to is a `Piece`: plain values that travel between
processes. `added` puts pieces together; the sums are those of one audit of all calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from dialframe.compliance.check_runner import BY_NAME, CHECKS, Engine
from dialframe.compliance.checks.check_results import Check, Tally, View, shaped, tallied
from dialframe.compliance.result import FINDINGS
from dialframe.compliance.tables import FRAMES, open_database, quoted

#: Checks over the sums of all parts, and the table of sums that the first of them reads.
SUMMED: Final = ("abandonment", "retention")
DAYS: Final = "abandonment_days"
DAY_KINDS: Final = {
    "rule": "int", "campaign_id": "text", "day": "day", "calls": "int", "dropped": "int", "live": "int",
    "machines": "int", "missing": "text", "untold": "int",
}  # fmt: skip

NOT_ASKED: Final = FRAMES["not_asked"]
UNMAPPED: Final = FRAMES["unmapped"]
RULES: Final = ("pass", "violation", "uncertain", "not_evaluable")
#: Memory in which the findings of all parts are put in their order.
_MEMORY: Final = "600MB"
#: Columns by which the findings of a check are in order, whatever the parts that they come from.
ORDER: Final = ("order_check", "order_number", "order_text")


@dataclass(frozen=True, slots=True)
class Piece:
    """The sums of an audit of some numbers.

    Attributes:
        tallies: Check to what it counts; of those that were run.
        by_rule: `rule_id` and calls of each grade, where a rule is counted by itself.
        not_asked: Columns `NOT_ASKED`.
        unmapped: Columns `UNMAPPED`.
        excluded: Reason to number of calls that were left out, in the order of a report.
        counts: `graded` and `stored` calls, calls that only a screen at import speaks of (`screened`),
            calls that a callback was `due` for, and checks that count (`used`).
        days: Sums of calls by rule, campaign and day, for shares of abandoned calls.
        oldest_at: The oldest call that is stored, UTC; None without calls.
    """

    tallies: Mapping[str, Tally]
    by_rule: pd.DataFrame
    not_asked: pd.DataFrame
    unmapped: pd.DataFrame
    excluded: Mapping[str, int]
    counts: Mapping[str, int]
    days: Sequence[tuple[Any, ...]] | None
    oldest_at: datetime | None


def piece_of(run: Engine) -> Piece:
    """What an audit comes to whose checks were run."""
    view = run.view
    ((oldest_at,),) = view.con.execute("select oldest_at from settings").fetchall()
    return Piece(
        tallies=tallied([check for check in CHECKS if check.name in run.ran], view),
        by_rule=_by_rule(run),
        not_asked=_added_not_asked(_read(view, "not_asked_places")),
        unmapped=_added_unmapped(_read(view, "unmapped")),
        excluded=view.left_out(),
        counts=_counts(run),
        days=view.con.execute(f"from {DAYS}").fetchall() if "abandonment" in run.ran else None,
        oldest_at=oldest_at,
    )


def added(pieces: Sequence[Piece]) -> Piece:
    """Several pieces as one."""
    # One part is the whole.
    if len(pieces) == 1:
        return pieces[0]
    tallies: dict[str, Tally] = {}
    for check in CHECKS:
        # A check that some parts did not run was asked by no rule of theirs.
        mine = [each.tallies[check.name] for each in pieces if check.name in each.tallies]
        if mine:
            # What the checks of `SUMMED` come to only their sums say: these are held against the rules later.
            tallies[check.name] = mine[0] if check.name in SUMMED else _tally(mine)
    # Counts add up: no call is in two parts.
    rules = pd.concat([each.by_rule for each in pieces], ignore_index=True)
    rules = rules.groupby("rule_id", as_index=False)[list(RULES)].sum()
    not_asked = pd.concat([each.not_asked for each in pieces], ignore_index=True)
    unmapped = pd.concat([each.unmapped for each in pieces], ignore_index=True)
    days = [each.days for each in pieces if each.days is not None]
    # How far back the account reaches is a matter of its oldest call, whichever part has it.
    starts = [each.oldest_at for each in pieces if each.oldest_at is not None]
    excluded: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for each in pieces:
        excluded.update(each.excluded)
        counts.update(each.counts)
    return Piece(
        tallies=tallies,
        by_rule=rules.astype({"rule_id": "str"}),
        not_asked=_added_not_asked(not_asked),
        unmapped=_added_unmapped(unmapped),
        excluded=dict(excluded),
        counts=counts,
        days=[row for rows in days for row in rows] if days else None,
        oldest_at=min(starts, default=None),
    )


def _tally(tallies: Sequence[Tally]) -> Tally:
    counts: dict[tuple[int, str | None], tuple[int, int]] = {}
    for tally in tallies:
        for key, (calls, first) in tally.counts.items():
            before, earliest = counts.get(key, (0, first))
            counts[key] = (before + calls, min(earliest, first))
    return Tally(
        counts,
        tuple(sorted({rule for tally in tallies for rule in tally.rules})),
        any(tally.listed for tally in tallies),
        any(tally.left_out for tally in tallies),
    )


def _added_not_asked(rows: pd.DataFrame) -> pd.DataFrame:
    if rows.empty:
        return shaped(rows, NOT_ASKED)
    names = rows["checks"].groupby(rows["jurisdiction"]).agg(
        lambda texts: ", ".join(sorted({name for text in texts for name in text.split(", ")}))
    )  # fmt: skip
    table = rows.groupby("jurisdiction", as_index=False)["calls"].sum()
    table = table.assign(checks=names.loc[table["jurisdiction"]].to_numpy())
    return shaped(table.sort_values(["calls", "jurisdiction"], ascending=[False, True]), NOT_ASKED)


def _added_unmapped(rows: pd.DataFrame) -> pd.DataFrame:
    if rows.empty:
        return shaped(rows, UNMAPPED)
    table = rows.groupby("disposition", as_index=False).agg(
        {"calls": "sum", "like_refusal": "any"}
    )
    # What may be a refusal first.
    order = ["like_refusal", "calls", "disposition"]
    return shaped(table.sort_values(order, ascending=[False, False, True]), UNMAPPED)


def _read(view: View, name: str) -> pd.DataFrame:
    return view.frame(f"from {name}") if view.db.rows[name] else pd.DataFrame()


def _counts(run: Engine) -> dict[str, int]:
    """Calls that were graded and all that are stored, and what the records say of them; see `Piece.counts`."""
    near = """
          (select count(distinct c.call) from (select call, campaign_id, phone, at_utc from calls where graded) c
            asof join due_callbacks d on d.campaign_id = c.campaign_id and d.phone = c.phone and c.at_utc >= d.opens_at
            join calling_hours_graded g on g.call = c.call
            where c.at_utc <= d.scheduled_at + interval 60 minute and g.severity > 2)"""
    counts = (
        run.con.execute(f"""
        select (select count(*) from calls where graded), (select count(*) from calls_in),
          (select coalesce(sum(g.calls), 0)::bigint from scrub_at_call_situations g join scrub_at_call_verdicts v using (situation)
            where g.screen_is_newer and (v.state <> 'checked in time'
              or g.case_id in (select case_id from weak_cases where check_name = 'scrub_at_call'))),
          {near if run.db.rows["due_callbacks"] else 0},
          (select count(*) from checks_in cross join settings s
            where phone is not null and listed is not null and checked_at <= s.as_of)
        """).fetchone()
        or ()
    )
    return dict(zip(("graded", "stored", "screened", "due", "used"), counts, strict=True))


#: Checks in which a rule is counted by itself: the table that has a row where any is, and the calls of each grade by rule.
_BY_RULE: Final = {
    "calling_hours": ("hours_rules", """
        select m.rule_id, m.severity, sum(g.calls) as calls from (
          select h.situation, r.rule_id, max(h.severity) as severity from hours_by_rule h join rules r using (rule) group by all
        ) m join calling_hours_situations g using (situation) group by all"""),
    "attempt_caps": ("attempt_caps_by_rule", """
        select r.rule_id, b.severity, count(*) as calls from attempt_caps_by_rule b join rules r using (rule)
        where b.graded group by all"""),
    "consent": ("consent_given", """
        select r.rule_id, b.severity, count(*) as calls from consent_by_rule b join rules r using (rule) group by all
        union all
        select r.rule_id, 2, sum(c.calls) from (
          select case_id, count(*) as calls from calls
          where graded and missing_input is null and call not in (select call from consent_asked) group by case_id
        ) c join case_rules k using (case_id) join consent_given g using (rule) join rules r using (rule)
        where not k.lifted and g.missing is not null group by all"""),
}  # fmt: skip


def _by_rule(run: Engine) -> pd.DataFrame:
    """Calls of each rule by grade, where a rule is counted by itself."""
    kinds = {"rule_id": "str"} | dict.fromkeys(RULES, "int64")
    counts = [pd.DataFrame({name: [] for name in kinds}).astype(kinds)]
    for name, (held, query) in _BY_RULE.items():
        if name not in run.ran or not run.db.rows[held]:
            continue
        rows = run.view.frame(f"""
            select rule_id, sum(calls) filter (severity <= 1) as pass, sum(calls) filter (severity = 4) as violation,
              sum(calls) filter (severity = 3) as uncertain, sum(calls) filter (severity = 2) as not_evaluable
            from ({query}) group by rule_id order by rule_id""")
        counts.append(rows.fillna(0).astype(kinds))
    return pd.concat(counts, ignore_index=True)


def findings(checks: Iterable[Check], view: View) -> pd.DataFrame:
    """One row per call, number or whatever else did not pass, columns `FINDINGS`, in their order."""
    return in_order([ordered_findings(checks, view)])


def in_order(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Findings of some parts of the numbers as one frame, columns `FINDINGS`: the order is that of one audit of all."""
    filled = [part for part in parts if len(part)]
    if not filled:
        return shaped(pd.DataFrame(), FINDINGS)
    every = filled[0] if len(filled) == 1 else pd.concat(filled, ignore_index=True)
    if len(filled) > 1:
        every = every.sort_values([*ORDER[:2], "at", ORDER[2]], kind="stable", ignore_index=True)
    return every.drop(columns=list(ORDER))


def ordered_findings(checks: Iterable[Check], view: View) -> pd.DataFrame:
    """Findings with the columns `ORDER` beside them."""
    places = {name: place for place, name in enumerate(BY_NAME)}
    parts = [
        _findings(check, view).assign(**{ORDER[0]: places[check.name]})
        for check in checks
        if check.name in BY_NAME
    ]
    if not parts:
        empty = {ORDER[0]: "int64", ORDER[1]: "int64", ORDER[2]: "str"}
        return shaped(pd.DataFrame(), FINDINGS).assign(
            **{name: pd.Series([], dtype=kind) for name, kind in empty.items()}
        )
    return pd.concat(parts, ignore_index=True)


def _findings(check: Check, view: View) -> pd.DataFrame:
    if check.by_call:
        rows = check.rows(view, f"g.severity > 1 and {check.listed(view, 'g.missing', 'g.call')}")
        rows = rows.assign(phone=rows["to_number"], at=rows["created_at"], place=rows["call"])
    else:
        rows = view.frame(_OTHERS[check.name].format(where=check.listed(view, "missing", "place")))
        rows = check.worded(rows, view)
        rows = rows.assign(at=rows["finding_at"])
    number = rows["order_number" if "order_number" in rows else "place"].astype("int64").array
    text = pd.Series(rows.get("order_text", ""), index=rows.index, dtype="str").array
    worded = shaped(rows.assign(check=check.name), FINDINGS)
    return worded.assign(**{ORDER[1]: number, ORDER[2]: text})


#: Findings of the checks that count no calls.
_OTHERS: Final = {
    **{name: f"select * from {name} where severity > 1 order by place" for name in (*SUMMED, "internal_dnc")},
    "scrub_coverage": """
        select g.* replace (number as phone), k.ref as check_ref, s.ref as screen_ref, as_of as finding_at
        from scrub_coverage g cross join settings left join check_refs k on k.phone = g.phone and k.at_utc = g.check_at
        left join screens s on s.phone = g.phone and s.at_utc = g.screen_at
        where severity > 1 and {where} order by place""",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptFindings:
    """The findings of all parts of an audit, in files.

    Attributes:
        folder: A file of each part, with the columns `ORDER` beside `result.FINDINGS`.
        checks: Checks whose findings count.
    """

    folder: Path
    checks: tuple[str, ...]

    def batches(self, rows: int = 100_000) -> Iterator[pd.DataFrame]:
        """The findings in their order, so many at a time, columns `result.FINDINGS`."""
        if not self.checks:
            return
        number, place, text = ORDER
        # On the disk where memory is too small: the findings of a large account are gigabytes.
        with open_database(1, _MEMORY) as con:
            ordered = con.sql(f"""
                select * exclude ({", ".join(ORDER)}) from {self._rows()}
                order by {number}, {place}, "at", {text}""")
            for batch in ordered.to_arrow_reader(rows):
                yield shaped(pa.Table.from_batches([batch]).to_pandas(), FINDINGS)

    def every(self) -> pd.DataFrame:
        """All of them, columns `result.FINDINGS`."""
        return _joined(self.batches())

    def first(self, rows: int) -> pd.DataFrame:
        """The first findings of each check and grade, columns `result.FINDINGS`.

        `attrs["grades"]` counts all findings of each grade.
        """
        kinds = ["check", "grade"]
        shown = _joined(batch.groupby(kinds, sort=False).head(rows) for batch in self.batches())
        shown = shown.groupby(kinds, sort=False).head(rows).reset_index(drop=True)
        with open_database(1, _MEMORY) as con:
            counts = con.execute(f"select grade, count(*) from {self._rows()} group by grade")
            shown.attrs["grades"] = dict(counts.fetchall())
        return shown

    def _rows(self) -> str:
        names = ", ".join(map(quoted, self.checks)) or "''"
        return f'read_parquet({quoted(self.folder / "*.parquet")}) where "check" in ({names})'


def _joined(batches: Iterable[pd.DataFrame]) -> pd.DataFrame:
    frames = list(batches)
    return pd.concat(frames, ignore_index=True) if frames else shaped(pd.DataFrame(), FINDINGS)
