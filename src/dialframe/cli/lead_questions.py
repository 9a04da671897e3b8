"""Asks a person on a terminal which column is which; knows the question, not how it came up."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dialframe.flows.choosing import Ask
    from dialframe.leads import MappingDecision, Question

#: Candidates that are offered; a file may have hundreds of columns.
_OFFERED: Final = 20


def asker(*, remembers: bool) -> Ask | None:
    """Asks on the terminal; None where nobody sits at one."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    def asked(decision: MappingDecision) -> Mapping[str, str | None]:
        answers = ask(decision)
        if remembers:
            _say("Kept for the next list with this header; --no-saved-mapping asks again.")
        return answers

    return asked


def ask(decision: MappingDecision) -> Mapping[str, str | None]:
    """The column of each field that is not sure; Enter takes the best."""
    return {one.field: _answer(decision.name, one) for one in decision.questions}


def _answer(name: str, question: Question) -> str | None:
    offered = question.candidates[:_OFFERED]
    least = 1 if question.required else 0
    _say(f"{name}: {question.why}")
    for number, candidate in enumerate(offered, 1):
        sure = f"  {candidate.confidence:.0%}" if candidate.confidence else ""
        _say(f"  {number}  {candidate.column}{sure}")
    if not least:
        _say("  0  none of them")
    while True:
        text = typer.prompt(f"Which column is {question.field}?", default="1", err=True).strip()
        if text.isascii() and text.isdigit() and least <= int(text) <= len(offered):
            return offered[int(text) - 1].column if int(text) else None
        _say(f"Type a number from {least} to {len(offered)}, or press Enter for 1.")


def _say(text: str) -> None:
    typer.echo(text, err=True)
