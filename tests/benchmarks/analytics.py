"""Funnel, hour by weekday and attempt curve over ten million calls, against DuckDB over the same frames.

Run by hand: `python -m benchmarks.analytics [calls] [leads]`, from `tests`. Both sides must give the same
numbers, or the run stops. Figures: CPU seconds (all threads) and their ratio, wall seconds, the best
of a few runs of either side in turn, and the memory that ours takes over the frames' own size. The frames are drawn from a seed; nobody has these
numbers.
"""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa

from dialframe import analytics
from dialframe.analytics import DEFAULT
from dialframe.analytics.attempt import frames_to_arrays
from dialframe.analytics.attempt.taxonomy import BY_NAME
from dialframe.phones.zones import area_codes, of_number

_CODES = ("NA", "B", "A", "ADC", "NI", "NP", "CALLBK", "APPT", "SALE", "HUP", "WN", "DNC")
_CAUSES = {True: "NORMAL_CLEARING", False: "NO_ANSWER"}
_SHARES = (0.36, 0.04, 0.44, 0.03, 0.05, 0.02, 0.02, 0.006, 0.004, 0.02, 0.007, 0.003)
_MIB = 1024 * 1024
_RUNS = 3


def main() -> None:
    """Draw the frames, run both sides, print what came out."""
    calls_n, leads_n = (int(a) for a in (*sys.argv[1:], "10000000", "2000000")[:2])
    calls, leads, zones, codes = _frames(calls_n, leads_n)
    size = sum(f.memory_usage(deep=True).sum() for f in (calls, leads)) / _MIB
    print(f"{calls_n:,} calls, {leads_n:,} leads, frames {size:,.0f} MiB")
    base = duckdb.connect()
    base.execute("SET TimeZone = 'UTC'")
    for name, frame in (("calls", calls), ("leads", leads), ("zones", zones), ("codes", codes)):
        base.register(name, pa.Table.from_pandas(frame, preserve_index=False))
    sides: dict[str, tuple[Callable[[], list[tuple[int, ...]]], str]] = {
        "funnel": (lambda: _funnel(calls, leads), _FUNNEL),
        "hour by weekday": (lambda: _hours(calls), _HOURS),
        "attempt curve": (lambda: _attempts(calls, leads), _ATTEMPTS),
    }
    for name, (ours, query) in sides.items():
        theirs = lambda q=query: base.execute(q).fetchall()  # noqa: E731 - one line, used below
        runs = [(_timed(ours), _timed(theirs)) for _ in range(_RUNS)]
        here, there = runs[0][0][0], runs[0][1][0]
        (cpu, wall), (cpu_there, wall_there) = (
            (min(run[side][1] for run in runs), min(run[side][2] for run in runs))
            for side in (0, 1)
        )
        peak = max(run[0][3] for run in runs)
        same = [tuple(map(int, r)) for r in here] == [tuple(map(int, r)) for r in there]
        if not same:
            raise SystemExit(f"{name}: not the same numbers\n{here[:5]}\n{there[:5]}")
        print(
            f"{name}: CPU {cpu:.2f} s against {cpu_there:.2f} s, ratio {cpu / cpu_there:.2f}; wall "
            f"{wall:.2f} s against {wall_there:.2f} s; {peak:,.0f} MiB over the frames"
        )


def _frames(calls_n: int, leads_n: int) -> tuple[pd.DataFrame, ...]:
    rng = np.random.default_rng(7)
    areas = [a.code for a in area_codes().values() if a.kind == "geographic" and len(a.zones) == 1
             and a.region == "US" and len(of_number(f"+1{a.code}5550100").names) == 1]  # fmt: skip
    lines = rng.permutation(len(areas) * 10_000)[:leads_n]
    phones = pd.Series([f"+1{areas[i // 10_000]}555{i % 10_000:04d}" for i in lines], dtype="str")
    campaigns = np.array([f"cmp_{i:036d}" for i in range(12)], dtype=object)
    campaign = rng.integers(0, 12, leads_n)
    leads = pd.DataFrame({
        "id": pd.array([f"lead_{i:036d}" for i in range(leads_n)], dtype="str"),
        "phone": phones,
        "campaign_id": pd.array(campaigns[campaign], dtype="str"),
        "created_at": pd.to_datetime(np.full(leads_n, 1_760_000_000_000_000), unit="us", utc=True),
        "custom_fields": pd.array(["{}"] * leads_n, dtype="str"),
    })  # fmt: skip
    lead = rng.integers(0, leads_n, calls_n)
    said = rng.choice(len(_CODES), calls_n, p=np.array(_SHARES))
    answered = ~np.isin(said, [0, 1, 3])
    # Newest first, as the service lists them; all instants differ.
    at = (
        1_770_000_000_000_000
        + np.sort(rng.permutation(calls_n).astype(np.int64))[::-1] * 1_500_001
    )
    at -= at % 1000
    start = pd.to_datetime(at, unit="us", utc=True)
    none = np.datetime64("NaT", "us")
    up = pd.to_datetime(
        np.where(answered, (at + 9_000_000).astype("datetime64[us]"), none), utc=True
    )

    def chosen(names: list[str], place: np.ndarray) -> pd.Series:
        array = pa.DictionaryArray.from_arrays(pa.array(place.astype(np.int32)), pa.array(names))
        return pd.Series(array.cast(pa.string()).to_pandas(types_mapper=None), dtype="str")

    calls = pd.DataFrame({
        "id": pd.Series(pa.array([f"call_{i:036d}" for i in range(calls_n)]).to_pandas(), dtype="str"),
        "direction": chosen(["outbound", "inbound"], np.zeros(calls_n)),
        "from_number": chosen([f"+1212555{i:04d}" for i in range(100, 140)], rng.integers(0, 40, calls_n)),
        "to_number": chosen(list(phones), lead),
        "status": chosen(["completed", "no_answer"], (~answered).astype(int)),
        "created_at": start, "answered_at": up,
        "ended_at": pd.to_datetime(at + 40_000_000, unit="us", utc=True),
        "duration_seconds": pd.array(np.full(calls_n, 31.0), dtype="Float64"),
        "campaign_id": chosen(list(campaigns), campaign[lead]),
        "disposition": chosen(list(_CODES), said),
        "hangup_cause": chosen(["NO_ANSWER", "NORMAL_CLEARING", "USER_BUSY", "UNALLOCATED_NUMBER"],
                               np.select([said == 1, said == 3, answered], [2, 3, 1], default=0)),
    })  # fmt: skip
    flags = ("human", "right_party", "positive", "appointment", "conversion")
    kinds = [BY_NAME[str(DEFAULT.outcome("disposition", code))] for code in _CODES]
    codes = pd.DataFrame(
        {"code": _CODES, **{f: [bool(getattr(k, f)) for k in kinds] for f in flags}}
    )
    zones = pd.DataFrame(
        {"area": areas, "zone": [of_number(f"+1{a}5550100").names[0] for a in areas]}
    )
    return calls, leads, zones, codes


