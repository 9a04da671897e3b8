"""Scenes of a few calls, each made from the data of one rule, and the audits that judge as many of them as they can hold."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pandas as pd

from compliance import hand
from dialframe import compliance
from dialframe.compliance.practice import Practice
from dialframe.compliance.rule_examples import phone_of
from dialframe.compliance.rules import rulebook
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.rule_model import Rule
from dialframe.compliance.rules.rulebook import adopted
from dialframe.phones.zones import area_codes, of_number

#: Every rule as if it had been read beyond doubt: what it asks is tested here, not how sure it is.
BOOK = hand.trusted(rulebook.load())
TICK, DAY = timedelta(microseconds=1), timedelta(days=1)

#: The moment of an audit that no call comes after.
LATE = hand.utc("2100-01-01")

#: A number with one zone for each country that has rules.
NUMBERS = {
    "US": hand.NEW_YORK, "AU": "+61255500123", "BR": "+551155550123", "CA": hand.TORONTO,
    "DE": "+493023125123", "ES": "+34915550123", "FR": "+33199001234", "GB": hand.LONDON,
    "IE": "+35315550123", "IN": "+911155550123", "IT": "+390655550123", "MX": "+525555550123",
    "NL": "+31205550123", "NZ": "+6495550123", "PT": "+351215550123", "SG": "+6565550123",
    "ZA": "+27115550123",
}  # fmt: skip

#: Kinds of rules, and which of them look at the same calls: these have numbers of their own, by the place in the list.
LOOKING = (
    {"calling_hours", "holiday"}, {"attempt_cap"}, {"dnc_freshness", "internal_dnc"}, {"consent"}, {"retention"},
    {"recording_consent"}, {"caller_id"}, {"artificial_voice"}, {"sector_ban"}, {"abandonment_rate"},
)  # fmt: skip


def siblings(rule: Rule, count: int) -> list[str]:
    """Numbers that the rule reaches, of one zone, for the calls that rules of its kind look at."""
    return [f"{_stem(rule.jurisdiction)[:-2]}{_looking(rule)}{digit}" for digit in range(count)]


def number(rule: Rule) -> str:
    """One of these numbers."""
    return siblings(rule, 3)[2]


def _looking(rule: Rule) -> int:
    return next(n for n, kinds in enumerate(LOOKING) if rule.kind in kinds)


@functools.cache
def _stem(jurisdiction: str) -> str:
    if not jurisdiction.startswith("US-"):
        return NUMBERS.get(jurisdiction) or phone_of(jurisdiction)
    state = jurisdiction[3:]
    phones = [f"+1{area.code}5550142" for area in area_codes().values() if area.state == state]
    return min(phones, key=lambda phone: (len(of_number(phone).names), phone))


@functools.cache
def regions(jurisdiction: str) -> frozenset[str]:
    """Places where the number of a place may be."""
    return frozenset(of_number(_stem(jurisdiction)).regions)


def practice(rule: Rule) -> Practice:
    """What a firm would have to say for the rule to reach its calls."""
    dialing = {"any": "manual", "autodialer_or_prerecorded": "prerecorded"}
    purposes = {
        "prerecorded",
        "autodialed",
        "live_marketing",
        "any_outbound_dialer",
        "call_centre_outbound",
        "any_call",
    }
    purpose = rule.applies_to[0]
    if purpose in purposes:
        purpose = "telemarketing_sales"
    return Practice(
        purpose="informational" if purpose == "informational_prerecorded" else purpose,
        dialing=dialing.get(rule.dialing, rule.dialing),
        line_types=dict.fromkeys(siblings(rule, 10), rule.line_types[0]),
    )


def some_day(rule: Rule) -> date:
    """A Monday on which the rule is in force, the week after it too where that can be."""
    start = rule.effective_from or date(2024, 1, 8)
    if rule.effective_to is not None and rule.effective_from is None:
        start = rule.effective_to - timedelta(days=20)
    return start + timedelta(days=-start.weekday() % 7)


def zone(rule: Rule) -> ZoneInfo:
    """Zone of the rule's number, or the fixed one of the rule."""
    fixed = getattr(rule.parameters, "timezone", None)
    return ZoneInfo(fixed or _zone_name(rule.jurisdiction))


@functools.cache
def _zone_name(jurisdiction: str) -> str:
    return of_number(_stem(jurisdiction)).names[0]


