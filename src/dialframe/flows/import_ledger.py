"""The journal of an import, written before and after each request, and the ledger that is made of it, lead by lead.

`sent = accepted + refused + unknown` holds for every ledger; what was not sent is in it by name. A file beside the
journal (`.head`) has its length and digest, so that no line of it is lost or changed unnoticed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, get_args

import pandas as pd

from dialframe.chained_log import Witness
from dialframe.contract.models.lead_models import ImportStatus
from dialframe.errors import StoreError

Outcome = Literal["answer", "refused", "unknown", "found"]
Entry = dict[str, Any]

#: Kinds of lines that end a key's use, until it is used again.
_CLOSED: Final = ("answer", "refused", "unknown", "found")


@dataclass(frozen=True, slots=True)
class Span:
    """Where a line stands in the file."""

    start: int
    size: int


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one batch came.

    Attributes:
        key: The idempotency key that it was last sent under, or None if it never was.
        sent_at: When that key was first used.
        outcome: `answer`, `refused`, `unknown`, `found`, or None while the key is open.
        facts: The last closing line.
        aside: Place in the batch of each lead that is left out, and why.
    """

    key: str | None = None
    sent_at: datetime | None = None
    outcome: Outcome | None = None
    facts: Span | None = None
    aside: Mapping[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Journal:
    """The journal file of one import.

    Attributes:
        path: The file.
        head: The first line, or None in a file without one.
        planned: Whether the plan is whole.
        sizes: Leads of each batch, by its number.
    """

    path: Path
    head: Entry | None = None
    planned: bool = False
    sizes: dict[int, int] = field(default_factory=dict)
    _batches: dict[int, Span] = field(default_factory=dict, repr=False)
    _standings: dict[int, Standing] = field(default_factory=dict, repr=False)
    _end: int = 0
    _digest: Any = field(default_factory=hashlib.sha256, repr=False, compare=False)

    @classmethod
    def open(cls, path: Path) -> Journal:
        """Read a journal; a last line that a crash cut off is taken away.

        Raises:
            StoreError: It is not what was written, or a line in the middle cannot be read.
        """
        book = cls(path)
        try:
            # The file beside the journal says how far it had come: a shorter journal has lost lines.
            noted = Witness(path).last()
        except ValueError as problem:
            raise _damaged(str(problem)) from None
        seen, torn = noted is None, False
        if path.exists():
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    torn = not line.endswith(b"\n")
                    if torn:
                        break
                    try:
                        book._note(json.loads(line), line)
                    except (ValueError, TypeError, KeyError, AttributeError):
                        raise _damaged(f"{path}, line {number}") from None
                    seen = seen or noted == (book._end, book._digest.hexdigest())
        if not seen:
            raise _damaged(f"{path}: lines that were written are missing or changed")
        if torn:
            os.truncate(path, book._end)
        return book

    def batch(self, number: int) -> list[Entry]:
        """The leads of a batch as they were planned: `file`, `line`, `row`, `body`."""
        leads: list[Entry] = self._read(self._batches[number])["leads"]
        return leads

    def sent(self, number: int) -> list[Entry]:
        """The leads of a batch that are sent: those that are not left out."""
        aside = self.standing(number).aside
        return [lead for index, lead in enumerate(self.batch(number)) if index not in aside]

    def standing(self, number: int) -> Standing:
        """How far a batch came."""
        return self._standings.get(number, Standing())

    def facts(self, number: int) -> Entry:
        """The last closing line of a batch, or nothing."""
        span = self.standing(number).facts
        return {} if span is None else self._read(span)

    def begin(
        self, at: datetime, facts: Mapping[str, Any], plan: Iterable[Mapping[str, Any]]
    ) -> None:
        """Write a plan into an empty or unfinished file, flushed once.

        Raises:
            OSError: The disk is full, or the file cannot be written.
        """
        # A plan that broke off was never sent from: it is begun anew.
        self.head, self.planned, self._end = None, False, 0
        self._digest = hashlib.sha256()
        self.sizes.clear()
        self._batches.clear()
        self._standings.clear()
        Witness(self.path).path.unlink(missing_ok=True)
        with self._opened(os.O_TRUNC) as file:
            self._put(file, {"kind": "import", "at": at.isoformat(), **facts})
            for batch in plan:
                self._put(file, {"kind": "batch", **batch})
            self._put(file, {"kind": "planned"})
        self._witnessed()

    def append(self, kind: str, at: datetime, facts: Mapping[str, Any]) -> None:
        """Add one fact and flush it to the disk.

        Raises:
            OSError: The disk is full, or the file cannot be written.
        """
        # Appended and flushed before the next request: what was sent is never forgotten.
        with self._opened(os.O_APPEND) as file:
            self._put(file, {"kind": kind, "at": at.isoformat(), **facts})
        self._witnessed()

    @contextmanager
    def _opened(self, how: int) -> Iterator[BinaryIO]:
        """The file to write to; flushed to the disk where all went well."""
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | how, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def _witnessed(self) -> None:
        Witness(self.path).note(self._end, self._digest.hexdigest())

    def _put(self, file: BinaryIO, entry: Entry) -> None:
        line = json.dumps(entry).encode() + b"\n"
        file.write(line)
        self._note(entry, line)

    def _read(self, span: Span) -> Entry:
        with self.path.open("rb") as file:
            file.seek(span.start)
            entry: Entry = json.loads(file.read(span.size))
        return entry

    def _note(self, entry: Entry, line: bytes) -> None:
        """Remember what a line says, and where it stands."""
        # Leads stay on the disk, and are read where they are wanted.
        span = Span(self._end, len(line))
        self._end += len(line)
        self._digest.update(line)
        # The newest line about a batch holds, so that reading the file is replaying it.
        match entry["kind"]:
            case "import":
                self.head = entry
            case "planned":
                self.planned = True
            case "batch":
                self._batches[entry["batch"]] = span
                self.sizes[entry["batch"]] = len(entry["leads"])
            case _:
                number = entry["batch"]
                self._standings[number] = _after(self.standing(number), entry, span)


def _after(before: Standing, entry: Entry, span: Span) -> Standing:
    kind = entry["kind"]
    if kind == "aside":
        return replace(before, aside={int(index): why for index, why in entry["leads"].items()})
    if kind == "send":
        at = datetime.fromisoformat(entry["at"])
        # The service counts a key's 24 hours from its first use (contract, Idempotency 2).
        first = before.sent_at if before.key == entry["key"] else at
        return replace(before, key=entry["key"], sent_at=first, outcome=None, facts=None)
    if kind not in _CLOSED:
        return before
    # A look that did not show all of a batch leaves it unknown, with what it showed.
    outcome: Outcome = "unknown" if kind == "found" and not entry["complete"] else kind
    return replace(before, outcome=outcome, facts=span)


def ledger_of(journal: Path) -> Path:
    """Where the ledger of an import's journal is."""
    return journal.with_name(f"{journal.name.removesuffix('.jsonl')}.csv")


def journal_of(ledger: Path) -> Path | None:
    """Where the journal of a ledger is; None where the file is no ledger."""
    header = ",".join(COLUMNS).encode()
    if not ledger.name.endswith(".import.csv") or not ledger.is_file():
        return None
    with ledger.open("rb") as file:
        return ledger.with_suffix(".jsonl") if header in file.readline(1000) else None


def _damaged(where: str) -> StoreError:
    return StoreError(
        f"{where}: the import journal is damaged; keep it, look with `leads.list` what was imported, and "
        "import into another folder (or remove the journal, its .head and its ledger, if that import is settled)"
    )


#: Columns of a ledger, one row per lead that was meant to be imported.
COLUMNS: Final = (
    "_file", "_line", "phone", "external_id", "outcome", "status", "reason", "field", "lead_id",
    "batch", "key", "request_id",
)  # fmt: skip

#: Of every lead that was sent, one of these holds.
SENT: Final = ("accepted", "refused", "unknown")

#: Outcomes of leads that were not sent: listed after the plan was made, or not their turn yet.
NOT_SENT: Final = ("set_aside", "waiting")

_NUMBERS: Final = frozenset({"_line", "batch"})


#: Reasons that a person can do something about, or that pass by themselves.
MENDABLE: Final = frozenset(
    {
        "invalid_phone", "missing_phone", "field_rule", "not_stored", "unrecognised",
        "not_in_campaign",
    }
)  # fmt: skip
#: Rows of a ledger that are made at once.
_ROWS: Final = 5_000

#: Outcomes of a lead that the contract has (contract, Endpoints: Leads).
_STATUSES: Final = frozenset(get_args(ImportStatus))

#: Fields of a lead that `send_again` has columns for (contract, Lead).
_FIELDS: Final = ("external_id", "phone", "first_name", "last_name", "full_name", "email")
#: Our columns of a reject file, so that a ledger's leads are read like one.
_META: Final = ("_file", "_line", "_row", "_outcome", "_reason", "_field", "_value")
_CUSTOM: Final = "custom_fields"


class Ledger:
    """What became of every lead of an import, read from its journal as it stood.

    Attributes:
        book: The journal.
        campaign_id: The campaign.
        requests: Import requests sent in this run; 0 when an earlier run had finished.
    """

    def __init__(self, book: Journal, *, requests: int = 0) -> None:
        self.book, self.requests = book, requests
        self.campaign_id = str((book.head or {}).get("campaign_id", ""))
        self._outcomes: Counter[str] = Counter()
        self._reasons: Counter[tuple[str, str | None]] = Counter()
        for row in self._rows():
            self._outcomes[row["outcome"]] += 1
            self._reasons[row["status"], row["reason"]] += 1

    @property
    def counts(self) -> dict[str, int]:
        """`sent, accepted, refused, unknown`; the last three add up to the first."""
        parts = {name: self._outcomes[name] for name in SENT}
        return {"sent": sum(parts.values()), **parts}

    @property
    def not_sent(self) -> dict[str, int]:
        """`set_aside` (on a Do-Not-Call list since the plan was made) and `waiting` (not sent yet)."""
        return {name: self._outcomes[name] for name in NOT_SENT}

    @property
    def reasons(self) -> dict[str, int]:
        """Leads by status and reason, most first."""
        return {
            f"{status}: {reason}" if reason else status: count
            for (status, reason), count in self._reasons.most_common()
        }

    @property
    def frame(self) -> pd.DataFrame:
        """One row per planned lead, columns `COLUMNS`.

        `outcome` is accepted, refused or unknown, or for leads that were not sent set_aside or
        waiting.
        """
        return pd.concat(self.frames(), ignore_index=True)

    def frames(self) -> Iterator[pd.DataFrame]:
        """The same, so many rows at a time; at least one frame."""
        rows = self._rows()
        batch = list(islice(rows, _ROWS))
        yield _frame(batch)
        while batch := list(islice(rows, _ROWS)):
            yield _frame(batch)

    def send_again(self) -> pd.DataFrame:
        """The leads that were refused for what can be mended, as they were sent, with why.

        The fields stand under the contract's names, custom fields under their own, so that reading
        the file needs no help; what was wrong stands behind them in columns that reading drops:
        `_file`, `_line`, `_row`, `_outcome`, `_reason`, `_field` and `_value`.
        """
        records = [
            _record(lead, row)
            for number in self.book.sizes
            for lead, row in zip(self.book.batch(number), self._batch(number), strict=True)
            if row["outcome"] == "refused"
            and (row["reason"] in MENDABLE or row["status"] == "batch_refused")
        ]
        custom = dict.fromkeys(name for record in records for name in record)
        # Custom fields stand under their own names; ours win where they collide.
        names = [*_FIELDS, *(name for name in custom if name not in {*_FIELDS, *_META}), *_META]
        return pd.DataFrame(
            {name: pd.Series([record.get(name, "") for record in records], dtype="str")
             for name in names}
        )  # fmt: skip

    def _rows(self) -> Iterator[dict[str, Any]]:
        for number in self.book.sizes:
            yield from self._batch(number)

    def _batch(self, number: int) -> Iterator[dict[str, Any]]:
        book = self.book
        return rows(number, book.batch(number), book.standing(number), book.facts(number))


def _frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            name: pd.Series(
                [row[name] for row in rows], dtype="Int64" if name in _NUMBERS else "str"
            )
            for name in COLUMNS
        }
    )


