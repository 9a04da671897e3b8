"""Lists every command, and loads the family that somebody asks for.

The program starts for each command line, so a family's module is imported when its name is typed; the page of all
commands needs their summaries alone, which stand here.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, get_args

import typer
import typer.core

import dialframe
from dialframe.cli.terminal import Family, command


class Entry(NamedTuple):
    """A command or a family of commands.

    Attributes:
        name: As it is typed.
        module: The module of this package that has it.
        attribute: Its function, or the application of a family.
        summary: What it does, for the page of all commands; the first sentence of its own page.
        hidden: Whether it answers under an old name, and is on no page.
    """

    name: str
    module: str
    attribute: str
    summary: str
    hidden: bool = False


#: In the order in which somebody meets them: the demo, an account, what it says, its parts.
ENTRIES: Final = (
    Entry("demo", "demo_and_doctor", "demo", "See everything once on a local sandbox; no account needed."),
    Entry("firm", "firm_commands", "firm", "Ask what decides most calls, and write the firm file."),
    Entry("sync", "sync_and_report_commands", "sync", "Bring the local store up to date with the account."),
    Entry("leads", "leads_commands", "app", "Clean, screen and import lead files."),
    Entry("suppress", "suppress_commands", "app", "Manage the numbers that must not be called."),
    Entry("audit", "audit_commands", "app", "Check calls against the telemarketing rules, with proof."),
    Entry("evidence", "evidence_commands", "app", "Take in scrub results, consents, look-ups, registries."),
    Entry("gate", "gate_commands", "app", "Ask which numbers may be called now."),
    Entry("load", "load_and_analyze_commands", "load", "Load another dialer's calls, leads or dispositions."),
    Entry("analyze", "load_and_analyze_commands", "analyze", "Answer one question about the calls."),
    Entry("campaigns", "sync_and_report_commands", "campaigns", "List the account's campaigns."),
    Entry("report", "sync_and_report_commands", "report", "Write the main analyses as one page."),
    Entry("funnel", "sync_and_report_commands", "funnel", "Show how many leads reached each stage.", True),
    Entry("rules", "rules_commands", "app", "Read the rule book: facts with citations."),
    Entry("export", "sync_and_report_commands", "export", "Write a stored table to a file."),
    Entry("store", "store_commands", "app", "Verify, back up, restore and erase local data."),
    Entry("sandbox", "server_commands", "sandbox", "Run the whole service on your own machine."),
    Entry("app", "demo_and_doctor", "web_app", "Open the web app: lists, compliance, performance."),
    Entry("webhooks", "server_commands", "webhooks", "Receive and keep signed events."),
    Entry("assistant", "server_commands", "assistant", "Serve tools to an AI assistant (MCP)."),
    Entry("doctor", "demo_and_doctor", "doctor", "Check address, key, clock, store and libraries."),
    Entry("contract", "contract_commands", "app", "Show the service's operations; write OpenAPI.", True),
)  # fmt: skip


#: The panel of the first page that says which account is meant.
_ACCOUNT: Final = "Account (the key is in DIALFRAME_API_KEY, never on the command line)"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dialframe {dialframe.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for machines.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show the log of each step and request.")
    ] = False,
    base_url: Annotated[
        str | None,
        typer.Option(
            help="Address of the service; else DIALFRAME_BASE_URL, else the firm file.",
            rich_help_panel=_ACCOUNT,
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the local store; else DIALFRAME_STORE, else the firm file.",
            rich_help_panel=_ACCOUNT,
        ),
    ] = None,
) -> None:
    """Know which numbers you may call, and prove it afterwards.

    Without an account: `dialframe demo` shows everything once, `dialframe leads clean FILE` cleans a lead file,
    `dialframe sandbox serve` runs the whole service on this machine.

    With an account: set DIALFRAME_BASE_URL and DIALFRAME_API_KEY, or the address in dialframe.toml;
    `dialframe doctor` says what works, `dialframe sync` brings the account to this disk, and the other commands
    read it there. DIALFRAME_STORE names another folder for the local store.

    Every command has a page, such as `dialframe leads clean --help`, and most take --json.

    Exit status: 0 success; 1 failure (a file, the service, the store or the disk); 2 wrong usage, or a missing
    or wrong setting; 3 findings or open questions; 130 stopped with Ctrl-C. Examples:

        dialframe demo
        dialframe doctor
    """
    # Taken out of the line before it is parsed: they may stand anywhere (`terminal.begin`).
    del version, as_json, quiet, verbose, base_url, store


def tree(*names: str) -> typer.Typer:
    """The application with these commands and families, or with all of them where none is named."""
    app = _empty()
    for entry in ENTRIES:
        if names and entry.name not in names:
            continue
        part = getattr(import_module(f"dialframe.cli.{entry.module}"), entry.attribute)
        if isinstance(part, typer.Typer):
            own = getattr(part.info.cls, "format_options", None) is not None
            app.add_typer(
                part, name=entry.name, hidden=entry.hidden, cls=part.info.cls if own else Family
            )
        else:
            command(app, entry.name, hidden=entry.hidden)(part)
    return app


def branch(arguments: Sequence[str]) -> typer.Typer:
    """The tree with nothing in it but what these arguments ask for.

    Building the options of all commands takes longer than reading a small list. Where the first word is no command,
    the names are enough: for the page of all commands, or to say what was meant.
    """
    typer.core.build_runtime_param = _Plain  # type: ignore[attr-defined, assignment]
    name = next((word for word in arguments if not word.startswith("-")), "")
    if any(entry.name == name for entry in ENTRIES):
        return tree(name)
    # A shell that completes a word asks with variables alone.
    return tree() if "_DIALFRAME_COMPLETE" in os.environ else _names()


def _names() -> typer.Typer:
    """The tree with a summary in the place of each command."""
    app = _empty()
    for entry in ENTRIES:
        if not entry.hidden:
            app.command(entry.name, help=entry.summary, cls=typer.core.TyperCommand)(_nothing)
    return app


def _nothing() -> None:
    """Stand where a command would."""


def _empty() -> typer.Typer:
    app = typer.Typer(
        name="dialframe",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        cls=Family,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_options)
    return app


#: Values that need no reading where they are of the type that is asked for.
_AS_THEY_STAND: Final = (str, int, bool, float)


@dataclass(frozen=True, slots=True)
class _Plain:
    """Takes words as they stand and has typer read all else.

    typer builds a pydantic adapter for each option, also for one that nobody gave; loading that and building
    it takes longer than cleaning a small list.
    """

    descriptor: Any

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of one option, as typer gives it."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        wanted, facts = self.descriptor.annotation, self.descriptor.parameter_info
        if facts.parser is None and facts.min is None and facts.max is None:
            # Where there are choices, they are the arguments of a `Literal`.
            if (wanted in _AS_THEY_STAND and type(value) is wanted) or value in get_args(wanted):
                return value
            if wanted == list[str] and all(type(word) is str for word in value):
                return list(value)
            if wanted is Path and not (facts.resolve_path or facts.writable):
                path = Path(value)
                if path.exists():
                    anything = facts.file_okay and facts.dir_okay
                    if anything and (not facts.readable or os.access(path, os.R_OK)):
                        return path
                elif not facts.exists:
                    return path
        from typer._coercion import build_runtime_param

        return build_runtime_param(self.descriptor).coerce(value, param=param, ctx=ctx)
