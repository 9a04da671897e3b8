"""Shows the command line as a reference: a page for each command, from what its help shows and its examples print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from sitepages.command_list import Entry, commands
from sitepages.executed import EXAMPLES, output
from sitepages.generated import write_pages
from sitepages.grid import Code, Page, grid, text


def setup(app: Sphinx) -> dict[str, Any]:
    """Join the directives to a build."""
    app.connect(
        "config-inited", lambda app, _: write_pages(Path(app.srcdir) / "commands", pages())
    )
    app.add_directive("commands", Commands)
    app.add_directive("command", Command)
    return {"parallel_read_safe": True}


def pages() -> dict[str, str]:
    """The page of each command that does something, by its name."""
    return {
        page_of(entry): f"# {entry.name}\n\n```{{command}} {entry.path}\n```\n"
        for entry in commands()
        if entry.runs and entry.path
    }


def page_of(entry: Entry) -> str:
    """The name of a command's page."""
    return entry.path.replace(" ", "-")


class Commands(SphinxDirective):
    """A table of every command, each leading to its page; then the options that all of them take."""

    def run(self) -> list[nodes.Node]:
        """The tables."""
        program, *entries = commands()
        rows = (
            (Page(f"/commands/{page_of(entry)}", entry.name), entry.purpose)
            for entry in entries
            if entry.runs
        )
        listed = grid(("command", "what it does"), rows, widths=(35, 65))
        return [listed, nodes.rubric("", "Options of every command"), *_options(program)]


class Command(SphinxDirective):
    """One command: what it does, its arguments and options in panels, and its examples with what they print."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """The page below its title."""
        entry = next(each for each in commands() if each.path == self.arguments[0])
        made: list[nodes.Node] = [
            nodes.paragraph("", "", *text(words)) for words in (entry.purpose, *entry.about)
        ]
        made += [nodes.rubric("", "Examples")]
        printed = False
        for line in entry.examples:
            made.append(nodes.literal_block(line, line, language="text"))
            ran = EXAMPLES.get(line)
            if ran is not None and ran.text and not printed:
                made.append(output(ran.text))
                made += (
                    [nodes.paragraph("", f"Exit status {ran.status}: findings or open questions.")]
                    if ran.status
                    else []
                )
                printed = True
        return [*made, *_options(entry)]


def _options(entry: Entry) -> list[nodes.Node]:
    made: list[nodes.Node] = []
    for heading, rows in entry.panels:
        cells = (
            (Code(option), f"{words} Default: `{default}`." if default else words)
            for option, words, default in rows
        )
        made.append(nodes.rubric("", heading))
        made.append(grid(("name", "what it is"), cells, widths=(35, 65)))
    return made
