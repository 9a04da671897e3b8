"""The check-up of a machine: a store that is damaged, a disk that is full, libraries that are not there."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import NamedTuple

import pytest

from dialframe.config import Settings
from dialframe.flows import machine_checks as room
from dialframe.flows.machine_checks import Finding, machine
from dialframe.store import Store


class Usage(NamedTuple):
    """What the system says of a disk."""

    total: int
    used: int
    free: int


def found(store: Path, check: str) -> Finding:
    """One finding of a machine with this store."""
    return {row.check: row for row in machine(Settings(None, None, store))}[check]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder with the store of one account."""
    with Store.open(tmp_path / "test-1"):
        pass
    return tmp_path


def test_a_store_that_can_be_read_is_well(store: Path) -> None:
    """Its size is said, and looking at it leaves every byte as it was."""
    before = {path.name: path.read_bytes() for path in store.rglob("*.sqlite")}
    row = found(store, "stored data")

    assert row.state == "ok"
    assert "one account's data" in row.detail
    assert {path.name: path.read_bytes() for path in store.rglob("*.sqlite")} == before


def test_no_store_yet_is_well_and_none_is_made(tmp_path: Path) -> None:
    """A fresh machine has nothing to be damaged."""
    assert found(tmp_path / "new", "stored data") == Finding(
        "stored data", "ok", "none yet; dialframe sync brings it"
    )
    assert not (tmp_path / "new").exists()


def _write(name: str, text: str) -> Callable[[Path], object]:
    def write(store: Path) -> None:
        (store / name).parent.mkdir(exist_ok=True)
        (store / name).write_text(text)

    return write


def _damage(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    def damage(store: Path) -> None:
        file = store / "test-1" / "store.sqlite"
        whole = file.read_bytes()
        for path in file.parent.glob("store.sqlite*"):
            path.unlink()
        file.write_bytes(change(whole))

    return damage


REPAIR = "dialframe store restore"
_NOTED = f"0123456789abcdef {3:012} {0:064} {900:015}"
EVIDENCE_HEAD = f"{_NOTED} {hashlib.sha256(_NOTED.encode()).hexdigest()[:8]}\n"
#: What happened to a store or to what is kept beside it, and what is said: what it is, and what next.
LOST = {
    "no store at all": (_damage(lambda _: b"hello\n" * 20), ("store.sqlite", "damaged", REPAIR)),
    "pages of zeros": (
        _damage(lambda whole: whole[:100] + bytes(len(whole) - 100)), ("damaged", REPAIR),
    ),
    "cut short": (_damage(lambda whole: whole[:200]), ("store.sqlite", "damaged", REPAIR)),
    "the evidence log deleted": (
        _write("evidence/head", EVIDENCE_HEAD), ("log.jsonl is not what was written", "store restore")
    ),
    "the evidence log damaged": (
        _write("evidence/log.jsonl", '{"batch":1}\n{"batch":2}\n'), ("log.jsonl is not what was written",)
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", LOST)
def test_what_is_lost_or_damaged_is_named(store: Path, kind: str) -> None:
    """The file and what to do about it stand in one sentence; what no repair mends is not sent there."""
    happen, words = LOST[kind]
    happen(store)
    row = found(store, "stored data")

    assert row.state == "failed"
    assert [word for word in words if word not in f"{row.detail}; {row.what_next}"] == []


@pytest.mark.parametrize(
    ("free", "state"), [(10**7, "failed"), (5 * 10**8, "warning"), (10**11, "ok")]
)
def test_a_full_disk_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str
) -> None:
    """Too little for a sync fails, little is a warning, and both say what to do."""
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12 - free, free))
    row = found(tmp_path, "disk")

    assert row.state == state
    assert bool(row.what_next) == (state != "ok")


def test_missing_extras_name_the_command_that_brings_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is not installed is a warning with what it is for."""

    def version(library: str) -> str:
        if library in ("jupyterlab", "deltalake"):
            raise PackageNotFoundError(library)
        return "3.0"

    monkeypatch.setattr(room, "version", version)
    row = found(tmp_path, "extras")

    assert row.state == "warning"
    assert "notebook (for the widgets in JupyterLab)" in row.detail
    assert row.what_next.endswith("pip install 'dialframe[notebook,delta]'")


def test_an_older_library_than_asked_for_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its version and the one that is needed are said."""
    monkeypatch.setattr(room, "version", lambda library: "2.2.3")
    monkeypatch.setattr(room, "requires", lambda package: ["pandas<4,>=3.0", "httpx<3,>=2"])
    row = found(tmp_path, "versions")

    assert row.state == "failed"
    assert "pandas 2.2.3 (needs <4,>=3.0)" in row.detail
    assert "httpx 2.2.3 (" not in row.detail
    assert "pip install" in row.what_next


def test_a_missing_browser_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the PDF of an audit needs it."""
    monkeypatch.setattr(room, "browser", lambda: None)
    row = found(tmp_path, "chromium")

    assert row.state == "warning"
    assert "--pdf" in row.what_next


def test_the_extras_are_those_of_the_package() -> None:
    """Each extra of the package for users is known to the check-up, with its libraries."""
    import tomllib

    root = Path(__file__).parent.parent.parent
    declared = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = {
        name: tuple(line.partition(">")[0].partition("[")[0] for line in lines)
        for name, lines in declared["optional-dependencies"].items()
        if name != "dev"
    }

    assert {one.name: one.libraries for one in room.EXTRAS} == wanted
