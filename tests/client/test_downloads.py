"""A recording is on disk whole or not at all."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from client.fakes import CALL, FakeClock, Service, connected, problem
from dialframe.config import Progress
from dialframe.errors import ConfigError, ContractError, NotFound, StoreError, TransportError

SOUND = b"RIFF" * 1000


class Broken(httpx.SyncByteStream):
    """Bytes that stop in the middle."""

    def __iter__(self) -> Iterator[bytes]:
        yield SOUND
        raise httpx.ReadError("cut")


def test_recording_is_saved_for_its_owner_alone(tmp_path: Path) -> None:
    """The path comes back, the mode is 0600, nothing else is left in the folder."""
    folder = tmp_path / "out"
    folder.mkdir()

    path = connected(Service(httpx.Response(200, content=SOUND)), tmp_path).calls.recording(
        CALL, folder / "call.wav"
    )

    assert path == folder / "call.wav"
    assert path.read_bytes() == SOUND
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(folder.iterdir()) == [path]


def test_recording_that_breaks_off_is_fetched_again_from_its_start(tmp_path: Path) -> None:
    """What was half there is thrown away."""
    service = Service(
        lambda _: httpx.Response(200, stream=Broken()), httpx.Response(200, content=SOUND)
    )

    path = connected(service, tmp_path).calls.recording(CALL, str(tmp_path / "call.wav"))

    assert path.read_bytes() == SOUND
    assert len(service.requests) == 2


def test_recording_that_never_comes_whole_leaves_nothing(tmp_path: Path) -> None:
    """Neither the file nor a part of it; a file that was there stays."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "call.wav").write_bytes(b"earlier")
    client = connected(Service(lambda _: httpx.Response(200, stream=Broken())), tmp_path)

    with pytest.raises(TransportError, match=r"^calls\.recording: "):
        client.calls.recording(CALL, folder / "call.wav")

    assert [file.read_bytes() for file in folder.iterdir()] == [b"earlier"]


def test_refusal_is_an_error_and_no_file(tmp_path: Path) -> None:
    """A problem document is not a recording."""
    with pytest.raises(NotFound) as caught:
        connected(Service(problem(404, "not_found")), tmp_path).calls.recording(
            CALL, tmp_path / "a.wav"
        )

    assert caught.value.operation == "calls.recording"
    assert not (tmp_path / "a.wav").exists()


def test_redirect_is_no_recording(tmp_path: Path) -> None:
    """The key is not carried elsewhere."""
    with pytest.raises(ContractError, match="redirects"):
        connected(Service(httpx.Response(302)), tmp_path).calls.recording(CALL, tmp_path / "a.wav")


def test_progress_counts_bytes_to_the_announced_length(tmp_path: Path) -> None:
    """Content-Length is the total."""
    steps: list[Progress] = []
    client = connected(Service(httpx.Response(200, content=SOUND)), tmp_path)

    client.calls.recording(CALL, tmp_path / "a.wav", on_progress=steps.append)

    assert steps[-1] == Progress("calls.recording", len(SOUND), len(SOUND))


def test_packed_bytes_have_no_known_length(tmp_path: Path) -> None:
    """The length of a compressed answer is not that of the file."""
    steps: list[Progress] = []
    packed = httpx.Response(200, headers={"Content-Encoding": "identity"}, content=SOUND)

    connected(Service(packed), tmp_path).calls.recording(
        CALL, tmp_path / "a.wav", on_progress=steps.append
    )

    assert steps[-1].total is None


def test_path_is_checked_before_anything_is_sent(tmp_path: Path) -> None:
    """A missing folder, or a folder in place of the file."""
    service = Service(httpx.Response(200, content=SOUND))
    client = connected(service, tmp_path)

    with pytest.raises(ConfigError, match="does not exist"):
        client.calls.recording(CALL, tmp_path / "no" / "a.wav")
    with pytest.raises(ConfigError, match="is a folder"):
        client.calls.recording(CALL, tmp_path)

    assert not service.requests


def test_disk_that_is_full_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be written is a StoreError with the file's name."""

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    client = connected(Service(httpx.Response(200, content=SOUND)), tmp_path)

    with pytest.raises(
        StoreError, match=r"a\.wav cannot be written \(the disk is full\): make room"
    ):
        client.calls.recording(CALL, tmp_path / "a.wav")
    assert not list(tmp_path.iterdir())


def test_deadline_holds_for_a_recording_too(tmp_path: Path) -> None:
    """A stream that drips is cut off."""
    clock = FakeClock()

    class Dripping(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                clock.elapsed_s += 1.0
                yield b"x"

    client = connected(
        lambda _: httpx.Response(200, stream=Dripping()), tmp_path, clock=clock, deadline_s=5.0
    )

    with pytest.raises(TransportError, match="deadline"):
        client.calls.recording(CALL, tmp_path / "a.wav")
