"""What a client and a single call are set to: address, key, options and clock, each checked when it is made.

The key is never shown.
"""

from __future__ import annotations

import getpass
import hashlib
import random
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from dialframe.config import ENVIRONMENT
from dialframe.contract import limits
from dialframe.contract.models.base_models import Answer
from dialframe.contract.scopes import KEY_PREFIXES
from dialframe.errors import ConfigError

#: What comes next, in every message about a base URL.
_EXAMPLE: Final = "give it as https://host, without path parameters or credentials"
Prompt = Callable[[str], str]

_VARIABLE: Final = ENVIRONMENT["api_key"]
_QUESTION: Final = "API key (svc_test_… or svc_live_…): "
_SENDABLE: Final = re.compile(r"[\x21-\x7e]+")

MISSING_KEY: Final = (
    "no API key: pass api_key=..., or set the environment variable "
    f"{_VARIABLE}, or run in a notebook, which asks for it"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A base URL.

    Attributes:
        url: Without a slash at its end; paths of the contract follow it.
        host: Host and, where it is given, port: what a message shows.
        secure: Whether it is https.
        loopback: Whether it is this machine.
    """

    url: str
    host: str
    secure: bool
    loopback: bool


def parse_address(base_url: str | None, *, called: str = "base_url") -> Address:
    """Read and check a base URL.

    Args:
        base_url: The URL.
        called: What a message calls it, such as `base_url (from DIALFRAME_BASE_URL)`.

    Returns:
        The address, without a slash at its end.

    Raises:
        ConfigError: It is missing, is no http or https URL, or carries what has no place in it:
            credentials, a query, a fragment, or the `/v1` that every path brings along.

    Example:
        >>> parse_address('https://service.example/').url
        'https://service.example'
    """
    if not base_url or not base_url.strip():
        raise ConfigError(
            "base_url is missing: pass base_url=... or set DIALFRAME_BASE_URL to the service's address"
        )
    try:
        # RFC 3986, 3.2.2: a host is looked up in lower case, as `urlsplit` gives it.
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ConfigError(f"{called} is not a URL: {_EXAMPLE}") from None
    wrong = {
        f"is not an http or https URL with a host: {_EXAMPLE}": (
            parts.scheme not in ("http", "https") or not host
        ),
        f"has a blank in it: {_EXAMPLE}": bool(re.search(r"\s", base_url.strip())),
        # Contract, Authentication 2: no credential in a URL.
        "carries credentials: pass the key as api_key instead": (
            parts.username is not None or parts.password is not None
        ),
        f"has a query or a fragment: {_EXAMPLE}": bool(parts.query or parts.fragment),
        "ends in /v1, which every path brings along: leave it off": (
            parts.path.rstrip("/").endswith("/v1")
        ),
    }
    for words, holds in wrong.items():
        if holds:
            raise ConfigError(f"{called} {words}")
    # RFC 6761, 6.3: `localhost` and every name below it are this machine.
    loopback = host == "localhost" or host.endswith(".localhost")
    if not loopback:
        with suppress(ValueError):
            loopback = ip_address(host).is_loopback
    return Address(
        url=f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}",
        host=host if port is None else f"{host}:{port}",
        secure=parts.scheme == "https",
        loopback=loopback,
    )


class Credential:
    """A key that is held and not shown: neither its repr nor a pickle contains it."""

    __slots__ = ("_key", "account", "shown")

    def __init__(self, key: str, address: Address, *, called: str = "api_key") -> None:
        """Hold a key for one address.

        Args:
            key: The key.
            address: The only address that it is sent to.
            called: What a message calls the key.

        Raises:
            ConfigError: The key is malformed, or is a live key and the address is neither https
                nor this machine.
        """
        # Contract, Authentication 1 and 3. RFC 9110, 5.5: a header's value is visible ASCII here.
        kind = next(
            (
                kind
                for kind, prefix in KEY_PREFIXES.items()
                if key.startswith(prefix) and len(key) > len(prefix) and _SENDABLE.fullmatch(key)
            ),
            None,
        )
        if kind is None:
            expected = " or ".join(f"{prefix}…" for prefix in KEY_PREFIXES.values())
            raise ConfigError(f"{called} is malformed: a key reads {expected}, without blanks")
        if kind == "live" and not (address.secure or address.loopback):
            raise ConfigError(
                f"a live key goes over https only, and base_url is http to {address.host}: "
                "use https, or a test key"
            )
        self._key = key
        #: What may be shown of it.
        self.shown = f"{KEY_PREFIXES[kind]}…"
        #: Who asks whom, as a hash: names a rate limit and the writes of a journal.
        # The credential id is public, the secret behind it is not: only the former is hashed.
        credential_id = key.removeprefix(KEY_PREFIXES[kind]).partition("_")[0]
        named = f"{address.url}\n{KEY_PREFIXES[kind]}{credential_id}"
        self.account = hashlib.sha256(named.encode()).hexdigest()

    def header(self) -> str:
        """The value of the `Authorization` header.

        Returns:
            `Bearer` and the key: not for logs.
        """
        return f"Bearer {self._key}"

    def __repr__(self) -> str:
        return self.shown

    def __reduce__(self) -> str:
        raise ConfigError("a key is not pickled: hand it to the other process yourself")


def resolve_key(
    api_key: str | None, environment: Mapping[str, str], prompt: Prompt | None = None
) -> str:
    """Find the API key: the argument, else `DIALFRAME_API_KEY`, else what a person types.

    Args:
        api_key: The key that was given, or None.
        environment: Where the variable is looked up; a face hands `os.environ` in.
        prompt: How to ask without echo; None asks only inside a notebook.

    Returns:
        The key, without blanks around it.

    Raises:
        ConfigError: None of the three gives a key.

    Example:
        >>> resolve_key(None, {'DIALFRAME_API_KEY': 'svc_test_cred_secret'})
        'svc_test_cred_secret'
    """
    key_text = api_key or environment.get(_VARIABLE) or ""
    if key_text.strip():
        return key_text.strip()
    # A terminal is not asked: a script that runs by night would wait for ever.
    ask = prompt if prompt is not None else notebook_prompt()
    typed = "" if ask is None else ask(_QUESTION).strip()
    if not typed:
        raise ConfigError(MISSING_KEY)
    return typed


def notebook_prompt() -> Prompt | None:
    """A question without echo when running in a notebook's kernel, else None."""
    # Looked at and not imported: who runs in a kernel has it already.
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getpass.getpass if hasattr(shell, "kernel") else None


# Contract, Correlation.
_CORRELATION: Final = re.compile(limits.CORRELATION_ID_PATTERN)
# RFC 9110, 5.5: blanks at either end of a header's value would not arrive.
_PRINTABLE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
#: The correlation id of the `with` block that we are in, or None.
current_correlation: Final[ContextVar[str | None]] = ContextVar(
    "dialframe_correlation", default=None
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What may be said of a single call; what is None falls back to the client's own setting.

    Attributes:
        timeout_s: Seconds that connecting, sending, the head of an answer, or any further wait
            for bytes may take; an answer that drips in for longer counts as none.
        deadline_s: Seconds for the whole call: attempts, waits between them, the rate limit.
            Of a list, it holds for each page; of a Do-Not-Call check, for each hundred numbers.
        max_attempts: How often the request may be sent; 1 means never again.
        correlation_id: `X-Correlation-ID`; wins over `client.correlation(...)`.
        idempotency_key: Your own key for a write, 1-255 characters; one is made if it is None.
        if_match: The ETag to be sent as `If-Match`, or the value that this client read it with.
        late: Send a write that reaches people again although its window is over (see `Write`).
    """

    timeout_s: float | None = None
    deadline_s: float | None = None
    max_attempts: int | None = None
    correlation_id: str | None = None
    idempotency_key: str | None = None
    if_match: str | Answer | None = None
    late: bool = False

    def __post_init__(self) -> None:
        """Refuse what the contract would refuse."""
        for name, seconds in (("timeout_s", self.timeout_s), ("deadline_s", self.deadline_s)):
            if seconds is not None and not 0 < seconds < float("inf"):
                raise ConfigError(f"{name}: give a number of seconds above 0")
        if self.max_attempts is not None and self.max_attempts < 1:
            raise ConfigError("max_attempts: give at least 1, which means: never send again")
        if self.correlation_id is not None and not _CORRELATION.fullmatch(self.correlation_id):
            raise ConfigError(
                f"correlation_id: use 1 to {limits.CORRELATION_ID_CHARS[1]} of the characters "
                "A-Z a-z 0-9 . _ : -"
            )
        given: tuple[tuple[str, object, int], ...] = (
            ("idempotency_key", self.idempotency_key, limits.IDEMPOTENCY_KEY_CHARS[1]),
            # An answer brings its ETag along, which the service made.
            ("if_match", None if isinstance(self.if_match, Answer) else self.if_match,
             limits.ETAG_CHARS),
        )  # fmt: skip
        # A key may come as a UUID by mistake, which no journal and no header takes.
        for name, value, longest in given:
            if value is not None and not (
                isinstance(value, str) and len(value) <= longest and _PRINTABLE.fullmatch(value)
            ):
                raise ConfigError(f"{name}: use 1 to {longest} printable ASCII characters")


@contextmanager
def correlation(correlation_id: str) -> Iterator[None]:
    """Send `X-Correlation-ID` with every call made inside the `with` block, in this thread.

    Args:
        correlation_id: The id that the service's log shows with these requests.

    Yields:
        Nothing.

    Raises:
        ConfigError: The id is not 1-128 characters of `A-Z a-z 0-9 . _ : -`.

    Example:
        >>> with correlation('nightly-sync:7'):
        ...     current_correlation.get()
        'nightly-sync:7'
    """
    # The same rule as for a single call.
    Options(correlation_id=correlation_id)
    token = current_correlation.set(correlation_id)
    try:
        yield
    finally:
        current_correlation.reset(token)


#: Nothing said: the client's own settings hold.
DEFAULTS: Final = Options()


async def _sleep_async(seconds: float) -> None:
    # Loaded where there is a loop already: it takes longer than a client of threads.
    import asyncio

    await asyncio.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock and the random numbers of a client; tests pass their own.

    Attributes:
        now: The time of day, UTC-aware.
        monotonic: Seconds that never run backwards, for waits and deadlines.
        sleep: Wait so many seconds.
        jitter: A number from 0 up to 1, afresh each time.
        sleep_async: The same wait in an event loop.
    """

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    jitter: Callable[[], float]
    sleep_async: Callable[[float], Awaitable[None]] = field(default=_sleep_async)


#: The machine's own clock.
SYSTEM: Final = Clock(partial(datetime.now, UTC), time.monotonic, time.sleep, random.random)
