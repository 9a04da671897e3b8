"""The columns of a clean list as it is uploaded elsewhere: fields first, then the file's own, untouched."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import resources
from itertools import groupby
from typing import Final, Literal

import pandas as pd
import pyarrow as pa

from dialframe.errors import ConfigError
from dialframe.leads import arrow_text
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.lead_file import LEAD_COLUMNS, META, numbered

#: Where a clean list goes.
Destination = Literal["excel", "hubspot", "salesforce", "raw"]
#: What may be added to the fields, from the number alone.
ADDITIONS: Final = ("line_type", "country", "state", "time_zone")

_NAMES: Final = ("first_name", "last_name", "full_name")
#: Columns of this package that stay where bookkeeping is wanted.
_BOOKKEEPING: Final = ("_file", "_line", "_row", "_warnings")
#: Between the zones that are possible for a number.
_OR: Final = " or "


@dataclass(frozen=True, slots=True)
class Writing:
    """How a destination wants its file; see `destinations.toml`."""

    mark: bool
    guard: bool
    bookkeeping: bool
    source: str
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CleanLayout:
    """What a clean list looks like.

    Attributes:
        destination: Where it goes: names of its columns, and how CSV is written.
        add: What is added from the number: some of `ADDITIONS`. `state` is of the area code,
            `time_zone` every zone that is possible: a number is evidence of a place, not the place.
        title_names: Whether names that are all capitals are written as names (`ANN` as `Ann`).
    """

    destination: Destination = "excel"
    add: tuple[str, ...] = ()
    title_names: bool = False

    def __post_init__(self) -> None:
        if self.destination not in destinations():
            known = ", ".join(destinations())
            raise ConfigError(f"there is no destination {self.destination!r}; there are: {known}")
        for name in self.add:
            if name not in ADDITIONS:
                raise ConfigError(
                    f"{name!r} cannot be added to a list; there are: {', '.join(ADDITIONS)}"
                )

    @property
    def writing(self) -> Writing:
        """How its destination wants the file."""
        return destinations()[self.destination]


@dataclass(frozen=True, slots=True, eq=False)
class CleanColumns:
    """The columns of one clean list, in order.

    Attributes:
        fields: Field of a lead to its column in the list.
        others: Column of the records to its column in the list: the file's own.
        layout: What the list looks like.
    """

    fields: Mapping[str, str]
    others: Mapping[str, str]
    layout: CleanLayout = field(default_factory=CleanLayout)

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        columns: Sequence[ColumnMap],
        filled: Collection[str],
        layout: CleanLayout,
    ) -> CleanColumns:
        """The columns of a list.

        Args:
            names: Columns of the clean records, as in `Cleaned.clean`.
            columns: The columns of each file by field.
            filled: Fields that have a value in some record.
            layout: What the list looks like.
        """
        mapped = dict.fromkeys(name for each in columns for name in each.fields())
        present = [name for name in mapped if name in LEAD_COLUMNS]
        present += [name for name in LEAD_COLUMNS if name in filled and name not in present]
        wanted = layout.writing.names
        own = [name for name in names if name not in LEAD_COLUMNS and name not in META]
        free = numbered([*(wanted.get(name, name) for name in present), *layout.add, *own])
        fields = dict(zip([*present, *layout.add], free, strict=False))
        others = dict(zip(own, free[len(free) - len(own) :], strict=True))
        if layout.writing.bookkeeping:
            others |= {name: name for name in _BOOKKEEPING if name in names}
        return cls(fields, others, layout)

    @property
    def names(self) -> list[str]:
        """Columns of the list."""
        return [*self.fields.values(), *self.others.values()]

    def table(self, records: pa.Table) -> pa.Table:
        """Clean records as rows of the list."""
        added = _added(records["phone"], self.layout.add)
        cells_by_name = {}
        for name, column in self.fields.items():
            cells = added[name] if name in added else records[name]
            if self.layout.title_names and name in _NAMES:
                cells = arrow_text.mapped(arrow_text.whole(cells), _as_name)
            cells_by_name[column] = cells
        return pa.table(
            cells_by_name | {column: records[name] for name, column in self.others.items()}
        )


@cache
def destinations() -> Mapping[str, Writing]:
    """Every destination by name."""
    table = resources.files("dialframe.leads.writing").joinpath("destinations.toml")
    return {
        name: Writing(
            facts["mark"], facts["guard"], facts["bookkeeping"], facts["source"], facts["names"]
        )
        for name, facts in tomllib.loads(table.read_text("utf-8")).items()
    }


def _added(phones: pa.ChunkedArray, add: Sequence[str]) -> dict[str, pa.Array]:
    """What a number says of itself, a column for each of `add`."""
    if not add:
        return {}
    which, added = arrow_text.by_distinct(arrow_text.whole(phones), _said)
    return {
        name: arrow_text.column([facts[name] for facts in added]).take(pa.array(which))
        for name in add
    }


@lru_cache(maxsize=100_000)
def _said(phone: str) -> Mapping[str, str]:
    from dialframe.phones import read_number
    from dialframe.phones.zones import place

    reading = read_number(phone, None)
    placed = place(pd.Series([phone], dtype="str"))
    zones = placed.kinds[placed.codes[0]]
    state = next((region.partition("-")[2] for region in zones.regions if "-" in region), "")
    return {
        "line_type": reading.type or "",
        "country": reading.region or "",
        "state": state,
        "time_zone": _OR.join(zones.names),
    }


def _as_name(text: str) -> str:
    """A name that is all capitals as a name; any other as it is."""
    letters = [char for char in text if char.isalpha()]
    if len(letters) < 2 or not all(char.isupper() for char in letters):
        return text
    # `o'neill-smith` has three runs of letters.
    runs = ("".join(run) for _, run in groupby(text.lower(), str.isalpha))
    return "".join(run.capitalize() if run[0].isalpha() else run for run in runs)
