"""Pictures in bars: counts of things by what became of them, and the mix of outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from dialframe.analytics import Result, wilson
from dialframe.analytics.attempt.arrays import require
from dialframe.analytics.attempt.outcome_classes import BY_NAME, Family
from dialframe.analytics.result.result_tables import compact, count, interval, plural, share
from dialframe.plots.picture import Kind, Picture, bar, draws, key, label, nothing
from dialframe.plots.style import (
    BLUE,
    ORANGE,
    SERIES,
    SKY,
    Look,
    Theme,
    bare,
    canvas,
    context,
    settle,
)

_MOST: Final = 16
_MOST_TICKS: Final = 8
_Bar = tuple[str, float, str, bool]


@draws
def causes(result: Result, *, look: Look = "light") -> Picture:
    """Hangup causes by frequency, with the class that each means."""
    bars: list[_Bar] = [
        (_text(r["hangup_cause"]), float(r["numerator"]),
         f"{share(r['rate'])}  {str(r['class']).replace('_', ' ')}", r["class"] == "unmapped")
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(
        result, bars, look, what="attempts", subtitle="Attempts by hangup cause, and what it means"
    )


@draws
def conflicts(result: Result, *, look: Look = "light") -> Picture:
    """Where network and agent contradict each other."""
    bars: list[_Bar] = [
        (f"{_text(r['disposition'])} on {str(r['telephony']).replace('_', ' ')}", float(r["calls"]),
         share(r["share"]), True)
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(result, bars, look, what="contradictions",
                 subtitle="Calls by disposition and what the network says")  # fmt: skip


@draws
def reconcile(result: Result, *, look: Look = "light") -> Picture:
    """Why the service's report and the calls differ."""
    if not result.parameters["difference"]:
        return nothing(
            "differences", "The service's report and the calls here", look, result.table
        )
    bars: list[_Bar] = [
        (str(r["reason"]).replace("_", " "), float(r["calls"]), share(r["share"]), False)
        for r in result.table.to_dict("records")
    ]
    return _bars(result, bars, look, what="differences", keep_zero=True,
                 subtitle="Units of difference by reason; together they are the whole difference")  # fmt: skip


