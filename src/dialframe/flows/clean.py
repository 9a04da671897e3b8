"""Lead files looked at, or cleaned into a folder; asks nobody, and knows no rule of cleaning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from dialframe.config import OnProgress, silent
from dialframe.flows import lead_tables, listing
from dialframe.flows.files import alone
from dialframe.flows.listing import Prepared, Recipe
from dialframe.leads import Cleaned
from dialframe.leads.staging import sweep
from dialframe.leads.writing import Form


def look(
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    reasons: Sequence[str] = (),
    on_progress: OnProgress = silent,
) -> tuple[Cleaned, dict[str, pd.DataFrame]]:
    """What would become of lead files, and the first lines of each reason asked for; writes nothing.

    Raises:
        LeadFileError: A file cannot be read, or has no phone column.
    """
    cleaned = listing.prepare(paths, recipe, on_progress=on_progress).cleaned
    return cleaned, lead_tables.lines(cleaned, reasons)


def clean(
    paths: Sequence[Path],
    recipe: Recipe,
    out: Path,
    *,
    form: Form = "csv",
    reasons: Sequence[str] = (),
    on_progress: OnProgress = silent,
) -> tuple[Cleaned, dict[str, pd.DataFrame], dict[str, Path]]:
    """Clean lead files into a folder; asks nobody.

    Returns:
        The outcome, the first lines of each reason asked for, and the files by name.

    Raises:
        LeadFileError: A file cannot be read, or the folder cannot be written.
        StoreError: Another run is writing there.
    """
    prepared = listing.prepare(paths, recipe, on_progress=on_progress)
    written = write(prepared, out, form=form)
    return prepared.cleaned, lead_tables.lines(prepared.cleaned, reasons), written


def write(prepared: Prepared, out: Path, *, form: Form = "csv") -> dict[str, Path]:
    """Write what was cleaned, alone in the folder; what a killed run left half done there goes.

    Raises:
        StoreError: Another run is writing there.
        LeadFileError: The folder cannot be written.
    """
    with alone(out):
        return put(prepared, out, form)


def put(prepared: Prepared, out: Path, form: Form) -> dict[str, Path]:
    """The same for who is alone in the folder already."""
    sweep(out, prepared.stem)
    return prepared.write(out, form=form)
