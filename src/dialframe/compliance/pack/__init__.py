"""The part of an evidence pack that anybody can run again: tables, rules, queries and `verify.py`.

`write(engine, folder)` lays five things into a folder: `tables/*.parquet` (every row that the
queries read), `rules/` (the rule book, and each rule as it was asked), `checks/*.sql` (the queries, in the
order of `checks/order.txt`), `results/*.parquet` (every call, number or request that did not
pass, together with all of the same grade, rules and missing input) and `release.json` (digests of what is the same
in every pack). `verify.py` beside them makes the law's tables from the rules and the findings from the tables again,
and compares every row; it needs DuckDB and nothing of this package.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata, resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dialframe import csv_safety
from dialframe.compliance.checks import BY_NAME, CHECKS, Check
from dialframe.compliance.engine import Engine, alike_columns, script
from dialframe.compliance.pack.verify import verify
from dialframe.compliance.tables import (
    Database,
    open_database,
    query,
    quoted,
    statements,
    utc_offsets,
)
from dialframe.phones.zones import place

if TYPE_CHECKING:
    import duckdb

__all__ = ["RELEASE", "misplaced", "release", "verify", "versions", "write"]

#: Tables that no check reads: rows as they came, and what was made of them alone.
_UNREAD: Final = frozenset({
    "leads_in", "callbacks_in", "outcomes_in", "requests_in", "consents_given", "look_ups_given", "scrubs_given", "measures", "placed",
    "place_keys", "known_states", "clocks_of_place", "repeated_ids", "endings", "laws",
})  # fmt: skip
#: Scripts whose views and functions the checks read.
_FUNCTIONS: Final = ("conduct", "records", "requests", "on_record")
#: Names the columns of spans of time among the tables.
SPANS: Final = "spans.txt"
#: The first query of a pack.
FUNCTIONS: Final = "functions"
#: Scripts that make tables of the law from the rules.
LAW: Final = ("law_tables", "reach", "law")
#: Digests of what is the same in every pack.
RELEASE: Final = "release.json"
#: Every rule of the tables, whole, the firm's own among them.
HELD: Final = "in_this_audit.json"
#: Every call with its grade by each check, and every number with its newest Do-Not-Call record.
LISTS: Final = ("calls.csv", "coverage.csv")
#: Columns that hold a number as an integer, and those that hold it as text.
_KEYS: Final = ("phone", "to_phone", "phone_key")
_TEXTS: Final = ("to_number", "from_number", "number")
#: Ids and numbers are not worth a dictionary.
PARQUET: Final = (
    "format parquet, compression zstd, compression_level 1, parquet_version v2, "
    "dictionary_size_limit 10000"
)
_CSV: Final = "format csv, header"


def write(engine: Engine, folder: Path, *, pseudonyms: bytes | None = None) -> None:
    """Lay what is needed to run the audit again into a folder.

    Args:
        engine: The audit, with its checks run.
        folder: The folder of the pack; it is there.
        pseudonyms: Key with which every number becomes a pseudonym, the same for the same number.

    Raises:
        OSError: The disk is full or the folder cannot be written.
    """
    for name in ("tables", "results", "checks", "rules", "program"):
        (folder / name).mkdir(mode=0o700)
    if pseudonyms is not None:
        _pseudonyms(engine.db, pseudonyms)
    checks = [BY_NAME[name] for name in engine.ran]
    for name in engine.tables_of_facts:
        if name not in _UNREAD:
            _copy(
                engine.con,
                _table_query(engine.con, name, hidden=pseudonyms is not None),
                folder / "tables" / f"{name}.parquet",
            )
    _text(
        folder / "tables" / SPANS,
        "".join(f"{table} {column}\n" for table, column in _spans(engine)),
    )
    # `verify.py` runs the queries in this order: later ones read tables of earlier ones.
    for name, text in queries(engine.ran).items():
        _text(folder / name, text)
    for check in checks:
        _copy(
            engine.con,
            _results(check, hidden=pseudonyms is not None),
            folder / "results" / f"{check.name}.parquet",
        )
    _text(folder / "checks" / "order.txt", "\n".join([*LAW, FUNCTIONS, *engine.ran]) + "\n")
    if "scrub_coverage" in engine.ran:
        for name, query in zip(LISTS, (every_call(engine.ran), _EVERY_NUMBER), strict=True):
            _copy(engine.con, query, folder / name, _CSV)
            _text(folder / "checks" / f"{name}.sql", query)
    for name, text in (rule_book() | programs()).items():
        _text(folder / name, text)
    origins = dict(engine.question.every.origins)
    asked = [
        {
            "rule": row[0], "asked": row[2], "own": None if (own := origins.get(each.law.id)) is None else asdict(own),
            "doubt": row[4], "words": json.loads(row[5]), "clock_offset_s": row[6], "law": json.loads(row[3]),
        }
        for each, row in zip(engine.law.rules, engine.law.rows(), strict=True)
    ]  # fmt: skip
    _text(
        folder / "rules" / HELD,
        json.dumps(asked, indent=1, ensure_ascii=False, default=str) + "\n",
    )
    _text(folder / RELEASE, json.dumps(release(engine.ran), indent=1) + "\n")


def queries(ran: Sequence[str]) -> dict[str, str]:
    """The queries of a pack by the names of their files, but for those of its lists: the same in every pack with these checks."""
    texts = {f"checks/{name}.sql": query(name) for name in LAW}
    texts[f"checks/{FUNCTIONS}.sql"] = _functions()
    for check in (BY_NAME[name] for name in ran):
        texts[f"checks/{check.name}.sql"] = script(check)
        texts[f"checks/{check.name}.result.sql"] = result_query(check)
    return texts


def programs() -> dict[str, str]:
    """The program of a pack that verifies it, by the names of its files; it needs Python and DuckDB alone."""
    room = resources.files("dialframe.compliance")
    files = {
        "verify.py": room / "pack" / "verify.py",
        "program/lists.py": room / "pack" / "lists.py",
        "program/closed_days.py": room / "rules" / "closed_days.py",
        "program/utc_offsets.py": room / "tables" / "utc_offsets.py",
    }
    return {name: file.read_text("utf-8") for name, file in files.items()}


def release(ran: Sequence[str]) -> dict[str, Any]:
    """What this release lays into every pack with these checks: its name, and name of a file to SHA-256."""
    texts = queries(ran) | rule_book() | programs()
    if "scrub_coverage" in ran:
        lists = zip(LISTS, (every_call(ran), _EVERY_NUMBER), strict=True)
        texts |= {f"checks/{name}.sql": text for name, text in lists}
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    return {"tool": f"dialframe {metadata.version('dialframe')}", "files": digests}


def misplaced(folder: Path) -> list[str]:
    """What of the places of numbers is not what the installed numbering plans say; nothing where numbers are hidden.

    A number whose state the account knew may be in that state too.
    """
    tables = {
        name: quoted(folder / "tables" / f"{name}.parquet")
        for name in ("calls", "numbers", "places", "named_places")
    }
    rows = open_database(1).execute(f"""
        select n.phone, p.zones, p.regions, p.parts, p.line_type, s.phone is not null from (
          select phone, place from {tables["calls"]} where phone is not null union select phone, place from {tables["numbers"]}) n
        join {tables["places"]} p using (place) left join {tables["named_places"]} s using (phone) where exists (from {tables["calls"]} where to_number like '+%')""").fetchall()  # fmt: skip
    placed = place(np.array([row[0] for row in rows], dtype="int64"))
    wrong = 0
    for code, (_, zones, regions, parts, line, has_state) in zip(placed.codes, rows, strict=True):
        own = placed.kinds[code]
        names = set(zones.split("; ")) if zones else set()
        same = (set(own.names), set(own.regions)) == (names, set(regions))
        more = has_state and set(own.names) <= names and set(own.regions) <= set(regions)
        wrong += not ((same or more) and (list(own.parts), own.line_type) == (parts, line))
    plans = f"phonenumbers {metadata.version('phonenumbers')}"
    return [f"places: {wrong:,} of {len(rows):,} numbers are placed otherwise by {plans}"] if wrong else []  # fmt: skip


def _spans(engine: Engine) -> list[tuple[str, str]]:
    """Columns that hold spans of time: a Parquet file holds none that are negative, so they are written in microseconds."""
    return engine.db.rows("""
        select table_name, column_name from duckdb_columns() where data_type = 'INTERVAL' and not internal order by all""")


def _functions() -> str:
    """Views and functions over the tables, which no file of rows can hold."""
    made = [
        statement.query.strip().removesuffix(";") + ";"
        for name in _FUNCTIONS
        for statement in statements(query(name))
        if " view " in statement.query[:40] + " " or "create or replace macro" in statement.query
    ]
    return (
        "-- Views and functions that the checks read.\n\n"
        + "\n\n".join(
            each
            for each in made
            if "create or replace view" in each or "create or replace macro" in each
        )
        + "\n"
    )


def _results(check: Check, *, hidden: bool) -> str:
    result = result_query(check)
    # Its items are numbers, which the pack hides.
    if hidden and check.name == "scrub_coverage":
        result = f"select r.* replace (p.name as item) from ({result}) r join pseudonym_texts p on p.number = r.item"
    # A request begins with its number.
    if hidden and check.name == "internal_dnc":
        result = (
            f"select r.* replace (coalesce(p.secret || substr(r.item, strpos(r.item, ' ')), r.item) as item) "
            f"from ({result}) r left join pseudonym_keys p on p.phone = try_cast(split_part(r.item, ' ', 1) as bigint)"
        )
    return f"select list(item) as items, grade, rules, missing from ({result}) group by all"


def every_call(ran: Sequence[str]) -> str:
    """The query of the calls with their grade by each check; nothing where no rule of it reaches the call."""
    grades, joins = [], []
    for check in (each for each in CHECKS if each.by_call and each.name in ran):
        name = check.name
        grades.append(f"g_{name}.grade::varchar as {name}")
        joins.append(f"""
        left join ({graded(name, "m.call, g.grade")}) g_{name} on g_{name}.call = c.call""")
    return f"""
        select {_safe("c.call_id")} as call_id, {_safe("c.to_number")} as to_number,
          {_safe("c.campaign_id")} as campaign_id, {_instant("c.at_utc")} as created_at, p.zones,
          p.source as zone_source, p.confidence as zone_confidence, {", ".join(grades)}
        from calls c left join places p using (place) {"".join(joins)}
        where c.graded order by c.call"""


def graded(check: str, columns: str) -> str:
    """The query of the calls of a check (`m`) with their grades (`g`)."""
    same = " and ".join(f"m.{c} is not distinct from g.{c}" for c in alike_columns(check))
    return f"select {columns} from {check}_alike m join {check}_grades g on {same}"


def _instant(at: str) -> str:
    return f"strftime({at}, '%Y-%m-%dT%H:%M:%S.%fZ')"


def _safe(column: str) -> str:
    """A text that no spreadsheet runs, as `csv_safety.escape` says."""
    begins, number = (each.replace("'", "''") for each in csv_safety.PATTERNS)
    return f"""case when regexp_matches({column}, '^{begins}') and not regexp_full_match({column}, '{number}')
      then '''' || {column} else {column} end"""


#: The query of the numbers that are callable or were called, with the newest record of each.
_EVERY_NUMBER: Final = f"""
    select {_safe("number")} as phone, {_safe("lead_id")} as lead_id, callable, called,
      {_instant("case newest when 'check' then check_at when 'scrub' then scrub_at else screen_at end")} as checked_at,
      case when check_at is not null or screen_at is not null or newest = 'scrub' then newest end as source,
      {_safe("case newest when 'check' then k.ref when 'import screen' then i.ref end")} as ref,
      case newest when 'check' then listed when 'scrub' then scrub_listed else false end as listed,
      date_diff('day', timestamp '2000-01-01', timestamp '2000-01-01' + max_age) as max_age_days, state
    from coverage c left join check_refs k on k.phone = c.phone and k.at_utc = c.check_at
    left join screens i on i.phone = c.phone and i.at_utc = c.screen_at order by lead_place nulls last, call_place"""


def result_query(check: Check) -> str:
    """The query of everything that a check did not pass: `item, grade, rules, missing`."""
    if check.by_call:
        columns = "m.call as item, g.grade::varchar as grade, g.rules, g.missing"
        return f"{graded(check.name, columns)} where g.grade > 'not asked'::grade"
    return f"select item, grade::varchar as grade, rules, missing from {check.name} where grade > 'not asked'::grade"


def versions() -> dict[str, str]:
    """Versions of everything that the grades depend on beside the rule book."""
    # Each of them may change a grade: the engine, the days, the plans of numbers, the clocks.
    names = ("duckdb", "holidays", "phonenumbers", "tzdata")
    zones = f"tzdata {utc_offsets.version()}, from the package and never the host"
    return {name: metadata.version(name) for name in names} | {"zones": zones}


def _table_query(con: duckdb.DuckDBPyConnection, name: str, *, hidden: bool) -> str:
    """The query of a table as it is written: calls looked at as they were, numbers hidden where that is asked."""
    kinds = {row[0]: row[1] for row in con.execute(f"describe {name}").fetchall()}
    columns = {c: _pack_column(c, kinds[c]) if hidden else c for c in kinds}
    # Months and days of a span are those of the calendar of 24 hours that the queries compare.
    columns |= {
        c: f"epoch_us(timestamp '2000-01-01' + {c}) - epoch_us(timestamp '2000-01-01') as {c}"
        for c, kind in kinds.items()
        if kind == "INTERVAL"
    }
    return f"select {', '.join(columns.values())} from {name} t"


def _pack_column(column: str, kind: str) -> str:
    """A column as a pack without numbers has it."""
    if (column in _TEXTS and kind == "VARCHAR") or (column in _KEYS and kind == "VARCHAR"):
        return f"(select p.name from pseudonym_texts p where p.number = t.{column}) as {column}"
    if column in _KEYS:
        return f"(select p.secret from pseudonym_keys p where p.phone = t.{column}) as {column}"
    return column


def _pseudonyms(db: Database, key: bytes) -> None:
    """A pseudonym for every number of the tables."""
    texts = db.con.execute("""
        select to_number from calls_in where to_number is not null union select from_number from calls_in where from_number is not null
        union select phone from checks_in where phone is not null
        union select number from leads where number is not null union select '+' || phone from requests union select '+' || phone from refusals
        union select '+' || phone from checks union select '+' || phone from inbound where phone is not null
        union select '+' || phone from consents where phone is not null union select '+' || phone from look_ups where phone is not null union select '+' || phone from scrubs where phone is not null""").fetchall()
    rows = []
    for (text,) in texts:
        # RFC 2104: without the key nobody finds a number by trying all that there are.
        digest = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        # Sixty bits: the queries keep a number as a signed integer of 64.
        rows.append((text, f"number-{digest[:16]}", int(digest[:15], 16)))
    db.load("pseudonym_texts", {"number": "text", "name": "text", "secret": "int"}, rows)
    db.run("""
        create or replace table pseudonym_keys as
        select try_cast(substr(number, 2) as bigint) as phone, any_value(secret) as secret from pseudonym_texts
        where try_cast(substr(number, 2) as bigint) is not null group by 1""")


def _copy(con: duckdb.DuckDBPyConnection, query: str, path: Path, form: str = PARQUET) -> None:
    con.execute(f"copy ({query}) to '{path}' ({form})")
    path.chmod(0o600)


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o600)


def rule_book() -> dict[str, str]:
    """The rule book as it comes with the package, by the names of its files: values, days, quotations and sources."""
    rules = resources.files("dialframe.compliance.rules")
    book = sorted((rules / "book").iterdir(), key=lambda each: each.name)
    return {
        f"rules/{file.name}": file.read_text("utf-8")
        for file in (*book, rules / "calendars.toml")
        if file.name.endswith(".toml")
    }


def __dir__() -> list[str]:
    """The names that the room exports."""
    return sorted(__all__)
