"""Grades examples of rules by auditing the calls that they describe, many examples in one audit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, Final

import pandas as pd

from dialframe import frames
from dialframe.compliance.auditing import audit
from dialframe.compliance.grades import (
    CLEAR,
    INDETERMINATE,
    NOT_EVALUABLE,
    PASSED,
    PROVEN,
    UNCERTAIN,
    VIOLATION,
)
from dialframe.compliance.practice import Cover, Practice
from dialframe.compliance.result import Audit
from dialframe.compliance.rules.calendars import Declared
from dialframe.compliance.rules.examples import Scene
from dialframe.compliance.rules.rule_model import FreshnessRule

__all__ = ["grades_of"]

_WORDS: Final[Mapping[str, str]] = {
    PROVEN: VIOLATION, INDETERMINATE: UNCERTAIN, CLEAR: PASSED,
}  # fmt: skip
_ORDER: Final = (VIOLATION, UNCERTAIN, NOT_EVALUABLE, PASSED)
#: Kinds whose examples say nothing of one another though they call the same number.
_CALL_BY_CALL: Final = frozenset({"calling_hours", "holiday", "caller_id", "recording_consent"})


@dataclass(slots=True)
class _Batch:
    """Scenes that one audit can grade without one speaking of another."""

    kind: str
    has_consents: bool
    scenes: list[int] = field(default_factory=list)
    rules: dict[str, str] = field(default_factory=dict)
    phones: set[str] = field(default_factory=set)

    def takes(self, scene: Scene) -> bool:
        """Whether the scene can stand beside those of the batch."""
        rule, phone = scene.rule, scene.calls[0]["to_number"]
        if (rule.kind, scene.consents is not None) != (self.kind, self.has_consents):
            return False
        if rule.kind == "retention" and self.scenes:
            return False
        if phone in self.phones and rule.kind not in _CALL_BY_CALL:
            return False
        country = rule.jurisdiction[:2]
        return all(
            rule.id == other or (place != rule.jurisdiction
            and (place[:2] != country or ("-" in place and "-" in rule.jurisdiction)))
            for other, place in self.rules.items()
        )  # fmt: skip

    def add(self, number: int, scene: Scene) -> None:
        """Take a scene in."""
        self.scenes.append(number)
        self.rules[scene.rule.id] = scene.rule.jurisdiction
        self.phones.add(scene.calls[0]["to_number"])


def grades_of(scenes: Sequence[Scene]) -> list[str | None]:
    """The grade that an audit gives the call of each scene; None where no check asks its rule."""
    batches: list[_Batch] = []
    for number, scene in enumerate(scenes):
        batch = next((b for b in batches if b.takes(scene)), None)
        if batch is None:
            batch = _Batch(scene.rule.kind, scene.consents is not None)
            batches.append(batch)
        batch.add(number, scene)
    grades: list[str | None] = [None] * len(scenes)
    for batch in batches:
        chosen = [_named(scenes[number], number) for number in batch.scenes]
        found = _audit(chosen)
        for number, scene in zip(batch.scenes, chosen, strict=True):
            grades[number] = _grade(found, scene)
    return grades


def _named(scene: Scene, number: int) -> Scene:
    """The scene with names of its own for its calls and its campaign."""
    calls = [
        call | {"id": f"{number}-{call['id']}", "campaign_id": f"cmp_{number}"}
        for call in scene.calls
    ]
    outcomes = {f"{number}-{call}": kind for call, kind in scene.outcomes.items()}
    return replace(scene, calls=calls, outcomes=outcomes, call_id=f"{number}-{scene.call_id}")


def _audit(scenes: Sequence[Scene]) -> Audit:
    rules = {rule.id: rule for scene in scenes for rule in scene.book.rules}
    declared: dict[str, dict[date, str]] = {}
    for scene in scenes:
        for rule_id, days in (scene.declared or {}).items():
            declared.setdefault(rule_id, {}).update(days)
    return audit(
        frames.from_records(frames.LEADS, ()),
        frames.from_records(frames.CALLS, [call for scene in scenes for call in scene.calls]),
        frames.from_records(frames.DNC_CHECKS, [row for scene in scenes for row in scene.checks]),
        now=max(scene.now for scene in scenes), rules=list(rules),
        rulebook=replace(scenes[0].book, rules=tuple(rules.values())),
        practice=_practice(scenes), declared=Declared(declared),
        consents=_records([s.consents for s in scenes], "granted_at", "revoked_at"),
        look_ups=_records([s.look_ups for s in scenes], "checked_at", "ported_at"),
        outcomes={call: kind for scene in scenes for call, kind in scene.outcomes.items()} or None,
    )  # fmt: skip


def _grade(found: Audit, scene: Scene) -> str | None:
    """The rows of the check that asks the rule, as a grade."""
    frame = _rows(found, scene)
    if frame is None:
        return None
    key = "campaign_id" if scene.rule.kind == "abandonment_rate" else "call_id"
    wanted = scene.calls[0]["campaign_id"] if key == "campaign_id" else scene.call_id
    rows = frame[frame[key] == wanted] if key in frame else frame
    if rows.empty and "rule_id" in frame:
        rows = frame[frame["rule_id"] == scene.rule.id]
    grades = [_WORDS.get(str(grade), str(grade)) for grade in rows["grade"]]
    if not grades:
        return PASSED if frame is found.listed or scene.rule.kind == "sector_ban" else None
    return scene.rule.capped(min(grades, key=_ORDER.index))


def _rows(found: Audit, scene: Scene) -> pd.DataFrame | None:
    rule, parts = scene.rule, found.parts
    if rule.kind in ("calling_hours", "holiday"):
        emergency = getattr(rule.parameters, "type", "") == "emergency_ban"
        return parts.get("emergencies") if emergency else found.hours
    if rule.kind == "dnc_freshness" and getattr(rule.parameters, "check", "") == "age":
        return found.coverage.calls
    if rule.kind in ("dnc_freshness", "internal_dnc"):
        return found.listed
    names = {
        "attempt_cap": "attempts", "abandonment_rate": "abandonment", "consent": "consent",
        "retention": "retention", "sector_ban": "sectors",
    }  # fmt: skip
    return parts.get(names.get(rule.kind, ""))


def _practice(scenes: Sequence[Scene]) -> Practice:
    campaigns = {scene.calls[0]["campaign_id"]: scene for scene in scenes}
    return Practice(
        purposes={campaign: scene.purpose for campaign, scene in campaigns.items()},
        dialings={campaign: scene.dialing for campaign, scene in campaigns.items()},
        line_types={call["to_number"]: s.line_type for s in scenes for call in s.calls},
        covers=tuple(
            Cover(rule.parameters.registry)
            for scene in scenes
            for rule in scene.book.of_kind(FreshnessRule)
        ),
    )


def _records(tables: Sequence[list[dict[str, Any]] | None], *instants: str) -> pd.DataFrame | None:
    """Records of all scenes as one frame; None where none of them has a table."""
    given = [row for rows in tables for row in rows or ()]
    if all(rows is None for rows in tables):
        return None
    names = ["phone", "kind", "record"] if "granted_at" in instants else ["phone", "result"]
    frame = pd.DataFrame(given, columns=[*names, *instants])
    return frame.astype(dict.fromkeys(instants, "datetime64[us, UTC]"))
