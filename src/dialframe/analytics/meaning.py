"""What a field means in this account: the duration, and an answer that nobody can explain."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.clustered import clustered
from dialframe.analytics.columns import Floats, Ints, Mask
from dialframe.analytics.dials import Dials, dials
from dialframe.analytics.outcomes import CONNECTED_UNKNOWN
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import median, rated, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import first_few, plural, share

_TOLERANCE_S: Final = 1.5


#: Calls that a group must have before its durations are judged.
_ENOUGH: Final = 10


_RING_EDGES: Final = (1.0, 4.0, 12.0, 16.0, 18.0, 20.0, 22.0, 24.0, 28.0)


_TALK_EDGES: Final = (4.0, 6.0, 9.0, 13.0, 18.0, 22.0, 27.0, 32.0, 40.0, 60.0, 120.0)


def durations(
    calls: pd.DataFrame,
    *,
    by: str = "campaign_id",
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
) -> Result:
    """What `duration_seconds` counts in this account: the talk, or the whole call.

    Args:
        calls: Frame of the calls table.
        by: Column of the calls to look at groups of.
        taxonomy: What the codes mean.
        as_of: When the data was read.

    Returns:
        One row per group: the group's column, `means` (`talk`, `whole`, `unclear`), `calls`
        (answered, with times and a duration, of which the two differ), `fits_talk`, `fits_whole`,
        `median_off_talk_s`, `median_off_whole_s`.

    Raises:
        ConfigError: A column is missing.
    """
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of, include_no_campaign=True)
    duration = found.calls["duration_seconds"].iloc[found.rows].to_numpy(float, na_value=np.nan)
    to_talk = np.abs(duration - found.talk_s)
    to_whole = np.abs(duration - found.talk_s - found.ring_s)
    known = found.flag("answered") & ~np.isnan(to_talk) & ~np.isnan(to_whole)
    told = known & (found.ring_s > _TOLERANCE_S)
    code, names = found.text(by)
    rows = []
    for i, name in enumerate(names):
        mine = told & (code == i)
        talk = int((to_talk[mine] <= _TOLERANCE_S).sum())
        whole = int((to_whole[mine] <= _TOLERANCE_S).sum())
        n = int(mine.sum())
        means = "unclear"
        if n >= _ENOUGH and max(talk, whole) > 0.9 * n:
            means = "talk" if talk > whole else "whole"
        rows.append((name, means, n, talk, whole, median(to_talk[mine]), median(to_whole[mine])))
    rows.sort(key=lambda row: (-row[2], row[0]))
    columns = (
        by,
        "means",
        "calls",
        "fits_talk",
        "fits_whole",
        "median_off_talk_s",
        "median_off_whole_s",
    )
    frame = table(
        {
            name: [row[i] for row in rows] if i < 2
            else np.array([row[i] for row in rows], dtype=int if i < 5 else float)
            for i, name in enumerate(columns)
        }
    )  # fmt: skip
    kinds = [str(kind) for kind in frame["means"] if kind != "unclear"]
    most = max(set(kinds), key=kinds.count) if kinds else "unclear"
    odd = [
        str(n)
        for n, k in zip(frame[by], frame["means"], strict=True)
        if k not in (most, "unclear")
    ]
    said = {"talk": "the talk", "whole": "the whole call from its start", "unclear": "not clear"}
    answer = f"duration_seconds is {said[most]}"
    answer += f", except in {', '.join(odd)}" if odd else ""
    return Result(
        "durations", answer, frame,
        "Answered calls whose duration is within 1.5 s of the talk (answer to end) or of the whole "
        "call (start to end)",
        found.balance({("no_duration", "calls"): int((found.flag("answered") & ~known).sum())},
                      {"no_duration": "answered, without a duration or its times"}),
        taxonomy, found.as_of, {}, {"tolerance_s": _TOLERANCE_S}, found.warnings,
    )  # fmt: skip


def machines(
    calls: pd.DataFrame,
    *,
    by: str = "campaign_id",
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
) -> Result:
    """How many answers are machines, and where machines hide among answers of unknown kind.

    Ringing and talk of calls that are known to be a person or a machine say how both look; the
    share of machines among the unknown answers of a group is the one that makes theirs likeliest.

    Returns:
        One row per group: the group's column, `numerator` (machines), `denominator` (answered),
        `rate`, `low`, `high` (clustered by number), `unknown` (answered by nobody knows whom),
        `hidden_share` (estimated machines of these, null where it cannot be told), `hidden_low`,
        `hidden` (they are mostly machines).

    Raises:
        ConfigError: A column is missing.
    """
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of)
    answered, machine, human = (found.flag(name) for name in ("answered", "machine", "human"))
    unknown = found.is_class(CONNECTED_UNKNOWN) & ~found.classes.unmapped[found.rows] & answered
    looks = _looks(found)
    size = (len(_RING_EDGES) + 1) * (len(_TALK_EDGES) + 1)
    as_machine, as_human = (sums(np.where(m, looks, -1), size) for m in (machine, human))
    code, names = found.text(by)
    rows = []
    for i, name in enumerate(names):
        mine = answered & (code == i)
        bounds = clustered(machine[mine], found.cluster[mine])
        low, high = (np.nan, np.nan) if bounds is None else bounds[1:]
        odd = unknown & (code == i)
        hidden, least = _hidden(sums(np.where(odd, looks, -1), size), as_machine, as_human)
        rows.append((name, int((machine & mine).sum()), int(mine.sum()), low, high,
                     int(odd.sum()), hidden, least))  # fmt: skip
    rows.sort(key=lambda row: (-row[2], row[0]))
    column = [np.array([row[i] for row in rows], dtype=float) for i in range(1, 8)]
    frame = table(
        {
            by: [row[0] for row in rows],
            **{
                name: rated(column[0], column[1])[name]
                for name in ("numerator", "denominator", "rate")
            },
            "low": column[2],
            "high": column[3],
            "unknown": column[4].astype(int),
            "hidden_share": column[5],
            "hidden_low": column[6],
            "hidden": np.nan_to_num(column[6]) > 0.5,
        }
    )
    hiding = frame[frame["hidden"].to_numpy(bool)]
    most = np.argsort(-(hiding["unknown"] * hiding["hidden_share"]).to_numpy(float), kind="stable")
    odd_ones = [str(name) for name in hiding[by].iloc[most]]
    total, base = int(machine.sum()), int(answered.sum())
    answer = f"{total:,} of {plural(base, 'answer')} were machines" + (
        f" ({share(total / base)})" if base else ""
    )
    dark = int(unknown.sum())
    answer += f"; of {plural(dark, 'answer')} nothing says by whom" if 2 * dark > base else ""
    answer += f"; more hide in {first_few(odd_ones)}" if odd_ones else ""
    return Result(
        "machines", answer, frame,
        "Calls that a machine answered of answered calls; unknown: answered, and no code says by "
        "whom",
        found.balance(), taxonomy, found.as_of, warnings=found.warnings,
    )  # fmt: skip


def _looks(found: Dials) -> Ints:
    """Band of ringing and talk of each attempt; -1 where not known."""
    ring = np.searchsorted(np.array(_RING_EDGES), np.nan_to_num(found.ring_s), side="right")
    talk = np.searchsorted(np.array(_TALK_EDGES), np.nan_to_num(found.talk_s), side="right")
    known = ~np.isnan(found.ring_s) & ~np.isnan(found.talk_s)
    return np.where(known, ring * (len(_TALK_EDGES) + 1) + talk, -1)


def _hidden(unknown: Ints, machine: Ints, human: Ints) -> tuple[float, float]:
    """Likeliest share of machines and its lower 95 % bound; NaN where it cannot be told."""
    n = int(unknown.sum())
    if n < 2 * _ENOUGH or min(int(machine.sum()), int(human.sum())) < 5 * _ENOUGH:
        return np.nan, np.nan
    one = (machine + 0.5) / (machine + 0.5).sum()
    other = (human + 0.5) / (human + 0.5).sum()
    grid: Floats = np.linspace(0.0, 1.0, 201)
    mixed = grid[:, None] * one[None, :] + (1 - grid)[:, None] * other[None, :]
    likelihood = np.log(mixed) @ unknown
    best = int(likelihood.argmax())
    inside: Mask = likelihood > likelihood[best] - 1.92
    return float(grid[best]), float(grid[inside].min())
