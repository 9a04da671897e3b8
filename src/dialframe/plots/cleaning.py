"""The picture of a lead file: from all its records down to the clean ones; knows reasons, not rules."""

from __future__ import annotations

from typing import Final

import pandas as pd
from matplotlib.axes import Axes

from dialframe.analytics.columns import require
from dialframe.analytics.wording import count, plural, share
from dialframe.errors import ConfigError
from dialframe.plots.marks import Kind, bar, key, label, nothing
from dialframe.plots.picture import Picture
from dialframe.plots.style import (
    BLUE,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Look,
    Theme,
    bare,
    canvas,
    context,
    settle,
)

_WHOLE: Final = Kind("whole", "all and clean", BLUE)
_KINDS: Final = {
    "rejected": Kind("rejected", "rejected", VERMILLION, "//"),
    "duplicates": Kind("duplicates", "duplicate", ORANGE, ".."),
    "do_not_call": Kind("do_not_call", "not to be called", PURPLE, "xx"),
    "skipped": Kind("skipped", "not a lead", SKY, "||"),
}
_ABOUT: Final = "Records of a lead file, and what took some of them away"
_MOST: Final = 18
#: Share of the longest bar that a step has at least, so that it can be seen.
_LEAST: Final = 0.01


def cleaning(reasons: pd.DataFrame, *, records: int, look: Look = "light") -> Picture:
    """From all records of a lead file down to the clean ones, a step for each reason.

    Args:
        reasons: Columns `outcome` (`rejected`, `duplicates`, `do_not_call`, `skipped`), `reason`
            and `records`; each record has one reason.
        records: Records of the file.
        look: Light or dark.

    Raises:
        ConfigError: A column is missing, an outcome is not known, or the reasons take away more
            records than there are.
    """
    require(reasons, ("outcome", "reason", "records"), "reasons")
    strange = sorted(set(reasons["outcome"].astype("str")) - set(_KINDS))
    if strange:
        raise ConfigError(f"outcome {strange[0]!r} is not known here; use {', '.join(_KINDS)}")
    steps = [
        (_KINDS[str(row["outcome"])], str(row["reason"]), int(row["records"]))
        for row in reasons.sort_values("records", ascending=False, kind="stable").to_dict(
            "records"
        )
    ]
    clean = records - sum(number for _, _, number in steps)
    if clean < 0:
        raise ConfigError(f"the reasons take away {records - clean:,} of {records:,} records")
    if not records:
        return nothing("records", _ABOUT, look)
    table = _table(steps, records)
    title = f"{count(clean)} of {plural(records, 'record')} are clean ({share(clean / records)})"
    shown = _together(steps)
    with context(look) as theme:
        present = [kind for kind in _KINDS.values() if any(step[0] is kind for step in steps)]
        height = 0.4 + 0.34 * (len(shown) + 2)
        figure = canvas(theme, height, title, _ABOUT, key=key([_WHOLE, *present], theme))
        axes = figure.subplots()
        _steps(axes, shown, records, clean, theme)
        said = "; ".join(
            f"{_words(reason)} ({kind.label}) {count(n)}" for kind, reason, n in shown
        )
        alt = f"{title}. Taken away: {said or 'none'}."
        return Picture(settle(figure), alt, look, table)


def _together(steps: list[tuple[Kind, str, int]]) -> list[tuple[Kind, str, int]]:
    """The steps that are drawn: the rare reasons of a long list as one step for each outcome."""
    rest = steps[_MOST:]
    others = [
        (kind, "other reasons", sum(n for each, _, n in rest if each is kind))
        for kind in _KINDS.values()
    ]
    return [*steps[:_MOST], *(step for step in others if step[2])]


def _table(steps: list[tuple[Kind, str, int]], records: int) -> pd.DataFrame:
    table = pd.DataFrame(
        [(kind.name, reason, n) for kind, reason, n in steps],
        columns=["outcome", "reason", "records"],
    ).astype({"outcome": "str", "reason": "str", "records": "Int64"})
    return table.assign(left=records - table["records"].cumsum())


def _steps(
    axes: Axes, steps: list[tuple[Kind, str, int]], records: int, clean: int, theme: Theme
) -> None:
    rows = [(_WHOLE, "all records", records), *steps, (_WHOLE, "clean", clean)]
    left = records
    for y, (kind, _, number) in enumerate(rows):
        whole = kind is _WHOLE
        start = 0 if whole else left - number
        left = left if whole else start
        # A single record of thousands still has a mark.
        width = number if whole else max(number, records * _LEAST)
        bar(axes, y, width, kind, theme, height=0.7, left=start)
        said = count(number) if whole else f"\N{MINUS SIGN}{count(number)}"
        axes.text(records * 1.02, y, said, va="center", size=9.5, weight="bold" if whole else None)
        if not whole:
            axes.text(records * 1.14, y, f"{kind.label}, {count(left)} left", va="center", size=9)
    bare(axes)
    axes.set_yticks(range(len(rows)), [label(_words(name), 28) for _, name, _ in rows], size=9.5)
    axes.set_xlim(0, records * 1.52)
    axes.set_ylim(len(rows) - 0.5, -0.6)


def _words(reason: str) -> str:
    return reason.replace("_", " ")
