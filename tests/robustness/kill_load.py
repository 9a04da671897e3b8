"""Writes of many kinds, put down before they are sent, and what the service shows of them."""

from __future__ import annotations

import json
import random
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import httpx

from sandbox.service_bench import Party, Service, answered

CODES = ("212", "312", "415", "206", "305", "512", "617", "702", "801", "913", "919", "952")
#: For the Do-Not-Call list, which outlives a round: one code for each round.
LISTED_CODES = (
    201, 203, 205, 207, 208, 209, 210, 213, 214, 215, 216, 217, 218, 219, 224, 225, 228, 229,
    231, 234, 239, 240, 248, 251, 252, 253, 254, 256, 260, 262, 267, 269, 270, 276, 281, 301,
    302, 303, 304, 307, 308, 309, 310, 313, 314, 315, 316, 317, 318, 319, 320, 321, 323, 325,
    330, 331, 334, 336, 337, 339, 346, 347, 351, 352,
)  # fmt: skip
SOON = "2035-06-01T15:00:00Z"


def phones() -> Iterator[str]:
    """Fictional numbers, each once: NANP 555-01xx, then Ofcom's London and mobile ranges."""
    yield from (f"+1{code}5550{last}" for code in CODES for last in range(100, 200))
    yield from (f"+442079460{last:03d}" for last in range(1000))
    yield from (f"+447700900{last:03d}" for last in range(1000))


@dataclass(frozen=True)
class Write:
    """One write as it is sent, however often.

    Attributes:
        marks: What the service's lists show once for each thing that the write makes.
    """

    kind: str
    method: str
    path: str
    key: str
    body: bytes
    status: int
    marks: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    body: bytes
    replayed: bool


@dataclass
class Ledger:
    """Every write of one round, put down before it is sent, and the answers that arrived whole."""

    round: int
    campaign: str
    lead: str
    writes: list[Write] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)

    def unanswered(self) -> list[Write]:
        """Writes that may or may not have happened."""
        return [write for write in self.writes if write.key not in self.answers]


def send(party: Party, write: Write) -> Answer:
    """One write under its key."""
    headers = {"Content-Type": "application/json"}
    came = party.send(
        write.method, write.path, content=write.body, idem=write.key, headers=headers
    )
    return Answer(came.status_code, came.content, "Idempotency-Replayed" in came.headers)


def prepared(service: Service, number: int) -> Ledger:
    """A ledger with a campaign of its own and a lead to change and to call back."""
    service.console.do("PUT", "/account", {"rate_limits": None, "calling_hours": None}, status=200)
    party = service.first_client()
    campaign = party.campaign("paused")
    # A German number: none of those that the writers take.
    return Ledger(number, campaign, party.lead(campaign, phone="+493023125000"))


#: Writes of one round after which it has enough.
LONGEST = 600

Maker = Callable[[Ledger, Iterator[str], random.Random, str], Write]


def _import(ledger: Ledger, numbers: Iterator[str], dice: random.Random, key: str) -> Write:
    marks = tuple(f"lead {key}-{index}" for index in range(dice.randint(1, 6)))
    leads = [{"phone": next(numbers), "external_id": mark.split()[1]} for mark in marks]
    path = f"/v1/leads/import?campaign_id={ledger.campaign}"
    return _write("import", path, key, {"leads": leads}, 200, *marks)


def _create(ledger: Ledger, numbers: Iterator[str], dice: random.Random, key: str) -> Write:
    body = {"campaign_id": ledger.campaign, "phone": next(numbers), "external_id": key}
    return _write("create", "/v1/leads", key, body, 200, f"lead {key}")


def _callback(ledger: Ledger, numbers: Iterator[str], dice: random.Random, key: str) -> Write:
    body = {"lead_id": ledger.lead, "scheduled_at": SOON, "notes": key}
    return _write("callback", "/v1/callbacks", key, body, 201, f"callback {key}")


def _appointment(ledger: Ledger, numbers: Iterator[str], dice: random.Random, key: str) -> Write:
    body = {"phone": "+493023125001", "scheduled_at": SOON, "duration_minutes": 30, "notes": key}
    return _write("appointment", "/v1/appointments", key, body, 201, f"appointment {key}")


def _dnc(ledger: Ledger, numbers: Iterator[str], dice: random.Random, key: str) -> Write:
    taken = sum(write.kind == "dnc" for write in ledger.writes)
    number = f"+1{LISTED_CODES[ledger.round]}5550{100 + taken}"
    return _write("dnc", "/v1/dnc", key, {"phone": number}, 201, f"dnc {number}")


def _sms(ledger: Ledger, numbers: Iterator[str], dice: random.Random, key: str) -> Write:
    body = {"to": "+493023125002", "body": "x", "client_reference": key}
    return _write("sms", "/v1/sms", key, body, 202, f"sms {key}", f"sent {key}")


def _update(ledger: Ledger, numbers: Iterator[str], dice: random.Random, key: str) -> Write:
    body = {"full_name": key}
    path = f"/v1/leads/{ledger.lead}"
    return _write("update", path, key, body, 200, method="PATCH")


MAKERS: tuple[Maker, ...] = (_import, _create, _callback, _appointment, _dnc, _sms, _update)


def _write(
    kind: str, path: str, key: str, body: object, status: int, *marks: str, method: str = "POST"
) -> Write:
    return Write(kind, method, path, key, json.dumps(body).encode(), status, marks)


def load(
    party: Party, ledger: Ledger, seed: int, ended: threading.Event
) -> list[threading.Thread]:
    """One thread for each kind of write, at work until the service is gone."""
    shared = phones()
    taking = threading.Lock()

    def numbers() -> Iterator[str]:
        while True:
            with taking:
                yield next(shared)

    def work(maker: Maker) -> None:
        dice = random.Random(f"{seed} {maker.__name__}")
        own_numbers = numbers()
        try:
            # A round has a hundred numbers for the list, which is more than it gets to.
            while not ended.is_set() and len(ledger.writes) < LONGEST:
                write = maker(ledger, own_numbers, dice, uuid.UUID(int=dice.getrandbits(128)).hex)
                ledger.writes.append(write)
                ledger.answers[write.key] = send(party, write)
        except httpx.TransportError:
            pass  # Killed: this write's outcome is open.

    threads = [threading.Thread(target=work, args=(maker,), daemon=True) for maker in MAKERS]
    for thread in threads:
        thread.start()
    return threads


def seen(party: Party, ledger: Ledger) -> Counter[str]:
    """How often the service shows what each write of the ledger marks."""
    campaign = {"campaign_id": ledger.campaign, "limit": "100"}
    leads, callbacks = party.walk("/v1/leads", **campaign), party.walk("/v1/callbacks", **campaign)
    appointments = party.walk("/v1/appointments", limit="100")
    reports = party.walk("/v1/sms/delivery-reports", limit="100")
    shown = Counter(f"lead {lead['external_id']}" for lead in leads)
    shown.update(f"callback {callback['notes']}" for callback in callbacks)
    shown.update(f"appointment {appointment['notes']}" for appointment in appointments)
    shown.update(f"sms {report['client_reference']}" for report in reports)
    shown.update(f"sent {entry.get('client_reference')}" for entry in party.outbox())
    added = [
        mark.split()[1] for write in ledger.writes if write.kind == "dnc" for mark in write.marks
    ]
    for start in range(0, len(added), 100):
        body = {"phones": added[start : start + 100]}
        checked = answered(party.post("/v1/dnc/check", body), 200)["data"]
        shown.update(f"dnc {result['phone']}" for result in checked if result["listed"])
    return shown
