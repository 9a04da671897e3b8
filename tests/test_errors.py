"""Errors carry facts, hide secrets and cross process borders."""

from __future__ import annotations

import pickle

import pytest

from dialframe import errors


@pytest.mark.parametrize("family", errors.FAMILIES.values(), ids=lambda family: family.__name__)
def test_every_api_error_pickles(family: type[errors.ApiError]) -> None:
    """An API error comes back from a pickle with all that it carried."""
    error = family(
        "calls.list was refused",
        operation="calls.list",
        status=403,
        code="insufficient_scope",
        request_id="req_1",
        retry_after_s=2.0,
        errors=(errors.FieldProblem("/phone", "missing"),),
        key="k-1",
    )
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - made one line above

    assert type(copy) is family
    assert str(copy) == str(error)
    assert copy.__dict__ == error.__dict__


@pytest.mark.parametrize(
    "error",
    [
        errors.ConfigError("no key"),
        errors.TransportError("no answer", operation="me", sent=False),
        errors.ContractError("not JSON", operation="me", where="body"),
        errors.StoreError("full"),
        errors.LeadFileError("empty", path="x.csv", line=3),
        errors.WebhookError("not genuine", why="bad_signature"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_other_error_pickles(error: errors.DialframeError) -> None:
    """The rest of the tree pickles too."""
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - made one line above

    assert (type(copy), str(copy), copy.__dict__) == (type(error), str(error), error.__dict__)


def test_config_error_is_a_value_error() -> None:
    """Code that catches ValueError catches a wrong setting."""
    assert issubclass(errors.ConfigError, ValueError)


def test_messages_hide_keys_and_mask_numbers() -> None:
    """Neither a key nor a whole number survives in a message."""
    error = errors.ApiError(
        "svc_test_abc_def was refused for +12125550142", detail="whsec_zzz and +442079460018"
    )

    assert "abc_def" not in str(error)
    assert "+12125550142" not in str(error)
    assert "zzz" not in error.detail
    assert "+442079460018" not in error.detail
