"""Columns of lead files as they are given, remembered, asked for or found.

What a person said of a header that left a question open is remembered under the header's
fingerprint, so that the list of the next month asks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from dialframe import leads
from dialframe.errors import ConfigError
from dialframe.leads import (
    CleanedFile,
    ColumnMap,
    LeadFile,
    MappingDecision,
    Question,
    RegionDecision,
)
from dialframe.leads.columns.column_map import SEVERAL, Columns
from dialframe.leads.own_lists import origin_of
from dialframe.leads.rows import SAMPLE_ROWS

#: Cells that a question shows of each candidate, and rows in which they are looked for.
_CELLS: Final = 3
#: Rows of a file's head; a column that is empty so long shows no cells.
_SEARCHED: Final = 200
#: Asks what is not sure of a file: the column of each field, None for none of them.
Ask = Callable[[MappingDecision], Mapping[str, str | None]]
#: Asks of which country the numbers of a file are.
AskRegion = Callable[[RegionDecision], str]


@dataclass(frozen=True, slots=True)
class Memory:
    """Columns that somebody has confirmed, and answers about words in them: a profile of each source.

    Attributes:
        folder: Where the profiles are, and where more are put; None to keep no more.
        known: Folder in which they are looked for.
    """

    folder: Path | None
    known: Path | None = None

    def of(self, file: LeadFile | CleanedFile) -> ColumnMap | None:
        """What was confirmed of a file's header, or None; what is damaged there counts as forgotten."""
        where = self.folder or self.known
        if where is None or file.header is None:
            return None
        try:
            return leads.saved_mapping(file, where)
        except (ConfigError, OSError):
            return None

    def keep(self, file: LeadFile | CleanedFile, columns: ColumnMap) -> None:
        """Keep what was confirmed for the next list with this header."""
        if self.folder is not None and file.header is not None:
            leads.save_mapping(file, columns, self.folder)


def remembered(folder: Path) -> Memory:
    """What is kept in a folder."""
    return Memory(folder)


@dataclass(slots=True, eq=False)
class Chooser:
    """Says the columns of each file, and asks once.

    Attributes:
        region: Region of national numbers.
        mapping: Columns by field, where they are given.
        memory: What is remembered, or None.
        ask: Asks a person; None to refuse what nobody can know and to take the likeliest otherwise.
        ask_region: Asks a person for a country; None to refuse.
        settled: Columns by the file's hash and name.
    """

    region: str | None
    mapping: ColumnMap | Mapping[str, Columns] | None = None
    memory: Memory | None = None
    ask: Ask | None = None
    ask_region: AskRegion | None = None
    settled: dict[tuple[str, str], ColumnMap] = field(default_factory=dict)

    def __call__(self, file: LeadFile) -> ColumnMap:
        """The columns of a file, of which it may have a part of the rows.

        Raises:
            LeadFileError: It has no phone column, or two that cannot be told apart and nobody to ask.
        """
        key = (file.sha256, str(file.path))
        if key not in self.settled:
            self.settled[key] = self._choose(file.sample(SAMPLE_ROWS))
        return self.settled[key]

    def silent(self) -> Chooser:
        """The same for another process: it asks nobody and writes nothing."""
        memory = None if self.memory is None else Memory(None, self.memory.folder)
        return Chooser(self.region, self.mapping, memory)

    def region_of(self, file: LeadFile, columns: ColumnMap) -> RegionDecision:
        """The region of a file's national numbers: as given, or asked for.

        Who is asked has seen what speaks for other countries, so that an answer among those, or the
        one given before, stands.
        """
        # What the list says of itself is looked at even where a region is given.
        decision = leads.decide_region(file, self.region, columns)
        if self.ask_region is None or not (decision.is_open or decision.against):
            return decision
        answer = self.ask_region(decision)
        regions = {self.region, *(each.region for each in decision.candidates)}
        settled = leads.decide_region(file, answer, columns)
        return replace(settled, against=None) if answer in regions else settled

    def _choose(self, file: LeadFile) -> ColumnMap:
        origin = origin_of(file)
        if origin is not None:
            # A clean list is taken at its word: nothing about it is asked or remembered.
            origin_map = origin.mapping(file.names)
            return leads.map_columns(
                file, region=None, mapping={**origin_map, **self._columns_by_field()}
            )
        remembered_map = self.memory.of(file) if self.memory and self.mapping is None else None
        if remembered_map is not None:
            return leads.map_columns(file, region=self.region, mapping=remembered_map)
        decision = leads.decide(file, region=self.region, mapping=self.mapping)
        if self.ask is not None and decision.questions:
            decision = self._asked(file, decision, self.ask)
            self._remember(file, decision.settled())
        # What was told answers a question that would be asked again next month.
        elif self.mapping is not None and self._was_open(file):
            self._remember(file, decision.settled())
        return decision.settled()

    def _asked(self, file: LeadFile, decision: MappingDecision, ask: Ask) -> MappingDecision:
        """Ask until nothing is open that was not asked."""
        named_columns = dict(self._columns_by_field())
        asked: set[str] = set()
        # An answer may open another question: the column taken may have been another field's.
        while new := tuple(
            question for question in decision.questions if question.field not in asked
        ):
            asked.update(question.field for question in new)
            choices = ask(
                replace(decision, questions=tuple(_with_cells(question, file) for question in new))
            )
            changed = {
                question.field: _replace_column(decision, question, choices[question.field])
                for question in new
                if question.field in choices
                and choices[question.field] != _default_candidate(decision, question)
            }
            if changed:
                named_columns |= changed
                decision = leads.decide(file, region=self.region, mapping=named_columns)
        return decision

    def _columns_by_field(self) -> Mapping[str, Columns]:
        """The given columns by field."""
        return self.mapping.fields() if isinstance(self.mapping, ColumnMap) else self.mapping or {}

    def _was_open(self, file: LeadFile) -> bool:
        """Whether the given columns answer a question of this file."""
        if self.memory is None or self.memory.folder is None:
            return False
        decision = leads.decide(file, region=self.region)
        return any(question.field in self._columns_by_field() for question in decision.questions)

    def _remember(self, file: LeadFile, columns: ColumnMap) -> None:
        if self.memory is not None:
            self.memory.keep(file, columns)


def _with_cells(question: Question, file: LeadFile) -> Question:
    """The question with the first filled cells of each candidate."""
    shown = []
    for candidate in question.candidates:
        cells = file.cells(candidate.column) if candidate.column in file.names else []
        filled = [cell for cell in cells[:_SEARCHED] if cell.strip()]
        shown.append(replace(candidate, cells=tuple(filled[:_CELLS])))
    return replace(question, candidates=tuple(shown))


def _default_candidate(decision: MappingDecision, question: Question) -> str | None:
    """The candidate that stands if nobody says otherwise."""
    if decision.columns is None:
        return None
    columns = decision.columns.fields().get(question.field, ())
    names = [candidate.column for candidate in question.candidates]
    return next((name for name in columns if name in names), None)


def _replace_column(decision: MappingDecision, question: Question, chosen: str | None) -> Columns:
    """All columns of the field with the one chosen instead of the one taken."""
    taken = _default_candidate(decision, question)
    if decision.columns is None or taken is None or question.field not in SEVERAL:
        return chosen
    columns = decision.columns.fields().get(question.field, ())
    names = [chosen if name == taken else name for name in columns]
    return tuple(dict.fromkeys(name for name in names if name is not None)) or None
