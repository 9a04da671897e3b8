"""The sandbox as a process, killed at random moments under load: no answered write is lost, none happens twice.

`DIALFRAME_KILL_ROUNDS=50` makes it 50 rounds, `DIALFRAME_KILL_SEED` other moments; what each round
did is logged, so `-o log_cli=true -o log_cli_level=INFO` shows it.
"""

from __future__ import annotations

import json
import logging
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from robustness.kill_load import LISTED_CODES, Ledger, Service, Write, load, seen

ROUNDS = int(os.environ.get("DIALFRAME_KILL_ROUNDS", "1"))
SEED = int(os.environ.get("DIALFRAME_KILL_SEED", "7"))
assert len(LISTED_CODES) >= ROUNDS, "there are fictional numbers for 64 rounds"
LOGGER = logging.getLogger(__name__)


def spawn(folder: Path) -> subprocess.Popen[str]:
    """The sandbox on a folder, as its user starts it."""
    source = str(Path(__file__).parents[2] / "src")
    return subprocess.Popen(
        [sys.executable, "-m", "dialframe", "sandbox", "serve", "--data", str(folder),
         "--size", "empty", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )  # fmt: skip


def end(process: subprocess.Popen[str]) -> None:
    """SIGKILL: no handler, no farewell."""
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


class Running:
    """A sandbox that accepts requests."""

    def __init__(self, folder: Path) -> None:
        self._process = spawn(folder)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the sandbox did not start"
        self.facts: dict[str, Any] = json.loads(line)
        self.service = Service(self.facts)

    def kill(self) -> None:
        """End it at once."""
        end(self._process)
        self.service.close()


def check_what_is_there(ledger: Ledger, found: Counter[str]) -> None:
    """Answered: once. Unanswered: once or not at all, and of a batch all or nothing."""
    for write in ledger.writes:
        counts = {found[mark] for mark in write.marks}
        answer = ledger.answers.get(write.key)
        if answer is None:
            assert counts in ({0}, {1}, set()), (write.kind, counts)
        else:
            assert answer.status == write.status, (write.kind, answer)
            assert counts <= {1}, (write.kind, counts)


def check_sent_again(service: Service, ledger: Ledger, found: Counter[str]) -> None:
    """The same key and bytes: the first answer again, or the write done now, once."""
    for write in ledger.writes:
        again = service.send(write)
        first = ledger.answers.get(write.key)
        assert again.status == write.status, (write.kind, again)
        if first is not None:
            assert again.replayed, write.kind
            assert again.body == first.body, (write.kind, first, again)
        elif write.marks:
            # What is there was done under its key, and what is done now was not there.
            assert again.replayed is (found[write.marks[0]] == 1), (write.kind, again)
        ledger.answers[write.key] = again


def check_last_change(service: Service, ledger: Ledger, open_writes: list[Write]) -> None:
    """The changed lead is as its last answered change left it, or the open one after that."""
    changes = [write for write in ledger.writes if write.kind == "update"]
    allowed = {json.loads(write.body)["full_name"] for write in changes if write in open_writes}
    answered = [write for write in changes if write not in open_writes]
    allowed.add(json.loads(answered[-1].body)["full_name"] if answered else None)
    assert service.lead(ledger.lead)["full_name"] in allowed


def broken_off(running: Running, number: int, dice: random.Random) -> Ledger:
    """Writes of every kind until the service is killed in the middle of them."""
    ledger = running.service.prepared(number)
    ended = threading.Event()
    threads = load(running.facts, ledger, SEED * 10_000 + number, ended)
    time.sleep(dice.uniform(0.05, 0.6))
    # On a busy machine the load may not have begun by then; what is killed has something under way.
    while not (ledger.answers and ledger.unanswered()) and any(one.is_alive() for one in threads):
        time.sleep(0.001)
    running.kill()
    ended.set()
    for thread in threads:
        thread.join()
    return ledger


def judge(service: Service, ledger: Ledger) -> Counter[str]:
    """Hold what is there against what was written and answered; what happened, counted."""
    open_writes = ledger.unanswered()
    done = Counter(answered=len(ledger.answers), unanswered=len(open_writes))
    found = seen(service, ledger)
    check_what_is_there(ledger, found)
    check_last_change(service, ledger, open_writes)
    check_sent_again(service, ledger, found)
    done["done though unanswered"] = sum(ledger.answers[one.key].replayed for one in open_writes)
    complete = seen(service, ledger)
    check_what_is_there(ledger, complete)
    check_sent_again(service, ledger, complete)
    return done


def test_nothing_answered_is_lost_and_nothing_happens_twice(tmp_path: Path) -> None:
    """Round after round on one folder, each with its own keys, killed in the middle of its writes."""
    dice = random.Random(SEED)
    total: Counter[str] = Counter()
    running = Running(tmp_path / "data")
    try:
        for number in range(ROUNDS):
            ledger = broken_off(running, number, dice)
            if dice.random() < 0.3:
                # Also killed while it starts: once more, nothing may be lost.
                begun = spawn(tmp_path / "data")
                time.sleep(dice.uniform(0.0, 0.8))
                end(begun)
                total["killed at start"] += 1
            running = Running(tmp_path / "data")
            done = judge(running.service, ledger)
            LOGGER.info("round %d: %s", number, dict(done))
            total += done
    finally:
        running.kill()
    LOGGER.info("%d rounds: %s", ROUNDS, dict(total))
    # A load that the kill never hit would prove nothing.
    assert total["unanswered"] >= ROUNDS
    assert total["answered"] >= ROUNDS
