"""Every planted fault that belongs to the analyses is found, and no other is."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analytics.synthetic import AS_OF, account
from dialframe import analytics, frames
from dialframe.analytics import OUTCOMES, metrics

NOW = dt.datetime(AS_OF.year, AS_OF.month, AS_OF.day, tzinfo=dt.UTC)
MADE = account()
CALLS, LEADS = MADE.calls, MADE.leads


def _checks() -> pd.DataFrame:
    """One check of every lead's number, at the end."""
    listed = set(MADE.dnc["phone"])
    return frames.from_columns(frames.DNC_CHECKS, {
        "phone": list(LEADS["phone"]), "listed": [p in listed for p in LEADS["phone"]],
        "checked_at": [NOW] * len(LEADS), "request_id": ["req_1"] * len(LEADS),
    })  # fmt: skip


@pytest.mark.parametrize("seed", [7, 1, 2])
def test_the_flagged_caller_id_and_no_other(seed: int) -> None:
    """The number that people stopped answering is found, near the day on which it was flagged."""
    made = account(seed=seed)
    found = analytics.caller_ids(made.calls, made.leads).table
    alerted = found[found["alert"].to_numpy(bool)]
    assert set(alerted["from_number"]) == made.planted("flagged_caller_id")
    detail = made.truth.set_index("fault").loc["flagged_caller_id", "detail"]
    flagged = pd.Timestamp(detail.split("spam from ")[1].split("Z")[0] + "Z")
    assert abs(alerted["changed_at"].iloc[0] - flagged) < pd.Timedelta(days=7)


def test_the_campaign_that_hides_its_machines_and_no_other() -> None:
    """Unknown answers that ring and talk like machines are said to be machines."""
    found = analytics.machines(CALLS).table
    hidden = found["campaign_id"][found["hidden"].to_numpy(bool)]
    assert set(hidden) == MADE.planted("voicemail_as_completed")


def test_the_campaign_whose_duration_is_another_and_no_other() -> None:
    """Its duration is the whole call, everywhere else it is the talk."""
    found = analytics.durations(CALLS).table
    whole = found["campaign_id"][(found["means"] == "whole").to_numpy(bool)]
    assert set(whole) == MADE.planted("duration_is_total")
    assert set(found["means"]) == {"talk", "whole"}


def test_missing_dispositions_and_no_others() -> None:
    """Exactly the conversations whose outcome was never logged."""
    found = analytics.missing_dispositions(CALLS)
    assert set(found.tables["each"]["id"]) == MADE.planted("missing_disposition")


def test_late_dispositions_and_no_others() -> None:
    """Compared with a reading from before they were changed, exactly the late ones differ."""
    late = MADE.truth[MADE.truth["fault"] == "late_disposition"].set_index("id")["detail"]
    before = CALLS.copy()
    first = [str(d).split()[2].rstrip(",") for d in late]
    before = before.set_index("id")
    before.loc[late.index, "disposition"] = first
    found = analytics.late_dispositions(CALLS, earlier=before.reset_index())
    assert set(found.tables["each"]["id"]) == MADE.planted("late_disposition")


def test_unmapped_codes_and_no_others() -> None:
    """The code that no taxonomy knows, with a file that gives it a meaning."""
    found = analytics.unmapped(CALLS)
    assert found["code"].tolist() == ["ZZTOP"]
    assert found["calls"].sum() == len(MADE.planted("unmapped_code"))
    mine = analytics.DEFAULT.with_toml(found.attrs["stub"].replace('"?"', '"callback"'))
    assert len(analytics.unmapped(CALLS, mine)) == 0


def test_the_number_in_three_campaigns_and_no_other() -> None:
    """One number, three campaigns."""
    found = analytics.duplicates(LEADS, CALLS).table
    assert set(found["phone"]) == MADE.planted("phone_in_three_campaigns")
    assert found["campaigns"].tolist() == [3]


def test_calls_after_a_request_and_no_others() -> None:
    """The calls after a Do-Not-Call disposition are proven; no other call is."""
    found = metrics.dnc_risk_calls(CALLS, LEADS, dnc_checks=_checks(), as_of=NOW)
    assert found.numerator == len(MADE.planted("call_after_dnc_disposition"))


def test_calls_outside_the_hours_and_no_others() -> None:
    """Late and early calls by the clock of the person called; uncertain ones stand apart."""
    found = metrics.calling_hours_breach(CALLS, LEADS)
    truth = MADE.truth[(MADE.truth["expected"] == "violation")]
    planted = truth["fault"].isin(["out_of_hours_dst_week", "before_hours"]).sum()
    assert found.numerator == planted
    assert found.excluded["outside_in_some_zones"] == len(MADE.planted("mixed_zone_hours"))


def test_numbers_dialled_too_often_and_no_others() -> None:
    """Four calls in twenty-four hours, over midnight too."""
    found = metrics.frequency_breach(CALLS, LEADS)
    phones = MADE.truth[(MADE.truth["fault"] == "too_often") & (MADE.truth["resource"] == "phone")]
    assert found.numerator == len(phones)


