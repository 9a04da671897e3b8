"""Calls with an artificial voice in words."""

from __future__ import annotations

from typing import Final

import pandas as pd

from dialframe.compliance.checks.check_results import CALL_COLUMNS, Check, View, answered, shaped

COLUMNS: Final = CALL_COLUMNS
#: Missing inputs that the whole audit lacks.
NOT_SAID: Final = (
    "a practice file that says whether an artificial voice speaks",
    "a practice file that says whether the artificial voice is disclosed",
    "a table of consents",
)

_REASONS: Final = {
    "lifted": "a record lifts the rule on artificial voices",
    "no artificial voice": "no artificial voice speaks, as the practice file says",
    "unanswered": "nobody answered, so nobody heard the voice",
    "kept": "what the rule asks of an artificial voice is on record",
    "voice not said": "nobody says whether an artificial voice speaks; say it in the practice file (artificial_voice)",
    "no table": "no records of consent were given; give them with the audit",
    "no consent": "no consent of the kind asked for is on record before the call",
    "consent over": "consent was revoked or had run out before the call",
    "revoked elsewhere": "consent is on record before the call, and was taken back since in another record",
    "disclosure not said": "say in the practice file whether the voice is disclosed at the start (voice_announced)",
    "on request": "the voice was not disclosed at the start; the rule asks for it when the called person asks, and whether anybody did is not in the data",
    "not disclosed": "an artificial voice spoke, and the called person was not told at the start",
}


def words(rows: pd.DataFrame, view: View) -> pd.DataFrame:
    """Whether an artificial voice spoke, whether it said so, and who had agreed."""
    return answered(rows, view, _REASONS)


def table(view: View) -> pd.DataFrame:
    """Every call that a rule on artificial voices reaches."""
    return shaped(CHECK.rows(view, "true"), COLUMNS)


CHECK: Final = Check(
    "artificial_voice", "Calls with an artificial voice, disclosed or agreed to", "call", words,
    whole=NOT_SAID, grouped=True,
)  # fmt: skip
