"""What an account is made of: how much at each size, and the tables that come out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

VOICEMAIL_AS_COMPLETED = "voicemail_as_completed"
DURATION_IS_TOTAL = "duration_is_total"


@dataclass(frozen=True, slots=True)
class CampaignPlan:
    """One campaign before it is made.

    Attributes:
        name: Its name.
        status: A state of the contract.
        dialer_mode: A word of the platform; the contract shows none.
        share: Its part of all leads.
        opens: When dialing begins, as a fraction of the history; None when it never did.
        closes: When dialing ends, as a fraction of the history; 1 is the history's end.
        trait: A fault that the whole campaign has, or nothing.
    """

    name: str
    status: str
    dialer_mode: str
    share: float
    opens: float | None
    closes: float = 1.0
    trait: str = ""


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """How many of each scripted fault are planted; the rates are those of `marks`.

    Attributes:
        after_dnc: Calls after a Do-Not-Call disposition.
        late_summer_side: Calls at 21:00-21:55 local in the week of the clock change, on the days
            of daylight saving time: an audit with the standard offset takes them for 20:00-20:55.
        late_standard_side: The same on the days of standard time.
        decoys_standard_side: Calls at 20:30-20:59 local on the days of standard time, allowed: an
            audit with the daylight-saving offset takes them for 21:30-21:59.
        decoys_summer_side: The same on the days of daylight saving time.
        before_hours: Calls at 07:00-07:59 local.
        mixed_zone: Calls inside the hours in one zone of the area code, outside in another.
        too_often: Numbers dialed four times or more within 24 hours.
        dnc_not_listed: Do-Not-Call dispositions whose number never reached the list.
        unmapped: Calls with a disposition that is in no taxonomy.
    """

    after_dnc: int
    late_summer_side: int
    late_standard_side: int
    decoys_standard_side: int
    decoys_summer_side: int
    before_hours: int
    mixed_zone: int
    too_often: int
    dnc_not_listed: int
    unmapped: int


@dataclass(frozen=True, slots=True)
class Size:
    """Everything that a size decides.

    Attributes:
        leads: Leads, exactly.
        calls: Calls in any direction, exactly.
        history_days: Days of history before the as-of day.
        campaigns: The campaigns, the first of which is dialed over the whole history.
        further_attempts: Mean of the exponential part of a lead's attempts, set so that slightly
            more calls are drawn than wanted and the surplus can be left out.
        local_codes: Area codes in which the account owns a caller ID.
        agents: Agents.
        registry: Numbers on the Do-Not-Call list besides `people_and_calendar.REGISTRY_BLOCKS`.
        events: Webhook events of the last 30 days, at most.
        wide_lines: Whether leads may also have lines 0200 to 8999 of the 555 exchange.
        faults: What is planted.
    """

    leads: int
    calls: int
    history_days: int
    campaigns: tuple[CampaignPlan, ...]
    further_attempts: float
    local_codes: int
    agents: int
    registry: int
    events: int
    wide_lines: bool
    faults: FaultPlan


_SIX = (
    CampaignPlan("Home insurance renewals", "running", "predictive", 0.39, 0.0),
    CampaignPlan(
        "Solar survey follow-up", "running", "progressive", 0.20, 0.45, 1.0, VOICEMAIL_AS_COMPLETED
    ),
    CampaignPlan("Fibre upgrade spring", "completed", "predictive", 0.21, 0.02, 0.50),
    CampaignPlan(
        "Dental check-up reminders", "paused", "preview", 0.17, 0.30, 0.80, DURATION_IS_TOTAL
    ),
    CampaignPlan("Winter tyres", "ready", "progressive", 0.02, None),
    CampaignPlan("New year renewals", "draft", "preview", 0.01, None),
)

# The six at half their size, and six more.
_TWELVE = (
    *(replace(plan, share=plan.share / 2) for plan in _SIX),
    CampaignPlan("Gym win-back", "running", "predictive", 0.12, 0.20),
    CampaignPlan("Car service reminders", "running", "progressive", 0.10, 0.55),
    CampaignPlan("Charity spring appeal", "completed", "predictive", 0.10, 0.05, 0.35),
    CampaignPlan("Energy tariff change", "completed", "predictive", 0.08, 0.25, 0.70),
    CampaignPlan("Hearing test invitations", "paused", "preview", 0.07, 0.40, 0.90),
    CampaignPlan("Travel insurance leads", "paused", "predictive", 0.03, 0.60, 0.75),
)

_FULL = FaultPlan(
    after_dnc=5, late_summer_side=5, late_standard_side=2, decoys_standard_side=3,
    decoys_summer_side=2, before_hours=3, mixed_zone=4, too_often=9, dnc_not_listed=2,
    unmapped=4,
)  # fmt: skip
# One of each, two where they come in pairs (evening and morning, two patterns).
_FEW = FaultPlan(
    after_dnc=1, late_summer_side=1, late_standard_side=1, decoys_standard_side=1,
    decoys_summer_side=1, before_hours=1, mixed_zone=2, too_often=2, dnc_not_listed=1,
    unmapped=1,
)  # fmt: skip

EMPTY = "empty"

SIZES: dict[str, Size] = {
    "tiny": Size(
        leads=300, calls=1_000, history_days=91, campaigns=_SIX, further_attempts=6.5,
        local_codes=4, agents=6, registry=300, events=40, wide_lines=False, faults=_FEW,
    ),
    "small": Size(
        leads=3_000, calls=10_000, history_days=182, campaigns=_SIX, further_attempts=5.4,
        local_codes=20, agents=12, registry=3_000, events=60, wide_lines=False, faults=_FULL,
    ),
    "medium": Size(
        leads=30_000, calls=100_000, history_days=182, campaigns=_TWELVE, further_attempts=4.9,
        local_codes=20, agents=40, registry=10_000, events=60, wide_lines=True, faults=_FULL,
    ),
    "large": Size(
        leads=300_000, calls=1_000_000, history_days=182, campaigns=_TWELVE,
        further_attempts=4.9, local_codes=20, agents=150, registry=20_000, events=60,
        wide_lines=True, faults=_FULL,
    ),
}  # fmt: skip


Value: TypeAlias = str | int | float | None
Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]

# Columns become tuples in slices, so that a large account is never in memory twice.
ROWS_AT_ONCE = 50_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Column:
    """Values as they are, or whole numbers of which a negative one is null.

    Attributes:
        items: The values; with `words` their places among these.
    """

    items: Ints | Sequence[Value]
    words: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.items)

    def values(self, first: int, last: int) -> list[Value]:
        """The values of rows `first` to `last`, the last one left out."""
        part = self.items[first:last]
        if not isinstance(part, np.ndarray):
            return list(part)
        if self.words is None:
            return [None if number < 0 else number for number in part.tolist()]
        # Null is one word more: a look-up without a branch for each row.
        words: list[Value] = [*self.words, None]
        return [words[code] for code in np.where(part < 0, len(self.words), part).tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows under named columns, kept column by column and turned into tuples as they are read.

    Attributes:
        columns: Column names in the order of a row's values.
    """

    columns: tuple[str, ...]
    _parts: tuple[Column, ...] = field(repr=False)

    @classmethod
    def of(cls, parts: Mapping[str, Column]) -> Table:
        """A table from its columns."""
        # A table of uneven columns would end at its shortest in silence.
        lengths = {name: len(part) for name, part in parts.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns of different lengths: {lengths}")
        return cls(tuple(parts), tuple(parts.values()))

    @property
    def rows(self) -> Iterator[tuple[Value, ...]]:
        """Every row as a tuple of text, whole number, float or null; read as often as wanted."""
        total = len(self)
        for first in range(0, total, ROWS_AT_ONCE):
            last = min(first + ROWS_AT_ONCE, total)
            yield from zip(*(part.values(first, last) for part in self._parts), strict=True)

    def record(self, row: int) -> dict[str, Value]:
        """One row by the names of its columns."""
        values = (part.values(row, row + 1)[0] for part in self._parts)
        return dict(zip(self.columns, values, strict=True))

    def __len__(self) -> int:
        return len(self._parts[0])


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticAccount:
    """One made-up account, whole.

    Instants are whole microseconds since 1970-01-01 00:00 UTC, numbers E.164 text, custom
    fields and event data JSON text, ids the contract's prefixes plus a lower-case UUID.

    Attributes:
        seed: The seed it was made from.
        size: The name of its size.
        as_of: The day (UTC) at whose first instant the history ends.
        tables: `campaigns leads calls callbacks appointments dnc agents caller_ids
            lead_sources events ground_truth`, always all of them.
    """

    seed: int
    size: str
    as_of: dt.date
    tables: Mapping[str, Table]


_HEX = np.frombuffer("".join(f"{byte:02x}" for byte in range(256)).encode(), dtype=np.uint8)
_PAIRS = _HEX.reshape(256, 2)
_DASHES = (8, 13, 18, 23)
_DIGITS = tuple(position for position in range(36) if position not in _DASHES)


def draw(rng: np.random.Generator, prefix: str, count: int) -> list[str]:
    """`count` ids such as `call_` plus a lower-case random UUID (version 4, RFC 9562)."""
    raw = rng.integers(0, 256, size=(count, 16), dtype=np.uint8)
    # RFC 9562, 5.4: four bits of version, two of variant.
    raw[:, 6] = (raw[:, 6] & 0x0F) | 0x40
    raw[:, 8] = (raw[:, 8] & 0x3F) | 0x80
    text = np.full((count, 36), ord("-"), dtype=np.uint8)
    text[:, _DIGITS] = _PAIRS[raw].reshape(count, 32)
    whole = text.tobytes().decode("ascii")
    return [prefix + whole[start : start + 36] for start in range(0, 36 * count, 36)]
