"""What becomes of one dial: the vocabulary and its probabilities.

Published figures behind the numbers: live-answer rate by the called party's hour from 11 million
calls (phoneburner.com, "sales stats"); talk times fitted to the UCI bank-marketing data set (41,188
reached clients, CC BY); the rest are assumptions inside published ranges. Dispositions are
VICIdial's, hang-up causes FreeSWITCH's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dialframe.sandbox.seed.people_and_calendar import SECOND
from dialframe.sandbox.seed.sizes_and_columns import Flags, Floats, Ints


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way in which a call can end.

    Attributes:
        code: The disposition, or nothing where none is logged.
        status: The call's status.
        causes: Hang-up causes with their shares.
        human: Whether a person answered.
        answered: Whether anything answered.
        final: Whether the lead is not dialed again.
        talk: Mean and spread of the natural logarithm of the talk in seconds.
        gap: Shortest and longest wait before the next attempt, in volume time (`hours`).
    """

    code: str
    status: str
    causes: tuple[tuple[str, float], ...]
    human: bool = False
    answered: bool = False
    final: bool = False
    talk: tuple[float, float] = (0.0, 0.0)
    gap: tuple[float, float] = (0.4, 1.0)


_CLEARED = (("NORMAL_CLEARING", 0.97), ("NORMAL_UNSPECIFIED", 0.03))


def _conversation(code: str, talk: tuple[float, float], *, final: bool) -> Outcome:
    return Outcome(code, "completed", _CLEARED, human=True, answered=True, final=final, talk=talk)


OUTCOMES: tuple[Outcome, ...] = (
    Outcome(
        "ADC",
        "failed",
        (("UNALLOCATED_NUMBER", 0.7), ("NUMBER_CHANGED", 0.2), ("INVALID_NUMBER_FORMAT", 0.1)),
        final=True,
    ),
    Outcome(
        "CG",
        "failed",
        (
            ("NORMAL_TEMPORARY_FAILURE", 0.5),
            ("NORMAL_CIRCUIT_CONGESTION", 0.3),
            ("NETWORK_OUT_OF_ORDER", 0.2),
        ),
        gap=(0.1, 0.3),
    ),
    Outcome("BLOCKED", "failed", (("CALL_REJECTED", 1.0),)),
    Outcome("B", "busy", (("USER_BUSY", 1.0),), gap=(0.02, 0.3)),
    Outcome(
        "NA",
        "no_answer",
        (("NO_ANSWER", 0.75), ("ORIGINATOR_CANCEL", 0.15), ("NO_USER_RESPONSE", 0.1)),
    ),
    Outcome("A", "completed", _CLEARED, answered=True, gap=(1.25, 1.6)),
    Outcome("AA", "completed", _CLEARED, answered=True, talk=(1.9, 0.35), gap=(1.25, 1.6)),
    _conversation("HUP", (0.0, 0.0), final=False),
    _conversation("NP", (3.2, 0.7), final=False),
    _conversation("WN", (3.0, 0.5), final=True),
    _conversation("GATE", (3.4, 0.6), final=False),
    _conversation("NI", (4.75, 0.89), final=True),
    _conversation("CALLBK", (4.75, 0.89), final=False),
    _conversation("NQ", (4.75, 0.89), final=True),
    _conversation("XFER", (4.75, 0.89), final=True),
    _conversation("APPT", (6.07, 0.71), final=True),
    _conversation("SALE", (6.07, 0.71), final=True),
    _conversation("DNC", (3.2, 0.7), final=True),
    _conversation("LB", (4.75, 0.89), final=True),
    # Below: never drawn for a dial, only recorded or inbound.
    Outcome("PU", "completed", _CLEARED, answered=True),
    _conversation("ZZTOP", (0.0, 0.0), final=False),
    _conversation("INFO", (4.6, 0.8), final=False),
    Outcome("", "no_answer", (("ORIGINATOR_CANCEL", 1.0),)),
)
CODE: dict[str, int] = {outcome.code: number for number, outcome in enumerate(OUTCOMES)}
ABANDONED = CODE[""]
STATUSES: tuple[str, ...] = tuple(sorted({outcome.status for outcome in OUTCOMES}))
CAUSES: tuple[str, ...] = tuple(
    sorted({cause for outcome in OUTCOMES for cause, _ in outcome.causes})
)

