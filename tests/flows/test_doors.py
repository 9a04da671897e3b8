"""Whatever this machine learns about a number, by whichever door, every door that is asked holds the number."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pandas
import pytest

import dialframe
from assistant.conftest import Person, in_memory
from cli.commands import invoke
from dialframe.account import Account
from dialframe.app import serve
from dialframe.assistant import analysis_tools
from dialframe.assistant.offered_operations import Exposure

FREE = "+12127360000"


@dataclass(frozen=True)
class World:
    """A sandbox, an account of it, and a folder."""

    service: Any
    account: Account
    folder: Path

    @property
    def campaign(self) -> str:
        """A campaign that takes leads."""
        return str(self.account.campaigns()["id"].iloc[0])

    def synced_lead(self, phone: str) -> None:
        console = self.service.console
        lead = {"campaign_id": self.campaign, "phone": phone, "status": "dnc"}
        console.add_leads(self.service.client_id, [lead])
        self.account.sync(["leads"])

    def listed_by_the_service(self, phone: str) -> None:
        self.service.console.add_dnc(self.service.client_id, [phone])

    def assistant(self, phone: str) -> None:
        async def talk(client: Any) -> Any:
            return await client.call_tool("dnc_add", {"phone": phone})

        in_memory(self.account, talk, Exposure.of(["dnc.add"]), person=Person())

    def stored_call(self, phone: str) -> None:
        now = datetime.now(UTC)
        call = {"id": "call_1", "direction": "outbound", "to_number": phone, "disposition": "do_not_call",
                "created_at": now, "ended_at": now}  # fmt: skip
        self.account.store.append(
            dialframe.frames.CALLS, [call], observed_at=now, request_id="req_1"
        )

    def event(self, phone: str) -> None:
        at = datetime.now(UTC)
        data = {
            "call_id": "call_2",
            "phone": phone,
            "disposition_code": "DNC",
            "logged_at": at.isoformat(),
        }
        event = {
            "id": "evt_1",
            "type": "disposition.logged",
            "created_at": at.isoformat(),
            "data": data,
        }
        self.account.store.append(
            dialframe.frames.EVENTS,
            [{**event, "data": json.dumps(data)}],
            observed_at=at,
            request_id=None,
        )

    def flag_column(self, phone: str) -> None:
        path = self.folder / "flags.csv"
        path.write_text(f"Phone,Do not call\n{phone},yes\n+12127360099,\n")
        invoke("leads clean", path, "--region", "US", "--out", self.folder / "flagged")


def client_check(world: World, phone: str) -> None:
    world.listed_by_the_service(phone)
    world.account.client.dnc.check([phone])


def account_check(world: World, phone: str) -> None:
    world.listed_by_the_service(phone)
    world.account.check_dnc([phone], max_age="0s")


def hashed(world: World, phone: str) -> None:
    path = world.folder / "hashes.csv"
    path.write_text(f"sha256\n{hashlib.sha256(phone.encode()).hexdigest()}\n")
    invoke("suppress add", "--file", path)


#: How something is learned. Before it the service said of each number that it is not listed.
LEARN: dict[str, Callable[[World, str], object]] = {
    "client.dnc.check": client_check,
    "account.check_dnc": account_check,
    "client.dnc.add": lambda world, phone: world.account.client.dnc.add(phone=phone),
    "suppress add": lambda _, phone: invoke("suppress add", phone),
    "suppress add of a register's": lambda _, phone: invoke(
        "suppress add", phone, "--reason", "registry"
    ),
    "suppress add of a hash": hashed,
    "a flag column": World.flag_column,
    "a synced lead": World.synced_lead,
    "a disposition": World.stored_call,
    "an event": World.event,
    "the assistant": World.assistant,
}
NUMBERS = {door: f"+1212736{number:04d}" for number, door in enumerate(LEARN, 1)}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Everything was learned once, each of another number that is a lead."""
    folder = tmp_path_factory.mktemp("doors")
    with (
        dialframe.sandbox.start(size="empty") as service,
        pytest.MonkeyPatch.context() as variables,
    ):
        variables.setenv("DIALFRAME_BASE_URL", service.base_url)
        variables.setenv("DIALFRAME_API_KEY", service.api_key)
        variables.setenv("DIALFRAME_STORE", str(folder / "store"))
        variables.setenv("XDG_DATA_HOME", str(folder / "data"))
        console, client_id = service.console, service.client_id
        with dialframe.connect() as account:
            world = World(service, account, folder)
            campaign = console.create_campaign(client_id, "c", status="paused")["id"]
            phones = [*NUMBERS.values(), FREE]
            console.add_leads(
                client_id, [{"campaign_id": campaign, "phone": each} for each in phones]
            )
            account.sync()
            checks = account.check_dnc(phones)
            assert not checks["listed"].any()
            for door, phone in NUMBERS.items():
                LEARN[door](world, phone)
            account.sync()
            yield world


