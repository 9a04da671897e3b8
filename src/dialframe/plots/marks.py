"""The pieces that several pictures share: bars with a second sign, legends, and the empty picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from unicodedata import east_asian_width

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from dialframe.analytics.wording import shortened
from dialframe.plots.picture import Picture
from dialframe.plots.style import Look, Theme, canvas, context, settle

_WIDE: Final = ("W", "F")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of thing in a picture: name in the data, label, colour and hatch."""

    name: str
    label: str
    colour: str
    hatch: str = ""


def bar(
    axes: Axes,
    y: float,
    width: float,
    kind: Kind,
    theme: Theme,
    *,
    height: float,
    left: float = 0,
) -> None:
    """A horizontal bar of a kind; its hatch is drawn in the background's colour."""
    axes.barh(
        y,
        width,
        left=left,
        height=height,
        facecolor=kind.colour,
        hatch=kind.hatch,
        edgecolor=theme.background,
        linewidth=1.0,
    )


def key(kinds: Iterable[Kind], theme: Theme) -> list[Artist]:
    """What each kind looks like, for the legend of `canvas`."""
    return [
        Patch(
            label=kind.label,
            facecolor=kind.colour,
            hatch=kind.hatch,
            edgecolor=theme.background,
        )
        for kind in kinds
    ]


def label(name: object, length: int) -> str:
    """A name from the data in one line of about `length` letters; wide letters count twice."""
    text = " ".join(str(name).split())
    wide = sum(east_asian_width(letter) in _WIDE for letter in text)
    return shortened(text, max(6, length - min(wide, length) // 2) if wide else length)


def nothing(
    what: str, about: str, look: Look, table: pd.DataFrame | None = None, *, few: bool = False
) -> Picture:
    """The picture of no data: it says so, in the place of the data.

    Args:
        what: What there is none of: `calls`.
        about: What the picture would have shown.
        look: Light or dark.
        table: The table of the result, which has no numbers.
        few: There are some, but too few for what the picture shows.
    """
    lack = "too few" if few else "no"
    with context(look) as theme:
        figure = canvas(theme, 1.6, f"Too few {what}" if few else f"No {what}", about)
        axes = figure.subplots()
        axes.set_axis_off()
        axes.text(
            0.5,
            0.5,
            f"There are {lack} {what} to show.",
            ha="center",
            va="center",
            size=12,
            color=theme.muted,
            transform=axes.transAxes,
        )
        return Picture(settle(figure), f"{about}: {lack} {what}.", look, table)
