"""Files between browser and kernel, as the two scripts speak with it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from dialframe.widgets.file_transfer import PIECE_BYTES, Downloads, Upload


class Uploading(Upload):
    """An upload whose answers are kept."""

    def __init__(self, folder: Path) -> None:
        self.told: list[Any] = []
        self.done: list[Path] = []
        self.failures: list[str] = []
        super().__init__(lambda name: folder / name, self.done.append, self.failures.append)

    def send(self, content: Any, buffers: Any = None) -> None:
        self.told.append(content)

    def hear(self, message: dict[str, Any], *buffers: bytes, upload: str = "a") -> None:
        self._receive(None, {"upload": upload, **message}, [memoryview(each) for each in buffers])


def test_an_upload_arrives_byte_for_byte(tmp_path: Path) -> None:
    """Pieces make the file, each is answered, and the end is told once."""
    data = bytes(range(256)) * 9000
    upload = Uploading(tmp_path)
    upload.hear({"kind": "begin", "name": "a.csv", "size": len(data)})
    pieces = [data[at : at + PIECE_BYTES] for at in range(0, len(data), PIECE_BYTES)]
    for number, piece in enumerate(pieces):
        upload.hear({"kind": "piece", "number": number}, piece)
    assert (tmp_path / "a.csv").read_bytes() == data
    assert upload.done == [tmp_path / "a.csv"]
    assert [each["number"] for each in upload.told] == [-1, 0, 1, 2]
    assert (tmp_path / "a.csv").stat().st_mode & 0o077 == 0


def test_a_piece_that_comes_twice_is_written_once(tmp_path: Path) -> None:
    """A browser that did not hear the answer sends again, and nothing is doubled."""
    upload = Uploading(tmp_path)
    upload.hear({"kind": "begin", "name": "a.csv", "size": 6})
    upload.hear({"kind": "piece", "number": 0}, b"abc")
    upload.hear({"kind": "piece", "number": 0}, b"abc")
    upload.hear({"kind": "piece", "number": 1}, b"def")
    assert (tmp_path / "a.csv").read_bytes() == b"abcdef"


def test_what_is_sent_again_begins_nothing_again(tmp_path: Path) -> None:
    """Answers that were not heard cost nothing: the file arrives once and is read once."""
    upload = Uploading(tmp_path)
    begin = {"kind": "begin", "name": "a.csv", "size": 6}
    pieces = [({"kind": "piece", "number": 0}, b"abc"), ({"kind": "piece", "number": 1}, b"def")]
    upload.hear(begin)
    upload.hear(begin)
    for message, data in pieces:
        upload.hear(message, data)
        upload.hear(message, data)
    assert upload.done == [tmp_path / "a.csv"]
    assert (tmp_path / "a.csv").read_bytes() == b"abcdef"
    assert {each["kind"] for each in upload.told} == {"taken"}


def test_of_two_tabs_that_send_at_once_the_later_is_taken_and_the_other_is_told(
    tmp_path: Path,
) -> None:
    """No piece of one file gets into the other."""
    upload = Uploading(tmp_path)
    upload.hear({"kind": "begin", "name": "a.csv", "size": 6}, upload="first")
    upload.hear({"kind": "piece", "number": 0}, b"aaa", upload="first")
    upload.hear({"kind": "begin", "name": "b.csv", "size": 6}, upload="second")
    upload.hear({"kind": "piece", "number": 1}, b"aaa", upload="first")
    assert upload.told[-1] == {
        "kind": "refused", "upload": "first", "why": "the upload has to begin again",
    }  # fmt: skip
    upload.hear({"kind": "lost"}, upload="first")
    upload.hear({"kind": "piece", "number": 0}, b"bbb", upload="second")
    upload.hear({"kind": "piece", "number": 1}, b"bbb", upload="second")
    assert upload.done == [tmp_path / "b.csv"]
    assert (tmp_path / "b.csv").read_bytes() == b"bbbbbb"
    assert upload.failures == []


@pytest.mark.parametrize(
    "message",
    [
        {"kind": "piece", "number": 2}, {"kind": "piece", "number": "x"}, {"kind": "piece"},
        {"kind": "begin"}, {"kind": "begin", "name": "a", "size": "much"}, {"kind": "else"}, {},
    ],
    ids=["gap", "text", "none", "bare", "size", "kind", "empty"],
)  # fmt: skip
def test_what_is_no_piece_is_refused(tmp_path: Path, message: dict[str, Any]) -> None:
    """A gap is not answered as if it had been written, nonsense ends no page."""
    upload = Uploading(tmp_path)
    upload.hear({"kind": "begin", "name": "a.csv", "size": 9})
    upload.hear(message, b"abc")
    assert upload.told[-1]["kind"] == "refused"
    assert (tmp_path / "a.csv").read_bytes() == b""


def test_an_empty_file_is_whole_at_once(tmp_path: Path) -> None:
    """Nothing more is waited for."""
    upload = Uploading(tmp_path)
    upload.hear({"kind": "begin", "name": "empty.csv", "size": 0})
    assert upload.done == [tmp_path / "empty.csv"]


def test_a_lost_connection_is_said_in_words(tmp_path: Path) -> None:
    """A broken upload is no file, and the next one begins anew."""
    upload = Uploading(tmp_path)
    upload.hear({"kind": "begin", "name": "a.csv", "size": 6})
    upload.hear({"kind": "lost"})
    assert "connection was lost" in upload.failures[0]
    upload.hear({"kind": "piece", "number": 0}, b"abc")
    assert upload.told[-1]["kind"] == "refused"
    assert not upload.done


def test_a_disk_that_takes_no_more_is_said_in_words(tmp_path: Path) -> None:
    """A place that cannot be written fails the upload, not the page."""
    upload = Uploading(tmp_path / "missing")
    upload.hear({"kind": "begin", "name": "a.csv", "size": 6})
    assert upload.failures == ["The upload failed: No such file or directory."]


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, 2 * PIECE_BYTES + 7])
def test_a_download_is_put_together_from_its_pieces(tmp_path: Path, size: int) -> None:
    """What the browser asks for, piece by piece, is the file."""
    data = bytes(7 for _ in range(size))
    path = tmp_path / "clean.csv"
    path.write_bytes(data)
    sent: list[bytes] = []

    class Downloading(Downloads):
        def send(self, content: Any, buffers: Any = None) -> None:
            sent.append(buffers[0])

    downloads = Downloading()
    downloads.offer({"clean": path})
    assert downloads.files[0]["sha256"] == hashlib.sha256(data).hexdigest()
    number = 0
    while sum(map(len, sent)) < size:
        downloads._receive(None, {"kind": "want", "at": 0, "number": number}, [])
        number += 1
    assert b"".join(sent) == data


def test_only_offered_files_are_sent(tmp_path: Path) -> None:
    """A place beyond the list is not answered, whatever is asked."""
    sent: list[Any] = []

    class Downloading(Downloads):
        def send(self, content: Any, buffers: Any = None) -> None:
            sent.append(content)

    downloads = Downloading()
    for at in (0, -1, "../../etc/passwd", None):
        downloads._receive(None, {"kind": "want", "at": at, "number": 0}, [])
    assert sent == []
