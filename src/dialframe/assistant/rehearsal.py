"""The assistant-tool server beside a sandbox, with every tool; its stores go with the process."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from starlette.applications import Starlette

from dialframe.assistant.exposure import ALL, Exposure
from dialframe.assistant.serving import PATH, http_app


@contextmanager
def beside(host: str) -> Iterator[Callable[[str], Mapping[str, Starlette]]]:
    """What makes the apps that a sandbox serves at `/mcp`, for its base URL.

    Args:
        host: Where the sandbox listens.
    """
    with tempfile.TemporaryDirectory(prefix="dialframe-tools-") as folder:
        yield lambda base_url: {
            PATH: http_app(base_url, Path(folder), Exposure.of([ALL]), host=host)
        }
