"""Every planted fault that belongs to the analyses is found, and no other is."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analytics.synthetic import AS_OF, Synthetic, account
from compliance.test_ground_truth import AFTER_DNC, HOURS, LISTED_LATER
from dialframe import analytics

NOW = dt.datetime(AS_OF.year, AS_OF.month, AS_OF.day, tzinfo=dt.UTC)


def _requests(made: Synthetic) -> tuple[set[str], set[str]]:
    """Every request, honored or not, is seen, and nobody else's number."""
    found = analytics.classify(made.calls).table["dnc_request"].to_numpy(bool)
    mine = set(
        made.calls["to_number"][found & (made.calls["direction"] == "outbound").to_numpy(bool)]
    )
    missed = made.planted("dnc_request_not_listed")
    phones = set(made.leads["phone"][made.leads["id"].isin(missed)])
    return mine, made.planted("dnc_request") | phones


def _flagged(made: Synthetic) -> tuple[Any, Any]:
    """The number that people stopped answering, near the day on which it was flagged."""
    table = analytics.caller_ids(made.calls, made.leads).table
    alerted = table[table["alert"].to_numpy(bool)]
    detail = made.truth.set_index("fault").loc["flagged_caller_id", "detail"]
    flagged = pd.Timestamp(detail.split("spam from ")[1].split("Z")[0] + "Z")
    near = (alerted["changed_at"] - flagged).abs() < pd.Timedelta(days=7)
    found = dict(zip(alerted["from_number"], near, strict=True))
    return found, dict.fromkeys(made.planted("flagged_caller_id"), True)


def _unmapped(made: Synthetic) -> tuple[Any, Any]:
    """The code that no taxonomy knows, with a file that gives it a meaning."""
    odd = analytics.classify(made.calls).table["unmapped"].to_numpy(bool)
    codes = analytics.completeness(made.calls).tables["unmapped"]
    mine = analytics.DEFAULT.with_toml(codes.attrs["stub"].replace('"?"', '"callback"'))
    left = len(analytics.completeness(made.calls, taxonomy=mine).tables["unmapped"])
    planted = made.planted("unmapped_code")
    said = (set(made.calls["id"][odd]), codes["code"].tolist(), codes["calls"].sum(), left)
    return said, (planted, ["ZZTOP"], len(planted), 0)


def _hidden(made: Synthetic) -> tuple[set[str], set[str]]:
    table = analytics.machines(made.calls).table
    return set(table["campaign_id"][table["hidden"].to_numpy(bool)]), made.planted(
        "voicemail_as_completed"
    )


def _missing(made: Synthetic) -> tuple[Any, Any]:
    found = analytics.completeness(made.calls).table.set_index("check")
    return int(found.loc["conversations_without_disposition", "count"]), len(
        made.planted("missing_disposition")
    )


def _shared(made: Synthetic) -> tuple[Any, Any]:
    found = analytics.duplicates(made.calls, made.leads).table
    said = dict(zip(found["phone"], found["campaigns"], strict=True))
    return said, dict.fromkeys(made.planted("phone_in_three_campaigns"), 3)


#: What finds each fault of the answer sheet: what it says, and what was planted.
FINDERS: dict[str, Callable[[Synthetic], tuple[Any, Any]]] = {
    "dnc_request": _requests, "flagged_caller_id": _flagged,     "unmapped_code": _unmapped, "voicemail_as_completed": _hidden,
    "missing_disposition": _missing,
    "phone_in_three_campaigns": _shared,
}  # fmt: skip


#: Faults against the law: the audit finds each, and no other, in tests/compliance.
AUDITED = {
    *HOURS,
    AFTER_DNC,
    LISTED_LATER,
    "listed_after_import",
    "too_often",
    "dnc_request_not_listed",
}
#: Faults that one reading of the calls does not show.
UNSEEN = {"late_disposition", "duration_is_total"}


@pytest.mark.parametrize("seed", [7, 1, 2])
@pytest.mark.parametrize("fault", FINDERS)
def test_a_fault_is_found_and_no_other(fault: str, seed: int) -> None:
    """In three accounts: what its analysis says is what was planted, not one more and not one less."""
    said, planted = FINDERS[fault](account(seed=seed))
    assert said == planted
    assert planted


def test_every_fault_of_the_answer_sheet_has_its_finder() -> None:
    """A fault that is planted and that nobody looks for would be missed for ever."""
    assert set(FINDERS) | AUDITED | UNSEEN == set(account().truth["fault"])


def test_no_fault_where_none_is_planted() -> None:
    """Neither conflicts nor impossible rows are in the account, and its own report agrees."""
    assert not len(analytics.completeness(account().calls).tables["conflicts"])
    checks = analytics.completeness(
        account().calls, account().leads, events=account().events
    ).table
    planted = {
        "conversations_without_disposition",
        "unmapped_codes",
        "called_leads_without_attempts",
    }
    assert set(checks["check"][~checks["ok"].to_numpy(bool)]) <= planted
    report = _report(account().calls)
    assert analytics.reconcile(account().calls, report=report).parameters["difference"] == 0
    assert not analytics.changes(account().calls, account().leads).table["alert"].any()


def test_what_a_report_differs_by_is_explained() -> None:
    """Days of another zone, inbound calls, edits and a hole in the pull are each told apart."""
    shifted = _report(account().calls, hours=-5, inbound=True)
    here = account().calls.copy()
    edited = here.index[(here["disposition"] == "NI").to_numpy()][:7]
    here.loc[edited, "disposition"] = "SALE"
    here = here.drop(index=here.index[(here["disposition"] == "NA").to_numpy()][100:110])
    found = analytics.reconcile(here, report=shifted)
    why = dict(zip(found.table["reason"], found.table["calls"], strict=True))
    assert why["gap"] == 10
    assert why["late_edit"] == 14
    assert why["surplus"] == 0
    assert why["direction"] > 0
    assert sum(why.values()) == found.parameters["difference"]
    assert found.parameters["day_begins_utc_h"] == 5


def _report(calls: pd.DataFrame, *, hours: int = 0, inbound: bool = False) -> pd.DataFrame:
    mine = calls if inbound else calls[calls["direction"] == "outbound"]
    day = (mine["created_at"] + pd.Timedelta(hours=hours)).dt.strftime("%Y-%m-%d")
    keys = ["date", "campaign_id", "disposition"]
    return mine.assign(date=day).groupby(keys, dropna=False).size().reset_index(name="calls")


def test_the_best_hour_is_told_only_where_the_data_can() -> None:
    """The account of ten thousand calls cannot tell hours apart, and says so."""
    found = analytics.hours(account().calls, account().leads)
    assert "no difference" in found.answer
    rng = np.random.default_rng(1)
    made = account().calls.copy()
    local = made["created_at"].dt.tz_convert("America/Chicago").dt.hour
    evening = (local >= 17).to_numpy() & (rng.random(len(made)) < 0.5)
    made.loc[evening, ["disposition", "hangup_cause"]] = ["NI", "NORMAL_CLEARING"]
    made.loc[evening, "answered_at"] = made.loc[evening, "created_at"]
    strong = analytics.hours(made, account().leads).tables["tests"].set_index("dimension")
    assert bool(strong.loc["hour", "differs"])
