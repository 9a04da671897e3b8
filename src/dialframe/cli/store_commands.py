"""`dialframe store`: what is kept on this disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

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
from dialframe.privacy import E164, mask

if TYPE_CHECKING:
    from dialframe.store.damage import Problem

JournalFolder = Annotated[
    Path | None,
    typer.Option(
        "--journal", hidden=True, help="Look at this write journal alone: Client(journal=...)."
    ),
]

OnlyTables = Annotated[
    list[str] | None,
    typer.Option(
        "--table",
        help=f"Only this table, for --older-than; repeatable. Default: {', '.join(completion_words.PERSONAL)}.",
        autocompletion=completion_words.of(completion_words.PERSONAL),
    ),
]

#: How old a backup may be.
_EVERY: Final = {"day": timedelta(days=1), "week": timedelta(days=7)}

app = typer.Typer(
    help="The local store: what is in it, whether it is whole, backups, erasing, publishing.",
    no_args_is_help=True,
)


SetAside = Annotated[
    bool,
    typer.Option(
        "--set-aside",
        help="With --verify: move damaged files out of the way; the next sync reads what it can again.",
    ),
]


@command(app)
def info(
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every file with its digest instead.")
    ] = False,
    set_aside: SetAside = False,
    account_options: AccountOptions,
) -> Answer:
    """Show what the store holds and how fresh it is.

    Asks no service. With --verify it checks every file instead; status 3 if one is not as it was written. Examples:

        dialframe store info
        dialframe store info --verify
    """
    if verify or set_aside:
        answered = verify_store(set_aside=set_aside, store=account_options.store)
        assert isinstance(answered, Answer)  # noqa: S101 - a registered command is typed as any
        return answered
    with account_options.read() as account:
        facts = account.info()
    return Answer(facts, _lines(facts))


@command(app)
def forget(
    *,
    phone: Annotated[str | None, typer.Argument(help="Number to erase, E.164.")] = None,
    older_than: Annotated[
        str | None, typer.Option(help="Erase rows created longer ago instead: 730d.")
    ] = None,
    table: OnlyTables = None,
    store: StoreFolder = None,
    account_options: AccountOptions,
) -> Answer:
    """Erase a number, or old rows, from everything dialframe keeps.

    A later sync does not bring them back. A number goes from the stores of all accounts, the evidence log, open writes and published tables. Lists,
    exports, packs and backups are yours: those that still hold the number are named, and the command ends with
    status 3. Copies that other programs made are not known and not looked at, nor is what the service has. Examples:

        dialframe store forget +12125550142
        dialframe store forget --older-than 730d
    """
    if (phone is None) == (older_than is None):
        raise ConfigError("store forget takes a number, or an age with --older-than")
    if phone is None:
        answered = prune(older_than=older_than, table=table, account_options=account_options)
        assert isinstance(answered, Answer)  # noqa: S101 - a registered command is typed as any
        return answered
    if E164.fullmatch(phone) is None:
        raise ConfigError(f"{phone} is not a number in E.164; write + and the country code first")
    from dialframe.flows import erasing

    erasure = erasing.forget(_root(store), phone, datetime.now(UTC))
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


@command(app, hidden=True)
def prune(
    *,
    older_than: Annotated[str, typer.Option(help="Age of what is deleted, such as 730d.")],
    table: OnlyTables = None,
    account_options: AccountOptions,
) -> Answer:
    """Delete rows created longer ago, in all their versions; the old name of `store forget --older-than`.

    Example:
        dialframe store prune --older-than 730d
    """
    from dialframe.frames.frame_schemas import TABLES
    from dialframe.instants import age

    # By when the row was made at the service, not when it was read.
    now = datetime.now(UTC)
    before = now - age("--older-than", older_than)
    for name in table or ():
        if name not in TABLES:
            raise ConfigError(f"there is no table {name!r}; the tables are {', '.join(TABLES)}")
    # None: all that are about persons; the others age without harm.
    names = [TABLES[name] for name in table] if table else None
    with account_options.read() as account:
        deleted = account.store.prune(before, names, at=now)
    lines = (f"{name:<16} {count} versions deleted" for name, count in deleted.items())
    return Answer({"before": before.isoformat(), "deleted": deleted}, lines)


@command(app, hidden=True)
def publish(
    *,
    url: Annotated[str, typer.Argument(help="Folder or object store, such as s3://bucket/calls.")],
    account_options: AccountOptions,
) -> Answer:
    """Write what is new as Delta tables, for engines that run on many machines; the old name of `export all`.

    An object store is written to as well, s3://bucket/calls for instance. Example:

        dialframe store publish lake
    """
    # A version is published once: run again, it goes on with what is new.
    with progress() as listen, account_options.read() as account:
        written = account.store.publish(url, on_progress=listen)
    lines = (f"{name:<16} {count} versions written" for name, count in written.items())
    return Answer({"url": url, "written": written}, lines)


@command(app, hidden=True)
def vacuum(account_options: AccountOptions) -> Answer:
    """Merge small files, and give the disk the space of what was erased or replaced.

    Example:
        dialframe store vacuum
    """
    with account_options.read() as account:
        # Sizes before and after: what SQLite and Parquet free is seen nowhere else.
        before = account.store.info().size_bytes
        account.store.vacuum()
        after = account.store.info().size_bytes
    facts = {"size_bytes_before": before, "size_bytes": after}
    return Answer(facts, [f"{before:,} bytes before, {after:,} now"])


@command(app, "verify", hidden=True)
def verify_store(
    *,
    set_aside: SetAside = False,
    journal: JournalFolder = None,
    store: StoreFolder = None,
) -> Answer:
    """Compare every file of the store with its digests; the old name of `store info --verify`.

    The evidence log is looked at, too, and what it knows of imports whose plan is gone. Ends with status 3 if
    something is not as it was written. Example:

        dialframe store verify
    """
    from dialframe.flows.machine_checks import describe_lost_plans
    from dialframe.store import damage as checks

    problems: dict[str, list[Problem]] = {}
    lost: list[str] = []
    evidence = _evidence(store, journal)
    for path in _stores(store, needed=not evidence.exists) if journal is None else ():
        # All stores of the folder, since nobody knows which account a damaged one was of.
        if set_aside:
            lost += checks.give_up(path)
        problems[path.name] = checks.verify(path)
    if evidence.exists:
        words = evidence.verify() or (describe_lost_plans(_root(store)) if journal is None else [])
        problems["evidence"] = [checks.Problem(evidence.path.name, line) for line in words]
    rows = {name: [asdict(each) for each in damages] for name, damages in problems.items()}
    summary = [*lost]
    for name, damages in problems.items():
        summary += [f"{Path(name) / damage.file}: {damage.what}" for damage in damages]
        summary.append(f"{name}: {f'{len(damages)} problems' if damages else 'whole'}")
    if any(problems.values()):
        summary.append("dialframe store restore brings back what a backup has")
    status = FINDINGS if lost or any(problems.values()) else OK
    return Answer({"stores": rows, "lost": lost}, summary, status)


@command(app, hidden=True)
def repair(journal: JournalFolder = None, store: StoreFolder = None) -> Answer:
    """Make the evidence log whole from every record that can be read.

    Files of a store are brought back from a backup, or set aside: dialframe store info --set-aside. Example:

        dialframe store repair
    """
    evidence = _evidence(store, journal)
    mended = evidence.repair() if evidence.exists else []
    return Answer({"repaired": {"evidence": mended}}, mended or ["nothing to repair"])


@command(app)
def backup(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Folder for backups, outside of the store; else that of dialframe.toml."
        ),
    ] = None,
    every: Annotated[
        Literal["day", "week"] | None,
        typer.Option(
            help="Do nothing where the last backup is younger; else as dialframe.toml says."
        ),
    ] = None,
    store: StoreFolder = None,
) -> Answer:
    """Bring a backup of the whole store up to date.

    What the backup has already is not copied again. The evidence log goes with it. What is damaged is not backed up, and says so. Without a folder, [backup] of
    dialframe.toml says where to and how often, so that a timer may run it every hour. Example:

        dialframe store backup /mnt/backups --every day
    """
    from dialframe.files import staged_folder
    from dialframe.firm import FILE_NAME, Firm
    from dialframe.store import backups

    wished = Firm.find(Path.cwd()).backup
    if folder is None:
        folder, every = wished.to, every or wished.every
    if folder is None:
        raise ConfigError(f"name a folder for backups, or write [backup] to = ... in {FILE_NAME}")
    stores, now = _stores(store), datetime.now(UTC)
    made_at = [backups.made_at(folder / path.name) for path in stores]
    if every is not None and all(at and now - at < _EVERY[every] for at in made_at):
        line = f"{folder}: the last backup is less than a {every} old; nothing was done"
        return Answer({"backups": []}, [line])
    archives = [backups.backup(path, folder) for path in stores]
    log = EvidenceLog.beside(_root(store))
    if log.exists:
        with staged_folder(EvidenceLog.beside(folder).folder, replace=True) as staging:
            log.copy_to(staging)
        archives.append(EvidenceLog.beside(folder).folder)
    names = [str(path) for path in archives]
    return Answer({"backups": names}, (f"{name}: up to date" for name in names))


@command(app)
def restore(
    folder: Annotated[Path, typer.Argument(help="Folder that `store backup` wrote.")],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace what is there."),
    ] = False,
    store: StoreFolder = None,
) -> Answer:
    """Bring back what is missing or damaged from a backup.

    With --replace the whole backup takes the place of the store. Whoever was forgotten since the backup is erased from it again, and what was pruned is deleted again. The evidence log that is here stays, and takes in
    what only the backup knows. Example:

        dialframe store restore /mnt/backups
    """
    from dialframe.store import Store, backups

    sources = [path.parent for path in sorted(folder.glob(f"*/{backups.MANIFEST}"))]
    backed_up = EvidenceLog.beside(folder)
    if not sources and not backed_up.exists:
        raise ConfigError(f"{folder} holds no backup; name the folder that store backup was given")
    root, now = _root(store), datetime.now(UTC)
    log = EvidenceLog.beside(root)
    # What can be read of a damaged log stays; the backup brings the rest.
    log.repair()
    added = log.take_in(backed_up)
    lines = [f"{added} records of the backup are in the evidence log again"] if added else []
    restored: dict[str, str | None] = {}
    mended: dict[str, list[str]] = {}
    erased = pruned = 0
    for source in sources:
        place = root / source.name
        names = None if replace or not place.exists() else backups.mend(source, place)
        if names:
            mended[source.name] = names
            lines.append(f"{place}: {len(names)} files brought back")
            continue
        # What stands there is kept beside it: a backup may be older than somebody thinks.
        kept = backups.restore(source, place, now, replace=replace)
        restored[source.name] = str(kept) if kept else None
        lines.append(f"{place}: restored" + (f"; what stood there is {kept}" if kept else ""))
        # Opening it erases whoever was forgotten since.
        with Store.open(place) as opened:
            erased += opened.erased_at_open
            pruned += opened.prune_again()
    if erased:
        lines.append(f"{erased} versions of persons who were forgotten since are erased again")
    if pruned:
        lines.append(f"{pruned} versions that were pruned since are deleted again")
    facts = {
        "restored": restored,
        "mended": mended,
        "evidence": added,
        "erased": erased,
        "pruned": pruned,
    }
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


def _stores(store: Path | None, *, needed: bool = True) -> list[Path]:
    from dialframe.store.damage import stores

    root = _root(store)
    # Looked for on the disk, and no key is asked for: a damaged store has to be found without one.
    folders = stores(root)
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
