"""What is not installed is named with the extra that brings it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dialframe import extras


@pytest.mark.parametrize(
    ("library", "names"),
    [
        ("mcp", ("assistant",)), ("ipywidgets", ("notebook",)),
        ("dask.dataframe", ("dask",)), ("deltalake", ("delta",)), ("myst_nb", ("docs",)),
        ("jupyterlab", ("notebook",)), ("pandas", ()), ("pytest", ()),
    ],
)  # fmt: skip
def test_each_library_belongs_to_its_extras_or_to_the_base(
    library: str, names: tuple[str, ...]
) -> None:
    """Read from the installed metadata, so that it cannot go stale; the developers' extra is for nobody else."""
    assert extras.needed(library) == names


def test_a_room_whose_library_is_missing_says_which_extra_brings_it() -> None:
    """At a prompt, `dialframe.widgets` without ipywidgets is one sentence to act on."""
    program = (
        "import sys; sys.modules['ipywidgets'] = None\n"
        "import dialframe\n"
        "try: dialframe.widgets.Workbench\n"
        "except ModuleNotFoundError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert "pip install 'dialframe[notebook]' brings it" in done.stdout, done.stderr


def test_a_server_for_an_assistant_compiles_no_grammar_of_addresses() -> None:
    """What checks arguments is loaded without the second that its formats of addresses take."""
    program = (
        "import sys\n"
        "from dialframe import extras\n"
        "extras.skip_address_grammars()\n"
        "import jsonschema\n"
        "print(sorted(name for name in sys.modules if name.startswith(('lark', 'rfc3987_syntax.'))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done.stderr
