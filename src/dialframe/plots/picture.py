"""A picture with words for those who cannot see it; knows how to be shown, not what it shows."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from matplotlib.figure import Figure
from PIL import Image

from dialframe.plots.style import PAGE_DPI, Look, context

#: Pixels of the file to a pixel of the page, so that type is sharp on fine screens.
SCALE: Final = 2

#: Colours of a PNG: a picture has some ten, the rest are the edges of its type.
COLOURS: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A matplotlib figure and the words that say the same.

    Notebooks show it as an image with alternative text; the same figure gives the same bytes.

    Attributes:
        figure: The figure, drawn in a context of its own.
        alt: What is to be seen, with the numbers.
        look: Light or dark; the background is part of the picture.
    """

    figure: Figure
    alt: str
    look: Look = "light"

    def png(self) -> bytes:
        """The picture as PNG, 1,600 pixels wide for 800 on the page, in a palette of its own colours."""
        drawn = Image.open(io.BytesIO(self._bytes("png", {"Software": None}))).convert("RGB")
        file = io.BytesIO()
        drawn.quantize(COLOURS, dither=Image.Dither.NONE).save(file, format="png", optimize=True)
        return file.getvalue()

    def svg(self) -> str:
        """The picture as SVG, named for assistive technology by `alt`; without a date."""
        text = self._bytes("svg", {"Date": None, "Creator": None}).decode("utf-8")
        label = html.escape(self.alt, quote=True)
        return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)

    def html(self) -> str:
        """The picture as an `img` element that holds everything it needs."""
        data = base64.b64encode(self.png()).decode("ascii")
        width = round(self.figure.get_figwidth() * PAGE_DPI)
        height = round(self.figure.get_figheight() * PAGE_DPI)
        return (
            f'<img alt="{html.escape(self.alt, quote=True)}" width="{width}" height="{height}" '
            f'style="max-width:100%;height:auto" src="data:image/png;base64,{data}">'
        )

    def __str__(self) -> str:
        """The alternative text."""
        return self.alt

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        """Image and words for a notebook; the words are what a terminal shows."""
        wanted = {"text/html", "text/plain"} if include is None else set(include)
        wanted -= set(exclude or ())
        bundle = {"text/plain": repr(self)}
        if "text/html" in wanted:
            bundle["text/html"] = self.html()
        return {kind: bundle[kind] for kind in bundle if kind in wanted}

    def _bytes(self, kind: str, metadata: dict[str, None]) -> bytes:
        file = io.BytesIO()
        with context(self.look):
            self.figure.savefig(
                file,
                format=kind,
                dpi=PAGE_DPI * SCALE,
                metadata=metadata,
            )
        return file.getvalue()
