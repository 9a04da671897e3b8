"""Lists of numbers that must not be called: read from files of any shape, pushed to the service.

A suppression file is read to suppress too much rather than too little: every number of every phone column
counts, a row is only left out where the code table of a scrubbing service says that it may be called, and a
cell that cannot be read is reported with its line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from platformdirs import user_data_path

from dialframe import arrow_text, leads, profiles
from dialframe.config import OnProgress, Progress, Settings, silent
from dialframe.errors import ConfigError, LeadFileError, OutcomeUnknown, Refused
from dialframe.leads.columns.country_names import named_regions
from dialframe.leads.lead_file import text_table, wide
from dialframe.leads.phones_in_cells import with_sign
from dialframe.phones.column_reader import read_column
from dialframe.profiles import Column, Profile
from dialframe.suppression import Barred, Entry, SuppressionList

if TYPE_CHECKING:
    from dialframe.flows.lead_cleaning import Prepared, Result
    from dialframe.leads import LeadFile

_STEP: Final = "numbers pushed to the service"
_SHA256: Final = r"^[0-9a-fA-F]{64}$"
#: Seven digits are a local number, fifteen the longest of E.164 (ITU-T E.164, 6).
_NUMBER: Final = re.compile(r"\s*\+?(?:[\s().\-]*\d){7,15}\s*")
#: Between several numbers of one cell.
_SEPARATORS: Final = r"[;,|\n\r/]|\s{2,}|\t"
#: Share of the filled cells of a column that make it one of hashes, or of numbers.
_MOST: Final = 0.5
#: Of a list of E.164 without its sign some cells are always broken.
_NEARLY_ALL: Final = 0.9
#: Enough to see what is wrong with a file; all are in `unreadable`.
_LINES_NAMED: Final = 5
#: Rows by which a register's own form is recognized.
_SAMPLE_ROWS: Final = 200


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
        deleted: Numbers that a change list takes off, E.164; they are not among `phones`.
        is_register: Whether it is a register's own file rather than anybody's list of numbers.
    """

    name: str
    records: int
    phones: tuple[str, ...] = field(repr=False)
    digests: tuple[bytes, ...] = field(repr=False)
    free: int = 0
    unreadable: tuple[int, ...] = ()
    deleted: tuple[str, ...] = field(default=(), repr=False)
    is_register: bool = False

    @property
    def barred(self) -> Barred:
        """The numbers, for looking up many."""
        return Barred.of(self.phones, self.digests)

    def reason(self, given: str | None) -> str:
        """Why its numbers are suppressed, where nobody says it."""
        return given or ("registry" if self.is_register else "opt_out")

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
    file = _with_header_as_row(file)
    profile, by_role = _recognize(file)
    if profile is not None:
        region = profile.constants.get("region", region)
    # No default: national numbers of an unknown country suppress nobody.
    region = region or leads.decide_region(file).region
    counted = _find_suppressed(file, table)
    unread = np.zeros(len(counted), np.bool_)
    digests: dict[bytes, None] = {}
    phones: list[pa.Array] = []
    rows: list[np.ndarray] = []
    # The name of the column, which reading took for a cell, is as much of a short file as any number.
    first = 1 if file.header is None and len(file.table) > 1 else 0
    hashed = [
        name for name in file.names if _share_of(_cells(file, name).slice(first), _SHA256) > _MOST
    ]
    for name in hashed:
        cells = _cells(file, name)
        good = arrow_text.matches(cells, _SHA256)
        texts = cells.filter(arrow_text.numbers(good & counted)).to_pylist()
        digests |= dict.fromkeys(map(bytes.fromhex, texts))
        bad = ~good & counted & (arrow_text.sizes(cells) > 0)
        if file.header is None:
            bad[:1] = False  # the name of the column, which reading took for a cell
        unread |= bad
    if not hashed:
        filled = np.zeros(len(counted), np.bool_)
        columns = _phone_columns(file, region) if profile is None else by_role["phone"]
        for name, cells in columns.items():
            wanted = np.flatnonzero(counted & (arrow_text.sizes(cells) > 0))
            filled[wanted] = True
            pieces = pc.split_pattern_regex(cells.take(arrow_text.numbers(wanted)), _SEPARATORS)
            places = wanted[arrow_text.values_of(pc.list_parent_indices(pieces))]
            texts = pc.utf8_trim_whitespace(pieces.flatten())
            has_digit = arrow_text.matches(texts, r"\d")
            texts, places = texts.filter(arrow_text.numbers(has_digit)), places[has_digit]
            for numbers in _readings(texts, name, region):
                known = numbers.is_valid()
                phones.append(numbers.filter(known))
                rows.append(places[arrow_text.values_of(known)])
        # A row with one readable number suppresses somebody; a row with none is said.
        unread |= filled
        unread[np.concatenate([np.zeros(0, np.int64), *rows])] = False
    lines = tuple(int(line) for line in file.lines[unread])
    if lines and region is None:
        raise LeadFileError(
            f"{file.name}: {len(lines):,} numbers cannot be read ({lines_named(lines)}); name the "
            "country of numbers that are written without one with region=...",
            path=file.path,
        )
    if lines and len(lines) == int(counted.sum()):
        raise LeadFileError(
            f"{file.name}: none of its {len(lines):,} rows holds a number of {region} or a SHA-256, so it "
            "would suppress nobody; look whether it is the right file",
            path=file.path,
        )
    listed = pa.chunked_array(phones, arrow_text.TEXT)
    deleted: list[str] = []
    if "change" in by_role:
        states = _states(listed.to_pylist(), np.concatenate(rows).tolist(), by_role)
        listed = pa.chunked_array([arrow_text.column(each for each in states if states[each])])
        deleted = [number for number, stands in states.items() if not stands]
    return SuppressionFile(
        file.name,
        len(file.table),
        tuple(listed.unique().to_pylist()),
        tuple(digests),
        int((~counted).sum()),
        lines,
        tuple(deleted),
        is_register=profile is not None and profile.kind == "registry",
    )


