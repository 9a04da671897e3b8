"""Tables of an account in Parquet files, read where they lie."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Final

import pandas as pd
import pyarrow.parquet as pq

from dialframe.compliance.tables import open_database, quoted
from dialframe.compliance.tables.intake import NEEDED, RECORDING, WELCOME
from dialframe.errors import ConfigError
from dialframe.frames import CALLS, DNC_CHECKS, LEADS, Table, from_records
from dialframe.leads.input_files import reaching

_LARGE: Final = (CALLS, LEADS, DNC_CHECKS)
#: Rows that one part holds at most, so that its tables fit the memory of a small machine.
_ROWS_A_PART: Final = 4_000_000
_SQL: Final = {
    "instant": "timestamp",
    "integer": "bigint",
    "number": "double",
    "boolean": "boolean",
}


@contextmanager
def table_files(place: str) -> Iterator[TableFiles]:
    """The tables of a folder, or of a URL that fsspec understands, fetched for as long as they are read.

    Raises:
        LeadFileError: The URL cannot be reached.
    """
    if "://" not in place:
        yield TableFiles(Path(place))
        return
    import fsspec

    with TemporaryDirectory(prefix="dialframe-tables-") as fetched:
        with reaching(place):
            system, root = fsspec.core.url_to_fs(place)
            for name in system.find(root):
                inside = PurePosixPath(name.removeprefix(root).lstrip("/"))
                if inside.suffix == ".parquet" and ".." not in inside.parts:
                    target = Path(fetched) / inside
                    target.parent.mkdir(parents=True, exist_ok=True)
                    system.get_file(name, str(target))
        yield TableFiles(Path(fetched), place)


@dataclass(frozen=True)
class TableFiles:
    """Tables of an account as Parquet files of one folder.

    Attributes:
        folder: The folder; each table is `NAME.parquet`, or a folder `NAME` of files.
        place: What the folder is called in what is said; the folder itself where it is empty.
    """

    folder: Path
    place: str = ""

    def paths(self, table: Table) -> list[Path]:
        """The files of a table; none where it is not there."""
        single = self.folder / f"{table.name}.parquet"
        if single.is_file():
            return [single]
        return sorted((self.folder / table.name).glob("**/*.parquet"))

    def queries(self) -> dict[str, str]:
        """The DuckDB query of each of the large tables, with the columns that an audit reads.

        Raises:
            ConfigError: A table is not there, lacks a column, or has an instant without a time zone.
        """
        return {table.name: self._query(table) for table in _LARGE}

    def _query(self, table: Table) -> str:
        paths = self._needed_files(table)
        schema = {f.name: f.type for f in pq.read_schema(paths[0])}
        absent = [name for name in NEEDED[table.name] if name not in schema]
        if absent:
            raise ConfigError(
                f"{self.place or self.folder}: {table.name} has no column {', '.join(absent)}"
            )
        columns = []
        for column in table.columns:
            if column.name not in (*NEEDED[table.name], *WELCOME.get(table.name, ())):
                continue
            kind = _SQL.get(column.kind, "varchar")
            value = f'"{column.name}"' if column.name in schema else "null"
            if column.kind == "instant" and column.name in schema:
                zone = getattr(schema[column.name], "tz", None)
                if zone is None and str(schema[column.name]).startswith("timestamp"):
                    raise ConfigError(
                        f"{self.place or self.folder}: {column.name} of {table.name} has no time zone; convert it to UTC first"
                    )
                # DuckDB reads an instant with a zone as one of UTC.
                value = f"timezone('UTC', {value}::timestamptz)"
            columns.append(f'{value}::{kind} as "{column.name}"')
        if table is CALLS:
            said = "regexp_extract(_extra, '" + RECORDING + "', 1)" if "_extra" in schema else "''"
            columns.append(
                f"case {said} when 'true' then true when 'false' then false end as recorded"
            )
        files = ", ".join(quoted(path) for path in paths)
        return (
            f"select {', '.join(columns)} from read_parquet([{files}], hive_partitioning = false)"
        )

    def _needed_files(self, table: Table) -> list[Path]:
        paths = self.paths(table)
        if not paths:
            raise ConfigError(
                f"{self.place or self.folder}: there is no {table.name}.parquet; export it: "
                f"dialframe export {table.name} --to {table.name}.parquet"
            )
        return paths

    def frame(self, table: Table) -> pd.DataFrame:
        """A small table as a frame; without rows where it is not there."""
        rows = [row for path in self.paths(table) for row in pq.read_table(path).to_pylist()]
        return from_records(table, rows)

    def leads(self) -> pd.DataFrame:
        """Numbers and custom fields of the leads, where the files have them."""
        names = ["phone", "custom_fields"]
        parts = [
            pq.read_table(path, columns=names).to_pandas()
            for path in self._needed_files(LEADS)
            if set(names) <= set(pq.read_schema(path).names)
        ]
        return (
            pd.concat(parts)
            if parts
            else pd.DataFrame({name: pd.Series(dtype="str") for name in names})
        )

    def numbers(self) -> list[str]:
        """The distinct numbers of leads and calls."""
        leads, calls = (self.queries()[table.name] for table in (LEADS, CALLS))
        return self._column(
            f"select phone from ({leads}) union select to_number from ({calls}) union select from_number from ({calls})"
        )

    def ids(self, events: pd.DataFrame) -> set[str]:
        """Ids of the leads, calls and events, where the files have them."""
        files = [
            path
            for table in (LEADS, CALLS)
            for path in self._needed_files(table)
            if "id" in pq.read_schema(path).names
        ]
        read = " union all ".join(f"select id from read_parquet({quoted(path)})" for path in files)
        return {*events["id"], *(self._column(read) if files else ())}

    def _column(self, query: str) -> list[str]:
        with open_database(1) as con:
            return [value for (value,) in con.execute(query).fetchall() if value is not None]

    def dispositions(self) -> pd.DataFrame:
        """The distinct dispositions of the calls."""
        with open_database(1) as con:
            rows = con.execute(
                f"select distinct disposition from ({self.queries()['calls']}) where disposition is not null order by 1"
            ).fetchall()
        return pd.DataFrame({"disposition": pd.Series([code for (code,) in rows], dtype="str")})

    @cached_property
    def rows(self) -> dict[str, int]:
        """Rows of each large table."""
        return {
            t.name: sum(pq.read_metadata(p).num_rows for p in self._needed_files(t))
            for t in _LARGE
        }

    def parts(self) -> int:
        """In how many parts an audit of them fits the memory of a small machine."""
        return max(1, -(-sum(self.rows.values()) // _ROWS_A_PART))

    def fingerprint(self) -> str:
        """Name, rows and hash of each large table."""
        texts = []
        for table in sorted(_LARGE, key=lambda each: each.name):
            digest = hashlib.sha256()
            for path in self._needed_files(table):
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
            texts.append(f"{table.name} {self.rows[table.name]:,} rows {digest.hexdigest()[:16]}")
        return "; ".join(texts)
