"""The number shown, recordings and artificial voices: what the firm says of its calls decides, and silence decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import pytest

from compliance import hand
from dialframe.compliance.practice import Conduct, Practice, read_practice
from dialframe.compliance.result import Audit
from dialframe.compliance.rules import rulebook
from dialframe.errors import ConfigError

BOOK = rulebook.load()
TRUSTED = hand.trusted(BOOK)
AT = hand.utc("2026-08-12T17:00")
NOW = hand.utc("2026-11-01")
OWN = "+16465550180"
LOS_ANGELES, MIAMI, NEW_YORK = "+12135550142", "+13055550142", hand.NEW_YORK
BERLIN = "+493023125123"
YES, NO = True, False

#: Number shown, number called, and the grade by the federal rule; the firm names one number of its own.
SHOWN = {
    "its own": (OWN, NEW_YORK, "pass"),
    "another firm's": ("+12125550199", NEW_YORK, "violation"),
    "the called party's": (NEW_YORK, NEW_YORK, "violation"),
    "empty": ("", NEW_YORK, "violation"),
    "withheld": ("Anonymous", NEW_YORK, "violation"),
    "too short": ("+1212", NEW_YORK, "violation"),
    "no record": (None, NEW_YORK, "not evaluable"),
    "the firm's own to a place without a rule": (OWN, "+551123456789", None),
}
#: Called number, where the callers sit, recorded, announced: the grade of the recording.
RECORDED = {
    "California, silent": (LOS_ANGELES, (), YES, NO, "violation"),
    "California, announced": (LOS_ANGELES, (), YES, YES, "pass"),
    "California, not recorded": (LOS_ANGELES, (), NO, None, "pass"),
    "California, nobody says recorded": (LOS_ANGELES, (), None, NO, "not evaluable"),
    "California, nobody says announced": (LOS_ANGELES, (), YES, None, "not evaluable"),
    "California, announced whether or not recorded": (LOS_ANGELES, (), None, YES, "pass"),
    "Florida asks for consent, not for words": (MIAMI, (), YES, YES, "uncertain"),
    "Florida, silent": (MIAMI, (), YES, NO, "violation"),
    "New York is content with one party": (NEW_YORK, (), YES, NO, None),
    "New York called from Los Angeles": (NEW_YORK, ("US-CA",), YES, NO, "violation"),
    "New York called from Los Angeles, announced": (NEW_YORK, ("US-CA",), YES, YES, "pass"),
    "New York called from one of two rooms": (NEW_YORK, ("US-CA", "US-NY"), YES, NO, "uncertain"),
    "Los Angeles called from New York": (LOS_ANGELES, ("US-NY",), YES, NO, "violation"),
}
#: Called number, artificial voice, disclosed, consent on record: the grade of the voice.
VOICES = {
    "Germany, disclosed": (BERLIN, YES, YES, None, "pass"),
    "Germany, silent": (BERLIN, YES, NO, None, "violation"),
    "Germany, a human speaks": (BERLIN, NO, NO, None, "pass"),
    "Germany, nobody says who speaks": (BERLIN, None, None, None, "not evaluable"),
    "Germany, nobody says whether disclosed": (BERLIN, YES, None, None, "not evaluable"),
    "New York, no consent": (NEW_YORK, YES, YES, "none", "violation"),
    "New York, consent in writing": (NEW_YORK, YES, YES, "written", "pass"),
    "New York, consent by word of mouth": (NEW_YORK, YES, YES, "express", "violation"),
    "New York, consent withdrawn": (NEW_YORK, YES, YES, "withdrawn", "violation"),
    "New York, nobody keeps records of consent": (NEW_YORK, YES, YES, None, "not evaluable"),
}


def run(
    calls: pd.DataFrame, practice: Practice, *, rules: Sequence[str] | None = None, **more: Any
) -> Audit:
    """An audit by a book of rules that all decide, so that each grade is that of the records."""
    return hand.audited(
        hand.leads(), calls, hand.checks(), now=NOW, practice=practice,
        rulebook=TRUSTED.select(rules), **more,
    )  # fmt: skip


def grades(found: Audit, part: str) -> dict[str, str]:
    """Call to grade, by one check."""
    return dict(zip(found.parts[part]["call_id"], found.parts[part]["grade"], strict=True))


@cache
def shown() -> dict[str, str]:
    """Grades of every case of `SHOWN`, in one audit."""
    rows = [hand.call(to, AT, id=name, from_number=n) for name, (n, to, _) in SHOWN.items()]
    practice = Practice(dialing="manual", caller_ids=frozenset({OWN}))
    return grades(run(hand.calls(*rows), practice, rules=["us", "br"]), "caller_ids")


@pytest.mark.parametrize("name", SHOWN)
def test_the_number_shown_is_the_firms_own_and_can_be_called(name: str) -> None:
    """47 CFR 64.1601(e), 16 CFR 310.4(a)(8)."""
    assert shown().get(name) == SHOWN[name][2]


def test_without_the_firms_numbers_no_call_passes_as_its_own() -> None:
    """Counted as not evaluable, with what to give; a call from the called number stays a violation."""
    calls = hand.calls(hand.call(at=AT, id="a"), hand.call(at=AT, id="b", from_number=NEW_YORK))
    found = run(calls, Practice(dialing="manual"), rules=["us-caller-id"])
    assert grades(found, "caller_ids") == {"a": "not evaluable", "b": "violation"}
    row = found.checks.set_index("check").loc["caller_id"]
    assert "a practice file with the caller_ids of the firm" in row["sentence"]


def test_a_lawful_firm_has_no_finding_and_a_lawless_one_no_pass() -> None:
    """Worlds of which the truth is known: 200 calls of each, to places with a rule of each kind."""
    places = [LOS_ANGELES, "+12065550142", "+16175550142"]
    calls = hand.calls(*(hand.call(places[n % 3], AT, id=str(n)) for n in range(200)))
    good = Practice(
        dialing="prerecorded", caller_ids=frozenset({OWN}),
        conduct=Conduct(recorded=YES, recording_announced=YES, artificial_voice=NO),
    )  # fmt: skip
    bad = replace(
        good, caller_ids=frozenset({"+12125550177"}),
        conduct=Conduct(recorded=YES, recording_announced=NO, artificial_voice=NO),
    )  # fmt: skip
    rules = ["us-caller-id", "us-ca-recording", "us-wa-recording", "us-ma-recording"]
    for practice, column in ((good, "pass"), (bad, "violation")):
        counts = run(calls, practice, rules=rules).checks.set_index("check")
        assert counts.loc["caller_id", column] == 200
        assert counts.loc["recording_consent", column] == 200


@pytest.mark.parametrize("callers", [(), ("US-CA",), ("US-CA", "US-NY"), ("US-NY",)], ids=str)
def test_a_recording_needs_the_consent_that_either_end_asks_for(callers: tuple[str, ...]) -> None:
    """The strictest law of the two ends counts; one room of several is a doubt."""
    cases = {name: case for name, case in RECORDED.items() if case[1] == callers}
    practice = Practice(
        dialing="manual", callers_in=callers,
        conducts={
            name: Conduct(recorded=case[2], recording_announced=case[3]) for name, case in cases.items()
        },
    )  # fmt: skip
    rows = [hand.call(case[0], AT, id=name, campaign_id=name) for name, case in cases.items()]
    found = grades(run(hand.calls(*rows), practice, rules=["us", "us-*"]), "recordings")
    assert {name: found.get(name) for name in cases} == {n: c[4] for n, c in cases.items()}


def test_nobody_is_recorded_where_nobody_answers() -> None:
    """And what the service's own record says of a call goes before what the firm says of all."""
    rows = [
        hand.call(LOS_ANGELES, AT, id="answered", answered_at=AT),
        hand.call(LOS_ANGELES, AT, id="unanswered"),
        hand.call(LOS_ANGELES, AT, id="not recorded", answered_at=AT, recording=False),
    ]
    practice = Practice(conduct=Conduct(recorded=YES, recording_announced=NO))
    found = grades(run(hand.calls(*rows), practice, rules=["us-ca-recording"]), "recordings")
    assert found == {"answered": "violation", "unanswered": "pass", "not recorded": "pass"}


