"""What a cell says about calling the person: prohibitions are found, ordinary sentences are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.opt_outs import (
    is_suspect,
    read_remark,
    read_stance,
    scope_of,
    words,
)
from opt_outs.notes import NOTES, parted
from rows import every_row, labeled


@every_row(("said", "cell"), labeled(NOTES["said"]))
def test_a_prohibition_is_read(cell, said):
    """In six languages, in any case, alone, among tags and in a sentence."""
    assert read_remark(cell) == said
    assert is_suspect(cell)


@every_row("cell", ["", *parted("innocent")])
def test_an_ordinary_sentence_says_nothing(cell):
    """Calls that were made, e-mail alone, and prohibitions that are taken back."""
    assert read_remark(cell) is None


def _told(rule: words.Rule, place: int) -> str:
    """A text of the first or the last telling word of each part of a rule."""
    choices = (
        sorted(words.class_words(min(part - {"unlisted"})))
        for part in rule.classes
        if part != {"unlisted"}
    )
    return " ".join(words[place].replace("*", "").replace("_", " ") for words in choices)


@pytest.mark.parametrize("place", [0, -1])
def test_the_quick_look_misses_no_rule(place):
    """Whatever fulfils a rule has a telling word."""
    texts = [_told(rule, place) for rule in words.rules()]

    assert all(words.telling(rule) for rule in words.rules())
    assert [text for text in texts if not is_suspect(text, of_notes=True)] == []


def test_a_doubt_holds_a_note_and_nothing_else():
    """Who reads the note decides; a shop of that name, and who asks for a call, may be called."""
    assert read_remark("RIP 2021", scope_of("Notes")) == "opt_out_unclear"
    assert read_remark("RIP 2021", scope_of("Company")) is None
    assert read_remark("his lawyer reviewed it, ready to sign", scope_of("Notes")) is None
    assert read_remark("no complaints", scope_of("Notes")) is None


@pytest.mark.parametrize("word", sorted(words.class_words("broken_alone")))
def test_words_of_a_wrong_number_are_read_alone(word):
    """In a sentence they are no statement about the number."""
    assert read_remark(word.replace("_", " ")) == "wrong_number"
    assert read_remark("he gave us a wrong number of seats") is None


def test_columns_of_things_and_of_other_channels_say_less():
    """A firm may be called DNC; `do not call` is one in any column."""
    for header in ("Company", "Street", "Email Status", "Campaign"):
        assert scope_of(header) == "calls"
        assert read_remark("DNC Plumbing", scope_of(header)) is None
        assert read_remark("unsubscribed", scope_of(header)) is None
        assert read_remark("do not call", scope_of(header)) == "opt_out"
    assert scope_of("Notes") == scope_of("Call Status") == "notes"


@pytest.mark.parametrize(
    ("header", "cell"),
    [("Lead Owner", "Robinson"), ("Prioridad", "Baja"), ("Order Status", "Removed")],
)
def test_a_word_of_refusal_may_be_a_name_or_a_rank(header, cell):
    """Where it is about somebody or something else."""
    assert read_remark(cell, scope_of(header)) is None
    assert read_remark(cell, scope_of("Status")) is not None


def test_a_column_of_wishes_says_more():
    """No contact is a wish there, and the outcome of a call elsewhere."""
    assert read_remark("No contact", scope_of("Contact Preference")) == "opt_out"
    assert read_remark("No contact", scope_of("Last Result")) is None


@pytest.mark.parametrize(
    ("cell", "stance"),
    [("DNC since May", "yes"), ("not on DNC", "no"), ("架電NG", "yes"), ("maybe", None)],
)
def test_an_opt_out_column_is_answered_in_words(cell, stance):
    """Yes, no, or nothing that is known."""
    assert read_stance(cell) == stance


def test_every_rule_names_classes_of_the_table():
    """So that none is silently never fulfilled."""
    named = frozenset[str]().union(*(rule.named | rule.unless for rule in words.rules()))

    assert named - {"unlisted", "figure"} <= set(words.table()["classes"])


@given(st.text(max_size=60))
def test_any_text_can_be_read(cell):
    """Nothing that stands in a cell stops the cleaning; what is no suspect says nothing."""
    said = read_remark(cell)

    assert said is None or is_suspect(cell)


@given(
    st.sampled_from(
        ["do not call", "nicht mehr anrufen", "ne plus appeler", "no llamar", "niet bellen"]
    ),
    st.sampled_from(["hello", "vip", "2024-01-02", "Ann, NY"]),
)
def test_a_prohibition_counts_beside_anything(phrase, text):
    """Before it or behind it, between separators."""
    assert read_remark(f"{text}; {phrase}") in ("opt_out", "opt_out_unclear")
    assert read_remark(f"{phrase} | {text}") in ("opt_out", "opt_out_unclear")


@pytest.mark.parametrize("cell", [
    "Mr Jones wants zero contact going forward", "scrub her off everything",
    "her son asked that we refrain from phoning", "has instructed solicitors re nuisance calls",
    "not to be approached again", "exige que dejemos de marcarle", "quiere salir de la lista",
    "souhaite ne plus être sollicité", "que la dejen en paz", "verbietet weitere Anrufe",
    "will von uns nichts mehr hören", "si oppone al trattamento", "não quer mais ser incomodado",
    "odwołał zgodę marketingową", "spärrad i NIX", "samtykke trukket tilbage", "要求删除号码",
])  # fmt: skip
def test_words_of_refusal_that_stand_together_hold_a_record(cell):
    """Whatever stands between them: the tables name the words, not the sentences."""
    assert read_remark(cell) in ("opt_out", "opt_out_unclear")


@pytest.mark.parametrize("cell", [
    "no contact made yet", "has not been contacted", "could not reach, line busy",
    "number rings out", "complained about the price", "wants his number called after five",
    "nicht erreicht", "bisher keine Anrufe", "pas de réponse", "no contesta", "niet bereikt",
])  # fmt: skip
def test_a_report_of_a_call_holds_nobody(cell):
    """What an agent did or met refuses nothing."""
    assert read_remark(cell) is None
