"""Lead files from disk to clean, screened leads on disk; the rules are those of the rooms that it joins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pandas as pd

from dialframe import leads
from dialframe.account import Account
from dialframe.config import OnProgress, silent
from dialframe.flows.choosing import Ask, Chooser, Memory
from dialframe.flows.files import write_csv
from dialframe.leads import Cleaned, ColumnMap, LeadFile, Rules
from dialframe.leads.column_map import Columns
from dialframe.leads.header_row import HeaderChoice
from dialframe.leads.writing import Form
from dialframe.reports.lead_page import render

#: Age up to which a stored Do-Not-Call answer will do: the safe harbour of 16 CFR 310.4(b)(3)(iv).
MAX_AGE: Final = "31d"


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """What a person decides about lead files; the rest is found.

    Attributes:
        region: Region of numbers written without a country code.
        mapping: Columns by field, where they are told.
        encoding: Encoding of the files, where it is told.
        delimiter: Delimiter of the files, where it is told.
        sheet: Sheet of a workbook, where it is told.
        header: `auto`, `none`, or the physical line of the header.
        rules: Policy, rules of the account for single fields, blocked countries.
        memory: Columns that somebody has confirmed, by header; None to find them anew.
        ask: Asks a person about columns that are not sure, or None.
    """

    region: str
    mapping: ColumnMap | Mapping[str, Columns] | None = None
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None
    header: HeaderChoice = "auto"
    rules: Rules = field(default_factory=Rules)
    memory: Memory | None = field(default=None, repr=False)
    ask: Ask | None = field(default=None, repr=False)

    def chooser(self) -> Chooser:
        """What says the columns of each file."""
        return Chooser(self.region, self.mapping, self.memory, self.ask)


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Lead files that are cleaned and, with an account, screened.

    Attributes:
        cleaned: Every record in exactly one outcome.
        checks: The Do-Not-Call answers that it rests on, or None where nothing was asked.
    """

    cleaned: Cleaned
    checks: pd.DataFrame | None = field(default=None, repr=False)

    @property
    def stem(self) -> str:
        """Beginning of the names of all files."""
        return leads.stem(self.cleaned)

    @property
    def listed(self) -> frozenset[str]:
        """Numbers that are listed, or of which nobody knows that they are not."""
        return frozenset() if self.checks is None else frozenset(_listed(self.checks))

    def write(self, out: Path, *, form: Form = "csv") -> dict[str, Path]:
        """Write every outcome, the report for people and for programs, and the checks.

        Raises:
            LeadFileError: The folder cannot be written.
            OSError: The disk is full.
        """
        files = dict(leads.write(self.cleaned, out, form=form, page=render).paths)
        if self.checks is not None:
            files["dnc_checks"] = write_csv(self.checks, out / f"{self.stem}.dnc_checks.csv")
        return files


def prepare(
    paths: Sequence[str | Path],
    recipe: Recipe,
    *,
    account: Account | None = None,
    max_age: str | None = MAX_AGE,
    before_checks: Callable[[Cleaned], object] | None = None,
    on_progress: OnProgress = silent,
) -> Prepared:
    """Read and clean lead files; with an account, ask whether their numbers are listed.

    Args:
        paths: The files, cleaned against each other in this order.
        recipe: What a person decided.
        account: The account that answers Do-Not-Call checks, or None to ask nobody.
        max_age: Age up to which a stored answer will do; None asks about every number.
        before_checks: Called with what is clean before anything is asked; may raise.
        on_progress: Told of files and of checks.

    Raises:
        LeadFileError: A file cannot be read, or has no phone column.
        ApiError: The service refused the check.
    """
    files = [file for path in paths for file in read(path, recipe)]
    chooser = recipe.chooser()
    for file in files:
        # Whatever has to be asked is asked before anything takes its time.
        chooser(file)
    cleaned = _clean(files, recipe, chooser, (), on_progress)
    if account is None:
        return Prepared(cleaned)
    if before_checks is not None:
        before_checks(cleaned)
    return _screened(files, recipe, chooser, cleaned, account, max_age, on_progress)


def _screened(
    files: list[LeadFile],
    recipe: Recipe,
    chooser: Chooser,
    cleaned: Cleaned,
    account: Account,
    max_age: str | None,
    on_progress: OnProgress,
) -> Prepared:
    """Ask about every clean number, until nothing is clean that was not asked about.

    Where the kept one of two records is listed, the other may take its place with a number of its
    own, so one round is not enough.
    """
    checks: list[pd.DataFrame] = []
    asked: set[str] = set()
    while numbers := [phone for phone in leads.numbers_to_screen(cleaned) if phone not in asked]:
        asked.update(numbers)
        checks.append(account.check_dnc(numbers, max_age=max_age, on_progress=on_progress))
        if len(_listed(checks[-1])):
            listed = pd.concat([_listed(part) for part in checks])
            cleaned = _clean(files, recipe, chooser, listed, on_progress)
    if not checks:
        checks.append(account.check_dnc([], max_age=max_age, on_progress=on_progress))
    return Prepared(cleaned, pd.concat(checks, ignore_index=True))


def _listed(checks: pd.DataFrame) -> pd.Series:
    # What has no answer is not known to be free: it is set aside like what is listed.
    return checks.loc[checks["listed"].fillna(True), "phone"]  # noqa: FBT003 - pandas' own word


def read(path: str | Path, recipe: Recipe) -> list[LeadFile]:
    """The tables at a path: one, or those of a folder or an archive, of which nothing can be told."""
    told = (recipe.encoding, recipe.delimiter, recipe.sheet)
    if recipe.header == "auto" and not any(part is not None for part in told):
        return leads.read_all(path)
    return [
        leads.read(
            path,
            encoding=recipe.encoding,
            delimiter=recipe.delimiter,
            header=recipe.header,
            sheet=recipe.sheet,
        )
    ]


def _clean(
    files: list[LeadFile],
    recipe: Recipe,
    chooser: Chooser,
    listed: Sequence[str] | pd.Series,
    on_progress: OnProgress,
) -> Cleaned:
    return leads.clean(
        files,
        region=recipe.region,
        mapping=chooser,
        policy=recipe.rules.policy,
        field_rules=recipe.rules.field_rules,
        blocked_countries=recipe.rules.blocked_countries,
        do_not_call=listed,
        on_progress=on_progress,
    )
