"""An audit in parts, each with all calls of its numbers: bounded memory, on one machine or on several.

`split` lays the rows of an account into as many folders as there are parts, by the called number;
`examine` audits one of them, wherever it runs; `in_parts` adds the sums up (`sums_of_parts`). The findings
are those of one audit of all calls, whatever the number of parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import dataset

from dialframe.compliance import pack, sums_of_parts, voluntary_codes
from dialframe.compliance.auditing import assembled, federal_age, listed_in
from dialframe.compliance.check_runner import BY_NAME, Engine, Stored
from dialframe.compliance.checks.check_results import shaped, tallied
from dialframe.compliance.result import Audit, Coverage, Parts
from dialframe.compliance.sums_of_parts import SUMMED, KeptFindings, Piece, piece_of
from dialframe.compliance.tables import open_database, quoted
from dialframe.compliance.tables.intake import (
    E164,
    NEEDED,
    OF_CALLS,
    OF_ROWS,
    RECORDING,
    WELCOME,
    checked,
    moment,
    recorded,
)
from dialframe.compliance.tables.query_tables import Question
from dialframe.errors import ConfigError
from dialframe.frames import CALLS, DNC_CHECKS, LEADS, Table

#: Rows of calls, leads and checks that one part holds: some 1.5 GiB of memory while it is examined.
ROWS_OF_PART: Final = 3_500_000
#: Rows that are laid out at once.
_ROWS_AT_ONCE: Final = 500_000
_IDS_AT_ONCE: Final = 16_000_000
#: Which number a row is about; of a call that came in, the caller's.
_NUMBER: Final = {
    "calls": "case when lower(trim(direction)) = 'inbound' then from_number else to_number end",
    "leads": "phone",
    "dnc_checks": "phone",
}
_TABLES: Final = {table.name: table for table in (CALLS, LEADS, DNC_CHECKS)}
#: Under which name a row has its place in the whole table, and what is laid beside its columns.
_KEYS: Final = {"calls": "call", "leads": "lead", "dnc_checks": "check_no"}
_BESIDE: Final = {"calls": OF_CALLS, "leads": OF_ROWS, "dnc_checks": OF_ROWS}
#: Columns whose words repeat in most accounts, and how many of them are few.
_REPEATED: Final[Mapping[str, tuple[str, ...]]] = {
    "calls": ("direction", "from_number", "status", "campaign_id", "disposition", "hangup_cause"),
    "leads": ("campaign_id", "status"),
    "dnc_checks": (),
}
_FEW_VALUES: Final = 10_000
_NEEDED: Final = {**NEEDED, "calls": (*NEEDED["calls"], "answered_at")}
#: The same, and those that are read where a table has them.
_READ: Final = {
    **NEEDED,
    "calls": (*NEEDED["calls"], *WELCOME["calls"]), "leads": (*NEEDED["leads"], "custom_fields"),
}  # fmt: skip
#: What each kind of column is in DuckDB, and where it may hold nulls in pandas.
_SQL: Final = {
    "text": "varchar", "instant": "timestamp", "integer": "bigint", "boolean": "boolean",
    "number": "double", "json": "varchar",
}  # fmt: skip
_DTYPES: Final = {pa.bool_(): pd.BooleanDtype(), pa.int64(): pd.Int64Dtype()}

#: Runs a function on each of some tasks, wherever that is, and gives the answers in their order.
Workers = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


@dataclass(frozen=True, slots=True)
class Files:
    """Rows of a table in Parquet files of this machine, in their order."""

    paths: tuple[str, ...]


#: Rows of a table: some at a time, in their order, or files of them.
Rows = Callable[[], Iterable[pa.Table]] | Files
#: What the firm says of some calls: states of their numbers, and outcomes by call id.
Meaning = Callable[
    [pd.DataFrame, pd.DataFrame],
    tuple[pd.Series | Mapping[str, str] | None, pd.Series | Mapping[str, str] | None],
]


@dataclass(frozen=True, slots=True)
class Split:
    """The rows of an account in parts.

    Attributes:
        folder: Where they lie: `calls/part=0/`, and so on.
        parts: How many there are.
        rows: Table to its number of rows.
        hashes: Table to a sum over the hashes of its rows; their order does not matter.
        words: Every disposition with whether calls that ended with it were answered; columns
            `id, disposition, answered_at`.
        answers: Whether any call says when it was answered.
    """

    folder: Path
    parts: int
    rows: Mapping[str, int]
    hashes: Mapping[str, str]
    words: pd.DataFrame
    answers: bool


def parts_for(rows: int) -> int:
    """How many parts an account of so many calls, leads and checks is audited in."""
    return max(1, -(-rows // ROWS_OF_PART))


def split(tables: Mapping[str, Rows], folder: Path, parts: int) -> Split:
    """Lay the rows of an account out by their numbers.

    Args:
        tables: `calls`, `leads` and `dnc_checks`.
        folder: An empty folder; it takes as much room as the tables.
        parts: How many parts.

    Raises:
        ConfigError: A table lacks a column.
        OSError: The disk is full or the folder cannot be written.
    """
    # A table without rows has a hash too, so that a manifest names it.
    counts, hashes = dict.fromkeys(tables, 0), dict.fromkeys(tables, f"{0:016x}")
    ends: list[tuple[str | None, bool]] = []
    with _connection() as con:
        for name, rows in tables.items():
            table_folder = folder / name
            table_folder.mkdir(mode=0o700)
            for turn, _ in enumerate(_given(con, rows, _TABLES[name])):
                _lay(con, name, table_folder, parts, turn)
            laid = f"read_parquet({quoted(table_folder / '*' / '*.parquet')}, hive_partitioning = false)"
            if not any(table_folder.glob("*/*.parquet")):
                continue
            # The place of a row and the integers laid beside the columns say nothing of their own.
            columns = [*_kinds(_TABLES[name]), *(["recorded"] if name == "calls" else [])]
            hashed = ", ".join(f'"{column}"' for column in columns)
            counts[name], total = con.execute(
                f"select count(*), coalesce(sum(hash({hashed})::hugeint), 0) from {laid}"
            ).fetchall()[0]
            # A sum of hashes: the order in which rows came says nothing of what was read.
            hashes[name] = f"{total % 2**64:016x}"
            if name == "calls":
                query = f"select distinct disposition, answered_at is not null from {laid}"
                ends = con.execute(query).fetchall()
    answers = any(is_answered for _, is_answered in ends)
    words = _words(sorted((word, is_answered) for word, is_answered in ends if word is not None))
    return Split(folder, parts, counts, hashes, words, answers)


def _given(con: duckdb.DuckDBPyConnection, rows: Rows, table: Table) -> Iterator[None]:
    """The rows of a table under the name `given`, so many at once as memory has room for; files are read where they lie."""
    # Files are read where they lie: a copy of a large account is gigabytes.
    if isinstance(rows, Files):
        files = dataset.dataset(list(rows.paths))
        schema = files.schema
        _require(table, schema.names)
        if _is_plain(schema, table):
            paths = ", ".join(map(quoted, rows.paths))
            lying = f"read_parquet([{paths}], union_by_name = true, hive_partitioning = false)"
            con.execute(f"create or replace temp view given as {_taken(schema, table, lying)}")
            yield
            return
        read = files.to_batches(batch_readahead=1, fragment_readahead=1)
        batches: Iterable[pa.Table] = (pa.Table.from_batches([batch]) for batch in read)
    else:
        batches = rows()
    first = 0
    for batch in _batches(batches):
        _require(table, batch.column_names)
        plain = batch if _is_plain(batch.schema, table) else _plain(batch, table)
        con.register("batch", plain)
        query = _taken(plain.schema, table, "batch", first)
        con.execute(f"create or replace temp view given as {query}")
        yield
        con.unregister("batch")
        first += batch.num_rows


def _lay(
    con: duckdb.DuckDBPyConnection, name: str, table_folder: Path, parts: int, turn: int
) -> None:
    """Write the rows that are given to their parts."""
    rows = f"select * {_in_few_values(con, name)}, {_BESIDE[name]} from given"
    if parts > 1:
        # All calls of a number lie in one part: caps, requests and checks look at nothing else.
        rows = f"select *, (hash({_NUMBER[name]}) % {parts})::int as part from ({rows})"
        con.execute(f"""
            copy ({rows}) to {quoted(table_folder)}
            ({pack.PARQUET}, partition_by (part), overwrite_or_ignore, filename_pattern 'rows_{turn:06d}_{{i}}')""")
        return
    whole = table_folder / "part=0"
    whole.mkdir(mode=0o700, exist_ok=True)
    con.execute(f"copy ({rows}) to {quoted(whole / f'rows_{turn:06d}.parquet')} ({pack.PARQUET})")


def _in_few_values(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """Casts of the columns that repeat a few words: their numbers are sorted into parts in two thirds of the time."""
    columns = _REPEATED[name]
    if not columns:
        return ""
    counts = con.execute(f"select {', '.join(f'count(distinct {c})' for c in columns)} from given")
    # Numbers and ids repeat too seldom to be worth a dictionary.
    few = [
        column
        for column, values in zip(columns, counts.fetchall()[0], strict=True)
        if 0 < values <= _FEW_VALUES
    ]
    for column in few:
        con.execute(f"drop type if exists few_{column}")
        values = f"select distinct {column} from given where {column} is not null"
        con.execute(f"create type few_{column} as enum ({values})")
    return f"replace ({', '.join(f'{c}::few_{c} as {c}' for c in few)})" if few else ""


def _taken(schema: pa.Schema, table: Table, source: str, first: int = 0) -> str:
    """The query of the columns that an audit reads, and of the place of each row in the table."""
    columns = []
    for name, kind in _kinds(table).items():
        value = f'"{name}"' if name in schema.names else "null"
        if kind == "instant":
            value = f"make_timestamp(epoch_us({value}::timestamptz))"
        # What a service put into its own fields stays as it is.
        cast = "" if kind == "json" and name in schema.names else f"::{_SQL[kind]}"
        columns.append(f'{value}{cast} as "{name}"')
    if table.name == "calls":
        recording = "recording" if "recording" in schema.names else "null"
        if recording == "null" and "_extra" in schema.names:
            recording = f"nullif(regexp_extract(_extra::varchar, '{RECORDING}', 1), '')"
        columns.append(f"{recording}::boolean as recorded")
    return f"select {', '.join(columns)}, row_number() over () - 1 + {first} as {_KEYS[table.name]} from {source}"


def _connection() -> duckdb.DuckDBPyConnection:
    con = open_database(1, "600MB")
    con.execute(E164)
    return con


def _batches(rows: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """The same rows, so many at once as memory has room for."""
    waiting: list[pa.Table] = []
    held = 0
    for table in rows:
        for start in range(0, table.num_rows, _ROWS_AT_ONCE):
            waiting.append(table.slice(start, _ROWS_AT_ONCE))
            held += waiting[-1].num_rows
            if held >= _ROWS_AT_ONCE:
                yield pa.concat_tables(waiting, promote_options="default")
                waiting, held = [], 0
    if waiting:
        yield pa.concat_tables(waiting, promote_options="default")


def _plain(rows: pa.Table, table: Table) -> pa.Table:
    """The same rows, with columns of the kinds that the table has."""
    frame = rows.to_pandas(types_mapper=_DTYPES.get)
    taken = checked(frame, table, tuple(name for name in _kinds(table) if name in frame))
    if table.name == "calls":
        taken = taken.assign(recording=recorded(frame, len(frame)))
    return pa.Table.from_pandas(taken, preserve_index=False)


def _require(table: Table, names: Sequence[str]) -> None:
    absent = [c for c in _NEEDED[table.name] if c not in names]
    if absent:
        raise ConfigError(
            f"compliance: the {table.name} table has no column {', '.join(absent)}; "
            f"pass rows of the {table.name} table"
        )


def _kinds(table: Table) -> dict[str, str]:
    """The columns that an audit reads, with their kinds."""
    return {c.name: c.kind for c in table.columns if c.name in _READ[table.name]}


def _is_plain(schema: pa.Schema, table: Table) -> bool:
    """Whether every column can be read as it is."""
    kinds = _kinds(table) | ({"recording": "boolean"} if table.name == "calls" else {})
    return all(
        _is_of_kind(schema.field(name).type, kind)
        for name, kind in kinds.items()
        if name in schema.names
    )


def _is_of_kind(given: pa.DataType, wanted: str) -> bool:
    is_text = pa.types.is_string(given) or pa.types.is_large_string(given)
    is_number = pa.types.is_integer(given) or pa.types.is_floating(given)
    fits = {
        "json": True, "text": is_text, "instant": given == pa.timestamp("us", "UTC"), "number": is_number,
        "integer": given == pa.int64(), "boolean": given == pa.bool_(),
    }  # fmt: skip
    return bool(pa.types.is_null(given) or fits[wanted])


def _words(ends: Sequence[tuple[str, bool]]) -> pd.DataFrame:
    """A call of each disposition, answered or not."""
    at = pd.Timestamp("2020-01-01", tz="UTC").as_unit("us")
    answered = [at if is_answered else pd.NaT for _, is_answered in ends]
    return pd.DataFrame(
        {
            "id": pd.Series([f"word_{n}" for n in range(len(ends))], dtype="str"),
            "disposition": pd.Series([word for word, _ in ends], dtype="str"),
            "answered_at": pd.Series(answered, dtype="datetime64[us, UTC]"),
        }
    )


def _superseded(laid: Split) -> frozenset[int]:
    """Rows of the calls whose id a later row has."""
    files = quoted(laid.folder / "calls" / "*" / "*.parquet")
    # So many hashes at once as memory holds.
    passes = max(1, -(-laid.rows["calls"] // _IDS_AT_ONCE))
    superseded: set[int] = set()
    with _connection() as con:
        for turn in range(passes if laid.rows["calls"] else 0):
            query = f"""
                select hash(id) as id_hash from read_parquet({files})
                where id is not null and hash(id) % {passes} = {turn}"""
            hashed = np.asarray(con.execute(query).fetchnumpy()["id_hash"])
            hashed.sort()
            twice = np.unique(hashed[1:][hashed[1:] == hashed[:-1]])
            if not len(twice):
                continue
            con.register("twice", pa.table({"id_hash": twice}))
            rows = con.execute(f"""
                with candidates as (
                  select id, call from read_parquet({files}) where hash(id) in (select id_hash from twice)
                )
                select call from (select call, max(call) over (partition by id) as last_call from candidates) where call < last_call""")
            superseded.update(row for (row,) in rows.fetchall())
            con.unregister("twice")
    return frozenset(superseded)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Part:
    """One part of an audit: where its rows lie, and what is asked of them. It travels to the worker that examines it.

    Attributes:
        number: Which of the parts.
        source: The folder of the split.
        target: Where its findings, tables and results are written.
        question: What is asked, with the firm's records of these numbers.
        callbacks: Frame of the callbacks table.
        superseded: Rows of the calls whose id a later row has.
        meaning: What the firm's own words say of leads and calls: states and outcomes.
        packed: Whether tables and results are kept, for an evidence pack.
        pseudonyms: Key with which numbers in them become pseudonyms.
        worded: Whether findings are put into words; else there are counts, tables and results alone.
    """

    number: int
    source: Path
    target: Path
    question: Question
    callbacks: pd.DataFrame | None
    superseded: frozenset[int]
    meaning: Meaning | None
    packed: bool
    pseudonyms: bytes | None
    worded: bool

    def stored(self, name: str) -> Stored | pd.DataFrame:
        """A table, where it lies; a frame without rows where the part has none of it."""
        files = sorted((self.source / name / f"part={self.number}").glob("*.parquet"))
        if not files:
            columns = tuple(c for c in _TABLES[name].columns if c.name in _READ[name])
            return shaped(pd.DataFrame(), columns).assign(_row=pd.Series([], dtype="int64"))
        rows = sum(pq.ParquetFile(file).metadata.num_rows for file in files)
        return Stored(tuple(files), rows, self.superseded if name == "calls" else None)

    def frame(self, name: str, *columns: str) -> pd.DataFrame:
        """A table as a frame: some columns of it, or all."""
        stored = self.stored(name)
        if isinstance(stored, pd.DataFrame):
            return stored
        read = [pq.ParquetFile(file).read(list(columns) or None) for file in stored.files]
        frame = pa.concat_tables(read).to_pandas(types_mapper=_DTYPES.get)
        # Parquet of DuckDB has instants without a zone: they are UTC.
        bare = frame.select_dtypes("datetime").columns
        aware = frame.assign(**{each: frame[each].dt.tz_localize("UTC") for each in bare})
        return aware.rename(columns={"recorded": "recording", _KEYS[name]: "_row"})


def examine(part: Part) -> tuple[Piece, Piece | None, bool]:
    """Audit one part, and write what it found.

    Returns:
        Its sums; those by voluntary codes, where the book has any; and whether these reach a call.
    """
    leads, calls, checks = (part.stored(name) for name in ("leads", "calls", "dnc_checks"))
    question = part.question
    if part.meaning is not None:
        states, outcomes = part.meaning(
            part.frame("leads", "phone", "custom_fields"),
            part.frame("calls", "id", "disposition", "answered_at"),
        )
        question = replace(question, states=states, outcomes=outcomes)
    run = Engine(leads, calls, checks, part.callbacks, question)
    run.run()
    piece = piece_of(run)
    # Words cost most: who wants counts alone does not pay for them.
    listed = _listed(piece) if part.worded else []
    _keep_findings(run, listed, part.target / "findings" / f"{part.number:04d}.parquet")
    if part.packed:
        # Whole numbers lie in it: for the owner alone.
        part_folder = part.target / "parts" / f"{part.number:04d}"
        part_folder.mkdir(mode=0o700, parents=True)
        pack.write_rows(
            run, part_folder, pseudonyms=part.pseudonyms, without=SUMMED, listed=part.worded
        )
    codes = question.book.codes()
    if not codes.rules:
        return piece, None, False
    every = part.frame("calls")
    every = every.assign(_superseded=every["_row"].isin(part.superseded).to_numpy(dtype=bool))
    near = voluntary_codes.reached(codes, every, run.view)
    near_calls = every.iloc[:0] if near is None else near
    of_codes = Engine(leads, near_calls, checks, part.callbacks, question.by_codes())
    of_codes.run()
    code_piece = piece_of(of_codes)
    _keep_findings(
        of_codes, _listed(code_piece), part.target / "advice" / f"{part.number:04d}.parquet"
    )
    return piece, code_piece, near is not None


def _listed(piece: Piece) -> list[str]:
    """Checks of a part of which anything is a finding by itself."""
    return [n for n, tally in piece.tallies.items() if tally.listed and n not in SUMMED]


def _keep_findings(run: Engine, names: Sequence[str], path: Path) -> None:
    rows = sums_of_parts.ordered_findings([BY_NAME[name] for name in names], run.view)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), path)
    path.chmod(0o600)


def in_parts(
    laid: Split,
    question: Question,
    *,
    folder: Path,
    callbacks: pd.DataFrame | None = None,
    meaning: Meaning | None = None,
    workers: Workers | None = None,
    packed: bool = False,
    pseudonyms: bytes | None = None,
    worded: bool = True,
) -> Audit:
    """The audit of an account that lies in parts.

    The audit holds counts and findings; the frames of every call stay in the parts.

    Args:
        laid: The rows, as `split` laid them out.
        question: What is asked.
        folder: Where the parts write what they found; all workers must reach it.
        callbacks: Frame of the callbacks table.
        meaning: What the firm's own words say of leads and calls; None: as the question says.
        workers: Runs a function on each of some tasks, in their order; None: one after another.
        packed: Whether tables and results of every part are kept, for an evidence pack.
        pseudonyms: Key with which numbers in them become pseudonyms.
        worded: Whether findings are put into words; else the audit has counts alone.
    """
    if meaning is not None:
        _, outcomes = meaning(pd.DataFrame({"phone": [], "custom_fields": []}), laid.words)
        question = replace(question, outcomes=outcomes)
    # A part without a dropped call would else not know that the taxonomy has one.
    if question.outcomes is not None:
        outcome_names = pd.Series(question.outcomes).dropna().unique()
        question = replace(question, known_outcomes=frozenset(map(str, outcome_names)))
    question = replace(question, tells_answers=laid.answers)
    # Two rows of one id may lie in different parts, since their numbers may differ.
    later = _superseded(laid)
    # What the firm has on record of a number goes where its calls are.
    shares = _shares(question, laid.parts)
    parts = [
        Part(number=number, source=laid.folder, target=folder, question=replace(question, **mine),
             callbacks=callbacks, superseded=later, meaning=meaning, packed=packed, pseudonyms=pseudonyms, worded=worded)
        for number, mine in enumerate(shares)
    ]  # fmt: skip
    answers = list((workers or map)(examine, parts))
    checks = laid.rows["dnc_checks"]
    advice = None
    if any(is_reached for _, _, is_reached in answers):
        code_pieces = [codes for _, codes, _ in answers if codes is not None]
        advice = _summed(question.by_codes(), code_pieces, checks, folder / "advice")
    return _summed(question, [piece for piece, *_ in answers], checks, folder / "findings", advice)


def _shares(question: Question, parts: int) -> list[dict[str, pd.DataFrame]]:
    """The firm's records of the numbers of each part; a table that was given is given to every part."""
    given = {
        name: frame
        for name in ("consents", "recorded_consents", "look_ups", "events")
        if (frame := getattr(question, name)) is not None
    }
    shares: list[dict[str, pd.DataFrame]] = [{} for _ in range(parts)]
    with _connection() as con:
        for name, frame in given.items():
            con.register("given", pa.table({"phone": pa.array(frame["phone"], pa.string())}))
            part_of = con.execute(
                f"select (hash(phone) % {parts})::int as part from given"
            ).fetchnumpy()["part"]
            for number, mine in enumerate(shares):
                mine[name] = frame[part_of == number].reset_index(drop=True)
            con.unregister("given")
    return shares


