"""What commands share: options, progress on a terminal, answers for people and for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from dialframe.config import OnProgress, Progress, silent

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.account import Account

BaseUrl = Annotated[
    str | None,
    typer.Option(
        "--base-url", help="Address of the service; else DIALFRAME_BASE_URL.", show_default=False
    ),
]
StoreFolder = Annotated[
    Path | None,
    typer.Option(
        "--store", help="Folder of the local store; else DIALFRAME_STORE.", show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines.")]
Region = Annotated[
    str,
    typer.Option(
        "--region", help="Region of numbers written without a country code: US, GB, DE..."
    ),
]
OutFolder = Annotated[Path, typer.Option("--out", help="Folder for what is written.")]


#: Text up to this long stays on one line of a table.
SHORT_CHARS = 24


def connect(base_url: str | None, store: Path | None) -> Account:
    """The account of the environment, or of what was given instead."""
    from dialframe.account import connect as open_account

    return open_account(base_url=base_url, store=store)


@contextmanager
def progress() -> Iterator[OnProgress]:
    """A listener that draws bars on a terminal and says nothing in a pipe."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield silent
        return
    tasks: dict[str, TaskID] = {}
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    bars = Bars(*columns, console=console, transient=True)

    def listen(step: Progress) -> None:
        # Nothing is drawn before there is something to tell: a question may come first.
        bars.start()
        if step.step not in tasks:
            tasks[step.step] = bars.add_task(step.step, total=step.total)
        bars.update(tasks[step.step], completed=step.done, total=step.total)

    try:
        yield listen
    finally:
        if tasks:
            bars.stop()


def say(text: str) -> None:
    """One line for a person, on standard output."""
    typer.echo(text)


def answer(value: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")
    sys.stdout.flush()


def show(frame: pd.DataFrame, title: str) -> None:
    """A small table on standard output, numbers to the right."""
    import pandas as pd

    table = Table(title=title, title_justify="left", header_style="bold")
    for name in frame.columns:
        numeric = pd.api.types.is_numeric_dtype(frame[name])
        short = numeric or frame[name].astype("str").str.len().max() <= SHORT_CHARS
        table.add_column(
            Text(str(name)), justify="right" if numeric else "left", no_wrap=bool(short)
        )
    for row in frame.itertuples(index=False, name=None):
        table.add_row(*(Text("" if pd.isna(cell) else _cell(cell)) for cell in row))
    Console().print(table)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
