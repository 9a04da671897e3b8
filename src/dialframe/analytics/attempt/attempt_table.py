"""The counted attempts as arrays and as one public table; every analysis starts here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from dialframe.analytics.attempt.call_scope import Notes, Scope, balance, latest, scope
from dialframe.analytics.attempt.classify import Classes, classes, mapping_warnings
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    HOUR_US,
    NEVER,
    NO_TIME,
    Floats,
    Ints,
    Mask,
    area_codes,
    arrow,
    digest,
    earliest,
    encoded,
    frozen,
    kept_numbers,
    micros,
    micros_of,
    once,
    placed,
    require,
    seconds,
    word_of,
)
from dialframe.analytics.attempt.lead_match import (
    GIVEN_LEAD,
    NUMBERED,
    QUALITIES,
    SOURCE,
    Matched,
    known_campaign,
    lead_groups,
    match_rows,
    no_leads,
    of_campaign,
)
from dialframe.analytics.attempt.lead_match import PLACE as QUALITY_PLACE
from dialframe.analytics.attempt.local_clock import Local, local, zone_cases
from dialframe.analytics.attempt.taxonomy import (
    CONNECTED_UNKNOWN,
    DEFAULT,
    NO_GROUP,
    NOTES,
    OUTCOMES,
    PLACE,
    Taxonomy,
)
from dialframe.instants import When, instant

T = TypeVar("T")

_PER_MS: Final = 1_000
#: Age from which on a call is as old as any, where it is asked how long outcomes take.
_OLDEST_DAYS: Final = 400
#: Columns of text that counting reads.
_TEXTS: Final = ("id", "direction", "from_number", "to_number", "campaign_id", "status",
                 "hangup_cause", "disposition")  # fmt: skip
_NEEDED: Final = ("created_at", "answered_at", "ended_at", "direction", "to_number")
#: Counts of calls that are kept: each holds arrays as long as the calls, and windows are many.
_MOST_COUNTS: Final = 4


class _Shared(Generic[T]):
    """A property that is worked out once for all who count the same calls."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function, self._name, self.__doc__ = function, function.__name__, function.__doc__

    def __get__(self, attempts: Any, owner: type) -> T:
        """The value, which nobody may change."""
        if attempts is None:
            return cast(T, self)
        if self._name not in attempts.arrays:
            attempts.arrays[self._name] = frozen(self._function(attempts))
        return cast(T, attempts.arrays[self._name])


