"""Columns of a cleaned record; it judges nothing."""

from __future__ import annotations

from typing import Final

#: Columns of a cleaned record that come from mapped columns, in order.
LEAD_COLUMNS: Final = (
    "phone",
    "phone_extension",
    "phone_other",
    "first_name",
    "last_name",
    "full_name",
    "email",
    "external_id",
    "source",
)
