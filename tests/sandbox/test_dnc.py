"""The Do-Not-Call list: checked and added to."""

from __future__ import annotations

from sandbox.service_bench import (
    LONDON,
    Console,
    Party,
    answered,
    problem,
    shaped,
)


def test_check_answers_each_number_in_order(party: Party) -> None:
    """One result per input number, in input order, repeated numbers too."""
    listed, free = party.phone(), party.phone()
    party.on_dnc(listed)
    phones = [free, listed, LONDON, listed, free, free]
    body = answered(party.post("/v1/dnc/check", {"phones": phones}, idem=None), 200)

    assert set(body) == {"data"}
    assert [shaped("dnc check", each)["phone"] for each in body["data"]] == phones
    assert [each["listed"] for each in body["data"]] == [phone == listed for phone in phones]
    # A number that was only checked stays unlisted.
    assert answered(party.post("/v1/dnc/check", {"phones": phones}), 200) == body


def test_check_takes_100_and_no_more(party: Party) -> None:
    """100 numbers are answered; 101 answer 400 batch_too_large."""
    phones = [f"+1212555{n:04d}" for n in range(100, 200)]
    body = answered(party.post("/v1/dnc/check", {"phones": phones}), 200)
    assert [each["phone"] for each in body["data"]] == phones
    response = party.post("/v1/dnc/check", {"phones": [*phones, LONDON]})
    problem(response, 400, "batch_too_large")


def test_added_number_is_listed(console: Console, party: Party, other: Party) -> None:
    """POST /v1/dnc lists the number for this client alone; only the console removes it."""
    number = party.phone()
    answered(party.post("/v1/dnc", {"phone": number, "reason": "asked"}), 201)
    for client, listed in ((party, True), (other, False)):
        body = answered(client.post("/v1/dnc/check", {"phones": [number]}), 200)
        assert body["data"] == [{"phone": number, "listed": listed}]
    problem(party.send("DELETE", "/v1/dnc"), 405, "method_not_allowed")
    party.console("DELETE", f"/dnc/{number}", status=204)
    body = answered(party.post("/v1/dnc/check", {"phones": [number]}), 200)
    assert body["data"][0]["listed"] is False
