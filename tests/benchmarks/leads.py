"""How long `leads.clean_files` takes against `pandas.read_csv(dtype=str)` alone on the same file, in CPU time.

    python -m benchmarks.leads [ROWS] [ROUNDS]     # from tests

Once warm, in turn in one process; and as processes of their own, with everything counted but `import pandas`.

The list is a messy one: ten shapes of phone numbers, a tenth of them as spreadsheets leave them, a
tenth from abroad, some broken, some repeated. Both are timed in turn in this process, so that a
busy machine slows them alike; the files that cleaning writes are removed between the runs.
"""

from __future__ import annotations

import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import phonenumbers

from benchmarks.timing import in_turn

NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
FIRST, LAST, CITIES = NAMES["first"], NAMES["last"], NAMES["cities"]
SHAPES = ["({}) {}-{}", "{}-{}-{}", "{}{}{}", "{}.{}.{}", "+1{}{}{}", "1-{}-{}-{}", "{} {} {}"]
PLAIN = {name: "".join(c for c in name if c.isascii() and c.isalpha()) for name in FIRST + LAST}
AREAS = [
    area
    for area in map(str, range(201, 990))
    if phonenumbers.is_valid_number(phonenumbers.parse(f"+1{area}5550142"))
]
HEADER = "lead_id,first_name,last_name,phone,email,city,zip,notes"


def rows(count: int, seed: int = 7) -> Iterator[str]:
    """Lines of the list, without the header."""
    rng = random.Random(seed)
    draw, choice, randrange = rng.random, rng.choice, rng.randrange
    for at in range(count):
        first, last = choice(FIRST), choice(LAST)
        number = choice(AREAS), str(randrange(200, 1000)), f"{randrange(10000):04d}"
        chance = draw()
        if chance < 0.7:
            phone = choice(SHAPES).format(*number)
        elif chance < 0.8:
            phone = "".join(number) + ".0"
        elif chance < 0.9:
            phone = f"+44 20 7946 0{randrange(1000):03d}"
        elif chance < 0.97:
            phone = "{}-{}-{} x{}".format(*number, randrange(10, 999))
        else:
            phone = choice(["", "n/a", "12345", "call me", "0000000000"])
        email = (
            f"{PLAIN[first]}.{PLAIN[last]}{at % 9973}@example.com"
            if chance < 0.95
            else choice(["", "x@", "-"])
        )
        notes = choice(["", "", "web form", '"said ""later"", maybe"', "=1+1", "-"])
        yield f"L{at:07d},{first},{last},{phone},{email},{choice(CITIES)},{randrange(99999):05d},{notes}"


def write(path: Path, count: int) -> None:
    """The list as a file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"{HEADER}\r\n")
        file.writelines(f"{line}\r\n" for line in rows(count))


#: Each as a process of its own: the path of the list, a folder, the processor time that it took.
WHOLE = {
    "read_csv, whole": "pandas.read_csv(sys.argv[1], dtype=str)",
    "clean_files, whole": (
        "from dialframe import leads; leads.clean_files(sys.argv[1:2], sys.argv[2], region='US')"
    ),
}


def whole(code: str, path: Path, folder: Path) -> float:
    """Processor seconds of a process, without those that loading pandas takes."""
    program = (
        "import sys, time, pandas; began = time.process_time(); "
        f"{code}; print(time.process_time() - began)"
    )
    command = [sys.executable, "-c", program, str(path), str(folder)]
    return float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    from dialframe import leads

    walls: list[float] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write(folder / "leads.csv", count)

        def clean() -> None:
            began_at = time.perf_counter()
            leads.clean_files([folder / "leads.csv"], folder / "out", region="US")
            walls.append(time.perf_counter() - began_at)
            shutil.rmtree(folder / "out")

        spent = in_turn(
            {
                "read_csv": lambda: pd.read_csv(folder / "leads.csv", dtype=str),
                "clean_files": clean,
            },
            rounds,
        )
        for name, code in WHOLE.items():
            spent[name] = [
                whole(code, folder / "leads.csv", folder / "whole") for _ in range(rounds)
            ]
    for what, times in spent.items():
        middle = statistics.median(times)
        if what.startswith("read_csv"):
            base = middle
        print(f"{what:>18} {middle:7.2f} s CPU (best {min(times):.2f}) {middle / base:5.2f} x")
    # `read_csv` is one thread: its time on the clock is its time on the processor.
    print(f"clean_files by the clock {min(walls):.2f} s")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
