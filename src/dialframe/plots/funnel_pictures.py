"""Pictures of the lead funnel, whole and by group."""

from __future__ import annotations

from textwrap import fill as wrapped
from typing import Any, Final

import pandas as pd
from matplotlib.axes import Axes

from dialframe.analytics import STAGES, Funnel
from dialframe.analytics.claims_and_tables import compact, count, interval, plural, share
from dialframe.analytics.inference import wilson
from dialframe.errors import ConfigError
from dialframe.plots.picture import Picture, label, nothing, of_analysis
from dialframe.plots.style import (
    Look,
    Theme,
    bare,
    canvas,
    context,
    settle,
)

_Row = dict[str, Any]
_Groups = dict[str, dict[str, _Row]]

#: What of a column's width its longest interval takes.
_CELL: Final = 0.88
_LABELS: Final = {stage.name: stage.label for stage in STAGES}
_ABOUT: Final = "How many leads reach each stage"
_ROW_IN: Final = 0.42
_GROUP_IN: Final = 0.56
_NARROWEST: Final = "\N{BLACK RIGHT-POINTING TRIANGLE}  "

#: Groups drawn at most; the rest is named in the footer and stands in the table.
MAX_GROUPS: Final = 12

# Where the columns of numbers stand, in units of the full bar.
_COUNT_X, _PREVIOUS_X, _LOADED_X, _RIGHT = 1.24, 2.0, 2.25, 2.26