def _recognize(file: LeadFile) -> tuple[Profile | None, dict[str, dict[str, pa.Array]]]:
    """The profile of a register or list of numbers, and its columns by role, with area codes in front."""
    sample = list(
        zip(
            *(file.table[name].slice(0, _SAMPLE_ROWS).to_pylist() for name in file.names),
            strict=True,
        )
    )
    for kind in ("registry", "suppression"):
        profile = profiles.recognize(file.header, sample, kind)
        if profile is not None:
            break
    else:
        return None, {}
    names = list(profile.names) if file.header is None else file.names
    in_file = dict(zip(names, file.names, strict=False))
    by_role: dict[str, dict[str, pa.Array]] = {}
    for name, column in profile.matched(names).items():
        cells = _cells(file, in_file[name])
        if column.before is not None:
            cells = _join_texts(_cells(file, in_file[column.before]), cells)
        elif column.values:
            cells = arrow_text.mapped(cells, partial(_meaning, column))
        elif column.formats:
            cells = arrow_text.mapped(cells, partial(_instant, column.formats))
        by_role.setdefault(column.role, {})[name] = cells
    # Without its numbers, or with words that say nothing of a change, it is read as any other file.
    strange = any("" in cells.unique().to_pylist() for cells in by_role.get("change", {}).values())
    return (None, {}) if strange or "phone" not in by_role else (profile, by_role)


def _meaning(column: Column, cell: str) -> str:
    return column.meaning(cell) or ""


def _instant(formats: Sequence[str], cell: str) -> str:
    """A day or time as a text that sorts; empty for another text."""
    for form in formats:
        with suppress(ValueError):
            return datetime.strptime(cell, form).isoformat()  # noqa: DTZ007 - of one list, only compared
    return ""


def _states(
    numbers: Sequence[str], rows: Sequence[int], by_role: Mapping[str, Mapping[str, pa.Array]]
) -> dict[str, bool]:
    """Number to whether it stands on the list after all changes, the newest last."""
    change = next(iter(by_role["change"].values())).to_pylist()
    times = [cells.to_pylist() for cells in by_role.get("changed_at", {}).values()]
    changes = list(zip(numbers, rows, strict=True))
    # Lines without a time, or with one that cannot be read, are in the order of the file.
    if times and all(times[0][row] for row in rows):
        changes.sort(key=lambda each: times[0][each[1]])
    return {number: change[row] != "delete" for number, row in changes}


def _cells(file: LeadFile, name: str) -> pa.Array:
    return pc.utf8_trim_whitespace(arrow_text.whole(file.table[name]))


def _join_texts(*parts: pa.Array, by: str = "") -> pa.Array:
    return pc.binary_join_element_wise(*parts, arrow_text.text(by))


def _share_of(cells: pa.Array, pattern: str) -> float:
    """The share of the filled cells that fit a pattern; none of no cells."""
    filled = int((arrow_text.sizes(cells) > 0).sum())
    return int(arrow_text.matches(cells, pattern).sum()) / filled if filled else 0.0


