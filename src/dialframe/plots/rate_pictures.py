"""Pictures of rates, each with counts and intervals: by group, by attempt, by days and by seconds of ringing."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from dialframe.analytics import Result
from dialframe.analytics.result.result_tables import compact, plural, share
from dialframe.plots.forests import ODDS, Row, forest, named, of_table
from dialframe.plots.picture import Picture, draws, label, nothing
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

_DIMENSIONS: Final = {"hour": "Local hour", "weekday": "Weekday"}

_COLORS: Final = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
_DASHES: Final = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
_MOST_GROUPS: Final = 6
#: Groups whose bands can be told apart.
_BANDS: Final = 2
#: Leads below which an interval may run off the picture.
_FEW: Final = 30
_MOST_TICKS: Final = 8


@draws
def best_time(result: Result, *, look: Look = "light") -> Picture:
    """Rate ratio of a person by hour and weekday, everything else held still."""
    named(result, "best_time")
    rows = []
    for row in result.table.to_dict("records"):
        odds, low, high = (_f(row[n]) for n in ("rate_ratio", "ratio_low", "ratio_high"))
        words = f"{compact(row['denominator'])} calls, {_percent(row['adjusted'])} adjusted"
        rows.append(Row(str(row["level"]), odds, low, high, words,
                        group=_DIMENSIONS.get(str(row["dimension"]), str(row["dimension"]))))  # fmt: skip
    return forest(
        result, rows, look, what="calls", unit=ODDS,
        subtitle="How much more often a person answers than over all times (1.00), with campaign, week, "
        "source, attempt and the other clock held still",
        footer="Times with too few calls stand in the table only.",
    )  # fmt: skip


@draws
def caller_ages(result: Result, *, look: Look = "light") -> Picture:
    """How often a person answers by days since a caller ID's first use."""
    named(result, "caller_ages")
    rows = of_table(result, "age_days", mark="expected")
    return forest(result, rows, look, what="calls from caller IDs of a known age",
                  subtitle="Calls that a person answered, by days since the number's first use",
                  footer="Upright mark: what the mix of the calls gives reason for.")  # fmt: skip


@draws
def caller_ids(result: Result, *, look: Look = "light") -> Picture:
    """The rate of each caller ID against what the mix of its calls gives reason for."""
    named(result, "caller_ids")
    rows = [
        Row(str(row["from_number"]), _f(row["rate"]), _f(row["low"]), _f(row["high"]),
            f"{compact(row['denominator'])} calls" + (
                f", since {row['changed_at']:%d %b}: {100 * row['rate_after']:.1f} %"
                if row["alert"] else ""),
            None if pd.isna(row["expected"]) else float(row["expected"]), bool(row["alert"]),
            not row["judged"])
        for row in result.table.to_dict("records")
    ]  # fmt: skip
    return forest(result, rows, look, what="calls", by_value=True,
                  subtitle="Calls that a person answered, by caller ID; diamonds lost their answers",
                  footer="Upright mark: what the mix of the calls gives reason for. Gray: too few "
                  "calls to be judged.")  # fmt: skip


@draws
def carriers(result: Result, *, look: Look = "light") -> Picture:
    """The share of short calls of each group against carriers' limits."""
    named(result, "carriers")
    limits = [float(str(result.parameters[n])) for n in ("limit_warning", "limit_over")]
    rows = of_table(result, str(result.table.columns[0]), value="short_share", low="short_low",
                    high="short_high", count="answered", noun="answers")  # fmt: skip
    flags = [str(flag) for flag in result.table["short_flag"]]
    rows = [
        Row(
            r.label,
            r.value,
            r.low,
            r.high,
            f"{r.note}, {f}",
            limits[0],
            f == "over",
            f == "too few",
        )
        for r, f in zip(rows, flags, strict=True)
    ]
    return forest(result, rows, look, what="answered calls", by_value=True,
                  subtitle=f"Answered calls of {result.parameters['short_s']:g} s or less",
                  footer=f"Upright mark: where carriers warn ({100 * limits[0]:.0f} %); they charge "
                  f"from {100 * limits[1]:.0f} %.")  # fmt: skip


