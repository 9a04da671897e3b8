"""The dialer (what the service does by itself as its clock goes on), at the console and over HTTP."""

from __future__ import annotations

import contextlib
import datetime as dt
import itertools
import json
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import httpx
import phonenumbers
import pytest
from phonenumbers.timezone import time_zones_for_number

from dialframe.sandbox import start
from forked import Forked
from sandbox.service_bench import SCOPES, Json, Site, answered, eventually, moment

#: A Monday, 14:00 UTC: working hours in all of the United States but Hawaii.
MONDAY = dt.datetime(2026, 11, 23, 14, tzinfo=dt.UTC).timestamp()
WEEK_S = 7 * 86_400
#: Tables that dialing writes.
LEFT = (
    "calls", "leads", "events", "callbacks", "appointments", "dnc", "outbox", "refusals", "spent",
)  # fmt: skip
CODES = ("212", "312", "713", "206", "404", "305", "602", "617", "214", "818")


def numbers(count: int) -> list[str]:
    """Fictional numbers in ten area codes and four time zones."""
    return [f"+1{CODES[i % 10]}5550{100 + i // 10:03d}" for i in range(count)]


class Account:
    """One sandbox whose clock stands still unless it is moved; what it keeps is read from its file."""

    def __init__(
        self, folder: Path, seed: int = 3, now: Callable[[], float] = lambda: MONDAY
    ) -> None:
        self.sandbox = start(seed=seed, size="empty", data=folder, now=now)
        self.console, self.me = self.sandbox.console, self.sandbox.client_id
        self.console.update_account({"rate_limits": None})
        self._file = folder / "sandbox.sqlite"
        self._site = Site(self.sandbox.ready())
        self.api = self._site.first_client()

    def close(self) -> None:
        """End it."""
        self._site.close()
        self.sandbox.close()

    def with_agent(self, *leads: Json) -> list[str]:
        """An agent at 100 and a number to call from; the ids of leads."""
        self.console.add_agent(self.me, "100", "a@example.com")
        self.console.add_caller_id(self.me, "+12125550180")
        return self.console.add_leads(self.me, leads)

    def click(self, phone: str, **more: str) -> httpx.Response:
        """A click-to-call for that agent."""
        return self.api.post("/v1/calls", {"to": phone, "agent_extension": "100", **more})

    def dial_now(self, campaign: str, phone: str, **more: int) -> Json:
        """A lead that is to be dialed first."""
        body = {"campaign_id": campaign, "phone": phone, "dial_now": True, **more}
        return answered(self.api.post("/v1/leads", body), 200)

    def dialing(self, **dialer: object) -> Account:
        """The dialer switched on."""
        self.console.update_account({"dialer": {"enabled": True, **dialer}})
        return self

    def campaign(self, phones: Sequence[str], lead_status: str = "new", **fields: object) -> str:
        """A running campaign with these leads."""
        body = {"name": "c", "status": "running", **fields}
        campaign_id = str(self.console.create_campaign(self.me, **body)["id"])  # type: ignore[arg-type]
        lead = {"campaign_id": campaign_id, "status": lead_status}
        self.console.add_leads(self.me, [{**lead, "phone": phone} for phone in phones])
        return campaign_id

    def promise(self, campaign: str, after_s: float) -> None:
        """A callback of a campaign's lead, so many seconds from now."""
        (lead,) = self.api.walk("/v1/leads", campaign_id=campaign)
        due = dt.datetime.fromtimestamp(MONDAY + after_s, tz=dt.UTC).isoformat()
        answered(self.api.post("/v1/callbacks", {"lead_id": lead["id"], "scheduled_at": due}), 201)

    def advance(self, seconds: float) -> dict[str, int]:
        """Move the clock; what was played."""
        played = self._site.console.do("POST", "/clock", {"advance_seconds": seconds}, status=200)
        return dict(played["played"])

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """What the tables hold."""
        with contextlib.closing(sqlite3.connect(self._file)) as db:
            return list(db.execute(query))

    def history(self) -> dict[str, list[tuple[object, ...]]]:
        """Everything that dialing leaves behind, by table."""
        return {table: self.rows(f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in LEFT}

    def dialed(self) -> list[str]:
        """Numbers of the calls, the outbox saying the same."""
        called = [str(row[0]) for row in self.rows("SELECT to_number FROM calls ORDER BY 1")]
        sent = sorted(entry["to"] for entry in self.console.outbox(self.me))
        assert called == sent
        return called

    def refused(self) -> Counter[str]:
        """Codes of the refusals at dial time."""
        return Counter(entry["code"] for entry in self.console.refusals(self.me))


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Account]]:
    """Makes accounts; closes them."""
    made: list[Account] = []

    def account(**options: int) -> Account:
        made.append(Account(tmp_path / f"a{len(made)}", **options))
        return made[-1]

    yield account
    for one in made:
        one.close()


