"""Lead files made by hand for one test each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dialframe import leads
from dialframe.leads import LeadFile

Maker = Callable[..., LeadFile]


@pytest.fixture
def lead_file(tmp_path: Path) -> Maker:
    """Write text or bytes to a file and read it as a lead file."""

    def make(content: str | bytes, name: str = "leads.csv", **told: Any) -> LeadFile:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return leads.read(path, **told)

    return make
