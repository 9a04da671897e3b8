"""A check-up of everything between this machine and the service; changes nothing and raises nothing of its own.

Address, key, clock, rate limit and scopes here, store, disk and libraries in `machine`, one finding each; what cannot be checked because
something before it failed is said to be not tried.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from dialframe.client import (
    MISSING_KEY,
    Address,
    Client,
    Credential,
    HttpxTransport,
    Options,
    Reply,
    Transport,
)
from dialframe.client import PlannedRequest as Planned
from dialframe.client import parse_address as parse
from dialframe.config import OnProgress, Progress, Settings, silent
from dialframe.contract.error_codes import BY_CODE
from dialframe.contract.limits import BUCKETS
from dialframe.contract.models.message_models import Me
from dialframe.errors import (
    AuthenticationError,
    ConfigError,
    ContractError,
    DialframeError,
    NotFound,
    PermissionDenied,
    TransportError,
)
from dialframe.flows.key_permissions import permissions
from dialframe.flows.machine import Diagnosis, Exchange, Finding, clock, machine

#: For somebody who has no service to ask yet.
NO_ACCOUNT: Final = "without an account, dialframe sandbox serve runs the service on this machine"
#: A check-up is worth no long wait.
OPTIONS: Final = Options(timeout_s=10.0, deadline_s=30.0, max_attempts=2)


class Watch:
    """A transport that remembers what passes: how much, how often too fast, and the first exchange.

    Attributes:
        sent: Requests sent.
        slowed: Answers 429 among theirs.
        first: The first exchange, or None while nothing was heard.
    """

    def __init__(self, inner: Transport, now: Callable[[], datetime]) -> None:
        """Watch a transport; `now` is this machine's clock."""
        self._inner = inner
        self._now = now
        self.sent = 0
        self.slowed = 0
        self.first: Exchange | None = None

    def send(self, request: Planned, *, timeout_s: float) -> Reply:
        """Send a request once; see `Transport`."""
        sent_at = self._now()
        self.sent += 1
        reply = self._inner.send(request, timeout_s=timeout_s)
        self.slowed += reply.status == 429
        self.first = self.first or Exchange(sent_at, self._now(), reply.headers)
        return reply

    def close(self) -> None:
        """Let go of every connection."""
        self._inner.close()


def diagnose(
    settings: Settings,
    *,
    now: Callable[[], datetime],
    transport: Transport | None = None,
    on_progress: OnProgress | None = None,
) -> Diagnosis:
    """Check the address, the key, what it may do, and the place where data is kept.

    One request asks about the key and one tries each of twelve scopes; all of them are reads. A
    setting that is missing or wrong is a finding, too.

    Args:
        settings: What is to be checked.
        now: This machine's clock, UTC-aware.
        transport: What carries requests instead of the network.
        on_progress: Told after each step.
    """
    tell = on_progress or silent
    local = (_sources(settings), *machine(settings))
    try:
        where = parse(settings.base_url)
    except ConfigError as error:
        address = Finding("address", "failed", str(error), NO_ACCOUNT)
        return Diagnosis((address, _untried("key", "there is no address"), *local))
    try:
        credential = _credential(settings, where)
    except ConfigError as error:
        return Diagnosis((_address(where), Finding("key", "failed", str(error)), *local))
    watch = Watch(transport or HttpxTransport(where, credential), now)
    with Client(where.url, settings.api_key, transport=watch) as client:
        asked = _of_service(client, credential.shown, now, tell)
    return Diagnosis((_address(where), *asked, clock(watch.first), _rate(watch), *local))


def _sources(settings: Settings) -> Finding:
    """Where each setting comes from; a variable that nobody remembers is the usual surprise."""
    origins = [
        f"{name}: {'given' if origin == 'argument' else origin}"
        for name, origin in settings.origins.items()
    ]
    return Finding("settings", "ok", ", ".join(origins) or "given by the program")


def _credential(settings: Settings, where: Address) -> Credential:
    if not settings.api_key:
        raise ConfigError(MISSING_KEY)
    return Credential(settings.api_key, where)


def _address(where: Address) -> Finding:
    if where.loopback:
        return Finding("address", "ok", f"{where.host} is this machine")
    if where.secure:
        return Finding("address", "ok", f"{where.host} over https")
    detail = f"{where.host} over http: whoever is on the way can read the key and the data"
    return Finding("address", "warning", detail, "use https")


def _of_service(
    client: Client, key: str, now: Callable[[], datetime], tell: OnProgress
) -> list[Finding]:
    try:
        me = client.me(options=OPTIONS)
    except DialframeError as error:
        return [*_refused(error, key), _untried("scopes", "the key could not be asked about")]
    tell(Progress("key", 1, 1))
    yesterday = now().date() - timedelta(days=1)
    found = permissions(client, me, yesterday=yesterday, options=OPTIONS, on_progress=tell)
    return [Finding("service", "ok", "answers"), _key(me, key), *found]


def _key(me: Me, key: str) -> Finding:
    whose = me.client_name or me.client_id
    words = [f"{key} is accepted"]
    words += [f"client {whose}"] if whose else []
    words += [f"environment {me.environment}"] if me.environment else []
    return Finding("key", "ok", ", ".join(words))


def _refused(error: DialframeError, key: str) -> list[Finding]:
    """What the failure of the very first request says of the service and of the key."""
    if isinstance(error, AuthenticationError | PermissionDenied):
        detail = f"{key} is refused: {error.status} {error.code}"
        advice = BY_CODE[error.code].advice if error.code in BY_CODE else "ask the operator"
        return [Finding("service", "ok", "answers"), Finding("key", "failed", detail, advice)]
    if isinstance(error, TransportError):
        advice = "check base_url and the network"
    elif isinstance(error, ContractError | NotFound):
        advice = "check base_url: something else may be answering there"
    else:
        advice = "try again in a while"
    # The sentence of an error may end with the same advice.
    service = Finding("service", "failed", str(error).removesuffix(f": {advice}"), advice)
    return [service, _untried("key", "the service did not say")]


def _rate(watch: Watch) -> Finding:
    bucket = BUCKETS[0]
    detail = (
        f"a key may send {bucket.rate_per_s:.0f} requests a second and {bucket.burst} at once; "
        f"sent now: {watch.sent}, refused with 429: {watch.slowed}"
    )
    if not watch.slowed:
        return Finding("rate limit", "ok", detail)
    advice = "others use the same key, client, account or address: run fewer at once"
    return Finding("rate limit", "warning", detail, advice)


def _untried(check: str, why: str) -> Finding:
    return Finding(check, "not tried", why)
