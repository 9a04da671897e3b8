"""Takes files of evidence into the log: scrub results, line types, look-ups, consents, relationships, registry downloads.

Each row of a file is taken as a record or refused with a reason, and a file that was taken before is not taken again.
`evidence_views` makes tables of what they said.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final

from dialframe import leads, profiles
from dialframe.account import Account
from dialframe.errors import ConfigError, LeadFileError
from dialframe.evidence import EvidenceLog, Record
from dialframe.evidence.record import Kind
from dialframe.flows.call_load import Reader, Rows
from dialframe.flows.evidence_rows import MAKERS, NOTHING_SAID, EvidenceFile, Fact, Job, Row
from dialframe.profiles import Profile
from dialframe.suppression import run_id

#: Kind of a profile to the kind of its records in the log.
KINDS: Final[Mapping[str, Kind]] = {
    "scrub": "scrub", "line_types": "line_type", "reassigned": "reassigned", "consents": "consent",
    "relationships": "relationship", "registry": "registry",
}  # fmt: skip
_SHOWN: Final = 20
_NOW: Final = partial(datetime.now, UTC)
#: Marks the record of a file among those of kind `import`.
_OPERATION: Final = "evidence.add"


@dataclass(frozen=True, slots=True)
class Added:
    """What became of a file; `taken` and `refused` sum to `read`.

    Attributes:
        file: Its name.
        profile: Name of the profile that read it.
        kind: What its rows are: `scrub`, `line_types`, `reassigned`, `consents`, `relationships`, `registry`.
        read: Rows of the file.
        taken: Rows that are records of the log.
        records: Records that they came to; a row of a scrub is one of each list.
        refused: Rows that are not, by reason (`REASONS`).
        lines: Lines of the first of them, by reason.
        run: Id by which the file can be taken back.
        known: Whether the file was taken before, so that nothing was written.
    """

    file: str
    profile: str
    kind: str
    read: int
    taken: int
    records: int
    refused: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, Sequence[int]] = field(default_factory=dict)
    run: str = ""
    known: bool = False


def add(
    log: EvidenceLog,
    path: Path,
    *,
    profile: str | None = None,
    job: Job = NOTHING_SAID,
    now: datetime,
) -> Added:
    """Take a file into the log; taking it again changes nothing.

    Args:
        log: The evidence log.
        path: The file: any format that lead files have.
        profile: Name or path of the profile that reads it; None to recognize it.
        job: What the file does not say of itself.
        now: When it is taken.

    Raises:
        ConfigError: No profile reads it, or it does not say when or against which lists it was made.
        LeadFileError: The file cannot be read.
        StoreError: The log cannot be written.

    Example:
        add(EvidenceLog.beside(Path("store")), Path("scrub.csv"), job=Job(lists=["us"]), now=datetime.now(UTC))
    """
    file = read(path, profile=profile, job=job, now=now)
    digest = _digest(path)
    said = json.dumps(
        [
            file.profile,
            job.region,
            job.zone,
            str(job.at),
            *sorted(job.lists),
            *sorted(job.prefixes),
        ]
    )
    mark = hashlib.sha256(f"{digest} {said}".encode()).hexdigest()
    for file_run in runs(log):
        if file_run.detail["mark"] == mark and not file_run.detail["undone"]:
            return Added(
                run=file_run.run or "", known=True, **{n: file_run.detail[n] for n in _KEPT}
            )
    run = run_id(now)
    facts: dict[str, Any] = {
        "file": path.name, "profile": file.profile, "kind": file.kind, "read": file.rows, "taken": file.taken,
        "records": len(file.records), "refused": {reason: len(lines) for reason, lines in file.refused.items()},
        "lines": {reason: lines[:_SHOWN] for reason, lines in file.refused.items()},
    }  # fmt: skip
    detail = {
        "operation": _OPERATION,
        "mark": mark,
        "sha256": digest,
        "subscription": job.subscription,
        **facts,
    }
    # The file's own record last: of a run that was killed before it no row counts, and it is taken again.
    log.append([
        *(replace(record, run=run) for record in file.records),
        Record("import", now, source=path.name, run=run, detail=detail),
    ])  # fmt: skip
    return Added(run=run, **facts)


def add_evidence(
    account: Account,
    path: str | Path,
    *,
    profile: str | None = None,
    lists: Sequence[str] = (),
    made_at: datetime | None = None,
    region: str | None = None,
    zone: str | None = None,
    prefixes: Sequence[str] = (),
    subscription: str = "",
    now: Callable[[], datetime] = _NOW,
) -> Added:
    """Take a file of evidence for the audits and the gate of an account; taking it again changes nothing.

    Args:
        account: The account.
        path: Scrub results, line types, look-ups of reassigned numbers, consents, relationships, or a registry's file.
        profile: Name or path of the profile that reads it; None to recognize it.
        lists: Do-Not-Call lists that a scrub was made against (`us`, `us-tx`, or their names), where its rows name none.
        made_at: When the scrub, look-up or download was made, where its rows do not say.
        region: ISO 3166 region of numbers that name no country.
        zone: IANA zone of times that name none; UTC without it.
        prefixes: Beginnings of the numbers that a registry download covers (`+1212`).
        subscription: Account number at the registry.
        now: The clock, UTC.

    Raises:
        ConfigError: No profile reads it, or it does not say when or against which lists it was made.
        LeadFileError: The file cannot be read.
        StoreError: The log cannot be written.

    Example:
        dialframe.add_evidence(account, "scrubbed.csv", lists=["us"], made_at=datetime(2026, 10, 1, tzinfo=UTC), region="US")
    """
    job = Job(region, zone, made_at, lists, prefixes, subscription)
    return add(account.evidence, Path(path), profile=profile, job=job, now=now())


@dataclass(frozen=True, slots=True)
class Read:
    """A file of evidence, read and not written anywhere.

    Attributes:
        profile: Name of the profile that read it.
        kind: What its rows are, as in `Added`.
        rows: Rows of the file.
        taken: Rows that are records.
        records: What they come to; their run is the SHA-256 of the file.
        refused: Lines of the rows that are none, by reason (`REASONS`).
    """

    profile: str
    kind: str
    rows: int
    taken: int
    records: Sequence[Record]
    refused: Mapping[str, Sequence[int]]


def read(
    path: Path,
    *,
    profile: str | None = None,
    job: Job = NOTHING_SAID,
    now: datetime,
) -> Read:
    """Read a file of evidence.

    Args:
        path: The file: any format that lead files have.
        profile: Name or path of the profile that reads it; None to recognize it.
        job: What the file does not say of itself.
        now: Rows of later are refused.

    Raises:
        ConfigError: No profile reads it, or it does not say when or against which lists it was made.
        LeadFileError: The file cannot be read.

    Example:
        read(Path("scrub.csv"), job=Job(lists=["us"]), now=datetime.now(UTC)).records
    """
    digest = _digest(path)
    file = leads.read(path)
    chosen = _profile(profile, file)
    rows, faults = _rows(file, chosen)
    context = EvidenceFile(Reader(rows, chosen), chosen, job, rows)
    refused, taken, facts = _sort_lines(MAKERS[chosen.kind](context), rows.lines, now)
    for line in faults:
        refused.setdefault("unreadable", []).append(line)
    records = [
        Record(fact.kind or KINDS[chosen.kind], fact.at, fact.number, source=path.name, list=fact.list, run=digest,
               detail={**fact.detail, "line": line})
        for line, fact in facts
    ]  # fmt: skip
    return Read(chosen.name, chosen.kind, len(rows.cells) + len(faults), taken, records, refused)


def _digest(path: Path) -> str:
    if not path.is_file():
        raise LeadFileError(f"{path}: there is no such file")
    return hashlib.sha256(path.read_bytes()).hexdigest()


_KEPT: Final = ("file", "profile", "kind", "read", "taken", "records", "refused", "lines")


def runs(log: EvidenceLog) -> list[Record]:
    """The files that were taken, oldest first; `detail["undone"]` says whether one was taken back."""
    own = [r for r in log.records(["import"]) if r.detail.get("operation") == _OPERATION]
    undone = {r.detail["undoes"] for r in own if "undoes" in r.detail}
    return [
        Record(
            r.kind,
            r.at,
            source=r.source,
            run=r.run,
            detail={**r.detail, "undone": r.run in undone},
        )
        for r in own
        if "undoes" not in r.detail
    ]


def undo(log: EvidenceLog, run: str, *, now: datetime) -> int:
    """Take a file back: its records stay in the log, and count no more.

    Args:
        log: The evidence log.
        run: Id of the run that took it.
        now: When it is taken back.

    Returns:
        How many records count no more; 0 where it was taken back before.

    Raises:
        ConfigError: There is no such run.
    """
    known = {each.run: each for each in runs(log)}
    if run not in known:
        raise ConfigError(f"no file was taken by {run!r}; dialframe evidence list shows the runs")
    if known[run].detail["undone"]:
        return 0
    log.append(
        [
            Record(
                "import",
                now,
                source=known[run].source,
                detail={"operation": _OPERATION, "undoes": run},
            )
        ]
    )
    return int(known[run].detail["records"])


def _profile(name: str | None, file: leads.LeadFile) -> Profile:
    names = [each for kind in _PROFILES for each in profiles.names(kind)]
    if name is not None:
        profile = profiles.load(name)
        if profile.kind in KINDS:
            return profile
        raise ConfigError(
            f"profile {name} reads {profile.kind} and no evidence; use {', '.join(names)}"
        )
    rows = file.frame.head(_LOOKED_AT).to_numpy().tolist()
    fitting = [profiles.recognize(file.header, rows, kind) for kind in _PROFILES]
    known = [profile for profile in fitting if profile is not None]
    if not known:
        raise ConfigError(
            f"{file.name}: no known format of evidence has these columns; say --as {', '.join(names)} or a profile's path"
        )
    return max(known, key=lambda each: len(each.header) + len(each.shape))


_PROFILES: Final[tuple[profiles.Kind, ...]] = (
    "scrub", "line_types", "reassigned", "consents", "relationships", "registry",
)  # fmt: skip
_LOOKED_AT: Final = 200


def _rows(file: leads.LeadFile, profile: Profile) -> tuple[Rows, list[int]]:
    """The rows of a file, and lines of records that cannot be read whole."""
    header = [str(name) for name in file.frame.columns]
    cells = file.frame.astype("str").fillna("").to_numpy(dtype=object).tolist()
    lines = [int(line) for line in file.lines]
    if file.header is None and profile.names:
        header = [*profile.names, *header[len(profile.names) :]]
    broken = set(file.faults)
    faults = [lines[row] for row in sorted(broken)]
    left = file.skipped[file.skipped["_row"].notna()]
    faults += [int(line) for line in left["_line"]]
    kept = [row for row in range(len(cells)) if row not in broken]
    return Rows(header, [cells[row] for row in kept], [lines[row] for row in kept]), sorted(faults)


def _sort_lines(
    made: Iterable[Row], lines: Sequence[int], now: datetime
) -> tuple[dict[str, list[int]], int, list[tuple[int, Fact]]]:
    """Lines that are refused by reason, how many rows are taken, and what they come to by their lines."""
    refused: dict[str, list[int]] = {}
    facts: list[tuple[int, Fact]] = []
    seen: set[str] = set()
    taken = 0
    for row, line in zip(made, lines, strict=True):
        if isinstance(row, str):
            refused.setdefault(row, []).append(line)
            continue
        key = repr(row)
        if key in seen or any(fact.at > now for fact in row):
            refused.setdefault("repeated" if key in seen else "future", []).append(line)
            continue
        seen.add(key)
        taken += 1
        facts += [(line, fact) for fact in row]
    return refused, taken, facts
