"""Recorded calls and the consent of everybody on the line, in words."""

from __future__ import annotations

from typing import Final

from dialframe.compliance.checks.check_results import answered

#: Missing inputs that the whole audit lacks.
NOT_SAID: Final = (
    "a practice file that says whether calls are recorded",
    "a practice file that says whether recordings are announced",
)

_REASONS: Final = {
    "lifted": "a record lifts the rule on recording",
    "one party": "the consent of one party is enough",
    "not recorded": "the call was not recorded",
    "unanswered": "nobody answered, so nobody was recorded",
    "announced": "the recording was announced at the start, which the rule takes for consent of who stays on the line",
    "recording not said": "nobody says whether the call was recorded; say it in the practice file (recorded)",
    "announcement not said": "the call was recorded; say in the practice file whether that was announced (recording_announced)",
    "announced alone": "the recording was announced; the rule asks for consent, and no record shows that the called person agreed",
    "not announced": "the call was recorded, and the called person was not told",
}

CHECK: Final = answered(
    "recording_consent",
    "Recorded calls with the consent of everybody on the line",
    _REASONS,
    NOT_SAID,
)
