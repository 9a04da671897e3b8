"""Names, addresses and custom fields of made-up people; knows nothing of their calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dialframe.sandbox.seed.hours import iso
from dialframe.sandbox.seed.places import Place
from dialframe.sandbox.seed.population import SOURCES, WEB_FORM
from dialframe.sandbox.seed.tables import Ints, Value


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST_NAMES = _words(
    "Ada Alan Amira Ana Ben Carla Chen Dana David Elena Emma Farid Grace Hana Hugo Ines Ivan "
    "Jack Jana Joan Karim Kate Leo Lena Liam Luisa Maya Mark Mina Nora Omar Otto Paula Peter "
    "Rosa Sam Sara Tariq Tom Vera"
)
LAST_NAMES = _words(
    "Adams Baker Bell Brown Carter Clark Cole Cooper Cruz Diaz Evans Fisher Ford Garcia Gray "
    "Green Hall Harris Hill Howard Hughes Jones Khan King Lee Lopez Mason Moore Nolan Novak "
    "Owens Park Perez Reed Ross Shaw Silva Stone Walsh Young"
)
_AGENT_STATES = ("ready", "on_call", "wrap_up", "break", "offline")
_FIRST_EXTENSION = 1001


def full_names(rng: np.random.Generator, count: int) -> list[str]:
    """First and last names put together by chance."""
    first = rng.integers(0, len(FIRST_NAMES), count).tolist()
    last = rng.integers(0, len(LAST_NAMES), count).tolist()
    return [f"{FIRST_NAMES[a]} {LAST_NAMES[b]}" for a, b in zip(first, last, strict=True)]


def emails(rng: np.random.Generator, names: Sequence[str]) -> list[Value]:
    """An address under example.com or example.org for seven leads in ten."""
    domain = rng.integers(0, 2, len(names)).tolist()
    made: list[Value] = [
        f"{name.lower().replace(' ', '.')}.{number}@example.{('com', 'org')[kind]}"
        for number, (name, kind) in enumerate(zip(names, domain, strict=True), start=1)
    ]
    return some(rng, made, 0.7)


def external_ids(rng: np.random.Generator, count: int) -> list[Value]:
    """Ids of a customer system, all different, for nine leads in ten."""
    return some(rng, [f"crm-{number:07d}" for number in range(1, count + 1)], 0.9)


def custom_fields(
    rng: np.random.Generator, source: Ints, places: Sequence[Place], created: Ints
) -> list[Value]:
    """JSON with lead source, state, day of import (not of web forms) and a score; 1 % null."""
    score = rng.integers(1, 101, len(source)).tolist()
    rows = zip(source.tolist(), places, _days(created), score, strict=True)
    made: list[Value] = [
        f'{{"lead_source":"{SOURCES[kind].code}","state":"{place.state}"'
        + (f',"batch":"{day}"' if kind != WEB_FORM else "")
        + f',"score":{points}}}'
        for kind, place, day, points in rows
    ]
    return some(rng, made, 0.99)


def some(rng: np.random.Generator, values: Sequence[Value], share: float) -> list[Value]:
    """The values, each kept with a chance of `share` and null otherwise."""
    kept = (rng.random(len(values)) < share).tolist()
    return [value if keep else None for value, keep in zip(values, kept, strict=True)]


def extensions(count: int) -> list[str]:
    """Agent extensions, counting up from 1001."""
    return [str(_FIRST_EXTENSION + number) for number in range(count)]


def agent_states(count: int) -> list[str]:
    """The first half ready, so that a click-to-call finds somebody; the rest of every kind."""
    ready = -(-count // 2)
    rest = (
        _AGENT_STATES[1 + number % (len(_AGENT_STATES) - 1)] for number in range(count - ready)
    )
    return ["ready"] * ready + list(rest)


def _days(created: Ints) -> list[str]:
    """The UTC days of instants; there are few of them, so each is written once."""
    days, place = np.unique(created // 86_400_000, return_inverse=True)
    words = [iso(day * 86_400_000)[:10] for day in days.tolist()]
    return [words[number] for number in place.tolist()]
