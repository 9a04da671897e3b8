"""The assistant-tool server beside a sandbox, with every tool; its stores go with the process."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from starlette.applications import Starlette

from dialframe.account import Account, connect
from dialframe.assistant.exposure import ALL, Exposure
from dialframe.assistant.serving import PATH, http_app


@contextmanager
def beside(host: str) -> Iterator[Callable[[str], Mapping[str, Starlette]]]:
    """What makes the apps that a sandbox serves at `/mcp`, for its base URL.

    Args:
        host: Where the sandbox listens.
    """
    with tempfile.TemporaryDirectory(prefix="dialframe-tools-") as folder:

        def made(base_url: str) -> Mapping[str, Starlette]:
            def opened(key: str) -> Account:
                return connect(base_url=base_url, api_key=key, store=Path(folder))

            return {PATH: http_app(opened, Exposure.of([ALL]), host=host)}

        yield made
