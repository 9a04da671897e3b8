"""The bench on which a running service is judged over plain HTTP.

It starts the service, speaks as its console and as API clients, and knows the contract's text.
It knows nothing of the service's code.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from contract.promised import RESOURCES, TABLE
from dialframe.cli import main
from forked import Forked

MIB = 1_048_576
LAG_S = 15  # "Access changes take effect within 15 seconds"
DAY_S = 86_400
AUTO = "auto"
Json = dict[str, Any]

SCOPES = sorted({row["scope"] for row in TABLE.values() if "scope" in row})
SWITCHES = {
    "campaigns:resume": "tier2_campaign_resume_enabled",
    "callbacks:write": "tier2_callback_write_enabled",
    "appointments:write": "tier2_appointment_write_enabled",
    "consent:write": "tier2_consent_write_enabled",
    "messages:send": "tier2_sms_send_enabled",
    "calls:originate": "tier2_calls_originate_enabled",
}
EVENT_TYPES = [
    "call.completed", "ai_call.completed", "disposition.logged",
    "appointment.booked", "appointment.moved", "appointment.cancelled",
]  # fmt: skip
NOBODY = "00000000-0000-4000-8000-000000000000"
LEAD, CAMPAIGN, CALL = f"lead_{NOBODY}", f"cmp_{NOBODY}", f"call_{NOBODY}"
CALLBACK, APPOINTMENT = f"cb_{NOBODY}", f"appt_{NOBODY}"
WEBHOOK, EVENT = f"wh_{NOBODY}", f"evt_{NOBODY}"
SOON = "2031-03-01T15:00:00Z"
PHONE, LONDON = "+12125550123", "+442079460123"
PUBLIC_URL = "https://8.8.8.8/hooks/dialing"

BASELINE = {
    "rate_limits": None,
    "calling_hours": None,
    "consent_required": False,
    "registry_stale": False,
    "block_stale_registry": False,
    "dnc_screen_available": True,
    "sending_suspended": False,
    "outbound_approved": True,
    "balance": 1000,
    "daily_cap": None,
    "spend_cap": None,
    "per_minute_cap": None,
    "blocked_countries": [],
    "sanctioned_countries": [],
    "webhooks_enabled": True,
    "api_access_enabled": True,
    "sandbox_enabled": True,
    "allow_loopback_webhooks": True,
    "ip_allow": [],
    **dict.fromkeys(SWITCHES.values(), True),
}


#: What the operations' table names, of an account where nothing is.
OF_NOBODY = {
    "lead_id": LEAD, "campaign_id": CAMPAIGN, "call_id": CALL, "callback_id": CALLBACK,
    "appointment_id": APPOINTMENT, "webhook_id": WEBHOOK, "event_id": EVENT, "phone": PHONE,
    "agent": "100", "soon": SOON, "url": PUBLIC_URL, "reference": "reference-of-nobody",
}  # fmt: skip


@dataclass(frozen=True)
class Operation:
    """One operation as the contract's Endpoints and Scopes tables give it; its request names what is not there."""

    name: str
    scope: str | None
    method: str
    path: str
    body: Any
    params: Json
    #: What the request names of an account.
    names: tuple[str, ...]

    @classmethod
    def of(cls, name: str, make: Callable[[str], str] = OF_NOBODY.__getitem__) -> Self:
        """The operation with what its request names."""
        row = json.dumps(TABLE[name])
        names = tuple(re.findall(r"\{(\w+)\}", row))
        filled = json.loads(re.sub(r"\{(\w+)\}", lambda match: make(match[1]), row))
        method, path = filled["call"].split()
        request = method, path, filled.get("body"), filled.get("params", {})
        return cls(name, filled.get("scope"), *request, names)

    @property
    def switch(self) -> str | None:
        """The account switch of a tier 2 operation."""
        return SWITCHES.get(self.scope or "")

    @property
    def write(self) -> bool:
        """Whether it changes data and needs a key."""
        return self.method in ("POST", "DELETE") and self.name != "dnc.check"


OPERATIONS = tuple(map(Operation.of, TABLE))


def named(operation: Operation) -> str:
    """The id of a test of one operation."""
    return operation.name


BY_NAME = {operation.name: operation for operation in OPERATIONS}

