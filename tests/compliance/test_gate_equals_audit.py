"""The gate grades a call before it is made as the audit grades it afterwards, on random accounts and instants."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import pytest

from compliance import hand
from dialframe import compliance
from dialframe.compliance.practice import Conduct, Practice
from dialframe.phones.zones import area_codes

START = hand.utc("2026-01-05")
OWN = "+16465550180"
CAMPAIGNS = ("cmp_1", "cmp_2", "cmp_3")
ABROAD = (
    "+44207946",
    "+33199001",
    "+49302312",
    "+3491555",
    "+3906555",
    "+61255500",
    "+1416555",
    "+6565550",
)
FIRM = Practice(
    purposes={"cmp_2": "informational"}, dialing="predictive", dialings={"cmp_3": "prerecorded"},
    caller_ids=frozenset({OWN}), conduct=Conduct(recorded=True, recording_announced=True, artificial_voice=False),
)  # fmt: skip
#: Spans that rules count from a record, in days.
SPANS = (1, 2, 7, 20, 28, 30, 31, 60, 90, 180)


class World:
    """Numbers of all places, and random records of each before an instant; many end a span of a rule just there."""

    def __init__(self, seed: int, at: datetime, count: int) -> None:
        draw = self.draw = random.Random(seed)
        areas = sorted(area.code for area in area_codes().values() if area.zones)
        heads = [
            f"+1{draw.choice(areas)}555" if draw.random() < 0.75 else draw.choice(ABROAD)
            for _ in range(count)
        ]
        self.at, self.numbers = at, [f"{head}{n:04}" for n, head in enumerate(heads)]
        self.tables: dict[str, list[dict[str, Any]]] = {
            name: [] for name in ("calls", "leads", "checks")
        }
        self.records: dict[str, list[dict[str, Any]]] = {
            name: [] for name in ("consents", "look_ups", "exemptions", "events")
        }
        for number in self.numbers:
            self._fill(number)

    def before(self) -> datetime:
        """An instant before that of the call: hours, a span of a rule to the second, or years."""
        days = self.draw.choice(SPANS) + self.draw.choice((-1, 0, 0, 0, 1)) * self.draw.choice(
            (0.0, 1e-5, 0.004, 1.0)
        )
        hours = self.draw.choice((0.5, 2, 23.9, 24, 24.1, 71, 72))
        return self.at - timedelta(
            **({"hours": hours} if self.draw.random() < 0.4 else {"days": days})
        )

    def _fill(self, number: str) -> None:
        draw, at = self.draw, self.before
        for n in range(draw.choice((0, 0, 1, 2, 4, 9))):
            self.tables["calls"].append(hand.call(
                number, moment := at(), id=f"{number}/{n}", campaign_id=draw.choice(CAMPAIGNS), from_number=OWN,
                answered_at=moment if draw.random() < 0.4 else None,
                disposition=draw.choice(("NA", "SALE", None, None, "DNC") if draw.random() < 0.3 else ("NA",)),
            ))  # fmt: skip
        if draw.random() < 0.7:
            came = at()
            status = draw.choice(("new", "new", "new", "dnc", "completed"))
            self.tables["leads"].append(
                hand.lead(number, status=status, created_at=came, updated_at=came)
            )
        for _ in range(draw.choice((0, 1, 1, 2))):
            self.tables["checks"].append(
                hand.check(at(), phone=number, listed=draw.random() < 0.08)
            )
        kind, granted = draw.choice(("written", "express", "any")), at()
        if draw.random() < 0.4:
            ends, revoked = (at() if draw.random() < 0.3 else None for _ in range(2))
            self.records["consents"].append(
                {"phone": number, "kind": kind, "granted_at": granted - timedelta(days=200), "expires_at": ends,
                 "revoked_at": revoked, "revoked_for": draw.choice((None, "cmp_1")), "record": f"r{number}"})  # fmt: skip
        if draw.random() < 0.2:
            self.records["look_ups"].append(
                {"phone": number, "checked_at": at(), "result": draw.choice(("no", "yes"))}
            )
        if draw.random() < 0.08:
            self.records["exemptions"].append(
                {"code": draw.choice(("ebr", "b2b", "requested")), "phone": number, "from_at": at(), "record": "r"})  # fmt: skip
        if draw.random() < 0.05:
            self.records["events"].append(
                {"phone": number, "at": at(), "ref": "e", "code": "DNC", "source": "event"}
            )

    def question(self, now: datetime, **more: Any) -> compliance.Question:
        """What is asked of it."""
        given = {name: _frame(rows) for name, rows in self.records.items() if rows}
        return compliance.Question(
            now=now, practice=hand.declared(FIRM), tells_answers=True, **given, **more
        )

    def frames(self, *made: dict[str, Any]) -> dict[str, pd.DataFrame]:
        """Its tables, with calls that were made."""
        return {
            "calls": hand.calls(*self.tables["calls"], *made), "leads": hand.leads(*self.tables["leads"]),
            "dnc_checks": hand.checks(*self.tables["checks"]),
        }  # fmt: skip


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    moments = [name for name in frame.columns if name.endswith("_at") or name == "at"]
    return frame.assign(
        **{
            name: pd.to_datetime(frame[name], utc=True).astype("datetime64[us, UTC]")
            for name in moments
        }
    )


def differences(
    seed: int, count: int, **question: Any
) -> list[tuple[str, str, str | None, str | None]]:
    """Where gate and audit grade a call otherwise: number, check, and both grades.

    The gate has stood open since an instant of the same quarter of an hour, and remembers what it said then.
    """
    draw = random.Random(seed)
    at = START + timedelta(
        minutes=15 * draw.randrange(96 * 500), seconds=draw.choice((0, 0, 1, 433, 899))
    )
    world = World(seed, at, count)
    campaign = draw.choice(CAMPAIGNS)
    gate = compliance.Gate(world.frames(), world.question(at, **question), block=count)
    quarter = at.replace(minute=at.minute // 15 * 15, second=0)
    gate.ask(
        world.numbers[:1],
        at=quarter + (at - quarter) * draw.random(),
        campaign=campaign,
        caller_id=OWN,
    )
    told = gate.ask(world.numbers, at=at, campaign=campaign, caller_id=OWN)
    made = [
        hand.call(n, at, id=n, campaign_id=campaign, from_number=OWN, answered_at=at)
        for n in world.numbers
    ]
    audit = compliance.audit(world.frames(*made), world.question(at, since=at, **question))
    graded: dict[tuple[str, str], str] = {}
    for name in set(audit.engine.ran) & {check for each in told for check in each["grades"]}:
        rows = audit.engine.db.rows(f"""
            select c.call_id, g.grade::varchar from {audit.engine.calls_of(name)} m join calls c on c.call = m.call
            join {name}_grades g using (question) where c.call_id like '+%' and c.call_id not like '%/%'""")
        graded |= {(number, name): grade for number, grade in rows}
    before = {
        (each["number"], check): grade for each in told for check, grade in each["grades"].items()
    }
    for each in told:
        held = {grade for (number, _), grade in graded.items() if number == each["number"]} != {
            "pass"
        }
        assert (each["verdict"] == "held") == held
    return [
        (*key, before.get(key), graded.get(key))
        for key in sorted({*before, *graded})
        if before.get(key) != graded.get(key)
    ]


@pytest.mark.parametrize(
    ("seed", "rules"), [(1, None), (2, ["us", "us-*"]), (3, None), (4, ["us"])]
)
def test_the_gate_grades_a_call_as_the_audit_does(seed: int, rules: list[str] | None) -> None:
    """Five hundred numbers of all places at one instant, each check; what the gate remembers holds too."""
    assert differences(seed, 500, rules=rules) == []
