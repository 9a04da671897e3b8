"""The outcome of cleaning as one value whose counts add up; it decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe.errors import LeadFileError
from dialframe.leads import arrow_text
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.columns.list_region import RegionDecision
from dialframe.leads.columns.questions import WordQuestion
from dialframe.leads.lead_file import Decisions
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.phones import TYPES
from dialframe.phones.column_reader import read_column
from dialframe.phones.outcomes import NO_TYPE, NOWHERE

_FRAMES: Final = tuple(COUNT_KEYS.values())
#: Records that a report shows of each reason.
EXAMPLES: Final = 3


class Example(NamedTuple):
    """Where a record with a reason stands, and the value found there."""

    file: str
    line: int
    value: str


@dataclass(frozen=True, slots=True)
class CleanedFile:
    """What is to be known of one file that was cleaned.

    Attributes:
        path: Where it was read from.
        name: The file's name as it stands in `_file`.
        stem: Its name without endings.
        sha256: Hexadecimal digest of the file on disk.
        records: Its records, skipped ones included.
        header: Its header, or None.
        names: Names of its columns in the frames.
        decisions: How it was read.
        columns: Its columns by field.
        region: Region by which its national numbers were read, or None.
        region_decision: Why that one; None where it was told.
        extra_leads: Leads beyond one of each record; None where a record is one lead.
        questions: Phrases in its columns that nobody has decided about; their records are held.
    """

    path: Path
    name: str
    stem: str
    sha256: str
    records: int
    header: tuple[str, ...] | None
    names: tuple[str, ...]
    decisions: Decisions
    columns: ColumnMap
    region: str | None = None
    region_decision: RegionDecision | None = None
    extra_leads: int | None = None
    questions: tuple[WordQuestion, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Cleaned:
    """Every record of the input in exactly one of five frames.

    With `Policy(one_lead_per="number")` that is every lead: a record of several numbers is several.

    `rejected`, `duplicates`, `do_not_call` and `skipped` have the original columns with their
    cells as they were, then `_file`, `_line`, `_row`, `_outcome`, `_reason` (the first in the
    order of `reasons.REASONS`), `_field` and `_value` (what the reason concerns), `_all_reasons`
    and `_warnings` (codes, joined by `;`), `_kept_file` and `_kept_line` (the record that a
    duplicate repeats, or that carries the opt-out) and `_raw` (the text of records that could not
    be read whole).

    Attributes:
        clean: Leads: `lead_file.LEAD_COLUMNS` (`phone` in E.164), the other columns under their own
            names, `_file`, `_line`, `_row`, `_outcome`, `_warnings`.
        rejected: Records that cannot be called or sent as they are.
        duplicates: Records that repeat an earlier one; the first is kept.
        do_not_call: Records that must not be called.
        skipped: Records that are no leads: blank lines, totals and remarks, repeated headers.
            What stands above the header, and the header itself, are no records.
        files: The files, in order.
        region: Region by which national numbers were read, where it is one.
        leftovers: Columns of `clean` that no field explains: the leads' custom fields.
        filled: Fields that have a value in some record of the files, clean or not.
    """

    clean: pd.DataFrame
    rejected: pd.DataFrame
    duplicates: pd.DataFrame
    do_not_call: pd.DataFrame
    skipped: pd.DataFrame
    files: tuple[CleanedFile, ...]
    region: str | None
    leftovers: tuple[str, ...] = ()
    filled: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        counts = self.counts
        outcomes = sum(counts[name] for name in _FRAMES)
        places = pd.concat([getattr(self, name)[["_file", "_row"]] for name in _FRAMES])
        listed = sum(file.extra_leads or 0 for file in self.files)
        check_counts(sum(file.records for file in self.files) + listed, outcomes)
        # Names of files as small numbers: pandas takes ten times as long for pairs with texts in them.
        files = arrow_text.of_series(places["_file"]).dictionary_encode().indices.to_numpy()
        rows = places["_row"].to_numpy("int64", na_value=-1)
        keys = np.sort(files.astype(np.int64) * 2**32 + rows)
        check_counts(int(np.count_nonzero(np.diff(keys) == 0)), listed)

    @property
    def counts(self) -> dict[str, int]:
        """`records`, with `extra_leads` where a number is a lead, and the outcomes that add up to it."""
        return {
            **went_in(self.files),
            **{name: len(getattr(self, name)) for name in _FRAMES},
        }

    @property
    def reasons(self) -> dict[str, dict[str, int]]:
        """Records by outcome and reason code, most frequent first."""
        return {
            name: _tally(getattr(self, name)["_reason"]) for name in _FRAMES if name != "clean"
        }

    @property
    def warnings(self) -> dict[str, int]:
        """Clean records by warning code, most frequent first."""
        codes = self.clean["_warnings"].str.split(";").explode()
        return _tally(codes[codes != ""])

    @property
    def countries(self) -> dict[str, int]:
        """Clean records by country of their number, most first."""
        return by_count(whereabouts(self.clean["phone"])[0])

    @property
    def line_types(self) -> dict[str, int]:
        """Clean records by line type of their number, most first."""
        return by_count(whereabouts(self.clean["phone"])[1])

    def examples(self, outcome: str, code: str) -> list[Example]:
        """The first records with the reason: file, line and value.

        Args:
            outcome: `rejected`, `duplicates`, `do_not_call` or `skipped`.
            code: Reason code.
        """
        frame: pd.DataFrame = getattr(self, outcome)
        first = frame[frame["_reason"] == code].head(EXAMPLES)
        return [
            Example(str(file), int(line), str(value))
            for file, line, value in zip(
                first["_file"], first["_line"], first["_value"], strict=True
            )
        ]

    def __repr__(self) -> str:
        counted = ", ".join(f"{name}={count}" for name, count in self.counts.items())
        return f"Cleaned({counted})"


def went_in(files: Iterable[CleanedFile]) -> dict[str, int]:
    """`records` of the files, and `extra_leads` of them where a number is a lead of its own."""
    every = list(files)
    extra = [file.extra_leads for file in every if file.extra_leads is not None]
    counted = {"records": sum(file.records for file in every)}
    return counted | ({"extra_leads": sum(extra)} if extra else {})


def check_counts(went: int, came: int) -> None:
    """Refuse outcomes in which not every lead is once.

    Raises:
        LeadFileError: There are more or fewer than went in.
    """
    if went != came:
        raise LeadFileError(
            f"{went} records went in and {came} came out; this is a fault of the program, "
            "nothing was written"
        )


def whereabouts(
    phones: pa.ChunkedArray | Iterable[object],
) -> tuple[dict[str, int], dict[str, int]]:
    """How many numbers in E.164 are of each country, and of each line type."""
    texts = (
        arrow_text.whole(phones)
        if isinstance(phones, pa.ChunkedArray)
        else arrow_text.of_series(pd.Series(phones, dtype="str"))
    )
    read = read_column(texts, None, spell=False)
    known = read.region != NOWHERE
    regions = np.bincount(read.region[known], minlength=len(read.regions))
    kinds = np.bincount(read.kind, minlength=NO_TYPE + 1)
    return (
        {read.regions[at]: int(regions[at]) for at in np.flatnonzero(regions)},
        {name: int(kinds[kind]) for kind, name in TYPES.items() if kinds[kind]},
    )


def by_count(counted: Mapping[str, int]) -> dict[str, int]:
    """Codes with their numbers, most frequent first."""
    return dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))


def _tally(codes: pd.Series) -> dict[str, int]:
    return by_count(Counter(map(str, codes)))
