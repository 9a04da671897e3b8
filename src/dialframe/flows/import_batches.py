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
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Protocol, get_args

from pydantic import ValidationError

from dialframe.client import Answered, Options
from dialframe.config import OnProgress, Progress, silent
from dialframe.contract import limits, operations
from dialframe.contract.models.lead_models import (
    ImportStatus,
    Lead,
    LeadImport,
    LeadImportAnswer,
)
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
from dialframe.evidence import EvidenceLog
from dialframe.files import alone
from dialframe.flows.import_ledger import (
    COLUMNS,
    Entry,
    Journal,
    Ledger,
    Standing,
    ledger_of,
)
from dialframe.leads import LeadInput

__all__ = ["COLUMNS", "Importer", "Ledger", "check_journal", "import_leads"]

#: Room left in a request beside the leads themselves.
_ENVELOPE_BYTES: Final = 1024
#: So many batches refused one after the other are no matter of single leads any more.
_REFUSED_IN_A_ROW: Final = 3
#: So many answers in one run that are none, and something else than the service is answering.
_UNREADABLE_AT_MOST: Final = 3
#: How an error names a lead's field (contract, Errors).
_POINTER: Final = re.compile(r"/leads/(\d+)/")
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
    plan: Path,
    log: EvidenceLog,
    now: Callable[[], datetime],
    listed: Collection[str] = (),
    look: Look | None = None,
    on_progress: OnProgress = silent,
) -> Ledger:
    """Import leads in batches of 200, each under a key of its own, and say what became of each.

    Run again after a crash, with the same source, campaign and plan, it resumes where the evidence log says that it
    stopped: answered batches are not sent again, and a batch that may have arrived is sent with the same key and the
    same bytes.

    Args:
        client: Client of the account.
        leads: Leads with their source lines, in the order of the file.
        campaign_id: A campaign in draft, ready or paused.
        source: What the leads were made from, a hash of the files for instance.
        plan: File of what is to be sent; written if it is not there.
        log: The evidence log, which remembers what was sent and what became of it.
        now: The clock, UTC.
        listed: Numbers on a Do-Not-Call list; planned leads with them that were not sent yet are
            set aside as `on_dnc`.
        look: Leads of the campaign created since an instant, to settle what the service cannot
            say any more; None to leave it unknown.
        on_progress: Told how many leads have an answer.

    Raises:
        ApiError: The service refused a batch for a reason that holds for all; nothing of it was
            written.
        StoreError: The plan belongs to another import, is damaged, or is in use; or the log is not what was written.
        ContractError: Three batches of this run got an answer that cannot be read; they are unknown.
        TransportError: No answer came; run it again to go on with the same keys.

    Source: contract, Endpoints: Leads; Idempotency.
    """
    with alone(plan.parent, f".{plan.name}.lock"):
        book = check_journal(plan, log, campaign_id, source)
        if book.head is None:
            book.begin(now(), campaign_id, source, _batches(leads))
        run = _Run(client, book, now, frozenset(listed))
        run.send_all(on_progress)
        if look is not None:
            settle_unknown(book, look, leave=run.unheard, now=now())
        return Ledger(book, requests=run.requests)


