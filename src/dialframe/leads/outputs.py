"""A cleaning's outcome to files: the clean list, the records that were set aside, and the report; all or none."""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from importlib import resources
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dialframe import arrow_text
from dialframe import files as staging
from dialframe.config import OnProgress, Progress, silent
from dialframe.errors import ConfigError, LeadFileError
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.formats import Add, Form, sink
from dialframe.leads.lead_file import INTEGERS, LEAD_COLUMNS, META, numbered
from dialframe.leads.outcomes import Cleaned, CleanedFile, CleanedFiles, OutcomeRows, aligned
from dialframe.leads.own_lists import read_origin
from dialframe.leads.reasons import COUNT_KEYS
from dialframe.leads.report import report

if TYPE_CHECKING:
    import pandas as pd

_KEYS: Final = tuple(COUNT_KEYS.values())
_STEP: Final = "cleaned files written"
#: The two lists that are written.
LISTS: Final = ("clean", "set_aside")

#: A report, as `report` makes it, to a page.
Render = Callable[[Mapping[str, Any]], str]
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
class Written:
    """The files of one cleaning.

    Attributes:
        paths: Path by what it holds: `clean`, `set_aside`, `report`, `report_page`.
    """

    paths: Mapping[str, Path]


# ---- what the clean list looks like


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


@cache
def destinations() -> Mapping[str, Writing]:
    """Every destination by name."""
    table = resources.files(__package__).joinpath("destinations.toml")
    return {
        name: Writing(
            facts["mark"], facts["guard"], facts["bookkeeping"], facts["source"], facts["names"]
        )
        for name, facts in tomllib.loads(table.read_text("utf-8")).items()
    }


@dataclass(frozen=True, slots=True, eq=False)
class CleanColumns:
    """The columns of one clean list, in order: fields first, then the file's own, untouched.

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
    ) -> Self:
        """The columns of a list.

        Args:
            names: Columns of the clean records.
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
        added = _number_columns(records["phone"], self.layout.add)
        cells = {}
        for name, column in self.fields.items():
            texts = added[name] if name in added else records[name]
            if self.layout.title_names and name in _NAMES:
                texts = arrow_text.mapped(arrow_text.whole(texts), _as_name)
            cells[column] = texts
        return pa.table(cells | {column: records[name] for name, column in self.others.items()})


def _number_columns(phones: pa.ChunkedArray, add: Sequence[str]) -> dict[str, pa.Array]:
    """What a number says of itself, a column for each of `add`."""
    if not add:
        return {}
    which, added = arrow_text.by_distinct(arrow_text.whole(phones), _facts)
    return {
        name: arrow_text.column([facts[name] for facts in added]).take(arrow_text.numbers(which))
        for name in add
    }


@lru_cache(maxsize=100_000)
def _facts(phone: str) -> Mapping[str, str]:
    import pandas as pd

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


# ---- files


@dataclass(frozen=True, slots=True)
class Target:
    """Where outcomes go, and how.

    Attributes:
        folder: The folder; made with mode 0700 if it is missing.
        stem: Beginning of the names, or None for the first file's name without endings.
        form: Format of the lists.
        page: Makes a page of the report for people; None for no page.
        layout: What the clean list looks like.
        suppression: Lists of numbers that must not be called, to how many each holds and how many of
            those are in the files.
    """

    folder: Path
    stem: str | None = None
    form: Form = "csv"
    page: Render | None = None
    layout: CleanLayout = field(default_factory=CleanLayout)
    suppression: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def paths(self, files: Sequence[CleanedFile]) -> dict[str, Path]:
        """Path of each file that may be written, by what it holds.

        Args:
            files: The files that were read.

        Raises:
            ConfigError: The stem is none.
            LeadFileError: A file would replace one that was read, or a folder.
        """
        begin = self.stem or stem_in(self.folder, files, self.form)
        paths = {key: self.folder / f"{begin}.{key}.{self.form}" for key in LISTS}
        if self.page is not None:
            paths["report_page"] = self.folder / f"{begin}.report.html"
        paths["report"] = self.folder / f"{begin}.report.json"
        if not begin or Path(begin).name != begin:
            raise ConfigError(
                f"stem {begin!r} is no beginning of a file name; leave out the folder"
            )
        inputs = {file.path.resolve() for file in files}
        for path in paths.values():
            if path.resolve() in inputs:
                raise LeadFileError(
                    f"{path} was read and would be replaced; choose another folder or stem",
                    path=path,
                )
            if path.is_dir():
                raise LeadFileError(f"{path} is a folder; move it away first", path=path)
        return paths


