"""Pages that everybody can read: markup that the theme leaves wrong is put right; knows markup, not content."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

#: Behind the theme's own, which makes the navigation.
_LAST = 900


def setup(app: Sphinx) -> dict[str, Any]:
    """Join this to a build."""
    app.connect("html-page-context", _mended, priority=_LAST)
    return {"parallel_read_safe": True}


def _mended(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace(
        'role="heading"', 'role="heading" aria-level="2"'
    )
    # A signature over several lines comes as a list of definitions without terms, inside a term.
    body = re.sub(
        r"<dl>\s*((?:<dd>.*?</dd>\s*)+)</dl>", _lines, context.get("body", ""), flags=re.S
    )
    # Two hyphens behind an argument stand for a dash; elsewhere they begin an option.
    context["body"] = body.replace("</strong> -- ", "</strong> \N{EN DASH} ")


def _lines(found: re.Match[str]) -> str:
    made = found[1].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
    return f'<span class="sig-lines">{made}</span>'
