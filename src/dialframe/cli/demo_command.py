"""`dialframe demo`: everything once, on ugly input, with nothing set up."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dialframe.cli import completion
from dialframe.cli.terminal import AsJson, answer, progress, say


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for what is written.")] = Path(
        "dialframe-demo"
    ),
    size: Annotated[
        str,
        typer.Option(
            help="Size of the account: tiny (1,000 calls), small (10,000), medium or large.",
            autocompletion=completion.of(completion.SIZES[1:]),
        ),
    ] = "small",
    seed: Annotated[int, typer.Option(help="Seed of the account.")] = 7,
    as_json: AsJson = False,
) -> None:
    """Run everything once on a sandbox of its own: no account is needed, nobody is called.

    Example:
        dialframe demo
    """
    from dialframe.flows import demo as flow

    begun = time.monotonic()
    with progress() as listen:
        result = flow.demo(
            out, now=partial(datetime.now, UTC), size=size, seed=seed, on_progress=listen
        )
    took_s = time.monotonic() - begun
    if as_json:
        answer(
            {
                "findings": list(result.findings),
                "took_s": round(took_s, 1),
                "files": {name: str(path) for name, path in result.files.items()},
            }
        )
        return
    for sentence in result.findings:
        say(f"- {sentence}")
    say("")
    say(
        f"Done in {took_s:.0f} s. Open {result.files['report']} in a browser; what is behind it is in {out}/."
    )
    say(
        "Next: `dialframe leads check YOUR_FILE.csv`, or `dialframe sandbox serve` and a notebook of your own."
    )
