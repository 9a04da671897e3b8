"""Leads that the service refused for what can be mended, as a lead file that can be cleaned and sent again.

The fields stand under the contract's names, custom fields under their own, so that reading the file needs
no help; what was wrong stands behind them in columns that reading drops.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import pandas as pd

from dialframe.flows.ledger import Journal
from dialframe.flows.outcomes import Ledger

#: Reasons that a person can do something about, or that pass by themselves.
MENDABLE: Final = frozenset(
    {
        "invalid_phone", "missing_phone", "field_rule", "not_stored", "unrecognised",
        "not_in_campaign",
    }
)  # fmt: skip

_FIELDS: Final = ("external_id", "phone", "first_name", "last_name", "full_name", "email")
_META: Final = ("_file", "_line", "_row", "_outcome", "_reason", "_field", "_value")
_CUSTOM: Final = "custom_fields"


def send_again(found: Ledger, book: Journal) -> pd.DataFrame:
    """The leads that may be sent again, as they were sent, each with why it was refused.

    Columns: the contract's lead input fields, the custom fields, then `_file`, `_line`, `_row`,
    `_outcome`, `_reason`, `_field` and `_value`.
    """
    frame = found.frame
    mendable = frame["reason"].isin(MENDABLE) | (frame["status"] == "batch_refused")
    wanted = frame[mendable & (frame["outcome"] == "refused")]
    places = {
        number: dict(zip(rows["_line"], rows.to_dict("records"), strict=True))
        for number, rows in wanted.groupby("batch")
    }
    records = [
        _record(lead, told[lead["line"]])
        for number, told in places.items()
        for lead in book.batch(int(str(number)))
        if lead["line"] in told and lead["file"] == told[lead["line"]]["_file"]
    ]
    custom = dict.fromkeys(name for record in records for name in record)
    names = [*_FIELDS, *(name for name in custom if name not in {*_FIELDS, *_META}), *_META]
    return pd.DataFrame(
        {name: pd.Series([record.get(name, "") for record in records], dtype="str")
         for name in names}
    )  # fmt: skip


def _record(lead: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, str]:
    body = lead["body"]
    custom = {str(name): str(value) for name, value in body.get(_CUSTOM, {}).items()}
    fields = {name: str(body[name]) for name in _FIELDS if name in body}
    refused = _text(told["field"])
    value = {**fields, **{f"{_CUSTOM}.{name}": text for name, text in custom.items()}}
    return {
        **custom,
        **fields,
        "_file": lead["file"],
        "_line": str(lead["line"]),
        "_row": str(lead.get("row", "")),
        "_outcome": told["status"],
        "_reason": _text(told["reason"]),
        "_field": refused,
        "_value": value.get(refused, ""),
    }


def _text(value: object) -> str:
    return "" if pd.isna(value) else str(value)
