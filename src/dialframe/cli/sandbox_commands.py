"""`dialframe sandbox`: the whole service on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialframe.cli import completion
from dialframe.cli.terminal import AsJson, Host, Port, answer
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from dialframe.sandbox.launch import Beside

app = typer.Typer(help="The whole service, run on your own machine.", no_args_is_help=True)


@app.command()
def serve(
    host: Host = "127.0.0.1",
    port: Port = 8787,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder that keeps the state; else it goes with the process.", show_default=False
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic account.")] = 7,
    size: Annotated[
        str,
        typer.Option(
            help="Size of the account: empty, tiny (1,000 calls), small (10,000), medium or large.",
            autocompletion=completion.of(completion.SIZES),
        ),
    ] = "small",
    as_of: Annotated[
        str | None,
        typer.Option(
            help="Day on which the account's history ends; today in UTC.", show_default=False
        ),
    ] = None,
    dial: Annotated[
        bool, typer.Option("--dial", help="Let running campaigns dial as time goes on.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Serve the service until it is stopped.

    It dials nobody and texts nobody. Its tools for an assistant are at /mcp. Example:

        dialframe sandbox serve --size tiny --port 0 --json
    """
    day = _day(as_of)
    # It takes long to load: a wrong day is said before.
    from dialframe import sandbox as room

    def ready(facts: dict[str, Any]) -> None:
        if as_json:
            answer(facts)
            return
        typer.echo(f"The sandbox answers at {facts['base_url']} until you press Ctrl-C.", err=True)
        typer.echo(f"  export DIALFRAME_BASE_URL={facts['base_url']}")
        typer.echo(f"  export DIALFRAME_API_KEY={facts['api_key']}")
        typer.echo(
            f"  console: {facts['console_url']} with token {facts['console_token']}", err=True
        )

    with tools_beside(host) as tools:
        room.serve(
            host=host,
            port=port,
            data=data,
            seed=seed,
            size=size,
            as_of=day,
            dial=dial,
            beside=tools,
            on_ready=ready,
        )
    what_is_left = (
        "its state went with it; --data FOLDER keeps it" if data is None else f"kept in {data}"
    )
    typer.echo(f"dialframe: the sandbox is stopped; {what_is_left}", err=True)


@contextmanager
def tools_beside(host: str) -> Iterator[Beside | None]:
    """What makes the tools that a sandbox serves at `/mcp`; None where their packages are missing.

    Args:
        host: Where the sandbox listens.
    """
    if find_spec("mcp") is None:
        yield None
        return

    with TemporaryDirectory(prefix="dialframe-tools-") as folder:

        def make(base_url: str) -> Starlette:
            # They take seconds to load, and most sandboxes are asked for no tools.
            from dialframe.assistant.offered_operations import ALL, PEOPLE, Exposure
            from dialframe.assistant.tool_server import http_app

            return http_app(base_url, Path(folder), Exposure.of([ALL], people=PEOPLE), host=host)

        yield lambda base_url: {"/mcp": lambda: make(base_url)}


def _day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007 - a day has no zone
    except ValueError:
        raise ConfigError(f"--as-of takes a day such as 2026-09-30, not {text!r}") from None
