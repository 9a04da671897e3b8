"""Voluntary codes: evaluated like rules and kept apart from them.

A code binds the firms that joined it. So it is evaluated for every call that it reaches, and what
is found stands in tables of its own (`advisory`, `advisory_checks`) whose column `force` says
"voluntary code". Nothing there counts among the violations of an audit or ends a command with
status 3. A firm that holds itself to a code names the rule by its id (`rules=["br-hours"]`), or
adopts it in its own file (`adopt = true`): then it is asked, counted and found like a law.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import View, shaped
from dialframe.compliance.result import CHECKS, FINDINGS, Audit, counted
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.compliance.tables import FRAMES

FORCE: Final = "voluntary code"
ADVISORY: Final = (*FRAMES["force"], *FINDINGS)
ADVISORY_CHECKS: Final = (*FRAMES["force"], *CHECKS)

COUNTS: Final = FRAMES["code_counts"]


def reached(codes: RuleBook, calls: pd.DataFrame, view: View) -> pd.DataFrame | None:
    """Calls of both directions with the numbers that voluntary codes reach; None where they reach none.

    Args:
        codes: The voluntary codes among the rules that are asked.
        calls: Every call, of both directions.
        view: The tables of the audit.
    """
    if not codes.rules:
        return None
    # The code asked today is of one country: numbers of others need no second audit.
    places = [rule.jurisdiction for rule in codes.rules]
    numbers = view.con.execute(
        """select distinct c.to_number from calls c join places p using (place)
        where c.missing_input is null and list_has_any(p.regions, ?::varchar[])""",
        [places],
    ).fetchall()
    # Most codes reach no call of an account, and a second audit would find nothing.
    if not numbers:
        return None
    # Of several rows of a call the last counts, whatever number it has.
    earlier = calls["id"].notna() & calls["id"].duplicated(keep="last")
    return calls[near(calls, {number for (number,) in numbers}) & ~earlier]


def near(calls: pd.DataFrame, numbers: Collection[str]) -> pd.Series:
    """Whether each call is one with some numbers: to them, or in from them."""
    came_in = calls["direction"].str.strip().str.lower() == "inbound"
    other = calls["to_number"].mask(came_in.fillna(value=False).astype(bool), calls["from_number"])
    return other.isin(numbers)


def reported(
    advice: Audit | None, codes: RuleBook
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame, list[str]]:
    """What the voluntary codes of a book say of the calls that they reach.

    Args:
        advice: The audit of these calls by the codes; None where they reach none.
        codes: The voluntary codes among the rules that are asked.

    Returns:
        Parts of an audit: `advisory` (columns `ADVISORY`) and `advisory_checks` (columns
        `ADVISORY_CHECKS`); calls of each code by grade; and notes.
    """
    if advice is None:
        nothing = pd.DataFrame()
        parts = {
            "advisory": shaped(nothing, ADVISORY),
            "advisory_checks": shaped(nothing, ADVISORY_CHECKS),
        }
        return parts, shaped(nothing, COUNTS), []
    # Checks that no code asks for say nothing here.
    checks = advice.checks[advice.checks["rule_id"] != ""]
    findings = advice.findings[advice.findings["check"].isin(checks["check"])]
    parts = {
        "advisory": shaped(findings.assign(force=FORCE), ADVISORY),
        "advisory_checks": shaped(checks.assign(force=FORCE), ADVISORY_CHECKS),
    }
    # A code on days alone is not counted by itself.
    counts = advice.parts["rules"]
    counts = counts[counts["rule_id"].isin([r.id for r in codes.rules]) & counts["pass"].notna()]
    note = (
        f"Voluntary codes ({', '.join(rule.id for rule in codes.rules)}) were evaluated as advice, "
        f"apart from the law: {counted(int(checks['violation'].sum()), 'departure')}. They count as "
        "violations only for a firm that names the rule by its id or adopts it in its own file."
    )
    return parts, counts[[column.name for column in COUNTS]], [note]
