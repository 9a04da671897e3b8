"""An account held against the rules."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

import dialframe
from dialframe import compliance
from dialframe.account import Account
from dialframe.account.freshness import check_fresh
from dialframe.analytics import Taxonomy
from dialframe.compliance import Audit, Practice
from dialframe.compliance.notes import about_campaigns, about_state_fields
from dialframe.config import OnProgress, silent
from dialframe.errors import ConfigError, StoreError
from dialframe.evidence import EvidenceLog
from dialframe.files import folder as make_folder
from dialframe.files import publish
from dialframe.flows import pack
from dialframe.flows.evidence_views import tables_of
from dialframe.flows.executors import executor
from dialframe.flows.firm_records import (
    Evidence,
    Scope,
    add_dialing_modes,
    both,
    find_held_numbers,
    find_states,
    find_suppressed,
    gather,
    is_known_code,
    outcome_words,
    read_logged_requests,
    request_codes,
    requests_frame,
    with_logged,
    worth_checking,
)
from dialframe.flows.table_files import TableFiles, table_files
from dialframe.frames import CALLBACKS, CAMPAIGNS, EVENTS
from dialframe.reports import audit_page, html_page, render
from dialframe.reports.audit_findings import headlines

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
#: Hexadecimal digits of each frame's hash in what a manifest says was read.
_FINGERPRINT_DIGITS: Final = 16
#: Counts of a check that are no pass.
_GRADES: Final = ("violation", "uncertain", "not_evaluable", "not_asked")

EVERYTHING: Final = Scope()
NOW: Final = partial(datetime.now, UTC)


def audit(
    account: Account,
    *,
    now: Callable[[], datetime] = NOW,
    rules: Sequence[str] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    practice: Practice | None = None,
    max_age: str | None = None,
    state_field: str | None = None,
    taxonomy: Taxonomy | None = None,
    scope: Scope = EVERYTHING,
    as_of: datetime | None = None,
    fresh: timedelta | str | None = None,
    on_progress: OnProgress = silent,
    keep: bool = True,
) -> Audit:
    """Hold everything that the store knows of an account against the rules that reach it.

    Args:
        account: The account; synced before, so that the calls are there.
        now: The clock, UTC; read once the checks are made, since nothing later than it counts.
        rules: Jurisdictions or rule ids to ask, as in `scope`.
        since: First instant of the period, as in `scope`.
        until: First instant after it, as in `scope`.
        practice: What the firm declares of its calling, as in `scope`.
        max_age: If given, numbers whose newest check is older ("31d") are asked about first; the
            answers are kept as evidence.
        state_field: Custom field that names the called party's state or ZIP code, as in `scope`; it
            adds candidate zones and the rules of the state.
        taxonomy: Which dispositions are requests not to be called, dropped calls, machines, as in `scope`.
        scope: Period, rules and records.
        as_of: The moment of the audit in place of the clock; the store is read as it was then.
        fresh: Refuse calls and leads that were last read longer ago than this, such as `24h`.
        on_progress: Told of the checks.
        keep: Whether the verdict is kept in the history of audits.

    What it said is kept in the store, twice and in a chain: `dialframe audit history` shows it.

    Raises:
        StoreError: Calls or leads were never read, or are older than `fresh`.
        ConfigError: A jurisdiction is not in the book.

    Example:
        with dialframe.connect() as account:
            found = dialframe.audit(account, rules=["us", "us-*"])
    """
    scope = _with(
        scope, rules=rules, since=since, until=until, practice=practice, state_field=state_field,
        taxonomy=taxonomy,
    )  # fmt: skip

    def check(leads: pd.DataFrame, calls: pd.DataFrame) -> None:
        # Before a check is paid for.
        for frame in (calls, leads) if fresh is not None else ():
            check_fresh(frame, fresh or "", now())
        if max_age is not None and as_of is None:
            # A past moment cannot be checked after the fact.
            numbers = worth_checking(leads, calls)
            account.check_dnc(numbers, max_age=max_age, on_progress=on_progress)

    records = gather(account, scope, now=now, as_of=as_of, before_checks=check)
    question = replace(records.question, data_version=_fingerprint(records.tables))
    result = compliance.audit(
        {name: records.tables[name] for name in ("calls", "leads", "dnc_checks", "callbacks")},
        question,
    )
    result = with_given(
        account, result, records, scope, now=now, as_of=as_of,
        options={"check": max_age, "fresh": str(fresh) if fresh else None, "state_field": scope.state_field}, keep=keep,
    )  # fmt: skip
    calls, campaigns = records.calls, records.campaigns
    # Calls after the moment of the audit are none of its business.
    seen = calls[(calls["created_at"] <= result.as_of).fillna(value=False).to_numpy(dtype=bool)]
    names = dict(zip(campaigns["id"], campaigns["name"], strict=True))
    # By campaign, with names: coverage is worked on campaign by campaign.
    held = find_held_numbers(account, records.leads, seen)
    board = compliance.dnc.dashboard(
        result.coverage, records.leads, seen, campaigns=names, held=held
    )
    return result.joined({"coverage_by": board.by, "next_checks": board.next})


def audit_tables(
    folder: str,
    *,
    now: Callable[[], datetime] = NOW,
    scope: Scope = EVERYTHING,
    as_of: datetime | None = None,
    partitions: int | None = None,
    jobs: int = 1,
    log: EvidenceLog | None = None,
) -> Audit:
    """Hold tables in Parquet files against the rules, with no store and no service.

    Args:
        folder: Folder, or URL of an object store, with `calls`, `leads` and `dnc_checks`, each a file `NAME.parquet` or a folder of files;
            `campaigns`, `callbacks` and `events` where they are there.
        now: The clock, UTC.
        scope: Rules and records of the firm.
        as_of: The moment of the audit in place of the clock.
        partitions: In how many parts of the numbers; None: as memory asks.
        jobs: How many parts at once, each in a process of its own.
        log: The evidence log of the firm, which says who asked not to be called; None: there is none.

    Raises:
        ConfigError: A table is not there or lacks a column.

    Example:
        audit_tables("exports", scope=Scope(Question(now=now, rules=["us"])))
    """
    with table_files(folder) as tables:
        return _of_files(
            tables, folder, now() if as_of is None else as_of, scope,
            as_of=as_of, partitions=partitions, jobs=jobs, log=log,
        )  # fmt: skip


def _of_files(
    tables: TableFiles,
    folder: str,
    moment: datetime,
    scope: Scope,
    *,
    as_of: datetime | None,
    partitions: int | None,
    jobs: int,
    log: EvidenceLog | None,
) -> Audit:
    """The audit of files that lie here."""
    taxonomy = scope.taxonomy
    campaigns, callbacks, events = (
        tables.frame(table) for table in (CAMPAIGNS, CALLBACKS, EVENTS)
    )
    states, fields = find_states(tables.leads(), scope.state_field)
    words = tables.dispositions()
    began = campaigns["created_at"].min()
    question = replace(
        scope.question, now=moment, states=states, dnc_codes=request_codes(words, taxonomy),
        known_codes=partial(is_known_code, taxonomy),
        practice=add_dialing_modes(scope.question.practice or Practice(), campaigns),
        outcomes_of=outcome_words(words["disposition"], taxonomy), events=both(scope.question.events, requests_frame(read_logged_requests(events, taxonomy))),
        began_at=None if pd.isna(began) else began.to_pydatetime(), taxonomy=taxonomy.version, data_version=tables.fingerprint(),
    )  # fmt: skip
    if log is not None:
        logged = tables_of(
            log, tables.numbers, until=moment, rows=lambda: tables.ids(events), more=scope.evidence
        )
        question = with_logged(question, logged)
    given = {**tables.queries(), "callbacks": callbacks}
    parts = partitions or tables.parts()
    if parts == 1:
        result = compliance.audit(given, question)
    else:
        shared = executor(jobs=jobs, loads="dialframe.compliance.auditing") if jobs > 1 else None
        with shared or nullcontext() as workers:
            result = compliance.audit_in_parts(given, question, parts=parts, executor=workers)
    notes = [
        *about_campaigns(scope.question.practice or Practice(), campaigns["id"]),
        *about_state_fields(fields, states),
    ]
    options = {
        **scope.options,
        "tables": folder,
        "parts": parts,
        "as_of": None if as_of is None else as_of.isoformat(),
    }
    return replace(
        result.joined({"campaigns": campaigns[["id", "name"]]}), inputs=dict(scope.inputs), options=options,
        notes=(*result.notes, *notes),
    )  # fmt: skip


def _with(scope: Scope, **options: Any) -> Scope:
    """A scope with those of some options that were given."""
    given = {name: value for name, value in options.items() if value is not None}
    own = {name: given.pop(name) for name in ("state_field", "taxonomy") if name in given}
    return replace(scope, **own, question=replace(scope.question, **given))


def with_given(
    account: Account,
    result: Audit,
    known: Evidence,
    scope: Scope,
    *,
    now: Callable[[], datetime],
    as_of: datetime | None,
    options: Mapping[str, object],
    keep: bool = True,
) -> Audit:
    """The audit with what it was given and what it lacks; its verdict is kept in the store."""
    asked = known.question
    gaps = (*result.gaps, *_short(asked, known.tables), *account.journal_problems())
    options = {
        "since": asked.since, "until": asked.until,
        "rules": asked.rules if asked.rules is None or isinstance(asked.rules, str) else list(asked.rules),
        "as_of": as_of, **options, **scope.options,
    }  # fmt: skip
    plain = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in options.items()
    }
    notes = [
        *about_campaigns(scope.question.practice or Practice(), known.campaigns["id"]),
        *about_state_fields(known.state_fields, asked.states),
    ]
    looked = compliance.dnc.last_looked_at(known.tables)
    result = replace(
        result.joined({"campaigns": known.campaigns[["id", "name"]]}), gaps=gaps,
        inputs=_digests(scope, known), options=plain, notes=(*result.notes, *notes),
        last_looked_at=looked, coverage=replace(result.coverage, last_looked_at=looked),
    )  # fmt: skip
    if not keep:
        return result
    try:
        # Kept in a chain, so that nobody audits until the answer pleases.
        account.store.keep_verdict(_verdict(result), at=known.at if as_of is None else now())
    except StoreError as error:
        result = replace(result, gaps=(*gaps, f"the store did not keep this audit: {error}"))
    return result


def may_call(
    account: Account,
    numbers: Sequence[str],
    *,
    at: datetime | None = None,
    campaign: str | None = None,
    caller_id: str | None = None,
    now: Callable[[], datetime] = NOW,
    rules: Sequence[str] | None = None,
    practice: Practice | None = None,
    state_field: str | None = None,
    taxonomy: Taxonomy | None = None,
    scope: Scope = EVERYTHING,
) -> pd.DataFrame:
    """Which numbers may be called, by everything that the store and the firm have on record.

    The same queries as the audit's, asked before the call; the firm's own list besides. A number is
    held where a rule is broken, where an input is missing, and where a rule was not asked.

    Args:
        account: The account; synced before, so that calls, leads and checks are there.
        numbers: Numbers, E.164.
        at: When they would be called; None: now.
        campaign: Campaign that would call.
        caller_id: Number that would be shown.
        now: The clock, UTC.
        rules: Jurisdictions or rule ids to ask, as in `scope`.
        practice: What the firm declares of its calling, as in `scope`.
        state_field: Custom field that names the called party's state or ZIP code, as in `scope`.
        taxonomy: What dispositions mean, as in `scope`.
        scope: Rules and records; its period is not asked.

    Returns:
        One row per number, in their order: `number, verdict, check, grade, rule_id, citation,
        missing, reason, held_by`.

    Raises:
        StoreError: Calls or leads were never read.
        ConfigError: A jurisdiction is not in the book.

    Example:
        with dialframe.connect() as account:
            verdicts = dialframe.may_call(account, ["+12125550142"], campaign="cmp_...")
    """
    moment = now() if at is None else at
    scope = _with(
        scope, rules=rules, practice=practice, state_field=state_field, taxonomy=taxonomy
    )
    records = gather(account, scope, now=lambda: moment)
    return compliance.may_call(
        numbers,
        at=moment,
        tables={
            name: records.tables[name] for name in ("calls", "leads", "dnc_checks", "callbacks")
        },
        question=records.question,
        campaign=campaign,
        caller_id=caller_id,
        # The firm's own list holds for every reason, a registry's entry too.
        suppressed=find_suppressed(account, numbers),
    )


def _short(question: compliance.Question, read: Mapping[str, pd.DataFrame]) -> list[str]:
    """Rows that were lost, tables that were never read, and a store that ends before the period does."""
    sentences = [
        words
        for frame in read.values()
        for words in frame.attrs.get("dialframe", {}).get("missing", ())
    ]
    for name in ("dnc_checks", "callbacks", "campaigns"):
        freshness = read[name].attrs.get("dialframe", {})
        # Checks are never listed by the service: that none were synced says nothing.
        if name != "dnc_checks" and freshness and freshness.get("synced_at") is None:
            loaded = read["calls"].attrs.get("dialframe", {}).get("loaded")
            advice = "the files loaded do not hold it" if loaded else f"dialframe sync {name}"
            sentences.append(f"the table {name} was never read: {advice}")
    synced = read["calls"].attrs.get("dialframe", {}).get("synced_at")
    at, end = question.now, question.until or question.now
    if (
        synced is not None
        and question.until is not None
        and pd.Timestamp(synced) < pd.Timestamp(end) <= pd.Timestamp(at)
    ):
        sentences.append(
            f"the store was read on {pd.Timestamp(synced):%Y-%m-%d %H:%M} UTC, before the period ends: dialframe sync"
        )
    if question.since is not None and question.since > at:
        sentences.append("the period begins after the moment of the audit")
    return sentences


def write_evidence(result: Audit, folder: Path) -> dict[str, Path]:
    """Write the evidence pack of an audit, with whole numbers, readable by the owner alone.

    Args:
        result: The audit.
        folder: Folder of the files; made, for the owner alone, where it is missing.

    Returns:
        Name to path: `findings`, `calling_hours`, `listed_calls`, `coverage` (CSV), `summary`,
        `manifest` (JSON) and every further part; see `pack.write`.
    """
    # Only a folder with an older pack is replaced without being told to.
    is_pack = (folder / pack.MANIFEST).is_file()
    return pack.write(result, folder, summary=facts(result), replace=is_pack)


def refuse_occupied(path: Path, *, replace: bool) -> None:
    """Refuse a place for a pack where something stands: it may be evidence.

    Raises:
        ConfigError: Something stands there, and it may not be replaced.
    """
    is_empty = path.is_dir() and not any(path.iterdir())
    if path.exists() and not is_empty and not replace:
        raise ConfigError(
            f"{path} exists already; choose another name, or replace it with --replace"
        )


def write_pack(
    result: Audit,
    path: Path,
    *,
    key: Ed25519PrivateKey | None = None,
    pseudonyms: bytes | None = None,
    zipped: bool = False,
    pdf: bool = False,
    replace: bool = False,
    after: Path | None = None,
    time_stamp: bool = False,
) -> dict[str, Path]:
    """Write the evidence pack with its report: a folder, a zip file, or both.

    Args:
        result: The audit.
        path: Folder, or the name of a zip file, which is then all that is written.
        key: The officer's key; signs the pack.
        pseudonyms: Key with which numbers become pseudonyms; None writes them whole.
        zipped: Also write the folder as one file beside it.
        pdf: Also write the report as PDF, with Chromium.
        replace: Whether an older pack of that name may be replaced.
        after: The pack before this one, which the manifest names.
        time_stamp: Whether to write a request for a time stamp (RFC 3161).

    Raises:
        ConfigError: PDF was asked for and there is no Chromium, files stand in the way, or the pack
            before was changed, or signed while this one is not.
        OSError: The disk is full or the folder cannot be written.
    """
    # The page before the folder: what cannot be shown leaves no half pack.
    html = render(audit_page.page(result))
    report = {"report.html": html.encode()}
    if pdf:
        report["report.pdf"] = html_page.to_pdf(html, dated=result.as_of)
    write = partial(
        pack.write, result, summary=facts(result), further=report, key=key, pseudonyms=pseudonyms,
        after=after, time_stamp=time_stamp,
    )  # fmt: skip
    if path.suffix != ".zip":
        return write(path, zipped=zipped, replace=replace)
    refuse_occupied(path, replace=replace)
    make_folder(path.parent)
    with tempfile.TemporaryDirectory(".tmp", f".{path.name}.", path.parent) as room:
        written = write(Path(room) / path.stem, zipped=True)
        publish({path: written["zip"]})
    return {"zip": path}


def facts(result: Audit) -> dict[str, object]:
    """An audit as plain values for machines; no number in it."""
    checks = [
        {
            "name": row["check"], "check": row["check"], "title": row["title"], "counted": row["unit"],
            "checked": row["checked"], "passed": row["pass"], "violation": row["violation"],
            "uncertain": row["uncertain"], "not_evaluable": row["not_evaluable"],
            "not_asked": row["not_asked"],
        }
        for row in result.checks.to_dict("records")
    ]  # fmt: skip
    # What was not asked is said as loudly as what was found.
    not_asked, unmapped = result.parts["not_asked"], result.parts["unmapped"]
    return {
        "as_of": result.as_of.isoformat(),
        "last_looked_at": dict(result.last_looked_at),
        "verdict": result.verdict,
        "headlines": [each.as_dict() for each in headlines(result)],
        "checks": checks,
        "not_asked": dict(
            zip(not_asked["jurisdiction"], (int(n) for n in not_asked["calls"]), strict=True)
        ),
        "unmapped": unmapped[["disposition", "calls", "like_refusal"]].to_dict("records"),
        "gaps": list(result.gaps),
        "worth": [
            {
                "input": each.input,
                "key": each.key,
                "calls": each.calls,
                "calls_decided": each.calls,
                "checks": each.checks,
            }
            for each in result.worth
        ],
        "never_settled": [
            {
                "check": each.check,
                "calls": each.calls,
                "why": each.why,
                "from_now_on": each.from_now_on,
                "provable_from": None
                if each.provable_from is None
                else each.provable_from.isoformat(),
            }
            for each in result.never_settled
        ],
        "sentences": list(result.checks["sentence"]),
        "calls": result.calls,
        "first": audit_page.first(result).to_dict("records"),
        "to_check": audit_page.to_check(result),
        "left_out": dict(result.excluded),
        **pack.basis(result),
        "notes": list(result.notes),
    }


def _verdict(result: Audit) -> dict[str, object]:
    """What the store keeps of an audit: its counts and what they rest on, without anything of a person."""
    asked = json.dumps([result.inputs, result.options], sort_keys=True, default=str)
    # Counts and hashes alone: a verdict is kept when a person is forgotten.
    counts = result.checks[["check", "checked", "pass", *_GRADES]].to_dict("records")
    return {
        "verdict": result.verdict,
        "checks": {str(row.pop("check")): row for row in counts},
        "calls": result.calls,
        "left_out": dict(result.excluded),
        "gaps": list(result.gaps),
        **pack.basis(result),
        "given_sha256": hashlib.sha256(asked.encode()).hexdigest(),
        "tool": f"dialframe {dialframe.__version__}",
    }


def _fingerprint(frames: Mapping[str, pd.DataFrame]) -> str:
    """Name, number of rows and hash of each frame; the order of rows does not matter.

    Returns:
        `calls 1,204 rows 3f9a0c21d4be55aa; leads ...`
    """
    parts = []
    for name, frame in sorted(frames.items()):
        hashes = pd.util.hash_pandas_object(frame.reset_index(drop=True), index=False)
        content = np.sort(hashes.to_numpy(dtype=np.uint64)).tobytes()
        names = "\n".join(frame.columns).encode()
        digest = hashlib.sha256(names + content).hexdigest()[:_FINGERPRINT_DIGITS]
        parts.append(f"{name} {len(frame):,} rows {digest}")
    return "; ".join(parts)


def _digests(scope: Scope, known: Evidence) -> dict[str, str]:
    """SHA-256 of everything that was given beside the account's tables: files, and what Python handed over."""
    asked = known.question
    frames = {
        "consents": asked.consents, "exemptions": asked.exemptions, "look_ups": asked.look_ups,
        "recorded_consents": asked.recorded_consents, "scrubs": asked.scrubs, "requests": asked.events, "states": asked.states,
    }  # fmt: skip
    # As text, so that the digest is the same on every machine.
    texts = {
        name: frame.to_csv(index=isinstance(frame, pd.Series), lineterminator="\n")
        for name, frame in frames.items()
        if isinstance(frame, pd.DataFrame | pd.Series)
    }
    if asked.declared.days:
        texts["declared"] = repr(sorted(asked.declared.days.items()))
    texts["practice"] = json.dumps(_plain(asked.practice), sort_keys=True)
    hashed = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return {**hashed, **scope.inputs}


def _plain(value: object) -> object:
    """A value that is written the same in every process: sets sorted, records as their fields."""
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(map(str, value))
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else str(value)
