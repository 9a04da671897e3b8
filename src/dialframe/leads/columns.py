"""Finding the columns of a lead's fields; knows headers and shapes of cells, not outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dialframe.errors import LeadFileError
from dialframe.leads.column_map import FIELDS, SINGLE, ColumnMap, Columns, check_fields
from dialframe.leads.evidence import Evidence, examine
from dialframe.leads.headers import NOT_PHONE, plain
from dialframe.leads.lead_file import LeadFile
from dialframe.leads.likeness import header_score, phone_rank
from dialframe.phones import check_region

_HEADER_WEIGHT: Final = 0.6
_CONTENT_WEIGHT: Final = 0.4
_REQUIRED: Final = 0.57
_LEAD: Final = 0.15
_CONTENT_ONLY: Final = 0.8
_CONTENT_ONLY_FILLED: Final = 0.3
_CONTENT_ONLY_TRUST: Final = 0.7
_UNKNOWN: Final = 0.5
_MOSTLY: Final = 0.5
_WHOLE_HEADER: Final = 0.9
_SHOWN_COLUMNS: Final = 40
_SHOWN_CHARS: Final = 40
#: Content without which not even the right header is believed.
_LEAST_CONTENT: Final = {
    "first_name": 0.3,
    "last_name": 0.3,
    "full_name": 0.3,
    "email": 0.1,
    "external_id": 0.5,
}
#: Names that are the whole name alone and the given name beside a surname.
_GIVEN_BESIDE_LAST: Final = frozenset({"nombre", "nome"})


@dataclass(frozen=True, slots=True)
class _Claim:
    """One column as one field."""

    score: float
    field: str
    column: str
    place: int


def map_columns(
    lead_file: LeadFile,
    *,
    region: str | None = "US",
    mapping: ColumnMap | Mapping[str, Columns] | None = None,
) -> ColumnMap:
    """Find the columns of the lead's fields by their headers and by what is in their cells.

    Headers count 0.6 and cells 0.4; a column is taken from 0.57 on. Without a telling header a
    column is a phone only if four fifths of its cells are valid numbers and no other column comes
    near.

    Args:
        lead_file: The file.
        region: Region of national numbers, for judging phone columns.
        mapping: A saved map, or field to column (several for `phone`, `opt_out`, `consent` and
            `fax`; None to leave a field out). A saved map is taken whole; of a mapping, fields
            that it does not name are found.

    Raises:
        LeadFileError: The file has no phone column, two that cannot be told apart, or not the
            columns that the mapping names.
        ConfigError: The mapping names an unknown field.
    """
    told = _told(lead_file, mapping)
    columns = [str(name) for name in lead_file.frame.columns]
    used = {column for chosen in told.values() for column in chosen}
    evidence = {
        column: examine(lead_file.frame[column], check_region(region))
        for column in columns
        if column not in used and len(told) < len(FIELDS)
    }
    claims = _claims(lead_file, evidence, told)
    chosen = _assign(claims) | {
        name: [_sure(column, name) for column in told[name]] for name in told
    }
    chosen = _untangle(chosen, evidence, told)
    if not chosen.get("phone"):
        chosen["phone"] = [_phone_by_content(lead_file, evidence, chosen)]
    if "email" not in chosen and lead_file.header is None:
        chosen["email"] = _email_by_content(evidence, chosen)
    return _column_map(columns, chosen, claims)


def _told(
    lead_file: LeadFile, mapping: ColumnMap | Mapping[str, Columns] | None
) -> dict[str, tuple[str, ...]]:
    """Columns of the fields that the caller decided, by their names in the frame."""
    if isinstance(mapping, ColumnMap):
        given = {name: mapping.fields().get(name, ()) for name in FIELDS}
    else:
        given = {name: _several(columns) for name, columns in (mapping or {}).items()}
    check_fields(given)
    if "phone" in given and not given["phone"]:
        raise _no_phone(lead_file)
    return {
        name: tuple(_column(lead_file, column) for column in columns)
        for name, columns in given.items()
    }


def _several(columns: Columns) -> tuple[str, ...]:
    if columns is None:
        return ()
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _column(lead_file: LeadFile, wanted: str) -> str:
    columns = [str(name) for name in lead_file.frame.columns]
    if wanted in columns:
        return wanted
    alike = [column for column in columns if plain(column) and plain(column) == plain(wanted)]
    if len(alike) == 1:
        return alike[0]
    raise LeadFileError(
        f"{lead_file.name} has no column {wanted!r}; it has: {_list(columns)}",
        path=lead_file.path,
    )


def _claims(
    lead_file: LeadFile, evidence: Mapping[str, Evidence], told: Mapping[str, tuple[str, ...]]
) -> list[_Claim]:
    """Every column as every field that its header allows, the best first."""
    claims = []
    for place, (column, seen) in enumerate(evidence.items()):
        for name in FIELDS:
            header = header_score(column, name) if name not in told else 0.0
            if header and _is_believed(lead_file, column, name, header, seen):
                score = _HEADER_WEIGHT * header + _CONTENT_WEIGHT * _content(name, seen)
                claims.append(_Claim(round(score, 4), name, column, place))
    return sorted(
        (claim for claim in claims if claim.score >= _REQUIRED - 1e-9),
        key=lambda claim: (-claim.score, claim.place),
    )


def _is_believed(
    lead_file: LeadFile, column: str, name: str, header: float, seen: Evidence
) -> bool:
    if not seen.filled:
        return True
    if _content(name, seen) < _LEAST_CONTENT.get(name, 0.0):
        return False
    if name != "external_id" or header >= _WHOLE_HEADER:
        return True
    # The header is no proof (`provider id`), so every value must be another one.
    values = lead_file.frame[column].str.strip()
    values = values[values != ""]
    return not bool(values.duplicated().any())


def _content(name: str, seen: Evidence) -> float:
    if not seen.filled:
        return _UNKNOWN
    return {
        "phone": seen.phone,
        "email": seen.email,
        "first_name": seen.name,
        "last_name": seen.name,
        "full_name": seen.name,
        "external_id": seen.distinct * (1.0 - seen.spaced),
        "opt_out": 1.0,  # an unknown word in it forbids the call, so the header decides
        "consent": 1.0,
    }.get(name, _UNKNOWN)


def _assign(claims: list[_Claim]) -> dict[str, list[_Claim]]:
    """The best claims that do not contradict each other; each column gives one field."""
    chosen: dict[str, list[_Claim]] = {}
    used: set[str] = set()
    for claim in claims:
        if claim.column in used or (claim.field in SINGLE and claim.field in chosen):
            continue
        chosen.setdefault(claim.field, []).append(claim)
        used.add(claim.column)
    phones = chosen.get("phone", [])
    phones.sort(key=lambda claim: (phone_rank(claim.column), claim.place))
    return chosen


def _untangle(
    chosen: dict[str, list[_Claim]],
    evidence: Mapping[str, Evidence],
    told: Mapping[str, tuple[str, ...]],
) -> dict[str, list[_Claim]]:
    """Settle names that mean one thing alone and another beside a second name column."""
    full, first, last = (chosen.get(name) for name in ("full_name", "first_name", "last_name"))
    if {"full_name", "first_name", "last_name"} & set(told):
        return chosen
    if full and last and not first and plain(full[0].column) in _GIVEN_BESIDE_LAST:
        return {**_without(chosen, "full_name"), "first_name": full}
    surname = (
        full and plain(full[0].column) == "name" and evidence[full[0].column].spaced < _MOSTLY
    )
    if full and first and not last and surname:
        return {**_without(chosen, "full_name"), "last_name": full}
    if last and not first and not full and evidence[last[0].column].spaced >= _MOSTLY:
        return {**_without(chosen, "last_name"), "full_name": last}
    return chosen


def _without(chosen: dict[str, list[_Claim]], name: str) -> dict[str, list[_Claim]]:
    return {field: claims for field, claims in chosen.items() if field != name}


def _phone_by_content(
    lead_file: LeadFile, evidence: Mapping[str, Evidence], chosen: Mapping[str, list[_Claim]]
) -> _Claim:
    """The one column that is full of valid phone numbers, whatever it is called."""
    used = {claim.column for claims in chosen.values() for claim in claims}
    likely = sorted(
        (
            (-seen.phone, place, column)
            for place, (column, seen) in enumerate(evidence.items())
            if column not in used
            and seen.phone >= _CONTENT_ONLY
            and seen.filled >= _CONTENT_ONLY_FILLED
            and not seen.counting
            and not NOT_PHONE.intersection(plain(column).split())
        ),
    )
    if not likely:
        raise _no_phone(lead_file)
    if len(likely) > 1 and likely[1][0] - likely[0][0] < _LEAD:
        names = " and ".join(column for _, _, column in likely[:2])
        raise LeadFileError(
            f"{lead_file.name}: {names} both look like phone columns and one may be a fax; say "
            f"which with mapping={{'phone': {likely[0][2]!r}}}",
            path=lead_file.path,
        )
    share, place, column = likely[0]
    return _Claim(round(-share * _CONTENT_ONLY_TRUST, 4), "phone", column, place)


def _email_by_content(
    evidence: Mapping[str, Evidence], chosen: Mapping[str, list[_Claim]]
) -> list[_Claim]:
    """In a file without a header, the first column full of e-mail addresses."""
    used = {claim.column for claims in chosen.values() for claim in claims}
    for place, (column, seen) in enumerate(evidence.items()):
        if column not in used and seen.email >= _CONTENT_ONLY:
            return [_Claim(round(seen.email * _CONTENT_ONLY_TRUST, 4), "email", column, place)]
    return []


def _no_phone(lead_file: LeadFile) -> LeadFileError:
    columns = _list(list(map(str, lead_file.frame.columns)))
    return LeadFileError(
        f"{lead_file.name} has no column that is known as a phone; say which it is with "
        f"mapping={{'phone': ...}}, its columns are: {columns}",
        path=lead_file.path,
    )


def _list(columns: list[str]) -> str:
    shown = [
        name if len(name) <= _SHOWN_CHARS else f"{name[:_SHOWN_CHARS]}..." for name in columns
    ]
    more = f" and {len(shown) - _SHOWN_COLUMNS} more" if len(shown) > _SHOWN_COLUMNS else ""
    return ", ".join(shown[:_SHOWN_COLUMNS]) + more


def _sure(column: str, name: str) -> _Claim:
    return _Claim(1.0, name, column, 0)


def _column_map(
    columns: list[str], chosen: Mapping[str, list[_Claim]], claims: list[_Claim]
) -> ColumnMap:
    used = {claim.column for own in chosen.values() for claim in own}
    rivals = {
        claim.field: claim.column
        for claim in reversed(claims)
        if claim.field in SINGLE
        and claim.field in chosen
        and claim.column not in used
        and chosen[claim.field][0].score - claim.score < _LEAD
    }
    return ColumnMap.of(
        {name: [claim.column for claim in own] for name, own in chosen.items()},
        leftovers=[column for column in columns if column not in used],
        confidence={
            name: round(min(claim.score for claim in own), 2)
            for name, own in chosen.items()
            if own
        },
        uncertain=rivals,
    )
