"""Rejected cells of lead files with their reason, and corrections that are judged at once and keep their history."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from dialframe import leads
from dialframe.config import OnProgress, silent
from dialframe.errors import ConfigError
from dialframe.files import write_text
from dialframe.flows.lead_cleaning import Prepared, Recipe
from dialframe.leads import Cleaned, ColumnMap, LeadFile, arrow_text
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

    Attributes:
        files: The files as they stand now.
        recipe: By what their records are judged.
        cleaned: What becomes of every record.
        edits: What was corrected, in order.
    """

    files: list[LeadFile]
    recipe: Recipe
    cleaned: Cleaned
    edits: list[Edit] = field(default_factory=list)

    @classmethod
    def of(
        cls, paths: Sequence[str | Path], recipe: Recipe, *, on_progress: OnProgress = silent
    ) -> Fixing:
        """Read and clean the files in memory.

        Raises:
            LeadFileError: A file cannot be read, or has no phone column.
        """
        files = [file for path in paths for file in leads.read_all(path)]
        return cls(files, recipe, _cleaned(files, recipe, on_progress=on_progress))

    def rejects(self) -> list[Reject]:
        """The cells for which records are rejected now, in the order of the files."""
        maps = {file.name: file.columns for file in self.cleaned.files}
        rows = self.cleaned.rejected[["_file", "_line", "_field", "_value", "_reason"]]
        return [
            Reject(
                file,
                int(line),
                _column(maps[file], named),
                str(value),
                code,
                BY_CODE[code].meaning,
                BY_CODE[code].remedy or "",
            )
            for file, line, named, value, code in rows.itertuples(index=False)
        ]

    def set(self, line: int, column: str, value: str, *, at: datetime) -> str | None:
        """Put a text into a cell and judge the list anew.

        Args:
            line: Physical line of the record.
            column: The column.
            value: The text.
            at: When, UTC.

        Returns:
            Why the record is still not clean, in words, or None.

        Raises:
            ConfigError: No file has the line or the column.
        """
        places = [
            (at_file, row)
            for at_file, file in enumerate(self.files)
            for row in (file.lines == line).nonzero()[0].tolist()
            if column in file.names
        ]
        if not places:
            raise ConfigError(f"no record on line {line} with a column {column!r}; check both")
        place, row = places[0]
        file = self.files[place]
        cells = file.table[column].to_pylist()
        before, cells[row] = str(cells[row]), value
        table = file.table.set_column(file.names.index(column), column, arrow_text.column(cells))
        self.files[place] = replace(file, table=table)
        self.cleaned = _cleaned(self.files, self.recipe)
        reason = self._reason(file.name, line)
        self.edits.append(Edit(file.name, line, column, before, value, at, reason))
        return None if reason is None else BY_CODE[reason].meaning

    def _reason(self, file: str, line: int) -> str | None:
        for frame in (self.cleaned.rejected, self.cleaned.do_not_call, self.cleaned.duplicates):
            rows = frame[(frame["_file"] == file) & (frame["_line"] == line)]
            if len(rows):
                return str(rows.iloc[0]["_reason"])
        return None

    def write(self, out: Path) -> dict[str, Path]:
        """Write the list with its corrections, and `<stem>.history.csv` with what stood there before.

        Raises:
            LeadFileError: The folder cannot be written.
        """
        prepared = Prepared(self.cleaned)
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


def _column(columns: ColumnMap, named: str) -> str:
    """The column of a field that a reason names."""
    return next(iter(columns.fields().get(named, ())), named)


def _cleaned(
    files: Sequence[LeadFile], recipe: Recipe, *, on_progress: OnProgress = silent
) -> Cleaned:
    return leads.clean(
        list(files),
        region=recipe.region,
        mapping=recipe.chooser(),
        policy=recipe.rules.policy,
        blocked_countries=recipe.rules.blocked_countries,
        field_rules=recipe.rules.field_rules,
        suppressed=recipe.suppressed,
        force_region=recipe.force_region,
        answers=recipe.answers,
        on_progress=on_progress,
    )
