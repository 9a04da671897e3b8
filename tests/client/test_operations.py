"""Every row of the operation table has its method, whose bounds stop a request before it is sent."""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Callable
from datetime import date, datetime
from functools import reduce
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest

from client.fakes import (
    CAMPAIGN,
    KEY,
    LEAD,
    PHONE,
    START,
    Service,
    a_lead,
    an_id,
    answer,
    connected,
)
from dialframe.client import Client, Listing, Options, method_path
from dialframe.contract import operations
from dialframe.errors import ConfigError, PermissionDenied
from rows import every_row

Row = Any

every_operation = every_row("row", operations.ALL)
#: Arguments of a method that are no fields of its request.
OWN = {"options", "on_progress", "path"}
#: Further ways to take the answer of `calls.recording`.
WIDER = {"calls.recording_chunks"}


def method_of(client: Client, row: Row) -> Callable[..., Any]:
    """`calls.list` is `client.calls.list`."""
    return attrgetter(method_path(row))(client)  # type: ignore[no-any-return]


def sample_of(row: Row, samples: Path) -> dict[str, Any]:
    """A request of the row with its answer."""
    return json.loads((samples / "responses" / f"{row.name}.json").read_text())  # type: ignore[no-any-return]


def called(client: Client, row: Row, request: dict[str, Any], tmp_path: Path) -> Any:
    """What the row's method gives for a request; a list as the records of its first page."""
    extra = {"path": tmp_path / "file"} if row.streamed else {}
    result = method_of(client, row)(**request, **extra)
    return next(result.pages()).records if isinstance(result, Listing) else result


def answering(row: Row, status: int, body: Any) -> Service:
    """A service that gives the sample's answer."""
    content = b"RIFF" if row.streamed else b"" if body is None else json.dumps(body).encode()
    return Service(httpx.Response(status, content=content))


@every_operation
def test_method_takes_and_demands_the_fields_of_its_request(row: Row, tmp_path: Path) -> None:
    """Keyword names are the contract's, none is missing and none is extra, and each is typed.

    A field is required by the method exactly where the request requires it.
    """
    parameters = inspect.signature(method_of(connected(Service(), tmp_path), row)).parameters

    demanded = {name for name, p in parameters.items() if p.default is p.empty} - OWN

    assert set(parameters) - OWN == set(row.request.model_fields)
    assert demanded == {name for name, f in row.request.model_fields.items() if f.is_required()}
    assert parameters["options"].default is None
    assert all(parameter.annotation is not parameter.empty for parameter in parameters.values())
    assert all(p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) for p in parameters.values())


@pytest.mark.parametrize(
    ("path", "returned"),
    [("calls.get", "Call"), ("calls.list", "Listing[Call]"), ("calls.recording_chunks", "Iterator[bytes]"),
     ("dnc.check", "list[DncChecked]")],
)  # fmt: skip
def test_signature_says_what_a_caller_gets(path: str, returned: str, tmp_path: Path) -> None:
    """And not by which steps it comes about."""
    method = attrgetter(path)(connected(Service(), tmp_path))

    assert inspect.signature(method).return_annotation == returned


@every_operation
def test_method_says_what_its_row_says(row: Row, tmp_path: Path) -> None:
    """The first line of the documentation is the row's summary, unless the method does more."""
    first = (inspect.getdoc(method_of(connected(Service(), tmp_path), row)) or "").splitlines()[0]
    wider = {
        "dnc.check": "Check any number of numbers against Do-Not-Call, a hundred in each request."
    }

    assert first == wider.get(row.name, row.summary)


@every_operation
def test_request_leaves_as_the_contract_has_it(row: Row, samples: Path, tmp_path: Path) -> None:
    """Method, path, query, body, key header: each field travels where the row says, and only there."""
    sample = sample_of(row, samples)
    service = answering(row, sample["status"], sample["body"])

    with contextlib.suppress(PermissionDenied):
        called(connected(service, tmp_path), row, sample["request"], tmp_path)

    (request,) = service.requests
    asked = dict(sample["request"])
    path = row.path.format(**{name: asked.pop(name) for name in row.path_names})
    query = dict(parse_qsl(request.url.query.decode()))
    body = json.loads(request.content) if request.content else {}
    if row.paged:
        assert query.pop("limit") == str(asked.pop("limit", 100))
    assert (request.method, request.url.path) == (row.method, path)
    assert {**query, **body} == {name: body.get(name, str(value)) for name, value in asked.items()}
    assert set(body) == set(asked) & set(row.body_names)
    assert all(body[name] == asked[name] for name in body)
    assert bool(request.content) == (row.method in ("POST", "PATCH"))
    assert ("Idempotency-Key" in request.headers) == (row.key != "none")
    assert request.headers["Authorization"] == f"Bearer {KEY}"


