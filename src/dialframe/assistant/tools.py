"""Operations as tools: names, descriptions and argument schemas, all from the contract's rows; calls none."""

from __future__ import annotations

from typing import Any, Final

from mcp import types

from dialframe.assistant.exposure import REACHES, Exposure, kind_of
from dialframe.contract import operations, schemas
from dialframe.contract.row import Operation

#: Rows that a list gives where nothing else is asked for; a page of the service holds up to 100.
PAGE_ROWS: Final = 20

_SERVICE_REFS: Final = "#/components/schemas/"
_LOCAL_REFS: Final = "#/$defs/"


def tool_name(operation: str) -> str:
    """A tool's name: letters, digits and underscores, which every client takes."""
    return operation.replace(".", "_")


def offered(exposure: Exposure) -> dict[str, Operation[Any, Any]]:
    """The operations that are tools, by the tool's name."""
    return {tool_name(row.name): row for row in operations.ALL if exposure.offers(row)}


def definition(row: Operation[Any, Any]) -> types.Tool:
    """The tool of an operation."""
    kind = kind_of(row)
    return types.Tool(
        name=tool_name(row.name),
        title=row.name,
        description=_description(row),
        input_schema=_arguments(row),
        annotations=types.ToolAnnotations(
            read_only_hint=kind == "read",
            destructive_hint=kind == "reach" or row.method == "DELETE",
            idempotent_hint=kind == "read",
            open_world_hint=kind == "reach",
        ),
    )


def _description(row: Operation[Any, Any]) -> str:
    parts = [row.summary]
    if row.paged:
        parts.append(
            f"Gives {PAGE_ROWS} rows unless `limit` says otherwise (at most 100); go on with"
            " `cursor` set to the answer's `next_cursor` and the same filters."
        )
    if row.name in REACHES:
        parts.append(f"It {REACHES[row.name]}; the user is asked to confirm each call.")
    scope = f"Needs the scope `{row.scope}`." if row.scope else "Any active key will do."
    return " ".join([*parts, scope])


def _arguments(row: Operation[Any, Any]) -> dict[str, Any]:
    shapes = schemas.definitions((row,))
    name = schemas.name_of(row.request)
    root = {key: value for key, value in shapes[name].items() if key != "description"}
    root |= schemas.BETWEEN_FIELDS.get(name, {})
    root.setdefault("properties", {})
    parts = [part for part in schemas.closure(shapes, [name]) if part != name]
    if parts:
        root["$defs"] = {part: shapes[part] for part in parts}
    if row.paged:
        limit = {**root["properties"]["limit"], "default": PAGE_ROWS}
        root["properties"] = {**root["properties"], "limit": limit}
    made = _local(root)
    return dict(made) if isinstance(made, dict) else {}


def _local(node: object) -> object:
    if isinstance(node, dict):
        return {
            key: value.replace(_SERVICE_REFS, _LOCAL_REFS)
            if key == "$ref" and isinstance(value, str)
            else _local(value)
            for key, value in node.items()
        }
    return [_local(one) for one in node] if isinstance(node, list) else node
