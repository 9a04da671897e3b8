"""A manifest of written files, each with its size and SHA-256; knows no list."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dialframe.flows.files import write_text

#: Name and version of the manifest's form.
SCHEMA: Final = "dialframe.manifest/1"


def write_manifest(written: Mapping[str, Path], stem: str) -> dict[str, Path]:
    """Write `<stem>.manifest.json` beside the files; the same bytes give the same manifest.

    Returns:
        The files by name, the manifest last.
    """
    entries = [entry(kind, path) for kind, path in written.items()]
    text = json.dumps({"schema": SCHEMA, "files": entries}, ensure_ascii=False, indent=2)
    folder = next(iter(written.values())).parent
    return {**written, "manifest": write_text(text + "\n", folder / f"{stem}.manifest.json")}


def entry(kind: str, path: Path) -> dict[str, str | int]:
    """What a file is, its name, its size and its hash."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "kind": kind, "name": path.name, "size_bytes": path.stat().st_size, "sha256": digest,
    }  # fmt: skip