def _with_header_as_row(file: LeadFile) -> LeadFile:
    """The file with its header as first record, where that holds a number: a list without a header."""
    header = file.header or ()
    if not any(re.fullmatch(_SHA256, cell.strip()) or _NUMBER.fullmatch(cell) for cell in header):
        return file
    first = text_table([wide(list(header), len(file.names))], file.names)
    return replace(
        file,
        header=None,
        table=pa.concat_tables([first, file.table]),
        lines=np.concatenate([[file.decisions.header_line or 1], file.lines]),
    )


def _find_suppressed(file: LeadFile, table: CodeTable | None) -> np.ndarray:
    """Which rows are suppressed: all without a code table."""
    rows = len(file.table)
    if table is None:
        return np.ones(rows, np.bool_)
    columns = [name for name in file.names if name.strip() in table.columns]
    if not columns:
        raise ConfigError(
            f"{file.name} has no column of {table.title} ({', '.join(table.columns)}); "
            "leave the code table out to suppress every row"
        )
    # Free is who is free by every column of the service.
    free = np.ones(rows, np.bool_)
    for name in columns:
        which, codes = arrow_text.by_distinct(_cells(file, name), str.casefold)
        free &= np.isin(which, [at for at, code in enumerate(codes) if code in table.free])
    return ~free


def _phone_columns(file: LeadFile, region: str | None) -> dict[str, pa.Array]:
    """The cells of every column that holds numbers; parts of a number that is split are joined."""
    # By the same finding of columns as a list of leads.
    columns = leads.decide(file, region=region).columns
    phone_columns: dict[str, pa.Array] = {}
    used: set[str | None] = set()
    if columns is not None:
        for name in (*columns.phone, *filter(None, [columns.phone_other])):
            parts = [_cells(file, part) for part in columns.joined.get(name, (name,))]
            phone_columns[name] = _join_texts(*parts, by=" ")
        used = {*columns.phone_parts, columns.phone_other, columns.external_id}
    for name in file.names:
        if name not in used and _is_of_numbers(_cells(file, name), region):
            phone_columns[name] = _cells(file, name)
    # A table of no rows, as an audit writes where nobody asked, holds nobody.
    if not phone_columns and len(file.table):
        remedy = (
            "name the country of its numbers with region=..."
            if region is None
            else f"look whether its numbers are of {region}, and whether it is the right file"
        )
        raise LeadFileError(
            f"{file.name} has no column of phone numbers or of SHA-256; {remedy}", path=file.path
        )
    return phone_columns


def _is_of_numbers(cells: pa.Array, region: str | None) -> bool:
    filled = cells.filter(arrow_text.numbers(arrow_text.sizes(cells) > 0)).slice(0, 1000)
    numbers = _normalize_texts(filled, region)
    return len(filled) > 0 and numbers.null_count < (1 - _MOST) * len(filled)


def _readings(texts: pa.Array, header: str, region: str | None) -> Iterator[pa.Array]:
    """E.164 of each text in every way in which it may be meant: all of them are suppressed."""
    normal = _normalize_texts(texts, region)
    yield normal
    # National, or with its calling code and without the sign: where both are numbers, both are held.
    signed = [
        None if number is None else with_sign(text, region, number)
        for text, number in zip(texts.to_pylist(), normal.to_pylist(), strict=True)
    ]
    yield arrow_text.column(signed)
    # A header such as `UK mobile` names a country of its own.
    for named in sorted(named_regions(header)):
        yield _normalize_texts(texts, named)


def _normalize_texts(texts: pa.Array, region: str | None) -> pa.Array:
    """E.164 of each text, null where there is none; digits alone may be E.164 without its `+`."""
    e164 = read_column(texts, region).e164
    is_bare = arrow_text.matches(texts, r"^[1-9]\d{10,14}$")
    bare = np.flatnonzero(is_bare & arrow_text.values_of(e164.is_null()))
    if not len(bare):
        return e164
    signed = _join_texts(arrow_text.constant("+", len(bare)), texts.take(arrow_text.numbers(bare)))
    with_plus = read_column(signed, None).e164
    # Of national numbers some look like E.164 without its sign; of a list of E.164 nearly all do.
    if with_plus.null_count >= (1 - _NEARLY_ALL) * len(bare):
        return e164
    return arrow_text.put(e164, bare, with_plus)


def lines_named(lines: Sequence[int]) -> str:
    """The first of some lines in words: `lines 3, 8 and 12 more`."""
    shown = ", ".join(f"{line:,}" for line in lines[:_LINES_NAMED])
    more = len(lines) - _LINES_NAMED
    word = "line" if len(lines) == 1 else "lines"
    return f"{word} {shown}" + (f" and {more:,} more" if more > 0 else "")