def local_times(phone: str, at: dt.datetime) -> list[dt.datetime]:
    """What the clocks show where the called party may be."""
    zones = time_zones_for_number(phonenumbers.parse(phone))
    return [at.astimezone(ZoneInfo(zone)) for zone in zones]


def instant(micros: object) -> dt.datetime:
    """A stored instant."""
    return dt.datetime.fromtimestamp(int(str(micros)) / 1e6, tz=dt.UTC)


def test_what_conversations_lead_to(make: Callable[..., Account]) -> None:
    """Requests are listed and never dialed again; callbacks are dialed when due; bookings are made."""
    account = make().dialing(answer_rate=0.6)
    account.campaign(numbers(300))
    played = account.advance(2 * WEEK_S)
    asked = dict(account.rows(
        "SELECT to_number, max(ended_at) FROM calls WHERE disposition = 'DNC' GROUP BY 1"
    ))  # fmt: skip
    listed = {phone for (phone,) in account.rows("SELECT phone FROM dnc")}
    assert listed == set(asked)
    assert played["dnc_requests"] == len(listed) > 2
    for phone, ended_at in asked.items():
        later = account.rows(
            f"SELECT 1 FROM calls WHERE to_number = '{phone}' AND created_at > {ended_at}"
        )
        assert later == []
    kept = [entry for entry in account.console.outbox(account.me) if entry["kind"] == "callback"]
    ((completed,),) = account.rows("SELECT count(*) FROM callbacks WHERE status = 'completed'")
    assert len(kept) == completed > 5
    due = dict(account.rows("SELECT id, scheduled_at FROM callbacks"))
    assert all(instant(due[entry["id"]]) <= moment(entry["at"]) for entry in kept)
    ((booked,),) = account.rows("SELECT count(*) FROM appointments")
    ((emitted,),) = account.rows("SELECT count(*) FROM events WHERE type = 'appointment.booked'")
    assert booked == emitted == played["appointments"] > 5


