"""Loads what another dialer exported, calls and leads, into the store of an account that needs no service."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dialframe import leads, phones, profiles
from dialframe.account.freshness import load_mark
from dialframe.errors import ConfigError, LeadFileError
from dialframe.evidence import Record
from dialframe.frames import CALLS, CAMPAIGNS, DISPOSITIONS, LEADS, Table
from dialframe.profiles import Column, Profile
from dialframe.store import FROM_FILE

if TYPE_CHECKING:
    from dialframe.account import Account

#: What may be loaded.
TABLES: Final = {"calls": CALLS, "leads": LEADS, "dispositions": DISPOSITIONS}
#: Reasons to set a row aside, in words.
REASONS: Final = {
    "no_start": "no start that can be read",
    "no_number": "no called number that can be read",
    "repeated": "its id stands earlier in the file",
    "no_direction": "neither inbound nor outbound",
}
_BATCH: Final = 5_000
_UNITS: Final = {"s": 1.0, "": 1.0, "ms": 0.001, "min": 60.0}
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of a file; `loaded` and `set_aside` sum to `rows`.

    Attributes:
        file: Name of the file.
        profile: Name of the profile that read it.
        rows: Records of the file.
        loaded: Records that are in the store now.
        set_aside: Records that are not, by reason.
        lines: Lines of the first of them, by reason.
        digest: SHA-256 of the file.
    """

    file: str
    profile: str
    rows: int
    loaded: int
    digest: str
    set_aside: Mapping[str, int] = field(default_factory=dict)
    lines: Mapping[str, list[int]] = field(default_factory=dict)


def profile_of(
    name: str | None, kind: str, header: Sequence[str], *, folder: Path | None = None
) -> Profile:
    """The profile that reads a file: by its name, `vicidial` or `vicidial_calls`, or recognized by the header.

    Args:
        name: Its name, or the path of a `.toml` file; None to recognize it.
        kind: What the file holds.
        header: Names of the columns of the file.
        folder: Folder with a person's own profiles.

    Raises:
        ConfigError: There is none, or it is of another kind.
    """
    known = profiles.names(kind, folder=folder)  # type: ignore[arg-type]
    if name is None:
        profile = profiles.recognize(header, kind=kind, folder=folder)  # type: ignore[arg-type]
        if profile is None:
            raise ConfigError(
                f"no known format of {kind} has these columns; say --as {', '.join(known)} or a profile's path"
            )
        return profile
    longer = f"{name}_{kind}"
    profile = profiles.load(longer if longer in known else name, folder=folder, kind=kind)  # type: ignore[arg-type]
    if profile.kind != kind:
        raise ConfigError(
            f"profile {name} reads {profile.kind}, not {kind}; use {', '.join(known)}"
        )
    return profile


def load(
    account: Account,
    table: str,
    path: Path,
    *,
    profile: str | None = None,
    region: str | None = None,
    zone: str | None = None,
    campaign: str | None = None,
    now: datetime,
) -> Loaded:
    """Load a file into the account's store; loading it again changes nothing.

    Args:
        account: Where it goes.
        table: `calls`, `leads` or `dispositions`.
        path: The file: CSV and its relatives, a spreadsheet, JSON or Parquet.
        profile: Name or path of the profile that reads it; None to recognize it by its header.
        region: ISO 3166 region of numbers that name no country.
        zone: IANA zone of clock times that name none, where the profile does not say it.
        campaign: Campaign of rows that name none.
        now: When it is loaded.

    Raises:
        ConfigError: No profile reads it, or nothing says in which zone its times are.
        LeadFileError: The file cannot be read.
        StoreError: The store refuses.
    """
    require(table, [path], profile)
    read = leads.read(path)
    frame = read.frame
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    header = [str(name) for name in frame.columns]
    chosen = profile_of(profile, table, header) if not _own(header, table) else None
    lines = [int(line) for line in read.lines]
    rows = Rows(header, frame.astype("str").fillna("").to_numpy(dtype=object).tolist(), lines)
    make = {"calls": _calls, "leads": _leads, "dispositions": _dispositions}[table]
    records, aside = (
        _plain(rows, table)
        if chosen is None
        else make(rows, chosen, region, zone or chosen.zone, campaign, path.name)
    )
    request_id = f"{FROM_FILE}{digest[:32]}"
    _append(account, TABLES[table], records, request_id, now)
    if table == "calls":
        _stand_in(account, request_id, now)
    counts = Counter(reason for reason, _ in aside)
    name = "dialframe" if chosen is None else chosen.name
    account.evidence.append([
        Record(kind="import", at=now, source=path.name, run=digest[:16],
               detail={"table": table, "profile": name, "sha256": digest, "rows": len(lines),
                       "loaded": len(records), "set_aside": dict(counts)})
    ])  # fmt: skip
    shown: dict[str, list[int]] = {}
    for reason, line in aside:
        shown.setdefault(reason, []).append(line)
    return Loaded(
        path.name, name, len(lines), len(records), digest, dict(counts),
        {reason: found[:_SHOWN] for reason, found in shown.items()},
    )  # fmt: skip


