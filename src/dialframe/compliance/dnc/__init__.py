"""Do-Not-Call: what our own records say of numbers and calls; knows no list itself."""

from dialframe.compliance.dnc.dashboard import Dashboard, dashboard
from dialframe.compliance.dnc.evidence import REQUEST_CODES
from dialframe.compliance.dnc.listed import listed_calls
from dialframe.compliance.dnc.scrub import Coverage, coverage

__all__ = ["REQUEST_CODES", "Coverage", "Dashboard", "coverage", "dashboard", "listed_calls"]
