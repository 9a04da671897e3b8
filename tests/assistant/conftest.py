"""A sandbox with its tools at `/mcp`, the real command beside it, and a client of the protocol with a person behind it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client, StdioServerParameters, types
from mcp.client.streamable_http import streamable_http_client

from dialframe.account import Account
from dialframe.assistant.dispatcher import Caller, Dispatcher
from dialframe.assistant.offered_operations import PEOPLE, Exposure
from dialframe.assistant.tool_server import build
from dialframe.cli.server_commands import tools_beside
from dialframe.sandbox import Sandbox, start

Talk = Callable[[Client], Awaitable[Any]]

SOURCE = str(Path(__file__).parents[2] / "src")
COMMAND = ("-m", "dialframe", "assistant", "serve")
#: Agents of the walks through every tool.
AGENTS = ("210", "220", "230")


@pytest.fixture(scope="package")
def tools_sandbox() -> Iterator[Sandbox]:
    """A tiny account that offers every tool."""
    with tools_beside("127.0.0.1") as beside, start(size="tiny", beside=beside) as sandbox:
        sandbox.console.update_account({"rate_limits": None})
        for agent in AGENTS:
            sandbox.console.add_agent(sandbox.client_id, agent, f"agent{agent}@example.com")
        yield sandbox


@pytest.fixture(scope="package")
def served(tools_sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where `dialframe assistant serve --http` answers; it ends well when it is asked to."""
    store = tmp_path_factory.mktemp("served")
    policy = everything(tmp_path_factory.mktemp("policy"))
    arguments = [
        "--http",
        "--port",
        "0",
        "--allow",
        "all",
        "--store",
        str(store),
        "--people",
        policy,
    ]
    process = subprocess.Popen(
        [sys.executable, *COMMAND, *arguments],
        env=environment(tools_sandbox, key=None),
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = process.stderr.readline()
    assert "until you press Ctrl-C" in said
    yield said.split()[4]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 0


def everything(folder: Path) -> str:
    """The file of a policy that gives every field about persons."""
    path = folder / "policy.toml"
    path.write_text(f"[people]\ngive = {sorted(PEOPLE)}\n")
    return str(path)


class Person:
    """Answers what it is asked, and remembers the questions."""

    def __init__(self, action: str = "accept", confirm: Any = True, *, after_s: float = 0) -> None:
        self.asked: list[str] = []
        self.action = action
        self.confirm = confirm
        self.after_s = after_s
        self.was_asked = anyio.Event()

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
        """Answer one question."""
        self.asked.append(params.message)
        self.was_asked.set()
        await anyio.sleep(self.after_s)
        content = {"confirm": self.confirm} if self.action == "accept" else None
        return types.ElicitResult(action=self.action, content=content)


def environment(sandbox: Sandbox, *, key: str | None) -> dict[str, str]:
    """What a command of this checkout finds in its environment."""
    given = {**os.environ, "PYTHONPATH": SOURCE, "DIALFRAME_BASE_URL": sandbox.base_url}
    given.pop("DIALFRAME_API_KEY", None)
    return given if key is None else {**given, "DIALFRAME_API_KEY": key}


def over_http(
    sandbox: Sandbox,
    talk: Talk,
    *,
    person: Person | None = None,
    mode: str = "auto",
    address: str | None = None,
    key: str | None = None,
) -> Any:
    """Connect to `/mcp` of the sandbox or to another address, talk, and give what the talk gave."""

    async def main() -> Any:
        headers = {"Authorization": f"Bearer {key or sandbox.api_key}"}
        async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http:
            where = address or f"{sandbox.base_url}/mcp"
            transport = streamable_http_client(where, http_client=http)
            async with Client(transport, elicitation_callback=person, mode=mode) as client:
                return await talk(client)

    return anyio.run(main)


def in_memory(
    account: Account, talk: Talk, exposure: Exposure, *, person: Person | None = None
) -> Any:
    """Talk with a server in this process: what is asked and answered, without a way between."""
    server = build(Dispatcher(lambda _: Caller(account), exposure))

    async def main() -> Any:
        async with Client(server, elicitation_callback=person) as client:
            return await talk(client)

    return anyio.run(main)


def over_stdio(
    sandbox: Sandbox,
    talk: Talk,
    store: Path,
    *arguments: str,
    person: Person | None = None,
    mode: str = "auto",
) -> Any:
    """Start the command as an assistant does, key from the environment, and talk with it."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*COMMAND, "--store", str(store), *arguments],
        env=environment(sandbox, key=sandbox.api_key),
    )

    async def main() -> Any:
        async with Client(parameters, elicitation_callback=person, mode=mode) as client:
            return await talk(client)

    return anyio.run(main)


def rest(sandbox: Sandbox, path: str, **query: Any) -> list[dict[str, Any]]:
    """All rows of a list, over plain HTTP."""
    headers = {"Authorization": f"Bearer {sandbox.api_key}"}
    rows: list[dict[str, Any]] = []
    while True:
        answer = httpx.get(
            f"{sandbox.base_url}{path}",
            params={"limit": 100, **query},
            headers=headers,
            trust_env=False,
        ).json()
        rows += answer["data"]
        query["cursor"] = answer["page"]["next_cursor"]
        if query["cursor"] is None:
            return rows


def leads_with(sandbox: Sandbox, phone: str) -> int:
    """How many leads have a number."""
    return sum(row["phone"] == phone for row in rest(sandbox, "/v1/leads"))


def campaign(sandbox: Sandbox, status: str) -> str:
    """A campaign of that status."""
    found = rest(sandbox, "/v1/campaigns", status=status)
    return str(found[0]["id"])


def text_of(result: types.CallToolResult) -> str:
    """The words of an answer."""
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))
