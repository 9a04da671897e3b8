"""A delimited text in blocks: its dialect, its records, and which of them are leads."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from dialframe.leads.lead_file import MOST_COLUMNS
from dialframe.leads.reading import dialect as dialects
from dialframe.leads.reading.blocks import Block, Doubt, is_plain, split_blocks
from dialframe.leads.reading.header_row import HeaderChoice
from dialframe.leads.reading.layout import Layout
from dialframe.leads.reading.outline import Outline
from dialframe.leads.reading.utf8_text import PIECE_BYTES, Content, LineView

#: How the header of a file that this package wrote goes on behind its own columns.
OWN: Final = re.compile(r'_file"?(?P<delimiter>[,;\t|])"?_line"?(?P=delimiter)"?_row')
OWN_SEARCHED_CHARS: Final = 2**16
_HEAD_LINES: Final = 300


@dataclass(frozen=True, slots=True, eq=False)
class Surveyed:
    """What the walk through a text found out.

    Attributes:
        found: Its dialect.
        layout: Its layout by ordinals of records, without `leads`.
        records: How many records there are, from the first line on.
        aside: The header's record, and those of `layout.preface` and `layout.furniture`.
    """

    found: dialects.Found
    layout: Layout
    records: int
    aside: dict[int, Doubt]

    @property
    def first(self) -> int:
        """Ordinal of the first record behind the header."""
        layout = self.layout
        before = [at for at, _ in layout.preface]
        if layout.header_record is not None:
            before.append(layout.header_record)
        return max(before, default=-1) + 1

    def leads(self, block: Block) -> np.ndarray:
        """Rows of the block that are leads."""
        return self.leads_between(block.first, len(block))

    def leads_between(self, begin: int, count: int) -> np.ndarray:
        """Which of so many records from an ordinal on are leads, counted from there."""
        keep = np.arange(begin, begin + count) >= self.first
        aside = np.array([at for at, _ in self.layout.furniture], np.int64)
        keep[aside[(aside >= begin) & (aside < begin + count)] - begin] = False
        return np.flatnonzero(keep)


def survey(
    content: Content,
    delimiter: str | None,
    quote: str | None,
    header: HeaderChoice,
    sink: Callable[[Block], None],
    *,
    block_bytes: int = PIECE_BYTES,
) -> Surveyed | None:
    """Walk through a text once; None where it is too irregular to be read in blocks.

    Args:
        content: The text.
        delimiter: The delimiter where it is known.
        quote: The quote character where it is known.
        header: Where the header is, if it is known.
        sink: Takes every block of records, in order.
        block_bytes: Bytes of a block.
    """
    if OWN.search(content.head(), 0, OWN_SEARCHED_CHARS):
        return None
    lines = LineView(content)
    if dialects.unwrapped(lines[:_HEAD_LINES]) is not None:
        return None
    found = dialects.detect(lines, delimiter, quote)
    if not is_plain(found.dialect, found.shape) or found.shape.width > MOST_COLUMNS:
        return None
    first = int(found.sep_line)
    outline = Outline(found.shape.width)
    chunks = content.chunks(content.line_begin(first) if first else 0, block_bytes)
    for block in split_blocks(chunks, found.dialect, found.shape, first):
        outline.add(block)
        sink(block)
        if not outline.is_regular:
            return None
    layout = outline.lay_out(header) if outline.records else None
    if layout is None:
        return None
    aside = {at: outline.record(at) for at, _ in (*layout.preface, *layout.furniture)}
    if layout.header_record is not None:
        aside[layout.header_record] = outline.record(layout.header_record)
    return Surveyed(found, layout, outline.records, aside)


def take(block: Block, rows: np.ndarray) -> list[pa.Array]:
    """The columns of some rows."""
    if len(rows) == len(block):
        return block.columns
    picked = pa.array(rows)
    return [column.take(picked) for column in block.columns]