@draws
def changes(result: Result, *, look: Look = "light") -> Picture:
    """The rate of each group in the last days against its own before."""
    named(result, "changes")
    rows = of_table(result, str(result.table.columns[0]), mark="rate_before", loud="alert")
    return forest(result, rows, look, what="calls", by_value=True,
                  subtitle=f"{str(result.parameters['metric']).replace('_', ' ').capitalize()} in the last "
                  f"{result.parameters['recent_days']:g} days", footer="Upright mark: the time before.")  # fmt: skip


@draws
def compare(result: Result, *, look: Look = "light") -> Picture:
    """Two campaigns and the difference between them."""
    named(result, "compare")
    row = result.table.iloc[0]
    rows = [
        Row("difference", _f(row["difference"]), _f(row["low"]), _f(row["high"]),
            "crude"),
        Row("with the mix held still", _f(row["adjusted"]), _f(row["adjusted_low"]),
            _f(row["adjusted_high"]), "", loud=row["verdict"] in ("a is better", "b is better")),
        Row("least seen 4 times in 5", _f(row["minimum_detectable"]), np.nan, np.nan, "",
            faint=True),
    ]  # fmt: skip
    sides = {side: f"{row[side]} ({compact(row[f'numerator_{side}'])} of "
             f"{compact(row[f'denominator_{side}'])})" for side in ("a", "b")}  # fmt: skip
    return forest(result, rows, look, what="calls of both campaigns", zero=True, unit="points",
                  subtitle=f"Share of {sides['b']} less share of {sides['a']}, attempts clustered by lead",
                  footer=result.warnings[0] if result.warnings else "")  # fmt: skip


@draws
def local_presence(result: Result, *, look: Look = "light") -> Picture:
    """The lift of a local caller ID by way of comparing."""
    named(result, "local_presence")
    rows = [
        Row(str(row["compared"]), _f(row["lift"]), _f(row["low"]), _f(row["high"]),
            f"{compact(row['matched_dials'])} / {compact(row['other_dials'])} calls")
        for row in result.table.to_dict("records")
    ]  # fmt: skip
    return forest(result, rows, look, what="calls", zero=True, unit="points",
                  subtitle="Rate of a person with a local caller ID less the rate with another, in points",
                  footer="Calls: local and other.")  # fmt: skip


@draws
def machines(result: Result, *, look: Look = "light") -> Picture:
    """Machines among the answers of each group; diamonds hide more of them."""
    named(result, "machines")
    rows = [
        Row(r.label, r.value, r.low, r.high, f"{r.note}, {compact(u)} unknown", None, r.loud)
        for r, u in zip(of_table(result, str(result.table.columns[0]), noun="answers", loud="hidden"),
                        result.table["unknown"], strict=True)
    ]  # fmt: skip
    return forest(result, rows, look, what="answered calls", by_value=True,
                  subtitle="Answers that were machines; diamonds: most unknown answers sound like machines")  # fmt: skip


@draws
def missing_dispositions(result: Result, *, look: Look = "light") -> Picture:
    """Conversations without a disposition, by campaign."""
    named(result, "missing_dispositions")
    return forest(result, of_table(result, "campaign_id"), look, what="conversations", by_value=True,
                  subtitle=result.definition)  # fmt: skip


@draws
def penetration(result: Result, *, look: Look = "light") -> Picture:
    """Every variant of penetration of each list; saturation stands in the table."""
    named(result, "penetration")
    rows = [
        Row(str(row["variant"]).replace("_", " "), _f(row["value"]), _f(row["low"]),
            _f(row["high"]), f"of {compact(row['denominator'])}",
            group=str(row["group"]) if result.parameters["by"] else "")
        for row in result.table.to_dict("records") if row["variant"] != "list_saturation"
    ]  # fmt: skip
    return forest(result, rows, look, what="leads", subtitle=result.definition,
                  footer="The variants divide different things: see the table.")  # fmt: skip


@draws
def return_calls(result: Result, *, look: Look = "light") -> Picture:
    """Dials that were called back, by caller ID."""
    named(result, "return_calls")
    rows = [Row(r.label, r.value, r.low, r.high, r.note)
            for r in of_table(result, "from_number", noun="dials")]  # fmt: skip
    return forest(
        result,
        rows,
        look,
        what="dials",
        by_value=True,
        subtitle="Dials without a person that were called back",
    )


