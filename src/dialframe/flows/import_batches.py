"""Leads into a campaign, each exactly once: batches, keys, answers joined back to their source lines.

What a batch's last word was decides what is done with it, now and in every later run:

    never sent          leads that were listed meanwhile are left out; a key of its own; sent
    no answer           asked with the same key and bytes; older than the service keeps keys: unknown
    answered            nothing
    unknown             set aside in the run that hears it; asked with the same key and bytes in a later
                        one; and where that does not say, the campaign is looked at
    unreadable          unknown, like that: the same key may bring the same answer again and again
    refused as a whole  nothing was written: asked with the same key and bytes; where the campaign's
                        state was the reason and the answer stays the same, sent under a new key
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Protocol

from pydantic import ValidationError

from dialframe.client import Answered, Options
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract import limits, operations
from dialframe.contract.models.lead_models import Lead, LeadImport, LeadImportAnswer
from dialframe.contract.models.lead_models import LeadInput as Body
from dialframe.contract.operations import Operation
from dialframe.errors import (
    ApiError,
    ConfigError,
    Conflict,
    ContractError,
    DialframeError,
    InvalidRequest,
    NotFound,
    OutcomeUnknown,
    Refused,
    StoreError,
)
from dialframe.files import alone
from dialframe.flows.import_ledger import (
    COLUMNS,
    Entry,
    Journal,
    Ledger,
    Standing,
    ledger_of,
    results,
)
from dialframe.leads import LeadInput

__all__ = ["COLUMNS", "Importer", "Ledger", "check_journal", "import_leads"]

#: Room left in a request beside the leads themselves.
_ENVELOPE_BYTES: Final = 1024
#: So many batches refused one after the other are no matter of single leads any more.
_REFUSED_IN_A_ROW: Final = 3
#: So many answers in one run that are none, and something else than the service is answering.
_UNREADABLE_AT_MOST: Final = 3
#: Conflicts that do not say that nothing was written.
_OPEN_CONFLICTS: Final = ("conflict", "idempotency_conflict", "outcome_unknown")


#: Leads of the campaign that were created since an instant.
Look = Callable[[datetime], Iterable[Lead]]

#: How long a key is asked with. The service forgets keys after 24 hours; the minutes are for the way.
_KEY_LIFE: Final = timedelta(hours=limits.IDEMPOTENCY_RETENTION_HOURS) - timedelta(minutes=2)
#: How far the service's clock may be behind this one, where its instants are compared with ours.
_CLOCKS_APART: Final = timedelta(hours=1)


class Importer(Protocol):
    """What an import needs of a client."""

    def send_raw(
        self,
        operation: Operation[LeadImport, LeadImportAnswer],
        request: LeadImport,
        options: Options = ...,
    ) -> Answered[LeadImportAnswer]:
        """Send one request under the options' idempotency key."""


