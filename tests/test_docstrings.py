"""What docstrings show runs, and those of public callables name every argument and what comes back."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import shutil
import textwrap
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dialframe
from dialframe.config import ENVIRONMENT
from dialframe.flows.reporting import write_table

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"

#: Drawings and lines that cannot be run as they stand, by their first words, and why.
NOT_RUN = {
    "DialframeError": "a drawing of the tree of errors",
    "never sent ": "a drawing of the ledger's states",
    "import    whose import": "a drawing of the ledger's columns",
    "lead     before the number": "a drawing of the scanner's classes",
    "with dialframe.Client(": "the address is the reader's own: the pages of the site run a client",
    "$ openssl ts": "an authority's answer is needed: the tests of packs read one",
    "python verify.py": "a program of an evidence pack: the tests of packs run it",
    "delivery = dialframe.webhooks.verify(": "a request that has come: the page on webhooks runs it",
}


@dataclass(frozen=True)
class Example:
    """An indented block of a docstring."""

    path: Path
    owner: str
    text: str

    def __str__(self) -> str:
        return f"{self.path.relative_to(SOURCE / 'dialframe')}:{self.owner}"


@cache
def docstrings(path: Path) -> list[tuple[str, str]]:
    """Name and text of each docstring of a module, outer ones first."""
    texts: list[tuple[str, str]] = []
    level: list[ast.stmt | ast.Module] = [ast.parse(path.read_text(encoding="utf-8"))]
    # Definitions stand in statements: nobody need walk the expressions.
    while level:
        below: list[ast.stmt | ast.Module] = []
        for node in level:
            if isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            ) and (text := ast.get_docstring(node)):
                texts.append((getattr(node, "name", "the module"), text))
            below += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        level = below
    return texts


def examples(path: Path) -> Iterator[Example]:
    """Indented blocks below a blank line and a line of text at the margin."""
    for owner, text in docstrings(path):
        block: list[str] = []
        above = before = ""
        for line in [*text.splitlines(), "end"]:
            begins = not block and not before and above and not above.startswith((" ", ">>>"))
            if line.startswith("    ") and (block or begins):
                block.append(line)
            elif block and line:
                yield Example(path, owner, textwrap.dedent("\n".join(block)).strip())
                block = []
            elif block:
                block.append(line)
            before, above = line, line or above


MODULES = sorted((SOURCE / "dialframe").rglob("*.py"))
MINIMUM_WITH_PROMPTS, MINIMUM_OF_EXAMPLES = 6, 10


def test_prompts_answer_as_written() -> None:
    """Every `>>>` of a docstring gives what stands below it; the report of doctest names the line."""
    prompts = [path for path in MODULES if any(">>> " in text for _, text in docstrings(path))]
    assert len(prompts) >= MINIMUM_WITH_PROMPTS
    wrong = {}
    for path in prompts:
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        result = doctest.testmod(importlib.import_module(name))
        if result.failed or not result.attempted:
            wrong[name] = result
    assert wrong == {}


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The names that examples take for granted: frames of a small account, in a folder with a list."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copy(ROOT / "data_samples" / "leads" / "us_autumn_campaign.csv", folder / "autumn.csv")
    (folder / "lists").mkdir()
    with (
        dialframe.sandbox.start(seed=7, size="tiny") as sandbox,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(folder)
        for field, value in (("base_url", sandbox.base_url), ("api_key", sandbox.api_key)):
            patch.setenv(ENVIRONMENT[field], value)
        patch.setenv(ENVIRONMENT["store"], str(folder / "store"))
        with dialframe.connect() as account:
            account.sync()
            campaigns = account.calls()["campaign_id"].dropna().unique()[:2]
            write_table(account.calls(), Path("calls.parquet"))
            yield {
                "dialframe": dialframe,
                "account": account,
                "client": account.client,
                "analytics": dialframe.analytics,
                "compliance": dialframe.compliance,
                "plots": dialframe.plots,
                "Path": Path,
                "calls": account.calls(),
                "leads": account.leads(),
                "callbacks": account.callbacks(),
                "appointments": account.appointments(),
                "events": dialframe.frames.empty(dialframe.frames.EVENTS),
                "imports": pd.DataFrame(
                    {"status": ["accepted"], "reason": [None], "field": [None]}
                ),
                "cleaned": dialframe.leads.clean(dialframe.leads.read("autumn.csv"), region="US"),
                **dict(zip(("first", "second"), campaigns, strict=True)),
                "audited": dialframe.audit(account),
                "pd": pd,
                "checks": account.dnc_checks(),
                "numbers": account.calls()["to_number"].unique()[:3],
                "now": datetime.now(UTC),
            }


def test_indented_examples_run(names: dict[str, Any]) -> None:
    """Each runs as it stands where a reader would type it, or is named here with a reason."""
    # The examples of commands are run by the tests of the command line.
    every = [
        example for path in MODULES if path.parent.name != "cli" for example in examples(path)
    ]
    assert len(every) >= MINIMUM_OF_EXAMPLES
    failures = {}
    for example in every:
        if any(example.text.startswith(start) for start in NOT_RUN):
            continue
        package = ".".join(example.path.relative_to(SOURCE).parent.parts)
        inside = {**vars(importlib.import_module(package)), **names}
        failures |= failure(str(example), example.text, inside)
        if inside.get("account") is not names["account"] and example.owner == "the module":
            getattr(inside["account"], "close", lambda: None)()
    assert failures == {}


def failure(name: str, text: str, inside: dict[str, Any]) -> dict[str, str]:
    """Run an example; its name and how it failed, or nothing."""
    try:
        exec(compile(text, name, "exec"), inside)  # noqa: S102 - our own text
    except Exception:
        return {name: traceback.format_exc(limit=-3)}
    return {}


#: Rooms whose public names are documented to the last argument.
ROOMS = (
    "account", "analytics", "client", "compliance", "errors", "evidence", "experiments", "frames", "leads", "phones", "plots",
    "reports", "sandbox", "store", "suppression", "webhooks", "widgets",
)  # fmt: skip


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions of the rooms' faces, and methods of their classes, that are written here."""
    for room in ROOMS:
        module = importlib.import_module(f"dialframe.{room}")
        for name in module.__all__:
            value = getattr(module, name)
            members = members_of(value) if inspect.isclass(value) else {"": value}
            for member, attribute in members.items():
                function = getattr(attribute, "__func__", attribute)
                if not inspect.isfunction(function) or member.startswith("_"):
                    continue
                if function.__module__.startswith("dialframe."):
                    yield f"{room}.{name}.{member}".rstrip("."), function


