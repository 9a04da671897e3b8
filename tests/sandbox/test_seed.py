"""The synthetic account: the same every time, and consistent in itself."""

from __future__ import annotations

import datetime as dt
import functools
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from dialframe.contract.models.base_models import PREFIXES
from dialframe.errors import ConfigError
from dialframe.sandbox.seed import REGISTRY_BLOCKS, SIZES, SyntheticAccount, generate
from dialframe.sandbox.seed.people_and_calendar import ONE_ZONE, SEVERAL_ZONES

AS_OF = dt.date(2026, 11, 21)
END = int(dt.datetime(2026, 11, 21, tzinfo=dt.UTC).timestamp()) * 1_000_000
DAY = 86_400_000_000
FINAL = {"ADC", "WN", "NI", "NQ", "XFER", "APPT", "SALE", "DNC", "LB"}
SCRIPTED = {"dnc_request_not_listed"}

Row = dict[str, Any]


@functools.cache
def account(size: str = "small", seed: int = 7) -> SyntheticAccount:
    """An account, made once."""
    return generate(seed=seed, size=size, as_of=AS_OF)


def rows(table: str, size: str = "small") -> list[Row]:
    """A table as dictionaries."""
    made = account(size).tables[table]
    return [dict(zip(made.columns, row, strict=True)) for row in made.rows]


def everything(made: SyntheticAccount) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    return {name: list(table.rows) for name, table in made.tables.items()}


def calls_of_leads() -> dict[str, list[Row]]:
    """Outbound calls that name a lead, oldest first."""
    found = defaultdict(list)
    for call in rows("calls"):
        if call["direction"] == "outbound" and call["lead_id"]:
            found[call["lead_id"]].append(call)
    return found


def test_the_same_seed_gives_the_same_account() -> None:
    """Two accounts of one seed, size and day are equal in every value."""
    assert everything(account()) == everything(generate(seed=7, size="small", as_of=AS_OF))


def test_another_process_gives_the_same_account() -> None:
    """The account does not depend on the process: hash seeds change nothing."""
    code = (
        "import datetime as d, hashlib;from dialframe.sandbox.seed import generate;"
        "a=generate(seed=7,size='tiny',as_of=d.date(2026,11,21));"
        "t={n:list(x.rows) for n,x in a.tables.items()};"
        "print(hashlib.sha256(repr(t).encode()).hexdigest())"
    )
    here: list[str] = []
    exec(code, {"print": here.append})  # noqa: S102 - the same lines as there
    # Hashes are random here unless somebody said how, and differ from those of any seed.
    path = ":".join(path for path in sys.path if path)
    there = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": path},
    )  # fmt: skip
    assert there.stdout.split() == here


def test_another_seed_gives_another_account() -> None:
    """Seeds differ in ids, numbers and calls."""
    other = generate(seed=8, size="small", as_of=AS_OF)
    mine, theirs = everything(account()), everything(other)
    for table in ("leads", "calls", "callbacks", "appointments", "ground_truth"):
        assert mine[table] != theirs[table]
    assert not {row[0] for row in mine["calls"]} & {row[0] for row in theirs["calls"]}


def test_the_sizes_are_exact() -> None:
    """Leads and calls are as many as the size says."""
    for size in ("tiny", "small", "medium"):
        made = account(size)
        assert len(made.tables["leads"]) == SIZES[size].leads
        assert len(made.tables["calls"]) == SIZES[size].calls
    assert (SIZES["small"].leads, SIZES["small"].calls) == (3_000, 10_000)
    assert (SIZES["large"].leads, SIZES["large"].calls) == (300_000, 1_000_000)


@pytest.mark.parametrize("seed", range(25))
def test_every_seed_makes_a_tiny_account(seed: int) -> None:
    """No seed is unlucky: sizes are exact and every fault has its row."""
    made = generate(seed=seed, size="tiny", as_of=AS_OF)
    faults = {row[0] for row in made.tables["ground_truth"].rows}
    assert len(made.tables["calls"]) == 1_000
    assert faults == {row["fault"] for row in rows("ground_truth")}


