"""Rebuilds an evidence pack from its own rules and calls, and compares everything that a person reads.

    python verify.py            (in the pack; needs Python and `pip install duckdb`, nothing else)

Where a rule says no more than "public holiday" its days are those of the library `holidays`, which is looked for.

1. Every file is as `manifest.json` names it.
2. Queries, rule book and this program have the digests of the release (`release.json`), which are printed.
3. The rules that were asked (`rules/in_this_audit.json`) are those of the rule book beside them (`rules/*.toml`).
4. The tables of the law are made again from the rules, and are the tables that were used: what each rule asks, which
   rules reach which calls, and by `program/closed_days.py` and `program/utc_offsets.py` the holidays, deadlines and clocks.
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
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

import duckdb

if __package__:
    from dialframe.compliance.pack import lists
    from dialframe.compliance.rules import closed_days
    from dialframe.compliance.tables import utc_offsets
else:  # in a pack, which no compiled file may be added to
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "program"))
    import closed_days  # type: ignore[import-not-found,no-redef]
    import lists  # type: ignore[import-not-found,no-redef]
    import utc_offsets  # type: ignore[import-not-found,no-redef]

#: Scripts that make tables of the law from the rules; the other files of `order.txt` are views, functions and checks.
LAW = ("law_tables", "reach", "law")
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
            return [{k: lists.cell(v) for k, v in row.items()} for row in csv.DictReader(file)]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of a query."""
        return self.con.execute(query).fetchall()

    def ids(self, rules: Iterable[str] | None) -> str:
        """Rules as a list names them: their ids in the order of the book, each once."""
        named = sorted(self.places[rule] for rule in rules or ())
        return "; ".join(dict.fromkeys(rule for _, rule in named))

    def days(self) -> tuple[date, date]:
        """The first and the last day of the law that the audit looked at: two days about its first and last record."""
        ((first, last),) = self.rows(f"select min(day), max(day) from ({_LAW_DAYS})")
        return max(first, date(1971, 1, 1)), min(last, date(2099, 1, 1))

    def pin(self, package: str) -> str:
        """How to install what a table was made by."""
        version = self.manifest.get("facts", {}).get("versions", {}).get(package, "")
        return f"pip install {package}{f'=={version}' if version else ''}"

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
        law(pack)
        results(pack)
        lists.readable(pack)
        own = "every comparison is of two things in this pack, by one author"
        pack.lines += [
            f"{lists.counted(len(pack.faults), 'difference')}"
            if pack.faults
            else f"all of it agrees; {own}",
            "taken as it stands: records of calls, leads, checks, requests and consents, what the firm declares of its calling "
            "(campaign_settings, callers, covers, conduct, exemptions), and the places of numbers (places), which "
            "dialframe audit verify makes again",
            "not covered: who made the pack and when, whether calls were left out, and the words of reasons and of the report",
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
    programs = sorted(pack.folder.glob("program/*.py"))
    for path in [*sorted(pack.folder.glob("checks/*.sql")), *programs, pack.folder / "verify.py"]:
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


def law(pack: Pack) -> None:
    """Make the law's tables again, and compare them with those that were used."""
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
    for name, what, dated in _DATED:
        dates(pack, name, what, dated)
    faults = [
        fault
        for name, (again, before) in _DERIVED.items()
        for fault in _differences(pack, name, again, before)
    ]
    pack.compare(
        "days of calls",
        faults,
        "the local days of every call, and its period of law, are found again",
    )


def results(pack: Pack) -> None:
    """Run the checks over the tables, and compare what they find with what was found."""
    for name in pack.order:
        pack.con.execute(pack.text(f"checks/{name}.sql"))
        if name in pack.checks:
            again = f"from ({pack.text(f'checks/{name}.result.sql')})"
            number = pack.rows(f"select count(*) from given.{name}")[0][0]
            faults = list(_differences(pack, "results/", again, f"from given.{name}"))
            pack.compare(name, faults, f"all {number} results found again")


def dates(
    pack: Pack, name: str, what: str, dated: Callable[[Pack, list[str]], Iterable[tuple[Any, ...]]]
) -> None:
    """Hold a table of days, deadlines or clocks against what the rules, the calendars and the zones say."""
    left: list[str] = []
    columns = [row[0] for row in pack.con.execute(f"describe {name}").fetchall()]
    made = Counter(dated(pack, left))
    used = Counter(pack.rows(f"select {', '.join(columns)} from {name}"))
    out = {rule.split(" ")[0] for rule in left}
    used = Counter({row: number for row, number in used.items() if row[0] not in out})
    if name == "special_days":
        # A firm's file may declare days for a rule, and nobody else can.
        named = {rule for (rule,) in pack.rows("from declared_rules")}
        of_file = {rule for rule, (_, law) in pack.places.items() if law in named}
        declared = Counter(
            {row: n for row, n in (used - made).items() if row[0] in of_file and row[2]}
        )
        used -= declared
        pack.lines += [
            f"declared by the firm's own file: {row[0]} {row[1]} {row[3]}"
            for row in sorted(declared)
        ]
    faults = [f"{name}: {len(list((used - made).elements()))} rows are not made again, {len(list((made - used).elements()))} are new"] if used != made else []  # fmt: skip
    pack.compare(what, faults, f"all {used.total()} rows of {name} are made again")
    pack.lines += [f"{what} NOT MADE AGAIN: {each}" for each in sorted(left)]


def _special_days(pack: Pack, left: list[str]) -> Iterator[tuple[Any, ...]]:
    statutes = {
        each["id"]: each for each in tomllib.loads(pack.text("rules/calendars.toml"))["calendar"]
    }
    first, last = pack.days()
    reached = {rule for (rule,) in pack.rows("select distinct rule from circumstance_rules")}
    for each in pack.laws:
        rule, law, parameters = each["rule"], each["law"], each["law"]["parameters"]
        if not each["asked"] or rule not in reached:
            continue
        try:
            if law["kind"] == "holiday":
                closed = closed_days.closed_days(parameters, {}, statutes, first, last)
                yield from ((rule, day, True, name, part) for day, name, part in closed)
            elif law["kind"] == "calling_hours":
                days = closed_days.own_hours(parameters, first, last)
                yield from ((rule, day, False, "", None) for day in sorted(days))
        except ImportError:
            left.append(f"{rule} goes by the library holidays; {pack.pin('holidays')}")


def _deadlines(pack: Pack, left: list[str]) -> Iterator[tuple[Any, ...]]:
    laws = {each["rule"]: each["law"] for each in pack.laws}
    for rule, zone, day in pack.rows("from wanted_deadlines"):
        try:
            end = closed_days.last_day(laws[rule], day) + timedelta(days=1)
        except ImportError:
            left.append(
                f"{rule} counts business days by the library holidays; {pack.pin('holidays')}"
            )
            continue
        midnight = datetime.combine(end, time(), utc_offsets.zone(zone))
        at = midnight.astimezone(utc_offsets.zone("UTC")).replace(tzinfo=None)
        yield rule, zone, day, at - timedelta(microseconds=1)


def _offsets(pack: Pack, left: list[str]) -> Iterator[tuple[Any, ...]]:
    zones = [zone for (zone,) in pack.rows(f"select distinct zone from ({_CLOCKS}) order by 1")]
    for zone in zones:
        try:
            yield from utc_offsets.offsets([zone], *pack.days())
        except KeyError:  # zoneinfo's error for a zone that is not in the database
            left.append(f"{zone} is in no database of zones here; {pack.pin('tzdata')}")


#: Tables that hold days and instants: name, what they are, and what makes their rows again.
_DATED = (("offsets", "clocks", _offsets), ("special_days", "holidays", _special_days), ("deadlines", "deadlines", _deadlines))  # fmt: skip
#: The days that the audit looked at.
_LAW_DAYS = """
  select unnest(range(coalesce(min(at_utc)::date, date '1971-01-01') - 2, coalesce(max(at_utc)::date, date '1971-01-01') + 3, interval 1 day))::date as day
  from (select at_utc from calls union all select at_utc from requests union all select revoked_at from consents)"""
#: The clocks of each place.
_CLOCKS = "select place, zone from place_zones union all select place, 'UTC' from places where place not in (select place from place_zones)"
#: Tables of days that follow from others: the query that makes the rows again, and that of those that were used.
_DERIVED = {
    "law_days": (
        f"select day, (select max(period) from periods where starts_on <= day) from ({_LAW_DAYS})",
        "select day, period from law_days",
    ),
    "place_clocks": (
        _CLOCKS,
        "select place, zone from place_clocks",
    ),
    "cases": (
        "select distinct circumstance, place, first_period, last_period from calls where missing_input is null",
        "select circumstance, place, first_period, last_period from cases",
    ),
    "calls": (
        """with clocks as (
          select c.call, min(o.utc_offset) as earliest, max(o.utc_offset) as latest from calls c join place_zones z using (place)
          join offsets o on o.zone = z.zone and c.at_utc >= o.since and c.at_utc < o.until group by c.call
        ), dated as (
          select c.*, i.to_number as given, i.created_at, (c.at_utc + coalesce(k.earliest, interval 0 hour))::date as first_made,
            (c.at_utc + coalesce(k.latest, interval 0 hour))::date as last_made from calls c join calls_in i using (call) left join clocks k using (call)
        )
        select d.call, d.given, d.created_at, first_made, last_made, coalesce(u.place, d.place), case when missing_input is null then a.period end,
          case when missing_input is null then b.period end, k.case_id
        from dated d left join circumstances u on u.circumstance = d.circumstance left join law_days a on a.day = first_made left join law_days b on b.day = last_made
        left join cases k on missing_input is null and k.circumstance = d.circumstance and k.first_period = d.first_period and k.last_period = d.last_period""",
        """select call, to_number, at_utc, first_day, last_day, place,
          case when missing_input is null then first_period end, case when missing_input is null then last_period end, case_id from calls""",
    ),
}


def load(pack: Pack, made: set[str]) -> set[str]:
    """Load the tables of a pack; those that are made again go into a schema of their own.

    Returns:
        The names of the latter.
    """
    con = pack.con
    con.execute(f"create type grade as enum {lists.GRADES}")
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
