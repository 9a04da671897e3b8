"""Pages that everybody can read: markup that the theme leaves wrong is put right."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from docutils import nodes
from sphinx.addnodes import toctree
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

#: Before the theme's own, which makes the navigation, and behind it.
_FIRST, _LAST = 100, 900


def setup(app: Sphinx) -> dict[str, Any]:
    """Join this to a build."""
    app.connect("html-page-context", _titles_alone, priority=_FIRST)
    app.connect("html-page-context", _mended, priority=_LAST)
    return {"parallel_read_safe": True}


def _titles_alone(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """The navigation of each page shows titles: Sphinx need not copy every heading for each to drop it again."""
    whole, contents, titles = context["toctree"], app.env.tocs, _titles(app.env)

    def navigation(**options: Any) -> str:
        app.env.tocs = titles if options.get("titles_only") else contents
        try:
            return whole(**options)
        finally:
            app.env.tocs = contents

    context["toctree"] = navigation


@cache
def _titles(env: BuildEnvironment) -> dict[str, nodes.bullet_list]:
    return {page: _title(tree) for page, tree in env.tocs.items()}


def _title(tree: nodes.bullet_list) -> nodes.bullet_list:
    """The table of contents of a page without its headings, unless pages below it are among them."""
    if next(tree.findall(toctree), None) is not None:
        return tree
    title = tree.deepcopy()
    for entry in title.children:
        del entry[1:]
    return title


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
