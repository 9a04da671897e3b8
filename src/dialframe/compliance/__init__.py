"""Compliance: calls and numbers held against telemarketing rules.

Every call or number is graded pass, violation, uncertain or not evaluable (with what is missing);
calls to listed numbers are proven, indeterminate or clear beside that. Nothing here says that
calling was lawful.

    book = rulebook.load()
    tables = {"leads": leads, "calls": calls, "dnc_checks": checks, "callbacks": callbacks}
    audit(tables, Question(now=now, rules=["us", "us-*"]))
    may_call(numbers, at=now, tables=tables)
    hours.audit(calls, leads, rules=book.select(["us", "us-fl"]), callbacks=callbacks)
    dnc.coverage(leads, calls, checks, now=now)
    dnc.listed_calls(calls, leads, checks, now=now)
"""

from dialframe.compliance import dnc, hours
from dialframe.compliance.auditing import audit, audit_in_parts
from dialframe.compliance.dnc import Coverage
from dialframe.compliance.gate import Gate, may_call
from dialframe.compliance.practice import Practice
from dialframe.compliance.result import Audit
from dialframe.compliance.rules import calendars, overrides, rulebook
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.compliance.tables.query_tables import Question
from dialframe.phones import zones
from dialframe.phones.zones import Zones

__all__ = [
    "Audit", "Coverage", "Declared", "Gate", "Practice", "Question", "RuleBook", "Zones", "audit", "audit_in_parts",
    "calendars", "dnc", "hours", "may_call", "overrides", "rulebook", "zones",
]  # fmt: skip


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
