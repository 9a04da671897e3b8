"""The lead workbench without a widget: a file, what was decided about it, what became of it, what was written.

Every choice is an attribute, every step a method. A step that fails raises and leaves the state as
it was. Only files inside the bench's folder are read, and those that were handed to it as uploads.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from dialframe.account import Account
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract.ids import kind_of
from dialframe.errors import ConfigError, LeadFileError
from dialframe.flows import clean as cleaning
from dialframe.flows import intake, listing
from dialframe.flows.listing import Prepared, Recipe
from dialframe.flows.outcomes import Ledger
from dialframe.leads import LeadFile, MappingDecision
from dialframe.widgets import found
from dialframe.widgets.browsing import Browsed, masked
from dialframe.widgets.kept import Work, file_of, left_off, save, work_on
from dialframe.widgets.manifest import write_manifest
from dialframe.widgets.paging import Page
from dialframe.widgets.places import inside
from dialframe.widgets.reading import clean, file_in, read, rules_in
from dialframe.widgets.uploads import Uploads

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
        rules_file: Name of the house rules inside `folder` that the recipe holds, empty for none.
        kept: Where the decisions are kept for the next start, or None to keep none.
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
    rules_file: str = ""
    kept: Path | None = None
    _past: list[tuple[Recipe, str]] = field(default_factory=list, repr=False)
    _found: Browsed | None = field(default=None, repr=False)
    _uploads: Uploads = field(default_factory=Uploads, repr=False)

    def open(self, name: str | Path, on_progress: OnProgress = silent) -> str:
        """Read a file of the folder.

        Raises:
            LeadFileError: It is not there, not inside the folder, or cannot be read.
        """
        return self._take(file_in(self.folder, name), on_progress)

    def place_for(self, name: str) -> Path:
        """Where an upload of this name is put: a private folder that goes with the bench."""
        return self._uploads.place_for(name)

    def open_upload(self, path: Path, on_progress: OnProgress = silent) -> str:
        """Read a file that was put where `place_for` said."""
        if not self._uploads.holds(path):
            raise LeadFileError("this file was not uploaded here; upload it again", path=path)
        said = self._take(path, on_progress)
        self._uploads.keep_only(path)
        return said

    def decide(
        self,
        recipe: Recipe,
        on_progress: OnProgress = silent,
        *,
        rules_file: str | None = None,
    ) -> str:
        """Read the open file by another recipe; what was found by the one before is dropped.

        Args:
            recipe: What a person decided.
            on_progress: Told of the reading.
            rules_file: Rules inside the folder that the recipe gets; empty for none, None to leave
                those that it has.

        Raises:
            LeadFileError: The file cannot be read so; the recipe stays as it was.
            ConfigError: A region, an encoding, a field or a rule is unknown.
        """
        named = self.rules_file if rules_file is None else rules_file
        if rules_file is not None:
            recipe = replace(recipe, rules=rules_in(self.folder, rules_file))
        before = (self.recipe, self.rules_file)
        self._read(self._opened(), recipe, on_progress, rules_file=named)
        self._past.append(before)
        return "Decided. " + found.read_words(self.files, self.decisions)

    def undo(self, on_progress: OnProgress = silent) -> str:
        """Go back to the recipe before."""
        if not self._past:
            return "There is nothing to undo."
        recipe, named = self._past[-1]
        self._read(self._opened(), recipe, on_progress, rules_file=named)
        self._past.pop()
        return "Undone. " + found.read_words(self.files, self.decisions)

    @property
    def left(self) -> Work | None:
        """What a start before left off with, while nothing else is open."""
        digests = [file.sha256 for file in self.files]
        return None if self._past else left_off(self.kept, self.path, digests)

    def go_on(self, on_progress: OnProgress = silent) -> str:
        """Take up what a start before left off with: its file and every decision about it.

        Raises:
            ConfigError: Nothing was kept, or the file was an upload and is not there.
            LeadFileError: The file cannot be read so.
        """
        work, path = file_of(self.left, self.path, self.folder)
        recipe = replace(work.recipe, rules=rules_in(self.folder, work.rules_file))
        before = (self.recipe, self.rules_file)
        self._read(path, recipe, on_progress, rules_file=work.rules_file)
        self._past.append(before)
        return "Gone on as it was decided. " + found.read_words(self.files, self.decisions)

    @property
    def can_undo(self) -> bool:
        """Whether there is a recipe before."""
        return bool(self._past)

    def clean(self, on_progress: OnProgress = silent) -> str:
        """Find out what becomes of every record; nothing is written and nobody is asked."""
        self._set(clean(self._opened(), self.recipe, on_progress))
        return f"Dry run: {self._counted()} Nothing is written yet."

    def screen(self, on_progress: OnProgress = silent) -> str:
        """Clean, and ask the service which numbers are listed; its answers are kept as evidence."""
        with self._account() as account:
            prepared = listing.prepare(
                [self._opened()], self.recipe, account=account, on_progress=on_progress
            )
        self._set(prepared)
        assert prepared.checks is not None  # noqa: S101 - an account was given
        return f"{found.screened(prepared.checks)} {self._counted()}"

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
        return found.sent(brought.ledger)

    def issues(self) -> Page:
        """The page of records that are not clean: `file, line, outcome, reason, field, value`."""
        page = self._looked().issues(self.page, self.reason)
        return page if self.reveal else masked(page, "value")

    def reasons(self) -> dict[str, int]:
        """Records by reason, most first."""
        return self._looked().reasons()

    def changes(self) -> Page:
        """The page of cells of clean records that were changed: `file, line, field, before, after`."""
        page = self._looked().changes(self.changes_page)
        return page if self.reveal else masked(page, "before", "after")

    @property
    def compared(self) -> bool:
        """Whether the changed cells are at hand; comparing a large file takes its time."""
        return self._found is not None and self._found.compared

    def compare(self, on_progress: OnProgress = silent) -> str:
        """Find the cells that were changed."""
        on_progress(Progress("comparing", 0, None))
        return f"Compared: {self.changes().total:,} cells of clean records were changed."

    def _looked(self) -> Browsed:
        if self._found is None:
            raise ConfigError("nothing was cleaned yet; make a dry run first")
        return self._found

    def _take(self, path: Path, on_progress: OnProgress) -> str:
        recipe = Recipe(region=self.recipe.region, rules=self.recipe.rules)
        self._read(path, recipe, on_progress, rules_file=self.rules_file, keep=False)
        self._past.clear()
        return found.read_words(self.files, self.decisions)

    def _read(
        self,
        path: Path,
        recipe: Recipe,
        on_progress: OnProgress,
        *,
        rules_file: str,
        keep: bool = True,
    ) -> None:
        files, decisions = read(path, recipe, on_progress)
        self.path, self.files, self.decisions, self.recipe = path, files, decisions, recipe
        self.rules_file = rules_file
        self._forget()
        if keep and self.kept is not None:
            uploaded = self._uploads.holds(path)
            work = work_on(path, self.folder, files, recipe, rules_file, uploaded=uploaded)
            save(work, self.kept)

    def _forget(self) -> None:
        """Drop what was found out of the file that was open, or by the recipe before."""
        self.prepared = self.ledger = self._found = self.reason = None
        self.page = self.changes_page = 0
        self.written = {}

    def _set(self, prepared: Prepared) -> None:
        self._forget()
        self.prepared = prepared
        self._found = Browsed(self.files, prepared.cleaned)

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

    def _counted(self) -> str:
        assert self.prepared is not None  # noqa: S101 - called behind `_set`
        return found.counted(self.prepared.cleaned)
