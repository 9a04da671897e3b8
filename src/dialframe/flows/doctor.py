"""A check-up of everything between this machine and the service; changes nothing and raises nothing of its own.

Address, key, clock, rate limit, scopes, store and versions, one finding each; what cannot be checked because
something before it failed is said to be not tried.
"""

from __future__ import annotations

import os
import platform
import stat
from collections.abc import Callable
from datetime import datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from platformdirs import user_data_path

import dialframe
from dialframe.client import Address, Client, HttpxTransport, Options, Reply, Transport
from dialframe.client import PlannedRequest as Planned
from dialframe.client.address import parse
from dialframe.client.credentials import MISSING, Credential
from dialframe.config import OnProgress, Progress, Settings, silent
from dialframe.contract.codes import BY_CODE
from dialframe.contract.limits import BUCKETS
from dialframe.contract.models.account import Me
from dialframe.errors import (
    AuthenticationError,
    ConfigError,
    ContractError,
    DialframeError,
    NotFound,
    PermissionDenied,
    TransportError,
)
from dialframe.flows.clocks import Exchange, clock
from dialframe.flows.diagnosis import Diagnosis, Finding
from dialframe.flows.permissions import permissions

#: Libraries whose versions a report of a fault has to name.
LIBRARIES: Final = ("pandas", "numpy", "pyarrow", "pydantic", "httpx", "starlette", "matplotlib")
#: A check-up is worth no long wait.
OPTIONS: Final = Options(timeout_s=10.0, deadline_s=30.0, max_attempts=2)

_OPEN_TO_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


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
    local = [_store(settings), _versions()]
    try:
        where = parse(settings.base_url)
    except ConfigError as error:
        address = Finding("address", "failed", str(error))
        return Diagnosis((address, _untried("key", "there is no address"), *local))
    try:
        credential = _credential(settings, where)
    except ConfigError as error:
        return Diagnosis((_address(where), Finding("key", "failed", str(error)), *local))
    watch = Watch(transport or HttpxTransport(where, credential), now)
    with Client(where.url, settings.api_key, transport=watch) as client:
        asked = _of_service(client, credential.shown, now, tell)
    return Diagnosis((_address(where), *asked, clock(watch.first), _rate(watch), *local))


def _credential(settings: Settings, where: Address) -> Credential:
    if not settings.api_key:
        raise ConfigError(MISSING)
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


def _store(settings: Settings) -> Finding:
    # The same folder that an account would be opened in.
    root = settings.store or user_data_path("dialframe", appauthor=False) / "store"
    try:
        return _folder(root.expanduser())
    except (OSError, RuntimeError) as error:
        advice = "choose another folder with --store or DIALFRAME_STORE"
        return Finding("store", "failed", f"{root} cannot be looked at: {error}", advice)


def _folder(root: Path) -> Finding:
    if not root.exists():
        place = next(parent for parent in root.parents if parent.exists())
        if place.is_dir() and os.access(place, os.W_OK | os.X_OK):
            return Finding("store", "ok", f"{root} will be made when it is first used")
        advice = "choose another folder with --store or DIALFRAME_STORE"
        return Finding("store", "failed", f"{root} cannot be made: {place} is closed", advice)
    if not root.is_dir():
        return Finding("store", "failed", f"{root} is a file", "choose a folder")
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        advice = "choose another folder, or have its permissions changed"
        return Finding("store", "failed", f"{root} may not be written to", advice)
    if os.name != "posix":
        return Finding("store", "ok", f"{root} may be written to; who may read it is not checked")
    exposed = _exposed(root)
    if exposed:
        detail = f"{root}: {len(exposed)} files are open to other users, {exposed[0].name} for one"
        return Finding("store", "warning", detail, f"chmod -R go-rwx {root}")
    return Finding("store", "ok", f"{root} may be written to, and its files are yours alone")


def _exposed(folder: Path) -> list[Path]:
    """Files below a folder that others may read or write, wherever they can get to them."""
    if not folder.stat().st_mode & _OPEN_TO_OTHERS:
        return []
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            found += _exposed(path)
        elif path.is_file() and path.stat().st_mode & _OPEN_TO_OTHERS:
            found.append(path)
    return found


def _versions() -> Finding:
    known, missing = (
        [f"python {platform.python_version()}", f"dialframe {dialframe.__version__}"],
        [],
    )
    for library in LIBRARIES:
        try:
            known.append(f"{library} {version(library)}")
        except PackageNotFoundError:
            missing.append(library)
    if missing:
        detail = f"{', '.join(known)}; missing: {', '.join(missing)}"
        return Finding("versions", "failed", detail, "install dialframe again")
    return Finding("versions", "ok", ", ".join(known))


def _untried(check: str, why: str) -> Finding:
    return Finding(check, "not tried", why)
