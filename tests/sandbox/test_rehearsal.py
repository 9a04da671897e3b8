"""A list imported, its campaigns resumed, seven days on: everything balances, and nobody is dialed who must not be.

`DIALFRAME_REHEARSALS=10` and `DIALFRAME_REHEARSAL_LEADS=3000` make it ten accounts of 3,000 leads.
"""

from __future__ import annotations

import datetime as dt
import os
from collections import Counter
from zoneinfo import ZoneInfo

import phonenumbers
import pytest
from phonenumbers.timezone import time_zones_for_number

from dialframe.sandbox import Sandbox, start
from sandbox.service_bench import Json, Party, Site, answered

SEEDS = int(os.environ.get("DIALFRAME_REHEARSALS", "1"))
LEADS = int(os.environ.get("DIALFRAME_REHEARSAL_LEADS", "200"))
CODES = ("212", "312", "415", "206", "305", "512", "617", "702", "801", "913", "919", "952")
DAY_S = 86_400
#: Statuses of a call that is over (contract, States).
ENDED = {"completed", "no_answer", "busy", "failed"}

#: Leads of every batch that are no good, by their place in it.
ODD: dict[int, Json] = {
    1: {"phone": "12345"},
    2: {"phone": "+33142278186"},
    3: {"full_name": "nobody"},
    7: {"phone": "+80012345678"},
}


def number(place: int) -> str:
    """One number in ten in London, the others in four time zones of the United States."""
    if place % 10 == 0:
        return f"+442079{460000 + place:06d}"
    return f"+1{CODES[place % 12]}{200 + place * 7 % 700}{1000 + place:04d}"


def imported(sandbox: Sandbox, api: Party, campaigns: list[str]) -> Counter[str]:
    """The list, in batches of 200 over the campaigns; the outcomes of its leads."""
    outcomes: Counter[str] = Counter()
    for batch, first in enumerate(range(0, LEADS, 200)):
        rows = [{"phone": number(first + place)} for place in range(200)]
        rows[4] = dict(rows[6])
        for place, row in ODD.items():
            rows[place] = row
        sandbox.console.add_dnc(sandbox.client_id, [rows[5]["phone"]])
        answer = answered(
            api.post(
                "/v1/leads/import",
                {"leads": rows},
                params={"campaign_id": campaigns[batch % len(campaigns)]},
            ),
            200,
        )
        outcomes.update(result["reason"] or result["status"] for result in answer["data"])
    return outcomes


def local_hours(entry: Json) -> list[str]:
    """What the clocks showed where the called party may be."""
    sent_at = dt.datetime.fromisoformat(entry["at"])
    zones = time_zones_for_number(phonenumbers.parse(entry["to"]))
    return [f"{sent_at.astimezone(ZoneInfo(zone)):%H:%M}" for zone in zones]


@pytest.mark.parametrize("seed", range(1, SEEDS + 1))
def test_a_disturbed_week_balances(seed: int) -> None:
    """Numbers listed, a country blocked, sending stopped, the balance gone: each holds from then on."""
    with start(size="empty", seed=seed) as sandbox, Site(sandbox.ready()) as site:
        console, me, api = sandbox.console, sandbox.client_id, site.first_client()
        site.http.timeout = 600
        console.update_account(
            {"rate_limits": None, "balance": 100_000, "sanctioned_countries": ["FR"]}
        )
        campaigns = [
            str(console.create_campaign(me, mode, status="paused", dialer_mode=mode)["id"])
            for mode in ("predictive", "progressive", "preview")
        ]
        outcomes = imported(sandbox, api, campaigns)
        assert set(outcomes) == {
            "accepted", "on_dnc", "blocked_country", "invalid_phone", "missing_phone",
            "duplicate_in_request", "unrecognised",
        }  # fmt: skip
        console.update_account({"dialer": {"enabled": True}})
        for campaign in campaigns:
            answered(api.post(f"/v1/campaigns/{campaign}/resume", {}), 200)

        def after(setting: Json, days: int = 1) -> list[Json]:
            """The outbox as a setting finds it; then days go by."""
            console.update_account(setting)
            before = console.outbox(me)
            console.advance_clock(days * DAY_S)
            return before

        after({})
        listed = [number(place) for place in range(8, LEADS, 45)]
        console.add_dnc(me, listed)
        as_listed = after({})
        as_blocked = after({"blocked_countries": ["GB"]})
        as_stopped = after({"sending_suspended": True})
        console.update_account({"balance": 0})
        as_empty = after({"sending_suspended": False})
        as_filled = after({"balance": 100_000}, days=2)
        # Time goes on while the lists are read: nothing may be dialed in between, and no promised
        # callback, which is kept with the dialer off too, may be going on.
        console.update_account({"dialer": {"enabled": False}})
        for _ in range(12):
            console.advance_clock(7200)
            calls = {call["id"]: call for call in api.walk("/v1/calls", limit=100)}
            if {call["status"] for call in calls.values()} <= ENDED:
                break
        outbox = console.outbox(me)

        assert len(as_stopped) == len(as_empty) == len(as_filled) < len(outbox)
        assert len(as_listed) > 0
        assert not set(listed) & {entry["to"] for entry in outbox[len(as_listed) :]}
        assert not [one for one in outbox[len(as_blocked) :] if one["to"].startswith("+44")]
        assert all("08:00" <= hour < "21:00" for one in outbox for hour in local_hours(one))
        assert {"on_dnc", "blocked_country", "sending_suspended", "insufficient_balance"} <= {
            refusal["code"] for refusal in console.refusals(me)
        }

        leads = api.walk("/v1/leads", limit=100)
        with sandbox._world.database.read() as db:
            events = list(
                db.execute(
                    "SELECT type, data ->> 'call_id', data ->> 'disposition_code' FROM events"
                )
            )
    assert sorted(entry["call_id"] for entry in outbox) == sorted(calls)
    assert len(leads) == outcomes["accepted"]
    assert +Counter({lead["phone"]: lead["attempts"] for lead in leads}) == Counter(
        call["to_number"] for call in calls.values()
    )
    assert {call["status"] for call in calls.values()} <= ENDED
    completed = [call_id for kind, call_id, _ in events if kind == "call.completed"]
    assert sorted(completed) == sorted(calls)
    by_ai = {call_id for kind, call_id, _ in events if kind == "ai_call.completed"}
    answered_calls = {call_id for call_id, call in calls.items() if call["answered_at"]}
    assert by_ai <= answered_calls
    assert 0 < len(by_ai) < len(answered_calls) / 4
    logged = {call_id: code for kind, call_id, code in events if kind == "disposition.logged"}
    assert logged
    assert all(calls[call_id]["disposition"] == code for call_id, code in logged.items())
