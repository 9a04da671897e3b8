"""Metrics by dimension and period: every cell with counts and interval, limits on trends, its calls.

A metric is worked out once, row by row, and then summed by cell: rows of calls, of leads, of
callbacks, appointments, imports or the report. Where leads lack a dimension that calls have, a lead is
of its first attempt's level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd

from dialframe.analytics.analyses.reconcile import report_days
from dialframe.analytics.attempt.attempt_table import Attempts
from dialframe.analytics.attempt.frames_to_arrays import (
    NO_TIME,
    Floats,
    Ints,
    Mask,
    first_days,
    in_order,
    micros,
)
from dialframe.analytics.attempt.lead_match import lead_groups
from dialframe.analytics.attempt.taxonomy import NO_GROUP
from dialframe.analytics.claims_and_tables import ratio, table
from dialframe.analytics.inference import wilson_bounds
from dialframe.analytics.metrics.metric_types import DATED, Inputs, Rows
from dialframe.errors import ConfigError

Period = Literal["day", "week", "month"]
PERIODS: Final = ("day", "week", "month")
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
        lead: The same of each lead: of its own, or of its first attempt where only calls have it.
    """

    by: tuple[str, ...]
    period: str | None
    labels: tuple[list[str], ...]
    call: tuple[Ints, ...]
    lead: tuple[Ints, ...]

    @property
    def names(self) -> list[str]:
        """Columns of the cells."""
        return [*self.by, *(["start"] if self.period else [])]

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels of each dimension."""
        return tuple(len(labels) for labels in self.labels)

    def cells(self, rows: Rows) -> tuple[Ints, Mask]:
        """Cell of each row, and which rows are in one."""
        parts = {"call": lambda: self.call, "lead": lambda: self.lead}.get(
            rows.unit, lambda: self._others(rows)
        )()
        inside = np.all([part >= 0 for part in parts], axis=0)
        code = np.ravel_multi_index(
            tuple(np.where(inside, part, 0) for part in parts), self.shape
        ).astype(np.int64)
        return code, np.asarray(inside, dtype=bool)

    def _others(self, rows: Rows) -> tuple[Ints, ...]:
        """Levels of rows of another frame: of its own columns, else of their leads."""
        parts = []
        for name, labels, of_lead in zip(self.by, self.labels, self.lead, strict=False):
            # A row of another frame has its own campaign, or that of its lead, or none: it is never dropped.
            none = labels.index(NO_GROUP)
            if rows.frame is not None and name in rows.frame.columns:
                code, names = in_order(rows.frame[name].astype("str").fillna(NO_GROUP))
                index_of = {label: i for i, label in enumerate(labels)}
                parts.append(np.array([*(index_of.get(n, none) for n in names), none])[code])
            elif rows.lead is not None:
                parts.append(np.append(of_lead, none)[rows.lead])
            else:
                parts.append(np.full(len(rows.base), none))
        if self.period is not None:
            at = np.full(len(rows.base), NO_TIME) if rows.at is None else rows.at
            days, starts = _start(at, self.period), np.array(self.labels[-1], "datetime64[D]")
            place_of = np.searchsorted(starts.astype(np.int64), days)
            is_there = np.append(starts.astype(np.int64), _NEVER)[place_of] == days
            parts.append(np.where(is_there & (days != _NEVER), place_of, -1))
        return tuple(parts)


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
    attempts = inputs.attempts
    labels, call, lead = [], [], []
    for name in by:
        names, calls, leads = _dimension(attempts, name)
        labels.append(names)
        call.append(calls)
        lead.append(leads)
    if period is not None:
        arrived = (
            micros(attempts.leads["created_at"]) if "created_at" in attempts.leads.columns
            else np.full(len(attempts.leads), NO_TIME)
        )  # fmt: skip
        times = [attempts.when, arrived]
        # Rows of other frames have a period too.
        for name, column in DATED.items():
            frame = getattr(inputs, name)
            if frame is not None and column in frame.columns:
                times.append(micros(frame[column]))
        if inputs.report is not None and "date" in inputs.report.columns:
            times.append(report_days(inputs.report["date"]))
        days = [_start(at, period) for at in times]
        starts = np.unique(np.concatenate([day[day != _NEVER] for day in days]))
        labels.append([str(start.astype("datetime64[D]")) for start in starts])
        call.append(_placed(days[0], starts))
        lead.append(_placed(days[1], starts))
    return Cut(tuple(by), period, tuple(labels), tuple(call), tuple(lead))


_NEVER: Final = np.iinfo(np.int64).min


def _dimension(attempts: Attempts, name: str) -> tuple[list[str], Ints, Ints]:
    """Levels, then the level of each attempt and of each lead."""
    if name in attempts.calls.columns and name != "id":
        values = attempts.column(name).astype("str").fillna(NO_GROUP)
        code, names = in_order(values)
        if name not in attempts.leads.columns or not len(attempts.leads):
            every = sorted({*names, NO_GROUP})
            code = _renumbered(code, names, every)
            level = np.full(len(attempts.leads) + 1, every.index(NO_GROUP), dtype=np.int64)
            # Backwards, so that the first attempt of each lead is the one that stays.
            order = attempts.order[::-1]
            level[attempts.lead[order]] = code[order]
            return every, code, level[:-1]
        levels, lead_names = in_order(attempts.leads[name].astype("str").fillna(NO_GROUP))
        every = sorted({*names, *lead_names, NO_GROUP})
        return every, _renumbered(code, names, every), _renumbered(levels, lead_names, every)
    if not len(attempts.leads):
        raise ConfigError(f"by={name!r} is no column of the calls, and there are no leads")
    code, names = lead_groups(attempts.leads, name)
    every = names if NO_GROUP in names else [*names, NO_GROUP]
    return every, np.append(code, every.index(NO_GROUP))[attempts.lead], code


def _renumbered(code: Ints, names: list[str], every: list[str]) -> Ints:
    index_of = np.array([*(every.index(name) for name in names), -1], dtype=np.int64)
    return index_of[code]


def _start(at: Ints, period: str) -> Ints:
    """First day of each instant's period, as days since 1970."""
    known = at != NO_TIME
    return np.where(known, first_days(np.where(known, at, 0), period).astype(np.int64), _NEVER)


