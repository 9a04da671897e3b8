"""Rebuilds an evidence pack from its own rules and calls, and compares everything that a person reads.

    python verify.py            (in the pack; needs Python and `pip install duckdb`, nothing else)

1. Every file is as `manifest.json` names it.
2. Queries, rule book and this program have the digests of the release (`release.json`), which are printed.
3. The rules that were asked (`rules/in_this_audit.json`) are those of the rule book beside them (`rules/*.toml`).
4. The tables of the law are made again from the rules, and are the tables that were used.
5. The queries, run again over them, find what `results/` holds.
6. Findings, counts, lists and summary say what the results say.

Ends with status 0 where all of it holds, 3 where something does not, 2 where the pack cannot be read. Both sides of
every comparison come out of the pack, so a pack whose author changed both agrees with itself: `dialframe audit verify`
compares it with an installed release and checks the signature. No pack can show that no call was left out of it.
"""

from __future__ import annotations

import csv
import hashlib
import json
import pathlib
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import duckdb

GRADES = ("pass", "not asked", "not evaluable", "uncertain", "violation")
#: Scripts that make tables of the law from the rules; the other files of `order.txt` are views, functions and checks.
LAW = ("law_tables", "reach", "law")
#: Lists of a row for each finding: their file, by the check whose table has the grade and rules of each.
LISTS = {
    "internal_dnc": "internal_dnc.csv",
    "abandonment": "abandonment.csv",
    "retention": "retention.csv",
}
#: A voluntary code that the firm adopted counts like a law.
_ADOPTED = ("voluntary_code", "adopted_code")


class Pack:
    """One pack: its folder, what was said of it, and what is wrong with it."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.lines: list[str] = []
        self.faults: list[str] = []
        self.manifest = self.json("manifest.json")
        #: Each rule that was asked: its id in the tables, the rule, and what sentences say of it.
        self.laws = self.json("rules/in_this_audit.json")
        #: Place of each in the book, and the id that lists name it by.
        self.places = {
            each["rule"]: (place, each["law"]["id"]) for place, each in enumerate(self.laws)
        }
        #: Views, functions and checks in the order in which they run.
        self.order = [name for name in self.text("checks/order.txt").split() if name not in LAW]
        #: The checks among them.
        self.checks = [
            name for name in self.order if (folder / "checks" / f"{name}.result.sql").is_file()
        ]
        self.con = duckdb.connect()

    def text(self, name: str) -> str:
        """A file of the pack."""
        return (self.folder / name).read_text(encoding="utf-8")

    def json(self, name: str) -> Any:
        """A file of the pack, read."""
        return json.loads(self.text(name))

    def csv(self, name: str) -> list[dict[str, str]]:
        """Rows of a list of the pack, without the mark that keeps a spreadsheet from running a cell."""
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return [{k: _cell(v) for k, v in row.items()} for row in csv.DictReader(file)]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query."""
        return self.con.execute(query).fetchall()

    def ids(self, rules: Iterable[str] | None) -> str:
        """Rules as a list names them: their ids in the order of the book, each once."""
        named = sorted(self.places[rule] for rule in rules or ())
        return "; ".join(dict.fromkeys(rule for _, rule in named))

    def compare(self, what: str, faults: Iterable[str], holds: str) -> None:
        """Say that something holds, or what is wrong with it."""
        wrong = [f"{what}: {fault}" for fault in faults]
        self.faults += wrong
        self.lines += wrong or [f"{what}: {holds}"]


def verify(folder: pathlib.Path) -> tuple[list[str], list[str]]:
    """Compare a pack with itself.

    Args:
        folder: The pack.

    Returns:
        What to say, line by line, and the faults among it.

    Raises:
        OSError, ValueError, KeyError, TypeError, duckdb.Error: The pack cannot be read.
    """
    pack = Pack(folder)
    with pack.con:
        signed = (folder / "manifest.sig").is_file()
        pack.lines.append(
            "signed: whose signature it is, and whether it holds, dialframe audit verify shows; this program does not"
            if signed
            else "UNSIGNED: nothing here proves who made this pack, or when, or that no call was left out of it"
        )
        files(pack)
        release(pack)
        rule_book(pack)
        rebuild(pack)
        readable(pack)
        own = "every comparison is of two things in this pack, by one author"
        pack.lines += [
            f"{_counted(len(pack.faults), 'difference')}"
            if pack.faults
            else f"all of it agrees; {own}",
            "not covered: who made the pack and when, whether calls were left out, which rules reach a call by what the firm "
            "declares of its calling (circumstance_rules), holidays by date (special_days), clocks (offsets), and the words "
            "of reasons and of the report",
        ]
    return pack.lines, pack.faults


def files(pack: Pack) -> None:
    """Hold every file against the manifest."""
    faults = []
    for each in pack.manifest["files"]:
        path = pack.folder / each["name"]
        if not path.is_file():
            faults.append(f"{each['name']} is missing")
        elif _digest(path) != each["sha256"]:
            faults.append(f"{each['name']} was changed")
    pack.compare(
        "files", faults, f"all {len(pack.manifest['files'])} are as manifest.json names them"
    )


