"""`dialframe sandbox`, `webhooks`, `assistant`: what runs until it is stopped, and answers others."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from urllib.parse import urlsplit

import typer

from dialframe.cli import completion_words
from dialframe.cli.terminal import (
    FINDINGS,
    OK,
    SIZE_HELP,
    AccountOptions,
    Answer,
    AsJson,
    Host,
    Port,
    answer,
    command,
)
from dialframe.config import ENVIRONMENT
from dialframe.errors import ConfigError, DialframeError, WebhookError
from dialframe.extras import skip_address_grammars
from dialframe.instants import day
from dialframe.serving import until_signal

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from dialframe.sandbox.launch import Beside
    from dialframe.webhooks import Delivery

sandbox = typer.Typer(help="The whole service, run on your own machine.", no_args_is_help=True)


@command(sandbox, "serve")
def serve_sandbox(
    host: Host = "127.0.0.1",
    port: Port = 8787,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder that keeps the state; else it is gone at the end."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic account.")] = 7,
    size: Annotated[
        str,
        typer.Option(
            help=SIZE_HELP,
            autocompletion=completion_words.of(completion_words.SIZES),
        ),
    ] = "small",
    as_of: Annotated[str | None, typer.Option(help="The moment that counts as now.")] = None,
    dial: Annotated[
        bool, typer.Option("--dial", help="Let running campaigns dial as time goes on.")
    ] = False,
    profile: Annotated[
        Literal["friendly", "contract"],
        typer.Option(
            help="friendly: every switch on; contract: an account as on its first day, switches off, caps, a lag.",
        ),
    ] = "friendly",
    as_json: AsJson = False,
) -> None:
    """Serve the service until it is stopped.

    It dials nobody and texts nobody. Its tools for an assistant are at /mcp. Example:

        dialframe sandbox serve --size tiny --port 0 --json
    """
    # A day and no instant: the history ends with it.
    as_of_day = day("--as-of", as_of)
    # It takes long to load: a wrong day is said before.
    from dialframe.sandbox import serve

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
        serve(
            host=host,
            port=port,
            data=data,
            seed=seed,
            size=size,
            as_of=as_of_day,
            dial=dial,
            profile=profile,
            beside=tools,
            on_ready=ready,
        )
    what_is_left = (
        "its state went with it; --data FOLDER keeps it" if data is None else f"kept in {data}"
    )
    typer.echo(f"dialframe: the sandbox is stopped; {what_is_left}", err=True)


@command(sandbox, "conform", hidden=True)
def conform_sandbox(
    url: Annotated[
        str, typer.Argument(help="Base address of the service to be held to the contract.")
    ],
    write: Annotated[
        bool,
        typer.Option(
            "--write",
            help="Also try sentences about writing: a number goes on the Do-Not-Call list, leads into a paused campaign.",
        ),
    ] = False,
) -> Answer:
    """Hold a service to the contract, sentence by sentence.

    Each has a request, which changes nothing unless --write allows it. The key is that of DIALFRAME_API_KEY. Status 3: a sentence does not hold. Example:

        dialframe sandbox conform http://127.0.0.1:8787
    """
    from dialframe.client import Credential, parse_address
    from dialframe.contract.scopes import KEY_PREFIXES
    from dialframe.sandbox.conformance import conform

    key = os.environ.get(ENVIRONMENT["api_key"], "")
    if not key:
        raise ConfigError(f"no API key: set the environment variable {ENVIRONMENT['api_key']}")
    address = parse_address(url, called="the URL")
    if key.startswith(KEY_PREFIXES["live"]):
        Credential(key, address)  # refuses to send it in clear
    findings = list(conform(address.url, key, write=write))
    broken = [finding for finding in findings if finding.wrong]
    left_out = [finding for finding in findings if finding.left_out]
    held = len(findings) - len(broken) - len(left_out)
    facts = {
        "checks": len(findings),
        "left_out": len(left_out),
        "broken": [
            {"section": f.check.section, "sentence": f.check.sentence, "wrong": f.wrong}
            for f in broken
        ],
    }
    lines = [f"{f.check.section}: {f.check.sentence} But {f.wrong}." for f in broken]
    lines.append(f"{held} of {len(findings)} sentences hold")
    if left_out:
        lines.append(f"{len(left_out)} were not tried: this service has no rows to try them on")
    return Answer(facts, lines, FINDINGS if broken else OK)


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


webhooks = typer.Typer(
    help="Webhook deliveries: received, checked and kept on this disk.", no_args_is_help=True
)

SECRET_ENV: Final = "DIALFRAME_WEBHOOK_SECRET"  # noqa: S105 - a variable's name

#: Names of variables (POSIX.1-2017, Base Definitions, 8.1), in small letters too.
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
#: File descriptors: a write there waits in no buffer.
_STDOUT: Final = 1
_STDERR: Final = 2


@command(webhooks)
def listen(
    *,
    host: Host = "127.0.0.1",
    port: Port = 8788,
    path: Annotated[str, typer.Option(help="Path of deliveries.")] = "/",
    secret_env: Annotated[
        str,
        typer.Option(
            help="Variable that holds the signing secret; two, with a comma, during a rotation."
        ),
    ] = SECRET_ENV,
    account_options: AccountOptions,
    show_numbers: Annotated[
        bool, typer.Option("--show-numbers", help="Print numbers whole instead of masked.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Receive webhook deliveries and keep their events in the store.

    Runs until it is stopped.     The service delivers to public https addresses only: let your reverse proxy pass them on to this
    one, body unchanged. Each event is printed once (a JSON object with --json); `dialframe export events` writes them all. Example:

        dialframe webhooks listen --port 8788 --path /hooks/calls
    """
    from dialframe.flows.gate_server import keep_event
    from dialframe.webhooks import receiver

    text = secret_of(os.environ, secret_env, "--secret-env", "secret")
    # While a secret is rotated both are good (contract, Delivery).
    secrets = tuple(part.strip() for part in text.split(",") if part.strip())
    if not secrets:
        raise ConfigError(
            f"the endpoint's signing secret is missing: set {secret_env}; it was shown once when the "
            "endpoint was made, and rotating it gives a new one"
        )
    # Whoever can reach the port can send nonsense; what it does to the server is nobody's line.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    # Events for a program on standard output, everything about them on standard error.
    printer = _Printer(as_json=as_json, show_numbers=show_numbers)
    kept, ended_by_itself = Counter[bool](), False

    def keep(delivery: Delivery) -> bool:
        is_new = keep_event(account, delivery)
        # Counted here: what is printed may wait for its reader.
        kept[is_new] += 1
        return is_new

    with (
        until_signal(),
        account_options.connect() as account,
        receiver.start(
            keep,
            secrets=secrets,
            now=partial(datetime.now, UTC),
            on_event=printer.event,
            on_trouble=printer.trouble,
            host=host,
            port=port,
            path=path,
        ) as receiving,
    ):
        typer.echo(f"Deliveries are received at {receiving.url} until you press Ctrl-C.", err=True)
        receiving.wait()
        ended_by_itself = True
    if ended_by_itself:
        raise DialframeError("the receiver ended by itself; start it again")
    _write(_STDERR, f"dialframe: stopped; new events kept in the store: {kept[True]:,}")


