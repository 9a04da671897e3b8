"""One audit in one DuckDB database: tables built, checks run, results read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dialframe.compliance.checks import (
    abandonment,
    calling_hours,
    consent,
    listed_number,
    scrub_at_call,
    scrub_coverage,
)
from dialframe.compliance.checks.check_results import Check, View
from dialframe.compliance.rules.rule_model import SectorBanRule
from dialframe.compliance.tables import Database, query_tables, quoted
from dialframe.compliance.tables.intake import E164, OF_CALLS, OF_ROWS, take
from dialframe.frames import CALLBACKS, CALLS, DNC_CHECKS, LEADS

#: Every check, in the order of a report. The first four are told whether or not a rule asks for them.
CHECKS: Final[tuple[Check, ...]] = (
    calling_hours.CHECK, scrub_at_call.CHECK, scrub_coverage.CHECK, listed_number.CHECK,
    Check("attempt_caps", attempts_only=True),
    Check("emergency"), Check("internal_dnc", "request", by_call=False), abandonment.CHECK, consent.CHECK,
    Check("records"), Check("retention", "rule", by_call=False),
    Check("sector_ban", values=lambda _, laws: {
        "subjects": " and ".join(r.parameters.subject for r in laws if isinstance(r, SectorBanRule))
    }),
    *(Check(name, grouped=True, answers=True) for name in ("caller_id", "recording_consent", "artificial_voice")),
)  # fmt: skip
ALWAYS: Final = ("calling_hours", "scrub_at_call", "scrub_coverage", "listed_number")
_FEW: Final = 50_000
_TINY: Final = 2_000
BY_NAME: Final = {check.name: check for check in CHECKS}


@dataclass(frozen=True, slots=True)
class Stored:
    """Rows of a table in Parquet files, as the checks read them, with the place of each in the whole table.

    Attributes:
        files: The files; there is one at least.
        rows: How many rows they hold.
        superseded: Rows of calls whose id a later row has; None for another table.
    """

    files: tuple[Path, ...]
    rows: int
    superseded: frozenset[int] | None = None

    def __len__(self) -> int:
        return self.rows

    def query(self) -> str:
        """The query of the rows."""
        later = ""
        if self.superseded is not None:
            rows = ", ".join(map(str, sorted(self.superseded)))
            later = f", {f'call in ({rows})' if rows else 'false'} as superseded"
        files = ", ".join(map(quoted, self.files))
        return f"""
            select *{later} from read_parquet([{files}], hive_partitioning = false)"""


def _superseded(calls: pd.DataFrame, taken: pd.DataFrame) -> Any:
    """Calls whose id a later row has: of several rows of an id the last counts."""
    later = taken["id"].notna() & taken["id"].duplicated(keep="last")
    known = calls.get("_superseded")
    return (later if known is None else later | known.to_numpy(dtype=bool)).to_numpy(dtype=bool)


class Engine:
    """The tables of an audit, and the checks that were run on them.

    Where the frames are those of some numbers alone, a column `_row` holds the place of each row in
    the whole table, and `_superseded` of the calls whether a later row has the same id.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        checks: Ledger of Do-Not-Call checks.
        callbacks: Frame of the callbacks table.
        question: What is asked.
    """

    def __init__(
        self,
        leads: pd.DataFrame | Stored | None,
        calls: pd.DataFrame | Stored,
        checks: pd.DataFrame | Stored | None,
        callbacks: pd.DataFrame | None,
        question: query_tables.Question,
    ) -> None:
        # A few calls cost more to share among threads than to count.
        self.db = Database(
            threads=1 if len(calls) < _FEW else 2,
            small=sum(len(each) for each in (calls, leads, checks) if each is not None) < _TINY,
        )
        self.con = self.db.con
        self.question = question
        #: Checks that were run; one that no rule of the book asks for is not.
        self.ran: set[str] = set()
        self.view = View(self.db, question.law)
        #: Files of the tables that are read where they lie.
        self.files: dict[str, tuple[Path, ...]] = {}
        self.db.run("create or replace table shown as select null::bigint as call where false")
        self.db.run(E164)
        for name, given, table, key, more in (
            ("calls_in", calls, CALLS, "call", f", {OF_CALLS}"),
            ("leads_in", leads, LEADS, "lead", f", {OF_ROWS}"),
            ("checks_in", checks, DNC_CHECKS, "check_no", f", {OF_ROWS}"),
            ("callbacks_in", callbacks, CALLBACKS, "callback_no", ""),
        ):  # fmt: skip
            if isinstance(given, Stored):
                self.db.read(name, given.query(), len(given))
                self.files[name] = given.files
                continue
            frame = take(table, given)
            if table is CALLS and given is not None:
                frame = frame.assign(superseded=_superseded(given, frame))
            # A part of an account keeps the places that its rows have in the whole: findings are ordered by them.
            of_part = given is not None and "_row" in given.columns
            rows = given["_row"].to_numpy() if of_part else range(len(frame))  # type: ignore[index]
            self.db.put(name, query_tables.arrow(frame.assign(**{key: rows})), f"*{more}")
        query_tables.prepare(self.db, question)
        self.con.execute("""
            update settings set oldest_at = (select min(at_utc) from every_call where seen)""")

    def run(self, names: Sequence[str] | None = None) -> None:
        """Run checks in their order: of those that are named, or of all, the ones that a rule asks for."""
        asked = self.con.execute("""
            select distinct check_name from asked_by
            union select 'retention' from retention_rules""").fetchall()
        # What no rule asks for has nothing to grade; its tables would be made for nothing.
        wanted = {*ALWAYS, *(name for (name,) in asked)}
        for check in CHECKS:
            if check.name not in wanted or (names is not None and check.name not in names):
                continue
            self.ran.add(check.name)
            if check.name == "abandonment":
                self.view.run("abandonment_days")
            check.settle(self.view)

    def count_every_attempt(self) -> None:
        """Count the attempts of every call, of numbers too that were dialed seldom: the grades stay."""
        self.con.execute("update settings set every_row = true")
        BY_NAME["attempt_caps"].settle(self.view)
