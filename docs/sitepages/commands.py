"""Shows the command line as a reference, from what `--help` shows."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sitepages.command_list import Entry, commands
from sitepages.grid import Code, grid, text


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directive to a build."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}


class Commands(SphinxDirective):
    """Every command in order: what it does, each argument and option, examples."""

    def run(self) -> list[nodes.Node]:
        """A table of all, then a section for each."""
        program, *entries = commands()
        rows = ((Code(entry.name), entry.purpose) for entry in entries if not entry.family)
        listed = grid(("command", "what it does"), rows, widths=(35, 65))
        return [listed, *map(_section, (program, *entries))]


def _section(entry: Entry) -> nodes.section:
    section = nodes.section(ids=[nodes.make_id(entry.name)], names=[entry.name])
    section += nodes.title("", "", nodes.literal(entry.name, entry.name))
    section += [nodes.paragraph("", "", *text(words)) for words in (entry.purpose, *entry.about)]
    if entry.examples:
        lines = "\n".join(entry.examples)
        section += [nodes.rubric("Examples", "Examples")]
        section += nodes.literal_block(lines, lines, language="text")
    if entry.options:
        rows = ((Code(option), words) for option, words in entry.options)
        section += [nodes.rubric("Arguments and options", "Arguments and options")]
        section += grid(("argument or option", "what it is"), rows, widths=(35, 65))
    return section
