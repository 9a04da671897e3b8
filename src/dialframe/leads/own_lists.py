"""Clean lists that this package wrote: recognized by the report beside them, and taken at their word.

The `phone` of such a list is read as it stands there and never from another column, checked once more, and an
edited number counts as edited.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe import arrow_text
from dialframe.csv_safety import unescape
from dialframe.leads.columns.column_map import SINGLE
from dialframe.leads.lead_file import LeadFile
from dialframe.phones import read_number
from dialframe.privacy import E164

#: In the name of a clean list.
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
        sha256: Digest of the list as it was written; another one says that it was edited.
        one_lead_per: What its leads were made of; where that is a `number`, leads that follow each
            other under one external id are numbers of one record.
        lost: Whether the report was lost on the way, and this is what the list itself tells.
    """

    columns: Mapping[str, str]
    region: str | None
    sources: Sequence[Source]
    guarded: bool = False
    sha256: str = ""
    one_lead_per: str = "record"
    lost: bool = False

    def mapping(self, names: Sequence[str]) -> dict[str, str | None]:
        """The column of every field that a list with these columns has, and None for all others.

        Opt-outs, consents and fax columns are left to be found: whoever adds one later is heard.

        Args:
            names: Columns of the list.
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


def report_of(file: Path) -> Path | None:
    """Where the report of a clean list stands; None where its name is no clean list's.

    Args:
        file: The list.
    """
    begin, mark, _ = file.name.rpartition(_CLEAN)
    return file.with_name(f"{begin}.report.json") if mark and begin else None


def read_origin(file: Path) -> Origin | None:
    """What the report beside a list says of it, or None where nothing readable does.

    Args:
        file: The list.
    """
    path = report_of(file)
    try:
        facts: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path else {}
        digests = {output["name"]: output["sha256"] for output in facts["outputs"]}
        written = facts["clean_list"]
        return Origin(
            columns={str(name): str(column) for name, column in written["columns"].items()},
            region=facts["region"],
            sources=tuple(
                Source(source["name"], source["path"], source["sha256"], source["records"])
                for source in facts["files"]
            ),
            guarded=bool(written["guarded"]),
            sha256=str(digests.get(file.name, "")),
            one_lead_per=str(written["one_lead_per"]),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def origin_of(file: LeadFile) -> Origin | None:
    """Where a list comes from, or None where it is none of ours, or its phone column is gone.

    Args:
        file: The list.
    """
    names = file.names
    origin = read_origin(file.path)
    if origin is None and _CLEAN in file.name and names[:1] == [_PHONE]:
        # Its report was lost on the way; its numbers tell what they are.
        filled = [cell for cell in file.cells(_PHONE) if cell]
        if filled and all(map(E164.fullmatch, filled)):
            mapped: dict[str, str] = {name: name for name in (_PHONE, *SINGLE) if name in names}
            origin = Origin(mapped, None, (), guarded=True, lost=True)
    return origin if origin is not None and origin.columns.get(_PHONE) in names else None


def doubt_of(file: LeadFile, origin: Origin | None) -> str:
    """Why a list may not be the clean one that was written, in words; empty where nothing speaks for that.

    Args:
        file: The list.
        origin: Where it comes from.
    """
    path = report_of(file.path)
    lost = "the report beside it is missing or changed, or does not fit: its columns are a guess"
    if origin is None:
        return lost if path is not None and path.exists() else ""
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
            rows = np.flatnonzero(arrow_text.values_of(pc.starts_with(cells, "'")))
            texts = arrow_text.take(cells, rows).to_pylist()
            plain = arrow_text.put(cells, rows, [unescape(text) for text in texts])
        taken[name] = as_they_stand(plain, origin.region) if name in origin.numbers else plain
    return taken
