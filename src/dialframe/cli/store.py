"""`dialframe store`: what is kept on this disk."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialframe.cli import completing, values
from dialframe.cli.face import AsJson, BaseUrl, StoreFolder, answer, connect, progress, say, show
from dialframe.errors import ConfigError
from dialframe.privacy import mask_phone

if TYPE_CHECKING:
    from dialframe.frames.columns import Table

app = typer.Typer(
    help="The local store: what is in it, erasing, deleting old rows, publishing, giving space back.",
    no_args_is_help=True,
)


@app.command()
def info(base_url: BaseUrl = None, store: StoreFolder = None, as_json: AsJson = False) -> None:
    """Say what the store holds and how fresh it is.

    Example:
        dialframe store info
    """
    with connect(base_url, store) as account:
        facts = account.info()
    if as_json:
        answer(facts)
        return
    _tell(facts)


@app.command()
def forget(
    phone: Annotated[str, typer.Argument(help="Number to erase, E.164.")],
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Erase a number from every table and every version; a later sync does not bring it back.

    Example:
        dialframe store forget +12125550142
    """
    with connect(base_url, store) as account:
        erased = account.forget(phone)
    if as_json:
        answer({"erased": erased})
    else:
        say(f"{mask_phone(phone)}: {erased} versions erased")


@app.command()
def prune(
    older_than: Annotated[
        str, typer.Option("--older-than", help="Age of what is deleted, such as 730d.")
    ],
    table: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            help=f"Only this table; may be repeated. All about persons by default: {', '.join(values.PERSONAL)}.",
            show_default=False,
            autocompletion=completing.of(values.PERSONAL),
        ),
    ] = None,
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Delete rows created longer ago, in all their versions; a later sync does not bring them back.

    Example:
        dialframe store prune --older-than 730d
    """
    from dialframe.account.instants import age

    before = datetime.now(UTC) - age("--older-than", older_than)
    names = [_table(name) for name in table] if table else None
    with connect(base_url, store) as account:
        deleted = account.store.prune(before, names)
    if as_json:
        answer({"before": before.isoformat(), "deleted": deleted})
        return
    for name, count in deleted.items():
        say(f"{name:<16} {count} versions deleted")


@app.command()
def publish(
    url: Annotated[str, typer.Argument(help="Folder or object store, such as s3://bucket/calls.")],
    base_url: BaseUrl = None,
    store: StoreFolder = None,
    as_json: AsJson = False,
) -> None:
    """Write what is new as Delta tables, for engines that run on many machines.

    An object store is written to as well, s3://bucket/calls for instance. Example:

        dialframe store publish lake
    """
    with progress() as listen, connect(base_url, store) as account:
        written = account.store.publish(url, on_progress=listen)
    if as_json:
        answer({"url": url, "written": written})
        return
    for name, count in written.items():
        say(f"{name:<16} {count} versions written")


@app.command()
def vacuum(base_url: BaseUrl = None, store: StoreFolder = None, as_json: AsJson = False) -> None:
    """Merge small files, and give the disk the space of what was erased or replaced.

    Example:
        dialframe store vacuum
    """
    with connect(base_url, store) as account:
        before = account.store.info().size_bytes
        account.store.vacuum()
        after = account.store.info().size_bytes
    if as_json:
        answer({"size_bytes_before": before, "size_bytes": after})
    else:
        say(f"{before:,} bytes before, {after:,} now")


def _tell(facts: Mapping[str, Any]) -> None:
    """What is stored as a table, one line for each table of the store, and how fresh each is."""
    import pandas as pd

    counted = {
        name: value
        for name, value in facts.items()
        if isinstance(value, dict) and name != "freshness"
    }
    for name, value in facts.items():
        if not isinstance(value, dict):
            said = f"{value:,}" if isinstance(value, int) else value
            say(f"{name.replace('_', ' '):<16}{said}")
    frame = pd.DataFrame(counted).fillna(0).astype("int64")
    show(frame.rename_axis("table").reset_index(), "Tables")
    for sentence in facts.get("freshness", {}).values():
        say(sentence)


def _table(name: str) -> Table:
    from dialframe.frames.columns import TABLES

    if name not in TABLES:
        raise ConfigError(f"there is no table {name!r}; the tables are {', '.join(TABLES)}")
    return TABLES[name]