def require(table: str, paths: Sequence[Path], profile: str | None) -> None:
    """Refuse what cannot be loaded before anything is opened.

    Raises:
        ConfigError: There is no such table or profile.
        LeadFileError: There is no such file.
    """
    if table not in TABLES:
        raise ConfigError(f"{table!r} cannot be loaded; use {', '.join(TABLES)}")
    if profile is not None:
        profile_of(profile, table, ())
    for path in paths:
        if not path.is_file():
            raise LeadFileError(f"{path}: there is no such file")


def _stand_in(account: Account, request_id: str, now: datetime) -> None:
    """Campaigns by the names that calls have; numbers dialed in the place of leads, where no list was ever loaded.

    Nothing says when such a lead came, so that it has no creation, and no service screened it.
    """
    calls = account.calls()
    made: dict[Table, list[dict[str, Any]]] = {
        # What the service said of a campaign stays: a name alone would blank it.
        CAMPAIGNS: [
            {"id": name, "name": name}
            for name in sorted(
                set(calls["campaign_id"].dropna()) - set(account.campaigns()["id"].dropna())
            )
        ]
    }  # fmt: skip
    known = account.leads()
    if known["id"].astype("str").str.startswith(_DIALED).all():
        dialed = calls[(calls["direction"] == "outbound").to_numpy(bool, na_value=False)]
        tries = dialed.groupby(["campaign_id", "to_number"])["created_at"].agg(["size", "max"])
        made[LEADS] = [
            {"id": f"{_DIALED}{_short_hash(campaign, phone)}", "campaign_id": campaign, "phone": phone,
             "status": "contacted", "attempts": int(count), "last_attempt_at": last, "custom_fields": {}}
            for (campaign, phone), count, last in tries.itertuples()
        ]  # fmt: skip
    for table, records in made.items():
        _append(account, table, records, request_id, now)


def _append(
    account: Account,
    table: Table,
    records: Sequence[Mapping[str, Any]],
    request_id: str,
    now: datetime,
) -> None:
    """Store records, and that files said them."""
    for begin in range(0, len(records), _BATCH):
        part = records[begin : begin + _BATCH]
        account.store.append(table, part, observed_at=now, request_id=request_id)
    load_mark(table, now, account.store)


def _short_hash(*parts: object) -> str:
    return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:24]


#: How the ids of leads begin that were made of the numbers dialed.
_DIALED: Final = "dialed:"


@dataclass(frozen=True, slots=True)
class Rows:
    """A file as text: names of its columns, rows, and the line of each."""

    header: list[str]
    cells: list[list[str]]
    lines: list[int]

    def column(self, name: str | None) -> list[str]:
        """Cells of a column, blank where the file does not have it."""
        if name is None:
            return [""] * len(self.cells)
        at = self.header.index(name)
        return [row[at].strip() for row in self.cells]


_Made = tuple[list[dict[str, Any]], list[tuple[str, int]]]


def _own(header: Sequence[str], table: str) -> bool:
    """Whether the file is what `dialframe export` wrote: its columns are the table's own."""
    names = TABLES[table].names
    return len(set(names) & set(header)) >= 0.8 * len(names)


