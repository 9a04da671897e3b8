"""Column tables and the frames made from them."""

from dialframe.frames.frame_files import conform, read
from dialframe.frames.frame_schemas import (
    APPOINTMENTS,
    CALLBACKS,
    CALLS,
    CAMPAIGNS,
    DISPOSITIONS,
    DNC_CHECKS,
    EVENTS,
    LEADS,
    TABLES,
    Column,
    Table,
    custom_field,
    empty,
    from_columns,
    from_records,
)

__all__ = [
    "APPOINTMENTS",
    "CALLBACKS",
    "CALLS",
    "CAMPAIGNS",
    "DISPOSITIONS",
    "DNC_CHECKS",
    "EVENTS",
    "LEADS",
    "TABLES",
    "Column",
    "Table",
    "conform",
    "custom_field",
    "empty",
    "from_columns",
    "from_records",
    "read",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
