"""Whatever is sent: an answer of the contract, never a 500."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from dialframe.contract import operations
from dialframe.sandbox import Sandbox
from robustness.fuzz_requests import GOOD, IDS
from sandbox.service_bench import Party, spoken

VALUES: tuple[object, ...] = (
    None, True, 0, -1, 2**63, 2**70, -(2**70), 1e308, 0.1, "", " ", "x" * 5_000, "\u2028", "\x7f",
    "\U0001f600", "%00", "' OR 1=1 --", "../../etc/passwd", "2026-01-01T00:00:00Z",
    "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-02-30T00:00:00Z", [], {},
    [None], [[]], [{}], {"": ""}, {"a": {"b": None}}, ["call.completed"], "+12025550142",
    "https://[", "https://a.example.com\t", "http://0x7f.1/", "Europe/London\n", "nan", "1e5",
)  # fmt: skip


class Line:
    """One connection that thousands of requests go through, with no more client than they need."""

    def __init__(self, api: Party) -> None:
        parts = urlsplit(api.service.base_url)
        self._line = HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        self._headers = {
            "Authorization": f"Bearer {api.key}",
            "Content-Type": "application/json",
        }

    def send(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        """Status and text of the answer to a request."""
        headers = dict(self._headers)
        if method in ("POST", "DELETE"):
            headers["Idempotency-Key"] = uuid.uuid4().hex
        content = None if body is None else json.dumps(body)
        self._line.request(method, quote(path, safe="/?&=%+'[]"), content, headers)
        with self._line.getresponse() as answer:
            return answer.status, answer.read().decode()

    def close(self) -> None:
        self._line.close()


@pytest.fixture(scope="module")
def line(api: Party) -> Iterator[Line]:
    """A connection of the first client."""
    with closing(Line(api)) as opened:
        yield opened


def _path(row: operations.Operation[Any, Any]) -> str:
    return row.path.format(**IDS)


@pytest.mark.parametrize("name", [row.name for row in operations.ALL if row.method != "GET"])
def test_any_value_in_any_field(line: Line, name: str) -> None:
    """Each field of each write in turn, beside good ones."""
    row = operations.BY_NAME[name]
    query = f"?campaign_id={IDS['campaign_id']}" if row.query else ""
    for field in (*row.body_names, "unknown"):
        for value in VALUES:
            good = {
                name: value for name, value in {**GOOD, **IDS}.items() if name in row.body_names
            }
            status, text = line.send(row.method, _path(row) + query, {**good, field: value})
            assert status < 500, (field, value, text)


@pytest.mark.parametrize("field", ["custom_fields", "full_name", "email", "external_id", "phone"])
def test_any_value_in_a_lead(sandbox: Sandbox, api: Party, field: str) -> None:
    """What a lead of an import holds is accepted, refused by lead, or refused at once."""
    campaign = sandbox.console.create_campaign(sandbox.client_id, "c", status="ready")["id"]
    for value in (*VALUES, {"k": "v"}, {str(n): [n] for n in range(20)}):
        lead = {"phone": api.phone(), field: value}
        answer = api.post(f"/v1/leads/import?campaign_id={campaign}", {"leads": [lead]})
        assert answer.status_code in (200, 400), (field, value, answer.text)


@pytest.mark.parametrize("name", [row.name for row in operations.ALL if row.method == "GET"])
def test_any_query(line: Line, name: str) -> None:
    """Each parameter of each reading operation in turn."""
    row = operations.BY_NAME[name]
    for field in (*row.query_names, "unknown"):
        for value in ("", "%00", "%ff", "%F0%9F%98%80", "a" * 5_000, "-1", "1e9", "[]", "%", "+",
                      "2026-02-30", "0001-01-01", "9999-12-31", "%27", "a&a", "\u2028"):  # fmt: skip
            status, text = line.send("GET", f"{_path(row)}?{field}={value}")
            assert status < 500, (field, value, text)


@pytest.mark.parametrize(
    "header",
    ["Authorization", "Idempotency-Key", "X-Correlation-ID", "If-Match", "Content-Type",
     "Content-Length", "Transfer-Encoding", "Expect", "Accept-Encoding", "Host"],
)  # fmt: skip
def test_any_header(api: Party, header: str) -> None:
    """Odd values are refused by the API or by the edge, and the line goes on or is closed."""
    for value in (b"", b"\xff\xfe", b"x" * 9_000, b'"', b",,,", b"-1", b"chunked, chunked"):
        lines = [
            b"PATCH /v1/leads/" + IDS["lead_id"].encode() + b" HTTP/1.1",
            b"Connection: close",
            *(
                line
                for name, line in (
                    ("Host", b"Host: x"),
                    ("Authorization", b"Authorization: Bearer " + api.key.encode()),
                    ("Content-Length", b"Content-Length: 2"),
                )
                if name != header and not (header == "Transfer-Encoding" and "Length" in name)
            ),
            header.encode() + b": " + value,
        ]
        request = b"\r\n".join(lines) + b"\r\n\r\n{}"
        answer = spoken(api.service.base_url, request, last=True)
        assert not answer or answer.startswith(b"HTTP/1.1 4"), answer[:200]
