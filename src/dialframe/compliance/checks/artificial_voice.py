"""Calls with an artificial voice in words."""

from __future__ import annotations

from typing import Final

from dialframe.compliance.checks.check_results import answered

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

CHECK: Final = answered(
    "artificial_voice",
    "Calls with an artificial voice, disclosed or agreed to",
    _REASONS,
    NOT_SAID,
)
