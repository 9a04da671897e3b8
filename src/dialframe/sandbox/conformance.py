"""Holds any implementation of the contract to its sentences: requests and expectations are data."""

from __future__ import annotations

import json
import re
import time
import tomllib
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from itertools import pairwise
from typing import Any, Final

import httpx

from dialframe.errors import TransportError

__all__ = ["Check", "Finding", "checks", "conform"]

_TIMEOUT_S: Final = 30.0
#: Attempts where the rate limit refuses, and seconds between them at most.
_TRIES: Final = 5
_LONGEST_WAIT_S: Final = 5.0
#: Requests in a row without an answer, after which nobody is there.
_SILENT: Final = 3
_MISSING: Final = object()

#: What names stand for in patterns, whatever an answer said.
_PATTERNS: Final = {
    "uuid": "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "instant": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)",
}
#: What `{N numbers}` and its like stand for.
_MANY: Final[Mapping[str, Callable[[int], str]]] = {
    "numbers": lambda count: ", ".join(f'"+1212555{n:04d}"' for n in range(count)),
    "leads": lambda count: ", ".join(f'{{"phone": "+1212555{n:04d}"}}' for n in range(count)),
    "blanks": lambda count: " " * count,
    "numerals": lambda count: "1" * count,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One sentence of the contract and how it is tried.

    Attributes:
        section: Where the contract says it.
        sentence: What it says.
        request: Method and path with query.
        status: Statuses that may be answered.
        code: Pattern of the problem document's code, or None.
        fields: Names that the JSON has, `page.has_more` for instance.
        values: Patterns of values of the JSON, by path.
        each: Patterns of values of every row of `data`.
        descending: The field of the rows by which they are ordered, or None.
        headers: Patterns of headers by name.
        save: Paths of values that are kept for later checks, by name.
        send: Headers of the request.
        key: The key to be sent instead of one's own; an empty text for none.
        body: Body of the request, or None.
        content_type: Its type.
        writes: Whether something may change, so that it has to be allowed.
    """

    section: str
    sentence: str
    request: str
    status: tuple[int, ...]
    code: str | None = None
    fields: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    each: Mapping[str, str] = field(default_factory=dict)
    descending: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    save: Mapping[str, str] = field(default_factory=dict)
    send: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    body: str | None = None
    content_type: str = "application/json"
    writes: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of a check.

    Attributes:
        check: The check.
        wrong: What does not hold; empty where the sentence holds.
        left_out: Whether it was not tried, since the service has nothing to try it on.
    """

    check: Check
    wrong: str = ""
    left_out: bool = False


def checks() -> tuple[Check, ...]:
    """Every sentence that can be tried.

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


def conform(base_url: str, api_key: str, *, write: bool = False) -> Iterator[Finding]:
    """Try every sentence against a service; nothing is changed there unless `write` allows it.

    Args:
        base_url: The service's base address.
        api_key: A key with the scopes of reading and `dnc:check`; to write, with `dnc:add`, `leads:write` and
            `campaigns:pause`, and a paused campaign.
        write: Whether to try those that change something too, such as a number put on the Do-Not-Call list.

    Yields:
        One finding for each check, as it comes.

    Raises:
        TransportError: There was no answer three times in a row.
    """
    run = uuid.uuid4().hex[:12]
    # A fictional number that the last run did not use.
    kept = {"run": run, "run_digits": f"01{int(run, 16) % 100:02d}"}
    silent = 0
    with httpx.Client(base_url=base_url.rstrip("/"), timeout=_TIMEOUT_S) as client:
        for check in checks():
            if check.writes and not write:
                continue
            try:
                answer = _ask(check, client, api_key, kept)
            except KeyError:
                yield Finding(check, left_out=True)  # an earlier answer had no such row
            except httpx.HTTPError as error:
                silent += 1
                if silent == _SILENT:
                    raise TransportError(
                        f"{base_url}: no answer {silent} times in a row ({type(error).__name__}): check the address",
                        operation="sandbox conform",
                    ) from None
                yield Finding(check, f"no answer ({type(error).__name__})")
            else:
                silent = 0
                yield _judge(check, answer, kept)


def _judge(check: Check, answer: httpx.Response, kept: dict[str, str]) -> Finding:
    if answer.status_code not in check.status:
        expected = " or ".join(map(str, check.status))
        return Finding(check, f"{expected} was expected, and {answer.status_code} came")
    for name, pattern in check.headers.items():
        if not re.fullmatch(pattern, answer.headers.get(name, "")):
            return Finding(check, f"the header {name} is not like {pattern}")
    try:
        return Finding(check, _wrong(check, _json(check, answer), kept))
    except ValueError:
        return Finding(check, "the answer is not JSON")


def _ask(
    check: Check, client: httpx.Client, api_key: str, kept: Mapping[str, str]
) -> httpx.Response:
    method, _, path = _fill_in(check.request, kept).partition(" ")
    key = api_key if check.key is None else check.key
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    headers |= {name: _fill_in(value, kept) for name, value in check.send.items()}
    body = None if check.body is None else _fill_in(check.body, kept)
    if body is not None:
        headers["Content-Type"] = check.content_type
    for _ in range(_TRIES):
        answer = client.request(method, path, headers=headers, content=body)
        if answer.status_code != 429 or 429 in check.status:
            break
        # Errors: every 429 carries `Retry-After` in seconds; the suite is no test of it.
        wait = answer.headers.get("retry-after", "")
        time.sleep(min(float(wait) if wait.isdigit() else 1.0, _LONGEST_WAIT_S))
    return answer


def _json(check: Check, answer: httpx.Response) -> Any:
    looked_at = check.code or check.fields or check.values or check.each or check.save
    return answer.json() if looked_at else None


def _wrong(check: Check, document: Any, kept: dict[str, str]) -> str:
    """What is wrong with the JSON of an answer; values to be kept are taken from it."""
    rows = _at(document, "data") if check.each or check.descending else []
    if isinstance(document, dict) and "code" in document and not check.code:
        return ""  # a refusal that may be: there are no rows
    if not isinstance(rows, list):
        return "data is no list"
    values = {
        **{path: (_at(document, path), pattern) for path, pattern in check.values.items()},
        **({} if check.code is None else {"code": (_at(document, "code"), check.code)}),
        **{
            f"data.{place}.{name}": (_at(row, name), pattern)
            for place, row in enumerate(rows)
            for name, pattern in check.each.items()
        },
        **{path: (_at(document, path), ".*") for path in check.fields},
    }
    for path, (value, pattern) in values.items():
        if value is _MISSING:
            return f"{path} is missing"
        names = {**_PATTERNS, "text": ".*" if isinstance(value, str) else "(?!)", **kept}
        if not re.fullmatch(_fill_in(pattern, names), _text(value), re.DOTALL):
            return f"{path} is not like {pattern}"
    order = [] if check.descending is None else [_text(_at(row, check.descending)) for row in rows]
    if any(newer < older for newer, older in pairwise(order)):
        return f"the rows are not in descending order of {check.descending}"
    found = {name: _at(document, path) for name, path in check.save.items()}
    kept.update({name: value for name, value in found.items() if isinstance(value, str)})
    return ""


def _fill_in(text: str, kept: Mapping[str, str]) -> str:
    """A text with what its names in braces stand for; `KeyError` where one was never kept."""

    def value(match: re.Match[str]) -> str:
        count, name = match.groups()
        return _MANY[name](int(count)) if count else kept[name]

    return re.sub(r"\{(?:(\d+) )?([a-z_]+)\}", value, text)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _at(document: Any, path: str) -> Any:
    for step in path.split("."):
        if isinstance(document, list) and step == "#":
            document = len(document)
        elif isinstance(document, list) and step.isdigit() and int(step) < len(document):
            document = document[int(step)]
        elif isinstance(document, dict) and step in document:
            document = document[step]
        else:
            return _MISSING
    return document
