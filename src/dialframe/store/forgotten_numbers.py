"""What "forgotten" means: keyed marks of numbers, and rows without them.

A forgotten number is not kept: only a keyed hash of its digits is, by which it is recognized when the
service sends it again. A row whose own number it is, or which belongs to a forgotten lead, is dropped. In
the text of other people's rows (notes, custom fields) it is replaced. It is found with or without `+`,
brackets, blanks, dots, hyphens and slashes between the digits; a national writing is found from nine digits on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from dialframe.frames.frame_schemas import as_json
from dialframe.privacy import keyed_mark
from dialframe.store.layouts import Layout
from dialframe.store.records import Row, Value

REPLACED: Final = "[forgotten]"

#: Fields of event data that are a number (contract, Events: Event data), also one level down (`customer`).
TOLD_PHONES: Final = ("from", "to", "phone")

_RUN: Final = re.compile(r"\+?[0-9](?:[\s().\-/\u2010-\u2015]{0,3}[0-9]){6,}")
_DIGITS: Final = "0123456789"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The marks of one store, and the keys that make them.

    Attributes:
        keys: The evidence log's secrets; more than one after two logs were joined.
        marks: Keyed hashes of numbers and of ids.
        lengths: How many digits the forgotten numbers have.
    """

    keys: tuple[bytes, ...]
    marks: frozenset[bytes] = frozenset()
    lengths: frozenset[int] = frozenset()

    def has(self, kind: Literal["phone", "national", "id"], text: str) -> bool:
        """Whether a number (`+` and digits), national digits or an id are forgotten."""
        return any(keyed_mark(key, kind, text) in self.marks for key in self.keys)

    def has_phone(self, phone: Value) -> bool:
        """Whether this text is a forgotten number."""
        return isinstance(phone, str) and self.has("phone", f"+{digits_of(phone)}")

    def has_id(self, identifier: Value) -> bool:
        """Whether this is the id of a forgotten lead."""
        return isinstance(identifier, str) and self.has("id", identifier)

    def owns(self, layout: Layout, row: Row) -> bool:
        """Whether the row is about a forgotten person."""
        if any(self.has_phone(row.values[column]) for column in layout.phone_places):
            return True
        # The lead itself: its id was marked with its number, and stands in other tables too.
        if "id" in layout.names and self.has_id(row.key):
            return True
        if layout.about is not None and self._is_about(row.values[layout.place(layout.about)]):
            return True
        return "lead_id" in layout.names and self.has_id(row.values[layout.place("lead_id")])

    def without(self, layout: Layout, row: Row) -> Row:
        """The row with every mention in its text replaced; the very row where there is none."""
        values = list(row.values)
        for column, kind in layout.prose_places:
            cell = values[column]
            if isinstance(cell, str):
                values[column] = self._json(cell) if kind == "json" else self.text(cell)
        return row if tuple(values) == row.values else Row.of(layout, tuple(values))

    def keep(self, layout: Layout, rows: Iterable[Row]) -> list[Row]:
        """Rows that may be stored."""
        if not self.marks:
            return list(rows)
        return [self.without(layout, row) for row in rows if not self.owns(layout, row)]

    def text(self, text: str) -> str:
        """The text with forgotten numbers replaced."""
        return _RUN.sub(self._run, text) if self.lengths else text

    def _is_about(self, cell: Value) -> bool:
        facts = json.loads(cell) if isinstance(cell, str) else None
        if not isinstance(facts, dict):
            return False
        # Contract, Events: the customer of an appointment is an object in the data.
        people = [facts, *(inner for inner in facts.values() if isinstance(inner, dict))]
        return self.has_id(facts.get("lead_id")) or any(
            self.has_phone(person.get(name)) for person in people for name in TOLD_PHONES
        )

    def _json(self, text: str) -> str:
        # Most cells hold no run of seven digits, and are not parsed.
        if not _RUN.search(text):
            return text
        try:
            value = json.loads(text)
        except ValueError:
            return self.text(text)
        cleaned = self._value(value)
        return text if cleaned == value else as_json(cleaned)

    def _value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self.text(name): self._value(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._value(inner) for inner in value]
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return value
        # A number may stand in JSON as a number: `{"alt": 12125550142}`.
        text = value if isinstance(value, str) else repr(value)
        cleaned = self.text(text)
        return value if cleaned == text else cleaned

    def _run(self, match: re.Match[str]) -> str:
        run = match.group()
        places = [position for position, character in enumerate(run) if character in _DIGITS]
        digits = digits_of(run)
        parts, copied, start = [], 0, 0
        while start < len(digits):
            # A `+` stands for the whole: country code first.
            abroad = start == 0 and run[0] == "+"
            length = self._length_at(digits, start, international=abroad)
            if length:
                parts.append(run[copied : 0 if abroad else places[start]] + REPLACED)
                copied = places[start + length - 1] + 1
            start += length or 1
        return "".join((*parts, run[copied:]))

    def _length_at(self, digits: str, start: int, *, international: bool) -> int:
        """How many digits from here on are a forgotten number: the longest such, or 0."""
        # "+212..." is Morocco, whatever number of Manhattan has these national digits.
        # Longest first, so that no national number is taken out of the middle of a whole one.
        for length in sorted(self.lengths, reverse=True):
            piece = digits[start : start + length]
            if len(piece) == length and (
                self.has("phone", f"+{piece}")
                or (not international and self.has("national", piece))
            ):
                return length
        return 0


def digits_of(text: str) -> str:
    """The digits of a text and nothing else."""
    return "".join(character for character in text if character in _DIGITS)
