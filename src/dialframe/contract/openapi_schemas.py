"""The shapes of requests and answers as JSON Schemas of an OpenAPI 3.1 document.

Rule 1: an answer is open. Fields may be added, so unknown ones are allowed; a set of values that may grow is
text with its known values beside it, never a closed enum.
Rule 2: a request is closed. Unknown fields are refused, enums are closed, and a field that has nothing to say
is left out: null stands only where the contract gives it a meaning.
Rule 3: a field that the contract shows is always present (contract, Resources); in a shape that we assumed, only
what the model demands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from dialframe.contract import limits
from dialframe.contract.models.base_models import Media, Nothing
from dialframe.contract.operations import Operation

Schema = dict[str, Any]

_SCHEMAS: Final = "#/components/schemas/"

#: Fields of requests in which null clears what is there (contract, Endpoints: Leads).
NULL_CLEARS: Final[dict[str, frozenset[str]]] = {"LeadUpdate": frozenset({"full_name", "email"})}

#: What the contract says of a request's field beyond its bounds, by the field's name.
FIELDS: Final[dict[str, Schema]] = {
    "limit": {"description": "Rows on a page."},
    "cursor": {
        "description": "Where the list goes on: `page.next_cursor` of the page before, with the "
        "same filters."
    },
    "url": {"format": "uri", "description": "https, of a public address."},
    "dial_within_seconds": {"default": limits.DIAL_WITHIN_DEFAULT_S},
}

#: Bounds between the fields of one request, which a single field's schema cannot say.
#: Endpoints, Calls, CallCreateRequest: exactly one of the two names.
BETWEEN_FIELDS: Final[dict[str, Schema]] = {
    "CallStart": {
        "oneOf": [{"required": ["agent_extension"]}, {"required": ["agent_email"]}],
    },
}


def name_of(model: type[BaseModel]) -> str:
    """A model's name among the components: its class name, and `LeadPage` for a page of leads."""
    # OpenAPI 3.1, Components Object: names are letters, digits and `._-`.
    return re.sub(r"^Page\[(\w+)\]$", r"\1Page", model.__name__)


def reference(name: str, kind: str = "schemas") -> Schema:
    """A reference to the component of that kind and name."""
    return {"$ref": f"#/components/{kind}/{name}"}


def definitions(
    rows: Iterable[Operation[Any, Any]], pushed: Iterable[type[BaseModel]] = ()
) -> dict[str, Schema]:
    """Schemas of all shapes of the rows, and of what they are made of, by name.

    A request's schema has all its fields, wherever they travel; see `only`.
    """
    table = tuple(rows)
    models = {row.request for row in table} | {row.response for row in table} - {
        Media,
        Nothing,
    }
    models |= set(pushed)
    _, top = models_json_schema(
        [(model, "validation") for model in sorted(models, key=name_of)],
        ref_template=f"{_SCHEMAS}{{model}}",
    )
    schemas = {_schema_name(name): _simple(schema) for name, schema in top["$defs"].items()}
    for name, schema in schemas.items():
        for field_name, field in schema.get("properties", {}).items():
            if schema["additionalProperties"] is not False:
                # What a reader takes for a missing field is its own affair.
                field.pop("default", None)
                continue
            if field_name not in NULL_CLEARS.get(name, ()):
                _refuse_null(field)
            field.update(FIELDS.get(field_name, {}))
    shown = (name_of(row.response) for row in table if not row.assumed)
    for name in closure(schemas, shown):
        schemas[name]["required"] = list(schemas[name]["properties"])
    return schemas


def only(name: str, schema: Schema, fields: Iterable[str]) -> Schema:
    """The part of a request's schema that covers some of its fields: its body, for instance."""
    picked: Schema = {key: schema[key] for key in ("type", "description") if key in schema}
    picked["properties"] = {field: schema["properties"][field] for field in fields}
    required = [field for field in schema.get("required", ()) if field in picked["properties"]]
    if required:
        picked["required"] = required
    return {**picked, **BETWEEN_FIELDS.get(name, {}), "additionalProperties": False}


def closure(schemas: Mapping[str, Schema], names: Iterable[str]) -> list[str]:
    """The names, and those of every schema that theirs refer to, each once."""
    reached: list[str] = []
    waiting = [name for name in names if name in schemas]
    while waiting:
        name = waiting.pop(0)
        if name not in reached:
            reached.append(name)
            waiting += _references(schemas[name])
    return reached


def _references(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"].removeprefix(_SCHEMAS)
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _schema_name(name: str) -> str:
    return re.sub(r"^Page_(\w+)_$", r"\1Page", name)


def _simple(schema: Mapping[str, Any]) -> Schema:
    """Without titles that repeat names, null defaults, and choices of one."""
    simple = {
        key: value
        for key, value in schema.items()
        if key not in ("title", "anyOf") and not (key == "default" and value is None)
    }
    if "$ref" in simple:
        simple["$ref"] = _SCHEMAS + _schema_name(simple["$ref"].removeprefix(_SCHEMAS))
    if "description" in simple:
        # The lines of a docstring are broken for an editor; a blank one parts paragraphs.
        simple["description"] = re.sub(r"(?<!\n)\n(?!\n)", " ", simple["description"])
    if "properties" in simple:
        simple["properties"] = {
            name: _simple(value) for name, value in simple["properties"].items()
        }
    for key in ("items", "additionalProperties"):
        if isinstance(simple.get(key), dict):
            simple[key] = _simple(simple[key])
    if "anyOf" in schema:
        simple |= _choice([_simple(alternative) for alternative in schema["anyOf"]])
    return simple


def _choice(alternatives: list[Schema]) -> Schema:
    null = {"type": "null"}
    rest = [alternative for alternative in alternatives if alternative != null]
    # `Literal[...] | str`: known values, and whatever v1 may add (contract, Versioning).
    if len(rest) > 1 and {"type": "string"} in rest:
        rest = [_merge_alternatives(rest)]
    if null not in alternatives:
        return rest[0] if len(rest) == 1 else {"anyOf": rest}
    # OpenAPI 3.1 has no `nullable`: null is a type like any other.
    if len(rest) == 1 and isinstance(rest[0].get("type"), str):
        return {**rest[0], "type": [rest[0]["type"], "null"]}
    return {"anyOf": [*rest, null]}


def _merge_alternatives(alternatives: list[Schema]) -> Schema:
    values: list[str] = []
    for alternative in alternatives:
        # JSON Schema 2020-12 has `const` for an enum of one.
        values += alternative.get("enum", [])
        values += [alternative["const"]] if "const" in alternative else []
    return {
        "type": "string",
        "description": "An open set: values may be added.",
        "examples": values,
        "x-extensible-enum": values,
    }


def _refuse_null(field: Schema) -> None:
    if isinstance(field.get("type"), list):
        field["type"] = next(kind for kind in field["type"] if kind != "null")
    elif {"type": "null"} in field.get("anyOf", ()):
        field |= next(
            alternative for alternative in field.pop("anyOf") if alternative != {"type": "null"}
        )
