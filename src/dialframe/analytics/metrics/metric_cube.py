"""Metrics by dimension and period: every cell with counts and interval, limits on trends, its calls.

A metric that is a sum over calls or leads is worked out once, row by row, and then summed by cell.
Metrics that are not (the worst caller ID, a lift, a report's difference) are not cut and say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd

from dialframe.analytics.attempt.arrays import NO_TIME, Floats, Ints, Mask, in_order, micros
from dialframe.analytics.attempt.attempt_table import Attempts
from dialframe.analytics.attempt.lead_match import lead_groups
from dialframe.analytics.attempt.outcome_classes import NO_GROUP
from dialframe.analytics.metrics.metric import Inputs, Rows
from dialframe.analytics.result.result_tables import ratio, table
from dialframe.analytics.stats.intervals import rates
from dialframe.errors import ConfigError

Period = Literal["day", "week", "month"]
PERIODS: Final = ("day", "week", "month")
_DAY_US: Final = 86_400_000_000
#: Shewhart's limits: three standard errors to either side.
_SIGMAS: Final = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Which cell each attempt and each lead is in.

    Attributes:
        by: Names of the dimensions.
        period: Length of a period, or None.
        labels: Names of the levels of each dimension, periods last.
        call: Level of each attempt by dimension, -1 where it has none.
        lead: The same of each lead; None for a dimension that leads do not have.
        series: Sizes of the dimensions without the period.
    """

    by: tuple[str, ...]
    period: str | None
    labels: tuple[list[str], ...]
    call: tuple[Ints, ...]
    lead: tuple[Ints | None, ...]

    @property
    def names(self) -> list[str]:
        """Columns of the cells."""
        return [*self.by, *(["start"] if self.period else [])]

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels of each dimension."""
        return tuple(len(labels) for labels in self.labels)

    def cells(self, unit: str) -> tuple[Ints, Mask] | None:
        """Cell of each row, and which rows are in one; None where the unit lacks a dimension."""
        parts = self.call if unit == "call" else self.lead
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        inside = np.all([part >= 0 for part in known], axis=0)
        code = np.ravel_multi_index(
            tuple(np.where(inside, part, 0) for part in known), self.shape
        ).astype(np.int64)
        return code, np.asarray(inside, dtype=bool)


def cut(inputs: Inputs, by: Sequence[str], period: str | None) -> Cut:
    """The cells of attempts and leads.

    Args:
        inputs: Frames and choices.
        by: Columns of the calls or leads, custom fields, or `region`.
        period: `day`, `week` (from Monday) or `month`, UTC: of the call, or of the lead's arrival.

    Raises:
        ConfigError: A dimension or the period is unknown.
    """
    if period is not None and period not in PERIODS:
        raise ConfigError(f"period {period!r} is not known; use {', '.join(PERIODS)}")
    if isinstance(by, str):
        raise ConfigError(f"by is a list of names; use by=[{by!r}]")
    found = inputs.attempts
    labels, call, lead = [], [], []
    for name in by:
        names, calls, leads = _dimension(found, name)
        labels.append(names)
        call.append(calls)
        lead.append(leads)
    if period is not None:
        arrived = (
            micros(found.leads["created_at"]) if "created_at" in found.leads.columns
            else np.full(len(found.leads), NO_TIME)
        )  # fmt: skip
        days = [_start(found.when, period), _start(arrived, period)]
        starts = np.unique(np.concatenate([d[d != _NEVER] for d in days]))
        labels.append([str(start.astype("datetime64[D]")) for start in starts])
        call.append(_placed(days[0], starts))
        lead.append(_placed(days[1], starts))
    return Cut(tuple(by), period, tuple(labels), tuple(call), tuple(lead))


_NEVER: Final = np.iinfo(np.int64).min


def _dimension(found: Attempts, name: str) -> tuple[list[str], Ints, Ints | None]:
    """Levels, then the level of each attempt and of each lead."""
    if name in found.calls.columns and name != "id":
        values = found.calls[name].iloc[found.rows].astype("str").fillna(NO_GROUP)
        code, names = in_order(values)
        if name not in found.leads.columns or not len(found.leads):
            return names, code, None
        mine, theirs = in_order(found.leads[name].astype("str").fillna(NO_GROUP))
        every = sorted({*names, *theirs})
        return every, _renumbered(code, names, every), _renumbered(mine, theirs, every)
    if not len(found.leads):
        raise ConfigError(f"by={name!r} is no column of the calls, and there are no leads")
    code, names = lead_groups(found.leads, name)
    every = names if NO_GROUP in names else [*names, NO_GROUP]
    return every, np.append(code, every.index(NO_GROUP))[found.lead], code


def _renumbered(code: Ints, names: list[str], every: list[str]) -> Ints:
    place = np.array([*(every.index(name) for name in names), -1], dtype=np.int64)
    return place[code]


def _start(at: Ints, period: str) -> Ints:
    """First day of each instant's period, as days since 1970."""
    known = at != NO_TIME
    day = (np.where(known, at, 0) // _DAY_US).astype("datetime64[D]")
    if period == "month":
        day = day.astype("datetime64[M]").astype("datetime64[D]")
    elif period == "week":
        # 1970 began on a Thursday.
        day = day - ((day.astype(np.int64) + 3) % 7)
    return np.where(known, day.astype(np.int64), _NEVER)


def _placed(days: Ints, starts: Ints) -> Ints:
    return np.where(days == _NEVER, -1, np.searchsorted(starts, days)).astype(np.int64)


def cells_of(name: str, rows: Rows, where: Cut, effect: float) -> pd.DataFrame | None:
    """One metric by cell; None where its rows lack a dimension.

    Args:
        name: Name of the metric.
        rows: What it is the sum of.
        where: The cells.
        effect: Design effect of the whole, by which clusters widen the intervals.
    """
    placed = where.cells(rows.unit)
    if placed is None:
        return None
    code, inside = placed
    size = int(np.prod(where.shape))
    mine = rows.base & inside
    n = np.bincount(code[mine], minlength=size)
    used = np.flatnonzero(n)
    levels = np.unravel_index(used, where.shape)
    frame = {
        column: [labels[i] for i in level]
        for column, labels, level in zip(where.names, where.labels, levels, strict=True)
    }
    k = np.bincount(code[mine], np.asarray(rows.above, dtype=float)[mine], size)
    if rows.statistic == "median":
        value = _medians(code[mine], np.asarray(rows.above, dtype=float)[mine], used)
        k = np.full(size, np.nan)
    else:
        value = ratio(k[used], n[used])
    low, high, center, lcl, ucl = (np.full(len(used), np.nan) for _ in range(5))
    if rows.statistic == "share":
        bounds = rates(k[used] / effect, n[used] / effect)
        low, high = (bounds[c].to_numpy(float, na_value=np.nan) for c in ("low", "high"))
        if where.period is not None:
            center, lcl, ucl = _limits(k[used].astype(float), n[used], levels, where.shape, effect)
    return table(
        {
            **frame,
            "metric": [name] * len(used),
            "value": value,
            "numerator": k[used],
            "denominator": n[used],
            "low": low,
            "high": high,
            "center": center,
            "limit_low": lcl,
            "limit_high": ucl,
            "signal": (value < lcl) | (value > ucl),
        }
    )


def _limits(
    k: Floats, n: Ints, levels: tuple[np.ndarray, ...], shape: tuple[int, ...], effect: float
) -> tuple[Floats, Floats, Floats]:
    """Center and control limits of each period in its own series (Shewhart's p chart)."""
    series = (
        np.ravel_multi_index(levels[:-1], shape[:-1]) if len(shape) > 1
        else np.zeros(len(k), dtype=np.int64)
    )  # fmt: skip
    size = int(series.max(initial=0)) + 1
    center = ratio(np.bincount(series, k, size), np.bincount(series, n, size))[series]
    error = np.sqrt(center * (1 - center) * effect / n)
    return center, np.maximum(center - _SIGMAS * error, 0), np.minimum(center + _SIGMAS * error, 1)


def _medians(code: Ints, values: Floats, used: Ints) -> Floats:
    order = np.lexsort((values, code))
    code, values = code[order], values[order]
    first, last = np.searchsorted(code, used, "left"), np.searchsorted(code, used, "right")
    low, high = (first + last - 1) // 2, (first + last) // 2
    return np.asarray((values[low] + values[high]) / 2)


def rows_in(where: Cut, unit: str, wanted: dict[str, str]) -> Mask:
    """Which rows are in a cell, named by its dimensions.

    Raises:
        ConfigError: A dimension or a level is unknown.
    """
    parts = where.call if unit == "call" else where.lead
    inside: Mask | None = None
    for name, level in wanted.items():
        if name not in where.names:
            raise ConfigError(f"{name!r} is no dimension; use {', '.join(where.names)}")
        place = where.names.index(name)
        if level not in where.labels[place]:
            raise ConfigError(f"{name}={level!r} is in no cell")
        part = parts[place]
        if part is None:
            raise ConfigError(f"leads have no {name}")
        mine = part == where.labels[place].index(level)
        inside = mine if inside is None else inside & mine
    size = len(parts[0]) if parts and parts[0] is not None else 0
    return np.ones(size, dtype=bool) if inside is None else inside
