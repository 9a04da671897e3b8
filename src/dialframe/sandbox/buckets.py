"""Token buckets (contract, Limits: rate limits); knows names and instants handed in, no requests."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

from dialframe.contract.limits import Bucket
from dialframe.sandbox.instants import SECOND_US


@dataclass(slots=True)
class _Level:
    tokens: float
    at_us: int


class Buckets:
    """How many requests everybody may still send; full at first use."""

    def __init__(self) -> None:
        self._levels: dict[tuple[str, str], _Level] = {}
        self._lock = threading.Lock()

    def take(self, wanted: Sequence[tuple[Bucket, str]], now_us: int) -> int | None:
        """Take one token from each bucket, or from none.

        Args:
            wanted: Buckets with the name of whoever holds them.
            now_us: The sandbox's clock.

        Returns:
            None when all had one, else whole seconds until all will have one.
        """
        with self._lock:
            levels = [self._refilled(bucket, owner, now_us) for bucket, owner in wanted]
            waits = [
                (1 - level.tokens) / bucket.rate_per_s
                for (bucket, _), level in zip(wanted, levels, strict=True)
                if level.tokens < 1
            ]
            if waits:
                return max(1, math.ceil(max(waits)))
            for level in levels:
                level.tokens -= 1
            return None

    def drain(self, bucket: Bucket, owner: str, now_us: int) -> None:
        """Take a token if there is one: what was refused anyway still counts."""
        with self._lock:
            level = self._refilled(bucket, owner, now_us)
            level.tokens = max(0.0, level.tokens - 1)

    def _refilled(self, bucket: Bucket, owner: str, now_us: int) -> _Level:
        name = (bucket.level, owner)
        level = self._levels.setdefault(name, _Level(float(bucket.burst), now_us))
        gained = max(0, now_us - level.at_us) / SECOND_US * bucket.rate_per_s
        level.tokens = min(float(bucket.burst), level.tokens + gained)
        level.at_us = now_us
        return level