def test_empty_has_the_tables_without_rows() -> None:
    """An empty account has the same tables and columns, and nothing in them."""
    empty = generate(seed=7, size="empty", as_of=AS_OF)
    shape = {name: table.columns for name, table in account().tables.items()}
    assert {name: table.columns for name, table in empty.tables.items()} == shape
    assert not any(everything(empty).values())


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"seed": 7, "size": "huge", "as_of": AS_OF}, "unknown size 'huge'"),
        ({"seed": -1, "size": "tiny", "as_of": AS_OF}, "give 0 or more"),
        ({"seed": 7, "size": "tiny", "as_of": dt.date(1969, 7, 20)}, "from 2000 on"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], match: str) -> None:
    """A size, seed or day that cannot be is one clear sentence."""
    with pytest.raises(ConfigError, match=match):
        generate(**arguments)


def test_ids_have_the_prefixes_of_the_contract() -> None:
    """Every id is a lower-case UUID behind its resource's prefix, and unique."""
    tables = {
        "campaigns": "cmp_",
        "leads": "lead_",
        "calls": "call_",
        "callbacks": "cb_",
        "appointments": "appt_",
        "events": "evt_",
    }
    for table, prefix in tables.items():
        ids = [row["id"] for row in rows(table)]
        assert len(ids) == len(set(ids)) > 0
        assert all(
            re.fullmatch(prefix + r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", id_) for id_ in ids
        )
    assert set(tables.values()) <= set(PREFIXES.values())


def test_nothing_happens_after_the_end() -> None:
    """Every instant but the promised ones is before the first instant of the as-of day."""
    promised = {"scheduled_at", "next_attempt_at"}
    for table in ("campaigns", "leads", "calls", "callbacks", "appointments", "dnc", "events"):
        for row in rows(table):
            for column, value in row.items():
                if column.endswith("_at") and column not in promised and value is not None:
                    assert isinstance(value, int)
                    assert 0 < value < END, (table, column)


def test_history_is_about_six_months() -> None:
    """The calls of a small account cover 182 days up to the end, those of a tiny one 91."""
    for size, days in (("small", 182), ("tiny", 91)):
        times = [call["created_at"] for call in rows("calls", size)]
        assert END - days * DAY <= min(times) < END - (days - 6) * DAY
        assert max(times) > END - 3 * DAY


def test_every_campaign_state_is_there() -> None:
    """Six campaigns in the five states; at least three have calls, draft and ready have none."""
    campaigns = rows("campaigns")
    dialed = Counter(call["campaign_id"] for call in rows("calls"))
    by_state = {campaign["status"]: campaign for campaign in campaigns}
    assert len(campaigns) == 6
    assert set(by_state) == {"draft", "ready", "running", "paused", "completed"}
    assert sum(dialed[campaign["id"]] > 0 for campaign in campaigns) >= 3
    assert dialed[by_state["draft"]["id"]] == dialed[by_state["ready"]["id"]] == 0


def test_campaign_times_fit_their_state() -> None:
    """Started means dialed, completed alone has a completion, and calls stay inside."""
    calls = defaultdict(list)
    for call in rows("calls"):
        if call["direction"] == "outbound":
            calls[call["campaign_id"]].append(call)
    for campaign in rows("campaigns"):
        started, completed = campaign["started_at"], campaign["completed_at"]
        assert (started is None) == (campaign["status"] in ("draft", "ready"))
        assert (completed is not None) == (campaign["status"] == "completed")
        own = calls[campaign["id"]]
        if own:
            assert campaign["created_at"] < started <= min(call["created_at"] for call in own)
            until = END if campaign["status"] == "running" else campaign["updated_at"]
            assert max(call["ended_at"] for call in own) < until


def test_times_of_a_call_are_in_order() -> None:
    """Created, answered, ended; answered means completed, and the other way round."""
    for call in rows("calls"):
        answered = call["answered_at"]
        assert call["created_at"] <= (answered or call["created_at"]) <= call["ended_at"]
        assert (answered is not None) == (call["status"] == "completed")


def test_vocabularies() -> None:
    """Statuses and causes are FreeSWITCH's words, and they agree with the disposition."""
    agreed = {
        "NA": {"no_answer"},
        "B": {"busy"},
        "ADC": {"failed"},
        "CG": {"failed"},
        "BLOCKED": {"failed"},
    }
    causes = defaultdict(set)
    for call in rows("calls", "medium"):
        causes[call["status"]].add(call["hangup_cause"])
        assert call["status"] in agreed.get(call["disposition"], {"completed", "no_answer"})
    assert causes == {
        "completed": {"NORMAL_CLEARING", "NORMAL_UNSPECIFIED"},
        "no_answer": {"NO_ANSWER", "ORIGINATOR_CANCEL", "NO_USER_RESPONSE"},
        "busy": {"USER_BUSY"},
        "failed": {
            "UNALLOCATED_NUMBER",
            "NUMBER_CHANGED",
            "INVALID_NUMBER_FORMAT",
            "NORMAL_TEMPORARY_FAILURE",
            "NORMAL_CIRCUIT_CONGESTION",
            "NETWORK_OUT_OF_ORDER",
            "CALL_REJECTED",
        },
    }


@pytest.mark.parametrize("size", ["tiny", "small", "medium"])
def test_numbers_are_fictional_and_apart(size: str) -> None:
    """Every number is on a 555 line; leads, caller IDs and the registry never share one."""
    known = {place.code for place in (*ONE_ZONE, *SEVERAL_ZONES)}
    phones = {lead["phone"] for lead in rows("leads", size)}
    own = {row["number"] for row in rows("caller_ids", size)}
    listed = {row["phone"]: row["source"] for row in rows("dnc", size)}
    line = r"\+1(\d{3})55501\d\d" if size != "medium" else r"\+1(\d{3})555\d{4}"
    matches = [re.fullmatch(line, phone) for phone in phones | own]
    assert {match[1] for match in matches if match} <= known
    assert all(matches)
    assert not phones & own
    assert not phones & set(REGISTRY_BLOCKS)
    assert set(REGISTRY_BLOCKS) <= listed.keys()
    assert not own & listed.keys()
    assert set(listed.values()) == {"registry", "request", "console"}
    assert not {phone for phone, source in listed.items() if source == "console"} & phones


def test_calls_join_leads_and_caller_ids() -> None:
    """Outbound goes from a caller ID to the lead's number, inbound the other way round."""
    phone = {lead["id"]: lead for lead in rows("leads")}
    own = {row["number"] for row in rows("caller_ids")}
    extensions = {agent["extension"] for agent in rows("agents")}
    numbers = {lead["phone"] for lead in phone.values()}
    detached = 0
    for call in rows("calls"):
        ours, theirs = call["from_number"], call["to_number"]
        if call["direction"] == "inbound":
            ours, theirs = theirs, ours
        assert ours in own
        assert theirs in numbers
        if call["lead_id"] is None:
            detached += 1
            assert call["campaign_id"] is None
            assert call["direction"] == "outbound"
        else:
            assert phone[call["lead_id"]]["phone"] == theirs
            assert phone[call["lead_id"]]["campaign_id"] == call["campaign_id"]
        assert call["agent_extension"] in extensions | {None}
    assert detached == 120


def test_a_phone_is_once_in_a_campaign() -> None:
    """No campaign has one number twice."""
    pairs = Counter((lead["campaign_id"], lead["phone"]) for lead in rows("leads"))
    assert max(pairs.values()) == 1


def test_leads_come_before_their_calls() -> None:
    """A lead is created after its campaign and before the first call to it."""
    created = {campaign["id"]: campaign["created_at"] for campaign in rows("campaigns")}
    leads = {lead["id"]: lead for lead in rows("leads")}
    for lead in leads.values():
        assert created[lead["campaign_id"]] < lead["created_at"] <= lead["updated_at"]
    for call in rows("calls"):
        if call["lead_id"]:
            assert leads[call["lead_id"]]["created_at"] < call["created_at"]


def test_leads_hold_what_their_last_call_left() -> None:
    """Attempts, last attempt, disposition and cause are those of the outbound calls."""
    calls = calls_of_leads()
    for lead in rows("leads"):
        own = calls[lead["id"]]
        assert lead["attempts"] == len(own)
        last = own[-1] if own else None
        assert lead["last_attempt_at"] == (last and last["created_at"])
        assert lead["disposition_code"] == (last and last["disposition"])
        assert lead["hangup_cause"] == (last and last["hangup_cause"])
        assert lead["updated_at"] == (last["ended_at"] if last else lead["created_at"])


def test_lead_states_follow_from_the_calls() -> None:
    """New without a call, dnc for good after a request, completed after a final outcome."""
    calls = calls_of_leads()
    unhonored = {row["id"] for row in rows("ground_truth") if row["fault"] in SCRIPTED}
    waiting = {row["lead_id"] for row in rows("callbacks") if row["status"] == "pending"}
    seen = Counter()
    for lead in rows("leads"):
        own = calls[lead["id"]]
        said = {call["disposition"] for call in own}
        if not own:
            wanted = "new"
        elif lead["id"] in unhonored:
            wanted = "contacted"
        elif "DNC" in said:
            wanted = "dnc"
        elif own[-1]["disposition"] in FINAL or len(own) >= 8:
            wanted = "completed"
        else:
            wanted = "callback" if lead["id"] in waiting else "contacted"
        assert lead["status"] == wanted
        seen[wanted] += 1
    assert set(seen) == {"new", "contacted", "callback", "dnc", "completed"}


def test_a_final_outcome_is_the_last() -> None:
    """Nobody is dialed again after a final outcome, but for the planted calls."""
    planted = {row["id"] for row in rows("ground_truth") if row["fault"].startswith("call_after")}
    late = {row["id"] for row in rows("ground_truth") if row["fault"] == "late_disposition"}
    for own in calls_of_leads().values():
        final = [call["disposition"] in FINAL for call in own if call["id"] not in planted | late]
        assert not any(final[:-1])


def test_next_attempts_are_promises() -> None:
    """A next attempt is due where dialing goes on: callbacks, and running or paused campaigns."""
    status = {campaign["id"]: campaign["status"] for campaign in rows("campaigns")}
    due = {
        row["lead_id"]: row["scheduled_at"]
        for row in rows("callbacks")
        if row["status"] == "pending"
    }
    planned = 0
    for lead in rows("leads"):
        following = lead["next_attempt_at"]
        if lead["status"] == "callback":
            assert following == due[lead["id"]]
        elif following is not None:
            planned += 1
            assert lead["status"] == "contacted"
            assert status[lead["campaign_id"]] in ("running", "paused")
            assert following > lead["last_attempt_at"]
            assert following >= END or status[lead["campaign_id"]] == "paused"
    assert planned > 20


def test_custom_fields_are_json_with_source_and_state() -> None:
    """Source and state of the area code are there, except in the hundredth that has none."""
    sources = {row["code"] for row in rows("lead_sources")}
    state = {place.code: place.state for place in (*ONE_ZONE, *SEVERAL_ZONES)}
    missing = 0
    for lead in rows("leads"):
        if lead["custom_fields"] is None:
            missing += 1
            continue
        fields = json.loads(lead["custom_fields"])
        assert fields["lead_source"] in sources
        assert fields["state"] == state[lead["phone"][2:5]]
    assert 5 < missing < 80


def test_people_are_made_up() -> None:
    """E-mail addresses are under example.com or example.org, external ids are unique."""
    leads = rows("leads")
    assert all(
        re.search(r"@example\.(com|org)$", lead["email"]) for lead in leads if lead["email"]
    )
    outside = [lead["external_id"] for lead in leads if lead["external_id"]]
    assert len(outside) == len(set(outside)) > 2_000
    assert {row["email"].split("@")[1] for row in rows("agents")} == {"example.com"}
    assert "ready" in {row["state"] for row in rows("agents")}


def test_callbacks_come_from_callback_calls() -> None:
    """Each is made as a CALLBK call ends and is due one to eight days later, by day."""
    promised = {
        (call["lead_id"], call["ended_at"])
        for call in rows("calls")
        if call["disposition"] == "CALLBK"
    }
    callbacks = rows("callbacks")
    assert {(row["lead_id"], row["created_at"]) for row in callbacks} == promised
    assert len(callbacks) == len(promised)
    leads = {lead["id"]: lead for lead in rows("leads")}
    zone = {place.code: ZoneInfo(place.zones[0]) for place in ONE_ZONE}
    for row in callbacks:
        lead = leads[row["lead_id"]]
        local = dt.datetime.fromtimestamp(row["scheduled_at"] / 1e6, tz=zone[lead["phone"][2:5]])
        assert row["campaign_id"] == lead["campaign_id"]
        assert 0 < row["scheduled_at"] - row["created_at"] < 9 * DAY
        assert 9 <= local.hour < 19
        assert local.weekday() < 6


def test_callbacks_are_kept_when_completed() -> None:
    """A completed callback has a call after its promise; no other has one."""
    calls = calls_of_leads()
    states = Counter()
    for row in rows("callbacks"):
        states[row["status"]] += 1
        later = [call for call in calls[row["lead_id"]] if call["created_at"] > row["created_at"]]
        assert bool(later) == (row["status"] == "completed")
    assert set(states) == {"pending", "completed", "cancelled"}


def test_some_callbacks_are_prompt_and_some_late() -> None:
    """About three in four of the kept ones are called within the hour, the rest later."""
    calls = defaultdict(list)
    for call in rows("calls", "medium"):
        calls[call["lead_id"]].append(call["created_at"])
    prompt = late = 0
    for row in rows("callbacks", "medium"):
        if row["status"] == "completed":
            at = min(time for time in calls[row["lead_id"]] if time > row["scheduled_at"] - 900e6)
            prompt += at <= row["scheduled_at"] + 3_600e6
            late += at > row["scheduled_at"] + 3_600e6
    assert 0.70 < prompt / (prompt + late) < 0.82


def test_some_promises_are_broken_and_some_open() -> None:
    """Pending callbacks lie on both sides of the end of the history."""
    due = [
        row["scheduled_at"] for row in rows("callbacks", "medium") if row["status"] == "pending"
    ]
    assert sum(time < END for time in due) > 50
    assert sum(time >= END for time in due) > 5


def test_appointments_come_from_appointment_calls() -> None:
    """Each has the phone and the name of a lead whose call ended as it was booked."""
    leads = {lead["id"]: lead for lead in rows("leads")}
    booked = {
        (call["to_number"], call["ended_at"])
        for call in rows("calls")
        if call["disposition"] == "APPT"
    }
    appointments = rows("appointments")
    assert {(row["phone"], row["created_at"]) for row in appointments} == booked
    for row in appointments:
        assert row["phone"] == leads[row["lead_id"]]["phone"]
        assert leads[row["lead_id"]]["full_name"] in (row["contact_name"], None)
        assert row["source"] == "call"
        assert row["created_at"] <= row["updated_at"]


def test_appointments_are_over_when_their_time_is() -> None:
    """Past ones are completed, missed or cancelled; future ones scheduled or cancelled; by day."""
    states = Counter()
    for row in rows("appointments", "medium"):
        over = row["scheduled_at"] + row["duration_minutes"] * 60_000_000 < END
        past, future = {"completed", "no-show"}, {"scheduled", "confirmed"}
        assert row["status"] in (past if over else future) | {"cancelled"}
        states[row["status"]] += over
        zone = ZoneInfo(row["timezone"])
        local = dt.datetime.fromtimestamp(row["scheduled_at"] / 1e6, tz=zone)
        assert 9 <= local.hour <= 17
        assert local.weekday() < 6
    total = states.total()
    assert 0.62 < states["completed"] / total < 0.78
    assert 0.12 < states["no-show"] / total < 0.24


def test_requests_are_on_the_list() -> None:
    """Every number with a Do-Not-Call disposition is listed minutes later, but for the planted."""
    listed = {row["phone"]: row for row in rows("dnc")}
    unhonored = {row["id"] for row in rows("ground_truth") if row["fault"] in SCRIPTED}
    asked = [call for call in rows("calls") if call["disposition"] == "DNC"]
    for call in asked:
        entry = listed.get(call["to_number"])
        if call["lead_id"] in unhonored:
            assert entry is None
        else:
            assert entry is not None
            assert entry["source"] == "request"
            assert 0 < entry["listed_at"] - call["ended_at"] <= 300_000_000
    sources = Counter(row["source"] for row in listed.values())
    assert sources["request"] == len(asked) - len(unhonored)
    assert sources["registry"] > 3_000
    assert sources["console"] == 5


def test_events_are_recent_and_tell_of_calls() -> None:
    """Events of the last 30 days carry the ids and times of the account's own calls."""
    calls = {call["id"]: call for call in rows("calls")}
    kinds = Counter()
    for event in rows("events"):
        data = json.loads(event["data"])
        kinds[event["type"]] += 1
        assert END - 30 * DAY <= event["created_at"] < END
        if "call_id" in data:
            call = calls[data["call_id"]]
            assert event["created_at"] == call["ended_at"]
            assert data["campaign_id"] == call["campaign_id"]
        if event["type"] == "call.completed":
            assert (data["from"], data["to"]) == (call["from_number"], call["to_number"])
            assert data["duration_seconds"] == call["duration_seconds"]
            instant = dt.datetime.fromisoformat(data["ended_at"])
            assert round(instant.timestamp() * 1e6) == call["ended_at"]
        elif event["type"] == "disposition.logged":
            assert data["disposition_code"] == call["disposition"]
    assert set(kinds) == {"call.completed", "disposition.logged", "appointment.booked"}


def test_the_repr_shows_no_numbers() -> None:
    """An account printed by chance gives away no phone number."""
    assert "+1" not in repr(account())