def test_nobody_is_dialed_out_of_hours(make: Callable[..., Account]) -> None:
    """Campaigns keep to the account's hours, wherever the called party may be."""
    account = make().dialing()
    account.console.update_account({"calling_hours": {"start": "10:00", "end": "17:30"}})
    account.campaign(numbers(60))
    account.advance(WEEK_S)
    rows = account.rows("SELECT to_number, created_at FROM calls")
    assert len(rows) > 100
    for phone, created_at in rows:
        for local in local_times(str(phone), instant(created_at)):
            assert "10:00" <= f"{local:%H:%M}" < "17:30"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"sending_suspended": True}, "sending_suspended"),
        ({"outbound_approved": False}, "outbound_not_approved"),
        ({"balance": 0}, "insufficient_balance"),
        ({"daily_cap": 0}, "daily_cap_reached"),
        ({"spend_cap": 0}, "spend_cap_reached"),
        ({"per_minute_cap": 0}, "rate_limit_exceeded"),
        ({"registry_stale": True, "block_stale_registry": True}, "registry_stale_blocked"),
        ({"tier2_campaign_resume_enabled": False}, "tier_not_enabled"),
        ({"api_access_enabled": False}, "api_access_disabled"),
        ({"dnc_screen_available": False}, "dnc_screen_unavailable"),
        ({"blocked_countries": ["US"]}, "blocked_country"),
        ({"sanctioned_countries": ["US"]}, "blocked_country"),
        ({"consent_required": True}, "dial_refused"),
        ({"client": {"enabled": False}}, "api_access_disabled"),
        ({"client": {"scopes": [name for name in SCOPES if name != "campaigns:resume"]}},
         "insufficient_scope"),
    ],
)  # fmt: skip
def test_a_refused_campaign_dials_nobody(
    make: Callable[..., Account], change: Json, code: str
) -> None:
    """Each check is made at dial time; the refusal is kept, and goes away with its reason."""
    account = make().dialing()
    account.campaign(numbers(5))
    before = {**account.console.account(), "client": {"enabled": True, "scopes": SCOPES}}

    def update(settings: Json) -> None:
        if "client" in settings:
            account.console.update_client(account.me, **settings["client"])
        else:
            account.console.update_account(settings)

    update(change)
    account.advance(86_400)
    assert account.dialed() == []
    assert set(account.refused()) == {code}
    update({name: before[name] for name in change})
    account.advance(2 * 86_400)
    assert account.dialed()


def test_a_callback_that_had_to_wait_keeps_to_the_hours(make: Callable[..., Account]) -> None:
    """Refused at its time in the evening, it is not tried at night, but when the hours open."""
    account = make().dialing()
    phone = numbers(1)[0]
    account.promise(account.campaign([phone], lead_status="completed"), 11 * 3_600)
    account.console.update_account({"balance": 0})
    account.advance(15 * 3_600)
    account.console.update_account({"balance": 10})
    account.advance(86_400)
    ((called_at,),) = account.rows("SELECT created_at FROM calls")
    for local in local_times(phone, instant(called_at)):
        assert 8 <= local.hour < 21


def test_hours_that_never_open_hold_nobody_for_ever(make: Callable[..., Account]) -> None:
    """Leads and callbacks are dialed within a day of the hours being set right."""
    account = make().dialing(answer_rate=0)
    before = account.console.account()
    first, second = numbers(2)
    account.campaign([first])
    account.promise(account.campaign([second], status="paused"), 3_600)
    account.console.update_account({"calling_hours": {"start": "00:00", "end": "00:00"}})
    account.advance(4 * 3_600)
    assert account.dialed() == []
    assert set(account.refused()) == {"dial_refused"}
    account.console.update_account({"calling_hours": before["calling_hours"]})
    account.advance(86_400)
    assert set(account.dialed()) == {first, second}


@pytest.mark.parametrize("share", [0, 1])
def test_calls_of_an_ai_agent_have_their_event(make: Callable[..., Account], share: int) -> None:
    """Each answered call or none of them, with every field that the contract names."""
    account = make().dialing(ai_share=share, answer_rate=1, max_attempts=1)
    account.console.add_agent(account.me, "100", "a@example.com")
    account.campaign(numbers(30))
    account.advance(86_400)
    ai_events = account.rows("SELECT data FROM events WHERE type = 'ai_call.completed'")
    assert len(ai_events) == 30 * share
    for (text,) in ai_events:
        data = json.loads(str(text))
        assert set(data) == {
            "call_id", "direction", "from", "to", "ai_agent", "started_at", "answered_at",
            "ended_at", "duration_seconds", "outcome", "disposition_code", "sentiment",
            "requires_human_review", "summary",
        }  # fmt: skip
        assert data["outcome"]
        assert data["disposition_code"]
        assert isinstance(data["requires_human_review"], bool)
    agents = account.rows("SELECT count(agent_extension) FROM calls")
    assert agents == [(30 - len(ai_events),)]


