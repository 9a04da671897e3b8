"""What a person can decide about a lead file, as options of controls and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dialframe.errors import ConfigError
from dialframe.leads import MappingDecision
from dialframe.leads.columns.column_map import FIELDS, ColumnMap, Columns
from dialframe.leads.reading.header_row import HeaderChoice

#: Endings of lead files, and of house rules.
ENDINGS: Final = (
    ".csv", ".tsv", ".txt", ".tab", ".psv", ".xlsx", ".xlsm", ".xls", ".ods", ".json", ".jsonl",
    ".ndjson", ".parquet", ".gz", ".zip",
)  # fmt: skip
RULES: Final = (".toml", ".json")

#: Whatever was found is taken.
FOUND: Final = "found"
#: The field is left out.
NONE: Final = "none"
_COLUMN: Final = "column:"

#: Words of a delimiter to what `read` takes.
DELIMITERS: Final = (
    ("as found", ""), ("comma", "comma"), ("semicolon", "semicolon"), ("tab", "tab"),
    ("pipe", "pipe"),
)  # fmt: skip

Option = tuple[str, str]


def field_options(
    name: str, columns: Sequence[str], decision: MappingDecision | None
) -> tuple[Option, ...]:
    """Options of one field: what was found with how sure that is, nothing, or any column."""
    none = () if name == "phone" else (("leave out", NONE),)
    every = tuple((column, f"{_COLUMN}{column}") for column in columns)
    return ((found_words(name, decision), FOUND), *none, *every)


def found_words(name: str, decision: MappingDecision | None) -> str:
    """What was found for a field: `Telefon (0.97)`."""
    found = None if decision is None else decision.columns
    own = () if found is None else found.fields().get(name, ())
    if found is None or not own:
        return "nothing found"
    sure = found.confidence.get(name)
    return f"found: {', '.join(own)}" + ("" if sure is None else f" ({sure:.2f})")


def told(
    chosen: Mapping[str, str], mapping: ColumnMap | Mapping[str, Columns] | None
) -> dict[str, Columns] | None:
    """The mapping that a recipe takes, from the options chosen; a field that was set before stays set."""
    before: dict[str, Columns] = (
        dict(mapping.fields()) if isinstance(mapping, ColumnMap) else dict(mapping or {})
    )
    given: dict[str, Columns] = {
        name: None if option == NONE else option.removeprefix(_COLUMN)
        for name, option in chosen.items()
        if option != FOUND
    }
    return ({**before, **given}) or None


def header(words: str) -> HeaderChoice:
    """The header that was typed: empty, `none`, or its line.

    Raises:
        ConfigError: It is none of them.
    """
    text = words.strip().lower()
    if text in ("", "auto"):
        return "auto"
    if text == "none":
        return "none"
    if not (text.isascii() and text.isdigit() and int(text)):
        raise ConfigError(f"the header is a line number, none, or empty to find it, not {words!r}")
    return int(text)


def questions(decisions: Sequence[MappingDecision]) -> list[str]:
    """What is not sure about the columns, one sentence each."""
    several = len(decisions) > 1
    return [
        f"{decision.name}: {question.why}" if several else question.why
        for decision in decisions
        for question in decision.questions
    ]


#: Fields that are shown at once; the others stand behind them.
FIRST: Final = ("phone", "first_name", "last_name", "full_name", "email", "external_id", "opt_out")
OTHERS: Final = tuple(name for name in FIELDS if name not in FIRST)