def _funnel(calls: pd.DataFrame, leads: pd.DataFrame) -> list[tuple[int, ...]]:
    return [tuple(int(n) for n in analytics.funnel(calls, leads).table["count"][1:])]


def _hours(calls: pd.DataFrame) -> list[tuple[int, ...]]:
    table = analytics.hours(calls).tables["cells"]
    return [(i // 24, i % 24, int(n), int(k)) for i, (n, k) in
            enumerate(zip(table["denominator"], table["numerator"], strict=True)) if n]  # fmt: skip


def _attempts(calls: pd.DataFrame, leads: pd.DataFrame) -> list[tuple[int, ...]]:
    table = analytics.attempts(calls, leads).table
    names = ("attempts", "people", "denominator", "numerator")
    return [(i + 1, *map(int, row)) for i, row in
            enumerate(zip(*(table[n] for n in names), strict=True))]  # fmt: skip


_FUNNEL = """
WITH c AS (
  SELECT l.id AS lead, c.answered_at IS NOT NULL AS connected, m.human, m.right_party, m.positive,
         m.appointment
  FROM calls c JOIN leads l ON l.phone = c.to_number AND l.campaign_id = c.campaign_id
  LEFT JOIN codes m ON m.code = c.disposition WHERE c.direction = 'outbound'),
s AS (SELECT lead, bool_or(connected) c1, bool_or(connected AND human) c2,
      bool_or(connected AND right_party) c3, bool_or(connected AND positive) c4,
      bool_or(connected AND appointment) c5 FROM c GROUP BY lead)
SELECT (SELECT count(*) FROM leads), count(*), count(*) FILTER (c1), count(*) FILTER (c1 AND c2),
  count(*) FILTER (c1 AND c2 AND c3), count(*) FILTER (c1 AND c2 AND c3 AND c4),
  count(*) FILTER (c1 AND c2 AND c3 AND c4 AND c5) FROM s
"""

_HOURS = """
WITH c AS (
  SELECT timezone(z.zone, c.created_at) AS t, c.answered_at IS NOT NULL AND m.human AS human
  FROM calls c JOIN zones z ON z.area = substr(c.to_number, 3, 3)
  LEFT JOIN codes m ON m.code = c.disposition
  WHERE c.direction = 'outbound' AND c.campaign_id IS NOT NULL)
SELECT isodow(t) - 1 AS d, hour(t) AS h, count(*), count(*) FILTER (human)
FROM c GROUP BY d, h ORDER BY d, h
"""

_ATTEMPTS = """
WITH c AS (
  SELECT l.id AS lead, c.created_at AS t, c.answered_at IS NOT NULL AND m.human AS human
  FROM calls c JOIN leads l ON l.phone = c.to_number AND l.campaign_id = c.campaign_id
  LEFT JOIN codes m ON m.code = c.disposition WHERE c.direction = 'outbound'),
n AS (SELECT lead, human, row_number() OVER (PARTITION BY lead ORDER BY t) AS k,
      coalesce(max(human::INT) OVER (PARTITION BY lead ORDER BY t
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS seen FROM c)
SELECT least(k, 12) AS a, count(*), count(*) FILTER (human), count(*) FILTER (seen = 0),
  count(*) FILTER (seen = 0 AND human) FROM n GROUP BY a ORDER BY a
"""


def _timed(
    work: Callable[[], list[tuple[int, ...]]],
) -> tuple[list[tuple[int, ...]], float, float, float]:
    """Result, CPU seconds, wall seconds, MiB of memory at the most beyond the start."""
    peak, done = [_resident()], threading.Event()
    before = peak[0]

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], _resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    # Every run is a first one: what is kept of a frame would make ours faster from the second on.
    frames_to_arrays._KEPT.clear()
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    done.set()
    watcher.join()
    return found, cpu, wall, max(0, peak[0] - before) / _MIB


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main()
