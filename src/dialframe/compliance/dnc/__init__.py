"""Do-Not-Call: what our own records say of numbers and calls.

covered = dnc.coverage(leads, calls, checks, now=now)
dnc.dashboard(covered, leads, calls).by
dnc.listed_calls(calls, leads, checks, now=now)
"""

from dialframe.compliance.dnc.coverage import coverage, listed_calls
from dialframe.compliance.dnc.dashboard import Dashboard, dashboard
from dialframe.compliance.result import Coverage
from dialframe.compliance.tables.prepare import REQUEST_CODES

__all__ = ["REQUEST_CODES", "Coverage", "Dashboard", "coverage", "dashboard", "listed_calls"]


def __dir__() -> list[str]:
    """The names that the room exports."""
    return sorted(__all__)