def _plain(rows: Rows, table: str) -> _Made:
    kinds = {column.name: column.kind for column in TABLES[table].columns}
    records = []
    for row in rows.cells:
        record: dict[str, Any] = {
            n: c or None for n, c in zip(rows.header, row, strict=True) if n in kinds
        }
        for name, kind in kinds.items():
            if kind in ("number", "integer") and record.get(name) is not None:
                record[name] = (
                    float(record[name]) if kind == "number" else int(float(record[name]))
                )
            elif kind == "instant" and record.get(name) is not None:
                record[name] = _instant(record[name], (), UTC)
        records.append(record)
    return records, []


class Reader:
    """Cells of a file by the role that a profile gives their columns."""

    def __init__(self, rows: Rows, profile: Profile) -> None:
        self.rows, self.profile = rows, profile
        self.columns: dict[str, Column] = {}
        for column in profile.matched(rows.header).values():
            self.columns.setdefault(column.role, column)

    def cells(self, role: str) -> list[str]:
        """Cells of a role, in the words of the profile where it has some for them."""
        column = self.columns.get(role)
        cells = self.rows.column(None if column is None else column.header)
        if column is None:
            return [self.profile.constants.get(role, "")] * len(cells)
        cells = [cell.removeprefix(column.prefix) for cell in cells]
        if column.values:
            cells = [cell if (said := column.meaning(cell)) is None else said for cell in cells]
        return cells

    def seconds(self, role: str) -> list[float | None]:
        """Lengths of a role in seconds; None where there is none."""
        column = self.columns.get(role)
        unit = "s" if column is None or column.unit is None else column.unit
        return [_length(cell, unit) for cell in self.cells(role)]

    def instants(self, role: str, zone: Callable[[], ZoneInfo]) -> list[datetime | None]:
        """Instants of a role, UTC; clock times without a zone are of the profile's, or the caller's."""
        column = self.columns.get(role)
        if column is None:
            return [None] * len(self.rows.cells)
        of = (lambda: zone_of(column.zone)) if column.zone else zone
        return [_instant(cell, column.formats, of) for cell in self.cells(role)]


def _length(cell: str, unit: str) -> float | None:
    if not cell:
        return None
    try:
        if ":" in cell:
            parts = [float(part) for part in cell.split(":")]
            return float(sum(value * 60.0**i for i, value in enumerate(reversed(parts))))
        return float(cell.replace(",", "")) * _UNITS.get(unit, 1.0)
    except ValueError:
        return None


def zone_of(name: str | None) -> ZoneInfo:
    """A time zone by its name.

    Raises:
        ConfigError: None is named, or there is no such zone.
    """
    if name is None:
        raise ConfigError(
            "the file's times name no zone; say whose clock it is, --zone America/New_York for instance"
        )
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ConfigError(
            f"there is no time zone {name!r}; use a name such as America/New_York"
        ) from None


def _instant(cell: str, formats: Sequence[str], zone: Any) -> datetime | None:
    """An instant, UTC; None where the cell is none."""
    if not cell:
        return None
    at = None
    for form in formats:
        try:
            at = datetime.strptime(cell, form)  # noqa: DTZ007 - the zone follows
            break
        except ValueError:
            continue
    if at is None:
        try:
            at = datetime.fromisoformat(cell)
        except ValueError:
            return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=zone() if callable(zone) else zone)
    return at.astimezone(UTC)


def numbers_in(cells: Sequence[str], region: str | None) -> list[str | None]:
    """Numbers of cells in E.164; None where a cell holds none."""
    read = phones.normalize(list(cells), region=region)["e164"]
    return [
        None if value is None or value != value else str(value) for value in read.astype(object)
    ]


