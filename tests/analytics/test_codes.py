"""Every row of the tables of codes is true to its taxonomy, in every spelling."""

from __future__ import annotations

from typing import get_args

import pytest

from dialframe.analytics.attempt.taxonomy import (
    BY_NAME,
    CAUSES,
    DEFAULT,
    PRESETS,
    SIP,
    SPELLINGS,
    Cause,
    Field,
    Preset,
    Taxonomy,
    code_key,
)
from rows import every_row

WORDS = [
    pytest.param(row.preset, row.field, code, row.outcome, id=f"{row.preset}-{row.field}-{code}")
    for row in SPELLINGS
    for code in row.codes
]


@every_row(("preset", "field", "code", "outcome"), WORDS)
def test_word_means_its_class(preset: Preset, field: Field, code: str, outcome: str) -> None:
    """A word means its class in its own preset and in all of them, however it is written."""
    assert outcome in BY_NAME
    for taxonomy in (DEFAULT, Taxonomy.of(preset)):
        for written in (code, code.lower(), f" {code.upper()} ", code.replace(" ", "-")):
            assert taxonomy.outcome(field, written) == outcome


@every_row("cause", CAUSES)
def test_cause_means_its_class(cause: Cause) -> None:
    """A Q.850 cause means its class as number, as name, and with the prefix of its switch."""
    written = [
        str(cause.number),
        f"{cause.number}.0",
        f"Q.850;cause={cause.number}",
        f"Q850 {cause.number}",
        f"cause {cause.number}",
        *cause.freeswitch,
        *(name.replace("_", " ").lower() for name in cause.freeswitch),
        *(f"SWITCH_CAUSE_{name}" for name in cause.freeswitch),
        *cause.asterisk,
        *(f"AST_CAUSE_{name}" for name in cause.asterisk),
    ]
    for code in written:
        assert DEFAULT.outcome("hangup_cause", code) == cause.outcome, code


@every_row(("number", "outcome"), SIP.items())
def test_sip_answer_means_its_class(number: int, outcome: str) -> None:
    """A SIP answer means its class with and without the word SIP."""
    for code in (str(number), f"SIP {number}", f"SIP/2.0 {number} Some Reason", f"sip:{number}"):
        assert DEFAULT.outcome("hangup_cause", code) == outcome, code


def test_no_spelling_means_two_things() -> None:
    """Presets agree wherever they share a spelling, so their order does not matter."""
    meant: dict[tuple[str, str], set[str]] = {}
    for row in SPELLINGS:
        for code in row.codes:
            meant.setdefault((row.field, code_key(row.field, code)), set()).add(row.outcome)
    for cause in CAUSES:
        for name in {*cause.freeswitch, *cause.asterisk}:
            key = ("hangup_cause", code_key("hangup_cause", name))
            meant.setdefault(key, set()).add(cause.outcome)
    assert {key: found for key, found in meant.items() if len(found) > 1} == {}


def test_every_class_that_can_be_said_has_a_code() -> None:
    """Each class is reached by some code."""
    said = {row.outcome for row in SPELLINGS} | {cause.outcome for cause in CAUSES}
    assert said == set(BY_NAME)


def test_presets_are_those_of_the_type() -> None:
    """The list of presets and the type that names them are the same."""
    assert get_args(Preset) == PRESETS
