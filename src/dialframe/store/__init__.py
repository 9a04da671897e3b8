"""Tables on disk as append-only row versions, one folder for each client of the service."""

from dialframe.privacy import E164
from dialframe.store.account_folders import Identity, Owner, locate, partitions
from dialframe.store.files.catalog import Checkpoint, Verdict
from dialframe.store.files.damaged_files import Damage
from dialframe.store.files.sqlite_rows import Bad, bad_record
from dialframe.store.reader import Check, Info, TableFacts
from dialframe.store.store import Appended, Store

__all__ = [
    "E164",
    "Appended",
    "Bad",
    "Check",
    "Checkpoint",
    "Damage",
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
