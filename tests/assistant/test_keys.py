"""Who comes in over HTTP, and what one key may see of another's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from assistant.conftest import campaign, leads_with, over_http, text_of
from dialframe.assistant.tool_server import Accounts
from dialframe.errors import AuthenticationError
from dialframe.sandbox import Sandbox

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}  # fmt: skip


def post(
    sandbox: Sandbox, body: object, key: str, *, address: str | None = None, **headers: str
) -> httpx.Response:
    """One message to `/mcp` of the sandbox, or to another address."""
    return httpx.post(
        address or f"{sandbox.base_url}/mcp",
        json=body,
        headers={
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {key}",
            **headers,
        },
        trust_env=False,
    )


@pytest.fixture
def other(tools_sandbox: Sandbox) -> str:
    """The key of another client, which may do nothing."""
    return str(tools_sandbox.console.create_client("Other")["api_key"])


def test_session_belongs_to_the_key_that_began_it(tools_sandbox: Sandbox, other: str) -> None:
    """With another key it is as if it were not there: for a call, for its stream, for its end."""
    sandbox = tools_sandbox
    session = post(sandbox, INITIALIZE, sandbox.api_key).headers["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert post(sandbox, ping, other, **{"mcp-session-id": session}).status_code == 404
    for method in ("GET", "DELETE"):
        headers = {"Authorization": f"Bearer {other}", "mcp-session-id": session}
        answer = httpx.request(
            method,
            f"{sandbox.base_url}/mcp",
            headers={**headers, "Accept": "text/event-stream"},
            trust_env=False,
        )
        assert answer.status_code == 404
    assert post(sandbox, ping, sandbox.api_key, **{"mcp-session-id": session}).status_code == 200


def test_yes_to_one_key_is_none_to_another(tools_sandbox: Sandbox) -> None:
    """The sealed question cannot be carried over to the key of somebody else of the same account."""
    sandbox = tools_sandbox
    second = sandbox.console.create_key(sandbox.client_id)
    arguments = {"campaign_id": campaign(sandbox, "ready"), "phone": "+16715550170"}
    said = {"confirm": {"action": "accept", "content": {"confirm": True}}}

    async def put(client: Client) -> str:
        asked = await client.session.call_tool(
            "leads_create", arguments, allow_input_required=True
        )
        return str(asked.request_state)

    state = over_http(sandbox, put, person=_never)

    async def carry(client: Client) -> Any:
        return await client.session.call_tool(
            "leads_create",
            arguments,
            allow_input_required=True,
            input_responses=said,
            request_state=state,
        )

    with pytest.raises(BaseExceptionGroup) as caught:
        over_http(sandbox, carry, person=_never, key=second)
    assert caught.group_contains(MCPError, match="requestState", depth=None)
    assert leads_with(sandbox, "+16715550170") == 0


async def _never(context: Any, params: Any) -> Any:
    raise AssertionError("nobody was to be asked")


def test_stored_data_needs_the_scope_that_read_it(tools_sandbox: Sandbox, other: str) -> None:
    """An analysis is no way round a scope, and shows nothing of another client's store."""

    async def first(client: Client) -> Any:
        await client.call_tool("store_sync", {"tables": ["leads", "calls", "campaigns"]})
        return await client.call_tool("campaign_funnel", {})

    async def second(client: Client) -> list[Any]:
        names = ("campaign_funnel", "dnc_coverage", "call_audit")
        return [await client.call_tool(name, {}) for name in names]

    assert over_http(tools_sandbox, first).is_error is False
    for result in over_http(tools_sandbox, second, key=other):
        assert result.is_error is True
        assert "leads:read" in text_of(result)


def test_key_that_nobody_knows_leaves_no_trace(tools_sandbox: Sandbox, tmp_path: Path) -> None:
    """Neither a store on the disk nor an open account."""
    accounts = Accounts(tools_sandbox.base_url, tmp_path)
    with pytest.raises(AuthenticationError):
        accounts.caller(f"svc_test_0123456789abcdef_{'x' * 32}")
    assert list(tmp_path.iterdir()) == []


