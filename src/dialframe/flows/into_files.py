"""Lead files to files of outcomes in bounded memory, by one of three engines; the rules are those of `leads.clean_files`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Literal

from dialframe import leads
from dialframe.config import OnProgress, silent
from dialframe.flows.files import alone
from dialframe.flows.listing import Recipe
from dialframe.leads import CleanedFiles, Told
from dialframe.leads.cluster import dask_workers
from dialframe.leads.places import tables_in
from dialframe.leads.staging import sweep
from dialframe.leads.streaming import Workers
from dialframe.leads.writing import Form, stem_of
from dialframe.reports.lead_page import render

#: What does the work.
Engine = Literal["local", "duckdb", "dask"]
#: How workbooks and zip archives begin, which may hold more than one table.
_ZIP: Final = b"PK"


def clean_into(
    paths: Sequence[str | Path],
    recipe: Recipe,
    out: Path | None,
    *,
    form: Form = "csv",
    engine: Engine = "local",
    scheduler: str | None = None,
    reasons: Sequence[str] = (),
    on_progress: OnProgress = silent,
) -> CleanedFiles | None:
    """Clean lead files into a folder, alone in it; None where one is a zip archive or a workbook.

    Args:
        paths: Files, folders of files, or URLs that fsspec understands, with wildcards too.
        recipe: What a person decided.
        out: The folder; None to write nothing and only tell.
        form: Format of the outcomes.
        engine: `local`; `duckdb` compares records with each other in DuckDB, out of core; `dask`
            reads and judges files on the workers of a cluster. The result is the same.
        scheduler: Address of the cluster's scheduler; a cluster on this machine without it.
        reasons: Reason codes whose first records are kept.
        on_progress: Told of records.

    Raises:
        LeadFileError: A file cannot be read, or the folder cannot be written.
        StoreError: Another run is writing there.
        ConfigError: The engine is not installed, or no scheduler answers.
    """
    if not all(map(_streams, paths)):
        return None
    with ExitStack() as stack:
        if out is not None:
            stack.enter_context(alone(out))
        workers = stack.enter_context(_workers(engine, scheduler))
        chooser = recipe.chooser()
        done = leads.clean_files(
            [file for path in paths for file in _files(path)],
            out,
            region=recipe.region,
            mapping=chooser if workers is None else chooser.silent(),
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
            show=reasons,
            on_progress=on_progress,
        )
        if out is not None:
            # What a killed run left half done under these names goes.
            sweep(out, stem_of(done.files))
    return done


@contextmanager
def _workers(engine: Engine, scheduler: str | None) -> Iterator[Workers | None]:
    if engine != "dask":
        yield None
        return
    with dask_workers(scheduler) as workers:
        yield workers


def _files(path: str | Path) -> list[str | Path]:
    """The tables of a folder; anything else as it is."""
    if "://" in str(path) or not Path(path).is_dir():
        return [path]
    return [*tables_in(Path(path))]


def _streams(path: str | Path) -> bool:
    if "://" in str(path):
        return True
    if Path(path).is_dir():
        return all(map(_streams, tables_in(Path(path))))
    if not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(len(_ZIP)) != _ZIP
