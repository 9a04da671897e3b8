"""Analyses against examples worked out by hand: funnels in time, cohorts, attempts, gaps, promises, lists."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analytics.made import (
    CAMPAIGN,
    START,
    appointment,
    appointments,
    call,
    calls,
    lead,
    leads,
)
from dialframe import analytics, frames
from dialframe.analytics import DEFAULT
from dialframe.analytics.analyses.time_of_day import shrunk
from dialframe.errors import ConfigError

DAY = timedelta(days=1)


def _stage(found: analytics.Funnel, name: str) -> int:
    return int(found.table.set_index("stage")["count"][name])


@pytest.mark.parametrize(
    ("positive_at", "other_at", "booked_at", "counts"),
    [
        # Booked before the positive call: in any order only.
        (5, 0, 1, {"any": 1, "ordered": 0, "strict": 0}),
        # Booked after it, with another call in between: ordered, not strict.
        (0, 2, 3, {"any": 1, "ordered": 1, "strict": 0}),
    ],
)
def test_an_appointment_counts_by_the_order_that_is_asked_for(
    positive_at: float, other_at: float, booked_at: float, counts: dict[str, int]
) -> None:
    """A stage that was reached before the one before it, or with a call in between."""
    made = calls(call(1, other_at), call(1, positive_at, answered=True, disposition="INT"))
    booked = appointments(appointment(1, booked_at))
    for order, count in counts.items():
        found = analytics.funnel(made, leads(lead(1)), appointments=booked, order=order)
        assert _stage(found, "appointment") == count


def test_the_window_runs_from_import_or_first_dial() -> None:
    """A person reached 30 hours after import and 6 after the first dial."""
    made = calls(call(1, 0), call(1, 6, answered=True, disposition="NI"))
    later = START + 9 * DAY
    for hours, entry, reached in ((24, "import", 0), (24, "first_dial", 1), (31, "import", 1)):
        found = analytics.funnel(
            made, leads(lead(1)), window=timedelta(hours=hours), entry=entry, as_of=later
        )
        assert _stage(found, "human") == reached


def test_leads_whose_time_is_not_over_stand_apart() -> None:
    """A young lead is in no stage, converted or not, and is counted as censored."""
    people = leads(lead(1), lead(2, created_at=START + 3 * DAY))
    made = calls(
        call(1, 1, answered=True, disposition="NI"), call(2, 80, answered=True, disposition="NI")
    )
    found = analytics.funnel(made, people, window=2 * DAY, as_of=START + 4 * DAY)
    assert (found.censored, _stage(found, "accepted"), _stage(found, "human")) == (1, 1, 1)
    assert int(found.excluded.set_index("reason")["count"]["censored"]) == 1
    assert found.to_dict()["parameters"]["censored"] == 1


def test_a_funnel_by_region() -> None:
    """The area code is the region."""
    found = analytics.funnel(calls(), leads(lead(1), lead(2), lead(150)), by="region")
    assert found.groups == ["+1 212", "+1 213"]


@pytest.mark.parametrize(
    "asked",
    [{"campaign": "nope"}, {"order": "sideways"}, {"entry": "birth"}, {"window": timedelta(0)}],
)
def test_what_cannot_be_asked_is_refused(asked: dict[str, Any]) -> None:
    """An unknown campaign, order, entry or no time at all: words, not zeros."""
    with pytest.raises(ConfigError):
        analytics.funnel(calls(call(1)), leads(lead(1)), **asked)


def test_a_campaign_without_leads_is_known_by_its_own_table() -> None:
    """A draft campaign has no leads: an empty funnel, no refusal."""
    table = frames.from_records(frames.CAMPAIGNS, [{"id": "cmp_draft", "status": "draft"}])
    found = analytics.funnel(calls(), leads(lead(1)), campaign="cmp_draft", campaigns=table)
    assert _stage(found, "accepted") == 0


def test_attempts_by_hand() -> None:
    """Four leads: one reached first, one second, one never in two, one dialed once."""
    made = calls(
        call(1, 0, answered=True, disposition="NI"),
        call(2, 0), call(2, 9, answered=True, disposition="APPT"),
        call(3, 0), call(3, 9), call(4, 0),
        call(1, 9, answered=True, disposition="NI"),  # reached again: of nobody still waiting
    )  # fmt: skip
    table = analytics.attempts(made, leads(*(lead(i) for i in range(1, 5)))).table
    assert table[["numerator", "denominator"]].to_numpy().tolist() == [[1, 4], [1, 2]]
    assert table["attempts"].tolist() == [4, 3]
    assert table["people"].tolist() == [1, 2]
    assert table["cumulative"].tolist() == [0.25, 0.5]
    assert table["appointments"].tolist() == [0, 1]


def test_gaps_by_hand() -> None:
    """Pairs of attempts stand at the outcome of the first and the hours between."""
    made = calls(
        call(1, 0, disposition="B", hangup_cause="USER_BUSY"),
        call(1, 0.5, answered=True, disposition="NI"), call(2, 0), call(2, 30),
    )  # fmt: skip
    table = analytics.recycle(made).table.set_index(["outcome", "gap"])
    assert tuple(table.loc[("busy", "0 h to 1 h"), ["numerator", "denominator"]]) == (1, 1)
    assert tuple(table.loc[("no_answer", "24 h to 2 d"), ["numerator", "denominator"]]) == (0, 1)


def test_a_cohort_is_masked_until_it_is_mature() -> None:
    """One week has passed for the whole cohort, two have not."""
    people = leads(lead(1), lead(2))  # imported on Sunday, 1 March: the week of 23 February
    made = calls(call(1, 24, answered=True, disposition="NI"))
    table = analytics.cohorts(made, people, ages=2, as_of=START + 10 * DAY).table
    assert table["cohort"].unique().tolist() == ["2026-02-23"]
    assert table["mature"].tolist() == [True, False]
    assert table["numerator"].tolist() == [1, pd.NA]
    assert table["denominator"].tolist() == [2, 2]


def test_time_to_contact_is_kaplan_and_meiers() -> None:
    """Reached after one day; the other waits still after two: half are reached."""
    made = calls(call(1, 0), call(1, 24, answered=True, disposition="NI"), call(2, 0))
    found = analytics.time_to_contact(made, leads(lead(1), lead(2)), as_of=START + 2 * DAY)
    assert found.table["reached"].iloc[-1] == pytest.approx(0.5)
    assert found.table["without_other_ends"].iloc[-1] == pytest.approx(0.5)
    assert found.tables["groups"][["contact", "waiting"]].to_numpy().tolist() == [[1, 1]]


def test_competing_ends_leave_the_incidence_below_kaplan_and_meier() -> None:
    """Half the leads prove invalid first: Kaplan-Meier says more than what was."""
    made = [call(i, 0, disposition="ADC", hangup_cause="UNALLOCATED_NUMBER") for i in range(5)]
    made += [
        call(i, k, answered=k > 0, disposition="NI" if k else None)
        for i in range(5, 10)
        for k in (0, 24)
    ]
    found = analytics.time_to_contact(
        calls(*made), leads(*(lead(i) for i in range(10))), as_of=START + 3 * DAY
    )
    last = found.table.iloc[-1]
    assert last["invalid"] == pytest.approx(0.5)
    assert last["reached"] == pytest.approx(0.5)
    assert last["without_other_ends"] == pytest.approx(1.0)


def test_ids_of_events_come_before_numbers() -> None:
    """An event names the lead where the number could not; click-to-call does so too."""
    people = leads(lead(1), lead(1, id="lead_x", campaign_id="cmp_b"))
    made = calls(call(1, 0, id="call_a", campaign_id="cmp_c"), call(1, 1, id="call_b", campaign_id="cmp_c"),
                 call(1, 2, id="call_c", campaign_id="cmp_c"))  # fmt: skip
    events = frames.from_records(frames.EVENTS, [
        {"id": "evt_1", "type": "disposition.logged",
         "data": '{"call_id": "call_a", "lead_id": "lead_x", "disposition_code": "NI"}'}])  # fmt: skip
    started = pd.DataFrame({"call_id": ["call_b"], "lead_id": ["lead_1"]})
    found = analytics.match(made, people, events=events, started=started).table
    assert found["lead_id"].fillna("").tolist() == ["lead_x", "lead_1", ""]
    assert found["match_quality"].tolist() == ["event", "click_to_call", "ambiguous"]


def test_the_person_who_rejects_is_no_failure_of_the_network() -> None:
    """Rejected by the person counts as effective, blocked on the way does not."""
    made = calls(call(1, hangup_cause="CALL_REJECTED"), call(2, hangup_cause="SIP 608"),
                 call(3, hangup_cause="603+ Network Blocked"), call(4))  # fmt: skip
    row = analytics.carriers(made).table.iloc[0]
    assert (row["rejected"], row["blocked"], row["ner"]) == (1, 2, 0.5)


def test_short_calls_against_the_limits() -> None:
    """A third of the answers of three seconds is over the limit."""
    made = [
        call(i, answered=True, ended_at=START + timedelta(seconds=12 if i % 3 == 0 else 70))
        for i in range(60)
    ]
    row = analytics.carriers(calls(*made)).table.iloc[0]
    assert (row["short"], row["short_flag"]) == (20, "over")


def test_two_campaigns_that_differ_and_two_that_do_not() -> None:
    """A clear difference is found, a small one is not, and what could have been seen is said."""

    def made(rate_b: float) -> pd.DataFrame:
        # Twenty calls of each campaign on each of forty days.
        yes = [(i * 79) % 800 for i in range(800)]
        return calls(*(
            call(800 * side + i, 24 * (i // 20), answered=yes[i] < 800 * rate,
                 disposition="NI" if yes[i] < 800 * rate else None, campaign_id=name)
            for side, (name, rate) in enumerate(((CAMPAIGN, 0.2), ("cmp_b", rate_b))) for i in range(800)
        ))  # fmt: skip

    result = analytics.compare(made(0.4), None, a=CAMPAIGN, b="cmp_b")
    clear = result.table.iloc[0]
    assert clear["verdict"] == "b is better"
    # Differences are a less b, in the table and in words.
    assert clear["difference"] == pytest.approx(-0.2)
    assert clear["adjusted"] < 0
    assert "a less b -" in result.answer
    equal = analytics.compare(made(0.21), None, a=CAMPAIGN, b="cmp_b").table.iloc[0]
    assert equal["verdict"] == "no certain difference"
    assert 0.03 < equal["minimum_detectable"] < 0.3
    # Two hundred calls of one day are one day.
    one = analytics.compare(made(0.4).assign(created_at=pd.Timestamp("2026-03-02 15:00", tz="UTC")), None,
                            a=CAMPAIGN, b="cmp_b")  # fmt: skip
    assert "cannot be judged, because fewer than 10 independent days" in one.answer
    with pytest.raises(ConfigError, match="with itself"):
        analytics.compare(made(0.4), None, a=CAMPAIGN, b=CAMPAIGN)


def test_local_hours_are_those_of_the_person_called() -> None:
    """15:00 UTC is 10:00 in New York and 07:00 in Los Angeles in March."""
    found = analytics.hours(calls(call(1), call(150, to_number="+12135550150"))).tables["cells"]
    used = found[(found["denominator"] > 0).to_numpy(bool)]
    assert set(zip(used["weekday"], used["hour"], strict=True)) == {("Mon", 10), ("Mon", 7)}
    assert found["thin"].all()


def test_shrinkage_pulls_small_cells_more() -> None:
    """A cell of four calls moves to the mean, one of four thousand hardly does."""
    k, n = np.array([2, 1000, 100, 900]), np.array([4, 4000, 4000, 4000])
    rates = shrunk(k, n)
    mean = k.sum() / n.sum()
    assert abs(rates[0] - mean) < abs(0.5 - mean) / 2
    assert rates[1] == pytest.approx(0.25, abs=0.005)


def test_a_mapping_in_a_file(tmp_path: Path) -> None:
    """A small TOML file gives codes a meaning; what is wrong with it is said in words."""
    path = tmp_path / "codes.toml"
    path.write_text(
        '[disposition]\n"ZZ top" = "callback"\n[hangup_cause]\n"X1" = "busy"\n', encoding="utf-8"
    )
    mine = DEFAULT.with_file(path)
    assert mine.outcome("disposition", "zz-TOP") == "callback"
    assert mine.hash != DEFAULT.hash
    assert mine.version.endswith(mine.hash)
    assert [row[:2] for row in DEFAULT.differences(mine)] == [
        ("disposition", "zztop"),
        ("hangup_cause", "x1"),
    ]
    for text, words in (("[codes]\n", "not a table of codes"), ("=", "is not TOML"),
                        ('[disposition]\nA = "nonsense"\n', "not known"), ("[disposition]\nA = 3\n", "not known")):  # fmt: skip
        with pytest.raises(ConfigError, match=words):
            DEFAULT.with_toml(text)
    with pytest.raises(ConfigError, match="cannot be read"):
        DEFAULT.with_file(tmp_path / "nothing.toml")


def test_unmapped_codes_are_a_row_and_a_warning_of_every_result() -> None:
    """With the file that gives them a meaning."""
    made = calls(call(1, answered=True, disposition="QQ"))
    for found in (
        analytics.carriers(made),
        analytics.funnel(made, leads(lead(1))),
        analytics.summary(made),
    ):
        assert int(found.excluded.set_index("reason")["count"]["unmapped"]) == 1
        assert any('"QQ" = "?"' in warning for warning in found.warnings)


def test_nothing_seen_is_not_called_clean() -> None:
    """Of no calls, no caller ID with enough calls, or answers of unknown kind, nothing good is said."""
    none, one = calls(), calls(call(1, answered=True, disposition="NI"))
    assert "nothing to check" in analytics.completeness(none, leads()).answer
    assert analytics.caller_ids(one).answer.startswith(
        "No caller ID has enough calls to be judged"
    )
    dark = calls(*(call(n, answered=True) for n in range(1, 5)))
    assert "nothing says by whom" in analytics.machines(dark).answer
    assert "no later one" in analytics.attempts(one, leads(lead(1))).answer


def test_what_cannot_be_judged_is_said_in_words() -> None:
    """Where nobody or everybody answers, the best time has no p and the sentence says why."""
    for answered, word in ((False, "nobody"), (True, "everybody")):
        made = calls(*(call(n, n, answered=answered, disposition="NI" if answered else None)
                       for n in range(1, 73)))  # fmt: skip
        found = analytics.hours(made)
        assert not len(found.tables["tests"])
        assert found.answer == (
            f"The hour cannot be judged, because {word} answers. "
            f"The weekday cannot be judged, because {word} answers"
        )
