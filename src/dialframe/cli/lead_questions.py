"""Asks a person on a terminal which column is which."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Final

import typer

from dialframe.cli.lead_output import in_words
from dialframe.privacy import mask

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dialframe.flows.column_choices import Ask, AskRegion
    from dialframe.leads import MappingDecision, Question, RegionDecision

#: Candidates that are offered; a file may have hundreds of columns.
_OFFERED: Final = 20
_REGIONS_OFFERED: Final = 5


def asker(*, remembers: bool) -> Ask | None:
    """Asks on the terminal; None where nobody sits at one."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    def asked(decision: MappingDecision) -> Mapping[str, str | None]:
        answers = ask(decision)
        if remembers:
            _say(
                "Kept for the next list with this header; `dialframe leads forget "
                f"{shlex.quote(decision.name)}` forgets it."
            )
        return answers

    return asked


def ask(decision: MappingDecision) -> Mapping[str, str | None]:
    """The column of each field that is not sure; Enter takes the best."""
    return {question.field: _answer(decision.name, question) for question in decision.questions}


def _answer(name: str, question: Question) -> str | None:
    offered = question.candidates[:_OFFERED]
    least = 1 if question.required else 0
    _say(f"{name}: {in_words(question.why)}")
    for number, candidate in enumerate(offered, 1):
        sure = f"  {candidate.confidence:.0%}" if candidate.confidence else ""
        cells = ", ".join(mask(cell, reach="cell") for cell in candidate.cells)
        _say(f"  {number}  {candidate.column}{sure}" + (f"  {cells}" if cells else ""))
    if not least:
        _say("  0  none of them")
    while True:
        text = typer.prompt(f"Which column is {question.field}?", default="1", err=True).strip()
        if text.isascii() and text.isdigit() and least <= int(text) <= len(offered):
            return offered[int(text) - 1].column if int(text) else None
        _say(f"Type a number from {least} to {len(offered)}, or press Enter for 1.")


def _say(text: str) -> None:
    typer.echo(text, err=True)


def region_asker() -> AskRegion | None:
    """Asks on the terminal of which country numbers are; None where nobody sits at one."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return ask_region


def ask_region(decision: RegionDecision) -> str:
    """The country of a file's numbers; there is no default, because a wrong one dials strangers."""
    from dialframe.errors import ConfigError
    from dialframe.phones import check_region

    offered = decision.candidates[:_REGIONS_OFFERED]
    _say(f"{decision.name} does not say of which country its numbers are. They may be of:")
    for number, candidate in enumerate(offered, 1):
        _say(f"  {number}  {candidate}")
    while True:
        text = typer.prompt("Which country? A number, or a code such as GB", err=True).strip()
        if text.isascii() and text.isdigit() and 1 <= int(text) <= len(offered):
            return offered[int(text) - 1].region
        try:
            region = check_region(text.upper())
        except ConfigError as problem:
            _say(str(problem))
            continue
        if region is not None:
            return region