@dataclass(frozen=True, eq=False)
class Attempts:
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
        history: Positions of the attempts before and after the window too: what numbers them.
        arrays: What was worked out of these rows alone, which all who count the same calls share.
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
    history: Ints | None = None
    arrays: dict[str, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def of_rows(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What is known of every call, of the attempts; the same array where all calls are attempts."""
        return values if len(self) == len(values) else values[self.rows]

    @_Shared
    def outcome(self) -> npt.NDArray[np.int8]:
        """Place of each attempt's class in `OUTCOMES`."""
        return self.of_rows(self.classes.outcome)

    @_Shared
    def lead(self) -> npt.NDArray[np.int32]:
        """Row of each attempt's lead, -1 where it has none."""
        return self.of_rows(self.matched.lead)

    @property
    def as_of_us(self) -> int:
        """As of when, microseconds UTC; 0 where nothing is known."""
        return micros_of(self.as_of)

    def leads_with(self, hit: Mask) -> Mask:
        """The leads that an attempt of `hit` is of."""
        return np.bincount(self.lead[hit] + 1, minlength=len(self.leads) + 1)[1:] > 0

    @cached_property
    def when(self) -> Ints:
        """When each attempt was started, microseconds UTC.

        It may be the memory of the frame itself, so that others who count the same calls do not share it.
        """
        # Not shared: it may be a view of the frame, which would keep the whole frame alive.
        return self.of_rows(micros(self.calls["created_at"]))

    @_Shared
    def ring_s(self) -> Floats:
        """Seconds to the answer, or to the end without one; NaN where not known."""
        answered = self.of_rows(micros(self.calls["answered_at"]))
        # The contract has no ring time: this begins at `created_at`, and may hold queueing too.
        ended = self.of_rows(micros(self.calls["ended_at"]))
        return seconds(np.where(answered == NO_TIME, ended, answered), self.when)

    @_Shared
    def talk_s(self) -> Floats:
        """Seconds from answer to end; NaN where not answered, not known or negative."""
        answered = self.of_rows(micros(self.calls["answered_at"]))
        talk = seconds(self.of_rows(micros(self.calls["ended_at"])), answered)
        # An end before the answer is a fault of the record, and no talk of any length.
        return np.where(talk >= 0, talk, np.nan)

    @_Shared
    def cluster(self) -> Ints:
        """What attempts resemble each other by: the lead, or the number where there is none."""
        if (self.lead >= 0).all():
            return self.lead.astype(np.int64)
        # Numbers behind the leads in one numbering: without leads, calls to one number still go together.
        alone = len(self.leads) + placed(self.calls["to_number"])[0][self.rows].astype(np.int64)
        return np.where(self.lead >= 0, self.lead, alone)

    @_Shared
    def lead_or_number(self) -> Ints:
        """The same as `cluster` in whole numbers with gaps, which need no list of all numbers."""
        numbers = kept_numbers(self.calls["to_number"])
        if numbers is None or (self.lead >= 0).all():
            return self.cluster
        if not len(self.leads):
            return self.of_rows(numbers)
        return np.where(self.lead >= 0, self.lead, len(self.leads) + self.of_rows(numbers))

    @_Shared
    def ahead_h(self) -> Ints:
        """Whole hours that the clock of the person called is ahead of UTC; 0 where it is not certain."""
        clock = clock_of(self)
        # Cells are hours of the week from Monday; 1970 began on a Thursday.
        hours = (clock.cell - self.when // HOUR_US - 3 * 24 + 84) % 168 - 84
        return np.where(clock.known, hours, 0)

    @_Shared
    def local_day(self) -> Ints:
        """Local day of each attempt since 1970 (that of UTC where it is not certain)."""
        return (self.when // HOUR_US + self.ahead_h) // 24

    @_Shared
    def order(self) -> Ints:
        """Attempts by lead (or number) and, within one, by time."""
        # Cluster and time in one number, where both fit in 62 bits: one sort in the place of two.
        at = self.when - self.when.min(initial=0)
        span = int(at.max(initial=0)) // _PER_MS + 1
        if int(self.cluster.max(initial=0)) + 1 < 2**62 // span:
            at //= _PER_MS
            at += self.cluster * span
            return np.argsort(at, kind="stable")
        return np.lexsort((at, self.cluster))

    @_Shared
    def opens(self) -> Mask:
        """Whether each attempt, in `order`, is the first of its lead or number."""
        ordered = self.cluster[self.order]
        return np.append(True, ordered[1:] != ordered[:-1])[: len(self)]

    @cached_property
    def ever(self) -> Attempts:
        """The attempts of the whole history, whatever the window; these where there is no window."""
        if self.history is None:
            return self
        arrays = self.arrays.setdefault("ever", {})
        return replace(self, rows=self.history, history=None, arrays=arrays)

    @_Shared
    def attempt(self) -> npt.NDArray[np.int32]:
        """Which attempt on its lead each is in the whole history, from 1."""
        if NUMBERED in self.calls.columns:
            given = self.calls[NUMBERED].to_numpy(np.int32, na_value=1)
            return np.asarray(given[self.rows], dtype=np.int32)
        if self.history is not None:
            return self.of_history(self.ever.attempt)
        first = np.flatnonzero(self.opens)
        ordered_number = np.arange(1, len(self) + 1, dtype=np.int32)
        ordered_number -= np.repeat(first.astype(np.int32), np.diff(np.append(first, len(self))))
        number = np.empty(len(self), dtype=np.int32)
        number[self.order] = ordered_number
        return number

    @_Shared
    def gap_h(self) -> Floats:
        """Hours since the attempt before on the same lead, in the whole history; NaN for the first."""
        if self.history is not None:
            return self.of_history(self.ever.gap_h)
        waited = np.append(np.nan, np.diff(self.when[self.order]) / HOUR_US)[: len(self)]
        gap = np.empty(len(self))
        gap[self.order] = np.where(self.opens, np.nan, waited)
        return gap

    @_Shared
    def logged_until(self) -> Ints:
        """Instant until which the outcomes of each attempt's campaign are in, microseconds UTC.

        Where dispositions arrive days after the call, answered calls of the last days have none yet, and
        seem not to have reached a person. Seen from the end of the data, those days end where the part of
        such calls is no more above that of the campaign's older half: a cumulative sum (Page, Biometrika
        41 (1954) 100) tuned to ten points more, which finds such days by chance one time in twenty.
        """
        if self.history is not None:
            return self.of_history(self.ever.logged_until)
        ends = self.as_of_us
        until = np.full(len(self), ends)
        answered = self.flag("answered")
        waits = answered & self.is_class(CONNECTED_UNKNOWN) & ~self.of_rows(self.classes.unmapped)
        if not waits.any():
            return until
        code, names = self.text("campaign_id")
        age = np.clip((ends - self.when) // DAY_US, 0, _OLDEST_DAYS)
        size = int(age.max()) + 1
        cell = code * size + age
        shape = (len(names), size)
        answered_of, open_of = (
            np.bincount(cell[mask], minlength=len(names) * size).reshape(shape).astype(float)
            for mask in (answered, waits)
        )
        total = np.cumsum(answered_of, axis=1)
        old = total > total[:, -1:] / 2
        # Few calls of a campaign borrow from all campaigns: five calls at the usual share are added.
        usual = (open_of * old).sum() / max((answered_of * old).sum(), 1.0)
        usual = ((open_of * old).sum(axis=1) + 5 * usual) / ((answered_of * old).sum(axis=1) + 5)
        usual = np.clip(usual, 0.005, 0.9)[:, None]
        late = np.minimum(usual + 0.1, 0.95)
        # Log likelihood of ten points more against the usual share, day by day of age.
        gain = open_of * np.log(late / usual) + (answered_of - open_of) * np.log(
            (1 - late) / (1 - usual)
        )
        total = np.cumsum(np.where(old, 0.0, gain), axis=1)
        days = np.where(total.max(axis=1) > 3 + np.log(len(names)), total.argmax(axis=1) + 1, 0)
        return np.asarray(ends - days[code] * DAY_US)

    @property
    def mature(self) -> Mask:
        """Whether each attempt is as old as outcomes take to be logged: of others a person is not known."""
        return np.asarray(self.when <= self.logged_until)

    @property
    def unknown_people(self) -> tuple[str, bool]:
        """How many calls have an unknown answerer, where they are many; and whether they outnumber the people."""
        odd = int((_NOBODY_KNOWS[self.outcome] & self.mature).sum())
        if odd <= MOST_UNKNOWN * int(self.mature.sum()):
            return "", False
        answered, people = (int((self.flag(n) & self.mature).sum()) for n in ("answered", "human"))
        return f"of {odd:,} of {answered:,} answered calls nothing says by whom", odd > people

    @property
    def not_logged(self) -> Notes:
        """How many attempts have no say where something is judged, because outcomes are not in yet."""
        return {("not_logged_yet", "calls"): int((~self.mature).sum())}

    def first_attempt(self, hit: Mask) -> Ints:
        """For each attempt, the first attempt of its lead that hits; 0 where none does."""
        size = int(self.cluster.max(initial=0)) + 1
        first = earliest(self.cluster[hit], self.attempt[hit].astype(np.int64), size)[self.cluster]
        return np.where(first == NEVER, 0, first)

    def first_ever(self, *flags: str) -> Ints:
        """The same in the whole history, of a class with one of some flags."""
        hit = np.any([self.ever.flag(flag) for flag in flags], axis=0)
        return self.of_history(self.ever.first_attempt(hit))

    def of_history(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What was worked out for every attempt of the history, for those of the window."""
        if self.history is None:
            return values
        return values[np.searchsorted(self.history, self.rows)]

    def flag(self, name: str) -> Mask:
        """A flag of each attempt's class: `human`, `machine`, `answered`, ..."""
        return self.of_rows(self.classes.flag(name))

    def is_class(self, *names: str) -> Mask:
        """True where the outcome is one of these classes."""
        is_any = self.outcome == PLACE[names[0]]
        for name in names[1:]:
            is_any |= self.outcome == PLACE[name]
        return np.asarray(is_any)

    def column(self, name: str, rows: Ints | None = None) -> pd.Series:
        """A column of the calls as it was given, of the attempts or of some rows of the calls.

        Raises:
            ConfigError: There is no such column.
        """
        require(self.calls, (name,), "calls")
        return self.calls[name].iloc[self.rows if rows is None else rows]

    def numbers(self, column: str) -> pa.Array:
        """A column of numbers of the attempts, as Arrow text."""
        whole = arrow(self.calls[column])
        return whole if len(self) == len(whole) else whole.take(pa.array(self.rows))

    def text(self, column: str) -> tuple[Ints, list[str]]:
        """A text column of the calls as codes and names in their order, with a name for null.

        Raises:
            ConfigError: There is no such column.
        """
        code, names = self.numbered(column)
        if (code < 0).any():
            names = names if NO_GROUP in names else [*names, NO_GROUP]
            code = np.where(code < 0, names.index(NO_GROUP), code)
        # Sorted, so that the order of rows in a frame changes no table.
        rank = sorted(range(len(names)), key=names.__getitem__)
        new_code = np.empty(len(rank), dtype=np.int64)
        new_code[rank] = np.arange(len(rank))
        return new_code[code], [names[i] for i in rank]

    def numbered(self, column: str) -> tuple[Ints, list[str]]:
        """A text column of the calls as codes and the names that occur; -1 for null.

        Raises:
            ConfigError: There is no such column.
        """
        require(self.calls, (column,), "calls")
        code, names = encoded(self.calls[column])
        # Names that only set-aside calls have are no levels of the attempts.
        code = self.of_rows(code)
        used = np.bincount(code, minlength=len(names) + 1)[: len(names)] > 0
        new_code = np.append(np.cumsum(used) - 1, -1)
        new_code[:-1][~used] = -1
        return new_code[code], [name for name, there in zip(names, used, strict=True) if there]

    def lead_text(self, name: str) -> tuple[Ints, list[str]]:
        """A column or custom field of each attempt's lead as codes and names."""
        code, names = lead_groups(self.leads, name)
        if NO_GROUP not in names:
            names = [*names, NO_GROUP]
        return np.append(code, names.index(NO_GROUP))[self.lead], names

    def only(self, keep: Mask) -> Attempts:
        """The same with some of the attempts, which keep their numbers; nothing is set aside again."""
        if keep.all():
            return self
        history = self.rows if self.history is None else self.history
        # What was worked out for all of them is not worked out again.
        arrays = {name: self.arrays[name].take(keep) for name in ("clock",) if name in self.arrays}
        part = replace(self, rows=self.rows[keep], history=history, arrays=arrays)
        vars(part)["ever"] = self.ever
        return part

    def notes(self, further: Notes | None = None) -> Notes:
        """What is worth knowing of the attempts; `unmapped` is always there."""
        if "notes" not in self.arrays:
            self.arrays["notes"] = self._count_notes()
        return {**self.arrays["notes"], **(further or {})}

    def _count_notes(self) -> Notes:
        part = self.classes.take(self.rows)
        unknown, quality = PLACE[CONNECTED_UNKNOWN], self.of_rows(self.matched.quality)
        return {
            ("unmapped", "calls"): part.count(lambda every: every.unmapped),
            ("answered_by_unknown", "calls"): part.count(
                lambda every: (every.outcome == unknown) & ~every.unmapped
            ),
            ("conflict", "calls"): part.count(lambda every: every.conflict),
            **{
                (f"match_{name}", "calls"): int((quality == QUALITY_PLACE[name]).sum())
                for name in ("number_only", "ambiguous", "none")
                if len(self.leads)
            },
        }

    def balance(
        self, further: Notes | None = None, words: Mapping[str, str] | None = None
    ) -> pd.DataFrame:
        """The table of what was counted, set aside and is worth a note."""
        return balance(self.scope, self.notes(further), {**NOTES, **(words or {})})

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Codes that the taxonomy does not have, with the file that gives them a meaning."""
        odd = self.classes.count(lambda every: every.unmapped)
        return mapping_warnings(self.calls, self.taxonomy, odd)


def count_attempts(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None,
    *,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
    include_no_campaign: bool = False,
    events: pd.DataFrame | None = None,
    started: pd.DataFrame | None = None,
    further: Callable[[Matched], Mapping[str, Mask]] | None = None,
) -> Attempts:
    """The counted attempts of some calls: outbound, over, dialed, of a campaign.

    Args:
        calls: Frame of the calls table; rows that repeat an id are counted once.
        leads: Frame of the leads table, or None.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.
        include_no_campaign: Count calls outside any campaign too.
        events: Frame of the events table, for ids.
        started: Answers to click-to-call, for ids.
        further: Reasons of the caller's own to set calls aside, by the lead of each.

    Raises:
        ConfigError: A column is missing, the campaign is in neither frame, or a time is none.
    """
    require(calls, _NEEDED, "calls")
    # Any way of saying a time becomes an aware instant before it is a key of what is kept.
    at, begin, end = instant("as_of", as_of), instant("since", since), instant("until", until)
    people = no_leads() if leads is None else leads
    require(people, ("id", "phone", "campaign_id"), "leads")
    known_campaign(campaign, calls, people)

    def work_out() -> tuple[Classes, Matched, Scope, dict[str, Any]]:
        classified, matched = _classify_and_match(calls, people, taxonomy, events, started)
        counting = scope(
            calls, classified.outcome, since=begin, until=end, include_no_campaign=include_no_campaign,
            as_of=at,
            further={
                **({} if campaign is None else {"other_campaign": ~of_campaign(calls, campaign)}),
                **(further(matched) if further else {}),
            },
        )  # fmt: skip
        return classified, matched, counting, {}

    shared = not (further or NUMBERED in calls.columns) and events is None and started is None
    stamps = _stamps(calls) if shared else None
    if stamps is None:
        classified, matched, counting, arrays = work_out()
    else:
        classified, matched, counting, arrays = once(
            ("attempts", taxonomy, at, campaign, begin, end, include_no_campaign, *stamps),
            [calls[name] for name in _TEXTS if name in calls.columns]
            # What stands for no leads is made anew each time: it would never be the same again.
            + [
                people[name]
                for name in ("phone", "campaign_id")
                if leads is not None and name in people
            ],
            work_out,
            _MOST_COUNTS,
        )
    # Without a window the history is what is counted: nothing more is kept of it.
    whole = begin is None and end is None
    return Attempts(
        calls=calls,
        leads=people,
        rows=frozen(np.flatnonzero(counting.counted)),
        classes=classified,
        matched=matched,
        scope=counting,
        taxonomy=taxonomy,
        as_of=at or latest(calls, leads),
        campaign=campaign,
        history=None if whole else np.flatnonzero(counting.history),
        arrays=arrays,
    )


def _stamps(calls: pd.DataFrame) -> list[tuple[str, bytes]] | None:
    """A fingerprint of each column of instants that counting reads; None where one is of another kind."""
    stamps = []
    for name in ("created_at", "answered_at", "ended_at", "_observed_at"):
        if name in calls.columns:
            if not pd.api.types.is_datetime64_any_dtype(calls[name].dtype):
                return None
            stamps.append((f"{name} {calls[name].dtype}", digest(micros(calls[name]))))
    return stamps


def _classify_and_match(
    calls: pd.DataFrame, leads: pd.DataFrame, taxonomy: Taxonomy, events: pd.DataFrame | None,
    started: pd.DataFrame | None,
) -> tuple[Classes, Matched]:  # fmt: skip
    """Classes and leads of all calls."""
    classified = classes(calls, taxonomy)
    if GIVEN_LEAD not in calls.columns:
        return classified, match_rows(calls, leads, events=events, started=started)
    # A frame of attempts came back as calls: its leads and how sure they are stand there already.
    given = calls[["id", GIVEN_LEAD]].set_axis(["call_id", "lead_id"], axis=1)
    lead = match_rows(calls, leads, events=events, started=given).lead
    quality = word_of(calls["match_quality"], QUALITIES)
    return classified, Matched(lead, np.where(quality < 0, QUALITY_PLACE["none"], quality))


#: Part of a denominator of unknown outcomes from which on a rate has bounds alone.
MOST_UNKNOWN: Final = 0.05
#: Outcomes that leave it open if a person answered.
_NOBODY_KNOWS: Final = np.array(
    [outcome.human is None and outcome.when == "answered" for outcome in OUTCOMES]
)
#: Attempts are told apart up to this one.
MOST_ATTEMPTS: Final = 8

#: From twelve hours behind UTC to fourteen ahead.
_ZONES: Final = 27


def clock_of(attempts: Attempts) -> Local:
    """The clock of the person called, of each attempt."""
    if "clock" not in attempts.arrays:
        case, zones = zone_cases(attempts.calls["to_number"])
        attempts.arrays["clock"] = local(attempts.of_rows(case), zones, attempts.when)
    clock: Local = attempts.arrays["clock"]
    return clock


def hour_level(clock: Local) -> Ints:
    """Local hour, or 24 where it is not certain."""
    return np.where(clock.known, clock.hour, 24).astype(np.int64)


def weekday_level(clock: Local) -> Ints:
    """Local weekday, or 7 where it is not certain."""
    return np.where(clock.known, clock.weekday, 7).astype(np.int64)


def zone_level(attempts: Attempts) -> Ints:
    """Hours ahead of UTC, from 0 up; the last level where they are not certain."""
    return np.where(clock_of(attempts).known, attempts.ahead_h + 12, _ZONES).astype(np.int64)


def attempt_level(attempts: Attempts) -> Ints:
    """Attempt less one, the late ones together."""
    return np.minimum(attempts.attempt, MOST_ATTEMPTS).astype(np.int64) - 1


def source_level(attempts: Attempts, field: str = SOURCE) -> tuple[Ints, list[str]]:
    """Source of each attempt's lead; one for all where leads have no such field."""
    leads = attempts.leads
    is_there = field in leads.columns
    if not is_there and "custom_fields" in leads.columns:
        fields = leads["custom_fields"].dropna().astype("str")
        is_there = bool(fields.str.contains(f'"{field}"', regex=False).any())
    if not len(leads) or not is_there:
        return np.zeros(len(attempts), dtype=np.int64), [NO_GROUP]
    return attempts.lead_text(field)


def local_match(attempts: Attempts) -> Mask:
    """Whether caller ID and called number share their area code (North American plan only)."""
    return np.asarray(area(attempts, "from_number") == area(attempts, "to_number"))


def area(attempts: Attempts, column: str) -> Ints:
    """Area code of a number; -1 or -2 outside the North American plan, which never match."""
    outside = -1 if column == "from_number" else -2
    numbers = attempts.calls[column]
    codes = once(f"area {outside}", [numbers], lambda: frozen(area_codes(numbers, outside)))
    return attempts.of_rows(codes)
