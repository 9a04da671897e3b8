"""Every row of the operation table has its method, and both agree in both directions."""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest

from client.fakes import KEY, Service, connected
from dialframe.client import Client, Listing, method_path
from dialframe.contract import operations
from dialframe.contract.operations import Operation
from dialframe.errors import PermissionDenied

Row = Operation[Any, Any]

every_row = pytest.mark.parametrize("row", operations.ALL, ids=lambda row: row.name)
#: Arguments of a method that are no fields of its request.
OWN = {"options", "on_progress", "path"}
#: Further ways to take the answer of `calls.recording`.
WIDER = {"calls.recording_into", "calls.recording_chunks"}


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


@every_row
def test_method_takes_the_fields_of_its_request(row: Row, tmp_path: Path) -> None:
    """Keyword names are the contract's, none is missing and none is extra, and each is typed."""
    parameters = inspect.signature(method_of(connected(Service(), tmp_path), row)).parameters

    assert set(parameters) - OWN == set(row.request.model_fields)
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


@every_row
def test_method_demands_what_the_contract_demands(row: Row, tmp_path: Path) -> None:
    """A field is required by the method exactly where the request requires it."""
    parameters = inspect.signature(method_of(connected(Service(), tmp_path), row)).parameters
    demanded = {name for name, p in parameters.items() if p.default is p.empty} - OWN

    assert demanded == {name for name, f in row.request.model_fields.items() if f.is_required()}


@every_row
def test_method_says_what_its_row_says(row: Row, tmp_path: Path) -> None:
    """The first line of the documentation is the row's summary, unless the method does more."""
    first = (inspect.getdoc(method_of(connected(Service(), tmp_path), row)) or "").splitlines()[0]
    wider = {
        "dnc.check": "Check any number of numbers against Do-Not-Call, a hundred in each request."
    }

    assert first == wider.get(row.name, row.summary)


@every_row
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


@every_row
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
