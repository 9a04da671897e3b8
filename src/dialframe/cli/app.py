"""The tree of commands; each module beside this one holds one family."""

from __future__ import annotations

from typing import Annotated

import typer

import dialframe
from dialframe.cli import (
    account,
    assistant,
    audit,
    completing,
    contract,
    demo,
    doctor,
    funnel,
    leads,
    report,
    rules,
    sandbox,
    store,
    webhooks,
    webpage,
)
from dialframe.cli.commands import Family, manned

app = typer.Typer(
    name="dialframe",
    cls=Family,
    no_args_is_help=True,
    # Its own options: they name the shell, which cannot always be told.
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _man(wanted: bool) -> None:
    if wanted:
        from dialframe.cli import manual, manual_roff

        typer.echo(manual_roff.roff(manual.pages(), version=dialframe.__version__), nl=False)
        raise typer.Exit


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
    man: Annotated[
        bool,
        typer.Option(
            "--man",
            callback=_man,
            is_eager=True,
            help="Print the whole manual for man: dialframe --man | man -l -",
        ),
    ] = False,
    install_completion: Annotated[
        bool,
        typer.Option(
            completing.INSTALL,
            metavar="[SHELL]",
            help="Set up Tab for bash, zsh or fish; for the shell that you use by default.",
        ),
    ] = False,
    show_completion: Annotated[
        bool,
        typer.Option(
            completing.SHOW,
            metavar="[SHELL]",
            help="Print the script that sets up Tab, to put it where you like.",
        ),
    ] = False,
) -> None:
    """The toolkit for outbound dialing data: lists cleaned, calls as tables, audits with proof.

    Without an account: `dialframe demo` shows everything once, `dialframe leads check FILE` looks at
    a lead file, `dialframe sandbox serve` runs the whole service on this machine.

    With one: set DIALFRAME_BASE_URL and DIALFRAME_API_KEY, then `dialframe doctor` says what works,
    `dialframe sync` brings the account to this disk, and funnel, report and audit read it there.

    Every command has a page, `dialframe leads clean --help` for instance, and takes --json. Examples:

        dialframe leads reasons
        dialframe --show-completion bash
    """
    # The door answers these two before anything is parsed: they take a shell's name or none.
    del version, man, install_completion, show_completion


app.command("demo")(demo.demo)
app.command("sync")(account.sync)
app.command("export")(account.export)
app.command("funnel")(funnel.funnel)
app.command("report")(report.report)
app.add_typer(audit.app, name="audit")
app.command("doctor")(doctor.doctor)
app.add_typer(leads.app, name="leads")
app.add_typer(rules.app, name="rules")
app.add_typer(sandbox.app, name="sandbox")
app.add_typer(store.app, name="store")
app.add_typer(contract.app, name="contract")
app.add_typer(webhooks.app, name="webhooks")
app.add_typer(assistant.app, name="assistant")
app.command("app")(webpage.app)
manned(app)
