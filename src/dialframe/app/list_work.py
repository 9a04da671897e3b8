"""The work behind the list pages: read a file, clean it by what a person said, correct cells, plan and send an import."""

from __future__ import annotations

import csv
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from dialframe import leads
from dialframe.app.jobs import DONE, Job
from dialframe.app.workspace import Workspace
from dialframe.config import OnProgress
from dialframe.errors import ConfigError
from dialframe.files import folder as make_folder
from dialframe.flows import cleaning_summary, lead_cleaning, lead_import, suppression_import
from dialframe.flows.column_choices import Memory, remembered
from dialframe.flows.list_fixing import Fixing
from dialframe.leads import LeadFile, Question, RegionDecision
from dialframe.leads.report import OWN_LIST
from dialframe.suppression import run_id

#: Endings of files that are offered as lists.
ENDINGS: Final = frozenset(
    {".csv", ".tsv", ".txt", ".xlsx", ".xls", ".ods", ".json", ".jsonl", ".parquet", ".zip", ".gz"}
)
#: Folders of what is written, within the app's own.
CLEANED: Final = "cleaned"
IMPORTED: Final = "imported"
#: Rows of a file on a page, rows that its columns and country are judged by, rows of what was set aside.
_PREVIEW: Final = 12
_SAMPLE: Final = 2_000
SET_ASIDE: Final = 50
#: Leads of a plan that are shown as they will be sent.
_LEADS: Final = 5
#: Columns that the set-aside file adds to those of the list.
_ADDED: Final = "_"


