"""`dialframe store`: what is kept on this disk."""

from __future__ import annotations

from typing import Annotated

import typer

from dialframe.cli.face import AsJson, BaseUrl, StoreFolder, answer, connect, say
from dialframe.privacy import mask_phone

app = typer.Typer(
    help="The local store: what is in it, erasing a number, giving space back.",
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
    for name, value in facts.items():
        if isinstance(value, dict):
            say(f"{name}:")
            for part, detail in value.items():
                say(f"  {part:<14} {detail}")
        else:
            say(f"{name:<16} {value}")


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
def vacuum(base_url: BaseUrl = None, store: StoreFolder = None) -> None:
    """Give the disk the space of what was erased or replaced.

    Example:
        dialframe store vacuum
    """
    with connect(base_url, store) as account:
        account.store.vacuum()
    say("done")
