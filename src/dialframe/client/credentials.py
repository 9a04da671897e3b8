"""The key: where it comes from and how it is held so that it is never shown; knows no HTTP."""

from __future__ import annotations

import getpass
import hashlib
import re
import sys
from collections.abc import Callable, Mapping
from typing import Final

from dialframe.client.address import Address
from dialframe.config import ENVIRONMENT
from dialframe.contract.access import KEY_PREFIXES
from dialframe.errors import ConfigError

Prompt = Callable[[str], str]

_VARIABLE: Final = ENVIRONMENT["api_key"]
_QUESTION: Final = "API key (svc_test_… or svc_live_…): "
_SENDABLE: Final = re.compile(r"[\x21-\x7e]+")

MISSING: Final = (
    "no API key: pass api_key=..., or set the environment variable "
    f"{_VARIABLE}, or run in a notebook, which asks for it"
)


class Credential:
    """A key that is held and not shown: neither its repr nor a pickle contains it."""

    __slots__ = ("_key", "account", "shown")

    def __init__(self, key: str, address: Address) -> None:
        """Hold a key for one address.

        Raises:
            ConfigError: The key is malformed, or is a live key and the address is neither https
                nor this machine.
        """
        kind = _kind(key)
        if kind == "live" and not (address.secure or address.loopback):
            raise ConfigError(
                f"a live key goes over https only, and base_url is http to {address.host}: "
                "use https, or a test key"
            )
        self._key = key
        #: What may be shown of it.
        self.shown = f"{KEY_PREFIXES[kind]}…"
        #: Who asks whom, as a hash: names a rate limit and the writes of a journal.
        self.account = _account(key, KEY_PREFIXES[kind], address)

    def header(self) -> str:
        """The value of the `Authorization` header."""
        return f"Bearer {self._key}"

    def __repr__(self) -> str:
        return self.shown

    def __reduce__(self) -> str:
        raise ConfigError("a key is not pickled: hand it to the other process yourself")


def resolve(
    api_key: str | None, environment: Mapping[str, str], prompt: Prompt | None = None
) -> str:
    """The API key: the argument, else `DIALFRAME_API_KEY`, else what a person types.

    Args:
        api_key: The key that was given, or None.
        environment: Where the variable is looked up; a face hands `os.environ` in.
        prompt: How to ask without echo; None asks only inside a notebook.

    Raises:
        ConfigError: None of the three gives a key.
    """
    given = api_key or environment.get(_VARIABLE) or ""
    if given.strip():
        return given.strip()
    ask = prompt if prompt is not None else notebook_prompt()
    typed = "" if ask is None else ask(_QUESTION).strip()
    if not typed:
        raise ConfigError(MISSING)
    return typed


def notebook_prompt() -> Prompt | None:
    """A question without echo when running in a notebook's kernel, else None."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getpass.getpass if hasattr(shell, "kernel") else None


def _kind(key: str) -> str:
    for kind, prefix in KEY_PREFIXES.items():
        if key.startswith(prefix) and len(key) > len(prefix) and _SENDABLE.fullmatch(key):
            return kind
    expected = " or ".join(f"{prefix}…" for prefix in KEY_PREFIXES.values())
    raise ConfigError(f"api_key is malformed: a key reads {expected}, without blanks")


def _account(key: str, prefix: str, address: Address) -> str:
    # The credential id is public, the secret behind it is not: only the former is hashed.
    credential_id = key.removeprefix(prefix).partition("_")[0]
    return hashlib.sha256(f"{address.url}\n{prefix}{credential_id}".encode()).hexdigest()
