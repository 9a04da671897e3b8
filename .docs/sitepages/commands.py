"""The command line as a reference, from the pages that `--help` shows; knows how to set them, not what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from dialframe.cli import manual
from dialframe.cli.manual import Page
from sitepages.grid import Cell, Code, grid, text


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directive to a build."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}


class Commands(SphinxDirective):
    """Every command in order: what it does, how it is called, each argument and option."""

    def run(self) -> list[nodes.Node]:
        """A table of all, then a section for each."""
        first, *found = manual.pages()
        rows = ((Code(page.name), page.purpose) for page in found if not page.commands)
        listed = grid(("command", "what it does"), rows, widths=(35, 65))
        return [listed, *map(_section, (first, *found))]


def _section(page: Page) -> nodes.section:
    made = nodes.section(ids=[nodes.make_id(page.name)], names=[page.name])
    made += nodes.title("", "", nodes.literal(page.name, page.name))
    made += [nodes.paragraph("", "", *text(words)) for words in (page.purpose, *page.about)]
    made += nodes.literal_block(page.usage, page.usage, language="text")
    if page.examples:
        lines = "\n".join(page.examples)
        made += [_title("Examples"), nodes.literal_block(lines, lines, language="text")]
    made += _tables(page)
    return made


def _tables(page: Page) -> Iterator[nodes.Node]:
    given = ((Code(item.left), item.words) for item in (*page.arguments, *page.options))
    yield from _table("Arguments and options", ("argument or option", "what it is"), given)
    yield from _table(
        "Files", ("file", "what it is"), ((Code(k), v) for k, v in page.files.items())
    )
    statuses = ((Code(str(status)), words) for status, words in page.statuses.items())
    yield from _table("Exit status", ("status", "what it says"), statuses)
    variables = ((Code(k), v) for k, v in page.environment.items())
    yield from _table("Environment", ("variable", "what it holds"), variables)


def _table(
    title: str, headings: tuple[str, str], rows: Iterable[tuple[Cell, Cell]]
) -> Iterator[nodes.Node]:
    found = list(rows)
    if found:
        yield from (_title(title), grid(headings, found, widths=(35, 65)))


def _title(words: str) -> nodes.rubric:
    return nodes.rubric(words, words)
