"""A delimited text in blocks: its dialect, its records, which of them are leads, and the lead file that they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dialframe.leads.lead_file import (
    MOST_COLUMNS,
    Decisions,
    LeadFile,
    Lines,
    Records,
    Skipped,
    skipped_frame,
    text_frame,
    unique_names,
)
from dialframe.leads.reading import dialect as dialects
from dialframe.leads.reading.chunked_text import PIECE_BYTES, Content, LineView
from dialframe.leads.reading.delimited_blocks import Block, Doubt, is_plain, split_blocks
from dialframe.leads.reading.layout import HeaderChoice, Layout, find_top, lay_out
from dialframe.leads.reading.reading_in_blocks import Spool, TakenIn, keep_block

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
        empty: Ordinal and line of further records that are no leads, without a character.
        first: Ordinal of the first record behind the header.
        no_leads: Ordinals of the records from there on that are no leads, ascending.
    """

    found: dialects.Found
    layout: Layout
    records: int
    aside: dict[int, Doubt]
    empty: np.ndarray
    first: int
    no_leads: np.ndarray


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
    # A file of this package is read by the rules that it was written by, which are simpler.
    if OWN.search(content.head(), 0, OWN_SEARCHED_CHARS):
        return None
    lines = LineView(content)
    # Blocks split lines at their own delimiter; these have it inside of one cell.
    if dialects.unwrapped(lines[:_HEAD_LINES]) is not None:
        return None
    detected = dialects.detect(lines, delimiter, quote)
    if not is_plain(detected.dialect, detected.shape) or detected.shape.width > MOST_COLUMNS:
        return None
    first = int(detected.sep_line)
    outline = Outline(detected.shape.width)
    chunks = content.chunks(content.line_begin(first) if first else 0, block_bytes)
    for block in split_blocks(chunks, detected.dialect, detected.shape, first):
        outline.add(block)
        # Given up early: so irregular a file is read whole, and would be held twice.
        if not outline.is_regular:
            return None
        sink(block)
    layout = outline.lay_out(header) if outline.records else None
    if layout is None:
        return None
    # Leads begin behind all that stands above them, the header among it.
    before = [at for at, _ in layout.preface]
    if layout.header_record is not None:
        before.append(layout.header_record)
    behind = [at for at, _ in layout.furniture]
    aside = {at: outline.record(at) for at in (*before, *behind)}
    empty = outline.empty()
    first = max(before, default=-1) + 1
    # Of a run of empty lines `layout` saw the first one.
    follow = empty[empty[:, 0] >= first, 0]
    first += int(np.count_nonzero(follow == first + np.arange(len(follow))))
    no_leads = np.concatenate([np.array(behind, np.int64), follow[follow >= first]])
    no_leads.sort()
    return Surveyed(detected, layout, outline.records, aside, empty, first, no_leads)


# `layout.lay_out` looks at every record. A record of the usual width with a phone number in it can
# only be a lead, unless it stands near the top or is a header again, so that head, tail and doubtful
# records tell as much as all.

_HEAD_RECORDS: Final = 2000
_TAIL_RECORDS: Final = 200
_HEADER_RECORDS: Final = 30
_FEW: Final = 50
#: Doubtful records of which the header is looked at before all of them are.
_MANY_DOUBTS: Final = 20_000
#: Doubtful records that are kept; a file with more is no regular list.
_MOST_DOUBTS: Final = 500_000