@every_operation
def test_answer_is_read_as_the_contract_has_it(row: Row, samples: Path, tmp_path: Path) -> None:
    """What the service sends is what the value says, field by field, and a field more is kept."""
    sample = sample_of(row, samples)
    body = sample["body"]
    if isinstance(body, dict) and not row.paged:
        body = {**body, "added_in_v1": [1]}
    client = connected(answering(row, sample["status"], body), tmp_path)
    if sample["status"] >= 400:
        with pytest.raises(PermissionDenied) as caught:
            called(client, row, sample["request"], tmp_path)
        assert caught.value.code == body["code"]
        return

    answered = called(client, row, sample["request"], tmp_path)

    if row.streamed:
        assert answered.read_bytes() == b"RIFF"
    elif row.paged:
        assert [record.model_dump(mode="json") for record in answered] == body["data"]
    elif row.name == "dnc.check":
        assert [{"phone": r.phone, "listed": r.listed} for r in answered] == body["data"]
    else:
        expected = json.loads(row.response.model_validate(body or {}).model_dump_json())
        assert answered.model_dump(mode="json") == expected
        assert set(body or {}) <= set(expected)
        assert all(expected[name] == value for name, value in (body or {}).items())


def test_client_has_no_method_without_a_row(tmp_path: Path) -> None:
    """Whatever a resource offers is an operation of the contract; a word of Python's gets an underscore."""
    client = connected(Service(), tmp_path)
    resources = {row.name.split(".")[0] for row in operations.ALL if "." in row.name}
    offered = {
        f"{resource}.{name}"
        for resource in resources
        for name, _ in inspect.getmembers(getattr(client, resource), inspect.ismethod)
        if not name.startswith("_")
    }

    assert offered - WIDER | {"me"} == {method_path(row) for row in operations.ALL}
    assert method_path(operations.LEADS_IMPORT) == "leads.import_"


Asking = Callable[[Client], Any]
WEBHOOK = an_id("wh")

#: With body and custom_fields around it, as deep as JSON may be.
NESTED: Any = reduce(lambda inner, _: [inner], range(18), "x")

