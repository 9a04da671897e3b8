"""What becomes of leads that are sent in (contract, Lead outcome objects); decides, stores nothing.

The checks and their order are the contract's: sanctioned destinations, phone validation, duplicates
in the request and in the campaign, the account's field rules, the Do-Not-Call screen.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

from pydantic import Field

from dialframe.contract import limits
from dialframe.contract.ids import CampaignId
from dialframe.contract.models.leads import CustomFields, ExternalId
from dialframe.contract.models.shape import Flag, Integer, Request
from dialframe.sandbox import numbers
from dialframe.sandbox.exchange import Json

_CUSTOM: Final = "custom_fields."


class LeadRow(Request):
    """One lead as it comes: a missing or empty phone is an outcome of that lead, not of the request."""

    external_id: ExternalId | None = None
    phone: Annotated[str, Field(max_length=limits.PHONE_CHARS[1])] | None = None
    first_name: Annotated[str, Field(max_length=limits.FIRST_NAME_CHARS)] | None = None
    last_name: Annotated[str, Field(max_length=limits.LAST_NAME_CHARS)] | None = None
    full_name: Annotated[str, Field(max_length=limits.FULL_NAME_CHARS)] | None = None
    email: Annotated[str, Field(max_length=limits.EMAIL_CHARS)] | None = None
    custom_fields: CustomFields | None = None

    @property
    def name(self) -> str | None:
        """The full name, or what first and last name make."""
        parts = (self.first_name, self.last_name)
        return self.full_name or " ".join(part for part in parts if part) or None


class ImportRows(Request):
    """A batch for one campaign."""

    campaign_id: CampaignId
    leads: Annotated[list[LeadRow], Field(min_length=1, max_length=limits.LEADS_PER_IMPORT)]


class CreateRow(LeadRow):
    """One lead with what only the single add takes."""

    campaign_id: CampaignId
    source: (
        Annotated[str, Field(min_length=limits.SOURCE_CHARS[0], max_length=limits.SOURCE_CHARS[1])]
        | None
    ) = None
    dial_now: Flag | None = None
    dial_within_seconds: (
        Annotated[Integer, Field(ge=limits.DIAL_WITHIN_S[0], le=limits.DIAL_WITHIN_S[1])] | None
    ) = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one lead.

    Attributes:
        phone: E.164 form of an accepted lead.
        field: The first field that a field rule refused.
        lead_id: The lead that is already there, of a duplicate in the campaign.
    """

    row: LeadRow = field(repr=False)
    status: str = "accepted"
    reason: str | None = None
    phone: str = field(default="", repr=False)
    field: str | None = None
    lead_id: str | None = None


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A rule of the account about one field."""

    field: str
    required: bool
    pattern: str | None

    def broken_by(self, row: LeadRow) -> bool:
        """Whether a lead breaks it; the pattern is searched for, as JSON Schema does."""
        value = self._value(row)
        if value is None or value == "":
            return self.required
        text = value if isinstance(value, str) else json.dumps(value)
        return self.pattern is not None and re.search(self.pattern, text) is None

    def _value(self, row: LeadRow) -> Any:
        if self.field.startswith(_CUSTOM):
            return (row.custom_fields or {}).get(self.field.removeprefix(_CUSTOM))
        return row.name if self.field == "full_name" else getattr(row, self.field)


def judge(
    db: sqlite3.Connection,
    client: int,
    campaign_id: str,
    rows: Sequence[LeadRow],
    sanctioned: frozenset[str],
) -> list[Judged]:
    """One outcome per lead, in the order given."""
    judged = [_by_number(row, sanctioned) for row in rows]
    judged = _without_repeats(judged)
    judged = _without_known(db, client, campaign_id, judged)
    judged = _by_rules(_rules(db, client), judged)
    return _by_list(db, client, judged)


def _by_number(row: LeadRow, sanctioned: frozenset[str]) -> Judged:
    if row.phone is None or not row.phone.strip():
        return Judged(row, "invalid", "missing_phone")
    number = numbers.read(row.phone)
    if number is not None and number.country in sanctioned:
        return Judged(row, "blocked_country")
    if number is None or not number.valid:
        return Judged(row, "invalid", "invalid_phone")
    return Judged(row, phone=number.e164)


def _without_repeats(judged: list[Judged]) -> list[Judged]:
    phones: set[str] = set()
    names: set[str] = set()
    kept: list[Judged] = []
    for one in judged:
        if one.status != "accepted":
            kept.append(one)
            continue
        again = one.phone in phones or one.row.external_id in names
        kept.append(_refused(one, "duplicate", "duplicate_in_request") if again else one)
        phones.add(one.phone)
        if one.row.external_id is not None:
            names.add(one.row.external_id)
    return kept


def _without_known(
    db: sqlite3.Connection, client: int, campaign_id: str, judged: list[Judged]
) -> list[Judged]:
    """An external id is unique per client, so one that any campaign holds cannot be stored again."""
    phones = json.dumps([one.phone for one in judged if one.phone])
    names = json.dumps([one.row.external_id for one in judged if one.row.external_id])
    by_phone = dict(
        db.execute(
            "SELECT phone, id FROM leads WHERE client = ? AND campaign_id = ?"
            " AND phone IN (SELECT value FROM json_each(?))",
            (client, campaign_id, phones),
        )
    )
    by_name = dict(
        db.execute(
            "SELECT external_id, id FROM leads WHERE client = ?"
            " AND external_id IN (SELECT value FROM json_each(?))",
            (client, names),
        )
    )
    return [
        _refused(one, "duplicate", "duplicate_in_campaign", lead_id=known)
        if one.status == "accepted"
        and (known := by_phone.get(one.phone) or by_name.get(one.row.external_id))
        else one
        for one in judged
    ]


def _by_rules(rules: list[FieldRule], judged: list[Judged]) -> list[Judged]:
    kept: list[Judged] = []
    for one in judged:
        broken = next((rule.field for rule in rules if rule.broken_by(one.row)), None)
        if one.status == "accepted" and broken is not None:
            kept.append(_refused(one, "invalid", "field_rule", field=broken))
        else:
            kept.append(one)
    return kept


def _by_list(db: sqlite3.Connection, client: int, judged: list[Judged]) -> list[Judged]:
    phones = json.dumps([one.phone for one in judged if one.status == "accepted"])
    rows = db.execute(
        "SELECT phone FROM dnc WHERE client = ? AND phone IN (SELECT value FROM json_each(?))",
        (client, phones),
    )
    listed = {phone for (phone,) in rows}
    return [
        _refused(one, "on_dnc", None) if one.status == "accepted" and one.phone in listed else one
        for one in judged
    ]


def _refused(
    one: Judged,
    status: str,
    reason: str | None,
    *,
    field: str | None = None,
    lead_id: str | None = None,
) -> Judged:
    return replace(one, status=status, reason=reason, field=field, lead_id=lead_id)


def _rules(db: sqlite3.Connection, client: int) -> list[FieldRule]:
    rows = db.execute(
        "SELECT field, required, pattern FROM field_rules WHERE client = ? ORDER BY number",
        (client,),
    )
    return [FieldRule(name, bool(required), pattern) for name, required, pattern in rows]


def values_of(one: Judged, *, campaign_id: str, lead_id: str, now_us: int) -> Json:
    """Columns of a lead that is accepted."""
    custom = one.row.custom_fields
    return {
        "id": lead_id,
        "campaign_id": campaign_id,
        "external_id": one.row.external_id,
        "phone": one.phone,
        "full_name": one.row.name,
        "email": one.row.email,
        "status": "new",
        "attempts": 0,
        "custom_fields": None if custom is None else json.dumps(custom),
        "created_at": now_us,
        "updated_at": now_us,
    }
