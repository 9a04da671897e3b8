"""Pictures of what changes with attempts and days: the hazard of contact, survival, ringing."""

from __future__ import annotations

from typing import Final

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dialframe.analytics import Result
from dialframe.analytics.wording import compact, share, shortened
from dialframe.plots.forests import named
from dialframe.plots.marks import nothing
from dialframe.plots.picture import Picture
from dialframe.plots.style import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Look,
    canvas,
    context,
    settle,
)

_COLOURS: Final = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
_DASHES: Final = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
_MOST_GROUPS: Final = 6


def attempts(result: Result, *, look: Look = "light") -> Picture:
    """What each further attempt is worth: first contacts of leads not reached before."""
    named(result, "attempts")
    about = "First contacts of leads not reached before, by attempt"
    table = result.table[result.table["rate"].notna()]
    if not len(table):
        return nothing("attempts", about, look)
    rate, low, high = (100 * table[n].to_numpy(float) for n in ("rate", "low", "high"))
    note = (
        f"Lines: Wilson 95 % intervals. Rings: with the sources as at the first attempt. "
        f"Taxonomy {result.taxonomy_version}."
    )
    with context(look) as theme:
        figure = canvas(theme, 3.6, result.answer, f"{about}; below: leads still waiting", note)
        axes = figure.subplots()
        x = range(len(table))
        axes.vlines(x, low, high, color=theme.blue, lw=2.4)
        axes.plot(x, rate, "o", color=theme.blue, ms=7)
        axes.plot(x, 100 * table["adjusted"].to_numpy(float, na_value=float("nan")), "o", mfc="none",
                  mec=theme.alert, ms=12)  # fmt: skip
        for i, top in enumerate(high):
            axes.annotate(f"{rate[i]:.1f} %", (i, top), (0, 8), textcoords="offset points",
                          ha="center", size=8.5)  # fmt: skip
        labels = [
            f"{row['attempt']}\n{compact(row['denominator'])}" for row in table.to_dict("records")
        ]
        axes.set_xticks(list(x), labels)
        axes.set_ylim(0, max(high) * 1.2)
        axes.set_ylabel("per cent")
        axes.grid(axis="y")
        said = "; ".join(
            f"attempt {r['attempt']} {share(r['rate'])} of {compact(r['denominator'])}"
            for r in table.to_dict("records")
        )
        return Picture(settle(figure), f"{result.answer}. {said}.", look, result.table)


def time_to_contact(result: Result, *, look: Look = "light") -> Picture:
    """The share of leads reached by days, Kaplan-Meier with its band, one line per group."""
    named(result, "time_to_contact")
    about = "Share of leads reached by days, if nothing else ended the wait (Kaplan-Meier)"
    groups = result.tables["groups"].sort_values("leads", ascending=False, kind="stable")
    shown = [str(name) for name in groups["group"][:_MOST_GROUPS]]
    if not shown:
        return nothing("leads", about, look)
    more = len(groups) - len(shown)
    rest = f" {more} smaller groups not shown." if more else ""
    count = dict(zip(groups["group"], groups["leads"], strict=True))
    key = [
        Line2D([], [], color=_COLOURS[i], ls=_DASHES[i],
               label=f"{shortened(name, 16)} ({compact(count[name])})")
        for i, name in enumerate(shown)
    ]  # fmt: skip
    note = f"Bands: 95 %. In brackets: leads.{rest} Taxonomy {result.taxonomy_version}."
    ends = []
    with context(look) as theme:
        figure = canvas(theme, 4.2, result.answer, about, note, key[:4] if len(key) > 4 else key)
        axes = figure.subplots()
        for i, name in enumerate(shown):
            mine = result.table[result.table["group"] == name]
            x = mine["day"].to_numpy(float)
            y, low, high = (100 * mine[n].to_numpy(float, na_value=float("nan"))
                            for n in ("reached", "low", "high"))  # fmt: skip
            axes.fill_between(x, low, high, step="post", color=_COLOURS[i], alpha=0.12, lw=0)
            axes.step(x, y, where="post", color=_COLOURS[i], ls=_DASHES[i], lw=1.8)
            ends.append(f"{name} {y[-1]:.1f} % of {compact(count[name])} leads by day {x[-1]:.0f}")
        axes.set_xlabel(f"days from {str(result.parameters['entry']).replace('_', ' ')}")
        axes.set_ylabel("per cent reached")
        axes.set_ylim(0, None)
        axes.grid(axis="y")
        if len(key) > 4:
            axes.legend(handles=key[4:], loc="lower right")
        return Picture(settle(figure), f"{result.answer}. {'; '.join(ends)}.", look, result.table)