@draws
def scorecard(result: Result, *, look: Look = "light") -> Picture:
    """Attempted leads that were reached, by source."""
    named(result, "scorecard")
    rows = [
        Row(str(row[result.table.columns[0]]), _f(row["reach_rate"]), _f(row["low"]), _f(row["high"]),
            f"{compact(row['attempted'])} leads, {_f(row['appointments_per_1000']):.0f} appt per 1,000",
            None, row["verdict"] == "worse")
        for row in result.table.sort_values("reach_rate", ascending=False).to_dict("records")
    ]  # fmt: skip
    return forest(result, rows, look, what="leads",
                  subtitle="Attempted leads that were reached; diamonds: worse than all other sources",
                  footer=f"{plural(int(result.table['leads'].sum()), 'lead')} loaded.")  # fmt: skip


@draws
def speed_to_lead(result: Result, *, look: Look = "light") -> Picture:
    """Leads with a positive outcome by how long they waited for the first dial."""
    named(result, "speed_to_lead")
    rows = of_table(result, "delay", noun="leads")
    return forest(result, rows, look, what="leads",
                  subtitle=f"Leads that were {result.parameters['goal']}, by time from arrival to first attempt",
                  footer="Raw rates: who is dialed late differs from who is dialed at once; the title "
                  "compares inside campaign, week and source.")  # fmt: skip


def _f(value: object) -> float:
    return float("nan") if pd.isna(value) else float(str(value))


def _percent(value: object) -> str:
    return "not" if pd.isna(value) else f"{100 * float(str(value)):.1f} %"


