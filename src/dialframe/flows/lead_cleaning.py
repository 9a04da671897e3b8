"""Lead files looked at, cleaned and screened; one pipeline with a folder or a frame at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dialframe import leads
from dialframe.config import OnProgress, silent
from dialframe.files import alone, publish, stage, sweep
from dialframe.flows.column_choices import Ask, AskRegion, Chooser, Memory
from dialframe.flows.executors import executor
from dialframe.leads import (
    Cleaned,
    CleanedFiles,
    CleanLayout,
    ColumnMap,
    Form,
    LeadFile,
    Pipeline,
    ReadOptions,
    Rules,
    Target,
)
from dialframe.suppression import Barred

if TYPE_CHECKING:
    import pandas as pd

    from dialframe.account import Account

#: Age up to which a stored Do-Not-Call answer will do: the safe harbor of 16 CFR 310.4(b)(3)(iv).
MAX_AGE: Final = "31d"
#: Numbers that the service is asked about before their answers are written down.
_ASKED_AT_ONCE: Final = 1_000
#: Bytes of leads that wait in memory meanwhile; the others wait on the disk.
_WAITING_BYTES: Final = 2**20
#: The file of the answers, which is evidence: `<stem>.dnc_checks.csv`.
_CHECKS: Final = "dnc_checks"


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """What a person decides about lead files; the rest is found.

    Attributes:
        region: Region of numbers written without a country code; None to infer it from each file.
        force_region: Whether the region counts although a list speaks against it.
        mapping: Columns by field, where they are given.
        encoding: Encoding of the files, where it is given.
        delimiter: Delimiter of the files, where it is given.
        sheet: Sheet of a workbook, where it is given.
        header: `auto`, `none`, or the physical line of the header.
        rules: Policy, rules of the account for single fields, blocked countries.
        memory: Columns that somebody has confirmed, by header; None to find them anew.
        ask: Asks a person about columns that are not sure, or None.
        lists: Numbers that must not be called, by the name of their list.
        answers: What somebody answered about words in columns: mappings with `column`, `phrase`, `answer`.
        layout: What the clean list looks like.
        ask_region: Asks a person of which country the numbers are, or None.
        jobs: Processes that share the files, or 1 for this one alone; the result is the same.
        cluster: Address of a Dask scheduler whose workers share the files.
        form: Format of the files with leads.
        reasons: Reason codes whose first lines are wanted.
        max_age: Age up to which a stored Do-Not-Call answer will do; None asks about every number.
    """

    region: str | None
    mapping: ColumnMap | Mapping[str, Any] | None = None
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    header: int | str | Sequence[str] = "auto"
    rules: Rules = field(default_factory=Rules)
    memory: Memory | None = field(default=None, repr=False)
    ask: Ask | None = field(default=None, repr=False)
    lists: Mapping[str, Barred] = field(default_factory=dict, repr=False)
    answers: Sequence[Mapping[str, str | None]] = ()
    layout: CleanLayout = field(default_factory=CleanLayout)
    force_region: bool = False
    ask_region: AskRegion | None = field(default=None, repr=False)
    jobs: int = 1
    cluster: str | None = None
    form: Form = "csv"
    reasons: Sequence[str] = ()
    max_age: str | None = MAX_AGE

    def chooser(self) -> Chooser:
        """What says the columns and the region of each file."""
        ask_region = None if self.force_region else self.ask_region
        return Chooser(self.region, self.mapping, self.memory, self.ask, ask_region)

    def choices(self, chooser: Chooser) -> leads.Choices:
        """The same in the words of the pipeline."""
        return leads.Choices(
            region=self.region,
            mapping=chooser,
            choose_region=chooser.region_of,
            force_region=self.force_region,
            policy=self.rules.policy,
            blocked_countries=self.rules.blocked_countries,
            field_rules=self.rules.field_rules,
            options=self.options,
            answers=self.answers,
        )

    @property
    def suppressed(self) -> Barred:
        """The numbers of all lists."""
        return reduce(Barred.joined, self.lists.values(), Barred())

    @property
    def options(self) -> ReadOptions:
        """How the files are read, where that is given."""
        return ReadOptions(
            encoding=self.encoding,
            delimiter=self.delimiter,
            header=self.header,
            sheet=self.sheet,
        )


@dataclass(frozen=True, slots=True)
class Screening:
    """What the Do-Not-Call checks of a list say.

    Attributes:
        numbers: Numbers that have an answer or none.
        listed: Numbers that are listed.
        unanswered: Numbers of which nobody knows; they are set aside like what is listed.
        oldest_at: Instant of the oldest answer, UTC.
        newest_at: Instant of the newest.
        barred: Numbers that are listed or unanswered, E.164.
    """

    numbers: int = 0
    listed: int = 0
    unanswered: int = 0
    oldest_at: datetime | None = None
    newest_at: datetime | None = None
    barred: frozenset[str] = field(default=frozenset(), repr=False)

    def with_answers(self, checks: pd.DataFrame) -> Screening:
        """With further answers, one row a number."""
        # What has no answer has no time.
        times = checks["checked_at"].dropna()
        seen = [at for at in (self.oldest_at, self.newest_at) if at is not None]
        seen += [] if times.empty else [times.min(), times.max()]
        # What has no answer is not known to be free: it is set aside like what is listed.
        # None is neither: `fillna` decides in favor of the person.
        barred = checks.loc[checks["listed"].fillna(value=True), "phone"]
        return Screening(
            self.numbers + len(checks),
            self.listed + int(checks["listed"].fillna(value=False).sum()),
            self.unanswered + int(checks["listed"].isna().sum()),
            min(seen, default=None),
            max(seen, default=None),
            self.barred | frozenset(barred),
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain values: `numbers, listed, unanswered, oldest_at, newest_at`."""
        return {
            "numbers": self.numbers,
            "listed": self.listed,
            "unanswered": self.unanswered,
            "oldest_at": _text(self.oldest_at),
            "newest_at": _text(self.newest_at),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Lead files that are cleaned in memory and, with an account, screened.

    Attributes:
        cleaned: Every record in exactly one outcome.
        checks: The Do-Not-Call answers that it rests on, or None where nothing was asked.
        opted_out: Digits of every number of the records that say not to be called.
        met: As for `Result`.
    """

    cleaned: Cleaned
    checks: pd.DataFrame | None = field(default=None, repr=False)
    opted_out: Sequence[int] = field(default=(), repr=False)
    met: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """Beginning of the names of all files."""
        return leads.stem(self.cleaned)

    def write(self, out: Path, *, form: Form = "csv") -> dict[str, Path]:
        """Write every outcome, the report for people and for programs, and the checks; alone there.

        Raises:
            StoreError: Another run is writing there.
            LeadFileError: The folder cannot be written.
            OSError: The disk is full.
        """
        from dialframe.csv_safety import write_csv

        with alone(out):
            sweep(out, self.stem)
            files = dict(
                leads.write(self.cleaned, out, form=form, page=_page, suppression=self.met).paths
            )
            if self.checks is not None:
                files[_CHECKS] = write_csv(self.checks, out / f"{self.stem}.{_CHECKS}.csv")
        return files


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """Lead files that went through.

    Attributes:
        cleaned: Counts, reasons and files.
        paths: What was written, by name.
        screening: What the Do-Not-Call checks say, or None where nobody was asked.
        opted_out: Digits of every number of the records that say not to be called.
        met: List of numbers that must not be called to how many it holds, and how many of those are in
            the files.
    """

    cleaned: CleanedFiles
    paths: dict[str, Path]
    screening: Screening | None = None
    opted_out: Sequence[int] = field(default=(), repr=False)
    met: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def report(self) -> dict[str, Any]:
        """What became of the list as plain values; see `dialframe.leads.report`."""
        return leads.report(self.cleaned, suppression=self.met)


@contextmanager
def opened(
    paths: Sequence[str | Path],
    recipe: Recipe,
    *,
    asks: bool = False,
    on_progress: OnProgress = silent,
) -> Iterator[Pipeline]:
    """A pipeline that has read and judged every table at the paths.

    Args:
        paths: Files, folders, archives, or URLs that fsspec understands, with wildcards too.
        recipe: What a person decided.
        asks: Whether the service is asked about the leads next, which takes memory of its own.
        on_progress: Told of records.

    Raises:
        LeadFileError: A file cannot be read, or has no phone column.
    """
    with ExitStack() as stack:
        # The chooser keeps what was answered about a file.
        workers, chooser = None, recipe.chooser()
        if len(paths) > 1 and (recipe.jobs > 1 or recipe.cluster):
            jobs = min(recipe.jobs, len(paths))
            shared = executor(recipe.cluster, jobs, loads="dialframe.leads.cleaning")
            workers = stack.enter_context(shared)
            # Nobody sits at a worker who could be asked about a column.
            chooser = chooser.silent()
        # Answers of the service are held beside the records, so these get less memory.
        waiting: dict[str, Any] = {"memory_bytes": _WAITING_BYTES} if asks else {}
        pipeline = stack.enter_context(
            Pipeline(recipe.choices(chooser), executor=workers, on_progress=on_progress, **waiting)
        )
        # Each record by itself first, on as many workers as there are; then all against each other.
        pipeline.judge(paths)
        pipeline.compare(suppressed=recipe.suppressed)
        yield pipeline


def look(
    paths: Sequence[str | Path], recipe: Recipe, *, on_progress: OnProgress = silent
) -> Result:
    """What would become of lead files, and the first lines of each reason asked for; writes nothing.

    Raises:
        LeadFileError: A file cannot be read, or has no phone column.
    """
    # The whole way but the last step: counts are those that `clean` gives.
    with opened(paths, recipe, on_progress=on_progress) as pipeline:
        cleaned = pipeline.write(None, show=recipe.reasons)
        return Result(cleaned, {}, met=_count_met(pipeline, recipe))


def clean(
    paths: Sequence[str | Path], recipe: Recipe, out: Path, *, on_progress: OnProgress = silent
) -> Result:
    """Clean lead files into a folder, in bounded memory; one run at a time holds it.

    Raises:
        LeadFileError: A file cannot be read, or the folder cannot be written.
        StoreError: Another run is writing there.
    """
    with alone(out), opened(paths, recipe, on_progress=on_progress) as pipeline:
        # What a killed run left half done under these names goes.
        sweep(out, leads.stem_in(out, pipeline.files, recipe.form))
        return _write_outputs(pipeline, recipe, out)


def _write_outputs(pipeline: Pipeline, recipe: Recipe, out: Path) -> Result:
    met = _count_met(pipeline, recipe)
    target = Target(out, form=recipe.form, page=_page, layout=recipe.layout, suppression=met)
    cleaned = pipeline.write(target, show=recipe.reasons)
    return Result(
        cleaned,
        dict(cleaned.paths),
        opted_out=pipeline.opted_out().tolist(),
        met=met,
    )


def _count_met(pipeline: Pipeline, recipe: Recipe) -> dict[str, tuple[int, int]]:
    """How many numbers each list holds, and how many of them the files have."""
    if not any(map(len, recipe.lists.values())):
        return dict.fromkeys(recipe.lists, (0, 0))
    numbers = pipeline.every_number().tolist()
    return {name: (len(barred), barred.met(numbers)) for name, barred in recipe.lists.items()}


def screen(
    paths: Sequence[str | Path],
    recipe: Recipe,
    account: Account,
    out: Path,
    *,
    on_progress: OnProgress = silent,
) -> Result:
    """Clean lead files into a folder and ask the account whether their numbers are listed; answers are kept.

    Raises:
        LeadFileError: A file cannot be read, or the folder cannot be written.
        StoreError: Another run is writing there.
        ApiError: The service refused the check.
    """
    with alone(out), opened(paths, recipe, asks=True, on_progress=on_progress) as pipeline:
        return screened(pipeline, recipe, account, out, on_progress=on_progress)


def screened(
    pipeline: Pipeline, recipe: Recipe, account: Account, out: Path, *, on_progress: OnProgress
) -> Result:
    """Screen what a pipeline has read, and write all of it, for who is alone in the folder."""
    from dialframe.csv_safety import csv_bytes

    stem = leads.stem_in(out, pipeline.files, recipe.form)
    target = out / f"{stem}.{_CHECKS}.csv"
    # Written as they come: a million answers need not fit into memory.
    answers: Screening | None = None

    def fill(file: Any) -> None:
        nonlocal answers

        def keep(checks: pd.DataFrame) -> None:
            file.write(csv_bytes(checks, header=not file.tell()))

        answers = ask(pipeline, recipe, account, keep=keep, on_progress=on_progress)

    sweep(out, stem)
    # The answers get their name last: a list without them is not screened.
    staged = stage(target, fill)
    try:
        result = _write_outputs(pipeline, recipe, out)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    publish({target: staged})
    return replace(result, paths={**result.paths, _CHECKS: target}, screening=answers)


def ask(
    pipeline: Pipeline,
    recipe: Recipe,
    account: Account,
    *,
    keep: Callable[[pd.DataFrame], object],
    on_progress: OnProgress = silent,
) -> Screening:
    """Ask about every clean number, until nothing is clean that was not asked about.

    Where the kept one of two records is listed, the other may take its place with a number of its
    own, so one round is not enough.

    Args:
        pipeline: What was read; its outcomes know what is listed when this ends.
        recipe: What a person decided.
        account: The account that answers.
        keep: Takes the answers, so many rows at a time.
        on_progress: Told of checks.
    """
    answers = Screening()
    asked = np.zeros(0, np.int64)
    while True:
        wanted = np.setdiff1d(pipeline.numbers(), asked, assume_unique=True)
        # The first round is made even where nothing is clean, so that the file of checks is there.
        if not len(wanted) and len(asked):
            return answers
        asked = np.union1d(asked, wanted)
        before = len(answers.barred)
        for begin in range(0, max(1, len(wanted)), _ASKED_AT_ONCE):
            # Numbers are held as their digits, eight bytes each.
            phones = [f"+{number}" for number in wanted[begin : begin + _ASKED_AT_ONCE].tolist()]
            checks = account.check_dnc(phones, max_age=recipe.max_age, on_progress=on_progress)
            keep(checks)
            answers = answers.with_answers(checks)
        if len(answers.barred) == before:
            return answers
        pipeline.compare(answers.barred, suppressed=recipe.suppressed)


def prepare(
    paths: Sequence[str | Path],
    recipe: Recipe,
    *,
    account: Account | None = None,
    on_progress: OnProgress = silent,
) -> Prepared:
    """Read and clean lead files in memory, for looking at; with an account, screen them too.

    Args:
        paths: The files, cleaned against each other in this order.
        recipe: What a person decided.
        account: The account that answers Do-Not-Call checks, or None to ask nobody.
        on_progress: Told of records and of checks.

    Raises:
        LeadFileError: A file cannot be read, or has no phone column.
        ApiError: The service refused the check.
    """
    with opened(paths, recipe, on_progress=on_progress) as pipeline:
        if account is None:
            return Prepared(pipeline.in_memory(), opted_out=pipeline.opted_out().tolist())
        import pandas as pd

        checks: list[pd.DataFrame] = []
        ask(pipeline, recipe, account, keep=checks.append, on_progress=on_progress)
        return Prepared(
            pipeline.in_memory(),
            pd.concat(checks, ignore_index=True),
            pipeline.opted_out().tolist(),
        )


def read(path: str | Path, recipe: Recipe) -> list[LeadFile]:
    """The tables at a path: one, or those of a folder or an archive, of which nothing can be said beforehand."""
    # How a table is read can be given for a file; a folder or an archive may hold tables of many kinds.
    options = recipe.options
    if options == ReadOptions():
        return leads.read_all(path)
    given = {each.name: getattr(options, each.name) for each in fields(options)}
    return [leads.read(path, **given)]


def _page(report: Mapping[str, Any]) -> str:
    """The report as a page; loaded here, so that looking at a list loads no templates."""
    from dialframe.reports.lead_list_page import render

    return render(report)


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")