# --- shapes -----------------------------------------------------------------------------------

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_REQUEST_ID = re.compile(r"req_[0-9A-HJKMNP-TV-Z]{26}|edge_[0-9a-f]{32}")
Check = Callable[[Any], bool]


def instant(value: Any) -> bool:
    """ISO 8601 in UTC."""
    return isinstance(value, str) and _INSTANT.fullmatch(value) is not None


def kind_of(*kinds: type) -> Check:
    """A value of JSON of one of these kinds; true and false are no numbers."""
    return lambda value: (
        isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    )


#: Types of the contract's tables.
TYPES: dict[str, Check] = {
    "text": kind_of(str),
    "integer": kind_of(int),
    "version": lambda value: type(value) is int and value >= 1,
    "number": kind_of(int, float),
    "boolean": kind_of(bool),
    "object": kind_of(dict),
    "array": kind_of(list),
    "instant": instant,
    "hint": lambda value: isinstance(value, str) and len(value) == 4,
    "event": lambda value: value in (*EVENT_TYPES, "webhook.test"),
}


def _check(kind: str) -> Check:
    """What a type of the table demands."""
    if kind.endswith("?"):
        check = _check(kind[:-1])
        return lambda value: value is None or check(value)
    if "|" in kind:
        return lambda value: value in kind.split("|") and value != ""
    if kind.endswith("_"):
        pattern = re.compile(kind + _UUID)
        return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None
    return TYPES[kind]


def _shape(fields: str) -> dict[str, Check]:
    pairs = (field.split() for field in fields.split(","))
    return {name: _check(kind) for name, kind in pairs}


SHAPES: dict[str, dict[str, Check]] = {
    name: _shape(fields)
    for name, fields in re.findall(r"^(\w[\w ]*): ((?:.|\n )*)$", RESOURCES, re.MULTILINE)
}


def shaped(kind: str, value: Any, *, more: tuple[str, ...] = ()) -> Any:
    """Hold a value to a shape: every field of the table, right in type, and none besides."""
    shape = SHAPES[kind]
    assert isinstance(value, dict), f"{kind} is {value!r}"
    assert set(value) - set(more) == set(shape), (
        f"{kind}: missing {sorted(set(shape) - set(value))}, "
        f"unheard of {sorted(set(value) - set(shape) - set(more))}"
    )
    wrong = {name: value[name] for name, check in shape.items() if not check(value[name])}
    assert not wrong, f"{kind}: wrong values {wrong}"
    return value


def moment(value: str) -> datetime:
    """The instant that a text of the contract names."""
    assert instant(value), f"{value!r} is no UTC instant"
    return datetime.fromisoformat(value)


