"""A live account: client and store joined; `connect` opens one."""

from dialframe.account.account import Account
from dialframe.account.connecting import connect, open_stored
from dialframe.account.sync_report import SyncReport, TableSync

__all__ = ["Account", "SyncReport", "TableSync", "connect", "open_stored"]


def __dir__() -> list[str]:
    """The public names alone."""
    return sorted(__all__)
