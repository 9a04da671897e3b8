"""What the fields of the network say: carriers, causes, ringing, durations, machines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis, one_name
from dialframe.analytics.attempt.attempt_table import Attempts, area, count_attempts
from dialframe.analytics.attempt.frames_to_arrays import Floats, Ints, Mask
from dialframe.analytics.attempt.taxonomy import (
    CONNECTED_UNKNOWN,
    DEFAULT,
    Field,
    Taxonomy,
    code_key,
)
from dialframe.analytics.claims_and_tables import (
    first_few,
    plural,
    rated,
    rated_calls,
    ratio,
    share,
    sums,
    table,
)
from dialframe.instants import When

#: Shares of short calls from which carriers charge extra or ask questions, as they publish them.
SHORT_LIMITS: Final = (0.15, 0.20)
_LEAST: Final = 30


@analysis
def carriers(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    by: str | Sequence[str] = "campaign_id",
    short_s: float = 6.0,
    limits: tuple[float, float] = SHORT_LIMITS,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """Answer-seizure ratio, network effectiveness, length and share of short and blocked calls.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table, so that calls to one lead count as one cluster.
        by: `campaign_id`, `from_number`, `prefix` (area code called), or a column of the calls.
        short_s: Talk up to which an answered call is short, seconds.
        limits: Shares of short calls that carriers warn at and charge at.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        One row per group: the column `by`, `attempts`, `answered`, `asr`, `asr_low`, `asr_high`
        (clustered by number), `ner`, `aloc_s` (mean talk), `short` (calls), `short_share` of
        answered calls with a length, `short_low`, `short_high` (clustered too), `short_flag` (`ok`, `warning`,
        `over`, `too few` under 30 answers), `blocked`, `blocked_share`, `rejected` (by the person), `congested`.
        Table `causes` has one row per hangup cause as it was written: `hangup_cause` (null: none), `class`
        (`unmapped` where the taxonomy does not have it), `numerator`, `denominator`, `rate`, `low`, `high`,
        `answered`, `cumulative`.

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or an instant is none.
    """
    by = one_name(by)
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until
    )
    code, names = _groups(attempts, by)
    size = len(names)

    def of(mask: np.ndarray) -> Ints:
        return sums(code, size, mask)

    answered, user = attempts.flag("answered"), rejected(attempts)
    # Who rejects a call was reached by the network; a block on the way is its failure.
    blocked = attempts.is_class("blocked_or_rejected") & ~user
    known = answered & ~np.isnan(attempts.talk_s)
    short = known & (np.nan_to_num(attempts.talk_s, nan=np.inf) <= short_s)
    # Busy, no answer and a refusal by the person are the network's work done (ITU-T E.425, NER).
    effective = answered | attempts.is_class("busy", "no_answer") | user
    tried, talk = sums(code, size), np.bincount(code[known], attempts.talk_s[known], size)
    answers = rated_calls(code, answered, attempts.cluster, size)
    shorts = rated_calls(np.where(known, code, -1), short, attempts.cluster, size)
    frame = table(
        {
            by: names,
            "attempts": tried,
            "answered": answers["numerator"],
            "asr": answers["rate"],
            "asr_low": answers["low"],
            "asr_high": answers["high"],
            "ner": ratio(of(effective), tried),
            "aloc_s": ratio(talk, shorts["denominator"]),
            "short": shorts["numerator"],
            "short_share": shorts["rate"],
            "short_low": shorts["low"],
            "short_high": shorts["high"],
            "short_flag": [
                "too few"
                if n < _LEAST
                else "over"
                if rate > limits[1]
                else "warning"
                if rate > limits[0]
                else "ok"
                for rate, n in zip(shorts["rate"], shorts["denominator"], strict=True)
            ],
            "blocked": of(blocked),
            "blocked_share": ratio(of(blocked), tried),
            "rejected": of(user),
            "congested": of(attempts.is_class("network_fail")),
        }
    ).sort_values("attempts", ascending=False, kind="stable", ignore_index=True)
    over = int((frame["short_flag"] == "over").sum())
    total, base = int(short.sum()), int(known.sum())
    short_words = f" ({share(total / base)} short)" if base else ""
    return result_of(
        attempts, "carriers",
        f"{plural(int(answered.sum()), 'answer')} of {plural(len(attempts), 'attempt')}{short_words}; "
        f"{over} of {size} {'group is' if size == 1 else 'groups are'} over the limit of short "
        f"calls",
        frame,
        "ASR: answered of attempts; NER: answered, busy, ring without answer and rejected by the "
        f"person of attempts (ITU-T E.411, E.425); short: talk of {short_s:g} s or less of answered",
        {("no_length", "calls"): int((answered & ~known).sum())},
        {"no_length": "answered, without a length"},
        tables={"causes": _causes(attempts)},
        parameters={"short_s": short_s, "limit_warning": limits[0], "limit_over": limits[1]},
    )  # fmt: skip


def _causes(attempts: Attempts) -> pd.DataFrame:
    """Hangup causes by frequency, in every spelling and as the class they mean."""
    code, names = attempts.text("hangup_cause")
    n = sums(code, len(names))
    # Most frequent first, by name where equal: the order does not hang on the rows.
    order = sorted(range(len(names)), key=lambda i: (-n[i], names[i]))
    kinds = [attempts.taxonomy.outcome("hangup_cause", names[i]) or "unmapped" for i in order]
    kinds = [
        "(none)" if names[i] == "(none)" else kind for i, kind in zip(order, kinds, strict=True)
    ]
    return table(
        {
            "hangup_cause": [names[i] for i in order],
            "class": kinds,
            **rated(n[order] if order else np.zeros(0, int), np.full(len(order), len(attempts))),
            "answered": sums(code, len(names), attempts.flag("answered"))[order]
            if order else np.zeros(0, int),
            "cumulative": np.cumsum(n[order]) / max(len(attempts), 1) if order else np.zeros(0),
        }
    )  # fmt: skip


def _groups(attempts: Attempts, by: str) -> tuple[Ints, list[str]]:
    if by != "prefix":
        return attempts.text(by)
    codes = area(attempts, "to_number")
    distinct, index = np.unique(codes, return_inverse=True)
    return index.astype(np.int64), [f"+1 {c}" if c > 0 else "elsewhere" for c in distinct]


#: Calls that a group must have before its durations are judged.
_ENOUGH: Final = 10


_RING_EDGES: Final = (1.0, 4.0, 12.0, 16.0, 18.0, 20.0, 22.0, 24.0, 28.0)


_TALK_EDGES: Final = (4.0, 6.0, 9.0, 13.0, 18.0, 22.0, 27.0, 32.0, 40.0, 60.0, 120.0)


@analysis
def machines(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    by: str | Sequence[str] = "campaign_id",
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
    campaign: str | None = None,
    since: When | None = None,
    until: When | None = None,
) -> Result:
    """How many answers are machines, and where machines hide among answers of unknown kind.

    Ringing and talk of calls that are known to be a person or a machine say how both look; the
    share of machines among the unknown answers of a group is the one that makes theirs likeliest.

    Args:
        calls: Frame of the calls table, or of `account.attempts()`.
        leads: Frame of the leads table.
        by: Column of the calls that says the groups.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts; by default the latest instant in the data.
        campaign: Calls of this campaign only.
        since: Calls from this instant on; attempts are numbered over the whole history.
        until: Calls before this instant.

    Returns:
        One row per group: the group's column, `numerator` (machines), `denominator` (answered),
        `rate`, `low`, `high` (clustered by number), `unknown` (answered by nobody knows whom),
        `hidden_share` (estimated machines of these, null where it cannot be told), `hidden_low`,
        `hidden` (they are mostly machines).

    Raises:
        ConfigError: A column is missing, the campaign is unknown, or an instant is none.
    """
    by = one_name(by)
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, campaign=campaign, since=since, until=until
    )
    answered, machine, human = (attempts.flag(name) for name in ("answered", "machine", "human"))
    unknown = (
        attempts.is_class(CONNECTED_UNKNOWN) & ~attempts.classes.unmapped[attempts.rows] & answered
    )
    # Band of ringing and talk of each attempt; -1 where not known.
    known = ~np.isnan(attempts.ring_s) & ~np.isnan(attempts.talk_s)
    ring, talk = (
        np.searchsorted(np.array(edges), np.nan_to_num(times), side="right")
        for edges, times in ((_RING_EDGES, attempts.ring_s), (_TALK_EDGES, attempts.talk_s))
    )
    # Ringing and talk together: machines answer after a fixed number of rings, and talk as long as they let one.
    looks = np.where(known, ring * (len(_TALK_EDGES) + 1) + talk, -1)
    size = (len(_RING_EDGES) + 1) * (len(_TALK_EDGES) + 1)
    as_machine, as_human = (sums(looks, size, m) for m in (machine, human))
    code, names = attempts.text(by)
    hidden = np.array(
        [_hidden_machine_share(sums(looks, size, unknown & (code == i)), as_machine, as_human) for i in range(len(names))]
    ).reshape(-1, 2)  # fmt: skip
    frame = table(
        {
            by: names,
            **rated_calls(np.where(answered, code, -1), machine, attempts.cluster, len(names)),
            "unknown": sums(code, len(names), unknown),
            "hidden_share": hidden[:, 0],
            "hidden_low": hidden[:, 1],
            "hidden": hidden[:, 1] > 0.5,
        }
    ).sort_values("denominator", ascending=False, kind="stable", ignore_index=True)
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
    return result_of(
        attempts, "machines", answer, frame,
        "Calls that a machine answered of answered calls; unknown: answered, and no code says by "
        "whom",
    )  # fmt: skip


def _hidden_machine_share(unknown: Ints, machine: Ints, human: Ints) -> tuple[float, float]:
    """Likeliest share of machines and its lower 95% bound; NaN where it cannot be told."""
    n = int(unknown.sum())
    if n < 2 * _ENOUGH or min(int(machine.sum()), int(human.sum())) < 5 * _ENOUGH:
        return np.nan, np.nan
    # Half a call in each band, so that one never seen is rare and not impossible (Jeffreys).
    machine_share = (machine + 0.5) / (machine + 0.5).sum()
    human_share = (human + 0.5) / (human + 0.5).sum()
    grid: Floats = np.linspace(0.0, 1.0, 201)
    mixed = grid[:, None] * machine_share[None, :] + (1 - grid)[:, None] * human_share[None, :]
    likelihood = np.log(mixed) @ unknown
    best = int(likelihood.argmax())
    # Half of 3.84, the 95% point of chi-squared with one degree of freedom (likelihood ratio).
    inside: Mask = likelihood > likelihood[best] - 1.92
    return float(grid[best]), float(grid[inside].min())


_CAUSE: Final[Field] = "hangup_cause"


#: Spellings that say that the person rejected the call, not the network.
_BY_USER: Final = frozenset(
    {"q850:21", "sip:603", "callrejected", "rejected", "declined", "decline"}
)


LONGEST_RING_S: Final = 120.0


def rejected(attempts: Attempts) -> Mask:
    """Rejected calls whose cause names the person and whose disposition does not say blocked."""
    cause, names = attempts.numbered("hangup_cause")
    is_by_user = [code_key(_CAUSE, n) in _BY_USER and "block" not in n.casefold() and "+" not in n
            for n in names]  # fmt: skip
    note, notes = attempts.numbered("disposition")
    blocked = np.array([*("block" in n.casefold() for n in notes), False])[note]
    return np.asarray(
        attempts.is_class("blocked_or_rejected") & np.array([*is_by_user, False])[cause] & ~blocked
    )
