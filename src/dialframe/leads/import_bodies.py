"""Clean records as the bodies that the service's import takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dialframe.contract.limits import CUSTOM_FIELDS
from dialframe.errors import ConfigError
from dialframe.leads.lead_file import LEAD_COLUMNS, META

#: Fields of a lead input that have a column of their own (contract, "Lead input fields").
_FIELDS: Final = ("external_id", "phone", "first_name", "last_name", "full_name", "email")
#: Custom field for the columns that are neither; `lead_source` is the contract's own name.
_CUSTOM: Final = {
    "source": "lead_source",
    "phone_extension": "phone_extension",
    "phone_other": "phone_other",
}


@dataclass(frozen=True, slots=True)
class LeadInput:
    """One lead as the service takes it, and where it comes from.

    Attributes:
        file: Name of the file.
        line: Physical line of the record.
        row: Ordinal of the record.
        body: Lead input fields; fields without a value are left out.
    """

    file: str
    line: int
    row: int
    body: dict[str, Any] = field(repr=False)


def once(ids: Sequence[str], before: str = "") -> list[str]:
    """External ids with that of a record on the first of its leads alone: the service keeps ids unique.

    Args:
        ids: The ids of leads in order.
        before: The id of the lead before them.
    """
    return ["" if each == last else each for each, last in zip(ids, [before, *ids], strict=False)]


def inputs_of(
    columns: Mapping[str, Sequence[Any]], custom: Mapping[str, str]
) -> Iterator[LeadInput]:
    """Clean records as lead inputs.

    Args:
        columns: Cells by column, as in `Cleaned.clean`.
        custom: Column by custom field, as `custom_fields` gives them.
    """
    custom_cells = {name: columns[column] for name, column in custom.items()}
    fields = {name: columns[name] for name in _FIELDS}
    places = zip(columns["_file"], columns["_line"], columns["_row"], strict=True)
    for at, (file, line, row) in enumerate(places):
        yield LeadInput(file, int(line), int(row), _body(fields, custom_cells, at))


def custom_fields(
    names: Sequence[str],
    leftovers: Sequence[str],
    filled: Collection[str],
    keep: Sequence[str] | None = None,
) -> dict[str, str]:
    """The custom fields of clean records, each with the column that it comes from.

    Args:
        names: Columns of the clean records.
        leftovers: Those that no field explains.
        filled: Which of source, extension and second number have a value in any record.
        keep: Columns that become custom fields; without it all leftovers.

    Raises:
        ConfigError: There are more than the service takes, or `keep` names a column that is not
            there.
    """
    columns = list(leftovers if keep is None else dict.fromkeys(keep))
    reserved = {*LEAD_COLUMNS, *META}
    others = [name for name in names if name not in reserved]
    known = list(dict.fromkeys([*leftovers, *others]))
    unknown = [name for name in columns if name not in known]
    if unknown:
        raise ConfigError(
            f"keep names {', '.join(unknown)}, which are no columns of the leads; "
            f"they have: {', '.join(known)}"
        )
    extra = sum(name in filled for name in _CUSTOM)
    if len(columns) + extra > CUSTOM_FIELDS:
        room = CUSTOM_FIELDS - extra
        listed = ", ".join(columns if keep is not None else leftovers)
        raise ConfigError(
            f"a lead takes {CUSTOM_FIELDS} custom fields and there are {len(columns) + extra}; "
            f"choose at most {room} with keep=[...] from: {listed}"
        )
    custom = {name: _leftover_name(names, leftovers, name) for name in columns}
    return custom | {
        key: name for name, key in _CUSTOM.items() if key not in custom or name in filled
    }


def _leftover_name(names: Sequence[str], leftovers: Sequence[str], name: str) -> str:
    """Name in the frame of a leftover: one that is called like a lead's field has a further name."""
    if name not in LEAD_COLUMNS or name not in leftovers:
        return name
    further = (f"{name} ({copy})" for copy in range(2, 100))
    return next((each for each in further if each in names), name)


def _body(
    fields: Mapping[str, Sequence[str]], custom: Mapping[str, Sequence[str]], at: int
) -> dict[str, Any]:
    body: dict[str, Any] = {name: cells[at] for name, cells in fields.items() if cells[at]}
    filled = {name: cells[at] for name, cells in custom.items() if cells[at].strip()}
    return body | ({"custom_fields": filled} if filled else {})
