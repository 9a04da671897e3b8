"""The whole US audit of tables in files, as a command in a fresh process; run by hand from `tests`.

    python -m benchmarks.compliance [thousands of calls] [part ...]

`pandas` is `import pandas`, the yardstick; `join` the bare as-of join of calls and checks; `audit` the command with every
rule that the calls reach, and a pack; `counts` the same without a pack; `partitions` in four parts, two at once, without
a pack. CPU seconds count every thread and process, the peak is that of the largest process. Numbers are drawn from every
US area code, which no person has.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

SEED = 20261121
DAY_US = 86_400_000_000
START_US = 1_767_225_600_000_000  # 2026-01-01T00:00Z
JOIN = """
import duckdb, sys
calls, checks = (f"read_parquet('{sys.argv[1]}/{name}/*.parquet')" for name in ("calls", "dnc_checks"))
print(duckdb.sql(f'''select count(*), sum(k.listed::int) from {calls} c asof left join {checks} k
  on c.to_number = k.phone and c.created_at >= k.checked_at''').fetchall())
"""


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


def files_of(calls: int) -> Path:
    """The folder of the drawn tables as Parquet, made once."""
    folder = Path(tempfile.gettempdir()) / f"dialframe-benchmark-{calls}"
    if not folder.exists():
        leads, made, ledger = frames_of(calls, calls // 2)
        for name, frame in (("calls", made), ("leads", leads), ("dnc_checks", ledger)):
            (folder / name).mkdir(parents=True)
            frame.to_parquet(folder / name / "0000.parquet", index=False)
    return folder


def timed(command: list[str]) -> dict[str, float]:
    """CPU seconds and peak memory of a command and its children."""
    code = (
        "import json, resource, subprocess, sys; done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss]))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code, *command], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    status, cpu_s, peak_kib = (float(word) for word in out.strip("[]\n").split(","))
    return {"status": status, "cpu_s": round(cpu_s, 2), "peak_mib": round(peak_kib / 1024)}


def main() -> None:
    """Run every part, and print each figure with its multiple of `import pandas`."""
    calls = int(next((word for word in sys.argv[1:] if word.isdigit()), "100")) * 1_000
    folder = str(files_of(calls))
    audit = [
        str(Path(sys.executable).parent / "dialframe"),
        "audit",
        "--tables",
        folder,
        "--as-of",
        "2026-07-10T00:00:00Z",
        "--json",
    ]
    with tempfile.TemporaryDirectory() as room:
        parts = {
            "pandas": [sys.executable, "-c", "import pandas"], "join": [sys.executable, "-c", JOIN, folder],
            "audit": [*audit, "-o", f"{room}/pack"], "counts": audit,
            "partitions": [*audit, "--partitions", "4", "--jobs", "2"],
        }  # fmt: skip
        named = [word for word in sys.argv[1:] if word in parts] or list(parts)
        figures = {name: timed(parts[name]) for name in dict.fromkeys(("pandas", *named))}
    for name, figure in figures.items():
        print(f"{name:10} {figure} {figure['cpu_s'] / figures['pandas']['cpu_s']:.1f} x pandas")


if __name__ == "__main__":
    main()
