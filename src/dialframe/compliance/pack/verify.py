"""Runs the queries of an evidence pack over its tables again and compares every finding.

    python verify.py            (in the pack; needs Python and `pip install duckdb`, nothing else)

Prints a line for each check, and ends with status 0 where every finding agrees and every file is as
the manifest names it, 3 where one is not, 2 where the pack cannot be read. It proves that the
findings in `results/` follow from the tables, the rules and the queries of the pack. The CSV files,
`summary.json` and the report put the same findings into words; they are not made again, their
hashes alone are compared. Who made the pack its signature says, and not this program.
"""

import hashlib
import json
import pathlib
import sys
from typing import Any

import duckdb

#: What comes first: the calls, put together from two tables.
CALLS = "calls"
#: Checks over the sums of all parts of a pack, and the table that holds the sums.
SUMMED = ("abandonment", "retention")
DAYS = "abandonment_days"


def count(con: duckdb.DuckDBPyConnection, query: str) -> int:
    """Rows of a query."""
    row = con.execute(f"select count(*) from ({query})").fetchone()
    return 0 if row is None else int(row[0])


def changed_files(pack: pathlib.Path) -> list[str]:
    """Files that are not as the manifest names them; each is said."""
    named = json.loads((pack / "manifest.json").read_text(encoding="utf-8"))["files"]
    faults = []
    for each in named:
        path = pack / each["name"]
        if not path.is_file():
            faults.append(f"{each['name']} is missing")
        elif hashlib.sha256(path.read_bytes()).hexdigest() != each["sha256"]:
            faults.append(f"{each['name']} was changed")
    for fault in faults:
        print(fault)
    again = [
        n["name"]
        for n in named
        if n["name"].startswith(("tables/", "checks/", "results/", "parts/"))
    ]
    print(
        f"files: {len(named) - len(faults)} of {len(named)} are as manifest.json names them; "
        f"{len(again)} of them are run or compared below, of the others (CSV, summary, report, rules) "
        "the hash alone is compared"
    )
    return faults


def compare(con: duckdb.DuckDBPyConnection, pack: pathlib.Path, name: str) -> tuple[int, int, int]:
    """Rows of a check's findings, those that are not found again, and those that are new."""
    again = (pack / "checks" / f"{name}.result.sql").read_text(encoding="utf-8")
    # Rows are compared as bags: two findings of one kind are two.
    con.execute(f"create or replace temp table again as {again}")
    given = f"from given_{name}"
    lost = count(con, f"{given} except all from again")
    new = count(con, f"from again except all {given}")
    return count(con, given), lost, new


def run(
    pack: pathlib.Path, folder: pathlib.Path, names: list[str], days: list[tuple[Any, ...]]
) -> dict[str, tuple[int, int, int]]:
    """Run checks over the tables of a folder; sums of calls by day are put into `days`, or taken from there."""
    found = {}
    results = {name: folder / "results" / f"{name}.parquet" for name in names}
    read = "as select * from read_parquet(?)"
    tables = sorted((folder / "tables").iterdir())
    for word in (*names, *(path.stem for path in tables)):
        if not word.isidentifier():
            raise ValueError(f"{word!r} is no name of a table or check")
    with duckdb.connect() as con:
        for path in tables:
            files = path / "*.parquet" if path.is_dir() else path
            con.execute(f"create table {path.stem} {read}", [str(files)])
        for name, path in results.items():
            if path.exists():
                each = "as select unnest(items) as item, * exclude (items) from read_parquet(?)"
                con.execute(f"create temp table given_{name} {each}", [str(path)])
        # The queries are the pack's own, whoever made it: they reach no other file and no network.
        con.execute("set enable_external_access = false")
        con.execute("set lock_configuration = true")
        for name in names:
            con.execute((pack / "checks" / f"{name}.sql").read_text(encoding="utf-8"))
            if name == DAYS and folder != pack:
                days.extend(con.execute(f"from {name}").fetchall())
            elif name == DAYS and days:
                marks = ", ".join("?" * len(days[0]))
                con.executemany(f"insert into {name} values ({marks})", days)
            if results[name].exists():
                found[name] = compare(con, pack, name)
    return found


def main() -> int:
    """Run every check and compare."""
    pack = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    pack = pack if pack.is_dir() else pack.parent
    try:
        faults = changed_files(pack)
        names = (pack / "checks" / "order.txt").read_text(encoding="utf-8").split()
        folders = sorted(path for path in (pack / "parts").glob("*") if path.is_dir())
        days: list[tuple[Any, ...]] = []
        found: dict[str, list[tuple[int, int, int]]] = {}
        for folder in folders:
            # Shares of dropped calls are over all parts (16 CFR 310.4(b)(4)(i)): their sums are run at the top.
            of_part = [name for name in names if name not in SUMMED]
            for name, rows in run(pack, folder, of_part, days).items():
                found.setdefault(name, []).append(rows)
        at_the_top = [name for name in names if not folders or name in (CALLS, DAYS, *SUMMED)]
        for name, rows in run(pack, pack, at_the_top, days).items():
            found.setdefault(name, []).append(rows)
        differing = 0
        for name in (name for name in names if name in found):
            rows, lost, new = (sum(each) for each in zip(*found[name], strict=True))
            differing += lost + new
            print(
                f"{name}: {rows} findings, "
                + (f"{lost} not found again, {new} more" if lost + new else "all found again")
            )
    except (OSError, duckdb.Error, ValueError, KeyError, TypeError, RecursionError) as error:
        print(f"the pack cannot be read: {error}")
        return 2
    if folders:
        print(f"in {len(folders)} parts, each with all calls of its numbers")
    print("every finding agrees" if not differing else f"{differing} findings differ")
    print("not covered: who made the pack, and when (dialframe audit verify)")
    return 3 if differing or faults else 0


if __name__ == "__main__":
    sys.exit(main())
