"""Words that may forbid a call, put to a person: what they are, how they are counted, and what the answer does.

A record with such words is held for this list (`opt_out_unclear`) until somebody answers for the column and the
phrase: `never_call`, `nothing`, or `never_look` for the whole column. An answer is kept with the columns of the
source (`ColumnMap.answers`), so that the next list of it asks nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from dialframe import opt_outs
from dialframe.errors import ConfigError
from dialframe.leads.columns.column_map import ColumnMap
from dialframe.leads.header_vocabulary import word_set
from dialframe.opt_outs import Phrase

#: What a person can answer: the phrase forbids the call, it says nothing, the column says nothing.
Answer = Literal["never_call", "nothing", "never_look"]
ANSWERS: Final[tuple[Answer, ...]] = get_args(Answer)
#: Any phrase of a column.
ANY: Final = "*"
#: What the answer `never_call` makes of a phrase.
CODES: Final = {"refusal": "opt_out", "deceased": "deceased", "wrong_number": "wrong_number"}
_EXAMPLES: Final = 3
#: Phrases of a column that are asked about one by one; more are one question about all of them.
_MOST_PHRASES: Final = 20
#: In names, firms, places and trades only a whole sentence is one: `Stop` and `DNC Plumbing` are names.
_SENTENCE_WORDS: Final = 3
_LONGEST_CELL: Final = 60
#: A dead lead is a sale that came to nothing.
_OF_SALES: Final = frozenset(
    {"lead", "leads", "deal", "opportunity", "stage", "pipeline", "sales"}
)
_FEW_WORDS: Final = 4
_NUMBERS: Final = re.compile(r"[\d+().\-/]+")


class WordQuestion(NamedTuple):
    """A phrase in a column that nobody has decided about.

    Attributes:
        column: The column.
        phrase: The phrase, or `*` for any text of the column.
        says: `refusal`, `deceased` or `wrong_number`.
        records: Records that have it there.
        examples: Up to three cells, in clear.
    """

    column: str
    phrase: str
    says: str
    records: int
    examples: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As plain values, with a place for the answer."""
        return {**self._asdict(), "examples": list(self.examples), "answer": None}


@dataclass(slots=True)
class Tally:
    """Phrases that were met, counted block by block.

    Attributes:
        counts: Records by column, phrase and what it says.
        examples: Cells of each.
        held: Column to the records that it keeps from being called.
    """

    counts: dict[tuple[str, str, str], int] = field(default_factory=dict)
    examples: dict[tuple[str, str, str], dict[str, None]] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)

    def hold(self, column: str, records: int) -> None:
        """Count records that a column keeps from being called."""
        if records:
            self.held[column] = self.held.get(column, 0) + records

    def add(self, column: str, phrase: Phrase, cell: str, records: int = 1) -> None:
        """Count records with one cell."""
        key = (column, phrase.text, phrase.says)
        self.counts[key] = self.counts.get(key, 0) + records
        shown = self.examples.setdefault(key, {})
        if len(shown) < _EXAMPLES:
            shown[" ".join(cell.split())[: 2 * _LONGEST_CELL]] = None

    def join(self, other: Tally) -> None:
        """Add what another counted."""
        for column, records in other.held.items():
            self.hold(column, records)
        for key, records in other.counts.items():
            self.counts[key] = self.counts.get(key, 0) + records
            shown = {**self.examples.get(key, {}), **other.examples[key]}
            self.examples[key] = dict(list(shown.items())[:_EXAMPLES])

    def questions(self) -> tuple[WordQuestion, ...]:
        """One question a phrase, most records first; of a column with very many, one for all."""
        per_column: dict[str, int] = {}
        for column, _, _ in self.counts:
            per_column[column] = per_column.get(column, 0) + 1
        merged = Tally()
        for (column, phrase, says), records in self.counts.items():
            many = per_column[column] > _MOST_PHRASES
            key = (column, ANY, "refusal") if many else (column, phrase, says)
            merged.counts[key] = merged.counts.get(key, 0) + records
            shown = {**merged.examples.get(key, {}), **self.examples[(column, phrase, says)]}
            merged.examples[key] = dict(list(shown.items())[:_EXAMPLES])
        asked = (
            WordQuestion(*key, records, tuple(merged.examples[key]))
            for key, records in merged.counts.items()
        )
        return tuple(sorted(asked, key=lambda each: (-each.records, each.column, each.phrase)))


