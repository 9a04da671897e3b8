"""The site: built once without a warning, every block and example run; its links lead somewhere, it asks no other host."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from sitepages.command_list import commands
from sitepages.commands import page_of
from sitepages.examples import ELSEWHERE, EXAMPLES, SERVING

import dialframe
from dialframe.analytics import METRICS, NOT_AVAILABLE, OUTCOMES, STAGES
from dialframe.assistant.analysis_tools import ALL as ANALYZES
from dialframe.assistant.offered_operations import tool_name
from dialframe.compliance import checks as grades
from dialframe.compliance.rules import rulebook
from dialframe.contract.error_codes import ALL as CODES
from dialframe.contract.operations import ALL as OPERATIONS
from dialframe.errors import FAMILIES
from dialframe.frames import TABLES
from dialframe.leads.reasons import REASONS, WARNINGS

pytest.importorskip("sphinx", reason="there is no Sphinx to build the site with")

# The build runs what the pages show, which takes a minute, and several where the machine is busy.
pytestmark = pytest.mark.timeout(900)

ROOT = Path(__file__).parent.parent
#: What an example of a command's help ends with and says, where that is more than status 0 and something on a screen.
CLAIMS = tomllib.loads((ROOT / "tests" / "cli" / "examples.toml").read_text(encoding="utf-8"))
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
SWITCHES = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking"]
#: A variable by which the page's server tells its own kernels the folder; nobody else sets it.
INNER = {"DIALFRAME_APP_FOLDER"}
#: Pages that a browser opens: one of each kind.
LOOKED_AT = (
    "index.html", "lists.html", "tables/reasons.html", "reference/phones.html", "commands/leads-clean.html",
    "notebooks/04_list_cleaning.html",
)  # fmt: skip
WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
#: Elements that load what they name; an anchor only leads there.
LOADING = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "object": "data",
}
GRADES = [
    grades.PASSED, grades.VIOLATION, grades.UNCERTAIN, grades.NOT_EVALUABLE,
    grades.PROVEN, grades.INDETERMINATE, grades.CLEAR,
]  # fmt: skip
OPERATION_NAMES = [row.name for row in OPERATIONS]

#: Page, prefix of the row's address, and the rows that must be there, each once.
ROWS = {
    "operations": ("tables/operations.html", "operation", OPERATION_NAMES),
    "metrics": ("tables/metrics.html", "metric", [*METRICS, *NOT_AVAILABLE]),
    "outcomes": ("tables/outcomes.html", "outcome", [row.name for row in OUTCOMES]),
    "stages": ("tables/outcomes.html", "stage", [row.name for row in STAGES]),
    "reasons": ("tables/reasons.html", "reason", [row.code for row in REASONS]),
    "warnings": ("tables/reasons.html", "warning", [row.code for row in WARNINGS]),
    "rules": ("tables/rules.html", "rule", [row.id for row in rulebook.load().rules]),
    "grades": ("audit.html", "grade", GRADES),
    "codes": ("errors.html", "code", [row.code for row in CODES]),
    "tools": (
        "assistant.html",
        "tool",
        [*(row.name for row in ANALYZES), *map(tool_name, OPERATION_NAMES)],
    ),
}


class _Page(HTMLParser):
    """What a page loads, where it leads, what can be led to, its pictures and its words."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.unworded: list[str] = []
        self.words: list[str] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" and "href" in found else []
        self.loads += [found[LOADING[tag]]] if LOADING.get(tag) in found else []
        if tag == "img" and not found.get("alt", "").strip():
            self.unworded.append(found.get("src", "")[:80])

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as it is built for readers: a warning is an error."""
    out = tmp_path_factory.mktemp("site") / "html"
    command = [sys.executable, "-B", "-m", "sphinx", "-n", "-W", "--keep-going", "-q"]
    built = subprocess.run(
        [*command, "-d", str(out.with_name("trees")), str(ROOT / "docs"), str(out)],
        capture_output=True, text=True, timeout=850, check=False,
    )  # fmt: skip
    assert not built.stdout + built.stderr
    assert built.returncode == 0
    return out


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    """Every page, read."""
    return {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


@pytest.fixture(scope="module")
def executed(site: Path) -> dict[str, Any]:
    """What every block of the pages and every example of the commands printed."""
    return dict(json.loads((site / "executed.json").read_text(encoding="utf-8")))


def test_every_example_of_a_command_ends_as_it_claims(executed: dict[str, Any]) -> None:
    """Each that ends was run; it printed something, and its status and words are those claimed."""
    ran = executed["examples"]
    lines = {line for _, line in EXAMPLES}
    assert set(ran) == lines - set(SERVING) - set(ELSEWHERE)
    assert set(CLAIMS) <= set(ran)
    wrong = {
        line: (status, text[-400:])
        for line, (status, text) in ran.items()
        for claim in [{"status": 0, "says": ""} | CLAIMS.get(line, {})]
        if status != claim["status"] or claim["says"] not in text or not text.strip()
    }
    assert wrong == {}


def test_a_journey_ends_at_its_result(executed: dict[str, Any]) -> None:
    """The README's own commands and Python, as the build of the site ran them."""
    printed = "\n".join(executed["blocks"].values())
    for result in (
        "303 records: 250 clean", "Dental check-up reminders", "accepted", "lead_source",
        "What to do first: ", "Evidence: october", "every byte as its manifest says",
    ):  # fmt: skip
        assert result in printed, result


