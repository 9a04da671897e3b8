"""A lead file into a campaign: planned, confirmed, screened, sent, in the order in which nothing is spent in vain."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dialframe import leads
from dialframe.config import OnProgress, silent
from dialframe.contract.models.lead_models import Campaign, Lead
from dialframe.errors import (
    ApiError,
    ConfigError,
    ContractError,
    NotFound,
    PermissionDenied,
    TransportError,
)
from dialframe.files import alone, publish, stage, write_bytes, write_text
from dialframe.flows import lead_cleaning
from dialframe.flows.import_batches import check_journal, import_leads
from dialframe.flows.import_ledger import Journal, Ledger, ledger_of
from dialframe.flows.lead_cleaning import Prepared, Recipe, Result
from dialframe.leads import CleanedFile, CleanedFiles, Pipeline

if TYPE_CHECKING:
    from dialframe.account import Account
    from dialframe.client import Client
    from dialframe.flows.column_choices import Memory

#: States of a campaign that take leads (contract, States and transitions: Campaign).
IMPORTABLE: Final = ("draft", "ready", "paused")
#: Scopes that an import uses (contract, Endpoints: Leads; Do-Not-Call).
SCOPES: Final = ("dnc:check", "leads:write")
#: Below this a guess about a column is a doubt.
SURE: Final = 0.8
#: Cells that a plan shows of each column.
SAMPLES: Final = 5
#: Fields whose wrong column would dial the wrong person, or one who said no.
_DECISIVE: Final = ("phone", "country", "opt_out", "consent")


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something about a file that is not sure enough to dial by.

    Attributes:
        file: The file.
        about: The field: `phone`, `country`, `opt_out` or `consent`.
        words: What is doubted, in words.
        answer: The option that answers it.
    """

    file: str
    about: str
    words: str
    answer: str


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What an import is about to do; nothing was asked or sent for it but the campaign.

    Attributes:
        campaign: The campaign, or None where the key may not look at it.
        campaign_id: Its id.
        cleaned: What was cleaned: counts, reasons, countries.
        samples: For each file, by field and column, its first cells, in clear.
        doubts: What is not sure and nobody answered.
    """

    campaign: Campaign | None
    campaign_id: str
    cleaned: CleanedFiles
    samples: Sequence[Mapping[str, Mapping[str, Sequence[str]]]]
    doubts: Sequence[Doubt]

    @property
    def to_send(self) -> int:
        """Leads that will be sent, unless a check finds them listed."""
        return self.cleaned.counts["clean"]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for a file and for machines."""
        campaign = self.campaign
        return {
            "campaign": {
                "id": self.campaign_id,
                "name": None if campaign is None else campaign.name,
                "status": None if campaign is None else str(campaign.status),
            },
            "to_send": self.to_send,
            "counts": dict(self.cleaned.counts),
            "countries": dict(self.cleaned.countries),
            "line_types": dict(self.cleaned.line_types),
            "held_back": {name: dict(codes) for name, codes in self.cleaned.reasons.items()},
            "files": [
                {
                    "name": file.name,
                    "sha256": file.sha256,
                    "region": self.cleaned.region,
                    "columns": {
                        name: {column: list(cells) for column, cells in columns.items()}
                        for name, columns in samples.items()
                    },
                    "confidence": dict(file.columns.confidence),
                    "doubt": file.decisions.doubt,
                }
                for file, samples in zip(self.cleaned.files, self.samples, strict=True)
            ],
            "doubts": [asdict(doubt) for doubt in self.doubts],
        }


#: Asks a person whether a plan is to be carried out.
Confirm = Callable[[Plan], bool]


@dataclass(frozen=True, slots=True, eq=False)
class BroughtIn:
    """Lead files that are in a campaign, or a plan that was not carried out.

    Attributes:
        plan: What was planned.
        result: What was cleaned and screened; of the plan alone where nothing was sent.
        ledger: What became of every lead, or None where nothing was sent.
        files: What was written, by name.
        prepared: The same records as frames, where they were asked for.
    """

    plan: Plan
    result: Result
    ledger: Ledger | None
    files: dict[str, Path] = field(repr=False)
    prepared: Prepared | None = field(default=None, repr=False)


