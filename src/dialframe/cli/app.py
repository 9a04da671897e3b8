"""The tree of commands; each module beside this one holds one family."""

from __future__ import annotations

from typing import Annotated

import typer

import dialframe
from dialframe.cli import (
    account,
    assistant,
    audit,
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

app = typer.Typer(
    name="dialframe",
    help="The toolkit for outbound dialing data: lists cleaned, calls as tables, audits with proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
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
    del version


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