def test_key_is_asked_about_again(tools_sandbox: Sandbox, tmp_path: Path) -> None:
    """Fifteen seconds after it was taken back it opens nothing any more, what is stored included."""
    sandbox, clock = tools_sandbox, [0.0]
    made = sandbox.console.create_client("Leaver", scopes=["leads:read"])
    key = str(made["api_key"])
    accounts = Accounts(sandbox.base_url, tmp_path, clock=lambda: clock[0])
    caller = accounts.caller(key)
    assert caller.scopes == {"leads:read"}
    sandbox.console.revoke_key(str(caller.account.client.me().credential_id))
    assert accounts.caller(key) is caller
    clock[0] = 15.0
    with pytest.raises(AuthenticationError):
        accounts.caller(key)
    accounts.close()


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


def test_key_in_the_address_is_refused(tools_sandbox: Sandbox) -> None:
    """As the service does, and whether it is right or not."""
    where = f"{tools_sandbox.base_url}/mcp?key={tools_sandbox.api_key}"
    answer = httpx.post(where, json=INITIALIZE, trust_env=False)
    assert answer.status_code == 400
    assert "credential_in_url" in answer.text
    assert tools_sandbox.api_key not in answer.text


@pytest.mark.parametrize(
    ("header", "value", "status", "sandbox_status"),
    [
        ("Origin", "https://evil.example", 403, 403),
        ("Origin", "null", 403, 403),
        ("Origin", "http://127.0.0.1.evil.example", 403, 403),
        ("Host", "evil.example", 421, 400),
        ("Host", "127.0.0.1.evil.example:80", 421, 400),
        ("Origin", "http://localhost:3000", 200, 200),
    ],
)
def test_pages_from_elsewhere_are_refused(
    tools_sandbox: Sandbox, served: str, header: str, value: str, status: int, sandbox_status: int
) -> None:
    """A web page in the same browser cannot use the server, under whatever name it found this machine.

    The assistant refuses such a name itself; the sandbox does so before its `/mcp` is reached.
    """
    sandbox, key = tools_sandbox, tools_sandbox.api_key
    own = post(sandbox, INITIALIZE, key, address=served, **{header: value})
    assert own.status_code == status
    assert post(sandbox, INITIALIZE, key, **{header: value}).status_code == sandbox_status


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"[" * 200_000, 400), (b'{"a":"' + b"x" * 5_000_000 + b'"}', 413), (b"\xff", 400)],
    ids=["deep", "huge", "no text"],
)
def test_bodies_that_are_no_message_are_refused(
    tools_sandbox: Sandbox, body: bytes, status: int
) -> None:
    """Without a fault, and before anything is kept of them."""
    answer = httpx.post(
        f"{tools_sandbox.base_url}/mcp",
        content=body,
        headers={
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Authorization": f"Bearer {tools_sandbox.api_key}",
        },
        trust_env=False,
    )
    assert answer.status_code == status
    assert "Traceback" not in json.dumps(answer.text)


def test_depth_that_python_cannot_follow_is_refused(tools_sandbox: Sandbox) -> None:
    """In the newest revision bodies are read by a parser that goes deeper than most code can."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    deep = '{"lead_id": "lead_00000000-0000-4000-8000-000000000000", "custom_fields": {"a": %s}}'
    params = json.dumps({"name": "leads_update", "arguments": 0, "_meta": meta})
    params = params.replace('"arguments": 0', f'"arguments": {deep % ("[" * 900 + "]" * 900)}')
    answer = httpx.post(
        f"{tools_sandbox.base_url}/mcp",
        content=f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}',
        headers={
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Authorization": f"Bearer {tools_sandbox.api_key}",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "leads_update",
        },
        trust_env=False,
    )
    assert "nested deeper than 20" in answer.text