def bring_in(
    paths: Sequence[str | Path],
    recipe: Recipe,
    account: Account,
    *,
    campaign_id: str,
    out: Path,
    now: Callable[[], datetime],
    confirm: Confirm | None = None,
    dry_run: bool = False,
    keep: Sequence[str] | None = None,
    in_memory: bool = False,
    on_progress: OnProgress = silent,
) -> BroughtIn:
    """Plan an import, let a person confirm it, screen and send; run again, it resumes where it stopped.

    What would make the import impossible is found before a check is paid for or a file of an
    earlier run is replaced: the campaign is looked up before a file is read.

    Args:
        paths: The files, cleaned against each other in this order.
        recipe: What a person decided.
        account: The account.
        campaign_id: A campaign in draft, ready or paused.
        out: Folder of everything that is written; held by one run at a time.
        now: The clock, UTC.
        confirm: Asks a person about the plan; None to go on without.
        dry_run: Whether only the plan is written; nothing is asked or sent.
        keep: Columns that become custom fields, where there are more than the service takes.
        in_memory: Whether the records are wanted as frames, too.
        on_progress: Told of records, checks and leads.

    Returns:
        The plan, and what became of it.

    Raises:
        LeadFileError: A file cannot be read, or has no phone column.
        ConfigError: The campaign takes no leads, a doubt is open, there are more than 20 custom
            fields and nobody chose, or nothing is clean.
        ApiError: The service refused; the ledger says what of.
        StoreError: The plan in `out` belongs to another import, or another run is at work.
    """
    campaign = importable_campaign(account, campaign_id)
    opened = lead_cleaning.opened(paths, recipe, asks=True, on_progress=on_progress)
    with alone(out), opened as pipeline:
        plan = plan_of(pipeline, campaign, campaign_id, recipe.reasons)
        # More than 20 custom fields would refuse every lead (contract, Lead).
        pipeline.custom_fields(keep)
        # One name for all files of a run, so that a second run finds the first one's plan.
        stem = leads.stem_in(out, pipeline.files, recipe.form)
        plan_file = out / f"{stem}.import.jsonl"
        source = _source(pipeline.files, recipe.region, keep)
        # Before anything is asked for: a check may cost money, and an earlier import its plan.
        check_journal(plan_file, account.evidence, campaign_id, source)
        if dry_run or (confirm is not None and not plan.doubts and not confirm(plan)):
            path = plan_file.with_name(f"{stem}.plan.json")
            text = json.dumps(plan.to_dict(), ensure_ascii=False, indent=2)
            files = {"plan": write_text(text + "\n", path)}
            return BroughtIn(plan, Result(plan.cleaned, files), None, files)
        refuse_doubts(plan)
        result = lead_cleaning.screened(pipeline, recipe, account, out, on_progress=on_progress)
        try:
            ledger = import_leads(
                account.client,
                # Where there is a plan already, they are not asked for.
                pipeline.inputs(keep),
                campaign_id=campaign_id,
                source=source,
                plan=plan_file,
                log=account.evidence,
                now=now,
                listed=frozenset() if result.screening is None else result.screening.barred,
                look=partial(_leads_created_since, account.client, campaign_id),
                on_progress=on_progress,
            )
        except (ApiError, TransportError, ContractError):
            _write_ledger(Ledger(Journal.open(plan_file, account.evidence)), plan_file)
            raise
        more = {**_write_ledger(ledger, plan_file), "import_plan": plan_file}
        prepared = None
        if in_memory:
            prepared = Prepared(pipeline.in_memory(), opted_out=result.opted_out)
    return BroughtIn(plan, result, ledger, {**result.paths, **more}, prepared)


def importable_campaign(account: Account, campaign_id: str) -> Campaign | None:
    """The campaign, if it takes leads and the key may send them; None where the key may not look.

    Raises:
        ConfigError: It takes no leads in its state, or the key lacks a scope.
        NotFound: There is no such campaign.
    """
    client = account.client
    try:
        # Asked first: a missing scope is known before a file is read.
        granted = client.me().scopes
    except (ApiError, ContractError):
        granted = None  # Its shape is assumed; the service itself checks every request.
    missing = [] if granted is None else [scope for scope in SCOPES if scope not in granted]
    if missing:
        raise ConfigError(
            f"the key lacks the scope {' and '.join(missing)}, without which nothing can be "
            "imported; ask the account's administrator for it"
        )
    try:
        campaign = client.campaigns.get(campaign_id)
    except (PermissionDenied, ContractError):
        return None
    except NotFound as error:
        # Any other 404 says that the path is not offered (contract, Conventions).
        if error.code == "not_found":
            raise
        return None  # The service does not offer the look-up at all.
    if campaign.status not in IMPORTABLE:
        states = "a campaign in draft, ready or paused"
        advice = f"it takes no leads any more; name {states}"
        if campaign.status == "running":
            advice = f"pause it first (an import takes {states})"
        raise ConfigError(f"campaign {campaign_id} is {campaign.status}: {advice}")
    return campaign