def _inside(address: str) -> bool:
    return not urlsplit(address).scheme and not address.startswith("//")


def test_every_link_inside_the_site_leads_somewhere(pages: dict[Path, _Page]) -> None:
    """The file is there, and the place in it."""
    broken = []
    for path, page in pages.items():
        for address in filter(_inside, page.links):
            parts = urlsplit(address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(target)
            if known is None or (parts.fragment and unquote(parts.fragment) not in known.ids):
                broken.append((path.name, address))
    assert broken == []
    assert sum(len(page.links) for page in pages.values()) > 1_000


def test_no_page_asks_another_host(site: Path, pages: dict[Path, _Page]) -> None:
    """Scripts, styles, pictures and fonts are beside the pages; a link is the reader's own choice."""
    loaded = {load for page in pages.values() for load in page.loads}
    assert [each for each in loaded if not _inside(each) and not each.startswith("data:")] == []
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert styles
    named = [
        each
        for text in styles
        for each in re.findall(r"(?:url\(|@import)\s*['\"]?([^'\")\s]+)", text)
    ]
    assert [each for each in named if not _inside(each) and not each.startswith("data:")] == []


def test_every_picture_has_words(pages: dict[Path, _Page]) -> None:
    """Alternative text on each picture, those of the notebooks too."""
    assert {path.name: page.unworded for path, page in pages.items() if page.unworded} == {}


@pytest.mark.parametrize("table", ROWS)
def test_each_row_is_on_its_table(site: Path, pages: dict[Path, _Page], table: str) -> None:
    """One line for each row of the data, with an address of its own."""
    place, prefix, names = ROWS[table]
    page = pages[site / place]
    wanted = [f"{prefix}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}" for name in names]

    assert [each for each in page.ids if each.startswith(f"{prefix}-")] == wanted
    text = "".join(page.words)
    assert [name for name in names if name not in text] == []


def test_questions_columns_and_variables_are_there(site: Path, pages: dict[Path, _Page]) -> None:
    """The tables whose rows have no address: each column, each variable that the code reads."""
    columns = pages[site / "tables" / "columns.html"].words
    assert {column.name for table in TABLES.values() for column in table.columns} <= set(columns)
    source = (path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    read = {name for text in source for name in re.findall(r"\"(DIALFRAME_[A-Z_]+)\"", text)}
    assert len(read) > 3
    assert read - INNER <= set(pages[site / "settings.html"].words)


def test_each_command_has_a_page(site: Path, pages: dict[Path, _Page]) -> None:
    """Made from the commands themselves: every option, and an example with what it printed."""
    wanted = [entry for entry in commands() if entry.runs and entry.path]

    assert len(wanted) > 20
    for entry in wanted:
        path = site / "commands" / f"{page_of(entry)}.html"
        text = "".join(pages[path].words)
        assert [option for option, _ in entry.options if option not in text] == [], entry.name
        ends = set(entry.examples) - set(SERVING) - set(ELSEWHERE)
        assert not ends or 'class="output' in path.read_text(encoding="utf-8"), entry.name


def test_each_public_name_is_described(pages: dict[Path, _Page]) -> None:
    """What the package and its rooms export has a place in the reference, and an error its line."""
    described = {each for page in pages.values() for each in page.ids}
    rooms = (
        "account",
        "client",
        "phones",
        "leads",
        "analytics",
        "frames",
        "plots",
        "errors",
        "store",
    )
    names = {
        f"dialframe.{room}.{name}"
        for room in rooms
        for name in importlib.import_module(f"dialframe.{room}").__all__
        if not isinstance(getattr(importlib.import_module(f"dialframe.{room}"), name), ModuleType)
    }
    assert sorted(names - described) == []
    assert {f"dialframe.{room}" for room in ("leads", "compliance", "widgets", "sandbox")} <= {
        name.removeprefix("module-") for name in described
    }
    assert {f"dialframe.errors.{name}" for name in FAMILIES} <= described
    assert callable(dialframe.connect)


@pytest.mark.browser
def test_a_browser_finds_nothing_wrong(site: Path) -> None:
    """Chromium asks nobody else and logs nothing; axe-core finds no fault; nothing is wider than a phone."""
    pytest.importorskip("playwright", reason="there is no playwright to drive a browser with")
    if not Path(CHROMIUM).exists():
        pytest.skip("there is no Chromium on this machine")
    from playwright.sync_api import sync_playwright

    from browser import axe

    source, said = axe.script(), []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=SWITCHES)
        heard, looked = (
            browser.new_page(viewport={"width": 390, "height": 844}) for _ in range(2)
        )
        heard.on("console", lambda message: said.append(message.text))
        heard.on("request", lambda request: said.append(request.url))
        for name in LOOKED_AT:
            heard.goto((site / name).as_uri())
            assert not heard.evaluate(WIDER), name
            looked.goto((site / name).as_uri())
            assert axe.violations(looked, source) == [], name
        browser.close()
    assert len(said) > len(LOOKED_AT)
    assert [each for each in said if not each.startswith(("file:", "data:"))] == []
