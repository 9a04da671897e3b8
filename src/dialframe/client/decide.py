"""Whether a request is sent again, and when: one pure function over a table; knows no HTTP, sleeps never.

What may be sent again follows from two questions. Could the first try have done something? A read
never does; a write with an idempotency key does it once however often it is sent; a write without
one may go out again only if not a byte of it left, or the service says that it did nothing. Does
waiting help? The contract's table of codes says so in `remedy`; what it does not name, its status.

A wait is never shorter than the service asked for: jitter only adds, and where the wait does not
fit before the deadline the call ends at once instead of asking too early.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from dialframe.contract import codes

Phase = Literal["not_sent", "maybe_sent", "answered"]
Reason = Literal[
    "final", "may_have_happened", "replayed", "attempts", "deadline", "asked_too_long"
]

FIRST_WAIT_S: Final = 0.5
LONGEST_BACKOFF_S: Final = 8.0
#: A service that asks for more than this is taken at its word only under an explicit deadline.
LONGEST_ASKED_S: Final = 120.0
#: Jitter adds up to this share of the wait, so that clients that failed together part company.
JITTER_SHARE: Final = 0.25
#: Codes that only say "not yet": they get this many times the attempts of a failure.
NOT_YET: Final = ("rate_limit_exceeded", "conflict")
PATIENCE: Final = 4
#: Answers that come before anything is done, so that even a write without a key may follow.
NOTHING_DONE: Final = ("rate_limit_exceeded", "dnc_screen_unavailable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is known after an attempt.

    Attributes:
        phase: Whether bytes left, and whether an answer came.
        writes: Whether the operation changes data.
        has_key: Whether it carries an idempotency key.
        attempt: Attempts made so far, this one included.
        max_attempts: Attempts allowed.
        elapsed_s: Seconds since the call began.
        deadline_s: Seconds that the call may take in all, or None.
        status: HTTP status of the answer, 0 without one.
        code: The problem's code, empty without one.
        retry_after_s: What the service asked for.
        replayed: Whether it is the stored answer of the key, which stays what it is.
    """

    phase: Phase
    writes: bool
    has_key: bool
    attempt: int
    max_attempts: int
    elapsed_s: float
    deadline_s: float | None = None
    status: int = 0
    code: str = ""
    retry_after_s: float | None = None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Retry:
    """Send the same bytes again after so many seconds."""

    after_s: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Raise what was seen."""

    reason: Reason


def decide(seen: Seen, jitter: float) -> Retry | GiveUp:
    """What to do after an attempt that failed.

    Args:
        seen: What is known.
        jitter: A number from 0 up to 1.
    """
    if seen.phase == "answered" and not _waiting_helps(seen):
        return GiveUp("final")
    if not _harmless(seen):
        return GiveUp("may_have_happened")
    if seen.replayed:
        return GiveUp("replayed")
    if seen.attempt >= _allowed(seen):
        return GiveUp("attempts")
    return _when(seen, jitter)


def _waiting_helps(seen: Seen) -> bool:
    if seen.code in codes.BY_CODE:
        return codes.BY_CODE[seen.code].remedy == "retry"
    # An answer without a code comes from something in front of the service; a code that we do
    # not know may be a further cap, and asking again at once would spend it.
    return seen.status >= 500 or (seen.status == 429 and not seen.code)


def _harmless(seen: Seen) -> bool:
    if not seen.writes or seen.has_key or seen.phase == "not_sent":
        return True
    return seen.code in NOTHING_DONE


def _allowed(seen: Seen) -> int:
    if seen.code in NOT_YET and seen.max_attempts > 1:
        return seen.max_attempts * PATIENCE
    return seen.max_attempts


def _when(seen: Seen, jitter: float) -> Retry | GiveUp:
    asked = seen.retry_after_s
    backoff = min(FIRST_WAIT_S * 2.0 ** (seen.attempt - 1), LONGEST_BACKOFF_S)
    wait = backoff if asked is None else asked
    after_s = wait + JITTER_SHARE * jitter * min(max(wait, FIRST_WAIT_S), LONGEST_BACKOFF_S)
    if seen.deadline_s is not None:
        if seen.elapsed_s + after_s >= seen.deadline_s:
            return GiveUp("deadline")
    elif wait > LONGEST_ASKED_S:
        return GiveUp("asked_too_long")
    return Retry(after_s)