def release(pack: Pack) -> None:
    """Print the digests of queries, rule book and this program beside those of the release."""
    said = pack.json("release.json")
    faults = []
    for path in [*sorted(pack.folder.glob("checks/*.sql")), pack.folder / "verify.py"]:
        name, digest = path.relative_to(pack.folder).as_posix(), _digest(path)
        same = said["files"].get(name) == digest
        pack.lines.append(f"  {digest}  {name}{'' if same else '  NOT THAT OF THE RELEASE'}")
        faults += [] if same else [f"{name} is not that of {said['tool']}"]
    for name in said["files"]:
        path = pack.folder / name
        if name.startswith("rules/") and (
            not path.is_file() or _digest(path) != said["files"][name]
        ):
            faults.append(f"{name} is not that of {said['tool']}")
    holds = f"queries, rule book and verify.py are those of {said['tool']}, by release.json of this pack"
    pack.compare("release", faults, holds)


def rule_book(pack: Pack) -> None:
    """Hold the rules that were asked against the rule book."""
    book = {
        rule["id"]: rule
        for path in sorted(pack.folder.glob("rules/*.toml"))
        for rule in tomllib.loads(path.read_text(encoding="utf-8")).get("rule", ())
    }
    faults: list[str] = []
    own: list[str] = []
    unsaid: dict[tuple[str, str], dict[str, list[str]]] = {}
    for each in pack.laws:
        law, origin = each["law"], each["own"]
        if origin is not None:
            own.append(f"{each['rule']} ({origin['what']} by {origin['by']}: {origin['why']})")
        elif law["id"] not in book:
            faults.append(f"{each['rule']} is no rule of the book")
        else:
            faults += _rule_faults(each, book[law["id"]], unsaid)
    # What the book leaves out is the same in every rule that leaves it out.
    for (kind, field), values in unsaid.items():
        for value, rules in sorted(values.items(), key=lambda pair: -len(pair[1]))[1:]:
            faults.append(
                f"{', '.join(rules)}: {field} of {kind} is {value}, of which the book says nothing"
            )
    pack.lines += [f"rule of the firm's own, not of the release: {each}" for each in own]
    holds = "those that were asked are those of the rule book, word for word"
    pack.compare(
        "rules", faults, holds + (f", but for {len(own)} of the firm's own" if own else "")
    )


def _rule_faults(
    asked: Mapping[str, Any],
    written: Mapping[str, Any],
    unsaid: dict[tuple[str, str], dict[str, list[str]]],
) -> Iterator[str]:
    """What of a rule that was asked is not what the book says; what the book leaves out is put into `unsaid`."""
    rule, law = asked["rule"], asked["law"]
    for field, value, said in _fields(law, written):
        if field in _of_part(rule, written):
            continue
        if said is _ABSENT:
            rules = unsaid.setdefault((law["kind"], field), {}).setdefault(json.dumps(value), [])
            rules.append(rule)
        elif value != said and not (field == "status" and (said, value) == _ADOPTED):
            yield f"{rule}: {field} is {_short(value)}, in the book {_short(said)}"
    if (law["confidence"] == "low" or law["conflicts"]) and not asked["doubt"]:
        yield f"{rule}: a rule of little confidence decides for certain"


def _of_part(rule: str, written: Mapping[str, Any]) -> frozenset[str]:
    """What a part of a rule that holds elsewhere or at another time says otherwise than the book."""
    if "/" in rule:
        return frozenset({"effective_from", "exemptions", "parameters.type"})
    until = "customer_exception_until" in written["parameters"]
    return frozenset({"effective_to"} if until else ())


_ABSENT = object()


