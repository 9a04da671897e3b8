"""One audit in one DuckDB database: tables built, checks run, grades read.

Each check asks its law of one call of each kind (see `checks`); the answers are joined back to the calls where
somebody reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pandas as pd
import pyarrow as pa

from dialframe.compliance.checks import BY_NAME, CHECKS, Check
from dialframe.compliance.tables import Database, law_of, query, query_tables, steps
from dialframe.compliance.tables.intake import E164, OF_CALLS, OF_ROWS, take
from dialframe.compliance.tables.law import Law
from dialframe.compliance.tables.query_tables import Question, Taken
from dialframe.frames import CALLBACKS, CALLS, DNC_CHECKS, LEADS

_FEW: Final = 250_000


class Engine:
    """The tables of an audit, and the checks that were run on them.

    Args:
        tables: Name of a table of the account to its rows: `calls`, `leads`, `dnc_checks`, `callbacks`; what is not
            there is empty. A frame, an Arrow table, or the text of a query that reads files where they lie.
        question: What is asked.
    """

    def __init__(
        self, tables: Mapping[str, pd.DataFrame | pa.Table | Taken | str], question: Question
    ) -> None:
        self.db = Database(threads=2)
        self.con = self.db.con
        self.question = question
        #: Checks that were run; one that no rule of the book asks for is not.
        self.ran: list[str] = []
        self.db.run(E164)
        for name, table, key, more in (
            ("calls_in", CALLS, "call", OF_CALLS), ("leads_in", LEADS, "lead", OF_ROWS),
            ("checks_in", DNC_CHECKS, "check_no", OF_ROWS), ("callbacks_in", CALLBACKS, "callback_no", ""),
        ):  # fmt: skip
            columns = f"*, row_number() over () - 1 as {key}{more and ', '}{more}"
            rows = tables.get(table.name)
            if isinstance(rows, str):
                self.con.execute(
                    f"create or replace table {name} as select {columns} from ({rows})"
                )
            elif isinstance(rows, Taken):
                self.db.put(name, rows.rows, columns)
            else:
                frame = rows.to_pandas() if isinstance(rows, pa.Table) else rows
                self.db.put(name, query_tables.arrow(take(table, frame)), columns)
        # So many calls cost more CPU and memory to share among threads than they save.
        if self.db.rows("select count(*) from calls_in")[0][0] < _FEW:
            self.con.execute("set threads = 1")
        self.places = query_tables.prepare(self.db, question)
        self.db.run(query("sentences"))
        #: Tables of facts and law, which the checks read.
        self.tables_of_facts = [
            name
            for (name,) in self.db.rows(
                "select table_name from duckdb_tables() where not temporary order by 1"
            )
        ]
        self.con.execute("""
            update settings set oldest_at = (select min(at_utc) from every_call where seen)""")

    @property
    def law(self) -> Law:
        """The rules behind their ids."""
        return self.question.law

    def run(self, names: Sequence[str] | None = None) -> None:
        """Run checks in their order: of those that are named, or of all, the ones that a rule asks for."""
        asked = {
            name
            for (name,) in self.db.rows(
                "select distinct check_name from asked_by join rules using (rule) where asked"
            )
        }
        # What no rule asks for has nothing to grade.
        for check in CHECKS:
            is_wanted = check.always or check.name in asked or self._is_left_out(check)
            if is_wanted and (names is None or check.name in names):
                self._run(check)
                self.ran.append(check.name)

    def _is_left_out(self, check: Check) -> bool:
        rows = self.db.rows(f"select 1 from not_asked where check_name = '{check.name}' limit 1")
        return check.by_call and bool(rows)

    def _run(self, check: Check) -> None:
        self.db.run(script(check))

    def settle(self, name: str) -> None:
        """Ask the law of a check that counts no calls."""
        self.db.run(_settling(name, law_of(name)[1]))

    def grade(self, check: Check, into: str) -> None:
        """Ask the law of a check of the calls in `INTO_asked`, and make one grade of its answers: `INTO_by_rule`, `INTO_grades`."""
        self.db.run(_grading(check, into))

    def calls_of(self, name: str) -> str:
        """The table of calls with their question of a check, `NAME_of`: made when somebody reads it."""
        made = f"{name}_of"
        if not self.db.rows(f"select 1 from duckdb_tables() where table_name = '{made}'"):
            same = " and ".join(f"a.{c} is not distinct from q.{c}" for c in alike_columns(name))
            self.con.execute(f"""
                create table {made} as select a.call, q.question from {name}_alike a join {name}_asked q on {same}""")
        return made

    def ask(self, check: Check, calls: str, into: str) -> None:
        """Ask the law of a check of some calls, each by itself: `INTO_asked`, `INTO_by_rule`, `INTO_grades`.

        Args:
            check: The check, run before.
            calls: The query of the calls.
            into: Prefix of the tables; the question of each is its call.
        """
        self.con.execute(f"""
            create or replace table {into}_asked as
            select call as question, call, 1 as calls, * exclude (call) from {check.name}_alike where call in ({calls})""")
        self.grade(check, into)

    def steps(self, check: str, call: int) -> list[tuple[str, list[str], list[tuple[Any, ...]]]]:
        """The rows of each step of a check's law for one call: name, columns, rows."""
        _, law = law_of(check)
        self.ask(BY_NAME[check], str(call), "one_call")
        found = []
        for name, text in steps(law):
            result = self.con.execute(text)
            found.append((name, [c[0] for c in result.description], result.fetchall()))
        return found

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


