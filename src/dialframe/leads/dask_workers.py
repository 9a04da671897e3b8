"""Files read and judged by the workers of a Dask cluster, for `clean_files`.

Each file is one task, so that many files keep many workers busy; what is compared across files is
compared here, where the outcomes are written too. Needs the extra `dask`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from dialframe.errors import ConfigError

_AHEAD: Final = 4

Task = TypeVar("Task")
Answer = TypeVar("Answer")


@contextmanager
def dask_workers(scheduler: str | None = None) -> Iterator[Callable[..., Iterator[Any]]]:
    """What `clean_files` takes as `workers`.

    Args:
        scheduler: Address of the cluster's scheduler (`tcp://...`); without it a cluster on this
            machine, which ends with the block.

    Raises:
        ConfigError: Dask is not installed, or the scheduler does not answer.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError(
            "the engine dask needs the extra: pip install 'dialframe[dask]'"
        ) from None
    try:
        # Dask's own address for its pages is port 8787 of all interfaces, taken where a second cluster runs.
        local: Any = {"processes": True, "dashboard_address": "127.0.0.1:0"}
        client = Client(scheduler) if scheduler else Client(**local)  # type: ignore[no-untyped-call]
    except OSError:
        raise ConfigError(
            f"no Dask scheduler answers at {scheduler}; start one with dask scheduler"
        ) from None
    with client:

        def run(function: Callable[[Task], Answer], tasks: Sequence[Task]) -> Iterator[Answer]:
            waiting: list[Any] = []
            left = list(tasks)
            room = _AHEAD * max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
            while waiting or left:
                while left and len(waiting) < room:
                    waiting.append(client.submit(function, left.pop(0), pure=False))
                yield waiting.pop(0).result()

        yield run
