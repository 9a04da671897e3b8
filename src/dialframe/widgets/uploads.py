"""Files that were uploaded, in a private folder that goes with its owner; reads none of them."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from dialframe.widgets.places import plain_name


class Uploads:
    """Places for uploads; when this object goes, they go."""

    def __init__(self) -> None:
        self._room: Path | None = None

    def place_for(self, name: str) -> Path:
        """Where an upload of this name is put."""
        if self._room is None:
            self._room = Path(tempfile.mkdtemp(prefix="dialframe-upload-"))
            weakref.finalize(self, shutil.rmtree, self._room, ignore_errors=True)
        # Each in a place of its own: the one that is open may be at work.
        return Path(tempfile.mkdtemp(dir=self._room)) / plain_name(name)

    def holds(self, path: Path) -> bool:
        """Whether this is a place of an upload."""
        return self._room is not None and path.parent.parent == self._room

    def keep_only(self, path: Path) -> None:
        """Drop every upload but one."""
        for other in self._room.iterdir() if self._room is not None else ():
            if other != path.parent:
                shutil.rmtree(other, ignore_errors=True)
