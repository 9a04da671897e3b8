"""A check-up of everything between this machine and the service; changes nothing and raises nothing of its own.

Address, key, clock, rate limit and scopes here, store, disk and libraries in `machine_checks`, one finding each; what
cannot be checked because something before it failed is said to be not tried. Of the scopes reads are tried, and writes
only looked up.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

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
from dialframe.contract import operations as rows
from dialframe.contract.error_codes import BY_CODE
from dialframe.contract.limits import BUCKETS
from dialframe.contract.models.base_models import Empty, Page, Request
from dialframe.contract.models.call_models import (
    AppointmentQuery,
    CallbackQuery,
    CallQuery,
    CallRef,
)
from dialframe.contract.models.dnc_and_message_models import DispositionQuery, DncCheck, Me
from dialframe.contract.models.lead_models import CampaignQuery, LeadQuery
from dialframe.contract.models.webhook_models import WebhookQuery
from dialframe.contract.operations import Operation
from dialframe.contract.scopes import SCOPES, Scope
from dialframe.errors import (
    ApiError,
    AuthenticationError,
    ConfigError,
    ContractError,
    DialframeError,
    NotFound,
    PermissionDenied,
    TransportError,
)
from dialframe.flows.machine_checks import Diagnosis, Exchange, Finding, clock, machine

Row = Operation[Any, Any]

#: A number reserved for fiction: whatever the answer, it is about nobody.
NOBODY: Final = "+12025550100"
#: The scope that no account's key can use (contract, What the service does).
UNAVAILABLE: Final = "whatsapp:send"


@dataclass(frozen=True, slots=True)
class Known:
    """What a read needs to know: a day to report on, a campaign and a call where there are any."""

    yesterday: date
    campaign_id: str | None = None
    call_id: str | None = None


def _call(known: Known) -> CallRef | None:
    return None if known.call_id is None else CallRef(call_id=known.call_id)


#: One harmless read per scope and its request, None where it has nothing to ask about.
READS: Final[tuple[tuple[Row, Callable[[Known], Request | None]], ...]] = (
    (rows.LEADS_LIST, lambda _: LeadQuery(limit=1)),
    (rows.CAMPAIGNS_LIST, lambda _: CampaignQuery(limit=1)),
    (rows.CALLS_LIST, lambda _: CallQuery(limit=1)),
    (rows.CALLS_RECORDING, _call),
    (rows.CALLS_TRANSCRIPT, _call),
    (rows.CALLS_SUMMARY, _call),
    (rows.WEBHOOKS_LIST, lambda _: WebhookQuery(limit=1)),
    (rows.DNC_CHECK, lambda _: DncCheck(phones=[NOBODY])),
    (
        rows.CALLBACKS_LIST,
        lambda known: (
            None
            if known.campaign_id is None
            else CallbackQuery(campaign_id=known.campaign_id, limit=1)
        ),
    ),
    (rows.APPOINTMENTS_LIST, lambda _: AppointmentQuery(limit=1)),
    (rows.SMS_USAGE, lambda _: Empty()),
    (
        rows.REPORTS_DISPOSITIONS,
        lambda known: DispositionQuery(start_date=known.yesterday, end_date=known.yesterday),
    ),
)


#: What the newest row of a list lets later reads ask about.
_SHOWS: Final = {rows.CAMPAIGNS_LIST.name: "campaign_id", rows.CALLS_LIST.name: "call_id"}


def permissions(
    client: Client,
    me: Me,
    *,
    yesterday: date,
    options: Options,
    on_progress: OnProgress,
) -> list[Finding]:
    """A finding for each scope of the contract, in its order.

    A scope that reads is tried with one small read. One that only writes is never tried: the
    service's own word on the key's client is taken, where it gives one.

    Args:
        client: Whose key is meant.
        me: What the service says of it.
        yesterday: A UTC day to report on.
        options: Options of each read.
        on_progress: Told after each read.
    """
    tried: dict[str | None, Finding] = {}
    known_so_far = Known(yesterday)
    for done, (row, make) in enumerate(READS, start=1):
        # What a read asks about may have come from the one before it.
        request = make(known_so_far)
        if request is None and me.scopes is not None and row.scope not in me.scopes:
            tried[row.scope] = _not_granted(row.scope)
        elif request is None:
            parent = "campaign" if row is rows.CALLBACKS_LIST else "call"
            why = f"there is no {parent} to ask about"
            tried[row.scope] = Finding(_check(row.scope), "not tried", why)
        else:
            answer = _ask(client, row, request, options)
            tried[row.scope] = _judge_answer(row, answer, me)
            if row.name in _SHOWS and answer.records:
                newest = answer.records[0].id
                known_so_far = replace(known_so_far, **{_SHOWS[row.name]: newest})
        on_progress(Progress("scopes", done, len(READS)))
    return [tried.get(scope.name) or _judge_scope(scope, me) for scope in SCOPES]


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a read gave: records or an error, and how many rows were not the contract's."""

    error: DialframeError | None = None
    records: Sequence[Any] = ()
    misfits: int = 0


