"""Small HTML for widgets and snapshots: tables, facts; escapes everything, knows no data."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from dialframe.plots import Picture

#: Pixels of a page for each inch of a picture.
PAGE_DPI: Final = 100
#: Narrower than this the type of a picture is too small to be read.
_LEAST_PX: Final = 560
#: Cells longer than this are cut, with their end shown as an ellipsis; a proof never is.
_MOST_CHARS: Final = 600
#: Cells longer than this get a column of some width.
_LONG_CHARS: Final = 40
_YES_NO: Final = {True: "yes", False: "no"}


def table(caption: str, frame: pd.DataFrame) -> str:
    """A frame as a table with a caption and column headings; wide ones scroll inside themselves."""
    right = [_counts(frame[name]) for name in frame.columns]
    heads = "".join(
        f'<th scope="col" style="text-align:{_side(number)}">{escape(_title(name))}</th>'
        for name, number in zip(frame.columns, right, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(_cell(cell, number) for cell, number in zip(row, right, strict=True))}</tr>"
        for row in frame.itertuples(index=False, name=None)
    )
    label = escape(caption, quote=True)
    return (
        f'<div class="df-table" role="region" tabindex="0" aria-label="{label}" '
        f'style="overflow-x:auto"><table><caption style="text-align:left">{escape(caption)}'
        f"</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def drawing(picture: Picture) -> str:
    """A picture for a live widget, sharp at every size; in a narrow window it scrolls rather than be too small."""
    data = b64encode(picture.svg().encode()).decode("ascii")
    width, height = (round(inches * PAGE_DPI) for inches in picture.get_size_inches())
    return (
        '<div class="df-picture" role="region" tabindex="0" aria-label="Picture" '
        f'style="overflow-x:auto"><img alt="{escape(picture.alt, quote=True)}" width="{width}" '
        f'height="{height}" style="max-width:100%;min-width:{_LEAST_PX}px;height:auto" '
        f'src="data:image/svg+xml;base64,{data}"></div>'
    )


def paragraph(*sentences: str) -> str:
    """Sentences as a paragraph."""
    return f"<p>{escape(' '.join(sentences))}</p>"


def bullets(lines: Iterable[str]) -> str:
    """Lines as a list; nothing where there are none."""
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""


def heading(words: str, level: int = 3) -> str:
    """A heading of the page's outline."""
    return f"<h{level}>{escape(words)}</h{level}>"


def snapshot(title: str, parts: Sequence[str]) -> str:
    """What stands for a widget where no JavaScript runs."""
    hint = paragraph(f"{title}. Open it in Jupyter or with dialframe app to work with it.")
    return f'<section class="df-snapshot">{hint}{"".join(parts)}</section>'


def _title(name: object) -> str:
    words = str(name).strip("_").replace("_", " ")
    return words[:1].upper() + words[1:]


def _cell(cell: object, number: bool) -> str:  # noqa: FBT001 - of this module alone
    if cell is None or cell is pd.NA or (isinstance(cell, float) and cell != cell):
        return "<td></td>"
    if number:
        return f'<td style="text-align:right">{escape(_number(cell))}</td>'
    words = _YES_NO[bool(cell)] if isinstance(cell, bool | np.bool_) else str(cell)
    shown = words if len(words) <= _MOST_CHARS else f"{words[:_MOST_CHARS]}..."
    wide = ";min-width:14em" if len(words) > _LONG_CHARS else ""
    return f'<td style="text-align:left{wide}">{escape(shown)}</td>'


def _counts(column: pd.Series) -> bool:
    """Whether these are numbers; what is true or false is none."""
    kinds = pd.api.types
    return kinds.is_numeric_dtype(column) and not kinds.is_bool_dtype(column)


def _side(number: bool) -> str:  # noqa: FBT001 - of this module alone
    return "right" if number else "left"


def _number(cell: object) -> str:
    return f"{cell:,.3f}" if isinstance(cell, float) else f"{cell:,}"
