"""Lead files from disk to clean, screened leads on disk; the rules are those of the rooms that it joins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

import pandas as pd

from dialframe import leads
from dialframe.account import Account
from dialframe.config import OnProgress, silent
from dialframe.flows.files import write_csv
from dialframe.flows.importing import Importer, Ledger, import_leads
from dialframe.leads import Cleaned, ColumnMap, LeadFile

#: Age up to which a stored Do-Not-Call answer will do: the safe harbour of 16 CFR 310.4(b)(3)(iv).
MAX_AGE: Final = "31d"


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """What a person decides about lead files; the rest is found.

    Attributes:
        region: Region of numbers written without a country code.
        mapping: Columns by field, where they are told.
        encoding: Encoding of the files, where it is told.
        delimiter: Delimiter of the files, where it is told.
        sheet: Sheet of a workbook, where it is told.
    """

    region: str
    mapping: ColumnMap | Mapping[str, str] | None = None
    encoding: str | None = None
    delimiter: str | None = None
    sheet: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Lead files that are cleaned and, with an account, screened.

    Attributes:
        cleaned: Every record in exactly one outcome.
        checks: The Do-Not-Call answers that it rests on, or None where nothing was asked.
    """

    cleaned: Cleaned
    checks: pd.DataFrame | None = field(default=None, repr=False)

    @property
    def stem(self) -> str:
        """Beginning of the names of all files."""
        return self.cleaned.files[0].stem

    def write(self, out: Path) -> dict[str, Path]:
        """Write every outcome, the report and the checks.

        Raises:
            LeadFileError: The folder cannot be written.
            OSError: The disk is full.
        """
        files = dict(leads.write(self.cleaned, out).paths)
        if self.checks is not None:
            files["dnc_checks"] = write_csv(self.checks, out / f"{self.stem}.dnc_checks.csv")
        return files


def prepare(
    paths: Sequence[Path],
    recipe: Recipe,
    *,
    account: Account | None = None,
    max_age: str | None = MAX_AGE,
    on_progress: OnProgress = silent,
) -> Prepared:
    """Read and clean lead files; with an account, ask whether their numbers are listed.

    Args:
        paths: The files, cleaned against each other in this order.
        recipe: What a person decided.
        account: The account that answers Do-Not-Call checks, or None to ask nobody.
        max_age: Age up to which a stored answer will do; None asks about every number.
        on_progress: Told of files and of checks.

    Raises:
        LeadFileError: A file cannot be read, or has no phone column.
        ApiError: The service refused the check.
    """
    files = [_read(path, recipe) for path in paths]
    cleaned = _clean(files, recipe, (), on_progress)
    if account is None:
        return Prepared(cleaned)
    checks = account.check_dnc(cleaned.clean["phone"], max_age=max_age, on_progress=on_progress)
    # What has no answer is not known to be free: it is set aside like what is listed.
    listed = checks.loc[checks["listed"].fillna(True), "phone"]  # noqa: FBT003 - pandas' own word
    return Prepared(_clean(files, recipe, listed, on_progress), checks)


def send(
    prepared: Prepared,
    client: Importer,
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
        on_progress: Told of every batch.

    Returns:
        The ledger, and the files by name: `ledger` and `import_journal`.

    Raises:
        ConfigError: There are more than 20 custom fields and nobody chose.
        ApiError: The service refused a batch.
        StoreError: The journal in `out` belongs to another import.
    """
    journal = out / f"{prepared.stem}.import.jsonl"
    ledger = import_leads(
        client,
        leads.lead_inputs(prepared.cleaned, keep),
        campaign_id=campaign_id,
        source=_source(prepared.cleaned, keep),
        journal=journal,
        now=now,
        on_progress=on_progress,
    )
    written = write_csv(ledger.frame, out / f"{prepared.stem}.import.csv")
    return ledger, {"ledger": written, "import_journal": journal}


def reasons(cleaned: Cleaned) -> pd.DataFrame:
    """Why records were set aside: `outcome, reason, records, meaning, remedy`, most first."""
    rows = [
        (outcome, code, number, *_meaning(code))
        for outcome, codes in cleaned.reasons.items()
        for code, number in codes.items()
    ]
    names = ["outcome", "reason", "records", "meaning", "remedy"]
    frame = pd.DataFrame(rows, columns=names).astype({"records": "Int64"})
    return frame.sort_values("records", ascending=False, kind="stable", ignore_index=True)


def columns(cleaned: Cleaned) -> pd.DataFrame:
    """Which column was taken for which field: `file, field, column, confidence`."""
    rows = [
        (file.name, name, ", ".join(found), file.columns.confidence.get(name))
        for file in cleaned.files
        for name, found in file.columns.fields().items()
    ]
    return pd.DataFrame(rows, columns=["file", "field", "column", "confidence"])


def _read(path: Path, recipe: Recipe) -> LeadFile:
    return leads.read(
        path, encoding=recipe.encoding, delimiter=recipe.delimiter, sheet=recipe.sheet
    )


def _clean(
    files: list[LeadFile],
    recipe: Recipe,
    listed: Sequence[str] | pd.Series,
    on_progress: OnProgress,
) -> Cleaned:
    return leads.clean(
        files,
        region=recipe.region,
        mapping=recipe.mapping,
        do_not_call=listed,
        on_progress=on_progress,
    )


def _source(cleaned: Cleaned, keep: Sequence[str] | None) -> str:
    """Which leads these are: the files' bytes and what was decided about them."""
    columns = [json.dumps(file.columns.to_dict(), sort_keys=True) for file in cleaned.files]
    digests = [file.sha256 for file in cleaned.files]
    parts = [*digests, *columns, cleaned.region or "-", *(keep or ())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _meaning(code: str) -> tuple[str, str]:
    reason = leads.reasons.BY_CODE.get(code)
    return ("", "") if reason is None else (reason.meaning, reason.remedy)
