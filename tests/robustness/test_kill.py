"""The sandbox as a process, killed at random moments under load: no answered write is lost, none happens twice.

`DIALFRAME_KILL_ROUNDS=50` makes it 50 rounds, `DIALFRAME_KILL_SEED` other moments; what each round
did is logged, so `-o log_cli=true -o log_cli_level=INFO` shows it.
"""

from __future__ import annotations

import json
import logging
import os
import random
import threading
import time
from collections import Counter
from pathlib import Path

from forked import Forked
from robustness.kill_load import LISTED_CODES, Ledger, Write, load, prepared, seen, send
from sandbox.service_bench import Party, Service, answered, serve_here

ROUNDS = int(os.environ.get("DIALFRAME_KILL_ROUNDS", "1"))
SEED = int(os.environ.get("DIALFRAME_KILL_SEED", "7"))
assert len(LISTED_CODES) >= ROUNDS, "there are fictional numbers for 64 rounds"
LOGGER = logging.getLogger(__name__)


def started(folder: Path) -> Service:
    """A sandbox on a folder that accepts requests."""
    return Service("--size", "empty", "--data", str(folder))


def killed_as_it_starts(folder: Path, after_s: float) -> None:
    """A sandbox on a folder that is ended before or after it accepts requests."""
    begun = Forked(serve_here, ["--size", "empty", "--data", str(folder)], os.devnull, {})
    time.sleep(after_s)
    begun.let_go()


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


def check_sent_again(party: Party, ledger: Ledger, found: Counter[str]) -> None:
    """The same key and bytes: the first answer again, or the write done now, once."""
    for write in ledger.writes:
        again = send(party, write)
        first = ledger.answers.get(write.key)
        assert again.status == write.status, (write.kind, again)
        if first is not None:
            assert again.replayed, write.kind
            assert again.body == first.body, (write.kind, first, again)
        elif write.marks:
            # What is there was done under its key, and what is done now was not there.
            assert again.replayed is (found[write.marks[0]] == 1), (write.kind, again)
        ledger.answers[write.key] = again


def check_last_change(party: Party, ledger: Ledger, open_writes: list[Write]) -> None:
    """The changed lead is as its last answered change left it, or the open one after that."""
    changes = [write for write in ledger.writes if write.kind == "update"]
    allowed = {json.loads(write.body)["full_name"] for write in changes if write in open_writes}
    done = [write for write in changes if write not in open_writes]
    allowed.add(json.loads(done[-1].body)["full_name"] if done else None)
    lead = answered(party.get(f"/v1/leads/{ledger.lead}"), 200)
    assert lead["full_name"] in allowed


def broken_off(service: Service, number: int, dice: random.Random) -> Ledger:
    """Writes of every kind until the service is killed in the middle of them."""
    ledger = prepared(service, number)
    ended = threading.Event()
    threads = load(service.first_client(), ledger, SEED * 10_000 + number, ended)
    time.sleep(dice.uniform(0.05, 0.6))
    # On a busy machine the load may not have begun by then; what is killed has something under way.
    while not (ledger.answers and ledger.unanswered()) and any(
        thread.is_alive() for thread in threads
    ):
        time.sleep(0.001)
    service.process.kill()
    ended.set()
    for thread in threads:
        thread.join(60)
    return ledger


def judge(party: Party, ledger: Ledger) -> Counter[str]:
    """Hold what is there against what was written and answered; what happened, counted."""
    open_writes = ledger.unanswered()
    done = Counter(answered=len(ledger.answers), unanswered=len(open_writes))
    shown = seen(party, ledger)
    check_what_is_there(ledger, shown)
    check_last_change(party, ledger, open_writes)
    check_sent_again(party, ledger, shown)
    done["done though unanswered"] = sum(
        ledger.answers[write.key].replayed for write in open_writes
    )
    complete = seen(party, ledger)
    check_what_is_there(ledger, complete)
    check_sent_again(party, ledger, complete)
    return done


def test_nothing_answered_is_lost_and_nothing_happens_twice(tmp_path: Path) -> None:
    """Round after round on one folder, each with its own keys, killed in the middle of its writes."""
    dice = random.Random(SEED)
    total: Counter[str] = Counter()
    folder = tmp_path / "data"
    service = started(folder)
    try:
        for number in range(ROUNDS):
            with service:
                ledger = broken_off(service, number, dice)
            if dice.random() < 0.3:
                # Also killed while it starts: once more, nothing may be lost.
                killed_as_it_starts(folder, dice.uniform(0.0, 0.8))
                total["killed at start"] += 1
            service = started(folder)
            done = judge(service.first_client(), ledger)
            LOGGER.info("round %d: %s", number, dict(done))
            total += done
    finally:
        service.close()
    LOGGER.info("%d rounds: %s", ROUNDS, dict(total))
    # A load that the kill never hit would prove nothing.
    assert total["unanswered"] >= ROUNDS
    assert total["answered"] >= ROUNDS
