"""Pictures: a figure with words for those who cannot see it, and the pieces that several share."""

from __future__ import annotations

import base64
import html
import io
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unicodedata import east_asian_width

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from PIL import Image

from dialframe.analytics import Result
from dialframe.analytics.claims_and_tables import shortened
from dialframe.errors import ConfigError
from dialframe.files import note_files
from dialframe.plots.style import PAGE_DPI, Look, Theme, canvas, context, settle

#: Pixels of the file to a pixel of the page, so that type is sharp on fine screens.
SCALE: Final = 2

#: Colors of a PNG: those of most pixels as they are, since they mean something; the rest are the
#: edges of type and bars, which share what is left.
COLORS: Final = 64
_EXACT: Final = 32
#: Colors nearer than this in every channel are taken for each other by the palette.
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
        """Write the figure, as `matplotlib.figure.Figure.savefig` does, in its own look.

        Args:
            fname: Path or open file.
            kwargs: What `matplotlib.figure.Figure.savefig` takes.
        """
        # Written by the figure that the artists know, or its size would be set twice.
        with context(self.look):
            # It is laid out, so it is not drawn once more to find out how; also not in `context`.
            self._drawn.set_layout_engine(None)
            self._drawn.savefig(fname, **kwargs)
        if isinstance(fname, str | os.PathLike):
            note_files([Path(fname)])

    def png(self) -> bytes:
        """The picture as PNG, 1,600 pixels wide for 800 on the page, in a palette of its own colors."""
        drawn = np.frombuffer(self._bytes("rgba"), dtype=np.uint8).reshape(-1, 4)
        # How matplotlib cuts to whole pixels is its own affair: the height follows from the width.
        wide = self.get_figwidth() * PAGE_DPI * SCALE
        width = next(w for w in (int(wide), round(wide)) if len(drawn) % w == 0)
        file = io.BytesIO()
        _few_colors(drawn.reshape(-1, width, 4)).save(file, format="png")
        return file.getvalue()

    def svg(self) -> str:
        """The picture as SVG, named for assistive technology by `alt`; without a date."""
        text = self._bytes("svg", metadata={"Date": None, "Creator": None}).decode("utf-8")
        label = html.escape(self.alt, quote=True)
        return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)

    def html(self) -> str:
        """The picture as an `img` element that holds everything it needs, and its numbers below."""
        return self._element(base64.b64encode(self.png()).decode("ascii"))

    def _element(self, data: str) -> str:
        width = round(self.get_figwidth() * PAGE_DPI)
        height = round(self.get_figheight() * PAGE_DPI)
        image = (
            f'<img alt="{html.escape(self.alt, quote=True)}" width="{width}" height="{height}" '
            f'style="max-width:100%;height:auto" src="data:image/png;base64,{data}">'
        )
        if self.table is None or self.table.empty:
            return image
        shown = self.table.head(_MOST_ROWS)
        body = shown.to_html(
            index=False,
            border=0,
            na_rep="\N{EN DASH}",
            float_format=lambda number: f"{number:.4g}",
        ).replace("<th>", '<th scope="col">')
        more = len(self.table) - _MOST_ROWS
        rest = f"<p>{more:,} more rows in <code>.table</code></p>" if more > 0 else ""
        return f"{image}<details><summary>The numbers</summary>{body}{rest}</details>"

    def __str__(self) -> str:
        """The alternative text."""
        return self.alt

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        """Image and words for a notebook, with the words as the image's alternative text."""
        wanted = {"text/html", "text/plain", "image/png"} if include is None else set(include)
        wanted -= set(exclude or ())
        bundle = {"text/plain": repr(self)}
        if {"image/png", "text/html"} & wanted:
            # Drawing is what takes the time; both are of one drawing.
            image = base64.b64encode(self.png()).decode("ascii")
            bundle |= {"image/png": image, "text/html": self._element(image)}
        data = {kind: bundle[kind] for kind in bundle if kind in wanted}
        return data, {"image/png": {"alt": self.alt}} if "image/png" in data else {}

    def _bytes(self, kind: str, **kwargs: Any) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format=kind, dpi=PAGE_DPI * SCALE, **kwargs)
        return file.getvalue()