@draws
def callbacks_kept(result: Result, *, look: Look = "light") -> Picture:
    """What became of the callbacks."""
    if not int(result.table["callbacks"].sum()):
        return nothing("callbacks", "Callbacks by what became of them", look, result.table)
    bars: list[_Bar] = [
        (str(r["fate"]).replace("_", " "), float(r["callbacks"]),
         "" if pd.isna(r["rate"]) else
         f"{share(r['rate'])} ({100 * r['low']:.0f} to {100 * r['high']:.0f} %)",
         r["fate"] in ("late", "lost"))
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(result, bars, look, what="callbacks", keep_zero=True,
                 subtitle="Callbacks by what became of them; shares of those due, 95 %")  # fmt: skip


@draws
def appointments_kept(result: Result, *, look: Look = "light") -> Picture:
    """What became of the appointments."""
    bars: list[_Bar] = [
        (_text(r["status"]), float(r["appointments"]),
         "" if pd.isna(r["rate"]) else
         f"{share(r['rate'])} ({100 * r['low']:.0f} to {100 * r['high']:.0f} %)",
         r["status"] == "no-show")
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(result, bars, look, what="appointments",
                 subtitle="Appointments by status; shares of those that are over, 95 %")  # fmt: skip


@draws
def caller_load(result: Result, *, look: Look = "light") -> Picture:
    """How many calls each caller ID carried on its busiest day."""
    bars: list[_Bar] = [
        (str(r["from_number"]), float(r["most_per_day"]),
         f"on one day; {count(r['dials'])} calls in {count(r['days'])} days", bool(r["days_over"]))
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(
        result,
        sorted(bars, key=lambda bar: -bar[1]),
        look,
        what="calls",
        subtitle="Calls on the busiest day of each caller ID",
    )


@draws
def completeness(result: Result, *, look: Look = "light") -> Picture:
    """What each check of completeness found."""
    bars: list[_Bar] = [
        (str(r["check"]).replace("_", " "), float(r["count"]),
         str(r["unit"]) if not r["of"] else f"of {count(r['of'])} {r['unit']}", not r["ok"])
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(
        result, bars, look, what="checks", keep_zero=True, subtitle="Rows that each check found"
    )


@draws
def duplicates(result: Result, *, look: Look = "light") -> Picture:
    """How many numbers are in how many campaigns, those in one left to the words."""
    bars: list[_Bar] = [
        (f"in {count(r['campaigns'])} campaigns", float(r["numbers"]), "number" if r["numbers"] == 1 else "numbers", True)
        for r in result.tables["spread"].to_dict("records") if r["campaigns"] > 1
    ]  # fmt: skip
    return _bars(result, bars, look, what="numbers in several campaigns",
                 subtitle="Numbers by the campaigns that have them as a lead")  # fmt: skip


@draws
def durations(result: Result, *, look: Look = "light") -> Picture:
    """What the duration counts, by group: diamonds of one kind among the other stand out."""
    kinds = [str(k) for k in result.table["means"] if k != "unclear"]
    most = max(set(kinds), key=kinds.count) if kinds else ""
    bars: list[_Bar] = [
        (_text(r[result.table.columns[0]]), float(r["calls"]), f"calls: {r['means']}",
         r["means"] not in (most, "unclear"))
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(result, bars, look, what="answered calls",
                 subtitle="Answered calls by group, and what their duration counts")  # fmt: skip


@draws
def outcome_mix(result: Result, *, look: Look = "light") -> Picture:
    """The mix of outcomes over time, the most frequent five and the rest; unmapped is always shown."""
    about = f"Share of attempts by {result.parameters['period']} and outcome"
    pareto = result.tables["pareto"]
    if not len(result.table) or not int(pareto["calls"].sum()):
        return nothing("attempts", about, look, result.table)
    top = [str(n) for n in pareto["outcome"] if n != "unmapped"][:5]
    shown = [*top, "unmapped"]
    wide = result.table.pivot_table(
        index="start", columns="outcome", values="numerator", aggfunc="sum"
    )
    total = result.table.groupby("start")["denominator"].first()
    parts = pd.DataFrame({n: wide[n].astype(float) for n in shown if n in wide})
    parts["others"] = total.astype(float) - parts.sum(axis=1)
    shares = parts.div(total.astype(float), axis=0)
    colors = [*SERIES, "#8C959F"]
    hatches = ("", "//", "..", "xx", "\\\\", "||", "")
    details = "; ".join(f"{n} {share(float(parts[n].sum() / total.sum()))}" for n in parts.columns)
    note = (
        f"Bars from the bottom in the order of the legend; shares there are of all "
        f"{int(total.sum()):,} attempts. Taxonomy {result.taxonomy_version}."
    )
    with context(look) as theme:
        kinds = [
            Patch(facecolor=colors[i], hatch=hatches[i], edgecolor=theme.background,
                  label=f"{name.replace('_', ' ')} {share(float(parts[name].sum() / total.sum()))}")
            for i, name in enumerate(shares.columns)
        ]  # fmt: skip
        figure = canvas(theme, 3.8, result.answer, f"{about}; below: attempts", note, kinds)
        axes = figure.subplots()
        bottom = [0.0] * len(shares)
        for i, name in enumerate(shares.columns):
            heights = shares[name].to_numpy(float)
            axes.bar(range(len(shares)), heights, 0.92, bottom, color=colors[i], hatch=hatches[i],
                     edgecolor=theme.background, lw=0.4)  # fmt: skip
            bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
        step = -(-len(shares) // _MOST_TICKS)
        axes.set_xticks(
            range(0, len(shares), step),
            [f"{start}\n{compact(total[start])}" for start in shares.index[::step]],
            size=8.5,
        )
        axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
        return Picture(settle(figure), f"{result.answer}. {details}.", look, result.table)


def _bars(
    result: Result, bars: Sequence[_Bar], look: Look, *, what: str, subtitle: str,
    keep_zero: bool = False,
) -> Picture:  # fmt: skip
    shown_bars = [bar for bar in bars if bar[1] or keep_zero]
    if not shown_bars:
        return nothing(what, subtitle, look, result.table)
    shown = shown_bars[:_MOST]
    more = (
        f" {len(shown_bars) - len(shown)} more in the table."
        if len(shown_bars) > len(shown)
        else ""
    )
    note = f"Taxonomy {result.taxonomy_version}.{more}"
    longest = max(abs(bar[1]) for bar in shown) or 1.0
    with context(look) as theme:
        figure = canvas(theme, 0.6 + 0.34 * len(shown), result.answer, subtitle, note)
        axes = figure.subplots()
        for y, (_, number, note, loud) in enumerate(shown):
            axes.barh(y, max(number, 0.004 * longest) if number else 0.0, height=0.66, color=theme.alert if loud else theme.blue,
                      hatch="//" if loud else "", edgecolor=theme.background)  # fmt: skip
            axes.text(number + longest * 0.015, y, f"{count(number)}  {note}", va="center", size=9)
        bare(axes)
        axes.set_yticks(range(len(shown)), [label(bar[0], 30) for bar in shown], size=9)
        axes.set_xlim(0, longest * 1.75)
        axes.set_ylim(len(shown) - 0.5, -0.6)
        details = "; ".join(f"{name} {count(n)}{', ' + s if s else ''}" for name, n, s, _ in shown)
        return Picture(settle(figure), f"{result.answer}. {details}.", look, result.table)


def _text(value: object) -> str:
    return "(none)" if pd.isna(value) else str(value)


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
    title = _title(rows, total)
    with context(look) as theme:
        present = {_family(name) for name, _ in rows}
        kinds = [kind for family, kind in FAMILIES.items() if family in present]
        about = f"{_ABOUT}, colored by who answered"
        height = 0.2 + 0.3 * len(rows)
        note = "In brackets: Wilson 95 % intervals."
        figure = canvas(theme, height, title, about, note, key(kinds, theme))
        axes = figure.subplots()
        _outcome_bars(axes, rows, total, theme)
        details = "; ".join(f"{_label(name)} {count(n)} ({share(n / total)})" for name, n in rows)
        table = pd.DataFrame(
            [(name, n, n / total) for name, n in rows], columns=["outcome", "calls", "share"]
        )
        return Picture(settle(figure), f"{title}. {details}.", look, table)


def _outcome_bars(axes: Axes, rows: list[tuple[str, int]], total: int, theme: Theme) -> None:
    longest = rows[0][1]
    for y, (name, number) in enumerate(rows):
        bar(axes, y, number, FAMILIES[_family(name)], theme, height=0.66)
        axes.text(number + longest * 0.012, y, count(number), va="center", size=9.5, weight="bold")
        sure = interval(*(wilson(number, total) or (None, None)))
        axes.text(longest * 1.74, y, f"{share(number / total)}  ({sure})", va="center", ha="right",
                  size=9)  # fmt: skip
    bare(axes)
    axes.set_yticks(range(len(rows)), [_label(name) for name, _ in rows])
    axes.set_xlim(0, longest * 1.75)
    axes.set_ylim(len(rows) - 0.5, -0.6)


def _title(rows: list[tuple[str, int]], total: int) -> str:
    name, most = rows[0]
    human = sum(number for outcome, number in rows if _family(outcome) == "human")
    return (
        f"{share(human / total)} of {plural(total, 'call')} reached a person; "
        f"most often: {_label(name).lower()} ({share(most / total)})"
    )


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
    "early_hangup": "Hung up at once",
    "dropped_by_us": "Dropped by us",
    "gatekeeper_third_party": "Somebody else",
    "right_party_neutral": "Right person, no result",
    "dnc_request": "Asked not to be called",
    "dnc_screened": "Held back by a Do-Not-Call list",
    "in_progress": "Not over yet",
    "system_noise": "A dialer's own state",
}