def at(rule: Rule, day: date, clock: time) -> datetime:
    """An instant by the rule's clock."""
    return datetime.combine(day, clock, zone(rule)).astimezone(UTC)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """Calls that a rule is asked about, and what is on record around them.

    Attributes:
        rule: The rule, adopted where it is a voluntary code.
        parts: Frames of the audit that are looked at.
        rows: The calls; ids and campaigns are the scene's own.
        firm: What the firm says of them.
        checks: The ledger.
        beside: Further rules that are asked.
        states: Number to state.
        tables: Records by the name of their table: `consents`, `look_ups`, `exemptions`.
        outcomes: Call id to outcome; None: nobody says.
        declared: Days that were declared.
        now: The moment of the audit.
        alike: What else has to be the same for scenes of one audit.
    """

    rule: Any
    parts: tuple[str, ...]
    rows: Sequence[Mapping[str, Any]]
    firm: Practice
    checks: Sequence[Mapping[str, Any]] = ()
    beside: Sequence[Rule] = ()
    states: Mapping[str, str] = dataclasses.field(default_factory=dict)
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = dataclasses.field(default_factory=dict)
    outcomes: Mapping[str, str] | None = None
    declared: Mapping[date, str] = dataclasses.field(default_factory=dict)
    now: datetime = LATE
    alike: object = None

    @property
    def key(self) -> object:
        """What scenes of one audit have in common: a table that nobody gave says something too."""
        tables = frozenset(self.tables) - {"exemptions"}
        return self.now, self.alike, self.outcomes is None, tables

    def own(self, name: object) -> str:
        """An id, or a campaign, as the scene's own."""
        return f"{self.rule.id}/{name}"

    @functools.cached_property
    def reach(self) -> frozenset[str]:
        """Places where its numbers may be."""
        return regions(self.rule.jurisdiction) | {f"US-{state}" for state in self.states.values()}

    @functools.cached_property
    def looks(self) -> frozenset[int]:
        """Calls that its rules look at, by `LOOKING`."""
        return frozenset(_looking(rule) for rule in (self.rule, *self.beside))

    def meets(self, other: Scene) -> bool:
        """Whether a rule of one of them looks at calls of the other."""
        if self.firm.callers_in and other.firm.callers_in:
            return True
        # Whether a look-up or a port is asked for depends on whether a rule asks for consent at all.
        if self.rule.kind == other.rule.kind == "consent" and (
            self.is_defense or other.is_defense
        ):
            return True
        looks_alike = self.looks & other.looks or self.counts_all or other.counts_all
        return bool(looks_alike) and bool(self.asks_in & other.reach or other.asks_in & self.reach)

    @property
    def is_defense(self) -> bool:
        """Whether its rule is a defense of those who looked a number up, or called soon after a port."""
        check = getattr(self.rule.parameters, "check", "")
        return check in {"reassigned_number", "ported_number_grace"}

    @functools.cached_property
    def asks_in(self) -> frozenset[str]:
        """Places of its rules."""
        return frozenset(rule.jurisdiction for rule in (self.rule, *self.beside))

    @property
    def counts_all(self) -> bool:
        """Whether calls of any kind count: in the share of a caller, and among findings."""
        return "findings" in self.parts or getattr(self.rule.parameters, "scope", "") == "caller"


Frames = dict[str, pd.DataFrame]


def judged(scenes: Iterable[Scene]) -> list[Frames]:
    """The frames of each scene, with its calls alone, by as few audits as can hold them all."""
    every = list(scenes)
    found: dict[Scene, Frames] = {}
    for group in grouped(every):
        whole = audit(group)
        # A frame is put together once, however many scenes it speaks of.
        parts = {
            part: divided(group, frame_of(whole, part)) for scene in group for part in scene.parts
        }
        found |= {
            scene: {part: parts[part][scene.rule.id] for part in scene.parts} for scene in group
        }
    return [found[scene] for scene in every]


def grouped(scenes: Iterable[Scene]) -> Iterator[list[Scene]]:
    """Scenes that one audit can hold."""
    groups: list[list[Scene]] = []
    for scene in scenes:
        for group in groups:
            if group[0].key == scene.key and not any(scene.meets(other) for other in group):
                group.append(scene)
                break
        else:
            groups.append([scene])
    yield from groups