def import_leads(
    client: Importer,
    leads: Iterable[LeadInput],
    *,
    campaign_id: str,
    source: str,
    journal: Path,
    now: Callable[[], datetime],
    listed: Collection[str] = (),
    look: Look | None = None,
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
        listed: Numbers on a Do-Not-Call list; planned leads with them that were not sent yet are
            set aside as `on_dnc`.
        look: Leads of the campaign created since an instant, to settle what the service cannot
            say any more; None to leave it unknown.
        on_progress: Told how many leads have an answer.

    Raises:
        ApiError: The service refused a batch for a reason that holds for all; nothing of it was
            written.
        StoreError: The journal belongs to another import, is damaged, or is in use.
        ContractError: Three batches of this run got an answer that cannot be read; they are unknown.
        TransportError: No answer came; run it again to go on with the same keys.

    Source: contract, Endpoints: Leads; Idempotency.
    """
    with alone(journal.parent, f".{journal.name}.lock"):
        book = check_journal(journal, campaign_id, source)
        if not book.planned:
            plan = ({"batch": n, "leads": batch} for n, batch in enumerate(_batches(leads)))
            book.begin(now(), {"campaign_id": campaign_id, "source": source}, plan)
        run = _Run(client, book, now, frozenset(listed))
        run.send_all(on_progress)
        if look is not None:
            settle_unknown(book, look, leave=run.unheard, now=now())
        return Ledger(book, requests=run.requests)


def check_journal(path: Path, campaign_id: str, source: str) -> Journal:
    """The journal, if it is of this import or empty; nothing is written.

    Raises:
        StoreError: It belongs to another import, is damaged, or is missing beside its ledger.
    """
    book = Journal.open(path)
    head = book.head or {}
    ledger = ledger_of(path)
    if book.head is None and ledger.exists():
        raise StoreError(
            f"{ledger} is of an import whose journal {path.name} is missing, so what was sent would be "
            "sent again; bring the journal back, name another --out folder, or remove the ledger if "
            "that import is settled"
        )
    earlier = (head.get("campaign_id"), head.get("source"))
    if book.planned and earlier != (campaign_id, source):
        # Another hash of the files, or of the choices made about them.
        difference = (
            "into another campaign" if earlier[1] == source else "of other leads or other choices"
        )
        raise StoreError(
            f"{path} belongs to an import {difference}; name another --out folder, or remove the file, "
            "its .head and its ledger if that import is settled"
        )
    return book


def _batches(leads: Iterable[LeadInput]) -> Iterator[list[Entry]]:
    """Batches of at most 200 leads and of less than a mebibyte."""
    batch: list[Entry] = []
    size = 0
    for lead in leads:
        # What is sent is UTF-8, which is never longer than this.
        lead_bytes = len(json.dumps(lead.body)) + 1
        # At most 200 leads (contract, Endpoints: Leads) and 1 MiB (Conventions) in a request.
        full = len(batch) == limits.LEADS_PER_IMPORT
        if batch and (full or size + lead_bytes > limits.BODY_BYTES - _ENVELOPE_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(_planned(lead))
        size += lead_bytes
    if batch:
        yield batch


def _planned(lead: LeadInput) -> Entry:
    """A lead as the journal keeps it; one that no request could carry stops the plan, by its line."""
    try:
        Body.model_validate(lead.body)
    except ValidationError as problem:
        where = ".".join(map(str, problem.errors()[0]["loc"]))
        raise ConfigError(
            f"{lead.file}, line {lead.line}: {where} cannot be sent as it is "
            f"({problem.errors()[0]['msg'].lower()}); correct it, or leave its column out"
        ) from None
    return {"file": lead.file, "line": lead.line, "row": lead.row, "body": lead.body}


@dataclass(slots=True)
class _Run:
    """One run over a journal.

    Attributes:
        requests: Import requests sent so far.
        unheard: Batches whose outcome turned out unknown in this run, and may be asked again.
        unreadable: How many of them because their answer is none.
    """

    client: Importer
    book: Journal
    now: Callable[[], datetime]
    listed: frozenset[str]
    requests: int = 0
    unheard: set[int] = field(default_factory=set)
    unreadable: int = 0

    def send_all(self, on_progress: OnProgress) -> None:
        """Bring every batch as far as it goes."""
        # In the plan's order, so that a second run meets the batches as the first did.
        total, done, in_a_row = sum(self.book.sizes.values()), 0, 0
        for number, size in self.book.sizes.items():
            try:
                self._settle(number)
                in_a_row = 0
            except InvalidRequest:
                # Its leads are refused, by name where the answer names them; others may be fine.
                in_a_row += 1
                if in_a_row == _REFUSED_IN_A_ROW:
                    raise
            done += size
            on_progress(Progress("leads imported", done, total))

    def _settle(self, number: int) -> None:
        """Bring one batch to an end."""
        standing = self.book.standing(number)
        if standing.outcome in ("answer", "found"):
            return
        if standing.key is None:
            self._first(number)
        # Within 24 hours the key brings the stored answer (contract, Idempotency 2 and 3).
        elif not expired(standing, self.now()):
            self._again(number, standing)
        elif standing.outcome == "refused":
            self._send(number, str(uuid.uuid4()))
        elif standing.outcome is None:
            self._note("unknown", number, standing.key, {"why": "key_expired"})

    def _first(self, number: int) -> None:
        """Send a batch that never was, without the leads that were listed meanwhile."""
        leads = self.book.batch(number)
        barred = [
            index for index, lead in enumerate(leads) if lead["body"]["phone"] in self.listed
        ]
        if set(barred) != set(self.book.standing(number).aside):
            self.book.append(
                "aside", self.now(), {"batch": number, "leads": dict.fromkeys(barred, "on_dnc")}
            )
        if len(barred) < len(leads):
            self._send(number, str(uuid.uuid4()))

    def _again(self, number: int, standing: Standing) -> None:
        """Ask with the key and the bytes that were sent before."""
        key = standing.key or ""
        try:
            self._send(number, key)
        except (Conflict, NotFound, Refused) as error:
            if standing.outcome != "refused" or not _nothing_written(error):
                raise
            # The key has this answer for good; the state that it speaks of may have changed.
            self._send(number, str(uuid.uuid4()))

    def _send(self, number: int, key: str) -> None:
        """Send one batch under a key and write down what came of it."""
        if self.book.standing(number).key != key:
            # Written before it is sent, so that a crash leaves the key that was used.
            self._note("send", number, key, {})
        self.requests += 1
        campaign_id = (self.book.head or {})["campaign_id"]
        leads = [lead["body"] for lead in self.book.sent(number)]
        # The bytes are made anew from the journal, and are the same each time.
        request = LeadImport.model_validate({"campaign_id": campaign_id, "leads": leads})
        try:
            answered = self.client.send_raw(
                operations.LEADS_IMPORT, request, Options(idempotency_key=key)
            )
        except ApiError as error:
            # Not to be retried under a new key (contract, Idempotency 5 and 7).
            if isinstance(error, OutcomeUnknown) or error.code == "idempotency_conflict":
                self._unknown(number, key, error.code, error.request_id)
                return
            if _nothing_written(error):
                problems = [{"pointer": each.pointer, "code": each.code} for each in error.errors]
                refusal = {"code": error.code, "request_id": error.request_id, "errors": problems}
                self._note("refused", number, key, refusal)
            raise
        except ContractError:
            # It was written or it was not. The key is asked again by the next run, and holds up nothing.
            if self._unknown(number, key, "unreadable_answer", None):
                self.unreadable += 1
                if self.unreadable == _UNREADABLE_AT_MOST:
                    raise
            return
        facts: dict[str, Any] = {"request_id": answered.request_id}
        if answered.value.campaign_id == campaign_id:
            facts["results"] = [result.model_dump(mode="json") for result in answered.value.data]
        else:
            # It says nothing of the leads that were sent (contract, Endpoints: Leads).
            facts |= {"results": [], "why": "answer_of_another_campaign"}
        self._note("answer", number, key, facts)

    def _unknown(self, number: int, key: str, why: str, request_id: str | None) -> bool:
        """Set a batch aside, and whether that is news; what was heard of it before is kept."""
        if self.book.standing(number).outcome == "unknown":
            return False
        self._note("unknown", number, key, {"why": why, "request_id": request_id})
        self.unheard.add(number)
        return True

    def _note(self, kind: str, number: int, key: str, facts: dict[str, Any]) -> None:
        self.book.append(kind, self.now(), {"batch": number, "key": key, **facts})


def _nothing_written(error: ApiError) -> bool:
    """Whether this is the service's answer for the key, and says that nothing was written.

    What is refused before the key is looked at (access, rate, outage) says nothing of an earlier
    attempt, and neither does a `conflict`: the key stays open.
    """
    # Access (401, 403), rate (429) and outages (5xx) come before the key is looked at.
    families = InvalidRequest | NotFound | Conflict | Refused
    return isinstance(error, families) and error.code not in _OPEN_CONFLICTS


def expired(standing: Standing, now: datetime) -> bool:
    """Whether the service may have forgotten the key, so that asking with it would be a new write."""
    return standing.sent_at is not None and now - standing.sent_at >= _KEY_LIFE


def settle_unknown(book: Journal, look: Look, *, leave: Collection[int], now: datetime) -> None:
    """Write down what the campaign shows of the leads of which nothing is known; sends nothing.

    What is in the campaign under the lead's number was taken; under another `external_id` it was there
    already. What is not there counts as not taken only when the key is too old to bring an answer any
    more: until then it stays unknown.

    Args:
        book: The journal.
        look: Leads of the campaign created since an instant.
        leave: Batches to leave alone: a later run asks the service about them first.
        now: The present.
    """
    unknown = {
        number: places
        for number in book.sizes
        if number not in leave and (places := _unknown(book, number))
    }
    begins = [book.standing(number).sent_at for number in unknown]
    since = min((at for at in begins if at is not None), default=None)
    if since is None:
        return
    seen: dict[str, list[Lead]] = {}
    try:
        for lead in look(since - _CLOCKS_APART):
            seen.setdefault(lead.phone, []).append(lead)
    except DialframeError:
        return  # What cannot be looked at stays unknown; the next run looks again.
    for number, places in unknown.items():
        _settle_batch(book, number, places, seen, now)


def _unknown(book: Journal, number: int) -> list[int]:
    """Places, among the leads sent, of those of which nothing is known."""
    if book.standing(number).outcome not in ("answer", "unknown", "found"):
        return []
    outcomes = results(book.sent(number), book.facts(number))
    return [index for index, result in enumerate(outcomes) if "status" not in result]


def _settle_batch(
    book: Journal,
    number: int,
    places: Sequence[int],
    seen: Mapping[str, Sequence[Lead]],
    now: datetime,
) -> None:
    standing, facts, sent = book.standing(number), book.facts(number), book.sent(number)
    dead = expired(standing, now)
    shown = [(index, sent[index], seen.get(sent[index]["body"]["phone"], ())) for index in places]
    new = [_result(index, lead, leads) for index, lead, leads in shown if dead or leads]
    if not new:
        return
    other_results = [
        result for result in facts.get("results", ()) if result["index"] not in places
    ]
    book.append(
        "found",
        now,
        {
            "batch": number,
            "key": standing.key,
            "request_id": facts.get("request_id"),
            "results": other_results + new,
            "complete": len(new) == len(places),
            "why": facts.get("why", "no_result"),
        },
    )


def _result(index: int, sent: Entry, leads: Sequence[Lead]) -> dict[str, Any]:
    """A result in the service's words, from what the campaign shows."""
    # Numbers may stand in a campaign already; the id says whose lead it is.
    wanted = sent["body"].get("external_id")
    result = {"index": index, "external_id": wanted, "field": None, "lead_id": None}
    if not leads:
        return {**result, "status": "failed", "reason": "not_in_campaign"}
    match = next((lead for lead in leads if lead.external_id == wanted), None)
    if match is None:
        # External ids are unique per client (contract, Lead): another one is another lead.
        return {**result, "status": "duplicate", "reason": "duplicate_in_campaign"}
    return {**result, "status": "accepted", "reason": None, "lead_id": match.id}
