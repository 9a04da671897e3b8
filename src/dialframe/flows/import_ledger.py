"""An import: its plan in a file, what became of each lead in the evidence log, and the ledger that is made of both.

The plan (`NAME.import.jsonl`, in the import's folder) is written once and never changed: a line that names the import,
then a line for each batch with its leads. The evidence log holds its digest and, as records of kind `import`, each key before
it is used and, lead by lead, what the service answered, so that an import resumes where it stopped. `sent = accepted +
refused + unknown` holds for every ledger; what was not sent is in it by name.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal

import pandas as pd

from dialframe import files
from dialframe.errors import StoreError
from dialframe.evidence import EvidenceLog, Record
from dialframe.privacy import E164

Outcome = Literal["answer", "refused", "unknown", "found"]
Entry = dict[str, Any]

#: What a record says of a lead, by the names of a result (contract, Lead outcome objects).
_OF_LEAD: Final = ("status", "reason", "field", "lead_id", "why")


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one batch came.

    Attributes:
        key: The idempotency key that it was last sent under, or None if it never was.
        sent_at: When that key was first used.
        outcome: `answer`, `refused`, `unknown`, `found`, or None while the key is open.
        partly: Whether something is known of some of its leads where the outcome is unknown.
        why: Why nothing is known of its leads, or of the others.
        request_id: The service's id of the answer.
        aside: Place in the batch of each lead that is left out, and why.
    """

    key: str | None = None
    sent_at: datetime | None = None
    outcome: Outcome | None = None
    partly: bool = False
    why: str = "no_result"
    request_id: str | None = None
    aside: Mapping[int, str] = field(default_factory=dict)


