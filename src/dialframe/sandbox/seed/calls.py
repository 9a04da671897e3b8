"""Calls as columns while the history is made; knows how to join and order them, not what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from dialframe.sandbox.seed.outcomes import ANSWERED
from dialframe.sandbox.seed.tables import Flags, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Calls, one value each; instants are UTC milliseconds, lengths milliseconds.

    Attributes:
        who: The lead whose number it is.
        created: When it began.
        ring: From its beginning to the answer, or to the end without one.
        talk: From the answer to the end; 0 without an answer.
        outcome: What happened, as an index into `outcomes.OUTCOMES`.
        caller: The account's own number in it, as an index into the caller IDs.
        attempt: Which drawn attempt on the lead it is; 0 where it is none.
        awaited: It keeps a callback.
        inbound: The lead called.
        script: Number of the scripted call, or -1.
    """

    who: Ints
    created: Ints
    ring: Ints
    talk: Ints
    outcome: Ints
    caller: Ints
    attempt: Ints
    awaited: Flags
    inbound: Flags
    script: Ints

    def __len__(self) -> int:
        return len(self.who)

    @property
    def answered(self) -> Flags:
        """Whether anything answered."""
        answered: Flags = ANSWERED[self.outcome]
        return answered

    @property
    def ended(self) -> Ints:
        """When each ended."""
        return self.created + self.ring + self.talk

    def take(self, rows: Ints | Flags) -> Calls:
        """The calls of these rows, in this order."""
        return Calls(**{field.name: getattr(self, field.name)[rows] for field in fields(self)})


def join(parts: Sequence[Calls]) -> Calls:
    """Several sets of calls as one."""
    return Calls(
        **{
            field.name: np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Calls)
        }
    )
