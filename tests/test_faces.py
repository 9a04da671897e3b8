"""What a person sees of each room at a prompt: its public names, and nothing else."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import dialframe

ROOMS = (
    "account", "analytics", "client", "compliance", "errors", "frames", "leads", "phones", "plots",
    "reports", "sandbox", "store", "suppression", "webhooks", "widgets",
)  # fmt: skip


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_shows_its_public_names_alone(room: str) -> None:
    """Tab offers what `__all__` lists: no module of the inside, no import."""
    module = importlib.import_module(f"dialframe.{room}")
    assert dir(module) == sorted(module.__all__)
    for name in module.__all__:
        getattr(module, name)


@pytest.mark.parametrize("name", sorted(set(dialframe.__all__) - {"__version__"}))
def test_a_public_name_is_there_when_it_is_used(name: str) -> None:
    """`import dialframe; dialframe.widgets` works without another import."""
    program = f"import dialframe; dialframe.{name}"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_package_shows_its_public_names_alone() -> None:
    """The same holds for `dialframe` itself."""
    assert dir(dialframe) == sorted(dialframe.__all__)
