"""What can come of a call: one row per outcome class with its flags; knows no codes and no frames.

The flags answer the questions that a rate asks. `human` and `right_party` have three values:
None means that the call was answered and nothing says by whom. `when` says which calls a class can
belong to, so that an agent's "not interested" on a call that nobody answered is seen as a conflict.
"""

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
        attempt: Somebody was dialled and the call is over; False rows enter no rate.
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
    Outcome(
        "disconnected",
        "the number is not in service or not a number",
        "either",
        final=True,
        redial="no",
    ),
    Outcome("temp_unavailable", "out of reach for now", "either", redial="after 1 day"),
    Outcome("network_fail", "the network could not put the call through", "either"),
    Outcome(
        "blocked_or_rejected",
        "rejected by the person or blocked on the way",
        "unanswered",
        redial="with caution",
    ),
    Outcome(UNANSWERED_UNKNOWN, "not answered, and nothing says why", "unanswered"),
    Outcome(
        "machine",
        "an answering machine or mailbox answered",
        "answered",
        machine=True,
        redial="at another time of day",
    ),
    Outcome("fax", "a fax answered", "answered", final=True, redial="no"),
    Outcome(
        CONNECTED_UNKNOWN,
        "answered, and nothing says by whom",
        "answered",
        human=None,
        right_party=None,
        redial="review",
    ),
    Outcome("early_hangup", "a person hung up at once", "answered", human=True),
    Outcome("dead_air", "answered and silent", "answered", human=True),
    Outcome(
        "dropped_by_us",
        "a person answered and no agent was there",
        "answered",
        human=True,
        redial="after 72 hours",
    ),
    Outcome("gatekeeper_third_party", "somebody else answered", "answered", human=True),
    Outcome(
        "wrong_number",
        "the number belongs to somebody else",
        "answered",
        human=True,
        final=True,
        redial="no",
    ),
    Outcome(
        "right_party_neutral",
        "spoke to the person wanted, without a result",
        "answered",
        human=True,
        right_party=True,
        redial="depends",
    ),
    Outcome(
        "not_interested",
        "the person said no",
        "answered",
        human=True,
        right_party=True,
        final=True,
        redial="no",
    ),
    Outcome(
        "callback",
        "the person wants to be called again",
        "answered",
        human=True,
        right_party=True,
        redial="as agreed",
    ),
    Outcome(
        "positive",
        "the person is interested",
        "answered",
        human=True,
        right_party=True,
        positive=True,
        final=True,
        redial="no",
    ),
    Outcome(
        "appointment",
        "an appointment was agreed",
        "answered",
        human=True,
        right_party=True,
        positive=True,
        appointment=True,
        final=True,
        redial="no",
    ),
    Outcome(
        "conversion",
        "sold, or whatever the campaign is for",
        "answered",
        human=True,
        right_party=True,
        positive=True,
        conversion=True,
        final=True,
        redial="no",
    ),
    Outcome(
        "dnc_request",
        "the person asked not to be called",
        "answered",
        human=True,
        right_party=True,
        dnc_request=True,
        final=True,
        redial="never",
    ),
    Outcome(
        "dnc_screened",
        "held back by a Do-Not-Call list; nobody was dialled",
        "unanswered",
        attempt=False,
        final=True,
        redial="never",
    ),
    Outcome("in_progress", "not over yet", "either", attempt=False, redial="not yet"),
    Outcome(
        "system_noise",
        "a dialer's own state, not an outcome",
        "either",
        attempt=False,
        redial="review",
    ),
)

#: Every class by name.
BY_NAME: Final[dict[str, Outcome]] = {outcome.name: outcome for outcome in OUTCOMES}
