"""Pictures of lists and audits: what cleaning did, what Do-Not-Call checks cover, calls against calling hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from dialframe.analytics.attempt.frames_to_arrays import require
from dialframe.analytics.attempt.local_clock import WEEKDAYS
from dialframe.analytics.claims_and_tables import count, plural, share
from dialframe.errors import ConfigError
from dialframe.plots.picture import Kind, Picture, key, label, nothing
from dialframe.plots.style import (
    BLUE,
    GREEN,
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

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Raises:
        ConfigError: A column is missing, an outcome is not known, or the reasons take away more
            records than there are.

    Example:
        why = pd.DataFrame({"outcome": ["rejected"], "reason": ["missing_phone"], "records": [8]})
        picture = plots.cleaning(why, records=303)
    """
    require(reasons, ("outcome", "reason", "records"), "reasons")
    strange = sorted(set(reasons["outcome"].astype("str")) - set(_KINDS))
    if strange:
        raise ConfigError(f"outcome {strange[0]!r} is not known here; use {', '.join(_KINDS)}")
    # The greatest loss first: what took most away is what can be mended.
    steps = [
        (_KINDS[str(row["outcome"])], str(row["reason"]), int(row["records"]))
        for row in reasons.sort_values("records", ascending=False, kind="stable").to_dict(
            "records"
        )
    ]
    clean = records - sum(number for _, _, number in steps)
    # Steps that go below zero are of another file, or count a record twice.
    if clean < 0:
        raise ConfigError(f"the reasons take away {records - clean:,} of {records:,} records")
    if not records:
        return nothing("records", _ABOUT, look)
    columns = ["outcome", "reason", "records"]
    table = pd.DataFrame([(kind.name, reason, n) for kind, reason, n in steps], columns=columns)
    table = table.astype({"outcome": "str", "reason": "str", "records": "Int64"})
    table = table.assign(left=records - table["records"].cumsum())
    title = f"{count(clean)} of {plural(records, 'record')} are clean ({share(clean / records)})"
    shown = _group_rare_steps(steps)
    with context(look) as theme:
        present = [kind for kind in _KINDS.values() if any(step[0] is kind for step in steps)]
        height = 0.4 + 0.34 * (len(shown) + 2)
        figure = canvas(theme, height, title, _ABOUT, key=key([_WHOLE, *present], theme))
        axes = figure.subplots()
        _steps(axes, shown, records, clean, theme)
        details = "; ".join(
            f"{_words(reason)} ({kind.label}) {count(n)}" for kind, reason, n in shown
        )
        alt = f"{title}. Taken away: {details or 'none'}."
        return Picture(settle(figure), alt, look, table)


def _group_rare_steps(steps: list[tuple[Kind, str, int]]) -> list[tuple[Kind, str, int]]:
    """The steps that are drawn: the rare reasons of a long list as one step for each outcome."""
    # A reason of one record each would take a page: rare ones are a step together.
    rest = steps[_MOST:]
    others = [
        (kind, "other reasons", sum(n for each, _, n in rest if each is kind))
        for kind in _KINDS.values()
    ]
    return [*steps[:_MOST], *(step for step in others if step[2])]


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
        axes.barh(y, width, height=0.7, left=start, **kind.style(theme))
        caption = count(number) if whole else f"\N{MINUS SIGN}{count(number)}"
        axes.text(
            records * 1.02, y, caption, va="center", size=9.5, weight="bold" if whole else None
        )
        if not whole:
            axes.text(records * 1.14, y, f"{kind.label}, {count(left)} left", va="center", size=9)
    bare(axes)
    axes.set_yticks(range(len(rows)), [label(_words(name), 28) for _, name, _ in rows], size=9.5)
    axes.set_xlim(0, records * 1.52)
    axes.set_ylim(len(rows) - 0.5, -0.6)


def _words(reason: str) -> str:
    return reason.replace("_", " ")


COVERAGE: Final = (
    Kind("fresh", "checked in time", GREEN),
    Kind("stale", "check too old", ORANGE, "//"),
    Kind("never", "never checked", VERMILLION, "xx"),
)

GRADES: Final = (
    Kind(
        "proven",
        "Proven: called after it was known to be listed, or after a request",
        VERMILLION,
        "xx",
    ),
    Kind("indeterminate", "Indeterminate: listed at some time between two checks", ORANGE, "//"),
    Kind("clear", "Clear: nothing on record against it at the time of the call", GREEN),
)

_COVERAGE_ABOUT: Final = "Do-Not-Call checks of the numbers"
_GRADES_ABOUT: Final = "Calls to numbers on a Do-Not-Call list or after a request, by evidence"

#: Width that a number needs inside its bar, as a share of the longest bar.
_ROOM: Final = 0.07


