"""The flags of the classes agree with each other."""

from __future__ import annotations

from dialframe.analytics import OUTCOMES, Outcome
from dialframe.analytics.attempt.taxonomy import BY_NAME
from rows import every_row

every = every_row("outcome", OUTCOMES)


def test_every_name_is_used_once() -> None:
    """A name means one class."""
    assert len(BY_NAME) == len(OUTCOMES) == 26


@every
def test_flags_agree(outcome: Outcome) -> None:
    """Whoever is the right party is a person, whatever a person did needed an answered call."""
    if outcome.right_party:
        assert outcome.human
    if outcome.human or outcome.human is None or outcome.machine:
        assert outcome.when == "answered"
    if outcome.positive or outcome.dnc_request:
        assert outcome.right_party
    if outcome.appointment or outcome.conversion:
        assert outcome.positive
    assert not (outcome.machine and outcome.human)
    # Of an answer nobody knows by whom it was; of a person, perhaps not which.
    assert outcome.human is not None or outcome.right_party is None
    assert outcome.right_party is not None or outcome.human in (None, True)


@every
def test_final_classes_are_not_redialed(outcome: Outcome) -> None:
    """What is final is not dialed again, and what is not final may be."""
    assert (outcome.redial in {"no", "never"}) == outcome.final


@every
def test_every_class_says_what_it_means(outcome: Outcome) -> None:
    """The meaning is words for a person."""
    assert " " in outcome.meaning


FAMILIES = {
    "human": {
        "person_unknown",
        "early_hangup",
        "dead_air",
        "dropped_by_us",
        "gatekeeper_third_party",
        "wrong_number",
        "right_party_neutral",
        "not_interested",
        "callback",
        "positive",
        "appointment",
        "conversion",
        "dnc_request",
    },
    "machine": {"machine", "fax"},
    "unknown": {"connected_unknown"},
    "no_attempt": {"dnc_screened", "in_progress", "system_noise"},
}


@every
def test_family(outcome: Outcome) -> None:
    """Each class is of the coarse kind that it is drawn as; the rest was not connected."""
    expected = [family for family, names in FAMILIES.items() if outcome.name in names]
    assert outcome.family == (expected[0] if expected else "not_connected")