def script(check: Check) -> str:
    """Everything that a check runs: what is made before, the calls that are asked, the law, and one grade of its answers."""
    before, law = law_of(check.name)
    name = check.name
    if not check.by_call:
        return before + _settling(name, law)
    asked = f"""{before}
create or replace table {name}_asked as
select row_number() over () as question, min(call) as call, count(*) as calls, * exclude (call) from {name}_alike group by all;
"""
    same = " and ".join(
        f"a.{column} is not distinct from q.{column}" for column in alike_columns(name)
    )
    # Some rules on consent ask whether a check in time said that the number was not listed.
    of_calls = (
        f"""
create or replace table {name}_of as
select a.call, q.question from {name}_alike a join {name}_asked q on {same};
"""
        if name == "scrub_at_call"
        else ""
    )
    return f"{asked}{_grading(check, name)}{of_calls}"


def _settling(name: str, law: str) -> str:
    """The table of a check that counts no calls; what rests on no source that was read is uncertain."""
    weak = "(select coalesce(list(rule), []) from rules where weak)"
    return f"""
create or replace table {name} as
select * exclude (grade), grade::grade as by_query,
  case when (by_query = 'pass' and list_has_any(rules, {weak})) or (by_query = 'violation' and list_has_all({weak}, rules))
  then 'uncertain' else by_query end::grade as grade from ({law});
"""


def _grading(check: Check, into: str) -> str:
    _, law = law_of(check.name)
    rule = ", null::varchar as rule" if check.name == "listed_number" else ""
    return f"""
create or replace temp view asked as select question, call from {into}_asked;
create or replace table {into}_by_rule as select *{rule} from (
{law}
);
create or replace table {into}_grades as {check.grading(into)};
"""


#: What decides the grade of a call, by the check: the columns of its view `NAME_alike`.
_ALIKE: Final = {
    "calling_hours": ("case_id", "clock", "weekday", "special_day", "missing_input", "quarter"),
    "scrub_at_call": ("case_id", "check_days", "check_cover", "screen_days", "screen_cover", "screen_is_newer", "check_in_quarter",
                      "screen_in_quarter", "checked_after", "missing_input", "scrubs"),
    "listed_number": ("case_id", "own_call", "records", "missing_input"),
    "attempt_caps": ("case_id", "attempt", "missing_input", "own_call"),
    "emergency": ("case_id", "first_day", "last_day"),
    "consent": ("case_id", "campaign_id", "clean", "own_call"),
    "records": ("case_id", "no_from", "no_duration", "no_disposition"),
    "sector_ban": ("case_id",),
    "caller_id": ("case_id", "from_number", "called_own"),
    "recording_consent": ("case_id", "campaign_id", "recorded", "unanswered"),
    "artificial_voice": ("case_id", "campaign_id", "unanswered", "own_call"),
}  # fmt: skip


def alike_columns(check: str) -> tuple[str, ...]:
    """The columns that decide how a check grades a call; two calls that agree in them are graded alike."""
    return _ALIKE[check]
