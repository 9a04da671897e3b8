"""Reads the forms that the pages of the web app send."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs

from starlette.requests import Request

from dialframe.errors import ConfigError
from dialframe.serving import body_of

#: Longest form that is read: a login, an answer, a cell.
MOST_BYTES: Final = 65_536
_MOST_FIELDS: Final = 1_000


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form, the last value of each.

    Raises:
        ConfigError: It is too long.
    """
    body = await body_of(request.stream(), MOST_BYTES)
    if body is None:
        raise ConfigError("the form is too long")
    try:
        pairs = parse_qs(
            body.decode(errors="replace"), keep_blank_values=True, max_num_fields=_MOST_FIELDS
        )
    except ValueError:
        raise ConfigError("the form has too many fields") from None
    return {name: values[-1] for name, values in pairs.items()}


def whole(text: str) -> int:
    """A whole number of an address or a form; 0 for anything else."""
    return (
        int(text) if text.isascii() and text.isdecimal() and len(text) < len("1000000000") else 0
    )