def _record(lead: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, str]:
    body = lead["body"]
    custom = {str(name): str(value) for name, value in body.get(_CUSTOM, {}).items()}
    fields = {name: str(body[name]) for name in _FIELDS if name in body}
    refused = row["field"] or ""
    value = {**fields, **{f"{_CUSTOM}.{name}": text for name, text in custom.items()}}
    return {
        **custom,
        **fields,
        "_file": lead["file"],
        "_line": str(lead["line"]),
        "_row": str(lead.get("row", "")),
        "_outcome": row["status"],
        "_reason": row["reason"] or "",
        "_field": refused,
        "_value": value.get(refused, ""),
    }


def rows(
    number: int, batch: Sequence[Entry], standing: Standing, facts: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """One row per lead of a batch."""
    sent = [position for position in range(len(batch)) if position not in standing.aside]
    outcomes = results([batch[position] for position in sent], facts)
    by_place = {position: outcomes[index] for index, position in enumerate(sent)}
    for position, lead in enumerate(batch):
        answer = by_place.get(position) or {}
        outcome, status, reason = _verdict(answer, standing, standing.aside.get(position))
        yield {
            "_file": lead["file"],
            "_line": lead["line"],
            "phone": lead["body"]["phone"],
            "external_id": lead["body"].get("external_id"),
            "field": answer.get("field"),
            "lead_id": answer.get("lead_id"),
            "batch": number,
            "key": standing.key if position in by_place else None,
            "request_id": facts.get("request_id"),
            "outcome": outcome,
            "status": status,
            "reason": reason,
        }


def results(batch: Sequence[Entry], facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a closing line says of each lead sent, in order; of whom it says nothing, why not.

    The contract promises exactly one result per lead, by its index; a result that is missing, comes
    twice, names another lead's `external_id` or an outcome that the contract does not have says
    nothing.
    """
    answers: dict[int, list[dict[str, Any]]] = {}
    for result in facts.get("results", ()):
        answers.setdefault(result["index"], []).append(result)
    return [_one(index, lead, answers.get(index, []), facts) for index, lead in enumerate(batch)]


def _one(
    index: int, lead: Entry, answers: Sequence[dict[str, Any]], facts: Mapping[str, Any]
) -> dict[str, Any]:
    if facts.get("kind") == "refused":
        # A batch is refused as a whole; a pointer may name this lead's field.
        pointer = f"/leads/{index}/"
        for problem in facts.get("errors", ()):
            if problem["pointer"].startswith(pointer):
                field = problem["pointer"].removeprefix(pointer).replace("/", ".")
                return {"field": field, "why": problem["code"]}
        return {"why": facts.get("code")}
    if not answers:
        return {"why": facts.get("why", "no_result")} if facts else {}
    # Exactly one result per lead (contract, Endpoints: Leads).
    if len(answers) > 1:
        return {"why": "two_results"}
    # A result carries the id of the lead that it is about (contract, Lead outcome objects).
    if answers[0].get("external_id") not in (None, lead["body"].get("external_id")):
        return {"why": "result_of_another_lead"}
    if answers[0].get("status") not in _STATUSES:
        return {"why": "unknown_outcome"}
    return answers[0]


def _verdict(
    answer: Mapping[str, Any], standing: Standing, aside: str | None
) -> tuple[str, str, str | None]:
    """Outcome, status and reason of one lead."""
    if aside is not None:
        return "set_aside", aside, None
    if standing.key is None:
        return "waiting", "not_sent", None
    if standing.outcome == "refused":
        return "refused", "batch_refused", answer.get("why")
    # Duplicates and invalid leads are refusals for this campaign, whatever the word.
    if "status" in answer:
        outcome = "accepted" if answer["status"] == "accepted" else "refused"
        return outcome, answer["status"], answer.get("reason")
    return "unknown", "unknown", answer.get("why", "no_answer")
