"""A file of the folder read and cleaned by a recipe, so that it can be stopped at any time; writes nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from dialframe import leads
from dialframe.config import OnProgress, Progress
from dialframe.errors import LeadFileError
from dialframe.flows import listing
from dialframe.flows.listing import Prepared, Recipe
from dialframe.leads import LeadFile, MappingDecision, Rules, load_rules
from dialframe.widgets.aside import aside
from dialframe.widgets.places import inside

#: The tables of a file, and the columns of each.
Tables = tuple[tuple[LeadFile, ...], tuple[MappingDecision, ...]]


def file_in(folder: Path, name: str | Path) -> Path:
    """A file of the folder.

    Raises:
        ConfigError: It is not inside the folder.
        LeadFileError: It is not there.
    """
    path = inside(folder, name)
    if not path.is_file():
        raise LeadFileError(
            f"there is no file {str(name)!r} in {folder.name or folder}; check the name, or upload "
            "the file",
            path=path,
        )
    return path


def rules_in(folder: Path, name: str) -> Rules:
    """House rules of a file of the folder; those of the library where no file is named."""
    return load_rules(inside(folder, name)) if name else Rules()


def read(path: Path, recipe: Recipe, on_progress: OnProgress) -> Tables:
    """Read a file and find its columns.

    Raises:
        LeadFileError: It cannot be read so.
    """
    return aside(partial(_read, path, recipe), on_progress, "reading")


def clean(path: Path, recipe: Recipe, on_progress: OnProgress) -> Prepared:
    """What becomes of every record, without asking anybody."""

    def work(told: OnProgress) -> Prepared:
        return listing.prepare([path], recipe, on_progress=told)

    return aside(work, on_progress, "cleaning")


def _read(path: Path, recipe: Recipe, on_progress: OnProgress) -> Tables:
    files = tuple(listing.read(path, recipe))
    on_progress(Progress("records read", sum(file.records for file in files), None))
    decided = (leads.decide(file, region=recipe.region, mapping=recipe.mapping) for file in files)
    return files, tuple(decided)
