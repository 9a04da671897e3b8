"""How the work of a hostile input grows with its length: a ratio of one run, whatever the machine and its load."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from typing import TypeVar

Input = TypeVar("Input")

#: The shorter input is this part of the longer one.
PART = 8
#: Between what grows with its length (8) and what grows with its square (64).
MOST_RATIO = 24.0
ATTEMPTS = 6


def assert_steady(
    work: Callable[[Input], object], make: Callable[[int], Input], length: int
) -> None:
    """What is eight times as long costs less than 24 times as much CPU time.

    The least of several attempts counts on both sides: whatever else the machine does only adds to them.
    """
    short, long = make(length // PART), make(length)
    short_s = long_s = math.inf
    for _ in range(ATTEMPTS):
        short_s = min(short_s, _cpu_s(work, short))
        long_s = min(long_s, _cpu_s(work, long))
        if long_s < MOST_RATIO * short_s:
            return
    raise AssertionError(
        f"{PART} times the length costs {long_s / short_s:.1f} times the CPU time"
    )


def _cpu_s(work: Callable[[Input], object], given: Input) -> float:
    gc.collect()  # what others left is collected outside the measurement
    began_s = time.process_time()
    work(given)
    return time.process_time() - began_s