def _placed(days: Ints, starts: Ints) -> Ints:
    return np.where(days == _NEVER, -1, np.searchsorted(starts, days)).astype(np.int64)


def cells_of(name: str, rows: Rows, where: Cut, effect: float) -> pd.DataFrame:
    """One metric by cell.

    Args:
        name: Name of the metric.
        rows: What it is the sum of.
        where: The cells.
        effect: Design effect of the whole, by which clusters widen the intervals.
    """
    # A row of no level (a call without a lead, cut by source) is in no cell.
    code, inside = where.cells(rows)
    in_cell = rows.base & inside
    used, value, k, n = _summed(rows, code, in_cell, int(np.prod(where.shape)))
    # Without a row there may be no level of a dimension either, and so no cell.
    levels = np.unravel_index(used, where.shape) if len(used) else (used,) * len(where.shape)
    frame = {
        column: pd.array(np.array(labels, dtype=object)[level], dtype="str")
        for column, labels, level in zip(where.names, where.labels, levels, strict=True)
    }
    low, high, center, lcl, ucl = (np.full(len(used), np.nan) for _ in range(5))
    if rows.statistic in ("share", "distinct"):
        # As many trials as they are worth (Rao and Scott, 1992): a cell has too few leads for an effect of its own.
        _, low, high = wilson_bounds(k / effect, n / effect)
        if where.period is not None:
            center, lcl, ucl = _limits(k, n, levels, where.shape, effect)
    return table(
        {
            **frame,
            "metric": pd.array(np.full(len(used), name, dtype=object), dtype="str"),
            "value": value,
            "numerator": k,
            "denominator": n,
            "low": low,
            "high": high,
            "center": center,
            "limit_low": lcl,
            "limit_high": ucl,
            "signal": (value < lcl) | (value > ucl),
        }
    )


