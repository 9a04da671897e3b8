"""The tree of commands; each module beside this one holds one family."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Annotated

import typer

import dialframe
from dialframe.cli import (
    account_commands,
    assistant_commands,
    audit_commands,
    contract_commands,
    demo_command,
    doctor_command,
    funnel_command,
    gate_commands,
    leads_commands,
    rules_commands,
    sandbox_commands,
    store_commands,
    suppress_commands,
    webhooks_commands,
    webpage,
)

app = typer.Typer(
    name="dialframe",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(dialframe.__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """The toolkit for outbound dialing data: lists cleaned, calls as tables, audits with proof.

    Without an account: `dialframe demo` shows everything once, `dialframe leads check FILE` looks at
    a lead file, `dialframe sandbox serve` runs the whole service on this machine.

    With one: set DIALFRAME_BASE_URL and DIALFRAME_API_KEY, then `dialframe doctor` says what works,
    `dialframe sync` brings the account to this disk, and funnel, report and audit read it there.
    DIALFRAME_STORE names another folder for the local store.

    Every command has a page, `dialframe leads clean --help` for instance, and takes --json.

    Exit status: 0 it did what was asked; 1 it could not (a file, the service, the store or the disk is in
    the way); 2 wrong usage, or a setting that is missing or wrong; 3 there are findings; 130 stopped with
    Ctrl-C. Examples:

        dialframe leads reasons
        dialframe doctor
    """
    del version


app.command("demo")(demo_command.demo)
app.command("sync")(account_commands.sync)
app.command("export")(account_commands.export)
app.command("funnel")(funnel_command.funnel)
app.command("report")(funnel_command.report)
app.add_typer(audit_commands.app, name="audit")
app.add_typer(gate_commands.app, name="gate")
app.command("doctor")(doctor_command.doctor)
app.add_typer(leads_commands.app, name="leads")
app.add_typer(suppress_commands.app, name="suppress")
app.add_typer(rules_commands.app, name="rules")
app.add_typer(sandbox_commands.app, name="sandbox")
app.add_typer(store_commands.app, name="store")
app.add_typer(contract_commands.app, name="contract")
app.add_typer(webhooks_commands.app, name="webhooks")
app.add_typer(assistant_commands.app, name="assistant")
app.command("app")(webpage.app)


def branch(arguments: Sequence[str]) -> typer.Typer:
    """The tree with nothing in it but the family that these arguments ask for.

    Building the options of all fifty commands takes longer than reading a small list. Where the first word
    is no family, the whole tree is needed: for the page of all commands, or to say what was meant.
    """
    name = arguments[0] if arguments else ""
    families = [info for info in app.registered_groups if info.name == name]
    commands = [info for info in app.registered_commands if info.name == name]
    if not families and not commands:
        return app
    part = copy(app)
    part.registered_groups, part.registered_commands = families, commands
    return part
