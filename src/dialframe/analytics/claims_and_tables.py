"""What results are made of: claims, each a value that a test can read; tables with fixed dtypes; numbers as people write them."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from dialframe.analytics.attempt.argument_checks import as_frame
from dialframe.analytics.attempt.frames_to_arrays import (
    MIX,
    Floats,
    Ints,
    Mask,
    blocks,
    floats,
    require,
    shared_rows,
)
from dialframe.analytics.inference import wilson_bounds

Kind = Literal["difference", "best", "advice", "alarm", "none"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a result; answers and titles are made of these texts and of nothing else.

    Attributes:
        kind: `difference` (two or more groups differ), `best` (one of them is named), `advice` (what
            to do), `alarm` (something went wrong), `none` (no such thing was seen, or a plain count).
        subject: What it is of: `hour`, a source, a caller ID.
        effect: Size of the effect: a difference of rates (0.012 is 1.2 points) unless `text` says
            that it is a ratio; None where nothing is compared.
        low: Lower bound of its 95 % interval.
        high: Upper bound.
        detectable: The effect that such data would have shown four times out of five.
        adjusted_for: What was held still.
        text: The statement in a sentence without its full stop.
        diagnostics: How the fit behind it went: `converged`, `steps`, `days`, `effective_days`,
            `pooled_levels`, `why_not`; None of a plain count.
    """

    kind: Kind
    subject: str
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    adjusted_for: tuple[str, ...] = ()
    text: str = ""
    diagnostics: Mapping[str, object] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The claim in plain values."""
        return {**asdict(self), "adjusted_for": list(self.adjusted_for)}

    def renamed(self, names: dict[str, str]) -> Claim:
        """The same with ids as the names that people know.

        Args:
            names: Id to name.
        """
        text, subject = with_words(self.text, names), with_words(self.subject, names)
        return replace(self, text=text, subject=subject)


def with_words(text: str, names: Mapping[str, str]) -> str:
    """A text with each id in the words that people have for it; what these words say is left alone."""
    # In one pass: a name that contains another id is not replaced in turn.
    return re.sub(_any_of(names), lambda match: names[match[0]], text) if names else text


def _any_of(names: Mapping[str, str]) -> str:
    """A pattern of ids, longer ones first: one may begin like another."""
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


def counted(subject: str, text: str) -> tuple[Claim, ...]:
    """A plain count, which claims nothing of what differs from what."""
    return (Claim("none", subject, text=text),)


def points(value: float) -> str:
    """A difference of rates as people say it: `1.2 points`."""
    return f"{100 * value:.1f} points"


def seen(detectable: float | None, what: str | None = None) -> str:
    """How great a difference would have been seen, for the end of a sentence.

    Args:
        detectable: The difference; None where it is not known.
        what: What would differ from the others alone: `a weekday`; by default groups from each other.
    """
    # Without a model there is no size that could be promised.
    if detectable is None:
        return ""
    size = points(detectable)
    difference = f"a difference of {size}" if what is None else f"{what} {size} from the others"
    return f"; {difference} would have been seen four times out of five"


_DTYPES = {"i": "Int64", "u": "Int64", "f": "Float64", "b": "boolean"}


def table(columns: Mapping[str, Any]) -> pd.DataFrame:
    """A frame of arrays and lists: whole numbers, shares (NaN is null), flags and text.

    Pandas columns stay what they are; a list is text.
    """
    return pd.DataFrame({name: _column(values) for name, values in columns.items()})


def table_of_rows(kinds: Mapping[str, type], rows: Sequence[Sequence[Any]]) -> pd.DataFrame:
    """The same of rows: text (`str`), whole numbers (`int`), shares (`float`) and flags (`bool`) by column.

    None is null in text, and in shares as NaN is.
    """
    # Without rows the columns keep their dtypes: those of a result do not depend on the data.
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    return table(
        {
            name: list(values) if kind is str else np.array(values, dtype=kind)
            for (name, kind), values in zip(kinds.items(), columns, strict=True)
        }
    )


def rated(
    numerators: Sequence[int] | npt.NDArray[np.integer],
    denominators: Sequence[int] | npt.NDArray[np.integer],
) -> dict[str, Any]:
    """Columns `numerator`, `denominator`, `rate`, `low`, `high` (Wilson 95%)."""
    above, below = np.asarray(numerators, np.int64), np.asarray(denominators, np.int64)
    # Wilson, J. Am. Stat. Assoc. 22 (1927) 209: inside 0 to 1, and honest for small counts.
    rate, low, high = wilson_bounds(above, below)
    return {"numerator": above, "denominator": below, "rate": rate, "low": low, "high": high}


def rated_calls(
    cell: npt.NDArray[np.integer], hit: npt.NDArray[np.bool_], cluster: Ints, size: int
) -> dict[str, Any]:
    """The same of calls by cell, of which some are of one lead: a cluster widens the interval.

    Args:
        cell: Cell of each call, -1 for none.
        hit: Whether each call is in the numerator.
        cluster: What each call is of, from 0 up.
        size: How many cells there are.
    """
    return rated_kinds(cell, [hit], cluster, size)[0]


def rated_kinds(
    cell: npt.NDArray[np.integer], hits: Sequence[npt.NDArray[np.bool_]], cluster: Ints, size: int
) -> list[dict[str, Any]]:
    """`rated_calls` of several numerators of the same cells.

    Calls that are alone of their cluster in their cell are told apart by a hash, and only the others
    are put together: most calls of an hour, and all of an attempt number, are alone.
    """
    # Cell and lead as one hash: a call that shares it with no other is alone, and needs no sorting.
    hashes = np.empty(len(cell), dtype=np.uint32)
    for rows in blocks(len(cell)):
        mixed = cluster[rows].astype(np.uint64) * MIX
        mixed ^= cell[rows].astype(np.uint64)
        hashes[rows] = mixed * MIX >> np.uint64(32)
    others = shared_rows(hashes)
    others = others[cell[others] >= 0]
    span = int(cluster.max(initial=0)) + 1
    pairs, sizes, inside = _by_pair(
        cell[others].astype(np.int64) * span + cluster[others], [hit[others] for hit in hits]
    )
    n = sums(cell, size).astype(float)
    kind_of = pairs // span
    alone = n - np.bincount(kind_of, sizes, size)
    clusters = alone + np.bincount(kind_of, minlength=size)
    each = []
    for hit, above in zip(hits, inside, strict=True):
        k = sums(cell, size, hit).astype(float)
        rate = k / np.maximum(n, 1)
        hits_alone = k - np.bincount(kind_of, above, size)
        spread = hits_alone * (1 - rate) ** 2 + (alone - hits_alone) * rate**2
        spread += np.bincount(kind_of, (above - rate[kind_of] * sizes) ** 2, size)
        spread *= clusters / np.maximum(clusters - 1, 1)
        # The design effect: the variance between clusters over that of as many single calls. Calls count
        # for as many trials as their clusters are worth (Rao and Scott, Biometrics 48 (1992) 577-585).
        single = n * rate * (1 - rate)
        effect = np.where(single > 0, spread / np.where(single > 0, single, 1), 1.0)
        effect = np.maximum(effect, 1.0)
        _, low, high = wilson_bounds(k / effect, n / effect)
        each.append({
            "numerator": k.astype(np.int64), "denominator": n.astype(np.int64),
            "rate": np.where(n == 0, np.nan, rate),
            # At none and at all a bound is exact; a division would leave a crumb beside it.
            "low": np.where(n == 0, np.nan, np.where(k == 0, 0.0, low)),
            "high": np.where(n == 0, np.nan, np.where(k == n, 1.0, high)),
        })  # fmt: skip
    return each


def _by_pair(pair: Ints, hits: Sequence[npt.NDArray[np.bool_]]) -> tuple[Ints, Ints, list[Floats]]:
    """The distinct pairs of cell and cluster, the calls of each, and of these the hits of each kind.

    One kind of hit goes along with its pair as a last bit: sorting whole numbers takes half the time
    of a hash table of them, and less of it the more there are.
    """
    if len(hits) != 1 or not len(pair):
        index, pairs = pd.factorize(pair)
        sizes = np.bincount(index, minlength=len(pairs)).astype(np.int64)
        each = [np.bincount(index, hit, len(pairs)).astype(float) for hit in hits]
        return np.asarray(pairs, dtype=np.int64), sizes, each
    packed = pair
    packed <<= 1
    packed += hits[0]
    packed.sort()
    changes = np.flatnonzero((packed[1:] ^ packed[:-1]) > 1)
    edges = np.empty(len(changes) + 2, dtype=np.int64)
    edges[0], edges[1:-1], edges[-1] = 0, changes + 1, len(packed)
    first = edges[:-1]
    return packed[first] >> 1, np.diff(edges), [np.add.reduceat(packed & 1, first).astype(float)]


def sums(codes: npt.NDArray[np.integer], size: int, mask: Mask | None = None) -> Ints:
    """How many there are of each code; negative codes are left out.

    Codes outside the mask are not looked at: they may lie beyond the size.
    """
    # Many rows of few codes are counted block by block, in memory that a cache holds.
    parts = blocks(len(codes)) if size < len(codes) else [slice(0, len(codes))]
    total = np.zeros(size + 1, dtype=np.int64)
    for rows in parts:
        code = codes[rows] if mask is None else np.where(mask[rows], codes[rows], -1)
        total += np.bincount(np.maximum(code, -1).astype(np.int64) + 1, minlength=size + 1)
    return total[1:]


def ratio(above: Floats | Ints, below: Floats | Ints) -> Floats:
    """A quotient; NaN where there is nothing to divide by."""
    # Nothing of nothing is no share of 0%.
    known = np.asarray(below) != 0
    return np.where(known, np.asarray(above) / np.where(known, below, 1), np.nan)


def median(values: Floats) -> float:
    """The median of the values that are known; NaN without any."""
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


def _column(values: Any) -> Any:
    if isinstance(values, (pd.api.extensions.ExtensionArray, pd.Series, pd.Index)):
        return values.array if isinstance(values, pd.Series) else values
    if isinstance(values, (list, tuple)):
        return pd.array(list(values), dtype="str")
    kind = _DTYPES[values.dtype.kind]
    if kind == "Float64":
        return floats(values.astype(float))
    return pd.array(values, dtype=kind)


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain values."""
    columns = [[plain(value) for value in frame[name].tolist()] for name in frame.columns]
    names = [str(name) for name in frame.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def plain(value: object) -> object:
    """A value that JSON knows; None where missing."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or value is pd.NA or value is pd.NaT or (
        isinstance(value, float) and np.isnan(value)
    ):  # fmt: skip
        return None
    # What numpy calls a number is none to `json`.
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, (str, int, float, bool)) else str(value)


NOTHING = "\N{EN DASH}"

_IN_FULL = 100_000


def count(value: object) -> str:
    """A whole number with thousands separated: `1,234`; a dash where there is none."""
    return NOTHING if pd.isna(value) else f"{round(float(str(value))):,}"


def compact(value: object) -> str:
    """A count for a narrow place: in full below 100,000, then `123 k`, then `1.2 M`."""
    if pd.isna(value) or float(str(value)) < _IN_FULL:
        return count(value)
    # By rounded thousands, so that 999,500 is 1.0 M and not 1000 k.
    thousands = round(float(str(value)) / 1000)
    return f"{thousands} k" if thousands < 1000 else f"{thousands / 1000:.1f} M"


def shortened(text: str, length: int) -> str:
    """The text, or its beginning and end where it is longer than `length` characters."""
    # Ids and names differ at either end: the middle is what can go.
    if len(text) <= length:
        return text
    tail = length // 3
    return f"{text[: length - tail - 1]}\N{HORIZONTAL ELLIPSIS}{text[-tail:]}"


def share(value: object) -> str:
    """A share of one as per cent: `12.3%`; a dash where there is none."""
    return NOTHING if pd.isna(value) else f"{float(str(value)):.1%}"


def interval(low: object, high: object) -> str:
    """An interval of shares: `11.0 to 13.7%`; a dash where there is none."""
    if pd.isna(low) or pd.isna(high):
        return NOTHING
    return f"{100 * float(str(low)):.1f} to {100 * float(str(high)):.1f}%"


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """`1 call`, `2 calls`."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def bands(edges: Sequence[object]) -> list[str]:
    """What lies from each edge to the next, `0 to 1`, and from the last one on, `5 and more`."""
    inner = [f"{low} to {high}" for low, high in itertools.pairwise(edges)]
    return [*inner, f"{edges[-1]} and more"]


def first_few(names: Sequence[str], most: int = 3) -> str:
    """`a, b, c and 2 others`: the first names, and how many more there are."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {plural(rest, 'other')}" if rest > 0 else "")


def text_table(headings: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int) -> str:
    """Columns aligned for a terminal: the first ones to the left, numbers to the right."""
    widths = [max(len(row[i]) for row in [headings, *rows]) for i in range(len(headings))]
    lines = []
    for row in [headings, *rows]:
        cells = [
            cell.ljust(width) if i < text_columns else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def html_table(
    caption: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    text_columns: int,
    notes: Sequence[str],
) -> str:
    """A table for a notebook or a page, with its notes under it; every cell is escaped."""
    side = ["left"] * text_columns + ["right"] * (len(headings) - text_columns)
    head = "".join(
        f'<th scope="col" style="text-align:{align}">{html.escape(heading)}</th>'
        for heading, align in zip(headings, side, strict=True)
    )
    body = ""
    for row in rows:
        cells = [f'style="text-align:{align}">{html.escape(cell)}'
                 for cell, align in zip(row, side, strict=True)]  # fmt: skip
        names = [f'<th scope="row" {cell}</th>' for cell in cells[:text_columns]]
        body += (
            f"<tr>{''.join([*names, *(f'<td {cell}</td>' for cell in cells[text_columns:])])}</tr>"
        )
    foot = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
    return (
        '<div class="dialframe-result"><table style="font-variant-numeric:tabular-nums">'
        '<caption style="caption-side:top;text-align:left;font-weight:bold;padding:.3em 0">'
        f"{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        f'</table><ul style="font-size:.9em;margin:.4em 0 0;padding-left:1.2em">{foot}</ul></div>'
    )


#: Letters of an id that tell campaigns of one name apart.
_TAIL: Final = 4


def campaign_names(campaigns: pd.DataFrame) -> dict[str, str]:
    """Campaign id to what people call it; campaigns of one name keep the end of their id.

    Args:
        campaigns: Frame of the campaigns table: `id`, `name`. A campaign without a name is left out.

    Raises:
        ConfigError: It is no such frame.
    """
    campaigns = as_frame("campaigns", campaigns)
    require(campaigns, ("id", "name"), "campaigns")
    known = campaigns.dropna(subset=["id", "name"])
    known = known[known["name"].str.strip() != ""]
    twice = known["name"].duplicated(keep=False)
    return {
        str(i): f"{name} ({str(i)[-_TAIL:]})" if again else str(name)
        for i, name, again in zip(known["id"], known["name"], twice, strict=True)
    }


def with_names(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The table with ids replaced wherever a text column has them, alone or among others."""
    # One pass over columns that have an id at all: most have none.
    ids = _any_of(names)
    changed = {}
    for name in table.columns:
        column = table[name]
        if pd.api.types.is_string_dtype(column.dtype) and column.str.contains(ids).any():
            changed[name] = column.str.replace(ids, lambda match: names[match[0]], regex=True)
    return table.assign(**changed)
