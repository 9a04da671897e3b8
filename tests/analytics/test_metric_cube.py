"""Metrics by dimension and period: cells sum to the whole, are right one by one, and lead to their calls."""

from __future__ import annotations

import pytest

from claims.worlds import Switches, made
from dialframe.analytics import metrics
from dialframe.errors import ConfigError

WORLD = made(3, Switches(leads=600, late=0.1))
CUBE = metrics.compute(
    WORLD.calls, WORLD.leads, by=["campaign_id", "lead_source", "from_number"], period="week"
)
LEADS_TOO = metrics.compute(
    WORLD.calls, WORLD.leads, by=["campaign_id", "lead_source"], period="month"
)


def test_cells_sum_to_the_whole() -> None:
    """Numerators and denominators of every metric that is a share."""
    for cube in (CUBE, LEADS_TOO):
        assert cube.cells is not None
        for metric in cube.metrics:
            if metric.definition.unit == "share":
                cells = cube.cells[cube.cells["metric"] == metric.name]
                assert int(cells["denominator"].sum()) == metric.denominator
                assert cells["numerator"].sum() == pytest.approx(metric.numerator)


def test_a_cell_is_the_metric_of_its_calls() -> None:
    """Value and counts of a cell are those of the metric asked of that campaign and week alone."""
    cube = metrics.compute(WORLD.calls, WORLD.leads, by=["campaign_id"], period="week",
                           names=["human_contact_rate", "talk_time"])  # fmt: skip
    assert cube.cells is not None
    for row in cube.cells.iloc[[0, 5, -1]].to_dict("records"):
        campaign, start = row["campaign_id"], row["start"]
        mine = cube.calls(row["metric"], campaign_id=campaign, start=start)
        found = metrics.metric(row["metric"])(mine, WORLD.leads)
        assert (found.value, found.denominator) == (
            pytest.approx(row["value"]), row["denominator"]
        )  # fmt: skip


def test_a_week_out_of_line_is_a_signal_and_others_are_not() -> None:
    """Limits are three errors from the series' own rate."""
    calls = WORLD.calls.copy()
    week = calls["created_at"].between("2026-01-26", "2026-02-02")
    calls.loc[week, ["disposition", "hangup_cause"]] = ["NI", "NORMAL_CLEARING"]
    calls.loc[week, "answered_at"] = calls.loc[week, "created_at"]
    cells = metrics.compute(calls, WORLD.leads, period="week", names="human_contact_rate").cells
    assert cells is not None
    assert cells.loc[cells["start"] == "2026-01-26", "signal"].all()
    usual = metrics.compute(WORLD.calls, WORLD.leads, period="week", names="human_contact_rate")
    assert usual.cells is not None
    assert int(usual.cells["signal"].sum()) <= 1


def test_what_is_no_sum_says_so() -> None:
    """A lift or a worst number is not cut, and a lead has no caller ID."""
    assert "no sum" in CUBE.not_computed["local_presence_lift"]
    assert "leads do not have" in CUBE.not_computed["contact_rate"]
    assert "contact_rate" not in LEADS_TOO.not_computed
    with pytest.raises(ConfigError, match="period 'year' is not known"):
        metrics.compute(WORLD.calls, WORLD.leads, period="year")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"by=\['campaign_id'\]"):
        metrics.compute(WORLD.calls, WORLD.leads, by="campaign_id")
