"""Holds what a person reads of an evidence pack against its results: findings, counts, lists, summary and report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

GRADES = ("pass", "not asked", "not evaluable", "uncertain", "violation")
#: Lists of a row for each finding: their file, by the check whose table has the grade and rules of each.
LISTS = {
    "internal_dnc": "internal_dnc.csv",
    "abandonment": "abandonment.csv",
    "retention": "retention.csv",
}


class Pack(Protocol):
    """A pack whose tables are loaded, as `verify.py` has it."""

    folder: Path
    checks: list[str]

    def text(self, name: str) -> str:
        """A file of the pack."""

    def json(self, name: str) -> Any:
        """A file of the pack, read."""

    def csv(self, name: str) -> list[dict[str, str]]:
        """Rows of a list of the pack."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query over its tables."""

    def ids(self, rules: Iterable[str] | None) -> str:
        """Rules as a list names them."""

    def compare(self, what: str, faults: Iterable[str], holds: str) -> None:
        """Say that something holds, or what is wrong with it."""


def readable(pack: Pack) -> None:
    """Hold what a person reads against the results."""
    counts = {name: Counts(pack, name) for name in pack.checks}
    pack.compare(
        "findings.csv",
        _bags(
            _listed_findings(pack),
            sum((_findings(pack, each) for each in counts.values()), Counter()),
        ),
        "every row is that of the results",
    )
    rows = pack.csv("counts.csv")
    faults = [
        f"{row['check']}: counts or sentence are not those of the results"
        for row in rows
        if (not counts[row["check"]].says(row) if row["check"] in counts else int(row["checked"]))
    ]
    missing = {name for name, each in counts.items() if each.grades} - {
        row["check"] for row in rows
    }
    faults += [f"{name} is missing" for name in sorted(missing)]
    pack.compare("counts.csv", faults, "counts and sentences are those of the results")
    for name, file in LISTS.items():
        if name in counts and (pack.folder / file).is_file():
            own: Counter[tuple[str, ...]] = Counter(
                (row["grade"], row["rule_id"]) for row in pack.csv(file)
            )
            made: Counter[tuple[str, ...]] = Counter(
                (grade, pack.ids(rules))
                for grade, rules in pack.rows(f"select grade::varchar, rules from {name}")
            )
            pack.compare(file, _bags(own, made), "grades and rules are those of the results")
    for path in sorted(pack.folder.glob("checks/*.csv.sql")):
        file = path.name.removesuffix(".sql")
        made = Counter(
            tuple(map(_shown, row)) for row in pack.rows(path.read_text(encoding="utf-8"))
        )
        own = Counter(tuple(row.values()) for row in pack.csv(file))
        pack.compare(file, _bags(own, made), "every row is that of the results")
    pack.compare(
        "summary.json",
        summary(pack, rows),
        "counts, sentences and verdict are those of counts.csv",
    )
    if (pack.folder / "report.html").is_file():
        pack.compare(
            "report.html", report(pack, rows), "the counts of every check are those of counts.csv"
        )


class Counts:
    """How many of each grade a check has, and how many wait for each missing input."""

    def __init__(self, pack: Pack, name: str) -> None:
        self.name = name
        self.grades: Counter[str] = Counter()
        self.missing: Counter[str] = Counter()
        tables = f"select 1 from duckdb_tables() where table_name = '{name}_grades'"
        self.by_call = bool(pack.rows(tables))
        table, number = (f"{name}_grades", "sum(calls)") if self.by_call else (name, "count(*)")
        for grade, missing, calls in pack.rows(
            f"select grade::varchar, missing, {number}::bigint from {table} group by all"
        ):
            self.grades[grade] += calls
            if grade == "not evaluable":
                self.missing[missing] += calls

    def says(self, row: Mapping[str, str]) -> bool:
        """Whether a row of `counts.csv` says the same."""
        shown = {grade: int(row[grade.replace(" ", "_")]) for grade in GRADES}
        return (
            shown == {grade: self.grades[grade] for grade in GRADES}
            and int(row["checked"]) == self.grades.total()
            and row["sentence"] == self.sentence(row["unit"].removesuffix("s"))
        )

    def sentence(self, unit: str) -> str:
        """The counts in words."""
        grades = self.grades
        words = (
            f"{counted(grades.total(), unit)} checked, {counted(grades['violation'], 'violation')}, "
            f"{grades['uncertain']:,} uncertain, {grades['not evaluable']:,} not evaluable"
        )
        order = sorted(self.missing.items(), key=lambda pair: (-pair[1], pair[0]))
        if order:
            named = [f"{name} ({number:,})" for name, number in order]
            words += (
                f" because {order[0][0] if len(order) == 1 else ' or '.join(named)} is missing"
            )
        left = grades["not asked"]
        return f"{words}; {left:,} not asked" if left else words


