"""The OpenAPI document against the contract's own text, the samples, and a running sandbox."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator, FormatChecker

from contract.promised import OPERATIONS, UNSHOWN
from dialframe import sandbox
from dialframe.contract import error_codes, openapi, operations
from rows import every_row

Row = Any
Json = dict[str, Any]

DOCUMENT = openapi.document()
SCHEMAS = DOCUMENT["components"]["schemas"]

each_operation = every_row("row", operations.ALL)

APPOINTMENT = {"phone": "+12025550142", "scheduled_at": "2030-01-01T10:00:00Z"}
NOBODY = "00000000-0000-4000-8000-000000000000"

# Written out from the contract's Endpoints and Limits, not from the models.
PARAMETERS: list[tuple[str, str, bool, Json]] = [
    ("leads.list", "limit", False, {"minimum": 1, "maximum": 100, "default": 50}),
    ("leads.list", "cursor", False, {"minLength": 1, "maxLength": 1024}),
    ("leads.list", "status", False,
     {"enum": ["new", "contacted", "callback", "dnc", "completed"]}),
    ("leads.list", "external_id", False, {"minLength": 1, "maxLength": 128}),
    ("leads.import", "campaign_id", True, {}),
    ("leads.import", "Idempotency-Key", True, {"minLength": 1, "maxLength": 255}),
    ("leads.update", "Idempotency-Key", False, {"minLength": 1, "maxLength": 255}),
    ("leads.update", "If-Match", False, {"maxLength": 128}),
    ("appointments.cancel", "If-Match", False, {"maxLength": 128}),
    ("calls.list", "direction", False, {"enum": ["inbound", "outbound"]}),
    ("campaigns.list", "status", False,
     {"enum": ["draft", "ready", "running", "paused", "completed"]}),
    ("callbacks.list", "campaign_id", True, {}),
    ("callbacks.list", "status", False, {"enum": ["pending", "completed", "cancelled"]}),
    ("me", "X-Correlation-ID", False, {"minLength": 1, "maxLength": 128}),
]  # fmt: skip

FIELDS: list[tuple[str, str, Json]] = [
    ("LeadImport", "leads", {"minItems": 1, "maxItems": 200}),
    ("LeadInput", "phone", {"type": "string", "minLength": 1, "maxLength": 32}),
    ("LeadInput", "custom_fields", {"type": "object", "maxProperties": 20}),
    ("LeadInput", "email", {"type": "string", "maxLength": 254}),
    ("LeadCreate", "source", {"minLength": 1, "maxLength": 100}),
    ("LeadCreate", "dial_within_seconds", {"minimum": 30, "maximum": 3600, "default": 300}),
    ("LeadUpdate", "full_name", {"type": ["string", "null"], "maxLength": 200}),
    ("LeadUpdate", "email", {"type": ["string", "null"], "maxLength": 254}),
    ("LeadUpdate", "custom_fields", {"type": "object", "maxProperties": 20}),
    ("CallStart", "agent_email", {"type": "string", "minLength": 3, "maxLength": 254}),
    ("WebhookCreate", "url", {"format": "uri", "minLength": 9, "maxLength": 2048}),
    ("WebhookCreate", "events", {"minItems": 1, "maxItems": 6}),
    ("SmsSend", "body", {"minLength": 1, "maxLength": 918}),
    ("SmsSend", "client_reference", {"minLength": 1, "maxLength": 64}),
    ("CallbackCreate", "notes", {"type": "string", "maxLength": 500}),
    ("CallbackCreate", "scheduled_at", {"type": "string", "format": "date-time"}),
    ("AppointmentCreate", "duration_minutes", {"type": "integer", "minimum": 5, "maximum": 480}),
    ("AppointmentCreate", "notes", {"maxLength": 1000}),
    ("DncCheck", "phones", {"minItems": 1, "maxItems": 100}),
    ("Lead", "attempts", {"type": "integer"}),
    ("Lead", "full_name", {"type": ["string", "null"]}),
    ("Lead", "last_attempt_at", {"type": ["string", "null"], "format": "date-time"}),
    ("Call", "duration_seconds", {"type": ["number", "null"]}),
    ("PageInfo", "next_cursor", {"type": ["string", "null"]}),
    ("Callback", "lead_id", {"type": ["string", "null"]}),
]  # fmt: skip

# Contract, Endpoints: POST /v1/calls, rules 1 to 6, and the errors that any write can answer with.
OF_A_CALL = {
    "402": {"insufficient_balance"},
    "403": {"sending_suspended", "outbound_not_approved", "tier_not_enabled", "ip_not_allowed",
            "insufficient_scope", "api_access_disabled"},
    "409": {"agent_unavailable", "conflict", "idempotency_conflict", "outcome_unknown"},
    "422": {"dial_refused", "on_dnc", "blocked_country", "validation_failed"},
    "429": {"daily_cap_reached", "rate_limit_exceeded", "spend_cap_reached"},
}  # fmt: skip


def at(name: str) -> Json:
    """The document's entry for an operation."""
    row = operations.BY_NAME[name]
    return DOCUMENT["paths"][row.path][row.method.lower()]  # type: ignore[no-any-return]


