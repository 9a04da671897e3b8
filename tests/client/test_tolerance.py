"""No answer stops a walk: what cannot be read is set aside by row and field, and the rest is kept."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from client.fakes import (
    CALL,
    CAMPAIGN,
    LEAD,
    PHONE,
    REQUEST_ID,
    Service,
    a_call,
    a_lead,
    a_text,
    an_id,
    answer,
    connected,
    problem,
    send_sms,
)
from dialframe.client import Client, ListPage
from dialframe.errors import ContractError, NotFound, OutcomeUnknown, ServiceUnavailable
from rows import every_row

HALF = "\\ud83d"


def page_of(rows: list[str]) -> httpx.Response:
    """A page whose rows are JSON texts."""
    text = f'{{"data": [{", ".join(rows)}], "page": {{"next_cursor": null, "has_more": false}}}}'
    return httpx.Response(200, headers={"X-Request-ID": REQUEST_ID}, content=text.encode())


def text_of(row: dict[str, Any], name: str, value: str) -> str:
    """The JSON of a row with the JSON text of one field replaced."""
    return json.dumps({**row, name: "@"}).replace('"@"', value)


def only_page(service: Service, folder: Path) -> ListPage[Any]:
    """The one page of the list of leads."""
    (page,) = connected(service, folder).leads.list().pages()
    return page


UNREADABLE: list[tuple[str, str, str, str]] = [
    ("half an emoji", "full_name", f'"Ada {HALF}"', "half of a character"),
    ("half an emoji, nested", "custom_fields", f'{{"note": "{HALF}"}}', "half of a character"),
    ("not a number", "attempts", "NaN", "finite number"),
    ("beyond a float", "attempts", "1e400", "valid integer"),
    ("not a number, in what v1 may gain", "custom_fields", '{"score": [NaN]}', "finite number"),
    ("too many digits", "attempts", "9" * 5000, "finite number"),
    ("beyond 64 bits", "attempts", str(2**70), "less than or equal"),
    ("another type", "attempts", '"three"', "valid integer"),
    ("an id of another kind", "id", f'"{CALL}"', "lead_"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "reason"), [case[1:] for case in UNREADABLE], ids=[c[0] for c in UNREADABLE]
)
def test_value_that_cannot_be_read_sets_its_row_aside_by_field(
    name: str, value: str, reason: str, tmp_path: Path
) -> None:
    """The rows around it stay, the row is kept as it came, and its JSON can be stored."""
    rows = [json.dumps(a_lead(1)), text_of(a_lead(2), name, value), json.dumps(a_lead(3))]

    page = only_page(Service(page_of(rows)), tmp_path)

    assert [lead.id for lead in page] == [an_id("lead", 1), an_id("lead", 3)]
    (bad,) = page.quarantined
    assert (bad.index, bad.where.partition(".")[0]) == (1, name)
    assert reason in bad.reason
    assert value.strip('"') not in bad.reason
    assert json.dumps(bad.raw, allow_nan=False).encode()


def test_bytes_that_are_not_utf8_spoil_their_row_alone(tmp_path: Path) -> None:
    """A name in Latin-1 between two good rows."""
    response = page_of([json.dumps(a_lead(1)), text_of(a_lead(2), "full_name", '"Bj@rn"')])
    service = Service(httpx.Response(200, content=response.content.replace(b"Bj@rn", b"Bj\xf6rn")))

    page = only_page(service, tmp_path)

    assert [bad.where for bad in page.quarantined] == ["full_name"]
    assert len(page) == 1


def test_two_rows_with_one_id_are_both_doubtful(tmp_path: Path) -> None:
    """Which of them is right cannot be told from the page; the same row twice is no doubt."""
    twice = [json.dumps(a_lead(1)), json.dumps(a_lead(1, full_name="B")), json.dumps(a_lead(2))]
    same = [json.dumps(a_lead(1)), json.dumps(a_lead(1))]

    doubtful, sure = (only_page(Service(page_of(rows)), tmp_path) for rows in (twice, same))

    assert [(bad.index, bad.where) for bad in doubtful.quarantined] == [(0, "id"), (1, "id")]
    assert (len(doubtful), len(sure.quarantined), len(sure)) == (1, 0, 2)


def mutated(rows: list[str], dice: random.Random) -> tuple[list[str], set[int]]:
    """Rows of which some were spoilt, and which."""
    ways: list[Callable[[dict[str, Any]], str]] = [
        lambda row: text_of(row, "disposition", f'"{HALF}"'),
        lambda row: text_of(row, "duration_seconds", "NaN"),
        lambda row: text_of(row, "duration_seconds", "1e400"),
        lambda row: text_of(row, "created_at", "7"),
        lambda row: text_of(row, "status", "[]"),
        lambda row: text_of(row, "id", f'"{LEAD}"'),
    ]
    spoilt = set(dice.sample(range(len(rows)), dice.randint(1, 5)))
    return [
        dice.choice(ways)(json.loads(row)) if index in spoilt else row
        for index, row in enumerate(rows)
    ], spoilt


@every_row("seed", range(100))
def test_every_healthy_row_comes_and_every_bad_one_is_named(seed: int, tmp_path: Path) -> None:
    """A list of ten pages with rows spoilt in every way."""
    dice = random.Random(seed)
    texts = [json.dumps(a_call(number)) for number in range(100)]
    texts, spoilt = mutated(texts, dice)
    pages = []
    for number in range(10):
        cursor = "null" if number == 9 else f'"c{number}"'
        rows = ", ".join(texts[number * 10 : number * 10 + 10])
        pages.append(
            f'{{"data": [{rows}], "page": {{"next_cursor": {cursor}, "has_more": true}}}}'
        )
    pages[-1] = pages[-1].replace('"has_more": true', '"has_more": false')
    service = Service(*[httpx.Response(200, content=page.encode()) for page in pages])

    read = list(connected(service, tmp_path).calls.list().pages())

    healthy = [an_id("call", number) for number in range(100) if number not in spoilt]
    assert [call.id for page in read for call in page] == healthy
    named = {n * 10 + bad.index for n, page in enumerate(read) for bad in page.quarantined}
    assert named == spoilt
    assert all(bad.where and bad.reason for page in read for bad in page.quarantined)


ANOTHER: list[tuple[str, Callable[[Client], Any], Any, str]] = [
    ("call", lambda c: c.calls.get(CALL), a_call(9), "id"),
    ("lead", lambda c: c.leads.get(LEAD), a_lead(9), "id"),
    ("changed lead", lambda c: c.leads.update(LEAD, full_name="A"), a_lead(9), "id"),
    ("transcript", lambda c: c.calls.transcript(CALL), {"call_id": an_id("call", 9)}, "call_id"),
    ("progress", lambda c: c.campaigns.progress(CAMPAIGN), {"campaign_id": an_id("cmp", 9)}, "campaign_id"),
    ("text", send_sms, a_text("+12125550143"), "to"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("ask", "body", "where"), [case[1:] for case in ANOTHER], ids=[case[0] for case in ANOTHER]
)
def test_answer_about_something_else_is_refused(
    ask: Callable[[Client], Any], body: Any, where: str, tmp_path: Path
) -> None:
    """The id asked for is the id answered."""
    with pytest.raises(ContractError, match="not the one that was asked for") as caught:
        ask(connected(Service(answer(body)), tmp_path))

    assert caught.value.where == where


def test_rows_of_another_campaign_are_set_aside(tmp_path: Path) -> None:
    """A filter that the service does not keep to brings nobody else's rows."""
    rows = [json.dumps(a_lead(1)), json.dumps(a_lead(2, campaign_id=an_id("cmp", 9)))]
    client = connected(Service(page_of(rows)), tmp_path)

    (page,) = client.leads.list(campaign_id=CAMPAIGN).pages()

    assert [lead.id for lead in page] == [an_id("lead", 1)]
    assert [bad.where for bad in page.quarantined] == ["campaign_id"]