def coverage(table: pd.DataFrame, *, look: Look = "light") -> Picture:
    """How many numbers of each group have a Do-Not-Call check that is fresh, stale or missing.

    Args:
        table: Columns `group` (name, a campaign for instance), `fresh`, `stale`, `never`: numbers.
            Those of a column `screened` (at import alone) were never checked.
        look: Light or dark.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Raises:
        ConfigError: A column is missing.

    Example:
        table = pd.DataFrame({"group": ["Autumn"], "fresh": [90], "stale": [8], "never": [2]})
        picture = plots.coverage(table)
    """
    require(table, ("group", *(kind.name for kind in COVERAGE)), "coverage")
    if "screened" in table.columns:  # a screen at import is no check
        table = table.assign(never=table["never"] + table["screened"])
    rows = [
        (str(row["group"]), [int(row[kind.name]) for kind in COVERAGE])
        for row in table.to_dict("records")
    ]
    total = sum(sum(numbers) for _, numbers in rows)
    if not total:
        return nothing("numbers", _COVERAGE_ABOUT, look)
    # In the order of COVERAGE.
    fresh, stale, never = (sum(numbers[i] for _, numbers in rows) for i in range(3))
    title = (
        f"{share(fresh / total)} of {plural(total, 'number')} were checked in time, "
        f"{count(stale)} too long ago, {count(never)} never"
    )
    with context(look) as theme:
        height = 0.2 + 0.5 * len(rows)
        figure = canvas(theme, height, title, _COVERAGE_ABOUT, key=key(COVERAGE, theme))
        axes = figure.subplots()
        _stacks(axes, rows, theme)
        details = "; ".join(
            f"{group}: "
            + ", ".join(f"{count(n)} {k.label}" for k, n in zip(COVERAGE, numbers, strict=True))
            for group, numbers in rows
        )
        return Picture(settle(figure), f"{title}. {details}.", look, table)


def listed_calls(frame: pd.DataFrame, *, look: Look = "light") -> Picture:
    """How many calls went to listed numbers: proven, indeterminate, clear.

    Clear calls are many times the others, so their bar is cut off where that would leave the
    others without a length; the picture says so.

    Args:
        frame: Column `grade` (`proven`, `indeterminate`, `clear`, or others, which are drawn
            too), and `calls` where a row stands for several.
        look: Light or dark.

    Returns:
        The picture, with its words (`alt`) and its numbers (`table`).

    Raises:
        ConfigError: A column is missing.

    Example:
        picture = plots.listed_calls(audited.listed)
    """
    require(frame, ("grade",), "graded calls")
    weights = frame["calls"] if "calls" in frame.columns else pd.Series(1, index=frame.index)
    calls_of = weights.groupby(frame["grade"].astype("str")).sum()
    if not int(calls_of.sum()):
        return nothing("calls", _GRADES_ABOUT, look)
    grade_names = {kind.name for kind in GRADES}
    # A grade of a later audit is drawn under its own name, and not dropped.
    others = [
        Kind(str(g), str(g).replace("_", " ").capitalize(), BLUE, "..") for g in calls_of.index
    ]
    kinds = [*GRADES, *(kind for kind in others if kind.name not in grade_names)]
    rows = [(kind, int(calls_of.get(kind.name, 0))) for kind in kinds]
    numbers = dict(zip((kind.name for kind in kinds), (n for _, n in rows), strict=True))
    title = (
        f"{plural(numbers['proven'], 'call')} went to numbers listed or after a request; "
        f"{count(numbers['indeterminate'])} cannot be decided"
    )
    # The full length stands for the longest bar, unless clear calls would leave the others none.
    longest = max(n for _, n in rows)
    others_longest = 1.5 * max(n for kind, n in rows if kind.name != "clear")
    scale = others_longest if 0 < others_longest < longest else longest
    cut = longest > scale
    footer = "The bar marked // is cut off: it is many times longer." if cut else ""
    with context(look) as theme:
        figure = canvas(theme, 0.1 + 0.68 * len(rows), title, _GRADES_ABOUT, footer)
        axes = figure.subplots()
        _draw_grades(axes, rows, scale, theme)
        details = "; ".join(f"{kind.name} {count(n)}" for kind, n in rows)
        table = pd.DataFrame(
            {"grade": [kind.name for kind, _ in rows], "calls": [n for _, n in rows]}
        )
        return Picture(settle(figure), f"{title}. {_GRADES_ABOUT}: {details}.", look, table)


def _stacks(axes: Axes, rows: list[tuple[str, list[int]]], theme: Theme) -> None:
    longest = max(sum(numbers) for _, numbers in rows)
    for y, (_, numbers) in enumerate(rows):
        left = 0
        for kind, number in zip(COVERAGE, numbers, strict=True):
            axes.barh(y, number, height=0.6, left=left, **kind.style(theme))
            if number / longest >= _ROOM:
                # On a patch of the background, so that the hatch does not cross the number.
                axes.text(left + number / 2, y, count(number), ha="center", va="center", size=9,
                          weight="bold", bbox={"boxstyle": "round,pad=0.2", "ec": "none",
                                               "fc": theme.background})  # fmt: skip
            left += number
        rate = f"{share(numbers[0] / left)} in time of {count(left)}" if left else "no numbers"
        rest = f"{count(numbers[1])} too old, {count(numbers[2])} never"
        axes.text(longest * 1.02, y - 0.04, rate, va="bottom", size=9.5)
        axes.text(longest * 1.02, y + 0.04, rest, va="top", size=9, color=theme.muted)
    bare(axes)
    axes.set_yticks(range(len(rows)), [label(group, 24) for group, _ in rows])
    axes.set_xlim(0, longest * 1.42)
    axes.set_ylim(len(rows) - 0.5, -0.5)


