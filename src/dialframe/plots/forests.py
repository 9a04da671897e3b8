"""Rates with their intervals as dots and lines, one row each, counts beside them; knows rows, not what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from dialframe.analytics import Result
from dialframe.analytics.columns import require
from dialframe.analytics.wording import compact, interval, shortened
from dialframe.errors import ConfigError
from dialframe.plots.marks import nothing
from dialframe.plots.picture import Picture
from dialframe.plots.style import Look, Theme, canvas, context, settle

#: Rows drawn at most; the rest stands in the table.
MOST_ROWS: Final = 20
_ROW_IN: Final = 0.34
#: Units that are drawn in hundredths.
_SHARES: Final = ("%", "points")


@dataclass(frozen=True, slots=True)
class Row:
    """One line: label, value and bounds (shares or points), what stands at the right, and marks.

    `mark` is a reference value of the row's own; `loud` draws it in the alert colour; `faint` greys
    it, for thin rows.
    """

    label: str
    value: float
    low: float
    high: float
    said: str
    mark: float | None = None
    loud: bool = False
    faint: bool = False


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
    """
    known = [row for row in rows if not pd.isna(row.value)]
    if not known:
        return nothing(what, subtitle, look)
    shown = known[:MOST_ROWS]
    more = f" {len(known) - len(shown)} rows more in the table." if len(known) > len(shown) else ""
    note = f"Lines: 95 % intervals. {footer}{' ' if footer else ''}Taxonomy {result.taxonomy_version}.{more}"
    with context(look) as theme:
        figure = canvas(theme, 1.0 + _ROW_IN * len(shown), result.answer, subtitle, note)
        axes = figure.subplots()
        _draw(axes, shown, theme, unit, zero=zero)
        said = "; ".join(
            f"{row.label} {_number(row.value, unit)}"
            + ("" if pd.isna(row.low) else f" ({_bounds(row, unit)})") + f", {row.said}"
            for row in shown
        )  # fmt: skip
        return Picture(settle(figure), f"{result.answer}. {said}.", look, result.table)


def named(result: object, name: str) -> None:
    """Check that a picture is drawn of its own analysis.

    Raises:
        ConfigError: It is of another one.
    """
    if not isinstance(result, Result) or result.name != name:
        given = result.name if isinstance(result, Result) else type(result).__name__
        raise ConfigError(f"plots.{name} draws the result of analytics.{name}, not {given}")


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
    scale = 100.0 if unit in _SHARES else 1.0
    for y, row in enumerate(rows):
        colour = theme.alert if row.loud else theme.rule if row.faint else theme.blue
        if not pd.isna(row.low):
            axes.plot([scale * row.low, scale * row.high], [y, y], color=colour, lw=2.4, zorder=2)
        marker = "D" if row.loud else "o"
        axes.plot([scale * row.value], [y], marker, color=colour, ms=7, zorder=3)
        if row.mark is not None:
            axes.plot([scale * row.mark], [y], "|", color=theme.text, ms=13, mew=1.6, zorder=4)
        said = f"{_number(row.value, unit)}  {row.said}"
        axes.text(1.015, y, said, transform=axes.get_yaxis_transform(), va="center", size=9)
    if zero:
        axes.axvline(0, color=theme.muted, lw=1)
    axes.set_yticks(range(len(rows)), [shortened(row.label, 26) for row in rows], size=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="x")
    axes.tick_params(axis="y", length=0)
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