def test_a_number_listed_since_its_import_is_not_dialed(make: Callable[..., Account]) -> None:
    """Its lead ends as `dnc`; the others are dialed."""
    account = make().dialing()
    phones = numbers(6)
    # A number is listed however its lead spells it.
    account.campaign([f"{phones[0][:2]} {phones[0][2:5]}-{phones[0][5:]}", *phones[1:]])
    account.console.add_dnc(account.me, phones[:2])
    account.advance(86_400)
    assert set(account.dialed()) == set(phones[2:])
    assert account.refused() == Counter({"on_dnc": 2})
    listed = account.rows("SELECT phone FROM leads WHERE status = 'dnc' ORDER BY phone")
    assert len([phone for (phone,) in listed if phone not in phones[2:]]) == 2


def test_what_is_no_number_is_not_dialed(make: Callable[..., Account]) -> None:
    """Also where no hours are kept: nobody can tell whom it would reach, or in which country."""
    account = make().dialing(hours=None)
    account.console.update_account({"calling_hours": None, "blocked_countries": ["GB"]})
    account.campaign(["abc", "+999123456789", *numbers(1)])
    account.advance(600)
    assert account.dialed() == numbers(1)
    assert account.refused() == Counter({"dial_refused": 2})


def test_caps_hold_for_the_dialer(make: Callable[..., Account]) -> None:
    """A daily cap of seven: seven calls of each UTC day."""
    account = make().dialing()
    account.console.update_account({"daily_cap": 7})
    account.campaign(numbers(100))
    account.advance(3 * 86_400)
    days = Counter(instant(at).date() for (at,) in account.rows("SELECT created_at FROM calls"))
    assert set(days.values()) == {7}
    assert len(days) >= 3


