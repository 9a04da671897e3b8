"""The picture of first to last outcomes."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from dialframe.analytics import Result
from dialframe.analytics.result.result_tables import compact, count
from dialframe.plots.forests import named
from dialframe.plots.picture import Picture, draws, nothing
from dialframe.plots.style import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    YELLOW,
    Look,
    Theme,
    canvas,
    context,
    settle,
)

_COLORS: Final = (BLUE, SKY, ORANGE, GREEN, VERMILLION, PURPLE, YELLOW, "#8C959F")
_MOST: Final = 7
_OTHERS: Final = "others"
_GAP: Final = 0.025


@draws
def outcome_flows(result: Result, *, look: Look = "light") -> Picture:
    """From the first outcome of each lead to its last; rare outcomes are drawn together."""
    named(result, "outcome_flows")
    about = "Leads by the outcome of their first attempt (left) and their last (right)"
    table = result.table
    total = int(table["leads"].sum())
    if not total:
        return nothing("leads", about, look, result.table)
    left, right = (_kept(table.groupby(side)["leads"].sum()) for side in ("first", "last"))
    bands: dict[tuple[str, str], int] = {}
    for row in table.to_dict("records"):
        first, last = str(row["first"]), str(row["last"])
        pair = (first if first in left else _OTHERS, last if last in right else _OTHERS)
        bands[pair] = bands.get(pair, 0) + int(row["leads"])
    note = f"{count(total)} leads; rare outcomes together. Taxonomy {result.taxonomy_version}."
    with context(look) as theme:
        figure = canvas(theme, 4.6, result.answer, about, note)
        axes = figure.subplots()
        _draw(axes, bands, total, theme)
        top = sorted(bands.items(), key=lambda item: -item[1])[:6]
        details = "; ".join(f"{_label(a)} to {_label(b)} {count(n)} leads" for (a, b), n in top)
        return Picture(settle(figure), f"{result.answer}. {details}.", look, table)


def _kept(sizes: pd.Series) -> list[str]:
    ordered = sizes.sort_values(ascending=False, kind="stable")
    return [str(name) for name in ordered.index[:_MOST]]


def _draw(axes: Axes, bands: dict[tuple[str, str], int], total: int, theme: Theme) -> None:
    sides = []
    for side in (0, 1):
        sizes: dict[str, int] = {}
        for pair, n in bands.items():
            sizes[pair[side]] = sizes.get(pair[side], 0) + n
        names = sorted(sizes, key=lambda name: (name == _OTHERS, -sizes[name], name))
        sides.append({name: sizes[name] for name in names})
    color = {name: _COLORS[i % len(_COLORS)] for i, name in enumerate(sides[0])}
    tops = [_tops(side, total) for side in sides]
    labels: tuple[list[float], list[float]] = ([], [])
    for side, x, align, edge in ((0, -0.03, "right", -0.018), (1, 1.03, "left", 1.0)):
        for name, n in sides[side].items():
            top = tops[side][name]
            axes.add_patch(_block(edge, top, 0.018, n / total, color.get(name, theme.muted)))
            y = _free(top + n / total / 2, labels[side])
            axes.text(x, y, f"{_label(name)}  {compact(n)}", ha=align, va="center", size=8.5)
    start = [dict(tops[0]), dict(tops[1])]
    for (a, b), n in sorted(bands.items(), key=lambda item: (
        list(sides[0]).index(item[0][0]), list(sides[1]).index(item[0][1]))):  # fmt: skip
        height = n / total
        axes.add_patch(_band(start[0][a], start[1][b], height, color[a]))
        start[0][a] += height
        start[1][b] += height
    bottom = max(max(t.values()) + 0.2 for t in tops)
    axes.set_xlim(-0.42, 1.42)
    axes.set_ylim(max(bottom, 1 + _GAP * _MOST + 0.03, *labels[0], *labels[1]) + 0.01, -0.03)
    axes.set_axis_off()


def _tops(side: dict[str, int], total: int) -> dict[str, float]:
    tops, y = {}, 0.0
    for name, n in side.items():
        tops[name] = y
        y += n / total + _GAP
    return tops


def _free(y: float, taken: list[float]) -> float:
    """The place nearest below where no label stands."""
    while any(abs(y - other) < 0.055 for other in taken):
        y += 0.005
    taken.append(y)
    return y


def _block(x: float, y: float, width: float, height: float, color: str) -> PathPatch:
    corners = np.array([(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)])
    return PathPatch(Path(corners), facecolor=color, lw=0)


def _band(left: float, right: float, height: float, color: str) -> PathPatch:
    points = [
        (0, left), (0.5, left), (0.5, right), (1, right),
        (1, right + height), (0.5, right + height), (0.5, left + height), (0, left + height), (0, left),
    ]  # fmt: skip
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    return PathPatch(Path(points, codes), facecolor=color, alpha=0.45, lw=0)


def _label(name: str) -> str:
    return name.replace("_", " ")
