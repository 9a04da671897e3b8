"""Lead files made by hand for one test each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dialframe import leads
from dialframe.leads import LeadFile, rows

Maker = Callable[..., LeadFile]

#: Bytes that are cut at once: so few that records fall apart.
FEW_BYTES = 64


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are cut in pieces of a few bytes."""
    monkeypatch.setattr(rows, "PIECE_BYTES", FEW_BYTES)


def assert_alike(file: LeadFile, other: LeadFile) -> None:
    """Two readings of one file say the same."""
    pd.testing.assert_frame_equal(file.frame, other.frame)
    pd.testing.assert_frame_equal(file.skipped, other.skipped)
    assert (file.lines.tolist(), file.rows.tolist()) == (other.lines.tolist(), other.rows.tolist())
    assert (file.header, file.decisions) == (other.header, other.decisions)
    assert (file.faults, file.warnings, file.raws) == (other.faults, other.warnings, other.raws)


@pytest.fixture
def lead_file(tmp_path: Path) -> Maker:
    """Write text or bytes to a file and read it as a lead file; cut in small pieces it is the same."""

    def make(content: str | bytes, name: str = "leads.csv", **options: Any) -> LeadFile:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        file = leads.read(path, **options)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rows, "PIECE_BYTES", FEW_BYTES)
            assert_alike(leads.read(path, **options), file)
        return file

    return make
