"""A picture with words for those who cannot see it; knows how to be shown, not what it shows."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Collection
from typing import Any, Final

import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from dialframe.plots.style import PAGE_DPI, Look, context

#: Pixels of the file to a pixel of the page, so that type is sharp on fine screens.
SCALE: Final = 2

#: Colours of a PNG: a picture has some ten, the rest are the edges of its type.
COLOURS: Final = 64

_MOST_ROWS: Final = 40


class Picture(Figure):
    """A matplotlib figure that carries the words that say the same.

    It is the finished figure and whatever matplotlib does with a figure can be done with it.
    Notebooks show it as an image with alternative text; the same figure gives the same bytes.

    Attributes:
        alt: What is to be seen, with the numbers.
        look: Light or dark; the background is part of the picture.
        table: The numbers that are drawn, or None.
    """

    alt: str
    look: Look
    table: pd.DataFrame | None

    def __init__(
        self, figure: Figure, alt: str, look: Look = "light", table: pd.DataFrame | None = None
    ) -> None:
        """Take over a figure that is laid out."""
        # The artists stay those of `figure`; only the words and how it is shown are new.
        self.__dict__.update(figure.__dict__)
        self._drawn: Figure = getattr(figure, "_drawn", figure)
        self.alt = alt
        self.look = look
        self.table = table

    @property
    def figure(self) -> Figure:
        """The picture itself: it is a figure."""
        return self

    @property
    def alt_text(self) -> str:
        """The same as `alt`."""
        return self.alt

    def savefig(self, fname: Any, **kwargs: Any) -> None:
        """Write the figure, as `matplotlib.figure.Figure.savefig` does, in its own look."""
        # Written by the figure that the artists know, or its size would be set twice.
        with context(self.look):
            self._drawn.savefig(fname, **kwargs)

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
        """The picture as an `img` element that holds everything it needs, and its numbers below."""
        data = base64.b64encode(self.png()).decode("ascii")
        width = round(self.get_figwidth() * PAGE_DPI)
        height = round(self.get_figheight() * PAGE_DPI)
        return (
            f'<img alt="{html.escape(self.alt, quote=True)}" width="{width}" height="{height}" '
            f'style="max-width:100%;height:auto" src="data:image/png;base64,{data}">'
            f"{self._numbers()}"
        )

    def _numbers(self) -> str:
        if self.table is None:
            return ""
        body = self.table.head(_MOST_ROWS).to_html(index=False, border=0, na_rep="\N{EN DASH}")
        more = len(self.table) - _MOST_ROWS
        rest = f"<p>{more:,} more rows in <code>.table</code></p>" if more > 0 else ""
        return f"<details><summary>The numbers</summary>{body}{rest}</details>"

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
        self.savefig(file, format=kind, dpi=PAGE_DPI * SCALE, metadata=metadata)
        return file.getvalue()
