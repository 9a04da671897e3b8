"""The toolkit for outbound dialing data.

    import dialframe

    account = dialframe.connect()          # a live account, from the environment or arguments
    account.sync()
    calls = account.calls()                # a DataFrame

Rooms are loaded when they are first used: importing the package loads neither pandas nor httpx.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dialframe import analytics, compliance, errors, leads, phones, sandbox, webhooks
    from dialframe.account import Account, connect
    from dialframe.client import Client

__version__ = "0.1.0"

__all__ = [
    "Account",
    "Client",
    "__version__",
    "analytics",
    "compliance",
    "connect",
    "errors",
    "leads",
    "phones",
    "sandbox",
    "webhooks",
]

if not TYPE_CHECKING:
    # Hidden from type checkers, so that a misspelt name is still an error to them.
    _NAMES = {
        "Account": "dialframe.account",
        "Client": "dialframe.client",
        "connect": "dialframe.account",
    }
    _ROOMS = ("analytics", "compliance", "errors", "leads", "phones", "sandbox", "webhooks")

    def __getattr__(name: str) -> Any:
        if name in _NAMES:
            return getattr(importlib.import_module(_NAMES[name]), name)
        if name in _ROOMS:
            return importlib.import_module(f"dialframe.{name}")
        raise AttributeError(f"module 'dialframe' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted(__all__)
