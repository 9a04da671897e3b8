"""What was decided about a file's columns, and what a person should be asked; it decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dialframe.errors import LeadFileError
from dialframe.leads.columns.column_map import ColumnMap

_SHOWN_COLUMNS: Final = 40
_SHOWN_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Candidate:
    """A column that may be the field.

    Attributes:
        column: Its name.
        confidence: How sure that is, 0 to 1.
        cells: Some of its cells, where a face shows them.
    """

    column: str
    confidence: float
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A field whose column is not sure.

    Attributes:
        field: The lead's field.
        candidates: Columns that may be it, the likeliest first; all columns where none is likely.
        why: One sentence.
        required: Whether nothing can be cleaned before it is answered; otherwise the first
            candidate is taken until somebody says otherwise.
    """

    field: str
    candidates: tuple[Candidate, ...]
    why: str
    required: bool


@dataclass(frozen=True, slots=True)
class MappingDecision:
    """The columns of one file by field, and the questions that are open.

    A face asks `questions` and decides again with the answers as `mapping`; a program calls
    `settled`, which refuses what is not sure enough.

    Attributes:
        name: The file.
        path: Where it is.
        columns: Its columns by field, or None while a required question is open.
        questions: What is not sure, required questions first.
    """

    name: str
    path: Path
    columns: ColumnMap | None
    questions: tuple[Question, ...] = ()

    def settled(self) -> ColumnMap:
        """The columns by field.

        Raises:
            LeadFileError: A required question is open.
        """
        if self.columns is None:
            raise LeadFileError(self.questions[0].why, path=self.path)
        return self.columns

    def answer(self, answers: Mapping[str, str]) -> dict[str, str]:
        """Answers by field as a mapping for `decide`, checked against the questions.

        Raises:
            LeadFileError: An answer is no candidate of its question.
        """
        for question in self.questions:
            given = answers.get(question.field)
            known = [candidate.column for candidate in question.candidates]
            if given is not None and given not in known:
                raise LeadFileError(
                    f"{self.name}: {given!r} was not offered for {question.field}; choose one of: "
                    f"{shorten(known)}",
                    path=self.path,
                )
        return dict(answers)


def shorten(columns: list[str]) -> str:
    """Names of columns for a sentence; many and long ones do not fill the screen."""
    shown = [
        name if len(name) <= _SHOWN_CHARS else f"{name[:_SHOWN_CHARS]}..." for name in columns
    ]
    more = f" and {len(shown) - _SHOWN_COLUMNS} more" if len(shown) > _SHOWN_COLUMNS else ""
    return ", ".join(shown[:_SHOWN_COLUMNS]) + more