class Outputs:
    """Lists that are being written, under names of their own until all is well; a context manager.

    Args:
        paths: What the lists will be called, in the folder where they are written.
        form: Their format.
        orders: Columns of the records of each outcome.
        clean: Columns of the clean list.
        header: Columns of the records that are set aside, as they are written.
        bare: Whether CSV is written without its header, to be joined.
    """

    def __init__(
        self,
        paths: Mapping[str, Path],
        form: Form,
        orders: Mapping[str, Sequence[str]],
        clean: CleanColumns,
        header: Sequence[str],
        *,
        bare: bool = False,
    ) -> None:
        self.rows: Counter[str] = Counter()
        self.files: dict[str, Path] = {}
        self._paths, self._form, self._orders = paths, form, orders
        self._clean, self._header, self._bare = clean, header, bare
        self._stack = ExitStack()
        self._sinks: dict[str, Add] = {}
        self._opened: dict[str, BinaryIO] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self._stack.close()

    def close(self) -> None:
        """Have the files whole on the disk."""
        self._stack.close()
        for path in self.files.values():
            with path.open("rb") as file:
                os.fsync(file.fileno())

    def add(self, batch: Iterable[OutcomeRows]) -> None:
        """Write rows of one file; what was set aside comes in the order of its records.

        Args:
            batch: The rows of each outcome; columns that they do not have are empty.
        """
        aside = []
        for rows in batch:
            if not len(rows.table):
                continue
            table = aligned(rows.table, self._orders[rows.key])
            if rows.key == "clean":
                self._write("clean", self._clean.table(table))
            else:
                aside.append(table)
        if aside:
            whole = pa.concat_tables(aside)
            order = np.argsort(arrow_text.values_of(whole["_row"]), kind="stable")
            self._write(
                "set_aside", whole if len(aside) == 1 else whole.take(arrow_text.numbers(order))
            )

    def _write(self, key: str, table: pa.Table) -> None:
        self._sink(key)(table)
        self.rows[key] += len(table)

    def join(self, parts: Mapping[str, Path], rows: Mapping[str, int]) -> None:
        """Put rows behind that were written elsewhere without a header.

        Args:
            parts: The files that hold them; deleted here.
            rows: How many rows each has.
        """
        for key, path in parts.items():
            self._sink(key)
            with path.open("rb") as part:
                shutil.copyfileobj(part, self._opened[key], 2**20)
            path.unlink()
            self.rows[key] += rows[key]

    def _sink(self, key: str) -> Add:
        if key not in self._sinks:
            path = self._paths[key]
            handle, name = tempfile.mkstemp(
                prefix=f".{path.name}.", suffix=staging.SUFFIX, dir=path.parent
            )
            file = self._stack.enter_context(os.fdopen(handle, "w+b"))
            self.files[key], self._opened[key] = Path(name), file
            writing = self._clean.layout.writing
            is_clean = key == "clean"
            columns = self._clean.names if is_clean else self._header
            self._sinks[key] = self._stack.enter_context(
                sink(
                    self._form, file, columns,
                    mark=writing.mark if is_clean else True,
                    guard=writing.guard if is_clean else True,
                    bare=self._bare,
                )
            )  # fmt: skip
        return self._sinks[key]


