"""What carriers see: answer-seizure, network effectiveness, short and blocked calls, ringing."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.clustered import clustered
from dialframe.analytics.columns import Ints
from dialframe.analytics.dials import Dials, dials
from dialframe.analytics.metrics.dialling import LONGEST_RING_S, rejected
from dialframe.analytics.mix import area
from dialframe.analytics.result import Result
from dialframe.analytics.tabled import median, rated, ratio, sums, table
from dialframe.analytics.taxonomy import DEFAULT, Taxonomy
from dialframe.analytics.wording import plural, share

#: Shares of short calls from which carriers charge extra or ask questions, as they publish them.
SHORT_LIMITS: Final = (0.15, 0.20)
_LEAST: Final = 30
#: Seconds of ringing at which a new bar begins.
RING_EDGES: Final = (0, 1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 40, 60)


def carriers(
    calls: pd.DataFrame,
    *,
    by: str = "campaign_id",
    short_s: float = 6.0,
    limits: tuple[float, float] = SHORT_LIMITS,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """Answer-seizure ratio, network effectiveness, length and share of short and blocked calls.

    Args:
        calls: Frame of the calls table.
        by: `campaign_id`, `from_number`, `prefix` (area code called), or a column of the calls.
        short_s: Talk up to which an answered call is short, seconds.
        limits: Shares of short calls that carriers warn at and charge at.
        taxonomy: What the codes mean.
        as_of: When the data was read.
        campaign: Calls of this campaign only.

    Returns:
        One row per group: the column `by`, `attempts`, `answered`, `asr`, `asr_low`, `asr_high`
        (clustered by number), `ner`, `aloc_s` (mean talk), `short` (calls), `short_share` of
        answered calls with a length, `short_low`, `short_high` (clustered too), `short_flag` (`ok`, `warning`,
        `over`, `too few` under 30 answers), `blocked`, `blocked_share`, `rejected` (by the person), `congested`.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    code, names = _groups(found, by)
    size = len(names)

    def of(mask: np.ndarray) -> Ints:
        return sums(np.where(mask, code, -1), size)

    answered, user = found.flag("answered"), rejected(found)
    blocked = found.is_class("blocked_or_rejected") & ~user
    known = answered & ~np.isnan(found.talk_s)
    short = known & (np.nan_to_num(found.talk_s, nan=np.inf) <= short_s)
    effective = answered | found.is_class("busy", "no_answer") | user
    tried, talk = sums(code, size), np.bincount(code[known], found.talk_s[known], size)
    bounds = _bounds(answered, found.cluster, code, size)
    short_bounds = _bounds(short[known], found.cluster[known], code[known], size)
    frame = table(
        {
            by: names,
            "attempts": tried,
            "answered": of(answered),
            "asr": ratio(of(answered), tried),
            "asr_low": bounds[0],
            "asr_high": bounds[1],
            "ner": ratio(of(effective), tried),
            "aloc_s": ratio(talk, of(known)),
            "short": of(short),
            "short_share": ratio(of(short), of(known)),
            "short_low": short_bounds[0],
            "short_high": short_bounds[1],
            "short_flag": _flags(of(short), of(known), limits),
            "blocked": of(blocked),
            "blocked_share": ratio(of(blocked), tried),
            "rejected": of(user),
            "congested": of(found.is_class("network_fail")),
        }
    ).sort_values("attempts", ascending=False, kind="stable", ignore_index=True)
    over = int((frame["short_flag"] == "over").sum())
    total, base = int(short.sum()), int(known.sum())
    said = f" ({share(total / base)} short)" if base else ""
    return Result(
        "carriers",
        f"{plural(int(answered.sum()), 'answer')} of {plural(len(found), 'attempt')}{said}; "
        f"{over} of {size} {'group is' if size == 1 else 'groups are'} over the limit of short "
        f"calls",
        frame,
        "ASR: answered of attempts; NER: answered, busy, ring without answer and rejected by the "
        f"person of attempts (ITU-T E.411, E.425); short: talk of {short_s:g} s or less of answered",
        found.balance({("no_length", "calls"): int((answered & ~known).sum())},
                      {"no_length": "answered, without a length"}),
        taxonomy, found.as_of, {},
        {"short_s": short_s, "limit_warning": limits[0], "limit_over": limits[1]}, found.warnings,
    )  # fmt: skip


