"""`dialframe gate`: verdicts by the account's records, status 3 when any number is held."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cli.commands import begun, example, invoke
from dialframe import connect, sandbox

RULES = "us-tcpa-hours,us-tsr-hours,us-tcpa-dnc-31,us-dnc-listed-call,us-tcpa-internal-dnc"
COVERS = 'covers = [{registry = "US National DNC Registry", check = true, refreshed_days = 0, by = "A. Officer", on = 2026-01-01}]\n'


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a synced store whose numbers were all checked, and a practice file."""
    folder = tmp_path_factory.mktemp("gate")
    (folder / "practice.toml").write_text(COVERS, encoding="utf-8")
    with sandbox.start(seed=7, size="tiny", as_of=date(2026, 11, 21)) as service:
        with connect(
            service.base_url, service.api_key, folder / "store", environment={}
        ) as account:
            account.sync()
            numbers = sorted(account.leads()["phone"].dropna().unique())
            answers = account.client.dnc.check(numbers[:60])
            account.check_dnc(numbers[:60], max_age="1d")
        (folder / "numbers.json").write_text(
            json.dumps({each.phone: each.listed for each in answers}), encoding="utf-8"
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DIALFRAME_API_KEY", service.api_key)
            patch.setenv("DIALFRAME_BASE_URL", service.base_url)
            patch.setenv("DIALFRAME_STORE", str(folder / "store"))
            yield folder


def _asked(room: Path, *options: str) -> dict[str, dict[str, str]]:
    """Verdicts by number, of which one is held at least."""
    ran = invoke("gate --json --practice", room / "practice.toml", *options, ends=3)
    return {row["number"]: row for row in ran.facts["verdicts"]}


def test_listed_numbers_are_held_and_the_firms_own_list_counts_at_once(room: Path) -> None:
    """By the federal rules on lists alone; a number that is suppressed a moment ago is held the next.

    The screen shows the check and the reason, and the number masked.
    """
    known = json.loads((room / "numbers.json").read_text("utf-8"))
    leads = room / "leads.csv"
    leads.write_text("phone\n" + "\n".join(known) + "\n", encoding="utf-8")
    told = _asked(room, "--file", str(leads), "--rules", RULES)
    assert list(told) == list(known)
    assert any(known.values())
    assert all(told[number]["verdict"] == "held" for number, listed in known.items() if listed)
    assert all(row["reason"] and row["check"] for row in told.values() if row["verdict"] == "held")
    clear = next(number for number, listed in known.items() if not listed)
    invoke("suppress add --reason complaint", clear)
    held = ["--practice", room / "practice.toml", "--rules", RULES]
    said = " ".join(invoke("gate", clear, *held, ends=3).out.split())
    assert "held" in said
    assert "suppression" in said
    assert "complaint" in said
    assert clear[1:] not in said


def test_a_dialer_asks_over_http(room: Path) -> None:
    """The command says where it answers; a number that nobody knows is held."""
    with begun(
        *example("gate serve"), "--json", DIALFRAME_GATE_TOKEN="a-token-of-the-dialer"
    ) as process:
        assert process.stdout is not None
        where = urlsplit(json.loads(process.stdout.readline())["url"])
        connection = HTTPConnection(where.hostname or "", where.port, timeout=120)
        at = datetime.now(UTC).isoformat()
        body = json.dumps({"numbers": ["+12125550142"], "at": at, "campaign": "cmp_1"})
        connection.request(
            "POST", where.path, body, {"Authorization": "Bearer a-token-of-the-dialer"}
        )
        told = json.loads(connection.getresponse().read())
        connection.close()
        process.terminate()
        assert process.wait(60) == 0
    assert [row["verdict"] for row in told["verdicts"]] == ["held"]
