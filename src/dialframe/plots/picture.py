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

#: Colours of a PNG: those of most pixels as they are, since they mean something; the rest are the
#: edges of type and bars, which share what is left.
COLOURS: Final = 64
_EXACT: Final = 32
#: Colours nearer than this in every channel are taken for each other by the palette.
_NEAR: Final = 8

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
        _few_colours(drawn).save(file, format="png", optimize=True)
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
        if self.table is None or self.table.empty:
            return ""
        body = self.table.head(_MOST_ROWS).to_html(
            index=False,
            border=0,
            na_rep="\N{EN DASH}",
            float_format=lambda number: f"{number:.4g}",
        )
        body = body.replace("<th>", '<th scope="col">')
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


def _few_colours(drawn: Image.Image) -> Image.Image:
    """The image in a palette that has its most frequent colours to the bit."""
    counts = [(n, _triple(colour)) for n, colour in drawn.getcolors(1 << 24) or []]
    # By colour where as many pixels have it, so that the same picture gives the same bytes.
    often = [colour for _, colour in sorted(counts, key=lambda each: (-each[0], each[1]))]
    edges = drawn.quantize(COLOURS - _EXACT, dither=Image.Dither.NONE).getpalette() or []
    blends = [_triple(edges[i : i + 3]) for i in range(0, len(edges), 3)]
    kept: list[tuple[int, int, int]] = []
    for colour in (*often[:_EXACT], *blends):
        if not any(max(abs(a - b) for a, b in zip(colour, k, strict=True)) < _NEAR for k in kept):
            kept.append(colour)
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in kept[:COLOURS] for part in colour])
    return drawn.quantize(palette=palette, dither=Image.Dither.NONE)


def _triple(colour: Any) -> tuple[int, int, int]:
    red, green, blue = colour
    return int(red), int(green), int(blue)
