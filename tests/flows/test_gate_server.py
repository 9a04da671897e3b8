"""The gate over HTTP: a token, a verdict for each number, and 503 where none can be made."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from time import process_time
from typing import Any
from urllib.parse import urlsplit

import pytest

from dialframe import sandbox
from dialframe.account import connect
from dialframe.compliance.gate import Verdict
from dialframe.errors import ConfigError, StoreError
from dialframe.flows.firm_records import Scope
from dialframe.flows.gate_server import MOST_BYTES, PATH, GateServer, Question, StoredGate
from dialframe.suppression import Entry, SuppressionList

TOKEN = "a-token-of-the-dialer"
NUMBER = "+12125550142"


def decide(question: Question) -> list[Verdict]:
    """Numbers of New York may be called; one campaign has no store."""
    if question.campaign == "cmp_unread":
        raise StoreError(f"calls were never read, {NUMBER} neither")
    if question.campaign == "cmp_broken":
        raise ZeroDivisionError(NUMBER)
    return [
        {"number": n, "verdict": "may be called" if n.startswith("+1212") else "held"}
        for n in question.numbers
    ]


@pytest.fixture(scope="module")
def gate() -> Iterator[GateServer]:
    """A gate on a free port."""
    with GateServer(decide, token=TOKEN, port=0) as running:
        yield running


def ask(
    gate: GateServer, body: object, *, token: str = TOKEN, path: str = PATH, method: str = "POST"
) -> tuple[int, Any]:
    """Status and answer of one question."""
    where = urlsplit(gate.url)
    connection = HTTPConnection(where.hostname or "", where.port, timeout=60)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, raw, {"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text) if text.startswith(b"{") else text


def test_each_number_has_a_verdict_in_its_order(gate: GateServer) -> None:
    """Numbers come back as they were sent, with what holds them."""
    status, told = ask(gate, {"numbers": ["+442079460142", NUMBER], "at": "2026-10-05T15:00:00Z"})
    assert status == 200
    assert [(row["number"], row["verdict"]) for row in told["verdicts"]] == [
        ("+442079460142", "held"), (NUMBER, "may be called"),
    ]  # fmt: skip
    assert ask(gate, b"", path="/health", method="GET") == (200, {"ok": True})


BAD: list[tuple[object, int]] = [
    (b"{", 400), (b"[" * 100_000, 400), ([], 400), ({"numbers": NUMBER}, 400), ({"numbers": [1]}, 400),
    ({"numbers": [NUMBER], "when": "now"}, 400), ({"numbers": [NUMBER], "at": "noon"}, 400),
    ({"numbers": [NUMBER], "at": "2026-10-05T15:00:00"}, 400), ({"numbers": [NUMBER], "campaign": 7}, 400),
    ({"numbers": [NUMBER] * 1_001}, 413), (b" " * (MOST_BYTES + 1), 413),
    ({"numbers": [NUMBER], "campaign": "cmp_unread"}, 503), ({"numbers": [NUMBER], "campaign": "cmp_broken"}, 503),
]  # fmt: skip


def test_what_cannot_be_decided_is_refused_without_a_number_in_it(gate: GateServer) -> None:
    """A question that is none, or a failure behind the gate: nobody is dialed, and no number is repeated."""
    for body, expected in BAD:
        status, told = ask(gate, body)
        assert status == expected, body
        assert "verdicts" not in told
        assert NUMBER not in json.dumps(told)
    assert ask(gate, {"numbers": [NUMBER]}, path="/")[0] == 404
    assert ask(gate, b"", method="GET")[0] == 405


@pytest.mark.parametrize("token", ["", "another-token-of-this", TOKEN[:-1], TOKEN.upper()])
def test_nobody_is_answered_without_the_token(gate: GateServer, token: str) -> None:
    """A gate that answered anybody would tell who is on the firm's list."""
    status, told = ask(gate, {"numbers": [NUMBER]}, token=token)
    assert status == 401
    assert "verdicts" not in told


def test_a_token_that_can_be_guessed_is_refused() -> None:
    """The same goes for one that no header can hold."""
    for token in ("short", "ü" * 20):
        with pytest.raises(ConfigError, match="at least 16"):
            GateServer(decide, token=token, port=0)


def test_the_gate_of_an_account_reads_again_what_was_written_a_moment_ago(tmp_path: Path) -> None:
    """The second question is remembered; a check that the service answered, or an entry of the firm's list, is seen by the next."""
    with (
        sandbox.start(size="tiny", seed=3) as box,
        connect(base_url=box.base_url, api_key=box.api_key, store=tmp_path) as account,
    ):
        account.sync(["leads", "calls", "campaigns"])
        now = datetime.now(UTC)
        decide = StoredGate(account, Scope(), lambda: datetime.now(UTC))
        # The last lead that was never checked: not the firm's list alone decides.
        number = str(account.leads()["phone"].dropna().iloc[-1])
        (first,) = decide(Question((number,)))
        assert (first["verdict"], first["checked_at"]) == ("held", None)
        start = process_time()
        for _ in range(5):
            decide(Question((number,)))
        assert process_time() - start < 5 * 0.02
        account.check_dnc([number])
        (checked,) = decide(Question((number,)))
        assert checked["checked_at"] >= now
        entry = Entry(number, "complaint", "a test", now.date())
        SuppressionList.beside(tmp_path).add([entry], now)
        (listed,) = decide(Question((number,)))
        assert (listed["check"], listed["grade"]) == ("suppression", "violation")
        with pytest.raises(ConfigError, match="between 1971 and 2099"):
            decide(Question((number,), at=datetime(9999, 1, 1, tzinfo=UTC)))
