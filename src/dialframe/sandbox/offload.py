"""Work that waits for the disk, done beside the event loop; knows no work of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


async def in_thread(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """The result of `work`, which a thread of the pool does meanwhile."""
    return await asyncio.get_running_loop().run_in_executor(pool, work)
