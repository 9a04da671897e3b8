"""Lays rules out as rows: one row per rule, the history of a place, and what differs between books or days."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Final

import pandas as pd

from dialframe.compliance.rules.rule_model import Rule
from dialframe.compliance.rules.rulebook import RuleBook

#: Columns of `between`.
COLUMNS: Final = ["rule_id", "change", "field", "before", "after"]
#: Columns of `history` and `of_days`.
HISTORY: Final = ["rule_id", "title", "kind", "from", "to", "replaces", "citation", "confidence"]
#: Columns of `table`.
TABLE: Final = [
    "rule_id", "jurisdiction", "kind", "title", "status", "from", "to", "since_reason", "replaces",
    "applies_to", "line_types", "dialing", "parameters", "exemptions", "citation", "quotation",
    "source", "text_from", "read_on", "also", "confidence", "confidence_reason", "grade_ceiling",
    "conflicts", "exposure", "examples", "notes",
]  # fmt: skip


def table(book: RuleBook) -> pd.DataFrame:
    """One row per rule, columns `TABLE`, with its quotation and its sources.

    Args:
        book: The book.
    """
    return pd.DataFrame([_row(rule) for rule in book.rules], columns=TABLE).astype("str")


def history(book: RuleBook, code: str) -> pd.DataFrame:
    """Rules of a place, or one rule with those before and after it, in the order of their days.

    Args:
        book: The book.
        code: A jurisdiction (`us-ct`) or the id of a rule.

    Returns:
        Columns `HISTORY`; an open end is empty, `always` a rule without a first day.

    Raises:
        ConfigError: There is no such jurisdiction and no such rule.
    """
    rules = book.select([code]).rules
    if len(rules) == 1 and rules[0].id == code.lower():
        rules = _line_of_succession(book, rules[0])
    ordered = sorted(rules, key=lambda rule: (rule.kind, rule.first_day, rule.id))
    return pd.DataFrame([_dates_of(rule) for rule in ordered], columns=HISTORY).astype("str")


def of_days(book: RuleBook, first: date, second: date) -> pd.DataFrame:
    """Rules that are law on one of two days and not on the other.

    Args:
        book: The book.
        first: The earlier day.
        second: The later day.

    Returns:
        `change` (`begins`, `ends`) and the columns `HISTORY`.
    """
    rows = []
    for rule in book.rules:
        # Voluntary codes have their days too, whether or not they bind.
        before, after = rule.holds_on(first), rule.holds_on(second)
        if before != after:
            rows.append({"change": "begins" if after else "ends", **_dates_of(rule)})
    return pd.DataFrame(rows, columns=["change", *HISTORY]).astype("str")


def since(book: RuleBook, first: date) -> pd.DataFrame:
    """What begins and what ends from a day on, in the order of the days.

    Args:
        book: The book.
        first: The first day of the feed.

    Returns:
        `day` (a rule's first day, or the day after its last), `change` (`begins`, `ends`) and the columns `HISTORY`.
    """
    rows = []
    for rule in book.rules:
        ended = None if rule.effective_to is None else rule.effective_to + timedelta(days=1)
        for change, day in (("begins", rule.effective_from), ("ends", ended)):
            if day is not None and day >= first:
                rows.append({"day": str(day), "change": change, **_dates_of(rule)})
    rows.sort(key=lambda row: (row["day"], row["rule_id"]))
    return pd.DataFrame(rows, columns=["day", "change", *HISTORY]).astype("str")


def between(before: RuleBook, after: RuleBook) -> pd.DataFrame:
    """Rules that were added, dropped or changed, one row per field: `COLUMNS`.

    Args:
        before: One book.
        after: The other.
    """
    old = {rule.id: rule.model_dump(mode="json") for rule in before.rules}
    new = {rule.id: rule.model_dump(mode="json") for rule in after.rules}
    rows = []
    for rule_id in dict.fromkeys([*old, *new]):
        if rule_id not in new:
            rows.append((rule_id, "dropped", "", old[rule_id]["title"], ""))
        elif rule_id not in old:
            rows.append((rule_id, "added", "", "", new[rule_id]["title"]))
        else:
            rows += [
                (rule_id, "changed", field, was, now)
                for field, was, now in _fields(old[rule_id], new[rule_id])
            ]
    return pd.DataFrame(rows, columns=COLUMNS).astype("str")


def _line_of_succession(book: RuleBook, rule: Rule) -> tuple[Rule, ...]:
    """Rules of the same kind and place that end before it begins, or begin after it ends."""
    # A place may have several holiday rules at once: they do not follow one another.
    if rule.kind == "holiday":
        return (rule,)
    kin = [r for r in book.rules if (r.kind, r.jurisdiction) == (rule.kind, rule.jurisdiction)]
    # Rules that hold at one time are no succession, though they are of a kind.
    chosen = [
        other
        for other in kin
        if other.last_day < rule.first_day or other.first_day > rule.last_day
    ]
    return (*chosen, rule)


def _dates_of(rule: Rule) -> dict[str, str]:
    return {
        "rule_id": rule.id, "title": rule.title, "kind": rule.kind,
        "from": str(rule.effective_from or rule.since or ""), "to": str(rule.effective_to or ""),
        "replaces": rule.replaces or "", "citation": rule.citation, "confidence": rule.confidence,
    }  # fmt: skip


def _row(rule: Rule) -> dict[str, str]:
    parameters = rule.parameters.model_dump(mode="json", exclude_defaults=True)
    exemptions = (f"{e.code} ({e.detail})" if e.detail else e.code for e in rule.exemptions)
    examples = (f"{e.at.isoformat()} {e.grade}" for e in rule.examples)
    return {
        **_dates_of(rule),
        "jurisdiction": rule.jurisdiction, "status": rule.status,
        "since_reason": rule.since_reason, "applies_to": "; ".join(rule.applies_to),
        "line_types": "; ".join(rule.line_types), "dialing": rule.dialing,
        "parameters": json.dumps(parameters, ensure_ascii=False), "exemptions": "; ".join(exemptions),
        "quotation": rule.quotation, "source": rule.source, "text_from": rule.text_from,
        "read_on": str(rule.read_on or ""), "also": "; ".join(rule.also),
        "confidence_reason": rule.confidence_reason, "grade_ceiling": rule.grade_ceiling,
        "conflicts": "; ".join(rule.conflicts), "exposure": rule.exposure, "examples": "; ".join(examples),
        "notes": rule.notes,
    }  # fmt: skip


def _fields(old: object, new: object, path: str = "") -> list[tuple[str, str, str]]:
    if isinstance(old, dict) and isinstance(new, dict):
        changes = []
        for name in dict.fromkeys([*old, *new]):
            inner = f"{path}.{name}" if path else str(name)
            changes += _fields(old.get(name), new.get(name), inner)
        return changes
    return [] if old == new else [(path, _words(old), _words(new))]


def _words(value: object) -> str:
    return "" if value is None else str(value)
