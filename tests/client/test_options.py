"""Options of one call are refused where the contract would refuse them."""

from __future__ import annotations

from typing import Any

import pytest

from dialframe.client import Options, correlation
from dialframe.client.client_settings import current_correlation
from dialframe.errors import ConfigError


@pytest.mark.parametrize(
    "options",
    [
        {"timeout_s": 0}, {"timeout_s": -1}, {"timeout_s": float("nan")}, {"deadline_s": 0},
        {"deadline_s": float("inf")}, {"max_attempts": 0}, {"correlation_id": ""},
        {"correlation_id": "ä"}, {"correlation_id": "a b"}, {"correlation_id": "x" * 129},
        {"idempotency_key": ""}, {"idempotency_key": "x" * 256}, {"idempotency_key": "a\nb"},
        {"idempotency_key": " a"}, {"if_match": ""}, {"if_match": "x" * 129},
    ],
    ids=str,
)  # fmt: skip
def test_option_out_of_bounds_is_refused_by_name(options: dict[str, Any]) -> None:
    """The error begins with the option's name."""
    (name,) = options

    with pytest.raises(ConfigError, match=f"^{name}: "):
        Options(**options)


def test_longest_values_are_taken() -> None:
    """255 characters of key, 128 of correlation id and ETag are within the contract."""
    options = Options(
        idempotency_key="k" * 255,
        correlation_id="a.b_c:d-E" + "9" * 119,
        if_match='"' + "e" * 126 + '"',
    )

    assert len(options.correlation_id or "") == 128


def test_correlation_holds_inside_its_block() -> None:
    """Blocks nest, and nothing is left behind."""
    with correlation("outer"):
        with correlation("inner"):
            assert current_correlation() == "inner"
        assert current_correlation() == "outer"
    assert current_correlation() is None


def test_malformed_correlation_is_refused_before_the_block() -> None:
    """A blank in it is against the contract."""
    with pytest.raises(ConfigError, match="correlation_id"), correlation("a b"):
        pass
