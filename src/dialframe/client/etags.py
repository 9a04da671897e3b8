"""Which ETag a value was read with; holds values weakly, so that it keeps nobody alive."""

from __future__ import annotations

import weakref

from dialframe.contract.models.shape import Answer


class Etags:
    """ETags by the identity of the value that came with them.

    Models compare by content, and two reads of one lead may be equal with different ETags, so
    the value itself is the key and not what it says.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._known: dict[int, tuple[weakref.ref[Answer], str]] = {}

    def remember(self, value: Answer, etag: str) -> None:
        """Keep the ETag for as long as the value lives."""
        identity = id(value)

        def forget(_: object) -> None:
            self._known.pop(identity, None)

        self._known[identity] = (weakref.ref(value, forget), etag)

    def of(self, value: Answer) -> str | None:
        """The ETag that the value came with, or None."""
        reference, etag = self._known.get(id(value), (None, None))
        return etag if reference is not None and reference() is value else None
