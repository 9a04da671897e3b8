"""One synthetic account from seed, size and day: the order in which its parts are made."""

from __future__ import annotations

import datetime as dt

import numpy as np

from dialframe.errors import ConfigError
from dialframe.sandbox.seed import (
    aftermath,
    dialling,
    faults,
    hours,
    ids,
    marks,
    population,
    traffic,
    writing,
)
from dialframe.sandbox.seed.sizes import EMPTY, SIZES, Size
from dialframe.sandbox.seed.tables import SyntheticAccount, Table
from dialframe.sandbox.seed.truth import History

_FIRST_YEAR = 2000


def generate(*, seed: int, size: str, as_of: dt.date) -> SyntheticAccount:
    """A made-up account of an outbound dialling service, the same for the same arguments.

    The history ends as `as_of` begins (UTC): nothing has happened at or after that instant, only
    promises (callbacks, appointments, next attempts) lie beyond it. The bytes are the same on
    every machine with the same releases of numpy and of the time-zone data.

    Args:
        seed: Any whole number from 0 up.
        size: `empty`, `tiny` (300 leads, 1,000 calls over three months), `small` (3,000 and
            10,000 over six), `medium` (30,000 and 100,000) or `large` (300,000 and 1,000,000).
        as_of: The day on which the history ends.

    Returns:
        The account; `SyntheticAccount` names the tables and units.

    Raises:
        ConfigError: When the size is unknown, the seed negative or the day before 2000.
    """
    if size != EMPTY and size not in SIZES:
        known = ", ".join([EMPTY, *SIZES])
        raise ConfigError(f"unknown size {size!r} of the synthetic account: choose one of {known}")
    if seed < 0:
        raise ConfigError(f"the seed of the synthetic account is {seed}: give 0 or more")
    if as_of.year < _FIRST_YEAR:
        raise ConfigError(f"the synthetic account cannot end on {as_of}: give a day from 2000 on")
    tables = writing.nothing() if size == EMPTY else _tables(seed, SIZES[size], as_of)
    return SyntheticAccount(seed, size, as_of, tables)


def _tables(seed: int, size: Size, as_of: dt.date) -> dict[str, Table]:
    rng = np.random.Generator(np.random.PCG64(seed))
    calendar = hours.calendar(as_of, size.history_days)
    campaigns = population.campaigns(calendar, size)
    everyone = population.people(rng, calendar, size, campaigns)
    cast = faults.cast(rng, calendar, size, everyone)
    callers = population.callers(calendar, size)
    world = dialling.World(calendar, campaigns, callers, cast.people)
    dialled = dialling.dial(rng, world)
    flow = traffic.flow(rng, world, dialled.calls, cast.scripts, size.calls)
    logged = marks.mark(rng, world, flow, size.faults)
    first = aftermath.first_calls(flow, size.leads)
    created = population.created_at(rng, cast.people, campaigns, first, calendar.ends)
    states = aftermath.lead_states(
        world, flow, logged, dialled.callbacks, dialled.planned, created, cast
    )
    booked = aftermath.appointments(rng, world, flow, logged)
    dnc = aftermath.dnc_list(rng, world, flow, logged, created, cast, size)
    history = History(
        world=world,
        cast=cast,
        traffic=flow,
        marks=logged,
        dnc=dnc,
        created=created,
        call_ids=ids.draw(rng, "call_", size.calls),
        lead_ids=ids.draw(rng, "lead_", size.leads),
        campaign_ids=ids.draw(rng, "cmp_", len(size.campaigns)),
    )
    left = writing.Leavings(states, dialled.callbacks, booked)
    return writing.write(rng, history, left, size)
