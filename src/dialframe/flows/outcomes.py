"""What became of every lead of an import, row by row, from its journal; sends nothing.

`sent = accepted + refused + unknown` holds for every ledger; what was not sent is in it by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pandas as pd

from dialframe.flows.ledger import Entry, Journal, Standing

#: Columns of a ledger, one row per lead that was meant to be imported.
COLUMNS: Final = (
    "_file", "_line", "phone", "external_id", "outcome", "status", "reason", "field", "lead_id",
    "batch", "key", "request_id",
)  # fmt: skip

SENT: Final = ("accepted", "refused", "unknown")
#: Outcomes of leads that were not sent: listed after the plan was made, or not their turn yet.
NOT_SENT: Final = ("set_aside", "waiting")

_NUMBERS: Final = frozenset({"_line", "batch"})


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """What became of every lead of an import.

    Attributes:
        frame: One row per planned lead, columns `COLUMNS`; `outcome` is accepted, refused or
            unknown, or for leads that were not sent set_aside or waiting.
        campaign_id: The campaign.
        requests: Import requests sent in this run; 0 when an earlier run had finished.
    """

    frame: pd.DataFrame = field(repr=False)
    campaign_id: str
    requests: int

    @property
    def counts(self) -> dict[str, int]:
        """`sent, accepted, refused, unknown`; the last three add up to the first."""
        parts = {name: self._count(name) for name in SENT}
        return {"sent": sum(parts.values()), **parts}

    @property
    def not_sent(self) -> dict[str, int]:
        """`set_aside` (on a Do-Not-Call list since the plan was made) and `waiting` (not sent yet)."""
        return {name: self._count(name) for name in NOT_SENT}

    @property
    def reasons(self) -> dict[str, int]:
        """Leads by status and reason, most first."""
        reason = (": " + self.frame["reason"]).fillna("")
        counted = (self.frame["status"] + reason).value_counts()
        return {str(words): int(number) for words, number in counted.items()}

    def _count(self, outcome: str) -> int:
        return int((self.frame["outcome"] == outcome).sum())


def ledger(book: Journal, *, requests: int = 0) -> Ledger:
    """The ledger of a journal as it stands."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for number in book.sizes:
        for row in rows(number, book.batch(number), book.standing(number), book.facts(number)):
            for name in COLUMNS:
                columns[name].append(row[name])
    frame = pd.DataFrame(
        {
            name: pd.Series(values, dtype="Int64" if name in _NUMBERS else "str")
            for name, values in columns.items()
        }
    )
    return Ledger(frame, str((book.head or {}).get("campaign_id", "")), requests)


def rows(
    number: int, batch: Sequence[Entry], standing: Standing, facts: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """One row per lead of a batch."""
    sent = [at for at in range(len(batch)) if at not in standing.aside]
    found = results([batch[at] for at in sent], facts)
    by_place = {at: found[index] for index, at in enumerate(sent)}
    for at, lead in enumerate(batch):
        told = by_place.get(at) or {}
        yield {
            "_file": lead["file"],
            "_line": lead["line"],
            "phone": lead["body"]["phone"],
            "external_id": lead["body"].get("external_id"),
            "field": told.get("field"),
            "lead_id": told.get("lead_id"),
            "batch": number,
            "key": standing.key if at in by_place else None,
            "request_id": facts.get("request_id"),
            **_verdict(told, standing, standing.aside.get(at)),
        }


def results(batch: Sequence[Entry], facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a closing line says of each lead sent, in order; of whom it says nothing, why not.

    The contract promises exactly one result per lead, by its index; a result that is missing, comes
    twice or names another lead's `external_id` says nothing.
    """
    told: dict[int, list[dict[str, Any]]] = {}
    for result in facts.get("results", ()):
        told.setdefault(result["index"], []).append(result)
    return [_one(index, lead, told.get(index, []), facts) for index, lead in enumerate(batch)]


def _one(
    index: int, lead: Entry, told: Sequence[dict[str, Any]], facts: Mapping[str, Any]
) -> dict[str, Any]:
    if facts.get("kind") == "refused":
        return _problem(index, facts)
    if not told:
        return {"why": facts.get("why", "no_result")} if facts else {}
    if len(told) > 1:
        return {"why": "two_results"}
    if told[0].get("external_id") not in (None, lead["body"].get("external_id")):
        return {"why": "result_of_another_lead"}
    return told[0]


def _problem(index: int, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What the refusal of a whole batch says of one lead: its field, where a pointer names it."""
    mine = f"/leads/{index}/"
    for problem in facts.get("errors", ()):
        if problem["pointer"].startswith(mine):
            field = problem["pointer"].removeprefix(mine).replace("/", ".")
            return {"field": field, "why": problem["code"]}
    return {"why": facts.get("code")}


def _verdict(told: Mapping[str, Any], standing: Standing, aside: str | None) -> dict[str, Any]:
    """Outcome, status and reason of one lead."""
    if aside is not None:
        return _words("set_aside", aside, None)
    if standing.key is None:
        return _words("waiting", "not_sent", None)
    if standing.outcome == "refused":
        return _words("refused", "batch_refused", told.get("why"))
    if "status" in told:
        outcome = "accepted" if told["status"] == "accepted" else "refused"
        return _words(outcome, told["status"], told.get("reason"))
    return _words("unknown", "unknown", told.get("why", "no_answer"))


def _words(outcome: str, status: str, reason: str | None) -> dict[str, Any]:
    return {"outcome": outcome, "status": status, "reason": reason}
