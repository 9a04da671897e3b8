"""How numbers are written for people: counts, shares, intervals; knows no metric."""

from __future__ import annotations

import html
from collections.abc import Sequence

import pandas as pd

NOTHING = "\N{EN DASH}"

_IN_FULL = 100_000


def count(value: object) -> str:
    """A whole number with thousands separated: `1,234`; a dash where there is none."""
    return NOTHING if pd.isna(value) else f"{round(float(str(value))):,}"


def compact(value: object) -> str:
    """A count for a narrow place: in full below 100,000, then `123 k`, then `1.2 M`."""
    if pd.isna(value) or float(str(value)) < _IN_FULL:
        return count(value)
    thousands = round(float(str(value)) / 1000)
    return f"{thousands} k" if thousands < 1000 else f"{thousands / 1000:.1f} M"


def shortened(text: str, length: int) -> str:
    """The text, or its beginning and end where it is longer than `length` characters."""
    if len(text) <= length:
        return text
    tail = length // 3
    return f"{text[: length - tail - 1]}\N{HORIZONTAL ELLIPSIS}{text[-tail:]}"


def share(value: object) -> str:
    """A share of one as per cent: `12.3 %`; a dash where there is none."""
    return NOTHING if pd.isna(value) else f"{float(str(value)):.1%}".replace("%", " %")


def interval(low: object, high: object) -> str:
    """An interval of shares: `11.0 to 13.7 %`; a dash where there is none."""
    if pd.isna(low) or pd.isna(high):
        return NOTHING
    return f"{100 * float(str(low)):.1f} to {100 * float(str(high)):.1f} %"


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """`1 call`, `2 calls`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def first_few(names: Sequence[str], most: int = 3) -> str:
    """`a, b, c and 2 others`: the first names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {plural(rest, 'other')}" if rest > 0 else "")


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int) -> str:
    """Columns aligned for a terminal: the first ones to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
    lines = []
    for row in [headings, *rows]:
        cells = [
            cell.ljust(width) if i < text_columns else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def html_table(
    caption: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    text_columns: int,
    notes: Sequence[str],
) -> str:
    """A table for a notebook or a page, with its notes under it; every cell is escaped."""
    side = ["left"] * text_columns + ["right"] * (len(headings) - text_columns)
    head = "".join(
        f'<th scope="col" style="text-align:{align}">{html.escape(heading)}</th>'
        for heading, align in zip(headings, side, strict=True)
    )
    body = "".join(f"<tr>{_row(row, side, text_columns)}</tr>" for row in rows)
    foot = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return (
        '<div class="dialframe-result"><table style="font-variant-numeric:tabular-nums">'
        '<caption style="caption-side:top;text-align:left;font-weight:bold;padding:.3em 0">'
        f"{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        f'</table><ul style="font-size:.9em;margin:.4em 0 0;padding-left:1.2em">{foot}</ul></div>'
    )


def _row(row: Sequence[str], side: Sequence[str], text_columns: int) -> str:
    cells = []
    for i, (cell, align) in enumerate(zip(row, side, strict=True)):
        tag = 'th scope="row"' if i < text_columns else "td"
        cells.append(
            f'<{tag} style="text-align:{align}">{html.escape(cell)}</{tag.split(maxsplit=1)[0]}>'
        )
    return "".join(cells)
