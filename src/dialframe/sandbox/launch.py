"""Starts and ends the sandbox: a folder, a socket, a thread."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Literal, Self

from starlette.applications import Starlette

from dialframe.background import in_thread
from dialframe.contract import limits
from dialframe.contract.scopes import SCOPES
from dialframe.sandbox import asgi_app
from dialframe.sandbox.asgi_app import CONSOLE, Connection
from dialframe.sandbox.clock import SECOND_US, Clock
from dialframe.sandbox.console_api import Console, ConsoleEndpoint
from dialframe.sandbox.world.api_objects import Json
from dialframe.sandbox.world.runtime_state import FIRST, FirstStart, World
from dialframe.sandbox.world.sandbox_database import records
from dialframe.serving import ServerThread, listen, until_signal, url_of

#: Idle connections stay open for so long; a client that reuses one should not find it closed.
_KEEP_ALIVE_S: Final = 75
#: How often a process looks whether its parent still lives.
_LOOK_S: Final = 0.5


Profile = Literal["friendly", "contract"]
#: What the contract says of a new account, where the friendly profile has everything on: switches are off until they
#: are enabled, webhooks too (Tiers; Events), and a sending key has an allow-list and caps.
_CONTRACT: Final[Json] = {
    **{scope.switch: False for scope in SCOPES if scope.switch is not None},
    "webhooks_enabled": False,
    "daily_cap": 500,
    "per_minute_cap": 10,
}
_LOOPBACK: Final = ["127.0.0.0/8", "::1/128"]


#: What makes the apps that are served beside the service, by path, for its base URL.
Beside = Callable[[str], Mapping[str, Callable[[], Starlette]]]


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
        # One pool for the service, the console and deliveries; the database lets one of them write at a time.
        self._pool = ThreadPoolExecutor(asgi_app.WORKERS, "dialframe-sandbox")
        self.base_url = url_of(listener)
        self.api_key = world.first_key
        self.client_id = world.access.clients[FIRST].client_id
        self.console = Console(world)
        self.console_token = world.console_token
        # Errors: a problem type is an address under which its page is served.
        world.docs_base = f"{self.base_url}/docs"
        self._closed = False
        try:
            self._server = ServerThread(
                asgi_app.build(
                    world,
                    self._pool,
                    console=ConsoleEndpoint(world, self._pool),
                    listening=host,
                    beside=beside(self.base_url) if beside else {},
                ),
                listener,
                name="the sandbox",
                http=Connection,
                lifespan="on",
                # uvicorn's 5 s would close connections that a client's pool takes for open.
                timeout_keep_alive=_KEEP_ALIVE_S,
            )
        except BaseException:
            self._release()
            raise

    @property
    def console_url(self) -> str:
        """Address of the console over HTTP."""
        return self.base_url + CONSOLE

    def ground_truth(self) -> list[Json]:
        """The first client's answer sheet: what an audit of its synthetic account has to find.

        Returns:
            Entries with `fault`, `resource`, `id`, `expected` and `detail`.
        """
        # By row: the order in which the faults were planted.
        with self._world.database.read() as db:
            rows = db.execute(
                "SELECT fault, resource, id, expected, detail FROM ground_truth"
                " WHERE client = ? ORDER BY rowid",
                (FIRST,),
            )
            return records(rows)

    def ready(self) -> dict[str, str]:
        """What the command line prints once requests are accepted.

        Returns:
            `base_url`, `api_key`, `client_id`, `console_url` and `console_token`.
        """
        return {
            "base_url": self.base_url,
            "api_key": self.api_key,
            "client_id": self.client_id,
            "console_url": self.console_url,
            "console_token": self.console_token,
        }

    @property
    def running(self) -> bool:
        """Whether it still accepts requests."""
        return self._server.running

    def wait(self) -> None:
        """Come back when it ended."""
        self._server.wait()

    def close(self) -> None:
        """End it: at most two seconds, whatever is under way."""
        if not self._closed:
            self._closed = True
            self._server.close()
            self._release()

    # A statement in C cannot be cancelled from Python, only interrupted by SQLite.
    def _release(self) -> None:
        ended = in_thread(lambda: self._pool.shutdown(wait=True), "dialframe-sandbox-end")
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

    def __exit__(self, *ended: object) -> None:
        """End it."""
        self.close()


def start(
    *,
    seed: int = 7,
    size: str = "small",
    as_of: dt.date | None = None,
    data: Path | str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    dial: bool = False,
    profile: Profile = "friendly",
    beside: Beside | None = None,
    now: Callable[[], float] = time.time,
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
        dial: Whether to switch the dialer on; the console can do it at any time.
        profile: `friendly` has every switch on; `contract` is an account as the contract has it on its first day:
            switches and webhooks off, caps, an allow-list, and changes of access that act after 15 seconds.
        beside: What makes further apps by path, for the sandbox's base URL, at their first request.
        now: Gives real time in Unix seconds, which the sandbox's clock is ahead of by what it was advanced.

    Returns:
        The sandbox, which accepts requests already; a context manager that ends it.

    Raises:
        ConfigError: The size is unknown, the folder or the port cannot be used.

    Example:
        >>> with start(seed=7, size="empty") as sandbox:
        ...     sandbox.console.account()["balance"]
        100
    """
    # The port first: one that is taken should not cost the drawing of an account.
    listener = listen("the sandbox", host, port)
    folder = Path(tempfile.mkdtemp(prefix="dialframe-sandbox-")) if data is None else Path(data)
    # A folder that somebody named is never removed.
    temporary = folder if data is None else None
    try:
        sandbox = Sandbox(
            World(folder, FirstStart(seed, size, as_of), Clock(source=now)),
            host,
            listener,
            temporary,
            beside,
        )
    except BaseException:
        listener.close()
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise
    if profile == "contract":
        sandbox.console.update_account(_CONTRACT)
        sandbox.console.update_client(sandbox.client_id, ip_allow=_LOOPBACK)
        sandbox._world.lag_us = limits.ACCESS_CHANGE_LAG_S * SECOND_US  # noqa: SLF001 - its own
    if dial:
        # Off unless asked: a history stands still.
        sandbox.console.update_account({"dialer": {"enabled": True}})
    return sandbox


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8787,
    data: Path | str | None = None,
    seed: int = 7,
    size: str = "small",
    as_of: dt.date | None = None,
    dial: bool = False,
    profile: Profile = "friendly",
    beside: Beside | None = None,
    on_ready: Callable[[dict[str, str]], None],
) -> None:
    """Run the service from the main thread of a process, until a signal or its parent's end.

    The signals are SIGTERM, SIGINT and, where there is one, SIGHUP.

    Args:
        host: As for `start`.
        port: As for `start`.
        data: As for `start`.
        seed: As for `start`.
        size: As for `start`.
        as_of: As for `start`.
        dial: As for `start`.
        profile: As for `start`.
        beside: As for `start`.
        on_ready: Called once requests are accepted, with `base_url`, `api_key`, `client_id`,
            `console_url` and `console_token`.

    Raises:
        ConfigError: As for `start`.

    Example:
        dialframe.sandbox.serve(port=8787, size="tiny", on_ready=print)
    """
    # Who started it is gone when another process is its parent: nobody could end it any more.
    parent = os.getppid()
    with (
        until_signal(),
        start(
            seed=seed,
            size=size,
            as_of=as_of,
            data=data,
            host=host,
            port=port,
            dial=dial,
            profile=profile,
            beside=beside,
        ) as sandbox,
    ):
        on_ready(sandbox.ready())
        while sandbox.running and os.getppid() == parent:
            time.sleep(_LOOK_S)
