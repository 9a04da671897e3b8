"""Answers an assistant's own questions from the local store: one read-only SELECT over documented views, numbers masked.

Each view is a copy in memory of a stored table with what a question needs: a telephone number stands masked beside an id
that is the same in every view, so that people can be counted and joined without being named; fields about people are
left out unless the operator's policy gives them. The engine can read no file, load nothing and write nowhere.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from dialframe.assistant.offered_operations import PEOPLE
from dialframe.errors import ConfigError
from dialframe.frames import custom_field

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from dialframe.account import Account

__all__ = ["MOST_ROWS", "VIEWS", "described", "select"]

#: Rows of one answer at most.
MOST_ROWS: Final = 200
#: Characters of one question at most.
_MOST_CHARS: Final = 10_000
#: A question that takes longer is stopped.
_MOST_S: Final = 30.0
_MEMORY: Final = "1GB"

#: Views by the stored table that they show, with the columns that they have.
VIEWS: Final[Mapping[str, tuple[str, ...]]] = {
    "calls": (
        "id", "direction", "from_number", "to_number", "status", "created_at", "answered_at", "ended_at",
        "duration_seconds", "campaign_id", "disposition", "hangup_cause",
    ),
    "leads": (
        "id", "campaign_id", "external_id", "phone", "full_name", "email", "status", "attempts", "lead_source",
        "last_attempt_at", "next_attempt_at", "disposition_code", "hangup_cause", "created_at", "updated_at",
    ),
    "campaigns": (
        "id", "name", "status", "dialer_mode", "created_at", "updated_at", "started_at", "completed_at",
    ),
    "callbacks": ("id", "lead_id", "campaign_id", "scheduled_at", "status", "created_at"),
    "appointments": (
        "id", "status", "scheduled_at", "timezone", "duration_minutes", "service_type", "phone", "source",
        "created_at", "updated_at",
    ),
    "dispositions": ("date", "campaign_id", "disposition", "calls"),
    "dnc_checks": ("phone", "listed", "checked_at"),
}  # fmt: skip
#: Columns that are telephone numbers of people; `from_number` of an outbound call is the firm's own.
_NUMBERS: Final = frozenset({"to_number", "phone"})


def described() -> str:
    """The views and their columns in words, for the tool's description."""
    return "; ".join(f"{name}({', '.join(_columns(name, frozenset()))})" for name in VIEWS)


def select(
    account: Account, sql: str, *, most: int = 50, people: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The rows of one SELECT over the views.

    Args:
        account: Whose store is read.
        sql: The statement.
        most: Rows at most.
        people: Fields about people that the operator's policy gives.

    Returns:
        `columns`, `rows` (lists, in the order of the columns) and `more` (whether rows were left out).

    Raises:
        ConfigError: It is not one SELECT, is wrong, or took too long; what the engine says stands in it.
    """
    import duckdb

    if len(sql) > _MOST_CHARS:
        raise ConfigError(f"the statement has more than {_MOST_CHARS:,} characters")
    with duckdb.connect(":memory:") as engine:
        try:
            statements = engine.extract_statements(sql)
        except duckdb.Error as error:
            raise ConfigError(f"the statement is wrong: {error}") from None
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise ConfigError("one SELECT statement is taken, and nothing else")
        _fill(engine, account, people)
        # Nothing of this machine is within reach of the statement, and it cannot open the way again.
        engine.execute(f"set memory_limit = '{_MEMORY}'")
        engine.execute("set enable_external_access = false")
        engine.execute("set lock_configuration = true")
        stop = threading.Timer(_MOST_S, engine.interrupt)
        stop.start()
        try:
            answer = engine.execute(statements[0])
            names = [column[0] for column in answer.description or ()]
            rows = answer.fetchmany(most + 1)
        except duckdb.InterruptException:
            raise ConfigError(
                f"the statement took longer than {_MOST_S:.0f} s; ask for less"
            ) from None
        except duckdb.Error as error:
            raise ConfigError(f"the statement is wrong: {error}") from None
        finally:
            stop.cancel()
    return {
        "columns": names,
        "rows": [list(map(_plain, row)) for row in rows[:most]],
        "more": len(rows) > most,
    }


def _fill(engine: duckdb.DuckDBPyConnection, account: Account, people: frozenset[str]) -> None:
    """Make the views: copies, so that nothing leads back to this process's objects."""
    engine.execute("set python_enable_replacements = false")
    salt = secrets.token_hex(16)
    for name in VIEWS:
        frame = getattr(account, name)()
        if name == "leads":
            frame = frame.assign(lead_source=custom_field(frame, "lead_source"))
        columns = [column for column in _columns(name, people) if column in frame.columns]
        engine.register("stored", _copy_columns(frame, columns))
        engine.execute(
            f"create table {name} as select {', '.join(_masked_column(each, salt) for each in columns)} from stored"
        )
        engine.unregister("stored")


def _columns(name: str, people: frozenset[str]) -> tuple[str, ...]:
    return tuple(each for each in VIEWS[name] if each not in PEOPLE or each in people)


def _copy_columns(frame: pd.DataFrame, columns: list[str]) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(frame[columns], preserve_index=False)


def _masked_column(column: str, salt: str) -> str:
    if column not in _NUMBERS:
        return f'"{column}"'
    # The id is of this question alone, so that nobody can look a number up by it.
    return (
        f"left({column}, 3) || '*****' || right({column}, 2) as {column}, "
        f"left(md5('{salt}' || {column}), 12) as {column}_id"
    )


def _plain(value: object) -> object:
    return value.isoformat() if hasattr(value, "isoformat") else value