class _Printer:
    """Lines for events and troubles; written past the buffers, which a stuck reader would hold at the end."""

    def __init__(self, *, as_json: bool, show_numbers: bool) -> None:
        self._as_json = as_json
        self._show_numbers = show_numbers
        self._troubles: Counter[str] = Counter()
        self._read = True

    def event(self, delivery: Delivery) -> None:
        """One line on standard output, as long as somebody reads there."""
        from dialframe.webhooks.verifying import as_json, as_line

        show = as_json if self._as_json else as_line
        if not self._read:
            return
        try:
            _write(_STDOUT, show(delivery, show_numbers=self._show_numbers))
        except BrokenPipeError:
            self._read = False
            self.trouble(DialframeError("nobody reads the events any more; they are still stored"))

    def trouble(self, error: DialframeError) -> None:
        """One line on standard error the 1st, 10th, 100th... time that something happens."""
        kind = error.why if isinstance(error, WebhookError) else str(error)
        self._troubles[kind] += 1
        # Of each kind apart: a second trouble is not lost among many of the first.
        times = self._troubles[kind]
        # A stranger who sends nonsense must not fill the screen, or a log.
        if str(times).rstrip("0") == "1":
            sentence = f"refused: {error}" if isinstance(error, WebhookError) else str(error)
            _write(
                _STDERR, f"dialframe: {sentence}" + (f" ({times:,} times)" if times > 1 else "")
            )


