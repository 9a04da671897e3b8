"""What a metric may look at: frames, choices and the counted attempts; knows no metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.columns import Mask
from dialframe.analytics.dials import Dials, dials
from dialframe.analytics.groups import no_leads
from dialframe.analytics.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Choices:
    """Thresholds that definitions leave open; each result names those it used.

    Attributes:
        attempt_cap: Attempts after which a lead is given up; None where there is no such rule.
        recycle_contacted: Whether leads of status `contacted` are still dialled.
        conversions: Outcome classes that are what the campaign is for.
        pass_number: Which attempt the pass metrics look at.
        short_call_s: Talk up to which an answered call is short, seconds.
        human_length_s: Talk from which an answered call must have been a conversation, seconds.
        disposition_due_h: Hours after which a disposition is missing.
        recent_days: Days that are compared with the time before, for caller IDs.
        least_dials: Dials below which a caller ID is not judged.
        dnc_check_days: Days that a Do-Not-Call check is good for.
        dnc_grace_days: Business days that a Do-Not-Call request may take.
        opens_h: First local hour of calling.
        closes_h: Local hour at which calling ends.
        most_calls: Calls to one number allowed in `window_h`.
        window_h: Hours of the frequency window.
        abandon_days: Days of the abandonment measure.
        callback_early_min: Minutes before its time at which a callback is kept.
        callback_late_min: Minutes after its time until which it is kept.
        quick_min: Minutes within which a first dial is quick.
    """

    attempt_cap: int | None = None
    recycle_contacted: bool = False
    conversions: tuple[str, ...] = ("conversion",)
    pass_number: int = 1
    short_call_s: float = 6.0
    human_length_s: float = 30.0
    disposition_due_h: float = 1.0
    recent_days: float = 7.0
    least_dials: int = 200
    dnc_check_days: float = 31.0
    dnc_grace_days: int = 10
    opens_h: float = 8.0
    closes_h: float = 21.0
    most_calls: int = 3
    window_h: float = 24.0
    abandon_days: float = 30.0
    callback_early_min: float = 15.0
    callback_late_min: float = 60.0
    quick_min: float = 5.0


#: What `Dials` works out once from calls and leads alone, and what from the classes.
_BY_CALL: Final = ("lead", "when", "ring_s", "talk_s", "cluster", "order", "attempt")
_BY_CLASS: Final = ("human",)


@dataclass(frozen=True, eq=False)
class Inputs:
    """Everything that a metric may look at; frames that were not passed are None."""

    calls: pd.DataFrame
    leads: pd.DataFrame | None
    imports: pd.DataFrame | None
    appointments: pd.DataFrame | None
    callbacks: pd.DataFrame | None
    dnc_checks: pd.DataFrame | None
    report: pd.DataFrame | None
    events: pd.DataFrame | None
    taxonomy: Taxonomy
    asked_as_of: datetime | None
    campaign: str | None
    since: datetime | None
    until: datetime | None
    include_no_campaign: bool
    choices: Choices

    @cached_property
    def dials(self) -> Dials:
        """The counted attempts."""
        return dials(
            self.calls,
            self.leads,
            taxonomy=self.taxonomy,
            as_of=self.asked_as_of,
            campaign=self.campaign,
            since=self.since,
            until=self.until,
            include_no_campaign=self.include_no_campaign,
            events=self.events,
        )

    def under(self, taxonomy: Taxonomy) -> Inputs:
        """The same under another taxonomy; what does not depend on one is not worked out again."""
        other = replace(self, taxonomy=taxonomy)
        first, second = self.dials, other.dials
        if np.array_equal(first.rows, second.rows):
            plain = {k: v for k, v in first.known.items() if k not in _BY_CLASS}
            second.known.update(plain)
            vars(second).update({k: v for k, v in vars(first).items() if k in _BY_CALL})
        return other

    @cached_property
    def loaded(self) -> Mask:
        """Which leads are looked at: those of the campaign."""
        people = no_leads() if self.leads is None else self.leads
        if self.campaign is None:
            return np.ones(len(people), dtype=bool)
        same = (people["campaign_id"] == self.campaign).fillna(value=False)
        return np.asarray(same, dtype=bool)

    @property
    def as_of_us(self) -> int:
        """As of when, microseconds UTC; 0 where nothing is known."""
        return 0 if self.dials.as_of is None else round(self.dials.as_of.timestamp() * 1e6)

    def leads_with(self, hit: Mask) -> Mask:
        """The loaded leads that a counted attempt of `hit` belongs to."""
        found = np.zeros(len(self.loaded) + 1, dtype=bool)
        found[self.dials.lead[hit]] = True
        return found[:-1] & self.loaded
