"""What the README says runs, runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import dialframe
from dialframe.cli.run import run

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.M | re.S)


COMMANDS = [
    line for block in _blocks("sh") for line in block.splitlines() if line.startswith("dialframe ")
]


def test_python_blocks_run_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The Python of the README runs from top to bottom in one notebook."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, block in enumerate(_blocks("python")):
        exec(compile(block, f"README.md, block {number}", "exec"), names)  # noqa: S102 - our own text

    account, sandbox = names["account"], names["sandbox"]
    assert isinstance(account, dialframe.Account)
    assert "Loaded" in capsys.readouterr().out
    account.close()
    sandbox.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", COMMANDS)
def test_shell_lines_run(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every `dialframe` line of a shell block runs as it stands."""
    (tmp_path / "data_samples").symlink_to(ROOT / "data_samples")
    monkeypatch.chdir(tmp_path)

    assert run(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out.strip()


def test_links_and_pictures_exist() -> None:
    """Every file that the README points to is there."""
    targets = [t for t in re.findall(r"\]\(([^)]+)\)", README) if "://" not in t]

    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
