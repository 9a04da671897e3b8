"""The tree of commands and the list of them, with those that have no family (demo, doctor, app); each family has a module beside this one."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import typer
import typer.core

import dialframe
from dialframe.cli import (
    audit_commands,
    completion_words,
    contract_commands,
    gate_commands,
    leads_commands,
    rules_commands,
    server_commands,
    store_commands,
    suppress_commands,
    sync_and_report_commands,
)
from dialframe.cli.terminal import (
    FAILURE,
    OK,
    AccountOptions,
    Answer,
    AsJson,
    Table,
    answer,
    command,
    in_options,
    progress,
    say,
)
from dialframe.config import Settings
from dialframe.serving import until_signal


def web_page(
    *,
    folder: Annotated[
        Path, typer.Argument(help="The only folder that the page reads from and writes to.")
    ] = Path(),
    port: Annotated[
        int,
        typer.Option(help="Port on this machine; 0 takes a free one.", min=0, max=65535),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    account_options: AccountOptions,
    as_json: AsJson = False,
) -> None:
    """Serve the lead workbench, the funnel and the coverage as a web page, until Ctrl-C.

    It listens on this machine alone, and only a browser with the address's token gets in. Example:

        dialframe app lists
    """
    import webbrowser

    from dialframe.config import ENVIRONMENT
    from dialframe.widgets.page_server import serve

    # As variables: the page is another process, and an option of ours is no argument of its server.
    overrides = {
        ENVIRONMENT["base_url"]: account_options.base_url,
        ENVIRONMENT["store"]: account_options.store and str(account_options.store.resolve()),
    }
    environment = {**os.environ, **{name: value for name, value in overrides.items() if value}}
    # The page asks for a key itself; it never stands on the command line.
    with serve(folder, environment=environment, port=port) as page:
        if as_json:
            answer({"url": page.url, "token": page.token, "address": page.address})
        else:
            say(f"The page is at {page.address}\nStop it with Ctrl-C.")
        if browser:
            webbrowser.open(page.opener.as_uri())
        # The server behind the page ends with it.
        with until_signal():
            page.process.wait()


def demo(
    *,
    out: Annotated[Path, typer.Option(help="Folder for what is written.")] = Path(
        "dialframe-demo"
    ),
    size: Annotated[
        str,
        typer.Option(
            help="Size of the account: tiny (1,000 calls), small (10,000), medium or large.",
            autocompletion=completion_words.of(completion_words.SIZES[1:]),
        ),
    ] = "small",
    seed: Annotated[int, typer.Option(help="Seed of the account.")] = 7,
) -> Answer:
    """Run everything once on a sandbox of its own: no account is needed, nobody is called.

    Example:
        dialframe demo
    """
    from dialframe.flows import demo as flow

    # A clock that nobody sets back meanwhile.
    begun = time.monotonic()
    with progress() as listen:
        result = flow.demo(
            out, now=partial(datetime.now, UTC), size=size, seed=seed, on_progress=listen
        )
    took_s = time.monotonic() - begun
    facts = {
        "findings": list(result.findings),
        "took_s": round(took_s, 1),
        "files": {name: str(path) for name, path in result.files.items()},
    }
    lines = (
        *(f"- {sentence}" for sentence in result.findings),
        "",
        f"Done in {took_s:.0f} s. Open {result.files['report']} in a browser; what is behind it is in {out}/.",
        "Next: `dialframe leads check YOUR_FILE.csv`, or `dialframe sandbox serve` and a notebook of your own.",
    )
    return Answer(facts, lines)


def doctor(account_options: AccountOptions) -> Answer:
    """Check address, key, scopes, clock, rate limit, store, disk and libraries; nothing is changed.

    Ends with status 1 if a check failed. Example:

        dialframe doctor
    """
    from dialframe.flows import doctor as flow
    from dialframe.flows.machine_checks import Diagnosis

    # Without opening the account: what keeps it from opening is what is looked for.
    settings = Settings.from_environment(os.environ, **asdict(account_options))
    with progress() as listen:
        # A missing setting is a finding here, and no error.
        diagnosis = flow.diagnose(settings, now=partial(datetime.now, UTC), on_progress=listen)
    # The library names its arguments; here they are options.
    diagnosis = Diagnosis(
        tuple(
            replace(row, detail=in_options(row.detail), what_next=in_options(row.what_next))
            for row in diagnosis.rows
        )
    )
    rows = [(row.check, row.state, row.detail, row.what_next) for row in diagnosis.rows]
    # Once more below the table, which a narrow terminal cuts.
    troubles = (
        f"{row.state}: {row.check}: {'; '.join(filter(None, (row.detail, row.what_next)))}"
        for row in diagnosis.troubles
    )
    table = Table(rows, ("check", "state", "detail", "what next"), "Doctor")
    lines: list[str | Table] = [table, *troubles, diagnosis.verdict]
    return Answer(diagnosis.as_dict(), lines, FAILURE if diagnosis.failed else OK)


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


# In the order in which somebody meets them: the demo, an account, what it says, its parts.
command(app)(demo)
command(app)(sync_and_report_commands.sync)
command(app)(sync_and_report_commands.export)
command(app)(sync_and_report_commands.funnel)
command(app)(sync_and_report_commands.report)
app.add_typer(audit_commands.app, name="audit")
app.add_typer(gate_commands.app, name="gate")
command(app)(doctor)
app.add_typer(leads_commands.app, name="leads")
app.add_typer(suppress_commands.app, name="suppress")
app.add_typer(rules_commands.app, name="rules")
app.add_typer(server_commands.sandbox, name="sandbox")
app.add_typer(store_commands.app, name="store")
app.add_typer(contract_commands.app, name="contract")
app.add_typer(server_commands.webhooks, name="webhooks")
app.add_typer(server_commands.assistant, name="assistant")
command(app, "app")(web_page)


def branch(arguments: Sequence[str]) -> typer.Typer:
    """The tree with nothing in it but the family that these arguments ask for.

    Building the options of all fifty commands takes longer than reading a small list. Where the first word
    is no family, the whole tree is needed: for the page of all commands, or to say what was meant.
    """
    typer.core.build_runtime_param = _Plain  # type: ignore[attr-defined, assignment]
    name = arguments[0] if arguments else ""
    # `store` is a family, `sync` a command.
    families = [info for info in app.registered_groups if info.name == name]
    commands = [info for info in app.registered_commands if info.name == name]
    part = copy(app)
    if families or commands:
        part.registered_groups, part.registered_commands = families, commands
    return part


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
