"""A name never stands for half a file, and what a killed run left half done can be taken away."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialframe.leads import staging


def test_staged_file_has_no_name_until_it_is_published(tmp_path: Path) -> None:
    """Before `publish` the target is as it was."""
    target = tmp_path / "list.csv"
    target.write_text("old")
    staged = staging.stage(target, lambda file: file.write(b"new"))

    assert target.read_text() == "old"
    staging.publish({target: staged})
    assert target.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["list.csv"]
    assert target.stat().st_mode & 0o777 == 0o600


def test_failure_leaves_nothing(tmp_path: Path) -> None:
    """When the content cannot be made, nothing is left."""

    def fail(_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        staging.stage(tmp_path / "list.csv", fail)
    assert list(tmp_path.iterdir()) == []


def test_sweep_takes_what_was_staged_and_nothing_else(tmp_path: Path) -> None:
    """Files of other names stay."""
    staging.stage(tmp_path / "a.clean.csv", lambda file: file.write(b"x"))
    staging.stage(tmp_path / "b.clean.csv", lambda file: file.write(b"x"))
    (tmp_path / "a.clean.csv").write_text("kept")
    (tmp_path / ".a.notes").write_text("kept")
    staging.sweep(tmp_path, "a")

    left = sorted(path.name for path in tmp_path.iterdir())
    assert left[:1] == [".a.notes"]
    assert left[-1] == "a.clean.csv"
    assert len(left) == 3
    assert left[1].startswith(".b.clean.csv.")