def _few_colors(drawn: np.ndarray) -> Image.Image:
    """The pixels (rows, columns, RGBA) in a palette that has their most frequent colors to the bit."""
    pixels = drawn.view("<u4").ravel()
    # Most pixels are like the one before; each run of them is looked at once.
    begins = np.flatnonzero(np.concatenate([[True], pixels[1:] != pixels[:-1]]))
    lengths = np.diff(begins, append=len(pixels))
    packed, which = np.unique(pixels[begins], return_inverse=True)
    counts = np.bincount(which, weights=lengths)
    colors = packed.view(np.uint8).reshape(-1, 4)[:, :3].astype(np.int16)
    palette = _palette(colors, counts)
    nearest = np.abs(colors[:, None] - palette[None]).sum(axis=2).argmin(axis=1)
    cells = np.repeat(nearest.astype(np.uint8)[which], lengths).reshape(drawn.shape[:2])
    image = Image.fromarray(cells, "P")
    image.putpalette(palette.astype(np.uint8).tobytes())
    return image


def _palette(colors: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The most frequent colors as they are, then what stands for the rest; none near another."""
    # By color where as many pixels have it, so that the same picture gives the same bytes.
    often = colors[np.lexsort([*colors.T[::-1], -counts])]
    rest = Image.fromarray(often[None].astype(np.uint8), "RGB")
    blends = rest.quantize(COLORS - _EXACT, dither=Image.Dither.NONE).getpalette() or []
    kept: list[np.ndarray] = []
    for color in (*often[:_EXACT], *np.array(blends, dtype=np.int16).reshape(-1, 3)):
        if all(np.abs(color - other).max() >= _NEAR for other in kept):
            kept.append(color)
    return np.array(kept[:COLORS])


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing in a picture: name in the data, label, color and hatch."""

    name: str
    label: str
    color: str
    hatch: str = ""

    def style(self, theme: Theme) -> dict[str, Any]:
        """How bars and signs of the kind are drawn; the hatch is of the background's color."""
        return {"facecolor": self.color, "hatch": self.hatch, "edgecolor": theme.background}


def key(kinds: Iterable[Kind], theme: Theme) -> list[Artist]:
    """What each kind looks like, for the legend of `canvas`."""
    return [Patch(label=kind.label, **kind.style(theme)) for kind in kinds]


def label(name: object, length: int) -> str:
    """A name from the data in one line of about `length` letters; wide letters count twice."""
    text = " ".join(str(name).split())
    wide = sum(east_asian_width(letter) in ("W", "F") for letter in text)
    return shortened(text, max(6, length - min(wide, length) // 2) if wide else length)


def number(value: object) -> float:
    """A cell of a result's table; NaN where it is null."""
    return float("nan") if pd.isna(value) else float(str(value))


def nothing(
    what: str,
    about: str,
    look: Look,
    table: pd.DataFrame | None = None,
    *,
    ax: Axes | None = None,
    few: bool = False,
) -> Picture:
    """The picture of no data: it says so, in the place of the data.

    Args:
        what: What there is none of: `calls`.
        about: What the picture would have shown.
        look: Light or dark.
        table: The table of the result, which has no numbers.
        ax: Axes of the reader's own, or None.
        few: There are some, but too few for what the picture shows.
    """
    lack = "too few" if few else "no"
    with context(look, ax) as theme:
        figure = canvas(theme, 1.6, f"Too few {what}" if few else f"No {what}", about)
        axes = figure.subplots()
        axes.set_axis_off()
        axes.text(0.5, 0.5, f"There are {lack} {what} to show.", ha="center", va="center", size=12,
                  color=theme.muted, transform=axes.transAxes)  # fmt: skip
        return Picture(settle(figure), f"{about}: {lack} {what}.", look, table)


def of_analysis(name: str, result: Any, campaigns: pd.DataFrame | None) -> Any:
    """The result to be drawn, with campaigns by name where they are known.

    Raises:
        ConfigError: It is no result of that analysis.
    """
    if not isinstance(result, Result) or result.name != name:
        given = result.name if isinstance(result, Result) else type(result).__name__
        raise ConfigError(f"plots.{name} draws the result of analytics.{name}, not {given}")
    return result if campaigns is None else result.named(campaigns)
