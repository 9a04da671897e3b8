"""A name never stands for half a file, and what a killed run left half done can be taken away."""

from __future__ import annotations

import hashlib
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from dialframe import files
from dialframe.flows import pack


def test_staged_file_has_no_name_until_it_is_published(tmp_path: Path) -> None:
    """Before `publish` the target is as it was."""
    target = tmp_path / "list.csv"
    target.write_text("old")
    staged = files.stage(target, lambda file: file.write(b"new"))

    assert target.read_text() == "old"
    files.publish({target: staged})
    assert target.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["list.csv"]
    assert target.stat().st_mode & 0o777 == 0o600


def test_digest_is_that_of_all_bytes(tmp_path: Path) -> None:
    """SHA-256, of a file that is empty and of one of several pieces."""
    for content in (b"", b"x" * 3_000_000):
        path = files.write_bytes(content, tmp_path / "list.csv")

        assert files.digest(path) == hashlib.sha256(content).hexdigest()


def test_failure_leaves_nothing(tmp_path: Path) -> None:
    """When the content cannot be made, nothing is left."""

    def fail(_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        files.stage(tmp_path / "list.csv", fail)
    assert list(tmp_path.iterdir()) == []


def test_sweep_takes_what_was_staged_and_nothing_else(tmp_path: Path) -> None:
    """Files of other names stay."""
    files.stage(tmp_path / "a.clean.csv", lambda file: file.write(b"x"))
    files.stage(tmp_path / "b.clean.csv", lambda file: file.write(b"x"))
    (tmp_path / "a.clean.csv").write_text("kept")
    (tmp_path / ".a.notes").write_text("kept")
    files.sweep(tmp_path, "a")

    left = sorted(path.name for path in tmp_path.iterdir())
    assert left[:1] == [".a.notes"]
    assert left[-1] == "a.clean.csv"
    assert len(left) == 3
    assert left[1].startswith(".b.clean.csv.")


def test_a_folder_gets_its_name_when_it_is_whole(tmp_path: Path) -> None:
    """An older folder stays good until then, and nothing good is replaced unasked."""
    target = tmp_path / "pack"
    with files.staged_folder(target) as folder:
        (folder / "manifest.json").write_text("one")
        assert not target.exists()
    assert (target / "manifest.json").read_text() == "one"
    with pytest.raises(FileExistsError), files.staged_folder(target):
        raise AssertionError
    with files.staged_folder(target, replace=True) as folder:
        (folder / "manifest.json").write_text("two")
        assert (target / "manifest.json").read_text() == "one"
    assert (target / "manifest.json").read_text() == "two"
    assert [path.name for path in tmp_path.iterdir()] == ["pack"]
    assert target.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    """A full disk in between loses nothing and leaves nothing."""
    target = tmp_path / "pack"
    with files.staged_folder(target) as folder:
        (folder / "a").write_text("one")

    def write_half() -> None:
        with files.staged_folder(target, replace=True) as folder:
            (folder / "a").write_text("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_half()
    assert (target / "a").read_text() == "one"
    assert [path.name for path in tmp_path.iterdir()] == ["pack"]


def test_a_pack_is_verified_in_bounded_memory(tmp_path: Path) -> None:
    """A small zip file that unpacks to much is read piece by piece, and is at fault."""
    path = tmp_path / "pack.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", "{}")
        with archive.open("findings.csv", "w") as file:
            for _ in range(48):
                file.write(bytes(1 << 20))
    pack.verify(path)
    tracemalloc.start()
    verified = pack.verify(path)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert verified.faults
    assert peak_bytes < 12 << 20
