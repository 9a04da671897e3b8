"""Options that the commands of `dialframe leads` share, and what they say as values; opens no lead file."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from platformdirs import user_data_path

from dialframe.cli import completing, values
from dialframe.errors import ApiError, ConfigError, ContractError, DialframeError, TransportError

if TYPE_CHECKING:
    from dialframe.flows.choosing import Memory
    from dialframe.flows.listing import Recipe
    from dialframe.leads import ColumnMap


class Form(StrEnum):
    """Formats of the files with leads."""

    CSV = "csv"
    XLSX = "xlsx"
    PARQUET = "parquet"
    JSONL = "jsonl"


class Engine(StrEnum):
    """What does the work."""

    LOCAL = "local"
    DUCKDB = "duckdb"
    DASK = "dask"


class Failing(StrEnum):
    """From which outcome on an import ends with status 3."""

    UNKNOWN = "unknown"
    REFUSED = "refused"

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The outcomes that fail it."""
        return ("unknown",) if self is Failing.UNKNOWN else ("unknown", "refused")


Files = Annotated[
    list[str],
    typer.Argument(
        help="CSV, TSV, XLSX, XLS, ODS, JSON, JSONL or Parquet; several, a folder, "
        "'lists/*.csv' or 's3://bucket/*.csv'.",
        show_default=False,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        help="Say which column is which: phone=Telefon. May be repeated.",
        show_default=False,
    ),
]
Mapping = Annotated[
    Path | None,
    typer.Option("--mapping", help="Columns as --save-mapping wrote them.", show_default=False),
]
SaveMapping = Annotated[
    Path | None,
    typer.Option(
        "--save-mapping",
        help="Write the columns that were found, for --mapping and the next list.",
        show_default=False,
    ),
]
NoSavedMapping = Annotated[
    bool,
    typer.Option(
        "--no-saved-mapping", help="Find the columns anew, whatever was answered for this header."
    ),
]
EngineOption = Annotated[
    Engine,
    typer.Option(
        "--engine", help="duckdb compares out of core, dask reads on a cluster; same result."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        help="Dask scheduler, tcp://...; without it a cluster on this machine.",
        show_default=False,
    ),
]
Rules = Annotated[
    Path | None,
    typer.Option(
        "--rules", help="Policy and field rules of the account (TOML or JSON).", show_default=False
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="Encoding, where the guess is wrong: cp1252, shift_jis...",
        show_default=False,
        autocompletion=completing.of(values.ENCODINGS),
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter", help="Delimiter, where the guess is wrong: ';' or tab.", show_default=False
    ),
]
Header = Annotated[
    str, typer.Option("--header", help="Line of the header, or none; auto finds it.")
]
Sheet = Annotated[
    str | None, typer.Option("--sheet", help="Sheet of a workbook.", show_default=False)
]
MaxAge = Annotated[
    str, typer.Option("--max-age", help="Age up to which a stored Do-Not-Call answer will do.")
]
Format = Annotated[Form, typer.Option("--format", help="Format of the files with leads.")]
Show = Annotated[
    list[str] | None,
    typer.Option(
        "--show",
        help="Reason code whose first 20 lines are shown. May be repeated.",
        show_default=False,
        autocompletion=completing.of(values.REASONS),
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        help="Column that becomes a custom field; at most 20. May be repeated.",
        show_default=False,
    ),
]
FailOn = Annotated[
    Failing | None,
    typer.Option(
        "--fail-on",
        help="End with status 3 if leads are unknown, or refused or unknown.",
        show_default=False,
    ),
]

#: How the library names a choice, and how it is made here.
_WORDS: Final = (
    (re.compile(r"mapping=\{'(\w+)': '((?:[^'\\]|\\.)*)'\}"), r"--column '\1=\2'"),
    (re.compile(r"mapping=\{'(\w+)': \.\.\.\}"), r"--column \1=NAME"),
    (re.compile(r"\bkeep=\[\.\.\.\]"), "--keep NAME (once for each)"),
    (re.compile(r"\b(sheet|encoding|delimiter|header|region)=(?!\w)"), r"--\1"),
    (re.compile(r"\bkeep names\b"), "--keep names"),
    (re.compile(r"\bpass engine=dask\b"), "pass --engine dask"),
    (re.compile(r"\bleave engine out\b"), "leave --engine out"),
    (re.compile(r"^a scheduler\b"), "--scheduler"),
    (re.compile(r"\bwith map_columns\b"), "with --save-mapping"),
    (re.compile(r": try again; whether the write .* asks$"), ""),
)


