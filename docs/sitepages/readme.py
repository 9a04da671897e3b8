"""Sections of the README inside a page, so that nothing is said twice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

README = Path(__file__).parents[2] / "README.md"


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directive to a build."""
    app.add_directive("readme", ReadmeSection)
    return {"parallel_read_safe": True}


class ReadmeSection(SphinxDirective):
    """The text below one heading of the README, without its folded tables: they have pages of their own."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The section as if it stood here."""
        self.env.note_dependency(str(README))
        text = section(README.read_text(encoding="utf-8"), self.arguments[0])
        if text is None:
            raise self.error(f"README.md has no heading {self.arguments[0]!r}")
        holder = nodes.Element()
        self.state.nested_parse(StringList(text.splitlines(), str(README)), 0, holder)
        return holder.children


def section(text: str, heading: str) -> str | None:
    """What stands between a heading and the next, or None without such a heading."""
    fenced = re.sub(
        r"^```.*?^```", lambda block: block[0].replace("\n#", "\n\0"), text, flags=re.M | re.S
    )
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", fenced, flags=re.M | re.S)
    if found is None:
        return None
    shown = (
        re.sub(r"<details>.*?</details>\n*", "", found[1], flags=re.S).replace("\0", "#").strip()
    )
    shown = re.sub(r"\[([^\]]+)\]\((notebooks/\w+)\.ipynb\)", r"{doc}`\1 </\2>`", shown)
    shown = re.sub(r"\[([^\]]+)\]\(docs/([\w/]+\.md)\)", r"[\1](/\2)", shown)
    # Files of the repository that are no page of the site are named, and not linked.
    return re.sub(r"\[([^\]]+)\]\((?!\w+:|notebooks/|/)[^)]+\)", r"`\1`", shown)