def test_pace_mode_and_attempts_are_kept(make: Callable[..., Account]) -> None:
    """Calls in a minute, a preview campaign's share of them, and attempts on a lead."""
    account = make().dialing(calls_per_minute=10, max_attempts=2, answer_rate=0)
    fast = account.campaign(numbers(60))
    slow = account.campaign(numbers(60), dialer_mode="preview", max_attempts=1)
    account.advance(2 * 86_400)
    minutes: Counter[tuple[object, int]] = Counter()
    for campaign, at in account.rows("SELECT campaign_id, created_at FROM calls"):
        minutes[campaign, int(str(at)) // 60_000_000] += 1
        minutes["all", int(str(at)) // 60_000_000] += 1
    assert max(count for (who, _), count in minutes.items() if who == "all") <= 10
    assert max(count for (who, _), count in minutes.items() if who == slow) <= 2
    most = dict(account.rows("SELECT campaign_id, max(attempts) FROM leads GROUP BY 1"))
    assert most == {fast: 2, slow: 1}


def test_a_dialer_switched_off_in_the_middle_of_a_minute_dials_nobody(
    make: Callable[..., Account],
) -> None:
    """Calls, outbox and attempts stand still at once; switched on again, the same leads are dialed."""
    account = make().dialing(max_attempts=1)
    account.campaign(numbers(60))
    account.advance(20)
    before = account.dialed()
    assert 10 < len(before) < 40
    account.console.update_account({"dialer": {"enabled": False}})
    account.advance(WEEK_S)
    callbacks = len(account.rows("SELECT 1 FROM callbacks WHERE status = 'completed'"))
    assert len(account.dialed()) == len(before) + callbacks
    account.dialing(max_attempts=1)
    account.advance(86_400)
    assert set(account.dialed()) == set(numbers(60))


def test_campaigns_without_leads_take_no_part_of_the_pace(make: Callable[..., Account]) -> None:
    """The whole pace of the account goes to the one campaign that has somebody to call."""
    account = make().dialing(calls_per_minute=6)
    account.campaign([])
    account.campaign([])
    busy = account.campaign(numbers(100))
    account.campaign([], dialer_mode="preview")
    account.advance(599)
    placed = account.rows("SELECT campaign_id FROM calls")
    assert placed == [(busy,)] * 60


def test_attempts_on_a_lead_keep_their_distance(make: Callable[..., Account]) -> None:
    """Never sooner than the campaign's gap; three to a number in 24 hours, whatever leads have it."""
    account = make().dialing(max_attempts=30, answer_rate=0)
    account.campaign(numbers(20), retry_gap_minutes=90)
    account.campaign(numbers(30)[20:], retry_gap_minutes=180)
    account.campaign(numbers(30)[20:], retry_gap_minutes=180)
    account.advance(WEEK_S)
    for who, apart, least in (("lead_id", 1, 90), ("to_number", 3, 24 * 60)):
        at: dict[object, list[dt.datetime]] = {}
        for name, created_at in account.rows(f"SELECT {who}, created_at FROM calls ORDER BY 2"):
            at.setdefault(name, []).append(instant(created_at))
        assert max(map(len, at.values())) > 9
        for times in at.values():
            for earlier, later in zip(times, times[apart:], strict=False):
                assert later - earlier >= dt.timedelta(minutes=least)


def test_answer_rate_is_kept(make: Callable[..., Account]) -> None:
    """All answered by people, or nobody at all."""
    for rate, people in ((1, 40), (0, 0)):
        account = make().dialing(answer_rate=rate, max_attempts=1)
        account.campaign(numbers(40))
        account.advance(86_400)
        ((count,),) = account.rows("SELECT count(answered_at) FROM calls")
        assert count == people


@pytest.mark.parametrize("rate", [0.4, None])
def test_an_arm_is_answered_as_often_as_it_is_told_to(
    make: Callable[..., Account], rate: float | None
) -> None:
    """The custom field `arm` of a lead says which; leads without one are answered as ever."""
    account = make().dialing(answer_rate=rate, max_attempts=1, arms={"none": 0, "twice": 2})
    campaign = account.campaign(numbers(0))
    leads = [{"campaign_id": campaign, "status": "new", "phone": phone,
              "custom_fields": {"arm": ("none", "twice", "other")[i % 3]}}
             for i, phone in enumerate(numbers(240))]  # fmt: skip
    account.console.add_leads(account.me, leads)
    account.advance(2 * 86_400)
    people = dict(account.rows(
        "SELECT json_extract(l.custom_fields, '$.arm'), count(*) FILTER (WHERE c.answered_at IS NOT NULL AND "
        "c.disposition IN ('NI', 'NP', 'CALLBK', 'APPT', 'SALE', 'DNC', 'WN', 'HUP', 'LB')) "
        "FROM calls c JOIN leads l ON l.phone = c.to_number GROUP BY 1"
    ))  # fmt: skip
    assert people["none"] == 0
    assert people["twice"] > 1.4 * people["other"] > 0


def test_pause_ends_dialing(make: Callable[..., Account]) -> None:
    """A paused campaign dials nobody, and takes nobody's place in the minute."""
    account = make().dialing()
    campaign = account.campaign(numbers(100))
    assert account.advance(90)["calls"] > 0
    answered(account.api.post(f"/v1/campaigns/{campaign}/pause"), 200)
    assert account.advance(86_400)["calls"] == 0
    answered(account.api.post(f"/v1/campaigns/{campaign}/resume"), 200)
    assert account.advance(86_400)["calls"] > 90


def test_same_seed_requests_and_clock_give_the_same_calls(make: Callable[..., Account]) -> None:
    """Id for id, and whatever the steps in which the clock is moved."""
    first, second = make(seed=5).dialing(), make(seed=5).dialing()
    other = make(seed=6).dialing()
    for account in (first, second, other):
        account.campaign(numbers(40))
        account.campaign(numbers(40), dialer_mode="progressive")
    first.advance(3 * 86_400)
    for _ in range(18):
        second.advance(4 * 3_600 - 7)
    second.advance(18 * 7)
    other.advance(3 * 86_400)
    assert len(first.history()["calls"]) > 100
    assert first.history() == second.history()
    ids, others = (set(each.rows("SELECT id FROM calls")) for each in (first, other))
    assert ids.isdisjoint(others)


def dial_for_a_day(folder: str) -> None:
    """Play a day in short steps, from wherever the folder's clock stands, for a kill to cut short."""
    with start(seed=5, size="empty", data=folder, now=lambda: MONDAY) as sandbox:
        # Asked before each step: a kill behind the last one leaves nothing to play.
        while moment(sandbox.console.advance_clock(0)).timestamp() < MONDAY + 86_400:
            sandbox.console.advance_clock(900)


def test_kills_change_nothing(tmp_path: Path) -> None:
    """A day of calls through kills is that of an account that nobody killed; `DIALFRAME_DIAL_KILLS=50` for more."""
    wanted = int(os.environ.get("DIALFRAME_DIAL_KILLS", "4"))
    runs = []
    draw = random.Random(1)
    for name, kills in (("whole", 0), ("killed", wanted)):
        account = Account(tmp_path / name, seed=5).dialing()
        account.campaign(numbers(60))
        account.close()
        died = 0
        for turn in itertools.count():
            process = Forked(dial_for_a_day, str(tmp_path / name))
            if turn < kills:
                time.sleep(draw.uniform(0.02, 0.3))
                process.signal(signal.SIGKILL)
            status, _ = process.end()
            died += status == -signal.SIGKILL
            if status == 0:
                break
        account = Account(tmp_path / name, seed=5)
        runs.append(account.history())
        account.close()
    assert died >= wanted / 2
    assert len(runs[0]["calls"]) > 60
    assert runs[0] == runs[1]


def test_a_call_moves_through_its_states(make: Callable[..., Account]) -> None:
    """Dialing, ringing, in progress, completed; the disposition comes after the end."""
    account = make().dialing(answer_rate=1)
    account.campaign(numbers(1))
    seen: list[object] = []
    for step in range(1_000):
        account.advance(0.5 if step < 6 else 3)
        row = account.rows("SELECT status, disposition IS NOT NULL FROM calls")
        if row and row[0] not in seen:
            seen.append(row[0])
        if row and row[0][1]:
            break
    assert seen == [("dialing", 0), ("ringing", 0), ("in_progress", 0), ("completed", 0),
                    ("completed", 1)]  # fmt: skip


def test_histories_stand_still_unless_asked() -> None:
    """A synthetic account dials nobody in a week; once it is switched on, it does."""
    with start(size="tiny", seed=3) as sandbox:
        console, me = sandbox.console, sandbox.client_id
        assert console.account()["dialer"]["enabled"] is False
        console.advance_clock(WEEK_S)
        assert console.outbox(me) == []
        console.update_account({"dialer": {"enabled": True}})
        console.advance_clock(3 * 86_400)
        assert len(console.outbox(me)) > 20
    with start(size="tiny", seed=3, dial=True) as sandbox:
        assert sandbox.console.account()["dialer"]["enabled"] is True


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, None),
        ({"calling_hours": {"start": "00:00", "end": "00:00"}}, "dial_refused"),
        ({"blocked_countries": ["US"]}, "blocked_country"),
        ({"balance": 0}, "insufficient_balance"),
        ({"daily_cap": 0}, "daily_cap_reached"),
        ({"consent_required": True}, "dial_refused"),
    ],
)
def test_dial_now_is_checked_at_dial_time(
    make: Callable[..., Account], change: Json, code: str | None
) -> None:
    """It is a call record and an entry of the outbox, or a refusal and neither of them."""
    account = make()
    campaign = account.campaign([])
    account.console.update_account(change)
    answer = account.dial_now(campaign, numbers(1)[0])
    assert answer["dial_now"]["status"] == "queued"
    lead = answered(account.api.get(f"/v1/leads/{answer['lead_id']}"), 200)
    assert lead["attempts"] == (code is None)
    assert account.dialed() == [lead["phone"]] * (code is None)
    refusals = account.console.refusals(account.me)
    refused = [(refusal["kind"], refusal["to"], refusal["code"]) for refusal in refusals]
    assert refused == [("call", lead["phone"], code)] * (code is not None)


