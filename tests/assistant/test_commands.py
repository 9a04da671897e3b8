"""Every tool through every door: the command on standard input, the command over HTTP, the sandbox's `/mcp`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from assistant.conftest import (
    Person,
    Talk,
    campaign,
    everything,
    leads_with,
    over_http,
    over_stdio,
    rest,
    text_of,
)
from assistant.everything import Walk
from dialframe.assistant import analysis_tools, offered_operations
from dialframe.assistant.offered_operations import CONFIRMED, Exposure
from dialframe.contract import operations
from dialframe.evidence import EvidenceLog
from dialframe.sandbox import Sandbox

Door = Callable[..., Any]
EVERY = [
    *(offered_operations.tool_name(row.name) for row in operations.ALL),
    *(row.name for row in analysis_tools.ALL),
]
NUMBERS = {"stdio": 10, "http": 20, "sandbox": 30}


@pytest.fixture(params=list(NUMBERS))
def door(
    request: pytest.FixtureRequest, tools_sandbox: Sandbox, tmp_path: Path
) -> tuple[str, Door]:
    """A way in, by name."""
    name = str(request.param)
    if name == "stdio":

        def talk_to(talk: Talk, **more: Any) -> Any:
            policy = ("--people", everything(tmp_path))
            return over_stdio(tools_sandbox, talk, tmp_path, "--allow", "all", *policy, **more)

        return name, talk_to
    address = request.getfixturevalue("served") if name == "http" else None

    def speak(talk: Talk, **more: Any) -> Any:
        return over_http(tools_sandbox, talk, address=address, **more)

    return name, speak


@pytest.mark.usefixtures("unlimited")
def test_every_tool_is_listed_and_done(
    door: tuple[str, Door], tools_sandbox: Sandbox, tmp_path: Path
) -> None:
    """All 45 operations and our own give what they promise; only WhatsApp is not offered by the service.

    Who can reach a person asked first, once for each call, and with the whole number in sight.
    """
    name, talk_to = door
    person = Person()

    async def talk(client: Client) -> tuple[list[str], Walk]:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        return listed, await Walk(NUMBERS[name])(client)

    listed, walk = talk_to(talk, person=person)
    assert listed == EVERY
    assert set(walk.answers) == set(EVERY)
    assert list(walk.refused()) == ["whatsapp_send"]
    assert "tier_not_enabled" in walk.refused()["whatsapp_send"]
    asked = [question.split()[0] for question in person.asked]
    assert sorted(asked) == sorted(map(offered_operations.tool_name, CONFIRMED))
    phone = f"+167155501{NUMBERS[name]}"
    whom = {question.split()[0]: question for question in person.asked}
    for tool in ("leads_create", "calls_start", "callbacks_create", "sms_send", "consents_record"):
        assert phone in whom[tool]
    assert leads_with(tools_sandbox, phone) == 1
    if name == "stdio":
        _check_diary(tmp_path, phone, tools_sandbox.api_key)


def _check_diary(store: Path, phone: str, key: str) -> None:
    """Each call is a record of the evidence log, without a number or the key."""
    log = EvidenceLog.beside(store)
    assert log.verify() == []
    records = list(log.records(["assistant"]))
    text = "".join(record.encoded() for record in records)
    assert phone not in text
    assert key not in log.path.read_text(encoding="utf-8")
    ends = {each.source: each for each in records if each.detail["outcome"] in ("done", "refused")}
    assert set(ends) == set(EVERY)
    assert ends["whatsapp_send"].detail["outcome"] == "refused"
    assert str(ends["calls_list"].request_id).startswith("req_")
    sending = {
        each.source: each.detail.get("key")
        for each in records
        if each.detail["outcome"] == "sending"
    }
    assert all(sending[offered_operations.tool_name(name)] for name in CONFIRMED)


def test_nothing_is_sent_without_a_yes(door: tuple[str, Door], tools_sandbox: Sandbox) -> None:
    """Declined, closed, answered with anything but yes, given up, gone: each is a no, whatever was said before."""
    name, talk_to = door
    arguments = {"campaign_id": campaign(tools_sandbox, "ready")}
    phones = [f"+167155501{NUMBERS[name] + 30 + at:02}" for at in range(7)]
    answers = [("accept", True), ("decline", None), ("cancel", None), ("accept", False), ("accept", "yes")]  # fmt: skip
    person = Person()

    async def talk(client: Client) -> list[Any]:
        results = []
        for phone, (person.action, person.confirm) in zip(phones, answers, strict=False):
            results.append(await client.call_tool("leads_create", {**arguments, "phone": phone}))
        person.action, person.confirm, person.after_s = "accept", True, 30
        for phone in phones[5:]:
            await _given_up(client, person, {**arguments, "phone": phone})
            # The server is there for the next call; after the last one the connection ends.
            results.append(await client.call_tool("me", {}))
        return results

    yes, *no, me, _ = talk_to(talk, person=person, mode="legacy")
    assert len(person.asked) == len(phones)
    assert yes.is_error is False
    assert me.is_error is False
    assert all(result.is_error and "nothing was sent" in text_of(result) for result in no)
    known = {row["phone"] for row in rest(tools_sandbox, "/v1/leads")}
    assert known.intersection(phones) == {phones[0]}


async def _given_up(client: Client, person: Person, arguments: dict[str, Any]) -> None:
    """Call, and let go as soon as the question is there."""
    person.was_asked = anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "leads_create", arguments)
        await person.was_asked.wait()
        group.cancel_scope.cancel()


def test_client_that_goes_during_the_question_sends_nothing(
    served: str, tools_sandbox: Sandbox
) -> None:
    """The connection ends while the user still thinks; a yes that comes later reaches nobody."""
    phone = "+16715550199"
    arguments = {"campaign_id": campaign(tools_sandbox, "ready"), "phone": phone}
    person = Person(after_s=30)

    async def talk(client: Client) -> None:
        with pytest.raises(MCPError):
            await client.call_tool("leads_create", arguments, read_timeout_seconds=3)

    over_http(tools_sandbox, talk, person=person, mode="legacy", address=served)
    assert len(person.asked) == 1
    assert leads_with(tools_sandbox, phone) == 0


def test_reads_only_by_default(tools_sandbox: Sandbox, tmp_path: Path) -> None:
    """What changes anything is neither listed nor called; what reaches somebody least of all."""

    async def talk(client: Client) -> tuple[list[str], Any, Any]:
        names = [tool.name for tool in (await client.list_tools()).tools]
        refused = await client.call_tool("leads_create", {"phone": "+12125550142"})
        return names, await client.call_tool("store_sync", {"tables": ["campaigns"]}), refused

    names, synced, refused = over_stdio(tools_sandbox, talk, tmp_path)
    assert set(names) == {
        *offered_operations.offered(Exposure()),
        *(row.name for row in analysis_tools.ALL),
    }
    assert synced.structured_content["complete"] is True
    assert refused.is_error is True
    assert "no tool" in text_of(refused)
