"""A sandbox with its tools at `/mcp`, and a client of the protocol that a person sits behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, types
from mcp.client.streamable_http import streamable_http_client

from dialframe.assistant import rehearsal
from dialframe.sandbox import Sandbox, start

Talk = Callable[[Client], Awaitable[Any]]


@pytest.fixture(scope="session")
def tools_sandbox() -> Iterator[Sandbox]:
    """A tiny account that offers every tool."""
    with rehearsal.beside("127.0.0.1") as beside, start(size="tiny", beside=beside) as sandbox:
        sandbox.console.update_account({"rate_limits": None})
        yield sandbox


class Person:
    """Answers what it is asked, and remembers the questions."""

    def __init__(self, action: str = "accept", confirm: Any = True) -> None:
        self.asked: list[str] = []
        self._action = action
        self._confirm = confirm

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
        """Answer one question."""
        self.asked.append(params.message)
        content = {"confirm": self._confirm} if self._action == "accept" else None
        return types.ElicitResult(action=self._action, content=content)


def over_http(
    sandbox: Sandbox, talk: Talk, *, person: Person | None = None, mode: str = "auto"
) -> Any:
    """Connect to `/mcp` with the first key, talk, and give what the talk gave."""

    async def main() -> Any:
        headers = {"Authorization": f"Bearer {sandbox.api_key}"}
        async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http:
            transport = streamable_http_client(f"{sandbox.base_url}/mcp", http_client=http)
            async with Client(transport, elicitation_callback=person, mode=mode) as client:
                return await talk(client)

    return anyio.run(main)


def text_of(result: types.CallToolResult) -> str:
    """The words of an answer."""
    return "\n".join(part.text for part in result.content if isinstance(part, types.TextContent))
