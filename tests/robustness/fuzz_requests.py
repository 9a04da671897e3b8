"""Requests that are nearly right, as raw bytes, for generated tests; knows the operations' paths, not their answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from hypothesis import strategies as st

from dialframe.contract import operations

#: Stand for the account's key and for an idempotency key that nobody used yet.
KEY = "svc_test_placeholder"
FRESH = b"never-used-before"
UUID = "00000000-0000-4000-8000-000000000000"

#: Ids that the account under test may replace by ones that exist.
IDS = {
    "lead_id": f"lead_{UUID}", "call_id": f"call_{UUID}", "campaign_id": f"cmp_{UUID}",
    "callback_id": f"cb_{UUID}", "appointment_id": f"appt_{UUID}", "webhook_id": f"wh_{UUID}",
    "event_id": f"evt_{UUID}",
}  # fmt: skip

#: Fields that make a request right; addresses are numbers, so that nothing is looked up.
GOOD: dict[str, Any] = {
    "to": "+12025550142", "agent_extension": "1", "phone": "+12025550142", "body": "x",
    "client_reference": "r", "scheduled_at": "2030-01-01T00:00:00Z", "url": "https://192.0.2.1/x",
    "events": ["call.completed"], "phones": ["+12025550142"], "leads": [{"phone": "+12025550142"}],
    "channel": "sms", "source": "web", "obtained_at": "2026-01-01T00:00:00Z",
    "duration_minutes": 30,
}  # fmt: skip

ROWS = [row for row in operations.ALL if not row.streamed]


class Bytes(bytes):
    """Bytes that are shown by their beginning."""

    def __repr__(self) -> str:
        shown = super().__repr__()
        return shown if len(shown) < 400 else f"{shown[:400]}... ({len(self)} bytes)"


@dataclass(frozen=True)
class Raw:
    """One request before it becomes bytes."""

    method: str
    target: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes = b""

    def encode(self) -> bytes:
        """The bytes on the line."""
        lines = [b" ".join((self.method.encode(), self.target, b"HTTP/1.1"))]
        lines += [b": ".join(header) for header in self.headers]
        return b"\r\n".join([*lines, b"", self.body])

    def framed(self) -> Raw:
        """The same with its length said."""
        return replace(self, headers=(*self.headers, (b"Content-Length", b"%d" % len(self.body))))


def good(row: operations.Operation[Any, Any]) -> Raw:
    """A request of an operation that is right as far as its form goes."""
    query = "&".join(f"{name}={quote(str(IDS[name]))}" for name in row.query_names if name in IDS)
    target = row.path.format(**IDS) + (f"?{query}" if query and row.method != "GET" else "")
    headers = [(b"Host", b"x"), (b"Authorization", f"Bearer {KEY}".encode())]
    body = b""
    if row.method in ("POST", "PATCH"):
        fields = {
            name: {**GOOD, **IDS}[name] for name in row.body_names if name in {**GOOD, **IDS}
        }
        body = json.dumps(fields).encode()
        headers.append((b"Content-Type", b"application/json"))
    if row.changes_data:
        headers.append((b"Idempotency-Key", FRESH))
    return Raw(row.method, target.encode(), tuple(headers), body)


ROWS_ANY = st.sampled_from(ROWS)
WRITES_ANY = st.sampled_from([row for row in ROWS if row.method in ("POST", "PATCH")])

# Bytes that may stand in a header's value: anything else ends the head or the connection.
VALUE = st.one_of(
    st.sampled_from(
        [b"", b" ", b"\t", b"x" * 300, b"x" * 9_000, b'"', b",,,", b"-1", b"0", b"\xff\xfe",
         b"*", b"a, b", b"application/json; charset=utf-16", b"text/plain", b"chunked", b"1e3",
         b"application/json;charset=UTF-8", b"Bearer", b"Bearer ", b"Basic eDp5", b"\x80",
         b"bearer " + KEY.encode(), b"100-continue", b"websocket", b"h2c", b"upgrade", b"close"]
    ),
    st.binary(max_size=40).map(lambda raw: raw.translate(None, b"\r\n\x00")),
)  # fmt: skip
HEADER_NAMES = st.sampled_from(
    [b"Authorization", b"Idempotency-Key", b"X-Correlation-ID", b"If-Match", b"Content-Type",
     b"Accept", b"Accept-Encoding", b"Host", b"Cookie", b"Range", b"Upgrade", b"Connection",
     b"X-Forwarded-For", b"Forwarded", b"X-HTTP-Method-Override", b"Content-Encoding", b"Te"]
)  # fmt: skip
#: Headers that change where a message ends.
FRAMING = st.sampled_from(
    [(b"Content-Length", b"5"), (b"Content-Length", b"-1"), (b"Content-Length", b"1e9"),
     (b"Content-Length", b"99999999999999999999"), (b"Content-Length", b"2, 2"),
     (b"Transfer-Encoding", b"chunked"), (b"Transfer-Encoding", b"gzip, chunked"),
     (b"Transfer-Encoding", b"identity"), (b"Expect", b"100-continue"), (b"Expect", b"x")]
)  # fmt: skip
METHODS = st.one_of(
    st.sampled_from(["GET", "POST", "PATCH", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE", "QUERY",
                     "CONNECT", "get", "PROPFIND", "X" * 50]),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&'*+-.^_`|~0123456789", min_size=1, max_size=12),
)  # fmt: skip
#: Pieces of a path or of a query; a space or a control character would end the target.
PIECES = st.one_of(
    st.sampled_from(
        ["/", "//", "..", "%2e%2e", "%00", "%0a", "%ff", "%F0%9F%98%80", "%", "%zz", "?", "&", "=",
         "#", ";", "+", "a" * 3_000, "v1", "/v1/me", "/console", "limit", "limit=0", "limit=1e3",
         "cursor=", "cursor=AAAA", "status=new", "key=1", "api_key=x", "campaign_id=", "lead_",
         "http://x/v1/me", "*", UUID, UUID.upper(), "call_" + UUID, "limit=1&limit=2"]
    ),
    st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12),
)  # fmt: skip


QUERIES = st.one_of(
    st.sampled_from(
        ["limit=1", "limit=100", "limit=0", "limit=101", "limit=1.0", "limit=+1", "limit=%31",
         "limit=", "limit", "cursor=", "cursor=" + "A" * 1_025, "cursor=AAAA", "cursor=%00",
         "cursor=%ff", "status=new", "status=NEW", "direction=outbound", "direction=outbound%20",
         "external_id=%F0%9F%98%80", "from=2026-01-01", "to=2026-02-30", "from=0001-01-01",
         "to=9999-12-31", f"campaign_id=cmp_{UUID}", f"campaign_id=CMP_{UUID}", "campaign_id=%00",
         "page=2", "limit=1&limit=1", "x", "&&&", "=", "%", "key=x", f"token={KEY}", "+", "%2B"]
    ),
    PIECES,
)  # fmt: skip


def _number_text() -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(
            ["0", "-0", "01", "1.", ".5", "1E5", "1e999", "-1e999", "0.1e-400", "NaN", "Infinity",
             "-Infinity", "1" * 400, "-" + "9" * 5_000, str(2**63), str(2**64), "0x10", "+1"]
        ),
        st.integers().map(str),
    )  # fmt: skip


def _text_text() -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(
            ['""', '"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\x00"', '"\\uffff"', '"\\x"',
             '"\n"', '"unended', "'x'", '"' + "x" * 5_000 + '"', '"+12025550142"',
             '"2026-02-30T00:00:00Z"', '"9999-12-31T23:59:59-14:00"', '"0001-01-01T00:00:00+14:00"',
             '"https://["', '"http://0x7f.1/"', '"Europe/London\\n"', f'"lead_{UUID}"',
             f'"cmp_{UUID}"', '"\u2028"', '"\U0001f600"', f'"{KEY}"']
        ),
        st.text().map(json.dumps),
        st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
    )  # fmt: skip


def _nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    names = st.one_of(st.sampled_from([json.dumps(name) for name in (*GOOD, *IDS)]), _text_text())
    pairs = st.lists(st.tuples(names, inner).map(": ".join), max_size=4)
    return st.one_of(
        st.lists(inner, max_size=4).map(lambda items: "[" + ", ".join(items) + "]"),
        pairs.map(lambda items: "{" + ", ".join(items) + "}"),
        # The same name twice.
        st.tuples(names, inner, inner).map(lambda t: f"{{{t[0]}: {t[1]}, {t[0]}: {t[2]}}}"),
    )


_DEEP = st.tuples(st.sampled_from([1, 18, 19, 20, 21, 100, 1_000, 50_000]), st.booleans()).map(
    lambda t: '{"a":' * t[0] + "1" + "}" * t[0] if t[1] else "[" * t[0] + "]" * t[0]
)
_WORDS = st.sampled_from(
    ["null", "true", "false", "undefined", "nul", "", " ", "[]", "{}", "[{}]"]
)

#: JSON texts, and texts that are nearly JSON.
JSON_TEXT = st.recursive(
    st.one_of(_WORDS, _number_text(), _text_text(), _DEEP), _nested, max_leaves=8
)


@st.composite
def bodies(draw: st.DrawFn, row: operations.Operation[Any, Any]) -> bytes:
    """The body of an operation with some fields replaced, in bytes that need not be UTF-8."""
    fields = json.loads(good(row).body or b"{}")
    changed = {name: json.dumps(value) for name, value in fields.items()}
    for name in draw(st.lists(st.sampled_from([*row.body_names, "unknown"]), max_size=3)):
        changed[name] = draw(JSON_TEXT)
    text = "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in changed.items()) + "}"
    if draw(st.integers(0, 9)) == 0:
        text = draw(JSON_TEXT)
    raw = text.encode("utf-8", "surrogatepass")
    if draw(st.integers(0, 4)) == 0:
        cut = draw(st.integers(0, len(raw)))
        raw = raw[:cut] + draw(st.binary(min_size=1, max_size=3)) + raw[cut:]
    return Bytes(draw(st.sampled_from([b"", b"", b"", b"", b"\xef\xbb\xbf"])) + raw)


@st.composite
def mutated(draw: st.DrawFn) -> Raw:
    """A good request of any operation with its method, target, headers or body changed."""
    row = draw(ROWS_ANY)
    request = good(row)
    if draw(st.integers(0, 3)) == 0:
        request = replace(request, method=draw(METHODS))
    pieces = draw(st.lists(PIECES, max_size=3))
    match draw(st.integers(0, 9)):
        case 0 | 1 | 2:
            request = replace(request, target=Bytes(request.target + _tail(pieces)))
        case 3:
            request = replace(request, target=Bytes(b"/v1/" + _tail(pieces)))
        case 4 | 5 | 6:
            joint = b"&" if b"?" in request.target else b"?"
            query = "&".join(draw(st.lists(QUERIES, max_size=3))).encode()
            request = replace(request, target=Bytes(request.target + joint + query))
    headers = [
        pair for pair in request.headers if draw(st.integers(0, 9)) > 0 or pair[0] == b"Host"
    ]
    headers += draw(st.lists(st.tuples(HEADER_NAMES, VALUE), max_size=2))
    body = draw(bodies(row)) if request.body else draw(st.sampled_from([b"", b"", b"{}", b"x"]))
    return replace(request, headers=tuple(headers), body=body).framed()


def _tail(pieces: Sequence[str]) -> bytes:
    return "".join(pieces).encode()
