"""`dialframe webhooks`: deliveries received, checked and kept on this disk."""

from __future__ import annotations

import logging
import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dialframe.cli.terminal import BaseUrl, StoreFolder, connect
from dialframe.errors import ConfigError, DialframeError, WebhookError

if TYPE_CHECKING:
    from dialframe.webhooks import Delivery

app = typer.Typer(
    help="Webhook deliveries: received, checked and kept on this disk.", no_args_is_help=True
)

SECRET_ENV: Final = "DIALFRAME_WEBHOOK_SECRET"  # noqa: S105 - a variable's name

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
#: SIGHUP says that the terminal was closed.
_SIGNALS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
)
_STDOUT: Final = 1
_STDERR: Final = 2


@app.command()
def listen(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)
    ] = 8788,
    path: Annotated[str, typer.Option(help="Path of deliveries.")] = "/",
    secret_env: Annotated[
        str,
        typer.Option(
            help="Variable that holds the signing secret; two, with a comma, during a rotation."
        ),
    ] = SECRET_ENV,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    show_numbers: Annotated[
        bool, typer.Option("--show-numbers", help="Print numbers whole instead of masked.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each event.")
    ] = False,
) -> None:
    """Receive webhook deliveries until it is stopped, and keep their events in the local store.

    The service delivers to public https addresses only: let your reverse proxy pass them on to this
    one, body unchanged. Each event is printed once; `dialframe export events` writes them all. Example:

        dialframe webhooks listen --port 8788 --path /hooks/calls
    """
    from dialframe.flows import webhook_storage

    secrets = _secrets(os.environ, secret_env)
    # Whoever can reach the port can send nonsense; what it does to the server is nobody's line.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    printer = _Printer(as_json=as_json, show_numbers=show_numbers)
    with (
        _until_signal(printer.end),
        connect(base_url, store) as account,
        webhook_storage.listen(
            account,
            secrets=secrets,
            now=partial(datetime.now, UTC),
            on_event=printer.event,
            on_trouble=printer.trouble,
            host=host,
            port=port,
            path=path,
        ) as receiver,
    ):
        typer.echo(f"Deliveries are received at {receiver.url} until you press Ctrl-C.", err=True)
        receiver.wait()
        raise DialframeError("the receiver ended by itself; start it again")


class _Printer:
    """Lines for events and troubles; written past the buffers, which a stuck reader would hold at the end."""

    def __init__(self, *, as_json: bool, show_numbers: bool) -> None:
        self._as_json = as_json
        self._show_numbers = show_numbers
        self._troubles: Counter[str] = Counter()
        self._read = True
        self._events = 0

    def event(self, delivery: Delivery) -> None:
        """One line on standard output, as long as somebody reads there."""
        from dialframe.webhooks.verifying import as_json, as_line

        self._events += 1
        show = as_json if self._as_json else as_line
        if not self._read:
            return
        try:
            _write(_STDOUT, show(delivery, show_numbers=self._show_numbers))
        except BrokenPipeError:
            self._read = False
            self.trouble(DialframeError("nobody reads the events any more; they are still stored"))

    def end(self) -> None:
        """One line on standard error: what was received and is kept."""
        _write(_STDERR, f"dialframe: stopped; new events kept in the store: {self._events:,}")

    def trouble(self, error: DialframeError) -> None:
        """One line on standard error the 1st, 10th, 100th... time that something happens."""
        kind = error.why if isinstance(error, WebhookError) else str(error)
        self._troubles[kind] += 1
        times = self._troubles[kind]
        if str(times).rstrip("0") == "1":
            sentence = f"refused: {error}" if isinstance(error, WebhookError) else str(error)
            _write(
                _STDERR, f"dialframe: {sentence}" + (f" ({times:,} times)" if times > 1 else "")
            )


def _secrets(environment: Mapping[str, str], name: str) -> tuple[str, ...]:
    if not _VARIABLE.fullmatch(name):
        raise ConfigError("--secret-env takes the name of a variable, never the secret itself")
    secrets = tuple(part.strip() for part in environment.get(name, "").split(",") if part.strip())
    if not secrets:
        raise ConfigError(
            f"the endpoint's signing secret is missing: set {name}; it was shown once when the endpoint "
            "was made, and rotating it gives a new one"
        )
    return secrets


def _write(descriptor: int, line: str) -> None:
    left = f"{line}\n".encode("utf-8", "backslashreplace")
    while left:
        left = left[os.write(descriptor, left) :]


class _Stopped(BaseException):
    """A signal asks the process to end."""


@contextmanager
def _until_signal(then: Callable[[], None]) -> Iterator[None]:
    """Let SIGTERM and Ctrl-C be the proper end of what is within, and do something behind it."""

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        # Once is enough: what follows is the ending, which takes care of itself.
        for signal_number in _SIGNALS:
            signal.signal(signal_number, signal.SIG_IGN)
        raise _Stopped

    before = {signal_number: signal.signal(signal_number, stop) for signal_number in _SIGNALS}
    try:
        yield
    except _Stopped:
        then()
    finally:
        for signal_number, handler in before.items():
            signal.signal(signal_number, handler)
