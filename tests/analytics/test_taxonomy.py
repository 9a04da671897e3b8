"""A taxonomy is a value: it can be extended, compared and named by its version."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from dialframe.analytics import DEFAULT, Taxonomy
from dialframe.analytics.attempt.taxonomy import Field
from dialframe.errors import ConfigError

#: Field, code as it is written in the wild, and what it means; None is not known.
WRITTEN = [
    ("hangup_cause", "603+ Network Blocked", "blocked_or_rejected"),
    ("hangup_cause", "16 (NORMAL_CLEARING)", "connected_unknown"),
    ("hangup_cause", "480 Temporarily Unavailable", "no_answer"),
    ("hangup_cause", "SIP 599", "network_fail"),
    ("hangup_cause", "504", "network_fail"),
    ("hangup_cause", "503", "temp_unavailable"),
    ("hangup_cause", "Q.850;cause=20", "temp_unavailable"),
    ("hangup_cause", "user busy", "busy"),
    # The number of a SIP answer in any dress.
    *(("hangup_cause", code, "busy") for code in ("sip_486", "SIP-486", "sip:486", "SIP 486 Busy Here")),
    # A number that no table has is no cause, though it looks like one.
    *(("hangup_cause", code, None)
      for code in ("", "0", "128", "299", "SIP 499", "1234", "16th", "SOMETHING")),
    # A slash is not a dash: what does not apply was not a call without an answer.
    ("disposition", "NA", "no_answer"),
    ("disposition", "N/A", None),
    # The number 17 as a disposition says nothing about a busy line.
    ("disposition", "17", None),
]  # fmt: skip


@pytest.mark.parametrize(("field", "code", "outcome"), WRITTEN)
def test_codes_are_read_as_they_are_written_and_never_guessed(
    field: Field, code: str, outcome: str | None
) -> None:
    """Causes as carriers and switches write them; what no table has is not known."""
    assert DEFAULT.outcome(field, code) == outcome


def test_own_codes_in_any_spelling() -> None:
    """A code of one's own is found however it is written, and the default stays as it was."""
    mine = DEFAULT.with_codes(
        {"ZZ-top": "not_interested"}, causes={"X9": "busy"}, statuses={"Parked": "in_progress"}
    )
    assert mine.outcome("disposition", "zz TOP") == "not_interested"
    assert mine.outcome("hangup_cause", "x9") == "busy"
    assert mine.outcome("status", "PARKED") == "in_progress"
    assert DEFAULT.outcome("disposition", "ZZTOP") is None


def test_own_meaning_of_a_known_code() -> None:
    """A code that the tables have can be given another meaning, a number too."""
    mine = DEFAULT.with_codes({"SALE": "positive"}, causes={"Q.850 16": "early_hangup"})
    assert mine.outcome("disposition", "Sale") == "positive"
    assert mine.outcome("hangup_cause", "NORMAL_CLEARING") == "connected_unknown"
    assert mine.outcome("hangup_cause", "16") == "early_hangup"


def test_unknown_preset_is_refused() -> None:
    """A preset that does not exist is refused with the list of those that do."""
    with pytest.raises(ConfigError, match="vicidial, freeswitch"):
        Taxonomy.of("nortel")  # type: ignore[arg-type]


def test_presets_can_be_chosen() -> None:
    """A taxonomy of one preset does not know the words of the others."""
    freeswitch = Taxonomy.of("freeswitch")
    assert freeswitch.outcome("hangup_cause", "ORIGINATOR_CANCEL") == "no_answer"
    assert freeswitch.outcome("hangup_cause", "17") == "busy"
    assert freeswitch.outcome("disposition", "NI") is None
    assert freeswitch.name == "freeswitch"
    assert Taxonomy.of("generic") == Taxonomy.of("generic-en")


def test_version_follows_the_content() -> None:
    """The version is the same for the same codes and another for others."""
    assert re.fullmatch(r"1-[0-9a-f]{12}", DEFAULT.version)
    assert Taxonomy.of().version == DEFAULT.version
    mine = DEFAULT.with_codes({"ZZTOP": "busy"})
    assert mine.version != DEFAULT.version
    assert mine.version == DEFAULT.with_codes({"zz top": "busy"}).version
    assert mine.version != DEFAULT.with_codes({"ZZTOP": "fax"}).version
    assert DEFAULT.with_codes({"NA": "no_answer"}).codes == DEFAULT.codes


def test_a_taxonomy_can_be_sent() -> None:
    """It pickles and comes back equal."""
    back = pickle.loads(pickle.dumps(DEFAULT))  # noqa: S301 - our own bytes
    assert back == DEFAULT
    assert back.version == DEFAULT.version


def test_a_taxonomy_is_one_line() -> None:
    """The default of every signature is short, so that `help()` can be read."""
    assert len(repr(DEFAULT)) < 120
    assert DEFAULT.version in repr(DEFAULT)


def test_a_file_of_an_editor_with_a_mark_is_read(tmp_path: Path) -> None:
    """Some editors put a byte-order mark before the text; it is not a code."""
    file = tmp_path / "codes.toml"
    file.write_text('[disposition]\n"ZZTOP" = "callback"\n', encoding="utf-8-sig")
    assert DEFAULT.with_file(file).outcome("disposition", "zz-top") == "callback"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('"ZZTOP" = "calback"', "did you mean 'callback'"),
        ('"ZZTOP" = "Callback"', "did you mean 'callback'"),
        ('"ZZTOP" = 3', "use one of no_answer"),
        (
            '"ZZTOP" = "callback"\n"zz top" = "positive"',
            "'ZZTOP' and 'zz top' are one disposition",
        ),
        ('" " = "callback"', "is empty"),
    ],
    ids=["misspelled", "capital", "number", "twice", "empty"],
)
def test_a_mapping_that_cannot_be_meant_is_refused(tmp_path: Path, lines: str, said: str) -> None:
    """The refusal names the file, the code and what may have been meant; nothing is guessed."""
    file = tmp_path / "codes.toml"
    file.write_text(f"[disposition]\n{lines}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(said)) as refused:
        DEFAULT.with_file(file)
    assert str(file) in str(refused.value)


def test_one_code_in_two_spellings_of_one_class_is_fine() -> None:
    """What agrees is no contradiction."""
    own = DEFAULT.with_codes({"ZZTOP": "callback", "zz top": "callback"})
    assert own.outcome("disposition", "ZZ_TOP") == "callback"
