"""What a key may do, scope by scope: reads are tried, writes only looked up; changes nothing."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from dialframe.client import Client, Options
from dialframe.config import OnProgress, Progress
from dialframe.contract import operations as rows
from dialframe.contract.error_codes import BY_CODE
from dialframe.contract.models.call_models import (
    AppointmentQuery,
    CallbackQuery,
    CallQuery,
    CallRef,
)
from dialframe.contract.models.lead_models import CampaignQuery, LeadQuery
from dialframe.contract.models.message_models import DispositionQuery, DncCheck, Me
from dialframe.contract.models.shape import Empty, Page, Request
from dialframe.contract.models.webhook_models import WebhookQuery
from dialframe.contract.row import Operation
from dialframe.contract.scopes import SCOPES, Scope
from dialframe.errors import ApiError, DialframeError, NotFound, PermissionDenied
from dialframe.flows.machine import Finding

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


def _callbacks(known: Known) -> CallbackQuery | None:
    campaign_id = known.campaign_id
    return None if campaign_id is None else CallbackQuery(campaign_id=campaign_id, limit=1)


def _dispositions(known: Known) -> DispositionQuery:
    return DispositionQuery(start_date=known.yesterday, end_date=known.yesterday)


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
    (rows.CALLBACKS_LIST, _callbacks),
    (rows.APPOINTMENTS_LIST, lambda _: AppointmentQuery(limit=1)),
    (rows.SMS_USAGE, lambda _: Empty()),
    (rows.REPORTS_DISPOSITIONS, _dispositions),
)


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
    known = Known(yesterday)
    for done, (row, make) in enumerate(READS, start=1):
        request = make(known)
        if request is None:
            tried[row.scope] = _untried(row, me)
        else:
            answer = _ask(client, row, request, options)
            tried[row.scope] = _judged(row, answer, me)
            known = _learned(row, answer, known)
        on_progress(Progress("scopes", done, len(READS)))
    return [tried.get(scope.name) or _told(scope, me) for scope in SCOPES]


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
    records = answered.value.data if isinstance(answered.value, Page) else ()
    return _Answer(records=records, misfits=len(answered.quarantined))


def _begin(client: Client, call_id: str, options: Options) -> _Answer:
    def enough(progress: Progress) -> None:
        del progress
        raise _Enough

    with tempfile.TemporaryDirectory() as folder:
        try:
            path = Path(folder) / "recording"
            client.calls.recording(call_id, path, on_progress=enough, options=options)
        except _Enough:
            pass
    return _Answer()


def _learned(row: Row, answer: _Answer, known: Known) -> Known:
    if not answer.records:
        return known
    if row is rows.CAMPAIGNS_LIST:
        return replace(known, campaign_id=answer.records[0].id)
    return replace(known, call_id=answer.records[0].id) if row is rows.CALLS_LIST else known


def _judged(row: Row, answer: _Answer, me: Me) -> Finding:
    check, error = _check(row.scope), answer.error
    if error is None and answer.misfits:
        detail = f"{row.name} answered, and a row of it is not what the contract says"
        return Finding(
            check, "warning", detail, "compare the service's version with the contract's"
        )
    if error is None:
        return Finding(check, "ok", f"{row.name} answered")
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


def _untried(row: Row, me: Me) -> Finding:
    if me.scopes is not None and row.scope not in me.scopes:
        return _not_granted(row.scope)
    what = "campaign" if row is rows.CALLBACKS_LIST else "call"
    return Finding(_check(row.scope), "not tried", f"there is no {what} to ask about")


def _not_granted(scope: str | None) -> Finding:
    advice = BY_CODE["insufficient_scope"].advice
    return Finding(_check(scope), "warning", "not granted, says the service", advice)


def _told(scope: Scope, me: Me) -> Finding:
    """A scope that only writes, by what the service says."""
    check = _check(scope.name)
    if me.scopes is None:
        detail = "would change data, and the service does not say which scopes there are"
        return Finding(check, "not tried", detail, "ask the account's administrator")
    if scope.name not in me.scopes:
        return _not_granted(scope.name)
    if scope.name == UNAVAILABLE:
        detail = "granted, but off for every account until the operator announces it"
        return Finding(check, "not tried", detail)
    for lacking, detail, advice in _lacking(scope, me):
        if lacking:
            return Finding(check, "warning", f"granted, but {detail}", advice)
    return Finding(check, "ok", "granted, says the service; not tried (would change data)")


def _lacking(scope: Scope, me: Me) -> tuple[tuple[bool, str, str], ...]:
    """What keeps a granted scope from being used: whether it is so, what it is, what next."""
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