def resolved(node: Json) -> Json:
    """What a reference stands for."""
    while "$ref" in node:
        found: Any = DOCUMENT
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        node = found
    return node


def parameters(name: str) -> dict[str, Json]:
    """Parameters of an operation by their name."""
    return {p["name"]: p for p in map(resolved, at(name)["parameters"])}


def codes(name: str) -> dict[str, set[str]]:
    """Error codes of an operation by status."""
    return {
        status: set(resolved(answer)["content"]["application/problem+json"]["examples"])
        for status, answer in at(name)["responses"].items()
        if int(status) >= 400
    }


def problems(schema: Json, value: Any) -> list[str]:
    """What a JSON Schema of the document finds wrong with a value."""
    whole = {**schema, "components": DOCUMENT["components"]}
    checker = Draft202012Validator(whole, format_checker=FormatChecker())
    return [f"{error.json_path}: {error.message}" for error in checker.iter_errors(value)]


def answer_schema(name: str, status: int) -> Json:
    """The schema of one answer of an operation."""
    content = resolved(at(name)["responses"][str(status)])["content"]
    return next(iter(content.values()))["schema"]  # type: ignore[no-any-return]


def within(node: Any) -> Iterator[Json]:
    """Every object in a piece of JSON."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from within(value)
    elif isinstance(node, list):
        for value in node:
            yield from within(value)


def reachable(start: Json) -> list[Json]:
    """A schema and all that it refers to."""
    found: list[Json] = []
    waiting = [start]
    while waiting:
        schema = resolved(waiting.pop())
        if schema not in found:
            found.append(schema)
            waiting += [node for node in within(schema) if "$ref" in node]
    return found


def test_document_is_valid_openapi() -> None:
    """The document, with and without an address, is what the OpenAPI 3.1 specification asks for."""
    from openapi_spec_validator import OpenAPIV31SpecValidator

    assert not list(OpenAPIV31SpecValidator(DOCUMENT).iter_errors())

    named = openapi.document("https://dialing.example/")
    assert named["servers"] == [{"url": "https://dialing.example"}]
    assert named == {**DOCUMENT, "servers": named["servers"]}
    assert json.loads(json.dumps(named)) == named


def test_document_cannot_be_spoilt_for_the_next_reader() -> None:
    """What somebody changes in a document is not in the next one."""
    before = json.dumps(openapi.document())
    for node in list(within(openapi.document())):
        node["spoilt"] = True

    assert json.dumps(openapi.document()) == before


def test_every_promised_operation_is_there_with_its_scope() -> None:
    """Methods, paths and scopes are those of the contract's text, and no other."""
    found = {
        f"{method.upper()} {path} {entry.get('x-dialframe-scope', '-')}"
        for path, entries in DOCUMENT["paths"].items()
        for method, entry in entries.items()
    }

    assert found == set(OPERATIONS)


@each_operation
def test_operation_is_marked(row: Row) -> None:
    """Each operation has the row's name, its tag, its scope as a role, tier, switch, and whether it is assumed."""
    entry = at(row.name)

    assert entry["operationId"] == row.name
    assert entry["tags"] == [row.name.split(".")[0]]
    assert entry["security"] == [{"bearer": [row.scope] if row.scope else []}]
    assert entry["x-dialframe-tier"] == row.tier
    assert entry.get("x-dialframe-switch") == row.switch
    assert (row.switch or "tier") in entry["description"]
    assert entry.get("x-assumed", False) is (row.name in UNSHOWN)


@each_operation
def test_writes_alone_take_a_key(row: Row) -> None:
    """POST and DELETE that change data require the key header, PATCH may carry it, reads know none."""
    key = parameters(row.name).get("Idempotency-Key")
    replayed = "Idempotency-Replayed" in at(row.name)["responses"][str(row.status)]["headers"]

    if row.method == "GET" or row.name == "dnc.check":
        assert key is None
        assert not replayed
    else:
        assert key is not None
        assert key["required"] is (row.method != "PATCH")
        assert replayed


