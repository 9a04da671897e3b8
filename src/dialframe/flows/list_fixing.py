"""Rejected cells of lead files with their reason, and corrections that are judged at once and keep their history."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dialframe import arrow_text, leads, phones
from dialframe.config import OnProgress, silent
from dialframe.errors import ConfigError
from dialframe.files import write_text
from dialframe.flows.lead_cleaning import Prepared, Recipe
from dialframe.leads import Cleaned, ColumnMap, LeadFile
from dialframe.leads.phones_in_cells import every_number
from dialframe.leads.reasons import BY_CODE


class Reject(NamedTuple):
    """A cell for which a record is rejected.

    Attributes:
        file: The file.
        line: Physical line of the record.
        column: The column; empty where the record itself is damaged.
        value: What stands there.
        reason: Reason code.
        meaning: In words.
        remedy: What to do about it.
    """

    file: str
    line: int
    column: str
    value: str
    reason: str
    meaning: str
    remedy: str


class Edit(NamedTuple):
    """A correction of one cell.

    Attributes:
        file: The file.
        line: Physical line of the record.
        column: The column.
        before: What stood there.
        after: What stands there now.
        at: When, UTC.
        reason: Why the record is still not clean, or None.
    """

    file: str
    line: int
    column: str
    before: str
    after: str
    at: datetime
    reason: str | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {**self._asdict(), "at": self.at.isoformat(timespec="seconds")}


@dataclass(slots=True, eq=False)
class Fixing:
    """Lead files that are corrected cell by cell.

    A correction is judged at once by its record alone and by the numbers of the others; the whole list is
    cleaned anew when somebody asks for it, so that a correction in a long list takes no longer than in a short one.

    Attributes:
        files: The files as they stand now.
        recipe: By what their records are judged.
        edits: What was corrected, in order.
    """

    files: list[LeadFile]
    recipe: Recipe
    edits: list[Edit]
    _cleaned: Cleaned
    _maps: list[ColumnMap]
    _rejects: dict[tuple[int, int], Reject]
    _owners: dict[str, tuple[int, int]]
    _forbidden: frozenset[str]
    _pending: dict[tuple[int, int], dict[str, str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, paths: Sequence[str | Path], recipe: Recipe, *, on_progress: OnProgress = silent
    ) -> Fixing:
        """Read and clean the files in memory.

        Raises:
            LeadFileError: A file cannot be read, or has no phone column.
        """
        files = [file for path in paths for file in leads.read_all(path)]
        cleaned = _clean(files, recipe, on_progress=on_progress)
        work = cls(files, recipe, [], cleaned, [], {}, {}, frozenset())
        work._take(cleaned)
        return work

    def _take(self, cleaned: Cleaned) -> None:
        """Know the list by its newest outcomes."""
        self._cleaned = cleaned
        self._maps = [file.columns for file in cleaned.files]
        place = {file.name: at for at, file in enumerate(cleaned.files)}
        rows = cleaned.rejected[["_file", "_line", "_field", "_value", "_reason"]]
        self._rejects = {
            (place[file], int(line)): self._reject(place[file], int(line), named, str(value), code)
            for file, line, named, value, code in rows.itertuples(index=False)
        }
        owned = cleaned.clean[["phone", "_file", "_line"]].itertuples(index=False)
        self._owners = {number: (place[file], int(line)) for number, file, line in owned}
        held = cleaned.do_not_call
        cells = [
            str(cell)
            for columns in self._maps
            for column in columns.phone
            if column in held
            for cell in held[column]
        ]
        numbers = phones.normalize(cells, region=cleaned.region)["e164"].dropna() if cells else ()
        self._forbidden = frozenset(map(str, numbers))

    @property
    def cleaned(self) -> Cleaned:
        """What becomes of every record, with the corrections."""
        if self._pending:
            for (at, row), cells in self._pending.items():
                self.files[at] = _with_cells(self.files[at], row, cells)
            self._pending.clear()
            self._take(_clean(self.files, self.recipe))
        return self._cleaned

    def met(self) -> dict[str, tuple[int, int]]:
        """How many numbers each list of the recipe holds, and how many of them the files have."""
        lists = self.recipe.lists
        if not any(map(len, lists.values())):
            return dict.fromkeys(lists, (0, 0))
        region = self.cleaned.region
        cells = {
            str(cell)
            for file, columns in zip(self.files, self._maps, strict=True)
            for column in columns.phone
            for cell in file.table[column].unique().to_pylist()
        }
        read = pd.Series(
            phones.normalize(sorted(cells), region=region)["e164"].array, sorted(cells)
        )
        numbers = set(read.dropna())
        for cell in read.index[read.isna()]:
            # What is no number by itself may hold several.
            numbers.update(every_number(cell, region))
        digits = {int(str(number)[1:]) for number in numbers}
        return {name: (len(barred), barred.met(digits)) for name, barred in lists.items()}

    def rejects(self) -> list[Reject]:
        """The cells for which records are rejected now, in the order of the files."""
        return [self._rejects[key] for key in sorted(self._rejects)]

    def beside(self, reject: Reject) -> tuple[bool, str]:
        """Whether a cell can be corrected, and the other cells of its record, by which a person knows whose it is."""
        file = next(
            each
            for each, known in zip(self.files, self._cleaned.files, strict=True)
            if known.name == reject.file
        )
        row = int((file.lines == reject.line).nonzero()[0][0])
        cells = [
            str(file.table[name][row].as_py()) for name in file.names if name != reject.column
        ]
        return reject.column in file.names, ", ".join(filter(None, cells))

    def set(
        self, line: int, column: str, value: str, *, at: datetime, file: str | None = None
    ) -> str | None:
        """Put a text into a cell and judge its record.

        Args:
            line: Physical line of the record.
            column: The column.
            value: The text.
            at: When, UTC.
            file: Name of the file, where several have the line.

        Returns:
            Why the record is still not clean, in words, or None.

        Raises:
            ConfigError: No file has the line or the column.
        """
        places = [
            (place, row)
            for place, each in enumerate(self.files)
            if column in each.names and file in (None, each.name)
            for row in (each.lines == line).nonzero()[0].tolist()
        ]
        if not places:
            raise ConfigError(f"no record on line {line} with a column {column!r}; check both")
        place, row = places[0]
        cells = self._pending.setdefault((place, row), {})
        before = cells.get(column, self.files[place].table[column][row].as_py())
        cells[column] = value
        reason = self._judge(place, row)
        self.edits.append(Edit(self.files[place].name, line, column, before, value, at, reason))
        return None if reason is None else BY_CODE[reason].meaning

    def _judge(self, place: int, row: int) -> str | None:
        """Why a record is not clean, by itself and by the numbers of the others; None if it is."""
        whole = self.files[place]
        alone = _with_cells(_alone(whole, row), 0, self._pending[place, row])
        key = (place, int(whole.lines[row]))
        own = replace(self.recipe, region=self._cleaned.region, force_region=True)
        if self._cleaned.region is None:
            own = replace(own, force_region=False)
        cleaned = _clean([alone], own, mapping=self._maps[place])
        self._rejects.pop(key, None)
        for number in [each for each, owner in self._owners.items() if owner == key]:
            del self._owners[number]
        for frame in (cleaned.rejected, cleaned.do_not_call):
            if len(frame):
                found = frame.iloc[0]
                code = str(found["_reason"])
                if frame is cleaned.rejected:
                    self._rejects[key] = self._reject(
                        *key, str(found["_field"]), str(found["_value"]), code
                    )
                return code
        numbers = [str(number) for number in cleaned.clean["phone"]]
        if not self._forbidden.isdisjoint(numbers):
            return "opt_out_elsewhere"
        if any(number in self._owners for number in numbers):
            return "duplicate_in_file"
        self._owners |= dict.fromkeys(numbers, key)
        return None

    def _reject(self, place: int, line: int, named: str, value: str, code: str) -> Reject:
        reason = BY_CODE[code]
        column = next(iter(self._maps[place].fields().get(named, ())), named)
        name = self._cleaned.files[place].name
        return Reject(name, line, column, value, code, reason.meaning, reason.remedy or "")

    def resume(self, history: Path) -> int:
        """Make the corrections of an earlier run again, where the cell still says what it said then.

        Args:
            history: The file that `write` made.

        Returns:
            How many were made.
        """
        with history.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        made = 0
        for row in rows:
            place = next(
                (n for n, each in enumerate(self.files) if each.name == row["file"]), None
            )
            if place is None or row["column"] not in self.files[place].names:
                continue
            line, column = int(row["line"]), row["column"]
            found = (self.files[place].lines == line).nonzero()[0].tolist()
            now = [
                self._pending.get((place, at), {}).get(
                    column, self.files[place].table[column][at].as_py()
                )
                for at in found
            ]
            if row["before"] in now[:1]:
                at = datetime.fromisoformat(row["at"])
                self.set(line, column, row["after"], at=at, file=row["file"])
                made += 1
        return made

    def write(self, out: Path) -> dict[str, Path]:
        """Write the list with its corrections, and `<stem>.history.csv` with what stood there before.

        Raises:
            LeadFileError: The folder cannot be written.
        """
        prepared = Prepared(self.cleaned, met=self.met())
        paths = prepared.write(out, form=self.recipe.form)
        text = io.StringIO()
        rows = csv.DictWriter(text, Edit._fields, lineterminator="\n")
        rows.writeheader()
        rows.writerows(edit.to_dict() for edit in self.edits)
        history = write_text(text.getvalue(), out / f"{prepared.stem}.history.csv")
        return {**paths, "history": history}


def parsed(text: str) -> tuple[int, str, str]:
    """Line, column and text of `LINE:COLUMN=VALUE`.

    Raises:
        ConfigError: The text is no edit.
    """
    line, colon, rest = text.partition(":")
    column, equals, value = rest.partition("=")
    if not (line.isdecimal() and colon and column and equals):
        raise ConfigError(f"--set takes LINE:COLUMN=VALUE, not {text!r}")
    return int(line), column, value


def _alone(file: LeadFile, row: int) -> LeadFile:
    """One record of a file as a file of its own."""
    one = file.batch().taken(np.array([row]))
    return replace(
        file, table=file.table.slice(row, 1), lines=one.lines, rows=one.ordinals,
        left_out=file.left_out.slice(0, 0), faults=one.faults, warnings=one.warnings, raws=one.raws,
        earlier=one.earlier, parts=(), part_of=None,
    )  # fmt: skip


def _with_cells(file: LeadFile, row: int, cells: Mapping[str, str]) -> LeadFile:
    """A file with other texts in some cells of a row."""
    table = file.table
    for column, value in cells.items():
        texts = arrow_text.put(arrow_text.whole(table[column]), np.array([row]), [value])
        table = table.set_column(file.names.index(column), column, texts)
    return replace(file, table=table)


def _clean(
    files: Sequence[LeadFile],
    recipe: Recipe,
    *,
    mapping: ColumnMap | None = None,
    on_progress: OnProgress = silent,
) -> Cleaned:
    return leads.clean(
        list(files),
        region=recipe.region,
        mapping=mapping or recipe.chooser(),
        policy=recipe.rules.policy,
        blocked_countries=recipe.rules.blocked_countries,
        field_rules=recipe.rules.field_rules,
        suppressed=recipe.suppressed,
        force_region=recipe.force_region,
        answers=recipe.answers,
        on_progress=on_progress,
    )
