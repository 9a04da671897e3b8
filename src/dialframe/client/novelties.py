"""Values that v1 did not name when this was written: counted, told once; changes no value."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from dialframe.privacy import redact

logger: Final = logging.getLogger("dialframe.client")


@dataclass(frozen=True, slots=True)
class Novelty:
    """A value of an open set that the contract does not name, and how often it came."""

    operation: str
    field: str
    value: str
    count: int


class Novelties:
    """How often each unknown value came, by operation and field."""

    def __init__(self) -> None:
        """Start with none."""
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._lock = threading.Lock()

    def note(self, operation: str, found: Iterable[tuple[str, str]]) -> None:
        """Count fields and values that came with one answer; warn of each the first time."""
        for name, value in found:
            with self._lock:
                self._counts[operation, name, value] += 1
                first = self._counts[operation, name, value] == 1
            if first:
                logger.warning(
                    "%s: %s has the value %r, which the contract does not name; it is kept as it is",
                    operation,
                    name,
                    redact(value),
                )

    def seen(self) -> list[Novelty]:
        """What came so far, in order of first sight."""
        with self._lock:
            return [Novelty(*place, count) for place, count in self._counts.items()]