class Journal:
    """The plan of one import, and its records in the evidence log.

    Args:
        path: The file of the plan.
        log: The evidence log of the account's store.

    Attributes:
        head: What the plan is of: `import`, `campaign_id`, `source`; None where nothing was planned yet.
        sizes: Leads of each batch, by its number.
    """

    def __init__(self, path: Path, log: EvidenceLog) -> None:
        self.path, self.log = path, log
        self.head: Entry | None = None
        self.sizes: dict[int, int] = {}
        self._starts: dict[int, int] = {}
        self._standings: dict[int, Standing] = {}

    @classmethod
    def open(cls, path: Path, log: EvidenceLog) -> Journal:
        """Read a plan, and how far it came.

        Raises:
            StoreError: The plan or the log is not what was written, or the log is another one.
        """
        journal = cls(path, log)
        if not path.exists():
            if path.absolute() in find_lost_plans(log):
                raise StoreError(
                    f"{path}: the plan of an import is missing, and what became of some of its leads is not known: bring "
                    "it back, or name another --out folder"
                )
            return journal
        digest, start = hashlib.sha256(), 0
        with path.open("rb") as file:
            for number, line in enumerate(file):
                digest.update(line)
                try:
                    entry = json.loads(line)
                    if number:
                        journal.sizes[entry["batch"]] = len(entry["leads"])
                        journal._starts[entry["batch"]] = start
                    else:
                        journal.head = {
                            name: entry[name] for name in ("import", "campaign_id", "source")
                        }
                except (ValueError, TypeError, KeyError):
                    raise _damage_error(
                        f"{path}, line {number + 1}, is not what was written"
                    ) from None
                start += len(line)
        records = iter(log.records(["import"], run=str((journal.head or {}).get("import"))))
        planned = next(records, None)
        if planned is None:
            raise StoreError(
                f"{path} is the plan of an import that {log.path} knows nothing of, so what was sent would be sent again: "
                "name the store that it was sent from with --store, or another --out folder if that import is settled"
            )
        if planned.detail.get("sha256") != digest.hexdigest():
            raise _damage_error(f"{path} is not what was written")
        for record in records:
            journal._note(record)
        return journal

    def batch(self, number: int) -> list[Entry]:
        """The leads of a batch as they were planned: `file`, `line`, `row`, `body`."""
        with self.path.open("rb") as file:
            file.seek(self._starts[number])
            leads: list[Entry] = json.loads(file.readline())["leads"]
        return leads

    def sent(self, number: int) -> list[Entry]:
        """The leads of a batch that are sent: those that are not left out."""
        aside = self.standing(number).aside
        return [lead for index, lead in enumerate(self.batch(number)) if index not in aside]

    def standing(self, number: int) -> Standing:
        """How far a batch came."""
        return self._standings.get(number, Standing())

    def answers(self, number: int) -> list[Entry]:
        """What is known of each lead of a batch that was sent, in order: fields of its result, or `why` nothing is."""
        standing = self.standing(number)
        nothing: Entry = {} if standing.outcome is None else {"why": standing.why}
        answers = [nothing] * (self.sizes[number] - len(standing.aside))
        if standing.key is not None and (
            standing.outcome not in (None, "unknown") or standing.partly
        ):
            for record in self.log.records(["import"], run=standing.key):
                detail = record.detail
                answers[detail["index"]] = {
                    name: detail[name] for name in _OF_LEAD if name in detail
                }
        return answers

    def begin(
        self, at: datetime, campaign_id: str, source: str, plan: Iterable[Sequence[Entry]]
    ) -> None:
        """Write the plan of an import, the leads of each batch.

        Raises:
            StoreError: The evidence log cannot be written.
            OSError: The disk is full, or the file cannot be written; nothing was begun then.
        """
        self.head = {
            "import": f"imp-{secrets.token_hex(8)}",
            "campaign_id": campaign_id,
            "source": source,
        }
        digest, start = hashlib.sha256(), 0

        def fill(file: BinaryIO) -> None:
            nonlocal start
            numbered = ({"batch": number, "leads": leads} for number, leads in enumerate(plan))
            for entry in (self.head or {}, *numbered):
                line = json.dumps(entry).encode() + b"\n"
                digest.update(line)
                if "batch" in entry:
                    self.sizes[entry["batch"]] = len(entry["leads"])
                    self._starts[entry["batch"]] = start
                start += file.write(line)

        staged = files.stage(self.path, fill)
        detail = {"sha256": digest.hexdigest(), "plan": str(self.path.absolute())}
        try:
            # The log first: a plan that it does not know is of another log, and never one that was not begun.
            self._append(at, "planned", detail)
        except BaseException:
            staged.unlink(missing_ok=True)
            raise
        files.publish({self.path: staged})

    def leave_out(self, number: int, at: datetime, places: Mapping[int, str]) -> None:
        """Write down which leads of a batch are not sent, by their place in it, and why."""
        self._append(
            at,
            "aside",
            {"batch": number, "leads": {str(place): why for place, why in places.items()}},
        )

    def send(self, number: int, at: datetime, key: str) -> None:
        """Write a key down before a batch is sent under it: what was sent is never forgotten."""
        self._append(at, "send", {"batch": number, "key": key})

    def close(
        self,
        number: int,
        at: datetime,
        outcome: Outcome,
        answers: Mapping[int, Entry],
        *,
        why: str = "no_result",
        request_id: str | None = None,
        complete: bool = True,
    ) -> None:
        """Write down what became of a batch under its key, and of its leads by their place among those sent.

        Args:
            number: The batch.
            at: When that was known.
            outcome: What ended the key's use, until it is used again.
            answers: What is known of leads.
            why: Why nothing is known of the others.
            request_id: The service's id of the answer.
            complete: Whether what was `found` is all.
        """
        key, leads = self.standing(number).key, self.sent(number)
        said = []
        for index, answer in answers.items():
            detail = {name: answer[name] for name in _OF_LEAD if answer.get(name) is not None}
            phone, file = leads[index]["body"]["phone"], leads[index]["file"]
            said.append(self._record(at, {"index": index, **detail}, phone, file, key, request_id))
        facts = {"batch": number, "key": key, "why": why, "complete": complete}
        self._append(at, outcome, facts, said, request_id)

    def _append(
        self,
        at: datetime,
        state: str,
        facts: Entry,
        said: Sequence[Record] = (),
        request_id: str | None = None,
    ) -> None:
        head = self.head or {}
        record = self._record(
            at, {"state": state, **facts}, None, head["source"], head["import"], request_id
        )
        self.log.append([*said, record])
        self._note(record)

    def _record(
        self,
        at: datetime,
        detail: Entry,
        phone: str | None,
        source: str,
        run: str | None,
        request_id: str | None,
    ) -> Record:
        number = phone if phone is not None and E164.fullmatch(phone) else None
        campaign_id = (self.head or {}).get("campaign_id")
        return Record(
            "import",
            at,
            number,
            source,
            campaign_id,
            request_id=request_id,
            run=run,
            detail=detail,
        )

    def _note(self, record: Record) -> None:
        """Remember what a record says of a batch."""
        # The newest record of a batch holds, so that reading the log is replaying it.
        state, facts = record.detail["state"], record.detail
        if state == "planned":
            return
        before = self.standing(facts["batch"])
        if state == "aside":
            after = replace(
                before, aside={int(place): why for place, why in facts["leads"].items()}
            )
        elif state == "send":
            # The service counts a key's 24 hours from its first use (contract, Idempotency 2).
            first = before.sent_at if before.key == facts["key"] else record.at
            after = replace(before, key=facts["key"], sent_at=first, outcome=None, partly=False)
        else:
            # A look that did not show all of a batch leaves it unknown, with what it showed.
            partly = state == "found" and not facts["complete"]
            after = replace(
                before, outcome="unknown" if partly else state, partly=partly,
                why=facts["why"], request_id=record.request_id,
            )  # fmt: skip
        self._standings[facts["batch"]] = after


