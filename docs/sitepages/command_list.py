"""Lists every command with its words and options, for the site and for the tests that hold each page against it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import typer.main
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from dialframe.cli.command_tree import tree

_EXAMPLES_LINE: Final = re.compile(r"\bExamples?:\s*$", re.M)


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
    return tuple(_walk(typer.main.get_group(tree()), ""))


def _walk(node: TyperCommand | TyperGroup, path: str) -> Iterator[Entry]:
    yield _entry(node, path)
    if isinstance(node, TyperGroup):
        for name, sub in node.commands.items():
            if isinstance(sub, TyperCommand | TyperGroup) and not sub.hidden:
                yield from _walk(sub, f"{path} {name}".strip())


def _entry(node: TyperCommand | TyperGroup, path: str) -> Entry:
    text = node.help or ""
    match = _EXAMPLES_LINE.search(text)
    words, lines = (text, "") if match is None else (text[: match.start()], text[match.end() :])
    paragraphs = [" ".join(part.split()) for part in words.strip().split("\n\n")]
    every = [param for param in node.params if isinstance(param, TyperArgument | TyperOption)]
    # Options that answer under an old name, or that few need, are on no page.
    params = [param for param in every if not param.hidden]
    family = isinstance(node, TyperGroup)
    return Entry(
        path=path,
        family=family,
        runs=not isinstance(node, TyperGroup) or node.invoke_without_command,
        purpose=paragraphs[0],
        about=tuple(part for part in paragraphs[1:] if part),
        examples=tuple(
            line.strip() for line in lines.splitlines() if line.strip() not in ("", "\b")
        ),
        options=tuple((_written(param), " ".join((param.help or "").split())) for param in params),
        names=frozenset(param.name for param in every if param.name),
    )


def _written(param: TyperArgument | TyperOption) -> str:
    if isinstance(param, TyperArgument):
        return (param.metavar or param.name or "").strip("{}").upper()
    return ", ".join(sorted((*param.opts, *param.secondary_opts), key=len))
