"""A lossless guard against cells that spreadsheets would run as formulas; knows text only.

A cell that begins like a formula gets an apostrophe in front, and so does one that begins with
apostrophes followed by such a beginning, so that taking one off again gives back every text
exactly. Strict E.164 numbers stay as they are: a spreadsheet can only make a number of them.
"""

from __future__ import annotations

import re
from typing import Final

import pandas as pd

#: Name of this way of escaping, as reports give it.
NAME: Final = "apostrophe-1"

_START: Final = "[ \u00a0]*[=+\\-@\t\r\n＝＋－＠]"
_DANGEROUS: Final = re.compile(f"'*{_START}")
_ESCAPED: Final = re.compile(f"'+{_START}")
_E164: Final = re.compile(r"\+[1-9][0-9]{6,14}")


def escape(cell: str) -> str:
    """The cell, with an apostrophe in front if it could be run as a formula."""
    if _DANGEROUS.match(cell) is None or _E164.fullmatch(cell):
        return cell
    return f"'{cell}"


def unescape(cell: str) -> str:
    """The cell as it was before `escape`."""
    return cell[1:] if _ESCAPED.match(cell) else cell


def escape_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A copy of the frame with every text cell and column name escaped; nulls become empty texts."""
    escaped = {
        escape(str(name)): _escape_column(frame[name])
        if isinstance(frame[name].dtype, pd.StringDtype)
        else frame[name]
        for name in frame.columns
    }
    return pd.DataFrame(escaped, index=frame.index)


def _escape_column(column: pd.Series) -> pd.Series:
    texts = column.fillna("")
    suspects = texts.str.contains(r"^'*[ \u00a0]*[=+\-@\t\r\n＝＋－＠]", regex=True)
    if not suspects.any():
        return texts
    changed = texts.astype(object)
    changed[suspects] = [escape(cell) for cell in changed[suspects]]
    return changed.astype("str")
