"""Click-to-call by its seven rules, and the records of calls."""

from __future__ import annotations

import io
import wave
from datetime import timedelta
from typing import Any

import httpx
import pytest

from sandbox.service_bench import (
    CALL,
    CAMPAIGN,
    LEAD,
    PHONE,
    Console,
    Json,
    Party,
    answered,
    fresh_key,
    invalid,
    iso,
    moment,
    problem,
    shaped,
)


@pytest.fixture(scope="module", autouse=True)
def _caller_id(party: Party) -> None:
    """The account has a verified number to call from."""
    party.caller_id()


def start(party: Party, **fields: Any) -> httpx.Response:
    """Start a call with an agent that is ready, unless one is named."""
    if not {"agent_extension", "agent_email"} & set(fields):
        fields["agent_extension"] = party.agent()
    return party.post("/v1/calls", {"to": PHONE, **fields})


def dialed(party: Party) -> list[Json]:
    return party.outbox("call")


def refused(party: Party, status: int, code: str, **fields: Any) -> Json:
    """Demand a refusal that dials nobody and lets the agent go at once."""
    agent, before = party.agent(), len(dialed(party))
    body = problem(start(party, agent_extension=agent, **fields), status, code)
    assert len(dialed(party)) == before
    return {**body, "agent": agent}


def test_call_is_started(console: Console, party: Party) -> None:
    """201 with the started call: dialing, from a verified number, with what was named."""
    campaign, agent = party.campaign("running"), party.agent()
    lead = party.lead(campaign)
    response = start(party, agent_extension=agent, campaign_id=campaign, lead_id=lead)
    call = shaped("started call", answered(response, 201))

    assert (call["to"], call["agent_extension"]) == (PHONE, agent)
    assert (call["campaign_id"], call["lead_id"]) == (campaign, lead)
    assert call["caller_id"] in (None, "+12125550199")
    assert abs(moment(call["created_at"]) - console.now()) < timedelta(seconds=5)
    assert dialed(party)[-1]["to"] == PHONE


def test_started_call_appears_in_the_list(party: Party) -> None:
    """A started call is in the list of calls and, when its id is known, can be read."""
    number = party.phone()
    call = answered(start(party, to=number), 201)
    (record,) = [each for each in party.walk("/v1/calls") if each["to_number"] == number]

    shaped("call", record)
    assert record["direction"] == "outbound"
    assert record["from_number"] == "+12125550199"
    assert record["id"] == call["call_id"]
    assert answered(party.get(f"/v1/calls/{call['call_id']}"), 200) == record


def test_agent_may_be_named_by_email(party: Party) -> None:
    """Extension or email: the answer names the extension."""
    agent = party.agent()
    call = answered(start(party, agent_email=f"{agent}@example.com"), 201)

    assert call["agent_extension"] == agent


def test_agent_is_named_by_exactly_one(party: Party) -> None:
    """Neither or both of extension and email is an invalid request."""
    agent = party.agent()
    invalid(party.post("/v1/calls", {"to": PHONE}))
    both = {"agent_extension": agent, "agent_email": f"{agent}@example.com"}
    invalid(party.post("/v1/calls", {"to": PHONE, **both}))
    for wrong in ("ab", "x" * 243 + "@example.com"):
        invalid(party.post("/v1/calls", {"to": PHONE, "agent_email": wrong}), "agent_email")


def test_agent_that_is_not_the_accounts_or_not_ready_is_unavailable(party: Party) -> None:
    """Unknown, not signed in, on a call, in wrap-up, on a break: 409, before the number is looked at."""
    number = party.phone()
    party.on_dnc(number)
    named = [{"agent_extension": "999999"}, {"agent_email": "nobody@example.com"}]
    states = ("offline", "on_call", "wrap_up", "break", "ringing", "held")
    named += [{"agent_extension": party.agent(state)} for state in states]
    before = len(dialed(party))
    for agent in named:
        problem(start(party, to=number, **agent), 409, "agent_unavailable")
    assert len(dialed(party)) == before


def test_held_agent_is_unavailable_until_the_call_is_over(console: Console, party: Party) -> None:
    """An agent held for a call cannot be held for another; calls end after 30 minutes."""
    agent = party.agent()
    answered(start(party, agent_extension=agent), 201)
    problem(start(party, agent_extension=agent, to=party.phone()), 409, "agent_unavailable")
    console.advance(3_600)
    answered(start(party, agent_extension=agent, to=party.phone()), 201)