def _fields(
    law: Mapping[str, Any], written: Any, path: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Each value of a rule with what the book says of it."""
    for name in {**law, **written}:
        value, said = law.get(name, _ABSENT), _plain(written.get(name, _ABSENT))
        if isinstance(value, dict) and isinstance(said, dict):
            yield from _fields(value, said, f"{path}{name}.")
        elif (
            isinstance(value, list)
            and isinstance(said, list)
            and len(value) == len(said)
            and value
            and isinstance(value[0], dict)
        ):
            for one, other in zip(value, said, strict=True):
                yield from _fields(one, other, f"{path}{name}.")
        else:
            yield f"{path}{name}", value, said


def _plain(value: Any) -> Any:
    """A value of TOML as JSON has it."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def rebuild(pack: Pack) -> None:
    """Make the law's tables again, run the checks, and compare both with what was used and found."""
    con = pack.con
    scripts = [pack.text(f"checks/{name}.sql") for name in LAW]
    made = {
        name
        for text in scripts
        for name in re.findall(r"(?m)^create or replace table (\w+)", text)
    }
    used = load(pack, made)
    # The queries are the pack's own, whoever made it: they reach no other file and no network.
    con.execute("set enable_external_access = false")
    con.execute("set lock_configuration = true")
    for text in scripts:
        con.execute(text)
    faults = [f"the table {name} was used and is not in the pack" for name in sorted(made - used)]
    for name in sorted(made & used):
        kinds = {row[0]: row[1] for row in con.execute(f"describe {name}").fetchall()}
        columns = ", ".join(
            f"epoch_us(timestamp '2000-01-01' + {c}) as {c}" if kind == "INTERVAL" else c
            for c, kind in kinds.items()
        )
        again, before = (f"select {columns} from {where}{name}" for where in ("", "used."))
        faults += _differences(pack, name, again, before)
    holds = f"all {len(made)} tables, made again from rules/, are the ones that were used"
    pack.compare("law", faults, holds)
    for name in pack.order:
        con.execute(pack.text(f"checks/{name}.sql"))
        if name in pack.checks:
            again = f"from ({pack.text(f'checks/{name}.result.sql')})"
            number = pack.rows(f"select count(*) from given.{name}")[0][0]
            faults = list(_differences(pack, "results/", again, f"from given.{name}"))
            pack.compare(name, faults, f"all {number} results found again")


def load(pack: Pack, made: set[str]) -> set[str]:
    """Load the tables of a pack; those that are made again go into a schema of their own.

    Returns:
        The names of the latter.
    """
    con = pack.con
    con.execute(f"create type grade as enum {GRADES}")
    con.execute("create schema used")
    con.execute("create schema given")
    tables = sorted((pack.folder / "tables").glob("*.parquet"))
    results = sorted((pack.folder / "results").glob("*.parquet"))
    spans: dict[str, list[str]] = {}
    for line in pack.text("tables/spans.txt").splitlines():
        table, column = line.split()
        spans.setdefault(table, []).append(column)
    names = [path.stem for path in (*tables, *results)]
    for word in (*pack.order, *(c for each in spans.values() for c in each), *names):
        if not word.isidentifier():
            raise ValueError(f"{word!r} is no name of a table or check")
    for path in tables:
        # A Parquet file holds no negative span of time: they are written in microseconds.
        columns = ", ".join(f"to_microseconds({c}) as {c}" for c in spans.get(path.stem, ()))
        replaced = f" replace ({columns})" if columns else ""
        where = "used." if path.stem in made else ""
        con.execute(
            f"create table {where}{path.stem} as select *{replaced} from read_parquet(?)",
            [str(path)],
        )
    for name in pack.checks:
        con.execute(
            f"create table given.{name} as select unnest(items) as item, * exclude (items) from read_parquet(?)",
            [str(pack.folder / "results" / f"{name}.parquet")],
        )
    con.execute(
        "create table laws (rule varchar, place bigint, asked boolean, law varchar, doubt varchar, "
        "parameters varchar, clock_offset_s bigint)"
    )
    rows = [
        [each["rule"], place, each["asked"], json.dumps(each["law"]), each["doubt"], json.dumps(each["words"]), each["clock_offset_s"]]
        for place, each in enumerate(pack.laws)
    ]  # fmt: skip
    con.executemany("insert into laws values (?, ?, ?, ?, ?, ?, ?)", rows)
    return {path.stem for path in tables} & made


def _differences(pack: Pack, name: str, again: str, used: str) -> Iterator[str]:
    """What of two queries' rows differs, as bags: two rows of one kind are two."""
    lost, new = (
        pack.rows(f"select count(*) from (({one}) except all ({other}))")[0][0]
        for one, other in ((used, again), (again, used))
    )
    if lost or new:
        yield f"{name}: {lost} rows are not made again, {new} are new"


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
            f"{_counted(grades.total(), unit)} checked, {_counted(grades['violation'], 'violation')}, "
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
    checks = _counted(len(rows), "check")
    begin = (
        f"Violations found by {len(bad)} of {checks}: {', '.join(bad)}"
        if bad
        else f"No violation found by {checks}"
    )
    left, lacking = (sum(1 for n in number[name] if n) for name in ("uncertain", "not_evaluable"))
    return (
        f"{begin}. {_counted(left, 'check')} left something uncertain, {lacking:,} lack an input. "
        "No finding does not mean a call was lawful."
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _bags(said: Counter[Any], made: Counter[Any]) -> Iterator[str]:
    more, fewer = said - made, made - said
    if more or fewer:
        first = next(iter(more or fewer))
        yield f"{sum(more.values())} rows are not in the results, {sum(fewer.values())} are missing; the first: {', '.join(filter(None, first))}"


def _cell(text: str | None) -> str:
    return (text or "").removeprefix("'")


def _shown(value: object) -> str:
    """A value of a row as a list has it."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else _cell(str(value))


def _short(value: object) -> str:
    text = "nothing" if value is _ABSENT else json.dumps(value)
    return text if len(text) < 80 else f"{text[:77]}..."


def _digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    """Verify the pack that the program lies in, or the one that is named."""
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    try:
        lines, faults = verify(folder if folder.is_dir() else folder.parent)
    except (
        OSError,
        duckdb.Error,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        print(f"the pack cannot be read: {error}")
        return 2
    print("\n".join(lines))
    return 3 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
