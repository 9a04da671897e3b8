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

import duckdb

#: What comes first: views and functions over the tables.
FUNCTIONS = "functions"
GRADES = (
    "create type grade as enum ('pass', 'not asked', 'not evaluable', 'uncertain', 'violation')"
)


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
    again = [n["name"] for n in named if n["name"].startswith(("tables/", "checks/", "results/"))]
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


def run(pack: pathlib.Path, names: list[str]) -> dict[str, tuple[int, int, int]]:
    """Run checks over the tables of the pack, and compare what they find."""
    found = {}
    tables = sorted((pack / "tables").glob("*.parquet"))
    spans: dict[str, list[str]] = {}
    for line in (pack / "tables" / "spans.txt").read_text(encoding="utf-8").splitlines():
        table, column = line.split()
        spans.setdefault(table, []).append(column)
    columns = [column for each in spans.values() for column in each]
    for word in (*names, *columns, *(path.stem for path in tables)):
        if not word.isidentifier():
            raise ValueError(f"{word!r} is no name of a table or check")
    with duckdb.connect() as con:
        con.execute(GRADES)
        for path in tables:
            # A Parquet file holds no negative span of time: they are written in microseconds.
            made = ", ".join(f"to_microseconds({c}) as {c}" for c in spans.get(path.stem, ()))
            replaced = f" replace ({made})" if made else ""
            con.execute(
                f"create table {path.stem} as select *{replaced} from read_parquet(?)", [str(path)]
            )
        for name in names:
            path = pack / "results" / f"{name}.parquet"
            if path.exists():
                each = "as select unnest(items) as item, * exclude (items) from read_parquet(?)"
                con.execute(f"create temp table given_{name} {each}", [str(path)])
        # The queries are the pack's own, whoever made it: they reach no other file and no network.
        con.execute("set enable_external_access = false")
        con.execute("set lock_configuration = true")
        for name in names:
            con.execute((pack / "checks" / f"{name}.sql").read_text(encoding="utf-8"))
            if name != FUNCTIONS:
                found[name] = compare(con, pack, name)
    return found


def main() -> int:
    """Run every check and compare."""
    pack = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    pack = pack if pack.is_dir() else pack.parent
    try:
        faults = changed_files(pack)
        names = (pack / "checks" / "order.txt").read_text(encoding="utf-8").split()
        differing = 0
        for name, (rows, lost, new) in run(pack, names).items():
            differing += lost + new
            print(
                f"{name}: {rows} findings, "
                + (f"{lost} not found again, {new} more" if lost + new else "all found again")
            )
    except (OSError, duckdb.Error, ValueError, KeyError, TypeError, RecursionError) as error:
        print(f"the pack cannot be read: {error}")
        return 2
    print("every finding agrees" if not differing else f"{differing} findings differ")
    print("not covered: who made the pack, and when (dialframe audit verify)")
    return 3 if differing or faults else 0


if __name__ == "__main__":
    sys.exit(main())