def leads_by(command: str, *more: str) -> Callable[[World, list[str]], set[str]]:
    """Numbers that a command on a list of leads holds back."""

    def ask(world: World, phones: list[str]) -> set[str]:
        out, path = world.folder / command, world.folder / f"{command}.csv"
        path.write_text("phone,name\n" + "".join(f"{phone},A B\n" for phone in phones))
        words = [word.format(campaign=world.campaign) for word in more]
        invoke(f"leads {command}", path, "--region", "US", "--out", out, *words, ends=None)
        clean = (out / f"{command}.clean.csv").read_text()
        return {phone for phone in phones if phone not in clean}

    return ask


def suppress_check(_: World, phones: list[str]) -> set[str]:
    """One by one: the answer masks them."""
    return {phone for phone in phones if invoke("suppress check", phone, ends=None).status == 3}


def gate(_: World, phones: list[str]) -> set[str]:
    """Held by what the firm knows of the number, and not for want of some input."""
    verdicts = invoke("gate check --json", *phones, ends=3).facts["verdicts"]
    return {row["number"] for row in verdicts if "suppression" in row["held_by"]}


def may_call(world: World, phones: list[str]) -> set[str]:
    """The same of the assistant's tool."""
    asked = analysis_tools.Asked(world.account, {"numbers": phones}, datetime.now(UTC))
    rows = analysis_tools.BY_NAME["may_call"].run(asked)["verdicts"]
    return {row["number"] for row in rows if "suppression" in row["held_by"]}


def web_app(world: World, phones: list[str]) -> set[str]:
    """The page that asks about one number."""
    with serve(world.folder, dialframe.connect) as app, httpx.Client(base_url=app.url) as browser:
        browser.get(app.link)
        pages = {
            phone: browser.get("/compliance/gate", params={"number": phone}, timeout=60).text
            for phone in phones
        }
    return {phone for phone, text in pages.items() if "suppression" in text.lower()}


def called_later(world: World, phones: list[str]) -> datetime:
    """A call to each number an hour after everything was learned; when that is."""
    later = datetime.now(UTC) + timedelta(hours=1)
    calls = [
        {"id": f"call_after_{phone}", "direction": "outbound", "to_number": phone, "created_at": later,
         "answered_at": later, "ended_at": later}
        for phone in phones
    ]  # fmt: skip
    world.account.store.append(
        dialframe.frames.CALLS, calls, observed_at=later, request_id="req_2"
    )
    return later


def spoken_against(listed: Any, phones: list[str]) -> set[str]:
    """Numbers whose call is no pass of the check on listed numbers, by something on record."""
    spoken = set(listed[listed["basis"] != "nothing"]["call_id"])
    return {phone for phone in phones if f"call_after_{phone}" in spoken}


def audited(world: World, phones: list[str]) -> set[str]:
    """The audit of the store."""
    later = called_later(world, phones)
    result = dialframe.audit(world.account, now=lambda: later + timedelta(hours=1), rules=["us"])
    return spoken_against(result.listed, phones)