@dataclass(slots=True)
class Outline:
    """What was seen of a file so far.

    Attributes:
        width: Cells of a usual record.
        records: Records seen.
        usual: Those of the usual width.
        nothing: Ordinal and line of those without a character, a block each.
        seen: Ordinal to a record that matters.
        last: The last blocks.
        tail: Ordinal to a record at their end, once the layout is asked for.
        head_records: Records at the top of which all matter.
        tail_records: Records at the end of which all do.
    """

    width: int
    records: int = 0
    usual: int = 0
    nothing: list[np.ndarray] = field(default_factory=list)
    seen: dict[int, Doubt] = field(default_factory=dict)
    last: list[Block] = field(default_factory=list)
    tail: dict[int, Doubt] = field(default_factory=dict)
    head_records: int = _HEAD_RECORDS
    tail_records: int = _TAIL_RECORDS

    def add(self, block: Block) -> None:
        """See one block."""
        for row, doubt in block.doubts.items():
            self.seen[block.first + row] = doubt
        lines = block.starts[block.nothing]
        self.nothing.append(np.column_stack([block.first + block.nothing, lines]))
        # A header, its titles and blank lines are at the top, whatever they look like.
        head = min(max(0, self.head_records - block.first), len(block))
        for row, record in _records(block, np.arange(head)).items():
            self.seen.setdefault(row, record)
        new = [row for row in _repeats(block, self.seen) if block.first + row not in self.seen]
        self.seen |= _records(block, np.array(new, np.int64))
        # Which block is the last is known when there is no other.
        self.last.append(block)
        while sum(map(len, self.last[1:-1])) >= self.tail_records:
            del self.last[0]
        self.records += len(block)
        self.usual += block.usual

    def _tail(self) -> dict[int, Doubt]:
        """The records at the end; of blocks in the middle none is made texts of."""
        tail: dict[int, Doubt] = {}
        for block in self.last:
            begin = max(0, len(block) - self.tail_records)
            before = list(tail.items())[-self.tail_records :] if not begin else []
            tail = dict(before) | _records(block, np.arange(begin, len(block)))
        return tail

    def record(self, ordinal: int) -> Doubt:
        """A record that was kept."""
        return self.seen[ordinal] if ordinal in self.seen else self.tail[ordinal]

    @property
    def is_regular(self) -> bool:
        """Whether what was kept is enough so far."""
        return len(self.seen) < _MOST_DOUBTS

    def empty(self) -> np.ndarray:
        """Ordinal and line of the records without a character that were not kept by `lay_out`."""
        # Their cells are known, so that a number and a line are all that is kept of them.
        nothing = np.concatenate(self.nothing)
        return nothing[~np.isin(nothing[:, 0], [*self.tail, *self.seen])]

    def lay_out(self, choice: HeaderChoice) -> Layout | None:
        """The layout by ordinals, without `leads`; None where all records have to be seen."""
        self.tail = self._tail()
        # An empty line sets apart what stands below it, and a hundred do no more than one.
        nothing = np.concatenate(self.nothing)
        for at, line in nothing[np.diff(nothing[:, 0], prepend=-2) > 1].tolist():
            self.seen.setdefault(at, _nothing(line))
        if len(self.seen) > _MANY_DOUBTS:
            # Nothing but the head is needed to see that the header is of another width.
            head = [self.seen[at] for at in range(self.head_records) if at in self.seen]
            top = find_top(_as_records(head), choice)
            if top.cells == self.width != top.width:
                return None
        doubts = dict(sorted({**self.tail, **self.seen}.items()))
        ordinals = list(doubts)
        has_all = len(ordinals) + len(self.empty()) == self.records
        records = _as_records([*doubts.values()])
        cells = records.cells
        top = find_top(records, choice)
        regular, odd = top.widths[self.width], top.widths.total() - top.widths[self.width]
        is_enough = has_all or (regular > odd and self.usual > odd)
        if not is_enough or top.width != self.width or top.usual != self.width:
            return None
        layout = lay_out(records, choice, top=top)
        # What was not kept may only be leads: where the seen part says otherwise, all have to be seen.
        if not has_all:
            furniture = {at for at, _ in layout.furniture}
            tail = range(len(cells) - len(self.tail), len(cells))
            first = max([-1, *(at for at, _ in layout.preface), layout.header_record or 0])
            if first >= self.head_records // 2 or furniture.issuperset(tail):
                return None
        header = layout.header_record
        return replace(
            layout,
            header_record=None if header is None else ordinals[header],
            leads=(),
            preface=tuple((ordinals[at], code) for at, code in layout.preface),
            furniture=tuple((ordinals[at], code) for at, code in layout.furniture),
        )


def _as_records(doubts: Sequence[Doubt]) -> Records:
    cells, starts = [doubt.cells for doubt in doubts], [doubt.line for doubt in doubts]
    faults = {at: doubt.fault for at, doubt in enumerate(doubts) if doubt.fault}
    return Records(cells, starts, starts, faults=faults, lines=Lines([], []))


def _records(block: Block, rows: np.ndarray) -> dict[int, Doubt]:
    """Some records of a block by ordinal."""
    texts = [column.take(pa.array(rows)).to_pylist() for column in block.columns]
    empty = np.isin(rows, block.nothing)
    return {
        block.first + row: _nothing(int(block.starts[row]))
        if nothing
        else block.doubts.get(row)
        or Doubt(list(cells), block.raw(row), int(block.starts[row]), block.faults.get(row))
        for row, nothing, cells in zip(
            rows.tolist(), empty.tolist(), zip(*texts, strict=True), strict=True
        )
    }


