"""`dialframe doctor`: what works from here with this key, and what to do about the rest."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import typer

from dialframe.cli.terminal import (
    FAILURE,
    AsJson,
    BaseUrl,
    StoreFolder,
    answer,
    in_options,
    progress,
    say,
)
from dialframe.config import Settings


def doctor(base_url: BaseUrl = None, store: StoreFolder = None, as_json: AsJson = False) -> None:
    """Check address, key, scopes, clock, rate limit, store, disk and libraries; nothing is changed.

    Ends with status 1 if a check failed. Example:

        dialframe doctor
    """
    from dialframe.cli import tables
    from dialframe.flows import doctor as flow
    from dialframe.flows.machine_checks import Diagnosis

    settings = Settings.from_environment(os.environ, base_url=base_url, store=store)
    with progress() as listen:
        found = flow.diagnose(settings, now=partial(datetime.now, UTC), on_progress=listen)
    found = Diagnosis(
        tuple(
            replace(row, detail=in_options(row.detail), what_next=in_options(row.what_next))
            for row in found.rows
        )
    )
    if as_json:
        answer(found.as_dict())
    else:
        rows = [(row.check, row.state, row.detail, row.what_next) for row in found.rows]
        names = ("check", "state", "detail", "what next")
        cells = zip(names, zip(*rows, strict=True), strict=True)
        tables.show([tables.Column(name, column) for name, column in cells], "Doctor")
        for row in found.troubles:
            then = f"; {row.what_next}" if row.what_next else ""
            say(f"{row.state}: {row.check}: {row.detail}{then}")
        say(found.verdict)
    if found.failed:
        raise typer.Exit(FAILURE)
