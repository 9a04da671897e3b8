"""Peak memory of cleaning a list, and of importing it with its numbers checked, each in a process of its own; run from `tests`.

    python -m benchmarks.lead_import [ROWS]

The service is a function in the process that imports: it answers at once, and holds nothing.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import uuid
from datetime import UTC, datetime
from pathlib import Path

import httpx

from benchmarks.leads import write
from client.fakes import BASE_URL, KEY, transport_to

CAMPAIGN = f"cmp_{uuid.UUID(int=1, version=4)}"
NOW = "2026-11-24T12:00:00Z"
CAMPAIGN_FACTS = {
    "id": CAMPAIGN, "name": "Autumn", "status": "draft", "dialer_mode": "predictive",
    "created_at": NOW, "updated_at": NOW, "started_at": None, "completed_at": None,
}  # fmt: skip


def accepted(index: int, lead: dict[str, str]) -> dict[str, object]:
    """One result of an import."""
    known = {"index": index, "external_id": lead.get("external_id"), "status": "accepted"}
    return {**known, "lead_id": f"lead_{uuid.uuid4()}", "reason": None, "field": None}


def answer(request: httpx.Request) -> httpx.Response:
    """What the service says; one number in a hundred is listed."""
    match request.url.path:
        case "/v1/me":
            body: dict[str, object] = {"scopes": ["leads:write", "dnc:check"]}
        case "/v1/dnc/check":
            phones = json.loads(request.content)["phones"]
            body = {"data": [{"phone": each, "listed": each.endswith("77")} for each in phones]}
        case "/v1/leads/import":
            leads = json.loads(request.content)["leads"]
            counts = {"received": len(leads), "accepted": len(leads), "rejected": 0}
            data = [accepted(index, lead) for index, lead in enumerate(leads)]
            body = {"campaign_id": CAMPAIGN, "data": data, "summary": counts}
        case _:
            body = CAMPAIGN_FACTS
    return httpx.Response(200, json=body, headers={"X-Request-Id": f"req_{uuid.uuid4().hex}"})


def run(what: str, path: Path, folder: Path) -> None:
    """Clean or import the list in this process, and print its peak in MiB."""
    from dialframe.flows import lead_cleaning
    from dialframe.flows.lead_cleaning import Recipe

    if what == "clean":
        lead_cleaning.clean([path], Recipe("US"), folder / "clean")
    else:
        from dialframe.account import Account
        from dialframe.client import Client
        from dialframe.flows.lead_import import bring_in
        from dialframe.store import Store

        client = Client(
            BASE_URL, KEY, transport=transport_to(answer), limiter=None, environment={}
        )
        account = Account(client, Store.open(folder / "store"), now=lambda: datetime.now(UTC))
        bring_in(
            [path], Recipe("US"), account, campaign_id=CAMPAIGN, out=folder / "import",
            now=lambda: datetime.now(UTC),
        )  # fmt: skip
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    """Measure both and print."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "leads.csv"
        write(path, rows)
        peaks = {}
        for what in ("clean", "import"):
            command = [sys.executable, "-m", "benchmarks.lead_import", what, str(path), name]
            told = subprocess.run(command, capture_output=True, check=True, text=True).stdout
            peaks[what] = float(told)
            print(f"{what:>6} {peaks[what]:5.0f} MiB {peaks[what] / peaks['clean']:5.2f} x")


if __name__ == "__main__":
    if sys.argv[1:2] in (["clean"], ["import"]):
        run(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main()
