"""Where a record may say that it must not be called, and what of it counts there; reads no cell."""

from __future__ import annotations

import re
from typing import Final

from dialframe.leads.columns.column_map import ColumnMap
from dialframe.opt_outs import Scope, scope_of

#: Which decision of the policy a remark is subject to; a prohibition in so many words is `remark`.
REMARK_POLICY: Final = {"opt_out_unclear": "unclear_remark", "wrong_number": "wrong_number"}
#: Between the cells of a record that was not read whole, whatever its delimiter.
PIECES: Final = re.compile(r"[,;|\t\n\r\"¬^~]+")


def remark_columns(columns: ColumnMap) -> list[str]:
    """Columns in which a remark can forbid the call; opt-outs and phones are read by themselves."""
    own = (columns.source, columns.extension)
    return [
        *(name for name in columns.leftovers if name != columns.country),
        *columns.fax,
        *name_columns(columns),
        *(name for name in own if name),
    ]


def remark_scope(columns: ColumnMap, column: str) -> Scope:
    """What of a remark counts in one of `remark_columns`."""
    if column in columns.fax:
        return "any"
    return "names" if column in name_columns(columns) else scope_of(column)


def name_columns(columns: ColumnMap) -> list[str]:
    """Columns of names, in which only a prohibition in so many words is one."""
    return [name for name in (columns.first_name, columns.last_name, columns.full_name) if name]
