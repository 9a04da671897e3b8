"""Lists of numbers that must not be called: read from files of any shape, pushed to the service.

A suppression file is read to suppress too much rather than too little: every number of every phone column
counts, a row is only left out where the code table of a scrubbing service says that it may be called, and a
cell that cannot be read is reported with its line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from platformdirs import user_data_path

from dialframe import leads
from dialframe.config import OnProgress, Progress, Settings, silent
from dialframe.errors import ConfigError, LeadFileError, OutcomeUnknown, Refused
from dialframe.suppression import Barred, Entry, SuppressionList

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.flows.lead_cleaning import Prepared, Result
    from dialframe.leads import LeadFile

_STEP: Final = "numbers pushed to the service"
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}")
#: Seven digits are a local number, fifteen the longest of E.164 (ITU-T E.164, 6).
_NUMBER: Final = re.compile(r"\s*\+?(?:[\s().\-]*\d){7,15}\s*")
#: Between several numbers of one cell.
_SEPARATORS: Final = re.compile(r"[;,|\n\r/]|\s{2,}|\t")
#: Share of the filled cells of a column that make it one of hashes, or of numbers.
_MOST: Final = 0.5
#: Of a list of E.164 without its sign some cells are always broken.
_NEARLY_ALL: Final = 0.9
#: Enough to see what is wrong with a file; all are in `unreadable`.
_LINES_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class CodeTable:
    """How one scrubbing service says what it found.

    Attributes:
        name: By which it is asked for.
        title: The service.
        columns: Columns that hold its codes.
        free: Codes of numbers that may be called; all others are suppressed.
        source: Where the service says so.
    """

    name: str
    title: str
    columns: tuple[str, ...]
    free: frozenset[str]
    source: str


@dataclass(frozen=True, slots=True)
class SuppressionFile:
    """What a file says of numbers that must not be called.

    Attributes:
        name: The file.
        records: Its rows.
        phones: Numbers in E.164, once each.
        digests: SHA-256 of numbers in E.164, once each.
        free: Rows that a code table lets be called.
        unreadable: Physical lines whose number cannot be read.
    """

    name: str
    records: int
    phones: tuple[str, ...] = field(repr=False)
    digests: tuple[bytes, ...] = field(repr=False)
    free: int = 0
    unreadable: tuple[int, ...] = ()

    @property
    def barred(self) -> Barred:
        """The numbers, for looking up many."""
        return Barred.of(self.phones, self.digests)

    def entries(self, *, reason: str, on: date, source: str | None = None) -> Iterator[Entry]:
        """The numbers as entries of a suppression list."""
        whose = source or self.name
        for phone in self.phones:
            yield Entry(phone, reason, whose, on)
        for digest in self.digests:
            yield Entry(None, reason, whose, on, digest)


class DncService(Protocol):
    """What a push needs of a client."""

    def add(self, phone: str, *, reason: str | None = None) -> object:
        """Add a number to the account's Do-Not-Call list."""


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of the entries that the service was told.

    Attributes:
        pushed: It took them.
        refused: It would not.
        unknown: It may have taken them; the next push asks again.
    """

    pushed: int
    refused: int
    unknown: int


def own_list(environment: Mapping[str, str], store: Path | None = None) -> SuppressionList:
    """The firm's own list, beside the store of this machine.

    Args:
        environment: Variables of the process; `DIALFRAME_STORE` names the store.
        store: Folder of the store instead.
    """
    folder = Settings.from_environment(environment, store=store).store
    folder = folder or user_data_path("dialframe", appauthor=False) / "store"
    return SuppressionList.beside(folder.expanduser())


@cache
def code_tables() -> Mapping[str, CodeTable]:
    """The code tables of scrubbing services, by name."""
    text = resources.files("dialframe.flows").joinpath("scrub_codes.toml").read_text("utf-8")
    return {
        name: CodeTable(
            name,
            table["title"],
            tuple(table["columns"]),
            frozenset(code.strip().casefold() for code in table["free"]),
            table["source"],
        )
        for name, table in tomllib.loads(text).items()
    }


def read(
    paths: Sequence[str | Path], *, region: str | None, codes: str | None = None
) -> list[SuppressionFile]:
    """Read suppression files: CSV, workbooks, JSON, Parquet, plain numbers, SHA-256 of E.164.

    Args:
        paths: The files.
        region: ISO 3166 region of numbers that are written without a country code, or None.
        codes: Name of the code table of the service that screened them; without it every row counts.

    Raises:
        LeadFileError: A file cannot be read, holds no numbers, or numbers that need a region.
        ConfigError: There is no such code table, or its column is missing.
    """
    table = None
    if codes is not None:
        table = code_tables().get(codes)
        if table is None:
            raise ConfigError(
                f"there is no code table {codes!r}; there are: {', '.join(code_tables())}"
            )
    return [_numbers(file, region, table) for path in paths for file in leads.read_all(path)]


def opt_outs_of(result: Result | Prepared, on: date) -> Iterator[Entry]:
    """Every number of the records whose person asked not to be called, as entries.

    Args:
        result: What was cleaned.
        on: The day of it; the list does not say when somebody asked.
    """
    source = ", ".join(file.name for file in result.cleaned.files)
    for number in result.opted_out:
        yield Entry(f"+{number}", "opt_out", source, on)


def push(
    suppressed: SuppressionList,
    service: DncService,
    *,
    now: Callable[[], datetime],
    on_progress: OnProgress = silent,
) -> Pushed:
    """Tell the service of every entry that it was not told of, one by one; run again, it goes on.

    Args:
        suppressed: The list.
        service: The Do-Not-Call resource of a client, whose write journal notes each request.
        now: The clock, UTC.
        on_progress: Told of each.

    Raises:
        ApiError: The service refused for a reason that holds for all, such as a missing scope.
        TransportError: No answer came.
    """
    # Oldest first: a run that breaks off has told of the earliest requests.
    waiting = suppressed.unpushed()
    done = refused = unknown = 0
    for count, entry in enumerate(waiting, 1):
        try:
            # The key is the client's, kept in its write journal: run again, the same request repeats.
            service.add(entry.phone or "", reason=f"{entry.reason} on {entry.on}")
        except OutcomeUnknown:
            unknown += 1
        # Refused for itself alone, such as a number that the service does not take: the others go on.
        except Refused:
            refused += 1
        else:
            suppressed.pushed([entry], now())
            done += 1
        on_progress(Progress(_STEP, count, len(waiting)))
    return Pushed(done, refused, unknown)


def _numbers(file: LeadFile, region: str | None, table: CodeTable | None) -> SuppressionFile:
    from dialframe.leads.columns.country_names import named_regions
    from dialframe.leads.phones_in_cells import with_sign

    file = _with_header_as_row(file)
    # No default: national numbers of an unknown country suppress nobody.
    region = region or leads.decide_region(file).region
    frame = file.frame
    counted = _counted(file, table)
    digests: dict[bytes, None] = {}
    phones: dict[str, None] = {}
    unread = counted & False
    hashed = []
    for name in frame.columns:
        filled_cells = frame[name].str.strip()
        filled_cells = filled_cells[filled_cells != ""]
        # Of no cells the share is no number, and no more than any.
        if filled_cells.str.fullmatch(_SHA256.pattern).mean() > _MOST:
            hashed.append(str(name))
    for name in hashed:
        cells = frame.loc[counted, name].str.strip()
        good = cells.str.fullmatch(_SHA256.pattern)
        digests |= dict.fromkeys(map(bytes.fromhex, cells[good]))
        bad = ~good & (cells != "")
        if file.header is None:
            bad &= cells.index > 0  # the name of the column, which reading took for a cell
        unread.loc[cells.index[bad]] = True
    if not hashed:
        columns = _phone_columns(file, region)
        read_rows = counted & False
        filled = counted & False
        for cells in columns:
            counted_cells = cells[counted & (cells.str.strip() != "")]
            filled.loc[counted_cells.index] = True
            pieces = counted_cells.str.split(_SEPARATORS.pattern, regex=True).explode().str.strip()
            pieces = pieces[pieces.str.contains(r"\d", regex=True)]
            normal = _normalized(pieces, region)
            phones |= dict.fromkeys(normal.dropna())
            # National, or with its calling code and without the sign: where both are numbers, both are held.
            phones |= dict.fromkeys(
                number
                for piece, read in zip(pieces, normal, strict=True)
                if isinstance(read, str) and (number := with_sign(piece, region, read))
            )
            # A header such as `UK mobile` names a country of its own.
            for named in named_regions(str(cells.name)):
                phones |= dict.fromkeys(_normalized(pieces, named).dropna())
            read_rows.loc[normal.dropna().index] = True
        # A row with one readable number suppresses somebody; a row with none is said.
        unread |= filled & ~read_rows
    lines = tuple(int(line) for line in file.lines[unread.to_numpy()])
    if lines and region is None:
        raise LeadFileError(
            f"{file.name}: {len(lines):,} numbers cannot be read ({lines_named(lines)}); name the "
            "country of numbers that are written without one with region=...",
            path=file.path,
        )
    return SuppressionFile(
        file.name, len(frame), tuple(phones), tuple(digests), int((~counted).sum()), lines
    )


def _with_header_as_row(file: LeadFile) -> LeadFile:
    """The file with its header as first record, where that holds a number: a list without a header."""
    import numpy as np
    import pyarrow as pa

    from dialframe.leads.lead_file import text_table, wide

    header = file.header or ()
    if not any(_SHA256.fullmatch(cell.strip()) or _NUMBER.fullmatch(cell) for cell in header):
        return file
    first = text_table([wide(list(header), len(file.names))], file.names)
    return replace(
        file,
        header=None,
        table=pa.concat_tables([first, file.table]),
        lines=np.concatenate([[file.decisions.header_line or 1], file.lines]),
    )


def _counted(file: LeadFile, table: CodeTable | None) -> pd.Series:
    """Which rows are suppressed: all without a code table."""
    import pandas as pd

    everything = pd.Series(data=True, index=file.frame.index)
    if table is None:
        return everything
    columns = [name for name in file.frame.columns if str(name).strip() in table.columns]
    if not columns:
        raise ConfigError(
            f"{file.name} has no column of {table.title} ({', '.join(table.columns)}); "
            "leave the code table out to suppress every row"
        )
    # Free is who is free by every column of the service.
    free = everything
    for name in columns:
        free = free & file.frame[name].str.strip().str.casefold().isin(table.free)
    return ~free


def _phone_columns(file: LeadFile, region: str | None) -> list[pd.Series]:
    """The cells of every column that holds numbers; parts of a number that is split are joined."""
    # By the same finding of columns as a list of leads.
    decision = leads.decide(file, region=region)
    columns = decision.columns
    phone_columns: list[pd.Series] = []
    if columns is not None:
        for name in (*columns.phone, *filter(None, [columns.phone_other])):
            parts = columns.joined.get(name, (name,))
            cells = file.frame[parts[0]]
            for part in parts[1:]:
                cells = cells + " " + file.frame[part]
            phone_columns.append(cells)
        used = {*columns.phone_parts, columns.phone_other, columns.external_id}
    else:
        used = set()
    phone_columns += [
        file.frame[name]
        for name in file.frame.columns
        if name not in used and _is_of_numbers(file.frame[name], region)
    ]
    # A table of no rows, as an audit writes where nobody asked, holds nobody.
    if not phone_columns and len(file.frame):
        raise LeadFileError(
            f"{file.name} has no column of phone numbers or of SHA-256; name the country of its "
            "numbers with region=...",
            path=file.path,
        )
    return phone_columns


def _is_of_numbers(cells: pd.Series, region: str | None) -> bool:
    filled = cells[cells.str.strip() != ""].head(1000)
    if not len(filled):
        return False
    return bool(_normalized(filled, region).notna().mean() > _MOST)


def _normalized(cells: pd.Series, region: str | None) -> pd.Series:
    """E.164 of each cell, null where there is none; digits alone may be E.164 without its `+`."""
    from dialframe.phones import normalize

    # The ordinals as index: a cell of several numbers gives several rows of one label.
    texts = cells.reset_index(drop=True)
    e164 = normalize(texts, region=region)["e164"]
    bare = texts[e164.isna() & texts.str.fullmatch(r"[1-9]\d{10,14}")]
    if len(bare):
        with_sign = normalize("+" + bare, region=None)["e164"]
        # Of national numbers some look like E.164 without its sign; of a list of E.164 nearly all do.
        if with_sign.notna().mean() > _NEARLY_ALL:
            e164 = e164.where(e164.notna(), with_sign.reindex(e164.index))
    return e164.set_axis(cells.index)


def lines_named(lines: Sequence[int]) -> str:
    """The first of some lines in words: `lines 3, 8 and 12 more`."""
    shown = ", ".join(f"{line:,}" for line in lines[:_LINES_NAMED])
    more = len(lines) - _LINES_NAMED
    word = "line" if len(lines) == 1 else "lines"
    return f"{word} {shown}" + (f" and {more:,} more" if more > 0 else "")
