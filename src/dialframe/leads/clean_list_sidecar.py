"""What a clean list says of itself in a file beside it: which column is E.164, and where it comes from.

A list that was cleaned is taken at its word: its `phone` is read as it stands there and never from
another column, checked once more, and an edited number counts as edited.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.frames.csv_safety import unescape
from dialframe.leads import arrow_text
from dialframe.leads.columns.column_map import SINGLE
from dialframe.leads.lead_file import LeadFile
from dialframe.phones import read_number
from dialframe.privacy import E164

#: Name and version of the file's form.
SCHEMA: Final = "dialframe.lead-origin/1"
#: Behind the name of the list.
SUFFIX: Final = ".origin"
#: In the name of a list whose origin was lost on the way.
_CLEAN: Final = ".clean."
_PHONE: Final = "phone"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that a clean list was made of."""

    name: str
    path: str
    sha256: str
    records: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a clean list comes from.

    Attributes:
        columns: Column of the list by field; `phone` is E.164.
        region: Region by which national numbers of the sources were read.
        sources: The files.
        guarded: Whether cells that a spreadsheet would run carry an apostrophe (`csv_safety`).
        rows: How many records were written.
        sha256: Digest of the list as it was written; another one says that it was edited.
        one_lead_per: What its leads were made of; where that is a `number`, leads that follow each
            other under one external id are numbers of one record.
        lost: Whether it was lost or changed on the way, and is what the list itself tells.
    """

    columns: Mapping[str, str]
    region: str | None
    sources: Sequence[Source]
    guarded: bool = False
    rows: int = 0
    sha256: str = ""
    one_lead_per: str = "record"
    lost: bool = False

    def to_json(self) -> str:
        """The file's content."""
        facts = {
            "schema": SCHEMA,
            "e164_column": self.columns[_PHONE],
            "columns": dict(self.columns),
            "region": self.region,
            "sources": [
                {
                    "name": source.name,
                    "path": source.path,
                    "sha256": source.sha256,
                    "records": source.records,
                }
                for source in self.sources
            ],
            "guarded": self.guarded,
            "one_lead_per": self.one_lead_per,
            "rows": self.rows,
            "sha256": self.sha256,
        }
        facts["seal"] = _seal(facts)
        return json.dumps(facts, ensure_ascii=False, indent=2) + "\n"

    def mapping(self, names: Sequence[str]) -> dict[str, str | None]:
        """The column of every field that a list with these columns has, and None for all others.

        Opt-outs, consents and fax columns are left to be found: whoever adds one later is heard.
        """
        fields = dict.fromkeys(SINGLE, None) | {_PHONE: None}
        return fields | {
            name: column for name, column in self.columns.items() if column in names and name in fields
        }  # fmt: skip

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns that hold E.164."""
        return tuple(
            self.columns[name] for name in (_PHONE, "phone_other") if name in self.columns
        )


def path_of(file: Path) -> Path:
    """Where the origin of a list stands."""
    return file.with_name(file.name + SUFFIX)


def read_origin(file: Path) -> Origin | None:
    """What stands beside a list, or None where nothing readable does."""
    try:
        facts: Mapping[str, Any] = json.loads(path_of(file).read_text(encoding="utf-8"))
        if facts["schema"] != SCHEMA or facts.get("seal", "") not in ("", _seal(facts)):
            return None
        return Origin(
            columns={str(name): str(column) for name, column in facts["columns"].items()}
            | {_PHONE: str(facts["e164_column"])},
            region=facts["region"],
            sources=tuple(
                Source(source["name"], source["path"], source["sha256"], source["records"])
                for source in facts["sources"]
            ),
            guarded=bool(facts["guarded"]),
            rows=facts["rows"],
            sha256=facts["sha256"],
            one_lead_per=str(facts.get("one_lead_per", "record")),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def origin_of(file: LeadFile) -> Origin | None:
    """Where a list comes from, or None where it is none of ours, or its phone column is gone."""
    names = [str(name) for name in file.frame.columns]
    origin = read_origin(file.path)
    if origin is None and _CLEAN in file.name and names[:1] == [_PHONE]:
        # Its origin was lost on the way; its numbers tell what they are.
        filled = file.frame[_PHONE][file.frame[_PHONE] != ""]
        if len(filled) and bool(filled.str.fullmatch(E164).all()):
            mapped: dict[str, str] = {name: name for name in (_PHONE, *SINGLE) if name in names}
            origin = Origin(mapped, None, (), guarded=True, lost=True)
    return origin if origin is not None and origin.columns[_PHONE] in names else None


def doubt_of(file: LeadFile, origin: Origin | None) -> str:
    """Why a list may not be the clean one that was written, in words; empty where nothing speaks for that."""
    lost = f"{SUFFIX} beside it is missing or changed, or does not fit: its columns are a guess"
    if origin is None:
        return lost if path_of(file.path).exists() else ""
    if origin.lost:
        return lost
    if origin.sha256 not in ("", file.sha256):
        return "it is not the list that was written: edited, damaged or of another run"
    return ""


def as_they_stand(cells: pa.Array, region: str | None) -> pa.Array:
    """The cells of an E.164 column, with the `+` that a spreadsheet took away put back.

    A cell without one is E.164 without its sign, or a national number that somebody typed. Where
    both would be a number, and not the same, nobody can know: the cell stays as it is.
    """

    def read(cell: str) -> str:
        text = cell.strip()
        if not text or text.startswith("+"):
            return cell
        readings = {read_number(f"+{text}", None).e164, read_number(text, region).e164} - {None}
        return str(readings.pop()) if len(readings) == 1 else cell

    return arrow_text.mapped(cells, read)


def restored(columns: Mapping[str, pa.Array], origin: Origin) -> dict[str, pa.Array]:
    """The cells of a clean list as they were before it was written, numbers as they stand."""
    taken = {}
    for name, cells in columns.items():
        plain = cells
        if origin.guarded:
            rows = np.flatnonzero(pc.starts_with(cells, "'").to_numpy(zero_copy_only=False))
            texts = arrow_text.take(cells, rows).to_pylist()
            plain = arrow_text.put(cells, rows, [unescape(text) for text in texts])
        taken[name] = as_they_stand(plain, origin.region) if name in origin.numbers else plain
    return taken


def _seal(facts: Mapping[str, Any]) -> str:
    """Digest of everything else in the file."""
    rest = {name: value for name, value in facts.items() if name != "seal"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
