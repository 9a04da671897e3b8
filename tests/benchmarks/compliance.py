"""The whole US audit against the bare as-of join of the same tables; run by hand from `tests`.

    python -m benchmarks.compliance [millions of calls] [millions of checks] [part ...]

Parts on frames, as `compliance.audit` takes them: `audit`, `findings` (the audit, and its findings in words), `polars_frames`, `duckdb_frames`. Without
names `audit` and `duckdb_frames` run.

Parts on Parquet files, which are drawn first and read some rows at a time: `parts` (the audit in
parts, every check, tables and results for a pack written), `parts_words` (its findings in words
besides) and `duckdb_files` (the bare as-of join of the same files). `workers_1` and `workers_2` are
`parts` on one and on two Dask workers of one thread each; their figure is wall.

Each part runs in a process of its own, so that its memory is its own; CPU seconds count every
thread. Numbers are drawn from every US area code, which no person has.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.compliance import number_partitions as partitions

SEED = 20261121
DAY_US = 86_400_000_000
START_US = 1_767_225_600_000_000  # 2026-01-01T00:00Z
NOW = datetime(2026, 7, 10, tzinfo=UTC)
RULES = ["us", "us-*"]
JOIN = (
    "select count(*), sum(listed::int), count(told) from (select c.phone, c.at, k.told, "
    "k.listed from calls c asof left join checks k on c.phone = k.phone and c.at >= k.told)"
)


def draw(calls: int, checks: int, step: int = 0) -> tuple[np.ndarray, ...]:  # type: ignore[type-arg]
    """Calls of 180 days in order of time to two numbers in five of those that were checked."""
    from dialframe.phones.zones import area_codes

    rng = np.random.default_rng(SEED + step)
    codes = np.array([int(a.code) for a in area_codes().values() if a.region == "US" and a.zones])
    pool = 10**10 + rng.choice(codes, checks) * 10**7 + rng.integers(200, 1000, checks) * 10**4
    pool += rng.integers(0, 10**4, checks)
    at = START_US + np.sort(rng.integers(0, 180 * DAY_US, calls))
    told = START_US - 30 * DAY_US + np.sort(rng.integers(0, 210 * DAY_US, checks))
    phones = rng.choice(pool, calls)
    campaigns = rng.integers(0, 40, calls, dtype=np.int32)
    return phones, at, campaigns, rng.permutation(pool), told, rng.random(checks) < 0.03


def frames_of(
    calls: int, checks: int, step: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Leads, calls and checks as the account gives them, text columns and all."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc

    phones, at, campaigns, check_phones, told, listed = draw(calls, checks, step)
    rng = np.random.default_rng(SEED + step)

    def text(prefix: str, numbers: np.ndarray) -> pd.Series:  # type: ignore[type-arg]
        body, mark = (
            pa.array(numbers).cast(pa.large_string()),
            pa.scalar(prefix, pa.large_string()),
        )
        joined = pc.binary_join_element_wise(mark, body, pa.scalar("", pa.large_string()))
        return pd.Series(pd.array(joined, dtype="str"))

    def one_of(values: list[str], shares: list[float] | None = None) -> pd.Series:
        picked = rng.choice(len(values), calls, p=shares).astype(np.int32)
        return pd.Series(pd.array(values, dtype="str")).take(picked).reset_index(drop=True)

    def instants(us: np.ndarray) -> pd.Series:  # type: ignore[type-arg]
        return pd.Series(us.view("datetime64[us]")).dt.tz_localize("UTC")

    order = np.arange(calls) + step * calls + 10**9
    answered = np.where(rng.random(calls) < 0.3, at + 8_000_000, np.iinfo(np.int64).min)
    made = pd.DataFrame(
        {
            "id": text("call_", order), "direction": one_of(["outbound", "inbound"], [0.97, 0.03]),
            "from_number": one_of([f"+16465550{n}" for n in range(100, 200)]),
            "to_number": text("+", phones), "status": one_of(["completed", "failed"]),
            "created_at": instants(at), "answered_at": instants(answered),
            "ended_at": instants(at + 60_000_000), "duration_seconds": rng.integers(0, 90, calls),
            "campaign_id": text("cmp_", campaigns),
            "disposition": one_of(["NA", "SALE", "DNC", "AB"], [0.7, 0.2895, 0.0005, 0.01]),
            "hangup_cause": one_of(["NORMAL_CLEARING", "USER_BUSY", "NO_ANSWER"]),
        }
    )  # fmt: skip
    ledger = pd.DataFrame(
        {
            "phone": text("+", check_phones), "listed": pd.array(listed, dtype="boolean"),
            "checked_at": instants(told), "request_id": text("req_", np.arange(checks)),
        }
    )  # fmt: skip
    some = np.unique(check_phones)[: checks // 4]
    began = instants(np.full(len(some), START_US - 10 * DAY_US))
    leads = pd.DataFrame(
        {
            "id": text("lead_", np.arange(len(some))), "campaign_id": text("cmp_", some % 40),
            "phone": text("+", some), "status": "new", "created_at": began, "updated_at": began,
        }
    )  # fmt: skip
    return leads.astype({"status": "str"}), made, ledger


def polars_frames(calls: int, checks: int) -> dict[str, float]:
    """The bare as-of join of the frames in polars."""
    import polars as pl

    _, made, ledger = frames_of(calls, checks)
    left = pl.from_pandas(made[["to_number", "created_at"]]).rename(
        {"to_number": "phone", "created_at": "at"}
    )
    right = pl.from_pandas(ledger).rename({"checked_at": "told"})
    return _timed(
        lambda: left.join_asof(
            right, left_on="at", right_on="told", by="phone", strategy="backward",
            check_sortedness=False,
        )
    )  # fmt: skip


def duckdb_frames(calls: int, checks: int) -> dict[str, float]:
    """The bare as-of join of the frames in DuckDB."""
    import duckdb
    import pyarrow as pa

    _, made, ledger = frames_of(calls, checks)
    left = pa.Table.from_pandas(made[["to_number", "created_at"]]).rename_columns(["phone", "at"])
    right = pa.Table.from_pandas(ledger).rename_columns(["phone", "listed", "told", "request_id"])
    connection = duckdb.connect()
    connection.register("calls", left)
    connection.register("checks", right)
    return _timed(lambda: connection.execute(JOIN).fetchall())


def _files(calls: int, checks: int) -> Path:
    """The folder of the drawn tables as Parquet, made once."""
    folder = Path(tempfile.gettempdir()) / f"dialframe-benchmark-{calls}-{checks}"
    if not (folder / "done").exists():
        subprocess.run(
            [
                sys.executable,
                "-m",
                "benchmarks.compliance",
                "_draw",
                str(calls),
                str(checks),
                str(folder),
            ],
            check=True,
        )
    return folder


def _draw(calls: int, checks: int, folder: Path) -> None:
    """Write the tables, some rows at a time: calls in pieces of a million."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    steps = max(1, calls // 1_000_000)
    for step in range(steps):
        leads, made, ledger = frames_of(calls // steps, checks // steps, step)
        for name, frame in (("calls", made), ("leads", leads), ("dnc_checks", ledger)):
            (folder / name).mkdir(parents=True, exist_ok=True)
            table = pa.Table.from_pandas(frame, preserve_index=False)
            pq.write_table(table, folder / name / f"{step:04d}.parquet")
    (folder / "done").touch()


def _in_parts(
    calls: int, checks: int, *, worded: bool = False, workers: int = 0
) -> dict[str, float]:
    from dialframe.leads.dask_workers import dask_workers

    from dialframe.compliance import number_partitions as partitions
    from dialframe.compliance.tables.query_tables import Question

    folder = _files(calls, checks)

    def rows(name: str) -> partitions.Rows:
        return partitions.Files(tuple(map(str, sorted((folder / name).glob("*.parquet")))))

    found: dict[str, float] = {}

    def run(room: Path, parts: int, map_: partitions.Workers | None) -> None:
        cpu = time.process_time()
        (room / "rows").mkdir()
        laid = partitions.split(
            {name: rows(name) for name in ("calls", "leads", "dnc_checks")}, room / "rows", parts
        )
        found["split_cpu_s"] = round(time.process_time() - cpu, 2)
        start = time.perf_counter()
        audit = partitions.in_parts(
            laid,
            Question(now=NOW, rules=RULES),
            folder=room,
            workers=map_,
            packed=True,
            worded=worded,
        )
        found["examine_wall_s"] = round(time.perf_counter() - start, 2)
        print(audit.verdict, file=sys.stderr)
        written = sum(file.stat().st_size for file in (room / "parts").rglob("*.parquet"))
        found["pack_gib"] = round(written / 2**30, 2)

    parts = partitions.parts_for(calls + checks + checks // 4)
    found["parts"] = parts
    with tempfile.TemporaryDirectory() as room:
        if not workers:
            return _timed(lambda: run(Path(room), parts, None)) | found
        from distributed import LocalCluster

        cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        with cluster, dask_workers(cluster.scheduler_address) as map_:
            return _timed(lambda: run(Path(room), max(parts, 4), map_)) | found


def duckdb_files(calls: int, checks: int) -> dict[str, float]:
    """The bare as-of join of the drawn files in DuckDB."""
    folder = _files(calls, checks)

    def run() -> None:
        import duckdb

        connection = duckdb.connect(config={"memory_limit": "1500MB"})
        connection.execute(
            f"create view calls as select to_number as phone, created_at as at from '{folder}/calls/*.parquet'"
        )
        connection.execute(
            f"create view checks as select phone, listed, checked_at as told from '{folder}/dnc_checks/*.parquet'"
        )
        connection.execute(JOIN).fetchall()

    return _timed(run)


def _audit(calls: int, checks: int, *, findings: bool = False) -> dict[str, float]:
    from dialframe import compliance

    leads, made, ledger = frames_of(calls, checks)

    def run(n: int) -> None:
        found = compliance.audit(
            leads.iloc[:n], made.iloc[:n], ledger.iloc[:n], now=NOW, rules=RULES
        )
        print(found.verdict, file=sys.stderr)
        if findings:
            print(len(found.findings), file=sys.stderr)

    run(500)
    return _timed(lambda: run(calls))


def _timed(run: object) -> dict[str, float]:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    cpu, wall = time.process_time(), time.perf_counter()
    run()  # type: ignore[operator]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {
        "cpu_s": round(time.process_time() - cpu, 2),
        "wall_s": round(time.perf_counter() - wall, 2),
        "tables_gib": round(before, 2),
        "peak_gib": round(peak, 2),
    }


def main() -> None:
    """Run every part in its own process and print the figures and ratios."""
    if sys.argv[1:2] == ["_draw"]:
        _draw(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
        return
    if len(sys.argv) == 4 and sys.argv[1] in PARTS and sys.argv[2].isdigit():
        print(json.dumps(PARTS[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3]))))
        return
    given = [float(word) for word in sys.argv[1:] if word.replace(".", "").isdigit()]
    calls, checks = (int(value * 1e6) for value in (given + [20.0, 5.0][len(given) :])[:2])
    named = [word for word in sys.argv[1:] if word in PARTS]
    found = {}
    for part in named or ["audit", "duckdb_frames"]:
        command = [sys.executable, "-m", "benchmarks.compliance", part, str(calls), str(checks)]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        found[part] = json.loads(out)
        print(f"{part:14} {found[part]}")
    files = ("duckdb_files",)
    for part, joins in (
        ("audit", FRAMES), ("findings", FRAMES), ("parts", files), ("parts_words", files),
    ):  # fmt: skip
        bare = [found[join] for join in joins if join in found]
        for unit in ("cpu_s", "wall_s") if part in found and bare else ():
            fastest = min(join[unit] for join in bare)
            print(f"{part} / fastest bare join, {unit}: {found[part][unit] / fastest:.2f}")


FRAMES = ("polars_frames", "duckdb_frames")
PARTS = {
    "audit": _audit, "findings": partial(_audit, findings=True), "polars_frames": polars_frames,
    "duckdb_frames": duckdb_frames, "duckdb_files": duckdb_files, "parts": _in_parts,
    "parts_words": partial(_in_parts, worded=True), "workers_1": partial(_in_parts, workers=1),
    "workers_2": partial(_in_parts, workers=2),
}  # fmt: skip

if __name__ == "__main__":
    main()
