"""Lead files looked at, or cleaned into a folder; asks no service, and knows no rule of cleaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from dialframe.config import OnProgress, silent
from dialframe.errors import ConfigError
from dialframe.flows import lead_tables, listing
from dialframe.flows.files import alone
from dialframe.flows.into_files import Engine, clean_into
from dialframe.flows.listing import Prepared, Recipe
from dialframe.leads.report import Outcome
from dialframe.leads.staging import sweep
from dialframe.leads.writing import Form


def look(
    paths: Sequence[str | Path],
    recipe: Recipe,
    *,
    engine: Engine = "local",
    scheduler: str | None = None,
    reasons: Sequence[str] = (),
    on_progress: OnProgress = silent,
) -> tuple[Outcome, dict[str, pd.DataFrame]]:
    """What would become of lead files, and the first lines of each reason asked for; writes nothing.

    Raises:
        LeadFileError: A file cannot be read, or has no phone column.
        ConfigError: The engine is not installed, no scheduler answers, or it cannot read these.
    """
    outcome, lines, _ = _clean(paths, recipe, None, "csv", engine, scheduler, reasons, on_progress)
    return outcome, lines


def clean(
    paths: Sequence[str | Path],
    recipe: Recipe,
    out: Path,
    *,
    form: Form = "csv",
    engine: Engine = "local",
    scheduler: str | None = None,
    reasons: Sequence[str] = (),
    on_progress: OnProgress = silent,
) -> tuple[Outcome, dict[str, pd.DataFrame], dict[str, Path]]:
    """Clean lead files into a folder.

    Files are cleaned in bounded memory; zip archives and workbooks in memory, to the same result.

    Args:
        paths: Files, folders, zip archives, or URLs that fsspec understands, with wildcards too.
        recipe: What a person decided.
        out: The folder; held by one run at a time.
        form: Format of the outcomes.
        engine: What does the work; see `into_files.clean_into`.
        scheduler: Address of a Dask scheduler.
        reasons: Reason codes whose first lines are wanted.
        on_progress: Told of records.

    Returns:
        The outcome, the first lines of each reason asked for, and the files by name.

    Raises:
        LeadFileError: A file cannot be read, or the folder cannot be written.
        StoreError: Another run is writing there.
        ConfigError: The engine is not installed, no scheduler answers, or it cannot read these.
    """
    return _clean(paths, recipe, out, form, engine, scheduler, reasons, on_progress)


def _clean(
    paths: Sequence[str | Path],
    recipe: Recipe,
    out: Path | None,
    form: Form,
    engine: Engine,
    scheduler: str | None,
    reasons: Sequence[str],
    on_progress: OnProgress,
) -> tuple[Outcome, dict[str, pd.DataFrame], dict[str, Path]]:
    if scheduler is not None and engine != "dask":
        raise ConfigError("a scheduler is of use to the engine dask alone; pass engine=dask")
    found = clean_into(
        paths, recipe, out, form=form, engine=engine, scheduler=scheduler, reasons=reasons,
        on_progress=on_progress,
    )  # fmt: skip
    if found is not None:
        return found, lead_tables.kept_lines(found), dict(found.paths)
    if engine != "local":
        raise ConfigError(
            f"the engine {engine} reads text, Parquet and JSON files; unpack zip archives, and save "
            "workbooks as CSV, or leave engine out"
        )
    prepared = listing.prepare(paths, recipe, on_progress=on_progress)
    written: Mapping[str, Path] = {} if out is None else write(prepared, out, form=form)
    return prepared.cleaned, lead_tables.lines(prepared.cleaned, reasons), dict(written)


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
