"""Pictures of what to do next: people and agents of the days to come, and what an order of leads gained."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from dialframe.analytics import Result
from dialframe.plots.picture import Picture, nothing, of_analysis
from dialframe.plots.style import Look, canvas, context, settle


def forecast(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """People reached on each day to come, and agents for its busiest hour, each with its band.

    Args:
        result: A result of `dialframe.analytics.forecast`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.forecast(analytics.forecast(calls))
    """
    result = of_analysis("forecast", result, campaigns)
    level = float(str(result.parameters["level"]))
    about = f"By day, with {100 * level:.0f}% bands; agents as the busiest hour of the day needs"
    # Groups share their days: what is drawn is the first of them.
    days = result.tables["days"].drop_duplicates("day")
    if not len(days):
        return nothing("days to forecast", about, look, result.table, ax=ax)
    at = pd.to_datetime(days["day"])
    held = result.tables["backtest"]
    note = (
        f"Held out: {len(held)} times, up to eight weeks ago. Taxonomy {result.taxonomy_version}."
    )
    with context(look, ax) as theme:
        figure = canvas(theme, 4.4, result.answer.split("; in weeks")[0], about, note)
        for axes, name, words in zip(
            figure.subplots(2, 1, squeeze=False)[:, 0], ("contacts", "agents"), ("people reached", "agents"),
            strict=True,
        ):  # fmt: skip
            mean, low, high = (
                days[f"{name}{end}"].to_numpy(float) for end in ("", "_low", "_high")
            )
            axes.vlines(at, low, high, color=theme.blue, lw=5, alpha=0.35)
            axes.plot(at, mean, "o", color=theme.blue, ms=4)
            axes.set_ylim(0, max(1.15 * float(np.max(high)), 0.1))
            axes.set_ylabel(words)
            axes.grid(axis="y")
            weeks = at[~at.dt.isocalendar().week.duplicated().to_numpy()]
            axes.set_xticks(weeks, [f"{day:%a}\n{day:%b} {day.day}" for day in weeks])
        details = "; ".join(
            f"{row.day}: {row.contacts:.0f} people ({row.contacts_low} to {row.contacts_high})"
            for row in days.head(7).itertuples()
        )
        return Picture(settle(figure), f"{result.answer}. {details}.", look, result.table)


def rank(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """What each held-out week's calls reached in the list's own order and in the one that is ranked.

    Args:
        result: A result of `dialframe.analytics.rank`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.rank(analytics.rank(calls, leads))
    """
    result = of_analysis("rank", result, campaigns)
    about = "Share of the first half of each day's calls that reached somebody, by week held out"
    weeks = result.tables["weeks"].dropna(subset=["own", "ranked"]).drop_duplicates("week")
    if not len(weeks):
        return nothing("held-out weeks", about, look, result.table, ax=ax)
    rows = np.arange(len(weeks))[::-1]
    own, ranked = (100 * weeks[name].to_numpy(float) for name in ("own", "ranked"))
    names = [f"week of {week}" for week in weeks["week"]]
    with context(look, ax) as theme:
        note = f"Taxonomy {result.taxonomy_version}."
        figure = canvas(theme, 1.6 + 0.32 * len(weeks), result.answer, about, note)
        axes = figure.subplots()
        axes.hlines(rows, own, ranked, color=theme.blue, lw=2, alpha=0.5)
        axes.plot(
            own, rows, "o", color=theme.background, mec=theme.blue, ms=7, label="list's own order"
        )
        axes.plot(ranked, rows, "o", color=theme.blue, ms=7, label="ranked")
        axes.set_yticks(rows, names)
        axes.set_xlim(0, 1.15 * float(max(own.max(), ranked.max(), 1)))
        axes.set_xlabel("%")
        axes.grid(axis="x")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2, frameon=False)
        details = "; ".join(
            f"{name}: {a:.1f}% in the list's own order, {b:.1f}% ranked"
            for name, a, b in zip(names, own, ranked, strict=True)
        )
        return Picture(settle(figure), f"{result.answer}. {details}.", look, result.table)