@draws
def attempts(result: Result, *, look: Look = "light") -> Picture:
    """What each further attempt is worth: first contacts of leads not reached before."""
    named(result, "attempts")
    about = "First contacts of leads not reached before, by attempt"
    table = result.table[result.table["rate"].notna()]
    if not len(table):
        return nothing("attempts", about, look, result.table)
    rate, low, high = (100 * table[n].to_numpy(float) for n in ("rate", "low", "high"))
    note = (
        f"Lines: Wilson 95 % intervals; one with an arrow goes on. Rings: with the sources as at the first attempt. "
        f"Taxonomy {result.taxonomy_version}."
    )
    with context(look) as theme:
        figure = canvas(theme, 3.6, result.answer, about, note)
        axes = figure.subplots()
        x = range(len(table))
        axes.vlines(x, low, high, color=theme.blue, lw=2.4)
        axes.plot(x, rate, "o", color=theme.blue, ms=7)
        axes.plot(x, 100 * table["adjusted"].to_numpy(float, na_value=float("nan")), "o", mfc="none",
                  mec=theme.alert, ms=12)  # fmt: skip
        many = table["denominator"].to_numpy(float) >= _FEW
        most = 1.2 * max((high if not many.any() else high[many]).max(), rate.max(), 1.0)
        for cut in np.flatnonzero(high > most):
            axes.plot([cut], [0.985 * most], "^", color=theme.blue, ms=6)
        for i, top in enumerate(high):
            axes.annotate(f"{rate[i]:.1f} %", (i, min(top, 0.93 * most)), (0, 8),
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


@draws
def time_to_contact(result: Result, *, look: Look = "light") -> Picture:
    """The share of leads reached by days, one line per group; a band where there are one or two."""
    named(result, "time_to_contact")
    about = "Share of leads reached by days; dead numbers and opt-outs end the wait too"
    groups = result.tables["groups"].sort_values("leads", ascending=False, kind="stable")
    shown = [str(name) for name in groups["group"][:_MOST_GROUPS]]
    if not shown:
        return nothing("leads", about, look, result.table)
    more = len(groups) - len(shown)
    rest = f" {more} smaller groups not shown." if more else ""
    count = dict(zip(groups["group"], groups["leads"], strict=True))
    key = [
        Line2D([], [], color=_COLORS[i], ls=_DASHES[i],
               label=f"{label(name, 22)} ({compact(count[name])})")
        for i, name in enumerate(shown)
    ]  # fmt: skip
    note = f"{'Bands' if len(shown) <= _BANDS else 'Bars at the end'}: 95 %. In brackets: leads.{rest} Taxonomy {result.taxonomy_version}."
    ends = []
    with context(look) as theme:
        figure = canvas(theme, 4.2, result.answer, about, note, key)
        axes = figure.subplots()
        for i, name in enumerate(shown):
            mine = result.table[result.table["group"] == name]
            x = mine["day"].to_numpy(float)
            y, low, high = (100 * mine[n].to_numpy(float, na_value=float("nan"))
                            for n in ("reached", "low", "high"))  # fmt: skip
            if len(shown) <= _BANDS:
                axes.fill_between(x, low, high, step="post", color=_COLORS[i], alpha=0.12, lw=0)
            else:
                axes.plot([x[-1]] * 2, [low[-1], high[-1]], color=_COLORS[i], lw=2.4, alpha=0.6,
                          clip_on=False)  # fmt: skip
            axes.step(x, y, where="post", color=_COLORS[i], ls=_DASHES[i], lw=1.8, clip_on=False)
            axes.plot(x[-1:], y[-1:], "o", color=_COLORS[i], ms=4, clip_on=False)
            ends.append(f"{name} {y[-1]:.1f} % of {compact(count[name])} leads by day {x[-1]:.0f}")
        axes.set_xlabel(f"days from {str(result.parameters['entry']).replace('_', ' ')}")
        axes.set_ylabel("per cent reached")
        axes.set_ylim(0, min(100.0, max(axes.get_ylim()[1], 1.0)))
        axes.set_xlim(0, max(axes.get_xlim()[1], 1.0))
        axes.grid(axis="y")
        return Picture(settle(figure), f"{result.answer}. {'; '.join(ends)}.", look, result.table)


@draws
def ring_times(result: Result, *, look: Look = "light") -> Picture:
    """How long it rang, by who answered, one row of bars each."""
    named(result, "ring_times")
    about = "Seconds of ringing, by who answered"
    medians = result.tables["medians"]
    kinds = [r for r in medians.to_dict("records") if r["calls"]]
    if not kinds:
        return nothing("calls", about, look, result.table)
    note = f"The area of a bar is its share of the calls of its row. Taxonomy {result.taxonomy_version}."
    colors = {"person": BLUE, "machine": SKY, "unknown": ORANGE, "nobody": "#8C959F"}
    with context(look) as theme:
        figure = canvas(theme, 0.6 + 1.15 * len(kinds), result.answer, about, note)
        grid = figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0]
        for axes, kind in zip(grid, kinds, strict=True):
            mine = result.table[result.table["who"] == kind["who"]]
            left = mine["from_s"].to_numpy(float)
            width = np.append(left[1:] - left[:-1], 10.0)
            axes.bar(left, mine["share"].to_numpy(float) / width, width, align="edge",
                     color=colors[str(kind["who"])], edgecolor=theme.background)  # fmt: skip
            heading = (
                f"{kind['who']}: {compact(kind['calls'])} calls, median {kind['median_s']:.0f} s"
            )
            axes.axvline(float(kind["median_s"]), color=theme.text, lw=1.2, ls=":")
            axes.set_title(heading, loc="right", size=9, pad=1)
            axes.set_yticks([])
            axes.spines["left"].set_visible(False)
        rung = result.table.loc[result.table["calls"] > 0, "from_s"].max()
        edges = sorted({0.0, *result.table["from_s"].astype(float)})
        grid[-1].set_xlim(0, next((e for e in edges if e > rung), edges[-1] + 10))
        grid[-1].set_xlabel("seconds; dotted: median")
        alt = "; ".join(
            f"{k['who']} {compact(k['calls'])} calls, median {k['median_s']:.0f} s" for k in kinds
        )
        return Picture(settle(figure), f"{result.answer}. {alt}.", look, result.table)


@draws
def outcome_mix(result: Result, *, look: Look = "light") -> Picture:
    """The mix of outcomes over time, the most frequent five and the rest; unmapped is always shown."""
    named(result, "outcome_mix")
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
    colors = [*_COLORS, "#8C959F"]
    hatches = ("", "//", "..", "xx", "\\\\", "||", "")
    details = "; ".join(f"{n} {share(float(parts[n].sum() / total.sum()))}" for n in parts.columns)
    note = (
        f"Bars from the bottom in the order of the legend; shares there are of all "
        f"{int(total.sum()):,} attempts. Taxonomy {result.taxonomy_version}."
    )
    with context(look) as theme:
        key = [
            Patch(facecolor=colors[i], hatch=hatches[i], edgecolor=theme.background,
                  label=f"{name.replace('_', ' ')} {share(float(parts[name].sum() / total.sum()))}")
            for i, name in enumerate(shares.columns)
        ]  # fmt: skip
        figure = canvas(theme, 3.8, result.answer, f"{about}; below: attempts", note, key)
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
