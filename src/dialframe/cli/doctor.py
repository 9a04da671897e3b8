"""`dialframe doctor`: what works from here with this key, and what to do about the rest."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import partial

import typer

from dialframe.cli.face import AsJson, BaseUrl, StoreFolder, answer, progress, say, show
from dialframe.config import Settings


def doctor(base_url: BaseUrl = None, store: StoreFolder = None, as_json: AsJson = False) -> None:
    """Check address, key, scopes, clock, rate limit, store and versions; nothing is changed.

    Ends with status 1 if a check failed. Example:

        dialframe doctor
    """
    import pandas as pd

    from dialframe.flows import doctor as flow

    settings = Settings.from_environment(os.environ, base_url=base_url, store=store)
    with progress() as listen:
        found = flow.diagnose(settings, now=partial(datetime.now, UTC), on_progress=listen)
    if as_json:
        answer(found.as_dict())
    else:
        rows = [(row.check, row.state, row.detail, row.what_next) for row in found.rows]
        show(pd.DataFrame(rows, columns=["check", "state", "detail", "what next"]), "Doctor")
        say(found.verdict)
    if found.failed:
        raise typer.Exit(1)
