"""Groups of leads, and what is refused because no frame knows it; knows frames, not calls."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dialframe.analytics.columns import (
    Ints,
    in_order,
    numbered,
    require,
)
from dialframe.analytics.stages import NO_GROUP
from dialframe.errors import ConfigError
from dialframe.frames import custom_field


def no_leads() -> pd.DataFrame:
    """A frame of leads without rows."""
    names = ("id", "phone", "campaign_id", "status", "custom_fields", "created_at")
    frame = pd.DataFrame({name: pd.array([], dtype="str") for name in names})
    return frame.astype({"created_at": "datetime64[us, UTC]"})


def known_campaign(campaign: str | None, *frames: pd.DataFrame | None) -> None:
    """Check that some frame knows a campaign.

    Raises:
        ConfigError: None of them does.
    """
    if campaign is None:
        return
    known: set[str] = set()
    for frame in frames:
        if frame is not None:
            name = "campaign_id" if "campaign_id" in frame.columns else "id"
            if name not in frame.columns:
                continue
            known |= {str(value) for value in frame[name].dropna().unique()}
    if campaign not in known:
        some = ", ".join(sorted(known)[:3])
        hint = f"there are {some}" + (" and others" if len(known) > 3 else "") if known else (
            "there are no campaigns in this data; bring it up to date first"
        )  # fmt: skip
        raise ConfigError(f"campaign {campaign!r} is of no lead and no call here; {hint}")


def lead_groups(leads: pd.DataFrame, by: str) -> tuple[Ints, list[str]]:
    """Each lead's group as a place in a sorted list: a column of the leads, or a custom field.

    Raises:
        ConfigError: `by` is neither.
    """
    if by == "region":
        return in_order(_regions(leads["phone"]).fillna(NO_GROUP))
    values = leads[by].astype("str") if by in leads.columns else _custom(leads, by)
    return in_order(values.fillna(NO_GROUP))


def _custom(leads: pd.DataFrame, by: str) -> pd.Series:
    require(leads, ("custom_fields",), "leads")
    # Many leads carry the same fields, and reading JSON is the slow part.
    place, distinct = numbered(leads["custom_fields"])
    once = custom_field(pd.DataFrame({"custom_fields": [*distinct, None]}, dtype="str"), by)
    values = once.take(np.where(place < 0, len(distinct), place)).set_axis(leads.index)
    if len(leads) and not values.notna().any():
        raise ConfigError(
            f"by={by!r} is neither a column of the leads frame nor a custom field of any lead; "
            "lead_source, campaign_id and region are usual"
        )
    return values


def _regions(phones: pd.Series) -> pd.Series:
    """`+1 212` for the North American plan, else the first three digits: `+447`."""
    text = phones.astype("str")
    nanp = text.str.match(r"\+1\d{10}$").fillna(value=False)
    return (text.str.slice(0, 2) + " " + text.str.slice(2, 5)).where(nanp, text.str.slice(0, 4))
