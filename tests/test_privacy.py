"""What may be shown of a number and of a key."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.privacy import mask, redact, terminal_safe


@pytest.mark.parametrize(
    ("phone", "shown"),
    [
        ("+12125550142", "+121******42"),
        ("+442079460018", "+442*******18"),
        ("+123", "****"),
        ("", ""),
    ],
)
def test_number_is_masked(phone: str, shown: str) -> None:
    """The head and the last two digits stay; short ones are hidden whole."""
    assert mask(phone) == shown


@given(st.text(max_size=40))
def test_masking_keeps_the_length(phone: str) -> None:
    """A masked number is as long as the number."""
    assert len(mask(phone)) == len(phone)


@given(st.from_regex(r"\+[1-9][0-9]{6,14}", fullmatch=True))
def test_text_with_a_number_does_not_show_it(phone: str) -> None:
    """No E.164 number survives in a redacted text."""
    assert phone not in redact(f"called {phone}, twice ({phone}).")


@pytest.mark.parametrize("key", ["svc_test_ab12_Secret-part", "svc_live_x_y", "whsec_abc.def"])
def test_text_with_a_key_does_not_show_it(key: str) -> None:
    """A key loses everything but what kind of key it is."""
    assert key not in redact(f"Bearer {key}!")


def mask_json(value: object) -> object:
    """Mask a JSON value."""
    return mask(value, reach="json")


WRITINGS = (
    "+12125550142", "0012125550142", "1 (212) 555-0142", "+1 212 555 0142", "(212) 555-0142",
    "212.555.0142", "2125550142", "020 7946 0018", "+44 20 7946 0018",
)  # fmt: skip


@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("text", ["{}", "call {}, please", "{}\n{}"])
def test_a_number_is_masked_in_any_usual_writing(writing: str, text: str) -> None:
    """Fields and prose alike lose all but a few digits."""
    said = text.replace("{}", writing)

    for value in (said, [said], {"notes": said}, {"customer": {"phone": writing}}, {said: 1}):
        shown = json.dumps(mask_json(value))
        assert "55501" not in shown.replace("-", "").replace(".", "").replace(" ", "")
        assert "79460" not in shown.replace(" ", "")
        assert "*" in shown


@pytest.mark.parametrize(
    "value",
    [
        "2026-09-14", "2026-09-14T15:06:35Z", "2026-09-14T15:06:35.123456+00:00",
        "call_00000000-0000-4000-8000-000000000007", "America/New_York", "no_answer", "", None,
        True, 61, 61.5, {"a": [1, {"b": None}]},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_number_stays(value: object) -> None:
    """Instants, days, ids, codes and figures are left as they are."""
    assert mask_json(value) == value


def test_a_number_field_is_masked_whatever_it_holds() -> None:
    """Fields that are a number are masked although they do not look like one; flags are none."""
    assert mask_json({"from": "anonymous-caller"}) == {"from": "anon**********er"}
    assert mask_json({"to": 5550142, "phone": None, "from": True}) == {
        "to": "*******", "phone": None, "from": True,
    }  # fmt: skip


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
        ),
    )
)
def test_masking_is_done_once_and_for_all(value: object) -> None:
    """Masking what is masked changes nothing, and any JSON value stays JSON."""
    once = mask_json(value)

    json.dumps(once)
    assert json.dumps(mask_json(once)) == json.dumps(once)


@pytest.mark.parametrize(
    "text", ["a\x1b[31mb", "evil\u202etxt.exe", "x\x9b2Jy", "bell\x07", "\x00"]
)
def test_terminal_obeys_nothing_of_a_strangers_text(text: str) -> None:
    """Control bytes and marks that turn text around are shown as code points; line ends stay."""
    assert terminal_safe(text).isprintable()
    assert terminal_safe("two\nlines\tand a tab") == "two\nlines\tand a tab"


@pytest.mark.parametrize(
    "text",
    ["2026-10-01 to 2026-10-31", "line 48,213", "47 CFR 64.1200(c)(1)", "960 calls, 18 violations",
     "call_12345678-1234-4123-8123-123456789012"],
)  # fmt: skip
def test_days_ids_and_counts_in_prose_stay(text: str) -> None:
    """What a reader needs in order to go on stays whole."""
    assert mask(text, reach="text") == text


@given(st.text())
def test_masking_prose_twice_is_once(text: str) -> None:
    """What is masked stays as it is."""
    once = mask(text, reach="text")
    assert mask(once, reach="text") == once


def test_a_cell_of_a_megabyte_is_masked_at_once() -> None:
    """It is looked through once: a word that is no address was looked through from each of its letters."""
    assert mask("a" * 1_000_000 + " @", reach="cell").endswith(" @")
    assert (
        mask("ann@example.com, bob.b@x.org @x", reach="cell") == "a***@example.com, b***@x.org @x"
    )
