"""What an argument is when it was not given, where null already means something."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, Literal


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"

    def __repr__(self) -> str:
        return "UNSET"


#: Leave this field alone, as opposed to None, which clears it.
UNSET: Final[Literal[Unset.UNSET]] = Unset.UNSET


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were given."""
    return {name: value for name, value in fields.items() if value is not UNSET}
