"""Holds any implementation of the contract to its sentences: requests and expectations are data, and change nothing."""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Final

import httpx

__all__ = ["Check", "Finding", "checks", "conform"]

_TIMEOUT_S: Final = 30.0
#: Attempts where the rate limit refuses, and seconds between them at most.
_TRIES: Final = 5
_LONGEST_WAIT_S: Final = 5.0
_MISSING: Final = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One sentence of the contract and how it is tried.

    Attributes:
        section: Where the contract says it.
        sentence: What it says.
        request: Method and path with query.
        status: Statuses that may be answered.
        code: Code of the problem document, or None.
        fields: Names that the JSON has, `page.has_more` for instance.
        headers: Patterns of headers by name.
        key: The key to be sent instead of one's own; an empty text for none.
        body: Body of the request, or None.
        content_type: Its type.
    """

    section: str
    sentence: str
    request: str
    status: tuple[int, ...]
    code: str | None = None
    fields: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    body: str | None = None
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a check; `wrong` is empty where the sentence holds."""

    check: Check
    wrong: str


def checks() -> tuple[Check, ...]:
    """Every sentence that is tried.

    Returns:
        The checks, in the order of the file.
    """
    text = resources.files("dialframe.sandbox").joinpath("conformance.toml").read_text("utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["check"]
    lists = ("status", "fields")
    made = []
    for row in rows:
        values: dict[str, Any] = {
            name: tuple(value) if name in lists else value for name, value in row.items()
        }
        made.append(Check(**values))
    return tuple(made)


def conform(base_url: str, api_key: str) -> Iterator[Finding]:
    """Try every sentence against a service; nothing is changed there.

    Args:
        base_url: The service's base address.
        api_key: A key with the scopes of reading and `dnc:check`.

    Yields:
        One finding for each check, as it comes.
    """
    with httpx.Client(base_url=base_url.rstrip("/"), timeout=_TIMEOUT_S) as client:
        for check in checks():
            yield Finding(check, _wrong(check, client, api_key))


def _wrong(check: Check, client: httpx.Client, api_key: str) -> str:
    method, _, path = check.request.partition(" ")
    key = api_key if check.key is None else check.key
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if check.body is not None:
        headers["Content-Type"] = check.content_type
    try:
        for _ in range(_TRIES):
            answer = client.request(method, path, headers=headers, content=check.body)
            if answer.status_code != 429 or 429 in check.status:
                break
            # Errors: every 429 carries `Retry-After` in seconds; the suite is no test of it.
            wait = answer.headers.get("retry-after", "")
            time.sleep(min(float(wait) if wait.isdigit() else 1.0, _LONGEST_WAIT_S))
    except httpx.HTTPError as error:
        return f"no answer ({type(error).__name__})"
    if answer.status_code not in check.status:
        expected = " or ".join(map(str, check.status))
        return f"{expected} was expected, and {answer.status_code} came"
    for name, pattern in check.headers.items():
        if not re.fullmatch(pattern, answer.headers.get(name, "")):
            return f"the header {name} is not like {pattern}"
    try:
        document = answer.json() if check.code or check.fields else None
    except ValueError:
        return "the answer is not JSON"
    if check.code is not None and _at(document, "code") != check.code:
        return f"the code {check.code} was expected"
    missing = [name for name in check.fields if _at(document, name) is _MISSING]
    return f"{missing[0]} is missing" if missing else ""


def _at(document: Any, path: str) -> Any:
    for step in path.split("."):
        if isinstance(document, list) and step.isdigit() and int(step) < len(document):
            document = document[int(step)]
        elif isinstance(document, dict) and step in document:
            document = document[step]
        else:
            return _MISSING
    return document
