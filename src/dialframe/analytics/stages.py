"""The stages of a lead's way, from loaded to appointment, and how each is defined; knows no frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Group of the leads that have no value in the column that a funnel is split by.
NO_GROUP: Final = "(none)"


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: name in results, label for people, definition."""

    name: str
    label: str
    definition: str


#: In order. A lead is in a stage only if it is in every stage before.
STAGES: Final[tuple[Stage, ...]] = (
    Stage(
        "loaded",
        "Loaded",
        "records that imports received: the accepted leads and the rows that imports refused",
    ),
    Stage("accepted", "Accepted", "leads that the account holds"),
    Stage(
        "attempted",
        "Attempted",
        "leads with at least one counted call: outbound, over, of a campaign, and matched to the "
        "lead by number",
    ),
    Stage(
        "connected",
        "Connected",
        "attempted leads with a counted call that was answered, by a person or a machine",
    ),
    Stage(
        "human",
        "Reached a person",
        "connected leads with a counted call that a person answered, going by its outcome class",
    ),
    Stage(
        "right_party",
        "Right person",
        "of these, leads with a counted call on which the person wanted was spoken to",
    ),
    Stage(
        "positive",
        "Positive",
        "of these, leads with a counted call that ended in interest, an appointment or a conversion",
    ),
    Stage(
        "appointment",
        "Appointment",
        "of these, leads with a counted call that ended in an appointment, or with an appointment "
        "booked for the number after a counted call; kept or not",
    ),
)

#: What `loaded` means where refusals cannot be known.
LOADED_WITHOUT_LEDGER: Final = (
    "equals accepted: no import ledger was given, so what imports refused is unknown"
)
#: What `loaded` means in groups that refused rows cannot be told apart by.
LOADED_WITHOUT_GROUPS: Final = (
    "equals accepted: the import ledger does not say which group a refused row is of"
)

#: Words for the notes under a funnel.
NOTES: Final[dict[str, str]] = {
    "number_only": "counted, and matched by number alone: the campaign of call and lead differ",
    "unmapped": "counted, with a code that the taxonomy does not have: as an attempt, and as "
    "connected where answered, but not as a person",
    "answered_by_unknown": "counted, answered, and nothing says by whom: connected, but not as a "
    "person",
    "conflict": "counted, with a disposition or cause that contradicts the call; the network's "
    "word stands",
    "match_number_only": "counted, and matched by number alone: the campaign of call and lead differ",
    "match_ambiguous": "counted, for several leads with the number and none of the campaign: given "
    "to none of them",
    "match_none": "counted, and no lead has the number",
    "imported_after_window": "left out: the lead is newer than the window",
    "censored": "left out: the lead's time to go through the stages is not over yet",
    "refused": "rows that imports refused, in `loaded`",
    "import_unknown": "rows of imports whose outcome is not known, in no stage",
    "accepted_elsewhere": "rows that imports accepted as a lead that is not in the leads frame, "
    "in no stage",
    "booked_outside_window": "left out: booked before `since`, or at or after `until`",
    "no_call_before": "left out: no counted call to the number before the appointment was booked",
    "not_positive": "booked after a counted call, on a lead without a positive outcome: not in the "
    "stage, since a lead is in a stage only if it is in every stage before",
}
