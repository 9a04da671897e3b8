"""The counted attempts as arrays: outcome, lead, time, which attempt it is; knows no metric.

Every analysis starts here, so that all of them count the same calls and their totals agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.analytics.classification import PLACE, Classes, classes, unmapped
from dialframe.analytics.columns import (
    NO_TIME,
    Floats,
    Ints,
    Mask,
    arrow,
    in_order,
    micros,
    require,
    seconds,
)
from dialframe.analytics.counting import Notes, Scope, balance, latest, scope
from dialframe.analytics.groups import known_campaign, lead_groups, no_leads
from dialframe.analytics.matching import Matched, match_rows
from dialframe.analytics.outcomes import CONNECTED_UNKNOWN
from dialframe.analytics.stages import NO_GROUP, NOTES
from dialframe.analytics.taxonomy import Taxonomy

_PER_MS: Final = 1_000
_NEEDED: Final = ("created_at", "answered_at", "ended_at", "direction", "to_number")


@dataclass(frozen=True, eq=False)
class Dials:
    """Counted attempts.

    Attributes:
        calls: The frame of calls, whole.
        leads: The frame of leads; without rows where none was given.
        rows: Position in `calls` of each counted attempt.
        classes: Outcome classes of every call of `calls`.
        matched: Lead of every call of `calls`.
        scope: Which calls count, and why others do not.
        taxonomy: What classed them.
        as_of: Latest instant in the data, or what the caller said.
        campaign: The only campaign looked at, or None.
        known: What was worked out once and several analyses need again.
    """

    calls: pd.DataFrame
    leads: pd.DataFrame
    rows: Ints
    classes: Classes
    matched: Matched
    scope: Scope
    taxonomy: Taxonomy
    as_of: datetime | None
    campaign: str | None = None
    known: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def outcome(self) -> npt.NDArray[np.int8]:
        """Place of each attempt's class in `OUTCOMES`."""
        return self.classes.outcome[self.rows]

    @cached_property
    def lead(self) -> npt.NDArray[np.int32]:
        """Row of each attempt's lead, -1 where it has none."""
        return self.matched.lead[self.rows]

    @cached_property
    def when(self) -> Ints:
        """When each attempt was started, microseconds UTC."""
        return micros(self.calls["created_at"])[self.rows]

    @cached_property
    def ring_s(self) -> Floats:
        """Seconds to the answer, or to the end without one; NaN where not known."""
        answered = micros(self.calls["answered_at"])[self.rows]
        ended = micros(self.calls["ended_at"])[self.rows]
        return seconds(np.where(answered == NO_TIME, ended, answered), self.when)

    @cached_property
    def talk_s(self) -> Floats:
        """Seconds from answer to end; NaN where not answered, not known or negative."""
        answered = micros(self.calls["answered_at"])[self.rows]
        talk = seconds(micros(self.calls["ended_at"])[self.rows], answered)
        return np.where(talk >= 0, talk, np.nan)

    @cached_property
    def cluster(self) -> Ints:
        """What attempts resemble each other by: the lead, or the number where there is none."""
        if (self.lead >= 0).all():
            return self.lead.astype(np.int64)
        number = arrow(self.calls["to_number"]).take(self.rows)
        codes = pc.dictionary_encode(number, null_encoding="encode").indices
        return np.where(
            self.lead >= 0, self.lead, len(self.leads) + np.asarray(codes, dtype=np.int64)
        )

    @cached_property
    def order(self) -> Ints:
        """Attempts by lead (or number) and, within one, by time."""
        at = self.when - self.when.min(initial=0) if len(self) else self.when
        span = int(at.max(initial=0)) // _PER_MS + 1
        if int(self.cluster.max(initial=0)) + 1 < 2**62 // span:
            at //= _PER_MS
            at += self.cluster * span
            return np.argsort(at, kind="stable")
        return np.lexsort((at, self.cluster))

    @cached_property
    def attempt(self) -> npt.NDArray[np.int32]:
        """Which attempt on its lead each is, from 1."""
        ordered = self.cluster[self.order]
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(self)])
        place = np.arange(1, len(self) + 1, dtype=np.int32)
        place -= np.repeat(first.astype(np.int32), np.diff(np.append(first, len(self))))
        number = np.empty(len(self), dtype=np.int32)
        number[self.order] = place
        return number

    def flag(self, name: str) -> Mask:
        """A flag of each attempt's class: `human`, `machine`, `answered`, ..."""
        if name == "answered":
            return self.classes.answered[self.rows]
        return self.classes.flag(name)[self.rows]

    def is_class(self, *names: str) -> Mask:
        """True where the outcome is one of these classes."""
        found = self.outcome == PLACE[names[0]]
        for name in names[1:]:
            found |= self.outcome == PLACE[name]
        return np.asarray(found)

    def numbers(self, column: str) -> pa.Array:
        """A column of numbers of the attempts, as Arrow text."""
        whole = arrow(self.calls[column])
        return whole if len(self) == len(whole) else whole.take(pa.array(self.rows))

    def text(self, column: str) -> tuple[Ints, list[str]]:
        """A text column of the calls as codes and names in their order, with a name for null.

        Raises:
            ConfigError: There is no such column.
        """
        require(self.calls, (column,), "calls")
        return in_order(self.calls[column].iloc[self.rows].astype("str").fillna(NO_GROUP))

    def lead_text(self, name: str) -> tuple[Ints, list[str]]:
        """A column or custom field of each attempt's lead as codes and names."""
        code, names = lead_groups(self.leads, name)
        if NO_GROUP not in names:
            names = [*names, NO_GROUP]
        return np.append(code, names.index(NO_GROUP))[self.lead], names

    def only(self, keep: Mask) -> Dials:
        """The same with some of the attempts; those left out are not set aside again."""
        return replace(self, rows=self.rows[keep])

    def notes(self, further: Notes | None = None) -> Notes:
        """What is worth knowing of the attempts; `unmapped` is always there."""
        odd = self.classes.unmapped[self.rows]
        quality = self.matched.quality[self.rows]
        return {
            ("unmapped", "calls"): int(odd.sum()),
            ("answered_by_unknown", "calls"): int((self.is_class(CONNECTED_UNKNOWN) & ~odd).sum()),
            ("conflict", "calls"): int(self.classes.conflict[self.rows].sum()),
            **{
                (f"match_{name}", "calls"): int((quality == place).sum())
                for place, name in enumerate(_QUALITY_NOTES)
                if name and len(self.leads)
            },
            **(further or {}),
        }

    def balance(
        self, further: Notes | None = None, words: Mapping[str, str] | None = None
    ) -> pd.DataFrame:
        """The table of what was counted, set aside and is worth a note."""
        return balance(self.scope, self.notes(further), {**NOTES, **(words or {})})

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Codes that the taxonomy does not have, with the file that gives them a meaning."""
        odd = int(self.classes.unmapped.sum())
        return mapping_warnings(self.calls, self.taxonomy, odd)


_QUALITY_NOTES: Final = ("", "", "", "number_only", "ambiguous", "none")


def dials(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None,
    *,
    taxonomy: Taxonomy,
    as_of: datetime | None = None,
    campaign: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    include_no_campaign: bool = False,
    events: pd.DataFrame | None = None,
    started: pd.DataFrame | None = None,
) -> Dials:
    """The counted attempts of some calls: outbound, over, dialled, of a campaign.

    Args:
        calls: Frame of the calls table; rows that repeat an id are counted once.
        leads: Frame of the leads table, or None.
        taxonomy: What the codes mean.
        as_of: When the data was read; by default the latest instant in it.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; aware.
        until: Calls before this instant; aware.
        include_no_campaign: Count calls outside any campaign too.
        events: Frame of the events table, for ids.
        started: Answers to click-to-call, for ids.

    Raises:
        ConfigError: A column is missing, or the campaign is in neither frame.
    """
    require(calls, _NEEDED, "calls")
    people = no_leads() if leads is None else leads
    known_campaign(campaign, calls, people)
    found = classes(calls, taxonomy)
    counting = scope(
        calls, found, since=since, until=until, include_no_campaign=include_no_campaign,
        further=_further(calls, campaign),
    )  # fmt: skip
    return Dials(
        calls=calls,
        leads=people,
        rows=np.flatnonzero(counting.counted),
        classes=found,
        matched=match_rows(calls, people, events=events, started=started),
        scope=counting,
        taxonomy=taxonomy,
        as_of=as_of or latest(calls, leads),
        campaign=campaign,
    )


def mapping_warnings(calls: pd.DataFrame, taxonomy: Taxonomy, odd: int) -> tuple[str, ...]:
    """What to do about calls whose codes the taxonomy does not have; nothing without any."""
    if not odd:
        return ()
    found = unmapped(calls, taxonomy)
    return (
        f"{odd:,} calls carry codes that the taxonomy does not have; save this, replace each "
        f'"?" by a class and pass taxonomy.with_file(path):\n{found.attrs["stub"].rstrip()}',
    )


def _further(calls: pd.DataFrame, campaign: str | None) -> dict[str, Mask]:
    found: dict[str, Mask] = {}
    if campaign is not None:
        found["other_campaign"] = ~np.asarray(
            (calls["campaign_id"] == campaign).fillna(value=False), dtype=bool
        )
    return found
