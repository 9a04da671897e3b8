"""Compliance: calls and numbers held against telemarketing rules; knows frames, not where they come from.

Every call or number is graded pass, violation, uncertain or not evaluable (with what is missing),
calls to listed numbers proven, indeterminate or clear. Nothing here says that calling was lawful.

    book = rulebook.load()
    hours.audit(calls, leads, rules=book, callbacks=callbacks)
    dnc.coverage(leads, calls, checks, now=now)
    dnc.listed_calls(calls, leads, checks, now=now)
    audit(leads, calls, checks, callbacks, now=now)
"""

from dialframe.compliance import dnc, hours, rulebook, zones
from dialframe.compliance.auditing import audit
from dialframe.compliance.dnc import Coverage
from dialframe.compliance.result import Audit
from dialframe.compliance.rulebook import RuleBook
from dialframe.compliance.zones import Zones

__all__ = ["Audit", "Coverage", "RuleBook", "Zones", "audit", "dnc", "hours", "rulebook", "zones"]
