"""What the service does by itself: who is dialed when, and what becomes of the call.

`CallPlan` stands here, apart from what draws one, which loads numpy.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What becomes of a call: decided when it is dialed, and visible as the clock goes on.

    Attributes:
        code: Its disposition.
        status: How it ends.
        cause: Hang-up cause.
        human: Whether a person answered.
        answered_at: When anything answered, in microseconds of UTC.
        ended_at: When it ended.
        final: Whether the lead is not dialed again.
        gap_us: Time until the next attempt, where there is one.
        logged_at: When the agent logs the disposition; None where it never happens.
        promised_at: For when a callback or an appointment is promised.
        minutes: Length of the appointment.
    """

    code: str | None
    status: str
    cause: str
    human: bool
    answered_at: int | None
    ended_at: int
    final: bool = False
    gap_us: int = 0
    logged_at: int | None = None
    promised_at: int | None = None
    minutes: int = 30
