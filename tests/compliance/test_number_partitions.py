"""An audit in parts: the findings, counts and notes are those of one audit of all calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dialframe.leads.dask_workers import dask_workers
from pandas.testing import assert_frame_equal

from compliance import hand
from dialframe import compliance
from dialframe.compliance import number_partitions as partitions
from dialframe.compliance.rules import rulebook
from dialframe.compliance.rules.rule_model import RecordingRule
from dialframe.compliance.rules.rulebook import RuleBook
from dialframe.compliance.tables.query_tables import Question
from dialframe.errors import ConfigError

BRAZIL = "+5511912345670"


@dataclasses.dataclass(frozen=True, eq=False)
class Account:
    """Tables of an account with everything in it that an audit reads."""

    leads: pd.DataFrame
    calls: pd.DataFrame
    checks: pd.DataFrame
    callbacks: pd.DataFrame
    question: Question

    @cached_property
    def whole(self) -> compliance.Audit:
        """One audit of all calls."""
        asked = {
            each.name: getattr(self.question, each.name)
            for each in dataclasses.fields(self.question)
            if each.name not in ("known_outcomes", "tells_answers", "plain_age", "every_row")
        }
        return compliance.audit(self.leads, self.calls, self.checks, self.callbacks, **asked)

    def rows(self) -> dict[str, partitions.Rows]:
        """The tables some rows at a time."""
        return {
            "calls": lambda: slices(self.calls),
            "leads": lambda: slices(self.leads),
            "dnc_checks": lambda: slices(self.checks),
        }


def slices(frame: pd.DataFrame, rows: int = 700) -> Iterator[pa.Table]:
    """A frame some rows at a time."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return (table.slice(start, rows) for start in range(0, table.num_rows, rows))


NUMBERS = (
    *(f"+1{code}5550{n:03d}" for code in (212, 312, 305, 850, 214, 713, 206) for n in range(100, 108)),
    *(f"+44207946{n:04d}" for n in range(900, 906)), *(f"+5511912345{n:03d}" for n in range(670, 676)),
    "+12", "not a number", None,
)  # fmt: skip


@cache
def codes_beside_law() -> RuleBook:
    """The book in which the rules on recordings are voluntary codes, as those of Brazil are on hours."""
    book, code = rulebook.load(), {"status": "voluntary_code"}
    rules = [r.model_copy(update=code) if isinstance(r, RecordingRule) else r for r in book.rules]
    return dataclasses.replace(book, rules=tuple(rules))


