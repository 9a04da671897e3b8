"""Plain HTTP to the sandbox for its tests; knows the contract's headers, none of our client."""

from __future__ import annotations

import itertools
import json
import re
import uuid
from typing import Any

import httpx

REQUEST_ID = re.compile(r"req_[0-9A-HJKMNP-TV-Z]{26}")

Json = dict[str, Any]

_numbers = itertools.count()


def phone() -> str:
    """A fictional number that no other call of this process gives: +1 NPA 555 01xx."""
    codes = ("212", "312", "415", "206", "305", "512", "617", "702", "801", "913", "919", "952")
    place = next(_numbers)
    return f"+1{codes[place // 100 % len(codes)]}555{100 + place % 100:04d}"


class Api:
    """One key with the address that it is used at."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self.base_url = base_url
        self.api_key = api_key
        self.http = httpx.Client(base_url=base_url, trust_env=False, timeout=20)

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        key: str | None = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
        params: dict[str, Any] | None = None,
    ) -> httpx.Response:
        """One request; a write that names no idempotency key gets a new one."""
        sent = {"Authorization": f"Bearer {self.api_key}"}
        if method in ("POST", "DELETE"):
            sent["Idempotency-Key"] = key or str(uuid.uuid4())
        elif key is not None:
            sent["Idempotency-Key"] = key
        content = raw if body is None else json.dumps(body).encode()
        if content is not None:
            sent["Content-Type"] = "application/json"
        sent = {name: value for name, value in {**sent, **(headers or {})}.items() if value}
        response = self.http.request(method, path, content=content, headers=sent, params=params)
        assert REQUEST_ID.fullmatch(response.headers["X-Request-ID"])
        assert response.headers["Cache-Control"] == "no-store"
        return response

    def get(self, path: str, **params: Any) -> httpx.Response:
        """A GET with a query."""
        return self.send("GET", path, params=params)

    def post(self, path: str, body: object = None, **more: Any) -> httpx.Response:
        """A POST with a JSON body, or with none."""
        return self.send("POST", path, body, **more)

    def walk(self, path: str, **params: Any) -> list[Json]:
        """Every row of a list, page after page."""
        rows: list[Json] = []
        cursor: dict[str, str] = {}
        while True:
            page = ok(self.get(path, **params, **cursor))
            rows += page["data"]
            following = page["page"]["next_cursor"]
            assert page["page"]["has_more"] is (following is not None)
            if following is None:
                return rows
            cursor = {"cursor": following}

    def close(self) -> None:
        """Hang up."""
        self.http.close()


def ok(response: httpx.Response, status: int = 200) -> Json:
    """The JSON of an answer that has to have this status."""
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == "application/json"
    body: Json = response.json()
    return body


def refused(response: httpx.Response, status: int, code: str) -> Json:
    """The problem document of an answer that has to be this refusal."""
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    assert response.headers["Content-Type"] == "application/problem+json"
    body: Json = response.json()
    assert body["status"] == status
    assert body["type"].endswith("/errors/" + code.replace("_", "-"))
    assert body["title"]
    assert body["detail"]
    assert body["instance"] == f"urn:service:request:{body['request_id']}"
    if status in (429, 503):
        assert int(response.headers["Retry-After"]) >= 1
    return body


def pointers(problem: Json) -> set[str]:
    """Where a validation problem says that the request is wrong."""
    return {error["pointer"] for error in problem["errors"]}
