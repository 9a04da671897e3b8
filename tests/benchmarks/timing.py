"""Seconds of several ways, taken in turn, so that a busy machine slows all of them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def in_turn(
    ways: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.process_time,
) -> dict[str, list[float]]:
    """Seconds of each way by round, after a first round that warms up; CPU of all threads by default."""
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            began = clock()
            way()
            if turn:
                spent[name].append(clock() - began)
    return spent
