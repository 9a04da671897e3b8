"""Commands without a family: the demo, the doctor, the web app."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from dialframe.cli import completion_words
from dialframe.cli.terminal import (
    FAILURE,
    OK,
    SIZE_HELP,
    AccountOptions,
    Answer,
    AsJson,
    OutFolder,
    Port,
    Table,
    answer,
    in_options,
    progress,
    say,
)

#: Leads on to the app at once.
_OPENING: Final = (
    '<!doctype html><meta http-equiv="refresh" content="0; url={link}"><title>dialframe</title>'
)


def web_app(
    *,
    folder: Annotated[
        Path, typer.Argument(help="The only folder that lists are read from and written to.")
    ] = Path(),
    port: Port = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the app in a browser.")
    ] = True,
    account_options: AccountOptions,
    as_json: AsJson = False,
) -> None:
    """Open the web app: lists, compliance and performance, until Ctrl-C.

    It listens on this machine alone, and only a browser that was opened by its link gets in. Example:

        dialframe app lists
    """
    import tempfile
    import webbrowser

    from dialframe.app import serve
    from dialframe.cli.lead_options import profiles_folder
    from dialframe.files import write_text
    from dialframe.firm import Firm
    from dialframe.flows.suppression_import import own_list
    from dialframe.serving import until_signal

    with (
        serve(
            folder,
            account_options.connect,
            firm=Firm.find(Path.cwd()),
            own_list=own_list(os.environ, account_options.settings.store),
            profiles=profiles_folder(account_options.store),
            port=port,
        ) as running,
        tempfile.TemporaryDirectory(prefix="dialframe-app-") as private,
    ):
        if as_json:
            answer({"url": running.url, "token": running.token, "address": running.link})
        else:
            say(f"Open {running.link}\nStop the app with Ctrl-C.")
        if browser:
            # Through a file of the owner's alone: the token is in no list of processes.
            page = write_text(_OPENING.format(link=running.link), Path(private) / "open.html")
            webbrowser.open(page.as_uri())
        with until_signal():
            running.wait()


def demo(
    *,
    out: OutFolder = Path("dialframe-demo"),
    size: Annotated[
        str,
        typer.Option(
            help=SIZE_HELP,
            autocompletion=completion_words.of(completion_words.SIZES[1:]),
        ),
    ] = "small",
    seed: Annotated[int, typer.Option(help="Seed of the synthetic account.")] = 7,
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
        f"Done in {took_s:.0f} s. Open {result.files['report']} in a browser; source files are in {out}/.",
        "Next: `dialframe leads clean YOUR_FILE.csv`, or `dialframe sandbox serve` and a notebook of your own.",
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
    # Scopes that work are one line; --json names each.
    fine = [row for row in diagnosis.rows if row.check.startswith("scope ") and row.state == "ok"]
    shown = [row for row in diagnosis.rows if row not in fine]
    rows = [(row.check, row.state, row.detail, row.what_next) for row in shown]
    if fine:
        at = next(
            (at for at, row in enumerate(shown) if row.check.startswith("scope ")), len(rows)
        )
        rows.insert(
            at, ("scopes", "ok", f"{len(fine)} granted; those that only read were tried", "")
        )
    # Once more below the table, which a narrow terminal cuts.
    troubles = (
        f"{row.state}: {row.check}: {'; '.join(filter(None, (row.detail, row.what_next)))}"
        for row in diagnosis.troubles
    )
    table = Table(rows, ("check", "state", "detail", "what next"), "Doctor")
    lines: list[str | Table] = [table, *troubles, diagnosis.verdict]
    return Answer(diagnosis.as_dict(), lines, FAILURE if diagnosis.failed else OK)
