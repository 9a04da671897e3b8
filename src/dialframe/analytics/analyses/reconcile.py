"""The service's report against the calls."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from dialframe.analytics.analysis_result import Result, result_of
from dialframe.analytics.attempt.argument_checks import analysis
from dialframe.analytics.attempt.attempt_table import count_attempts
from dialframe.analytics.attempt.call_scope import known_then
from dialframe.analytics.attempt.frames_to_arrays import (
    DAY_US,
    HOUR_US,
    NO_TIME,
    Ints,
    Mask,
    encoded,
    is_word,
    micros,
    numbered,
    repeated,
    require,
)
from dialframe.analytics.attempt.taxonomy import DEFAULT, NO_GROUP, Taxonomy
from dialframe.analytics.claims_and_tables import plural, table_of_rows
from dialframe.errors import ConfigError
from dialframe.instants import When, instant

#: Why a count differs, in the order in which it is looked for.
BUCKETS: Final[dict[str, str]] = {
    "direction": "the report counts another set of directions than outbound calls alone",
    "time_zone_edge": "the report's days begin at another hour than midnight UTC",
    "unmapped": "a code that the taxonomy does not have, and that only one of the two writes: map it, or "
    "ask what the other calls it",
    "late_edit": "the call is counted under another code of its day and campaign: it was changed",
    "gap": "the report has calls that are not here: pull again from before that day",
    "surplus": "calls are here that the report does not count",
}
#: Hours by which clocks differ from UTC: the whole ones, and the others that are in use (tz database).
_OFFSETS_H: Final = (
    *map(float, range(-12, 15)), -9.5, -3.5, -2.5, 3.5, 4.5, 5.5, 5.75, 6.5, 8.75, 9.5, 10.5, 12.75,
    13.75,
)  # fmt: skip
_KEYS: Final = ("date", "campaign_id", "disposition")


@analysis
def reconcile(
    calls: pd.DataFrame,
    leads: pd.DataFrame | None = None,
    *,
    report: pd.DataFrame,
    taxonomy: Taxonomy = DEFAULT,
    as_of: When | None = None,
) -> Result:
    """The service's disposition report against the same counts made of the calls.

    Args:
        calls: Frame of the calls table, both directions.
        leads: Frame of the leads table, so that calls to one lead count as one cluster.
        report: Frame of the dispositions table: `date` (UTC day), `campaign_id`, `disposition`,
            `calls`. Calls of days outside the report are left out.
        taxonomy: What the codes mean.
        as_of: What was known at this instant counts: calls and whole days until then.

    Returns:
        One row per reason: `reason`, `calls` (units of difference that it explains), `share` of
        the whole difference, `meaning`. The calls sum to the difference: the sum over day, campaign
        and code of what the report has more or less than the outbound calls here. Table `each` has
        the counts that differ in the end (`server`, `computed`, `difference`, `reason`), table
        `codes` the totals by code with `unmapped`. `parameters` say which directions and which hour
        of day fit the report best.

    Raises:
        ConfigError: A column is missing, or an instant is none.

    Example:
        result = analytics.reconcile(calls, report=account.dispositions())
    """
    require(report, (*_KEYS, "calls"), "dispositions report")
    attempts = count_attempts(
        calls, leads, taxonomy=taxonomy, as_of=as_of, include_no_campaign=True
    )
    # The contract does not show the report (Resources): its directions and its day are found out.
    inside = _Counts(report, known_then(calls, instant("as_of", as_of)))
    total = inside.off(inside.outbound, 0)
    chosen, directions, after = inside.outbound, "outbound", total
    # A report that fits better with inbound calls counts them.
    if inside.off(inside.all, 0) < total:
        chosen, directions = inside.all, "outbound and inbound"
        after = inside.off(inside.all, 0)
    hour = inside.clock(chosen) if after else 0.0
    server, computed = inside.named(inside.server), inside.named(inside.counts(chosen, hour))
    rest = inside.named(inside.server - inside.counts(chosen, hour))
    codes = _codes(server, computed, attempts.taxonomy)
    # Codes that the taxonomy does not have and that only one of the two ever writes.
    # A code that both write was changed on some calls; one that only one of the two writes has another name there.
    one_sided = codes["unmapped"] & ((codes["server"] == 0) | (codes["computed"] == 0))
    alone = frozenset(codes.loc[one_sided.to_numpy(bool), "disposition"])
    each, late, odd = _late(rest, alone)
    explained = {
        "direction": total - after,
        "time_zone_edge": after - inside.off(chosen, hour),
        "unmapped": odd,
        "late_edit": late,
        "gap": sum(n for n, why in each.values() if why == "gap"),
        "surplus": -sum(n for n, why in each.values() if why == "surplus"),
    }
    frame = table_of_rows(
        {"reason": str, "calls": int, "share": float, "meaning": str},
        [(reason, explained[reason], explained[reason] / total if total else np.nan, meaning)
         for reason, meaning in BUCKETS.items()],
    )  # fmt: skip
    each_frame = table_of_rows(
        {**dict.fromkeys(_KEYS, str), "server": int, "computed": int, "difference": int, "reason": str},
        [(*key, server.get(key, 0), computed.get(key, 0), difference, each[key][1])
         for key, difference in rest.items()],
    )  # fmt: skip
    return result_of(
        attempts, "reconcile", _answer(explained, total, inside), frame,
        "Calls by UTC day of their start, campaign and disposition as written, in the service's "
        "report and here",
        {("outside_report", "calls"): inside.outside},
        {"outside_report": "started on a day that the report does not have"},
        tables={"each": each_frame, "codes": codes},
        parameters={"directions": directions, "day_begins_utc_h": -hour % 24.0, "difference": total,
            "server": sum(server.values())},
    )  # fmt: skip


_Key = tuple[str, str, str]


def differences(calls: pd.DataFrame, report: pd.DataFrame) -> pd.DataFrame:
    """What report and outbound calls say of each day, campaign and code, before any reason is sought.

    Args:
        calls: Frame of the calls table.
        report: Frame of the dispositions table.

    Returns:
        Columns `date`, `campaign_id`, `disposition`, `server` (calls of the report) and `off` (how
        much the two differ).
    """
    counts = _Counts(report, calls)
    computed = counts.counts(counts.outbound, 0)
    known = np.where((counts.server != 0) | (computed != 0), 1, 0)
    server, ours = counts.named(counts.server), counts.named(computed)
    return table_of_rows(
        {**dict.fromkeys(_KEYS, str), "server": int, "off": int},
        [(*key, server.get(key, 0), abs(server.get(key, 0) - ours.get(key, 0)))
         for key in counts.named(known)],
    )  # fmt: skip


def report_days(values: pd.Series) -> Ints:
    """Days as text as the microseconds of their midnight, UTC.

    Raises:
        ConfigError: A text is no day.
    """
    texts = values.astype("str")
    days = pd.Series(pd.to_datetime(texts, utc=True, errors="coerce"))
    odd = np.asarray(days.isna() & texts.notna(), dtype=bool)
    if odd.any():
        raise ConfigError(
            f"the report has {texts[odd].iloc[0]!r} where a day is needed; days are text such as "
            "'2026-03-02'"
        )
    return micros(days)


class _Counts:
    """Counts by day, campaign and code as one array, for any directions and start of the day."""

    def __init__(self, report: pd.DataFrame, calls: pd.DataFrame) -> None:
        at = micros(calls["created_at"])
        known = at != NO_TIME
        if "id" in calls.columns:
            # The service counts a call once, however often it was read.
            known &= ~repeated(calls["id"])
        self._at = np.where(known, at, 0)
        self.outbound: Mask = known & is_word(calls["direction"], "outbound")
        self.all: Mask = known & (self.outbound | is_word(calls["direction"], "inbound"))
        dated = report[report_days(report["date"]) != NO_TIME]
        days, self._days = numbered(dated["date"].astype("str").str.slice(0, 10))
        campaign, self._campaigns = _number_together(dated["campaign_id"], calls["campaign_id"])
        code, self._codes = _number_together(dated["disposition"], calls["disposition"])
        self._cell = campaign * len(self._codes) + code
        self._width = len(self._campaigns) * len(self._codes)
        self._wanted: Ints = np.array(
            [np.datetime64(day, "D").astype(int) for day in self._days], int
        )
        self._sorted = np.argsort(self._wanted)
        cell = days * self._width + self._cell[: len(dated)]
        size = self._width * len(self._days)
        reported = dated["calls"].to_numpy(dtype=float, na_value=0)
        self.server: Ints = np.rint(np.bincount(cell, reported, size)).astype(np.int64)
        self._cell = self._cell[len(dated) :]
        self.outside = int((self.all & (self._day(0) < 0)).sum())

    def counts(self, chosen: Mask, hours: float) -> Ints:
        """Counts with the clock put forward by some hours."""
        day = self._day(hours)
        keep = chosen & (day >= 0)
        cell = day[keep] * self._width + self._cell[keep]
        return np.bincount(cell, minlength=len(self.server)).astype(np.int64)

    def off(self, chosen: Mask, hours: float) -> int:
        """How much all counts together are off."""
        return int(np.abs(self.server - self.counts(chosen, hours)).sum())

    def clock(self, chosen: Mask) -> float:
        """Hours by which the report's day is ahead of UTC, as the counts fit best.

        One of the rare clocks is taken only where it explains over half of what whole hours leave,
        of several days: at a quarter past, a shift can hide a few calls that are missing for
        another reason.
        """
        off = {hours: self.off(chosen, hours) for hours in _OFFSETS_H}
        best = min(_OFFSETS_H, key=lambda h: (off[h], abs(h)))
        whole = min((h for h in _OFFSETS_H if h.is_integer()), key=lambda h: (off[h], abs(h)))
        rare = len(self._days) > 1 and off[best] < off[whole] / 2
        return best if rare else whole

    def named(self, counts: Ints) -> dict[_Key, int]:
        """Those that are not 0, with their names, in order."""
        cells = np.flatnonzero(counts)
        day, rest = np.divmod(cells, max(self._width, 1))
        campaign, code = np.divmod(rest, max(len(self._codes), 1))
        keys = [
            (self._days[d], self._campaigns[c], self._codes[k])
            for d, c, k in zip(day, campaign, code, strict=True)
        ]
        return dict(sorted(zip(keys, counts[cells].tolist(), strict=True)))

    def _day(self, hours: float) -> Ints:
        """Place of each call's day in the report's days, or -1."""
        day = (self._at + round(hours * HOUR_US)) // DAY_US
        if not len(self._wanted):
            return np.full(len(day), -1)
        ordered = self._wanted[self._sorted]
        index = np.minimum(np.searchsorted(ordered, day), len(ordered) - 1)
        return np.where(ordered[index] == day, self._sorted[index], -1)


def _number_together(left: pd.Series, right: pd.Series) -> tuple[Ints, list[str]]:
    """Both columns in one numbering; blank is nothing."""
    left_code, of_left = encoded(left)
    right_code, of_right = encoded(right)
    names, none = of_left + of_right, len(of_left) + len(of_right)
    code = np.concatenate([
        np.where(left_code == len(of_left), none, left_code.astype(np.int64)), len(of_left) + right_code.astype(np.int64)
    ])  # fmt: skip
    plain = [name.strip() or NO_GROUP for name in names] + [NO_GROUP]
    distinct = list(dict.fromkeys(plain))
    index_of = {name: i for i, name in enumerate(distinct)}
    return np.array([index_of[name] for name in plain])[code], distinct


def _late(
    rest: dict[_Key, int], alone: frozenset[str]
) -> tuple[dict[_Key, tuple[int, str]], int, int]:
    """Moves between codes of one day and campaign.

    Gives what remains of each key and why, how many units were edits, and how many are of codes
    that only one of the two writes.
    """
    groups: dict[tuple[str, str], list[_Key]] = {}
    for key in rest:
        groups.setdefault(key[:2], []).append(key)
    each: dict[_Key, tuple[int, str]] = {}
    late = odd = 0
    for keys in groups.values():
        more, odd_more = _sums(rest, keys, alone, 1)
        less, odd_less = _sums(rest, keys, alone, -1)
        # What one code of a day and campaign has more and another has less are calls that changed their code.
        moved = min(more, less)
        renamed = min(moved, max(odd_more, odd_less))
        late += 2 * (moved - renamed)
        odd += 2 * renamed
        left = {1: moved, -1: moved}
        # One-sided codes first: what remains of the move is of codes that both write.
        for key in sorted(keys, key=lambda key: key[2] not in alone):
            sign = 1 if rest[key] > 0 else -1
            taken = min(abs(rest[key]), left[sign])
            left[sign] -= taken
            remains = rest[key] - sign * taken
            why = "gap" if remains > 0 else "surplus" if remains else "late_edit"
            if (key[2] in alone and remains <= 0) or (not remains and moved == renamed):
                odd, why = odd - remains, "unmapped"
            each[key] = (remains, why)
    return each, late, odd


def _sums(
    rest: dict[_Key, int], keys: list[_Key], alone: frozenset[str], sign: int
) -> tuple[int, int]:
    """What all keys of one sign come to, and those of them whose code only one of the two writes."""
    larger = [key for key in keys if sign * rest[key] > 0]
    return (
        sum(sign * rest[key] for key in larger),
        sum(sign * rest[key] for key in larger if key[2] in alone),
    )


def _codes(server: dict[_Key, int], computed: dict[_Key, int], taxonomy: Taxonomy) -> pd.DataFrame:
    names = sorted({key[2] for key in [*server, *computed]})
    reported, computed_calls = (dict.fromkeys(names, 0) for _ in range(2))
    for counts, total in ((server, reported), (computed, computed_calls)):
        for key, n in counts.items():
            total[key[2]] += n
    frame = table_of_rows(
        {"disposition": str, "server": int, "computed": int, "difference": int, "unmapped": bool},
        [(name, reported[name], computed_calls[name], reported[name] - computed_calls[name],
          name != NO_GROUP and taxonomy.outcome("disposition", name) is None) for name in names],
    )  # fmt: skip
    return frame.sort_values("server", ascending=False, kind="stable", ignore_index=True)


def _answer(explained: dict[str, int], total: int, inside: _Counts) -> str:
    server = int(inside.server.sum())
    if not server:
        return "The report counts no call, so there is nothing to hold the calls here against"
    if not total:
        return f"The report's {plural(server, 'call')} and the calls here agree, code by code"
    parts = [f"{n:,} {name.replace('_', ' ')}" for name, n in explained.items() if n]
    return (
        f"The report's {plural(server, 'call')} differ from the calls here by {total:,}: "
        f"{', '.join(parts)}"
    )
