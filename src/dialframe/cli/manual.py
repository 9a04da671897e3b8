"""The manual of the command line as values, one page for each command; knows no terminal and no format.

A page is read from the command itself (its docstring, its options) and from the table of notes, so what a
person reads is what the program does.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from dialframe.cli import notes

Command = TyperCommand | TyperGroup
Parameter = TyperArgument | TyperOption

#: What stands for a value in the left column, by the option's name; else it is told by its type.
METAVARS: Final[dict[str, str]] = {
    "allow": "OPERATION", "as_of": "DAY", "base_url": "URL", "by": "FIELD", "campaign": "CMP_ID",
    "check": "AGE", "column": "FIELD=COLUMN", "delimiter": "CHAR", "header": "LINE",
    "host": "ADDRESS", "kind": "KIND", "max_age": "AGE", "older_than": "AGE", "path": "PATH",
    "reasons": "REASON", "region": "REGION", "rules": "RULES", "scheduler": "URL",
    "secret_env": "NAME", "server": "URL", "since": "INSTANT", "size": "SIZE",
    "state_field": "FIELD", "table": "TABLE", "until": "INSTANT", "window": "AGE",
}  # fmt: skip
#: Options whose path is a folder's.
FOLDERS: Final = ("data", "out", "store")
#: Options that many commands share, shown behind a command's own.
SHARED: Final = ("base_url", "store", "as_json")
_EXAMPLE: Final = re.compile(r"\bExamples?:\s*$", re.M)


@dataclass(frozen=True, slots=True)
class Item:
    """One argument or option.

    Attributes:
        name: As it stands in the code.
        left: How it is written, with what stands for its value.
        words: What it does, with unit, default and range.
    """

    name: str
    left: str
    words: str


@dataclass(frozen=True, slots=True)
class Page:
    """The manual of one command.

    Attributes:
        path: The command without the program's name; empty for the program.
        purpose: One sentence.
        about: Paragraphs.
        usage: How it is written.
        commands: Commands of a family, each with its purpose.
        arguments: Arguments in their order.
        options: Options of its own, then those that many commands share.
        files: What it writes.
        statuses: What its exit statuses say.
        environment: Variables that it reads.
        examples: Command lines.
    """

    path: str
    purpose: str
    about: tuple[str, ...]
    usage: str
    commands: tuple[tuple[str, str], ...]
    arguments: tuple[Item, ...]
    options: tuple[Item, ...]
    files: Mapping[str, str]
    statuses: Mapping[int, str]
    environment: Mapping[str, str]
    examples: tuple[str, ...]

    @property
    def name(self) -> str:
        """The command as it is typed."""
        return f"dialframe {self.path}".rstrip()


def pages() -> tuple[Page, ...]:
    """Every page: the program first, each family before its commands."""
    import typer

    from dialframe.cli.app import app

    return tuple(_walk(typer.main.get_group(app), ""))


def page(command: Command, path: str) -> Page:
    """The page of one command.

    Args:
        command: The parser's own object.
        path: The command as it is typed, without the program's name.
    """
    purpose, about, examples = described(command.help or "")
    own = notes.of(path)
    commands = commands_of(command)
    params = [_item(one) for one in command.params if isinstance(one, Parameter)]
    arguments = tuple(item for item in params if not item.left.startswith("-"))
    options = [item for item in params if item.left.startswith("-")]
    names = {item.name for item in params}
    runs = not isinstance(command, TyperGroup) or command.invoke_without_command
    return Page(
        path=path,
        purpose=purpose,
        about=(*about, *own.about),
        usage=_usage(path, arguments, commands=bool(commands), runs=runs),
        commands=tuple((name, described(sub.help or "")[0]) for name, sub in commands.items()),
        arguments=arguments,
        options=(*sorted(options, key=lambda item: item.name in SHARED), _HELP),
        files=own.files,
        statuses=notes.statuses_of(path) if runs or not path else {},
        environment=_environment(names if path else None) if runs or not path else {},
        examples=examples,
    )


def commands_of(command: Command) -> dict[str, Command]:
    """The commands of a family by name; empty for a single command."""
    if not isinstance(command, TyperGroup):
        return {}
    return {
        name: one
        for name, one in command.commands.items()
        if isinstance(one, Command) and not one.hidden
    }


def described(text: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """A docstring as purpose, paragraphs and examples.

    The examples are the indented lines behind `Example:`.
    """
    found = _EXAMPLE.search(text)
    words, lines = (text, "") if found is None else (text[: found.start()], text[found.end() :])
    paragraphs = [" ".join(part.split()) for part in words.strip().split("\n\n")]
    examples = tuple(line.strip() for line in textwrap.dedent(lines).splitlines() if line.strip())
    about = tuple(part for part in paragraphs[1:] if part)
    return paragraphs[0], about, examples


_HELP: Final = Item("help", "-h, --help", "Show this page.")


def _walk(command: Command, path: str) -> Iterator[Page]:
    yield page(command, path)
    for name, sub in commands_of(command).items():
        yield from _walk(sub, f"{path} {name}".strip())


def _usage(path: str, arguments: tuple[Item, ...], *, commands: bool, runs: bool) -> str:
    name = f"dialframe {path}".rstrip()
    if not commands:
        return " ".join([name, "[OPTIONS]", *(item.left for item in arguments)])
    return f"{name} [OPTIONS] {'[COMMAND]' if runs else 'COMMAND'}"


def _item(param: Parameter) -> Item:
    words = " ".join((param.help or "").split())
    told = (words, *_limits(param))
    return Item(param.name, _left(param), " ".join(part for part in told if part))


def _left(param: Parameter) -> str:
    if isinstance(param, TyperArgument):
        name = (param.metavar or param.name).strip("{}").upper()
        name += "..." if param.nargs == -1 else ""
        return name if param.required else f"[{name}]"
    written = ", ".join(sorted(param.opts, key=len))
    if param.secondary_opts:
        return f"{written} / {', '.join(param.secondary_opts)}"
    if param.is_flag:
        return f"{written} {param.metavar or ''}".rstrip()
    return f"{written} {_value(param)}"


def _value(param: TyperOption) -> str:
    kind = param.type_descriptor
    if param.metavar is not None:
        return param.metavar
    if kind.is_choice:
        return "|".join(str(getattr(one, "value", one)) for one in kind.choices or ())
    if kind.is_path:
        return "FOLDER" if param.name in FOLDERS else "FILE"
    return "N" if kind.annotation is int else METAVARS.get(param.name, "TEXT")


def _limits(param: Parameter) -> Iterator[str]:
    if isinstance(param, TyperOption) and param.required:
        yield "[required]"
    if isinstance(param, TyperOption) and None not in (param.min, param.max):
        yield f"[{param.min} to {param.max}]"
    if param.default not in (None, False, True, Path()):
        yield f"[default: {getattr(param.default, 'value', param.default)}]"


def _environment(names: set[str] | None) -> dict[str, str]:
    """The variables behind some options, and those of every command; all of them for None."""
    return {
        variable: words
        for option, variable, words in notes.ENVIRONMENT
        if option is None or names is None or option in names
    }
