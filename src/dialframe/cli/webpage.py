"""`dialframe app`: the workbench, the funnel and the coverage as a web page for one person on this machine."""

from __future__ import annotations

import os
import signal
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from dialframe.cli.terminal import AsJson, BaseUrl, StoreFolder, answer, say


def app(
    folder: Annotated[
        Path, typer.Argument(help="The only folder that the page reads from and writes to.")
    ] = Path(),
    port: Annotated[
        int,
        typer.Option("--port", help="Port on this machine; 0 takes a free one.", min=0, max=65535),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Serve the lead workbench, the funnel and the coverage as a web page, until Ctrl-C.

    It listens on this machine alone, and only a browser with the address's token gets in. Example:

        dialframe app lists
    """
    from dialframe.background import end_with_parent
    from dialframe.config import ENVIRONMENT
    from dialframe.widgets.page.server import serve

    told = {
        ENVIRONMENT["base_url"]: base_url,
        ENVIRONMENT["store"]: None if store is None else str(store.resolve()),
    }
    environment = {**os.environ, **{name: value for name, value in told.items() if value}}
    with serve(folder, environment=environment, port=port) as page:
        if as_json:
            answer({"url": page.url, "token": page.token, "address": page.address})
        else:
            say(f"The page is at {page.address}\nStop it with Ctrl-C.")
        if browser:
            webbrowser.open(page.opener.as_uri())
        # Ctrl-C, SIGTERM and a closed terminal are the proper end; the server behind the page ends too.
        # Said of each, because a shell starts what runs in the background with SIGINT ignored.
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.default_int_handler)
        end_with_parent()
        with suppress(KeyboardInterrupt):
            page.process.wait()
