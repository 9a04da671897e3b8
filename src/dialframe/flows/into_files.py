"""Text files of leads to files of outcomes in bounded memory; the rules are those of `leads.clean_files`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dialframe import leads
from dialframe.config import OnProgress, silent
from dialframe.flows.files import alone
from dialframe.flows.listing import Recipe
from dialframe.leads import CleanedFiles, Told
from dialframe.leads.writing import Form
from dialframe.reports.lead_page import render

#: How files begin that hold more than one table, or are no text.
_CONTAINERS: Final = (b"PK", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xd0\xcf\x11\xe0", b"PAR1")


def clean_into(
    paths: Sequence[Path],
    recipe: Recipe,
    out: Path,
    *,
    form: Form = "csv",
    on_progress: OnProgress = silent,
) -> CleanedFiles | None:
    """Clean text files into a folder, alone in it; None where one is a folder, an archive or a workbook.

    Raises:
        LeadFileError: A file cannot be read, or the folder cannot be written.
        StoreError: Another run is writing there.
    """
    if not all(map(_is_text, paths)):
        return None
    with alone(out):
        return leads.clean_files(
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
            on_progress=on_progress,
        )


def _is_text(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return not file.read(4).startswith(_CONTAINERS)