def _nothing(line: int) -> Doubt:
    return Doubt([""], "", line, None)


def _repeats(block: Block, seen: dict[int, Doubt]) -> list[int]:
    """Records all of whose cells stand in the first ones too: perhaps the header again."""
    heads = [seen[at].cells for at in range(_HEADER_RECORDS) if at in seen]
    rows = np.arange(len(block))
    for index, column in enumerate(block.columns):
        if len(rows) < _FEW or not heads:
            break
        known = {cells[index].strip().casefold() for cells in heads if index < len(cells)}
        cells = column if len(rows) == len(block) else column.take(pa.array(rows))
        folded = pc.utf8_lower(pc.utf8_trim_whitespace(cells))
        is_known = pc.is_in(folded, value_set=pa.array(sorted(known), pa.large_string()))
        rows = rows[is_known.to_numpy(zero_copy_only=False)]
    repeats: list[int] = np.setdiff1d(rows, block.nothing, assume_unique=True).tolist()
    return repeats


def stream(
    path: Path,
    sha256: str,
    content: Content,
    choices: tuple[str | None, str | None, HeaderChoice],
    known: Decisions,
    spool: Spool,
) -> TakenIn | None:
    """A text whose records wait in blocks; None where it is too irregular for that.

    Args:
        path: Where it was read from.
        sha256: Digest of the file.
        content: The text.
        choices: Its delimiter, its quote character and where its header is, as far as they are known.
        known: What was decided about the encoding.
        spool: Where the blocks wait.
    """
    numbers: list[int] = []

    def keep(block: Block) -> None:
        ordinals = np.arange(block.first, block.first + len(block))
        numbers.append(keep_block(spool, block.columns, block.starts + 1, ordinals, block))

    surveyed = survey(content, *choices, keep)
    if surveyed is None:
        for number in numbers:
            spool.drop(number)
        return None
    detected, layout, header = surveyed.found, surveyed.layout, surveyed.layout.header_record
    names = unique_names(layout.header, layout.width)
    above = surveyed.empty[surveyed.empty[:, 0] < surveyed.first, 1] + 1
    titles = [surveyed.aside[at].line + 1 for at, _ in layout.preface]
    file = LeadFile(
        path=path,
        frame=text_frame([], names),
        header=layout.header,
        lines=np.zeros(0, np.int64),
        rows=np.zeros(0, np.int64),
        skipped=_skipped(surveyed, names, content.line(0) if detected.sep_line else ""),
        decisions=replace(
            detected.noted_in(known),
            header_line=None if header is None else surveyed.aside[header].line + 1,
            header_confidence=layout.confidence,
            preamble_lines=tuple(sorted([*titles, *above.tolist()])),
        ),
        sha256=sha256,
    )
    leads = surveyed.records - surveyed.first - len(surveyed.no_leads)
    return TakenIn(file, leads, numbers, surveyed.first, surveyed.no_leads)


def _skipped(surveyed: Surveyed, names: Sequence[str], sep_line: str) -> pd.DataFrame:
    """The records that are no leads, as `LeadFile.skipped` has them."""
    layout, first = surveyed.layout, surveyed.first
    left_out = {
        at: Skipped(
            doubt.line + 1, at - first + 1 if at >= first else None, code, doubt.raw, doubt.cells
        )
        for at, code in (*layout.preface, *layout.furniture)
        for doubt in [surveyed.aside[at]]
    }
    if sep_line:
        left_out[-1] = Skipped(1, None, "sep_line", sep_line, [])
    frame = skipped_frame(names, [*left_out.values()])
    # Empty lines may be most of a file: no object is made of each.
    ordinals, lines = surveyed.empty[:, 0], surveyed.empty[:, 1]
    rows = pd.array(ordinals - first + 1, dtype="Int64")
    rows[ordinals < first] = pd.NA
    empty = pd.DataFrame(dict.fromkeys(frame.columns, ""), index=pd.RangeIndex(len(lines))).assign(
        _line=lines + 1, _row=rows, _code=np.where(ordinals < first, "preamble", "blank")
    )
    # One order for what was looked at and what was only counted: that of the file.
    order = np.argsort(np.concatenate([np.array([*left_out], np.int64), ordinals]), kind="stable")
    both = pd.concat([frame, empty.astype(frame.dtypes)], ignore_index=True)
    return both.take(order).reset_index(drop=True)