@pytest.mark.parametrize(("name", "parameter", "required", "bounds"), PARAMETERS)
def test_parameter_has_the_contracts_bounds(
    name: str, parameter: str, required: bool, bounds: Json
) -> None:
    """A parameter is required and bounded as the contract says, and is never null."""
    found = parameters(name)[parameter]

    assert found["required"] is required
    assert found["schema"].items() >= bounds.items()
    assert found["schema"]["type"] in ("string", "integer")


@pytest.mark.parametrize(("shape", "field", "bounds"), FIELDS)
def test_field_has_the_contracts_bounds(shape: str, field: str, bounds: Json) -> None:
    """A field's type, nullability and bounds are the contract's."""
    assert SCHEMAS[shape]["properties"][field].items() >= bounds.items()


@each_operation
def test_answers_are_open_and_requests_closed(row: Row) -> None:
    """Answers take unknown fields and values; requests refuse both, and null but where it clears."""
    entry = at(row.name)
    content = entry["responses"][str(row.status)].get("content", {})
    for schema in reachable(content.get("application/json", {}).get("schema", {})):
        assert not [node for node in within(schema) if "enum" in node or "const" in node]
        assert schema.get("additionalProperties", True)
    body = entry.get("requestBody", {}).get("content", {}).get("application/json", {})
    for schema in reachable(body.get("schema", {})):
        assert schema.get("additionalProperties", False) is False
        nullable = {
            name
            for name, one in schema.get("properties", {}).items()
            if "null" in one.get("type", "")
        }
        assert nullable == ({"full_name", "email"} if row.name == "leads.update" else set())


def test_bodies_are_demanded_where_something_has_to_be_said() -> None:
    """A body is required, optional (empty or `{}`), or not taken at all, as the contract says."""
    demanded = {
        name: at(name).get("requestBody", {}).get("required")
        for name in ("calls.start", "leads.update", "campaigns.pause", "events.replay",
                     "webhooks.delete", "leads.list")
    }  # fmt: skip

    assert list(demanded.values()) == [True, True, False, False, None, None]
    pause = at("campaigns.pause")["requestBody"]["content"]["application/json"]["schema"]
    assert not problems(pause, {})
    assert problems(pause, {"campaign_id": f"cmp_{NOBODY}"})


def test_values_that_may_grow_are_named() -> None:
    """An open set says which values there are today, in an answer as examples, in a filter as an enum."""
    status = SCHEMAS["Lead"]["properties"]["status"]

    assert status["examples"] == ["new", "contacted", "callback", "dnc", "completed"]
    assert status["type"] == "string"
    assert parameters("leads.list")["status"]["schema"]["enum"] == status["examples"]


def test_every_error_code_is_an_answer_of_some_operation() -> None:
    """All codes of the contract appear, but the two that are said before an operation is known."""
    found = {
        code for row in operations.ALL for known in codes(row.name).values() for code in known
    }

    assert set(error_codes.BY_CODE) - found == {"route_not_available", "method_not_allowed"}
    assert found <= set(error_codes.BY_CODE)


def test_refusals_of_a_call_are_the_contracts() -> None:
    """Click-to-call answers with the refusals that its rules name, and those of every write."""
    assert codes("calls.start").items() >= OF_A_CALL.items()
    assert codes("me")["403"] == {"api_access_disabled", "ip_not_allowed"}


@each_operation
def test_refusals_wait_as_the_contract_says(row: Row) -> None:
    """Each 429 and 503 demands `Retry-After`, and each example is a problem document of its status."""
    for status, answer in at(row.name)["responses"].items():
        headers = {name: resolved(one) for name, one in resolved(answer)["headers"].items()}
        assert headers["X-Request-ID"]["required"]
        assert headers["Cache-Control"]["schema"]["const"] == "no-store"
        assert headers.get("Retry-After", {}).get("required", False) is (status in ("429", "503"))
        content = resolved(answer).get("content", {}).get("application/problem+json", {})
        for code, example in content.get("examples", {}).items():
            value = resolved(example)["value"]
            assert (value["code"], value["status"]) == (code, int(status))
            assert not problems(content["schema"], value)


