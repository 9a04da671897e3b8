"""What a person sees of each room at a prompt: its public names, and nothing else."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import dialframe

ROOMS = (
    "account", "analytics", "client", "compliance", "errors", "evidence", "frames", "leads", "phones", "plots",
    "reports", "sandbox", "store", "suppression", "webhooks", "widgets",
)  # fmt: skip


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_shows_its_public_names_alone(room: str) -> None:
    """Tab offers what `__all__` lists: no module of the inside, no import."""
    module = importlib.import_module(f"dialframe.{room}")
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        getattr(module, name)


#: Uses each name in a process of its own, forked before anything of the package but its face was loaded.
EACH = """
import importlib, os, sys
for library in ("pandas", "pyarrow", "duckdb", "httpx", "pydantic", "starlette"):
    importlib.import_module(library)
import dialframe
for name in sys.argv[1:]:
    child = os.fork()
    if not child:
        getattr(dialframe, name)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print(name)
"""


def test_a_public_name_is_there_when_it_is_used() -> None:
    """`import dialframe; dialframe.widgets` works without another import."""
    names = sorted(set(dialframe.__all__) - {"__version__"})
    done = subprocess.run(
        [sys.executable, "-c", EACH, *names], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == [], done.stderr


def test_the_package_shows_its_public_names_alone() -> None:
    """The same holds for `dialframe` itself."""
    assert dir(dialframe) == sorted(dialframe.__all__)
