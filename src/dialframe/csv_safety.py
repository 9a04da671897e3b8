"""Writes CSV that a spreadsheet cannot run: a lossless guard against cells that look like formulas.

A cell that begins like a formula gets an apostrophe in front, and so does one that begins with
apostrophes followed by such a beginning, so that taking one off again gives back every text
exactly. A number with a sign stays as it is, E.164 too: a spreadsheet can only make a number of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dialframe.files import write_bytes

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "NAME",
    "PATTERNS",
    "csv_bytes",
    "escape",
    "escape_frame",
    "unescape",
    "unescape_frame",
    "write_csv",
]

#: Name of this way of escaping, as reports give it.
NAME: Final = "apostrophe-1"

#: What OWASP names ("CSV Injection"), its full-width forms, and the blanks that a spreadsheet skips.
_START: Final = "[ \u00a0]*[=+\\-@\t\r\n＝＋－＠]"
_DANGEROUS: Final = re.compile(f"'*{_START}")
_ESCAPED: Final = re.compile(f"'+{_START}")
#: A sign, digits in groups, perhaps a percent sign: E.164 and negative amounts among them.
_NUMBER: Final = re.compile(r"[+-][0-9]+(?:[.,][0-9]+)*%?")
#: How a cell that could be run begins, and what is a number nevertheless: for queries that write CSV.
PATTERNS: Final = (_DANGEROUS.pattern, _NUMBER.pattern)


def escape(cell: str) -> str:
    """The cell, with an apostrophe in front if it could be run as a formula."""
    if _DANGEROUS.match(cell) is None or _NUMBER.fullmatch(cell):
        return cell
    return f"'{cell}"


def unescape(cell: str) -> str:
    """The cell as it was before `escape`."""
    return cell[1:] if _ESCAPED.match(cell) else cell


def escape_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of the frame with every text cell and column name escaped; nulls become empty texts."""
    import pandas as pd

    escaped = {
        escape(str(name)): _escape_column(frame[name])
        if isinstance(frame[name].dtype, pd.StringDtype)
        else frame[name]
        for name in frame.columns
    }
    return pd.DataFrame(escaped, index=frame.index)


def unescape_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of a frame of texts as it was before it was escaped; nulls stay."""
    import pandas as pd

    texts = {
        name: frame[name].map(unescape, na_action="ignore").astype("str")
        if frame[name].str.startswith("'", na=False).any()
        else frame[name]
        for name in frame.columns
    }
    return pd.DataFrame(texts, index=frame.index)


def csv_bytes(frame: pd.DataFrame, *, header: bool = True) -> bytes:
    """A frame as CSV that a spreadsheet cannot run: UTF-8, instants as ISO 8601, nulls as nothing.

    Args:
        frame: Any frame; a text that begins like a formula gets an apostrophe, `unescape` takes it off.
        header: Whether the names of the columns come first.
    """
    safe = escape_frame(frame)
    for name in safe.columns:
        if safe[name].dtype == object:
            safe[name] = [escape(cell) if isinstance(cell, str) else cell for cell in safe[name]]
    text = safe.to_csv(
        index=False, header=header, date_format="%Y-%m-%dT%H:%M:%S.%fZ", lineterminator="\n"
    )
    return str(text).encode()


def write_csv(frame: pd.DataFrame, path: Path) -> Path:
    """Write a frame as CSV, whole or not at all; see `csv_bytes` and `dialframe.files.write_bytes`.

    Args:
        frame: Any frame.
        path: Where; its folder is made where it is missing.

    Returns:
        The same path.

    Raises:
        OSError: The disk is full or the folder cannot be written; nothing is left behind.
    """
    return write_bytes(csv_bytes(frame), path)


def _escape_column(column: pd.Series) -> pd.Series:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = column.fillna("")
    cells = pa.array(texts, pa.large_string())
    begins, number = PATTERNS
    runs = pc.and_not(
        pc.match_substring_regex(cells, f"^(?:{begins})"),
        pc.match_substring_regex(cells, f"^(?:{number})\\z"),
    )
    if not pc.any(runs).as_py():
        return texts
    escaped = pc.if_else(
        runs, pc.replace_substring_regex(cells, "\\A", "'", max_replacements=1), cells
    )
    return pd.Series(escaped.to_pandas(), index=column.index, dtype="str")
