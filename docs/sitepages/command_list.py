"""Lists every command with its words and options, for the site and for the tests that hold each page against it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
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
        panels: Arguments and options as its help groups them: the heading, then name, meaning and default of each.
        names: Names of the parameters in the code.
    """

    path: str
    family: bool
    runs: bool
    purpose: str
    about: tuple[str, ...]
    examples: tuple[str, ...]
    panels: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]
    names: frozenset[str]

    @property
    def name(self) -> str:
        """The command as it is typed."""
        return f"dialframe {self.path}".rstrip()

    @property
    def options(self) -> list[tuple[str, str]]:
        """Names of all arguments and options with what they mean."""
        return [(written, words) for _, rows in self.panels for written, words, _ in rows]


@cache
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
        panels=_panels(params),
        names=frozenset(param.name for param in every if param.name),
    )


def _panels(
    params: list[TyperArgument | TyperOption],
) -> tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...]:
    """Arguments, then options without a heading of their own, then each group."""
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for param in params:
        usual = "Arguments" if isinstance(param, TyperArgument) else "Options"
        row = (_written(param), " ".join((param.help or "").split()), _default(param))
        groups.setdefault(param.rich_help_panel or usual, []).append(row)
    first = ("Arguments", "Options")
    order = sorted(groups, key=lambda name: first.index(name) if name in first else len(first))
    return tuple((name, tuple(groups[name])) for name in order)


def _default(param: TyperArgument | TyperOption) -> str:
    """What is taken where nothing is said, where that is something to know."""
    value = param.default
    if not param.show_default or value is None or isinstance(value, bool) or callable(value):
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(getattr(value, "value", value))


def _written(param: TyperArgument | TyperOption) -> str:
    if isinstance(param, TyperArgument):
        return (param.metavar or param.name or "").strip("{}").upper()
    return ", ".join(sorted((*param.opts, *param.secondary_opts), key=len))
