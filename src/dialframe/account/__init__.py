"""A live account: client and store joined; `connect` opens one."""

from dialframe.account.account import Account
from dialframe.account.opening import connect
from dialframe.account.report import SyncReport, TableSync

__all__ = ["Account", "SyncReport", "TableSync", "connect"]
