"""What effects are adjusted for does not hang on the last digit of a sum."""

from __future__ import annotations

import random

import numpy as np

from analytics import made
from dialframe.analytics.analyses.adjusted_effects import tried_level, usual_factors
from dialframe.analytics.attempt.attempt_table import count_attempts
from dialframe.analytics.attempt.taxonomy import DEFAULT


def test_leads_tried_at_the_same_hours_are_of_one_level() -> None:
    """However many calls of other leads stand before theirs, in whose sum their own is rounded."""
    draw = random.Random(5)
    rows = [
        made.call(
            number,
            24 * day + draw.choice([0, 3, 6]),
            answered=True,
            disposition=draw.choice(["NI", "A", "A"]),
        )
        for number in range(300)
        for day in range(3)
    ]
    found = count_attempts(
        made.calls(*rows), made.leads(*map(made.lead, range(300))), taxonomy=DEFAULT
    )
    factors = np.stack(list(usual_factors(found).values()), axis=1)
    level = tried_level(found, found.flag("human"), [np.zeros(len(found), dtype=np.int64)])
    levels: dict[bytes, set[int]] = {}
    for lead in np.unique(found.cluster):
        attempts = found.order[found.cluster[found.order] == lead]
        for place, attempt in enumerate(attempts):
            levels.setdefault(factors[attempts[:place]].tobytes(), set()).add(int(level[attempt]))

    assert len(levels) > 10
    assert all(len(those) == 1 for those in levels.values())