HUMAN = np.array([outcome.human for outcome in OUTCOMES])
ANSWERED = np.array([outcome.answered for outcome in OUTCOMES])
FINAL = np.array([outcome.final for outcome in OUTCOMES])
GAPS = np.array([outcome.gap for outcome in OUTCOMES])
STATUS = np.array([STATUSES.index(outcome.status) for outcome in OUTCOMES])
# Logarithms of seconds: talk times are log-normal in the data that they are fitted to.
_TALK = np.array([outcome.talk for outcome in OUTCOMES])

# What a right party says, before the source's factor on the last two.
_ANSWERS = tuple(
    CODE[code] for code in ("NI", "CALLBK", "NP", "NQ", "XFER", "DNC", "LB", "APPT", "SALE")
)
# Assumed inside published ranges; the last two are scaled by the source's quality.
_ANSWER_SHARES = np.array([0.42, 0.15, 0.16, 0.09, 0.03, 0.03, 0.02, 0.065, 0.035])
_POSITIVE = 2

# phoneburner.com, live answers per hundred dials by the called party's hour, 8 to 20.
_BY_HOUR = np.array(
    [11.84, 14.09, 15.53, 14.95, 13.53, 14.41, 15.01, 14.44, 14.07, 12.58, 12.39, 12.59, 11.81]
)
HUMAN_BY_HOUR = _BY_HOUR / _BY_HOUR.mean()
# Assumed: a little fewer towards the weekend.
HUMAN_BY_WEEKDAY = np.array([1.04, 1.02, 1.00, 0.99, 0.97, 0.93, 0.93])
#: How much likelier a person answers a call that they asked for.
AWAITED = 2.5


@dataclass(frozen=True, slots=True, eq=False)
class Dials:
    """What is known of each dial before it is made, one value each.

    Attributes:
        bad: The number is out of service.
        reach: Chance that its owner answers, on average.
        voicemail: Chance that a machine answers when no person does.
        wrong: Chance that the person is not the lead.
        factor: Factor on appointments and sales.
        hour: Local hour less 8, held between 0 and 12.
        weekday: Local weekday, Monday 0.
        attempt: Which attempt on the lead it is, from 1.
        flagged: The caller ID is shown as spam.
        local: The caller ID has the called number's area code.
        awaited: The lead asked for a call at this time.
    """

    bad: Flags
    reach: Floats
    voicemail: Floats
    wrong: Floats
    factor: Floats
    hour: Ints
    weekday: Ints
    attempt: Ints
    flagged: Flags
    local: Flags
    awaited: Flags


def draw(rng: np.random.Generator, dials: Dials) -> Ints:
    """The outcome of each dial, as an index into `OUTCOMES`."""
    count = len(dials.bad)
    # Six independent draws for each dial, whatever comes of it, so that rows do not shift each other.
    chance = rng.random((6, count))
    # Dead numbers, congestion and blocks come first: no person can answer those calls.
    human = chance[3] < _human_chance(dials)
    outcome = _first(
        [
            dials.bad & (chance[0] < 0.93),
            chance[1] < 0.02,
            chance[2] < 0.012 + 0.05 * dials.flagged,
            human,
            chance[4] < 0.86 * dials.voicemail,
            chance[5] < 0.12,
        ],
        [CODE["ADC"], CODE["CG"], CODE["BLOCKED"], CODE["HUP"], CODE["A"], CODE["B"]],
        default=CODE["NA"],
    )
    # `HUP` stands for any person until what they say is drawn.
    spoke = np.flatnonzero(outcome == CODE["HUP"])
    outcome[spoke] = answers(rng, dials.wrong[spoke], dials.factor[spoke])
    machine = np.flatnonzero(outcome == CODE["A"])
    cut = machine[rng.random(len(machine)) < 0.35]
    outcome[cut] = CODE["AA"]
    return outcome


def ring_ms(rng: np.random.Generator, outcome: Ints) -> Ints:
    """Milliseconds from the start of each call to its answer, or to its end without one."""
    count = len(outcome)
    # Seconds: people around 9, machines around 21 or at once, silence is cut at 26.
    even = rng.random(count)
    # Four in five ring as phones do; the rest are slow to pick up, or go to voicemail at once.
    usual = rng.random(count) < 0.8
    spread = rng.standard_normal(count)
    person = np.where(usual, 9.0 * np.exp(0.55 * spread), 16 + 8 * even)
    machine = np.where(usual, 21 + 3 * spread, 0.4 + 2.6 * even)
    seconds = _first(
        [
            HUMAN[outcome],
            ANSWERED[outcome],
            outcome == CODE["NA"],
            outcome == CODE["B"],
            outcome == CODE["BLOCKED"],
            outcome == ABANDONED,
        ],
        [person, machine, 26 + 1.5 * spread, 0.5 + 3.5 * even, 0.3 + 1.7 * even, 5 + 55 * even],
        default=0.2 + 2.8 * even,
    )
    return _whole_ms(np.clip(seconds, 0.2, 60.0))


