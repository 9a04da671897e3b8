"""Metrics by dimension and period: cells sum to the whole, are right one by one, and lead to their calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import pytest

from analytics.everything import beside
from analytics.test_metrics import audited
from claims.worlds import Switches, World, made
from dialframe.analytics import metrics
from dialframe.errors import ConfigError
from dialframe.frames import CALLS, LEADS, empty


@cache
def world() -> World:
    """An account with late outcomes, made for the first test that asks."""
    return made(3, Switches(leads=600, late=0.1))


#: Shares of numbers: one that is called in two weeks is in the cells of both.
DISTINCT = {"phone_penetration", "bad_number_ratio_numbers", "caller_ids_alerted"}


def test_cells_sum_to_the_whole() -> None:
    """Numerators and denominators of every metric that is a share."""
    for period, by in (("week", ["from_number"]), ("month", [])):
        cube = metrics.compute(
            world().calls, world().leads, by=["campaign_id", "lead_source", *by], period=period
        )
        for metric in cube.metrics:
            if metric.definition.unit == "share" and metric.name not in DISTINCT:
                cells = cube.cells[cube.cells["metric"] == metric.name]
                assert int(cells["denominator"].sum()) == metric.denominator
                assert cells["numerator"].sum() == pytest.approx(metric.numerator)


def test_a_cell_is_the_metric_of_its_calls() -> None:
    """Value and counts of a cell are those of the metric asked of that campaign and week alone."""
    cube = metrics.compute(world().calls, world().leads, by=["campaign_id"], period="week",
                           names=["human_contact_rate", "talk_time"])  # fmt: skip
    for row in cube.cells.iloc[[0, 5, -1]].to_dict("records"):
        campaign, start = row["campaign_id"], row["start"]
        mine = cube.calls(row["metric"], campaign_id=campaign, start=start)
        found = metrics.metric(row["metric"])(mine, world().leads)
        assert (found.value, found.denominator) == (
            pytest.approx(row["value"]), row["denominator"]
        )  # fmt: skip


def test_a_week_out_of_line_is_a_signal_and_others_are_not() -> None:
    """Limits are three errors from the series' own rate."""
    calls = world().calls.copy()
    week = calls["created_at"].between("2026-01-26", "2026-02-02")
    calls.loc[week, ["disposition", "hangup_cause"]] = ["NI", "NORMAL_CLEARING"]
    calls.loc[week, "answered_at"] = calls.loc[week, "created_at"]
    cells = metrics.compute(calls, world().leads, period="week", names="human_contact_rate").cells
    assert cells.loc[cells["start"] == "2026-01-26", "signal"].all()
    usual = metrics.compute(
        world().calls, world().leads, period="week", names="human_contact_rate"
    )
    assert int(usual.cells["signal"].sum()) <= 1


def test_every_metric_is_cut_as_it_is_asked_of_one_campaign() -> None:
    """A cell of campaigns is the metric of that campaign alone, for all that are no adjusted effect."""
    tables = beside(world().calls, world().leads)
    cube = metrics.compute(world().calls, world().leads, by=["campaign_id"], **tables)
    lacking = {name for name, why in cube.not_computed.items() if "answer of an audit" not in why}
    # No code of a drop is in this world, and no caller ID has dials enough to be judged.
    assert lacking <= {
        "abandon_rate_ftc", "abandon_rate_ofcom", "caller_id_answer_drop", "caller_ids_alerted",
    }  # fmt: skip
    campaign = "cmp_1"
    whole = metrics.compute(world().calls, world().leads, campaign=campaign, **tables)
    cells = cube.cells[cube.cells["campaign_id"] == campaign].set_index("metric")
    adjusted = {"local_presence_lift", "caller_id_answer_drop", "caller_ids_alerted"}
    for metric in whole.metrics:
        if metric.name in cells.index and metric.name not in adjusted:
            assert cells.loc[metric.name, "value"] == pytest.approx(metric.value), metric.name
            assert cells.loc[metric.name, "denominator"] == metric.denominator, metric.name


CHECKS = ("listed_number", "internal_dnc", "calling_hours", "attempt_caps")
#: What an account may lack: nothing, the tables beside calls and leads, the leads, all but their columns.
GIVEN: dict[str, Callable[[], dict[str, Any]]] = {
    "calls": lambda: {"calls": world().calls},
    "calls and leads": lambda: {"calls": world().calls, "leads": world().leads},
    "all tables": lambda: {"calls": world().calls, "leads": world().leads, **beside(world().calls, world().leads)},
    "an audit": lambda: {
        "calls": world().calls, "leads": world().leads,
        "audit": audited((5, 1, 1, 1, 2), **dict.fromkeys(CHECKS, (5, 3, 1, 1, 0))),
    },
    "no rows": lambda: {"calls": world().calls.iloc[:0], "leads": world().leads.iloc[:0]},
}  # fmt: skip


@pytest.mark.parametrize("kind", GIVEN)
def test_every_metric_is_in_the_cube_or_refused_in_words(kind: str) -> None:
    """None is missing without a word, and the word is a sentence that says what is not there."""
    cube = metrics.compute(**GIVEN[kind](), by=["campaign_id"], period="week")
    cells = set() if cube.cells is None else set(cube.cells["metric"])
    assert cells == {metric.name for metric in cube.metrics}
    assert not cells & cube.not_computed.keys()
    assert cells | cube.not_computed.keys() == {row.name for row in metrics.METRICS}
    for name, why in cube.not_computed.items():
        assert len(why.split()) >= 6, (name, why)
        assert "None" not in why


def test_a_lead_is_of_the_caller_id_of_its_first_attempt() -> None:
    """Where leads lack a dimension that calls have; a dimension that nobody has is refused."""
    cells = metrics.compute(
        world().calls, world().leads, by=["from_number"], names="contact_rate"
    ).cells
    first = world().calls.sort_values("created_at").drop_duplicates("to_number")
    counted = cells.set_index("from_number")["denominator"].drop("(none)", errors="ignore")
    assert counted.astype(int).to_dict() == first["from_number"].value_counts().to_dict()
    with pytest.raises(ConfigError, match="period 'year' is not known"):
        metrics.compute(world().calls, world().leads, period="year")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"by=\['campaign_id'\]"):
        metrics.compute(world().calls, world().leads, by="campaign_id")


def test_a_lead_dialed_before_it_arrived_is_in_no_cell_of_quick_first_dials() -> None:
    """As in the whole, which counts it apart."""
    leads = world().leads.copy()
    leads.loc[leads.index[::7], "created_at"] += pd.Timedelta(days=90)
    cube = metrics.compute(world().calls, leads, by=["campaign_id"], names="quick_first_dial")
    whole = cube["quick_first_dial"]
    assert whole.excluded["dialed_before_arrival"] > 0
    assert cube.cells["denominator"].sum() == whole.denominator


def test_nothing_by_period_is_no_cell() -> None:
    """An account without calls and leads has no weeks."""
    nothing = [empty(table) for table in (CALLS, LEADS)]

    assert metrics.compute(*nothing, period="week").table.empty