def _summed(
    question: Question,
    pieces: Sequence[Piece],
    checks: int,
    kept: Path,
    advice: Audit | None = None,
) -> Audit:
    """The audit of all parts from their sums and the findings that they kept."""
    total = sums_of_parts.added(pieces)
    calls = shaped(pd.DataFrame(), tuple(c for c in CALLS.columns if c.name in _NEEDED["calls"]))
    sums = Engine(None, calls, None, None, question)
    sums.con.execute("update settings set oldest_at = ?", [total.oldest_at])
    if total.days is not None:
        sums.db.load(sums_of_parts.DAYS, sums_of_parts.DAY_KINDS, total.days)
    for name in SUMMED:
        if name in total.tallies:
            sums.ran.add(name)
            BY_NAME[name].settle(sums.view)
    run = [name for name in BY_NAME if name in total.tallies]
    summed = tallied([BY_NAME[name] for name in run if name in SUMMED], sums.view)
    total = replace(total, tallies={name: summed.get(name, total.tallies[name]) for name in run})
    _keep_findings(sums, [name for name in summed if summed[name].listed], kept / "sums.parquet")
    frames = {
        name: check.table(sums.view) if name in sums.ran else shaped(pd.DataFrame(), check.columns)
        for name, check in ((name, BY_NAME[name]) for name in SUMMED)
    }
    as_of = moment(question.now).to_pydatetime()
    findings = KeptFindings(kept, tuple(listed_in(total)))
    nothing = dict.fromkeys(("numbers", "calls", "summary"), _refused)
    coverage = Coverage(
        frames=Parts(nothing), as_of=as_of, max_age_days=federal_age(question.book, as_of.date())
    )
    return assembled(
        question, total, advice, checks, coverage=coverage, parts=Parts(frames), law=sums.question.law,
        frames=Parts({"findings": findings.every, "hours": _refused, "listed": _refused}),
        engine=InParts(pack.Kept(sums, kept.parent / "parts", tuple(run)), findings),
    )  # fmt: skip


def _refused() -> pd.DataFrame:
    raise ConfigError(
        "an audit in parts makes no frame of every call or number: read the tables and results of "
        "its pack, or audit a period that fits into memory"
    )


@dataclass(frozen=True, eq=False, repr=False)
class InParts:
    """What an audit in parts stands on: sums, tables and results for an evidence pack, and findings."""

    kept: pack.Kept
    findings: KeptFindings
