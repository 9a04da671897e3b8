"""Notebooks as they are committed: run to the end, small, readable without eyes; nbval runs them again."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.ipynb"))
MOST_BYTES = 500_000


class _Images(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "img":
            self.found.append(dict(attrs))


def _cells(path: Path, kind: str) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == kind]


def _outputs(path: Path) -> list[dict[str, Any]]:
    return [output for cell in _cells(path, "code") for output in cell["outputs"]]


def test_all_are_here() -> None:
    """The notebooks that the README points to."""
    names = {path.stem for path in NOTEBOOKS}
    assert names >= {
        "01_campaign_funnel", "02_when_to_call", "03_caller_ids_and_carriers", "04_list_cleaning",
        "06_trust_the_numbers",
    }  # fmt: skip


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_ran_to_its_end_and_is_small(path: Path) -> None:
    """Every cell was executed in order without an error, and the file is under 500 kB."""
    counts = [cell["execution_count"] for cell in _cells(path, "code")]

    assert counts == list(range(1, len(counts) + 1))
    assert {output["output_type"] for output in _outputs(path)} <= {
        "stream", "execute_result", "display_data",
    }  # fmt: skip
    assert path.stat().st_size < MOST_BYTES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pictures_have_words_and_are_compared(path: Path) -> None:
    """Each picture has alternative text, and is inside HTML: nbval compares that and skips PNG outputs."""
    kinds = {kind for output in _outputs(path) for kind in output.get("data", {})}
    markup = ["".join(o.get("data", {}).get("text/html", "")) for o in _outputs(path)]
    images = [image for text in markup for image in _Images(text).found]

    assert not {kind for kind in kinds if kind.startswith("image/")}
    assert all(str(image["alt"]).strip().endswith(".") for image in images)
    assert all(str(image["src"]).startswith("data:image/png;base64,") for image in images)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_says_nothing_of_the_machine(path: Path) -> None:
    """No path of a home or temporary folder and no address in memory is in any output."""
    said = json.dumps([
        {k: v for k, v in output.get("data", {}).items() if k != "text/html"} or output.get("text")
        for output in _outputs(path)
    ])  # fmt: skip
    assert not re.findall(r"/(?:tmp|home|root|Users)/|at 0x[0-9a-f]{6,}", said)


@pytest.mark.parametrize(
    "path", [p for p in NOTEBOOKS if "audit" not in p.stem], ids=lambda path: path.stem
)
def test_ends_with_the_export(path: Path) -> None:
    """The last cell writes what was found to a folder."""
    assert 'export = Path(store.name) / "export"' in "".join(_cells(path, "code")[-1]["source"])
    assert "".join(_cells(path, "markdown")[-1]["source"]).startswith("## Take it with you")
