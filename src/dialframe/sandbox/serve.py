"""Starts and ends the sandbox: a folder, a socket, a thread; knows no operation."""

from __future__ import annotations

import asyncio
import datetime as dt
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final, Self

import uvicorn
from starlette.applications import Starlette

from dialframe.errors import ConfigError, DialframeError
from dialframe.sandbox import app
from dialframe.sandbox.console import Console
from dialframe.sandbox.edge import CONSOLE, Line
from dialframe.sandbox.exchange import Json
from dialframe.sandbox.world import FIRST, Birth, World

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)

#: Idle connections stay open for so long; a client that reuses one should not find it closed.
_KEEP_ALIVE_S: Final = 75
_GRACE_S: Final = 1
_START_S: Final = 30.0
_END_S: Final = 1.6


#: Apps that are served beside the service, by path, made for its base URL.
Beside = Callable[[str], Mapping[str, Starlette]]


class Sandbox:
    """A sandbox that accepts requests; a context manager that ends it.

    Attributes:
        base_url: Address that the contract's paths follow.
        api_key: The first client's key, which reaches every operation.
        client_id: The first client.
        console: The console as an object.
        console_token: What the console over HTTP is opened with.
    """

    def __init__(
        self,
        world: World,
        host: str,
        listener: socket.socket,
        folder: Path | None,
        beside: Beside | None = None,
    ) -> None:
        self._world = world
        self._temporary = folder
        self._pool = ThreadPoolExecutor(app.WORKERS, "dialframe-sandbox")
        self.base_url = f"http://{_shown(host)}:{listener.getsockname()[1]}"
        self.api_key = world.first_key
        self.client_id = world.access.clients[FIRST].client_id
        self.console = Console(world)
        self.console_token = world.console_token
        world.docs_base = f"{self.base_url}/docs"
        self._server = uvicorn.Server(
            uvicorn.Config(
                app.build(world, self._pool, beside(self.base_url) if beside else {}),
                http=Line,
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                # The source address is the socket's: no header may claim another.
                proxy_headers=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                timeout_graceful_shutdown=_GRACE_S,
            )
        )
        self._thread = threading.Thread(
            target=self._run, args=(listener,), name="dialframe-sandbox", daemon=True
        )
        # Not the thread's join: a signal that interrupts one makes it believe that the thread ended.
        self._ended = threading.Event()
        self._closed = False
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    @property
    def console_url(self) -> str:
        """Address of the console over HTTP."""
        return self.base_url + CONSOLE

    def ground_truth(self) -> list[Json]:
        """The first client's answer sheet: what an audit of its synthetic account has to find.

        Each entry has `fault`, `resource`, `id`, `expected` and `detail`.
        """
        names = ("fault", "resource", "id", "expected", "detail")
        with self._world.database.read() as db:
            rows = db.execute(
                f"SELECT {', '.join(names)} FROM ground_truth WHERE client = ? ORDER BY rowid",
                (FIRST,),
            )
            return [dict(zip(names, row, strict=True)) for row in rows]

    def ready(self) -> dict[str, str]:
        """What the command line prints once requests are accepted."""
        return {
            "base_url": self.base_url,
            "api_key": self.api_key,
            "client_id": self.client_id,
            "console_url": self.console_url,
            "console_token": self.console_token,
        }

    def wait(self) -> None:
        """Come back when it ended."""
        while not self._ended.wait(1.0):
            pass

    def close(self) -> None:
        """End it: at most two seconds, whatever is under way."""
        if self._closed:
            return
        self._closed = True
        self._server.should_exit = True
        self._ended.wait(_END_S)
        self._server.force_exit = True
        ended = threading.Thread(target=self._pool.shutdown, args=(True,), daemon=True)
        ended.start()
        while ended.is_alive():
            # A statement that runs long is broken off, and whichever comes after it.
            self._world.database.interrupt()
            ended.join(0.02)
        self._world.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def __enter__(self) -> Self:
        """The sandbox itself, which is running already."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it."""
        self.close()

    def _begin(self) -> None:
        self._thread.start()
        deadline = time.monotonic() + _START_S
        while not self._server.started:
            if self._ended.is_set() or time.monotonic() > deadline:
                raise DialframeError("the sandbox did not start: see its messages above")
            time.sleep(0.002)

    def _run(self, listener: socket.socket) -> None:
        try:
            asyncio.run(self._server.serve(sockets=[listener]))
        finally:
            self._ended.set()


def start(
    *,
    seed: int = 7,
    size: str = "small",
    as_of: dt.date | None = None,
    data: Path | str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    beside: Beside | None = None,
) -> Sandbox:
    """Run the service on this machine, in a thread of this process, on a real socket.

    Args:
        seed: Which synthetic account; 0 or more.
        size: `empty`, `tiny`, `small`, `medium` or `large`.
        as_of: Day (UTC) on which the account's history ends; today without one.
        data: Folder that keeps the state, where seed, size and day count at the first start only;
            without one it lives in a temporary folder that goes with the sandbox.
        host: Address to listen at.
        port: Port to listen at; 0 takes a free one.
        beside: Further apps by path, made for the sandbox's base URL.

    Raises:
        ConfigError: The size is unknown, the folder or the port cannot be used.
    """
    listener = _listen(host, port)
    folder = Path(tempfile.mkdtemp(prefix="dialframe-sandbox-")) if data is None else Path(data)
    temporary = folder if data is None else None
    try:
        return Sandbox(World(folder, Birth(seed, size, as_of)), host, listener, temporary, beside)
    except BaseException:
        listener.close()
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8787,
    data: Path | str | None = None,
    seed: int = 7,
    size: str = "small",
    as_of: dt.date | None = None,
    beside: Beside | None = None,
    on_ready: Callable[[dict[str, str]], None],
) -> None:
    """Run the service until SIGTERM or SIGINT, from the main thread of a process.

    Args:
        host: As for `start`.
        port: As for `start`.
        data: As for `start`.
        seed: As for `start`.
        size: As for `start`.
        as_of: As for `start`.
        beside: As for `start`.
        on_ready: Told once requests are accepted: `base_url`, `api_key`, `client_id`,
            `console_url` and `console_token`.

    Raises:
        ConfigError: As for `start`.
    """
    with (
        _until_signal(),
        start(
            seed=seed, size=size, as_of=as_of, data=data, host=host, port=port, beside=beside
        ) as sandbox,
    ):
        on_ready(sandbox.ready())
        sandbox.wait()


class _Stopped(BaseException):
    """A signal asks the process to end."""


@contextmanager
def _until_signal() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        # Once is enough: what follows is the ending, which takes care of itself.
        for one in _SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        raise _Stopped

    before = {one: signal.signal(one, stop) for one in _SIGNALS}
    try:
        yield
    except _Stopped:
        pass
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"the sandbox cannot listen at {host} port {port}: {error}") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        # From now on nobody else gets the port; who connects waits until the world is there.
        listener.listen()
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise ConfigError(
            f"the sandbox cannot listen at {host} port {port} ({reason}): choose another port"
        ) from None
    return listener


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
