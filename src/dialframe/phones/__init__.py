"""Phone numbers to E.164 and what a numbering plan says of them."""

from dialframe.phones.normalize_numbers import COLUMNS, normalise, normalize
from dialframe.phones.parse_number import (
    TYPES,
    Reading,
    check_region,
    is_placeholder,
    read_number,
)

__all__ = [
    "COLUMNS",
    "TYPES",
    "Reading",
    "check_region",
    "is_placeholder",
    "normalise",
    "normalize",
    "read_number",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
