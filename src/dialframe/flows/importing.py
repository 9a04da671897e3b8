"""Leads into a campaign, each exactly once: batches, keys, answers joined back to their source lines.

`sent = accepted + refused + unknown` holds for every ledger that leaves this module.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol

import pandas as pd

from dialframe.client import Answered, Options
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract import limits, operations
from dialframe.contract.models.leads import LeadImport, LeadImportAnswer
from dialframe.contract.row import Operation
from dialframe.errors import (
    ApiError,
    Conflict,
    InvalidRequest,
    NotFound,
    OutcomeUnknown,
    StoreError,
)
from dialframe.flows.ledger import Journal, Standing, standings
from dialframe.leads import LeadInput

#: Columns of a ledger, one row per lead that was meant to be imported.
COLUMNS: Final = (
    "_file", "_line", "phone", "external_id", "outcome", "status", "reason", "field", "lead_id",
    "batch", "key", "request_id",
)  # fmt: skip

#: Room left in a request beside the leads themselves.
_ENVELOPE_BYTES: Final = 1024

Batch = list[dict[str, Any]]


class Importer(Protocol):
    """What an import needs of a client."""

    def send_raw(
        self,
        operation: Operation[LeadImport, LeadImportAnswer],
        request: LeadImport,
        options: Options = ...,
    ) -> Answered[LeadImportAnswer]:
        """Send one request under the options' idempotency key."""


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """What became of every lead of an import.

    Attributes:
        frame: One row per lead, columns `COLUMNS`; `outcome` is accepted, refused or unknown.
        campaign_id: The campaign.
        requests: Requests sent in this run; 0 when an earlier run had finished.
    """

    frame: pd.DataFrame = field(repr=False)
    campaign_id: str
    requests: int

    @property
    def counts(self) -> dict[str, int]:
        """`sent, accepted, refused, unknown`; the last three add up to the first."""
        outcomes = self.frame["outcome"].value_counts()
        parts = {name: int(outcomes.get(name, 0)) for name in ("accepted", "refused", "unknown")}
        return {"sent": sum(parts.values()), **parts}

    @property
    def reasons(self) -> dict[str, int]:
        """Leads by the service's status and reason, most first."""
        reason = (": " + self.frame["reason"]).fillna("")
        counted = (self.frame["status"] + reason).value_counts()
        return {str(words): int(number) for words, number in counted.items()}


def import_leads(
    client: Importer,
    leads: Sequence[LeadInput],
    *,
    campaign_id: str,
    source: str,
    journal: Path,
    now: Callable[[], datetime],
    on_progress: OnProgress = silent,
) -> Ledger:
    """Import leads in batches of 200, each under a key of its own, and say what became of each.

    Run again after a crash, with the same source, campaign and journal, it goes on with the plan that
    the journal holds: answered batches are not sent again, and a batch that may have arrived is sent
    with the same key and the same bytes.

    Args:
        client: Client of the account.
        leads: Leads with their source lines, in the order of the file.
        campaign_id: A campaign in draft, ready or paused.
        source: What the leads were made from, a hash of the files for instance.
        journal: File that remembers what was sent; made if it is not there.
        now: The clock, UTC.
        on_progress: Told of every batch.

    Raises:
        ApiError: The service refused a whole batch; nothing of it was written.
        StoreError: The journal belongs to another import, or is damaged.
        TransportError: No answer came; run it again to go on with the same keys.

    Source: contract, Endpoints: Leads; Idempotency.
    """
    book = _opened(journal, campaign_id, source, leads, now())
    batches = {e["batch"]: e["leads"] for e in book.entries if e["kind"] == "batch"}
    requests = 0
    for number, batch in batches.items():
        standing = standings(e for e in book.entries if e.get("batch") == number)
        requests += _settle(client, book, number, batch, standing.get(number, Standing()), now)
        on_progress(Progress("leads imported", number + 1, len(batches)))
    final = standings(book.entries)
    rows = [
        row for number, batch in batches.items() for row in _rows(number, batch, final[number])
    ]
    return Ledger(_frame(rows), campaign_id, requests)


def _opened(
    path: Path, campaign_id: str, source: str, leads: Sequence[LeadInput], at: datetime
) -> Journal:
    """The journal with a whole plan: the one that it has, or a new one."""
    book = Journal.open(path)
    if not book.planned:
        plan = ({"batch": n, "leads": batch} for n, batch in enumerate(_batches(leads)))
        book.begin(at, {"campaign_id": campaign_id, "source": source}, plan)
    begun = book.entries[0]
    if (begun.get("campaign_id"), begun.get("source")) != (campaign_id, source):
        raise StoreError(
            f"{path} belongs to an import of other leads or into another campaign; "
            "name another --out folder, or remove the file if that import is settled"
        )
    return book


