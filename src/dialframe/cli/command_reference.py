"""Lists every command with its words and examples, for the reference on the site and for the tests."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

__all__ = ["Entry", "commands"]

_EXAMPLE: Final = re.compile(r"\bExamples?:\s*$", re.M)


@dataclass(frozen=True, slots=True)
class Entry:
    """One command or family of commands.

    Attributes:
        path: The command without the program's name; empty for the program.
        family: Whether it has commands of its own.
        runs: Whether it does something itself.
        purpose: The first sentence of its help.
        about: The further paragraphs.
        examples: Command lines.
        options: Names of arguments and options with what they mean, in order.
        names: Names of the parameters in the code.
    """

    path: str
    family: bool
    runs: bool
    purpose: str
    about: tuple[str, ...]
    examples: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    names: frozenset[str]

    @property
    def name(self) -> str:
        """The command as it is typed."""
        return f"dialframe {self.path}".rstrip()


def commands() -> tuple[Entry, ...]:
    """Every command: the program first, each family before its commands."""
    from dialframe.cli.command_tree import app

    return tuple(_walk(typer.main.get_group(app), ""))


def _walk(command: TyperCommand | TyperGroup, path: str) -> Iterator[Entry]:
    yield _entry(command, path)
    if isinstance(command, TyperGroup):
        for name, sub in command.commands.items():
            if isinstance(sub, TyperCommand | TyperGroup) and not sub.hidden:
                yield from _walk(sub, f"{path} {name}".strip())


def _entry(command: TyperCommand | TyperGroup, path: str) -> Entry:
    text = command.help or ""
    match = _EXAMPLE.search(text)
    words, lines = (text, "") if match is None else (text[: match.start()], text[match.end() :])
    paragraphs = [" ".join(part.split()) for part in words.strip().split("\n\n")]
    params = [param for param in command.params if isinstance(param, TyperArgument | TyperOption)]
    family = isinstance(command, TyperGroup)
    return Entry(
        path=path,
        family=family,
        runs=not isinstance(command, TyperGroup) or command.invoke_without_command,
        purpose=paragraphs[0],
        about=tuple(part for part in paragraphs[1:] if part),
        examples=tuple(
            line.strip() for line in textwrap.dedent(lines).splitlines() if line.strip()
        ),
        options=tuple((_written(param), " ".join((param.help or "").split())) for param in params),
        names=frozenset(param.name for param in params if param.name),
    )


def _written(param: TyperArgument | TyperOption) -> str:
    if isinstance(param, TyperArgument):
        return (param.metavar or param.name or "").strip("{}").upper()
    return ", ".join(sorted((*param.opts, *param.secondary_opts), key=len))