def audited_tables(world: World, phones: list[str]) -> set[str]:
    """The audit of files that are without the call and the event that said so: the log has the rest."""
    later = called_later(world, phones)
    folder = world.folder / "tables"
    folder.mkdir()
    for name in ("calls", "leads", "dnc_checks"):
        frame = getattr(world.account, name)()
        if name == "calls":
            frame = frame[frame["id"].str.startswith("call_after_")]
        frame.to_parquet(folder / f"{name}.parquet")
    as_of = (later + timedelta(hours=1)).isoformat()
    pack = world.folder / "pack"
    invoke("audit --rules us --tables", folder, "--as-of", as_of, "-o", pack, ends=None)
    found = pandas.read_csv(pack / "findings.csv")
    found = found[(found["check"] == "listed_number") & (found["grade"] != "not evaluable")]
    return {phone for phone in phones if f"call_after_{phone}" in set(found["call_id"])}


def coverage(world: World, phones: list[str]) -> set[str]:
    """Numbers that are not callable by the table of what is checked next, although every check is old."""
    later = datetime.now(UTC) + timedelta(days=60)
    asked = analysis_tools.Asked(world.account, {}, later)
    answer = analysis_tools.BY_NAME["dnc_coverage"].run(asked)
    return set(phones) - {row["phone"] for row in answer["to_check_first"] if row["callable"]}


#: Who is asked, and which of some numbers it holds.
ASK: dict[str, Callable[[World, list[str]], set[str]]] = {
    "suppress check": suppress_check,
    "leads clean": leads_by("clean"),
    "leads screen": leads_by("screen"),
    "leads import": leads_by("import", "--campaign", "{campaign}", "--yes"),
    "gate": gate,
    "may_call of the assistant": may_call,
    "coverage": coverage,
    "audit": audited,
    "audit --tables": audited_tables,
    "latest facts": lambda world, phones: {
        phone
        for phone, facts in world.account.evidence.latest(phones).items()
        if facts.prohibition
    },
}


@pytest.mark.parametrize("door", ASK)
def test_every_door_holds_what_any_door_learned(door: str, world: World) -> None:
    phones = [*NUMBERS.values(), FREE]
    held = ASK[door](world, phones)
    assert [name for name, phone in NUMBERS.items() if phone not in held] == []
    assert FREE not in held


def test_the_page_about_one_number_holds_what_the_gate_holds(world: World) -> None:
    """It asks the gate, seconds a number: one of each kind of record is enough."""
    doors = ("client.dnc.check", "suppress add of a hash", "an event")
    phones = [NUMBERS[door] for door in doors]
    assert web_app(world, [*phones, FREE]) == set(phones)


def test_a_row_that_is_read_again_says_nothing_new_and_a_person_may_take_it_back(
    world: World,
) -> None:
    phone = NUMBERS["a synced lead"]
    before = len(list(world.account.evidence.records(["refusal"])))
    world.account.sync(["leads"])
    assert len(list(world.account.evidence.records(["refusal"]))) == before
    invoke("suppress remove", phone, "--reason", "wrong number")
    world.account.sync(["leads"])
    assert world.account.evidence.latest([phone])[phone].prohibition is None


def test_what_is_taken_back_later_still_stood_when_the_call_was_made(world: World) -> None:
    """A firm clears no call of yesterday by taking the number off its list today."""
    phone = NUMBERS["suppress add"]
    assert audited(world, [phone]) == {phone}
    invoke("suppress remove", phone, "--reason", "consent")
    before = datetime.now(UTC)
    (record, ended_at), *_ = [
        (record, ended_at)
        for number, record, ended_at in world.account.evidence.wishes([phone])
        if number == phone
    ]
    assert record.at < before
    assert ended_at is not None
    calls = [
        {"id": f"call_{name}", "direction": "outbound", "to_number": phone, "created_at": at, "answered_at": at,
         "ended_at": at}
        for name, at in (("during", record.at + (ended_at - record.at) / 2), ("since", ended_at + timedelta(hours=2)))
    ]  # fmt: skip
    world.account.store.append(
        dialframe.frames.CALLS, calls, observed_at=before, request_id="req_3"
    )
    listed = dialframe.audit(
        world.account, now=lambda: before + timedelta(days=1), rules=["us"]
    ).listed
    assert dict(zip(listed["call_id"], listed["basis"], strict=True))["call_during"] == "request"
    assert "call_since" not in set(listed[listed["basis"] == "request"]["call_id"])