def funnel(
    result: Funnel, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """The stages as bars, each with its leads, its share and how sure that is.

    Args:
        result: A funnel of one group, from `dialframe.analytics.funnel`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: It is no funnel, or one that is split into groups.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.funnel(analytics.funnel(calls, leads))
    """
    result = of_analysis("funnel", result, campaigns)
    if result.by is not None:
        raise ConfigError(f"this funnel is split by {result.by}; draw it with funnel_by")
    rows = result.table.to_dict("records")
    if not rows[0]["count"]:
        return nothing("leads", _ABOUT, look, result.table, ax=ax)
    # A stage that everybody passes is no narrow one.
    narrower = [
        y
        for y, row in enumerate(rows)
        if not pd.isna(row["of_previous"]) and row["of_previous"] < 1
    ]
    narrowest = min(narrower, key=lambda y: rows[y]["of_previous"], default=None)
    subtitle = _ABOUT
    if narrowest is not None:
        before, after = (_LABELS[rows[y]["stage"]] for y in (narrowest - 1, narrowest))
        subtitle = (
            f"The narrowest step is from “{before}” to “{after}”: "
            f"{share(rows[narrowest]['of_previous'])} go on"
        )
    title = _reach_sentence(result)
    calls_by_role = result.excluded.groupby("role")["count"].sum()
    where = f" Campaign {result.campaign}." if result.campaign else ""
    foot = (
        f"{plural(int(calls_by_role.get('counted', 0)), 'call')} counted, "
        f"{count(calls_by_role.get('set aside', 0))} set aside.{where} "
        f"Loaded: {result.definitions['loaded']}. In brackets: Wilson 95% intervals. "
        f"Taxonomy {result.taxonomy_version}."
    )
    with context(look, ax) as theme:
        figure = canvas(theme, 0.5 + _ROW_IN * len(rows), title, subtitle, foot)
        axes = figure.subplots()
        _bars(axes, rows, narrowest, theme)
        details = "; ".join(
            f"{_LABELS[row['stage']]} {count(row['count'])} ({share(row['of_loaded'])} of loaded)"
            for row in rows
        )
        alt = f"{title}. Lead funnel, bars from top to bottom: {details}."
        return Picture(settle(figure), alt, look, result.table)


def _reach_sentence(result: Funnel) -> str:
    """How many of all leads made an appointment, in the words of both pictures."""
    last = result.headlines[-1]
    title = last.sentence.removesuffix(".")
    if last.at_most is not None:
        return f"{title}; who answered some calls is not known"
    return f"{title} ({share(last.share)})"


def funnel_by(
    result: Funnel, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """Groups side by side: what share of each group's loaded leads reaches each stage.

    Each column has its own scale, which ends where its longest interval does, so that late stages can be read
    too and nothing is cut off. The title counts and compares nothing: which source is better depends on what
    else differs between them, and `dialframe.analytics.scorecard` answers that.

    Args:
        result: A funnel split by a column, from `dialframe.analytics.funnel(..., by=...)`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: It is no funnel, or one that is not split into groups.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.funnel_by(analytics.funnel(calls, leads, by="lead_source"))
    """
    result = of_analysis("funnel", result, campaigns)
    if result.by is None:
        raise ConfigError("this funnel is not split into groups; draw it with funnel")
    shown = result.groups[:MAX_GROUPS]
    if not shown:
        return nothing("leads", f"{_ABOUT}, by {_noun(result.by)}", look, result.table, ax=ax)
    table = {
        group: {str(row["stage"]): row for row in rows.to_dict("records")}
        for group, rows in result.table.groupby(result.by, sort=False)
        if group in shown
    }
    left_out = len(result.groups) - len(shown)
    more = f" {plural(left_out, 'smaller group')} not shown." if left_out else ""
    # All groups together, those that are not drawn too.
    title = f"{_reach_sentence(result)}, by {_noun(result.by)}"
    with context(look, ax) as theme:
        figure = canvas(
            theme,
            0.6 + _GROUP_IN * len(shown),
            title,
            f"Share of the leads loaded that reach each stage, by {_noun(result.by)}, and how many they are",
            f"Each column has its own scale, which ends with its longest line. Lines: Wilson 95% intervals; "
            f"nothing is adjusted. Taxonomy {result.taxonomy_version}.{more}",
        )
        axes = figure.subplots()
        _cells(axes, table, theme)
        details = "; ".join(
            f"{group}: {plural(rows['loaded']['count'], 'lead')} loaded, "
            + ", ".join(
                f"{stage_label} {share(rows[stage]['of_loaded'])}"
                for stage, stage_label in _LABELS.items()
                if stage != "loaded"
            )
            for group, rows in table.items()
        )
        alt = f"{title}. Lead funnel, share of loaded. {details}."
        return Picture(settle(figure), alt, look, result.table)


def _bars(axes: Axes, rows: list[_Row], narrowest: int | None, theme: Theme) -> None:
    for y, row in enumerate(rows):
        axes.barh(y, 1, height=0.62, color=theme.ghost)
        if not pd.isna(row["of_loaded"]):
            axes.barh(y, row["of_loaded"], height=0.62, color=theme.blue)
        axes.text(_COUNT_X, y, count(row["count"]), ha="right", va="center", weight="bold")
        if not pd.isna(row["of_previous"]):
            caption = f"{share(row['of_previous'])}  ({interval(row['low'], row['high'])})"
            color, mark = (theme.alert, _NARROWEST) if y == narrowest else (theme.text, "")
            axes.text(_PREVIOUS_X, y, mark + caption, ha="right", va="center", size=9, color=color)
        axes.text(_LOADED_X, y, share(row["of_loaded"]), ha="right", va="center", size=9)
    heads = (
        (_COUNT_X, "leads"),
        (_PREVIOUS_X, "of the stage before"),
        (_LOADED_X, "of loaded"),
    )
    for x, heading in heads:
        axes.text(x, -0.72, heading, ha="right", va="center", size=8.5, color=theme.muted)
    bare(axes)
    axes.set_yticks(range(len(rows)), [_LABELS[row["stage"]] for row in rows])
    axes.set_xlim(0, _RIGHT)
    axes.set_ylim(len(rows) - 0.5, -1.0)


def _cells(axes: Axes, table: _Groups, theme: Theme) -> None:
    stages = [stage.name for stage in STAGES if stage.name != "loaded"]
    for x, stage in enumerate(stages):
        longest = max(_interval(rows, stage)[1] for rows in table.values())
        for y, rows in enumerate(table.values()):
            # A share, its bar with its interval, and its leads, one below the other.
            row, scale = rows[stage], _CELL / longest
            ends = [x + end * scale for end in _interval(rows, stage)]
            axes.text(x, y - 0.24, share(row["of_loaded"]), va="center", size=9, weight="bold")
            axes.barh(y + 0.02, _CELL, height=0.18, left=x, color=theme.ghost)
            if pd.isna(row["of_loaded"]):
                continue
            axes.barh(y + 0.02, row["of_loaded"] * scale, height=0.18, left=x, color=theme.blue)
            axes.plot(ends, [y + 0.02] * 2, color=theme.text, lw=1, solid_capstyle="butt")
            axes.text(x, y + 0.27, compact(row["count"]), va="center", size=8, color=theme.muted)
        axes.text(x, -0.52, wrapped(_LABELS[stage], 11), va="bottom", size=8.5, color=theme.muted)
    bare(axes)
    labels = [
        f"{label(group, 20)}\n{plural(rows['loaded']['count'], 'lead')}"
        for group, rows in table.items()
    ]
    axes.set_yticks(range(len(labels)), labels, size=9)
    axes.set_xlim(-0.05, len(stages))
    axes.set_ylim(len(labels) - 0.5, -1.05)


def _interval(rows: dict[str, _Row], stage: str) -> tuple[float, float]:
    """Wilson 95% interval of the share of a group's loaded leads that reach a stage."""
    return wilson(rows[stage]["count"], rows["loaded"]["count"]) or (0.0, 1.0)


def _noun(by: str) -> str:
    """What people call what the groups are of."""
    return "campaign" if by == "campaign_id" else by.replace("_", " ")
