"""What is offered to an assistant, and what asks first."""

from __future__ import annotations

import jsonschema
import pytest

from dialframe.assistant import analysis_tools, offered_operations
from dialframe.assistant.dispatcher import Dispatcher
from dialframe.assistant.offered_operations import ALL, CONFIRMED, Exposure, kind_of
from dialframe.contract import operations
from dialframe.errors import ConfigError


def test_reading_only_without_a_word() -> None:
    """Nothing that changes or reaches is offered by default."""
    names = {row.name for row in offered_operations.offered(Exposure()).values()}
    assert names == {row.name for row in operations.ALL if kind_of(row) == "read"}
    assert names.isdisjoint(CONFIRMED)


def test_writes_by_allow_list() -> None:
    """One write more, and only that; `all` gives every operation."""
    own = offered_operations.offered(Exposure.of(["leads.update"]))
    assert set(own) == {*offered_operations.offered(Exposure()), "leads_update"}
    assert len(offered_operations.offered(Exposure.of([ALL]))) == len(operations.ALL)


def test_unknown_name_is_refused() -> None:
    """A slip in an allow-list is said, not ignored."""
    with pytest.raises(ConfigError, match=r"leads\.updat"):
        Exposure.of(["leads.updat"])


@pytest.mark.parametrize(
    "name",
    [
        "leads.import", "leads.create", "campaigns.resume", "calls.start", "callbacks.create",
        "callbacks.reschedule", "appointments.create", "sms.send", "whatsapp.send",
    ],
)  # fmt: skip
def test_what_can_reach_a_person_asks(name: str) -> None:
    """Calls, messages, callbacks, appointments, resuming and adding leads are confirmed."""
    row = operations.BY_NAME[name]
    assert kind_of(row) == "final"
    annotations = offered_operations.definition(row).annotations
    assert annotations is not None
    assert annotations.read_only_hint is False
    assert "confirm" in (offered_operations.definition(row).description or "")


@pytest.mark.parametrize("row", operations.ALL, ids=lambda row: row.name)
def test_schemas_stand_on_their_own(row: operations.Operation) -> None:
    """Every tool's arguments are an object schema that refers to nothing outside."""
    schema = offered_operations.definition(row).input_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(row.request.model_fields)
    assert "#/components" not in str(schema)


def test_each_tool_says_what_it_is_for_and_what_it_answers() -> None:
    """In the words of who asks, with the fields of the answer."""
    tools = [offered_operations.definition(row) for row in operations.ALL]
    tools += Dispatcher(lambda _: pytest.fail("nobody calls")).tools.values()
    for tool in tools:
        assert "Use this for: " in (tool.description or ""), tool.name
        schema = tool.output_schema or {}
        assert schema.get("type") == "object", tool.name
        assert len(schema["properties"]) > 1, tool.name


def test_names_are_what_every_client_takes() -> None:
    """Letters, digits and underscores, and none twice."""
    names = [offered_operations.tool_name(row.name) for row in operations.ALL] + [
        row.name for row in analysis_tools.ALL
    ]
    assert len(set(names)) == len(names)
    assert all(name.replace("_", "").isalnum() and len(name) <= 64 for name in names)


def test_whatever_is_of_tier_two_asks() -> None:
    """The contract's own word for what can reach or unlock real people; leads to dial and WhatsApp beside it."""
    tier_two = {row.name for row in operations.ALL if row.tier == 2}
    assert set(CONFIRMED) > tier_two | {"leads.import", "leads.create", "whatsapp.send"}


def test_reading_says_so_and_the_rest_does_not() -> None:
    """A client that trusts the hints treats nothing that changes as harmless."""
    for row in operations.ALL:
        hints = offered_operations.definition(row).annotations
        assert hints is not None
        assert hints.read_only_hint is (row.method == "GET" or row.name == "dnc.check")
