"""How a command of this program helps, stops and is found; knows no command."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from dialframe.cli import notes
from dialframe.cli.statuses import OK
from dialframe.cli.stopping import Stopped, stopped_in_words

if TYPE_CHECKING:
    from typer._click.core import Context
    from typer._click.formatting import HelpFormatter


class Command(TyperCommand):
    """A command with a page of the manual, and words for Ctrl-C."""

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the page of the manual."""
        formatter.write(_page(self, ctx))

    def invoke(self, ctx: Context) -> Any:
        """Run it; see `stopped_in_words`. What serves until it is stopped ends well with Ctrl-C."""
        own = notes.of(_path(ctx))
        try:
            with stopped_in_words(own.kept):
                return super().invoke(ctx)
        except Stopped as stopped:
            if not own.serves:
                raise
            typer.echo(f"dialframe: {stopped}", err=True)
            return OK


class Family(TyperGroup):
    """A family of commands with a page of the manual."""

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the page of the manual."""
        formatter.write(_page(self, ctx))

    def invoke(self, ctx: Context) -> Any:
        """Run it or one of its commands; see `stopped_in_words`."""
        with stopped_in_words(notes.of(_path(ctx)).kept):
            return super().invoke(ctx)


def manned(app: typer.Typer) -> typer.Typer:
    """The same tree, each command a `Command` and each family a `Family`."""
    for info in app.registered_commands:
        info.cls = Command
    for group in app.registered_groups:
        group.cls = Family
        if group.typer_instance is not None:
            manned(group.typer_instance)
    return app


def styled() -> bool:
    """Whether standard output is a terminal that can show bold text, and nobody minds."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


def first_words(ctx: Context) -> str:
    """What a family says when it is called without a command."""
    command = cast("TyperGroup", ctx.command)
    return _page(command, ctx, brief=True) + f"\nMore: {ctx.command_path} --help\n"


def _page(command: TyperCommand | TyperGroup, ctx: Context, *, brief: bool = False) -> str:
    from dialframe.cli import manual, manual_text

    width = shutil.get_terminal_size((80, 24)).columns
    page = manual.page(command, _path(ctx))
    return manual_text.text(page, width=width, bold=styled(), brief=brief)


def _path(ctx: Context) -> str:
    """The command as it was typed, without the program's name and values of options."""
    names = []
    at: Context | None = ctx
    while at is not None and at.parent is not None:
        names.append(at.info_name or "")
        at = at.parent
    return " ".join(reversed(names))
