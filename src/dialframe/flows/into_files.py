"""Text files of leads to files of outcomes in bounded memory; the rules are those of `leads.clean_files`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Literal

from dialframe import leads
from dialframe.config import OnProgress, silent
from dialframe.flows.files import alone
from dialframe.flows.listing import Recipe
from dialframe.leads import CleanedFiles, Told
from dialframe.leads.cluster import dask_workers
from dialframe.leads.staging import sweep
from dialframe.leads.writing import Form, stem_of
from dialframe.reports.lead_page import render

#: What does the work.
Engine = Literal["local", "duckdb", "dask"]
#: How files begin that hold more than one table, or are no text.
_CONTAINERS: Final = (b"PK", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xd0\xcf\x11\xe0", b"PAR1")


def clean_into(
    paths: Sequence[str | Path],
    recipe: Recipe,
    out: Path,
    *,
    form: Form = "csv",
    engine: Engine = "local",
    scheduler: str | None = None,
    on_progress: OnProgress = silent,
) -> CleanedFiles | None:
    """Clean text files into a folder, alone in it; None where one is a folder, an archive or a workbook.

    Args:
        paths: Files, or URLs that fsspec understands, with wildcards too.
        recipe: What a person decided.
        out: The folder.
        form: Format of the outcomes.
        engine: `local`; `duckdb` compares records with each other in DuckDB, out of core; `dask`
            reads and judges files on the workers of a cluster. The result is the same.
        scheduler: Address of the cluster's scheduler; a cluster on this machine without it.
        on_progress: Told of records.

    Raises:
        LeadFileError: A file cannot be read, or the folder cannot be written.
        StoreError: Another run is writing there.
        ConfigError: The engine is not installed, or no scheduler answers.
    """
    if not all(map(_is_text, paths)):
        return None
    with ExitStack() as stack:
        stack.enter_context(alone(out))
        workers = stack.enter_context(dask_workers(scheduler)) if engine == "dask" else None
        done = leads.clean_files(
            paths,
            out,
            region=recipe.region,
            mapping=recipe.mapping,
            policy=recipe.rules.policy,
            blocked_countries=recipe.rules.blocked_countries,
            field_rules=recipe.rules.field_rules,
            told=Told(
                encoding=recipe.encoding,
                delimiter=recipe.delimiter,
                header=recipe.header,
                sheet=recipe.sheet,
            ),
            form=form,
            page=render,
            engine="duckdb" if engine == "duckdb" else "auto",
            workers=workers,
            on_progress=on_progress,
        )
        # What a killed run left half done under these names goes.
        sweep(out, stem_of(done.files))
    return done


def _is_text(path: str | Path) -> bool:
    if "://" in str(path):
        return True
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return not file.read(4).startswith(_CONTAINERS)
