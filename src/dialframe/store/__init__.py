"""Tables on disk as append-only row versions, one folder for each client of the service."""

from dialframe.privacy import E164
from dialframe.store.account_folders import Identity, Owner, locate, partitions
from dialframe.store.catalog import Checkpoint
from dialframe.store.layouts import FROM_FILE
from dialframe.store.reader import Check, Info, TableFacts
from dialframe.store.records import Bad, bad_record
from dialframe.store.store import Appended, Store, Verdict

__all__ = [
    "E164",
    "FROM_FILE",
    "Appended",
    "Bad",
    "Check",
    "Checkpoint",
    "Identity",
    "Info",
    "Owner",
    "Store",
    "TableFacts",
    "Verdict",
    "bad_record",
    "locate",
    "partitions",
]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
