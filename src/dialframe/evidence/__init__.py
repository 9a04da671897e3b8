"""The evidence log: what this firm did, asked and heard about a number, and when.

One append-only file beside the store (`STORE/evidence/log.jsonl`). The suppression list, the write journal, the
assistant's log, imports and the history of audits are views of it, and so is the one question that every door
asks before a number is called: what are the latest facts about it?

    from datetime import UTC, datetime
    from pathlib import Path
    from dialframe.evidence import EvidenceLog, Record

    log = EvidenceLog.beside(Path("store"))
    log.append([Record("suppression", datetime.now(UTC), "+12025550142", source="autumn.csv")])
    log.latest(["+12025550142"])["+12025550142"].prohibition
"""

from __future__ import annotations

from typing import Final

from dialframe.evidence.log import EvidenceLog
from dialframe.evidence.record import (
    KINDS,
    PROHIBITIONS,
    REQUEST_CODES,
    Kind,
    NumberFacts,
    Record,
    hashed,
    hashes_of,
)

__all__: Final = [
    "KINDS",
    "PROHIBITIONS",
    "REQUEST_CODES",
    "EvidenceLog",
    "Kind",
    "NumberFacts",
    "Record",
    "hashed",
    "hashes_of",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
