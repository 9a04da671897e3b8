"""Tab in bash, zsh and fish: which words fit, and the script that a shell needs; loads nothing heavy.

The shell starts this program for each Tab, so what may be typed comes from tables that are plain words, and from the text of the rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, MutableMapping, Sequence
from pathlib import Path
from typing import Final

import typer

import dialframe
from dialframe.errors import ConfigError

INSTALL: Final = "--install-completion"
SHOW: Final = "--show-completion"
SHELLS: Final = ("bash", "zsh", "fish")
#: The variable by which a shell asks.
VARIABLE: Final = "_DIALFRAME_COMPLETE"
_PROGRAM: Final = "dialframe"

Complete = Callable[[str], list[str]]


def of(words: Sequence[str]) -> Complete:
    """Completes one of some words, in either case."""

    def complete(incomplete: str) -> list[str]:
        typed = incomplete.lower()
        fitting = [word for word in words if word.lower().startswith(typed)]

        # Whoever types small letters goes on with them: the shell keeps what stands there.
        return [word.lower() if incomplete and incomplete == typed else word for word in fitting]

    return complete


def listed(words: Sequence[str]) -> Complete:
    """Completes the last of several words with commas between; none is offered twice."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        taken = set(before.split(","))
        return [
            f"{before}{comma}{word}"
            for word in words
            if word.startswith(last) and word not in taken
        ]

    return complete


def rules(incomplete: str) -> list[str]:
    """Completes jurisdictions and rule ids of the book, with commas between."""
    places = [place.lower() for place in _in_book("jurisdiction")]
    return listed(("all", "us-*", *places, *_in_book("id")))(incomplete)


def rule_ids(incomplete: str) -> list[str]:
    """Completes the id of a rule of the book."""
    return of(_in_book("id"))(incomplete)


def rule_kinds(incomplete: str) -> list[str]:
    """Completes a kind of rules of the book."""
    return of(_in_book("kind"))(incomplete)


def ready(asked: str, environment: MutableMapping[str, str]) -> None:
    """Prepare for the question of a shell, which stands in the environment."""
    from typer._completion_classes import completion_init

    completion_init()
    if asked == "complete_bash":
        without_equals(environment)


def without_equals(environment: MutableMapping[str, str]) -> None:
    """Let `--rules=us` be completed in bash, which hands it over as three words."""
    words = environment.get("COMP_WORDS", "").split("\n")
    at = int(environment.get("COMP_CWORD") or 0)
    # A lone sign at the end is where the value begins.
    drop = [
        n for n in range(1, min(at, len(words))) if words[n] == "=" and words[n - 1][:2] == "--"
    ]
    if at < len(words) and words[at] == "=":
        words[at] = ""
    kept = [word for number, word in enumerate(words) if number not in drop]
    environment["COMP_WORDS"] = "\n".join(kept)
    environment["COMP_CWORD"] = str(at - len(drop))


def answered(arguments: Sequence[str]) -> bool:
    """Whether the arguments were about Tab alone, so that nothing is left to do.

    Raises:
        ConfigError: There is no script for the shell, or it cannot be told which one is used.
    """
    option, _, told = (arguments[0] if arguments else "").partition("=")
    if option not in (INSTALL, SHOW):
        return False
    shell = _known(told or (arguments[1] if len(arguments) > 1 else _this_shell()))
    if option == SHOW:
        typer.echo(script(shell))
    else:
        _install(shell)
    return True


def script(shell: str) -> str:
    """What one of `SHELLS` has to read once so that Tab completes."""
    from typer._completion_shared import get_completion_script

    return get_completion_script(prog_name=_PROGRAM, complete_var=VARIABLE, shell=shell)


def _in_book(field: str) -> list[str]:
    """What a field of the packaged rules says, each once; read as text, for the rule book loads pandas."""
    book = Path(dialframe.__file__).parent / "compliance" / "data" / "rules.toml"
    found = re.findall(rf'^{field} = "([^"]+)"', book.read_text(encoding="utf-8"), flags=re.M)
    return list(dict.fromkeys(found))


def _install(shell: str) -> None:
    from typer._completion_shared import install

    name, path = install(shell, _PROGRAM, VARIABLE)
    typer.echo(f"Tab for {name} is set up in {path}; it works in the next terminal that you open.")


def _known(shell: str) -> str:
    if shell not in SHELLS:
        raise ConfigError(
            f"there is no completion for {shell or 'this shell'}; name one of {', '.join(SHELLS)}, "
            f"{SHOW} bash for instance"
        )
    return shell


def _this_shell() -> str:
    """The shell that started this process, else the one of the account; empty where neither is known."""
    from typer._completion_shared import _get_shell_name

    return _get_shell_name() or Path(os.environ.get("SHELL", "")).name
