"""Every reason for which a record of a lead file is not clean, in order of precedence; `reasons.toml` is the table."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Final, Literal

#: What becomes of a record; `refused` is the service's own answer to one that was sent.
Outcome = Literal["rejected", "do_not_call", "duplicate", "skipped", "refused"]

#: Every outcome of a record, and the key under which it is counted.
COUNT_KEYS: Final[dict[str, str]] = {
    "clean": "clean",
    "rejected": "rejected",
    "duplicate": "duplicates",
    "do_not_call": "do_not_call",
    "skipped": "skipped",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason code.

    Attributes:
        code: Stable name, as it stands in `_reason` and in the report.
        outcome: What becomes of a record with this reason first.
        meaning: What is wrong, for a person.
        remedy: What a person can do about it.
    """

    code: str
    outcome: Outcome
    meaning: str
    remedy: str = "nothing to do"


@dataclass(frozen=True, slots=True)
class Warned:
    """One warning code: the record stays clean, and what was done to it is named."""

    code: str
    meaning: str


_TABLE: Final = tomllib.loads(
    resources.files(__package__).joinpath("reasons.toml").read_text(encoding="utf-8")
)
#: All reasons in order of precedence.
REASONS: Final = tuple(Reason(code, **facts) for code, facts in _TABLE["reasons"].items())
#: All warnings; a record can have several.
WARNINGS: Final = tuple(Warned(code, meaning) for code, meaning in _TABLE["warnings"].items())
#: Reason by code.
BY_CODE: Final[dict[str, Reason]] = {reason.code: reason for reason in REASONS}
#: Rank of each code: the lower one is the record's reason.
RANK: Final[dict[str, int]] = {reason.code: rank for rank, reason in enumerate(REASONS)}
