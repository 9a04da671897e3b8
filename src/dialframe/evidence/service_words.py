"""What the service says of persons who must not be called: a lead's status, a call's disposition, an event."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from dialframe import instants
from dialframe.evidence.log import EvidenceLog
from dialframe.evidence.record import REQUEST_CODES, Record
from dialframe.privacy import E164

_BETWEEN: Final = re.compile(r"[\s_-]+")
_CODES: Final = frozenset(_BETWEEN.sub("", code).casefold() for code in REQUEST_CODES)
#: The table's fields that say when it was so, the first that is there.
_TIMES: Final = {
    "leads": ("updated_at", "created_at"),
    "calls": ("ended_at", "created_at"),
    "events": ("logged_at", "created_at"),
}


def learn(
    log: EvidenceLog, table: str, records: Iterable[Mapping[str, Any]], observed_at: datetime
) -> int:
    """Write down whom rows of the service name as not to be called, each row once however often it is read.

    Args:
        log: The evidence log.
        table: Name of the rows' table.
        records: Its rows.
        observed_at: When they were read, with a zone.

    Returns:
        How many records are new.

    Raises:
        StoreError: The log is not what was written, or the disk refuses.
    """
    if table not in _TIMES:
        return 0
    refusals = list(_refusals(table, records, observed_at))
    if not refusals:
        return 0
    with log.writing():
        # What a person took back since is not said anew by the same row.
        known = {
            (each.source, each.detail.get("row"), each.detail.get("reason"))
            for each in log.records(["refusal"], numbers=[each.number or "" for each in refusals])
        }
        new: dict[object, Record] = {}
        for each in refusals:
            said = (each.source, each.detail.get("row"), each.detail.get("reason"))
            if said not in known:
                new.setdefault(said, each)
        return log.append(new.values())


def is_request(code: object) -> bool:
    """Whether a disposition means "do not call me again", whatever its case, blanks, dashes and underscores.

    Args:
        code: The disposition.

    Returns:
        False for what is no text, too.

    Example:
        >>> is_request("do_not_call"), is_request("sale")
        (True, False)
    """
    return isinstance(code, str) and _is_code(code)


@lru_cache(1024)
def _is_code(code: str) -> bool:
    return _BETWEEN.sub("", code).casefold() in _CODES


def _refusals(table: str, records: Iterable[object], observed_at: datetime) -> Iterator[Record]:
    for row in records:
        if not isinstance(row, Mapping):
            continue
        facts = row
        if table == "leads":
            if row.get("status") != "dnc":
                continue
            reason, phone = "lead status dnc", row.get("phone")
        elif table == "calls":
            if not is_request(row.get("disposition")):
                continue
            own = "from_number" if row.get("direction") == "inbound" else "to_number"
            reason, phone = f"disposition {row['disposition']}", row.get(own)
        else:
            facts = {**row, **_data(row)}
            code = facts.get("disposition_code")
            if facts.get("type") != "disposition.logged" or not is_request(code):
                continue
            reason, phone = f"disposition {code}", facts.get("phone")
        if isinstance(phone, str) and E164.fullmatch(phone):
            at = next(filter(None, (_instant(facts.get(name)) for name in _TIMES[table])), None)
            # A row of the future came from a wrong clock: it was so when it was read.
            at = observed_at if at is None or at > observed_at else at
            yield Record(
                "refusal", at, phone, table, detail={"reason": reason, "row": row.get("id")}
            )


def _data(row: Mapping[str, Any]) -> Mapping[str, Any]:
    data = row.get("data")
    try:
        data = json.loads(data) if isinstance(data, str) else data
    except ValueError:
        return {}
    return (
        {name: data[name] for name in data if name not in ("id", "type")}
        if isinstance(data, Mapping)
        else {}
    )


def _instant(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo is not None else None
    return instants.parse(value) if isinstance(value, str) else None
