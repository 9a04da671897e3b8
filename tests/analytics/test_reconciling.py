"""The service's report against the calls: what each reason may be said of."""

from __future__ import annotations

from typing import Any

import pytest

from analytics.made import START, call, calls
from dialframe import analytics, frames

DAY = f"{START:%Y-%m-%d}"
HERE = calls(
    *(call(n, n / 60, answered=True, disposition="NI") for n in range(1, 9)),
    *(call(n, n / 60, answered=True, disposition="SALE") for n in range(11, 15)),
    *(call(n, n / 60, answered=True, disposition="ZZTOP") for n in range(21, 24)),
)


def _found(**counts: int) -> Any:
    rows = [
        {"date": DAY, "campaign_id": "cmp_spring", "disposition": code, "calls": n}
        for code, n in counts.items()
    ]
    report = (
        frames.from_records(frames.DISPOSITIONS, rows)
        if rows
        else frames.empty(frames.DISPOSITIONS)
    )
    return analytics.reconcile(HERE, report=report)


@pytest.mark.parametrize(
    ("report", "reasons"),
    [
        ({"NI": 8, "SALE": 4, "ZZTOP": 3}, {}),
        ({"NI": 7, "SALE": 5, "ZZTOP": 3}, {"late_edit": 2}),
        ({"NI": 8, "SALE": 4}, {"unmapped": 3}),
        ({"NI": 8, "SALE": 4, "other": 3}, {"unmapped": 6}),
        ({"NI": 7, "SALE": 5, "other": 3}, {"unmapped": 6, "late_edit": 2}),
        ({"NI": 7, "SALE": 4, "ZZTOP": 4}, {"late_edit": 2}),
        ({"NI": 9, "SALE": 4, "ZZTOP": 3}, {"gap": 1}),
        ({"NI": 6, "SALE": 4, "ZZTOP": 3}, {"surplus": 2}),
        ({"NI": 8, "SALE": 4, "ZZTOP": 3, "other": 5}, {"gap": 5}),
    ],
    ids=["same", "edit", "left out", "renamed", "renamed and edit", "edit of it", "gap", "surplus",
         "calls that are not here"],
)  # fmt: skip
def test_each_difference_has_its_reason(report: dict[str, int], reasons: dict[str, int]) -> None:
    """A code that only one of the two writes is unmapped; one that both write was edited."""
    found = _found(**report)
    said = {row["reason"]: row["calls"] for row in found.table.to_dict("records") if row["calls"]}
    assert said == reasons
    assert sum(reasons.values()) == found.parameters["difference"]
    assert set(found.tables["each"]["reason"]) == set(reasons)


def test_an_empty_report_agrees_with_nothing() -> None:
    """A report that was never read, or refused, is no sign that all is well."""
    found = _found()
    assert "agree" not in found.answer
    assert "nothing to hold the calls here against" in found.answer


def test_a_report_by_indian_days_is_a_time_zone_and_no_difference() -> None:
    """Days may begin on the half hour."""
    frame = calls(*(call(n, n / 4, answered=True, disposition="NI") for n in range(80)))
    local = frame["created_at"].dt.tz_convert("Asia/Kolkata").dt.strftime("%Y-%m-%d")
    rows = [{"date": day, "campaign_id": "cmp_spring", "disposition": "NI", "calls": int(n)}
            for day, n in local.value_counts().items()]  # fmt: skip
    report = frames.from_records(frames.DISPOSITIONS, rows)
    found = analytics.reconcile(frame, report=report)
    assert found.parameters["day_begins_utc_h"] == 18.5
    assert set(found.table.loc[found.table["calls"] > 0, "reason"]) == {"time_zone_edge"}
