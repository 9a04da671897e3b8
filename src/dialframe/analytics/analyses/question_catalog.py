"""What an analyst asks of dialing data, and what answers it: the rows of `questions.csv`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources
from typing import Final

import pandas as pd

from dialframe.analytics.claims_and_tables import table_of_rows


@dataclass(frozen=True, slots=True)
class Capability:
    """One question.

    Attributes:
        name: The question in a few words.
        answered_by: Public functions that answer it, as dotted names below `dialframe`; empty
            where none can.
        why_not: Why none can, or what the answer cannot know; may be empty.
    """

    name: str
    answered_by: tuple[str, ...]
    why_not: str = ""


_QUESTIONS: Final = resources.files(__package__).joinpath("questions.csv").read_text("utf-8")
#: In the order of a lead's way, then of trust.
CAPABILITIES: Final[tuple[Capability, ...]] = tuple(
    Capability(row["name"], tuple(row["answered_by"].split()), row["why_not"])
    for row in csv.DictReader(_QUESTIONS.splitlines())
)


def capabilities() -> pd.DataFrame:
    """The table of questions: `name`, `answered_by` (joined by commas, null without), `why_not`.

    Returns:
        One row for each question that people ask of their calls.

    Example:
        analytics.capabilities()
    """
    return table_of_rows(
        {"name": str, "answered_by": str, "why_not": str},
        [
            (row.name, ", ".join(row.answered_by) or None, row.why_not or None)
            for row in CAPABILITIES
        ],
    )
