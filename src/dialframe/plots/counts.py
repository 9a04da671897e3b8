"""Pictures of counts: bars with their numbers, one per analysis; knows tables, not what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from dialframe.analytics import Result
from dialframe.analytics.wording import count, share
from dialframe.plots.forests import named
from dialframe.plots.marks import label, nothing
from dialframe.plots.picture import Picture
from dialframe.plots.style import Look, bare, canvas, context, settle

_MOST: Final = 16
_Bar = tuple[str, float, str, bool]


def causes(result: Result, *, look: Look = "light") -> Picture:
    """Hangup causes by frequency, with the class that each means."""
    named(result, "causes")
    bars: list[_Bar] = [
        (_text(r["hangup_cause"]), float(r["numerator"]),
         f"{share(r['rate'])}  {str(r['class']).replace('_', ' ')}", r["class"] == "unmapped")
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(
        result, bars, look, what="attempts", subtitle="Attempts by hangup cause, and what it means"
    )


def conflicts(result: Result, *, look: Look = "light") -> Picture:
    """Where network and agent contradict each other."""
    named(result, "conflicts")
    bars: list[_Bar] = [
        (f"{_text(r['disposition'])} on {str(r['telephony']).replace('_', ' ')}", float(r["calls"]),
         share(r["share"]), True)
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(result, bars, look, what="contradictions",
                 subtitle="Calls by disposition and what the network says")  # fmt: skip


def reconcile(result: Result, *, look: Look = "light") -> Picture:
    """Why the service's report and the calls differ."""
    named(result, "reconcile")
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


def callbacks_kept(result: Result, *, look: Look = "light") -> Picture:
    """What became of the callbacks."""
    named(result, "callbacks_kept")
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


def appointments_kept(result: Result, *, look: Look = "light") -> Picture:
    """What became of the appointments."""
    named(result, "appointments_kept")
    bars: list[_Bar] = [
        (_text(r["status"]), float(r["appointments"]),
         "" if pd.isna(r["rate"]) else
         f"{share(r['rate'])} ({100 * r['low']:.0f} to {100 * r['high']:.0f} %)",
         r["status"] == "no-show")
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(result, bars, look, what="appointments",
                 subtitle="Appointments by status; shares of those that are over, 95 %")  # fmt: skip


def caller_load(result: Result, *, look: Look = "light") -> Picture:
    """How many calls each caller ID carried on its busiest day."""
    named(result, "caller_load")
    bars: list[_Bar] = [
        (str(r["from_number"]), float(r["most_per_day"]),
         f"on one day; {count(r['dials'])} calls in {count(r['days'])} days", bool(r["days_over"]))
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(
        result, bars, look, what="calls", subtitle="Calls on the busiest day of each caller ID"
    )


def completeness(result: Result, *, look: Look = "light") -> Picture:
    """What each check of completeness found."""
    named(result, "completeness")
    bars: list[_Bar] = [
        (str(r["check"]).replace("_", " "), float(r["count"]),
         str(r["unit"]) if not r["of"] else f"of {count(r['of'])} {r['unit']}", not r["ok"])
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(
        result, bars, look, what="checks", keep_zero=True, subtitle="Rows that each check found"
    )


def duplicates(result: Result, *, look: Look = "light") -> Picture:
    """How many numbers are in how many campaigns, those in one left to the words."""
    named(result, "duplicates")
    bars: list[_Bar] = [
        (f"in {count(r['campaigns'])} campaigns", float(r["numbers"]), "number" if r["numbers"] == 1 else "numbers", True)
        for r in result.tables["spread"].to_dict("records") if r["campaigns"] > 1
    ]  # fmt: skip
    return _bars(result, bars, look, what="numbers in several campaigns",
                 subtitle="Numbers by the campaigns that have them as a lead")  # fmt: skip


def durations(result: Result, *, look: Look = "light") -> Picture:
    """What the duration counts, by group: diamonds of one kind among the other stand out."""
    named(result, "durations")
    kinds = [str(k) for k in result.table["means"] if k != "unclear"]
    most = max(set(kinds), key=kinds.count) if kinds else ""
    bars: list[_Bar] = [
        (_text(r[result.table.columns[0]]), float(r["calls"]), f"calls: {r['means']}",
         r["means"] not in (most, "unclear"))
        for r in result.table.to_dict("records")
    ]  # fmt: skip
    return _bars(result, bars, look, what="answered calls",
                 subtitle="Answered calls by group, and what their duration counts")  # fmt: skip


def _bars(
    result: Result, bars: Sequence[_Bar], look: Look, *, what: str, subtitle: str,
    keep_zero: bool = False,
) -> Picture:  # fmt: skip
    known = [bar for bar in bars if bar[1] or keep_zero]
    if not known:
        return nothing(what, subtitle, look, result.table)
    shown = known[:_MOST]
    more = f" {len(known) - len(shown)} more in the table." if len(known) > len(shown) else ""
    note = f"Taxonomy {result.taxonomy_version}.{more}"
    longest = max(abs(bar[1]) for bar in shown) or 1.0
    with context(look) as theme:
        figure = canvas(theme, 0.6 + 0.34 * len(shown), result.answer, subtitle, note)
        axes = figure.subplots()
        for y, (_, number, said, loud) in enumerate(shown):
            axes.barh(y, number, height=0.66, color=theme.alert if loud else theme.blue,
                      hatch="//" if loud else "", edgecolor=theme.background)  # fmt: skip
            axes.text(number + longest * 0.015, y, f"{count(number)}  {said}", va="center", size=9)
        bare(axes)
        axes.set_yticks(range(len(shown)), [label(bar[0], 30) for bar in shown], size=9)
        axes.set_xlim(0, longest * 1.75)
        axes.set_ylim(len(shown) - 0.5, -0.6)
        said = "; ".join(f"{name} {count(n)}{', ' + s if s else ''}" for name, n, s, _ in shown)
        return Picture(settle(figure), f"{result.answer}. {said}.", look, result.table)


def _text(value: object) -> str:
    return "(none)" if pd.isna(value) else str(value)
