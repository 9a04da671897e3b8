"""Two million spoilt numbers against phonenumbers: run before a release, on all cores.

    python tests/phones/release_check.py [ROWS] [SEED]

Prints every difference, and exits with 1 if there was one.
"""

from __future__ import annotations

import os
import random
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))

from dialframe.phones.column_reader import read_column
from dialframe.phones.kernel import loaded
from phones.agreement import Difference, differences
from phones.samples import REGIONS, written

BATCH = 20_000


def checked(seed: int) -> tuple[int, int, list[Difference]]:
    """One batch: rows, how many phonenumbers itself has read, differences."""
    loaded()
    rng = random.Random(seed)
    regions = [rng.choice(REGIONS) if rng.random() < 0.95 else None for _ in range(BATCH)]
    texts = [written(rng, region) for region in regions]
    column = read_column(pa.array(texts, pa.large_string()), regions)
    return BATCH, column.left, differences(texts, regions)


def main() -> int:
    """Run it."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    began = time.monotonic()
    rows = left = wrong = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for done in pool.map(checked, range(first, first + -(-total // BATCH))):
            rows, left = rows + done[0], left + done[1]
            wrong += len(done[2])
            for difference in done[2][:5]:
                print(*difference, sep="\n    ")
            print(f"{rows:>9} rows, {left} left to phonenumbers, {wrong} differences, "
                  f"{time.monotonic() - began:.0f} s", flush=True)  # fmt: skip
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
