"""Every import and every call ends, whatever a service answers: within a number of requests and of seconds that is said."""

from __future__ import annotations

import contextlib
import json
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lead_import import CAMPAIGN, CAMPAIGN_FACTS, accepted
from client.fakes import KEY, START, FakeClock, answer, connected, in_a_loop, problem, transport_to
from dialframe.account import Account
from dialframe.client import Client
from dialframe.client.refusals import LONGEST_ASKED_S, PATIENCE
from dialframe.errors import DialframeError
from dialframe.flows.lead_cleaning import Recipe
from dialframe.flows.lead_import import bring_in
from dialframe.store import Store

ATTEMPTS = 4
#: Requests of one call at most: those that say "not yet" are repeated more often.
MOST = ATTEMPTS * PATIENCE
REFUSALS = (
    (409, "conflict"), (409, "outcome_unknown"), (409, "idempotency_conflict"), (503, "temporarily_unavailable"),
    (503, "dnc_screen_unavailable"), (429, "rate_limit_exceeded"), (429, "daily_cap_reached"), (429, ""),
    (500, "internal_error"), (502, ""), (400, "validation_failed"), (200, "html"), (200, "too few"), (0, "cut"),
)  # fmt: skip
#: What a service may say: a refusal, and how long it wants quiet; or the answer itself.
SAID = st.one_of(
    st.none(),
    st.tuples(
        st.sampled_from(REFUSALS),
        st.sampled_from([None, "0", "1", "119", "7200", "nan", "Fri, 31 Dec 2999 23:59:59 GMT"]),
    ),
)


def said(what: tuple[tuple[int, str], str | None], body: dict[str, Any]) -> httpx.Response:
    """One of those answers, in the place of a body."""
    (status, code), wait = what
    if code == "cut":
        raise httpx.ReadError("cut")
    if code == "html":
        return httpx.Response(200, content=b"<p>Sign in</p>")
    if code == "too few":
        return answer({**body, "data": []})
    return problem(status, code, **({} if wait is None else {"Retry_After": wait}))


@given(script=st.lists(SAID, min_size=1, max_size=6))
@settings(max_examples=4, deadline=None)
def test_every_import_ends(script: list[Any]) -> None:
    """Each run; and once the service answers, the next one leaves nothing open that it may ask about."""
    sent: list[str] = []

    def respond(request: httpx.Request) -> httpx.Response:
        leads = json.loads(request.content or b"{}").get("leads", [])
        if request.method == "GET":
            return answer(
                CAMPAIGN_FACTS if "campaigns" in request.url.path else {"client_id": "c"}
            )
        if "dnc" in request.url.path:
            phones = json.loads(request.content)["phones"]
            return answer({"data": [{"phone": each, "listed": False} for each in phones]})
        sent.append(request.headers["Idempotency-Key"])
        counts = {"received": len(leads), "accepted": len(leads), "rejected": 0}
        data = [accepted(index, lead) for index, lead in enumerate(leads)]
        body = {"campaign_id": CAMPAIGN, "data": data, "summary": counts}
        what = script[(len(sent) - 1) % len(script)] if script else None
        return answer(body) if what is None else said(what, body)

    clock = FakeClock()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "list.csv"
        path.write_text("phone,name\n(212) 555-0142,Ada\n(212) 555-0143,Bob\n")
        client = Client(
            "https://service.example", KEY, transport=transport_to(respond), limiter=None,
            journal=folder / "journal", clock=clock(), max_attempts=ATTEMPTS,
        )  # fmt: skip

        def now() -> Any:
            return START + timedelta(seconds=clock.elapsed_s)

        with Account(client, Store.open(folder / "store" / "part"), now=now) as account:

            def run() -> None:
                before, began_s = len(sent), clock.elapsed_s
                with contextlib.suppress(DialframeError):
                    bring_in(
                        [path], Recipe("US"), account, campaign_id=CAMPAIGN, out=folder / "out", now=now
                    )  # fmt: skip
                # One batch; what is open from before is asked for once more.
                assert len(sent) - before <= 2 * MOST
                assert clock.elapsed_s - began_s <= 2 * MOST * 1.25 * LONGEST_ASKED_S

            for _ in range(2):
                run()
            script.clear()
            run()
            keys = len(set(sent))
            run()
            assert len(set(sent)) == keys


@pytest.mark.parametrize("kind", ["threads", "event loop"])
@given(script=st.lists(SAID, min_size=1, max_size=6))
@settings(max_examples=15, deadline=None)
def test_every_call_ends(kind: str, script: list[Any]) -> None:
    """Reads and writes of both kinds of client; nobody waits longer for a turn than a service may ask."""
    import asyncio

    sent: list[int] = []

    def respond(_: httpx.Request) -> httpx.Response:
        what = script[len(sent) % len(script)]
        sent.append(1)
        return answer({"client_id": "c"}) if what is None else said(what, {})

    clock = FakeClock()
    with tempfile.TemporaryDirectory() as name:

        async def both() -> None:
            async with in_a_loop(respond, clock=clock(), journal=Path(name)) as client:
                for ask in (client.me, lambda: client.dnc.add(phone="+12125550142")):
                    with contextlib.suppress(DialframeError):
                        await ask()

        if kind == "threads":
            client = connected(respond, Path(name), clock=clock, max_attempts=ATTEMPTS)
            for ask in (client.me, lambda: client.dnc.add(phone="+12125550142")):
                with contextlib.suppress(DialframeError):
                    ask()
        else:
            asyncio.run(both())
    assert len(sent) <= 2 * MOST
    assert clock.elapsed_s <= 2 * MOST * 1.25 * LONGEST_ASKED_S
