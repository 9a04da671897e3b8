"""Looking at a picture without eyes: its size, whether anything is on it, what it says."""

from __future__ import annotations

import io
from html.parser import HTMLParser

import numpy as np
import numpy.typing as npt
from matplotlib import image
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from dialframe.plots import Picture


def pixels(png: bytes) -> npt.NDArray[np.float64]:
    """Height, width, colors of a picture as it was written, 0 to 1."""
    return np.asarray(image.imread(io.BytesIO(png)))[:, :, :3]


def has_color(picture: Picture, color: str) -> bool:
    """True where the picture, drawn small, has pixels of this color (#RRGGBB)."""
    wanted = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return bool((small(picture) == wanted).all(axis=2).any())


def small(picture: Picture) -> npt.NDArray[np.uint8]:
    """The picture at the size of the page, 0 to 255: quicker to draw than what is written."""
    canvas = FigureCanvasAgg(picture.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3]


def words(picture: Picture) -> str:
    """Every word in the picture, title first, one text to a line."""
    texts = [*picture.figure.texts, *picture.figure.findobj(Text)]
    said = [text.get_text().replace("\n", " ") for text in texts if text.get_visible()]
    return "\n".join(dict.fromkeys(line for line in said if line))


def overlapping(picture: Picture) -> list[tuple[str, str]]:
    """Pairs of texts that stand on each other, or off the page."""
    # Texts measure themselves by how they were drawn last, with or without their pixels.
    renderer = FigureCanvasAgg(picture.figure).get_renderer()
    with renderer._draw_disabled():
        picture.figure.draw(renderer)
    page = picture.figure.bbox
    texts = [
        (text.get_text(), text.get_window_extent())
        for text in dict.fromkeys(picture.figure.findobj(Text))
        if text.get_visible() and text.get_text().strip() and text not in _out_of_view(picture)
    ]
    off = [
        (said, "the edge")
        for said, box in texts
        if box.x0 < -1 or box.y0 < -1 or box.x1 > page.x1 + 1 or box.y1 > page.y1 + 1
    ]
    pairs = [
        (first[0], second[0])
        for i, first in enumerate(texts)
        for second in texts[i + 1 :]
        if first[1].padded(-1).overlaps(second[1].padded(-1))
    ]
    return off + pairs


def _out_of_view(picture: Picture) -> list[Text]:
    """Labels of ticks that lie beyond their axis, which matplotlib keeps and does not draw."""
    axes = [axis for each in picture.figure.axes for axis in (each.xaxis, each.yaxis)]
    return [
        tick.label1
        for axis in axes
        for tick in axis.get_major_ticks()
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    ]


class Image(HTMLParser):
    """The attributes of the images of a piece of HTML."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.images: list[dict[str, str | None]] = []
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag != "script"
        if tag == "img":
            self.images.append(dict(attrs))