def talk_ms(rng: np.random.Generator, outcome: Ints) -> Ints:
    """Milliseconds from the answer of each call to its end; 0 where nothing answered."""
    count = len(outcome)
    spread = rng.standard_normal(count)
    seconds = np.exp(_TALK[outcome, 0] + _TALK[outcome, 1] * spread)
    # Hang-ups and messages are short of their own kind: exponential, and around 27 s of greeting.
    hasty = outcome == CODE["HUP"]
    seconds[hasty] = 1 + rng.exponential(3.5, int(hasty.sum()))
    message = outcome == CODE["A"]
    seconds[message] = 27 + 6 * spread[message]
    talk = _whole_ms(np.clip(seconds, 1.0, 3_600.0))
    return np.where(ANSWERED[outcome], talk, 0)


def causes(rng: np.random.Generator, outcome: Ints) -> Ints:
    """The hang-up cause of each call, as an index into `CAUSES`."""
    chance = rng.random(len(outcome))
    position = (chance[:, None] >= _CAUSE_SHARES[outcome]).sum(axis=1)
    cause: Ints = _CAUSE_CODES[outcome, position]
    return cause


def _human_chance(dials: Dials) -> Floats:
    chance: Floats = np.minimum(
        dials.reach
        * HUMAN_BY_HOUR[dials.hour]
        * HUMAN_BY_WEEKDAY[dials.weekday]
        # Who is easily reached was reached before: what is left answers less.
        * 0.97 ** (dials.attempt - 1)
        * np.where(dials.flagged, 0.5, 1.0)
        * np.where(dials.local, 1.25, 0.93)
        * np.where(dials.awaited, AWAITED, 1.0),
        0.9,
    )
    return chance


def answers(rng: np.random.Generator, wrong: Floats, factor: Floats) -> Ints:
    """What each person who answered says, as an index into `OUTCOMES`."""
    chance = rng.random((5, len(wrong)))
    shares = np.repeat(_ANSWER_SHARES[None, :], len(wrong), axis=0)
    shares[:, -_POSITIVE:] *= factor[:, None]
    # One draw against running shares, scaled to their sum, which the source changes.
    upto = np.cumsum(shares, axis=1)
    answer = (chance[4][:, None] * upto[:, -1:] >= upto).sum(axis=1)
    return _first(
        [chance[0] < 0.13, chance[1] < 0.05, chance[2] < wrong, chance[3] < 0.12],
        [CODE["HUP"], CODE["NP"], CODE["WN"], CODE["GATE"]],
        default=np.array(_ANSWERS)[np.minimum(answer, len(_ANSWERS) - 1)],
    )


def _first(conditions: Sequence[Flags], values: Sequence[Any], default: Any) -> npt.NDArray[Any]:
    """The value of the first condition that holds; many times faster than `np.select` for one row."""
    chosen = default
    for condition, value in zip(reversed(conditions), reversed(values), strict=True):
        chosen = np.where(condition, value, chosen)
    result: npt.NDArray[Any] = chosen
    return result


def _whole_ms(seconds: Floats) -> Ints:
    whole: Ints = np.rint(seconds * SECOND).astype(np.int64)
    return whole


def _cause_tables() -> tuple[Ints, Floats]:
    """Per outcome: codes of its causes, and the running shares after all but the last."""
    most = max(len(outcome.causes) for outcome in OUTCOMES)
    codes = np.zeros((len(OUTCOMES), most), dtype=np.int64)
    shares = np.ones((len(OUTCOMES), most - 1))
    for row, outcome in enumerate(OUTCOMES):
        running = 0.0
        for position, (cause, share) in enumerate(outcome.causes):
            codes[row, position] = CAUSES.index(cause)
            running += share
            if position < len(outcome.causes) - 1:
                shares[row, position] = running
    return codes, shares


_CAUSE_CODES, _CAUSE_SHARES = _cause_tables()
