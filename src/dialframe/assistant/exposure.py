"""Which operations an assistant may be offered, and which need a person's word; a policy, no fact of the service."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from dialframe.contract import operations
from dialframe.contract.row import Operation
from dialframe.errors import ConfigError

Kind = Literal["read", "write", "reach"]

#: Operations by which somebody's phone may ring or a message may arrive, or which unlock that (every one of
#: tier 2 is here), and what a person agrees to.
REACHES: Final[dict[str, str]] = {
    "leads.import": "adds leads to a campaign, which may dial them at once",
    "leads.create": "adds a lead to a campaign, which may dial it at once",
    "campaigns.resume": "lets a campaign call people again",
    "calls.start": "rings an agent, then the customer",
    "consents.record": "records that a person agreed to be contacted, which unlocks calls and messages",
    "callbacks.create": "schedules a call to a person",
    "callbacks.reschedule": "moves a scheduled call to a person",
    "appointments.create": "books an appointment, of which the person may be told",
    "appointments.reschedule": "moves an appointment, of which the person may be told",
    "appointments.cancel": "cancels an appointment, of which the person may be told",
    "sms.send": "sends a text message to a person",
    "whatsapp.send": "sends a WhatsApp message to a person",
}

#: Operations that send a body and yet change nothing.
_READS: Final = frozenset({"dnc.check"})

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Exposure:
    """What a server offers.

    Attributes:
        writes: Names of operations that change something and are offered all the same.
        reveal: Whether phone numbers and signing secrets stand whole in results.
    """

    writes: frozenset[str] = frozenset()
    reveal: bool = False

    @classmethod
    def of(cls, allowed: Iterable[str] = (), *, reveal: bool = False) -> Exposure:
        """From names of operations, or `all`.

        Raises:
            ConfigError: A name is no operation's.
        """
        names = frozenset(allowed)
        unknown = sorted(names - set(operations.BY_NAME) - {ALL})
        if unknown:
            raise ConfigError(
                f"no operation is called {', '.join(unknown)}; `dialframe contract operations`"
                " names them, and `all` stands for every one"
            )
        every = frozenset(row.name for row in operations.ALL if kind_of(row) != "read")
        return cls(every if ALL in names else names & every, reveal)

    def offers(self, row: Operation[Any, Any]) -> bool:
        """Whether the operation is a tool of this server."""
        return kind_of(row) == "read" or row.name in self.writes


#: What is offered where nothing is allowed.
READING: Final = Exposure()


def kind_of(row: Operation[Any, Any]) -> Kind:
    """Whether an operation only reads, changes something, or may reach a person."""
    if row.name in REACHES:
        return "reach"
    return "read" if row.method == "GET" or row.name in _READS else "write"