def _summed(
    rows: Rows, code: Ints, in_cell: Mask, size: int
) -> tuple[Ints, Floats, Floats, Floats]:
    """The cells that have rows, and their value, numerator and denominator."""
    cell, above = code[in_cell], np.asarray(rows.above, dtype=float)[in_cell]
    n = np.bincount(cell, minlength=size).astype(float)
    used = np.flatnonzero(n).astype(np.int64)
    k: Floats = np.bincount(cell, above, size).astype(float)
    if rows.statistic == "formula" and rows.formula is not None:
        parts = [np.bincount(cell, np.asarray(p, float)[in_cell], size)[used] for p in rows.parts]
        return used, *rows.formula(*parts)
    if rows.statistic == "median":
        order = np.lexsort((above, cell))
        cell, above = cell[order], above[order]
        first, last = (np.searchsorted(cell, used, side) for side in ("left", "right"))
        # The middle one, or the mean of the two in the middle, of each cell in one pass.
        medians = (above[(first + last - 1) // 2] + above[(first + last) // 2]) / 2
        return used, np.asarray(medians), np.full(len(used), np.nan), n[used]
    if rows.key is not None:
        span = int(rows.key.max(initial=0)) + 1
        index, pairs = pd.factorize(cell * span + rows.key[in_cell])
        row_of = np.asarray(pairs, dtype=np.int64) // span
        hits: Floats = np.bincount(index, above, len(pairs)).astype(float)
        if rows.statistic == "worst":
            weight = None if rows.weight is None else rows.weight[in_cell]
            return _worst(row_of, hits, np.bincount(index, weight, len(pairs)).astype(float),
                          np.bincount(index, minlength=len(pairs)) >= rows.least)  # fmt: skip
        n = np.bincount(row_of, minlength=size).astype(float)
        k = np.bincount(row_of, hits > 0, size).astype(float)
    elif rows.weight is not None:
        n = np.bincount(cell, rows.weight[in_cell], size).astype(float)
    return used, ratio(k[used], n[used]), k[used], n[used]


def _worst(
    cell: Ints, reached: Floats, meant: Floats, judged: Mask
) -> tuple[Ints, Floats, Floats, Floats]:
    """Of each cell the key that reached the least of what was meant, among those that are judged."""
    rows = np.flatnonzero(judged & (meant > 0))
    kept = reached[rows] / meant[rows]
    rows = rows[np.lexsort((kept, cell[rows]))]
    first = np.flatnonzero(np.diff(cell[rows], prepend=-1))
    rows = rows[first]
    return cell[rows], reached[rows] / meant[rows], reached[rows], meant[rows]


def _limits(
    k: Floats, n: Floats, levels: tuple[np.ndarray, ...], shape: tuple[int, ...], effect: float
) -> tuple[Floats, Floats, Floats]:
    """Center and control limits of each period in its own series (Shewhart's p chart)."""
    series = (
        np.ravel_multi_index(levels[:-1], shape[:-1]) if len(shape) > 1
        else np.zeros(len(k), dtype=np.int64)
    )  # fmt: skip
    size = int(series.max(initial=0)) + 1
    center = ratio(np.bincount(series, k, size), np.bincount(series, n, size))[series]
    # Of the series' own mean, so that a series is out of control against itself (Shewhart, 1931).
    error = np.sqrt(center * (1 - center) * effect / n)
    return center, np.maximum(center - _SIGMAS * error, 0), np.minimum(center + _SIGMAS * error, 1)


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
        dimension = where.names.index(name)
        if level not in where.labels[dimension]:
            raise ConfigError(f"{name}={level!r} is in no cell")
        in_part = parts[dimension] == where.labels[dimension].index(level)
        inside = in_part if inside is None else inside & in_part
    size = len(parts[0]) if parts else 0
    return np.ones(size, dtype=bool) if inside is None else inside
