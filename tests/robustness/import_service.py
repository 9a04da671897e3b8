"""A service of nothing but the import, made from the contract's text, that misbehaves where it is told to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]

CAMPAIGN = "cmp_00000000-0000-4000-8000-000000000003"


class Fake:
    """Keeps leads by number, answers by key, and every import request that it saw.

    Attributes:
        imports: Key and body of each import request, in order.
        leads: Phone to lead.
        trouble: Asked for the number of each import request, from 1: `drop` cuts the line before
            anything happens, `lose` after it happened, a status and code refuse it, None is well.
        told: Status and body of what is asked with GET, by path; all else is no route.
        twist: Makes another answer of the answer to each import request, or a page of HTML.
    """

    def __init__(self) -> None:
        self.imports: list[tuple[str, bytes]] = []
        self.leads: dict[str, Json] = {}
        self.listed: set[str] = set()
        self.checked: list[str] = []
        self.trouble: Callable[[int], str | tuple[int, str] | None] = lambda _: None
        self.told: dict[str, tuple[int, Json]] = {}
        self.twist: Callable[[Json], Json | str] = lambda answer: answer
        self._answers: dict[str, tuple[bytes, Json]] = {}
        self._guard = threading.Lock()
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self.base_url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(60)

    @property
    def keys(self) -> dict[str, set[bytes]]:
        """The bodies that each key came with."""
        found: dict[str, set[bytes]] = {}
        for key, body in self.imports:
            found.setdefault(key, set()).add(body)
        return found

    def check(self, body: bytes) -> tuple[int, Json]:
        """Which numbers are listed."""
        phones = json.loads(body)["phones"]
        self.checked += phones
        return 200, {"data": [{"phone": one, "listed": one in self.listed} for one in phones]}

    def import_(self, key: str, body: bytes) -> tuple[int, Json | str] | None:
        """One import; None cuts the line."""
        with self._guard:
            self.imports.append((key, body))
            trouble = self.trouble(len(self.imports))
            if trouble == "drop":
                return None
            if isinstance(trouble, tuple):
                return trouble[0], {"code": trouble[1]}
            if key not in self._answers:
                self._answers[key] = (body, self._import(json.loads(body)["leads"]))
            known, answer = self._answers[key]
            if trouble == "lose":
                return None
            if known != body:
                return 409, {"code": "idempotency_conflict"}
            return 200, self.twist(answer)

    def _import(self, leads: list[Json]) -> Json:
        data = []
        for index, lead in enumerate(leads):
            new = lead["phone"] not in self.leads
            lead_id = f"lead_00000000-0000-4000-8000-{len(self.leads):012d}"
            if new:
                self.leads[lead["phone"]] = {**lead, "id": lead_id}
            data.append(
                {
                    "index": index,
                    "external_id": lead.get("external_id"),
                    "status": "accepted" if new else "duplicate",
                    "reason": None if new else "duplicate_in_campaign",
                    "field": None,
                    "lead_id": lead_id if new else None,
                }
            )
        accepted = sum(row["status"] == "accepted" for row in data)
        summary = {"received": len(data), "accepted": accepted, "rejected": len(data) - accepted}
        return {"campaign_id": CAMPAIGN, "data": data, "summary": summary}


class _Handler(BaseHTTPRequestHandler):
    """Speaks HTTP for a fake."""

    fake: ClassVar[Fake]
    protocol_version = "HTTP/1.1"
    # Head and body go out as one: a body by itself would wait for the client to acknowledge the head.
    wbufsize = -1

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        target = urlsplit(self.path)
        if target.path == "/v1/dnc/check":
            self._send(*self.fake.check(body))
        elif target.path == "/v1/leads/import":
            assert parse_qs(target.query)["campaign_id"] == [CAMPAIGN]
            answer = self.fake.import_(self.headers["Idempotency-Key"], body)
            if answer is None:
                self.close_connection = True
            else:
                self._send(*answer)
        else:
            self._send(404, {"code": "route_not_available"})

    def do_GET(self) -> None:
        told = self.fake.told.get(urlsplit(self.path).path)
        self._send(*(told or (404, {"code": "route_not_available"})))

    def _send(self, status: int, value: Json | str) -> None:
        if isinstance(value, str):
            content, kind = value.encode(), "text/html"
        elif status >= 400:
            content = json.dumps({"status": status, **value}).encode()
            kind = "application/problem+json"
        else:
            content, kind = json.dumps(value).encode(), "application/json"
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Request-ID", "req_01ARZ3NDEKTSV4RRFFQ69G5FAV")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing."""
