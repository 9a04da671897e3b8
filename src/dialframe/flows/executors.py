"""Where work runs that is shared: processes of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import BaseContext

from dialframe.errors import ConfigError


def _processes(loads: str) -> BaseContext:
    """How processes are started: as copies of one that has loaded the module, where the system has that.

    A copy of this process would have its threads' locks without the threads, and in a fresh one loading takes longer
    than cleaning a small list.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([loads])
    return context


@contextmanager
def executor(
    cluster: str | None = None, jobs: int | None = None, *, loads: str
) -> Iterator[Executor]:
    """An executor of `concurrent.futures`, ended with the block.

    Args:
        cluster: Address of a Dask scheduler (`tcp://...`), with the extra `dask`; None for this machine.
        jobs: Processes of this machine; as many as processors by default.
        loads: Module that the work needs; processes of this machine share what it loads.

    Raises:
        ConfigError: Dask is not installed, or the scheduler does not answer.
    """
    if cluster is None:
        with ProcessPoolExecutor(jobs or os.cpu_count(), _processes(loads)) as pool:
            yield pool
        return
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError(
            "a cluster needs the extra dask: pip install 'dialframe[dask]'"
        ) from None
    try:
        client = Client(cluster)  # type: ignore[no-untyped-call]
    except OSError:
        raise ConfigError(
            f"no Dask scheduler answers at {cluster}; start one with dask scheduler"
        ) from None
    with client, client.get_executor(pure=False) as workers:  # type: ignore[no-untyped-call]
        yield workers
