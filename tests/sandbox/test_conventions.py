"""What the contract says of every request and every answer."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rows import labeled
from sandbox.service_bench import (
    BY_NAME,
    CAMPAIGN,
    LEAD,
    MIB,
    OPERATIONS,
    PHONE,
    PUBLIC_URL,
    SCOPES,
    Operation,
    Party,
    answered,
    common,
    invalid,
    named,
    problem,
    spoken,
)

REACHED = [operation for operation in OPERATIONS if operation.name != "whatsapp.send"]
JSON_TYPE = {"Content-Type": "application/json"}


def raw(party: Party, name: str, content: Any, headers: dict[str, str] | None = None) -> Any:
    """Send exactly these bytes as the body of an operation."""
    operation = BY_NAME[name]
    return party.send(
        operation.method,
        operation.path,
        params=operation.params,
        content=content,
        headers=JSON_TYPE if headers is None else headers,
    )


def test_every_operation_is_there_and_there_are_45() -> None:
    """The table that this suite goes by has the contract's 45 operations and 24 scopes."""
    assert (len(OPERATIONS), len(SCOPES)) == (45, 24)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/leads/",
        f"/v1/leads/{LEAD}/nothing",
        f"/v1/leads/{LEAD}/history/more",
        "/v2/leads",
        "/v1/campaigns/",
        "/v1/webhook-events/",
        "/V1/leads",
        "/v1/Leads",
        "/docs",
        "/v1/calls%00",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_unknown_path_is_404(party: Party, method: str, path: str) -> None:
    """An unknown path answers 404 route_not_available, whatever the method."""
    problem(party.send(method, path), 404, "route_not_available")


@pytest.mark.parametrize("operation", OPERATIONS, ids=named)
def test_known_path_with_another_method_is_405(party: Party, operation: Operation) -> None:
    """Another method answers 405 with an Allow header that lists the path's own methods."""
    path_methods = {one.method for one in OPERATIONS if one.path == operation.path}
    others = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} - path_methods
    if operation.name == "leads.import":
        others -= {"GET", "PATCH"}  # these read as the lead whose id is "import"
    for method in others:
        response = party.send(method, operation.path)
        problem(response, 405, "method_not_allowed")
        allowed = {each.strip() for each in response.headers["allow"].split(",")}
        assert path_methods <= allowed
        assert method not in allowed


RAW = {
    "no HTTP": b"GARBAGE\r\n\r\n",
    "bad header": b"GET /v1/me HTTP/1.1\r\nHost: x\r\nNo Colon\r\n\r\n",
    "bad length": b"POST /v1/leads HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n",
    "two lengths": b"POST /v1/leads HTTP/1.1\r\nHost: x\r\n"
    b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "huge header": b"GET /v1/me HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 2_000_000 + b"\r\n\r\n",
    "old HTTP": b"GET /v1/me HTTP/1.0\r\n\r\n",
    "unheard-of method": b"BREW /v1/leads HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "no path": b"OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
}


@pytest.mark.parametrize("what", RAW)
def test_answer_to_anything_carries_the_headers(party: Party, what: str) -> None:
    """Whatever comes in, an answer has its request id, no-store and a problem document."""
    head, _, body = spoken(party.service.base_url, RAW[what]).partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    status = int(lines[0].split()[1])
    headers = [tuple(line.split(": ", 1)) for line in lines[1:]]

    assert 400 <= status < 500
    if what == "no HTTP":
        assert dict(headers)["x-request-id"].startswith("edge_")
    common(httpx.Response(status, headers=headers, content=body))


@pytest.mark.parametrize("path", ["/v1/me", "/v1/leads", "/v1/dnc/check", "/v1/nothing"])
def test_head_has_the_headers_and_no_body(party: Party, path: str) -> None:
    """HEAD is answered as the GET would be, or as another method; never with a body."""
    url, auth = party.service.base_url + path, {"Authorization": f"Bearer {party.key}"}
    response = party.http.head(url, headers=auth)

    assert response.status_code in ((404,) if path == "/v1/nothing" else (200, 405))
    assert response.headers["x-request-id"]
    assert response.headers["cache-control"] == "no-store"
    assert response.content == b""
    if response.status_code == 405:
        assert response.headers["allow"]