def test_agent_is_released_when_the_call_is_refused(party: Party) -> None:
    """After a refusal the same agent can be held at once."""
    number = party.phone()
    party.on_dnc(number)
    agent = refused(party, 422, "on_dnc", to=number)["agent"]

    answered(start(party, agent_extension=agent), 201)


def test_caller_id_must_be_verified(party: Party) -> None:
    """A number that is not the account's answers 422 dial_refused, caller_id_not_registered."""
    body = refused(party, 422, "dial_refused", caller_id="+12125550177")

    assert body["errors"][0]["code"] == "caller_id_not_registered"
    call = answered(start(party, caller_id="+12125550199"), 201)
    assert call["caller_id"] == "+12125550199"


def test_unknown_campaign_or_lead_is_404(party: Party, other: Party) -> None:
    """A campaign or lead that is not the client's is not found, and nothing is dialed."""
    refused(party, 404, "not_found", campaign_id=CAMPAIGN)
    refused(party, 404, "not_found", lead_id=LEAD)
    refused(party, 404, "not_found", campaign_id=other.campaign("running"))
    refused(party, 404, "not_found", lead_id=other.lead())


def test_same_key_places_one_call_and_a_new_key_another(console: Console, party: Party) -> None:
    """Rule 7: a retry under the key dials nobody again; a new key does."""
    key, agent, before = fresh_key(), party.agent(), len(dialed(party))
    body = {"to": PHONE, "agent_extension": agent}
    first = answered(party.post("/v1/calls", body, idem=key), 201)
    again = party.post("/v1/calls", body, idem=key)
    assert answered(again, 201) == first
    assert len(dialed(party)) == before + 1
    console.advance(3_600)
    answered(party.post("/v1/calls", body), 201)
    assert len(dialed(party)) == before + 2


# --- records ----------------------------------------------------------------------------------


def test_recording_is_a_wav_of_the_calls_length(party: Party) -> None:
    """Whole seconds of PCM, the same bytes every time, another tone for another call."""
    path = f"/v1/calls/{party.finished()}/recording"
    answer = party.get(path)
    assert answer.headers["Content-Type"] == "audio/wav"
    assert int(answer.headers["Content-Length"]) == len(answer.content)
    with wave.open(io.BytesIO(answer.content)) as sound:
        assert sound.getnframes() / sound.getframerate() == 21
    assert party.get(path).content == answer.content
    assert party.get(f"/v1/calls/{party.finished()}/recording").content != answer.content
    for call in (party.finished(answered_at=None), CALL):
        problem(party.get(f"/v1/calls/{call}/recording"), 404, "not_found")


def test_transcript_reaches_as_far_as_the_call(party: Party) -> None:
    """Turns in order, none beyond the end; nothing where nobody answered."""
    transcript = answered(party.get(f"/v1/calls/{party.finished()}/transcript"), 200)
    ends = [turn["end_seconds"] for turn in transcript["segments"]]
    assert ends == sorted(ends)
    assert ends[-1] == 20.5
    unanswered = party.finished(answered_at=None)
    assert answered(party.get(f"/v1/calls/{unanswered}/transcript"), 200)["segments"] == []
    problem(party.get(f"/v1/calls/{CALL}/transcript"), 404, "not_found")


def test_summary_is_there_when_it_is_ready(console: Console, party: Party) -> None:
    """Null unless ready, with the reason where there is none; 404 only where no call has the id."""
    calls = {
        "ready": party.finished(),
        "not_generated": party.finished(answered_at=None),
        "processing": party.finished(ended_at=iso(console.now())),
    }
    summaries = {
        status: answered(party.get(f"/v1/calls/{call}/summary"), 200)
        for status, call in calls.items()
    }
    assert {status: each["status"] for status, each in summaries.items()} == {
        status: status for status in calls
    }
    assert {status for status, each in summaries.items() if each["summary"]} == {"ready"}
    assert {status for status, each in summaries.items() if each["not_generated_reason"]} == {
        "not_generated"
    }
    assert all(isinstance(each["schema_version"], int) for each in summaries.values())
    problem(party.get(f"/v1/calls/{CALL}/summary"), 404, "not_found")
    assert set(summaries["ready"]["summary"]) == {
        "reason_for_contact", "intent", "next_action", "outcome_candidate", "language",
        "source", "generated_at",
    }  # fmt: skip