def phrase_in(column: str, cell: str, *, is_flag: bool = False) -> Phrase | None:
    """What a cell of a column says that a person has to decide about, or None.

    Args:
        column: The column's name.
        cell: Its text.
        is_flag: Whether the column was read as a flag, and this cell is neither its yes nor its no.
    """
    if is_flag:
        return Phrase("refusal", _short(cell))
    flag = opt_outs.flag_of(column)
    if flag is not None and not flag.sure and opt_outs.read_flag(flag, cell) == "unclear":
        return Phrase("refusal", _short(cell))
    if _is_of_numbers(column) and opt_outs.plain(cell) in word_set("dead_numbers"):
        return Phrase("wrong_number", opt_outs.plain(cell))
    phrase = opt_outs.find_phrase(cell)
    if phrase is None:
        return None
    if phrase.text == "dead" and not _OF_SALES.isdisjoint(opt_outs.plain(column).split()):
        return None
    words = len(phrase.text.split())
    if is_quiet(column) and (phrase.says != "refusal" or words < _SENTENCE_WORDS):
        return None
    # `Removed` and `Stop` say something in a column of notes or statuses, and elsewhere anything.
    if opt_outs.plain(phrase.text) in word_set("weak") and not _is_of_notes(column):
        return None
    return phrase


def phrase_beside_number(cell: str) -> Phrase:
    """What a phone cell says beside its number, without the number."""
    words = " ".join(_NUMBERS.sub(" ", cell).split())
    return opt_outs.find_phrase(words) or Phrase("refusal", _short(words))


@lru_cache(maxsize=2**10)
def is_quiet(column: str) -> bool:
    """Whether a column holds names, firms, places, trades or things, in which single words are names."""
    return not word_set("quiet").isdisjoint(opt_outs.plain(column).split())


@lru_cache(maxsize=2**10)
def _is_of_notes(column: str) -> bool:
    words = opt_outs.plain(column)
    notes = word_set("note_columns")
    return not notes.isdisjoint(words.split()) or any(
        part in words for part in notes if not part.isascii()
    )


@lru_cache(maxsize=2**10)
def _is_of_numbers(column: str) -> bool:
    """Whether a column may tell of the number itself: `Phone Status`, `Line state`, `Disposition`."""
    words = set(opt_outs.plain(column).split())
    return len(words) < _FEW_WORDS and not words.isdisjoint(word_set("number_columns"))


def decision(columns: ColumnMap, column: str, phrase: Phrase) -> str | None:
    """The reason code that was answered for a phrase, empty where it means nothing, None where nobody answered."""
    answers = columns.answers.get(column, {})
    answer = answers.get(phrase.text, answers.get(ANY))
    if answer is None:
        return None
    return CODES[phrase.says] if answer == "never_call" else ""


def _short(cell: str) -> str:
    return " ".join(cell.split()).casefold()[:_LONGEST_CELL]


def answered(columns: ColumnMap, answers: Iterable[Mapping[str, Any]]) -> ColumnMap:
    """The columns with answers to their questions.

    Args:
        columns: The columns of a file.
        answers: Mappings with `column`, `phrase` and `answer`; what is not answered, or of another
            column, is left out.
    """
    ours = {*columns.leftovers, *(name for names in columns.fields().values() for name in names)}
    known = {column: dict(own) for column, own in columns.answers.items()}
    ignored = list(columns.ignored)
    for each in answers:
        column, answer = str(each["column"]), each["answer"]
        if answer is None or column not in ours:
            continue
        if answer == "never_look":
            ignored.append(column)
        else:
            known.setdefault(column, {})[str(each["phrase"])] = str(answer)
    return replace(columns, answers=known, ignored=tuple(dict.fromkeys(ignored)))


def load_answers(path: Path) -> list[dict[str, Any]]:
    """Answers from a file: JSON with `questions`, as `--json` prints it, or the list alone.

    Raises:
        ConfigError: The file cannot be read, or an answer is none of `ANSWERS`.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: no answers can be read ({error}); use JSON") from None
    rows = content.get("questions") if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"{path} has no questions; use what leads clean --json prints")
    return list(_check_rows(rows, str(path)))


def _check_rows(rows: Sequence[Mapping[str, Any]], where: str) -> Iterator[dict[str, Any]]:
    for row in rows:
        answer = row.get("answer")
        if answer is not None and answer not in ANSWERS:
            raise ConfigError(f"{where}: answer {answer!r}; one of {', '.join(ANSWERS)}")
        if not isinstance(row.get("column"), str):
            raise ConfigError(f"{where}: an answer names no column")
        yield {"column": row["column"], "phrase": str(row.get("phrase", ANY)), "answer": answer}
