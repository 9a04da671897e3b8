"""JSON read strictly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.sandbox import request_checks
from dialframe.sandbox.world.api_objects import Refusal

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=15,
)


@given(VALUES)
def test_what_json_writes_is_read_back(value: object) -> None:
    """Any value of fit text and finite numbers survives."""
    assert request_checks.parse(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b"\xff\xfe", "invalid_encoding"),
        (b'{"a": NaN}', "invalid_json"),
        (b'{"a": -Infinity}', "invalid_json"),
        (b'{"a": 1e999}', "out_of_range"),
        (b'{"a": ' + b"9" * 5000 + b"}", "invalid_json"),
        (b'{"a": 1, "a": 2}', "duplicate_name"),
        (b'{"a": {"b": 1, "b": 1}}', "duplicate_name"),
        (b'{"a": "\\u0000"}', "invalid_text"),
        (b'{"a": "\\ud800"}', "invalid_text"),
        (b'{"\\udfff": 1}', "invalid_text"),
        (b"[" * 21 + b"]" * 21, "too_deep"),
        (b"[" * 500_000, "too_deep"),
        (b'{"a":' * 100_000, "too_deep"),
        (b"\xef\xbb\xbf{}", "invalid_json"),
    ],
)
def test_what_no_body_may_be(raw: bytes, code: str) -> None:
    """Each is refused with a code that says why, and nothing else is raised."""
    with pytest.raises(Refusal) as caught:
        request_checks.parse(raw)
    assert (caught.value.code, caught.value.status) == ("validation_failed", 400)
    assert caught.value.errors[0].code == code


def test_twenty_levels_are_allowed() -> None:
    """The contract's depth of 20 counts the outermost value as the first."""
    assert request_checks.parse(b"[" * 20 + b"]" * 20)


@pytest.mark.parametrize(
    "value",
    [
        {"note": "my key is svc_test_abc_def"},
        {"a": [{"b": "svc_live_x"}]},
        {"svc_test_abc": 1},
        {"api_key": "anything"},
        {"Authorization": "Bearer x"},
    ],
)
def test_credentials_are_found(value: object) -> None:
    """As a value at any depth, as a name, or under a name that says so."""
    with pytest.raises(Refusal) as caught:
        request_checks.refuse_credential(value)
    assert (caught.value.code, caught.value.status) == ("credential_in_body", 400)


def test_what_is_no_credential_passes() -> None:
    """The bare prefix, numbers and ordinary custom fields are nobody's key."""
    request_checks.refuse_credential(
        {"custom_fields": {"token": "blue"}, "svc": "svc_test_", "api_key": 0}
    )