def _draw_grades(axes: Axes, rows: list[tuple[Kind, int]], scale: float, theme: Theme) -> None:
    for y, (kind, number) in enumerate(rows):
        axes.text(0, y - 0.36, kind.label, va="center", size=10)
        axes.barh(y + 0.06, scale, height=0.36, color=theme.ghost)
        axes.barh(y + 0.06, min(number, scale), height=0.36, **kind.style(theme))
        if number > scale:
            axes.text(scale * 0.94, y + 0.06, "//", ha="center", va="center", size=15,
                      weight="bold", color=theme.background)  # fmt: skip
        axes.text(scale * 1.03, y + 0.06, count(number), va="center", size=13, weight="bold")
    bare(axes)
    axes.set_yticks([])
    axes.set_xlim(0, scale * 1.2)
    axes.set_ylim(len(rows) - 0.55, -0.65)


DAY_MIN: Final = 24 * 60
#: Federal calling hours of the United States (47 CFR 64.1200(c)(1)): 08:00 to 21:00.
OPENS_MIN: Final = 8 * 60
CLOSES_MIN: Final = 21 * 60

#: Grade of a call that could not be judged, for want of a zone or a rule.
_OPEN: Final = "not evaluable"

_HOURS_ABOUT: Final = "Calls by the local clock of the person called"
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
        return nothing("calls", _HOURS_ABOUT, look)
    # A call whose place has rules that were left out of the audit is as open as one without an input.
    grade = frame["grade"].astype("str").str.replace("_", " ").replace("not asked", _OPEN)
    strange = sorted(set(grade.fillna("null")) - {"pass", "violation", "uncertain", _OPEN})
    if strange:
        raise ConfigError(
            f"grade {strange[0]!r} is not known here; use pass, violation, uncertain or {_OPEN}"
        )
    minute = frame["local_minute"].astype("Float64").to_numpy(dtype=float, na_value=np.nan)
    day = _weekday(frame)
    # In rows by weekday a call without a day has no row to stand in.
    if day is not None:
        minute[day < 0] = np.nan
    signs = [(sign, int((grade == sign.grade).sum())) for sign in _SIGNS]
    title = _hours_title(grade)
    hours = f"{_clock(opens_min)} to {_clock(closes_min)}"
    foot = _omission_note(grade, minute)
    heights = [0.3 * (1 if day is None else len(WEEKDAYS)) + 0.3, 1.5]
    with context(look) as theme:
        figure = canvas(
            theme,
            sum(heights) + 0.45,
            title,
            f"{_HOURS_ABOUT}; the band is {hours}, and a state may allow less",
            foot,
            [_artist(sign, f"{sign.label} ({count(number)})", theme) for sign, number in signs],
        )
        strip, histogram = figure.subplots(2, 1, sharex=True, height_ratios=heights)
        for axes in (strip, histogram):
            axes.axvspan(opens_min, closes_min, color=theme.ghost, zorder=0)
        _strip(strip, minute, np.asarray(grade, dtype=object), day, theme)
        _histogram(histogram, minute, theme)
        times = np.sort(minute[np.asarray(grade == "violation", dtype=bool) & ~np.isnan(minute)])
        where = f"The offenders lie between {_clock(times[0])} and {_clock(times[-1])}. " if len(
            times
        ) else ""  # fmt: skip
        alt = f"{title}. {_HOURS_ABOUT}, hours {hours}. {where}{foot}"
        return Picture(settle(figure), alt.strip(), look, _hours_table(minute, grade))


def _hours_table(minute: npt.NDArray[np.float64], grade: pd.Series) -> pd.DataFrame:
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
        # Multiples of the golden ratio fill a row evenly, however many points there are (Weyl).
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


def _hours_title(grade: pd.Series) -> str:
    """How many calls were outside the hours, among those that could be judged."""
    judged = int((grade != _OPEN).sum())
    bad, either = (int((grade == name).sum()) for name in ("violation", "uncertain"))
    # Nothing judged is not all well.
    if not judged:
        return f"None of {plural(len(grade), 'call')} could be judged"
    if not bad and not either:
        return f"All {count(judged)} calls judged were made within the hours"
    more = f"; {count(either)} cannot be decided" if either else ""
    was = "was" if bad == 1 else "were"
    return f"{count(bad)} of {plural(judged, 'call')} {was} made outside the hours{more}"


def _omission_note(grade: pd.Series, minute: npt.NDArray[np.float64]) -> str:
    """What the picture does not show."""
    open_, unknown = int((grade == _OPEN).sum()), int(np.isnan(minute).sum())
    sentences = []
    if open_:
        sentences.append(f"{plural(open_, 'call')} could not be judged.")
    if unknown:
        sentences.append(f"{plural(unknown, 'call')} without a known local time not drawn.")
    return " ".join(sentences)


def _clock(minute: float) -> str:
    return f"{int(minute) // 60:02d}:{int(minute) % 60:02d}"
