"""Which lead a call was for, and the groups that leads are split by."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.analytics.attempt.frames_to_arrays import (
    Ints,
    Mask,
    arrow,
    frozen,
    in_order,
    is_word,
    numbered,
    once,
    require,
    whole_numbers,
)
from dialframe.analytics.attempt.taxonomy import NO_GROUP
from dialframe.errors import ConfigError
from dialframe.frames import custom_field

#: How sure a match is, from sure to none.
#: A call record names no lead (contract, Call record); a lead's number never changes (contract, Lead).
QUALITIES: Final = (
    "event",
    "click_to_call",
    "campaign_and_number",
    "number_only",
    "ambiguous",
    "none",
)
PLACE: Final = {quality: place for place, quality in enumerate(QUALITIES)}

#: Columns of a frame of attempts that went back into calls: number and lead that are known already.
NUMBERED: Final = "_attempt"
GIVEN_LEAD: Final = "_lead_id"
#: Field of a lead that says where it came from, where no other is named.
#: The service keeps the source of a lead in this custom field (contract, Lead input fields).
SOURCE: Final = "lead_source"

#: The event that names call and lead.
#: Beside it only an answer to click-to-call names both (contract, Event data; Started call).
LOGGED: Final = "disposition.logged"

_NO_LEAD: Final = -1
_SEVERAL: Final = -2

#: Numbers whose digits are held as text at a time, so that memory does not grow with the calls.
_AT_ONCE: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Matched:
    """Row of the lead of each call (negative where there is none) and place in `QUALITIES`."""

    lead: npt.NDArray[np.int32]
    quality: npt.NDArray[np.int8]

    def quality_is(self, name: str) -> Mask:
        """True where the match is of that quality."""
        return np.asarray(self.quality == PLACE[name])


def match_rows(
    calls: pd.DataFrame,
    leads: pd.DataFrame,
    *,
    events: pd.DataFrame | None = None,
    started: pd.DataFrame | None = None,
) -> Matched:
    """The lead of each call as arrays: rows of `leads` by position.

    A lead is found by the ids of an event or of a click-to-call; else by campaign and number; else
    by number alone, if one lead only has it.

    Raises:
        ConfigError: A column is missing.
    """
    require(calls, ("direction", "from_number", "to_number", "campaign_id"), "calls")
    require(leads, ("id", "phone", "campaign_id"), "leads")
    if not len(leads):
        none = np.full(len(calls), _NO_LEAD, dtype=np.int32)
        return Matched(none, np.full(len(calls), PLACE["none"], dtype=np.int8))
    lead, quality = once(
        "match",
        [calls[name] for name in ("direction", "from_number", "to_number", "campaign_id")]
        + [leads[name] for name in ("phone", "campaign_id")],
        lambda: _by_number(calls, leads),
    )
    # The event comes last, and so has the last word: it says what the call was logged on.
    named = (("click_to_call", started), ("event", None if events is None else logged(events)))
    for name, pairs in named:
        if pairs is not None and len(pairs):
            require(calls, ("id",), "calls")
            require(pairs, ("call_id", "lead_id"), name.replace("_", " "))
            # The last word on a call is the one.
            known = pairs.dropna(subset=["call_id", "lead_id"])
            known = known.drop_duplicates("call_id", keep="last")
            pair = _codes(pc.index_in(arrow(calls["id"]), value_set=arrow(known["call_id"])))
            row_of_pair = _codes(
                pc.index_in(arrow(known["lead_id"]), value_set=arrow(leads["id"]))
            )
            row = np.append(row_of_pair, _NO_LEAD)[pair].astype(np.int64)
            lead = np.where(row >= 0, row, lead)
            quality = np.where(row >= 0, np.int8(PLACE[name]), quality)
    return Matched(np.maximum(lead, _NO_LEAD).astype(np.int32), quality)


def logged(events: pd.DataFrame) -> pd.DataFrame:
    """What `disposition.logged` events say, one row each in the order of time.

    Returns:
        Columns `call_id`, `lead_id`, `disposition` (text) and `logged_at` (UTC). Events whose data
        is not an object are left out.

    Raises:
        ConfigError: A column is missing.
    """
    require(events, ("type", "data"), "events")
    contents = [_object(cell) for cell in events.loc[is_word(events["type"], LOGGED), "data"]]
    fields = {"call_id": "call_id", "lead_id": "lead_id", "disposition": "disposition_code"}
    frame = pd.DataFrame(
        {
            name: pd.array([_text(row.get(key)) for row in contents], dtype="str")
            for name, key in fields.items()
        }
    )
    at = pd.to_datetime(
        pd.Series([_text(row.get("logged_at")) for row in contents], dtype="str"),
        utc=True, format="ISO8601", errors="coerce",
    )  # fmt: skip
    frame["logged_at"] = at.astype("datetime64[us, UTC]")
    return frame.sort_values("logged_at", kind="stable", ignore_index=True)


def called_numbers(calls: pd.DataFrame) -> pa.Array:
    """The customer's number of each call: called, or calling where the call is inbound."""
    number = arrow(calls["to_number"])
    inbound = is_word(calls["direction"], "inbound")
    if not inbound.any():
        return number
    return pc.replace_with_mask(
        number, pa.array(inbound), arrow(calls["from_number"][inbound]).cast(number.type)
    )


