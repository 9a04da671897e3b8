"""Whatever this machine learns about a number, by whichever door, every door that is asked holds the number."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import dialframe
from cli.commands import invoke
from dialframe.account import Account

FREE = "+12127360000"


@dataclass(frozen=True)
class World:
    """A sandbox, an account of it, and a folder."""

    service: Any
    account: Account
    folder: Path

    def synced_lead(self, phone: str) -> None:
        console = self.service.console
        campaign = console.create_campaign(self.service.client_id, "c", status="running")["id"]
        console.add_leads(
            self.service.client_id, [{"campaign_id": campaign, "phone": phone, "status": "dnc"}]
        )
        self.account.sync(["leads"])

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


#: How something is learned. Before it the service said of each number that it is not listed.
LEARN: dict[str, Callable[[World, str], object]] = {
    "client.dnc.add": lambda world, phone: world.account.client.dnc.add(phone=phone),
    "suppress add": lambda _, phone: invoke("suppress add", phone),
    "a flag column": World.flag_column,
    "a synced lead": World.synced_lead,
    "a disposition": World.stored_call,
    "an event": World.event,
}  # fmt: skip
NUMBERS = {door: f"+1212736{number:04d}" for number, door in enumerate(LEARN, 1)}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Everything was learned once, each of another number."""
    folder = tmp_path_factory.mktemp("doors")
    with (
        dialframe.sandbox.start(size="empty") as service,
        pytest.MonkeyPatch.context() as variables,
    ):
        variables.setenv("DIALFRAME_BASE_URL", service.base_url)
        variables.setenv("DIALFRAME_API_KEY", service.api_key)
        variables.setenv("DIALFRAME_STORE", str(folder / "store"))
        variables.setenv("XDG_DATA_HOME", str(folder / "data"))
        with dialframe.connect() as account:
            world = World(service, account, folder)
            checks = account.check_dnc([*NUMBERS.values(), FREE])
            assert not checks["listed"].any()
            for door, phone in NUMBERS.items():
                LEARN[door](world, phone)
            account.sync()
            yield world


def leads_by(command: str) -> Callable[[World, list[str]], set[str]]:
    """Numbers that a command on a list of leads holds back."""

    def ask(world: World, phones: list[str]) -> set[str]:
        out, path = world.folder / command, world.folder / f"{command}.csv"
        path.write_text("phone,name\n" + "".join(f"{phone},A B\n" for phone in phones))
        invoke(f"leads {command}", path, "--region", "US", "--out", out, ends=None)
        return set(phones) - {
            phone for phone in phones if phone in (out / f"{command}.clean.csv").read_text()
        }

    return ask


def suppress_check(_: World, phones: list[str]) -> set[str]:
    """One by one: the answer masks them."""
    return {phone for phone in phones if invoke("suppress check", phone, ends=None).status == 3}


#: Who is asked, and which of some numbers it holds.
ASK: dict[str, Callable[[World, list[str]], set[str]]] = {
    "suppress check": suppress_check,
    "leads clean": leads_by("clean"),
    "leads screen": leads_by("screen"),
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
