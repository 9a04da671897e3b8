"""The sweep of a US audit against the bare as-of join of the same tables; run by hand.

    python tests/benchmarks/compliance.py [millions of calls] [millions of checks] [duckdb]

Each part runs in a process of its own, so that its memory is its own; CPU seconds count every
thread. Numbers are drawn from every US area code, which no person has.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

SEED = 20261121
DAY_US = 86_400_000_000
START_US = 1_767_225_600_000_000  # 2026-01-01T00:00Z


def draw(calls: int, checks: int) -> tuple[np.ndarray, ...]:  # type: ignore[type-arg]
    """Calls of 180 days in order of time to two numbers in five of those that were checked."""
    from dialframe.phones.area_codes import area_codes

    rng = np.random.default_rng(SEED)
    codes = np.array([int(a.code) for a in area_codes().values() if a.region == "US" and a.zones])
    pool = 10**10 + rng.choice(codes, checks) * 10**7 + rng.integers(200, 1000, checks) * 10**4
    pool += rng.integers(0, 10**4, checks)
    at = START_US + np.sort(rng.integers(0, 180 * DAY_US, calls))
    told = START_US - 30 * DAY_US + np.sort(rng.integers(0, 210 * DAY_US, checks))
    phones = rng.choice(pool, calls)
    campaigns = rng.integers(0, 40, calls, dtype=np.int32)
    return phones, at, campaigns, rng.permutation(pool), told, rng.random(checks) < 0.03


def hours_part(calls: int, checks: int) -> dict[str, float]:
    """Calling hours alone: places, layout and grades."""
    from dialframe.compliance import rulebook
    from dialframe.compliance import sweep as module

    phones, at, *_ = draw(calls, checks)
    book = rulebook.load().select(["us", "us-*"])

    def run(n: int) -> None:
        cases = module._cases(phones[:n], module.frozen(None), None)
        first, last = module._span(at[:n])
        module._hours(at[:n], cases, book, first, last, module.Declared())

    run(1000)
    return _timed(lambda: run(calls))


def sweep_part(calls: int, checks: int) -> dict[str, float]:
    """Every check of the sweep."""
    from dialframe.compliance import rulebook
    from dialframe.compliance.sweep import sweep

    drawn = draw(calls, checks)
    book = rulebook.load().select(["us", "us-*"])
    small = [part[:1000] for part in drawn]
    sweep(*small, book=book)  # type: ignore[misc]
    return _timed(lambda: print(sweep(*drawn, book=book).counts().to_string(), file=sys.stderr))


def polars_part(calls: int, checks: int) -> dict[str, float]:
    """The bare as-of join in polars: the newest check of the number before each call."""
    import polars as pl

    phones, at, _, told_phones, told_at, listed = draw(calls, checks)
    left = pl.DataFrame({"phone": phones, "at": at})
    right = pl.DataFrame({"phone": told_phones, "told": told_at, "listed": listed})

    def run() -> None:
        left.join_asof(
            right, left_on="at", right_on="told", by="phone", strategy="backward",
            check_sortedness=False,
        )  # fmt: skip

    return _timed(run)


def duckdb_part(calls: int, checks: int) -> dict[str, float]:
    """The same in DuckDB, from Arrow tables."""
    import duckdb
    import pyarrow as pa

    phones, at, _, told_phones, told_at, listed = draw(calls, checks)
    left = pa.table({"phone": phones, "at": at})
    right = pa.table({"phone": told_phones, "told": told_at, "listed": listed})
    connection = duckdb.connect()
    connection.register("calls", left)
    connection.register("checks", right)
    query = (
        "select count(*), sum(listed::int), max(told) from (select c.phone, c.at, k.told, k.listed "
        "from calls c asof left join checks k on c.phone = k.phone and c.at >= k.told)"
    )
    return _timed(lambda: connection.execute(query).fetchall())


def _timed(run: object) -> dict[str, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    run()  # type: ignore[operator]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "cpu_s": round(time.process_time() - cpu, 2),
        "wall_s": round(time.perf_counter() - wall, 2),
        "peak_gib": round(peak, 2),
    }


def main() -> None:
    """Run every part in its own process and print the figures and ratios."""
    if len(sys.argv) > 1 and sys.argv[1] in PARTS:
        calls, checks = int(sys.argv[2]), int(sys.argv[3])
        print(json.dumps(PARTS[sys.argv[1]](calls, checks)))
        return
    given = [word for word in sys.argv[1:] if word.replace(".", "").isdigit()]
    millions = [float(word) for word in given] + [20.0, 5.0][len(given) :]
    calls, checks = (int(value * 1e6) for value in millions[:2])
    wanted = [part for part in PARTS if part != "duckdb" or "duckdb" in sys.argv]
    found = {}
    for part in wanted:
        command = [sys.executable, __file__, part, str(calls), str(checks)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found[part] = json.loads(out)
        print(f"{part:8} {found[part]}")
    print(f"hours    {calls / found['hours']['cpu_s'] / 1e6:.1f} million calls per CPU second")
    joins = [found[part] for part in ("polars", "duckdb") if part in found]
    for unit in ("cpu_s", "wall_s"):
        fastest = min(join[unit] for join in joins)
        print(f"sweep / fastest bare join, {unit}: {found['sweep'][unit] / fastest:.2f}")


PARTS = {"hours": hours_part, "sweep": sweep_part, "polars": polars_part, "duckdb": duckdb_part}

if __name__ == "__main__":
    main()