@cache
def drawn(seed: int, size: int) -> Account:
    """An account in which every kind of record there is stands beside rows that are odd."""
    rng = np.random.default_rng(seed)
    numbers = np.array(NUMBERS, dtype=object)

    def instants(first: str, days: int, rows: int) -> pd.Series:
        at = pd.Timestamp(first, tz="UTC") + pd.to_timedelta(
            np.sort(rng.integers(0, days * 86_400, rows)), "s"
        )
        return pd.Series(at).astype("datetime64[us, UTC]")

    def one_of(values: list[object], rows: int, shares: list[float] | None = None) -> pd.Series:
        picked = rng.choice(len(values), rows, p=shares)
        return pd.Series([values[n] for n in picked], dtype="str")

    at = instants("2026-06-01", 180, size)
    ids = [f"call_{n:05d}" for n in range(size)]
    for n in range(20, size, 97):
        ids[n] = ids[n - int(rng.integers(1, 20))]
    ids[5] = None
    calls = pd.DataFrame(
        {
            "id": pd.Series(ids, dtype="str"),
            "direction": one_of(["outbound", "inbound", " Inbound", None, "sideways"], size, [.9, .06, .02, .01, .01]),
            "from_number": one_of(["+16465550100", "+16465550101", BRAZIL], size, [.6, .39, .01]),
            "to_number": pd.Series(rng.choice(numbers, size), dtype="str"),
            "status": one_of(["completed", "failed"], size),
            "created_at": at.mask(pd.Series(rng.random(size) < .01)),
            "answered_at": (at + pd.Timedelta(seconds=8)).mask(pd.Series(rng.random(size) < .6)),
            "ended_at": at + pd.Timedelta(seconds=60),
            "duration_seconds": pd.Series(rng.integers(0, 90, size), dtype="Int64"),
            "campaign_id": one_of(["cmp_1", "cmp_2", None], size),
            "disposition": one_of(["NA", "SALE", "DNC", "ABANDON", "AM", "NI - DNC", "Opted Out", None], size,
                                  [.4, .2, .02, .15, .1, .02, .01, .1]),
            "hangup_cause": one_of(["NORMAL_CLEARING", "USER_BUSY", "41"], size),
            "recording": pd.Series([(True, False, None)[n % 3] for n in range(size)], dtype="boolean"),
        }
    )  # fmt: skip
    came_in = calls["direction"].str.strip().str.lower() == "inbound"
    asked = pd.Series(rng.choice(numbers, size), dtype="str")
    calls["from_number"] = calls["from_number"].mask(came_in.fillna(value=False), asked)
    few, leads = size // 6, pd.DataFrame(
        {
            "id": pd.Series([f"lead_{n}" for n in range(90)], dtype="str"),
            "campaign_id": one_of(["cmp_1", "cmp_2"], 90),
            "phone": pd.Series(rng.choice(numbers, 90), dtype="str"),
            "status": one_of(["new", "dnc", "completed"], 90, [.8, .1, .1]),
            "created_at": instants("2026-05-01", 60, 90),
            "updated_at": instants("2026-07-01", 100, 90),
        }
    )  # fmt: skip
    checks = pd.DataFrame(
        {
            "phone": pd.Series(rng.choice(numbers, few), dtype="str"),
            "listed": pd.array(rng.random(few) < .1, dtype="boolean"),
            "checked_at": instants("2026-05-15", 200, few),
            "request_id": pd.Series([f"req_{n}" for n in range(few)], dtype="str"),
        }
    )  # fmt: skip
    callbacks = pd.DataFrame(
        {
            "id": pd.Series([f"cb_{n}" for n in range(30)], dtype="str"),
            "lead_id": one_of([f"lead_{n}" for n in range(90)], 30),
            "campaign_id": one_of(["cmp_1", "cmp_2"], 30),
            "scheduled_at": instants("2026-06-01", 180, 30),
            "status": one_of(["pending", "completed"], 30),
        }
    )
    phones = [number for number in NUMBERS if number is not None and len(number) > 9][:40]
    consents = pd.DataFrame(
        {
            "phone": pd.Series(phones[:12] + phones[:4], dtype="str"),
            "kind": pd.Series(["written", "express"] * 8, dtype="str"),
            "granted_at": instants("2026-05-01", 100, 16),
            "revoked_at": instants("2026-08-01", 30, 16).mask(pd.Series(rng.random(16) < 0.5)),
        }
    )
    events = pd.DataFrame(
        {
            "phone": pd.Series(phones[::3], dtype="str"),
            "at": instants("2026-06-01", 150, len(phones[::3])),
            "ref": pd.Series([None] * len(phones[::3]), dtype="str"),
            "code": "opt_out", "source": one_of(["suppression", "dnc.add", "event"], len(phones[::3])),
        }
    )  # fmt: skip
    meaning = {"SALE": "live", "ABANDON": "dropped", "AM": "machine"}
    named = calls["id"].notna() & calls["disposition"].isin(list(meaning))
    outcomes = calls.loc[named].drop_duplicates("id").set_index("id")["disposition"].map(meaning)
    question = Question(
        now=datetime(2026, 11, 20, 12, tzinfo=UTC),
        since=datetime(2026, 6, 20, tzinfo=UTC),
        rulebook=codes_beside_law(),
        rules=["us", "us-fl", "us-tx", "br", "gb"],
        dnc_codes=["DNC"],
        known_codes=lambda code: code in {"NA", "SALE", "DNC", "ABANDON", "AM"},
        practice=hand.declared(covered_by=["check"]),
        consents=consents,
        outcomes=outcomes,
        events=events,
        began_at=datetime(2026, 5, 20, tzinfo=UTC),
    )
    return Account(leads, calls, checks, callbacks, question)


def audited(account: Account, parts: int, folder: Path, **given: Any) -> compliance.Audit:
    """The account in so many parts."""
    (folder / "rows").mkdir(parents=True)
    laid = partitions.split(account.rows(), folder / "rows", parts)
    return partitions.in_parts(
        laid, account.question, folder=folder, callbacks=account.callbacks, **given
    )


