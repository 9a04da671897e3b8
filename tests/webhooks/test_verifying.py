"""A delivery is believed only if it is the service's, fresh, and the event that it says it is; what is shown of it."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dialframe import frames
from dialframe.errors import ConfigError, WebhookError
from dialframe.webhooks import Delivery, verify
from dialframe.webhooks.verifying import as_json, as_line, record
from rows import every_row
from webhooks.made import CALLER, NOW, OLD, PERSON, SECRET, Made, delivery, event

HEADERS = (
    "Service-Signature",
    "Service-Timestamp",
    "Service-Event-Id",
    "Service-Event",
    "Service-Delivery-Id",
)


def checked(made: Made, secrets: Any = SECRET, now: datetime = NOW) -> Delivery:
    """The delivery that was found genuine."""
    return verify(made.body, made.headers, secrets, now)


def refused(made: Made, secrets: Any = SECRET, now: datetime = NOW) -> str:
    """Why it was refused."""
    with pytest.raises(WebhookError) as caught:
        checked(made, secrets, now)
    assert PERSON not in str(caught.value)
    assert SECRET not in str(caught.value)
    return caught.value.why


def test_a_genuine_delivery_is_read() -> None:
    """Ids and type come from the signed body, the envelope is whole, and the bytes are kept."""
    made = delivery()

    found = checked(made)

    assert (found.event_id, found.type) == (event()["id"], "call.completed")
    assert found.delivery_id == made.headers["Service-Delivery-Id"]
    assert found.envelope.data == event()["data"]
    assert found.envelope.call_details is not None
    assert (found.received_at, found.raw) == (NOW, made.body)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.type = "x"  # type: ignore[misc]


@pytest.mark.parametrize("change", [str.lower, str.upper, str.swapcase])
def test_header_names_have_no_case(change: Any) -> None:
    """However a server writes the names of headers, they are found."""
    made = delivery()
    headers = {change(name): value for name, value in made.headers.items()}

    assert verify(made.body, headers, SECRET, NOW).event_id == event()["id"]


@pytest.mark.parametrize("signed", [(SECRET, OLD), (SECRET,), (OLD,)])
@pytest.mark.parametrize("held", [SECRET, OLD, [SECRET], [OLD], (SECRET, OLD), [OLD, SECRET]])
def test_during_a_rotation_either_secret_will_do(signed: tuple[str, ...], held: Any) -> None:
    """A delivery is genuine if any of its signatures was made with any of the secrets held."""
    made = delivery(secrets=signed)
    common = set(signed) & ({held} if isinstance(held, str) else set(held))

    if common:
        assert checked(made, held).event_id == event()["id"]
    else:
        assert refused(made, held) == "bad_signature"


@pytest.mark.parametrize(
    ("drift_s", "fresh"),
    [(0, True), (300, True), (-300, True), (300.5, False), (-300.5, False), (86_400, False)],
)
def test_a_delivery_is_fresh_for_300_seconds_both_ways(drift_s: float, fresh: bool) -> None:
    """Signed longer ago, or further ahead, it is refused although the signature is right."""
    now = NOW + timedelta(seconds=drift_s)

    if fresh:
        assert checked(delivery(), now=now).received_at == now
    else:
        assert refused(delivery(), now=now) == "stale"


def test_the_clock_may_be_in_any_zone() -> None:
    """An instant is an instant; without a zone it is none."""
    elsewhere = NOW.astimezone(timezone(timedelta(hours=-7)))

    assert checked(delivery(), now=elsewhere).event_id == event()["id"]
    with pytest.raises(ConfigError, match="time zone"):
        checked(delivery(), now=NOW.replace(tzinfo=None))


def unbelievable() -> Iterator[tuple[str, Made]]:
    """Deliveries that are not believed, each with the reason."""
    made, old = delivery(), delivery(at=NOW - timedelta(hours=1))
    for name in HEADERS:
        # A header that is missing, empty or no text is named by what it lacks.
        yield "missing_header", made.without(name)
        for value in ("", "  ", 7, ["x"]):
            yield "missing_header", made.having(name, value)  # type: ignore[arg-type]
    # What is kept and shown of a header holds nothing that a terminal obeys.
    for value in ("whd_\x1b[31m", "whd_\n", "é", "w" * 256):
        yield "missing_header", made.having("Service-Delivery-Id", f"x{value}x")
    # Whatever else Python would take for a number is no plain Unix seconds.
    for value in (
        "now",
        "1e9",
        "-5",
        "+5",
        "1_790_000_000",
        "١٢٣",
        "1.5",
        "0x10",
        "9" * 400,
        "007",
        "\ud800",
    ):
        yield "bad_timestamp", made.having("Service-Timestamp", value)
    # The timestamp is signed: an old delivery stays old.
    yield "bad_signature", old.having("Service-Timestamp", str(int(NOW.timestamp())))
    for value in ("sha256=", "sha256=00", "é", "\udcff", ",,,", "md5=" + "0" * 64, "x" * 60_000):
        yield "bad_signature", made.having("Service-Signature", value)
    # The signature is over the exact bytes: the same JSON written otherwise is not genuine.
    pretty = json.dumps(json.loads(made.body), indent=1).encode()
    for body in (made.body + b"\n", pretty, b"", made.body[:-1]):
        yield "bad_signature", Made(body, made.headers)
    # The headers are not signed; where they name another event than the body, nothing is believed.
    yield "bad_body", made.having("Service-Event-Id", f"evt_{uuid.UUID(int=0xFFFF)}")
    yield "bad_body", made.having("Service-Event", "webhook.test")
    # Signed or not, what is no event in JSON is none.
    for body in (
        b"", b"{}", b"[]", b"null", b"7", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":NaN}',
        b"\xef\xbb\xbf{}", json.dumps(event()).encode("utf-16"), b"9" * 5000,
    ):  # fmt: skip
        yield "bad_body", delivery(body)
    for change in (
        {"created_at": "2026-09-14T15:06:30"}, {"created_at": 1_790_000_000},
        {"schema_version": "1"}, {"data": [PERSON]}, {"id": None},
    ):  # fmt: skip
        yield "bad_body", delivery(json.dumps(event(**change)).encode())


@every_row(("why", "made"), unbelievable())
def test_a_delivery_is_not_believed(why: str, made: Made) -> None:
    """An error in words that says why, without the values of the body or the secret."""
    assert refused(made) == why


def test_what_v1_may_still_gain_is_taken() -> None:
    """New types, new fields and a missing `call_details` are no reason to refuse an event."""
    made = event(type="call.started", mood={"a": 1}, schema_version=9)
    del made["call_details"]

    found = checked(delivery(made))

    assert found.type == "call.started"
    assert found.envelope.model_extra == {"mood": {"a": 1}}


@pytest.mark.parametrize("secrets", ["", "  ", [], [""], [SECRET, ""], ["whsec_é"]])
def test_without_a_secret_nothing_is_checked(secrets: Any) -> None:
    """An empty secret would let anybody sign, so it is a wrong setting."""
    with pytest.raises(ConfigError, match="secret"):
        checked(delivery(secrets=("",)), secrets)


def test_a_secret_may_come_from_a_file() -> None:
    """Blanks and line ends around a secret are no part of it."""
    assert checked(delivery(), f"{SECRET}\n").event_id == event()["id"]


def test_text_is_not_the_raw_body() -> None:
    """A body that was decoded already is a mistake of the caller, said in words."""
    with pytest.raises(ConfigError, match="bytes"):
        verify(delivery().body.decode(), delivery().headers, SECRET, NOW)  # type: ignore[arg-type]


@given(headers=st.dictionaries(st.sampled_from(HEADERS) | st.text(), st.text()), body=st.binary())
def test_nonsense_never_crashes(headers: dict[str, str], body: bytes) -> None:
    """Whatever is sent, it is refused with one of the reasons."""
    with pytest.raises(WebhookError) as caught:
        verify(body, headers, SECRET, datetime.now(UTC))

    assert caught.value.why in {"missing_header", "bad_timestamp", "stale", "bad_signature"}


@given(text=st.text(max_size=20), value=st.text(max_size=20))
def test_any_text_in_an_event_survives(text: str, value: str) -> None:
    """What the service says arrives as it was said."""
    made = event(data={text: value})

    assert checked(delivery(made)).envelope.data == {text: value}


def test_the_repr_hides_numbers() -> None:
    """A delivery in a log or a notebook shows no whole number, no words of people, and no bytes."""
    shown = repr(
        checked(delivery(event(data={"to": PERSON, "from": CALLER[1:], "n": 12125550142})))
    )

    assert "+121******42" in shown
    assert "5550142" not in shown
    assert "5550199" not in shown
    assert "ring me" not in shown
    assert event()["id"] in shown


def test_checking_needs_no_server() -> None:
    """Whoever only verifies, in an application of their own, loads neither server, client nor frames."""
    code = (
        "import sys, dialframe\n"
        "dialframe.webhooks.verify\n"
        "print(sorted({'pandas', 'httpx', 'starlette', 'uvicorn', 'sqlite3'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )

    assert done.stdout.strip() == "[]"


# --- a delivery as a row, as JSON and as a line ------------------------------------------------


def made(**changes: Any) -> Delivery:
    """A genuine delivery of an event."""
    sent = delivery(event(**changes))
    return verify(sent.body, sent.headers, SECRET, NOW)


def test_a_row_has_every_field_as_it_came() -> None:
    """Data and call details are those of the body to the letter; the rest says when it came."""
    one = made(mood="glad")

    row = record(one)

    assert set(row) == {*frames.EVENTS.names, "mood"} - {"_extra"}
    assert (row["data"], row["call_details"]) == (event()["data"], event()["call_details"])
    assert row["created_at"] == one.envelope.created_at
    assert (row["received_at"], row["delivery_id"]) == (NOW, one.delivery_id)
    assert frames.from_records(frames.EVENTS, [row])["_extra"].iloc[0] == '{"mood":"glad"}'


def test_json_is_one_line_with_masked_numbers() -> None:
    """Numbers are masked in fields and in prose, unless they are asked for."""
    one = made(data={"from": CALLER, "to": PERSON, "notes": "a\nb (212) 555-0142 é"})

    hidden, shown = as_json(one), as_json(one, show_numbers=True)

    assert json.loads(shown)["data"] == one.envelope.data
    assert json.loads(hidden)["data"]["to"] == "+121******42"
    assert json.loads(hidden)["id"] == one.event_id
    assert json.loads(hidden)["created_at"] == "2026-09-14T15:06:30+00:00"
    assert "555" not in hidden
    assert hidden.isascii()
    assert "\n" not in hidden + shown


def test_a_line_names_the_event_and_masked_numbers() -> None:
    """Type, event id, and the numbers that it is about."""
    one = made()

    assert as_line(one).split() == [
        "2026-09-14", "15:06:35Z", "call.completed", one.event_id, "+121******99", "+121******42",
    ]  # fmt: skip
    assert PERSON in as_line(one, show_numbers=True)


def test_nothing_that_was_sent_steers_the_terminal() -> None:
    """Control characters and line ends of a field are shown as question marks."""
    line = as_line(made(data={"phone": "\x1b[2J\n\x9b" + PERSON}), show_numbers=True)

    assert line.isprintable()


@pytest.mark.parametrize(
    ("late_s", "words"), [(301, "301 seconds behind this"), (-4000, "4,000 seconds ahead of this")]
)
def test_a_stale_delivery_says_on_which_side_of_the_clock_it_is(late_s: int, words: str) -> None:
    """A machine whose clock is wrong is told which way."""
    with pytest.raises(WebhookError, match=words) as caught:
        checked(delivery(), now=NOW + timedelta(seconds=late_s))

    assert caught.value.why == "stale"
