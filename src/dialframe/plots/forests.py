"""Rates with their intervals as dots and lines, one row each, counts beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from dialframe.analytics import Result
from dialframe.analytics.attempt.arrays import require
from dialframe.analytics.result.result_tables import compact, interval, plural
from dialframe.errors import ConfigError
from dialframe.plots.picture import Picture, label, nothing
from dialframe.plots.style import Look, Theme, canvas, context, settle

#: Rows drawn at most; the rest stands in the table.
MOST_ROWS: Final = 20
_ROW_IN: Final = 0.34
#: Units that are drawn in hundredths.
_SHARES: Final = ("%", "points")
#: The unit that is drawn to the logarithm, since twice is as far as half.
ODDS: Final = "rate ratio"
#: Where the axis of ratios ends.
_FIRST: Final = 0.05
_LAST: Final = 20.0
_ODDS_TICKS: Final = (0.05, 0.1, 0.2, 0.5, 0.67, 1, 1.5, 2, 5, 10, 20)
#: Columns that say how many calls there are, whether or not a rate can be had of them.
_BEHIND: Final = ("denominator", "matched_dials", "other_dials")
_LEAST_SPAN: Final = {"%": 2.0, "points": 2.0}


@dataclass(frozen=True, slots=True)
class Row:
    """One line: label, value and bounds (shares or points), what stands at the right, and marks.

    `mark` is a reference value of the row's own; `loud` draws it in the alert color; `faint` greys
    it, hollow, for thin rows; `group` is the heading under which rows that follow each other stand.
    """

    label: str
    value: float
    low: float
    high: float
    note: str
    mark: float | None = None
    loud: bool = False
    faint: bool = False
    group: str = ""


def forest(
    result: Result,
    rows: Sequence[Row],
    look: Look,
    *,
    what: str,
    subtitle: str,
    footer: str = "",
    zero: bool = False,
    unit: str = "%",
    by_value: bool = False,
) -> Picture:
    """The picture of some rows.

    Args:
        result: What they are of: its answer is the title, its table goes with the picture.
        rows: Top to bottom.
        look: Light or dark.
        what: What there would be none of, for an empty result: `calls`.
        subtitle: What is shown.
        footer: How to read it, besides the interval and the taxonomy.
        zero: Draw a line at zero, for differences.
        unit: `%` for shares, `points` for differences of shares, else the unit of the axis.
        by_value: Draw the greatest value on top, whatever the order of the table.
    """
    known_rows = [row for row in rows if not pd.isna(row.value)]
    if not known_rows:
        behind = [name for name in _BEHIND if name in result.table.columns]
        few = bool(result.table[behind].sum().sum())
        return nothing(what, subtitle, look, result.table, few=few)
    shown = known_rows[:MOST_ROWS]
    if by_value:
        shown = sorted(shown, key=lambda row: -row.value)
    left_out = (
        (len(known_rows) - len(shown), "more in the table"),
        (len(rows) - len(known_rows), "without a value in the table"),
    )
    more = "".join(f" {plural(n, 'row')} {where}." for n, where in left_out if n)
    note = f"Lines: 95 % intervals. {footer}{' ' if footer else ''}Taxonomy {result.taxonomy_version}.{more}"
    heads = len({row.group for row in shown} - {""})
    with context(look) as theme:
        figure = canvas(theme, 1.0 + _ROW_IN * (len(shown) + heads), result.answer, subtitle, note)
        axes = figure.subplots()
        _draw(axes, shown, theme, unit, zero=zero)
        details = "; ".join(
            f"{row.group}{': ' if row.group else ''}{row.label} {_number(row.value, unit)}"
            + ("" if pd.isna(row.low) or row.low == row.high else f" ({_bounds(row, unit)})")
            + (f", {row.note}" if row.note else "")
            for row in shown
        )  # fmt: skip
        return Picture(settle(figure), f"{result.answer}. {details}.", look, result.table)


def named(result: object, name: str) -> None:
    """Check that a picture is drawn of its own analysis.

    Raises:
        ConfigError: It is of another one.
    """
    if not isinstance(result, Result) or result.name != name:
        name_given = result.name if isinstance(result, Result) else type(result).__name__
        raise ConfigError(f"plots.{name} draws the result of analytics.{name}, not {name_given}")


def of_table(
    result: Result, label: str, *, value: str = "rate", low: str = "low", high: str = "high",
    count: str = "denominator", noun: str = "calls", mark: str | None = None,
    loud: str | None = None,
) -> list[Row]:  # fmt: skip
    """Rows of a result's table, by the names of its columns."""
    require(result.table, (label, value, low, high, count), result.name)
    return [
        Row(
            str(row[label]) if not pd.isna(row[label]) else "(none)",
            _float(row[value]),
            _float(row[low]),
            _float(row[high]),
            f"{compact(row[count])} {noun}",
            None if mark is None or pd.isna(row[mark]) else float(row[mark]),
            bool(loud is not None and row[loud]),
        )
        for row in result.table.to_dict("records")
    ]


