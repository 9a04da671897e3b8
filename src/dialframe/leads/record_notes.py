"""What stands against records and what was done to them, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from dialframe import arrow_text
from dialframe.leads.reasons import RANK, REASONS

#: By rank; a rank is the place of a reason in `REASONS`, and the lowest of a record decides.
_CODES = arrow_text.column([reason.code for reason in REASONS])


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """Findings, one entry each: by record, and of each record the one that decides first.

    Attributes:
        rows: The records.
        ranks: Places of the reasons in `reasons.REASONS`.
        fields: What they concern, as places in `names`.
        cells: What was found there.
        names: Names of fields and columns.
    """

    rows: np.ndarray
    ranks: np.ndarray
    fields: np.ndarray
    cells: pa.Array
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def firsts(self) -> np.ndarray:
        """Places of the findings that decide, one for each record that has any."""
        if not len(self.rows):
            return np.zeros(0, np.int64)
        return np.flatnonzero(np.concatenate([[True], self.rows[1:] != self.rows[:-1]]))

    def codes(self, places: np.ndarray) -> pa.Array:
        """Reason codes of some findings."""
        return _CODES.take(arrow_text.numbers(self.ranks[places]))

    def all_codes(self, which: np.ndarray) -> pa.Array:
        """All codes of some of the records that have any, by their place in `firsts`; joined by `;`."""
        begins = self.firsts
        ends = np.append(begins, len(self.rows))[1:][which]
        begins = begins[which]
        # Most records have one reason, and few combinations of them occur: each is joined once.
        several = np.flatnonzero(ends - begins > 1)
        joined: dict[bytes, str] = {}
        keys: list[bytes] = []
        for at in several.tolist():
            ranks = self.ranks[begins[at] : ends[at]]
            key = ranks.tobytes()
            if key not in joined:
                joined[key] = ";".join(
                    dict.fromkeys(REASONS[rank].code for rank in ranks.tolist())
                )
            keys.append(key)
        return arrow_text.put(self.codes(begins), several, [joined[key] for key in keys])


@dataclass(slots=True)
class Notes:
    """Findings and warnings as they are made.

    Attributes:
        rows: Records of each group of findings.
        ranks: Their reasons.
        fields: What they concern.
        cells: What was found.
        warned: Records and code of each group of warnings, in order.
    """

    rows: list[np.ndarray] = field(default_factory=list)
    ranks: list[np.ndarray] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    cells: list[pa.Array] = field(default_factory=list)
    warned: list[tuple[np.ndarray, str]] = field(default_factory=list)

    def find(
        self,
        rows: np.ndarray,
        code: str | np.ndarray,
        name: str = "",
        values: pa.Array | None = None,
    ) -> None:
        """Note findings: one code for all, or the rank of each."""
        if not len(rows):
            return
        self.rows.append(np.asarray(rows, np.int64))
        ranks = np.full(len(rows), RANK[code]) if isinstance(code, str) else code
        self.ranks.append(np.asarray(ranks, np.int64))
        self.fields.append(name)
        self.cells.append(arrow_text.constant("", len(rows)) if values is None else values)

    def warn(self, rows: np.ndarray, code: str) -> None:
        """Note a warning."""
        if len(rows):
            self.warned.append((np.asarray(rows, np.int64), code))

    def findings(self) -> Findings:
        """All findings in order."""
        return in_order(self.rows, self.ranks, self.fields, self.cells)

    def warnings(self, rows: int) -> pa.Array:
        """Warning codes of each record, joined by `;`."""
        if not self.warned:
            return arrow_text.constant("", rows)
        seen = np.bincount(
            np.concatenate([rows_warned for rows_warned, _ in self.warned]), minlength=rows
        )
        which = np.zeros(rows, np.int64)
        several: dict[int, dict[str, None]] = {}
        values = {"": 0}
        # A record with one warning is done by whole columns; only those with several one by one.
        for rows_warned, code in self.warned:
            which[rows_warned[seen[rows_warned] == 1]] = values.setdefault(code, len(values))
            for row in rows_warned[seen[rows_warned] > 1].tolist():
                several.setdefault(row, {})[code] = None
        for row, codes in several.items():
            which[row] = values.setdefault(";".join(codes), len(values))
        return arrow_text.column(values).take(arrow_text.numbers(which))


def in_order(
    rows: Sequence[np.ndarray],
    ranks: Sequence[np.ndarray],
    fields: Sequence[str],
    values: Sequence[pa.Array],
) -> Findings:
    """Groups of findings as one, by record and rank; equal ranks stay as they were noted."""
    names = tuple(dict.fromkeys(fields))
    if not rows:
        empty = np.zeros(0, np.int64)
        return Findings(empty, empty, empty, arrow_text.column([]), names)
    places = {name: at for at, name in enumerate(names)}
    all_rows, all_ranks = np.concatenate(rows), np.concatenate(ranks)
    which = np.concatenate(
        [np.full(len(group), places[name]) for group, name in zip(rows, fields, strict=True)]
    )
    # One key for both; a stable sort keeps equal ones in the order in which they were noted.
    order = np.argsort(all_rows * len(REASONS) + all_ranks, kind="stable")
    joined = pa.concat_arrays(list(map(arrow_text.whole, values)))
    return Findings(
        all_rows[order],
        all_ranks[order],
        which[order],
        joined.take(arrow_text.numbers(order)),
        names,
    )
