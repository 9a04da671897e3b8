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
from dialframe.frames import Column

FORCE: Final = "voluntary code"
_FORCE: Final = Column("force", "text", "voluntary code: advice, no law")
ADVISORY: Final = (_FORCE, *FINDINGS)
ADVISORY_CHECKS: Final = (_FORCE, *CHECKS)

_COUNTS: Final = ["rule_id", "pass", "violation", "uncertain", "not_evaluable"]


def reached(codes: RuleBook, calls: pd.DataFrame, view: View) -> pd.DataFrame | None:
    """Calls of both directions with the numbers that voluntary codes reach; None where they reach none.

    Args:
        codes: The voluntary codes among the rules that are asked.
        calls: Every call, of both directions.
        view: The tables of the audit.
    """
    if not codes.rules:
        return None
    places = [rule.jurisdiction for rule in codes.rules]
    numbers = view.con.execute(
        """select distinct c.to_number from calls c join places p using (place)
        where c.missing_input is null and list_has_any(p.regions, ?::varchar[])""",
        [places],
    ).fetchall()
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


def told(
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
    parts, counts = _told(advice, codes)
    return parts, counts, [] if advice is None else _notes(parts, codes)


def _told(found: Audit | None, codes: RuleBook) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """The tables of an audit by the codes, without the checks that no code asks for."""
    if found is None:
        parts = {
            "advisory": shaped(pd.DataFrame(), ADVISORY),
            "advisory_checks": shaped(pd.DataFrame(), ADVISORY_CHECKS),
        }
        empty = pd.DataFrame({name: [] for name in _COUNTS})
        return parts, empty.astype(dict.fromkeys(_COUNTS[1:], "int64") | {"rule_id": "str"})
    checks = found.checks[(found.checks["rule_id"] != "").to_numpy(dtype=bool)]
    findings = found.findings[found.findings["check"].isin(checks["check"])]
    parts = {
        "advisory": _with_force(findings, ADVISORY),
        "advisory_checks": _with_force(checks, ADVISORY_CHECKS),
    }
    counts = found.parts["rules"][_COUNTS]
    known = counts["rule_id"].isin([rule.id for rule in codes.rules]) & counts["pass"].notna()
    return parts, counts[known.to_numpy(dtype=bool)]


def _with_force(rows: pd.DataFrame, columns: tuple[Column, ...]) -> pd.DataFrame:
    told = rows.assign(force=FORCE).reset_index(drop=True)
    return shaped(told, columns)


def _notes(parts: dict[str, pd.DataFrame], codes: RuleBook) -> list[str]:
    departures = int(parts["advisory_checks"]["violation"].sum())
    names = ", ".join(rule.id for rule in codes.rules)
    return [
        f"Voluntary codes ({names}) were evaluated as advice, apart from the law: "
        f"{counted(departures, 'departure')}. They count as violations only for a firm that names "
        "the rule by its id or adopts it in its own file."
    ]
