"""The lead workbench without a widget: a file, what was decided about it, what became of it, what was written.

Every choice is an attribute, every step a method. A step that fails raises and leaves the state as
it was. Only files inside the bench's folder are read, and those that were handed to it as uploads.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import pandas as pd

from dialframe import leads
from dialframe.account import Account
from dialframe.analytics.wording import plural
from dialframe.config import OnProgress, silent
from dialframe.contract.ids import kind_of
from dialframe.errors import ConfigError, LeadFileError
from dialframe.flows import clean as cleaning
from dialframe.flows import intake, lead_tables, listing
from dialframe.flows.listing import Prepared, Recipe
from dialframe.flows.outcomes import Ledger
from dialframe.leads import LeadFile, MappingDecision
from dialframe.leads.report import mask
from dialframe.widgets import found
from dialframe.widgets.manifest import write_manifest
from dialframe.widgets.paging import Page, page_of
from dialframe.widgets.places import inside, plain_name

#: Opens the account; closed again behind each step that needs it.
Connect = Callable[[], AbstractContextManager[Account]]

#: Where what is cleaned is written, inside the folder.
OUT: Final = "cleaned"


@dataclass(slots=True, eq=False, weakref_slot=True)
class LeadBench:
    """The state of a lead workbench.

    Attributes:
        folder: The only folder that is read from and written to.
        connect: Opens the account; None where there is none.
        now: The clock, UTC.
        out: Folder of what is written, inside `folder`.
        recipe: What a person decided about the file.
        reason: Reason code that the issues are filtered by; None for all.
        page: Page of the issues, from 0.
        changes_page: Page of the changed cells, from 0.
        reveal: Whether values are shown whole; masked by default.
        path: The file that is open.
        files: Its tables as they were read.
        decisions: The columns of each table, with what is not sure.
        prepared: What became of every record.
        written: Files by name, once they are written.
        ledger: What the service said to each lead, once they were sent.
    """

    folder: Path
    connect: Connect | None = None
    now: Callable[[], datetime] | None = None
    out: str = OUT
    recipe: Recipe = field(default_factory=lambda: Recipe(region="US"))
    reason: str | None = None
    page: int = 0
    changes_page: int = 0
    reveal: bool = False
    path: Path | None = None
    files: tuple[LeadFile, ...] = ()
    decisions: tuple[MappingDecision, ...] = ()
    prepared: Prepared | None = None
    written: dict[str, Path] = field(default_factory=dict)
    ledger: Ledger | None = None
    _past: list[Recipe] = field(default_factory=list, repr=False)
    _issues: pd.DataFrame | None = field(default=None, repr=False)
    _changes: pd.DataFrame | None = field(default=None, repr=False)
    _uploads: Path | None = field(default=None, repr=False)

    def open(self, name: str | Path) -> str:
        """Read a file of the folder.

        Raises:
            LeadFileError: It is not there, not inside the folder, or cannot be read.
        """
        path = inside(self.folder, name)
        if not path.is_file():
            raise LeadFileError(
                f"there is no file {str(name)!r} in {self.folder.name or self.folder}; check the "
                "name, or upload the file",
                path=path,
            )
        return self._take(path)

    def place_for(self, name: str) -> Path:
        """Where an upload of this name is put: a private folder that goes with the bench."""
        if self._uploads is None:
            self._uploads = Path(tempfile.mkdtemp(prefix="dialframe-upload-"))
            weakref.finalize(self, shutil.rmtree, self._uploads, ignore_errors=True)
        # Each in a place of its own: the one that is open may be at work.
        return Path(tempfile.mkdtemp(dir=self._uploads)) / plain_name(name)

    def open_upload(self, path: Path) -> str:
        """Read a file that was put where `place_for` said."""
        if self._uploads is None or path.parent.parent != self._uploads:
            raise LeadFileError("this file was not uploaded here; upload it again", path=path)
        said = self._take(path)
        for other in self._uploads.iterdir():
            if other != path.parent:
                shutil.rmtree(other, ignore_errors=True)
        return said

    def decide(self, recipe: Recipe) -> str:
        """Read the open file by another recipe; what was found by the one before is dropped.

        Raises:
            LeadFileError: The file cannot be read so; the recipe stays as it was.
            ConfigError: A region, an encoding or a field is unknown.
        """
        before = self.recipe
        self._read(self._opened(), recipe)
        self._past.append(before)
        return "Decided. " + self._detected()

    def undo(self) -> str:
        """Go back to the recipe before."""
        if not self._past:
            return "There is nothing to undo."
        self._read(self._opened(), self._past[-1])
        self._past.pop()
        return "Undone. " + self._detected()

    @property
    def can_undo(self) -> bool:
        """Whether there is a recipe before."""
        return bool(self._past)

    def clean(self, on_progress: OnProgress = silent) -> str:
        """Find out what becomes of every record; nothing is written and nobody is asked."""
        self._set(listing.prepare([self._opened()], self.recipe, on_progress=on_progress))
        return f"Dry run: {self._counted()} Nothing is written yet."

    def screen(self, on_progress: OnProgress = silent) -> str:
        """Clean, and ask the service which numbers are listed; its answers are kept as evidence."""
        with self._account() as account:
            prepared = listing.prepare(
                [self._opened()], self.recipe, account=account, on_progress=on_progress
            )
        self._set(prepared)
        assert prepared.checks is not None  # noqa: S101 - an account was given
        told = lead_tables.screening(prepared.checks)
        return (
            f"Screened: {told['numbers']:,} numbers asked about, {told['listed']:,} listed, "
            f"{told['unanswered']:,} without an answer. {self._counted()}"
        )

    def write(self, on_progress: OnProgress = silent) -> str:
        """Write what was found out, as `dialframe leads clean` does, with a manifest of hashes."""
        if self.prepared is None:
            self.clean(on_progress)
        assert self.prepared is not None  # noqa: S101 - `clean` sets it
        written = cleaning.write(self.prepared, self._out())
        self.written = write_manifest(written, self.prepared.stem)
        return f"Written: {len(self.written)} files in {self._out().name}. {self._counted()}"

    def bring_in(self, campaign_id: str, on_progress: OnProgress = silent) -> str:
        """Clean, screen and import; started again, it goes on where it was.

        Raises:
            ConfigError: There is no account, or the id is no campaign's.
            ApiError: The service refused; what was answered is in the journal.
        """
        if kind_of(campaign_id) != "campaign":
            raise ConfigError("the campaign is named by its id: cmp_ and a UUID")
        if self.now is None:
            raise ConfigError("this workbench has no clock; give it now=")
        with self._account() as account:
            brought = intake.bring_in(
                [self._opened()], self.recipe, account, campaign_id=campaign_id, out=self._out(),
                now=self.now, on_progress=on_progress,
            )  # fmt: skip
        self._set(brought.prepared)
        self.written = write_manifest(brought.files, brought.prepared.stem)
        self.ledger = brought.ledger
        counts = brought.ledger.counts
        return (
            f"Imported: {counts['sent']:,} sent, {counts['accepted']:,} accepted, "
            f"{counts['refused']:,} refused, {counts['unknown']:,} unknown."
        )

    def issues(self) -> Page:
        """The page of records that are not clean: `file, line, outcome, reason, field, value`."""
        whole = self._all_issues()
        kept = whole if self.reason is None else whole[whole["reason"] == self.reason]
        page = page_of(kept, self.page, noun="records set aside", whole=len(whole))
        return self._shown(page, ["value"])

    def reasons(self) -> dict[str, int]:
        """Records by reason, most first."""
        return {
            str(code): int(n) for code, n in self._all_issues()["reason"].value_counts().items()
        }

    def changes(self) -> Page:
        """The page of cells of clean records that were changed: `file, line, field, before, after`."""
        if self.prepared is None:
            raise ConfigError("nothing was cleaned yet; make a dry run first")
        if self._changes is None:
            self._check_same(self.prepared)
            self._changes = found.changes(self.files, self.prepared.cleaned)
        page = page_of(self._changes, self.changes_page, noun="changed cells")
        return self._shown(page, ["before", "after"])

    def _all_issues(self) -> pd.DataFrame:
        if self.prepared is None:
            raise ConfigError("nothing was cleaned yet; make a dry run first")
        if self._issues is None:
            self._issues = found.issues(self.prepared.cleaned)
        return self._issues

    def _shown(self, page: Page, columns: list[str]) -> Page:
        if self.reveal:
            return page
        rows = page.rows.assign(**{name: page.rows[name].map(mask) for name in columns})
        return replace(page, rows=rows)

    def _take(self, path: Path) -> str:
        self._read(path, Recipe(region=self.recipe.region, rules=self.recipe.rules))
        self._past.clear()
        return self._detected()

    def _read(self, path: Path, recipe: Recipe) -> None:
        files = tuple(listing.read(path, recipe))
        decisions = tuple(
            leads.decide(file, region=recipe.region, mapping=recipe.mapping) for file in files
        )
        self.path, self.files, self.decisions, self.recipe = path, files, decisions, recipe
        self._forget()

    def _forget(self) -> None:
        """Drop what was found out of the file that was open, or by the recipe before."""
        self.prepared = self.ledger = self._issues = self._changes = self.reason = None
        self.page = self.changes_page = 0
        self.written = {}

    def _set(self, prepared: Prepared) -> None:
        self._forget()
        self.prepared = prepared

    def _opened(self) -> Path:
        if self.path is None:
            raise ConfigError("no file is open; upload one, or name one of the folder")
        return self.path

    def _out(self) -> Path:
        return inside(self.folder, self.out)

    def _account(self) -> AbstractContextManager[Account]:
        if self.connect is None:
            raise ConfigError(
                "there is no account; set DIALFRAME_BASE_URL and DIALFRAME_API_KEY and start again"
            )
        return self.connect()

    def _check_same(self, prepared: Prepared) -> None:
        read = [file.sha256 for file in self.files]
        if read != [file.sha256 for file in prepared.cleaned.files]:
            raise LeadFileError("the file was changed since it was opened; open it again")

    def _detected(self) -> str:
        rows = sum(file.records for file in self.files)
        names = ", ".join(file.name for file in self.files[:3])
        asked = sum(len(decision.questions) for decision in self.decisions)
        unsure = f" {asked} to look at in the columns." if asked else ""
        return f"{names}: {plural(rows, 'record')} read.{unsure}"

    def _counted(self) -> str:
        assert self.prepared is not None  # noqa: S101 - called behind `_set`
        counts = self.prepared.cleaned.counts
        parts = ", ".join(
            f"{n:,} {name.replace('_', ' ')}" for name, n in list(counts.items())[1:]
        )
        return f"{counts['records']:,} records: {parts}."