@pytest.mark.parametrize("kept", [True, False], ids=["with records of consent", "without"])
def test_an_artificial_voice_is_disclosed_or_agreed_to(kept: bool) -> None:
    """Regulation (EU) 2024/1689 art. 50(1); FCC 24-17."""
    cases = {n: c for n, c in VOICES.items() if c[0] == BERLIN or (c[3] is not None) == kept}
    phones = {name: f"+1212555{n:04}" for n, name in enumerate(cases, start=100)}
    rows, given = [], []
    for name, (to, _, _, consent, _) in cases.items():
        number = phones[name] if to == NEW_YORK else to
        rows.append(hand.call(number, AT, id=name, campaign_id=name))
        if consent in ("written", "express", "withdrawn"):
            given.append({
                "phone": number, "kind": "express" if consent == "express" else "written",
                "granted_at": hand.utc("2026-08-01"), "record": "form",
                "revoked_at": hand.utc("2026-08-10") if consent == "withdrawn" else pd.NaT,
            })  # fmt: skip
    consents = pd.DataFrame(
        given, columns=["phone", "kind", "granted_at", "revoked_at", "record"]
    ).astype(dict.fromkeys(("granted_at", "revoked_at"), "datetime64[us, UTC]"))
    conducts = {n: Conduct(artificial_voice=c[1], voice_announced=c[2]) for n, c in cases.items()}
    practice = Practice(dialing="prerecorded", conducts=conducts)
    found = run(
        hand.calls(*rows), practice, rules=["us-ai-voice", "de-ai-voice"],
        consents=consents if kept else None,
    )  # fmt: skip
    assert grades(found, "voices") == {name: case[4] for name, case in cases.items()}


