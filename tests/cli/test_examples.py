"""Every command has examples that call it; those that serve start and end well, the build of the site runs the others."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from sitepages.command_list import commands
from sitepages.examples import ELSEWHERE, EXAMPLES, SERVING

from cli.commands import begun, example

ROOT = Path(__file__).parent.parent.parent
#: Tests start these in processes of their own: in a browser, with a real client, with deliveries and questions.
STARTED_ELSEWHERE = {"app", "assistant serve", "gate serve", "webhooks listen"}


def test_every_command_has_an_example_that_calls_it() -> None:
    """A page without one is no page; an example names the command that it stands with."""
    for entry in commands():
        assert entry.examples or not entry.runs, entry.name
        assert all(line.startswith(entry.name) for line in entry.examples), entry.name


def test_what_is_run_elsewhere_is_there() -> None:
    """No exception outlives its example."""
    assert set(ELSEWHERE) <= {line for _, line in EXAMPLES}
    servers = {path for path, line in EXAMPLES if line in SERVING}
    assert servers == {*STARTED_ELSEWHERE, "sandbox serve"}
    assert '/dialframe" demo' in (ROOT / ".ci" / "run").read_text()


def test_the_sandbox_is_ready_and_ends_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says where it is, and ends with status 0 when it is stopped."""
    monkeypatch.chdir(tmp_path)
    process = begun(*example("sandbox serve"), XDG_DATA_HOME=tmp_path / "data")
    assert process.stdout is not None
    ready = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert ready.strip(), err
    assert process.returncode == 0, err
    assert "Traceback" not in err
