"""The layout of the source: few modules, each easy to find, none in a circle, all of them described."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from rows import every_row

SOURCE = Path(__file__).parent.parent / "src" / "dialframe"
MODULES = sorted(SOURCE.rglob("*.py"))
NAMED = [path for path in MODULES if not path.stem.startswith("__")]

#: Words of a docstring's first line that say what a module is ignorant of instead of what it does.
EMPTY_WORDS = re.compile(r"\bknows\b|\btold\b|\bspoken\b|\bat the door\b")


@every_row("path", MODULES)
def test_a_module_says_what_it_does(path: Path) -> None:
    """Its docstring begins with what the module does."""
    text = path.read_text(encoding="utf-8")
    words = ast.get_docstring(ast.parse(text)) or ""
    assert words[:1].isupper() or words[:1] == "`"
    assert not EMPTY_WORDS.search(words.splitlines()[0])


def test_no_two_files_share_a_name() -> None:
    """Whoever searches a name finds one file."""
    assert [name for name, n in Counter(path.name for path in NAMED).items() if n > 1] == []
