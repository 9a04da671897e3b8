"""Pictures in cells: the week by hour, cohorts by age, outcomes by gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Rectangle

from dialframe.analytics import Result
from dialframe.analytics.analyses.outcome_mix import GOAL_WORDS
from dialframe.analytics.attempt.local_clock import WEEKDAYS
from dialframe.analytics.result.result_tables import compact, share
from dialframe.plots.picture import Picture, draws, nothing, number
from dialframe.plots.style import Look, Theme, canvas, context, settle

_Floats = npt.NDArray[np.float64]
_MOST: Final = 20
#: Contrast from which words in the color of the ground read on a cell.
_READS: Final = 3.5


@draws
def hours(result: Result, *, look: Look = "light") -> Picture:
    """How often a person answers by local hour and weekday; thin cells have their count alone."""
    table = result.table
    used = sorted({int(h) for h, n in zip(table["hour"], table["denominator"], strict=True) if n})
    if not used:
        return nothing(
            "calls", "Calls that a person answered by local hour and weekday", look, result.table
        )
    across = list(range(used[0], used[-1] + 1))
    grid = table.set_index(["weekday", "hour"])
    cells = [[grid.loc[(day, hour)] for day in WEEKDAYS] for hour in across]
    return _grid(
        result, look, cells, [f"{h}:00" for h in across], list(WEEKDAYS), value="shrunk",
        subtitle="Calls that a person answered, by the clock of the person called; below: calls",
        footer="Color and number: rate shrunk to the mean; the darker, the higher. Hatched: under "
        f"{result.parameters['min_calls']} calls, too "
        "few for a share.",
        alt="",
    )  # fmt: skip


@draws
def cohorts(result: Result, *, look: Look = "light") -> Picture:
    """Leads reached by cohort and age; cells whose time is not over are empty."""
    table = result.table
    names = list(dict.fromkeys(table["cohort"]))[-_MOST:]
    ages = sorted({int(age) for age in table["age"]})
    if not names or not table["mature"].any():
        return nothing("mature cohorts", "Leads by cohort and age", look, result.table)
    grid = table.set_index(["cohort", "age"])
    cells = [[grid.loc[(name, age)] for age in ages] for name in names]
    period = str(result.parameters["period"])
    return _grid(
        result, look, cells, names, [f"{age}" for age in ages], value="rate",
        subtitle=f"Share of each {period}'s leads that {GOAL_WORDS[str(result.parameters['goal'])]}, "
        f"by age in {period}s; below: leads",
        footer="Empty: not all of the cohort has had that time yet.",
        alt=f"after {period}", across=f"{period}s since import",
    )  # fmt: skip


@draws
def recycle(result: Result, *, look: Look = "light") -> Picture:
    """The chance that the next attempt reaches a person, by last outcome and gap."""
    table = result.table
    outcomes, gaps = (list(dict.fromkeys(table[name])) for name in ("outcome", "gap"))
    if not outcomes:
        return nothing(
            "second attempts", "The next attempt by last outcome and gap", look, result.table
        )
    grid = table.set_index(["outcome", "gap"])
    cells = [[grid.loc[(o, g)] for g in gaps] for o in outcomes]
    return _grid(
        result, look, cells, [str(o).replace("_", " ") for o in outcomes],
        [str(g).replace(" to ", "\nto ").replace(" and ", "\nand ") for g in gaps], value="rate",
        subtitle="How often the next attempt reached a person, by outcome and time since; below: pairs",
        footer=f"Hatched: under {result.parameters['min_calls']} pairs, too few for a share.",
        alt="after", across="time since the attempt before",
    )  # fmt: skip


def _grid(
    result: Result, look: Look, cells: Sequence[Sequence[pd.Series]], rows: list[str],
    columns: list[str], *, value: str, subtitle: str, footer: str, alt: str, across: str = "",
) -> Picture:  # fmt: skip
    """The cells as a picture; `alt` is what the words put before a column's name."""
    rate = np.array([[number(cell[value]) for cell in line] for line in cells])
    thin = np.array([[bool(cell.get("thin", False)) for cell in line] for line in cells])
    rate_shown = np.where(thin, np.nan, rate)
    note = f"{footer} Taxonomy {result.taxonomy_version}."
    with context(look) as theme:
        figure = canvas(theme, 0.7 + 0.36 * len(rows), result.answer, subtitle, note)
        axes = figure.subplots()
        low, high = _range(rate_shown)
        shades = LinearSegmentedColormap.from_list("rate", [theme.ghost, theme.blue])
        axes.pcolormesh(np.ma.masked_invalid(rate_shown), cmap=shades, vmin=low, vmax=high,
                        edgecolors=theme.background, linewidth=2)  # fmt: skip
        lightness = np.array(
            [[_light(shades((s - low) / (high - low))) for s in line] for line in rate_shown]
        )
        ground = _light(theme.background)
        ink = np.where(_contrast(lightness, ground) >= _READS, theme.background, theme.text)
        _write(axes, cells, rate, thin, ink, theme)
        axes.set_xticks(np.arange(len(columns)) + 0.5, columns, size=8.5)
        axes.set_yticks(np.arange(len(rows)) + 0.5, rows, size=8.5)
        axes.set_ylim(len(rows), 0)
        if across:
            axes.set_xlabel(across)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        return Picture(
            settle(figure),
            _alt(result, cells, rows, [f"{alt} {c}".strip() for c in columns], rate_shown),
            look,
            result.table,
        )


