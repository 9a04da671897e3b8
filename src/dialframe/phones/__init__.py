"""Phone numbers to E.164 and what a numbering plan says of them; knows nothing of files or leads."""

from dialframe.phones.numbers import COLUMNS, normalise
from dialframe.phones.reading import (
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
    "read_number",
]
