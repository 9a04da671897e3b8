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

import pandas as pd

from dialframe import leads
from dialframe.account import Account
from dialframe.background import alongside
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract.models.base_models import kind_of
from dialframe.errors import ConfigError, LeadFileError
from dialframe.flows import lead_cleaning, lead_import, suppression_import
from dialframe.flows.import_ledger import Ledger
from dialframe.flows.lead_cleaning import Prepared, Recipe
from dialframe.leads import LeadFile, MappingDecision, Rules, load_rules
from dialframe.suppression import SuppressionList, run_id
from dialframe.widgets import cleaning_findings
from dialframe.widgets.cleaning_findings import Page, masked, page_of
from dialframe.widgets.jobs import step
from dialframe.widgets.work_folder import (
    Uploads,
    Work,
    inside,
    load_work,
    save_work,
    write_manifest,
)

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
        suppression: The firm's own list: honored by every cleaning, fed by what is written.
    """

    folder: Path
    connect: Connect | None = None
    now: Callable[[], datetime] | None = None
    out: str = OUT
    recipe: Recipe = field(default_factory=lambda: Recipe(region=None))
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
    suppression: SuppressionList | None = None
    _past: list[tuple[Recipe, str]] = field(default_factory=list, repr=False)
    _issues: pd.DataFrame | None = field(default=None, repr=False)
    _changes: pd.DataFrame | None = field(default=None, repr=False)
    _uploads: Uploads = field(default_factory=Uploads, repr=False)

    @step
    def open(self, name: str | Path, on_progress: OnProgress = silent) -> str:
        """Read a file of the folder.

        Args:
            name: Its path inside the folder.

        Raises:
            ConfigError: It is not inside the folder.
            LeadFileError: It does not exist, or cannot be read.
        """
        path = inside(self.folder, name)
        if not path.is_file():
            raise LeadFileError(
                f"there is no file {str(name)!r} in {self.folder.name or self.folder}; check the "
                "name, or upload the file",
                path=path,
            )
        return self._take(path, on_progress)

    def place_for(self, name: str) -> Path:
        """Where to put an upload: a private folder that is deleted with the bench.

        Args:
            name: Name of the upload.

        Returns:
            Path of the file to write.
        """
        return self._uploads.place_for(name)

    @step
    def open_upload(self, path: Path, on_progress: OnProgress = silent) -> str:
        """Read a file that was put where `place_for` said.

        Args:
            path: What `place_for` gave.

        Raises:
            LeadFileError: It was not uploaded here, or cannot be read.
        """
        if not self._uploads.holds(path):
            raise LeadFileError("this file was not uploaded here; upload it again", path=path)
        # Read first: a file that cannot be read leaves the one before in place.
        sentence = self._take(path, on_progress)
        self._uploads.keep_only(path)
        return sentence

    @step
    def decide(
        self,
        recipe: Recipe,
        on_progress: OnProgress = silent,
        *,
        rules_file: str | None = None,
    ) -> str:
        """Read the open file by another recipe; results of the one before are dropped.

        Args:
            recipe: What a person decided.
            rules_file: Rules inside the folder that the recipe gets; empty for none, None to leave
                those that it has.

        Raises:
            LeadFileError: The file cannot be read so; the recipe stays as it was.
            ConfigError: A region, an encoding, a field or a rule is unknown.
        """
        named = self.rules_file if rules_file is None else rules_file
        if rules_file is not None:
            recipe = replace(recipe, rules=self._rules(rules_file))
        return f"Decided. {self._reread(self._opened(), recipe, named, on_progress)}"

    @step
    def undo(self, on_progress: OnProgress = silent) -> str:
        """Go back to the recipe before.

        Raises:
            LeadFileError: The file cannot be read any more.
        """
        if not self._past:
            return "There is nothing to undo."
        recipe, named = self._past[-1]
        self._read(self._opened(), recipe, named, on_progress)
        self._past.pop()
        return f"Undone. {cleaning_findings.read_words(self.files, self.decisions)}"

    @property
    def can_undo(self) -> bool:
        """Whether there is a recipe before."""
        return bool(self._past)

    @property
    def left(self) -> Work | None:
        """The work of an earlier session, while no other file is open."""
        work = None if self._past or self.kept is None else load_work(self.kept)
        # An upload is gone with its kernel, so its decisions wait until it is there again.
        same = self.path is None or (
            work is not None and [work.sha256] == [file.sha256 for file in self.files]
        )
        return work if same else None

    @step
    def go_on(self, on_progress: OnProgress = silent) -> str:
        """Continue an earlier session: its file and every decision about it.

        Raises:
            ConfigError: No session was saved, or its file was an upload and is gone.
            LeadFileError: The file cannot be read so.
        """
        work = self.left
        if work is None:
            raise ConfigError("nothing was left off here; open a file")
        if work.uploaded and self.path is None:
            raise ConfigError(
                f"{work.name} was uploaded, and no upload is kept; upload it again, then go on"
            )
        path = self.path or inside(self.folder, work.name)
        recipe = replace(work.recipe, rules=self._rules(work.rules_file))
        words = self._reread(path, recipe, work.rules_file, on_progress)
        return f"Gone on as it was decided. {words}"

    @step
    def clean(self, on_progress: OnProgress = silent) -> str:
        """Decide about every record, without writing a file and without the service.

        Raises:
            ConfigError: No file is open.
        """
        path, recipe = self._opened(), self._honoring()

        def work(listen: OnProgress) -> Prepared:
            return lead_cleaning.prepare([path], recipe, on_progress=listen)

        counted = self._set(alongside(work, on_progress, "cleaning"))
        return f"Dry run: {counted} Nothing is written yet."

    @step
    def screen(self, on_progress: OnProgress = silent) -> str:
        """Clean, and check the numbers at the service; its answers are stored as evidence.

        Raises:
            ConfigError: No file is open, or there is no account.
            ApiError: The service refused.
        """
        with self._account() as account:
            prepared = lead_cleaning.prepare(
                [self._opened()], self._honoring(), account=account, on_progress=on_progress
            )
        counted = self._set(prepared)
        assert prepared.checks is not None  # noqa: S101 - an account was given
        return f"{cleaning_findings.screened(prepared.checks)} {counted}"

    @step
    def write(self, on_progress: OnProgress = silent) -> str:
        """Write the results, as `dialframe leads clean` does, with a manifest of hashes.

        Raises:
            ConfigError: No file is open.
        """
        if self.prepared is None:
            self.clean(on_progress)
        assert self.prepared is not None  # noqa: S101 - `clean` sets it
        self.written = write_manifest(self.prepared.write(self._out()))
        self._keep_opt_outs(self.prepared)
        counted = cleaning_findings.counted(self.prepared.cleaned)
        return f"Written: {len(self.written)} files in {self._out().name}. {counted}"

    @step
    def bring_in(self, campaign_id: str, on_progress: OnProgress = silent) -> str:
        """Clean, screen and import; started again, it continues where it stopped.

        Args:
            campaign_id: The campaign: `cmp_` and a UUID.

        Raises:
            ConfigError: There is no account, or the id is no campaign's.
            ApiError: The service refused; its answers are in the journal.
        """
        # An id has its type in front (contract, Conventions): a name is refused before it costs a check.
        if kind_of(campaign_id) != "campaign":
            raise ConfigError("the campaign is named by its id: cmp_ and a UUID")
        if self.now is None:
            raise ConfigError("this workbench has no clock; give it now=")
        with self._account() as account:
            brought = lead_import.bring_in(
                [self._opened()], self._honoring(), account, campaign_id=campaign_id, out=self._out(),
                now=self.now, in_memory=True, on_progress=on_progress,
            )  # fmt: skip
        assert brought.prepared is not None  # noqa: S101 - frames were asked for
        assert brought.ledger is not None  # noqa: S101 - it was no dry run
        self._set(brought.prepared)
        self.written = write_manifest(brought.files)
        self.ledger = brought.ledger
        self._keep_opt_outs(brought.prepared)
        return cleaning_findings.sent(brought.ledger)

    def issues(self) -> Page:
        """Records that are not clean.

        Returns:
            The page that `page` names: `file, line, outcome, reason, field, value`, masked unless
            `reveal`.

        Raises:
            ConfigError: Nothing was cleaned yet.
        """
        # Filtered here, so that page and whole are counted from the same frame.
        whole = self._set_aside()
        chosen = whole if self.reason is None else whole[whole["reason"] == self.reason]
        page = page_of(chosen, self.page, noun="records set aside", whole=len(whole))
        return page if self.reveal else masked(page, "value")

    def reasons(self) -> dict[str, int]:
        """Count the records by reason.

        Returns:
            Reason code to records, most first.

        Raises:
            ConfigError: Nothing was cleaned yet.
        """
        counts = self._set_aside()["reason"].value_counts()
        return {str(code): int(n) for code, n in counts.items()}

    def changes(self) -> Page:
        """Cells of clean records that were changed.

        Returns:
            The page that `changes_page` names: `file, line, field, before, after`, masked unless
            `reveal`.

        Raises:
            ConfigError: Nothing was cleaned yet.
            LeadFileError: The file is not the one that was opened.
        """
        cleaned = self._prepared().cleaned
        if self._changes is None:
            if [file.sha256 for file in self.files] != [file.sha256 for file in cleaned.files]:
                raise LeadFileError("the file was changed since it was opened; open it again")
            self._changes = cleaning_findings.changes(self.files, cleaned)
        page = page_of(self._changes, self.changes_page, noun="changed cells")
        return page if self.reveal else masked(page, "before", "after")

    @property
    def compared(self) -> bool:
        """Whether the changed cells are at hand; comparing a large file takes its time."""
        return self._changes is not None

    @step
    def compare(self, on_progress: OnProgress = silent) -> str:
        """Find the cells that were changed.

        Raises:
            ConfigError: Nothing was cleaned yet.
        """
        on_progress(Progress("comparing", 0, None))
        return f"Compared: {self.changes().total:,} cells of clean records were changed."

    def _set_aside(self) -> pd.DataFrame:
        """Every record that is not clean, put together when it is first looked at."""
        cleaned = self._prepared().cleaned
        if self._issues is None:
            self._issues = cleaning_findings.issues(cleaned)
        return self._issues

    def _take(self, path: Path, on_progress: OnProgress) -> str:
        """Read another file: region and rules stay, all that was decided of its columns goes."""
        recipe = Recipe(region=self.recipe.region, rules=self.recipe.rules)
        self._read(path, recipe, self.rules_file, on_progress, keep=False)
        self._past.clear()
        return cleaning_findings.read_words(self.files, self.decisions)

    def _reread(self, path: Path, recipe: Recipe, rules_file: str, on_progress: OnProgress) -> str:
        """Read by another recipe, which can be undone."""
        # What undo goes back to, once the reading went well.
        before = (self.recipe, self.rules_file)
        self._read(path, recipe, rules_file, on_progress)
        self._past.append(before)
        return cleaning_findings.read_words(self.files, self.decisions)

    def _read(
        self,
        path: Path,
        recipe: Recipe,
        rules_file: str,
        on_progress: OnProgress,
        *,
        keep: bool = True,
    ) -> None:
        def work(listen: OnProgress) -> tuple[tuple[LeadFile, ...], tuple[MappingDecision, ...]]:
            files = tuple(lead_cleaning.read(path, recipe))
            listen(Progress("records read", sum(file.records for file in files), None))
            decided = (
                leads.decide(file, region=recipe.region, mapping=recipe.mapping) for file in files
            )
            return files, tuple(decided)

        self.files, self.decisions = alongside(work, on_progress, "reading")
        # Only now that the reading went well: a step that fails leaves the state as it was.
        self.path, self.recipe, self.rules_file = path, recipe, rules_file
        self._forget()
        if keep and self.kept is not None:
            uploaded = self._uploads.holds(path)
            # Of an upload its name alone is kept: its place is gone with the kernel.
            name = path.name if uploaded else str(path.relative_to(self.folder.resolve()))
            save_work(Work(name, uploaded, self.files[0].sha256, recipe, rules_file), self.kept)

    def _forget(self) -> None:
        """Drop the results of the file that was open, or of the recipe before."""
        self.prepared = self.ledger = self.reason = self._issues = self._changes = None
        self.page = self.changes_page = 0
        self.written = {}

    def _set(self, prepared: Prepared) -> str:
        """Show what became of every record; returns its counts in words."""
        self._forget()
        self.prepared = prepared
        return cleaning_findings.counted(prepared.cleaned)

    def _prepared(self) -> Prepared:
        if self.prepared is None:
            raise ConfigError("nothing was cleaned yet; make a dry run first")
        return self.prepared

    def _rules(self, name: str) -> Rules:
        """House rules of a file of the folder; those of the library where no file is named."""
        return load_rules(inside(self.folder, name)) if name else Rules()

    def _honoring(self) -> Recipe:
        """The recipe with the numbers of the firm's own list."""
        if self.suppression is None:
            return self.recipe
        return replace(self.recipe, suppressed=self.suppression.barred())

    def _keep_opt_outs(self, prepared: Prepared) -> None:
        """Put the opt-outs of what was written onto the firm's own list."""
        if self.suppression is not None and self.now is not None and prepared.opted_out:
            at = self.now()
            opt_outs = suppression_import.opt_outs_of(prepared, at.date())
            self.suppression.add(opt_outs, at, run=run_id(at))

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
