"""The part of an evidence pack that anybody can run again: tables, rules, queries and `verify.py`.

`write(engine, folder)` lays four things into a folder: `tables/*.parquet` (every row that the
queries read), `rules/` (the rule book that was asked, whole), `checks/*.sql` (the queries, in the
order of `checks/order.txt`) and `results/*.parquet` (every call, number or request that did not
pass, with the numbers of its rules and what is missing). `verify.py` beside them runs the queries
over the tables again and compares every row; it needs DuckDB and nothing of this package.
"""

from dialframe.compliance.pack.contents import write

__all__ = ["write"]


def __dir__() -> list[str]:
    """The names that the room exports."""
    return sorted(__all__)
