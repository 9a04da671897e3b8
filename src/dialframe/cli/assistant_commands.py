"""`dialframe assistant`: the account's operations and analyses as tools for an assistant."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Final
from urllib.parse import urlsplit

import typer

from dialframe.cli.terminal import BaseUrl, StoreFolder
from dialframe.config import ENVIRONMENT, Settings
from dialframe.errors import ConfigError
from dialframe.extras import skip_address_grammars

_FOR_A_PROGRAM: Final = (
    "This speaks the Model Context Protocol with a program on standard input; you are on a terminal."
    " Press Ctrl-C to stop, or see `dialframe assistant serve --help`."
)

app = typer.Typer(
    help="Tools for an assistant (Model Context Protocol); reading only, unless you allow more.",
    no_args_is_help=True,
)


@app.callback()
def _group() -> None:
    pass


@app.command()
def serve(
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Offer an operation that changes something: leads.update, or all. May be repeated.",
            show_default=False,
        ),
    ] = None,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Give phone numbers and signing secrets whole.")
    ] = False,
    policy: Annotated[
        Path | None,
        typer.Option(
            help="TOML file with the fields about persons that may be given: [people] give = [...].",
            show_default=False,
        ),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Answer over HTTP; each request brings its own key.")
    ] = False,
    host: Annotated[str, typer.Option(help="Address to listen on, with --http.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(help="Port to listen on, with --http; 0 takes a free one.", min=0, max=65535),
    ] = 8790,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
) -> None:
    """Serve tools on standard input and output, or over HTTP.

    An assistant starts it itself: register the command with its arguments, and give address, key and
    store as DIALFRAME_BASE_URL, DIALFRAME_API_KEY and DIALFRAME_STORE in its environment. Without
    --allow it only reads. What cannot be undone or sends data out runs only after the user confirmed that
    very call, with the whole target in sight. Names, e-mails, notes, transcripts and recordings are
    withheld unless --policy gives them. Each call is written down in assistant.jsonl in the store. Example:

        dialframe assistant serve --allow leads.update --allow callbacks.create
    """
    skip_address_grammars()
    from dialframe.account import connect
    from dialframe.assistant import tool_server
    from dialframe.assistant.offered_operations import Exposure, read_policy

    people = read_policy(policy) if policy else ()
    exposure = Exposure.of(allow or (), reveal=reveal, people=people)
    if http:
        settings = _settings(base_url, store)
        with until_stopped():
            tool_server.serve_http(
                str(settings.base_url), settings.store, exposure,
                host=host, port=port, on_ready=_ready,
            )  # fmt: skip
        return
    with connect(base_url=base_url, store=store) as account, until_stopped():
        if sys.stdin.isatty():
            typer.echo(_FOR_A_PROGRAM, err=True)
        tool_server.serve_stdio(account, exposure)


@contextmanager
def until_stopped() -> Iterator[None]:
    """Ctrl-C, SIGTERM and a closed terminal are the proper end of a server."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {
        name: signal.signal(getattr(signal, name), lambda *_: signal.raise_signal(signal.SIGINT))
        for name in names
    }
    # A shell starts what runs in the background with SIGINT ignored.
    before["SIGINT"] = signal.signal(signal.SIGINT, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(getattr(signal, name), handler)


def _settings(base_url: str | None, store: Path | None) -> Settings:
    settings = Settings.from_environment(os.environ, base_url=base_url, store=store)
    if not settings.base_url:
        raise ConfigError(
            f"the service's address is missing: pass --base-url or set {ENVIRONMENT['base_url']}"
        )
    return settings


def _ready(address: str) -> None:
    typer.echo(f"Tools are served at {address} until you press Ctrl-C.", err=True)
    typer.echo("Each request needs its own key: Authorization: Bearer svc_...", err=True)
    if urlsplit(address).hostname not in ("127.0.0.1", "localhost", "::1"):
        typer.echo(
            "Other machines can reach this address, and keys cross the network unencrypted:"
            " put a proxy with TLS before it.",
            err=True,
        )