@each_operation
def test_samples_are_what_the_document_says(row: Row, samples: Path) -> None:
    """Each sample's request body and answer fit; with a field too many, the request does not."""
    sample = json.loads((samples / "responses" / f"{row.name}.json").read_text())
    if "requestBody" in at(row.name):
        schema = at(row.name)["requestBody"]["content"]["application/json"]["schema"]
        body = {
            name: sample["request"][name] for name in row.body_names if name in sample["request"]
        }
        assert not problems(schema, body)
        assert problems(schema, {**body, "surplus": 1})
    if row.streamed or sample["body"] is None:
        assert not row.streamed or at(row.name)["responses"]["200"]["content"] == {"*/*": {}}
    else:
        schema = answer_schema(row.name, sample["status"])
        assert not problems(schema, sample["body"])
        assert problems(schema, [])


def test_shown_fields_are_always_present() -> None:
    """What the contract shows is required in an answer; of what is assumed, only what is sure."""
    for name in ("Lead", "LeadResult", "PageInfo", "SecretRotated", "WebhookDelivery"):
        assert SCHEMAS[name]["required"] == list(SCHEMAS[name]["properties"])
    assert "required" not in SCHEMAS["Me"]
    assert SCHEMAS["CallSummary"]["required"] == ["status", "schema_version"]


def test_click_to_call_names_one_agent() -> None:
    """Exactly one of extension and e-mail is demanded."""
    schema, to = {"$ref": "#/components/schemas/CallStart"}, "+12025550142"

    assert not problems(schema, {"to": to, "agent_extension": "1001"})
    assert problems(schema, {"to": to})
    assert problems(schema, {"to": to, "agent_extension": "1", "agent_email": "a@example.org"})


@pytest.fixture(scope="module")
def service() -> Iterator[tuple[sandbox.Sandbox, httpx.Client]]:
    """A tiny sandbox without rate limits, and a plain HTTP client for it."""
    with sandbox.start(size="tiny", seed=5) as running:
        running.console.update_account({"rate_limits": None})
        headers = {"Authorization": f"Bearer {running.api_key}"}
        with httpx.Client(base_url=running.base_url, headers=headers) as http:
            yield running, http


def conforming(name: str, answer: httpx.Response) -> Any:
    """The JSON of an answer that is what the document says of its status, headers included."""
    entry = at(name)["responses"][str(answer.status_code)]
    for header, reference in resolved(entry)["headers"].items():
        known = resolved(reference)
        assert header in answer.headers or not known.get("required", False), header
        if header in answer.headers and known["schema"]["type"] == "string":
            assert not problems(known["schema"], answer.headers[header])
    media = answer.headers["content-type"].partition(";")[0]
    assert media in resolved(entry)["content"]
    assert not problems(answer_schema(name, answer.status_code), answer.json())
    return answer.json()


def test_secret_that_is_replayed_fits(service: tuple[sandbox.Sandbox, httpx.Client]) -> None:
    """The answer from the store, without the secret, is what the document says as well."""
    endpoint = {"url": "https://127.0.0.1/hook", "events": ["call.completed"]}
    for replayed in (False, True):
        key = {"Idempotency-Key": "c"}
        answer = service[1].post("/v1/webhooks", json=endpoint, headers=key)
        assert (conforming("webhooks.create", answer)["secret"] is None) is replayed
        assert answer.headers.get("Idempotency-Replayed") == ("true" if replayed else None)


WRONG: list[tuple[str, str, str, Json, int]] = [
    ("leads.get", "GET", f"/v1/leads/lead_{NOBODY}", {}, 404),
    ("leads.list", "GET", "/v1/leads?cursor=x", {}, 400),
    ("leads.list", "GET", "/v1/leads?color=red", {}, 400),
    ("me", "GET", "/v1/me", {"headers": {"Authorization": ""}}, 401),
    ("appointments.create", "POST", "/v1/appointments", {"json": APPOINTMENT}, 400),
    ("dnc.check", "POST", "/v1/dnc/check", {"content": b"x"}, 415),
    ("whatsapp.send", "POST", "/v1/whatsapp/messages", {"json": {"to": "+12025550142"}}, 403),
]


@pytest.mark.parametrize(("name", "method", "path", "sent", "status"), WRONG)
def test_refusals_of_the_sandbox_fit(
    service: tuple[sandbox.Sandbox, httpx.Client],
    name: str,
    method: str,
    path: str,
    sent: Json,
    status: int,
) -> None:
    """Refusals are problem documents with a code that the document lists under their status."""
    answer = service[1].request(method, path, **sent)
    problem = conforming(name, answer)

    assert answer.status_code == problem["status"] == status
    assert problem["code"] in codes(name)[str(status)]
    assert re.fullmatch(
        r"urn:service:request:" + answer.headers["X-Request-ID"], problem["instance"]
    )