@pytest.mark.parametrize(
    "query", ["limit=1&limit=2", "limit=1&&", "limit", "=1", "%ff=%ff", "limit=%00"]
)
def test_odd_query_is_answered_in_order(party: Party, query: str) -> None:
    """A query string at the edge of the rules is taken or refused, never a 5xx."""
    response = party.get(f"/v1/leads?{query}")

    if response.status_code != 200:
        invalid(response)


def test_request_ids_differ(party: Party) -> None:
    """Each answer has a request id of its own, and a client's own header does not set it."""
    request_id = "req_01ARZ3NDEKTSV4RRFFQ69G5FAV"
    seen = [
        party.get("/v1/me", headers={"X-Request-ID": request_id}).headers["x-request-id"]
        for _ in range(5)
    ]

    assert len({*seen, request_id}) == 6


@pytest.mark.parametrize("operation", REACHED, ids=named)
def test_what_a_request_does_not_know_is_refused(party: Party, operation: Operation) -> None:
    """Unknown query parameters and body fields answer 400 validation_failed, which names them."""
    params = {**operation.params, "unheard_of": "1"}
    response = party.run(operation.name, params=params)
    problem(response, 400, "validation_failed")
    invalid(response, "unheard_of")
    if operation.body is not None:
        response = party.run(operation.name, body={**operation.body, "unheard_of": 1})
        problem(response, 400, "validation_failed")
        invalid(response, "unheard_of")


@pytest.mark.parametrize(
    "operation", [op for op in REACHED if "-4000-8000-" in op.path], ids=named
)
def test_id_of_another_type_is_refused(party: Party, operation: Operation) -> None:
    """One of another type is unknown or malformed."""
    for wrong in (f"evil_{uuid.uuid4()}", str(uuid.uuid4()), "x", "%2e%2e", "'%20OR%201=1"):
        path = "/".join(
            wrong if "-4000-8000-" in part else part for part in operation.path.split("/")
        )
        response = party.send(operation.method, path, operation.body)
        if response.status_code == 404:
            problem(response, 404, "not_found")
        else:
            invalid(response)


