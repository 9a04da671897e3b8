"""The picture of a lead file takes away each reason's records and ends at the clean ones."""

from __future__ import annotations

import pandas as pd
import pytest

from dialframe import plots
from dialframe.errors import ConfigError
from plots.looked_at import overlapping, words

REASONS = pd.DataFrame(
    [
        ("duplicates", "duplicate_in_file", 13),
        ("rejected", "missing_phone", 8),
        ("do_not_call", "opt_out", 8),
        ("skipped", "blank", 1),
    ],
    columns=["outcome", "reason", "records"],
)


def test_steps_end_at_the_clean_records() -> None:
    """Every reason is a step with what is left after it, in the picture, its words and its table."""
    picture = plots.cleaning(REASONS, records=130)

    said = words(picture)
    assert "100 of 130 records are clean (76.9%)" in said
    assert "duplicate, 117 left" in said
    assert "missing phone (rejected) 8" in picture.alt
    assert list(picture.table["left"]) == [117, 109, 101, 100]
    assert overlapping(picture) == []


@pytest.mark.parametrize("look", ["light", "dark"])
def test_rare_reasons_stand_together(look: plots.style.Look) -> None:
    """A file with very many reasons is drawn with the rare ones as one step; the table has them all."""
    many = pd.DataFrame(
        {"outcome": ["rejected"] * 40, "reason": [f"reason_{i}" for i in range(40)], "records": 1}
    )
    picture = plots.cleaning(many, records=1000, look=look)

    assert "other reasons (rejected) 22" in picture.alt
    assert len(picture.table) == 40
    assert overlapping(picture) == []


def test_edges() -> None:
    """No record is said to be none; nothing taken away leaves all; all taken away leaves none."""
    assert plots.cleaning(REASONS[:0], records=0).alt.endswith("no records.")
    assert "46 of 46 records are clean" in plots.cleaning(REASONS[:0], records=46).alt
    assert "0 of 30 records are clean" in plots.cleaning(REASONS, records=30).alt


def test_what_does_not_fit_is_refused() -> None:
    """More records taken away than there are, or an outcome of another kind, is refused in words."""
    with pytest.raises(ConfigError, match="take away 30 of 29 records"):
        plots.cleaning(REASONS, records=29)
    with pytest.raises(ConfigError, match="outcome 'lost' is not known"):
        plots.cleaning(REASONS.assign(outcome="lost"), records=99)
