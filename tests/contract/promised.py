"""The contract's tables, written out from its text and not from the rows: its operations, errors and resources."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path
from typing import Any

from dialframe.errors import FAMILIES, ApiError

HERE = Path(__file__).parent

#: What the contract says of each operation, by its name.
TABLE: dict[str, dict[str, Any]] = tomllib.loads((HERE / "operations.toml").read_text())
#: The contract's Resources as it writes them: field and type, `?` where it may be null, `a|b` for the only values,
#: `x_` for a typed id (the prefix plus a lower-case UUID).
RESOURCES = (HERE / "resources.txt").read_text()
#: Method, path and scope of each.
OPERATIONS = [f"{row['call']} {row.get('scope', '-')}" for row in TABLE.values()]
#: Names of those whose shapes the contract does not show.
UNSHOWN = {name for name, row in TABLE.items() if not row.get("shown", True)}

with (HERE / "errors.csv").open(newline="") as _file:
    #: The table of errors, in its order, each with the family that a program would catch.
    PROMISED: list[tuple[int, str, type[ApiError]]] = [
        (int(row["status"]), row["code"], FAMILIES[row["family"]]) for row in csv.DictReader(_file)
    ]
