"""What every test shares: the folder of samples and the profiles of generated tests."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal import charmap
from hypothesis.internal.intervalsets import IntervalSet

if TYPE_CHECKING:
    from xdist.scheduler import LoadFileScheduling

# jsonschema compiles a grammar of IRIs as it is imported, two seconds for a format that no schema here names.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

# Each process of the suite has one thread of linear algebra: two processes with two threads each on two cores wait for each
# other in every small inverse, which then takes ten times as long. numpy reads it as it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# What a shell starts in the background ignores Ctrl-C, and so would each command that a test interrupts.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Text is drawn from what UTF-8 can write. Hypothesis finds that out by writing every character, for some seconds in each
# process of a fresh clone, where there is no `.hypothesis` yet.
UTF_8 = IntervalSet([(0, 0xD7FF), (0xE000, sys.maxunicode)]), IntervalSet()
_from_codec = charmap.intervals_from_codec
charmap.intervals_from_codec = lambda name: UTF_8 if name == "utf-8" else _from_codec(name)

SAMPLES = Path(__file__).parent.parent / "data_samples"

settings.register_profile(
    "fast", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


#: Folders and files whose tests are few and dear, the longest first.
DEAR = (
    "test_docs.py", "browser", "test_every_parameter.py", "test_audit.py", "assistant", "compliance", "notebooks", "claims", "robustness", "leads", "phones",
    "store", "cli", "widgets", "test_readme.py",
)  # fmt: skip
#: Folders that go to one process as a whole: their tests share an account, a server, a browser or what is compiled.
WHOLE = ("assistant", "browser", "phones", "widgets")


#: A folder in memory, and how many bytes must be free in it: there a flush to the disk costs nothing.
MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes its own folder in it, for its user alone
ROOM_BYTES = 8 << 30


def pytest_configure() -> None:
    """Keep what tests write in memory where there is room, unless somebody said where."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadFileScheduling | None:
    """Of several processes each gets file after file, and some folders whole."""
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folders = (folder for folder in WHOLE if nodeid.startswith(f"tests/{folder}/"))
            return next(folders, super()._split_scope(nodeid))

    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Dear files begin first, so that no process is left with one when the others have ended."""

    def turn(item: pytest.Item) -> int:
        parts = item.path.relative_to(item.config.rootpath).parts
        return next((n for n, name in enumerate(DEAR) if name in parts), len(DEAR))

    items.sort(key=turn)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and collected stays to the end: no collection of garbage goes through it, then or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def samples() -> Path:
    """Folder of the sample files."""
    return SAMPLES


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One path for each test, where nothing is: a folder made for each would be thousands that nobody uses."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(count) for count in itertools.count())


@pytest.fixture(autouse=True)
def nobody_s_home(monkeypatch: pytest.MonkeyPatch, homes: Iterator[Path]) -> None:
    """Data and settings of a user who has none: no test sees what another kept, or the developer."""
    home = next(homes)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(home / name))
    # What one test writes is noted in no other one's register.
    monkeypatch.setattr("dialframe.files._CLOCK", [])


@pytest.fixture(scope="module")
def unlimited() -> Iterator[None]:
    """No client of this process waits for its turn: a sandbox without limits would be asked ten times a second all the same."""
    from dialframe.client.rate_limiter import Shared

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shared, "of", lambda *_: None)
        yield
