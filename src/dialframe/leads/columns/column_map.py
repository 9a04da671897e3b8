"""Which column holds which field of a lead, as a value that can be saved; it finds nothing itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dialframe.errors import ConfigError

#: Fields that one column gives.
SINGLE: Final = (
    "first_name",
    "last_name",
    "full_name",
    "email",
    "external_id",
    "source",
    "extension",
    "phone_other",
    "country",
)
#: Fields that several columns may give; phones in the order in which they are tried.
SEVERAL: Final = ("phone", "opt_out", "consent", "fax")
#: All fields.
FIELDS: Final = (*SEVERAL, *SINGLE)

#: A column, several in order, or none.
Columns = str | Sequence[str] | None
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns of each field.

    Attributes:
        phone: Phone columns in the order in which they are tried: mobile, phone, home, work. One
            that is put together of several has a name of its own (`Area Code + Phone`).
        joined: Name of such a phone column to the columns that make it, from left to right.
        first_name: Column, or None.
        last_name: Column, or None.
        full_name: Column, or None.
        email: Column, or None.
        external_id: Column of the client's own id, or None.
        source: Column that says where the lead is from, or None.
        extension: Column of the extension behind the phone number, or None.
        phone_other: Column of a second number that is noted, not dialed, or None.
        country: Column that gives the region of national numbers row by row, or None; it stays
            a leftover column too.
        opt_out: Columns in which a yes forbids the call.
        consent: Columns in which only a yes allows it.
        fax: Fax columns; never dialed.
        leftovers: All other columns, in the file's order: the lead's custom fields.
        confidence: Field to how sure its columns are, 0 to 1; 1 for what was told.
        uncertain: Fields for which another column fits nearly as well, with that column.
    """

    phone: tuple[str, ...]
    first_name: str | None = None
    last_name: str | None = None
    full_name: str | None = None
    email: str | None = None
    external_id: str | None = None
    source: str | None = None
    extension: str | None = None
    phone_other: str | None = None
    country: str | None = None
    opt_out: tuple[str, ...] = ()
    consent: tuple[str, ...] = ()
    fax: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    confidence: Mapping[str, float] = field(default_factory=dict, compare=False)
    uncertain: Mapping[str, str] = field(default_factory=dict, compare=False)
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    @property
    def phone_parts(self) -> tuple[str, ...]:
        """The columns of the file that the phone columns are made of, in order."""
        parts = (part for name in self.phone for part in self.joined.get(name, (name,)))
        return tuple(dict.fromkeys(parts))

    def fields(self) -> dict[str, tuple[str, ...]]:
        """Columns of each field that has some."""
        several = {name: tuple(getattr(self, name)) for name in SEVERAL}
        single = {name: (getattr(self, name),) for name in SINGLE if getattr(self, name)}
        return {name: columns for name, columns in (several | single).items() if columns}

    def to_dict(self) -> dict[str, Any]:
        """The map as plain values, as `save` writes them."""
        return {
            "version": _VERSION,
            "fields": {name: list(columns) for name, columns in self.fields().items()},
            "leftovers": list(self.leftovers),
            "confidence": dict(self.confidence),
            "uncertain": dict(self.uncertain),
            "joined": {name: list(columns) for name, columns in self.joined.items()},
        }

    def save(self, path: str | Path) -> None:
        """Write the map as JSON, for `load` and for the same list next month."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=2)
        Path(path).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> ColumnMap:
        """A map that was saved.

        Raises:
            ConfigError: The file is no saved map.
        """
        try:
            saved = json.loads(Path(path).read_text(encoding="utf-8"))
            fields = {str(name): tuple(columns) for name, columns in saved["fields"].items()}
            leftovers = tuple(saved["leftovers"])
            joined = {str(name): tuple(own) for name, own in saved.get("joined", {}).items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise ConfigError(
                f"{path} is no saved column map; make one with map_columns"
            ) from None
        return cls.of(
            fields, leftovers, saved.get("confidence", {}), saved.get("uncertain", {}), joined
        )

    @classmethod
    def of(
        cls,
        fields: Mapping[str, Sequence[str]],
        leftovers: Sequence[str] = (),
        confidence: Mapping[str, float] | None = None,
        uncertain: Mapping[str, str] | None = None,
        joined: Mapping[str, Sequence[str]] | None = None,
    ) -> ColumnMap:
        """A map from columns by field.

        Raises:
            ConfigError: A field is unknown, or has more columns than it may.
        """
        check_fields(fields)
        single = {name: next(iter(fields.get(name, ())), None) for name in SINGLE}
        several = {name: tuple(fields.get(name, ())) for name in SEVERAL}
        return cls(
            **several,  # type: ignore[arg-type]  # the two tables above name the fields
            **single,  # type: ignore[arg-type]
            leftovers=tuple(leftovers),
            confidence=dict(confidence or {}),
            uncertain=dict(uncertain or {}),
            joined={name: tuple(columns) for name, columns in (joined or {}).items()},
        )


def check_fields(fields: Mapping[str, Sequence[str]]) -> None:
    """Refuse fields that a lead does not have, and several columns for one that has one.

    Raises:
        ConfigError: As above.
    """
    for name, columns in fields.items():
        if name not in FIELDS:
            raise ConfigError(f"a lead has no field {name!r}; it has: {', '.join(FIELDS)}")
        if name in SINGLE and len(columns) > 1:
            raise ConfigError(f"{name} is given by one column, not {len(columns)}; choose one")