def _draw(axes: Axes, rows: Sequence[Row], theme: Theme, unit: str, *, zero: bool) -> None:
    places, heads = _places(rows)
    for y, row in zip(places, rows, strict=True):
        _row(axes, y, row, theme, unit)
    if zero or unit == ODDS:
        axes.axvline(0 if zero else 1, color=theme.muted, lw=1, zorder=1)
    names = [*zip(places, (label(row.label, 26) for row in rows), strict=True),
             *((y, label(name, 30)) for y, name in heads)]  # fmt: skip
    axes.set_yticks([y for y, _ in names], [name for _, name in names], size=9)
    for tick in axes.get_yticklabels()[len(rows) :]:
        tick.set_fontweight("bold")
    axes.set_ylim(max(places) + 0.6, -0.6)
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
    _scaled(axes, rows, unit)


def _places(rows: Sequence[Row]) -> tuple[list[float], list[tuple[float, str]]]:
    """Where each row stands, and where the headings of the groups do."""
    places: list[float] = []
    heads: list[tuple[float, str]] = []
    y = 0.0
    for i, row in enumerate(rows):
        if row.group and (not i or rows[i - 1].group != row.group):
            heads.append((y, row.group))
            y += 1
        places.append(y)
        y += 1
    return places, heads


def _row(axes: Axes, y: float, row: Row, theme: Theme, unit: str) -> None:
    scale = 100.0 if unit in _SHARES else 1.0
    color = theme.alert if row.loud else theme.faint if row.faint else theme.blue
    if not pd.isna(row.low):
        width = 1.4 if row.faint else 2.4
        axes.plot([scale * row.low, scale * row.high], [y, y], color=color, lw=width, zorder=2)
        if unit == ODDS:
            # An end that runs off the axis is marked, so that a cut interval is not read as an end.
            for end, edge, mark in ((row.low, _FIRST, "<"), (row.high, _LAST, ">")):
                if (end < edge) if mark == "<" else (end > edge):
                    axes.plot([edge], [y], mark, color=color, ms=6, zorder=3, clip_on=False)
    axes.plot([scale * row.value], [y], "D" if row.loud else "o", color=color, ms=7, zorder=3,
              mfc=theme.background if row.faint else color, mew=1.4)  # fmt: skip
    if row.mark is not None:
        axes.plot([scale * row.mark], [y], "|", color=theme.text, ms=13, mew=1.6, zorder=4)
    caption = f"{_number(row.value, unit)}  {row.note}"
    axes.text(1.015, y, caption, transform=axes.get_yaxis_transform(), va="center", size=9)


def _scaled(axes: Axes, rows: Sequence[Row], unit: str) -> None:
    """An axis that shows no more than there can be, and does not make much of next to nothing."""
    if unit == ODDS:
        # Widths beyond a factor of twenty belong to rows that say nothing; they run off the axis.
        ends = [v for row in rows for v in (row.low, row.high, row.value) if not pd.isna(v)]
        axes.set_xscale("log")
        axes.set_xlim(max(0.05, min(0.67, *ends)) / 1.06, min(20.0, max(1.5, *ends)) * 1.06)
        axes.set_xticks(_ODDS_TICKS)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_tick_params(which="minor", length=0)
        axes.set_xlim(max(0.05, min(0.67, *ends)) / 1.06, min(20.0, max(1.5, *ends)) * 1.06)
    else:
        low, high = axes.get_xlim()
        least = _LEAST_SPAN[unit]
        if high - low < least:
            low, high = (low + high - least) / 2, (low + high + least) / 2
        if unit == "%":
            # Room for the whole dot at either end.
            pad = 0.025 * (high - low)
            high = max(high, least) if low < 0 else high
            low, high = max(low, -pad), min(high, 100 + pad)
        axes.set_xlim(low, high)
        axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.set_xlabel("per cent" if unit == "%" else unit)


def _number(value: float, unit: str) -> str:
    if unit == "points":
        return f"{100 * value:+.1f} points"
    return f"{100 * value:.1f} %" if unit == "%" else f"{value:.2f}"


def _bounds(row: Row, unit: str) -> str:
    if unit == "points":
        return f"{100 * row.low:+.1f} to {100 * row.high:+.1f}"
    return interval(row.low, row.high) if unit == "%" else f"{row.low:.2f} to {row.high:.2f}"


def _float(value: object) -> float:
    return float("nan") if pd.isna(value) else float(str(value))
