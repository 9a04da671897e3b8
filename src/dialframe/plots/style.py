"""How every picture looks: colors, type, size and layout.

A picture looks the same whatever the reader's own matplotlib settings are: it is drawn inside a
context of its own, on a `Figure` of its own, and pyplot is never touched. The colors are those of
Okabe and Ito, which people with color blindness tell apart; a second sign (hatch, marker, words)
always goes with them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from textwrap import shorten, wrap
from typing import Any, Final, Literal

import matplotlib.style
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.layout_engine import ConstrainedLayoutEngine

from dialframe.errors import ConfigError

Look = Literal["light", "dark"]

WIDTH_IN: Final = 8.0
#: Pixels of a page to the inch: a picture is 800 wide.
PAGE_DPI: Final = 100

BLUE: Final = "#0072B2"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
ORANGE: Final = "#E69F00"
VERMILLION: Final = "#D55E00"
PURPLE: Final = "#CC79A7"
YELLOW: Final = "#F0E442"
#: Of groups or outcomes that are drawn side by side, in their order.
SERIES: Final = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)

_MARGIN_IN: Final = 0.18
_TITLE_LINE_IN: Final = 0.27
_SUBTITLE_LINE_IN: Final = 0.20
_KEY_LINE_IN: Final = 0.30
_FOOTER_LINE_IN: Final = 0.16
# What fits on a line of 800 pixels in the sizes below.
_TITLE_CHARS: Final = 64
_SUBTITLE_CHARS: Final = 98
_FOOTER_CHARS: Final = 118
_TITLE_LINES: Final = 6
# Pixels of a legend's line, of a letter in it, and of what stands before each label.
_KEY_PX: Final = 760
_LETTER_PX: Final = 7.6
_SWATCH_PX: Final = 56

#: Fonts with the scripts that DejaVu Sans lacks, taken where the machine has one: names of people's
#: lists are in any language.
_FURTHER_FONTS: Final = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Hiragino Sans",
    "PingFang SC", "Yu Gothic", "Microsoft YaHei", "Malgun Gothic", "Noto Sans KR",
    "WenQuanYi Zen Hei", "Noto Sans Devanagari", "Noto Sans Thai", "Noto Emoji", "Segoe UI Symbol",
    "Arial Unicode MS",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Theme:
    """Colors of one look; the background belongs to the picture, so it reads on any page.

    `alert` is vermillion as dark or as light as words need it, `faint` the grey of what is there
    but too thin to be judged.
    """

    background: str
    text: str
    muted: str
    rule: str
    ghost: str
    blue: str
    alert: str
    faint: str
    #: Axes of the reader's own that the picture is drawn on, where there are any.
    axes: Axes | None = None


THEMES: Final[dict[Look, Theme]] = {
    "light": Theme(
        "#FFFFFF", "#1B1F24", "#57606A", "#D0D7DE", "#EEF1F4", BLUE, "#A84400", "#7D8792"
    ),
    "dark": Theme(
        "#15191E", "#E8ECF0", "#A6B0BB", "#3A424C", "#232A32", SKY, "#FF9557", "#7F8A96"
    ),
}


class Hosted:
    """Axes of the reader's own in the place of a figure: title and legend go to the axes."""

    def __init__(self, axes: Axes, title: str, key: Sequence[Artist]) -> None:
        self.axes, self.title, self.key = axes, title, key

    def subplots(self, rows: int = 1, columns: int = 1, **options: Any) -> Any:
        """The axes, or as many inside them as are asked for."""
        self.axes.set_title(_short(self.title, _TITLE_CHARS), size=11, loc="left")
        if self.key:
            self.axes.legend(handles=list(self.key), fontsize=8)
        if rows * columns == 1 and options.get("squeeze", True):
            return self.axes
        self.axes.set_axis_off()
        parts = [
            [
                self.axes.inset_axes((c / columns, 1 - (r + 1) / rows, 0.95 / columns, 0.8 / rows))
                for c in range(columns)
            ]
            for r in range(rows)
        ]
        return np.array(parts, dtype=object)


@contextmanager
def context(look: Look = "light", ax: Axes | None = None) -> Iterator[Theme]:
    """Draw and write inside this: matplotlib's defaults with our settings, and back afterwards.

    Raises:
        ConfigError: The look is not known, or `ax` is no axes.
    """
    if look not in tuple(THEMES):
        raise ConfigError(f"look={look!r} is not known; use light or dark")
    if ax is not None and not isinstance(ax, Axes):
        raise ConfigError(
            f"ax is {type(ax).__name__}, not axes of matplotlib; pass plt.subplots()[1], for instance"
        )
    theme = replace(THEMES[look], axes=ax)
    with matplotlib.style.context(_settings(theme), after_reset=True), warnings.catch_warnings():
        # A letter that no font of this machine has is drawn as a box; the words and the table have it.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield theme


