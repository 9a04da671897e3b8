"""Where the column of texts that the kernel reads differs from phonenumbers; none is the only good answer."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from dialframe.phones import _column_frame
from dialframe.phones.column_reader import Column, read_column
from dialframe.phones.parse_number import Reading, read_number


class Difference(NamedTuple):
    text: str | None
    region: str | None
    kernel: Reading
    truth: Reading


def rows(column: Column) -> list[Reading]:
    """A column as the readings of its rows."""
    frame = _column_frame(column, None)
    columns = [pa.array(frame[name], from_pandas=True).to_pylist() for name in frame]
    return [Reading(*row) for row in zip(*columns, strict=True)]


def differences(texts: list[str | None], regions: list[str | None]) -> list[Difference]:
    """The rows in which any of the seven columns differs."""
    column = read_column(pa.array(texts, pa.large_string()), regions)
    found = []
    for text, region, got in zip(texts, regions, rows(column), strict=True):
        truth = read_number(text, region)
        if got != truth:
            found.append(Difference(text, region, got, truth))
    return found