def test_no_fault_where_none_is_planted() -> None:
    """Neither conflicts nor impossible rows are in the account, and its own report agrees."""
    assert not len(analytics.conflicts(CALLS).table)
    checks = analytics.completeness(CALLS, LEADS, events=MADE.events).table
    assert checks["ok"].all()
    report = _report(CALLS)
    assert analytics.reconcile(report, CALLS).parameters["difference"] == 0
    assert not analytics.changes(CALLS, LEADS).table["alert"].any()


def test_what_a_report_differs_by_is_explained() -> None:
    """Days of another zone, inbound calls, edits and a hole in the pull are each told apart."""
    shifted = _report(CALLS, hours=-5, inbound=True)
    here = CALLS.copy()
    edited = here.index[(here["disposition"] == "NI").to_numpy()][:7]
    here.loc[edited, "disposition"] = "SALE"
    here = here.drop(index=here.index[(here["disposition"] == "NA").to_numpy()][100:110])
    found = analytics.reconcile(shifted, here)
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


def test_totals_agree_across_functions() -> None:
    """The same calls are counted everywhere, however they are cut."""
    total = metrics.connection_rate(CALLS, LEADS).denominator
    human = metrics.human_contact_rate(CALLS, LEADS).numerator
    found: dict[str, Any] = {
        "outcome_mix": analytics.outcome_mix(CALLS).table["numerator"].sum(),
        "pareto": analytics.outcome_mix(CALLS, by="disposition").tables["pareto"]["calls"].sum(),
        "causes": analytics.causes(CALLS).table["numerator"].sum(),
        "dispositions": analytics.dispositions(CALLS)["calls"].sum(),
        "attempts": analytics.attempts(CALLS, LEADS).table["attempts"].sum(),
        "caller_ids": analytics.caller_ids(CALLS, LEADS).table["denominator"].sum(),
        "caller_load": analytics.caller_load(CALLS).table["dials"].sum(),
        "carriers": analytics.carriers(CALLS).table["attempts"].sum(),
        "carriers by prefix": analytics.carriers(CALLS, by="prefix").table["attempts"].sum(),
        "hours": analytics.hours(CALLS).table["denominator"].sum()
        + _note(analytics.hours(CALLS), "unclear_hour"),
        "ring_times": analytics.ring_times(CALLS).tables["medians"]["calls"].sum(),
        "flows": analytics.outcome_flows(LEADS, CALLS).table["attempts"].sum(),
        "scorecard": analytics.scorecard(LEADS, CALLS).table["attempts"].sum(),
        "summary": analytics.summary(CALLS).table["denominator"].iloc[0],
    }
    assert found == dict.fromkeys(found, total)
    people = {
        "hours": analytics.hours(CALLS).table["numerator"].sum(),
        "attempts": analytics.attempts(CALLS, LEADS).table["people"].sum(),
        "caller_ids": analytics.caller_ids(CALLS, LEADS).table["numerator"].sum(),
        "mix": analytics.outcome_mix(CALLS).table.groupby("outcome")["numerator"].sum()
        [[o.name for o in OUTCOMES if o.human and o.name in set(analytics.outcome_mix(CALLS).table["outcome"])]].sum(),
    }  # fmt: skip
    assert people == dict.fromkeys(people, human)
    funnel = analytics.funnel(LEADS, CALLS).table.set_index("stage")["count"]
    assert funnel["human"] == metrics.contact_rate(CALLS, LEADS).numerator
    assert funnel["attempted"] == metrics.list_penetration(CALLS, LEADS).numerator
    assert funnel["right_party"] == metrics.right_party_per_lead(CALLS, LEADS).numerator
    assert analytics.scorecard(LEADS, CALLS).table["reached"].sum() == funnel["human"]


def _note(result: analytics.Result, reason: str) -> int:
    rows = result.excluded.set_index("reason")["count"]
    return int(rows[reason])


def test_rates_come_back_as_they_were_drawn() -> None:
    """Local presence helps by the factor of the draw, callbacks are kept as often, and so on."""
    lift = analytics.local_presence(CALLS, LEADS).table.iloc[2]
    # Drawn with 1.25 against 0.93: a ratio of 1.34.
    assert lift["rate_matched"] / lift["rate_other"] == pytest.approx(1.34, abs=0.25)
    assert lift["low"] > 0
    kept = metrics.callback_kept(CALLS, LEADS, callbacks=MADE.callbacks)
    assert kept.low is not None
    assert kept.high is not None
    assert kept.low < 0.62 / 0.92 < kept.high
    show = metrics.appointment_show(CALLS, appointments=MADE.appointments)
    assert show.low is not None
    assert show.high is not None
    assert show.low < 0.70 / 0.88 < show.high


def test_the_best_hour_is_told_only_where_the_data_can() -> None:
    """The account of ten thousand calls cannot tell hours apart, and says so."""
    found = analytics.best_time(CALLS, LEADS)
    assert "no difference" in found.answer
    rng = np.random.default_rng(1)
    made = CALLS.copy()
    local = made["created_at"].dt.tz_convert("America/Chicago").dt.hour
    evening = (local >= 17).to_numpy() & (rng.random(len(made)) < 0.5)
    made.loc[evening, ["disposition", "hangup_cause"]] = ["NI", "NORMAL_CLEARING"]
    made.loc[evening, "answered_at"] = made.loc[evening, "created_at"]
    strong = analytics.best_time(made, LEADS).tables["tests"].set_index("dimension")
    assert bool(strong.loc["hour", "differs"])