@pytest.mark.parametrize(("window_s", "dialed"), [(300, 1), (60, 0)])
def test_dial_now_lasts_as_long_as_its_window(
    make: Callable[..., Account], window_s: int, dialed: int
) -> None:
    """A reason that goes away within the window: one call and one refusal; after it: no call."""
    account = make()
    campaign = account.campaign([])
    account.console.update_account({"balance": 0})
    answer = account.dial_now(campaign, numbers(1)[0], dial_within_seconds=window_s)
    assert answer["dial_now"]["expires_at"] is not None
    account.advance(90)
    assert account.dialed() == []
    account.console.update_account({"balance": 10})
    account.advance(3_600)
    assert len(account.dialed()) == dialed
    assert account.refused() == Counter({"insufficient_balance": 1})


def test_texts_are_delivered_or_not(make: Callable[..., Account]) -> None:
    """Queued, then sent, then delivered, undelivered or failed; what did not arrive says why."""
    account = make()
    for phone in numbers(80):
        body = {"to": phone, "body": "x", "client_reference": phone}
        assert answered(account.api.post("/v1/sms", body), 202)["status"] == "queued"
    for seconds, statuses in (
        (0, {"queued"}),
        (10, {"sent"}),
        (60, {"delivered", "undelivered", "failed"}),
    ):
        account.advance(seconds)
        reports = account.api.walk("/v1/sms/delivery-reports", limit=100)
        assert {report["status"] for report in reports} == statuses
    for report in reports:
        assert (report["error_code"] is None) == (report["status"] == "delivered")


