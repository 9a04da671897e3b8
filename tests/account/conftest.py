"""A service with some rows, and an account of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from account.service import START, FakeService, FragileStore
from dialframe.account import Account
from dialframe.store import Identity

IDENTITY = Identity.of("https://api.example.com", "svc_test_abc_secret")


@pytest.fixture
def service() -> FakeService:
    """Forty calls over forty days, twelve leads, two campaigns, and counts of a hundred days."""
    made = FakeService()
    for number in range(40):
        made.put("calls", number, START - timedelta(days=number))
    for number in range(12):
        made.put("leads", number, START - timedelta(days=number))
    for number in (1, 2):
        made.put("campaigns", number, START - timedelta(days=97 + number))
    for number in range(7):
        made.put("callbacks", number, START - timedelta(hours=number))
        made.put("appointments", number, START - timedelta(hours=number))
    for day in range(100):
        date = (START - timedelta(days=day)).date().isoformat()
        made.counts.append(
            {"date": date, "campaign_id": None, "disposition": "sale", "calls": day}
        )
    return made


@pytest.fixture
def account(service: FakeService, tmp_path: Path) -> Iterator[Account]:
    """An account of that service with an empty store."""
    with Account(
        service, FragileStore.open(tmp_path / "part", IDENTITY), now=service.clock
    ) as made:
        yield made
