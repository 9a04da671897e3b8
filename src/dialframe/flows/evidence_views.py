"""What the files of evidence in the log say of numbers, as the tables that an audit and the gate read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from dialframe.evidence import EvidenceLog, Record
from dialframe.flows.evidence_files import KINDS, runs

if TYPE_CHECKING:
    import pandas as pd

_TICK: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Logged:
    """What the log says of a firm's numbers, as the tables of an audit; None where it says nothing of the kind.

    Attributes:
        scrubs: Columns `phone, list, checked_at, listed, listed_on`.
        consents: Columns `phone, kind, granted_at, expires_at, revoked_at, revoked_for, record`.
        look_ups: Columns `phone, checked_at, result, ported_at`.
        relationships: Records that lift rules: `phone, campaign_id, from_at, until_at, code, record, kind`.
        line_types: Number to `wireless`, `residential` or `business`, by the newest record.
    """

    scrubs: pd.DataFrame | None = None
    consents: pd.DataFrame | None = None
    look_ups: pd.DataFrame | None = None
    relationships: pd.DataFrame | None = None
    line_types: Mapping[str, str] = field(default_factory=dict)


def tables_of(
    log: EvidenceLog,
    numbers: Callable[[], Sequence[str]],
    *,
    until: datetime,
    more: Sequence[Record] = (),
) -> Logged:
    """What the files that were taken and not taken back say up to a moment, and further records.

    Args:
        log: The evidence log.
        numbers: Numbers that are asked about, for registries, which hold more than anybody asks about.
        until: Records of later count for nothing.
        more: Records that are in no log, such as those of files that the firm file names.
    """
    counting = {each.run for each in runs(log) if not each.detail["undone"]}
    logged = log.records(list(KINDS.values()), until=until + _TICK) if counting else ()
    by_kind: dict[str, list[Record]] = {}
    for record in (*(r for r in logged if r.run in counting), *(r for r in more if r.at <= until)):
        by_kind.setdefault(record.kind, []).append(record)
    if not by_kind:
        return Logged()
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
    return Logged(
        _frame(scrubs, "phone list checked_at listed listed_on"),
        _frame(consents, "phone kind granted_at expires_at revoked_at revoked_for record"),
        _frame(look_ups, "phone checked_at result ported_at"),
        _frame(relationships, "phone campaign_id from_at until_at code record kind"),
        {
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
        if name.endswith(("_at", "_on")):
            frame[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601").astype(
                "datetime64[us, UTC]"
            )
        elif name != "listed":
            frame[name] = frame[name].astype("str").where(frame[name].notna(), None)
    return frame
