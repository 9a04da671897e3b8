"""Lists page by page (contract, Lists and pagination): keyset order and signed cursors.

A page is the next rows behind (created_at, id), so inserts shift none. A cursor carries that
position and when it was issued; its signature covers the list, the client and the filters too, so
that it fits no other request.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from dialframe.contract.models.shape import ListQuery
from dialframe.sandbox.exchange import Ask, Json, Reply, answer
from dialframe.sandbox.instants import SECOND_US
from dialframe.sandbox.problems import Refusal
from dialframe.sandbox.resources import Resource

CURSOR_LIFE_US: Final = 3600 * SECOND_US

_MAC_BYTES: Final = 18

Query = TypeVar("Query", bound=ListQuery)


@dataclass(frozen=True, slots=True)
class Source:
    """Where the rows of a list come from.

    Attributes:
        table: Table or sub-query, with `client`, `created_at` and `id` among its columns.
        columns: Columns that are handed to `render`.
        where: Conditions beside the client, each with `?` for its value.
        fixed: Conditions that take no value.
    """

    table: str
    columns: Sequence[str]
    where: Mapping[str, object]
    fixed: tuple[str, ...] = ()


def page(ask: Ask[Query], source: Source, render: Callable[[tuple[Any, ...]], Json]) -> Reply:
    """One page of a list, newest first, ties by id.

    Raises:
        Refusal: `invalid_cursor`.
    """
    binding = _binding(ask)
    conditions, values = (
        ["client = ?", *source.fixed, *source.where],
        [ask.client, *source.where.values()],
    )
    if ask.request.cursor is not None:
        conditions.append("(created_at, id) < (?, ?)")
        values += _open(ask.request.cursor, binding, ask.cursor_key, ask.now_us)
    rows = ask.db.execute(
        f"SELECT created_at, id, {', '.join(source.columns)} FROM {source.table}"
        f" WHERE {' AND '.join(conditions)} ORDER BY created_at DESC, id DESC LIMIT ?",
        (*values, ask.request.limit + 1),
    ).fetchall()
    shown, more = rows[: ask.request.limit], len(rows) > ask.request.limit
    cursor = None
    if more:
        cursor = _seal([*shown[-1][:2], ask.now_us], binding, ask.cursor_key)
    return answer(
        {
            "data": [render(row[2:]) for row in shown],
            "page": {"next_cursor": cursor, "has_more": more},
        }
    )


def rows_of(
    ask: Ask[Query], resource: Resource, where: Mapping[str, object | None], *fixed: str
) -> Reply:
    """One page of a resource's table.

    Args:
        ask: The request.
        resource: What is listed.
        where: Columns that have to equal a value; None asks for nothing.
        *fixed: Further conditions without a value.
    """
    wanted = {f"{name} = ?": value for name, value in where.items() if value is not None}
    source = Source(resource.table, resource.columns, wanted, fixed)
    return page(ask, source, resource.render)


def _binding(ask: Ask[Query]) -> bytes:
    filters = ask.request.model_dump(mode="json", exclude={"limit", "cursor"})
    bound = [ask.operation.name, ask.caller.client.client_id, filters]
    return json.dumps(bound, sort_keys=True).encode()


def _seal(position: list[object], binding: bytes, key: bytes) -> str:
    carried = json.dumps(position, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_mac(carried, binding, key) + carried).decode()


def _open(cursor: str, binding: bytes, key: bytes, now_us: int) -> tuple[object, object]:
    try:
        sealed = base64.b64decode(cursor, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _refused() from None
    mac, carried = sealed[:_MAC_BYTES], sealed[_MAC_BYTES:]
    # Base 64 has several spellings of the same bytes; only the one that was issued is taken.
    as_issued = base64.urlsafe_b64encode(sealed).decode() == cursor
    if not as_issued or not hmac.compare_digest(mac, _mac(carried, binding, key)):
        raise _refused()
    created_at, identifier, issued_us = json.loads(carried)
    if now_us - issued_us >= CURSOR_LIFE_US:
        raise _refused()
    return created_at, identifier


def _mac(carried: bytes, binding: bytes, key: bytes) -> bytes:
    signed = len(binding).to_bytes(4, "big") + binding + carried
    return hmac.new(key, signed, hashlib.sha256).digest()[:_MAC_BYTES]


def _refused() -> Refusal:
    return Refusal(
        "invalid_cursor", "The cursor is not one of this list, or it expired: start at the head."
    )