@pytest.mark.parametrize(("seed", "size", "parts"), [(1, 300, 3), (7, 30, 1)])
def test_the_findings_are_the_same_in_any_number_of_parts(
    seed: int, size: int, parts: int, tmp_path: Path
) -> None:
    """Findings, counts, notes and sums, bit for bit; a voluntary code grades a call by its own record in parts too."""
    account = drawn(seed, size)
    whole = account.whole
    codes = whole.parts["advisory_checks"].set_index("check")
    assert codes.loc["recording_consent", ["pass", "not_evaluable"]].all()
    assert len(whole.findings) > size
    assert whole.excluded["second row of a call that is already counted"]
    assert len(whole.parts["advisory"])
    audit = audited(account, parts, tmp_path)
    assert_frame_equal(audit.findings, whole.findings)
    assert_frame_equal(audit.checks, whole.checks)
    assert audit.notes == whole.notes
    assert audit.excluded == whole.excluded
    for name in (
        "rules", "abandonment", "retention", "not_asked", "unmapped", "advisory", "advisory_checks",
    ):  # fmt: skip
        assert_frame_equal(audit.parts[name], whole.parts[name], obj=name)


def test_parts_are_examined_by_processes_with_the_same_findings(tmp_path: Path) -> None:
    """Two Dask workers that share nothing but the folder."""
    account = drawn(7, 30)
    alone = account.whole
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        dask_workers(cluster.scheduler_address) as workers,
    ):
        together = audited(account, 2, tmp_path / "together", workers=workers)
    assert_frame_equal(together.findings, alone.findings)
    assert_frame_equal(together.checks, alone.checks)


def test_a_number_of_the_firms_records_is_in_one_part(tmp_path: Path) -> None:
    """Every record of consent and every request goes with the calls of its number, and none is lost."""
    account = drawn(4, 50)
    shares = partitions._shares(account.question, 3)
    for name in ("consents", "events"):
        phones = [set(share[name]["phone"]) for share in shares]
        assert sum(map(len, phones)) == len(set().union(*phones))
        assert sum(len(share[name]) for share in shares) == len(getattr(account.question, name))


def test_files_are_laid_out_as_their_rows_are(tmp_path: Path) -> None:
    """Read where they lie, they give the same rows, sums and words, field of the service's own and all."""
    account = drawn(6, 60)
    extra = pd.Series(['{"recording": true}', None, '{"recording":false}'] * 20, dtype="str")
    calls = account.calls.drop(columns="recording").assign(_extra=extra)
    account = dataclasses.replace(account, calls=calls)
    paths: dict[str, partitions.Rows] = {}
    for name, rows in account.rows().items():
        assert not isinstance(rows, partitions.Files)
        for number, part in enumerate(rows()):
            pq.write_table(part, tmp_path / f"{name}_{number}.parquet")
        paths[name] = partitions.Files(tuple(map(str, sorted(tmp_path.glob(f"{name}_*.parquet")))))
    laid = []
    for tables in (account.rows(), paths):
        folder = tmp_path / f"laid_{len(laid)}"
        folder.mkdir()
        laid.append(partitions.split(tables, folder, 2))
    by_rows, by_files = laid
    assert (by_files.rows, by_files.hashes) == (by_rows.rows, by_rows.hashes)
    assert by_files.answers == by_rows.answers
    assert_frame_equal(by_files.words, by_rows.words)
    for name, key in (("calls", "call"), ("leads", "lead"), ("dnc_checks", "check_no")):
        one, other = (
            pq.read_table(each.folder / name, partitioning=None).to_pandas() for each in laid
        )
        assert_frame_equal(one.sort_values(key), other.sort_values(key), check_like=True)
        assert list(one[key].sort_values()) == list(range(by_rows.rows[name]))


def test_a_table_without_a_column_is_refused(tmp_path: Path) -> None:
    """It is named, and nothing is laid out as if it were there."""
    account = drawn(5, 20)
    rows = account.rows() | {"calls": lambda: slices(account.calls.drop(columns="to_number"))}
    with pytest.raises(ConfigError, match="no column to_number"):
        partitions.split(rows, tmp_path, 2)
    (tmp_path / "laid").mkdir()
    file = tmp_path / "calls.parquet"
    pq.write_table(pa.Table.from_pandas(account.calls.drop(columns="to_number")), file)
    with pytest.raises(ConfigError, match="no column to_number"):
        partitions.split({"calls": partitions.Files((str(file),))}, tmp_path / "laid", 2)
