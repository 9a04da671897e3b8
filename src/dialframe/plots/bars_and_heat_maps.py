"""Pictures in bars and in cells: what became of things, the mix of outcomes, rates by hour and by cohort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.patches import Rectangle

from dialframe.analytics import Result
from dialframe.analytics.attempt.frames_to_arrays import require
from dialframe.analytics.attempt.taxonomy import BY_NAME, GOAL_WORDS, Family
from dialframe.analytics.claims_and_tables import compact, count, interval, plural, share
from dialframe.analytics.inference import wilson
from dialframe.plots.picture import Kind, Picture, key, label, nothing, number, of_analysis
from dialframe.plots.style import (
    BLUE,
    ORANGE,
    SKY,
    Look,
    Theme,
    bare,
    canvas,
    context,
    settle,
)

_MOST: Final = 16


def reconcile(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """Why the service's report and the calls differ.

    Args:
        result: A result of `dialframe.analytics.reconcile`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.reconcile(analytics.reconcile(calls, report=account.dispositions()))
    """
    result = of_analysis("reconcile", result, campaigns)
    if not result.parameters["difference"]:
        about = "The service's report and the calls here"
        return nothing("differences", about, look, result.table, ax=ax)
    return _bars(
        result, look, ax, what="differences", keep_zero=True,
        subtitle="Units of difference by reason; together they are the whole difference",
        bar_of=lambda r: (str(r["reason"]).replace("_", " "), r["calls"], share(r["share"]), False),
    )  # fmt: skip


def completeness(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """What each check of completeness found.

    Args:
        result: A result of `dialframe.analytics.completeness`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.completeness(analytics.completeness(calls, leads))
    """
    result = of_analysis("completeness", result, campaigns)
    return _bars(
        result, look, ax, what="checks", keep_zero=True, subtitle="Rows that each check found",
        bar_of=lambda r: (
            str(r["check"]).replace("_", " "), r["count"],
            str(r["unit"]) if not r["of"] else f"of {count(r['of'])} {r['unit']}", not r["ok"],
        ),
    )  # fmt: skip


def duplicates(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """How many numbers are in how many campaigns, those in one left to the words.

    Args:
        result: A result of `dialframe.analytics.duplicates`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.duplicates(analytics.duplicates(calls, leads))
    """
    result = of_analysis("duplicates", result, campaigns)
    spread = result.tables["spread"]
    return _bars(
        result, look, ax, what="numbers in several campaigns",
        subtitle="Numbers by the campaigns that have them as a lead",
        table=spread[spread["campaigns"] > 1],
        bar_of=lambda r: (
            f"in {count(r['campaigns'])} campaigns", r["numbers"],
            "number" if r["numbers"] == 1 else "numbers", True,
        ),
    )  # fmt: skip


def _bars(
    result: Result, look: Look, ax: Axes | None, *, what: str, subtitle: str,
    bar_of: Callable[[dict[Any, Any]], tuple[str, float, str, bool]],
    table: pd.DataFrame | None = None, keep_zero: bool = False,
) -> Picture:  # fmt: skip
    """A bar for each record of the result's table, or of another one.

    Args:
        result: The result.
        look: Light or dark.
        ax: Axes of the reader's own, or None.
        what: What there would be none of: `calls`.
        subtitle: What is shown.
        bar_of: Label, length, what stands behind the number, and whether it is drawn as an alert.
        table: Records in the place of the result's own.
        keep_zero: Whether what is nothing has its line too.
    """
    records = (result.table if table is None else table).to_dict("records")
    bars = [bar for bar in map(bar_of, records) if bar[1] or keep_zero]
    if not bars:
        return nothing(what, subtitle, look, result.table, ax=ax)
    shown = bars[:_MOST]
    more = f" {len(bars) - len(shown)} more in the table." if len(bars) > len(shown) else ""
    footer = f"Taxonomy {result.taxonomy_version}.{more}"
    longest = max(abs(bar[1]) for bar in shown) or 1.0
    with context(look, ax) as theme:
        figure = canvas(theme, 0.6 + 0.34 * len(shown), result.answer, subtitle, footer)
        axes = figure.subplots()
        for y, (_, length, note, loud) in enumerate(shown):
            # What is next to nothing is drawn, so that it does not look like nothing.
            width = max(length, 0.004 * longest) if length else 0.0
            axes.barh(y, width, height=0.66, color=theme.alert if loud else theme.blue,
                      hatch="//" if loud else "", edgecolor=theme.background)  # fmt: skip
            axes.text(length + longest * 0.015, y, f"{count(length)}  {note}", va="center", size=9)
        bare(axes)
        axes.set_yticks(range(len(shown)), [label(bar[0], 30) for bar in shown], size=9)
        axes.set_xlim(0, longest * 1.75)
        axes.set_ylim(len(shown) - 0.5, -0.6)
        details = "; ".join(f"{name} {count(n)}{', ' + s if s else ''}" for name, n, s, _ in shown)
        return Picture(settle(figure), f"{result.answer}. {details}.", look, result.table)


FAMILIES: Final[dict[Family, Kind]] = {
    "human": Kind("human", "a person", BLUE),
    "machine": Kind("machine", "a machine", SKY, "//"),
    "unknown": Kind("unknown", "not known", ORANGE, "xx"),
    "not_connected": Kind("not_connected", "nobody", "#8C959F", ".."),
    "no_attempt": Kind("no_attempt", "not an attempt", "#8C959F", "||"),
}

_ABOUT: Final = "What came of the calls"


def outcomes(frame: pd.DataFrame, *, look: Look = "light") -> Picture:
    """Outcome classes as bars, the most frequent first, colored by who answered.

    Args:
        frame: Columns `outcome` (class) and `calls`, as `dialframe.analytics.dispositions` gives
            them; rows of one class are added up. A class that is not known is drawn as unknown.
        look: Light or dark.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Raises:
        ConfigError: A column is missing.

    Example:
        picture = plots.outcomes(analytics.dispositions(calls).table)
    """
    require(frame, ("outcome", "calls"), "outcomes")
    calls_of = frame.groupby("outcome")["calls"].sum()
    rows = sorted(
        ((str(k), int(n)) for k, n in calls_of.items() if n), key=lambda r: (-r[1], r[0])
    )
    total = sum(number for _, number in rows)
    if not total:
        return nothing("calls", _ABOUT, look)
    human = sum(number for outcome, number in rows if _family(outcome) == "human")
    most_often, longest = rows[0]
    title = (
        f"{share(human / total)} of {plural(total, 'call')} reached a person; "
        f"most often: {_label(most_often).lower()} ({share(longest / total)})"
    )
    with context(look) as theme:
        present = {_family(name) for name, _ in rows}
        kinds = [kind for family, kind in FAMILIES.items() if family in present]
        about = f"{_ABOUT}, colored by who answered"
        height = 0.2 + 0.3 * len(rows)
        note = "In brackets: Wilson 95% intervals."
        figure = canvas(theme, height, title, about, note, key(kinds, theme))
        axes = figure.subplots()
        for y, (name, n) in enumerate(rows):
            axes.barh(y, n, height=0.66, **FAMILIES[_family(name)].style(theme))
            axes.text(n + longest * 0.012, y, count(n), va="center", size=9.5, weight="bold")
            sure = interval(*(wilson(n, total) or (None, None)))
            axes.text(longest * 1.74, y, f"{share(n / total)}  ({sure})", va="center", ha="right",
                      size=9)  # fmt: skip
        bare(axes)
        axes.set_yticks(range(len(rows)), [_label(name) for name, _ in rows])
        axes.set_xlim(0, longest * 1.75)
        axes.set_ylim(len(rows) - 0.5, -0.6)
        details = "; ".join(f"{_label(name)} {count(n)} ({share(n / total)})" for name, n in rows)
        table = pd.DataFrame(
            [(name, n, n / total) for name, n in rows], columns=["outcome", "calls", "share"]
        )
        return Picture(settle(figure), f"{title}. {details}.", look, table)


def _family(name: str) -> Family:
    return BY_NAME[name].family if name in BY_NAME else "unknown"


def _label(name: str) -> str:
    return _LABELS.get(name, name.replace("_", " ").capitalize())


_LABELS: Final = {
    "temp_unavailable": "Out of reach for now",
    "network_fail": "Network failure",
    "blocked_or_rejected": "Blocked or rejected",
    "unanswered_unknown": "Not answered, cause unknown",
    "machine": "Answering machine",
    "connected_unknown": "Answered, not known by whom",
    "person_unknown": "A person, not known which",
    "early_hangup": "Hung up at once",
    "dropped_by_us": "Dropped by us",
    "gatekeeper_third_party": "Somebody else",
    "right_party_neutral": "Right person, no result",
    "dnc_request": "Asked not to be called",
    "dnc_screened": "Held back by a Do-Not-Call list",
    "in_progress": "Not over yet",
    "system_noise": "A dialer's own state",
}


_Floats = npt.NDArray[np.float64]
_MOST_COHORTS: Final = 20
#: Contrast from which words in the color of the ground read on a cell.
_READS: Final = 3.5


def cohorts(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """Leads reached by cohort and age; cells whose time is not over are empty.

    Args:
        result: A result of `dialframe.analytics.cohorts`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.cohorts(analytics.cohorts(calls, leads))
    """
    result = of_analysis("cohorts", result, campaigns)
    table = result.table
    names = list(dict.fromkeys(table["cohort"]))[-_MOST_COHORTS:]
    ages = sorted({int(age) for age in table["age"]})
    if not names or not table["mature"].any():
        return nothing("mature cohorts", "Leads by cohort and age", look, result.table, ax=ax)
    grid = table.set_index(["cohort", "age"])
    cells = [[grid.loc[(name, age)] for age in ages] for name in names]
    period = str(result.parameters["period"])
    return _grid(
        result, look, ax, cells, names, [f"{age}" for age in ages], value="rate",
        subtitle=f"Share of each {period}'s leads that {GOAL_WORDS[str(result.parameters['goal'])]}, "
        f"by age in {period}s; below: leads",
        footer="Empty: not all of the cohort has had that time yet.",
        alt=f"after {period}", across=f"{period}s since import",
    )  # fmt: skip


def recycle(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """The chance that the next attempt reaches a person, by last outcome and gap.

    Args:
        result: A result of `dialframe.analytics.recycle`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.recycle(analytics.recycle(calls, leads))
    """
    result = of_analysis("recycle", result, campaigns)
    table = result.table
    outcomes, gaps = (list(dict.fromkeys(table[name])) for name in ("outcome", "gap"))
    if not outcomes:
        return nothing(
            "second attempts",
            "The next attempt by last outcome and gap",
            look,
            result.table,
            ax=ax,
        )
    grid = table.set_index(["outcome", "gap"])
    cells = [[grid.loc[(o, g)] for g in gaps] for o in outcomes]
    return _grid(
        result, look, ax, cells, [str(o).replace("_", " ") for o in outcomes],
        [str(g).replace(" to ", "\nto ").replace(" and ", "\nand ") for g in gaps], value="rate",
        subtitle="How often the next attempt reached a person, by outcome and time since; below: pairs",
        footer=f"Hatched: under {result.parameters['min_calls']} pairs, too few for a share.",
        alt="after", across="time since the attempt before",
    )  # fmt: skip


def _grid(
    result: Result, look: Look, ax: Axes | None, cells: Sequence[Sequence[pd.Series]], rows: list[str],
    columns: list[str], *, value: str, subtitle: str, footer: str, alt: str, across: str = "",
) -> Picture:  # fmt: skip
    """The cells as a picture; `alt` is what the words put before a column's name."""
    rate = np.array([[number(cell[value]) for cell in line] for line in cells])
    thin = np.array([[bool(cell.get("thin", False)) for cell in line] for line in cells])
    rate_shown = np.where(thin, np.nan, rate)
    note = f"{footer} Taxonomy {result.taxonomy_version}."
    with context(look, ax) as theme:
        figure = canvas(theme, 0.7 + 0.36 * len(rows), result.answer, subtitle, note)
        axes = figure.subplots()
        low, high = _range(rate_shown)
        shades = LinearSegmentedColormap.from_list("rate", [theme.ghost, theme.blue])
        axes.pcolormesh(np.ma.masked_invalid(rate_shown), cmap=shades, vmin=low, vmax=high,
                        edgecolors=theme.background, linewidth=2)  # fmt: skip
        lightness = np.array(
            [[_light(shades((s - low) / (high - low))) for s in line] for line in rate_shown]
        )
        # Contrast as WCAG 2.2 has it: the lighter by the darker, each with 0.05 of stray light.
        ground = _light(theme.background)
        contrast = (np.maximum(lightness, ground) + 0.05) / (np.minimum(lightness, ground) + 0.05)
        ink = np.where(contrast >= _READS, theme.background, theme.text)
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
            caption = f"{100 * rate[y, x]:.0f}%"
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