def _calls(
    rows: Rows,
    profile: Profile,
    region: str | None,
    zone: str | None,
    campaign: str | None,
    source: str,
) -> _Made:
    reader = Reader(rows, profile)
    started = reader.instants("started", lambda: zone_of(zone))
    if "started" not in reader.columns and "date" in reader.columns:
        started = _day_and_clock(reader, zone)
    ended, answered = (
        reader.instants(role, lambda: zone_of(zone)) for role in ("ended", "answered")
    )
    length, talk, ring = (reader.seconds(role) for role in ("duration", "talk", "ring"))
    ids, ways, status, flags = (
        reader.cells(role) for role in ("id", "direction", "status", "answered_flag")
    )
    to, caller = (numbers_in(reader.cells(role), region) for role in ("to_number", "from_number"))
    disposition, cause, campaigns = (
        reader.cells(role) for role in ("disposition", "hangup_cause", "campaign")
    )
    over, words = (
        profile.settings.get("answered_over_s"),
        profile.settings.get("answered_status", ()),
    )
    records, aside, seen = [], [], set()
    for i, line in enumerate(rows.lines):
        begin, way = started[i], ways[i].casefold()
        reason = (
            "no_start" if begin is None else "no_direction" if way not in ("inbound", "outbound")
            else "no_number" if (to[i] if way == "outbound" else caller[i]) is None else ""
        )  # fmt: skip
        # A log without ids has one made of what tells its rows apart, so that loading it twice is loading it once.
        key = ids[i] or _short_hash(begin, caller[i], to[i], length[i])
        if not reason and key in seen:
            reason = "repeated"
        if reason or begin is None:
            aside.append((reason, line))
            continue
        seen.add(key)
        spoken = talk[i]
        if flags[i]:
            picked = flags[i] == "yes"
        elif words:
            picked = status[i].casefold() in words
        else:
            picked = (
                spoken > 0
                if spoken is not None
                else over is not None and (length[i] or 0.0) > over
            )
        end = ended[i] or (
            None if length[i] is None else begin + timedelta(seconds=length[i] or 0.0)
        )
        at = answered[i]
        if at is None and picked:
            after = ring[i] if ring[i] is not None else None
            if after is None and spoken is not None and length[i] is not None:
                after = max((length[i] or 0.0) - spoken, 0.0)
            at = begin + timedelta(seconds=after or 0.0)
        records.append({
            "id": f"{profile.name}:{key}", "direction": way, "from_number": caller[i], "to_number": to[i],
            "status": status[i] or ("completed" if picked else "no_answer"), "created_at": begin, "answered_at": at,
            "ended_at": end or begin, "duration_seconds": spoken if spoken is not None else length[i],
            "campaign_id": campaigns[i] or campaign or Path(source).stem,
            "disposition": disposition[i] or None, "hangup_cause": cause[i] or None,
        })  # fmt: skip
    return records, aside


def _day_and_clock(reader: Reader, zone: str | None) -> list[datetime | None]:
    """Instants of a file whose days and clock times are columns of their own."""
    day, clock = reader.columns["date"], reader.columns.get("clock")
    forms = [f"{a} {b}" for a in day.formats for b in (clock.formats if clock else ("",))]
    cells = zip(reader.cells("date"), reader.cells("clock"), strict=True)
    return [
        _instant(f"{a} {b}".strip(), [form.strip() for form in forms], lambda: zone_of(zone))
        for a, b in cells
    ]


def _leads(
    rows: Rows,
    profile: Profile,
    region: str | None,
    zone: str | None,
    campaign: str | None,
    source: str,
) -> _Made:
    del zone
    reader = Reader(rows, profile)
    numbers = numbers_in(reader.cells("phone"), region)
    ids, names, sources = (reader.cells(role) for role in ("external_id", "full_name", "source"))
    records, aside, seen = [], [], set()
    for i, line in enumerate(rows.lines):
        phone = numbers[i]
        key = ids[i] or _short_hash(source, phone)
        if phone is None or key in seen:
            aside.append(("no_number" if phone is None else "repeated", line))
            continue
        seen.add(key)
        records.append({
            "id": f"{profile.name}:{key}", "campaign_id": campaign or Path(source).stem, "external_id": ids[i] or None,
            "phone": phone, "full_name": names[i] or None, "status": "new",
            "custom_fields": {"lead_source": sources[i]} if sources[i] else {},
            "created_at": None,
        })  # fmt: skip
    return records, aside


def _dispositions(
    rows: Rows,
    profile: Profile,
    region: str | None,
    zone: str | None,
    campaign: str | None,
    source: str,
) -> _Made:
    del region, zone, source
    reader = Reader(rows, profile)
    days, codes, counts, campaigns = (
        reader.cells(r) for r in ("date", "disposition", "calls", "campaign")
    )
    records, aside = [], []
    for i, line in enumerate(rows.lines):
        count = _length(counts[i], "s")
        if not days[i] or count is None:
            aside.append(("no_start", line))
            continue
        records.append({"date": days[i], "campaign_id": campaigns[i] or campaign, "disposition": codes[i] or None,
                        "calls": int(count)})  # fmt: skip
    return records, aside