def write_lists(
    target: Target,
    files: Sequence[CleanedFile],
    orders: Mapping[str, Sequence[str]],
    clean: CleanColumns,
    fill: Callable[[Outputs, Mapping[str, Path]], CleanedFiles],
) -> CleanedFiles:
    """Let `fill` write the lists, and write the report of what it returns; all files or none.

    A list without a row is not written, and one of that name from an earlier run is deleted.

    Args:
        target: Where they go, and how.
        files: The files that were read.
        orders: Columns of the records of each outcome.
        clean: Columns of the clean list.
        fill: Writes the records; given where they go and the paths.

    Raises:
        LeadFileError: The folder cannot be written.
    """
    paths = target.paths(files)
    staged: dict[Path, Path] = {}
    header = _header(files, orders["rejected"])
    outputs = Outputs(paths, target.form, orders, clean, header)
    try:
        staging.folder(target.folder)
        with outputs:
            summary = fill(outputs, paths)
            outputs.close()
        written = {key: path for key, path in paths.items() if key in outputs.files}
        staged |= {path: outputs.files[key] for key, path in written.items()}
        facts = [
            {
                "name": path.name,
                "rows": outputs.rows[key],
                "sha256": staging.digest(staged[path]),
            }
            for key, path in written.items()
        ]
        written |= {key: path for key, path in paths.items() if key not in LISTS}
        guarded = target.form == "csv" and clean.layout.writing.guard
        fields = {name: column for name, column in clean.fields.items() if name in LEAD_COLUMNS}
        facts_of_all = report(summary, facts, target.suppression) | {
            "clean_list": {
                "columns": fields,
                "guarded": guarded,
                "one_lead_per": _lead_per(files),
            }
        }
        texts = {"report": json.dumps(facts_of_all, ensure_ascii=False, indent=2) + "\n"}
        if target.page is not None:
            texts["report_page"] = target.page(facts_of_all)
        for key, text in texts.items():
            staged[paths[key]] = staging.stage(paths[key], partial(_write_bytes, text.encode()))
        staging.publish({path: staged[path] for path in written.values()})
        for key in set(LISTS).difference(written):
            paths[key].unlink(missing_ok=True)
    except OSError as problem:
        why = (problem.strerror or "output error").lower()
        raise LeadFileError(
            f"{target.folder} cannot be written: {why}; make room or choose another folder",
            path=target.folder,
        ) from problem
    finally:
        for path in (*outputs.files.values(), *staged.values()):
            path.unlink(missing_ok=True)
    return _with_paths(summary, written)


def write(
    cleaned: Cleaned,
    out_dir: str | Path,
    *,
    stem: str | None = None,
    form: Form = "csv",
    page: Render | None = None,
    layout: CleanLayout | None = None,
    suppression: Mapping[str, tuple[int, int]] | None = None,
    on_progress: OnProgress = silent,
) -> Written:
    """Write the clean list, the records that were set aside, and the report.

    `<stem>.clean.csv`, `<stem>.set_aside.csv` (or `.xlsx`, `.parquet`, `.jsonl`) and, last,
    `<stem>.report.html` where there is a `page`, and `<stem>.report.json`; a list without a row is not
    written. Readable by the owner alone (mode 0600). CSV is UTF-8 with a byte order mark and CR LF, and
    cells that a spreadsheet could run as formulas carry an apostrophe; the other forms hold text cells.
    Cleaning takes all of that off again, as it drops the columns that were added; so a corrected file of
    what was set aside can be cleaned as it is. The same input gives the same bytes. Files get their names
    only when all of them are whole on the disk.

    The clean list holds the lead's fields in the order of the mapping, then the file's own columns; the
    report beside it says which column is E.164 and where the list comes from.

    Args:
        cleaned: The outcome.
        out_dir: Folder; made with mode 0700 if it is missing.
        stem: Beginning of the names; without it the first file's name without endings.
        form: Format of the lists.
        page: Makes a page of the report for people; None for no page.
        layout: What the clean list looks like.
        suppression: Lists of numbers that must not be called, to entries and those met; for the report.
        on_progress: Told about each file.

    Returns:
        The paths.

    Raises:
        LeadFileError: The folder cannot be written, a file would replace one that was read, or a
            sheet cannot hold the rows.

    Example:
        written = dialframe.leads.write(cleaned, "out")
    """
    target = Target(
        Path(out_dir), stem, form, page, layout or CleanLayout(), suppression=suppression or {}
    )
    orders = {key: cleaned.tables[key].column_names for key in _KEYS}
    columns = [file.columns for file in cleaned.files]
    clean = CleanColumns.of(orders["clean"], columns, cleaned.filled, target.layout)

    def fill(out: Outputs, paths: Mapping[str, Path]) -> CleanedFiles:
        for done, file in enumerate(cleaned.files, 1):
            rows = {
                key: table.filter(pc.equal(table["_file"], arrow_text.text(file.name)))
                for key, table in cleaned.tables.items()
            }
            out.add([OutcomeRows(key, table) for key, table in rows.items()])
            on_progress(Progress(_STEP, done, len(cleaned.files)))
        return _with_paths(cleaned.summary, paths)

    written = write_lists(target, cleaned.files, orders, clean, fill)
    return Written(MappingProxyType(dict(written.paths)))


