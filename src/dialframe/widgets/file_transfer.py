"""Files between a browser and the kernel, piece by piece, and the line that says how things stand.

The stock upload button sends a file as one message, which a notebook server drops in silence when it
is large. Here every piece is answered before the next one is sent; a piece that comes twice is
written once, so a browser that lost its connection sends it again and goes on. Each upload has a
name of its own: of two tabs that send at once, the later one is taken and the other gets an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, BinaryIO, Final

import anywidget
import traitlets

from dialframe.widgets.work_folder import entry

#: Bytes of a piece; a notebook server takes messages up to ten times as large.
PIECE_BYTES: Final = 1 << 20
_LOST: Final = "The upload broke off: the connection was lost."
_STATIC: Final = resources.files("dialframe.widgets").joinpath("static")


def script(name: str) -> str:
    """The browser's side of a widget."""
    return _STATIC.joinpath(name).read_text(encoding="utf-8")


class StatusLine(anywidget.AnyWidget):
    """One sentence that assistive technology announces when it changes.

    Attributes:
        text: The sentence.
        failed: Whether it reports a failure.
        look: `light` or `dark`, as the page is; set by the browser.
    """

    _esm = script("status.js")
    _css = script("widgets.css")
    text = traitlets.Unicode("").tag(sync=True)
    failed = traitlets.Bool(default_value=False).tag(sync=True)
    look = traitlets.Unicode("light").tag(sync=True)


class Upload(anywidget.AnyWidget):
    """A button that brings a file of any size to the kernel.

    Attributes:
        label: What stands beside the button.
        accept: Endings that the browser offers.
    """

    _esm = script("upload.js")
    label = traitlets.Unicode("Upload a lead file").tag(sync=True)
    accept = traitlets.Unicode("").tag(sync=True)
    piece_bytes = traitlets.Int(PIECE_BYTES).tag(sync=True)

    def __init__(
        self,
        place_for: Callable[[str], Path],
        on_done: Callable[[Path], None],
        on_failure: Callable[[str], None],
    ) -> None:
        """Ask `place_for` where a name is put, and say when it is whole or what went wrong."""
        super().__init__()
        self._place_for, self._on_done, self._on_failure = place_for, on_done, on_failure
        self._path: Path | None = None
        self._upload = ""
        self._whole = ""
        self._next = 0
        self._size = 0
        self.on_msg(self._receive)

    def _receive(self, _: object, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        upload = str(message.get("upload", ""))
        try:
            self._take(upload, message, buffers)
        except OSError as error:
            self._path = None
            self._refuse(upload, "the disk took no more")
            self._on_failure(f"The upload failed: {error.strerror or error}.")
        except (KeyError, TypeError, ValueError):
            self._refuse(upload, "this is no piece of a file")

    def _take(self, upload: str, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        kind, is_own = message.get("kind"), upload == self._upload and self._path is not None
        if kind == "begin":
            self._begin(upload, str(message["name"]), int(message["size"]))
        elif kind == "piece" and is_own and buffers:
            self._piece(int(message["number"]), bytes(buffers[0]))
        elif kind == "piece" and upload == self._whole:
            # The browser did not hear that the last piece had come.
            self._taken(upload, int(message["number"]))
        elif kind == "lost" and is_own:
            self._path = None
            self._on_failure(f"{message.get('why') or _LOST} Choose the file again.")
        elif kind != "lost":
            self._refuse(upload, "the upload has to begin again")

    def _begin(self, upload: str, name: str, size: int) -> None:
        # What is sent again, because the answer was not heard, begins nothing again.
        is_known = upload in (self._whole, self._upload if self._path is not None else None)
        if not is_known:
            self._path, self._upload, self._next, self._size = (
                self._place_for(name),
                upload,
                0,
                size,
            )
            with private(self._path):
                pass
        self._taken(upload, -1)
        if not size and not is_known:
            self._finish()

    def _piece(self, number: int, data: bytes) -> None:
        assert self._path is not None  # noqa: S101 - asked by the caller
        # A gap: a piece before it is still missing.
        if number > self._next:
            raise ValueError(number)
        if number == self._next:
            with self._path.open("ab") as file:
                file.write(data)
            self._next += 1
        self._taken(self._upload, number)
        if self._path.stat().st_size >= self._size:
            self._finish()

    def _finish(self) -> None:
        path, self._path, self._whole = self._path, None, self._upload
        if path is not None:
            self._on_done(path)

    def _taken(self, upload: str, number: int) -> None:
        self.send({"kind": "taken", "upload": upload, "number": number})

    def _refuse(self, upload: str, why: str) -> None:
        self.send({"kind": "refused", "upload": upload, "why": why})


class Downloads(anywidget.AnyWidget):
    """Buttons that bring files from the kernel to the browser, byte for byte.

    Attributes:
        files: For each file its place in the list, name, size and what it is.
    """

    _esm = script("downloads.js")
    files: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    piece_bytes = traitlets.Int(PIECE_BYTES).tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self._paths: list[Path] = []
        self.on_msg(self._receive)

    def offer(self, files: Mapping[str, Path]) -> None:
        """Offer these files, and none that were offered before."""
        self._paths = list(files.values())
        self.files = [
            {"at": position, **entry(kind.replace("_", " "), path)}
            for position, (kind, path) in enumerate(files.items())
        ]

    def _receive(self, _: object, message: Mapping[str, Any], buffers: Sequence[Any]) -> None:
        del buffers
        at, number = message.get("at"), message.get("number")
        is_known = isinstance(at, int) and 0 <= at < len(self._paths)
        if message.get("kind") != "want" or not is_known or not isinstance(number, int):
            return
        assert isinstance(at, int)  # noqa: S101 - asked above
        try:
            with self._paths[at].open("rb") as file:
                file.seek(number * PIECE_BYTES)
                # Read when it is asked for: a large file is never in memory whole.
                piece = file.read(PIECE_BYTES)
        except OSError as error:
            self.send({"kind": "gone", "at": at, "why": error.strerror or str(error)})
            return
        self.send({"kind": "piece", "at": at, "number": number}, [piece])


def private(path: Path) -> BinaryIO:
    """A new empty file that its owner alone can read."""
    path.unlink(missing_ok=True)
    # Made private before anything is in it.
    path.touch(mode=0o600)
    return path.open("wb")