def _findings(pack: Pack, counts: Counts) -> Counter[tuple[str, ...]]:
    """The findings of a check as `_listed_findings` has them."""
    name = counts.name
    made: Counter[tuple[str, ...]] = Counter(
        (name, "not evaluable", str(number), missing, "", "", "", "", "")
        for missing, number in counts.missing.items()
    )
    if not counts.by_call:
        rows = f"select grade::varchar, rules from {name} where grade >= 'uncertain'::grade"
        made.update(
            (name, grade, "1", "", "", "", "", "", pack.ids(rules))
            for grade, rules in pack.rows(rows)
        )
        return made
    result = pack.text(f"checks/{name}.result.sql").partition(" where ")[0].partition(" from ")[2]
    rows = f"""
        select g.grade::varchar, c.call_id, c.to_number, c.campaign_id, strftime(c.at_utc, '%Y-%m-%dT%H:%M:%S.%fZ'), g.rules
        from {result} join calls c on c.call = m.call where g.grade >= 'uncertain'::grade"""
    for grade, *call, rules in pack.rows(rows):
        made[(name, grade, "1", "", *(_shown(each) for each in call), pack.ids(rules))] += 1
    return made


def _listed_findings(pack: Pack) -> Counter[tuple[str, ...]]:
    """The rows of `findings.csv`: check, grade, count, missing input, and of a call its id, number, campaign and time; rules."""
    listed: Counter[tuple[str, ...]] = Counter()
    for row in pack.csv("findings.csv"):
        alone = row["grade"] != "not evaluable"
        call = [
            row[name] if alone and row["call_id"] else ""
            for name in ("call_id", "phone", "campaign_id", "at")
        ]
        listed[
            (
                row["check"],
                row["grade"],
                row["count"],
                row["missing"],
                *call,
                row["rule_id"] if alone else "",
            )
        ] += 1
    return listed


def summary(pack: Pack, rows: list[dict[str, str]]) -> Iterator[str]:
    """What of the summary is not what the counts say."""
    said = pack.json("summary.json")
    names = {"checked": "checked", "passed": "pass", "violation": "violation", "uncertain": "uncertain",
             "not_evaluable": "not_evaluable", "not_asked": "not_asked"}  # fmt: skip
    for row, own in zip(rows, said["checks"], strict=False):
        if own["check"] != row["check"] or any(
            own[name] != int(row[other]) for name, other in names.items()
        ):
            yield f"the counts of {row['check']} are others"
    if len(rows) != len(said["checks"]):
        yield "it has another number of checks"
    if said["sentences"] != [row["sentence"] for row in rows]:
        yield "its sentences are others"
    if said["calls"] != sum(
        int(row["checked"]) for row in rows if row["check"] == "calling_hours"
    ):
        yield "its number of calls is another"
    if said["verdict"] != _verdict(rows):
        yield "its verdict is not what the counts say"
    not_asked = dict(pack.rows("select jurisdiction, calls from not_asked_places"))
    if said["not_asked"] != not_asked:
        yield "the jurisdictions that were not asked are others"


def report(pack: Pack, rows: list[dict[str, str]]) -> Iterator[str]:
    """Checks whose counts the report has otherwise: checked, violations, uncertain, not evaluable."""
    cells = re.findall(r'<td class="number[^"]*">([^<]*)</td>', pack.text("report.html"))
    shown = {tuple(cells[at : at + 4]) for at in range(len(cells))}
    for row in rows:
        counts = ("checked", "violation", "uncertain", "not_evaluable")
        if tuple(f"{int(row[name]):,}" for name in counts) not in shown:
            yield f"the counts of {row['check']} are others"


def _verdict(rows: list[dict[str, str]]) -> str:
    """The sentence of the audit, from its counts."""
    number = {
        name: [int(row[name]) for row in rows]
        for name in ("checked", "violation", "uncertain", "not_evaluable", "not_asked")
    }
    if all(
        a + b == c
        for a, b, c in zip(
            number["not_evaluable"], number["not_asked"], number["checked"], strict=True
        )
    ):
        return "Nothing was checked: there is no outbound call and no callable number, or what the checks need is missing."
    bad = [
        f"{row['check'].replace('_', ' ')} {int(row['violation']):,} of {int(row['checked']):,} {row['unit']}"
        for row in rows
        if int(row["violation"])
    ]
    checks = counted(len(rows), "check")
    begin = (
        f"Violations found by {len(bad)} of {checks}: {', '.join(bad)}"
        if bad
        else f"No violation found by {checks}"
    )
    left, lacking = (sum(1 for n in number[name] if n) for name in ("uncertain", "not_evaluable"))
    return (
        f"{begin}. {counted(left, 'check')} left something uncertain, {lacking:,} lack an input. "
        "No finding does not mean a call was lawful."
    )


def counted(number: int, noun: str) -> str:
    """A number of things in words."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _bags(said: Counter[Any], made: Counter[Any]) -> Iterator[str]:
    more, fewer = said - made, made - said
    if more or fewer:
        first = next(iter(more or fewer))
        yield f"{sum(more.values())} rows are not in the results, {sum(fewer.values())} are missing; the first: {', '.join(filter(None, first))}"


def cell(text: str | None) -> str:
    """A cell without the mark that keeps a spreadsheet from running it."""
    return (text or "").removeprefix("'")


def _shown(value: object) -> str:
    """A value of a row as a list has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else cell(str(value))
