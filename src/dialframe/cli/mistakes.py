"""What the parser of the command line refuses, as one sentence that names what would be right; runs nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from typer.exceptions import TyperException

#: Sentences of the parser, and what they are here.
_WORDS: Final = (
    (re.compile("No such command"), "there is no command"),
    (re.compile(r"\. Did"), "; did"),
    (re.compile(r"^Option '(.+)' requires an argument$"), r"\1 needs a value"),
    (re.compile("^Missing command$"), "name a command"),
    (re.compile(r"^Got unexpected extra arguments? \((.+)\)$"), r"this is one too many: \1"),
)
#: How like a name has to be to what was typed before it is offered.
_LIKE: Final = 0.6


def sentence(error: TyperException) -> str:
    """What is wrong, where, and what may have been meant."""
    for words in (_unknown_option, _missing, _bad_value):
        if said := words(error):
            return said
    text = error.format_message().removesuffix(".")
    for theirs, ours in _WORDS:
        text = theirs.sub(ours, text)
    return text


def command_of(error: TyperException) -> str:
    """The command that was typed as far as it is one, `dialframe leads clean` for instance."""
    context = getattr(error, "ctx", None)
    return context.command_path if context is not None else "dialframe"


def _unknown_option(error: TyperException) -> str:
    name = getattr(error, "option_name", None)
    if name is None or not hasattr(error, "possibilities"):
        return ""
    close = get_close_matches(name, _options(error), n=1, cutoff=_LIKE)
    meant = f"; did you mean {close[0]}?" if close else ""
    return f"there is no option {name}{meant}"


def _missing(error: TyperException) -> str:
    param = getattr(error, "param", None)
    if param is None or not hasattr(error, "param_type"):
        return ""
    name = param.opts[0] if param.opts[0].startswith("-") else param.name.upper()
    about = (param.help or "").removesuffix(".")
    return f"{name} is missing" + (f". {about}" if about else "")


def _bad_value(error: TyperException) -> str:
    param = getattr(error, "param", None)
    if param is None:
        return ""
    name = param.opts[0] if param.opts[0].startswith("-") else param.name.upper()
    detail = str(getattr(error, "message", "")).removesuffix(".").removeprefix("Value error, ")
    detail = detail.replace("Input should be", "it has to be").partition(", unable to")[0]
    return f"{name}: {detail}"


def _options(error: TyperException) -> Sequence[str]:
    context = getattr(error, "ctx", None)
    if context is None:
        return ()
    own = [name for param in context.command.params for name in param.opts if name[:1] == "-"]
    return [*own, "--help"]
