"""A lead file into a campaign: looked at, screened, sent, in the order in which nothing is spent in vain."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from dialframe import leads
from dialframe.account import Account
from dialframe.client.resources.leads import Leads
from dialframe.config import OnProgress, silent
from dialframe.contract.models.leads import Lead
from dialframe.errors import ApiError, ContractError, TransportError
from dialframe.flows import listing
from dialframe.flows.clean import put
from dialframe.flows.files import alone, write_bytes, write_csv
from dialframe.flows.importing import Importer, check_journal, import_leads
from dialframe.flows.ledger import Journal
from dialframe.flows.listing import Prepared, Recipe
from dialframe.flows.mending import send_again
from dialframe.flows.outcomes import Ledger
from dialframe.flows.outcomes import ledger as ledger_of
from dialframe.leads import Cleaned
from dialframe.leads.writing import Form


class Service(Importer, Protocol):
    """What an import needs of a client, and the leads that settle what is unknown."""

    @property
    def leads(self) -> Leads:
        """The account's contacts."""


@dataclass(frozen=True, slots=True, eq=False)
class BroughtIn:
    """Lead files that are in a campaign.

    Attributes:
        prepared: What was cleaned and screened.
        ledger: What became of every lead.
        files: What was written, by name.
    """

    prepared: Prepared
    ledger: Ledger
    files: dict[str, Path] = field(repr=False)


def bring_in(
    paths: Sequence[str | Path],
    recipe: Recipe,
    account: Account,
    *,
    campaign_id: str,
    out: Path,
    now: Callable[[], datetime],
    max_age: str | None = listing.MAX_AGE,
    keep: Sequence[str] | None = None,
    form: Form = "csv",
    on_progress: OnProgress = silent,
) -> BroughtIn:
    """Clean, screen and import lead files; run again after a crash, it goes on where it was.

    What would make the import impossible is found before a check is asked for or a file of an
    earlier run is replaced.

    Args:
        paths: The files, cleaned against each other in this order.
        recipe: What a person decided.
        account: The account.
        campaign_id: A campaign in draft, ready or paused.
        out: Folder of everything that is written; held by one run at a time.
        now: The clock, UTC.
        max_age: Age up to which a stored Do-Not-Call answer will do.
        keep: Columns that become custom fields, where there are more than the service takes.
        form: Format of the files with leads.
        on_progress: Told of files, checks and leads.

    Raises:
        LeadFileError: A file cannot be read, or has no phone column.
        ConfigError: There are more than 20 custom fields and nobody chose.
        ApiError: The service refused; the ledger says what of.
        StoreError: The journal in `out` belongs to another import, or another run is at work.
    """
    check = partial(check_before, campaign_id=campaign_id, out=out, keep=keep)
    with alone(out):
        prepared = listing.prepare(
            paths,
            recipe,
            account=account,
            max_age=max_age,
            before_checks=check,
            on_progress=on_progress,
        )
        written = put(prepared, out, form)
        found, more = send(
            prepared,
            account.client,
            campaign_id=campaign_id,
            out=out,
            now=now,
            keep=keep,
            on_progress=on_progress,
        )
    return BroughtIn(prepared, found, {**written, **more})


def send(
    prepared: Prepared,
    client: Service,
    *,
    campaign_id: str,
    out: Path,
    now: Callable[[], datetime],
    keep: Sequence[str] | None = None,
    on_progress: OnProgress = silent,
) -> tuple[Ledger, dict[str, Path]]:
    """Import what is clean, and write the ledger; run again, it goes on where it was.

    Args:
        prepared: The leads.
        client: Client of the account.
        campaign_id: A campaign in draft, ready or paused.
        out: Folder of the journal and the ledger.
        now: The clock, UTC.
        keep: Columns that become custom fields, where there are more than the service takes.
        on_progress: Told how many leads have an answer.

    Returns:
        The ledger, and the files by name: `ledger`, `send_again` (leads that were refused for what
        can be mended, as a lead file) and `import_journal`.

    Raises:
        ConfigError: There are more than 20 custom fields and nobody chose.
        ApiError: The service refused; the ledger says what of.
        StoreError: The journal in `out` belongs to another import.
    """
    journal = journal_of(prepared.cleaned, out)
    try:
        ledger = import_leads(
            client,
            _inputs(prepared.cleaned, keep),
            campaign_id=campaign_id,
            source=_source(prepared.cleaned, keep),
            journal=journal,
            now=now,
            listed=prepared.listed,
            look=partial(_created_since, client, campaign_id),
            on_progress=on_progress,
        )
    except (ApiError, TransportError, ContractError):
        _write_ledger(ledger_of(Journal.open(journal)), journal)
        raise
    return ledger, {**_write_ledger(ledger, journal), "import_journal": journal}


def check_before(
    cleaned: Cleaned, *, campaign_id: str, out: Path, keep: Sequence[str] | None
) -> None:
    """Refuse an import that could not be sent, before anything is asked or written.

    Raises:
        ConfigError: There are more than 20 custom fields and nobody chose.
        StoreError: The journal in `out` belongs to another import, or is damaged.
    """
    leads.lead_inputs(cleaned, keep)
    check_journal(journal_of(cleaned, out), campaign_id, _source(cleaned, keep))


def _inputs(cleaned: Cleaned, keep: Sequence[str] | None) -> Iterator[leads.LeadInput]:
    """The leads as they are sent; made only when somebody asks for the first one."""
    yield from leads.lead_inputs(cleaned, keep)


def journal_of(cleaned: Cleaned, out: Path) -> Path:
    """Where the journal of an import is."""
    return out / f"{leads.stem(cleaned)}.import.jsonl"


def _write_ledger(ledger: Ledger, journal: Path) -> dict[str, Path]:
    begin = journal.name.removesuffix(".jsonl")
    again = send_again(ledger, Journal.open(journal))
    return {
        "ledger": write_csv(ledger.frame, journal.with_name(f"{begin}.csv")),
        "send_again": write_bytes(
            leads.to_csv(again), journal.with_name(f"{begin}.send_again.csv")
        ),
    }


def _created_since(client: Service, campaign_id: str, since: datetime) -> Iterator[Lead]:
    """Leads of the campaign, newest first, down to an instant."""
    for lead in client.leads.list(campaign_id=campaign_id):
        if lead.created_at < since:
            return
        yield lead


def _source(cleaned: Cleaned, keep: Sequence[str] | None) -> str:
    """Which leads these are: the files' bytes and what was decided about them."""
    columns = [json.dumps(file.columns.to_dict(), sort_keys=True) for file in cleaned.files]
    digests = [file.sha256 for file in cleaned.files]
    parts = [*digests, *columns, cleaned.region or "-", *(keep or ())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
