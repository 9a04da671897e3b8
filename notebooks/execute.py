"""Runs the notebooks again and keeps their outputs: `python notebooks/execute.py [NAME...]`."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent


def _emptied(output: nbformat.NotebookNode) -> bool:
    """Whether the output is the place of a progress bar that is gone."""
    return output.output_type == "display_data" and output.data.get("text/html") == ""


def execute(path: Path) -> None:
    """Run one notebook in its folder and write its outputs, without what changes from run to run."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [out for out in cell.outputs if not _emptied(out)]
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(p.name for p in FOLDER.glob("[0-9]*.ipynb")):
        print(name)
        execute(FOLDER / name)
