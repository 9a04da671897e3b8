"""The layout of the source: few modules, each easy to find, none in a circle, all of them described."""

from __future__ import annotations

import ast
import re
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

import grimp
import pytest

from rows import every_row

SOURCE = Path(__file__).parent.parent / "src" / "dialframe"
MODULES = sorted(SOURCE.rglob("*.py"))
NAMED = [path for path in MODULES if not path.stem.startswith("__")]

#: Where the layout stands; each is lowered when the code has become simpler, and never raised.
#: The aims are 340 modules of at most 600 lines, 15 shared names, 9 floors, 66,000 lines of Python in the source,
#: 52,000 in its tests, and a comment in every twentieth line of the source.
MOST_MODULES = 333
MOST_SOURCE_LINES = 95_500
MOST_TEST_LINES = 64_950
LEAST_COMMENTS_PER_100 = 5
MOST_LINES = 600
MOST_SHARED_NAMES = 0
MOST_FLOORS = {"analytics": 9, "compliance": 9, "leads": 9}
#: Words of a docstring's first line that say what a module is ignorant of instead of what it does.
EMPTY_WORDS = re.compile(r"\bknows\b|\btold\b|\bspoken\b|\bat the door\b")


@cache
def graph() -> grimp.ImportGraph:
    """Who imports whom, type-only imports left out."""
    return grimp.build_graph("dialframe", exclude_type_checking_imports=True, cache_dir=None)


def test_there_are_few_modules() -> None:
    """A mechanism has one module, and a module hides something worth hiding."""
    assert len(MODULES) <= MOST_MODULES


@every_row("path", MODULES)
def test_a_module_is_not_too_long_and_says_what_it_does(path: Path) -> None:
    """Not too many lines, and a docstring that begins with what the module does."""
    text = path.read_text(encoding="utf-8")
    words = ast.get_docstring(ast.parse(text)) or ""
    assert text.count("\n") <= MOST_LINES
    assert words[:1].isupper() or words[:1] == "`"
    assert not EMPTY_WORDS.search(words.splitlines()[0])


def test_there_are_few_lines() -> None:
    """A rewrite replaces: lines of the source and of its tests become fewer."""
    tests = Path(__file__).parent.rglob("*.py")
    assert sum(map(line_count, MODULES)) <= MOST_SOURCE_LINES
    assert sum(map(line_count, tests)) <= MOST_TEST_LINES


def line_count(path: Path) -> int:
    """Lines of a file."""
    return path.read_bytes().count(b"\n")


def test_comments_say_why() -> None:
    """Lines with a comment, of a hundred."""
    commented = 0
    for path in MODULES:
        with path.open("rb") as file:
            commented += sum(
                token.type == tokenize.COMMENT for token in tokenize.tokenize(file.readline)
            )
    assert 100 * commented >= LEAST_COMMENTS_PER_100 * sum(map(line_count, MODULES))


def test_few_files_share_a_name() -> None:
    """Whoever searches a name finds one file."""
    shared = {name: n for name, n in Counter(path.name for path in NAMED).items() if n > 1}
    assert len(shared) <= MOST_SHARED_NAMES, shared


@pytest.mark.parametrize("room", list(MOST_FLOORS))
def test_a_room_has_few_floors(room: str) -> None:
    """The longest chain of imports within a room."""
    name = f"dialframe.{room}"
    modules = {one for one in graph().modules if one == name or one.startswith(f"{name}.")}
    # The face of a package imports its parts so that others need not: it is no floor.
    inside = {
        one: {
            other
            for other in graph().find_modules_directly_imported_by(one)
            if other in modules and not is_package(other)
        }
        for one in modules
        if not is_package(one)
    }

    @cache
    def height(one: str) -> int:
        return 1 + max((height(other) for other in inside[one]), default=0)

    tallest = max(inside, key=height)
    assert height(tallest) <= MOST_FLOORS[room], tallest


def is_package(module: str) -> bool:
    """Whether a module is the face of a package."""
    return SOURCE.parent.joinpath(*module.split("."), "__init__.py").exists()