def check_journal(path: Path, log: EvidenceLog, campaign_id: str, source: str) -> Journal:
    """The plan and how far it came, if it is of this import or there is none; nothing is written.

    Raises:
        StoreError: It belongs to another import, is damaged, or is missing beside its ledger.
    """
    book = Journal.open(path, log)
    if book.head is None and ledger_of(path).exists():
        raise StoreError(
            f"{ledger_of(path)} is of an import whose plan {path.name} is missing, so what was sent would be "
            "sent again; bring the plan back, name another --out folder, or remove the ledger if "
            "that import is settled"
        )
    if book.head is not None and (book.head["campaign_id"], book.head["source"]) != (
        campaign_id,
        source,
    ):
        # Another hash of the files, or of the choices made about them.
        same = book.head["source"] == source
        difference = "into another campaign" if same else "of other leads or other choices"
        raise StoreError(
            f"{path} belongs to an import {difference}; name another --out folder, or remove the file "
            "and its ledger if that import is settled"
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
        batch.append(_plan_lead(lead))
        size += lead_bytes
    if batch:
        yield batch


def _plan_lead(lead: LeadInput) -> Entry:
    """A lead as the plan has it; one that no request could carry stops the plan, by its line."""
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
    """One run of an import.

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
            self.book.close(number, self.now(), "unknown", {}, why="key_expired")

    def _first(self, number: int) -> None:
        """Send a batch that never was, without the leads that were listed meanwhile."""
        leads = self.book.batch(number)
        barred = [
            index for index, lead in enumerate(leads) if lead["body"]["phone"] in self.listed
        ]
        if set(barred) != set(self.book.standing(number).aside):
            self.book.leave_out(number, self.now(), dict.fromkeys(barred, "on_dnc"))
        if len(barred) < len(leads):
            self._send(number, str(uuid.uuid4()))

    def _again(self, number: int, standing: Standing) -> None:
        """Ask with the key and the bytes that were sent before."""
        key = standing.key or ""
        try:
            self._send(number, key)
        except (Conflict, NotFound, Refused) as error:
            if standing.outcome != "refused" or not _says_nothing_written(error):
                raise
            # The key has this answer for good; the state that it speaks of may have changed.
            self._send(number, str(uuid.uuid4()))

    def _send(self, number: int, key: str) -> None:
        """Send one batch under a key and write down what came of it."""
        if self.book.standing(number).key != key:
            # Written before it is sent, so that a crash leaves the key that was used.
            self.book.send(number, self.now(), key)
        self.requests += 1
        campaign_id = (self.book.head or {})["campaign_id"]
        leads = self.book.sent(number)
        # The bytes are made anew from the plan, and are the same each time.
        request = LeadImport.model_validate(
            {"campaign_id": campaign_id, "leads": [lead["body"] for lead in leads]}
        )
        try:
            answered = self.client.send_raw(
                operations.LEADS_IMPORT, request, Options(idempotency_key=key)
            )
        except ApiError as error:
            # Not to be retried under a new key (contract, Idempotency 5 and 7).
            if isinstance(error, OutcomeUnknown) or error.code == "idempotency_conflict":
                self._unknown(number, error.code, error.request_id)
                return
            if _says_nothing_written(error):
                refusals = _refusals(error, len(leads))
                self.book.close(
                    number, self.now(), "refused", refusals, request_id=error.request_id
                )
            raise
        except ContractError:
            # It was written or it was not. The key is asked again by the next run, and holds up nothing.
            if self._unknown(number, "unreadable_answer", None):
                self.unreadable += 1
                if self.unreadable == _UNREADABLE_AT_MOST:
                    raise
            return
        said, why = answered.value.data, "no_result"
        if answered.value.campaign_id != campaign_id:
            # It says nothing of the leads that were sent (contract, Endpoints: Leads).
            said, why = [], "answer_of_another_campaign"
        answers = _answers([result.model_dump(mode="json") for result in said], leads, why)
        self.book.close(
            number, self.now(), "answer", answers, why=why, request_id=answered.request_id
        )

    def _unknown(self, number: int, why: str, request_id: str | None) -> bool:
        """Set a batch aside, and whether that is news; what was heard of it before is kept."""
        if self.book.standing(number).outcome == "unknown":
            return False
        self.book.close(number, self.now(), "unknown", {}, why=why, request_id=request_id)
        self.unheard.add(number)
        return True


#: Outcomes of a lead that the contract has (contract, Endpoints: Leads).
_STATUSES: Final = frozenset(get_args(ImportStatus))


def _answers(results: Iterable[Entry], leads: Sequence[Entry], why: str) -> dict[int, Entry]:
    """What an answer says of each lead sent, by its place; of whom it says nothing, why not.

    The contract promises exactly one result per lead, by its index; a result that is missing, comes
    twice, names another lead's `external_id` or an outcome that the contract does not have says
    nothing.
    """
    by_index: dict[int, list[Entry]] = {}
    for result in results:
        by_index.setdefault(result["index"], []).append(result)
    answers: dict[int, Entry] = {}
    for index, lead in enumerate(leads):
        said = by_index.get(index, [])
        # A result carries the id of the lead that it is about (contract, Lead outcome objects).
        ids = (None, lead["body"].get("external_id"))
        if len(said) != 1:
            answers[index] = {"why": "two_results" if said else why}
        elif said[0].get("external_id") not in ids:
            answers[index] = {"why": "result_of_another_lead"}
        elif said[0].get("status") not in _STATUSES:
            answers[index] = {"why": "unknown_outcome"}
        else:
            answers[index] = said[0]
    return answers


def _refusals(error: ApiError, count: int) -> dict[int, Entry]:
    """Why each lead of a batch that was refused as a whole was: a pointer may name its field."""
    refusals: dict[int, Entry] = {index: {"why": error.code} for index in range(count)}
    for problem in reversed(error.errors):
        match = _POINTER.match(problem.pointer)
        if match is not None and int(match[1]) in refusals:
            field = problem.pointer[match.end() :].replace("/", ".")
            refusals[int(match[1])] = {"field": field, "why": problem.code}
    return refusals


def _says_nothing_written(error: ApiError) -> bool:
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
        book: The import.
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
    return [index for index, answer in enumerate(book.answers(number)) if "status" not in answer]


def _settle_batch(
    book: Journal,
    number: int,
    places: Sequence[int],
    seen: Mapping[str, Sequence[Lead]],
    now: datetime,
) -> None:
    standing, sent = book.standing(number), book.sent(number)
    dead = expired(standing, now)
    shown = [(index, sent[index], seen.get(sent[index]["body"]["phone"], ())) for index in places]
    answers = {index: _result(lead, leads) for index, lead, leads in shown if dead or leads}
    if answers:
        book.close(
            number, now, "found", answers,
            why=standing.why, request_id=standing.request_id, complete=len(answers) == len(places),
        )  # fmt: skip


def _result(sent: Entry, leads: Sequence[Lead]) -> Entry:
    """A result in the service's words, from what the campaign shows."""
    # Numbers may stand in a campaign already; the id says whose lead it is.
    wanted = sent["body"].get("external_id")
    if not leads:
        return {"status": "failed", "reason": "not_in_campaign"}
    match = next((lead for lead in leads if lead.external_id == wanted), None)
    if match is None:
        # External ids are unique per client (contract, Lead): another one is another lead.
        return {"status": "duplicate", "reason": "duplicate_in_campaign"}
    return {"status": "accepted", "lead_id": match.id}
