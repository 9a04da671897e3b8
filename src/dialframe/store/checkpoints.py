"""Where walks stand: named JSON states in the store's file; knows nothing of what they mean."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dialframe.store.catalogue import epoch_of


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a walk stands: a name and its JSON state, None to clear it."""

    name: str
    state: Mapping[str, Any] | None


def save_checkpoint(connection: sqlite3.Connection, checkpoint: Checkpoint) -> None:
    """Write a checkpoint down inside a write transaction."""
    if checkpoint.state is None:
        connection.execute("DELETE FROM checkpoint WHERE name = ?", (checkpoint.name,))
        return
    text = json.dumps(checkpoint.state, sort_keys=True)
    connection.execute("INSERT OR REPLACE INTO checkpoint VALUES (?, ?)", (checkpoint.name, text))


class Epochs:
    """What a store has read of tables' epochs, so that a walk of before a damage is not taken for whole."""

    def __init__(self) -> None:
        self._read: dict[str, int | None] = {}

    def read(self, connection: sqlite3.Connection, name: str) -> None:
        """Remember the epoch in which a checkpoint was read."""
        table = name.partition("/")[0]
        self._read[table] = epoch_of(connection, table)

    def save(self, connection: sqlite3.Connection, checkpoint: Checkpoint) -> None:
        """Write a checkpoint down, unless its walk began before versions of its table were lost."""
        table = checkpoint.name.partition("/")[0]
        now = epoch_of(connection, table)
        if self._read.get(table, now) == now:
            save_checkpoint(connection, checkpoint)


def read_checkpoints(connection: sqlite3.Connection, name: str) -> dict[str, dict[str, Any]]:
    """The checkpoint of that name and those of its parts (`name/...`)."""
    found = connection.execute(
        "SELECT name, state FROM checkpoint WHERE name = ? OR substr(name, 1, ?) = ?",
        (name, len(name) + 1, f"{name}/"),
    )
    return {row[0]: dict(json.loads(row[1])) for row in found}