@pytest.mark.parametrize("indexes", [[0], [0, 0], [1, 2], [0, 1, 2]])
def test_import_has_one_result_for_each_lead(indexes: list[int], tmp_path: Path) -> None:
    """Missing, doubled or foreign indexes are no answer, and the write may have happened."""
    body = {
        "campaign_id": CAMPAIGN,
        "data": [{"index": index, "status": "accepted"} for index in indexes],
        "summary": {"received": 2, "accepted": 2, "rejected": 0},
    }
    client = connected(Service(answer(body)), tmp_path)

    with pytest.raises(ContractError, match="one result for each of 2 leads"):
        client.leads.import_(CAMPAIGN, [{"phone": PHONE}, {"phone": PHONE}])

    assert len(client.writes.pending()) == 1


def test_number_beyond_every_float_is_no_number(tmp_path: Path) -> None:
    """1e400 does not become infinity."""
    body = json.dumps(a_call()).replace(
        '"duration_seconds": ', '"duration_seconds": 1e400, "was": '
    )
    service = Service(httpx.Response(200, content=body.encode()))

    with pytest.raises(ContractError, match="at duration_seconds: a finite number"):
        connected(service, tmp_path).calls.get(CALL)


def test_half_an_emoji_in_a_refusal_costs_no_code(tmp_path: Path) -> None:
    """The code is what a program goes by."""
    refusal = b'{"code": "outcome_unknown", "status": 409, "detail": "Ada \\ud83d"}'

    with pytest.raises(OutcomeUnknown):
        connected(Service(httpx.Response(409, content=refusal)), tmp_path).campaigns.pause(
            CAMPAIGN
        )


def test_code_with_the_status_of_an_outage_is_an_outage(tmp_path: Path) -> None:
    """A 500 that says `not_found` does not say that the lead is gone."""
    with pytest.raises(ServiceUnavailable) as caught:
        connected(Service(problem(500, "not_found")), tmp_path, max_attempts=1).leads.get(LEAD)

    assert caught.value.code == "not_found"
    with pytest.raises(NotFound):
        connected(Service(problem(404, "not_found")), tmp_path).leads.get(LEAD)


def test_unshown_shape_keeps_what_does_not_fit(tmp_path: Path) -> None:
    """Fitting fields are parsed, others and unknown ones stay as they came, missing ones are None."""
    raw = a_lead(attempts="three", created_at="2026-11-20T15:04:05Z", extra=[1])
    del raw["phone"]
    odd = {"id": an_id("appt"), "scheduled_at": 7}
    client = connected(
        Service(answer(raw), answer({"client": {"id": "cli_x"}, "scopes": "all"}),
                page_of([json.dumps(odd), "5"])), tmp_path)  # fmt: skip

    lead, me = client.leads.get(LEAD), client.me()
    (page,) = client.appointments.list().pages()

    assert (lead.attempts, lead.phone) == ("three", None)
    assert lead.created_at.year == 2026
    assert lead.model_extra == {"extra": [1]}
    assert (me.scopes, me.model_extra) == ("all", {"client": {"id": "cli_x"}})
    # Of such rows only what is no object is set aside.
    assert [booked.scheduled_at for booked in page] == [7]
    assert [item.index for item in page.quarantined] == [1]
