"""Runs the queries of an evidence pack over its tables again and compares every finding.

    python verify.py            (in the pack; needs Python and `pip install duckdb`, nothing else)

Prints a line for each check, and ends with status 0 where every finding agrees, 3 where one does
not, 2 where the pack cannot be read. It proves that the findings follow from the tables, the rules
and the queries of the pack; who made the pack its signature says, and not this program.
"""

import pathlib
import sys

import duckdb


def count(con: duckdb.DuckDBPyConnection, query: str) -> int:
    """Rows of a query."""
    row = con.execute(f"select count(*) from ({query})").fetchone()
    return 0 if row is None else int(row[0])


def main() -> int:
    """Run every check and compare."""
    pack = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    pack = pack if pack.is_dir() else pack.parent
    con = duckdb.connect()
    try:
        for path in sorted((pack / "tables").glob("*.parquet")):
            con.execute(f"create table {path.stem} as select * from read_parquet(?)", [str(path)])
        names = (pack / "checks" / "order.txt").read_text(encoding="utf-8").split()
        differing = 0
        for name in names:
            con.execute((pack / "checks" / f"{name}.sql").read_text(encoding="utf-8"))
            result = pack / "results" / f"{name}.parquet"
            if not result.exists():
                continue
            again = (pack / "checks" / f"{name}.result.sql").read_text(encoding="utf-8")
            con.execute(f"create or replace temp table again as {again}")
            con.execute(
                "create or replace temp table given as select * from read_parquet(?)",
                [str(result)],
            )
            lost = count(con, "from given except all from again")
            new = count(con, "from again except all from given")
            rows = count(con, "from given")
            differing += lost + new
            print(
                f"{name}: {rows} findings, "
                + (f"{lost} not found again, {new} more" if lost + new else "all found again")
            )
    except (OSError, duckdb.Error, UnicodeDecodeError) as error:
        print(f"the pack cannot be read: {error}")
        return 2
    print("every finding agrees" if not differing else f"{differing} findings differ")
    return 3 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
