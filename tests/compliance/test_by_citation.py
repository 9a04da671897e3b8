"""Examples written by hand from the citations: local times that a reader of each rule would check first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd

from compliance import hand
from compliance.test_by_citation_checks import numbers_of, together
from dialframe import compliance
from dialframe.compliance import hours
from dialframe.compliance.practice import Practice
from dialframe.compliance.rules import rulebook

BOOK = rulebook.load()
EAST, CENTRAL, PACIFIC = "America/New_York", "America/Chicago", "America/Los_Angeles"
HOME = "residential"

#: Jurisdictions asked, number, zone, line type, local time, grade.
EXAMPLES: list[tuple[str, str, str, str | None, str, str]] = [
    # 16 CFR 310.4(c), 47 CFR 64.1200(c)(1): 08:00 to 21:00, Sundays too.
    ("us", hand.NEW_YORK, EAST, None, "2026-11-22 08:00", "pass"),
    ("us", hand.NEW_YORK, EAST, None, "2026-11-22 07:59:59", "violation"),
    ("us", hand.NEW_YORK, EAST, None, "2026-11-25 21:00", "violation"),
    # Fla. Stat. 501.616(6)(a): 08:00 to 20:00; the federal hour to 21:00 does not help.
    ("us,us-fl", "+14075550142", EAST, None, "2026-11-25 19:59:59", "pass"),
    ("us,us-fl", "+14075550142", EAST, None, "2026-11-25 20:00", "violation"),
    ("us", "+14075550142", EAST, None, "2026-11-25 20:00", "pass"),
    # Tex. Bus. & Com. Code 301.051(b)(2): Monday to Saturday 9-21, Sunday noon-21, homes only.
    ("us,us-tx", "+15125550142", CENTRAL, HOME, "2026-11-22 11:59:59", "violation"),
    ("us,us-tx", "+15125550142", CENTRAL, HOME, "2026-11-22 12:00", "pass"),
    ("us,us-tx", "+15125550142", CENTRAL, HOME, "2026-11-23 08:30", "violation"),
    ("us,us-tx", "+15125550142", CENTRAL, "wireless", "2026-11-23 08:30", "pass"),
    ("us,us-tx", "+15125550142", CENTRAL, None, "2026-11-23 08:30", "not evaluable"),
    # 73 P.S. 2245(a)(1): 8-21 to 2026-10-17; then Monday to Saturday 9-19. Saturday, Sunday, Monday.
    ("us,us-pa", "+12155550142", EAST, None, "2026-10-17 20:30", "pass"),
    ("us,us-pa", "+12155550142", EAST, None, "2026-10-18 12:00", "violation"),
    ("us,us-pa", "+12155550142", EAST, None, "2026-10-11 12:00", "pass"),
    ("us,us-pa", "+12155550142", EAST, None, "2026-10-19 08:59:59", "violation"),
    ("us,us-pa", "+12155550142", EAST, None, "2026-10-19 18:59:59", "pass"),
    ("us,us-pa", "+12155550142", EAST, None, "2026-11-26 12:00", "violation"),  # Thanksgiving
    # Miss. Code 77-3-723(1): 8-20 Central STANDARD time, so 21:00 on a summer clock is the end.
    ("us-ms", "+16015550142", CENTRAL, "wireless", "2026-07-06 07:59", "violation"),
    ("us-ms", "+16015550142", CENTRAL, "wireless", "2026-07-06 08:30", "pass"),
    # In summer the advanced time is the standard time of the zone: 15 U.S.C. 260a(a).
    ("us-ms", "+16015550142", CENTRAL, "wireless", "2026-07-06 20:30", "violation"),
    ("us-ms", "+16015550142", CENTRAL, "wireless", "2026-01-05 08:00", "pass"),
    ("us-ms", "+16015550142", CENTRAL, "wireless", "2026-07-05 12:00", "violation"),
    # California has no hours for live calls: the federal ones hold.
    ("us,us-ca", "+14155550142", PACIFIC, None, "2026-07-06 20:59:59", "pass"),
    ("us,us-ca", "+14155550142", PACIFIC, None, "2026-07-06 21:00", "violation"),
    # Conn. Gen. Stat. 42-288a(c): 9-20 since 2023-10-01.
    ("us,us-ct", "+12035550142", EAST, None, "2026-07-06 08:30", "violation"),
    ("us,us-ct", "+12035550142", EAST, None, "2026-07-06 20:00", "violation"),
    ("us,us-ct", "+12035550142", EAST, None, "2023-09-30 08:30", "violation"),
    ("us,us-ct", "+12035550142", EAST, None, "2023-09-30 20:30", "pass"),
    ("us,us-ct", "+12035550142", EAST, None, "2023-10-01 20:30", "violation"),
    # CRTC: weekdays 9-21:30, weekends 10-18.
    ("ca", hand.TORONTO, "America/Toronto", None, "2026-07-06 21:29:59", "pass"),
    ("ca", hand.TORONTO, "America/Toronto", None, "2026-07-06 21:30", "violation"),
    ("ca", hand.TORONTO, "America/Toronto", None, "2026-07-04 09:59:59", "violation"),
    ("ca", hand.TORONTO, "America/Toronto", None, "2026-07-05 17:59:59", "pass"),
    # The United Kingdom: no hours were found, so no hour is a pass.
    ("gb", hand.LONDON, "Europe/London", None, "2026-07-06 12:00", "not evaluable"),
    ("gb", hand.LONDON, "Europe/London", None, "2026-07-06 03:00", "not evaluable"),
    # D. 223-9: Monday to Friday 10-13 and 14-20, no weekends and no holidays.
    ("fr", "+33199001234", "Europe/Paris", None, "2026-07-06 09:59:59", "violation"),
    ("fr", "+33199001234", "Europe/Paris", None, "2026-07-06 12:59:59", "pass"),
    ("fr", "+33199001234", "Europe/Paris", None, "2026-07-06 13:30", "violation"),
    ("fr", "+33199001234", "Europe/Paris", None, "2026-07-04 11:00", "violation"),
    ("fr", "+33199001234", "Europe/Paris", None, "2026-07-14 11:00", "violation"),
    ("fr", "+33199001234", "Europe/Paris", None, "2023-02-28 21:00", "not evaluable"),
    # Australia: weekdays 9-20, Saturday 9-17, no Sunday, no national holiday.
    ("au", "+61255500123", "Australia/Sydney", None, "2026-07-06 19:59:59", "pass"),
    ("au", "+61255500123", "Australia/Sydney", None, "2026-07-04 17:00", "violation"),
    ("au", "+61255500123", "Australia/Sydney", None, "2026-07-05 12:00", "violation"),
    ("au", "+61255500123", "Australia/Sydney", None, "2026-01-26 12:00", "violation"),
    # India: 10-21 since 2018-07-19, 9-21 before.
    ("in", "+911155550123", "Asia/Kolkata", None, "2026-07-06 09:30", "violation"),
    ("in", "+911155550123", "Asia/Kolkata", None, "2026-07-06 20:59:59", "pass"),
    ("in", "+911155550123", "Asia/Kolkata", None, "2018-07-18 09:30", "pass"),
    # 29 February, and the night of a clock change.
    ("us", hand.NEW_YORK, EAST, None, "2028-02-29 12:00", "pass"),
    ("us", hand.NEW_YORK, EAST, None, "2026-11-01 08:00", "pass"),
]


def _at(local: str, zone: str) -> datetime:
    return datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def test_hours_by_the_citation() -> None:
    """The clock on the wall of the person called, and what the rule says of it."""
    told = [""] * len(EXAMPLES)
    numbers = [number for (number,) in numbers_of(EXAMPLES)]
    for places, group in together(EXAMPLES):
        lines = {numbers[n]: EXAMPLES[n][3] for n in group if EXAMPLES[n][3]}
        rows = [
            hand.call(numbers[n], _at(EXAMPLES[n][4], EXAMPLES[n][2]), id=str(n)) for n in group
        ]
        firm = Practice(dialing="manual", line_types=lines)  # type: ignore[arg-type]
        found = hours.audit(hand.calls(*rows), rules=BOOK.select(places), practice=firm)
        for n, grade in zip(group, found["grade"], strict=True):
            told[n] = grade
    assert [(*row[:-1], grade) for row, grade in zip(EXAMPLES, told, strict=True)] == EXAMPLES


def _audit(
    calls: list[dict[str, Any]], *checks: dict[str, Any], **further: Any
) -> compliance.Audit:
    given = {"now": hand.utc("2026-12-31"), **further}
    return hand.audit(hand.leads(), hand.calls(*calls), hand.checks(*checks), **given)


def test_the_fourth_call_in_24_hours_to_florida() -> None:
    """Fla. Stat. 501.616(6)(b): more than three is the violation, over midnight too."""
    times = [
        "2026-07-06T19:00",
        "2026-07-06T22:00",
        "2026-07-07T13:00",
        "2026-07-07T18:59:59",
        "2026-07-07T22:00:00",
    ]
    rows = [hand.call("+14075550142", hand.utc(t), id=t) for t in times]
    grades = _audit(rows, rules=["us", "us-fl"]).parts["attempts"]["grade"].tolist()
    assert grades == ["pass", "pass", "pass", "violation", "pass"]
    apart = [dict(row, campaign_id=f"cmp_{n}") for n, row in enumerate(rows)]
    assert _audit(apart, rules=["us-fl"]).parts["attempts"]["grade"].tolist()[3] == "uncertain"


def test_ten_business_days_go_around_thanksgiving() -> None:
    """47 CFR 64.1200(d)(3): asked on Friday 2026-11-20, the tenth business day is Monday 2026-12-07."""
    asked = hand.call(at=_at("2026-11-20 12:00", EAST), id="asked", disposition="DNC")
    rows = [
        asked,
        hand.call(at=_at("2026-12-07 20:59", EAST), id="last"),
        hand.call(at=_at("2026-12-08 09:00", EAST), id="late"),
    ]
    assert _audit(rows, rules=["us"]).listed["grade"].tolist() == [
        "not evaluable",
        "indeterminate",
        "proven",
    ]


def test_france_before_and_after_2026_08_11() -> None:
    """Up to 2026-08-10 Bloctel is consulted; from the 11th on consent is asked for instead."""
    rows = [
        hand.call("+33199001234", _at(f"2026-08-{day} 11:00", "Europe/Paris"), id=day)
        for day in ("10", "11")
    ]
    told = hand.check(_at("2026-08-01 11:00", "Europe/Paris"), phone="+33199001234")
    consents = pd.DataFrame(
        {"phone": ["+33610000000"], "kind": ["express"], "granted_at": [hand.utc("2026-01-01")]}
    )
    audit = _audit(rows, told, rules=["fr"], consents=consents)
    # That the list is to be consulted rests on no source that was read: uncertain at best.
    assert audit.coverage.calls["grade"].tolist() == ["uncertain", "not evaluable"]
    consent = audit.parts["consent"]
    assert dict(zip(consent["call_id"], consent["grade"], strict=True)) == {"11": "violation"}


def test_the_united_kingdom_leaves_28_days_after_a_listing() -> None:
    """PECR reg. 21(3): a number listed for fewer than 28 days is not yet breached."""
    at = hand.utc("2026-07-06T12:00")
    for days, grade in ((27, "indeterminate"), (29, "proven")):
        told = hand.check(at - pd.Timedelta(days=days), listed=True, phone=hand.LONDON)
        assert _audit([hand.call(hand.LONDON, at)], told, rules=["gb"]).listed[
            "grade"
        ].tolist() == [grade]


def test_a_business_number_with_its_record_is_spared_where_the_rule_says_so() -> None:
    """Federal hours leave businesses out; Florida's do not. Without a record nothing is lifted."""
    row = hand.call("+14075550142", _at("2026-07-06 22:00", EAST), id="call_1")
    record = pd.DataFrame({"code": ["b2b"], "phone": ["+14075550142"], "record": ["register 17"]})
    federal = _audit([row], rules=["us"], exemptions=record)
    assert federal.hours["grade"].tolist() == ["pass"]
    assert "exempt by record: b2b" in federal.hours["reason"].item()
    assert _audit([row], rules=["us", "us-fl"], exemptions=record).hours["grade"].tolist() == [
        "violation"
    ]
    assert _audit([row], rules=["us"]).hours["grade"].tolist() == ["violation"]


def test_a_call_that_the_person_asked_for_agreed_to_its_time() -> None:
    """16 CFR 310.4(c) spares calls with prior consent; a request to be called then is one, with its record."""
    row = hand.call("+12125550142", _at("2026-07-06 22:00", EAST), id="call_1")
    record = pd.DataFrame({"code": ["requested"], "call_id": ["call_1"], "record": ["clb_17"]})

    assert _audit([row], rules=["us"]).hours["grade"].tolist() == ["violation"]
    asked = _audit([row], rules=["us"], exemptions=record).hours
    assert asked["grade"].tolist() == ["pass"]
    assert "exempt by record: requested" in asked["reason"].item()
