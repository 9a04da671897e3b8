"""Calls to numbers that are, or came to be, on a Do-Not-Call list, by our own records alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import pandas as pd

from dialframe.compliance.checks import listed_number
from dialframe.compliance.checks.reading import View, shaped
from dialframe.compliance.engine import Engine
from dialframe.compliance.practice import Practice
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rulebook import RuleBook, load
from dialframe.compliance.tables.intake import moment
from dialframe.compliance.tables.law import Law
from dialframe.compliance.tables.prepare import DEFAULT_AGE, REQUEST_CODES, Asked

COLUMNS: Final = listed_number.COLUMNS


def listed_calls(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    checks: pd.DataFrame,
    *,
    now: datetime,
    dnc_codes: Sequence[str] = REQUEST_CODES,
    grace: timedelta = timedelta(0),
) -> pd.DataFrame:
    """Outbound calls to numbers that anything on record speaks against, graded without any rule.

    A number is looked at if a check said that it is listed, if a lead of it has status `dnc`, or
    if a call with it ended with a disposition that means "do not call me again".

    Args:
        calls: Frame of the calls table; a request on an inbound call counts for its caller.
        leads: Frame of the leads table.
        checks: Ledger of checks, frame of the dnc_checks table.
        now: The moment of the audit; later calls, leads and checks are left out.
        dnc_codes: Dispositions that are requests; case, blanks, dashes and underscores do not
            matter. The account's own codes belong here.
        grace: Calls this long after a request are indeterminate instead of proven. 47 CFR
            64.1200(d)(3) allows a reasonable time of at most 10 business days, 16 CFR
            310.4(b)(1)(iii)(A) names none; hence 0.

    Returns:
        One row per outbound call to such a number, in the order given, columns `COLUMNS`. The
        service does not say which list a number is on, nor of which day its copy of it is.

    Raises:
        ConfigError: A frame lacks a column, an instant or `now` has no time zone.

    Example:
        dnc.listed_calls(account.calls(), account.leads(), account.dnc_checks(), now=now)
    """
    book = load()
    none = RuleBook(book.version, book.generated_on, book.sha256, book.scope, ())
    asked = Asked(
        Law(none, none, Practice(), Declared()), moment(now).to_pydatetime(), codes=dnc_codes,
        grace=grace, plain_age=DEFAULT_AGE, every_row=True,
    )  # fmt: skip
    engine = Engine(leads, calls, checks, None, asked)
    engine.run(("scrub_at_call", "listed_number"))
    return speaking(engine.view)


def speaking(view: View) -> pd.DataFrame:
    """Calls to numbers that something speaks against, in their order, columns `COLUMNS`."""
    found = listed_number.CHECK.rows(view, "g.call in (select call from listed_spoken)")
    return shaped(listed_number.frame_of(found), COLUMNS)