def _write(
    axes: Axes, cells: Sequence[Sequence[pd.Series]], rate: _Floats, thin: npt.NDArray[np.bool_],
    ink: npt.NDArray[np.str_], theme: Theme,
) -> None:  # fmt: skip
    for y, line in enumerate(cells):
        for x, cell in enumerate(line):
            if pd.isna(cell["denominator"]) or np.isnan(rate[y, x]):
                continue
            if thin[y, x]:
                axes.add_patch(Rectangle((x + 0.02, y + 0.05), 0.96, 0.9, fill=False, lw=0,
                                         hatch="////", edgecolor=theme.rule))  # fmt: skip
                axes.text(x + 0.5, y + 0.5, compact(cell["denominator"]), ha="center", va="center",
                          size=7, color=theme.muted,
                          bbox={"boxstyle": "round,pad=0.15", "fc": theme.background, "ec": "none"})  # fmt: skip
                continue
            color = str(ink[y, x])
            caption = f"{100 * rate[y, x]:.0f} %"
            axes.text(x + 0.5, y + 0.34, caption, ha="center", va="center", size=8, color=color)
            axes.text(x + 0.5, y + 0.72, compact(cell["denominator"]), ha="center", va="center",
                      size=7, color=color)  # fmt: skip


def _range(rate: _Floats) -> tuple[float, float]:
    known_rates = rate[~np.isnan(rate)]
    if not len(known_rates):
        return 0.0, 1.0
    # Half of the greatest share at least, so that next to no difference does not look like one.
    span = max(float(known_rates.max() - known_rates.min()), float(known_rates.max()) / 2, 0.01)
    middle = float(known_rates.max() + known_rates.min()) / 2
    return middle - span / 2, middle + span / 2


def _alt(
    result: Result, cells: Sequence[Sequence[pd.Series]], rows: list[str], columns: list[str],
    rate: _Floats,
) -> str:  # fmt: skip
    if np.isnan(rate).all():
        return f"{result.answer}. No cell has enough to be shown."
    details = []
    for y, line in enumerate(rate):
        known_cells = np.flatnonzero(~np.isnan(line))
        if len(known_cells):
            best = int(known_cells[np.argmax(line[known_cells])])
            column = columns[best].replace("\n", " ")
            details.append(f"{rows[y]} {column} {share(line[best])} of "
                        f"{compact(cells[y][best]['denominator'])}")  # fmt: skip
    return f"{result.answer}. The highest share of each row: {'; '.join(details)}."


def _light(color: Any) -> float:
    """Relative luminance as WCAG 2.2 has it, 0 to 1."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def _contrast(first: _Floats, second: float) -> _Floats:
    """Contrast of each with the other, 1 to 21."""
    return (np.maximum(first, second) + 0.05) / (np.minimum(first, second) + 0.05)
