"""Lead files made by hand for one test each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dialframe import leads
from dialframe.leads import LeadFile
from dialframe.leads.reading import chunked_text

Maker = Callable[..., LeadFile]


def read_everything(way: str, patch: pytest.MonkeyPatch) -> None:
    """Have texts of any length read whole, or in blocks."""
    for limit in ("SHORT_BYTES", "SHORT_LINES"):
        patch.setattr(chunked_text, limit, 0 if way == "in blocks" else 2**40)


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short files are read in blocks, too, as long ones are."""
    read_everything("in blocks", monkeypatch)


@pytest.fixture(params=["whole", "in blocks"])
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of any length are read whole, and in blocks."""
    read_everything(request.param, monkeypatch)


def assert_alike(file: LeadFile, other: LeadFile) -> None:
    """Two readings of one file say the same."""
    pd.testing.assert_frame_equal(file.frame, other.frame)
    pd.testing.assert_frame_equal(file.skipped, other.skipped)
    assert (file.lines.tolist(), file.rows.tolist()) == (other.lines.tolist(), other.rows.tolist())
    assert (file.header, file.decisions) == (other.header, other.decisions)
    assert (file.faults, file.warnings, file.raws) == (other.faults, other.warnings, other.raws)


@pytest.fixture
def lead_file(tmp_path: Path) -> Maker:
    """Write text or bytes to a file and read it as a lead file; whole it is the same as in blocks."""

    def make(content: str | bytes, name: str = "leads.csv", **told: Any) -> LeadFile:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.MonkeyPatch.context() as patch:
            read_everything("in blocks", patch)
            file = leads.read(path, **told)
            read_everything("whole", patch)
            assert_alike(file, leads.read(path, **told))
        return file

    return make
