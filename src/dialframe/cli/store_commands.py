"""`dialframe store`: what is kept on this disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dialframe.cli import completion_words
from dialframe.cli.terminal import (
    FINDINGS,
    OK,
    AccountOptions,
    Answer,
    StoreFolder,
    Table,
    command,
    progress,
)
from dialframe.cli.terminal import settings as settings_of
from dialframe.errors import ConfigError
from dialframe.evidence import EvidenceLog
from dialframe.privacy import mask

if TYPE_CHECKING:
    from dialframe.store.verify_and_repair import Problem

JournalFolder = Annotated[
    Path | None,
    typer.Option("--journal", help="Look at this write journal alone: Client(journal=...)."),
]

app = typer.Typer(
    help="The local store: what is in it, whether it is whole, backups, erasing, publishing.",
    no_args_is_help=True,
)


@command(app)
def info(account_options: AccountOptions) -> Answer:
    """Say what the store holds and how fresh it is.

    Example:
        dialframe store info
    """
    with account_options.connect() as account:
        facts = account.info()
    return Answer(facts, _lines(facts))


@command(app)
def forget(
    *,
    phone: Annotated[str, typer.Argument(help="Number to erase, E.164.")],
    account_options: AccountOptions,
) -> Answer:
    """Erase a number from everything that dialframe keeps; a later sync does not bring it back.

    It goes from the store, the evidence log, open writes and published tables. Lists, exports,
    packs and backups are yours: those that still hold the number are named, and the command ends with status 3.
    Copies that other programs made are not known and not looked at, nor is what the service has. Example:

        dialframe store forget +12125550142
    """
    from dialframe.flows import erasing

    with account_options.connect() as account:
        erasure = erasing.forget(account, phone, datetime.now(UTC))
    lines = (
        f"{mask(phone)}: {erasure.versions} versions erased, {erasure.writes} writes emptied, "
        f"{erasure.evidence} records of evidence made a mark, "
        f"{len(erasure.published)} published places written anew",
        f"{erasure.looked_at} files that dialframe wrote or read as lists were looked through",
        *(f"{leftover.path}: {leftover.why}" for leftover in erasure.remaining),
    )
    # The older name of the first count stays.
    facts = {"erased": erasure.versions, **erasure.as_dict()}
    return Answer(facts, lines, FINDINGS if erasure.remaining else OK)


@command(app)
def prune(
    *,
    older_than: Annotated[str, typer.Option(help="Age of what is deleted, such as 730d.")],
    table: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Only this table; may be repeated. All about persons by default: {', '.join(completion_words.PERSONAL)}.",
            autocompletion=completion_words.of(completion_words.PERSONAL),
        ),
    ] = None,
    account_options: AccountOptions,
) -> Answer:
    """Delete rows created longer ago, in all their versions; a later sync does not bring them back.

    Example:
        dialframe store prune --older-than 730d
    """
    from dialframe.frames.frame_schemas import TABLES
    from dialframe.instants import age

    # By when the row was made at the service, not when it was read.
    before = datetime.now(UTC) - age("--older-than", older_than)
    for name in table or ():
        if name not in TABLES:
            raise ConfigError(f"there is no table {name!r}; the tables are {', '.join(TABLES)}")
    # None: all that are about persons; the others age without harm.
    names = [TABLES[name] for name in table] if table else None
    with account_options.connect() as account:
        deleted = account.store.prune(before, names)
    lines = (f"{name:<16} {count} versions deleted" for name, count in deleted.items())
    return Answer({"before": before.isoformat(), "deleted": deleted}, lines)


@command(app)
def publish(
    *,
    url: Annotated[str, typer.Argument(help="Folder or object store, such as s3://bucket/calls.")],
    account_options: AccountOptions,
) -> Answer:
    """Write what is new as Delta tables, for engines that run on many machines.

    An object store is written to as well, s3://bucket/calls for instance. Example:

        dialframe store publish lake
    """
    # A version is published once: run again, it goes on with what is new.
    with progress() as listen, account_options.connect() as account:
        written = account.store.publish(url, on_progress=listen)
    lines = (f"{name:<16} {count} versions written" for name, count in written.items())
    return Answer({"url": url, "written": written}, lines)


@command(app)
def vacuum(account_options: AccountOptions) -> Answer:
    """Merge small files, and give the disk the space of what was erased or replaced.

    Example:
        dialframe store vacuum
    """
    with account_options.connect() as account:
        # Sizes before and after: what SQLite and Parquet free is seen nowhere else.
        before = account.store.info().size_bytes
        account.store.vacuum()
        after = account.store.info().size_bytes
    facts = {"size_bytes_before": before, "size_bytes": after}
    return Answer(facts, [f"{before:,} bytes before, {after:,} now"])


@command(app)
def verify(journal: JournalFolder = None, store: StoreFolder = None) -> Answer:
    """Compare every file of the store with its digests, without asking the service.

    The evidence log, the assistant's log and published tables on this disk are looked
    at, too, and what the register of outputs knows of stores and imports that were deleted. Ends with status 3
    if something is not as it was written. Example:

        dialframe store verify
    """
    from dialframe.flows.machine_checks import vanished_outputs
    from dialframe.store import Store, verify_and_repair

    # What is gone altogether only the register of outputs remembers.
    vanished = vanished_outputs(_root(store)) if journal is None else []
    problems: dict[str, list[Problem]] = {"outputs": vanished} if vanished else {}
    for path in _stores(store, needed=not vanished) if journal is None else ():
        problems[path.name] = damages = [*verify_and_repair.verify(path), *_tool_calls(path)]
        # A damaged store is not opened: opening it would fail, and say less.
        if not damages:
            with Store.open(path) as whole:
                damages += [
                    verify_and_repair.Problem(*problem) for problem in whole.published_problems()
                ]
    if (evidence := _evidence(store, journal)).exists:
        problems["evidence"] = [
            verify_and_repair.Problem(evidence.path.name, line) for line in evidence.verify()
        ]
    # All stores of the folder, since nobody knows which account a damaged one was of.
    rows = {name: [asdict(each) for each in damages] for name, damages in problems.items()}
    summary: list[str] = []
    for name, damages in problems.items():
        summary += [f"{Path(name) / damage.file}: {damage.what}" for damage in damages]
        mended = "" if damages is vanished else "; dialframe store repair"
        summary.append(f"{name}: {f'{len(damages)} problems{mended}' if damages else 'whole'}")
    return Answer({"stores": rows}, summary, FINDINGS if any(problems.values()) else OK)


@command(app)
def repair(
    acknowledge: Annotated[
        bool,
        typer.Option(
            "--acknowledge", help="Take note of what is missing, so that it is not repeated."
        ),
    ] = False,
    journal: JournalFolder = None,
    store: StoreFolder = None,
) -> Answer:
    """Mend damaged files from their second copy, and rebuild the SQLite file where it is lost.

    No other dialframe may use the store meanwhile. What cannot be mended stays named in every answer
    until --acknowledge. Example:

        dialframe store repair
    """
    from dialframe.store import verify_and_repair

    now = datetime.now(UTC)
    # Each store by itself: one that cannot be repaired stops at its own name.
    done = {
        path.name: verify_and_repair.repair(path, now, acknowledge=acknowledge)
        for path in (_stores(store) if journal is None else ())
    }
    if (evidence := _evidence(store, journal)).exists:
        done["evidence"] = evidence.repair()
    lines = (
        f"{name}: {line}"
        for name, mended in done.items()
        for line in mended or ["nothing to repair"]
    )
    return Answer({"repaired": done}, lines)


@command(app)
def backup(
    folder: Annotated[Path, typer.Argument(help="Folder for backups, outside of the store.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an older backup in that folder.")
    ] = False,
    store: StoreFolder = None,
) -> Answer:
    """Copy the whole store as it is now, with a list of digests.

    The evidence log goes with it. Example:

        dialframe store backup /mnt/backups/2026-11-22
    """
    from dialframe.account.connecting import keys_folder
    from dialframe.store import backups

    # Stores hold keyed marks of forgotten numbers: without the keys a backup could not tell them.
    archives = [
        backups.backup(path, folder, replace=replace, keys=keys_folder())
        for path in _stores(store)
    ]
    # A damaged copy is refused: it would be all that there is after the next fault.
    evidence = EvidenceLog.beside(folder).folder
    if replace:
        shutil.rmtree(evidence, ignore_errors=True)
    archives += [evidence] if EvidenceLog.beside(_root(store)).copy_to(evidence) else []
    names = [str(path) for path in archives]
    return Answer({"backups": names}, (f"{name}: written" for name in names))


@command(app)
def restore(
    folder: Annotated[Path, typer.Argument(help="Folder that `store backup` wrote.")],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Put it where a store stands; that one is kept beside."),
    ] = False,
    store: StoreFolder = None,
) -> Answer:
    """Put a backup back; a store in its place is kept beside it.

    The evidence log that is here stays, and takes in what only the backup knows; whom it erased stays erased.

    Example:
        dialframe store restore /mnt/backups/2026-11-22 --replace
    """
    from dialframe.account.connecting import keys_folder
    from dialframe.flows import erasing
    from dialframe.store import backups

    # A folder of backups has one for each account, and the evidence log beside them.
    sources = [path.parent for path in sorted(folder.glob(f"*/{backups.MANIFEST}"))]
    backed_up = EvidenceLog.beside(folder)
    if not sources and not backed_up.exists:
        raise ConfigError(f"{folder} holds no backup; name the folder that store backup was given")
    root, now = _root(store), datetime.now(UTC)
    # What stands there is kept beside it: a backup may be older than somebody thinks.
    kept_files = {
        path.name: backups.restore(
            path, root / path.name, now, replace=replace, keys=keys_folder()
        )
        for path in sources
    }
    log = EvidenceLog.beside(root)
    # What can be read of a damaged log stays; the backup brings the rest.
    log.repair()
    added = log.take_in(backed_up)
    # Whoever was forgotten since the backup was made is erased from it, too.
    erased = sum(
        erasing.erase_again(root / path.name, log, now, keys=keys_folder()) for path in sources
    )
    restored = {name: str(path) if path else None for name, path in kept_files.items()}
    lines = list[str]()
    if added:
        lines.append(f"{added} records of the backup are in the evidence log again")
    if erased:
        lines.append(f"{erased} versions of persons who were forgotten since are erased again")
    for name, path in kept_files.items():
        before = f"; what stood there is {path}" if path else ""
        lines.append(f"{root / name}: restored{before}")
    facts = {"restored": restored, "evidence": added, "erased": erased}
    return Answer(facts, lines)


def _root(store: Path | None) -> Path:
    from dialframe.account.connecting import stores_folder

    return stores_folder(settings_of(store=store))


def _evidence(store: Path | None, folder: Path | None) -> EvidenceLog:
    """The evidence log beside the stores, or that of a client of its own."""
    log = EvidenceLog.beside(_root(store)) if folder is None else EvidenceLog.open(folder)
    if folder is not None and not log.exists:
        raise ConfigError(
            f"{folder} holds no write journal; name the folder that a client was given"
        )
    return log


def _tool_calls(store: Path) -> list[Problem]:
    """What is wrong with the log of an assistant's calls, where there is one."""
    from dialframe.store.verify_and_repair import Problem

    # The note outside of the folder stays where the log was deleted.
    noted = store.with_name(f"{store.name}.assistant.jsonl.head").exists()
    if not noted and not list(store.glob("assistant.jsonl*")):
        return []
    try:
        from dialframe.assistant import audit_log
    except ImportError:
        words = ["it was not looked at; pip install 'dialframe[assistant]'"]
    else:
        words = audit_log.problems(store)
    return [Problem("assistant.jsonl", line) for line in words]


def _stores(store: Path | None, *, needed: bool = True) -> list[Path]:
    from dialframe.store import verify_and_repair

    root = _root(store)
    # Looked for on the disk, and no key is asked for: a damaged store has to be found without one.
    folders = verify_and_repair.stores(root)
    if not folders and needed:
        raise ConfigError(
            f"{root} holds no store; name its folder with --store or DIALFRAME_STORE"
        )
    return folders


def _lines(facts: Mapping[str, Any]) -> Iterator[str | Table]:
    """What is stored as a table, one line for each table of the store, and how fresh each is."""
    import pandas as pd

    counted = {
        name: value
        for name, value in facts.items()
        if isinstance(value, dict) and name != "freshness"
    }
    for name, value in facts.items():
        if not isinstance(value, dict | list):
            shown = f"{value:,}" if isinstance(value, int) else value
            yield f"{name.replace('_', ' '):<16}{shown}"
    frame = pd.DataFrame(counted).fillna(0).astype("int64")
    yield Table.of(frame.rename_axis("table").reset_index(), "Tables")
    yield from (*facts.get("missing", ()), *facts.get("freshness", {}).values())
