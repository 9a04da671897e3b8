"""Leads into a campaign, each exactly once: batches, keys, answers joined back to their source lines.

`sent = accepted + refused + unknown` holds for every ledger that leaves this module.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pandas as pd

from dialframe.client import Client, Options
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract import limits, operations
from dialframe.contract.models.leads import LeadImport
from dialframe.errors import (
    ApiError,
    Conflict,
    InvalidRequest,
    NotFound,
    OutcomeUnknown,
    StoreError,
)
from dialframe.flows.ledger import Journal, Standing, standings

#: Columns of a ledger, one row per lead that was meant to be imported.
COLUMNS: Final = (
    "_file", "_line", "phone", "external_id", "outcome", "status", "reason", "field", "lead_id",
    "batch", "key", "request_id",
)  # fmt: skip

#: Room left in a request beside the leads themselves.
_ENVELOPE_BYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class Sourced:
    """One lead to be imported and where it came from."""

    file: str
    line: int
    lead: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
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
        return {"sent": len(self.frame), **parts}

    @property
    def reasons(self) -> dict[str, int]:
        """Leads by the service's status and reason, most first."""
        words = self.frame["status"].str.cat(self.frame["reason"], sep=": ", na_rep="-")
        return {
            str(word): int(n) for word, n in words.str.removesuffix(": -").value_counts().items()
        }


def import_leads(
    client: Client,
    leads: Sequence[Sourced],
    *,
    campaign_id: str,
    journal: Path,
    now: Callable[[], datetime],
    on_progress: OnProgress = silent,
) -> Ledger:
    """Import leads in batches of 200, each under a key of its own, and say what became of each.

    Run again after a crash, with the same leads and journal, it goes on where it was: answered
    batches are not sent again, and a batch that may have arrived is sent with the same key.

    Args:
        client: Client of the account.
        leads: Leads with their source, in the order of the file.
        campaign_id: A campaign in draft, ready or paused.
        journal: File that remembers what was sent; made if it is not there.
        now: The clock, UTC.
        on_progress: Told of every batch.

    Raises:
        ApiError: The service refused a whole batch; nothing of it was written.
        StoreError: The journal belongs to another import, or is damaged.
        TransportError: No answer came; run it again to go on with the same keys.

    Source: contract, Endpoints: Leads; Idempotency.
    """
    batches = list(_batches(leads))
    book = Journal(journal)
    known = _opened(book, campaign_id, batches, now())
    requests = 0
    for number, batch in enumerate(batches):
        standing = known.get(number, Standing())
        if standing.outcome not in ("answer", "unknown"):
            requests += _send(client, book, number, batch, standing, campaign_id, now)
        on_progress(Progress("leads imported", number + 1, len(batches)))
    final = standings(book.entries())
    rows = [
        row for number, batch in enumerate(batches) for row in _rows(number, batch, final[number])
    ]
    return Ledger(_frame(rows), campaign_id, requests)


def _batches(leads: Sequence[Sourced]) -> Iterator[tuple[Sourced, ...]]:
    """Batches of at most 200 leads and of less than a mebibyte."""
    batch: list[Sourced] = []
    size = 0
    for sourced in leads:
        bytes_of_lead = len(json.dumps(sourced.lead, ensure_ascii=True)) + 1
        full = len(batch) == limits.LEADS_PER_IMPORT
        if batch and (full or size + bytes_of_lead > limits.BODY_BYTES - _ENVELOPE_BYTES):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(sourced)
        size += bytes_of_lead
    if batch:
        yield tuple(batch)


def _opened(
    book: Journal, campaign_id: str, batches: list[tuple[Sourced, ...]], at: datetime
) -> dict[int, Standing]:
    """What the journal knows of this import; begins it where the file is new."""
    plan = _hash([campaign_id, [[sourced.lead for sourced in batch] for batch in batches]])
    entries = book.entries()
    if not entries:
        facts = {"campaign_id": campaign_id, "plan": plan, "batches": len(batches)}
        book.append("import", at, facts)
        return {}
    if entries[0].get("plan") != plan:
        raise StoreError(
            f"{book.path} belongs to an import of other leads or into another campaign; "
            "name another --out folder, or remove the file if that import is settled"
        )
    return standings(entries)


def _send(
    client: Client,
    book: Journal,
    number: int,
    batch: tuple[Sourced, ...],
    standing: Standing,
    campaign_id: str,
    now: Callable[[], datetime],
) -> int:
    """Send one batch and write down what came of it; returns the number of requests."""
    if standing.outcome is None and standing.key is not None and _expired(standing, now()):
        book.append("unknown", now(), {"batch": number, "key": standing.key, "why": "key_expired"})
        return 0
    key = standing.key if standing.outcome is None and standing.key else str(uuid.uuid4())
    if key != standing.key:
        book.append("send", now(), {"batch": number, "key": key})
    request = LeadImport.model_validate(
        {"campaign_id": campaign_id, "leads": [dict(sourced.lead) for sourced in batch]}
    )
    try:
        answered = client.send_raw(operations.LEADS_IMPORT, request, Options(idempotency_key=key))
    except OutcomeUnknown:
        book.append("unknown", now(), {"batch": number, "key": key, "why": "outcome_unknown"})
        return 1
    except ApiError as error:
        if _final(error):
            book.append("refused", now(), {"batch": number, "key": key, "code": error.code})
        raise
    results = [result.model_dump(mode="json") for result in answered.value.data]
    book.append(
        "answer",
        now(),
        {"batch": number, "key": key, "request_id": answered.request_id, "results": results},
    )
    return 1


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


def _rows(number: int, batch: tuple[Sourced, ...], standing: Standing) -> Iterator[dict[str, Any]]:
    facts = standing.facts or {}
    by_index = {result["index"]: result for result in facts.get("results", [])}
    for index, sourced in enumerate(batch):
        result = by_index.get(index, {})
        yield {
            "_file": sourced.file,
            "_line": sourced.line,
            "phone": sourced.lead["phone"],
            "external_id": sourced.lead.get("external_id"),
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
    return pd.DataFrame(
        {
            name: pd.Series(
                [row[name] for row in rows], dtype="Int64" if name in numbers else "str"
            )
            for name in COLUMNS
        }
    )


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
