"""The picture of calls against calling hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dialframe.analytics.attempt.arrays import require
from dialframe.analytics.result.result_tables import count, plural
from dialframe.errors import ConfigError
from dialframe.plots.picture import Picture, nothing
from dialframe.plots.style import ORANGE, VERMILLION, Look, Theme, canvas, context, settle

DAY_MIN: Final = 24 * 60
#: Federal calling hours of the United States (47 CFR 64.1200(c)(1)): 08:00 to 21:00.
OPENS_MIN: Final = 8 * 60
CLOSES_MIN: Final = 21 * 60

WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

#: Grade of a call that could not be judged, for want of a zone or a rule.
_OPEN: Final = "not evaluable"

_ABOUT: Final = "Calls by the local clock of the person called"
_BIN_MIN: Final = 30
#: Step that spreads points evenly over a row without chance.
_GOLDEN: Final = 0.618033988749895


@dataclass(frozen=True, slots=True)
class _Sign:
    """How the offenders of one grade are marked: by form and color."""

    grade: str
    label: str
    marker: str
    size: float
    color: str
    hollow: bool = False


_SIGNS: Final = (
    _Sign("violation", "outside the hours", "X", 62, VERMILLION),
    _Sign(
        "uncertain",
        "cannot be decided: in some zone, or by some reading of the rule",
        "D",
        34,
        ORANGE,
        hollow=True,
    ),
)


def calling_hours(
    frame: pd.DataFrame,
    *,
    opens_min: float = OPENS_MIN,
    closes_min: float = CLOSES_MIN,
    look: Look = "light",
) -> Picture:
    """When calls were made by the local clock, with every offender marked.

    Args:
        frame: One row per call: `local_minute` (0 to 1439, null where the zone is not known),
            `grade` (`pass`, `violation`, `uncertain`, `not evaluable`, `not asked`), and `local_date` (ISO date) or `weekday`
            (0 is Monday) to give each weekday a row.
        opens_min: First minute of the hours that are drawn as the band; the grades come from the
            frame, since the hours differ by state.
        closes_min: First minute after them.
        look: Light or dark.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Raises:
        ConfigError: A column is missing or a grade is not known.

    Example:
        picture = plots.calling_hours(audited.hours)
    """
    require(frame, ("local_minute", "grade"), "calling hours")
    if not len(frame):
        return nothing("calls", _ABOUT, look)
    # A call whose place has rules that were left out of the audit is as open as one without an input.
    grade = frame["grade"].astype("str").str.replace("_", " ").replace("not asked", _OPEN)
    strange = sorted(set(grade.fillna("null")) - {"pass", "violation", "uncertain", _OPEN})
    if strange:
        raise ConfigError(
            f"grade {strange[0]!r} is not known here; use pass, violation, uncertain or {_OPEN}"
        )
    minute = frame["local_minute"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    day = _weekday(frame)
    if day is not None:
        minute[day < 0] = np.nan
    signs = [(sign, int((grade == sign.grade).sum())) for sign in _SIGNS]
    title = _title(grade)
    hours = f"{_clock(opens_min)} to {_clock(closes_min)}"
    foot = _left_out(grade, minute)
    heights = [0.3 * (1 if day is None else len(WEEKDAYS)) + 0.3, 1.5]
    with context(look) as theme:
        figure = canvas(
            theme,
            sum(heights) + 0.45,
            title,
            f"{_ABOUT}; the band is {hours}, and a state may allow less",
            foot,
            [_artist(sign, f"{sign.label} ({count(number)})", theme) for sign, number in signs],
        )
        strip, histogram = figure.subplots(2, 1, sharex=True, height_ratios=heights)
        for axes in (strip, histogram):
            axes.axvspan(opens_min, closes_min, color=theme.ghost, zorder=0)
        _strip(strip, minute, np.asarray(grade, dtype=object), day, theme)
        _histogram(histogram, minute, theme)
        alt = f"{title}. {_ABOUT}, hours {hours}. {_where(minute, grade)}{foot}"
        return Picture(settle(figure), alt.strip(), look, _table(minute, grade))


def _table(minute: npt.NDArray[np.float64], grade: pd.Series) -> pd.DataFrame:
    """Calls by local hour and grade; calls without a known time stand under `not known`."""
    hour = pd.Series(["not known" if np.isnan(m) else f"{int(m) // 60:02d}:00" for m in minute],
                     dtype="str", name="local_hour")  # fmt: skip
    by_grade = pd.crosstab(hour, grade.to_numpy())
    columns = [
        name for name in ("pass", "violation", "uncertain", _OPEN) if name in by_grade.columns
    ]
    table = by_grade[columns].rename(columns={"pass": "within the hours"}).astype("Int64")
    return table.assign(calls=table.sum(axis=1)).rename_axis(columns=None).reset_index()


def _artist(sign: _Sign, label: str, theme: Theme) -> Line2D:
    return Line2D(
        [],
        [],
        linestyle="none",
        label=label,
        marker=sign.marker,
        markersize=sign.size**0.5,
        markerfacecolor=theme.background if sign.hollow else sign.color,
        markeredgecolor=sign.color if sign.hollow else theme.background,
        markeredgewidth=1.6 if sign.hollow else 0.6,
    )


def _strip(
    axes: Axes,
    minute: npt.NDArray[np.float64],
    grade: npt.NDArray[np.object_],
    day: npt.NDArray[np.int64] | None,
    theme: Theme,
) -> None:
    """The offenders, each where it was on the clock, a row per weekday."""
    rows = 1 if day is None else len(WEEKDAYS)
    row = np.zeros(len(minute)) if day is None else day.astype(float)
    for sign in _SIGNS:
        chosen = (grade == sign.grade) & ~np.isnan(minute)
        spread = ((np.arange(chosen.sum()) * _GOLDEN) % 1 - 0.5) * (0.5 if rows > 1 else 0.8)
        points = _artist(sign, "", theme)
        points.set_data(minute[chosen], row[chosen] + spread)
        points.set_zorder(3)
        axes.add_line(points)
    axes.set_ylim(rows - 0.4, -0.6)
    axes.set_yticks(range(rows), WEEKDAYS if rows > 1 else [""])
    axes.tick_params(length=0, labelbottom=False)
    axes.spines[:].set_visible(False)
    axes.hlines(np.arange(rows), 0, DAY_MIN, color=theme.rule, linewidth=0.6, zorder=1)


def _histogram(axes: Axes, minute: npt.NDArray[np.float64], theme: Theme) -> None:
    """All calls by the half hour."""
    edges = [float(edge) for edge in range(0, DAY_MIN + _BIN_MIN, _BIN_MIN)]
    axes.hist(minute[~np.isnan(minute)], bins=edges, color=theme.blue, rwidth=0.86, zorder=2)
    axes.set_xlim(0, DAY_MIN)
    ticks = range(0, DAY_MIN + 1, 180)
    axes.set_xticks(ticks, [_clock(tick) for tick in ticks])
    axes.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_ylabel("all calls\nper half hour")
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0, labelsize=9)
    axes.grid(axis="y")


def _weekday(frame: pd.DataFrame) -> npt.NDArray[np.int64] | None:
    """Row of each call, Monday 0; -1 where it is not known; None where nothing says."""
    if "weekday" in frame.columns:
        days = frame["weekday"].astype("Int64")
    elif "local_date" in frame.columns:
        days = pd.to_datetime(frame["local_date"]).dt.day_of_week.astype("Int64")
    else:
        return None
    return np.asarray(days.fillna(-1), dtype=np.int64)


def _title(grade: pd.Series) -> str:
    """How many calls were outside the hours, among those that could be judged."""
    judged = int((grade != _OPEN).sum())
    bad, either = (int((grade == name).sum()) for name in ("violation", "uncertain"))
    if not judged:
        return f"None of {plural(len(grade), 'call')} could be judged"
    if not bad and not either:
        return f"All {count(judged)} calls judged were made within the hours"
    more = f"; {count(either)} cannot be decided" if either else ""
    was = "was" if bad == 1 else "were"
    return f"{count(bad)} of {plural(judged, 'call')} {was} made outside the hours{more}"


def _left_out(grade: pd.Series, minute: npt.NDArray[np.float64]) -> str:
    """What the picture does not show."""
    open_, unknown = int((grade == _OPEN).sum()), int(np.isnan(minute).sum())
    sentences = []
    if open_:
        sentences.append(f"{plural(open_, 'call')} could not be judged.")
    if unknown:
        sentences.append(f"{plural(unknown, 'call')} without a known local time not drawn.")
    return " ".join(sentences)


def _where(minute: npt.NDArray[np.float64], grade: pd.Series) -> str:
    """The hours of the offenders, for those who cannot see them."""
    times = np.sort(minute[np.asarray(grade == "violation", dtype=bool) & ~np.isnan(minute)])
    if not len(times):
        return ""
    return f"The offenders lie between {_clock(times[0])} and {_clock(times[-1])}. "


def _clock(minute: float) -> str:
    return f"{int(minute) // 60:02d}:{int(minute) % 60:02d}"
