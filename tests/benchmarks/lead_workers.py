"""One worker process against two on the same lead files, and one process without a cluster; wall time; run from `tests`.

python -m benchmarks.lead_workers [ROWS OF EACH OF EIGHT FILES]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from dialframe.leads.dask_workers import dask_workers
from distributed import LocalCluster

from benchmarks.leads import write
from dialframe import leads


def main() -> None:
    """Run it, each number of workers twice."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 150_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / f"list{number}.csv" for number in range(8)]
        for path in paths:
            write(path, rows)
        for count in (1, 2, 1, 2):
            with (
                LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None) as own,
                dask_workers(own.scheduler_address) as workers,
            ):
                # The first files load what a worker needs.
                leads.clean_files(paths[:2], folder / "warm", region="US", workers=workers)
                began = time.perf_counter()
                leads.clean_files(paths, folder / "out", region="US", workers=workers)
                print(f"{count} workers {time.perf_counter() - began:8.2f} s")
        began = time.perf_counter()
        leads.clean_files(paths, folder / "alone", region="US")
        print(f"no cluster {time.perf_counter() - began:8.2f} s")


if __name__ == "__main__":
    main()