# What is asked, and the words that the message has to hold.
BEYOND: list[tuple[str, Asking, str]] = [
    ("limit", lambda c: c.calls.list(limit=101), r"calls\.list: limit: .*100"),
    ("limit below", lambda c: c.leads.list(limit=0), r"leads\.list: limit: .*1"),
    ("cursor", lambda c: c.calls.list(cursor="c" * 1025), r"calls\.list: cursor: .*1024"),
    ("direction", lambda c: c.calls.list(direction="up"), r"direction: .*'inbound' or 'outbound'"),
    ("status", lambda c: c.leads.list(status="old"), r"status: .*'new'"),
    ("external_id", lambda c: c.leads.list(external_id="x" * 129), r"external_id: .*128"),
    ("id", lambda c: c.leads.get("42"), r"lead_id should be a lead id: lead_ and a lower-case UUID"),
    ("id kind", lambda c: c.calls.get(LEAD), r"call_id should be a call id"),
    ("import none", lambda c: c.leads.import_(CAMPAIGN, []), r"leads: .*at least 1"),
    ("import many", lambda c: c.leads.import_(CAMPAIGN, [{"phone": PHONE}] * 201), r"leads: .*200"),
    ("import row", lambda c: c.leads.import_(CAMPAIGN, [{"phone": PHONE}, {"phone": ""}]),
     r"leads\[1\]\.phone: .*1 char"),
    ("import field", lambda c: c.leads.import_(CAMPAIGN, [{"phone": PHONE, "fax": "1"}]),
     r"leads\[0\]\.fax: .*not permitted"),
    ("first_name", lambda c: c.leads.create(campaign_id=CAMPAIGN, phone=PHONE, first_name="x" * 101),
     r"first_name: .*100"),
    ("dial_within", lambda c: c.leads.create(campaign_id=CAMPAIGN, phone=PHONE, dial_within_seconds=29),
     r"dial_within_seconds: .*30"),
    ("custom_fields", lambda c: c.leads.update(LEAD, custom_fields={str(n): n for n in range(21)}),
     r"custom_fields: .*20"),
    ("agents none", lambda c: c.calls.start(to=PHONE), r"exactly one of agent_extension or agent_email"),
    ("agents both", lambda c: c.calls.start(to=PHONE, agent_extension="1", agent_email="a@b.c"),
     r"exactly one of"),
    ("to", lambda c: c.calls.start(to="5550142", agent_extension="1"), r"to should be an E\.164 number"),
    ("events none", lambda c: c.webhooks.create(url="https://x.example/", events=[]), r"events: .*1"),
    ("event type", lambda c: c.webhooks.create(url="https://x.example/", events=["webhook.test"]),
     r"events\[0\]: .*'call\.completed'"),
    ("url", lambda c: c.webhooks.create(url="https://", events=["call.completed"]), r"url: .*9"),
    ("description", lambda c: c.webhooks.update(WEBHOOK, description="x" * 201), r"description: .*200"),
    ("sms", lambda c: c.sms.send(to=PHONE, body="x" * 919, client_reference="r"), r"body: .*918"),
    ("sms reference", lambda c: c.sms.send(to=PHONE, body="x", client_reference="r" * 65),
     r"client_reference: .*64"),
    ("naive", lambda c: c.callbacks.create(lead_id=LEAD, scheduled_at=datetime(2026, 1, 1)),  # noqa: DTZ001 - that is the point
     r"scheduled_at: .*timezone"),
    ("notes", lambda c: c.callbacks.create(lead_id=LEAD, scheduled_at=START, notes="x" * 501),
     r"notes: .*500"),
    ("minutes", lambda c: c.appointments.create(phone=PHONE, scheduled_at=START, duration_minutes=4),
     r"duration_minutes: .*5"),
    ("range", lambda c: c.reports.dispositions(date(2026, 1, 1), date(2026, 4, 3)), r"1 to 92 days"),
    ("range back", lambda c: c.reports.dispositions(date(2026, 1, 2), date(2026, 1, 1)), r"1 to 92 days"),
    ("phones", lambda c: c.dnc.check([PHONE] * 150 + ["555"]), r"phones\[150\] should be an E\.164"),
    ("phones text", lambda c: c.dnc.check(PHONE), r"phones: give a list"),
    ("key of a read", lambda c: c.me(options=Options(idempotency_key="k")), r"me: .*no idempotency_key"),
    ("etag of a read", lambda c: c.me(options=Options(if_match='"1"')), r"me: .*if_match"),
    ("not JSON", lambda c: c.leads.update(LEAD, custom_fields={"x": {1, 2}}), r"not JSON"),
    ("not a number", lambda c: c.leads.update(LEAD, custom_fields={"x": float("nan")}), r"not JSON"),
    ("nested too deep", lambda c: c.leads.update(LEAD, custom_fields={"x": [NESTED]}), r"20 levels"),
    ("over a mebibyte", lambda c: c.leads.import_(
        CAMPAIGN, [{"phone": PHONE, "custom_fields": {"x": "y" * 6000}}] * 200), r"1,048,576"),
    ("two at once", lambda c: c.callbacks.create(lead_id="x", scheduled_at=START, notes="x" * 501),
     r"\(and 1 more\)"),
    ("half a character", lambda c: c.leads.update(LEAD, full_name="\ud800"), r"leads\.update: .*"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ask", "words"), [case[1:] for case in BEYOND], ids=[c[0] for c in BEYOND]
)
def test_argument_out_of_bounds_is_refused_before_anything_is_sent(
    ask: Asking, words: str, tmp_path: Path
) -> None:
    """The error names operation, argument and bound; no request leaves and no write is journalled."""
    service = Service(answer({}))
    client = connected(service, tmp_path)

    with pytest.raises(ConfigError, match=words) as caught:
        ask(client)

    assert not service.requests
    assert not client.writes.pending()
    assert PHONE not in str(caught.value)


def test_body_of_twenty_levels_is_sent(tmp_path: Path) -> None:
    """Body, custom_fields and what is in it all count."""
    service = Service(answer(a_lead()))

    connected(service, tmp_path).leads.update(LEAD, custom_fields={"x": NESTED})

    assert json.loads(service.bodies[0]) == {"custom_fields": {"x": NESTED}}
