"""Calls and what belongs to them (contract, Endpoints: Calls)."""

from __future__ import annotations

import io
import wave

import pytest

from dialframe.sandbox import Sandbox
from sandbox.calling import Api, Json, ok, phone, refused

UNKNOWN = "00000000-0000-4000-8000-000000000000"
OWN = "+12025550199"


@pytest.fixture(scope="module", autouse=True)
def _agents(sandbox: Sandbox) -> None:
    for extension, state in (("100", "ready"), ("101", "on_break"), ("102", "ready")):
        sandbox.console.add_agent(
            sandbox.client_id, extension, f"agent{extension}@example.com", state=state
        )
    sandbox.console.add_caller_id(sandbox.client_id, OWN)


@pytest.fixture
def free(sandbox: Sandbox) -> Sandbox:
    """All calls ended and their agents ready again."""
    sandbox.console.add_agent(sandbox.client_id, "100", "agent100@example.com")
    return sandbox


def record(sandbox: Sandbox, **fields: object) -> str:
    """A finished call."""
    plain = {
        "created_at": "2026-01-01T10:00:00Z", "answered_at": "2026-01-01T10:00:05Z",
        "ended_at": "2026-01-01T10:00:25.5Z", "duration_seconds": 20.5, "disposition": "SALE",
    }  # fmt: skip
    return sandbox.console.add_calls(sandbox.client_id, [{**plain, **fields}])[0]


def test_fields_of_a_call(sandbox: Sandbox, api: Api) -> None:
    """The contract's twelve, as they were given; neither lead nor agent is told."""
    call_id = record(sandbox, direction="inbound", hangup_cause="NORMAL_CLEARING")
    assert ok(api.get(f"/v1/calls/{call_id}")) == {
        "id": call_id, "direction": "inbound", "from_number": "+12025550100",
        "to_number": "+12025550101", "status": "completed",
        "created_at": "2026-01-01T10:00:00.000Z", "answered_at": "2026-01-01T10:00:05.000Z",
        "ended_at": "2026-01-01T10:00:25.500Z", "duration_seconds": 20.5, "campaign_id": None,
        "disposition": "SALE", "hangup_cause": "NORMAL_CLEARING",
    }  # fmt: skip
    for path in ("", "/recording", "/transcript", "/summary"):
        refused(api.get(f"/v1/calls/call_{UNKNOWN}{path}"), 404, "not_found")


def test_recording_is_a_wav_of_the_calls_length(sandbox: Sandbox, api: Api) -> None:
    """Whole seconds of PCM, the same bytes every time, another tone for another call."""
    path = f"/v1/calls/{record(sandbox)}/recording"
    answer = api.get(path)
    assert answer.headers["Content-Type"] == "audio/wav"
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    with wave.open(io.BytesIO(answer.content)) as sound:
        assert sound.getnframes() / sound.getframerate() == 21
    assert api.get(path).content == answer.content
    assert api.get(f"/v1/calls/{record(sandbox)}/recording").content != answer.content
    unanswered = record(sandbox, answered_at=None)
    refused(api.get(f"/v1/calls/{unanswered}/recording"), 404, "not_found")


def test_summary_status(sandbox: Sandbox, api: Api) -> None:
    """Null unless ready: not for a call that nobody answered, nor right after one."""
    ready = ok(api.get(f"/v1/calls/{record(sandbox)}/summary"))
    assert (ready["status"], ready["not_generated_reason"]) == ("ready", None)
    assert {"reason_for_contact", "intent", "next_action", "outcome_candidate", "language",
            "source", "generated_at"} == set(ready["summary"])  # fmt: skip
    nobody = ok(api.get(f"/v1/calls/{record(sandbox, answered_at=None)}/summary"))
    assert (nobody["status"], nobody["summary"]) == ("not_generated", None)
    assert nobody["not_generated_reason"]
    now = sandbox.console.advance_clock(0)
    fresh = ok(api.get(f"/v1/calls/{record(sandbox, ended_at=now)}/summary"))
    assert (fresh["status"], fresh["summary"]) == ("processing", None)
    assert isinstance(ready["schema_version"], int)


def test_transcript_reaches_as_far_as_the_call(sandbox: Sandbox, api: Api) -> None:
    """Turns in order, none beyond the end; nothing where nobody answered."""
    told = ok(api.get(f"/v1/calls/{record(sandbox)}/transcript"))
    ends = [turn["end_seconds"] for turn in told["segments"]]
    assert ends == sorted(ends)
    assert ends[-1] == 20.5
    unanswered = record(sandbox, answered_at=None)
    assert ok(api.get(f"/v1/calls/{unanswered}/transcript"))["segments"] == []


def start(api: Api, **fields: object) -> Json:
    """A click-to-call by agent 100."""
    return ok(api.post("/v1/calls", {"to": phone(), "agent_extension": "100", **fields}), 201)


def test_refused_call_dials_nobody(settings: Sandbox, free: Sandbox, api: Api) -> None:
    """Caller ID, country, list, hours, consent, money, caps: each refuses; the agent stays free."""
    console, me = settings.console, settings.client_id
    sent = len(console.outbox(me))
    listed = phone()
    console.add_dnc(me, [listed])
    body = {"to": phone(), "agent_extension": "100"}
    for change, more, status, code, reason in (
        ({}, {"caller_id": phone()}, 422, "dial_refused", "caller_id_not_registered"),
        ({"blocked_countries": ["GB"]}, {"to": "+442079460018"}, 422, "blocked_country", None),
        ({"sanctioned_countries": ["GB"]}, {"to": "+442079460018"}, 422, "blocked_country", None),
        ({}, {"to": listed}, 422, "on_dnc", None),
        ({"calling_hours": {"start": "00:00", "end": "00:00"}}, {}, 422, "dial_refused",
         "outside_calling_hours"),
        ({"consent_required": True}, {}, 422, "dial_refused", "consent_missing"),
        ({"balance": 0}, {}, 402, "insufficient_balance", None),
        ({"daily_cap": 0}, {}, 429, "daily_cap_reached", None),
        ({"per_minute_cap": 0}, {}, 429, "rate_limit_exceeded", None),
        ({"spend_cap": 0.01}, {}, 429, "spend_cap_reached", None),
        ({"sending_suspended": True}, {}, 403, "sending_suspended", None),
        ({"outbound_approved": False}, {}, 403, "outbound_not_approved", None),
        ({"dnc_screen_available": False}, {}, 503, "dnc_screen_unavailable", None),
    ):  # fmt: skip
        before = console.account()
        console.update_account(change)
        problem = refused(api.post("/v1/calls", {**body, **more}), status, code)
        assert reason is None or problem["errors"][0]["code"] == reason
        console.update_account(before)
    for unknown in ({"lead_id": f"lead_{UNKNOWN}"}, {"campaign_id": f"cmp_{UNKNOWN}"}):
        refused(api.post("/v1/calls", {**body, **unknown}), 404, "not_found")
    assert len(console.outbox(me)) == sent
    start(api)
