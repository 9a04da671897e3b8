"""Shows beneath each block what it printed: all of them are run once, before the pages are read."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any, Final

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

from sitepages.examples import run_examples
from sitepages.reader import Ran, read_documents

#: Lines of an output that are shown; a page is to be read.
_MOST: Final = 32
#: Exit statuses of a command that did its work: success, and findings.
_WORKED: Final = (0, 3)

#: What came of each block, and of each example of the commands.
BLOCKS: Final[dict[str, str]] = {}
EXAMPLES: Final[dict[str, Ran]] = {}
_LOG: Final = getLogger(__name__)


def setup(app: Sphinx) -> dict[str, Any]:
    """Join this to a build."""
    app.connect("builder-inited", _run)
    app.connect("doctree-read", _show)
    return {"parallel_read_safe": True}


def output(text: str) -> nodes.Element:
    """What was printed, as it stands on a screen; of much the beginning."""
    lines = text.splitlines()
    if len(lines) > _MOST:
        lines = [*lines[:_MOST], f"... and {len(lines) - _MOST} more lines"]
    shown = "\n".join(lines)
    return nodes.literal_block(shown, shown, language="none", classes=["output"])


def _run(app: Sphinx) -> None:
    """Run everything; a block or an example that fails is a warning, which ends the build of a release."""
    failed = []
    # A library of the notebooks shows every logger on the screen, where only the build's own warnings belong.
    logging.disable(logging.CRITICAL)
    try:
        for block, results in read_documents():
            failed += [(block, line, ran) for line, ran in results if ran.status not in _WORKED]
            many = len(results) > 1
            BLOCKS[block.text.rstrip("\n")] = "\n\n".join(
                f"$ {line}\n{ran.text}" if many else ran.text for line, ran in results
            )
        EXAMPLES.update(run_examples())
        failed += [
            ("help", line, ran) for line, ran in EXAMPLES.items() if ran.status not in _WORKED
        ]
    finally:
        logging.disable(logging.NOTSET)
    for place, line, ran in failed:
        _LOG.warning("%s: %s ends with %s:\n%s", place, line, ran.status, ran.text)
    examples = {line: [ran.status, ran.text] for line, ran in EXAMPLES.items()}
    made = json.dumps({"blocks": BLOCKS, "examples": examples})
    Path(app.outdir, "executed.json").write_text(made, "utf-8")


def _show(_app: Sphinx, doctree: nodes.document) -> None:
    for block in list(doctree.findall(nodes.literal_block)):
        text = BLOCKS.get(block.astext().rstrip("\n"))
        if text and "output" not in block["classes"]:
            block.parent.insert(block.parent.index(block) + 1, output(text))