def audit(scenes: Sequence[Scene]) -> compliance.Audit:
    """One audit of all of them; the firm says of each campaign and number what the scene's firm says."""
    rules = {rule.id: rule for scene in scenes for rule in (*scene.beside, adopted(scene.rule))}
    book = dataclasses.replace(BOOK, rules=tuple(rules.values()))
    first = scenes[0]
    outcomes = {
        scene.own(name): outcome
        for scene in scenes
        for name, outcome in (scene.outcomes or {}).items()
    }
    return hand.audit(
        hand.leads(), hand.calls(*(row for scene in scenes for row in _rows(scene))),
        hand.checks(*(check for scene in scenes for check in scene.checks)),
        book=book, practice=_firm(scenes), now=first.now,
        states={phone: state for scene in scenes for phone, state in scene.states.items()},
        outcomes=None if first.outcomes is None else outcomes,
        declared=Declared({scene.rule.id: dict(scene.declared) for scene in scenes if scene.declared}),
        **{name: _table(scenes, name) for name in {name for scene in scenes for name in scene.tables}},
    )  # fmt: skip


def _rows(scene: Scene) -> Iterator[dict[str, Any]]:
    for row in scene.rows:
        own = {name: scene.own(row[name]) for name in ("id", "campaign_id")}
        yield {**row, **own}


def _firm(scenes: Sequence[Scene]) -> Practice:
    of_campaigns: dict[str, dict[str, Any]] = {"purposes": {}, "dialings": {}, "conducts": {}}
    for scene in scenes:
        firm = scene.firm
        for campaign in {row["campaign_id"] for row in scene.rows}:
            name = scene.own(campaign)
            of_campaigns["purposes"][name] = firm.purposes.get(campaign, firm.purpose)
            of_campaigns["dialings"][name] = firm.dialing
            if campaign in firm.conducts:
                of_campaigns["conducts"][name] = firm.conducts[campaign]
    firms = [scene.firm for scene in scenes]
    shown = [firm.caller_ids for firm in firms if firm.caller_ids is not None]
    return Practice(
        line_types={phone: line for firm in firms for phone, line in firm.line_types.items()},
        caller_ids=frozenset().union(*shown) if shown else None,
        callers_in=tuple(dict.fromkeys(place for firm in firms for place in firm.callers_in)),
        **of_campaigns,
    )


def _table(scenes: Sequence[Scene], name: str) -> pd.DataFrame:
    table = pd.DataFrame([record for scene in scenes for record in scene.tables.get(name, ())])
    moments = [column for column in table.columns if column.endswith("_at")]
    return table.astype(dict.fromkeys(moments, "datetime64[us, UTC]"))


def frame_of(audit: compliance.Audit, part: str) -> pd.DataFrame:
    """A frame of an audit by its name."""
    if part == "checked":
        return audit.coverage.calls
    if part == "every_listed":
        return audit.engine.frame(f"""
            select c.call_id, g.grade::varchar as grade from calls c
            join {audit.engine.calls_of("listed_number")} m on m.call = c.call join listed_number_grades g using (question)""")
    if part == "findings":
        # What is not evaluable is one row for calls of every scene.
        return audit.findings[(audit.findings["grade"] != "not evaluable").to_numpy()]
    if part == "notes":
        notes = pd.Series(audit.notes)
        return pd.DataFrame(
            {"rule_id": notes.str.extract("^Rule ([^:]+):")[0], "grade": "", "reason": notes}
        )
    return getattr(audit, part) if part in {"hours", "listed"} else audit.parts[part]


def divided(scenes: Sequence[Scene], frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Rows of a frame by the rule of their scene."""
    if "call_id" in frame:
        names = frame["call_id"].str.extract("^([^/]*)/(.*)$")
        frame, owners = frame.assign(call_id=names[1]), names[0]
    elif "phone" in frame:
        of_phone = {row["to_number"]: scene.rule.id for scene in scenes for row in scene.rows}
        owners = frame["phone"].map(of_phone)
    else:
        owners = frame["rule_id"]
        if "campaign_id" in frame:
            campaigns = frame["campaign_id"].str.partition("/")[0]
            owners = owners.where(campaigns.isna() | (campaigns == owners))
    return {scene.rule.id: frame[(owners == scene.rule.id).to_numpy()] for scene in scenes}
