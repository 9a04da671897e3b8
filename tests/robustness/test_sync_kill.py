"""`dialframe sync` killed at drawn moments while the service lives on: two quiet syncs agree with it.

`DIALFRAME_SYNC_KILLS=100` makes it 100 kills, `DIALFRAME_KILL_SEED` other moments; what happened is
logged, so `-o log_cli=true -o log_cli_level=INFO` shows it.
"""

from __future__ import annotations

import json
import logging
import os
import random
import sys
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pandas as pd

from dialframe import sandbox
from dialframe.account import Account, connect
from dialframe.cli.entry_point import run
from forked import Forked
from sandbox.service_bench import Site

KILLS = int(os.environ.get("DIALFRAME_SYNC_KILLS", "1"))
SEED = int(os.environ.get("DIALFRAME_KILL_SEED", "7"))
LOGGER = logging.getLogger(__name__)
PATHS = {
    "calls": "/v1/calls",
    "leads": "/v1/leads",
    "campaigns": "/v1/campaigns",
    "appointments": "/v1/appointments",
    "callbacks": "/v1/callbacks",
}
FAULTS: tuple[dict[str, Any], ...] = (
    {"status": 503},
    {"code": "invalid_cursor"},
    {"drop": "before"},
    {"drop": "during"},
    {"status": 429, "code": "rate_limit_exceeded"},
    {"body": "<html>"},
    {"delay_seconds": 0.3},
)


def run_here(environment: dict[str, str]) -> None:
    """The command, as a job would run it."""
    os.environ.update(environment)
    sys.exit(run(["sync", "--json"]))


def sync(service: sandbox.Sandbox, store: Path) -> Forked:
    """A process of the command."""
    environment = {
        "DIALFRAME_BASE_URL": service.base_url,
        "DIALFRAME_API_KEY": service.api_key,
        "DIALFRAME_STORE": str(store),
    }
    return Forked(run_here, environment)


class Life:
    """What happens at the service meanwhile: new rows, rows moved in behind, changes, faults."""

    def __init__(self, service: sandbox.Sandbox, dice: random.Random) -> None:
        self._service = service
        self._dice = dice
        self._ended = threading.Event()
        self._site = Site(service.ready())
        self._party = self._site.first_client()
        self.done: Counter[str] = Counter()
        self._campaigns = [row["id"] for row in self.rows("campaigns")]
        self._leads = [row["id"] for row in self.rows("leads")]
        self._callbacks = [row["id"] for row in self.rows("callbacks")]
        self._thread = threading.Thread(target=self._live, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self) -> None:
        """Let everything rest."""
        self._ended.set()
        self._thread.join(60)
        self._service.console.clear_faults()

    def close(self) -> None:
        """Hang up."""
        self._site.close()

    def rows(self, table: str) -> list[dict[str, Any]]:
        """The service's own table, walked without the toolkit's client."""
        if table == "callbacks":
            queries: list[dict[str, str]] = [{"campaign_id": one} for one in self._campaigns]
        else:
            queries = [{}]
        return [
            row
            for query in queries
            for row in self._party.walk(PATHS[table], limit="100", **query)
        ]

    def _live(self) -> None:
        acts = (self._call, self._moved_in, self._lead, self._change, self._callback, self._fault)
        while not self._ended.is_set():
            act = self._dice.choice(acts)
            act()
            self.done[act.__name__.strip("_")] += 1
            self._ended.wait(self._dice.uniform(0.01, 0.15))

    def _call(self, created_at: datetime | None = None) -> None:
        record: dict[str, Any] = {
            "direction": "outbound",
            "from_number": "+12125550142",
            "to_number": "+12125550143",
            "campaign_id": self._dice.choice([None, *self._campaigns]),
        }
        if created_at is not None:
            record["created_at"] = created_at.isoformat()
        self._service.console.add_calls(self._service.client_id, [record])

    def _moved_in(self) -> None:
        self._call(datetime.now(UTC) - timedelta(hours=self._dice.uniform(50, 2000)))

    def _lead(self) -> None:
        lead = {"campaign_id": self._dice.choice(self._campaigns), "phone": "+12125550144"}
        self._leads += self._service.console.add_leads(self._service.client_id, [lead])

    def _change(self) -> None:
        change = {"full_name": f"Ada {self._dice.random()}"}
        # The armed faults hit this request as well: then nothing changed.
        try:
            self._party.patch(f"/v1/leads/{self._dice.choice(self._leads)}", change)
        except httpx.TransportError:
            self.done["not changed"] += 1

    def _callback(self) -> None:
        one, status = (
            self._dice.choice(self._callbacks),
            self._dice.choice(["completed", "pending"]),
        )
        self._service.console.set_callback(self._service.client_id, one, status)

    def _fault(self) -> None:
        operation = self._dice.choice(["calls.list", "leads.list", "callbacks.list", "*"])
        self._service.console.arm_fault(
            operation, after=self._dice.randint(0, 5), **self._dice.choice(FAULTS)
        )


def agrees(account: Account, table: str, rows: list[dict[str, Any]]) -> None:
    """The stored table is the service's: no row more, none less, each as it is there."""
    frame = getattr(account, table)()
    assert frame["id"].is_unique, table
    assert set(frame["id"]) == {row["id"] for row in rows}, table
    stored = {row["id"]: row for row in frame.to_dict("records")}
    for row in rows:
        for name, value in row.items():
            assert _same(stored[row["id"]][name], value), (table, row["id"], name)


def _same(stored: Any, value: Any) -> bool:
    if value is None:
        return bool(pd.isna(stored))
    if isinstance(stored, pd.Timestamp):
        return stored == pd.Timestamp(value)
    if isinstance(value, dict):
        return bool(json.loads(stored) == value)
    return bool(stored == value)


def test_a_killed_sync_ends_in_agreement(tmp_path: Path) -> None:
    """Kill after kill under changes and faults; then two syncs in peace, and every table is the service's."""
    dice = random.Random(SEED)
    with sandbox.start(seed=SEED, size="tiny") as service:
        service.console.update_account({"rate_limits": None})
        life = Life(service, dice)
        life.start()
        ends: Counter[str] = Counter()
        try:
            for _ in range(KILLS):
                process = sync(service, tmp_path)
                time.sleep(dice.uniform(0.1, 1.5))
                ends["killed" if process.alive() else "ended before"] += 1
                process.let_go()
        finally:
            life.end()
        for _ in range(2):
            _, lines = sync(service, tmp_path).end()
            assert json.loads("".join(lines))["complete"], lines
        LOGGER.info("%s %s", dict(ends), dict(life.done))
        with connect(service.base_url, service.api_key, tmp_path, environment={}) as account:
            for table in PATHS:
                agrees(account, table, life.rows(table))
        life.close()