class _Enough(Exception):
    """A recording arrives: more of it is not needed."""


def _ask(client: Client, row: Row, request: Request, options: Options) -> _Answer:
    try:
        if isinstance(request, CallRef) and row.streamed:
            return _begin(client, request.call_id, options)
        answered = client.send_raw(row, request, options)
    except DialframeError as error:
        return _Answer(error)
    # One record of each list is enough to see whether the scope was granted.
    records = answered.value.data if isinstance(answered.value, Page) else ()
    return _Answer(records=records, misfits=len(answered.quarantined))


def _begin(client: Client, call_id: str, options: Options) -> _Answer:
    def enough(progress: Progress) -> None:
        del progress
        raise _Enough

    # A recording is of people: it goes with the check.
    with tempfile.TemporaryDirectory() as folder:
        try:
            path = Path(folder) / "recording"
            client.calls.recording(call_id, path, on_progress=enough, options=options)
        except _Enough:
            pass
    return _Answer()


def _judge_answer(row: Row, answer: _Answer, me: Me) -> Finding:
    check, error = _check(row.scope), answer.error
    # A sync sets such a row aside, too: it is said before it is missed.
    if error is None and answer.misfits:
        detail = f"{row.name} answered, and a row of it is not what the contract says"
        return Finding(
            check, "warning", detail, "compare the service's version with the contract's"
        )
    if error is None:
        return Finding(check, "ok", f"{row.name} answered")
    # It means only that the id names none (contract, Call summary): the scope was granted.
    if isinstance(error, NotFound) and error.code == "not_found":
        return Finding(check, "ok", f"{row.name} may be asked; the newest call has none")
    if isinstance(error, PermissionDenied):
        granted = me.scopes is not None and row.scope in me.scopes
        but = ", though the service lists the scope as granted" if granted else ""
        detail = f"refused: {error.status} {error.code}{but}"
        return Finding(check, "warning", detail, _advice(error))
    return Finding(check, "failed", str(error), _advice(error))


def _advice(error: DialframeError) -> str:
    code = error.code if isinstance(error, ApiError) else ""
    return (
        BY_CODE[code].advice if code in BY_CODE else "run it again; tell the operator if it stays"
    )


def _not_granted(scope: str | None) -> Finding:
    advice = BY_CODE["insufficient_scope"].advice
    return Finding(_check(scope), "warning", "not granted, says the service", advice)


def _judge_scope(scope: Scope, me: Me) -> Finding:
    """A scope that only writes, by what the service says."""
    check = _check(scope.name)
    if me.scopes is None:
        detail = "would change data, and the service does not say which scopes there are"
        return Finding(check, "not tried", detail, "ask the account's administrator")
    if scope.name not in me.scopes:
        return _not_granted(scope.name)
    # 403 tier_not_enabled for every account (contract, What the service does).
    if scope.name == UNAVAILABLE:
        detail = "granted, but off for every account until the operator announces it"
        return Finding(check, "not tried", detail)
    for lacking, detail, advice in _list_obstacles(scope, me):
        if lacking:
            return Finding(check, "warning", f"granted, but {detail}", advice)
    return Finding(check, "ok", "granted, says the service; not tried (would change data)")