def _batches(leads: Sequence[LeadInput]) -> Iterator[Batch]:
    """Batches of at most 200 leads and of less than a mebibyte."""
    batch: Batch = []
    size = 0
    for lead in leads:
        lead_bytes = len(json.dumps(lead.body)) + 1
        full = len(batch) == limits.LEADS_PER_IMPORT
        if batch and (full or size + lead_bytes > limits.BODY_BYTES - _ENVELOPE_BYTES):
            yield batch
            batch, size = [], 0
        batch.append({"file": lead.file, "line": lead.line, "body": lead.body})
        size += lead_bytes
    if batch:
        yield batch


def _settle(
    client: Importer,
    book: Journal,
    number: int,
    batch: Batch,
    standing: Standing,
    now: Callable[[], datetime],
) -> int:
    """Bring one batch to an end; returns the number of requests that it took."""
    if standing.outcome in ("answer", "unknown"):
        return 0
    is_open = standing.key is not None and standing.outcome is None
    if is_open and _expired(standing, now()):
        book.append("unknown", now(), {"batch": number, "key": standing.key, "why": "key_expired"})
        return 0
    key = standing.key if is_open and standing.key else str(uuid.uuid4())
    if not is_open:
        book.append("send", now(), {"batch": number, "key": key})
    _send(client, book, number, batch, key, now)
    return 1


def _send(
    client: Importer,
    book: Journal,
    number: int,
    batch: Batch,
    key: str,
    now: Callable[[], datetime],
) -> None:
    """Send one batch under its key and write down what came of it."""
    request = LeadImport.model_validate(
        {
            "campaign_id": book.entries[0]["campaign_id"],
            "leads": [lead["body"] for lead in batch],
        }
    )
    about = {"batch": number, "key": key}
    try:
        options = Options(idempotency_key=key)
        answered = client.send_raw(operations.LEADS_IMPORT, request, options)
    except OutcomeUnknown:
        book.append("unknown", now(), {**about, "why": "outcome_unknown"})
        return
    except ApiError as error:
        if _final(error):
            book.append("refused", now(), {**about, "code": error.code})
        raise
    results = [result.model_dump(mode="json") for result in answered.value.data]
    facts = {**about, "request_id": answered.request_id, "results": results}
    book.append("answer", now(), facts)


def _final(error: ApiError) -> bool:
    """Whether this is the service's answer for the key: nothing was written, and a new key may be used.

    What is refused before the key is looked at (access, rate, outage) says nothing of an earlier
    attempt, and neither does `conflict`: the key stays open.
    """
    return isinstance(error, InvalidRequest | NotFound | Conflict) and error.code != "conflict"


def _expired(standing: Standing, now: datetime) -> bool:
    """Whether the service has forgotten the key, so that asking with it would be a new write."""
    retention = timedelta(hours=limits.IDEMPOTENCY_RETENTION_HOURS)
    return standing.sent_at is not None and now - standing.sent_at >= retention


def _rows(number: int, batch: Batch, standing: Standing) -> Iterator[dict[str, Any]]:
    facts = standing.facts or {}
    by_index = {result["index"]: result for result in facts.get("results", [])}
    for index, lead in enumerate(batch):
        result = by_index.get(index, {})
        yield {
            "_file": lead["file"],
            "_line": lead["line"],
            "phone": lead["body"]["phone"],
            "external_id": lead["body"].get("external_id"),
            "outcome": _outcome(result),
            "status": result.get("status", "unknown"),
            "reason": result.get("reason") if result else facts.get("why", "no_result"),
            "field": result.get("field"),
            "lead_id": result.get("lead_id"),
            "batch": number,
            "key": standing.key,
            "request_id": facts.get("request_id"),
        }


def _outcome(result: Mapping[str, Any]) -> str:
    if not result:
        return "unknown"
    return "accepted" if result["status"] == "accepted" else "refused"


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    numbers = {"_line", "batch"}
    dtypes = {name: "Int64" if name in numbers else "str" for name in COLUMNS}
    return pd.DataFrame(
        {name: pd.Series([row[name] for row in rows], dtype=dtypes[name]) for name in COLUMNS}
    )
