"""`dialframe leads`: a messy file in, a clean list, a reject file with reasons, an import that cannot double."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialframe.cli.face import (
    AsJson,
    BaseUrl,
    OutFolder,
    Region,
    StoreFolder,
    answer,
    connect,
    progress,
    say,
    show,
)
from dialframe.contract.ids import kind_of
from dialframe.errors import ConfigError

if TYPE_CHECKING:
    from dialframe.flows.listing import Prepared, Recipe

app = typer.Typer(
    help="Lead files: look, clean, screen against Do-Not-Call, import.", no_args_is_help=True
)

Files = Annotated[
    list[Path], typer.Argument(help="CSV, TSV, XLSX, XLS, ODS, JSON, JSONL or Parquet.")
]
File = Annotated[Path, typer.Argument(help="CSV, TSV, XLSX, XLS, ODS, JSON, JSONL or Parquet.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Say which column is which: phone=Telefon. May be repeated.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", help="Encoding, where the guess is wrong.", show_default=False),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", help="Delimiter, where the guess is wrong.", show_default=False),
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", help="Sheet of a workbook.", show_default=False)
]
MaxAge = Annotated[
    str, typer.Option("--max-age", help="Age up to which a stored Do-Not-Call answer will do.")
]


@app.command()
def check(
    files: Files,
    region: Region = "US",
    column: Columns = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Say what would become of every record; nothing is written.

    Example:
        dialframe leads check autumn.csv --region US
    """
    from dialframe.flows import listing

    with progress() as listen:
        prepared = listing.prepare(
            files, _recipe(region, column, encoding, delimiter, sheet), on_progress=listen
        )
    _tell(prepared, {}, as_json=as_json)


@app.command()
def clean(
    files: Files,
    region: Region = "US",
    out: OutFolder = Path("cleaned"),
    column: Columns = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    as_json: AsJson = False,
) -> None:
    """Write a clean E.164 list, a reject file with a reason per row, and a report.

    Example:
        dialframe leads clean autumn.csv --region US --out cleaned
    """
    from dialframe.flows import listing

    with progress() as listen:
        prepared = listing.prepare(
            files, _recipe(region, column, encoding, delimiter, sheet), on_progress=listen
        )
        written = prepared.write(out)
    _tell(prepared, {"files": _named(written)}, as_json=as_json)


@app.command()
def screen(
    files: Files,
    region: Region = "US",
    out: OutFolder = Path("cleaned"),
    max_age: MaxAge = "31d",
    column: Columns = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Clean, then ask the service which numbers are on a Do-Not-Call list; answers are kept as evidence.

    Example:
        dialframe leads screen autumn.csv --region US --out cleaned
    """
    from dialframe.flows import listing

    recipe = _recipe(region, column, encoding, delimiter, sheet)
    with connect(base_url, store) as account, progress() as listen:
        prepared = listing.prepare(
            files, recipe, account=account, max_age=max_age, on_progress=listen
        )
        written = prepared.write(out)
    _tell(prepared, {"files": _named(written)}, as_json=as_json)


@app.command("import")
def import_(
    file: File,
    campaign: Annotated[
        str, typer.Option("--campaign", help="Campaign id; draft, ready or paused.")
    ],
    region: Region = "US",
    out: OutFolder = Path("imported"),
    max_age: MaxAge = "31d",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            help="Column that becomes a custom field; at most 20. May be repeated.",
            show_default=False,
        ),
    ] = None,
    column: Columns = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    sheet: Sheet = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Clean, screen and import a file; run again after a crash, it goes on where it was.

    Example:
        dialframe leads import autumn.csv --campaign cmp_... --region US --out imported
    """
    from dialframe.flows import listing

    if kind_of(campaign) != "campaign":
        raise ConfigError(f"--campaign takes a campaign id (cmp_ and a UUID), not {campaign!r}")
    recipe = _recipe(region, column, encoding, delimiter, sheet)
    with connect(base_url, store) as account, progress() as listen:
        prepared = listing.prepare(
            [file], recipe, account=account, max_age=max_age, on_progress=listen
        )
        written = prepared.write(out)
        ledger, more = listing.send(
            prepared,
            account.client,
            campaign_id=campaign,
            out=out,
            now=partial(datetime.now, UTC),
            keep=keep,
            on_progress=listen,
        )
    facts = {**ledger.counts, "answers": ledger.reasons, "files": _named({**written, **more})}
    _tell(prepared, facts, as_json=as_json)


@app.command()
def reasons(as_json: AsJson = False) -> None:
    """List every reason code with its meaning and what to do about it.

    Example:
        dialframe leads reasons
    """
    import pandas as pd

    from dialframe.leads.reasons import REASONS

    rows = [
        {"code": r.code, "outcome": r.outcome, "meaning": r.meaning, "remedy": r.remedy}
        for r in REASONS
    ]
    if as_json:
        answer({"reasons": rows})
    else:
        show(pd.DataFrame(rows), "Reason codes")


def _recipe(
    region: str,
    columns: list[str] | None,
    encoding: str | None,
    delimiter: str | None,
    sheet: str | None,
) -> Recipe:
    from dialframe.flows.listing import Recipe

    return Recipe(region.upper(), _mapping(columns), encoding, delimiter, sheet)


def _mapping(columns: list[str] | None) -> dict[str, str] | None:
    """`phone=Telefon` for each field that was told."""
    if not columns:
        return None
    pairs = [text.partition("=") for text in columns]
    for name, equals, found in pairs:
        if not (name and equals and found):
            raise ConfigError("--column takes a field and a column, such as phone=Telefon")
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise ConfigError("--column names a field twice; give each field one column")
    return {name: found for name, _, found in pairs}


def _tell(prepared: Prepared, facts: dict[str, Any], *, as_json: bool) -> None:
    from dialframe.flows import listing

    counts = prepared.cleaned.counts
    if as_json:
        answer(
            {
                **counts,
                "reasons": prepared.cleaned.reasons,
                "warnings": prepared.cleaned.warnings,
                **facts,
            }
        )
        return
    parts = ", ".join(
        f"{number:,} {name.replace('_', ' ')}" for name, number in list(counts.items())[1:]
    )
    say(f"{counts['records']:,} records: {parts}")
    show(listing.columns(prepared.cleaned), "Columns")
    why = listing.reasons(prepared.cleaned)
    if len(why):
        show(why, "Set aside")
    if "sent" in facts:
        say(
            ", ".join(
                f"{facts[name]:,} {name}" for name in ("sent", "accepted", "refused", "unknown")
            )
        )
    for name, path in facts.get("files", {}).items():
        say(f"  {name:<14} {path}")


def _named(files: dict[str, Path]) -> dict[str, str]:
    return {name: str(path) for name, path in files.items()}
