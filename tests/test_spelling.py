"""One spelling everywhere, the American one; what others wrote keeps theirs: the contract, the law, lead files."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BRITISH = re.compile(
    r"""\w*(?: analyse(?!s\b) | authoris | behaviour | capitalis | catalogue | categoris | colour
    | customis | dialled | dialling | emphasis(?=e|ing) | favour | finalis | initialis | judgement
    | (?<!un)labelled(?!by) | licence | maximis | minimis | neighbour | normalis | optimis
    | organisation | prioritis | recognis | serialis | spelt | standardis | summaris )\w*""",
    re.VERBOSE | re.IGNORECASE,
)
WORD = re.compile(r"\w+")
#: Files of words that are looked for in what others write, in every spelling there is.
VOCABULARIES = (
    "compliance/rules/book/", "leads/header_vocabulary.toml", "opt_outs/", "profiles/",
    "analytics/attempt/code_tables.toml",
)  # fmt: skip
KINDS = {".py", ".sql", ".toml", ".css", ".js", ".html"}
FILES = [
    *(path for path in sorted((ROOT / "src").rglob("*")) if path.suffix in KINDS),
    *sorted((ROOT / "docs").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]
#: The alias of `phones.normalize`, and the line that tells of it.
ALIAS = ("phones/__init__.py", "CHANGELOG.md")


def test_the_spelling_is_american() -> None:
    """In code, messages and pages alike; `normalise` is known to the room that has the alias."""
    wrong = []
    # Each word is judged once, wherever it stands: the expression is slow on lines.
    is_british = functools.cache(BRITISH.fullmatch)
    for path in FILES:
        name = path.relative_to(ROOT).as_posix()
        if any(part in name for part in VOCABULARIES):
            continue
        text = path.read_text(encoding="utf-8")
        for word in {word for word in set(WORD.findall(text)) if is_british(word)}:
            # `unrecognised` is the contract's reason for a lead that was not taken.
            alias = word.lower() == "normalise" and name.endswith(ALIAS)
            if not alias and word != "unrecognised":
                lines = enumerate(text.splitlines(), 1)
                wrong += [f"{name}:{n}: {word}" for n, line in lines if word in line]
    assert wrong == []


@pytest.mark.parametrize("word", ["dialled", "normalise", "Behaviour", "unrecognised"])
def test_a_british_word_is_found(word: str) -> None:
    """The test above is not blind."""
    assert BRITISH.fullmatch(word)