def canvas(
    theme: Theme,
    height_in: float,
    title: str,
    subtitle: str = "",
    footer: str = "",
    key: Sequence[Artist] = (),
) -> Any:
    """A figure 800 pixels wide with its words in place and room between them for axes.

    Args:
        theme: Colors, from `context`.
        height_in: Height of the axes and their labels, inches; title and footer come on top.
        title: What the picture finds.
        subtitle: What is shown.
        footer: What was left out, how to read it.
        key: What the colors and signs mean: labeled artists for a legend above the axes.
    """
    if theme.axes is not None:
        return Hosted(theme.axes, title, key)
    head, under, foot = (
        _wrap_text(_short(title, _TITLE_CHARS * _TITLE_LINES), _TITLE_CHARS),
        _wrap_text(subtitle, _SUBTITLE_CHARS),
        _wrap_text(footer, _FOOTER_CHARS),
    )
    header = _MARGIN_IN + len(head) * _TITLE_LINE_IN + len(under) * _SUBTITLE_LINE_IN
    rows = _key_rows([str(each.get_label()) for each in key])
    header += rows * _KEY_LINE_IN
    below = _MARGIN_IN + len(foot) * _FOOTER_LINE_IN
    total = round(header + height_in + below, 2)
    # Room for the words is kept in inches, whatever the height of the axes.
    rect = (0, below / total, 1, 1 - (header + below) / total)
    layout = ConstrainedLayoutEngine(rect=rect, w_pad=_MARGIN_IN, h_pad=0.06)
    figure = Figure(figsize=(WIDTH_IN, total), layout=layout)
    left, top = _MARGIN_IN / WIDTH_IN, 1 - _MARGIN_IN / total
    figure.text(left, top, "\n".join(head), size=14, weight="bold", va="top")
    top -= len(head) * _TITLE_LINE_IN / total
    figure.text(left, top, "\n".join(under), size=10, va="top", color=theme.muted)
    top -= (len(under) * _SUBTITLE_LINE_IN + 0.06) / total
    if key:
        across = -(-len(key) // rows)
        figure.legend(
            # A legend fills its columns, and is read by its lines.
            handles=[artist for column in range(across) for artist in key[column::across]],
            loc="upper left",
            bbox_to_anchor=(left, top),
            ncols=across,
            borderaxespad=0,
            borderpad=0,
            handlelength=1.8,
            columnspacing=1.6,
            labelcolor=theme.text,
        ).set_in_layout(False)
    bottom = _MARGIN_IN / 2 / total
    figure.text(left, bottom, "\n".join(foot), size=8.5, va="bottom", color=theme.muted)
    return figure


def settle(figure: Figure | Hosted) -> Figure:
    """Lay the figure out once and for all, so that writing it twice gives the same bytes."""
    if isinstance(figure, Hosted):
        whole = figure.axes.figure
        assert isinstance(whole, Figure)  # noqa: S101 - a subfigure's figure is one
        return whole
    # The engine alone, without a drawing that is thrown away: the bytes are the same.
    if (engine := figure.get_layout_engine()) is not None:
        engine.execute(figure)
    figure.set_layout_engine("none")
    return figure


def bare(axes: Axes) -> None:
    """Take away every line of the axes, for pictures whose numbers stand beside their bars."""
    axes.spines[:].set_visible(False)
    axes.set_xticks([])
    axes.tick_params(length=0)


def _key_rows(labels: Sequence[str]) -> int:
    """Lines that a legend needs so that none is wider than the page; 0 without labels."""
    for rows in range(1, len(labels) + 1):
        across = -(-len(labels) // rows)
        columns = [labels[i::across] for i in range(across)]
        widths = (_SWATCH_PX + _LETTER_PX * max(map(len, column)) for column in columns)
        if sum(widths) <= _KEY_PX:
            return rows
    return len(labels)


def _short(text: str, chars: int) -> str:
    """Text cut at a word where it is far too long for a title; the words of the picture have it whole."""
    return (
        text
        if len(text) <= chars
        else shorten(text, chars, placeholder=" \N{HORIZONTAL ELLIPSIS}")
    )


@cache
def _fonts() -> list[str]:
    """DejaVu Sans, which comes with matplotlib, and what this machine has for other scripts."""
    here = {font.name for font in fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in _FURTHER_FONTS if name in here)]


def _wrap_text(text: str, chars: int) -> list[str]:
    """Lines of about the same length, none longer than `chars`."""
    lines = wrap(text, chars)
    while chars > 1 and len(wrap(text, chars - 1)) == len(lines):
        chars -= 1
    return wrap(text, chars)


def _settings(theme: Theme) -> dict[str, Any]:
    return {
        "font.family": _fonts(),
        # A dollar in a name is a dollar.
        "text.parse_math": False,
        "font.size": 10,
        "figure.facecolor": theme.background,
        "figure.dpi": PAGE_DPI,
        "savefig.facecolor": theme.background,
        "savefig.edgecolor": theme.background,
        "axes.facecolor": theme.background,
        "axes.edgecolor": theme.rule,
        "axes.labelcolor": theme.muted,
        "axes.labelsize": 9.5,
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.color": theme.text,
        "xtick.color": theme.rule,
        "ytick.color": theme.rule,
        "xtick.labelcolor": theme.text,
        "ytick.labelcolor": theme.text,
        "xtick.labelsize": 9.5,
        "ytick.labelsize": 10.5,
        "grid.color": theme.rule,
        "grid.linewidth": 0.6,
        "hatch.linewidth": 1.0,
        "legend.frameon": False,
        "legend.fontsize": 9.5,
        "svg.hashsalt": "dialframe",
        "svg.fonttype": "path",
    }
