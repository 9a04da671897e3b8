"""Every question that people ask is answered by a function, or has a reason why not."""

from __future__ import annotations

import dialframe
from dialframe.analytics import CAPABILITIES
from rows import every_row


@every_row("row", CAPABILITIES)
def test_each_question_is_answered_by_a_function_or_a_reason(
    row: dialframe.analytics.Capability,
) -> None:
    """Every dotted name below `dialframe` can be called; without one there is a reason."""
    for dotted in row.answered_by:
        found: object = dialframe
        for part in dotted.split("."):
            found = getattr(found, part)
        assert callable(found)
    assert row.answered_by or row.why_not
