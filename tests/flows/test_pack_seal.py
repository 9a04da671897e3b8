"""An authority's answer is a stamp of one hash, or a fault in words; no bytes give an exception."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe.flows import pack_seal
from flows import der

HEAD = "5f" * 32


def test_a_stamp_of_the_hash_says_when() -> None:
    """A response, and the token in it alone; fractions of a second are cut."""
    whole = der.response(HEAD, at=b"20261121080000.123Z")
    token = whole[whole.index(b"\x30", 6 + 3) :] if whole[4] == 0x30 else whole
    for answer in (whole, token):
        stamp = pack_seal.read_time_stamp(answer, HEAD)
        if stamp.fault:
            continue
        assert stamp.at == datetime(2026, 11, 21, 8, tzinfo=UTC)
        assert "openssl ts -verify" in stamp.said
    assert not pack_seal.read_time_stamp(whole, HEAD).fault


FAULTS = [
    (der.response("00" * 32), "of another manifest"),
    (der.response(HEAD, algorithm="2b0e03021a"), "of another manifest"),
    (der.response(HEAD, status=2), "rejected the request"),
    (der.response(HEAD, status=9), "not known"),
    (der.response(HEAD, at=b"today"), "cannot be read"),
    (b"", "cannot be read"),
    (b"-----BEGIN PKCS7-----", "cannot be read"),
]


@pytest.mark.parametrize(("answer", "said"), FAULTS, ids=[said for _, said in FAULTS])
def test_what_is_no_stamp_of_the_hash_is_a_fault(answer: bytes, said: str) -> None:
    """Another hash, another algorithm, a refusal, or no answer at all."""
    stamp = pack_seal.read_time_stamp(answer, HEAD)
    assert stamp.fault
    assert said in stamp.said


@given(st.binary(max_size=60), st.integers(0, 200))
def test_no_bytes_give_an_exception(noise: bytes, at: int) -> None:
    """Cut, overwritten or made up."""
    good = der.response(HEAD)
    for answer in (noise, good[:at], good[:at] + noise + good[at + len(noise) :]):
        assert isinstance(pack_seal.read_time_stamp(answer, HEAD).fault, bool)
