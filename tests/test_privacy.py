"""What may be shown of a number and of a key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.privacy import mask_phone, redact


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
    assert mask_phone(phone) == shown


@given(st.text(max_size=40))
def test_masking_keeps_the_length(phone: str) -> None:
    """A masked number is as long as the number."""
    assert len(mask_phone(phone)) == len(phone)


@given(st.from_regex(r"\+[1-9][0-9]{6,14}", fullmatch=True))
def test_text_with_a_number_does_not_show_it(phone: str) -> None:
    """No E.164 number survives in a redacted text."""
    assert phone not in redact(f"called {phone}, twice ({phone}).")


@pytest.mark.parametrize("key", ["svc_test_ab12_Secret-part", "svc_live_x_y", "whsec_abc.def"])
def test_text_with_a_key_does_not_show_it(key: str) -> None:
    """A key loses everything but what kind of key it is."""
    assert key not in redact(f"Bearer {key}!")