def ring_times(result: Result, *, look: Look = "light") -> Picture:
    """How long it rang, by who answered, one row of bars each."""
    named(result, "ring_times")
    about = "Seconds of ringing, by who answered"
    medians = result.tables["medians"]
    kinds = [r for r in medians.to_dict("records") if r["calls"]]
    if not kinds:
        return nothing("calls", about, look)
    note = f"Bars: share of the calls of the row. Taxonomy {result.taxonomy_version}."
    colours = {"person": BLUE, "machine": SKY, "unknown": ORANGE, "nobody": "#8C959F"}
    with context(look) as theme:
        figure = canvas(theme, 0.6 + 1.0 * len(kinds), result.answer, about, note)
        grid = figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0]
        for axes, kind in zip(grid, kinds, strict=True):
            mine = result.table[result.table["who"] == kind["who"]]
            left = mine["from_s"].to_numpy(float)
            width = [*(left[1:] - left[:-1]), 10.0]
            axes.bar(left, 100 * mine["share"].to_numpy(float), width, align="edge",
                     color=colours[str(kind["who"])], edgecolor=theme.background)  # fmt: skip
            said = (
                f"{kind['who']}: {compact(kind['calls'])} calls, median {kind['median_s']:.0f} s"
            )
            axes.text(0.99, 0.82, said, transform=axes.transAxes, ha="right", va="top", size=9)
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
        grid[-1].set_xlabel("seconds")
        alt = "; ".join(
            f"{k['who']} {compact(k['calls'])} calls, median {k['median_s']:.0f} s" for k in kinds
        )
        return Picture(settle(figure), f"{result.answer}. {alt}.", look, result.table)


def outcome_mix(result: Result, *, look: Look = "light") -> Picture:
    """The mix of outcomes over time, the most frequent five and the rest; unmapped is always shown."""
    named(result, "outcome_mix")
    about = f"Share of attempts by {result.parameters['period']} and outcome"
    pareto = result.tables["pareto"]
    if not len(result.table) or not int(pareto["calls"].sum()):
        return nothing("attempts", about, look)
    top = [str(n) for n in pareto["outcome"] if n != "unmapped"][:5]
    shown = [*top, "unmapped"]
    wide = result.table.pivot_table(
        index="start", columns="outcome", values="numerator", aggfunc="sum"
    )
    total = result.table.groupby("start")["denominator"].first()
    parts = pd.DataFrame({n: wide[n].astype(float) for n in shown if n in wide})
    parts["others"] = total.astype(float) - parts.sum(axis=1)
    shares = parts.div(total.astype(float), axis=0)
    colours = [*_COLOURS, "#8C959F"]
    hatches = ("", "//", "..", "xx", "\\\\", "||", "")
    said = "; ".join(f"{n} {share(float(parts[n].sum() / total.sum()))}" for n in parts.columns)
    note = f"{int(total.sum()):,} attempts. Taxonomy {result.taxonomy_version}."
    with context(look) as theme:
        figure = canvas(theme, 3.8, result.answer, about, note)
        axes = figure.subplots()
        bottom = [0.0] * len(shares)
        key = []
        for i, name in enumerate(shares.columns):
            heights = shares[name].to_numpy(float)
            axes.bar(range(len(shares)), heights, 0.92, bottom, color=colours[i], hatch=hatches[i],
                     edgecolor=theme.background, lw=0.4)  # fmt: skip
            bottom = [a + b for a, b in zip(bottom, heights, strict=True)]
            key.append(Patch(facecolor=colours[i], hatch=hatches[i], edgecolor=theme.background,
                             label=name.replace("_", " ")))  # fmt: skip
        step = max(1, len(shares) // 6)
        axes.set_xticks(
            range(0, len(shares), step), [str(s) for s in shares.index[::step]], size=8.5
        )
        axes.set_yticks([0, 0.5, 1], ["0", "50 %", "100 %"])
        axes.legend(handles=key, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8.5)
        return Picture(settle(figure), f"{result.answer}. {said}.", look, result.table)
