"""Notebooks as they are committed: run to the end, small, readable without eyes, their prose true; nbval runs them again."""

from __future__ import annotations

import base64
import html
import io
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

import dialframe
from dialframe import plots

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.ipynb"))
MOST_BYTES = 1_000_000
#: Those whose prose states numbers of the account and that end with an export; the rest are on the
#: rules of audits, whose numbers are in the law, and on widgets.
TOLD = [
    path for path in NOTEBOOKS if path.stem[:2] in ("01", "03", "04", "06") or "when" in path.stem
]

#: A number that prose states: no clock time, date, name of a file or of another notebook.
STATED = re.compile(r"(?<![\w:/.+-])(?!0\d)\d[\d,]*(?:\.\d+)?(?![\w:/]|\.\d|-\d)")
SHOWN = re.compile(r"\d[\d,]*(?:\.\d+)?")
WORDS = {
    word: number
    for number, word in enumerate(
        [
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ],
        6,
    )
}

#: Runs pytest without a grammar of addresses that jsonschema takes two seconds to compile.
PYTEST = "import sys; sys.modules['rfc3987_syntax'] = None; import pytest; sys.exit(pytest.main())"


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


def _numbers(output: dict[str, Any]) -> set[float]:
    """Every number that a reader of this output sees or hears."""
    data = output.get("data", {})
    markup = "".join(data.get("text/html", ""))
    words = [image["alt"] or "" for image in _Images(markup).found]
    body = re.sub(r"<style.*?</style>|<[^>]*>", " ", markup, flags=re.DOTALL)
    text = [
        *output.get("text", ""),
        "\n",
        *data.get("text/plain", ""),
        *words,
        html.unescape(body),
    ]
    return {float(found.replace(",", "")) for found in SHOWN.findall("".join(text))}


def _not_seen(prose: str, shown: set[float]) -> list[str]:
    """Numbers of the prose that are in no output, as they are or as a share of one."""
    # Code, shares in words, citations and exercises state no number of the account.
    prose = re.sub(
        r"`[^`]*`|one in \w+|\[[^\]]*\]\(https?:[^)]*\)|^\*\*Exercise\.\*\*.*$",
        "",
        prose,
        flags=re.M,
    )
    stated = [found.rstrip(",") for found in STATED.findall(prose)]
    spelled = [word for word in re.findall(r"[a-z]+", prose.lower()) if word in WORDS]
    return [
        *(s for s in stated if not _among(float(s.replace(",", "")), s, shown)),
        *(word for word in spelled if WORDS[word] not in shown),
    ]


def _among(value: float, text: str, shown: set[float]) -> bool:
    digits = len(text.partition(".")[2])
    return any(round(n, digits) == value or round(100 * n, digits) == value for n in shown)


def test_all_are_here() -> None:
    """The notebooks that the README points to."""
    names = {path.stem for path in NOTEBOOKS}
    assert names >= {
        "01_campaign_funnel", "02_when_to_call", "03_caller_ids_and_carriers", "04_list_cleaning",
        "06_trust_the_numbers",
    }  # fmt: skip


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_ran_to_its_end_and_is_small(path: Path) -> None:
    """Every cell was executed in order without an error, and the file is under a megabyte."""
    counts = [cell["execution_count"] for cell in _cells(path, "code")]

    assert counts == list(range(1, len(counts) + 1))
    assert {output["output_type"] for output in _outputs(path)} <= {
        "stream", "execute_result", "display_data",
    }  # fmt: skip
    assert path.stat().st_size < MOST_BYTES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_pictures_have_words_and_are_compared(path: Path) -> None:
    """Each picture has alternative text, and is inside HTML too: nbval compares that and skips PNG outputs."""
    kinds = {kind for output in _outputs(path) for kind in output.get("data", {})}
    pictures = [output for output in _outputs(path) if "image/png" in output.get("data", {})]
    markup = ["".join(o.get("data", {}).get("text/html", "")) for o in _outputs(path)]
    images = [image for text in markup for image in _Images(text).found]

    assert {kind for kind in kinds if kind.startswith("image/")} <= {"image/png"}
    for picture in pictures:
        assert picture["metadata"]["image/png"]["alt"].endswith(".")
        assert "<img" in "".join(picture["data"]["text/html"])
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


@pytest.mark.parametrize("path", TOLD, ids=lambda path: path.stem)
def test_prose_states_what_is_seen(path: Path) -> None:
    """Each number that the prose gives is in an output of the same notebook."""
    shown = set().union(*(_numbers(output) for output in _outputs(path)))
    prose = ["".join(cell["source"]) for cell in _cells(path, "markdown")]

    assert [number for text in prose for number in _not_seen(text, shown)] == []


def test_a_number_that_is_not_seen_is_found() -> None:
    """Prose that no longer agrees with the outputs is told apart, in digits and in words."""
    prose = "**38.9% of 1,010 reach a person** at 17:00, eleven of them twice, see notebook 06."

    assert _not_seen(prose, {0.389, 1010.0, 11.0}) == []
    assert _not_seen(prose, {0.388, 1011.0, 12.0}) == ["38.9", "1,010", "eleven"]


def test_pictures_have_their_numbers_below() -> None:
    """Below every picture of these notebooks that shows data its numbers fold out."""
    for path in TOLD:
        shown = ["".join(o.get("data", {}).get("text/html", "")) for o in _outputs(path)]
        pictures = [markup for markup in shown if "<img " in markup]
        assert pictures, path.stem
        assert all("<summary>The numbers</summary>" in markup for markup in pictures), path.stem


def test_a_tampered_picture_is_caught(tmp_path: Path) -> None:
    """nbval, as it is run over the notebooks, passes a committed picture and fails one with a pixel changed."""
    source = (
        "import pandas as pd\nfrom dialframe import plots\n"
        'plots.listed_calls(pd.DataFrame({"grade": ["proven", "clear"], "calls": [2, 90]}))'
    )
    frame = pd.DataFrame({"grade": ["proven", "clear"], "calls": [2, 90]})
    true, _ = plots.listed_calls(frame)._repr_mimebundle_()
    false = true | {"text/html": _one_pixel(true["text/html"])}
    cells = []
    for bundle in (true, false):
        cell = new_code_cell(source, execution_count=len(cells) + 1)
        cell["outputs"] = [new_output("execute_result", bundle, execution_count=len(cells) + 1)]
        cells.append(cell)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, tmp_path / "pictures.ipynb")
    run = subprocess.run(
        [sys.executable, "-c", PYTEST, "--nbval", "--nbval-sanitize-with",
         str(FOLDER / "sanitize.cfg"), "-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-c",
         "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(Path(dialframe.__file__).parent.parent)},
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip

    assert "1 failed, 1 passed" in run.stdout, run.stdout + run.stderr
    assert re.findall(r"ipynb::Cell (\d)", run.stdout.partition("short test summary")[2]) == ["1"]


def _one_pixel(markup: str) -> str:
    """The same picture with its first pixel in another of its colors."""
    found = re.search(r"base64,([^\"]+)", markup)
    assert found is not None
    image = Image.open(io.BytesIO(base64.b64decode(found[1])))
    image.putpixel((0, 0), 1 if image.getpixel((0, 0)) != 1 else 2)
    file = io.BytesIO()
    image.save(file, format="png", optimize=True)
    return markup.replace(found[1], base64.b64encode(file.getvalue()).decode())
