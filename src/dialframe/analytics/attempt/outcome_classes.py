"""What can come of a call: one row per outcome class with its flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

When = Literal["answered", "unanswered", "either"]
Family = Literal["human", "machine", "unknown", "not_connected", "no_attempt"]

#: Answered, and nothing known says by whom.
CONNECTED_UNKNOWN: Final = "connected_unknown"
#: Not answered, and nothing known says why.
UNANSWERED_UNKNOWN: Final = "unanswered_unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One class of outcome.

    Attributes:
        name: Name in results.
        meaning: What happened, in a few words.
        when: Whether the call must have been answered for this to be possible.
        human: A person answered; None where that is not known.
        right_party: The person wanted answered; None where that is not known.
        positive: Interest, an appointment or a conversion.
        appointment: An appointment was agreed.
        conversion: The aim of the campaign was reached.
        dnc_request: The person asked not to be called.
        machine: An answering machine or mailbox answered.
        attempt: Somebody was dialed and the call is over; False rows enter no rate.
        final: The lead needs no further call.
        redial: What a dialer usually does next.
    """

    name: str
    meaning: str
    when: When
    human: bool | None = False
    right_party: bool | None = False
    positive: bool = False
    appointment: bool = False
    conversion: bool = False
    dnc_request: bool = False
    machine: bool = False
    attempt: bool = True
    final: bool = False
    redial: str = "yes"

    @property
    def family(self) -> Family:
        """The coarse kind, for pictures."""
        if not self.attempt:
            return "no_attempt"
        if self.human is None:
            return "unknown"
        if self.human:
            return "human"
        return "machine" if self.when == "answered" else "not_connected"


#: Every class. The order is the order of tables and pictures: from not reached to reached.
OUTCOMES: Final[tuple[Outcome, ...]] = (
    Outcome("no_answer", "it rang and nobody answered", "unanswered"),
    Outcome("busy", "the line was busy", "unanswered", redial="after 30 minutes"),
    Outcome("disconnected", "the number is not in service or not a number", "either", final=True,
            redial="no"),
    Outcome("temp_unavailable", "out of reach for now", "either", redial="after 1 day"),
    Outcome("network_fail", "the network could not put the call through", "either"),
    Outcome("blocked_or_rejected", "rejected by the person or blocked on the way", "unanswered",
            redial="with caution"),
    Outcome(UNANSWERED_UNKNOWN, "not answered, and nothing says why", "unanswered"),
    Outcome("machine", "an answering machine or mailbox answered", "answered", machine=True,
            redial="at another time of day"),
    Outcome("fax", "a fax answered", "answered", final=True, redial="no"),
    Outcome(CONNECTED_UNKNOWN, "answered, and nothing says by whom", "answered", human=None,
            right_party=None, redial="review"),
    Outcome("early_hangup", "a person hung up at once", "answered", human=True),
    Outcome("dead_air", "answered and silent", "answered", human=True),
    Outcome("dropped_by_us", "a person answered and no agent was there", "answered", human=True,
            redial="after 72 hours"),
    Outcome("gatekeeper_third_party", "somebody else answered", "answered", human=True),
    Outcome("wrong_number", "the number belongs to somebody else", "answered", human=True,
            final=True, redial="no"),
    Outcome("right_party_neutral", "spoke to the person wanted, without a result", "answered",
            human=True, right_party=True, redial="depends"),
    Outcome("not_interested", "the person said no", "answered", human=True, right_party=True,
            final=True, redial="no"),
    Outcome("callback", "the person wants to be called again", "answered", human=True,
            right_party=True, redial="as agreed"),
    Outcome("positive", "the person is interested", "answered", human=True, right_party=True,
            positive=True, final=True, redial="no"),
    Outcome("appointment", "an appointment was agreed", "answered", human=True, right_party=True,
            positive=True, appointment=True, final=True, redial="no"),
    Outcome("conversion", "sold, or whatever the campaign is for", "answered", human=True,
            right_party=True, positive=True, conversion=True, final=True, redial="no"),
    Outcome("dnc_request", "the person asked not to be called", "answered", human=True,
            right_party=True, dnc_request=True, final=True, redial="never"),
    Outcome("dnc_screened", "held back by a Do-Not-Call list; nobody was dialed", "unanswered",
            attempt=False, final=True, redial="never"),
    Outcome("in_progress", "not over yet", "either", attempt=False, redial="not yet"),
    Outcome("system_noise", "a dialer's own state, not an outcome", "either", attempt=False,
            redial="review"),
)  # fmt: skip

#: Every class by name.
BY_NAME: Final[dict[str, Outcome]] = {outcome.name: outcome for outcome in OUTCOMES}
#: Place of each class in `OUTCOMES`, by name.
PLACE: Final = {outcome.name: place for place, outcome in enumerate(OUTCOMES)}


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
    "not_logged_yet": "counted, of the last days, in which many answered calls have no outcome yet: not compared "
    "where something is judged",
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
