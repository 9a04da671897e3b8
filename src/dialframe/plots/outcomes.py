"""The picture of what came of the calls; knows outcome classes, not codes."""

from __future__ import annotations

from typing import Final

import pandas as pd
from matplotlib.axes import Axes

from dialframe.analytics import wilson
from dialframe.analytics.columns import require
from dialframe.analytics.outcomes import BY_NAME, Family
from dialframe.analytics.wording import count, interval, plural, share
from dialframe.plots.marks import Kind, bar, key, nothing
from dialframe.plots.picture import Picture
from dialframe.plots.style import BLUE, ORANGE, SKY, Look, Theme, bare, canvas, context, settle

FAMILIES: Final[dict[Family, Kind]] = {
    "human": Kind("human", "a person", BLUE),
    "machine": Kind("machine", "a machine", SKY, "//"),
    "unknown": Kind("unknown", "not known", ORANGE, "xx"),
    "not_connected": Kind("not_connected", "nobody", "#8C959F", ".."),
    "no_attempt": Kind("no_attempt", "not an attempt", "#8C959F", "||"),
}

_ABOUT: Final = "What came of the calls"


def outcomes(frame: pd.DataFrame, *, look: Look = "light") -> Picture:
    """Outcome classes as bars, the most frequent first, coloured by who answered.

    Args:
        frame: Columns `outcome` (class) and `calls`, as `dialframe.analytics.dispositions` gives
            them; rows of one class are added up. A class that is not known is drawn as unknown.
        look: Light or dark.

    Raises:
        ConfigError: A column is missing.
    """
    require(frame, ("outcome", "calls"), "outcomes")
    found = frame.groupby("outcome")["calls"].sum()
    rows = sorted(((str(k), int(n)) for k, n in found.items() if n), key=lambda r: (-r[1], r[0]))
    total = sum(number for _, number in rows)
    if not total:
        return nothing("calls", _ABOUT, look)
    title = _title(rows, total)
    with context(look) as theme:
        present = {_family(name) for name, _ in rows}
        kinds = [kind for family, kind in FAMILIES.items() if family in present]
        about = f"{_ABOUT}, coloured by who answered"
        height = 0.2 + 0.3 * len(rows)
        note = "In brackets: Wilson 95 % intervals."
        figure = canvas(theme, height, title, about, note, key(kinds, theme))
        axes = figure.subplots()
        _bars(axes, rows, total, theme)
        said = "; ".join(f"{_label(name)} {count(n)} ({share(n / total)})" for name, n in rows)
        table = pd.DataFrame(
            [(name, n, n / total) for name, n in rows], columns=["outcome", "calls", "share"]
        )
        return Picture(settle(figure), f"{title}. {said}.", look, table)


def _bars(axes: Axes, rows: list[tuple[str, int]], total: int, theme: Theme) -> None:
    longest = rows[0][1]
    for y, (name, number) in enumerate(rows):
        bar(axes, y, number, FAMILIES[_family(name)], theme, height=0.66)
        axes.text(number + longest * 0.012, y, count(number), va="center", size=9.5, weight="bold")
        sure = interval(*(wilson(number, total) or (None, None)))
        axes.text(longest * 1.74, y, f"{share(number / total)}  ({sure})", va="center", ha="right",
                  size=9)  # fmt: skip
    bare(axes)
    axes.set_yticks(range(len(rows)), [_label(name) for name, _ in rows])
    axes.set_xlim(0, longest * 1.75)
    axes.set_ylim(len(rows) - 0.5, -0.6)


def _title(rows: list[tuple[str, int]], total: int) -> str:
    name, most = rows[0]
    human = sum(number for outcome, number in rows if _family(outcome) == "human")
    return (
        f"{share(human / total)} of {plural(total, 'call')} reached a person; "
        f"most often: {_label(name).lower()} ({share(most / total)})"
    )


def _family(name: str) -> Family:
    return BY_NAME[name].family if name in BY_NAME else "unknown"


def _label(name: str) -> str:
    return _LABELS.get(name, name.replace("_", " ").capitalize())


_LABELS: Final = {
    "temp_unavailable": "Out of reach for now",
    "network_fail": "Network failure",
    "blocked_or_rejected": "Blocked or rejected",
    "unanswered_unknown": "Not answered, cause unknown",
    "machine": "Answering machine",
    "connected_unknown": "Answered, not known by whom",
    "early_hangup": "Hung up at once",
    "dropped_by_us": "Dropped by us",
    "gatekeeper_third_party": "Somebody else",
    "right_party_neutral": "Right person, no result",
    "dnc_request": "Asked not to be called",
    "dnc_screened": "Held back by a Do-Not-Call list",
    "in_progress": "Not over yet",
    "system_noise": "A dialer's own state",
}
