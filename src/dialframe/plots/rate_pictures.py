"""Pictures of rates, each with counts and intervals: by group, by attempt, by days and by seconds of ringing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

from dialframe.analytics import Result
from dialframe.analytics.attempt.frames_to_arrays import require
from dialframe.analytics.claims_and_tables import compact, interval, plural, share
from dialframe.plots.picture import Picture, label, nothing, number, of_analysis
from dialframe.plots.style import SERIES, Look, Theme, canvas, context, settle

_Record = dict[Any, Any]
_DIMENSIONS: Final = {"hour": "Local hour", "weekday": "Weekday"}

_DASHES: Final = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
_MOST_GROUPS: Final = 6
#: Groups whose bands can be told apart.
_BANDS: Final = 2
#: Leads below which an interval may run off the picture.
_FEW: Final = 30


def hours(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """How often a person answers by local hour and weekday, everything else held still.

    Args:
        result: A result of `dialframe.analytics.hours`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.hours(analytics.hours(calls, leads))
    """
    result = of_analysis("hours", result, campaigns)
    rows = []
    for row in result.table.to_dict("records"):
        if pd.isna(row["rate_ratio"]):
            continue
        odds, low, high = (number(row[n]) for n in ("rate_ratio", "ratio_low", "ratio_high"))
        words = f"{compact(row['denominator'])} calls, {100 * row['adjusted']:.1f}% adjusted"
        rows.append(Row(str(row["level"]), odds, low, high, words,
                        group=_DIMENSIONS.get(str(row["dimension"]), str(row["dimension"]))))  # fmt: skip
    return forest(
        result, rows, look, ax, what="calls", unit=ODDS,
        subtitle="How much more often a person answers than over all times (1.00), with campaign, week, "
        "source, attempt and the other clock held still",
        footer="Times with too few calls stand in the table only.",
    )  # fmt: skip


def caller_ids(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """The rate of each caller ID against what the mix of its calls gives reason for.

    Args:
        result: A result of `dialframe.analytics.caller_ids`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.caller_ids(analytics.caller_ids(calls, leads))
    """
    result = of_analysis("caller_ids", result, campaigns)
    rows = of_table(
        result, "from_number", mark="expected", loud=lambda row: row["alert"],
        faint=lambda row: not row["judged"],
        more=lambda row: f", since {row['changed_at']:%d %b}: {100 * row['rate_after']:.1f}%"
        if row["alert"] else "",
    )  # fmt: skip
    return forest(result, rows, look, ax, what="calls", by_value=True,
                  subtitle="Calls that a person answered, by caller ID; diamonds lost their answers",
                  footer="Upright mark: what the mix of the calls gives reason for. Gray: too few "
                  "calls to be judged.")  # fmt: skip


def carriers(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """The share of short calls of each group against carriers' limits.

    Args:
        result: A result of `dialframe.analytics.carriers`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.carriers(analytics.carriers(calls, leads))
    """
    result = of_analysis("carriers", result, campaigns)
    limits = [float(str(result.parameters[n])) for n in ("limit_warning", "limit_over")]
    rows = of_table(
        result, str(result.table.columns[0]), "answers", count="answered", value="short_share",
        low="short_low", high="short_high", mark=limits[0], more=lambda row: f", {row['short_flag']}",
        loud=lambda row: row["short_flag"] == "over",
        faint=lambda row: row["short_flag"] == "too few",
    )  # fmt: skip
    return forest(result, rows, look, ax, what="answered calls", by_value=True,
                  subtitle=f"Answered calls of {result.parameters['short_s']:g} s or less",
                  footer=f"Upright mark: where carriers warn ({100 * limits[0]:.0f}%); they charge "
                  f"from {100 * limits[1]:.0f}%.")  # fmt: skip


def changes(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """The rate of each group in the last days against its own before.

    Args:
        result: A result of `dialframe.analytics.changes`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.changes(analytics.changes(calls, leads))
    """
    result = of_analysis("changes", result, campaigns)
    rows = of_table(result, str(result.table.columns[0]), mark="rate_before",
                    loud=lambda row: row["alert"])  # fmt: skip
    return forest(result, rows, look, ax, what="calls", by_value=True,
                  subtitle=f"{str(result.parameters['metric']).replace('_', ' ').capitalize()} in the last "
                  f"{result.parameters['recent_days']:g} days", footer="Upright mark: the time before.")  # fmt: skip


def compare(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """Two campaigns and the difference between them.

    Args:
        result: A result of `dialframe.analytics.compare`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.compare(analytics.compare(calls, leads, a=first, b=second))
    """
    result = of_analysis("compare", result, campaigns)
    row = result.table.iloc[0]
    rows = [
        Row("difference", number(row["difference"]), number(row["low"]), number(row["high"]),
            "crude"),
        Row("with the mix held still", number(row["adjusted"]), number(row["adjusted_low"]),
            number(row["adjusted_high"]), "", loud=row["verdict"] in ("a is better", "b is better")),
        Row("least seen 4 times in 5", number(row["minimum_detectable"]), np.nan, np.nan, "",
            faint=True),
    ]  # fmt: skip
    sides = {side: f"{row[side]} ({compact(row[f'numerator_{side}'])} of "
             f"{compact(row[f'denominator_{side}'])})" for side in ("a", "b")}  # fmt: skip
    return forest(result, rows, look, ax, what="calls of both campaigns", zero=True, unit="points",
                  subtitle=f"Share of {sides['b']} less share of {sides['a']}, attempts clustered by lead",
                  footer=result.warnings[0] if result.warnings else "")  # fmt: skip


def machines(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """Machines among the answers of each group; diamonds hide more of them.

    Args:
        result: A result of `dialframe.analytics.machines`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.machines(analytics.machines(calls, leads))
    """
    result = of_analysis("machines", result, campaigns)
    rows = of_table(
        result, str(result.table.columns[0]), "answers", loud=lambda row: row["hidden"],
        more=lambda row: f", {compact(row['unknown'])} unknown",
    )  # fmt: skip
    return forest(result, rows, look, ax, what="answered calls", by_value=True,
                  subtitle="Answers that were machines; diamonds: most unknown answers sound like machines")  # fmt: skip


def scorecard(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """Attempted leads that were reached, by source.

    Args:
        result: A result of `dialframe.analytics.scorecard`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.scorecard(analytics.scorecard(calls, leads))
    """
    result = of_analysis("scorecard", result, campaigns)
    ordered = replace(result, table=result.table.sort_values("reach_rate", ascending=False))
    rows = of_table(
        ordered, str(result.table.columns[0]), "leads", count="attempted", value="reach_rate",
        more=lambda row: f", {number(row['appointments_per_1000']):.0f} appt per 1,000",
        loud=lambda row: row["verdict"] == "worse",
    )  # fmt: skip
    return forest(result, rows, look, ax, what="leads",
                  subtitle="Attempted leads that were reached; diamonds: worse than all other sources",
                  footer=f"{plural(int(result.table['leads'].sum()), 'lead')} loaded.")  # fmt: skip


def speed_to_lead(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """Leads with a positive outcome by how long they waited for the first dial.

    Args:
        result: A result of `dialframe.analytics.speed_to_lead`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.speed_to_lead(analytics.speed_to_lead(calls, leads))
    """
    result = of_analysis("speed_to_lead", result, campaigns)
    rows = of_table(result, "delay", "leads")
    return forest(result, rows, look, ax, what="leads",
                  subtitle=f"Leads that were {result.parameters['goal']}, by time from arrival to first attempt",
                  footer="Raw rates: who is dialed late differs from who is dialed at once; the title "
                  "compares inside campaign, week and source.")  # fmt: skip


def attempts(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """What each further attempt is worth: first contacts of leads not reached before.

    Args:
        result: A result of `dialframe.analytics.attempts`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.attempts(analytics.attempts(calls, leads))
    """
    result = of_analysis("attempts", result, campaigns)
    about = "First contacts of leads not reached before, by attempt"
    table = result.table[result.table["rate"].notna()]
    if not len(table):
        return nothing("attempts", about, look, result.table, ax=ax)
    rate, low, high = (100 * table[n].to_numpy(float) for n in ("rate", "low", "high"))
    note = (
        f"Lines: Wilson 95% intervals; one with an arrow goes on. Rings: with the sources as at the first attempt. "
        f"Taxonomy {result.taxonomy_version}."
    )
    with context(look, ax) as theme:
        figure = canvas(theme, 3.6, result.answer, about, note)
        axes = figure.subplots()
        x = range(len(table))
        axes.vlines(x, low, high, color=theme.blue, lw=2.4)
        axes.plot(x, rate, "o", color=theme.blue, ms=7)
        axes.plot(x, 100 * table["adjusted"].to_numpy(float, na_value=float("nan")), "o", mfc="none",
                  mec=theme.alert, ms=12)  # fmt: skip
        # The scale is that of rows with enough leads: one interval of three leads would flatten all others.
        many = table["denominator"].to_numpy(float) >= _FEW
        most = 1.2 * max((high if not many.any() else high[many]).max(), rate.max(), 1.0)
        for cut in np.flatnonzero(high > most):
            axes.plot([cut], [0.985 * most], "^", color=theme.blue, ms=6)
        for i, top in enumerate(high):
            axes.annotate(f"{rate[i]:.1f}%", (i, min(top, 0.93 * most)), (0, 8),
                          textcoords="offset points", ha="center", size=8.5)  # fmt: skip
        labels = [
            f"{row['attempt']}\n{compact(row['denominator'])}" for row in table.to_dict("records")
        ]
        axes.set_xticks(list(x), labels)
        axes.set_ylim(0, most)
        axes.set_xlabel("attempt, and leads still waiting")
        axes.set_ylabel("per cent")
        axes.grid(axis="y")
        details = "; ".join(
            f"attempt {r['attempt']}: {share(r['rate'])} of {compact(r['denominator'])}"
            for r in table.to_dict("records")
        )
        return Picture(settle(figure), f"{result.answer}. {details}.", look, result.table)


def time_to_contact(
    result: Result, *, look: Look = "light", ax: Axes | None = None,
    campaigns: pd.DataFrame | None = None,
) -> Picture:  # fmt: skip
    """The share of leads reached by days, one line per group; a band where there are one or two.

    Args:
        result: A result of `dialframe.analytics.time_to_contact`.
        look: Light or dark.
        ax: Axes of your own to draw on; without them the picture is a figure by itself.
        campaigns: Frame of the campaigns table (`id`, `name`), to show names in the place of ids.

    Raises:
        ConfigError: The result is one of another analysis.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Example:
        picture = plots.time_to_contact(analytics.time_to_contact(calls, leads))
    """
    result = of_analysis("time_to_contact", result, campaigns)
    about = "Share of leads reached by days; dead numbers and opt-outs end the wait too"
    groups = result.tables["groups"].sort_values("leads", ascending=False, kind="stable")
    shown = [str(name) for name in groups["group"][:_MOST_GROUPS]]
    if not shown:
        return nothing("leads", about, look, result.table, ax=ax)
    more = len(groups) - len(shown)
    rest = f" {more} smaller groups not shown." if more else ""
    count = dict(zip(groups["group"], groups["leads"], strict=True))
    key = [
        Line2D([], [], color=SERIES[i], ls=_DASHES[i],
               label=f"{label(name, 22)} ({compact(count[name])})")
        for i, name in enumerate(shown)
    ]  # fmt: skip
    note = f"{'Bands' if len(shown) <= _BANDS else 'Bars at the end'}: 95%. In brackets: leads.{rest} Taxonomy {result.taxonomy_version}."
    ends = []
    with context(look, ax) as theme:
        figure = canvas(theme, 4.2, result.answer, about, note, key)
        axes = figure.subplots()
        for i, name in enumerate(shown):
            rows = result.table[result.table["group"] == name]
            x = rows["day"].to_numpy(float)
            y, low, high = (100 * rows[n].to_numpy(float, na_value=float("nan"))
                            for n in ("reached", "low", "high"))  # fmt: skip
            if len(shown) <= _BANDS:
                axes.fill_between(x, low, high, step="post", color=SERIES[i], alpha=0.12, lw=0)
            else:
                axes.plot([x[-1]] * 2, [low[-1], high[-1]], color=SERIES[i], lw=2.4, alpha=0.6,
                          clip_on=False)  # fmt: skip
            axes.step(x, y, where="post", color=SERIES[i], ls=_DASHES[i], lw=1.8, clip_on=False)
            axes.plot(x[-1:], y[-1:], "o", color=SERIES[i], ms=4, clip_on=False)
            ends.append(f"{name} {y[-1]:.1f}% of {compact(count[name])} leads by day {x[-1]:.0f}")
        axes.set_xlabel(f"days from {str(result.parameters['entry']).replace('_', ' ')}")
        axes.set_ylabel("per cent reached")
        axes.set_ylim(0, min(100.0, max(axes.get_ylim()[1], 1.0)))
        axes.set_xlim(0, max(axes.get_xlim()[1], 1.0))
        axes.grid(axis="y")
        return Picture(settle(figure), f"{result.answer}. {'; '.join(ends)}.", look, result.table)


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
    ax: Axes | None,
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
        ax: Axes of the reader's own, or None.
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
        return nothing(what, subtitle, look, result.table, ax=ax, few=few)
    shown = known_rows[:MOST_ROWS]
    if by_value:
        shown = sorted(shown, key=lambda row: -row.value)
    left_out = (
        (len(known_rows) - len(shown), "more in the table"),
        (len(rows) - len(known_rows), "without a value in the table"),
    )
    more = "".join(f" {plural(n, 'row')} {where}." for n, where in left_out if n)
    note = f"Lines: 95% intervals. {footer}{' ' if footer else ''}Taxonomy {result.taxonomy_version}.{more}"
    heads = len({row.group for row in shown} - {""})
    with context(look, ax) as theme:
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


def of_table(
    result: Result, label: str, noun: str = "calls", *, count: str = "denominator",
    value: str = "rate", low: str = "low", high: str = "high", mark: str | float | None = None,
    more: Callable[[_Record], str] = lambda _: "", loud: Callable[[_Record], bool] = lambda _: False,
    faint: Callable[[_Record], bool] = lambda _: False,
) -> list[Row]:  # fmt: skip
    """Rows of a result's table.

    Args:
        result: The result.
        label: Column with the names of the rows.
        noun: What the rate is of, in the words at the right.
        count: Column with how many.
        value: Column that is drawn.
        low: Column with its lower bound.
        high: Column with its upper bound.
        mark: Column with the reference value of each row, or one for all.
        more: What else stands at the right of a record.
        loud: Which records are drawn in the alert color.
        faint: Which are thin.
    """
    require(result.table, (label, value, low, high, count), result.name)
    return [
        Row(
            str(row[label]) if not pd.isna(row[label]) else "(none)",
            number(row[value]), number(row[low]), number(row[high]),
            f"{compact(row[count])} {noun}{more(row)}",
            _finite_or_none(row[mark] if isinstance(mark, str) else mark), bool(loud(row)), bool(faint(row)),
        )
        for row in result.table.to_dict("records")
    ]  # fmt: skip


def _finite_or_none(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _draw(axes: Axes, rows: Sequence[Row], theme: Theme, unit: str, *, zero: bool) -> None:
    # Where each row stands, and where the headings of the groups do.
    places: list[float] = []
    heads: list[tuple[float, str]] = []
    y = 0.0
    for i, row in enumerate(rows):
        if row.group and (not i or rows[i - 1].group != row.group):
            heads.append((y, row.group))
            y += 1
        places.append(y)
        _row(axes, y, row, theme, unit)
        y += 1
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
    _scale_axis(axes, rows, unit)


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


def _scale_axis(axes: Axes, rows: Sequence[Row], unit: str) -> None:
    """An axis that shows no more than there can be, and does not make much of next to nothing."""
    if unit == ODDS:
        # Widths beyond a factor of twenty belong to rows that say nothing; they run off the axis.
        ends = [v for row in rows for v in (row.low, row.high, row.value) if not pd.isna(v)]
        axes.set_xscale("log")
        axes.set_xticks(_ODDS_TICKS)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.xaxis.set_tick_params(which="minor", length=0)
        # Last, since setting ticks widens the axis to all of them.
        axes.set_xlim(max(_FIRST, min(0.67, *ends)) / 1.06, min(_LAST, max(1.5, *ends)) * 1.06)
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
    return f"{100 * value:.1f}%" if unit == "%" else f"{value:.2f}"


def _bounds(row: Row, unit: str) -> str:
    if unit == "points":
        return f"{100 * row.low:+.1f} to {100 * row.high:+.1f}"
    return interval(row.low, row.high) if unit == "%" else f"{row.low:.2f} to {row.high:.2f}"