def recipe(
    region: str,
    *,
    columns: list[str] | None = None,
    mapping: Path | None = None,
    rules: Path | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: str = "auto",
    sheet: str | None = None,
    no_saved_mapping: bool = False,
    as_json: bool = False,
) -> Recipe:
    """What a person decided, from the options.

    Raises:
        ConfigError: An option is not what it says.
    """
    from dialframe.cli.lead_questions import asker
    from dialframe.flows.choosing import remembered
    from dialframe.flows.listing import Recipe
    from dialframe.leads import Rules, load_rules

    return Recipe(
        region.upper(),
        mapping=_mapping(columns, mapping),
        encoding=encoding,
        delimiter=delimiter,
        sheet=sheet,
        header=_header(header),
        rules=Rules() if rules is None else load_rules(rules),
        memory=None if no_saved_mapping else remembered(user_data_path("dialframe") / "mappings"),
        ask=None if as_json else asker(remembers=not no_saved_mapping),
    )


def memory_of(recipe: Recipe) -> Memory | None:
    """What was remembered of headers and taken from there; None where the columns were told."""
    return recipe.memory if recipe.mapping is None else None


def expanded(files: list[str]) -> list[str | Path]:
    """The files, with patterns replaced by what they match, by name; each file once.

    Raises:
        ConfigError: A pattern matches nothing.
    """
    found: list[str | Path] = []
    for text in files:
        if "://" in text:
            found.append(text)
            continue
        if Path(text).exists() or not glob.has_magic(text):
            found.append(Path(text))
            continue
        matched = sorted(glob.glob(text))  # noqa: PTH207 - the pattern may be absolute
        if not matched:
            raise ConfigError(f"no file matches {text}; check the pattern and the folder")
        found += map(Path, matched)
    return list(dict.fromkeys(found))


def known(reasons: list[str] | None) -> list[str]:
    """The reason codes whose lines are to be shown.

    Raises:
        ConfigError: There is no such reason.
    """
    from dialframe.leads.reasons import BY_CODE

    for reason in reasons or ():
        if reason not in BY_CODE:
            raise ConfigError(
                f"--show {reason}: there is no such reason; dialframe leads reasons lists them"
            )
    return reasons or []


@contextmanager
def in_options(*, goes_on: bool = False) -> Iterator[None]:
    """Say what the library says of its arguments in the words of the command line.

    With `goes_on`, what the service or the way to it is to blame for ends with what to do next.
    """
    try:
        yield
    except DialframeError as error:
        message = str(error)
        for pattern, words in _WORDS:
            message = pattern.sub(words, message)
        if goes_on and isinstance(error, ApiError | TransportError | ContractError):
            message += "; the same command, run again, goes on where it was"
        error.args = (message, *error.args[1:])
        raise


def _mapping(
    columns: list[str] | None, mapping: Path | None
) -> ColumnMap | dict[str, str | tuple[str, ...]] | None:
    """The saved columns, and `phone=Telefon` for each field that was told."""
    saved = None
    if mapping is not None:
        from dialframe.leads import ColumnMap

        saved = ColumnMap.load(mapping)
    if not columns:
        return saved
    pairs = [text.partition("=") for text in columns]
    for name, equals, found in pairs:
        if not (name and equals and found):
            raise ConfigError("--column takes a field and a column, such as phone=Telefon")
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise ConfigError("--column names a field twice; give each field one column")
    told: dict[str, str | tuple[str, ...]] = {name: found for name, _, found in pairs}
    return told if saved is None else {**saved.fields(), **told}


def _header(text: str) -> int | str:
    if text in ("auto", "none"):
        return text
    if not (text.isascii() and text.isdigit() and int(text)):
        raise ConfigError(f"--header takes the line of the header, none or auto, not {text!r}")
    return int(text)
