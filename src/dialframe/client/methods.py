"""Where an operation's method hangs on a client; knows names, and calls nothing."""

from __future__ import annotations

import keyword
from typing import Any

from dialframe.contract.row import Operation


def method_path(operation: Operation[Any, Any]) -> str:
    """The attributes that lead from a client to an operation's method.

    It is the operation's own name, a word that Python keeps for itself with an underscore:
    `calls.list` is at `calls.list`.

    >>> from dialframe.contract.operations import LEADS_IMPORT
    >>> method_path(LEADS_IMPORT)
    'leads.import_'
    """
    words = operation.name.split(".")
    return ".".join(f"{word}_" if keyword.iskeyword(word) else word for word in words)
