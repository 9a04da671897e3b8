"""Writes pages that are made from the program, where Sphinx looks for them; git does not keep them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_pages(folder: Path, pages: Mapping[str, str]) -> None:
    """Write each page under its name; pages that are not among them go."""
    folder.mkdir(exist_ok=True)
    for page in folder.glob("*.md"):
        if page.stem not in pages:
            page.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        # Untouched where nothing changed, so that a second build reads it from its cache.
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
