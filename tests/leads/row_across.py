"""Records of all files judged against each other: prohibitions and repetition; knows no cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dialframe.leads.reasons import BY_CODE, RANK
from leads.row_findings import Assessed, Finding


@dataclass(frozen=True, slots=True)
class Judged:
    """What stands against each record, over all files.

    Attributes:
        begins: First record of each file, and behind the last one the number of records.
        findings: Record to its findings, the one that decides first.
        kept: Record to the one that it repeats, or that forbids to call it.
        silenced: Records whose second number must not be called; it is left out.
    """

    begins: tuple[int, ...]
    findings: dict[int, list[Finding]]
    kept: dict[int, int]
    silenced: set[int]

    def outcome(self, record: int) -> str:
        """What becomes of the record."""
        found = self.findings.get(record)
        return BY_CODE[found[0].code].outcome if found else "clean"

    def file_of(self, record: int) -> int:
        """Place of the record's file."""
        return int(np.searchsorted(self.begins, record, side="right")) - 1


def judge(
    assessed: Sequence[Assessed],
    do_not_call: frozenset[str] = frozenset(),
    *,
    ids_are_unique: bool = True,
) -> Judged:
    """Compare all records with each other.

    Args:
        assessed: The files in the order in which they are compared.
        do_not_call: E.164 numbers that must not be called.
        ids_are_unique: Whether a second record under an external id is a repetition.
    """
    begins = tuple(np.cumsum([0, *(len(one.fields) for one in assessed)]).tolist())
    findings = {
        begin + row: list(found)
        for one, begin in zip(assessed, begins, strict=False)
        for row, found in one.findings.items()
    }
    judged = Judged(begins, findings, {}, set())
    phones = _column(assessed, "phone")
    _forbid(judged, assessed, do_not_call)
    _repeat(judged, phones, "duplicate_in_file", "phone")
    if ids_are_unique:
        _repeat(judged, _column(assessed, "external_id"), "duplicate_external_id", "external_id")
    for found in findings.values():
        found.sort(key=lambda finding: RANK[finding.code])
    return judged


def _column(assessed: Sequence[Assessed], name: str) -> pd.Series:
    return pd.concat([one.fields[name] for one in assessed], ignore_index=True)


def _forbid(judged: Judged, assessed: Sequence[Assessed], do_not_call: frozenset[str]) -> None:
    """Who says once not to call is not called under any record of the number or the person."""
    phones = _column(assessed, "phone")
    numbers: list[str] = phones.tolist()
    own = {
        record
        for record, found in judged.findings.items()
        if any(_forbids(finding) for finding in found)
    }
    first: dict[str, int] = {}
    for one, begin in zip(assessed, judged.begins, strict=False):
        for row, spoken in one.numbers.items():
            for number in spoken:
                first[number] = min(begin + row, first.get(number, begin + row))
    for record in sorted(own):
        if numbers[record]:
            first.setdefault(numbers[record], record)
    for record in np.flatnonzero(phones.isin(do_not_call).to_numpy()).tolist():
        _find(judged, record, Finding("on_dnc", "phone", numbers[record]))
    for record in np.flatnonzero(phones.isin(set(first)).to_numpy()).tolist():
        if record not in own:
            phone = numbers[record]
            _find(judged, record, Finding("opt_out_elsewhere", "phone", phone), first[phone])
    for name, keys in _persons(assessed).items():
        _forbid_persons(judged, keys, own, name)
    others = _column(assessed, "phone_other")
    forbidden = others.isin(do_not_call | set(first)).to_numpy()
    judged.silenced.update(np.flatnonzero(forbidden).tolist())


def _persons(assessed: Sequence[Assessed]) -> dict[str, pd.Series]:
    """What tells that two records are one person, by field: the external id, e-mail and name."""
    names = _column(assessed, "full_name").where(
        lambda full: full != "",
        _column(assessed, "first_name") + " " + _column(assessed, "last_name"),
    )
    emails = _column(assessed, "email").str.strip()
    both = emails + "\n" + names.str.strip()
    folded = both.where(emails != "", "").str.casefold()
    return {"external_id": _column(assessed, "external_id"), "email": folded}


def _forbid_persons(judged: Judged, keys: pd.Series, own: set[int], name: str) -> None:
    spoken = keys.iloc[sorted(own)]
    spoken = spoken[spoken != ""]
    if spoken.empty:
        return
    first = {key: record for record, key in reversed(list(spoken.items()))}
    for record in np.flatnonzero(keys.isin(set(first)).to_numpy()).tolist():
        if record not in own:
            key = keys.iloc[record]
            value = key.partition("\n")[0]
            _find(judged, record, Finding("opt_out_elsewhere", name, value), first[key])


def _repeat(judged: Judged, values: pd.Series, code: str, name: str) -> None:
    """Of records with the same value the first that nothing stands against is kept."""
    free = np.ones(len(values), dtype=bool)
    free[list(judged.findings)] = False
    own = values[free & (values != "").to_numpy()]
    repeated = own[own.duplicated()]
    if repeated.empty:
        return
    firsts = own[~own.duplicated()]
    kept = dict(zip(firsts, firsts.index, strict=True))
    for record, value in repeated.items():
        _find(judged, int(record), Finding(code, name, value), int(kept[value]))


def _forbids(finding: Finding) -> bool:
    return BY_CODE[finding.code].outcome == "do_not_call"


def _find(judged: Judged, record: int, finding: Finding, kept: int | None = None) -> None:
    judged.findings.setdefault(record, []).append(finding)
    if kept is not None:
        judged.kept.setdefault(record, kept)
