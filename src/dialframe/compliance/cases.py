"""Calls sorted into cases: the same candidate places and the same circumstances, so that law is looked up once per case; grades nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.compliance.facts import Rule
from dialframe.compliance.intake import distinct
from dialframe.compliance.lifting import Lifted
from dialframe.compliance.practice import Practice, Setting, reach
from dialframe.phones.placing import as_integers, place
from dialframe.phones.zones import FIXED, MOBILE, Zones

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]

_R = TypeVar("_R", bound=Rule)
#: A mobile line may be a home's or a business's, so it says only what it is not.
_LINES: Final = {MOBILE: "wireless"}


@dataclass(frozen=True, slots=True)
class Case:
    """One kind of call: where it may have gone, and under which circumstances it was made."""

    zones: Zones
    setting: Setting


@dataclass(frozen=True, slots=True)
class Reached:
    """A rule that reaches a case.

    Attributes:
        rule: The rule.
        missing: Input without which nobody can tell whether the rule reaches the call; empty
            where it does for certain.
        doubtful: Whether only the area code speaks for the rule's state, against a known one.
    """

    rule: Rule
    missing: str
    doubtful: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Cases:
    """Which case each call is of.

    Attributes:
        codes: Position of each call's case in `kinds`, int32.
        kinds: The distinct cases.
        phones: Called numbers as integers, -1 for none.
    """

    codes: Codes
    kinds: tuple[Case, ...]
    phones: Ints

    def take(self, rows: Ints) -> Cases:
        """Some of the calls, with the cases that are left."""
        codes, used = pd.factorize(self.codes[rows])
        kinds = tuple(self.kinds[kind] for kind in used.tolist())
        return Cases(codes.astype(np.int32), kinds, self.phones[rows])

    def some(self, rows: Ints) -> Cases:
        """Some of the calls, with all cases."""
        return Cases(self.codes[rows], self.kinds, self.phones[rows])

    def pick(self, values: Sequence[object]) -> npt.NDArray[np.object_]:
        """One value per case, spread over the calls."""
        table = np.empty(len(values), dtype=object)
        table[:] = list(values)
        spread: npt.NDArray[np.object_] = table[self.codes]
        return spread


def sort(
    calls: pd.DataFrame,
    *,
    practice: Practice,
    states: Mapping[str, str] | pd.Series | None = None,
    lifted: Lifted | None = None,
) -> Cases:
    """Sort calls into cases.

    Args:
        calls: Columns `to_number`, `campaign_id`, and `id` and `created_at` where exemptions count.
        practice: What the firm says of its calling.
        states: Number to US state or ZIP code, where the account knows it.
        lifted: Records of exemptions.
    """
    phones = as_integers(calls["to_number"])
    placed = place(phones, states)
    settings, which = _settings(calls, practice)
    lines, of_line = _lines(phones, practice)
    codes_of, exempt = _exemptions(calls, lifted)
    if len(settings) == len(lines) == len(codes_of) == 1:
        alike = (settings[0], lines[0], codes_of[0])
        return Cases(placed.codes, tuple(_case(zones, *alike) for zones in placed.kinds), phones)
    wide = placed.codes.astype(np.int64)
    for part, size in ((which, len(settings)), (of_line, len(lines)), (exempt, len(codes_of))):
        wide = wide * size + part
    codes, distinct = pd.factorize(wide)
    kinds = []
    for value in distinct.tolist():
        rest, lift = divmod(value, len(codes_of))
        rest, line = divmod(rest, len(lines))
        kind, setting = divmod(rest, len(settings))
        kinds.append(_case(placed.kinds[kind], settings[setting], lines[line], codes_of[lift]))
    return Cases(codes.astype(np.int32), tuple(kinds), phones)


def reached(case: Case, rules: Sequence[_R]) -> list[Reached]:
    """Rules that reach a case or may reach it, by place and circumstances; days are not looked at."""
    found = []
    for rule in rules:
        if rule.jurisdiction not in case.zones.regions or rule.status == "voluntary_code":
            continue
        certain, missing = reach(rule, case.setting)
        if certain:
            doubtful = rule.jurisdiction in case.zones.doubtful and not _presumed(rule)
            found.append(Reached(rule, missing, doubtful))
    return found


def _presumed(rule: Rule) -> bool:
    return bool(getattr(rule.parameters, "area_code_presumption", False))


def _case(zones: Zones, setting: Setting, line: str | None, lift: frozenset[str]) -> Case:
    known = line or (_LINES.get(zones.line_type) if zones.line_type != FIXED else None)
    return Case(zones, Setting(setting.purpose, setting.dialing, known, lift))


def _settings(calls: pd.DataFrame, practice: Practice) -> tuple[list[Setting], Ints]:
    """Circumstances by campaign."""
    if not practice.purposes and not practice.dialings:
        return [Setting(practice.purpose, practice.dialing)], np.zeros(len(calls), dtype=np.int64)
    codes, campaigns = distinct(calls["campaign_id"])
    settings = [
        Setting(
            practice.purposes.get(str(campaign), practice.purpose),
            practice.dialings.get(str(campaign), practice.dialing),
        )
        for campaign in campaigns
    ]
    settings.append(Setting(practice.purpose, practice.dialing))  # of calls without campaign
    return settings, np.where(codes < 0, len(settings) - 1, codes).astype(np.int64)


def _lines(phones: Ints, practice: Practice) -> tuple[list[str | None], Ints]:
    if not practice.line_types:
        return [None], np.zeros(len(phones), dtype=np.int64)
    kinds: list[str | None] = [None, *sorted(set(practice.line_types.values()))]
    keys = as_integers(pd.Series(list(practice.line_types), dtype="str"))
    values = np.array([kinds.index(kind) for kind in practice.line_types.values()])
    at = pd.Index(keys).get_indexer(phones)
    return kinds, np.where((at >= 0) & (phones >= 0), values[at], 0).astype(np.int64)


def _exemptions(calls: pd.DataFrame, lifted: Lifted | None) -> tuple[list[frozenset[str]], Ints]:
    if lifted is None or not len(lifted.records):
        return [frozenset()], np.zeros(len(calls), dtype=np.int64)
    sets = lifted.codes(calls)
    kinds = list(dict.fromkeys([frozenset(), *sets.values()]))
    which = np.zeros(len(calls), dtype=np.int64)
    for row, codes in sets.items():
        which[row] = kinds.index(codes)
    return kinds, which


def spared(case: Case, rules: Sequence[_R]) -> tuple[_R, ...]:
    """Rules that would reach a case if no record lifted them."""
    if not case.setting.lifted:
        return ()
    bare = Case(
        case.zones, Setting(case.setting.purpose, case.setting.dialing, case.setting.line_type)
    )
    left = {each.rule.id for each in reached(case, rules)}
    wanted = {each.rule.id for each in reached(bare, rules)} - left
    return tuple(rule for rule in rules if rule.id in wanted)
