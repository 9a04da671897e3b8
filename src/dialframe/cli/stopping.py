"""Ctrl-C as an error with words: where the command was, what is kept, how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from dialframe.cli import course

#: Where a command says nothing of its own.
KEPT = "nothing was changed; run the same command again"


class Stopped(Exception):
    """A person stopped the command."""


@contextmanager
def stopped_in_words(kept: str) -> Iterator[None]:
    """Turn Ctrl-C within into `Stopped`, which says what is kept.

    Raises:
        Stopped: Ctrl-C was pressed.
    """
    try:
        yield
    except (KeyboardInterrupt, typer.Abort) as error:
        raise Stopped(f"stopped{course.current().words}; {kept}") from error
