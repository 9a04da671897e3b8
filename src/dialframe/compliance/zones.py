"""Candidate time zones for the audit: those of `dialframe.phones.zones`, and states as leads name them."""

from __future__ import annotations

import pandas as pd

from dialframe.frames import custom_field
from dialframe.phones.area_codes import US_REGIONS, area_codes, state_code, state_zones
from dialframe.phones.zones import (
    NO_NUMBER,
    NO_ZONE,
    Confidence,
    Zones,
    of_number,
    of_numbers,
    unknown_states,
)

__all__ = [
    "NO_NUMBER",
    "NO_ZONE",
    "US_REGIONS",
    "Confidence",
    "Zones",
    "area_codes",
    "of_number",
    "of_numbers",
    "state_code",
    "state_zones",
    "states_from",
    "unknown_states",
]


def states_from(leads: pd.DataFrame, field: str) -> pd.Series:
    """What a custom field of the leads says about the state of each number.

    Args:
        leads: Frame of the leads table.
        field: Key inside `custom_fields`, `state` or `zip` for instance.

    Returns:
        `str` series of the field, indexed by number, only where lead and number have one.
    """
    named = custom_field(leads, field)
    named.index = pd.Index(leads["phone"])
    return named[named.notna().to_numpy() & named.index.notna()]