def causes(
    calls: pd.DataFrame,
    *,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """Hangup causes by frequency, in every spelling and as the class they mean.

    Returns:
        One row per cause as it was written: `hangup_cause` (null: none), `class` (`unmapped` where
        the taxonomy does not have it), `numerator`, `denominator`, `rate`, `low`, `high`,
        `answered`, `cumulative`.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    code, names = found.text("hangup_cause")
    n = sums(code, len(names))
    order = sorted(range(len(names)), key=lambda i: (-n[i], names[i]))
    kinds = [taxonomy.outcome("hangup_cause", names[i]) or "unmapped" for i in order]
    kinds = [
        "(none)" if names[i] == "(none)" else kind for i, kind in zip(order, kinds, strict=True)
    ]
    frame = table(
        {
            "hangup_cause": [names[i] for i in order],
            "class": kinds,
            **rated(n[order] if order else np.zeros(0, int), np.full(len(order), len(found))),
            "answered": sums(np.where(found.flag("answered"), code, -1), len(names))[order]
            if order else np.zeros(0, int),
            "cumulative": np.cumsum(n[order]) / max(len(found), 1) if order else np.zeros(0),
        }
    )  # fmt: skip
    top = "no attempts" if not order else f"{names[order[0]]} most often"
    return Result(
        "causes", f"{plural(len(names), 'hangup cause')}: {top}", frame,
        "Attempts by hangup cause", found.balance(), taxonomy, found.as_of,
        warnings=found.warnings,
    )  # fmt: skip


def ring_times(
    calls: pd.DataFrame,
    *,
    taxonomy: Taxonomy = DEFAULT,
    as_of: datetime | None = None,
    campaign: str | None = None,
) -> Result:
    """How long it rings until a person, a machine, an unknown answer, or nobody.

    Returns:
        One row per band of seconds and who answered: `seconds` (`4 to 6`), `from_s`, `who`
        (`person`, `machine`, `unknown`, `nobody`), `calls`, `denominator` (all of that kind),
        `share`. Table `medians` has `who`, `calls`, `median_s`. Negative rings and rings over 120 s
        (queueing, most likely) are set aside and counted.

    Raises:
        ConfigError: A column is missing, or the campaign is unknown.
    """
    found = dials(calls, None, taxonomy=taxonomy, as_of=as_of, campaign=campaign)
    ring = found.ring_s
    odd = {
        "ring_unknown": np.isnan(ring),
        "ring_negative": ring < 0,
        "ring_long": ring > LONGEST_RING_S,
    }
    kept = ~np.any(list(odd.values()), axis=0)
    answered, human, machine = (found.flag(n) for n in ("answered", "human", "machine"))
    who = np.select([~answered, human, machine], [3, 0, 1], default=2)
    names = ("person", "machine", "unknown", "nobody")
    band = np.searchsorted(np.array(RING_EDGES, float), ring, side="right") - 1
    size = len(RING_EDGES)
    n = sums(np.where(kept, who * size + band, -1), 4 * size)
    total = sums(np.where(kept, who, -1), 4)
    labels = [f"{a} to {b}" for a, b in itertools.pairwise(RING_EDGES)]
    labels.append(f"{RING_EDGES[-1]} and more")
    frame = table(
        {
            "seconds": labels * 4,
            "from_s": np.tile(np.array(RING_EDGES), 4),
            "who": [name for name in names for _ in range(size)],
            "calls": n,
            "denominator": np.repeat(total, size),
            "share": ratio(n, np.repeat(total, size)),
        }
    )
    middles = np.array([median(np.where(kept & (who == i), ring, np.nan)) for i in range(4)])
    medians = table({"who": list(names), "calls": total, "median_s": middles})
    said = ", ".join(f"{name} {m:.0f} s" for name, m in zip(names, middles, strict=True) if m == m)
    words = {
        "ring_unknown": "no instant of answer or end", "ring_negative": "answered before it began",
        "ring_long": "over 120 s: queueing is most likely in it",
    }  # fmt: skip
    return Result(
        "ring_times", f"Median ringing: {said or 'not known'}", frame,
        "Seconds from the start of the call to its answer, or to its end where nobody answered",
        found.balance({(name, "calls"): int(mask.sum()) for name, mask in odd.items()}, words),
        taxonomy, found.as_of, {"medians": medians}, {}, found.warnings,
    )  # fmt: skip


def _groups(found: Dials, by: str) -> tuple[Ints, list[str]]:
    if by != "prefix":
        return found.text(by)
    codes = area(found, "to_number")
    distinct, place = np.unique(codes, return_inverse=True)
    return place.astype(np.int64), [f"+1 {c}" if c > 0 else "elsewhere" for c in distinct]


def _bounds(
    hit: np.ndarray, cluster: Ints, code: Ints, size: int
) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.full(size, np.nan), np.full(size, np.nan)
    order = np.argsort(code, kind="stable")
    edge = np.searchsorted(code[order], np.arange(size + 1))
    _, near = np.unique(cluster, return_inverse=True)
    for i in range(size):
        mine = order[edge[i] : edge[i + 1]]
        _, small = np.unique(near[mine], return_inverse=True)
        found = clustered(hit[mine], small)
        if found is not None:
            low[i], high[i] = found[1:]
    return low, high


def _flags(short: Ints, known: Ints, limits: tuple[float, float]) -> list[str]:
    said = []
    for rate, n in zip(ratio(short, known), known, strict=True):
        if n < _LEAST:
            said.append("too few")
        else:
            said.append("over" if rate > limits[1] else "warning" if rate > limits[0] else "ok")
    return said
