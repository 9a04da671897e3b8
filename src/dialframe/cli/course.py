"""How far a running command has come: its last step, and whether it has answered; shows nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from dialframe.config import Progress

#: Whoever starts this one reads where it serves, or nothing, from standard output.
_SERVES: Final = ("sandbox", "serve")


@dataclass(slots=True)
class Course:
    """The course of one command.

    Attributes:
        as_json: Whether the answer is for a machine.
        answered: Whether the one JSON object stands on standard output.
        stopped: Whether a person stopped it.
        step: The newest step that was heard of.
    """

    as_json: bool = False
    answered: bool = False
    stopped: bool = False
    step: Progress | None = None

    @property
    def words(self) -> str:
        """Where it is, for a sentence: ` while reading autumn.csv (2 of 7)`, or nothing."""
        if self.step is None:
            return ""
        of = "" if self.step.total is None else f" of {self.step.total:,}"
        return f" at '{self.step.step}' ({self.step.done:,}{of})"


_COURSE: Final[ContextVar[Course]] = ContextVar("course")


def begin(arguments: Sequence[str]) -> Course:
    """The course of the command that these arguments ask for; it begins here."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    serves = tuple(arguments[:2]) == _SERVES
    course = Course(as_json="--json" in options and not serves)
    _COURSE.set(course)
    return course


def current() -> Course:
    """The course of the command that runs; one that nobody reads where none does."""
    return _COURSE.get(Course())
