"""What a cleaning found, page by page; each table is made when somebody first looks at it, and masked where that is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from dialframe.errors import LeadFileError
from dialframe.leads import Cleaned, LeadFile
from dialframe.leads.report import mask
from dialframe.widgets import found
from dialframe.widgets.paging import Page, page_of


@dataclass(slots=True, eq=False)
class Browsed:
    """The records set aside and the cells changed by one cleaning.

    Attributes:
        files: The files as they were opened.
        cleaned: What became of them.
    """

    files: Sequence[LeadFile]
    cleaned: Cleaned
    _issues: pd.DataFrame | None = field(default=None, repr=False)
    _changes: pd.DataFrame | None = field(default=None, repr=False)

    def issues(self, number: int, reason: str | None) -> Page:
        """A page of records that are not clean, of one reason or of all."""
        whole = self._set_aside()
        kept = whole if reason is None else whole[whole["reason"] == reason]
        return page_of(kept, number, noun="records set aside", whole=len(whole))

    def reasons(self) -> dict[str, int]:
        """Records by reason, most first."""
        counts = self._set_aside()["reason"].value_counts()
        return {str(code): int(n) for code, n in counts.items()}

    def changes(self, number: int) -> Page:
        """A page of cells of clean records that were changed.

        Raises:
            LeadFileError: The file is not the one that was opened.
        """
        if self._changes is None:
            read = [file.sha256 for file in self.files]
            if read != [file.sha256 for file in self.cleaned.files]:
                raise LeadFileError("the file was changed since it was opened; open it again")
            self._changes = found.changes(self.files, self.cleaned)
        return page_of(self._changes, number, noun="changed cells")

    @property
    def compared(self) -> bool:
        """Whether the changed cells are at hand."""
        return self._changes is not None

    def _set_aside(self) -> pd.DataFrame:
        if self._issues is None:
            self._issues = found.issues(self.cleaned)
        return self._issues


def masked(page: Page, *columns: str) -> Page:
    """The page with the values of these columns masked."""
    return replace(
        page, rows=page.rows.assign(**{name: page.rows[name].map(mask) for name in columns})
    )