@dataclass(frozen=True, slots=True)
class Choices:
    """What a person said of a list since the app started.

    Attributes:
        region: Country of numbers without a country code.
        columns: Column by field, where a question about columns was answered; None: none of them.
        answers: What words in columns mean: mappings with `column`, `phrase` and `answer`.
    """

    region: str | None = None
    columns: Mapping[str, str | None] = field(default_factory=dict)
    answers: tuple[Mapping[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a list and how it was read.

    Attributes:
        header: Names of the columns.
        roles: Column to what it was taken for, in words.
        rows: The first rows, in clear: they are the person's own.
        lines: Their physical lines.
        records: Records of the file.
        tables: Tables of the file, an archive or a workbook having several.
        how: How it was read, decision by decision.
        source: The source whose format it is, or empty.
        remembered: Whether somebody answered about such a list before.
        questions: Which column is which, where that is not sure.
        region: Of which country its numbers are.
    """

    header: list[str]
    roles: dict[str, str]
    rows: list[list[str]]
    lines: list[int]
    records: int
    tables: int
    how: list[str]
    source: str
    remembered: bool
    questions: tuple[Question, ...]
    region: RegionDecision


@dataclass(frozen=True, slots=True)
class CleanList:
    """A list that was cleaned.

    Attributes:
        counts: `records, clean, rejected, duplicates, do_not_call, skipped`.
        region: The region that was used.
        reasons: Outcome, meaning, remedy and records, most first.
        questions: Words that hold records until somebody says what they mean.
        held: Records that they hold.
        met: Each list of forbidden numbers: its entries, and those met in the file.
        doubts: What a person should look at first.
        suppressed: Numbers that are new on the firm's list, by the run that `suppress undo` takes.
        run: Its id.
        edits: Corrections that it rests on.
        files: Name to path of what was written.
    """

    counts: dict[str, int]
    region: str | None
    reasons: list[tuple[str, str, str, int]]
    questions: tuple[Any, ...]
    held: int
    met: dict[str, tuple[int, int]]
    doubts: list[str]
    suppressed: int
    run: str
    edits: int
    files: dict[str, Path]


@dataclass(frozen=True, slots=True)
class SetAside:
    """Rows that are not on the clean list.

    Attributes:
        header: Columns of the list.
        rows: Line, outcome, meaning, remedy, cells, and the place of the cell that is to blame or None.
    """

    header: list[str]
    rows: list[tuple[str, str, str, str, list[str], int | None]]


class ListWork:
    """Work on the lists of the folder, a job of each kind for each list at a time."""

    def __init__(self, workspace: Workspace) -> None:
        """Take what the pages share."""
        self._workspace = workspace
        self._choices: dict[str, Choices] = {}
        self._heads: dict[str, tuple[object, Job]] = {}
        self._fixing: dict[str, Fixing] = {}
        self._lock = threading.RLock()

    # ---- files

    def files(self) -> list[tuple[str, int, float]]:
        """Name, bytes and time of change of each list, the newest first."""
        found = []
        for path in self._workspace.folder.iterdir():
            if is_list(path.name) and path.is_file() and not path.is_symlink():
                status = path.stat()
                found.append((path.name, status.st_size, status.st_mtime))
        return sorted(found, key=lambda each: -each[2])

    def path(self, name: str) -> Path:
        """A list of the folder.

        Raises:
            ConfigError: There is no such list there.
        """
        if not is_list(name):
            raise ConfigError(f"{name!r} is not a list of this folder")
        return self._workspace.file(name)

    def choices(self, name: str) -> Choices:
        """What was said of a list; the firm file's country until somebody says another."""
        region = self._workspace.firm.lists.region
        return self._choices.get(name, Choices(region))

    def choose(self, name: str, choices: Choices) -> None:
        """Keep what a person said of a list."""
        self._choices[name] = choices
        self._heads.pop(name, None)

    @property
    def memory(self) -> Memory | None:
        """Answers by source; None where nothing is kept."""
        folder = self._workspace.profiles
        return None if folder is None else remembered(folder)

    def forget(self, name: str) -> None:
        """Forget what was answered about lists with this header."""
        folder = self._workspace.profiles
        self.choose(name, Choices(self.choices(name).region))
        if folder is not None:
            for file in leads.read_all(self.path(name)):
                leads.forget_mapping(file, folder)

    # ---- jobs

    def job(self, kind: str, name: str) -> Job | None:
        """The newest job of a kind for a list."""
        return self._workspace.jobs.newest(f"{kind}-{name}")

    def result(self, kind: str, name: str) -> Any:
        """What it gave, or None."""
        job = self.job(kind, name)
        return job.result if job is not None and job.state == DONE else None

    def read(self, name: str) -> Job:
        """Begin to read a list, or give the job that did; a file that changed is read again."""
        path = self.path(name)
        status = path.stat()
        mark = (status.st_mtime_ns, status.st_size)
        with self._lock:
            known = self._heads.get(name)
            if known is None or known[0] != mark:
                region = self.choices(name).region
                job = self._workspace.jobs.start(
                    f"read-{name}", f"Reading {name}",
                    lambda _: _head(leads.read_all(path), region, self.memory),
                )  # fmt: skip
                known = self._heads[name] = (mark, job)
            return known[1]

    def clean(self, name: str) -> Job:
        """Begin to clean a list by what was said of it."""
        path = self.path(name)
        self._fixing.pop(name, None)
        return self._workspace.jobs.start(
            f"list-{name}", f"Cleaning {name}", partial(self._clean, path)
        )

    def _clean(self, path: Path, listen: OnProgress) -> CleanList:
        recipe, out = self._recipe(path.name), self._out(path.name)
        history = _history(out)
        if history is not None:
            # Corrections of an earlier day are part of the list.
            work = Fixing.of([path], recipe, on_progress=listen)
            work.resume(history)
            return self._correct_list(path.name, work)
        result = lead_cleaning.clean([path], recipe, out, on_progress=listen)
        memory = self.memory
        if memory is not None:
            for file in result.cleaned.files:
                lead_import.keep_answers(memory, file)
        added, run = self._keep_opt_outs(result)
        report = result.report()
        return CleanList(
            dict(result.cleaned.counts), result.cleaned.region, _reasons(result.cleaned),
            tuple(question for file in result.cleaned.files for question in file.questions),
            report["held"], dict(result.met), report["doubts"], added, run, 0, dict(result.paths),
        )  # fmt: skip

    # ---- corrections

    def open_fixing(self, name: str) -> Job:
        """Begin to read a list for corrections."""
        path = self.path(name)

        def work(listen: OnProgress) -> Fixing:
            fixing = Fixing.of([path], self._recipe(name), on_progress=listen)
            history = _history(self._out(name))
            if history is not None:
                fixing.resume(history)
            self._fixing[name] = fixing
            return fixing

        return self._workspace.jobs.start(f"fix-{name}", f"Reading {name}", work)

    def fixing(self, name: str) -> Fixing | None:
        """A list that is being corrected."""
        return self._fixing.get(name)

    def fix(self, name: str, file: str, line: int, column: str, value: str) -> str | None:
        """Put a text into a cell; why the record is still not clean, or None.

        Raises:
            ConfigError: There is no such cell, or the list is not open for corrections.
        """
        with self._lock:
            fixing = self._fixing.get(name)
            if fixing is None:
                raise ConfigError("open the rejected cells of the list first")
            return fixing.set(line, column, value, at=self._workspace.now(), file=file)

    def save_fixes(self, name: str) -> Job:
        """Begin to write a list with its corrections."""
        fixing = self._fixing.get(name)
        if fixing is None:
            raise ConfigError("there are no corrections to save")
        return self._workspace.jobs.start(
            f"list-{name}", f"Saving the corrections of {name}", lambda _: self._correct_list(name, fixing)
        )  # fmt: skip

    def _correct_list(self, name: str, fixing: Fixing) -> CleanList:
        with self._lock:
            self._fixing[name] = fixing
            files = fixing.write(self._out(name))
            cleaned, met = fixing.cleaned, fixing.met()
        questions = tuple(question for file in cleaned.files for question in file.questions)
        held = cleaned.reasons["do_not_call"].get("opt_out_unclear", 0)
        return CleanList(
            dict(cleaned.counts), cleaned.region, _reasons(cleaned), questions, held,
            met, [], 0, "", len(fixing.edits), files,
        )  # fmt: skip

    # ---- sending

    def plan(self, name: str, campaign_id: str) -> Job:
        """Begin to plan an import of the clean list; nothing is sent."""
        return self._bring_in("plan", name, campaign_id)

    def send(self, name: str, campaign_id: str) -> Job:
        """Begin an import of the clean list, or resume it where it stopped."""
        return self._bring_in("import", name, campaign_id)

    def _bring_in(self, kind: str, name: str, campaign_id: str) -> Job:
        cleaned: CleanList | None = self.result("list", name)
        if cleaned is None:
            raise ConfigError("clean the list first; what is sent is the clean list")
        if "clean" not in cleaned.files:
            raise ConfigError("there is nothing to import: no record is clean")
        account = self._workspace.account()
        # Each campaign has a journal of its own, so that a list can go into two of them.
        campaign_id = account.campaign_id(campaign_id)
        out = make_folder(make_folder(self._workspace.folder / IMPORTED) / campaign_id)

        def work(listen: OnProgress) -> lead_import.BroughtIn:
            return lead_import.bring_in(
                [cleaned.files["clean"]], replace(self._recipe(name), region=None, answers=(), mapping=None),
                account, campaign_id=campaign_id, out=out, now=self._workspace.now,
                dry_run=kind == "plan", on_progress=listen,
            )  # fmt: skip

        doing = "Planning the import of" if kind == "plan" else "Importing"
        return self._workspace.jobs.start(f"{kind}-{name}", f"{doing} {name}", work)

    # ---- shared

    def _out(self, name: str) -> Path:
        # Each list has a folder of its own: `autumn.csv` and `autumn.xlsx` would write the same files.
        return make_folder(make_folder(self._workspace.folder / CLEANED) / name)

    def _recipe(self, name: str) -> lead_cleaning.Recipe:
        choices, space = self.choices(name), self._workspace
        own = space.own_list
        lists = {} if own is None else {OWN_LIST: own.barred()}
        files = space.firm.lists.suppression
        if files:
            region = space.firm.lists.region
            for each in suppression_import.read(files, region=region):
                lists[each.name] = each.barred
        return lead_cleaning.Recipe(
            choices.region or space.firm.lists.region,
            mapping=dict(choices.columns) or None, memory=self.memory, lists=lists,
            answers=choices.answers,
        )  # fmt: skip

    def _keep_opt_outs(self, result: lead_cleaning.Result) -> tuple[int, str]:
        """Put what a flag column or a person said onto the firm's list, as one run that can be undone."""
        own = self._workspace.own_list
        if own is None or not result.opted_out:
            return 0, ""
        now = self._workspace.now()
        run = run_id(now)
        return own.add(suppression_import.opt_outs_of(result, now.date()), now, run=run), run


def is_list(name: str) -> bool:
    """Whether a file of this name is offered as a list."""
    return not name.startswith(".") and Path(name).suffix.lower() in ENDINGS


def _history(out: Path) -> Path | None:
    """The corrections of an earlier run, or None."""
    return next(iter(sorted(out.glob("*.history.csv"))), None)


def _head(files: list[LeadFile], region: str | None, memory: Memory | None) -> Head:
    file = files[0]
    sample = file.sample(_SAMPLE)
    known = None if memory is None else memory.of(file)
    decision = leads.decide(sample, region=region, mapping=known)
    columns = decision.columns
    roles = {} if columns is None else {
        column: name for name, named in columns.fields().items() for column in named
    }  # fmt: skip
    top = file.table.slice(0, _PREVIEW)
    rows = [list(row) for row in zip(*(top[name].to_pylist() for name in file.names), strict=True)]
    questions = tuple(_with_cells(question, sample) for question in decision.questions)
    return Head(
        list(file.names), roles, rows, file.lines[:_PREVIEW].tolist(),
        sum(each.records for each in files), len(files), cleaning_summary.decided(file.decisions),
        "" if columns is None or not columns.profile else str(columns.profile), known is not None,
        questions, leads.decide_region(sample, region, columns),
    )  # fmt: skip


def _with_cells(question: Question, file: LeadFile) -> Question:
    """A question with some cells of each candidate."""
    shown = []
    for candidate in question.candidates:
        cells = file.cells(candidate.column) if candidate.column in file.names else []
        filled = tuple(islice((cell for cell in cells if cell.strip()), 3))
        shown.append(replace(candidate, cells=filled))
    return replace(question, candidates=tuple(shown))


def _reasons(cleaned: Any) -> list[tuple[str, str, str, int]]:
    table = cleaning_summary.reasons(cleaned)
    return [
        (str(row.outcome), str(row.meaning), str(row.remedy or ""), int(row.records))
        for row in table.itertuples(index=False)
    ]


def set_aside(cleaned: CleanList | None, roles: Mapping[str, str]) -> SetAside:
    """The first rows of what was set aside, each with the cell that is to blame."""
    path = None if cleaned is None else cleaned.files.get("set_aside")
    if path is None or path.suffix != ".csv" or not path.exists():
        return SetAside([], [])
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        names = reader.fieldnames or []
        header = [name for name in names if not name.startswith(_ADDED)]
        rows = []
        for row in islice(reader, SET_ASIDE):
            reason = leads.reasons.BY_CODE.get(row["_reason"])
            value = row["_value"]
            blamed = [
                name
                for name in header
                if name == row["_field"] or roles.get(name) == row["_field"]
            ]
            at = next(
                (name for name in blamed if value and row[name] == value), next(iter(blamed), None)
            )
            rows.append((
                row["_line"], row["_outcome"].replace("_", " "), row["_reason"] if reason is None else reason.meaning,
                row["_remedy"], [row[name] for name in header],
                None if at is None else header.index(at),
            ))  # fmt: skip
    return SetAside(header, rows)


def first_leads(cleaned: CleanList) -> tuple[list[str], list[list[str]]]:
    """The first leads of a clean list, in clear, without columns that are empty in all of them."""
    path = cleaned.files.get("clean")
    # A list without a clean record has no such file, and somebody may have taken it away since.
    if path is None or not path.exists():
        return [], []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        header, rows = next(reader, []), list(islice(reader, _LEADS))
    filled = [at for at in range(len(header)) if any(row[at : at + 1] != [""] for row in rows)]
    return [header[at] for at in filled], [[row[at] for at in filled] for row in rows]