@pytest.mark.parametrize(
    ("kind", "taken"),
    [
        *((kind, False) for kind in (None, "text/plain", "application/x-www-form-urlencoded",
                                     "application/jsonp", "application/merge-patch+json",
                                     "application/json; charset=latin-1")),
        ("application/json; charset=utf-8", True), ('Application/JSON;charset="UTF-8"', True),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["leads.create", "leads.update", "dnc.check", "sms.send"])
def test_body_calls_itself_json_in_utf_8(
    party: Party, name: str, kind: str | None, taken: bool
) -> None:
    """In any spelling; a body that does not call itself application/json answers 415."""
    body = json.dumps(BY_NAME[name].body).encode()
    response = raw(party, name, body, {} if kind is None else {"Content-Type": kind})
    if taken:
        assert response.status_code != 415
    else:
        problem(response, 415, "unsupported_media_type")


@pytest.mark.parametrize("value", ["a", "order-7:retry.1_B", "Az09._:-" * 16])
def test_correlation_header_is_taken(party: Party, value: str) -> None:
    """1-128 of `A-Z a-z 0-9 . _ : -` change nothing about the answer, on reads and writes; the rest is invalid."""
    answered(party.get("/v1/me", headers={"X-Correlation-ID": value}), 200)
    for wrong in ("", value.ljust(129, "x"), "with space", "ümlaut".encode(), "a/b", "a,b", "<x>"):
        for method, path in (("GET", "/v1/me"), ("POST", "/v1/dnc")):
            response = party.send(method, path, headers={"X-Correlation-ID": wrong})
            problem(response, 400, "validation_failed")
            invalid(response, "/X-Correlation-ID")


@pytest.mark.parametrize("content", [b"", b"  {} \n"], ids=["nothing", "braces"])
@pytest.mark.parametrize("name", ["campaigns.pause", "campaigns.resume", "webhooks.rotate_secret"])
def test_body_may_be_empty_or_braces(party: Party, name: str, content: bytes) -> None:
    """`Body empty or {}` takes both; what is refused is the unknown id."""
    headers = JSON_TYPE if content else {}

    problem(raw(party, name, content, headers), 404, "not_found")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        *((content, "invalid_json") for content in (
            b"{", b'{"phones": ["+12125550123"]} trailing', b'{"phones": NaN}', b"{'phones': []}",
            b'{"phones": -Infinity}', b'{"phones": ' + b"9" * 5000 + b"}", b"\xef\xbb\xbf{}", b" ",
        )),
        *((content, "wrong_type") for content in (b"[]", b"null", b'"phones"', b"7")),
        (b'{"phones": ["\xff\xfe"]}', "invalid_encoding"), (b"\xff", "invalid_encoding"),
        (b"", "missing"), (b'{"phones": 1e999}', "out_of_range"),
        (b'{"phones": 1, "phones": ["+12125550123"]}', "duplicate_name"),
        (b'{"phones": [], "a": {"b": 1, "b": 1}}', "duplicate_name"),
        (b'{"phones": ["\\ud800"]}', "invalid_text"), (b'{"phones": ["a\\u0000"]}', "invalid_text"),
        (b'{"\\udfff": 1}', "invalid_text"),
        (b'{"phones": ' + b'{"a":' * 30 + b"1" + b"}" * 31, "too_deep"),
        (b'{"phones":' * 50_000, "too_deep"), (b"[" * 500_000, "too_deep"),
    ],
    ids=repr,
)  # fmt: skip
def test_body_that_is_no_json_object_is_refused(party: Party, content: bytes, code: str) -> None:
    """Bodies are JSON objects in UTF-8 of fit text and finite numbers; the code says what is wrong."""
    assert invalid(raw(party, "dnc.check", content))["errors"][0]["code"] == code


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=15,
)  # fmt: skip


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=VALUES.filter(lambda value: value is not None))
def test_any_value_survives(party: Party, lead: str, value: object) -> None:
    """Whatever fit text and finite numbers make, a custom field has it as it was sent."""
    changed = answered(party.patch(f"/v1/leads/{lead}", {"custom_fields": {"odd": value}}), 200)
    assert changed["custom_fields"] == {"odd": value}


@pytest.fixture(scope="module")
def lead(party: Party) -> str:
    """A lead that is changed."""
    return party.lead()


def nested(levels: int) -> bytes:
    """A lead's change whose containers are nested so many deep."""
    inside = levels - 2
    return b'{"custom_fields": {"deep": ' + b"[" * inside + b"]" * inside + b"}}"


def test_json_depth_of_20_is_the_limit(party: Party, lead: str) -> None:
    """A body of 20 levels, the outermost being the first, passes; one beyond is refused, however deep."""
    path = f"/v1/leads/{lead}"
    answered(party.send("PATCH", path, content=nested(20), headers=JSON_TYPE), 200)
    for levels in (21, 40, 1_000, 100_000):
        invalid(party.send("PATCH", path, content=nested(levels), headers=JSON_TYPE))


def padded(size: int) -> bytes:
    """A valid check, padded with spaces to a size."""
    body = json.dumps({"phones": [PHONE]}).encode()
    return body + b" " * (size - len(body))


def in_pieces(body: bytes) -> Any:
    """The same bytes, sent chunked and without a Content-Length."""
    return (body[start : start + 65_536] for start in range(0, len(body), 65_536))


@pytest.mark.parametrize("how", [bytes, in_pieces], ids=["content-length", "chunked"])
def test_body_of_one_mebibyte_is_the_limit(party: Party, how: Any) -> None:
    """1,048,576 bytes pass; one more answers 413, sent whole or in chunks."""
    answered(raw(party, "dnc.check", how(padded(MIB))), 200)
    problem(raw(party, "dnc.check", how(padded(MIB + 1))), 413, "payload_too_large")
    problem(raw(party, "dnc.check", how(padded(5 * MIB))), 413, "payload_too_large")


