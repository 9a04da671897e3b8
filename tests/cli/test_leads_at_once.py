"""A short list is cleaned at once: nothing is loaded or compiled that it does not need, and no cache is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.commands import begun

#: What the way of a short list loads none of: engines, pictures, statistics, compilers, an account.
HEAVY = (
    "scipy", "lifelines", "matplotlib", "httpx", "anywidget",
    "dialframe.store", "dialframe.account", "dialframe.client", "dialframe.analytics",
    "dialframe.compliance", "dialframe.sandbox", "dialframe.contract.models", "rich",
    "jinja2", "pyarrow.parquet", "http.client", "xml.sax", "phonenumbers.geodata",
)  # fmt: skip
PROGRAM = """
import json, sys
from dialframe.cli.entry_point import run
status = run(sys.argv[1:])
import pyarrow
heavy = [name for name in {heavy!r} if name in sys.modules]
print(json.dumps([status, heavy, pyarrow.default_memory_pool().backend_name]), file=sys.stderr)
"""


@pytest.fixture
def short_list(tmp_path: Path) -> Path:
    """300 leads."""
    path = tmp_path / "list.csv"
    numbers = [f"({area}) 555-01{line:02d}" for area in (212, 213, 214) for line in range(100)]
    rows = [f"{number},Ada {at},a{at}@example.com" for at, number in enumerate(numbers)]
    path.write_text("\n".join(["Phone,Name,Email", *rows]) + "\n")
    return path


def test_a_short_list_loads_no_engine_and_needs_no_cache(short_list: Path, tmp_path: Path) -> None:
    """Where no home can be written nothing is loaded or compiled, in a process of its own."""
    nowhere = "/proc/nothing"
    places = ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
    words = ("leads", "clean", short_list, "--region", "US", "--out", tmp_path / "out", "--json")
    process = begun(
        *words,
        program=("-c", PROGRAM.format(heavy=HEAVY)),
        **dict.fromkeys(places, nowhere),
    )
    said, complained = process.communicate()
    assert json.loads(said)["records"] == 300
    assert json.loads(complained.splitlines()[-1]) == [0, [], "system"]
