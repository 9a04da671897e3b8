"""Saves what was decided about the last file of a folder, so that a new kernel can continue.

The file's name, its hash and the recipe are kept outside the folder, under the folder's own name.
What is damaged there counts as never kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dialframe.errors import ConfigError, DialframeError
from dialframe.files import write_text
from dialframe.flows.lead_lists import Recipe
from dialframe.leads import ColumnMap, LeadFile
from dialframe.leads.columns.column_map import Columns
from dialframe.widgets.work_folder import inside

SCHEMA: Final = "dialframe.workbench/1"
_TOLD: Final = ("region", "encoding", "delimiter", "sheet", "header")


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """A file and what was decided about it.

    Attributes:
        name: Its name inside the folder, or the name that it was uploaded under.
        uploaded: Whether it came from a browser; such a file is not kept.
        sha256: Its hash.
        recipe: What was decided; without the rules.
        rules_file: Name of the rules file inside the folder, empty for none.
    """

    name: str
    uploaded: bool
    sha256: str
    recipe: Recipe
    rules_file: str = ""


def work_on(
    path: Path,
    folder: Path,
    files: Sequence[LeadFile],
    recipe: Recipe,
    rules_file: str,
    *,
    uploaded: bool,
) -> Work:
    """What is kept about an open file; an upload by its name alone."""
    name = path.name if uploaded else str(path.relative_to(folder.resolve()))
    return Work(name, uploaded, files[0].sha256, recipe, rules_file)


def place(room: Path, folder: Path) -> Path:
    """Where the work of a folder is kept."""
    digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()
    return room / f"{digest[:32]}.json"


def save(work: Work, path: Path) -> None:
    """Keep it; what was kept before goes.

    Raises:
        OSError: The disk is full or the place cannot be written.
    """
    decisions = {name: getattr(work.recipe, name) for name in _TOLD}
    mapping = work.recipe.mapping
    fields = mapping.fields() if isinstance(mapping, ColumnMap) else mapping
    saved = {"schema": SCHEMA, "name": work.name, "uploaded": work.uploaded, "sha256": work.sha256,
            "rules_file": work.rules_file, "mapping": fields and dict(fields), **decisions}  # fmt: skip
    write_text(json.dumps(saved, ensure_ascii=False, indent=2) + "\n", path)


def load(path: Path) -> Work | None:
    """What was kept, or None."""
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        if saved["schema"] != SCHEMA:
            return None
        recipe = Recipe(
            mapping=_columns(saved["mapping"]), **{name: saved[name] for name in _TOLD}
        )
        name, digest, rules = str(saved["name"]), str(saved["sha256"]), str(saved["rules_file"])
        return Work(name, bool(saved["uploaded"]), digest, recipe, rules)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, DialframeError):
        return None


def left_off(path: Path | None, opened: Path | None, digests: Sequence[str]) -> Work | None:
    """The work of an earlier session, while no other file is open.

    Args:
        path: Where it is kept, or None.
        opened: The file that is open, or None.
        digests: Hashes of its tables.
    """
    work = None if path is None else load(path)
    # An upload is gone with its kernel, so its decisions wait until it is there again.
    same = opened is None or (work is not None and [work.sha256] == list(digests))
    return work if same else None


def file_of(work: Work | None, opened: Path | None, folder: Path) -> tuple[Work, Path]:
    """What is gone on with, and its file: the open one, or that of the folder.

    Raises:
        ConfigError: Nothing was kept, or the file was an upload and is not there.
    """
    if work is None:
        raise ConfigError("nothing was left off here; open a file")
    if work.uploaded and opened is None:
        raise ConfigError(
            f"{work.name} was uploaded, and no upload is kept; upload it again, then go on"
        )
    return work, opened or inside(folder, work.name)


def _columns(told: dict[str, Any] | None) -> dict[str, Columns] | None:
    """A mapping as JSON holds it: several columns are a list there."""
    if told is None:
        return None
    return {name: tuple(each) if isinstance(each, list) else each for name, each in told.items()}
