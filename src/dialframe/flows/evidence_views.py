"""What the evidence log says of numbers, as the tables that an audit and the gate read."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from dialframe.evidence import EvidenceLog, Record
from dialframe.flows.evidence_files import KINDS, runs
from dialframe.privacy import E164

if TYPE_CHECKING:
    import pandas as pd

_TICK: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Logged:
    """What the log says of a firm's numbers, as the tables of an audit; None where it says nothing of the kind.

    Attributes:
        requests: Whatever prohibited a number at any time: `phone, at, ref, code, source, ended_at`.
        recorded: Consents that were recorded at the service: `phone, kind, granted_at, record`; no whole table, since a
            firm may keep others elsewhere.
        scrubs: Columns `phone, list, checked_at, listed, listed_on`.
        consents: Columns `phone, kind, granted_at, expires_at, revoked_at, revoked_for, record`.
        look_ups: Columns `phone, checked_at, result, ported_at`.
        relationships: Records that lift rules: `phone, campaign_id, from_at, until_at, code, record, kind`.
        line_types: Number to `wireless`, `residential` or `business`, by the newest record.
    """

    requests: pd.DataFrame | None = None
    recorded: pd.DataFrame | None = None
    scrubs: pd.DataFrame | None = None
    consents: pd.DataFrame | None = None
    look_ups: pd.DataFrame | None = None
    relationships: pd.DataFrame | None = None
    line_types: Mapping[str, str] = field(default_factory=dict)


#: Reasons of the firm's own list that are somebody's wish; an entry of a register is none.
_WISHES: Final = ("opt_out", "complaint", "consent_withdrawn")


def tables_of(
    log: EvidenceLog,
    numbers: Callable[[], Sequence[str]],
    *,
    until: datetime,
    rows: Callable[[], Container[str]] = frozenset,
    more: Sequence[Record] = (),
) -> Logged:
    """What the log says up to a moment: requests not to be called, and the files that were taken and not taken back.

    Args:
        log: The evidence log.
        numbers: Numbers that are asked about, for hashes, and for registries, which hold more than anybody asks about.
        until: Records of later count for nothing.
        rows: Ids of the calls, leads and events that the audit reads itself: what they say is not said twice.
        more: Records that are in no log, such as those of files that the firm file names.
    """
    logged = Logged(
        _frame(list(_requests(log, numbers, until, rows)), "phone at ref code source ended_at"),
        _frame(list(_read_consents(log, until)), "phone kind granted_at record"),
    )
    return _of_files(log, numbers, until, more, logged)


def _requests(
    log: EvidenceLog,
    numbers: Callable[[], Sequence[str]],
    until: datetime,
    rows: Callable[[], Container[str]],
) -> Iterator[tuple[Any, ...]]:
    """Every wish not to be called, and every entry of the firm's own list, from when to when."""
    wishes = list(log.wishes(at=until))
    # Who is known by a hash alone is found by the numbers that are asked about.
    if any(number[0] != "+" for number, *_ in wishes):
        asked = {number for number in numbers() if E164.fullmatch(number)}
        wishes = list(log.wishes(asked, at=until))
    known = rows() if any(record.kind == "refusal" for _, record, _ in wishes) else frozenset()
    for number, record, ended_at in wishes:
        code = str(record.detail.get("reason") or record.kind)
        if record.kind == "refusal":
            ref = str(record.detail.get("row") or "")
            if ref in known:
                continue
            source = "event"
        elif record.kind == "dnc_add":
            # What `suppress push` sent by a client without a journal stands as its list's own entry.
            source = "dnc.add" if record.source == "dnc.add" else "suppression"
            ref = record.run or record.source
            code = str(record.detail.get("reason") or "dnc.add")
        else:
            ref, source = record.source, "suppression" if code in _WISHES else "own list"
        yield number, record.at, ref, code, source, ended_at


def _read_consents(log: EvidenceLog, until: datetime) -> Iterator[tuple[Any, ...]]:
    """Consents that went to the service."""
    for record in log.records(["consent"], until=until + _TICK):
        if record.source == "consents.record" and record.number and record.number[0] == "+":
            where = f"consents.record {record.run}: {record.detail.get('source', '')}"
            yield record.number, "any", record.detail["obtained_at"], where