def iso(when: datetime) -> str:
    """An instant as a request writes it."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def common(response: httpx.Response) -> httpx.Response:
    """Hold an answer to what the contract says of every answer."""
    request_id = response.headers.get("x-request-id", "")
    assert _REQUEST_ID.fullmatch(request_id), f"X-Request-ID is {request_id!r}"
    assert response.headers.get("cache-control") == "no-store"
    assert not 300 <= response.status_code < 400, f"redirected: {response.headers}"
    if response.status_code >= 400:
        _is_problem(response)
    return response


def _is_problem(response: httpx.Response) -> None:
    assert response.headers["content-type"].split(";")[0] == "application/problem+json"
    body = response.json()
    assert {"type", "title", "status", "detail", "instance", "code", "request_id"} <= set(body)
    assert body["type"].endswith("/errors/" + body["code"].replace("_", "-"))
    assert all(isinstance(body[name], str) and body[name] for name in ("title", "detail", "code"))
    assert body["status"] == response.status_code
    assert body["instance"] == f"urn:service:request:{body['request_id']}"
    if "idempotency-replayed" not in response.headers:
        assert body["request_id"] == response.headers["x-request-id"]
    if response.status_code in (429, 503):
        assert re.fullmatch(r"\d+", response.headers.get("retry-after", "")), "no Retry-After"
    if body["code"] == "validation_failed":
        assert body["errors"], "validation_failed names no field"
    for error in body.get("errors", ()):
        assert {"pointer", "code"} <= set(error)
        assert re.fullmatch(r"#?(/.*)?", error["pointer"]), f"no pointer: {error['pointer']!r}"
        assert isinstance(error["code"], str)
        assert error["code"]


def problem(response: httpx.Response, status: int | tuple[int, ...], code: str) -> Json:
    """Demand an error answer with this status and code; give its body."""
    common(response)
    statuses = (status,) if isinstance(status, int) else status
    seen = (response.status_code, response.json().get("code") if response.content else None)
    assert seen[0] in statuses, f"{seen}, not {statuses} {code}: {response.text[:300]}"
    assert seen[1] == code, f"{seen}, not {statuses} {code}: {response.text[:300]}"
    return response.json()


def invalid(response: httpx.Response, field_name: str | None = None) -> Json:
    """Demand `validation_failed` (400 or 422), naming the field if one is given."""
    body = problem(response, (400, 422), "validation_failed")
    if field_name is not None:
        pointers = [error["pointer"] for error in body["errors"]]
        assert any(field_name in pointer for pointer in pointers), f"{field_name}: {pointers}"
    return body


def answered(response: httpx.Response, status: int | None = None) -> Any:
    """Demand a success answer; give its body."""
    common(response)
    got = f"{response.status_code} {response.text[:400]}"
    if status is None:
        assert response.is_success, got
    else:
        assert response.status_code == status, got
    if not response.content:
        return None
    assert response.headers["content-type"].split(";")[0] == "application/json"
    return response.json()


def paged(response: httpx.Response) -> Json:
    """Demand a list answer with its envelope; give it."""
    body = answered(response, 200)
    assert {"data", "page"} <= set(body)
    assert isinstance(body["data"], list)
    page = body["page"]
    assert {"next_cursor", "has_more"} <= set(page)
    assert isinstance(page["has_more"], bool)
    assert isinstance(page["next_cursor"], str | None)
    assert page["has_more"] == (page["next_cursor"] is not None)
    assert len(page["next_cursor"] or "") <= 1024
    return body


def fresh_key() -> str:
    """An idempotency key that nobody has used."""
    return str(uuid.uuid4())


# --- the service as a process -----------------------------------------------------------------


def serve_here(options: list[str], log: str, env: dict[str, str]) -> None:
    """The command, in a process of its own; what it says on standard error goes to a file."""
    os.environ.update(env)
    tempfile.tempdir = None
    os.dup2(os.open(log, os.O_WRONLY), 2)
    sys.argv = ["dialframe", "sandbox", "serve", "--port", "0", "--json", *options]
    main()


class Site:
    """A sandbox at an address: what it said when it was ready, its console, a pool of connections."""

    def __init__(self, ready: Json) -> None:
        self.ready = ready
        self.base_url: str = ready["base_url"]
        self.http = httpx.Client(trust_env=False, timeout=60)
        self.console = Console(self)

    def first_client(self) -> Party:
        """The client that the first line tells of."""
        return Party(self, self.ready["api_key"], self.ready["client_id"])

    def close(self) -> None:
        """Let go of every connection."""
        self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Service(Site):
    """A sandbox in a process of its own."""

    def __init__(self, *options: str, env: dict[str, str] | None = None) -> None:
        self._log = tempfile.NamedTemporaryFile()  # noqa: SIM115 - closed in close()
        self.process = Forked(serve_here, list(options), self._log.name, env or {})
        try:
            super().__init__(json.loads(self._first_line()))
        except BaseException:
            self._end()
            raise

    def _first_line(self) -> str:
        line = self.process.stdout.readline()
        assert line, f"the service said nothing: {self.log()[-3000:]}"
        return line

    def log(self) -> str:
        """What the service wrote to standard error."""
        return Path(self._log.name).read_text(encoding="utf-8", errors="replace")

    def stop(self, how: signal.Signals) -> tuple[int, float, list[str]]:
        """Signal the process; its exit status, the seconds that it took and what it still printed."""
        began = time.monotonic()
        self.process.signal(how)
        status, lines = self.process.end(timeout_s=20)
        return status, time.monotonic() - began, lines

    def close(self) -> None:
        """End the process and let go of everything."""
        super().close()
        self._end()

    def _end(self) -> None:
        self.process.let_go()
        self._log.close()


class Console:
    """The administrator's and operator's side of the service."""

    def __init__(self, service: Site) -> None:
        self.service = service
        self._url = service.ready["console_url"]
        self._token = service.ready["console_token"]

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """One console call; `path` follows `/console`."""
        headers = {"Authorization": f"Bearer {self._token}", **more.pop("headers", {})}
        if body is not None:
            more["json"] = body
        return self.service.http.request(method, self._url + path, headers=headers, **more)

    def do(self, method: str, path: str, body: Any = None, *, status: int) -> Any:
        """A console call that must succeed."""
        response = self.call(method, path, body)
        assert response.status_code == status, f"{method} {path}: {response.text[:400]}"
        return response.json() if response.content else None

    def client(self, *, scopes: Any = None, sending: bool = True, **more: Any) -> Party:
        """A new API client with every scope, unless told otherwise."""
        body = {"name": "a client", "scopes": SCOPES if scopes is None else list(scopes)}
        made = self.do("POST", "/clients", {**body, "sending": sending, **more}, status=201)
        return Party(self.service, made["api_key"], made["client_id"])

    def further_key(self, party: Party, *, sending: bool = True) -> Party:
        """The same client with a further key."""
        path = f"/clients/{party.client_id}/keys"
        made = self.do("POST", path, {"sending": sending}, status=201)
        return Party(self.service, made["api_key"], party.client_id)

    def change_client(self, party: Party, **changes: Any) -> Any:
        """Change a client's access and let the contract's 15 seconds pass."""
        changed = self.do("PUT", f"/clients/{party.client_id}", changes, status=200)
        self.advance(LAG_S)
        return changed

    def account(self) -> Json:
        """The account's switches and settings."""
        return self.do("GET", "/account", status=200)

    def change(self, **changes: Any) -> Json:
        """Change settings and let the contract's 15 seconds pass."""
        changed = self.do("PUT", "/account", changes, status=200)
        self.advance(LAG_S)
        return changed

    @contextlib.contextmanager
    def settings(self, **changes: Any) -> Iterator[None]:
        """Change settings for the length of a block."""
        before = self.account()
        self.change(**changes)
        try:
            yield
        finally:
            self.change(**{name: before[name] for name in changes})

    def advance(self, seconds: float) -> datetime:
        """Move the service's clock on; give its time afterwards."""
        answer = self.do("POST", "/clock", {"advance_seconds": seconds}, status=200)
        return moment(answer["now"])

    def now(self) -> datetime:
        """The service's time."""
        return self.advance(0)

    def to_next_day(self) -> datetime:
        """Move the clock a little past the next midnight UTC."""
        now = self.now()
        midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        return self.advance(int((midnight - now).total_seconds()) + 5)

    @contextlib.contextmanager
    def fault(self, operation: str, **failure: Any) -> Iterator[None]:
        """Order a failure for the length of a block."""
        self.do("POST", "/faults", {"operation": operation, **failure}, status=201)
        try:
            yield
        finally:
            self.do("DELETE", "/faults", status=204)