def test_an_artificial_voice_is_a_recorded_one_however_it_was_dialed() -> None:
    """47 CFR 64.1200(a)(1) asks what the called person hears, FCC 24-17, and not how the call was placed."""
    speaks = Conduct(artificial_voice=YES, voice_announced=YES)
    dialings: dict[str, Any] = {
        "predictive": "predictive",
        "manual": "manual",
    }  # and "unsaid": nobody says
    names = [*dialings, "unsaid"]
    rows = [hand.call(NEW_YORK, AT, id=name, campaign_id=name) for name in names]
    none = pd.DataFrame({
        "phone": [LOS_ANGELES], "kind": ["written"], "granted_at": [hand.utc("2026-08-01")], "record": ["form"],
    })  # fmt: skip
    for said in ({"conduct": speaks}, {"conducts": dict.fromkeys(names, speaks)}):
        firm = Practice(dialings=dialings, **said)  # type: ignore[arg-type]
        found = run(hand.calls(*rows), firm, rules=["us-ai-voice"], consents=none)
        assert grades(found, "voices") == dict.fromkeys(names, "violation")


def test_a_practice_file_says_it() -> None:
    """For the firm, and for a campaign, which goes before."""
    practice = read_practice(
        'caller_ids = ["+16465550180"]\ncallers_in = ["us-ca"]\nrecorded = true\n'
        'sectors = ["pension_sales"]\n'
        '[campaigns.cmp_1]\nrecording_announced = true\nsectors = ["telecom_sales"]\n',
        (),
    )
    assert practice.caller_ids == {OWN}
    assert practice.callers_in == ("US-CA",)
    assert practice.sectors == ("pension_sales",)
    assert practice.campaign_sectors == {"cmp_1": ("telecom_sales",)}
    of_campaign = practice.conducts["cmp_1"].over(practice.conduct)
    assert of_campaign == Conduct(recorded=True, recording_announced=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('caller_ids = ["646 555 0180"]', r"line 1: caller_ids.0: .* is not an E.164 number"),
        ('[line_types]\n"646 555 0180" = "wireless"', "is not an E.164 number"),
        ('callers_in = ["California"]', "callers_in.0: there is no country"),
        ('callers_in = ["US-VX"]', "callers_in.0: there is no part 'VX' of US"),
        ('sectors = ["energy"]', "'energy' is no sector; use one of telemarketing_sales"),
        ('recorded = "yes"', "recorded: Input should be a valid boolean"),
        ("[campaigns.a]\nrecorded_ = true", "recorded_"),
    ],
)
def test_a_practice_file_with_a_slip_is_refused(text: str, said: str) -> None:
    """In words; a number is masked."""
    with pytest.raises(ConfigError, match=said) as caught:
        read_practice(text, ())
    assert "646 555 0180" not in f"{caught.value} {caught.value.__cause__}"


#: Sectors of the firm, and of its campaigns: the grade of a call of each campaign.
SECTORS: list[tuple[tuple[str, ...], dict[str, tuple[tuple[str, ...] | None, str | None]]]] = [
    (("energy_renovation_sales",), {"the firm's one": (None, "violation"), "another": (("telecom_sales",), None)}),
    (("energy_renovation_sales", "telecom_sales"), {"one of two": (None, "not evaluable")}),
    ((), {"none": (None, None), "its own": (("energy_renovation_sales",), "violation")}),
]  # fmt: skip


def test_a_rule_on_a_sector_reaches_the_sectors_of_the_practice_file() -> None:
    """France: works to save energy. Which of several a campaign is of has to be said."""
    phone = "+33123456789"
    for sectors, campaigns in SECTORS:
        firm = Practice(
            dialing="manual", line_types={phone: "residential"}, sectors=sectors,
            campaign_sectors={name: own for name, (own, _) in campaigns.items() if own},
        )  # fmt: skip
        rows = [
            hand.call(phone, hand.utc("2026-07-08T09:00"), id=c, campaign_id=c) for c in campaigns
        ]
        found = grades(run(hand.calls(*rows), firm, rules=["fr"]), "sectors")
        assert {name: found.get(name) for name in campaigns} == {
            name: grade for name, (_, grade) in campaigns.items()
        }