def test_click_to_call_is_an_attempt_on_its_lead(make: Callable[..., Account]) -> None:
    """With a record, a disposition and an agent who is free again."""
    account = make().dialing(answer_rate=1)
    campaign = account.campaign([], status="draft")
    (lead,) = account.with_agent({"campaign_id": campaign, "phone": numbers(1)[0]})
    started = answered(account.click(numbers(1)[0], lead_id=lead), 201)
    account.advance(3 * 86_400)
    call = answered(account.api.get(f"/v1/calls/{started['call_id']}"), 200)
    assert call["status"] == "completed"
    assert call["answered_at"] < call["ended_at"]
    assert answered(account.api.get(f"/v1/leads/{lead}"), 200)["attempts"] >= 1
    assert answered(account.api.get(f"/v1/calls/{call['id']}/transcript"), 200)["segments"]
    history = account.api.walk(f"/v1/leads/{lead}/history")
    assert call["id"] in [entry["call_id"] for entry in history]
    answered(account.click(numbers(2)[1]), 201)


def test_a_lead_marked_do_not_call_is_not_called(make: Callable[..., Account]) -> None:
    """Neither by a click nor by a callback that was asked for, though its number is on no list."""
    account = make().dialing(hours=None)
    campaign = account.campaign([], status="paused")
    lead = {"campaign_id": campaign, "phone": numbers(1)[0], "status": "dnc"}
    (lead_id,) = account.with_agent(lead)
    assert account.click(numbers(1)[0], lead_id=lead_id).json()["code"] == "on_dnc"
    due_at = (moment(account.console.advance_clock(0)) + dt.timedelta(minutes=5)).isoformat()
    body = {"lead_id": lead_id, "scheduled_at": due_at}
    answered(account.api.post("/v1/callbacks", body), 201)
    account.advance(86_400)
    assert account.dialed() == []
    refused = [(one["kind"], one["code"]) for one in account.console.refusals(account.me)]
    assert refused == [("callback", "on_dnc")]