def to_csv(frame: pd.DataFrame) -> bytes:
    """The frame as CSV for people: UTF-8 with a mark, CR LF, formulas disarmed.

    Args:
        frame: Rows of one outcome.

    Returns:
        The bytes of the file.

    Example:
        content = dialframe.leads.to_csv(cleaned.clean)
    """
    file = io.BytesIO()
    columns = {
        str(name): pa.array(cells, pa.int64(), from_pandas=True)
        if name in INTEGERS
        else pa.array(cells, arrow_text.TEXT, from_pandas=True)
        for name, cells in frame.items()
    }
    with sink("csv", file, list(columns)) as add:
        add(pa.table(columns))
    return file.getvalue()


def stem(cleaned: Cleaned) -> str:
    """Beginning of the names of a cleaning's files: the first file's name without endings.

    Args:
        cleaned: A cleaning.

    Returns:
        For instance `autumn` of `autumn.csv`.

    Example:
        dialframe.leads.stem(cleaned)
    """
    return stem_of(cleaned.files)


def stem_of(files: Sequence[CleanedFile]) -> str:
    """The same from what is known of the files.

    Args:
        files: The files that were cleaned.

    Returns:
        The first file's name without endings.

    Example:
        dialframe.leads.stem_of(cleaned.files)
    """
    first, others = files[0].stem, len(files) - 1
    return f"{first}_and_{others}_more" if others else first


def stem_in(folder: Path, files: Sequence[CleanedFile], form: Form = "csv") -> str:
    """The beginning of the names in a folder, where no list of other files has it already.

    `autumn.csv` and `autumn.xlsx` in one folder are `autumn` and `autumn_xlsx`; the same file again
    has the name that it had, also where an upload brought the same bytes to another place.

    Args:
        folder: Where the lists go.
        files: The files that were cleaned.
        form: Form of the lists.

    Returns:
        The first free name: `autumn`, else `autumn_csv`, `autumn_csv_2` and so on.

    Example:
        dialframe.leads.stem_in(Path("out"), cleaned.files)
    """
    paths = [str(file.path.absolute()) for file in files]
    content = [(file.path.name, file.sha256) for file in files]
    begin, copy = stem_of(files), 1
    ending = files[0].path.suffix.removeprefix(".") or "list"
    name = begin
    while True:
        origin = read_origin(folder / f"{name}.clean.{form}")
        if origin is None or [each.path for each in origin.sources] in ([], paths):
            return name
        if [(each.name, each.sha256) for each in origin.sources] == content:
            return name
        name = f"{begin}_{ending}" if copy == 1 else f"{begin}_{ending}_{copy}"
        copy += 1


def _lead_per(files: Sequence[CleanedFile]) -> str:
    return "record" if all(file.extra_leads is None for file in files) else "number"


def _with_paths(summary: CleanedFiles, paths: Mapping[str, Path]) -> CleanedFiles:
    return replace(summary, paths=MappingProxyType(dict(paths)))


def _write_bytes(data: bytes, file: BinaryIO) -> None:
    file.write(data)


def _header(files: Sequence[CleanedFile], names: Sequence[str]) -> list[str]:
    """Names of columns as they stood in the file's header, where that is no trap."""
    if len(files) != 1 or files[0].header is None:
        return list(names)
    # A repeated or empty header keeps the name that it got: two equal ones cannot be told apart.
    raw = {
        name: text
        for name, text in zip(files[0].names, files[0].header, strict=False)
        if " ".join(text.split()) == name
    }
    return [raw.get(name, name) for name in names]
