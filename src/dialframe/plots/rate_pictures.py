"""Pictures of rates by group: one picture per analysis, each with counts and intervals."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics import Result
from dialframe.analytics.result.result_tables import compact, plural
from dialframe.plots.forests import ODDS, Row, forest, named, of_table
from dialframe.plots.picture import Picture, draws
from dialframe.plots.style import Look

_DIMENSIONS: Final = {"hour": "Local hour", "weekday": "Weekday"}


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
