"""The law as data: rules with their sources, holidays, a firm's own changes.

book = rulebook.load()
book.select(["us", "us-fl"]).rules
overrides.apply(book, text)
"""

from dialframe.compliance.rules import calendars, overrides, rule_changes, rulebook
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rulebook import Rule, RuleBook

__all__ = [
    "Declared", "Rule", "RuleBook", "calendars", "overrides", "rule_changes", "rulebook",
]  # fmt: skip


def __dir__() -> list[str]:
    """The names that the room exports."""
    return sorted(__all__)
