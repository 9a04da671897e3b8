"""A client of the protocol over HTTP and standard input, against the sandbox."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters

from assistant.conftest import Person, over_http, text_of
from dialframe.assistant import analyses, tools
from dialframe.assistant.exposure import ALL, REACHES, Exposure
from dialframe.contract import operations
from dialframe.contract.ids import PREFIXES
from dialframe.sandbox import Sandbox

MODES = ["auto", "legacy"]
SOURCE = str(Path(__file__).parents[2] / "src")


def campaign(sandbox: Sandbox, status: str) -> str:
    """A campaign of that status."""
    found = httpx.get(
        f"{sandbox.base_url}/v1/campaigns",
        headers={"Authorization": f"Bearer {sandbox.api_key}"},
        trust_env=False,
    ).json()["data"]
    return str(next(row["id"] for row in found if row["status"] == status))


def lead_of(sandbox: Sandbox, last: int) -> dict[str, str]:
    """Arguments of a lead that nobody has."""
    return {"campaign_id": campaign(sandbox, "ready"), "phone": f"+121255501{last:02}"}


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_is_listed(tools_sandbox: Sandbox, mode: str) -> None:
    """All 45 operations and our own, in both revisions of the protocol."""

    async def talk(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    names = over_http(tools_sandbox, talk, mode=mode)
    assert names == [
        *(tools.tool_name(row.name) for row in operations.ALL),
        *(row.name for row in analyses.ALL),
    ]


def test_every_tool_answers(tools_sandbox: Sandbox) -> None:
    """None fails by a fault of its own: it gives a result, or the service's or the schema's refusal."""
    arguments = {
        "check_lead_list": {"content": "phone\n212-555-0142\n"},
        "store_sync": {"tables": ["campaigns"]},
    }

    async def talk(client: Client) -> dict[str, str]:
        found = {}
        for tool in (await client.list_tools()).tools:
            given = arguments.get(tool.name, _filled(tool.input_schema))
            found[tool.name] = text_of(await client.call_tool(tool.name, given))
        return found

    answers = over_http(tools_sandbox, talk, person=Person())
    assert [name for name, said in answers.items() if "fault of dialframe" in said] == []
    assert all(answers.values())
    assert json.loads(answers["me"])["result"]["client_id"] == tools_sandbox.client_id


@pytest.mark.parametrize("mode", MODES)
def test_confirmed_call_is_made_once(tools_sandbox: Sandbox, mode: str) -> None:
    """The person is shown exactly what will happen, and then it happens."""
    person = Person()
    arguments = lead_of(tools_sandbox, 20 + MODES.index(mode))

    async def talk(client: Client) -> Any:
        return await client.call_tool("leads_create", arguments)

    result = over_http(tools_sandbox, talk, person=person, mode=mode)
    assert result.is_error is False
    assert result.structured_content["result"]["status"] == "accepted"
    assert len(person.asked) == 1
    assert arguments["phone"] in person.asked[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "person",
    [Person("decline"), Person("cancel"), Person("accept", False), Person("accept", "yes")],
)
def test_refusal_is_honoured(tools_sandbox: Sandbox, mode: str, person: Person) -> None:
    """Whoever declines, closes the question, or accepts it with anything but a yes, has said no."""
    arguments = lead_of(tools_sandbox, 40)

    async def talk(client: Client) -> Any:
        return await client.call_tool("leads_create", arguments)

    result = over_http(tools_sandbox, talk, person=person, mode=mode)
    assert result.is_error is True
    assert "nothing was sent" in text_of(result)
    assert _leads_with(tools_sandbox, arguments["phone"]) == 0


@pytest.mark.parametrize("mode", MODES)
def test_client_that_cannot_ask_reaches_nobody(tools_sandbox: Sandbox, mode: str) -> None:
    """Every tool that may reach a person is refused, with the reason."""

    async def talk(client: Client) -> dict[str, Any]:
        found = {}
        for name in REACHES:
            tool = tools.definition(operations.BY_NAME[name])
            found[name] = await client.call_tool(tool.name, _filled(tool.input_schema))
        return found

    for name, result in over_http(tools_sandbox, talk, mode=mode).items():
        assert result.is_error is True
        assert "cannot ask" in text_of(result), name


def test_confirmation_counts_once_and_for_its_call_alone(tools_sandbox: Sandbox) -> None:
    """Sent again it is refused; sent with other arguments it is asked anew, or refused outright."""
    first, other = lead_of(tools_sandbox, 50), lead_of(tools_sandbox, 51)

    async def talk(client: Client) -> tuple[Any, Any, str]:
        asked = await client.session.call_tool("leads_create", first, allow_input_required=True)
        said = {"confirm": {"action": "accept", "content": {"confirm": True}}}
        again = {"input_responses": said, "request_state": asked.request_state}
        done = await client.session.call_tool(
            "leads_create", first, allow_input_required=True, **again
        )
        twice = await client.session.call_tool(
            "leads_create", first, allow_input_required=True, **again
        )
        try:
            moved = await client.session.call_tool(
                "leads_create", other, allow_input_required=True, **again
            )
            fate = "asked" if not hasattr(moved, "is_error") else text_of(moved)
        except Exception as error:
            fate = type(error).__name__
        return done, twice, fate

    done, twice, fate = over_http(tools_sandbox, talk, person=Person())
    assert done.structured_content["result"]["status"] == "accepted"
    assert twice.is_error is True
    assert "used before" in text_of(twice)
    assert fate in ("asked", "MCPError")
    assert _leads_with(tools_sandbox, other["phone"]) == 0


def test_numbers_are_masked(tools_sandbox: Sandbox) -> None:
    """No answer of a list holds a whole number."""

    async def talk(client: Client) -> str:
        return text_of(await client.call_tool("calls_list", {"limit": 5}))

    said = over_http(tools_sandbox, talk)
    rows = json.loads(said)["rows"]
    assert len(rows) == 5
    assert all("*" in row["to_number"] for row in rows)


def test_unknown_tools_and_arguments_are_refused(tools_sandbox: Sandbox) -> None:
    """In words, as an answer."""

    async def talk(client: Client) -> list[Any]:
        return [
            await client.call_tool("no_such_tool", {}),
            await client.call_tool("calls_list", {"bogus": 1}),
            await client.call_tool("calls_get", {}),
        ]

    results = over_http(tools_sandbox, talk)
    assert all(result.is_error for result in results)
    assert "no_such_tool" in text_of(results[0])
    assert "bogus" in text_of(results[1])
    assert "call_id" in text_of(results[2])


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic abc", "Bearer"])
def test_nobody_gets_in_without_a_key(tools_sandbox: Sandbox, header: str | None) -> None:
    """401, and nothing of what there is."""
    answer = httpx.post(
        f"{tools_sandbox.base_url}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        headers={"Authorization": header} if header else {},
        trust_env=False,
    )
    assert answer.status_code == 401
    assert "tools" not in answer.text


def test_page_of_another_origin_is_refused(tools_sandbox: Sandbox) -> None:
    """A web page in the same browser cannot use the server that listens on this machine."""
    answer = httpx.post(
        f"{tools_sandbox.base_url}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        headers={
            "Authorization": f"Bearer {tools_sandbox.api_key}",
            "Origin": "https://evil.example",
            "Accept": "application/json, text/event-stream",
        },
        trust_env=False,
    )
    assert answer.status_code == 403


def test_standard_input_reads_only_by_default(tools_sandbox: Sandbox, tmp_path: Path) -> None:
    """The command as an assistant starts it, key from the environment."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dialframe", "assistant", "serve", "--store", str(tmp_path)],
        env={
            **os.environ,
            "PYTHONPATH": SOURCE,
            "DIALFRAME_BASE_URL": tools_sandbox.base_url,
            "DIALFRAME_API_KEY": tools_sandbox.api_key,
        },
    )

    async def main() -> tuple[list[str], Any, Any]:
        async with Client(parameters) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            synced = await client.call_tool("store_sync", {"tables": ["campaigns"]})
            refused = await client.call_tool("leads_create", {"phone": "+12125550142"})
            return names, synced, refused

    names, synced, refused = anyio.run(main)
    assert set(names) == {*tools.offered(Exposure()), *(row.name for row in analyses.ALL)}
    assert synced.structured_content["complete"] is True
    assert refused.is_error is True
    assert "leads_create" not in names
    assert Exposure.of([ALL]).offers(operations.BY_NAME["leads.create"])


