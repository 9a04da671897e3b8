"""Each metric against an example worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

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
    phone,
)
from dialframe import frames
from dialframe.analytics import metrics, wilson
from dialframe.analytics.metrics import Choices
from dialframe.errors import ConfigError
from rows import every_row

# Ten leads; what their calls come to is counted beside each.
LEADS = leads(
    *(lead(i, status="new", attempts=0) for i in range(3)),
    lead(3, status="contacted", attempts=2),
    lead(4, status="completed", attempts=1),
    lead(5, status="dnc", attempts=3),
    *(lead(i, status="callback", attempts=1) for i in range(6, 10)),
)

CALLS = calls(
    call(3, 0),  # no answer
    call(3, 1, answered=True, disposition="NI"),  # attempt 2: person wanted
    call(4, 0, answered=True, disposition="SALE"),  # conversion on attempt 1
    call(5, 0, disposition="B", hangup_cause="USER_BUSY"),
    call(5, 1, answered=True, disposition="A"),  # machine
    call(5, 2, answered=True, disposition="WN"),  # a person, not the one wanted
    call(6, 0, disposition="ADC", hangup_cause="UNALLOCATED_NUMBER"),
    call(7, 0, hangup_cause="CALL_REJECTED", disposition=None),  # by the person
    call(8, 0, answered=True, disposition="SALE"),
    call(8, 3, answered=True, disposition="SALE"),  # a second one of the same lead
    call(9, 0, direction="inbound", from_number=phone(9), to_number="+13125550199"),
)
N = 10


def audited(coverage: tuple[int, int, int, int, int], **counts: tuple[int, ...]) -> Any:
    """What an audit gives: numbers, fresh, screened, stale, never; and the grades of each check."""
    grades = ["pass", "violation", "uncertain", "not_evaluable", "not_asked"]
    rows = [{"check": name, "unit": "calls", "checked": sum(some), **dict(zip(grades, some, strict=True))}
            for name, some in counts.items()]  # fmt: skip
    names = ["numbers", "fresh", "screened", "stale", "never"]
    summary = [{"population": "callable", **dict.fromkeys(names, 99)},
               {"population": "callable or called", **dict(zip(names, coverage, strict=True))}]  # fmt: skip
    return SimpleNamespace(
        checks=pd.DataFrame(rows, columns=["check", "unit", "checked", *grades]),
        coverage=SimpleNamespace(summary=pd.DataFrame(summary)),
        as_of=START + timedelta(days=2),
    )


AUDIT = audited(
    (10, 3, 4, 2, 1), listed_number=(1, 1, 2, 5, 1), internal_dnc=(3, 1, 0, 2, 0),
    calling_hours=(7, 2, 1, 0, 0), attempt_caps=(5, 4, 0, 0, 1),
)  # fmt: skip
#: Metrics that read an audit, each with what its counts leave open.
OF_AUDIT = {
    "dnc_coverage": {"screened_at_import": 4, "check_too_old": 2, "never_checked": 1},
    "dnc_risk_calls": {"uncertain": 2, "not_evaluable": 5, "not_asked": 1},
    "dnc_honor": {"uncertain": 0, "not_evaluable": 2, "not_asked": 0},
    "calling_hours_breach": {"uncertain": 1, "not_evaluable": 0, "not_asked": 0},
    "frequency_breach": {"uncertain": 0, "not_evaluable": 0, "not_asked": 1},
}
REPORT = frames.from_records(
    frames.DISPOSITIONS,
    [
        {"date": "2026-03-02", "campaign_id": CAMPAIGN, "disposition": "SALE", "calls": 4},
        {"date": "2026-03-02", "campaign_id": CAMPAIGN, "disposition": "NI", "calls": 1},
    ],
)
CALLBACKS = frames.from_records(
    frames.CALLBACKS,
    [
        {"id": f"cb_{i}", "lead_id": f"lead_{i}", "campaign_id": CAMPAIGN, "status": status,
         "scheduled_at": START + timedelta(hours=h)}
        for i, h, status in ((3, 0.9, "completed"), (4, 1.0, "pending"), (8, -0.5, "completed"),
                             (5, 99.0, "pending"), (6, 0.0, "cancelled"))
    ],
)  # fmt: skip
APPOINTMENTS = appointments(
    appointment(1, 1, status="completed"),
    appointment(2, 1, status="no-show"),
    appointment(3, 1, status="cancelled"),
)
IMPORTS = pd.DataFrame({"status": ["accepted", "accepted", "on_dnc", "unknown"]})

FRAMES: dict[str, Any] = {
    "imports": IMPORTS, "appointments": APPOINTMENTS, "callbacks": CALLBACKS,
    "audit": AUDIT, "report": REPORT, "as_of": START + timedelta(days=2),
}  # fmt: skip

#: Name, numerator, denominator; the value is their quotient.
SHARES = [
    ("import_acceptance", 2, 3),
    ("list_penetration", 6, 10),
    ("list_saturation", N, 10),
    ("phone_penetration", 6, 10),
    ("inventory_penetration", 3, 10),  # contacted, completed, dnc
    ("completed_penetration", 1, 10),
    ("connection_rate", 6, N),
    ("network_effectiveness", 9, N),  # all but the number that is not in service
    ("human_contact_rate", 5, N),
    ("human_contact_rate_valid", 5, 9),
    ("contact_rate", 4, 10),
    ("right_party_rate", 4, N),
    ("right_party_per_lead", 3, 10),
    ("right_party_per_human", 4, 5),
    ("conversion_per_right_party", 2, 4),
    ("conversion_per_contact", 2, 5),
    ("conversion_per_lead", 2, 10),
    ("conversion_per_dial", 2, N),
    ("pass_contact_rate", 2, 10),
    ("pass_hazard", 2, 6),
    ("machine_share", 1, N),
    ("machine_share_of_answered", 1, 6),
    ("talk_time", 6 * 31, 6),
    ("short_call_share", 0, 6),
    ("ring_time", 6 * 9 + 4 * 40, N),
    ("bad_number_ratio", 1, N),
    ("bad_number_ratio_numbers", 1, 6),
    ("dnc_coverage", 3, 10),
    ("dnc_risk_calls", 1, 10),
    ("dnc_honor", 3, 6),
    ("calling_hours_breach", 2, 10),
    ("frequency_breach", 4, 10),
    ("callback_kept", 2, 3),
    ("quick_first_dial", 0, 10),
    ("appointment_show", 1, 2),
    ("missing_disposition", 0, 6),
    ("report_delta", 1 + 2 + 4, 5),  # one SALE more, two blanks and four codes less
]


@every_row(("name", "numerator", "denominator"), SHARES)
def test_by_hand(name: str, numerator: float, denominator: float) -> None:
    """Numerator and denominator are those counted by hand, the value is their quotient."""
    found = metrics.compute(CALLS, LEADS, names=name, **FRAMES)[name]
    assert (found.numerator, found.denominator) == (numerator, denominator)
    assert found.value == pytest.approx(numerator / denominator)
    if found.low is not None and found.high is not None:
        assert found.low <= found.value <= found.high
    if name in OF_AUDIT:
        assert (found.excluded, found.interval, found.low) == (OF_AUDIT[name], "none", None)
    else:
        assert "unmapped" in found.excluded
        assert found.excluded["inbound"] == 1
    assert found.taxonomy_version == found.taxonomy.version
    assert found.definition.words["numerator"]


#: Two caller IDs a fortnight apart, at one hour of one weekday: 5 of 10, then 2 and 5 of 10.
DROPPED = calls(*(
    call(n + 20 * k, -336.0 * (not lately), answered=n % 10 < people, from_number=ours,
         disposition="NI" if n % 10 < people else None)
    for k, (ours, lately, people) in enumerate([
        ("+13125550198", False, 5), ("+13125550198", True, 2),
        ("+13125550199", False, 5), ("+13125550199", True, 5)])
    for n in range(10)
))  # fmt: skip

#: 300 dials of which every fourth reached a person; 300 more of which none did.
STOPPED = calls(*(
    call(n % 90, n / 10, id=f"call_{ours}_{n}", answered=hit, from_number=ours,
         disposition="NI" if hit else None)
    for ours, upto, size in (("+13125550198", 300, 600), ("+13125550199", 600, 600),
                             ("+13125550197", 9, 9))
    for n in range(size) for hit in [n % 4 == 0 and n < upto]
))  # fmt: skip

#: At 10:00 4 of 10 with a local caller ID and 2 of 20 without; at 11:00 1 of 10 both ways.
PRESENT = calls(*(
    call(n + 25 * k, at_h, answered=n < people, disposition="NI" if n < people else None,
         from_number=ours, to_number=f"+1212555{100 + n + 25 * k:04d}")
    for k, (at_h, ours, people, size) in enumerate([
        (0, "+12125550199", 4, 10), (0, "+13125550199", 2, 20),
        (1, "+12125550199", 1, 10), (1, "+13125550199", 1, 10)])
    for n in range(size)
))  # fmt: skip

#: One drop, three people who were served, one machine.
ABANDONED = calls(*(call(i, answered=True, disposition=d)
                    for i, d in enumerate(("DROP", "NI", "NI", "SALE", "A"))))  # fmt: skip

#: Answered: talks of 3, 6, 31 and 90 s, the last two not logged, the very last ended just now.
TALKS = calls(*(
    call(i, at_h, answered=True, disposition=code, duration_seconds=seconds + 9 * (i == 1),
         ended_at=START + timedelta(hours=at_h, seconds=9 + seconds))
    for i, (at_h, seconds, code) in enumerate([(0, 3, "A"), (0, 6, "NI"), (0, 31, None), (6, 90, None)])
))  # fmt: skip

#: A talk of 31 s and a whole call of 40 s, whose duration is one or the other.
AS_TALK, AS_WHOLE = (
    calls(*(call(i, answered=True, duration_seconds=seconds) for i in range(5)))
    for seconds in (31, 40)
)

#: Name, calls, what else is passed, numerator, denominator, value.
EXAMPLES: list[tuple[str, pd.DataFrame, dict[str, Any], float | None, float | None, float]] = [
    ("attempts_to_contact", CALLS, {"leads": LEADS}, None, 4, 1.5),  # attempts 2, 1, 3, 1
    ("speed_to_lead", CALLS, {"leads": LEADS}, None, 6, 86_400),
    ("abandon_rate_ftc", ABANDONED, {}, 1, 4, 0.25),
    ("abandon_rate_ofcom", ABANDONED, {}, 0.75, 3.75, 0.2),  # 1 x (1 - 1/4), of 3 + 0.75
    ("duration_meaning", TALKS, {}, 3, 4, 0.75),
    ("duration_meaning", AS_TALK, {}, 5, 5, 1.0),
    ("duration_meaning", AS_WHOLE, {}, 0, 5, 0.0),
    ("short_call_share", TALKS, {}, 2, 4, 0.5),
    ("talk_time", TALKS, {}, 130, 4, 32.5),
    ("missing_disposition", TALKS, {"as_of": START + timedelta(hours=6.5)}, 1, 4, 0.25),
    ("missing_disposition", TALKS, {"as_of": START + timedelta(hours=7.5)}, 2, 4, 0.5),
    ("quick_first_dial", CALLS, {"leads": LEADS, "choices": Choices(quick_min=1_441)}, 6, 10, 0.6),
    ("caller_id_answer_drop", DROPPED,
     {"as_of": START + timedelta(days=1), "choices": Choices(min_calls=10)}, 2, 5, 0.4),
    ("caller_ids_alerted", STOPPED, {}, 1, 2, 0.5),
    # Attempt 2: one lead first reached, of the two not reached before that had one.
    ("pass_hazard", CALLS, {"leads": LEADS, "choices": Choices(pass_number=2)}, 1, 2, 0.5),
    ("pass_contact_rate", CALLS, {"leads": LEADS, "choices": Choices(pass_number=2)}, 2, 10, 0.2),
]  # fmt: skip


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=[f"{i}-{row[0]}" for i, row in enumerate(EXAMPLES)]
)
def test_by_hand_with_calls_of_its_own(
    example: tuple[str, pd.DataFrame, dict[str, Any], float | None, float | None, float],
) -> None:
    """Examples that need other calls than those above."""
    name, made, more, *expected = example
    found = metrics.metric(name)(made, **more)
    for part, number in zip(("numerator", "denominator", "value"), expected, strict=True):
        assert getattr(found, part) == (None if number is None else pytest.approx(number)), part


def test_no_caller_id_is_no_caller_id() -> None:
    """Calls without one are judged by no test of caller IDs."""
    made = STOPPED.assign(from_number=pd.array([None] * len(STOPPED), dtype="str"))
    assert metrics.caller_ids_alerted(made).denominator == 0
    assert metrics.caller_id_answer_drop(made, choices=Choices(min_calls=10)).value is None


def test_every_metric_has_an_example_by_hand() -> None:
    """And in one of them it is not 0."""
    told = {name for name, k, _ in SHARES if k} | {row[0] for row in EXAMPLES if row[5]}
    # The lift of local presence is a model's: tests/claims has worlds whose truth is known.
    assert told == set(metrics.definitions()["name"]) - {"local_presence_lift"}


def test_every_metric_is_a_row_and_a_function() -> None:
    """Thirty-four numbers, each with at least one named function; every row is complete."""
    assert {row.number for row in metrics.METRICS} == set(range(1, 35))
    for row in metrics.METRICS:
        assert getattr(metrics, row.name) is row
        assert all(row.words.values())
    assert len(metrics.definitions()) == len(metrics.METRICS)


def test_a_share_of_leads_has_wilsons_interval() -> None:
    """Leads are independent, so nothing is widened."""
    found = metrics.contact_rate(CALLS, LEADS)
    assert (found.low, found.high) == wilson(4, 10)
    assert found.interval == "wilson"


def test_calls_of_one_lead_are_one_cluster() -> None:
    """A thousand calls that all agree within their lead are worth as many trials as there are leads."""
    made = [call(i, k, answered=i < 5, disposition="NI" if i < 5 else None)
            for i in range(10) for k in range(100)]  # fmt: skip
    found = metrics.human_contact_rate(calls(*made))
    low, high = wilson(5, 10) or (0, 1)
    assert found.interval == "lead-clustered"
    assert found.low < low + 0.03
    assert found.high > high - 0.03


def test_nothing_to_divide_by_is_null() -> None:
    """No denominator gives None, never 0."""
    for row in metrics.METRICS:
        empty = {name: FRAMES[name][:0] for name in row.needs if name not in ("leads", "audit")}
        empty |= {"audit": audited((0, 0, 0, 0, 0))} if "audit" in row.needs else {}
        found = row(calls(), leads(), **empty)
        assert found.value is None, row.name


def test_what_the_api_cannot_give_is_refused_by_name() -> None:
    """As an argument or an attribute, it is refused with the reason; a slip of the finger is told what is near."""
    for name, reason in metrics.NOT_AVAILABLE.items():
        with pytest.raises(ConfigError, match=name) as refused:
            metrics.compute(CALLS, LEADS, names=name)
        assert reason in str(refused.value)
        with pytest.raises(AttributeError, match="cannot be had from this API"):
            getattr(metrics, name)
    with pytest.raises(ConfigError, match="did you mean contact_rate"):
        metrics.metric("contact_rat")
    with pytest.raises(AttributeError, match="did you mean contact_rate"):
        _ = metrics.contactrate


def test_an_unknown_campaign_is_refused() -> None:
    """Zeros would look like an answer."""
    with pytest.raises(ConfigError, match="nope"):
        metrics.contact_rate(CALLS, LEADS, campaign="nope")


def test_a_missing_frame_is_refused_by_name_and_left_out_of_all() -> None:
    """Asked for by name it is an error; asked for everything it is a reason."""
    with pytest.raises(ConfigError, match="pass callbacks="):
        metrics.callback_kept(CALLS, LEADS)
    found = metrics.compute(CALLS, LEADS)
    assert found.not_computed["callback_kept"] == (
        "needs the callbacks of the account: pass callbacks="
    )
    assert "callback_kept" not in set(found.table["metric"])


def test_abandonment_needs_a_code_that_means_it() -> None:
    """Without a drop the rate is not 0 but unknown."""
    unknown = metrics.abandon_rate_ftc(CALLS)
    assert unknown.value is None
    assert "map the code" in unknown.why_null


def test_an_audit_that_could_judge_nothing_gives_no_share() -> None:
    """No violation among calls that nobody could judge is not 0 %; a check not asked for has no counts."""
    blind = audited((0, 0, 0, 0, 0), calling_hours=(0, 0, 0, 8, 2))
    found = metrics.calling_hours_breach(CALLS, audit=blind)
    assert (found.value, found.denominator) == (None, 10)
    assert "could judge none of 10 calls" in found.why_null
    assert metrics.dnc_coverage(CALLS, audit=blind).value is None
    caps = metrics.frequency_breach(CALLS, audit=blind)
    assert caps.value is None
    assert "no check attempt_caps" in caps.why_null


def test_an_audit_answers_for_its_own_account_and_period() -> None:
    """Asked of one campaign or of another period it gives no number, and says whom to ask."""
    for more, words in (
        ({"campaign": CAMPAIGN}, "not one campaign"),
        ({"since": START}, "period of its own"),
        ({"as_of": START}, "which is after as_of"),
    ):
        found = metrics.compute(CALLS, LEADS, names=list(OF_AUDIT), audit=AUDIT, **more)  # type: ignore[arg-type]
        for one in found.metrics:
            assert one.value is None
            assert words in one.why_null


def test_a_ledger_without_days_is_not_cut_to_a_window() -> None:
    """It would be counted whole beside metrics of the window; the words say which column is missing."""
    found = metrics.import_acceptance(CALLS, LEADS, imports=IMPORTS, since=START)
    assert found.value is None
    assert "no column 'created_at'" in found.why_null
    dated = IMPORTS.assign(created_at=[START - timedelta(days=1), START, START, START])
    assert metrics.import_acceptance(CALLS, LEADS, imports=dated, since=START).denominator == 2


def test_without_an_audit_the_law_is_not_judged() -> None:
    """The words name what to pass, asked for by name or among all."""
    found = metrics.compute(CALLS, LEADS)
    for name in OF_AUDIT:
        assert "pass audit=dialframe.audit(account)" in found.not_computed[name]
        with pytest.raises(ConfigError, match=r"pass audit=dialframe\.audit\(account\)"):
            metrics.metric(name)(CALLS, LEADS)
    cut = metrics.compute(CALLS, LEADS, period="week", audit=AUDIT)
    assert cut.not_computed["dnc_coverage"].startswith("is one count of the whole audit")


def test_results_are_plain_values() -> None:
    """The keys of the dictionary do not depend on the data, and every value is plain."""
    full = metrics.contact_rate(CALLS, LEADS).to_dict()
    empty = metrics.contact_rate(calls(), leads()).to_dict()
    assert full.keys() == empty.keys()
    assert full["taxonomy"]["hash"] in full["taxonomy"]["version"]
    assert empty["value"] is None


def test_thresholds_are_in_the_result() -> None:
    """Whoever reads the number sees what it was cut at."""
    short = metrics.short_call_share(CALLS, choices=replace(Choices(), short_call_s=31))
    assert short.parameters == {"short_call_s": 31}
    assert short.value == 1


def test_an_earlier_name_of_a_metric_is_understood() -> None:
    """A script of an earlier version goes on."""
    assert metrics.metric("dnc_honour") is metrics.dnc_honour is metrics.dnc_honor