def written_out(text: str) -> Any:
    """A value of the table, in JSON: `{x*129}` is 129 of them, `{21 fields}` an object of so many."""
    fields = json.dumps({f"k{n}": 1 for n in range(21)})
    text = re.sub(r"\{(.)\*(\d+)\}", lambda match: match[1] * int(match[2]), text)
    return json.loads(text.replace("{21 fields}", fields))


#: Operation, field and a value that breaks its type or its bounds.
WRONG_FIELDS = [
    (*label.split(), written_out(value))
    for label, value in labeled((Path(__file__).parent / "wrong_fields.txt").read_text())
]


@pytest.mark.parametrize(("name", "field", "value"), WRONG_FIELDS)
def test_field_out_of_its_bounds_is_refused(
    party: Party, name: str, field: str, value: Any
) -> None:
    """Each field's type and bounds hold; the error's pointer names the field."""
    invalid(party.run(name, body={**BY_NAME[name].body, field: value}), field)


REQUIRED = {
    "leads.create": ["campaign_id"],
    "leads.import": ["leads"],
    "calls.start": ["to"],
    "sms.send": ["to", "body", "client_reference"],
    "dnc.check": ["phones"],
    "callbacks.create": ["lead_id", "scheduled_at"],
    "callbacks.reschedule": ["scheduled_at"],
    "appointments.create": ["phone", "scheduled_at"],
    "webhooks.create": ["url", "events"],
}


@pytest.mark.parametrize(
    ("name", "field"), [(name, field) for name, fields in REQUIRED.items() for field in fields]
)
def test_required_field_is_missed(party: Party, name: str, field: str) -> None:
    """A required field that is not there is `missing` at its pointer."""
    body = {key: value for key, value in BY_NAME[name].body.items() if key != field}
    errors = invalid(party.run(name, body=body), field)["errors"]
    if name == "leads.import":
        invalid(party.run(name, params={}), "campaign_id")

    assert any(each["code"] == "missing" for each in errors if field in each["pointer"])


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("/v1/leads", {"status": "archived"}),
        ("/v1/leads", {"campaign_id": "x"}),
        ("/v1/leads", {"external_id": ""}),
        ("/v1/leads", {"external_id": "x" * 129}),
        ("/v1/calls", {"direction": "sideways"}),
        ("/v1/campaigns", {"status": "archived"}),
        ("/v1/callbacks", {"campaign_id": CAMPAIGN, "status": "new"}),
        ("/v1/callbacks", {"status": "pending"}),
    ],
)
def test_filter_out_of_its_values_is_refused(
    party: Party, path: str, params: dict[str, str]
) -> None:
    """A filter takes the values that the contract lists, and the list of callbacks needs a campaign."""
    names = ["campaign_id"] if params == {"status": "pending"} else list(params)
    invalid(party.get(path, params), names[-1])


#: RFC 3339 with a zone, and the same as the sandbox writes it: in UTC, to the millisecond or beyond.
INSTANTS = {
    "2031-03-01T17:00:00+02:00": "2031-03-01T15:00:00.000Z",
    "2031-03-01T15:00Z": "2031-03-01T15:00:00.000Z",
    "2031-03-01T15:00:00.5Z": "2031-03-01T15:00:00.500Z",
    "1970-01-01T00:00:00.123456Z": "1970-01-01T00:00:00.123456Z",
    "9899-12-31T23:59:59.999999-14:00": "9900-01-01T13:59:59.999999Z",
}


@pytest.mark.parametrize("sent", INSTANTS)
def test_instants_are_answered_in_utc(party: Party, sent: str) -> None:
    """A time with another offset is kept as the same instant in UTC."""
    booked = answered(party.post("/v1/appointments", {"phone": PHONE, "scheduled_at": sent}), 201)

    assert booked["scheduled_at"] == INSTANTS[sent]


def test_public_url_is_taken_at_its_longest(party: Party) -> None:
    """A URL of 2048 characters and a description of 200 are within bounds."""
    url = PUBLIC_URL + "/" + "x" * (2048 - len(PUBLIC_URL) - 1)
    body = {"url": url, "events": ["call.completed"], "description": "d" * 200}
    made = answered(party.post("/v1/webhooks", body), 201)

    assert made["description"] == "d" * 200
    answered(party.delete(f"/v1/webhooks/{made['id']}"))