def test_real_time_drives_it_too(tmp_path: Path) -> None:
    """Without an advance, leads are dialed at once, one after another."""
    account = Account(tmp_path / "own", now=time.time)
    with contextlib.closing(account):
        account.dialing(hours=None, calls_per_minute=600)
        account.campaign(numbers(5))
        eventually(lambda: len(account.console.outbox(account.me)) == 5, 20)
        dialed_at = [moment(entry["at"]) for entry in account.console.outbox(account.me)]
        assert max(dialed_at) - min(dialed_at) >= dt.timedelta(seconds=0.39)


def test_an_advance_says_what_it_played(make: Callable[..., Account]) -> None:
    """`now` and `played`, over HTTP."""
    answer = make().api.service.console.do("POST", "/clock", {"advance_seconds": 60}, status=200)
    assert set(answer) == {"now", "played"}
    assert {"calls", "events"} <= set(answer["played"])
    assert set(answer["played"].values()) == {0}


def test_nobody_gets_two_calls_at_once(make: Callable[..., Account]) -> None:
    """A callback that is due while its lead is on the line waits until the call has ended."""
    account = make().dialing(answer_rate=0.7, retry_gap_minutes=0)
    account.campaign(numbers(80))
    account.advance(2 * WEEK_S)
    ended: dict[object, int] = {}
    rows = account.rows("SELECT lead_id, created_at, ended_at FROM calls ORDER BY created_at")
    for lead_id, created_at, ended_at in rows:
        assert int(str(created_at)) > ended.get(lead_id, 0)
        ended[lead_id] = int(str(ended_at or 2**62))
    assert len(rows) > 150


def test_a_number_of_two_campaigns_rings_once_at_a_time(make: Callable[..., Account]) -> None:
    """Whatever leads it has: the next call to it waits until the one before has ended."""
    account = make().dialing(answer_rate=1, hours=None)
    account.with_agent()
    answered(account.click(numbers(2)[1]), 201)
    phones = numbers(20)
    for _ in range(2):
        account.campaign(phones)
    third = account.campaign([])
    account.advance(40)
    account.dial_now(third, phones[0])
    account.advance(7_200)
    rows = account.rows("SELECT to_number, created_at, ended_at FROM calls ORDER BY 1, 2")
    calls = {phone: list(own) for phone, own in itertools.groupby(rows, lambda row: row[0])}
    assert len(rows) > 30
    assert len(calls[phones[0]]) > 1
    for own in calls.values():
        for (_, _, ended_at), (_, created_at, _) in itertools.pairwise(own):
            assert ended_at is not None
            assert int(str(created_at)) >= int(str(ended_at))


def test_a_cancelled_callback_leaves_its_lead_alone(make: Callable[..., Account]) -> None:
    """The promise that a call led to is moved and cancelled like any other; nobody rings then."""
    account = make().dialing(answer_rate=1, hours=None)
    campaign, api = account.campaign(numbers(60)), account.api
    account.advance(3 * 3_600)
    promised = api.walk("/v1/callbacks", campaign_id=campaign, status="pending")
    assert len(promised) > 2
    for callback in promised:
        path = f"/v1/leads/{callback['lead_id']}"
        assert answered(api.get(path), 200)["status"] == "callback"
        answered(api.post(f"/v1/callbacks/{callback['id']}/cancel"), 200)
        lead = answered(api.get(path), 200)
        assert (lead["next_attempt_at"], lead["attempts"]) == (None, 1)
    account.advance(10 * 86_400)
    called = [entry["lead_id"] for entry in account.console.outbox(account.me)]
    assert {called.count(callback["lead_id"]) for callback in promised} == {1}
