"""Commands without a family: the demo, the doctor, the web page."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dialframe.cli import completion_words
from dialframe.cli.terminal import (
    FAILURE,
    OK,
    AccountOptions,
    Answer,
    AsJson,
    Table,
    answer,
    in_options,
    progress,
    say,
)


def web_page(
    *,
    folder: Annotated[
        Path, typer.Argument(help="The only folder that the page reads from and writes to.")
    ] = Path(),
    port: Annotated[
        int,
        typer.Option(help="Port on this machine; 0 takes a free one.", min=0, max=65535),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    account_options: AccountOptions,
    as_json: AsJson = False,
) -> None:
    """Serve the lead workbench, the funnel and the coverage as a web page, until Ctrl-C.

    It listens on this machine alone, and only a browser with the address's token gets in. Example:

        dialframe app lists
    """
    import webbrowser

    from dialframe.config import ENVIRONMENT
    from dialframe.serving import until_signal
    from dialframe.widgets.page_server import serve

    # As variables: the page is another process, and an option of ours is no argument of its server.
    overrides = {
        ENVIRONMENT["base_url"]: account_options.base_url,
        ENVIRONMENT["store"]: account_options.store and str(account_options.store.resolve()),
    }
    environment = {**os.environ, **{name: value for name, value in overrides.items() if value}}
    # The page asks for a key itself; it never stands on the command line.
    with serve(folder, environment=environment, port=port) as page:
        if as_json:
            answer({"url": page.url, "token": page.token, "address": page.address})
        else:
            say(f"The page is at {page.address}\nStop it with Ctrl-C.")
        if browser:
            webbrowser.open(page.opener.as_uri())
        # The server behind the page ends with it.
        with until_signal():
            page.process.wait()


def demo(
    *,
    out: Annotated[Path, typer.Option(help="Folder for what is written.")] = Path(
        "dialframe-demo"
    ),
    size: Annotated[
        str,
        typer.Option(
            help="Size of the account: tiny (1,000 calls), small (10,000), medium or large.",
            autocompletion=completion_words.of(completion_words.SIZES[1:]),
        ),
    ] = "small",
    seed: Annotated[int, typer.Option(help="Seed of the account.")] = 7,
) -> Answer:
    """Run everything once on a sandbox of its own: no account is needed, nobody is called.

    Example:
        dialframe demo
    """
    from dialframe.flows import demo as flow

    # A clock that nobody sets back meanwhile.
    begun = time.monotonic()
    with progress() as listen:
        result = flow.demo(
            out, now=partial(datetime.now, UTC), size=size, seed=seed, on_progress=listen
        )
    took_s = time.monotonic() - begun
    facts = {
        "findings": list(result.findings),
        "took_s": round(took_s, 1),
        "files": {name: str(path) for name, path in result.files.items()},
    }
    lines = (
        *(f"- {sentence}" for sentence in result.findings),
        "",
        f"Done in {took_s:.0f} s. Open {result.files['report']} in a browser; what is behind it is in {out}/.",
        "Next: `dialframe leads check YOUR_FILE.csv`, or `dialframe sandbox serve` and a notebook of your own.",
    )
    return Answer(facts, lines)


def doctor(account_options: AccountOptions) -> Answer:
    """Check address, key, scopes, clock, rate limit, store, disk and libraries; nothing is changed.

    Ends with status 1 if a check failed. Example:

        dialframe doctor
    """
    from dialframe.flows import doctor as flow
    from dialframe.flows.machine_checks import Diagnosis

    # Without opening the account: what keeps it from opening is what is looked for.
    settings = account_options.settings
    with progress() as listen:
        # A missing setting is a finding here, and no error.
        diagnosis = flow.diagnose(settings, now=partial(datetime.now, UTC), on_progress=listen)
    # The library names its arguments; here they are options.
    diagnosis = Diagnosis(
        tuple(
            replace(row, detail=in_options(row.detail), what_next=in_options(row.what_next))
            for row in diagnosis.rows
        )
    )
    rows = [(row.check, row.state, row.detail, row.what_next) for row in diagnosis.rows]
    # Once more below the table, which a narrow terminal cuts.
    troubles = (
        f"{row.state}: {row.check}: {'; '.join(filter(None, (row.detail, row.what_next)))}"
        for row in diagnosis.troubles
    )
    table = Table(rows, ("check", "state", "detail", "what next"), "Doctor")
    lines: list[str | Table] = [table, *troubles, diagnosis.verdict]
    return Answer(diagnosis.as_dict(), lines, FAILURE if diagnosis.failed else OK)