def plan_of(
    pipeline: Pipeline, campaign: Campaign | None, campaign_id: str, reasons: Sequence[str] = ()
) -> Plan:
    """What an import of these records is about to do."""
    cleaned = pipeline.write(None, show=reasons)
    # In clear: they are the person's own, and masked cells show nobody that a column is the wrong one.
    samples = pipeline.samples(SAMPLES)
    doubts = [doubt for file in cleaned.files for doubt in doubts_of(file)]
    return Plan(campaign, campaign_id, cleaned, samples, doubts)


def doubts_of(file: CleanedFile) -> Iterator[Doubt]:
    """What is not sure about a file and decides who is dialed, each with the option that answers it."""
    columns = file.columns
    for name, sources in columns.fields().items():
        confidence = columns.confidence.get(name, 1.0)
        # A wrong name is a nuisance, a wrong number a stranger who is called.
        if name not in _DECISIVE or confidence >= SURE:
            continue
        words = f"{name} from {', '.join(sources)} is a guess ({confidence:.2f})"
        if name in columns.uncertain:
            words += f", {columns.uncertain[name]} fits nearly as well"
        yield Doubt(file.name, name, words, f"--column '{name}={sources[0]}'")


def keep_answers(memory: Memory, file: CleanedFile) -> None:
    """Keep what was answered of the words of a source, so that it is not asked of its next list.

    The columns are kept with it, and what is kept counts as said by a person: where a column that decides who is
    dialed is a guess, nothing is.
    """
    columns = file.columns
    if (columns.answers or columns.ignored) and not any(doubts_of(file)):
        memory.keep(file, columns)


def refuse_doubts(plan: Plan) -> None:
    """Refuse a plan that must not be carried out.

    Raises:
        ConfigError: A doubt is open, or nothing is clean.
    """
    if plan.doubts:
        words = "; ".join(
            f"{doubt.file}: {doubt.words}, say it with {doubt.answer}" for doubt in plan.doubts
        )
        raise ConfigError(f"nothing was sent, because it is not sure who would be dialed. {words}")
    if not plan.to_send:
        raise ConfigError(
            f"none of the {plan.cleaned.counts['records']:,} records is clean, so nothing was sent; "
            "`dialframe leads clean --dry-run` says why"
        )


def _write_ledger(ledger: Ledger, plan_file: Path) -> dict[str, Path]:
    """The ledger, and leads that were refused for what can be mended (`send_again`), as a lead file."""
    from dialframe.csv_safety import csv_bytes

    target = ledger_of(plan_file)

    def fill(file: Any) -> None:
        for number, frame in enumerate(ledger.frames()):
            file.write(csv_bytes(frame, header=not number))

    publish({target: stage(target, fill)})
    again = leads.to_csv(ledger.send_again())
    path = write_bytes(again, plan_file.with_name(f"{target.stem}.send_again.csv"))
    return {"ledger": target, "send_again": path}


def _leads_created_since(client: Client, campaign_id: str, since: datetime) -> Iterator[Lead]:
    """Leads of the campaign, newest first, down to an instant."""
    # Newest first (contract, Endpoints: Leads), so that the first older one ends it.
    for lead in client.leads.list(campaign_id=campaign_id):
        if lead.created_at < since:
            return
        yield lead


def _source(files: Sequence[CleanedFile], region: str | None, keep: Sequence[str] | None) -> str:
    """Which leads these are: the files' bytes and what was decided about them."""
    columns = [json.dumps(file.columns.to_dict(), sort_keys=True) for file in files]
    # A byte that changed makes other leads of it.
    digests = [file.sha256 for file in files]
    parts = [*digests, *columns, region or "-", *(keep or ())]
    if any(file.extra_leads is not None for file in files):
        parts.append("one lead per number")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