def find_lost_plans(log: EvidenceLog) -> dict[Path, datetime]:
    """Plans that are gone although the outcome of a batch is open, and when that was sent.

    Raises:
        StoreError: The log is not what was written.
    """
    plans: dict[str, Path] = {}
    open_batches: dict[tuple[str, int], datetime] = {}
    for record in log.records(["import"]):
        facts, run = record.detail, record.run or ""
        match facts.get("state"):
            case "planned":
                plans[run] = Path(facts["plan"])
            case "send":
                open_batches[run, facts["batch"]] = record.at
            case "answer" | "refused":
                open_batches.pop((run, facts["batch"]), None)
            case "found" if facts["complete"]:
                open_batches.pop((run, facts["batch"]), None)
    lost = ((plans[run], at) for (run, _), at in open_batches.items() if run in plans)
    return {path: at for path, at in lost if not path.exists()}


def ledger_of(plan: Path) -> Path:
    """Where the ledger of an import's plan is."""
    return plan.with_name(f"{plan.name.removesuffix('.jsonl')}.csv")


def _damage_error(what: str) -> StoreError:
    return StoreError(
        f"{what}: the plan of the import is damaged; keep it, look with dialframe sync leads what was imported, and "
        "import into another folder"
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

#: Fields of a lead that `send_again` has columns for (contract, Lead).
_FIELDS: Final = ("external_id", "phone", "first_name", "last_name", "full_name", "email")
#: Our columns of a reject file, so that a ledger's leads are read like one.
_META: Final = ("_file", "_line", "_row", "_outcome", "_reason", "_field", "_value")
_CUSTOM: Final = "custom_fields"


class Ledger:
    """What became of every lead of an import, as its plan and the evidence log stood.

    Attributes:
        book: Its plan and records.
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
        """One row per lead of a batch."""
        journal, batch = self.book, self.book.batch(number)
        standing, answers = journal.standing(number), iter(journal.answers(number))
        for position, lead in enumerate(batch):
            aside = standing.aside.get(position)
            answer = {} if aside is not None else next(answers)
            outcome, status, reason = _verdict(answer, standing, aside)
            yield {
                "_file": lead["file"],
                "_line": lead["line"],
                "phone": lead["body"]["phone"],
                "external_id": lead["body"].get("external_id"),
                "field": answer.get("field"),
                "lead_id": answer.get("lead_id"),
                "batch": number,
                "key": standing.key if aside is None else None,
                "request_id": standing.request_id,
                "outcome": outcome,
                "status": status,
                "reason": reason,
            }


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
