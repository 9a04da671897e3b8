"""Options that the commands of `dialframe leads` share, and what they say as values; opens no lead file."""

from __future__ import annotations

import atexit
import glob
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer
from platformdirs import user_data_path

from dialframe.cli import completion_words
from dialframe.cli.terminal import Region, current, in_options
from dialframe.config import Settings
from dialframe.errors import ApiError, ConfigError, ContractError, StoreError, TransportError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dialframe.firm import Firm
    from dialframe.flows.column_choices import Ask, Memory
    from dialframe.flows.lead_cleaning import Recipe, Result
    from dialframe.leads import ColumnMap, MappingDecision, Question, RegionDecision
    from dialframe.suppression import Barred, SuppressionList


#: Formats of the files with leads.
Form = Literal["csv", "xlsx", "parquet", "jsonl"]
#: From which outcome on an import ends with status 3.
Failing = Literal["unknown", "refused"]

Files = Annotated[
    list[str],
    typer.Argument(
        help="CSV, TSV, XLSX, XLS, ODS, JSON, JSONL or Parquet; several, a folder, "
        "`lists/*.csv`, `s3://bucket/*.csv`, or - for standard input."
    ),
]
MaxAge = Annotated[
    str,
    typer.Option(
        "--max-age",
        hidden=True,
        help="How old a stored Do-Not-Call answer may be, 31d for instance.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", help="Column that becomes a custom field; at most 20; repeatable."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Send without asking; for scripts.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", "-n", help="Show what would happen; send and write no list.")
]
FailOn = Annotated[
    Failing | None, typer.Option("--fail-on", help="Exit with 3 from findings of this grade on.")
]
FailOnRejected = Annotated[
    Literal["rejected"] | None,
    typer.Option("--fail-on", help="Exit with 3 from findings of this grade on."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """How a list is read and judged."""

    region: Region = None
    force_region: Annotated[
        bool,
        typer.Option(
            "--force-region",
            hidden=True,
            help="Take --region although most numbers are none of it.",
        ),
    ] = False
    reasons: Annotated[
        list[str] | None,
        typer.Option(
            "--show",
            help="Reason code whose first 20 lines are shown; repeatable.",
            autocompletion=completion_words.of(completion_words.REASONS),
        ),
    ] = None
    duplicates: Annotated[
        Literal["first", "newest", "fullest"],
        typer.Option(
            hidden=True,
            help="Which of the records with one number stays: the first, the newest by a column of "
            "days (else the last), or the one with most cells filled.",
        ),
    ] = "first"
    one_lead_per: Annotated[
        Literal["record", "number"],
        typer.Option(
            hidden=True,
            help="A record with several numbers is one lead with the first that can be used, or a lead "
            "for each number; its external id goes with the first of them.",
        ),
    ] = "record"
    suppress: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel="Do not call",
            help="File of numbers that must not be called, or of their SHA-256; repeatable.",
        ),
    ] = None
    suppress_codes: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Do not call",
            help="Scrubbing service whose result codes those files hold; else every row counts.",
            autocompletion=completion_words.of(completion_words.SCRUBBERS),
        ),
    ] = None
    column: Annotated[
        list[str] | None,
        typer.Option(
            rich_help_panel="Columns", help="Say which column is which: phone=Telefon; repeatable."
        ),
    ] = None
    answers: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel="Columns",
            help="Answers to the questions of an earlier run: its --json with each `answer` filled in "
            "(never_call, nothing, never_look).",
        ),
    ] = None
    mapping: Annotated[
        Path | None, typer.Option(hidden=True, help="Columns as --save-mapping wrote them.")
    ] = None
    no_saved_mapping: Annotated[
        bool,
        typer.Option(
            "--no-saved-mapping",
            hidden=True,
            help="Find the columns anew, whatever was answered for this header.",
        ),
    ] = False
    policy: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel="Columns",
            metavar="FILE",
            help="Policy and field rules of the account (TOML or JSON).",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        typer.Option(
            rich_help_panel="Input",
            help="Encoding, where the guess is wrong: cp1252, shift_jis...",
            autocompletion=completion_words.of(completion_words.ENCODINGS),
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(hidden=True, help="Delimiter, where the guess is wrong: ';' or tab."),
    ] = None
    header: Annotated[
        str,
        typer.Option(rich_help_panel="Input", help="Line of the header, or none; auto finds it."),
    ] = "auto"
    sheet: Annotated[
        str | None, typer.Option(rich_help_panel="Input", help="Sheet of a workbook.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """How the files with leads are written."""

    form: Annotated[
        Form,
        typer.Option("--format", rich_help_panel="Output", help="Format of the files with leads."),
    ] = "csv"
    destination: Annotated[
        Literal["excel", "hubspot", "salesforce", "raw"],
        typer.Option(
            "--for",
            rich_help_panel="Output",
            help="Where the clean list is uploaded: names of its columns, and how CSV is written; raw "
            "escapes nothing and keeps file and line of each record.",
        ),
    ] = "excel"
    add: Annotated[
        list[str] | None,
        typer.Option(
            hidden=True,
            help="Column that is made from the number: line_type, country, state, time_zone (all that "
            "are possible). None by default; may be repeated.",
            autocompletion=completion_words.of(completion_words.ADDITIONS),
        ),
    ] = None
    names: Annotated[
        Literal["keep", "title"],
        typer.Option(hidden=True, help="ANN LEE as it stands, or as Ann Lee (title)."),
    ] = "keep"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOutput(OutputOptions):
    """The same for an import, whose files are a by-product: off its page."""

    form: Annotated[Form, typer.Option("--format", hidden=True, help="Format of the files.")] = (
        "csv"
    )
    destination: Annotated[
        Literal["excel", "hubspot", "salesforce", "raw"],
        typer.Option("--for", hidden=True, help="Where the clean list is uploaded."),
    ] = "excel"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """What does the work."""

    jobs: Annotated[
        int,
        typer.Option(
            min=1, hidden=True, help="Processes that share several files; the result is the same."
        ),
    ] = 1
    cluster: Annotated[
        str | None,
        typer.Option(
            hidden=True,
            help="Dask scheduler, tcp://..., whose workers share several files and see the temporary "
            "folder of this machine.",
        ),
    ] = None


SaveMapping = Annotated[
    Path | None,
    typer.Option(
        "--save-mapping",
        hidden=True,
        help="Write the columns that were found, for --mapping and the next list.",
    ),
]


def recipe(
    options: ListOptions,
    output: OutputOptions | None = None,
    *,
    work: EngineOptions | None = None,
    max_age: str = "31d",
    asks: bool = False,
    store: Path | None = None,
) -> Recipe:
    """What a person decided, from the options.

    Args:
        options: How lists are read.
        output: How they are written.
        work: On what they are worked.
        max_age: Age up to which an earlier answer of the service will do.
        asks: Whether the service is asked about every number, so that its older answers do not count.
        store: Folder of the store.

    Raises:
        ConfigError: An option is not what it says.
    """
    # Loaded here: `--help` and completion need none of it.
    from dialframe.flows.column_choices import remembered
    from dialframe.flows.lead_cleaning import Recipe
    from dialframe.leads import CleanLayout, Rules, load_rules
    from dialframe.leads.columns.questions import load_answers

    output, work = output or OutputOptions(), work or EngineOptions()
    firm = _firm()
    region = options.region or (None if firm is None else firm.lists.region)
    if options.force_region and region is None:
        raise ConfigError("--force-region is of use with a --region")
    # Options are laid over the file: who types one means it.
    rules = Rules() if options.policy is None else load_rules(options.policy)
    policy = rules.policy
    # What stands at its default leaves the file of rules its say.
    if options.duplicates != "first":
        policy = replace(policy, duplicates=options.duplicates)
    if options.one_lead_per != "record":
        policy = replace(policy, one_lead_per=options.one_lead_per)
    # A program that reads JSON answers no question.
    person = at_terminal() and not current().as_json
    return Recipe(
        region,
        mapping=_mapping(options.column, options.mapping),
        encoding=options.encoding,
        delimiter=options.delimiter,
        sheet=options.sheet,
        header=_header(options.header),
        rules=replace(rules, policy=policy),
        memory=None if options.no_saved_mapping else remembered(profiles_folder(store)),
        ask=asker(remembers=not options.no_saved_mapping) if person else None,
        lists=_lists(options.suppress, options.suppress_codes, region, store, checks=not asks),
        answers=() if options.answers is None else load_answers(options.answers),
        layout=CleanLayout(
            output.destination,
            tuple(dict.fromkeys(output.add or ())),
            title_names=output.names == "title",
        ),
        force_region=options.force_region,
        ask_region=ask_region if person else None,
        jobs=work.jobs,
        cluster=work.cluster,
        form=output.form,
        reasons=_check_reasons(options.reasons),
        max_age=max_age,
    )


def _firm() -> Firm | None:
    """The firm file of this folder or of one above; None where there is none, which most short runs find out."""
    here = Path.cwd()
    if not any((folder / "dialframe.toml").is_file() for folder in (here, *here.parents)):
        return None
    from dialframe.firm import Firm  # it loads pydantic

    return Firm.find(here)


def store_folder(store: Path | None) -> Path:
    """The folder of the store: of the option, the environment, the firm file, or of this machine."""
    firm = _firm()
    in_file = None if firm is None else firm.settings
    folder = Settings.from_environment(os.environ, store=store, in_file=in_file).store
    return (folder or user_data_path("dialframe", appauthor=False) / "store").expanduser()


def profiles_folder(store: Path | None) -> Path:
    """Folder of what was answered about lists, by header: a profile of each source, beside the store."""
    return store_folder(store) / "profiles"


def suppression_list(store: Path | None) -> SuppressionList:
    """The suppression list beside the store of the option, of DIALFRAME_STORE, or of this machine.

    Args:
        store: The option.
    """
    from dialframe.flows.suppression_import import own_list

    return own_list({}, store_folder(store))


def keep_opt_outs(result: Result, store: Path | None) -> dict[str, int | str]:
    """Put what flag columns and persons said onto the suppression list, as one run that can be undone.

    A list that cannot be written is a `problem` in words: what was cleaned is right without it.
    """
    from dialframe.flows.suppression_import import opt_outs_of
    from dialframe.suppression import run_id

    firm_list, now = suppression_list(store), datetime.now(UTC)
    run = run_id(now)
    if not result.opted_out:
        return {"added": 0, "on_list": len(firm_list), "run": run}
    try:
        added = firm_list.add(opt_outs_of(result, now.date()), now, run=run)
    except (OSError, StoreError) as error:
        return {"added": 0, "on_list": len(firm_list), "run": run, "problem": str(error)}
    return {"added": added, "on_list": len(firm_list), "run": run}


def _lists(
    files: list[str] | None,
    codes: str | None,
    region: str | None,
    store: Path | None,
    *,
    checks: bool,
) -> dict[str, Barred]:
    """The firm's own list, and the numbers of the files given, by name."""
    # Always: an opt-out holds for every later list, whatever options are given.
    from dialframe.leads.report import OWN_LIST

    lists = {OWN_LIST: suppression_list(store).barred(checks=checks)}
    firm = _firm()
    every = [*expanded(files or []), *(firm.lists.suppression if firm else ())]
    if not every:
        return lists
    from dialframe.flows import suppression_import
    from dialframe.leads.columns.list_region import given_region

    # What a file holds is suppressed for this run alone; `suppress add` keeps it.
    for file in suppression_import.read(every, region=given_region(region), codes=codes):
        lists[file.name] = (
            file.barred.joined(lists[file.name]) if file.name in lists else file.barred
        )
    return lists


def at_terminal() -> bool:
    """Whether somebody sits there who can answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def memory_of(recipe: Recipe) -> Memory | None:
    """What was remembered of headers and taken from there; None where the columns were told."""
    return recipe.memory if recipe.mapping is None else None


def expanded(files: list[str]) -> list[str | Path]:
    """The files, with patterns replaced by what they match, by name; each file once.

    Raises:
        ConfigError: A pattern matches nothing.
    """
    paths: list[str | Path] = []
    for text in files:
        if text == "-":
            paths.append(_standard_input())
            continue
        # What is behind a URL only fsspec can expand.
        if "://" in text:
            paths.append(text)
            continue
        if Path(text).exists() or not glob.has_magic(text):
            paths.append(Path(text))
            continue
        matched = sorted(glob.glob(text))  # noqa: PTH207 - the pattern may be absolute
        if not matched:
            raise ConfigError(f"no file matches {text}; check the pattern and the folder")
        paths += map(Path, matched)
    return list(dict.fromkeys(paths))


def _standard_input() -> Path:
    """What comes through a pipe as a file, which is gone when the command ends."""
    if sys.stdin.isatty():
        raise ConfigError("- reads standard input, and nothing is piped into it; name a file")
    folder = Path(tempfile.mkdtemp(prefix="dialframe-input-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "standard_input.csv"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return path


def _check_reasons(reasons: list[str] | None) -> list[str]:
    """The reason codes whose lines are to be shown."""
    from dialframe.leads.reasons import BY_CODE

    for reason in reasons or ():
        if reason not in BY_CODE:
            raise ConfigError(
                f"--show {reason}: there is no such reason; dialframe leads reasons lists them"
            )
    return reasons or []


@contextmanager
def goes_on() -> Iterator[None]:
    """Add what to do next to an error that the service, or the way to it, is to blame for."""
    try:
        yield
    except (ApiError, TransportError, ContractError) as error:
        message = (
            f"{in_options(str(error))}; run the same command again to resume where it stopped"
        )
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
    # Nothing was told: what was saved holds as it is.
    if not columns:
        return saved
    # A column's name may hold an equals sign itself: the first one parts them.
    pairs = [text.partition("=") for text in columns]
    for name, equals, column in pairs:
        if not (name and equals and column):
            raise ConfigError("--column takes a field and a column, such as phone=Telefon")
    if len({name for name, _, _ in pairs}) < len(pairs):
        raise ConfigError("--column names a field twice; give each field one column")
    # What is told now goes before what was saved.
    named: dict[str, str | tuple[str, ...]] = {name: column for name, _, column in pairs}
    return named if saved is None else {**saved.fields(), **named}


def _header(text: str) -> int | str:
    # A file whose first line is a record has no header; a header may stand below a title.
    if text in ("auto", "none"):
        return text
    if not (text.isascii() and text.isdigit() and int(text)):
        raise ConfigError(f"--header takes the line of the header, none or auto, not {text!r}")
    return int(text)


#: Candidates that are offered; a file may have hundreds of columns.
_OFFERED: Final = 20
#: More countries than these fit a list only by chance.
_REGIONS_OFFERED: Final = 5


def asker(*, remembers: bool) -> Ask:
    """Asks on the terminal, and says whether the answers are kept."""

    def asked(decision: MappingDecision) -> Mapping[str, str | None]:
        # A bar that is drawn anew would run over the question.
        current().hide_bars()
        answers = {item.field: _answer(decision.name, item) for item in decision.questions}
        if remembers:
            _say(
                "Kept for the next list with this header; `dialframe leads forget "
                f"{shlex.quote(decision.name)}` forgets it."
            )
        return answers

    return asked


def _answer(name: str, question: Question) -> str | None:
    """The column of one field that is not sure; Enter takes the best."""
    # The best first: whoever presses Enter takes it.
    offered = question.candidates[:_OFFERED]
    least = 1 if question.required else 0
    _say(f"{name}: {in_options(question.why).removeprefix(name).lstrip(': ')}")
    for number, candidate in enumerate(offered, 1):
        sure = f"  {candidate.confidence:.0%}" if candidate.confidence else ""
        # In clear: nobody tells columns apart by cells that are masked.
        cells = ", ".join(candidate.cells)
        _say(f"  {number}  {candidate.column}{sure}" + (f"  {cells}" if cells else ""))
    if not least:
        _say("  0  none of them")
    while True:
        # On standard error, so that an answer in a pipe stays clean.
        text = typer.prompt(f"Which column is {question.field}?", default="1", err=True).strip()
        if text.isascii() and text.isdigit() and least <= int(text) <= len(offered):
            return offered[int(text) - 1].column if int(text) else None
        _say(f"Type a number from {least} to {len(offered)}, or press Enter for 1.")


def _say(text: str) -> None:
    typer.echo(text, err=True)


def ask_region(decision: RegionDecision) -> str:
    """The country of a file's numbers; there is no default, because a wrong one dials strangers."""
    from dialframe.leads.columns.list_region import given_region

    current().hide_bars()
    # The given one comes first.
    offered = decision.candidates[:_REGIONS_OFFERED]
    _say(
        f"{decision.name} does not say of which country its numbers are. They fit:"
        if decision.region is None
        else f"{decision.against}. Its numbers fit:"
    )
    for number, candidate in enumerate(offered, 1):
        _say(f"  {number}  {candidate}")
    # A number of the list, or any code: the right country may not be among those that fit.
    while True:
        text = typer.prompt(
            "Which country? A number, or a code or name such as GB", err=True
        ).strip()
        if text.isascii() and text.isdigit() and 1 <= int(text) <= len(offered):
            return offered[int(text) - 1].region
        try:
            region = given_region(text)
        except ConfigError as problem:
            _say(str(problem))
            continue
        if region is not None:
            return region


#: What is typed for each answer.
_ANSWERS: Final = {"1": "never_call", "2": "nothing", "3": "never_look", "": None}


def ask_words(result: Result) -> list[dict[str, str | None]]:
    """Put the words that may forbid calls to the person at the terminal; what is left open stays held."""
    current().hide_bars()
    answers: list[dict[str, str | None]] = []
    silent: set[str] = set()
    for file in result.cleaned.files:
        for question in file.questions:
            if question.column in silent:
                continue
            phrase = "any text" if question.phrase == "*" else repr(question.phrase)
            _say(
                f"\n{file.name}, column {question.column}: {phrase} in {question.records:,} record{'' if question.records == 1 else 's'}"
            )
            for example in question.examples:
                _say(f"    {example}")
            text = "?"
            while text not in _ANSWERS:
                text = typer.prompt(
                    "1 never call them, 2 it means nothing, 3 never look in this column, Enter leaves it",
                    default="", show_default=False, err=True,
                ).strip()  # fmt: skip
            answer = _ANSWERS[text]
            if answer == "never_look":
                silent.add(question.column)
            if answer is not None:
                answers.append(
                    {"column": question.column, "phrase": question.phrase, "answer": answer}
                )
    return answers