def test_analyses_answer_from_the_store(tools_sandbox: Sandbox) -> None:
    """After a sync they give small tables, without a whole number in them."""

    async def talk(client: Client) -> list[str]:
        await client.call_tool("store_sync", {"tables": ["leads", "calls"]})
        return [
            text_of(await client.call_tool(name, {})) for name in ("campaign_funnel", "call_audit")
        ]

    funnel, audit = (json.loads(said) for said in over_http(tools_sandbox, talk))
    assert {row["stage"] for row in funnel["stages"]} >= {"loaded", "attempted"}
    assert audit["checks"]
    assert "+1" not in json.dumps(audit).replace("+1***", "")


def _leads_with(sandbox: Sandbox, phone: str) -> int:
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    found, cursor = 0, None
    while True:
        query = {"limit": 100, **({"cursor": cursor} if cursor else {})}
        answer = httpx.get(
            f"{sandbox.base_url}/v1/leads", params=query, headers=headers, trust_env=False
        ).json()
        found += sum(row["phone"] == phone for row in answer["data"])
        cursor = answer["page"]["next_cursor"]
        if cursor is None:
            return found


def _filled(schema: dict[str, Any]) -> dict[str, Any]:
    """Arguments that the schema demands, of the right kind and mostly of nothing that exists."""
    made = {name: _value(name, schema) for name in schema.get("required", ())}
    if "oneOf" in schema:
        made["agent_extension"] = "101"
    return made


def _value(name: str, schema: dict[str, Any]) -> Any:
    field = schema["properties"][name]
    kind = {"webhook_id": "webhook_endpoint", "event_id": "webhook_event"}.get(name, name[:-3])
    if name.endswith("_id") and kind in PREFIXES:
        return f"{PREFIXES[kind]}00000000-0000-4000-8000-000000000000"
    if "enum" in field:
        return field["enum"][0]
    samples = {
        "phone": "+12125550143", "to": "+12125550143", "phones": ["+12125550143"],
        "email": "a@example.com", "scheduled_at": "2030-01-01T10:00:00Z", "timezone": "UTC",
        "url": "https://example.com/hook", "leads": [{"phone": "+12125550143"}],
    }  # fmt: skip
    if name in samples:
        return samples[name]
    plain = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    wanted = field.get("type", "string")
    return plain.get(wanted[0] if isinstance(wanted, list) else wanted, "x")
