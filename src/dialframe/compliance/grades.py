"""The words in which a call or a number is graded.

A grade speaks of one check on one row, in the light of the data that was given. There is no grade
that says more than `pass`.
"""

from __future__ import annotations

from typing import Final

#: The data shows that the condition of the check was met.
PASSED: Final = "pass"
#: The data shows that it was not met, wherever the number may be.
VIOLATION: Final = "violation"
#: Met in one reading of the data and not in another.
UNCERTAIN: Final = "uncertain"
#: A rule that would reach it was left out of the audit.
NOT_ASKED: Final = "not asked"
#: An input is missing; the reason names it.
NOT_EVALUABLE: Final = "not evaluable"

#: A call to a number that was known to be listed, or after a request not to be called.
PROVEN: Final = "proven"
#: A call in the time in which the number became listed; when in it, nobody knows.
INDETERMINATE: Final = "indeterminate"
#: A call that nothing in the data speaks against.
CLEAR: Final = "clear"

CREATED_AT: Final = "created_at"
DIRECTION: Final = "direction"