class Party:
    """One API client with one of its keys."""

    def __init__(self, service: Site, key: str, client_id: str) -> None:
        self.service, self.key, self.client_id = service, key, client_id
        self.http = service.http
        self._extensions = itertools.count(1001)
        self._london = (f"+442079460{line:03d}" for line in itertools.count())
        self._phones = (
            f"+1{area}555{line:04d}"
            for area in itertools.cycle((212, 646, 917, 202, 205, 206, 207, 208, 209, 210, 213))
            for line in range(100, 200)
        )

    @property
    def credential_id(self) -> str:
        """The public middle part of the key."""
        return self.key.removeprefix("svc_test_").split("_")[0]

    def phone(self) -> str:
        """A reserved number that this client has not used yet (1,100 of them)."""
        return next(self._phones)

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        idem: str | None = AUTO,
        auth: str | None = AUTO,
        headers: Json | None = None,
        **more: Any,
    ) -> httpx.Response:
        """One request, its answer held to what is said of every answer."""
        sent: Json = {}
        if auth is not None:
            sent["Authorization"] = f"Bearer {self.key}" if auth == AUTO else auth
        if idem == AUTO:
            idem = fresh_key() if method in ("POST", "DELETE") else None
        if idem is not None:
            sent["Idempotency-Key"] = idem
        if body is not None:
            more["json"] = body
        url = self.service.base_url + path
        return common(self.http.request(method, url, headers={**sent, **(headers or {})}, **more))

    def get(self, path: str, params: Any = None, **more: Any) -> httpx.Response:
        """A GET."""
        return self.send("GET", path, params=params, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """A POST with a key of its own, unless told otherwise."""
        return self.send("POST", path, body, **more)

    def patch(self, path: str, body: Any = None, **more: Any) -> httpx.Response:
        """A PATCH."""
        return self.send("PATCH", path, body, **more)

    def delete(self, path: str, **more: Any) -> httpx.Response:
        """A DELETE with a key of its own."""
        return self.send("DELETE", path, **more)

    def run(self, name: str | Operation, **more: Any) -> httpx.Response:
        """An operation of the table with its schema-valid request, or one whose request is good."""
        operation = BY_NAME[name] if isinstance(name, str) else name
        body = more.pop("body", operation.body)
        params = more.pop("params", operation.params)
        return self.send(operation.method, operation.path, body, params=params, **more)

    def good(self, name: str) -> Operation:
        """An operation whose request names things of this client that are there, made for it."""
        state = "running" if name in ("campaigns.pause", "leads.create") else "paused"
        makers: dict[str, Callable[[], str]] = {
            "campaign_id": lambda: self.campaign(state),
            "lead_id": self.lead,
            "call_id": self.finished,
            "event_id": self.event,
            "agent": lambda: self.caller_id() and self.agent(),
            "phone": lambda: next(self._london),
            "reference": fresh_key,
        }

        def make(what: str) -> str:
            if f"{what}_".startswith(("callback", "appointment", "webhook")):
                made = self.run(self.good(what.replace("_id", "s.create")))
                return str(answered(made, 201)["id"])
            if name == "callbacks.list":
                return str(answered(self.run(self.good("callbacks.create")), 201)[what])
            return makers[what]() if what in makers else OF_NOBODY[what]

        return Operation.of(name, make)

    def everything(self) -> list[Any]:
        """What this client has and sent, as the service shows it."""
        paths = ("campaigns", "leads", "calls", "appointments", "webhooks", "webhook-events")
        lists = [self.walk(f"/v1/{path}", limit="100") for path in paths]
        callbacks = [self.walk("/v1/callbacks", campaign_id=each["id"]) for each in lists[0]]
        return [*lists, *callbacks, self.outbox()]

    def walk(self, path: str, **params: Any) -> list[Json]:
        """Every record of a list, page after page."""
        records: list[Json] = []
        while True:
            page = paged(self.get(path, params))
            records += page["data"]
            if not page["page"]["has_more"]:
                return records
            params["cursor"] = page["page"]["next_cursor"]

    # What only the console can make.

    def console(self, method: str, path: str, body: Any = None, *, status: int = 201) -> Any:
        """A console call about this client."""
        where = f"/clients/{self.client_id}{path}"
        return self.service.console.do(method, where, body, status=status)

    def campaign(self, status: str = "draft", **more: Any) -> str:
        """A campaign in a state; its id."""
        body = {"name": "a campaign", "status": status, **more}
        return self.console("POST", "/campaigns", body)["id"]

    def lead(self, campaign_id: str | None = None, **more: Any) -> str:
        """A lead; its id."""
        body = {"phone": more.pop("phone", None) or self.phone(), **more}
        body["campaign_id"] = campaign_id or self.campaign("paused")
        return self.console("POST", "/leads", [body])["ids"][0]

    def calls(self, records: list[Json]) -> list[str]:
        """Calls as given, with plain values for what is not; their ids."""
        plain = {
            "direction": "outbound",
            "from_number": "+12125550100",
            "to_number": PHONE,
            "status": "completed",
        }
        return self.console("POST", "/calls", [{**plain, **record} for record in records])["ids"]

    def finished(self, **fields: Any) -> str:
        """A call of 20.5 seconds that was answered after five; its id."""
        minute = "2026-01-01T10:00:"
        call = {"created_at": f"{minute}00Z", "answered_at": f"{minute}05Z", "ended_at": f"{minute}25.5Z",
                "duration_seconds": 20.5, "disposition": "SALE"}  # fmt: skip
        return self.calls([{**call, **fields}])[0]

    def agent(self, state: str = "ready") -> str:
        """An agent; its extension."""
        extension = str(next(self._extensions))
        body = {"extension": extension, "email": f"{extension}@example.com", "state": state}
        self.console("POST", "/agents", body)
        return extension

    def on_dnc(self, *phones: str) -> None:
        """Put numbers on the Do-Not-Call list."""
        self.console("POST", "/dnc", {"phones": list(phones)})

    def event(self, kind: str = "call.completed", data: Json | None = None) -> str:
        """Emit an event; its id."""
        body = {"type": kind, "data": {"call_id": CALL} if data is None else data}
        return self.console("POST", "/events", body)["event_id"]

    def outbox(self, kind: str | None = None) -> list[Json]:
        """What would have been dialed or sent, of one kind or of all."""
        entries = self.console("GET", "/outbox", status=200)["data"]
        return [entry for entry in entries if kind is None or entry["kind"] == kind]

    def caller_id(self) -> str:
        """A verified number of the account, made once."""
        self.console("POST", "/caller-ids", {"number": "+12125550199"})
        return "+12125550199"


# --- a receiver of deliveries -----------------------------------------------------------------


@dataclass(frozen=True)
class Received:
    """One delivery as it came in."""

    path: str
    headers: dict[str, str]
    body: bytes


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256  # the default of 5 drops connections in a busy minute


class Receiver:
    """An HTTP server on loopback that keeps what it gets; one path per endpoint."""

    def __init__(self) -> None:
        self._got: list[Received] = []
        self._status: dict[str, int] = {}
        self._hang: set[str] = set()
        self._change = threading.Condition()
        self._closed = threading.Event()
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )
        self._thread.start()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                size = int(self.headers.get("content-length", 0))
                body = self.rfile.read(size)
                heads = {name.lower(): value for name, value in self.headers.items()}
                status = receiver.take(Received(self.path, heads, body))
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("location", receiver.url(self.path + "/elsewhere"))
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Say nothing."""

        return Handler

    def take(self, delivery: Received) -> int:
        """Keep a delivery; give the status to answer with."""
        with self._change:
            self._got.append(delivery)
            self._change.notify_all()
        if delivery.path in self._hang:
            self._closed.wait(30)
        return self._status.get(delivery.path, 200)

    def url(self, path: str) -> str:
        """The address of an endpoint."""
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def new_path(self, status: int = 200, *, hang: bool = False) -> str:
        """A path of its own, answering with a status or not at all."""
        path = f"/hook/{uuid.uuid4().hex}"
        self._status[path] = status
        if hang:
            self._hang.add(path)
        return path

    def answer(self, path: str, status: int) -> None:
        """Answer with this status from now on."""
        self._status[path] = status

    def got(self, path: str) -> list[Received]:
        """What came in at a path so far."""
        with self._change:
            return [one for one in self._got if one.path == path]

    def wait(self, path: str, count: int = 1, timeout_s: float = 5) -> list[Received]:
        """Wait until so many deliveries came in at a path."""
        with self._change:
            self._change.wait_for(lambda: len(self.got(path)) >= count, timeout_s)
        got = self.got(path)
        assert len(got) >= count, f"{len(got)} deliveries came in, not {count}"
        return got

    def close(self) -> None:
        """Stop listening."""
        self._closed.set()
        self._server.shutdown()
        self._thread.join(60)
        self._server.server_close()


def at_once(act: Callable[[int], httpx.Response], count: int = 8) -> list[httpx.Response]:
    """The answers to as many requests sent at the same time."""
    answers: list[httpx.Response] = []
    gate = threading.Barrier(count)

    def one(number: int) -> None:
        gate.wait(60)
        answers.append(act(number))

    threads = [
        threading.Thread(target=one, args=(number,), daemon=True) for number in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(answers) == count
    return [common(answer) for answer in answers]


def spoken(base_url: str, sent: bytes, *, last: bool = False) -> bytes:
    """Whatever comes back for these bytes until the line is closed; `last` says that no more come."""
    parts = urlsplit(base_url)
    came = b""
    with socket.create_connection((parts.hostname, parts.port), timeout=5) as line:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            line.sendall(sent)
            if last:
                line.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while part := line.recv(65_536):
                came += part
    return came


def eventually(look: Callable[[], Any], timeout_s: float = 60) -> Any:
    """Look again, less and less often, until what is seen is true; give it."""
    until, pause_s = time.monotonic() + timeout_s, 0.01
    while True:
        seen = look()
        if seen or time.monotonic() > until:
            assert seen, "it did not come to pass"
            return seen
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 0.5)