def _list_obstacles(scope: Scope, me: Me) -> tuple[tuple[bool, str, str], ...]:
    """What keeps a granted scope from being used: whether it is so, what it is, what next."""
    # Where the service says nothing of it, nothing is held against it.
    switch = (me.switches or {}).get(scope.switch or "", True)
    webhooks = scope.name == "webhooks:write" and me.webhooks_enabled is False
    key = scope.sending_key and me.sending_key is False
    return (
        (not switch, f"the switch {scope.switch} is off", BY_CODE["tier_not_enabled"].advice),
        (key, "this is no sending key", "make a key in the account's guided sending setup"),
        (webhooks, "webhooks are off for the account", BY_CODE["webhooks_disabled"].advice),
    )


def _check(scope: str | None) -> str:
    return f"scope {scope}"


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
    # A variable that nobody remembers is the usual surprise.
    origins = [
        f"{name}: {'given' if origin == 'argument' else origin}"
        for name, origin in settings.origins.items()
    ]
    # Where each setting came from, and never what the key is.
    sources = Finding("settings", "ok", ", ".join(origins) or "given by the program")
    local = (sources, *machine(settings))
    try:
        where = parse(settings.base_url)
    except ConfigError as error:
        address = Finding("address", "failed", str(error), NO_ACCOUNT)
        return Diagnosis((address, _untried_finding("key", "there is no address"), *local))
    if not settings.api_key:
        return Diagnosis((_address(where), Finding("key", "failed", MISSING_KEY), *local))
    try:
        credential = Credential(settings.api_key, where)
    except ConfigError as error:
        return Diagnosis((_address(where), Finding("key", "failed", str(error)), *local))
    # Nobody else sees the first exchange, whose time the clock is compared with.
    watch = Watch(transport or HttpxTransport(where, credential), now)
    with Client(where.url, settings.api_key, transport=watch) as client:
        asked = _of_service(client, credential.shown, now, tell)
    return Diagnosis((_address(where), *asked, clock(watch.first), _rate(watch), *local))


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
        return [
            *_explain_first_failure(error, key),
            _untried_finding("scopes", "the key could not be asked about"),
        ]
    tell(Progress("key", 1, 1))
    # A day that is over.
    yesterday = now().date() - timedelta(days=1)
    scopes = permissions(client, me, yesterday=yesterday, options=OPTIONS, on_progress=tell)
    # The shape of `me` is assumed: what it lacks is left out.
    whose = me.client_name or me.client_id
    words = [f"{key} is accepted"]
    words += [f"client {whose}"] if whose else []
    words += [f"environment {me.environment}"] if me.environment else []
    return [Finding("service", "ok", "answers"), Finding("key", "ok", ", ".join(words)), *scopes]


def _explain_first_failure(error: DialframeError, key: str) -> list[Finding]:
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
    return [service, _untried_finding("key", "the service did not say")]


def _rate(watch: Watch) -> Finding:
    # The innermost bucket is the key's (contract, Limits); the others are shared with keys unknown here.
    bucket = BUCKETS[0]
    detail = (
        f"a key may send {bucket.rate_per_s:.0f} requests a second and {bucket.burst} at once; "
        f"sent now: {watch.sent}, refused with 429: {watch.slowed}"
    )
    if not watch.slowed:
        return Finding("rate limit", "ok", detail)
    advice = "others use the same key, client, account or address: run fewer at once"
    return Finding("rate limit", "warning", detail, advice)


def _untried_finding(check: str, why: str) -> Finding:
    return Finding(check, "not tried", why)
