"""Answers about the account: who the key belongs to, and its disposition counts; shapes assumed."""

from __future__ import annotations

from dialframe.contract import operations
from dialframe.contract.access import SWITCHES
from dialframe.contract.models.account import DispositionQuery
from dialframe.contract.models.shape import Empty
from dialframe.sandbox import instants
from dialframe.sandbox.exchange import Ask, Reply, answer, on


@on(operations.ME)
def me(ask: Ask[Empty]) -> Reply:
    """Client, key, scopes and switches; the sandbox calls its environment `sandbox`."""
    caller = ask.caller
    return answer(
        {
            "client_id": caller.client.client_id,
            "client_name": caller.client.name,
            "credential_id": caller.credential.credential_id,
            "environment": "sandbox",
            "scopes": sorted(caller.client.scopes),
            "sending_key": caller.credential.sending,
            "switches": {name: getattr(caller.settings, name) for name in SWITCHES},
            "webhooks_enabled": caller.settings.webhooks_enabled,
        }
    )


@on(operations.REPORTS_DISPOSITIONS)
def dispositions(ask: Ask[DispositionQuery]) -> Reply:
    """Calls by UTC day, campaign and disposition; calls without one are counted under null."""
    wanted = ask.request
    since = instants.from_day(wanted.start_date)
    until = instants.from_day(wanted.end_date) + instants.DAY_US
    campaign = () if wanted.campaign_id is None else (wanted.campaign_id,)
    rows = ask.db.execute(
        f"SELECT created_at / {instants.DAY_US} AS day, campaign_id, disposition, count(*)"
        " FROM calls WHERE client = ? AND created_at >= ? AND created_at < ?"
        f"{' AND campaign_id = ?' if campaign else ''}"
        " GROUP BY day, campaign_id, disposition ORDER BY day, campaign_id, disposition",
        (ask.client, since, until, *campaign),
    )
    return answer(
        {
            "start_date": wanted.start_date.isoformat(),
            "end_date": wanted.end_date.isoformat(),
            "data": [
                {
                    "date": instants.day_of(day * instants.DAY_US),
                    "campaign_id": campaign_id,
                    "disposition": disposition,
                    "calls": calls,
                }
                for day, campaign_id, disposition, calls in rows
            ],
        }
    )


HANDLERS = (me, dispositions)
