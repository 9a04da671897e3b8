"""Clean records as the bodies that the service's import takes; knows the contract, sends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dialframe.contract.limits import CUSTOM_FIELDS
from dialframe.errors import ConfigError
from dialframe.leads.cleaned import Cleaned
from dialframe.leads.findings import LEAD_COLUMNS
from dialframe.leads.lead_file import META

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


def lead_inputs(cleaned: Cleaned, keep: Sequence[str] | None = None) -> list[LeadInput]:
    """The clean records as lead inputs, in order.

    Columns that no field explains become custom fields under their own names, the source column
    `lead_source`, an extension `phone_extension` and a second number `phone_other`.

    Args:
        cleaned: The outcome of cleaning.
        keep: Columns of `cleaned.clean` that become custom fields; without it all leftovers.

    Raises:
        ConfigError: There are more custom fields than the service takes, or `keep` names a column
            that is not there.
    """
    columns = list(cleaned.leftovers if keep is None else dict.fromkeys(keep))
    _check(cleaned, columns, keep)
    frame = cleaned.clean
    custom = {name: frame[_kept_as(cleaned, name)].tolist() for name in columns}
    custom |= {
        key: frame[name].tolist()
        for name, key in _CUSTOM.items()
        if key not in custom or bool((frame[name] != "").any())
    }
    fields = {name: frame[name].tolist() for name in _FIELDS}
    places = zip(
        frame["_file"].tolist(), frame["_line"].tolist(), frame["_row"].tolist(), strict=True
    )
    return [
        LeadInput(file, int(line), int(row), _body(fields, custom, at))
        for at, (file, line, row) in enumerate(places)
    ]


def custom_columns(cleaned: Cleaned) -> list[str]:
    """Columns that may become custom fields: the leftovers, then other phones, fax and consent."""
    own = {*LEAD_COLUMNS, *META}
    others = [name for name in cleaned.clean.columns if name not in own]
    return [*cleaned.leftovers, *(name for name in others if name not in cleaned.leftovers)]


def numbers_to_screen(cleaned: Cleaned) -> list[str]:
    """Every number that the clean leads carry to the service, in E.164, once each, in order.

    That is `phone`, and the second numbers in `phone_other`. Cleaning again with those that are
    listed as `do_not_call` sets the leads of the first kind aside and leaves the second kind out.
    Columns that the caller keeps as custom fields are text and are not read.
    """
    both = [*cleaned.clean["phone"], *cleaned.clean["phone_other"]]
    return list(dict.fromkeys(number for number in both if number))


def _check(cleaned: Cleaned, columns: Sequence[str], keep: Sequence[str] | None) -> None:
    known = custom_columns(cleaned)
    unknown = [name for name in columns if name not in known]
    if unknown:
        raise ConfigError(
            f"keep names {', '.join(unknown)}, which are no columns of the leads; "
            f"they have: {', '.join(known)}"
        )
    extra = sum(bool((cleaned.clean[name] != "").any()) for name in _CUSTOM)
    if len(columns) + extra > CUSTOM_FIELDS:
        room = CUSTOM_FIELDS - extra
        listed = ", ".join(columns if keep is not None else cleaned.leftovers)
        raise ConfigError(
            f"a lead takes {CUSTOM_FIELDS} custom fields and there are {len(columns) + extra}; "
            f"choose at most {room} with keep=[...] from: {listed}"
        )


def _kept_as(cleaned: Cleaned, name: str) -> str:
    """Name in the frame of a leftover: one that is called like a lead's field has a further name."""
    if name not in LEAD_COLUMNS or name not in cleaned.leftovers:
        return name
    further = (f"{name} ({copy})" for copy in range(2, 100))
    return next((one for one in further if one in cleaned.clean.columns), name)


def _body(fields: dict[str, list[str]], custom: dict[str, list[str]], at: int) -> dict[str, Any]:
    body: dict[str, Any] = {name: cells[at] for name, cells in fields.items() if cells[at]}
    filled = {name: cells[at] for name, cells in custom.items() if cells[at].strip()}
    return body | ({"custom_fields": filled} if filled else {})
