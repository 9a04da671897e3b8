"""Tables on disk as append-only row versions; knows SQLite and frames, not the service."""

from dialframe.store.checkpoints import Checkpoint
from dialframe.store.encode import Bad, bad_record
from dialframe.store.erasure import E164
from dialframe.store.facts import Check, Info, TableFacts
from dialframe.store.partition import Identity, Owner, locate, partitions
from dialframe.store.store import Appended, Store

__all__ = [
    "E164",
    "Appended",
    "Bad",
    "Check",
    "Checkpoint",
    "Identity",
    "Info",
    "Owner",
    "Store",
    "TableFacts",
    "bad_record",
    "locate",
    "partitions",
]
