"""Calling hours alone: each outbound call held against the clock of every zone its number may be in.

A call is inside the hours only if it is inside in all candidate zones, and outside only if it is
outside in all; anything between is uncertain, and a number without a zone is not evaluable. The
query is that of the audit, `checks/calling_hours.sql`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import pandas as pd

from dialframe.compliance.auditing import every_call
from dialframe.compliance.engine import Engine
from dialframe.compliance.practice import Practice
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.compliance.tables import FRAMES
from dialframe.compliance.tables.query_tables import NOTHING_DECLARED, Question

COLUMNS: Final = FRAMES["calling_hours"]
#: Every call counts, whenever it was made: no moment of an audit cuts them off.
_LAST: Final = datetime(9999, 1, 1, tzinfo=UTC)


def audit(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    rules: RuleBook,
    states: Mapping[str, str] | pd.Series | None = None,
    callbacks: pd.DataFrame | None = None,
    practice: Practice | None = None,
    exemptions: pd.DataFrame | None = None,
    declared: Declared = NOTHING_DECLARED,
) -> pd.DataFrame:
    """Every outbound call graded against the calling hours and holidays in force on its local day.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table; needed to tell which number a callback is for.
        rules: The rule book; `rules.select(["us", "us-fl"])` takes some jurisdictions.
        states: Number to state or ZIP code, where the account knows it; adds zones and the rules
            of the state, never takes one away.
        callbacks: Frame of the callbacks table. A pending or completed callback of the same
            campaign and number whose time is near is named in `reason`; the grade stays.
        practice: What the firm says of its calling.
        exemptions: Records that lift a rule, columns `tables.intake.EXEMPTIONS`.
        declared: Days that were declared, such as a governor's holidays.

    Returns:
        One row per call that is not inbound, in the order given, columns `COLUMNS`.
        `attrs["excluded"]` counts the calls left out by reason.

    Raises:
        ConfigError: A frame lacks a column or an instant has no time zone.

    Example:
        book = rulebook.load().select(["us", "us-fl"])
        hours.audit(account.calls(), rules=book)
    """
    # No list, request or consent is asked about: rules on hours speak of the clock alone (47 CFR 64.1200(c)(1)).
    question = Question(
        now=_LAST, rulebook=rules, states=states, practice=practice, exemptions=exemptions, declared=declared
    )  # fmt: skip
    tables = {"calls": calls, "leads": leads, "callbacks": callbacks}
    engine = Engine({name: rows for name, rows in tables.items() if rows is not None}, question)
    engine.run(("calling_hours",))
    graded = every_call(engine, "calling_hours")
    graded.attrs["excluded"] = dict(
        engine.db.rows("select reason, calls from left_out order by place")
    )
    return graded
