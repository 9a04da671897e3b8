"""One audit in one DuckDB database: tables built, checks run, results read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from dialframe.compliance.checks import (
    abandonment,
    artificial_voice,
    attempt_caps,
    caller_id,
    calling_hours,
    consent,
    emergency,
    internal_dnc,
    listed_number,
    recording_consent,
    records,
    retention,
    scrub_at_call,
    scrub_coverage,
    sector_ban,
)
from dialframe.compliance.checks.check_results import Check, View
from dialframe.compliance.tables import Database, prepare
from dialframe.compliance.tables.intake import (
    take_callbacks,
    take_calls,
    take_checks,
    take_leads,
)

#: Every check, in the order of a report. The first four are told whether or not a rule asks for them.
CHECKS: Final[tuple[Check, ...]] = tuple(
    module.CHECK
    for module in (
        calling_hours, scrub_at_call, scrub_coverage, listed_number, attempt_caps, emergency,
        internal_dnc, abandonment, consent, records, retention, sector_ban, caller_id,
        recording_consent, artificial_voice,
    )
)  # fmt: skip
ALWAYS: Final = ("calling_hours", "scrub_at_call", "scrub_coverage", "listed_number")
_FEW: Final = 50_000
_TINY: Final = 2_000
BY_NAME: Final = {check.name: check for check in CHECKS}


class Engine:
    """The tables of an audit, and the checks that were run on them.

    Where the frames are those of some numbers alone, a column `_row` holds the place of each row in
    the whole table, and `_superseded` of the calls whether a later row has the same id.

    Args:
        leads: Frame of the leads table.
        calls: Frame of the calls table.
        checks: Ledger of Do-Not-Call checks.
        callbacks: Frame of the callbacks table.
        asked: What is asked.
    """

    def __init__(
        self,
        leads: pd.DataFrame | None,
        calls: pd.DataFrame,
        checks: pd.DataFrame | None,
        callbacks: pd.DataFrame | None,
        asked: prepare.Asked,
    ) -> None:
        # A few calls cost more to share among threads than to count.
        self.db = Database(
            threads=1 if len(calls) < _FEW else 2,
            small=sum(len(each) for each in (calls, leads, checks) if each is not None) < _TINY,
        )
        self.con = self.db.con
        self.asked = asked
        #: Checks that were run; one that no rule of the book asks for is not.
        self.ran: set[str] = set()
        self.view = View(self.db, asked.law)
        later = calls.get("_superseded")
        taken = take_calls(calls).assign(
            superseded=False if later is None else later.to_numpy(dtype=bool)
        )
        for name, frame, given, key in (
            ("calls_in", taken, calls, "call"), ("leads_in", take_leads(leads), leads, "lead"),
            ("checks_in", take_checks(checks), checks, "check_no"),
            ("callbacks_in", take_callbacks(callbacks), None, "callback_no"),
        ):  # fmt: skip
            of_part = given is not None and "_row" in given.columns
            rows = given["_row"].to_numpy() if of_part else range(len(frame))  # type: ignore[index]
            self.db.put(name, prepare.arrow(frame.assign(**{key: rows})))
        prepare.prepare(self.db, asked)
        self.con.execute("""
            update settings set oldest_at = (select min(at_utc) from every_call where seen)""")

    def run(self, names: Sequence[str] | None = None) -> None:
        """Run checks in their order; all by default."""
        with_rules = {
            name
            for (name,) in self.con.execute("""
                select distinct check_name from asked_by
                union select 'retention' from retention_rules""").fetchall()
        }
        for check in CHECKS:
            wanted = (
                check.name in (with_rules | set(ALWAYS)) if names is None else check.name in names
            )
            if not wanted:
                continue
            self.ran.add(check.name)
            if check.name == "abandonment":
                self.view.run("abandonment_days")
            check.settle(self.view)

    def count_every_attempt(self) -> None:
        """Count the attempts of every call, of numbers too that were dialed seldom: the grades stay."""
        self.con.execute("update settings set every_row = true")
        BY_NAME["attempt_caps"].settle(self.view)