def next_to(dialed: pa.Array, when: Ints, numbers: pd.Series, at: Ints, *, before: bool) -> Ints:
    """The last call to each number that began by an instant, or the first from it on; -1 without one.

    Args:
        dialed: The number of each call.
        when: When each began.
        numbers: Numbers that are looked for.
        at: The instant of each of these.
        before: By the instant, or from it on.
    """
    wanted = arrow(numbers).cast(dialed.type)
    distinct = pc.unique(wanted.drop_null())
    code, place = (_codes(pc.index_in(n, value_set=distinct)) for n in (dialed, wanted))
    known = np.flatnonzero(code >= 0)
    order = known[np.lexsort((when[known], code[known]))]
    low, high = np.searchsorted(code[order], place), np.searchsorted(code[order], place, "right")
    side: Literal["left", "right"] = "right" if before else "left"
    begins = when[order]
    # Of calls at one instant the last one in the frame is the last.
    index = np.array(
        [a + np.searchsorted(begins[a:z], t, side) - before for a, z, t in zip(low, high, at, strict=True)],
        dtype=np.int64,
    )  # fmt: skip
    is_there = (place >= 0) & (index >= low) & (index < high)
    return np.append(order, _NO_LEAD)[np.where(is_there, index, -1)]


def _by_number(
    calls: pd.DataFrame, leads: pd.DataFrame
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
    numbers, phone = called_numbers(calls), arrow(leads["phone"])
    # Whole numbers are found twice as fast as text, where all of both can be such.
    # Both or neither: a whole number is never equal to a text.
    whole, whole_phone = _whole(numbers), _whole(phone)
    if whole is not None and whole_phone is not None:
        numbers, phone = whole, whole_phone
    phones = phone.dictionary_encode()
    loaded = _codes(phones.indices)
    called = _codes(pc.index_in(numbers, value_set=phones.dictionary))
    campaigns = pc.unique(arrow(leads["campaign_id"]).drop_null())
    campaign = _codes(pc.index_in(arrow(leads["campaign_id"]), value_set=campaigns))
    call_campaign = _codes(pc.index_in(arrow(calls["campaign_id"]), value_set=campaigns))

    known = loaded >= 0
    row = np.full(len(phones.dictionary), _NO_LEAD, dtype=np.int32)
    row[loaded[known]] = np.flatnonzero(known)
    # Two leads with one number: which of them was meant is not guessed.
    row[np.bincount(loaded[known], minlength=len(row)) > 1] = _SEVERAL
    lead = np.append(row, np.int32(_NO_LEAD))[called]
    same = (call_campaign >= 0) & (call_campaign == np.append(campaign, -1)[lead])
    several = np.flatnonzero(lead == _SEVERAL)
    if len(several):
        shared = np.flatnonzero((loaded >= 0) & (np.append(row, 0)[loaded] == _SEVERAL))
        row_of_pair = _find(
            _pair(called[several], call_campaign[several], len(campaigns)),
            _pair(loaded[shared], campaign[shared], len(campaigns)),
        )
        lead[several] = np.where(row_of_pair >= 0, np.append(shared, 0)[row_of_pair], _SEVERAL)
        same[several] = row_of_pair >= 0
    places = ("campaign_and_number", "number_only", "ambiguous", "none")
    pair, alone, ambiguous, none = (np.int8(PLACE[name]) for name in places)
    quality = np.where(lead >= 0, np.where(same, pair, alone), none)
    return lead, np.where(lead == _SEVERAL, ambiguous, quality)


def _whole(numbers: pa.Array) -> pa.Array | None:
    """E.164 texts as whole numbers; None where one is another text, so that no two become one."""
    plain = whole_numbers(numbers)
    if plain is not None:
        return pa.array(plain)
    first = pc.starts_with(numbers, "+")
    odd = pc.or_(pc.starts_with(numbers, "+0"), pc.starts_with(numbers, "+-"))
    if pc.any(pc.or_(odd, pc.invert(first))).as_py():
        return None
    whole = np.empty(len(numbers), dtype=np.int64)
    try:
        for begin in range(0, len(numbers), _AT_ONCE):
            digits = pc.utf8_slice_codeunits(numbers.slice(begin, _AT_ONCE), 1)
            whole[begin : begin + _AT_ONCE] = pc.cast(digits, pa.int64()).fill_null(0)
    except pa.ArrowInvalid:
        return None
    return pa.array(whole, mask=whole == 0)


def _codes(indices: pa.Array) -> npt.NDArray[np.int32]:
    """Places as numbers, -1 where null."""
    return np.asarray(pc.fill_null(indices, _NO_LEAD), dtype=np.int32)


def _pair(number: npt.NDArray[np.int32], campaign: npt.NDArray[np.int32], campaigns: int) -> Ints:
    known = (number >= 0) & (campaign >= 0)
    return np.where(known, number.astype(np.int64) * max(campaigns, 1) + campaign, -1)


def _find(wanted: Ints, keys: Ints) -> Ints:
    """Place of each wanted key: -1 where none has it, -2 where several have."""
    rows = np.flatnonzero(keys >= 0)
    distinct, first, counts = np.unique(keys[rows], return_index=True, return_counts=True)
    if not len(distinct):
        return np.full(len(wanted), _NO_LEAD, dtype=np.int64)
    row = np.where(counts == 1, rows[first], _SEVERAL)
    index = np.minimum(np.searchsorted(distinct, wanted), len(distinct) - 1)
    return np.where(distinct[index] == wanted, row[index], _NO_LEAD)


def _object(cell: object) -> dict[str, object]:
    try:
        content = json.loads(cell) if isinstance(cell, str) else cell
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


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


def of_campaign(frame: pd.DataFrame, campaign: str | None) -> Mask:
    """Which rows are of a campaign; all of them where none is asked for."""
    if campaign is None:
        return np.ones(len(frame), dtype=bool)
    return np.asarray((frame["campaign_id"] == campaign).fillna(value=False), dtype=bool)


def lead_groups(leads: pd.DataFrame, by: str | None) -> tuple[Ints, list[str]]:
    """Each lead's group as a place in a sorted list: a column of the leads, or a custom field; `all` without.

    Raises:
        ConfigError: `by` is neither.
    """
    if by is None:
        return np.zeros(len(leads), dtype=np.int64), ["all"]
    column = by if by in leads.columns else "phone" if by == "region" else "custom_fields"
    require(leads, (column,), "leads")

    def make() -> tuple[Ints, list[str]]:
        values = _regions(leads["phone"]) if by == "region" else (
            leads[by].astype("str") if by in leads.columns else _custom(leads, by)
        )  # fmt: skip
        code, names = in_order(values.fillna(NO_GROUP))
        return frozen(code), names

    # Reading the JSON of custom fields takes longer than most analyses of them.
    code, names = once(("groups", by), [leads[column]], make)
    return code, list(names)


def _custom(leads: pd.DataFrame, by: str) -> pd.Series:
    # Many leads carry the same fields, and reading JSON is the slow part.
    index, distinct = numbered(leads["custom_fields"])
    once = custom_field(pd.DataFrame({"custom_fields": [*distinct, None]}, dtype="str"), by)
    values = once.take(np.where(index < 0, len(distinct), index)).set_axis(leads.index)
    if len(leads) and not values.notna().any():
        raise ConfigError(
            f"by={by!r} is neither a column of the leads frame nor a custom field of any lead; "
            "lead_source, campaign_id and region are usual"
        )
    return values


def _regions(phones: pd.Series) -> pd.Series:
    """`+1 212` for the North American plan, else the first three digits: `+447`."""
    text = phones.astype("str")
    # Ten digits behind +1: country code, area code, exchange, line (North American Numbering Plan).
    nanp = text.str.match(r"\+1\d{10}$").fillna(value=False)
    return (text.str.slice(0, 2) + " " + text.str.slice(2, 5)).where(nanp, text.str.slice(0, 4))
