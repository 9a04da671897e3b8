"""The address of the web page as a widget: says what is shown, hears of back and forward; knows no funnel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets

from dialframe.widgets.transfer import script


class Address(anywidget.AnyWidget):
    """What the page's address says behind its question mark; in a notebook it changes nothing.

    Attributes:
        query: What is shown, as an address says it; the token is not part of it.
    """

    _esm = script("address.js")
    query = traitlets.Unicode("").tag(sync=True)

    def __init__(self, on_asked: Callable[[str], None]) -> None:
        """Tell `on_asked` the query that somebody went back or forward to."""
        super().__init__()
        self._on_asked = on_asked
        self.on_msg(self._receive)

    def _receive(self, _: object, message: Mapping[str, Any], buffers: object) -> None:
        del buffers
        if message.get("kind") == "asked":
            self._on_asked(str(message.get("query", "")))