def members_of(kind: type) -> dict[str, Any]:
    """Members of a class, and those that a private base gives it."""
    private = [base for base in kind.__mro__[1:] if base.__name__.startswith("_")]
    return {name: value for each in [*private, kind] for name, value in vars(each).items()}


def arguments(function: Callable[..., Any]) -> list[str]:
    """Names of the arguments that a caller gives."""
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def test_every_argument_of_a_public_callable_has_its_words() -> None:
    """Each is named below `Args:`; a method for event loops refers to its namesake."""
    missing, every = {}, dict(public_callables())
    for name, function in every.items():
        namesake = name.replace(".Async", ".")
        words = (inspect.getdoc(every.get(namesake, function)) or "").partition("Args:")[2]
        unnamed = [each for each in arguments(function) if each not in words]
        if unnamed:
            missing[name] = unnamed
    assert missing == {}


def test_every_public_function_says_what_comes_back() -> None:
    """`Returns:` or `Yields:`, unless nothing does."""
    silent = [
        name
        for name, function in public_callables()
        if name.count(".") == 1
        and inspect.signature(function).return_annotation not in (None, "None")
        and not any(word in (inspect.getdoc(function) or "") for word in ("Returns:", "Yields:"))
    ]
    assert silent == []


def section(function: Callable[..., Any]) -> str:
    """What stands below `Example:` in a docstring; nothing where there is none."""
    below = (inspect.getdoc(function) or "").partition("\nExample:\n")[2]
    lines = below.split("\n")
    end = next((n for n, line in enumerate(lines) if line and line[0] != " "), len(lines))
    return textwrap.dedent("\n".join(lines[:end])).strip()


def test_every_public_function_has_an_example_that_runs(names: dict[str, Any]) -> None:
    """Below `Example:`, run with the frames of a small account, or with prompts, which are run above."""
    failures = {}
    for name, function in public_callables():
        if name.count(".") != 1:
            continue
        text = section(function)
        if hasattr(function, "__wrapped__") and name.startswith("analytics.") and not text:
            # All analyses are called alike, which `dialframe.analytics` says once.
            continue
        if not text and ">>> " not in (inspect.getdoc(function) or ""):
            failures[name] = "there is no example"
        # A server that would not end is not begun.
        elif ">>>" not in text and "serve(" not in text:
            room = importlib.import_module(f"dialframe.{name.partition('.')[0]}")
            failures |= failure(name, text, {**vars(room), **names})
    assert failures == {}
