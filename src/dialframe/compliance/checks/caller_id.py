"""The number that the called person sees, in words."""

from __future__ import annotations

from typing import Final

from dialframe.compliance.checks.check_results import answered

#: Missing input that the whole audit lacks.
NO_CALLER_IDS: Final = "a practice file with the caller_ids of the firm"

_REASONS: Final = {
    "lifted": "a record lifts the rule on the number shown",
    "kept": "the number shown is one that the rule permits",
    "not recorded": "the record of the call names no number shown, so that nobody can tell",
    "withheld": "no number was shown",
    "called party": "the number shown was the called person's own",
    "impossible": "the number shown cannot be called: there is no such number in any numbering plan",
    "not own": "the number shown is none of those that the practice file names as the firm's own",
    "unknown": "whether the number shown can be called is not certain: the numbering plan has none like it",
    "own not said": "nobody says which numbers are the firm's own; name them in the practice file (caller_ids)",
}

CHECK: Final = answered(
    "caller_id", "Calls that show a number as the rules ask for", _REASONS, (NO_CALLER_IDS,)
)
