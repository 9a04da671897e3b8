"""Which lead a call was for; knows campaigns and numbers, since the service's calls name no lead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import Ints, Mask, numbered, require, text

#: How sure a match is, from sure to none.
QUALITIES: Final = ("campaign_and_number", "number_only", "ambiguous", "none")

_NO_LEAD: Final = -1
_SEVERAL: Final = -2


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Row of the lead of each call (negative where there is none) and place in `QUALITIES`."""

    lead: Ints
    quality: Ints


def match(calls: pd.DataFrame, leads: pd.DataFrame) -> pd.DataFrame:
    """The lead of each call.

    A lead is found by campaign and number; failing that by number alone, if one lead only has it.
    The number is `to_number`, or `from_number` of an inbound call. Nothing is guessed: several
    leads with the number are `ambiguous` and no lead is given.

    Args:
        calls: Frame of the calls table.
        leads: Frame of the leads table.

    Returns:
        One row per call on the index of `calls`: `lead_id` (null where none is given) and
        `match_quality` (of `QUALITIES`). `.attrs["match_quality"]` counts each quality.

    Raises:
        ConfigError: A column is missing.
    """
    matched = match_rows(calls, leads)
    ids: list[str | None] = [None if pd.isna(value) else str(value) for value in leads["id"]]
    frame = pd.DataFrame(
        {
            "lead_id": text([*ids, None], np.maximum(matched.lead, _NO_LEAD)),
            "match_quality": text(list(QUALITIES), matched.quality),
        },
        index=calls.index,
    )
    counts = np.bincount(matched.quality, minlength=len(QUALITIES))
    frame.attrs["match_quality"] = dict(zip(QUALITIES, map(int, counts), strict=True))
    return frame


def match_rows(calls: pd.DataFrame, leads: pd.DataFrame) -> Matched:
    """The same as arrays: rows of `leads` by position.

    Raises:
        ConfigError: A column is missing.
    """
    require(calls, ("direction", "from_number", "to_number", "campaign_id"), "calls")
    require(leads, ("id", "phone", "campaign_id"), "leads")
    inbound = np.asarray(calls["direction"].str.casefold() == "inbound", dtype=bool)
    number = calls["to_number"].where(~inbound, calls["from_number"])

    called, loaded = _together(number, leads["phone"])
    call_campaign, lead_campaign = _together(calls["campaign_id"], leads["campaign_id"])
    campaigns = 1 + max(call_campaign.max(initial=-1), lead_campaign.max(initial=-1))
    by_pair = _find(
        _pair(called, call_campaign, campaigns), _pair(loaded, lead_campaign, campaigns)
    )
    by_number = _find(called, loaded)

    lead = np.where(by_pair == _NO_LEAD, by_number, by_pair)
    choices: list[Mask] = [by_pair >= 0, lead >= 0, lead == _SEVERAL]
    quality = np.select(choices, [0, 1, 2], default=3).astype(np.int64)
    return Matched(lead, quality)


def _together(left: pd.Series, right: pd.Series) -> tuple[Ints, Ints]:
    """Codes of two columns in one numbering, -1 where null."""
    both = pd.concat([left.astype("str"), right.astype("str")], ignore_index=True)
    places, _ = numbered(both)
    return places[: len(left)], places[len(left) :]


def _pair(number: Ints, campaign: Ints, campaigns: int) -> Ints:
    known = (number >= 0) & (campaign >= 0)
    return np.where(known, number * max(campaigns, 1) + campaign, -1)


def _find(wanted: Ints, keys: Ints) -> Ints:
    """Row of each wanted key: -1 where no row has it, -2 where several have."""
    rows = np.flatnonzero(keys >= 0)
    distinct, first, counts = np.unique(keys[rows], return_index=True, return_counts=True)
    if not len(distinct):
        return np.full(len(wanted), _NO_LEAD, dtype=np.int64)
    row = np.where(counts == 1, rows[first], _SEVERAL)
    place = np.minimum(np.searchsorted(distinct, wanted), len(distinct) - 1)
    return np.where(distinct[place] == wanted, row[place], _NO_LEAD)