def secret_of(environment: Mapping[str, str], name: str, option: str, noun: str) -> str:
    """The text of a variable that holds a secret; nothing where it is not set.

    Raises:
        ConfigError: The name is none, and may be the secret itself: it is not repeated.
    """
    # A secret on the command line stands in the list of processes and in the shell's history.
    if not _VARIABLE.fullmatch(name):
        raise ConfigError(f"{option} takes the name of a variable, never the {noun} itself")
    return environment.get(name, "")


def _write(descriptor: int, line: str) -> None:
    left = f"{line}\n".encode("utf-8", "backslashreplace")
    while left:
        # A pipe may take a part only.
        left = left[os.write(descriptor, left) :]


_FOR_A_PROGRAM: Final = (
    "This speaks the Model Context Protocol with a program on standard input; you are on a terminal."
    " Press Ctrl-C to stop, or see `dialframe assistant serve --help`."
)

assistant = typer.Typer(
    help="Tools for an assistant (Model Context Protocol); reading only, unless you allow more.",
    no_args_is_help=True,
)


@assistant.callback()
def _group() -> None:
    pass


@command(assistant, "serve")
def serve_tools(
    *,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Offer an operation that changes something: leads.update, or all; repeatable."
        ),
    ] = None,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Give phone numbers and signing secrets whole.")
    ] = False,
    people: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Fields about persons that may be given: [people] give = [...]."
        ),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Answer over HTTP; each request brings its own key.")
    ] = False,
    host: Host = "127.0.0.1",
    port: Port = 8790,
    account_options: AccountOptions,
) -> None:
    """Serve tools on standard input and output, or over HTTP.

    An assistant starts it itself: register the command with its arguments, and give address, key and
    store as DIALFRAME_BASE_URL, DIALFRAME_API_KEY and DIALFRAME_STORE in its environment. Without
    --allow it only reads. What cannot be undone or sends data out runs only after the user confirmed that
    very call, with the whole target in sight. Names, e-mails, notes, transcripts and recordings are
    withheld unless --people gives them. Each call is written down in the evidence log. Example:

        dialframe assistant serve --allow leads.update --allow callbacks.create
    """
    skip_address_grammars()
    from dialframe.assistant import tool_server
    from dialframe.assistant.offered_operations import Exposure, read_policy

    # Without a policy no field about a person is given.
    fields = read_policy(people) if people else ()
    exposure = Exposure.of(allow or (), reveal=reveal, people=fields)
    if http:
        settings = account_options.settings
        if not settings.base_url:
            raise ConfigError(
                f"the service's address is missing: pass --base-url or set {ENVIRONMENT['base_url']}"
            )
        with until_signal():
            tool_server.serve_http(
                str(settings.base_url), settings.store, exposure,
                host=host, port=port, on_ready=_ready,
            )  # fmt: skip
        return
    with account_options.connect() as account, until_signal():
        if sys.stdin.isatty():
            typer.echo(_FOR_A_PROGRAM, err=True)
        tool_server.serve_stdio(account, exposure)


def _ready(address: str) -> None:
    typer.echo(f"Tools are served at {address} until you press Ctrl-C.", err=True)
    typer.echo("Each request needs its own key: Authorization: Bearer svc_...", err=True)
    if urlsplit(address).hostname not in ("127.0.0.1", "localhost", "::1"):
        typer.echo(
            "Other machines can reach this address, and keys cross the network unencrypted:"
            " put a proxy with TLS before it.",
            err=True,
        )