def _of_files(
    log: EvidenceLog,
    numbers: Callable[[], Sequence[str]],
    until: datetime,
    more: Sequence[Record],
    logged: Logged,
) -> Logged:
    counting = {each.run for each in runs(log) if not each.detail["undone"]}
    taken = log.records(list(KINDS.values()), until=until + _TICK) if counting else ()
    by_kind: dict[str, list[Record]] = {}
    for record in (*(r for r in taken if r.run in counting), *(r for r in more if r.at <= until)):
        by_kind.setdefault(record.kind, []).append(record)
    if not by_kind:
        return logged
    scrubs = [
        (r.number, r.list, r.at, r.detail["listed"], r.detail.get("listed_on"))
        for r in by_kind.get("scrub", ())
    ]
    scrubs += _of_registries(by_kind.get("registry", ()), numbers) if "registry" in by_kind else []
    consents = [
        (r.number, r.detail.get("kind"), r.at, r.detail.get("expires_at"), r.detail.get("revoked_at"), r.detail.get("revoked_for"),
         r.detail.get("record") or f"{r.source}, line {r.detail['line']}")
        for r in by_kind.get("consent", ())
    ]  # fmt: skip
    types = by_kind.get("line_type", [])
    look_ups: list[tuple[Any, ...]] = [
        (r.number, r.at, r.detail["result"], None) for r in by_kind.get("reassigned", ())
    ]
    look_ups += [
        (r.number, None, None, r.detail["ported_at"]) for r in types if "ported_at" in r.detail
    ]
    relationships = [
        (
            r.number,
            r.detail.get("campaign"),
            r.at,
            r.detail.get("until_at"),
            "ebr",
            r.detail["record"],
            r.detail["kind"],
        )
        for r in by_kind.get("relationship", ())
    ]
    return replace(
        logged,
        scrubs=_frame(scrubs, "phone list checked_at listed listed_on"),
        consents=_frame(
            consents, "phone kind granted_at expires_at revoked_at revoked_for record"
        ),
        look_ups=_frame(look_ups, "phone checked_at result ported_at"),
        relationships=_frame(relationships, "phone campaign_id from_at until_at code record kind"),
        line_types={
            r.number: r.detail["line_type"]
            for r in sorted(types, key=lambda r: r.at)
            if r.number and "line_type" in r.detail
        },
    )


def _of_registries(
    records: Sequence[Record], numbers: Callable[[], Sequence[str]]
) -> list[tuple[Any, ...]]:
    """Each number that is asked about against each version of a registry that covers it: on it, or not."""
    versions = sorted((r for r in records if "version" in r.detail), key=lambda r: r.at)
    of_run: dict[str | None, list[Record]] = {}
    for record in records:
        if record.number is not None:
            of_run.setdefault(record.run, []).append(record)
    asked = sorted(set(numbers()))
    standing: dict[str | None, set[str]] = {}
    rows = []
    for version in versions:
        on, covers = standing.setdefault(version.list, set()), tuple(version.detail["covers"])
        rows_of = of_run.get(version.run, [])
        if version.detail["version"] == "full":
            on -= {number for number in on if number.startswith(covers)}
        # A list of changes says nothing of a number without the full list that it follows.
        elif not any(
            v.detail["version"] == "full" and v.list == version.list and v.at <= version.at
            for v in versions
        ):
            rows += [(r.number, r.list, r.at, r.detail["listed"], None) for r in rows_of]
            continue
        for record in rows_of:
            (on.add if record.detail["listed"] else on.discard)(record.number or "")
        rows += [
            (n, version.list, version.at, n in on, None) for n in asked if n.startswith(covers)
        ]
    return rows


def _frame(rows: Sequence[tuple[Any, ...]], names: str) -> pd.DataFrame | None:
    import pandas as pd

    if not rows:
        return None
    frame = pd.DataFrame(rows, columns=names.split())
    for name in frame.columns:
        if name == "at" or name.endswith(("_at", "_on")):
            frame[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601").astype(
                "datetime64[us, UTC]"
            )
        elif name != "listed":
            frame[name] = frame[name].astype("str").where(frame[name].notna(), None)
    return frame
